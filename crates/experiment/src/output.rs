//! Output files of a run. A page has the tables alone: no report is compiled for it.

use crate::Fault;
use crate::capture::CAPTURES;
pub use crate::capture::PcapFile;
use crate::chosen::check_flows;
pub use crate::chosen::ports;
use crate::described::{describe, list_warnings};
use crate::manifest::{comparison, outline};
use crate::plan::{Case, Plan};
use crate::run::execute;
#[cfg(not(target_family = "wasm"))]
use crate::run::execute_into;
use crate::warnings::NOT_RUN;
#[cfg(not(target_family = "wasm"))]
use incast_measure::folder::REPORT;
use incast_measure::{Balance, ResultsFolder, Run, Warning};
use incast_world::{Captured, Monitor, PacketSink};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Writes one run's files into a folder: Parquet, summary, CSV if requested, and a manifest with
/// `"complete": false`.
pub fn write_run(folder: &Path, run: &Run, csv: bool) -> Result<(), Fault> {
    incast_measure::write_tables(folder, run, csv)?;
    Ok(incast_measure::write_manifest(folder, &run.manifest, false)?)
}

/// Rewrites the manifest after all other files of a run, so that `complete` is true only now.
pub fn seal(folder: &Path, run: &Run) -> Result<(), Fault> {
    Ok(incast_measure::write_manifest(folder, &run.manifest, run.complete())?)
}

/// What a plan's cases left in a folder.
pub struct Filled {
    /// The runs that were started.
    pub runs: Vec<Run>,
    /// Whether the user stopped them.
    pub stopped: bool,
}

/// Runs every case of a plan and fills a folder with tables, captures, report and manifests, each
/// case in a subfolder of its own if there are several. `around` is given the work of each case
/// with its label, and does it.
#[cfg(not(target_family = "wasm"))]
pub fn fill(
    folder: &ResultsFolder,
    plan: &Plan,
    threads: usize,
    monitor: &Monitor,
    around: impl FnMut(&str, &mut dyn FnMut()),
) -> Result<Filled, Fault> {
    begin(folder, plan)?;
    let mut runs = vec![];
    let work = |case: &Case| {
        let run = execute_into(&place_of(folder, plan, case)?, plan, case, threads, monitor)?;
        Ok(Ran { run, captured: vec![] })
    };
    let stopped = each(plan, monitor, work, around, |case, ran| {
        write_case(folder, plan, case, &ran.run)?;
        runs.push(ran.run);
        Ok(())
    })?;
    close(folder, plan, &mut runs, stopped)?;
    Ok(Filled { runs, stopped })
}

/// What a case leaves behind.
pub struct Ran {
    /// Its run.
    pub run: Run,
    /// The packets of the ports of `output.pcap`.
    pub captured: Vec<Captured>,
}

/// Runs every case of a plan until the monitor is stopped, and gives each to `done`. Returns whether it
/// was stopped. `around` is given the work of each case with its label, and does it.
pub fn run(
    plan: &Plan,
    threads: usize,
    monitor: &Monitor,
    around: impl FnMut(&str, &mut dyn FnMut()),
    done: impl FnMut(&Case, Ran) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let ports = ports(plan, &plan.scenario.output.pcap)?;
    let work = |case: &Case| {
        let (run, captured) = execute(plan, case, ports.clone(), threads, monitor)?;
        Ok(Ran { run, captured })
    };
    each(plan, monitor, work, around, done)
}

