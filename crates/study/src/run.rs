//! Runs a point: here, or in a worker that has nothing but its bytes.

use crate::job::Task;
use crate::point::Point;
use crate::row::{Row, Times};
use cpu_time::ThreadTime;
use incast_experiment::{Fault, Monitor, Plan, deadlock, execute, execute_into, output};
use incast_measure::measured::{Measured, Sent, Wanted};
use incast_measure::{Run, SlowdownHistogram, summarise};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;
use std::time::Instant;

/// What a worker answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer<R = Row> {
    /// A row, good or failed.
    Row(Box<R>),
    /// The worker cannot run points of this program.
    Refused(String),
    /// The worker was interrupted.
    Interrupted,
}

/// Runs a point in so many threads, without store and folder. None if `monitor` interrupted it. What
/// goes wrong, a panic included, is a row with its error.
pub fn run_point(point: &Point, threads: usize, monitor: &Monitor) -> Option<Row> {
    run_into(point, threads, monitor, None)
}

/// The same; with a folder, tables and report of the run are written there.
pub(crate) fn run_into(
    point: &Point,
    threads: usize,
    monitor: &Monitor,
    folder: Option<&Path>,
) -> Option<Row> {
    let (made, times) = guarded(threads, || work(point, threads, monitor, folder))?;
    Some(Row { times, ..made.unwrap_or_else(|error| Row::failed(point, error)) })
}

/// Runs a point that came as [`Point::to_bytes`], and answers with bytes for
/// [`Driver::take`](crate::Driver::take).
pub fn run_bytes(point: &[u8], threads: usize, monitor: &Monitor) -> Vec<u8> {
    answer(Point::from_bytes(point), threads, monitor)
}

/// Runs a task, unless it is refused here, and answers with bytes for
/// [`Driver::take`](crate::Driver::take).
pub fn answer<T: Task>(task: Result<T, Fault>, threads: usize, monitor: &Monitor) -> Vec<u8> {
    let answer = match task {
        Err(fault) => Answer::Refused(fault.to_string()),
        Ok(task) => match task.run(threads, monitor, None) {
            Some(row) => Answer::Row(Box::new(row)),
            None => Answer::Interrupted,
        },
    };
    serde_json::to_vec(&answer).expect("plain data becomes JSON")
}

fn work(
    point: &Point,
    threads: usize,
    monitor: &Monitor,
    folder: Option<&Path>,
) -> Result<Option<Row>, Fault> {
    let plan = Plan::with_contents(point.scenario(), point.contents().clone())?;
    let case = &plan.cases[0];
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Fault::unwritten(error).placed(folder.display().to_string()))?;
    }
    let watched: Vec<String> = point.wanted.iter().flat_map(Wanted::captures).collect();
    let ports = output::ports(&plan, &watched)?;
    let (run, captured) = match folder.filter(|_| ports.is_empty()) {
        Some(folder) => (execute_into(folder, &plan, case, threads, monitor)?, vec![]),
        None => execute(&plan, case, ports.clone(), threads, monitor)?,
    };
    if run.record.interrupted {
        return Ok(None);
    }
    if let Some(folder) = folder {
        output::write_run(folder, &run, plan.scenario.output.csv)?;
        output::write_captures(folder, &plan, &ports, &captured)?;
        if point.done.is_none() {
            let page = folder.join("report.html");
            incast_measure::report_html(&page, &point.name(), std::slice::from_ref(&run))?;
        }
        output::seal(folder, &run)?;
    }
    if let Some(ports) = deadlock(&plan.fabric, &run.record) {
        let at = run.record.ended;
        return Err(Fault::new(format!(
            "deadlock at {at}: paused links wait for each other: {ports}"
        )));
    }
    let refused = run.fidelity.as_ref().and_then(|own| own.refused.first());
    if let Some(refused) = refused.filter(|_| point.wanted.is_empty()) {
        return Err(Fault::new(format!("the run in real time was refused: {refused}")));
    }
    let mut row = row(point, &run);
    if !point.wanted.is_empty() {
        let sent: Vec<Sent<'_>> =
            captured.iter().map(|one| (one.port, one.at, &one.packet)).collect();
        let read = |wanted: &Wanted| (wanted.id(), wanted.read(&run, &sent));
        row.measured = point.wanted.iter().map(read).collect();
        row.fidelity = run.fidelity.clone();
    }
    if let Some(done) = &point.done {
        done.with(run)?;
    }
    Ok(Some(row))
}

