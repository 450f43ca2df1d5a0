//! Runs a plan while Python stays responsive: the interpreter is released, progress is told, and Ctrl-C
//! stops the run with what it has.

use crate::error;
use incast_experiment::output::{self, Ran};
use incast_experiment::{Fault, Monitor, Plan};
use incast_measure::{ResultsFolder, Run};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time between two looks at signals and progress.
const LOOK: Duration = Duration::from_millis(100);

/// How a session ended.
pub struct Ended {
    /// The runs.
    pub ran: Vec<Ran>,
    /// Whether they were stopped.
    pub stopped: bool,
    /// The results folder, if they were written.
    pub place: Option<PathBuf>,
    /// What stopped them.
    pub raised: Option<PyErr>,
}

/// Which case runs.
#[derive(Default)]
struct At(AtomicUsize);

/// Runs every case of a plan, into a folder if there is one.
pub fn run(
    py: Python<'_>,
    plan: &Arc<Plan>,
    folder: Option<ResultsFolder>,
    told: Option<Bound<'_, PyAny>>,
) -> PyResult<Ended> {
    let (monitor, at) = (Arc::new(Monitor::default()), Arc::new(At::default()));
    let work = {
        let (plan, monitor, at) = (plan.clone(), monitor.clone(), at.clone());
        move || cases(&plan, folder, &monitor, &at)
    };
    let tell = |monitor: &Monitor| match &told {
        Some(told) => {
            let case = at.0.load(Ordering::Relaxed).min(plan.cases.len() - 1);
            let load = |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed);
            let (now, completed, hops) =
                (load(&monitor.now), load(&monitor.completed), load(&monitor.hops));
            let flows = plan.traffic.flows.len();
            told.call1((&plan.cases[case].label, case, now, completed, flows, hops)).map(drop)
        }
        None => Ok(()),
    };
    let (done, raised) = watched(py, &monitor, work, tell)?;
    let (ran, stopped, place) = done.map_err(|fault| error::run(py, &fault))?;
    Ok(Ended { ran, stopped, place, raised })
}

type Done = Result<(Vec<Ran>, bool, Option<PathBuf>), Fault>;

fn cases(plan: &Plan, folder: Option<ResultsFolder>, monitor: &Monitor, at: &At) -> Done {
    let threads = plan.threads();
    let around = |_: &str, work: &mut dyn FnMut()| {
        work();
        at.0.fetch_add(1, Ordering::Relaxed);
    };
    if let Some(folder) = &folder {
        output::begin(folder, plan)?;
    }
    let mut all = vec![];
    let stopped = output::run(plan, threads, monitor, around, |case, ran| {
        if let Some(folder) = &folder {
            output::keep(folder, plan, case, &ran)?;
        }
        all.push(ran);
        Ok(())
    })?;
    let Some(folder) = folder else { return Ok((all, stopped, None)) };
    let mut runs: Vec<Run> = all.iter().map(|ran| ran.run.clone()).collect();
    output::close(&folder, plan, &mut runs, stopped)?;
    Ok((all, stopped, Some(folder.finish()?)))
}

/// Does `work` in a thread of its own, calling `tell` meanwhile. What `tell` or a signal raises stops
/// the monitor, and is returned with what the work then gives.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    monitor: &Arc<Monitor>,
    work: impl FnOnce() -> T + Send + 'static,
    tell: impl Fn(&Monitor) -> PyResult<()>,
) -> PyResult<(T, Option<PyErr>)> {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let worker = std::thread::spawn(move || {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // The receiver is there until the work is done.
        let _ = sender.send(done);
    });
    let mut raised = None;
    let done = loop {
        let next = py.detach(|| receiver.lock().expect("one thread").recv_timeout(LOOK));
        match next {
            Ok(done) => break done,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("it is sent even after a panic"),
        }
        if let Err(error) = py.check_signals().and_then(|()| tell(monitor)) {
            monitor.stop.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
        }
    };
    let _ = py.detach(|| worker.join());
    match done {
        Ok(done) => Ok((done, raised)),
        Err(payload) => Err(error::panicked(py, &*payload)),
    }
}
