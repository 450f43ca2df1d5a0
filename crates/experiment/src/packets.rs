//! Runs with packets, in the simulator or the data plane.

use crate::Fault;
use crate::described::describe;
use crate::plan::{Case, Plan};
use crate::setup::{ended, prepare};
use crate::stopwatch::Stopwatch;
use crate::testbed::{self, Ran};
use incast_measure::Run;
use incast_world::{Captured, Monitor, Setup, TraceLog};
use std::sync::Arc;

/// Runs a world that [begins](crate::setup::begin) in at most `threads` threads.
///
/// # Errors
/// The world cannot be run, or a transport could not go on.
pub(crate) fn run(
    plan: &Plan,
    case: &Case,
    (setup, log): (Setup, Option<Arc<TraceLog>>),
    threads: usize,
    monitor: &Monitor,
) -> Result<(Run, Vec<Captured>), Fault> {
    let stream = setup.options.capture_stream.clone();
    let world = plan.scenario.run.world;
    let threads = world.threads(Some(threads));
    let watch = Stopwatch::start();
    let Ran { mut record, captured, fidelity } = world.run(plan, setup, threads, monitor)?;
    if let Some(stream) = stream {
        let file = |error| Fault::unwritten(format!("the capture could not be written: {error}"));
        record.captures_cut = stream.finish().map_err(file)?;
    }
    let record = ended(case, record, log)?;
    let wall = watch.seconds();
    let fidelity = match fidelity {
        Some(fidelity) => {
            let (settings, beside) = (plan.dataplane(), prepare(plan, case, vec![])?);
            Some(testbed::judge(&settings, fidelity, plan.site.base_rtt, beside, monitor))
        }
        None => None,
    };
    Ok((describe(plan, case, record, fidelity, threads, wall), captured))
}