/// What a table says of a run.
pub(crate) fn row(point: &Point, run: &Run) -> Row {
    Row {
        hash: point.hash.clone(),
        transport: point.transport.clone(),
        seed: point.seed,
        error: None,
        summary: Some(summarise(run)),
        slowdown: Some(SlowdownHistogram::of(run)),
        warnings: run.warnings().iter().map(ToString::to_string).collect(),
        measured: Measured::new(),
        fidelity: None,
        times: Times::default(),
    }
}

/// Does the work of a task, with what it takes; errors and panics become a text. None if the work was
/// interrupted.
pub fn guarded<R>(
    threads: usize,
    work: impl FnOnce() -> Result<Option<R>, Fault>,
) -> Option<(Result<R, String>, Times)> {
    let (begin, cpu) = (Instant::now(), ThreadTime::now());
    let made = match caught(work) {
        Ok(Ok(made)) => Ok(made?),
        Ok(Err(fault)) => Err(fault.to_string()),
        Err(panic) => Err(panic),
    };
    let times = Times {
        wall_seconds: begin.elapsed().as_secs_f64(),
        cpu_seconds: (threads == 1).then(|| cpu.elapsed().as_secs_f64()),
        threads,
    };
    Some((made, times))
}

/// What the work gives, or its panic as a text.
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    listen();
    let around = HEARD.replace(Some(String::new()));
    let done = catch_unwind(AssertUnwindSafe(work));
    let heard = HEARD.replace(around).unwrap_or_default();
    done.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let place = if heard.is_empty() { String::new() } else { format!(" ({heard})") };
        format!("internal error: {text}{place}")
    })
}

thread_local! {
    /// Where a panic of this thread came from, while its panics are caught.
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the place of panics in threads that run points, instead of printing them.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let taken = HEARD.with(|heard| match heard.borrow_mut().as_mut() {
                Some(place) => {
                    *place = info.location().map_or(String::new(), ToString::to_string);
                    true
                }
                None => false,
            });
            if !taken {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Driver, DriverOptions, Store, Study};
    use std::sync::Arc;

    /// An assertion of the engine that fails in one point costs that point.
    #[test]
    fn a_panic_is_a_failed_row_and_the_study_goes_on() {
        let text = "[fabric]\ntopology = \"star:3\"\n[transport]\nnames = [\"ren\", \"dctcp\"]\n\
                    [[traffic]]\nkind = \"permutation\"\nsize = \"20KB\"\n[study]\nseeds = 2\n";
        let study = Arc::new(Study::parse(text, "x", &[]).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(dir.path(), &study).unwrap());
        let mut driver = Driver::new(study, store.clone(), DriverOptions::default()).unwrap();
        while let Some(one) = driver.next_work().unwrap() {
            let broken = one.point.label == "ren" && one.point.seed == 2;
            let made = guarded(1, || match broken {
                true => panic!("queue {} is not empty", 7),
                false => work(&one.point, 1, &Monitor::default(), None),
            });
            let row = made.unwrap().0.unwrap_or_else(|error| Row::failed(&one.point, error));
            driver.keep(one.ticket, &row, None).unwrap();
        }
        let outcome = driver.finish().unwrap();
        assert_eq!((outcome.progress.done, outcome.progress.failed), (4, 1));
        assert_eq!(outcome.failed[0].point, "ren, seed 2");
        let why = &outcome.failed[0].why;
        assert!(
            why.starts_with("internal error: queue 7 is not empty (") && why.contains("run.rs"),
            "{why}"
        );
        assert_eq!(store.rows().unwrap().values().filter(|row| row.summary.is_some()).count(), 3);
    }
}
