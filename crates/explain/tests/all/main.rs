//! Explanations of runs whose story is known.

mod iteration;
mod known;
mod programs;

use incast_experiment::{Monitor, Plan, Scenario, output};
use incast_measure::ResultsFolder;
use tempfile::TempDir;

/// Runs a scenario into a folder.
fn run(text: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let scenario = Scenario::parse(text, "test", &[]).unwrap_or_else(|fault| panic!("{fault}"));
    let plan = Plan::new(scenario).unwrap_or_else(|fault| panic!("{fault}"));
    let place = home.path().join("out");
    let folder = ResultsFolder::create(Some(&place), false, &place, "x").unwrap();
    let alone = |_: &str, work: &mut dyn FnMut()| work();
    output::fill(&folder, &plan, 1, &Monitor::default(), alone).unwrap_or_else(|f| panic!("{f}"));
    home
}