/// Does `work` for every case, until the monitor is stopped.
fn each(
    plan: &Plan,
    monitor: &Monitor,
    work: impl Fn(&Case) -> Result<Ran, Fault>,
    mut around: impl FnMut(&str, &mut dyn FnMut()),
    mut done: impl FnMut(&Case, Ran) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    for (at, case) in plan.cases.iter().enumerate() {
        let mut ran = None;
        around(&case.label, &mut || ran = Some(work(case)));
        let mut ran = ran.expect("the work has been done")?;
        let stopped = monitor.stop.load(Ordering::Relaxed);
        if stopped {
            not_run(&mut ran.run, &plan.cases[at + 1..]);
        }
        done(case, ran)?;
        if stopped {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Notes with the last run of an interrupted plan which cases come after it.
fn not_run(run: &mut Run, cases: &[Case]) {
    let labels: Vec<&str> = cases.iter().map(|case| case.label.as_str()).collect();
    if !labels.is_empty() {
        run.notes.push(Warning::known(&NOT_RUN.notice(&[("transports", &labels.join(", "))])));
        list_warnings(run);
    }
}

/// Writes what is known before the first case of a plan runs, and the input files: a folder is whole
/// wherever it goes.
pub fn begin(folder: &ResultsFolder, plan: &Plan) -> Result<(), Fault> {
    for (copy, bytes) in plan.inputs.copies() {
        folder.subfolder("inputs")?;
        incast_measure::write_atomic(&folder.path().join(copy), bytes)?;
    }
    Ok(incast_measure::write_manifest(folder.path(), &outline(plan, &title(plan)), false)?)
}

/// Writes the files of a case of a plan.
pub fn keep(folder: &ResultsFolder, plan: &Plan, case: &Case, ran: &Ran) -> Result<(), Fault> {
    let place = place_of(folder, plan, case)?;
    let ports = ports(plan, &plan.scenario.output.pcap)?;
    write_captures(&place, plan, &ports, &ran.captured)?;
    write_case(folder, plan, case, &ran.run)
}

/// The folder of a case.
fn place_of(folder: &ResultsFolder, plan: &Plan, case: &Case) -> Result<PathBuf, Fault> {
    Ok(match plan.cases.len() {
        1 => folder.path().to_path_buf(),
        _ => folder.subfolder(&case.label)?,
    })
}

/// Writes the tables of a case of a plan.
fn write_case(folder: &ResultsFolder, plan: &Plan, case: &Case, run: &Run) -> Result<(), Fault> {
    let place = place_of(folder, plan, case)?;
    write_run(&place, run, plan.scenario.output.csv)?;
    if plan.cases.len() > 1 {
        seal(&place, run)?;
    }
    Ok(())
}

/// Writes what compares the runs of a plan, and its manifest. Where balance decides which flows are
/// measured, the runs are then judged by what is common to them.
#[cfg(not(target_family = "wasm"))]
pub fn close(
    folder: &ResultsFolder,
    plan: &Plan,
    runs: &mut [Run],
    stopped: bool,
) -> Result<(), Fault> {
    judge_together(plan, runs);
    write_report(folder, &title(plan), runs)?;
    if let (1, [run]) = (plan.cases.len(), &*runs) {
        return seal(folder.path(), run);
    }
    let complete = all_complete(plan, runs, stopped);
    let all = comparison(plan, &title(plan), runs);
    Ok(incast_measure::write_manifest(folder.path(), &all, complete)?)
}

/// The manifest of the runs of a plan, as the file has it.
pub fn manifest_of(plan: &Plan, runs: &[Run], stopped: bool) -> Value {
    if let (1, [run]) = (plan.cases.len(), runs) {
        return json!(run.manifest);
    }
    let mut all = comparison(plan, &title(plan), runs);
    all.outline.complete = all_complete(plan, runs, stopped);
    json!(all)
}

/// Whether all cases of a plan ran to their ends.
pub fn all_complete(plan: &Plan, runs: &[Run], stopped: bool) -> bool {
    !stopped && runs.len() == plan.cases.len() && runs.iter().all(Run::complete)
}

/// Where balance decides which flows are measured: all runs have the same arrivals, so what is
/// compared are the same flows.
pub fn judge_together(plan: &Plan, runs: &mut [Run]) {
    if plan.scenario.run.warmup.0.is_none() && runs.len() > 1 {
        let common = Balance::common(&*runs);
        runs.iter_mut().for_each(|run| common.judge(run));
    }
}

/// Fills a folder with the record of a run of the plan's only case that several processes have made,
/// `world` in words. What each of them has left is in `nodes.json`.
#[cfg(target_os = "linux")]
pub fn fill_from(
    folder: &ResultsFolder,
    plan: &Plan,
    nodes: &[crate::nodes::NodeRecord],
    world: &str,
    fidelity: Option<incast_measure::Fidelity>,
    wall: f64,
) -> Result<Run, Fault> {
    let title = title(plan);
    begin(folder, plan)?;
    let record = crate::nodes::gather(plan, nodes);
    let mut run = describe(plan, &plan.cases[0], record, fidelity, 1, Some(wall));
    run.world = world.into();
    run.manifest.outline.processes = Some(nodes.len());
    let json = serde_json::to_vec_pretty(nodes).map_err(Fault::new)?;
    incast_measure::write_atomic(&folder.path().join("nodes.json"), &json)?;
    write_run(folder.path(), &run, plan.scenario.output.csv)?;
    write_report(folder, &title, std::slice::from_ref(&run))?;
    seal(folder.path(), &run)?;
    Ok(run)
}

/// The title of a report.
pub fn title(plan: &Plan) -> String {
    match plan.scenario.title.as_str() {
        "" => {
            let labels: Vec<&str> = plan.cases.iter().map(|case| case.label.as_str()).collect();
            format!("{} on {}", listed(&labels), plan.fabric.name())
        }
        title => title.to_string(),
    }
}

/// At most three names, or how many there are.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => one.to_string(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        more => format!("{} transports", more.len()),
    }
}

/// Writes the comparison of several runs: report and picture.
#[cfg(not(target_family = "wasm"))]
pub fn write_report(folder: &ResultsFolder, title: &str, runs: &[Run]) -> Result<(), Fault> {
    let report = folder.path().join(REPORT);
    incast_measure::report_html_of(&report, folder.place(), title, runs)?;
    let summary = incast_measure::figures::summary(title, runs).svg();
    incast_measure::write_atomic(&folder.path().join("summary.svg"), summary.as_bytes())?;
    Ok(())
}

/// Checks the names of ports, flows and hosts under `[output]`.
pub fn check(plan: &Plan) -> Result<(), Fault> {
    ports(plan, &plan.scenario.output.pcap)?;
    check_flows(plan, "output.pcap_flows", &plan.scenario.output.pcap_flows)?;
    crate::trace::filter(plan).map(drop)
}

/// Writes captured packets: one interface per port.
pub fn write_captures(
    folder: &Path,
    plan: &Plan,
    ports: &[u32],
    captured: &[Captured],
) -> Result<(), Fault> {
    if ports.is_empty() {
        return Ok(());
    }
    let mut file = PcapFile::create(folder, plan, ports)?;
    let all = captured.iter().try_for_each(|one| file.packet(one));
    let place = folder.join(CAPTURES).display().to_string();
    all.and_then(|()| file.finish()).map_err(|error| Fault::unwritten(error).placed(place))
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_title_names_all_runs_while_they_are_few() {
        assert_eq!(listed(&["dctcp"]), "dctcp");
        assert_eq!(listed(&["dctcp", "ndp"]), "dctcp and ndp");
        assert_eq!(listed(&["dctcp", "ndp", "ren"]), "dctcp, ndp and ren");
        assert_eq!(listed(&["dctcp", "ndp", "ren", "trd"]), "4 transports");
    }
}
