//! A small study for all tests.

use incast_experiment::Monitor;
use incast_study::{Driver, DriverOptions, Outcome, Store, Study, run_local};
use std::path::Path;
use std::sync::Arc;

/// Two transports on five hosts, a few milliseconds per point.
pub const SCENARIO: &str = "[fabric]\ntopology = \"star:5\"\n[transport]\nnames = [\"ren\", \"dctcp\"]\n\
    [[traffic]]\nkind = \"poisson\"\nworkload = \"ali_storage\"\nload = 0.4\nflows = 40\n";

/// A study of the scenario.
pub fn study(section: &str) -> Arc<Study> {
    let text = format!("{SCENARIO}{section}");
    Arc::new(Study::parse(&text, "load.toml", &[]).unwrap_or_else(|fault| panic!("{fault}")))
}

/// Runs a study in a folder to its end.
pub fn run(study: &Arc<Study>, dir: &Path, threads: usize) -> Outcome {
    let store = Store::open(dir, study).unwrap_or_else(|fault| panic!("{fault}"));
    let mut driver = Driver::new(study.clone(), Arc::new(store), DriverOptions::default()).unwrap();
    run_local(&mut driver, threads, &Arc::new(Monitor::default()), &mut |_| ()).unwrap();
    driver.finish().unwrap()
}
