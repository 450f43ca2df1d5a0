//! Output files of a run.

use crate::Fault;
use crate::execute;
use crate::manifest::{comparison, outline};
use crate::plan::Plan;
use incast_measure::{Balance, ResultsFolder, Run};
use incast_wire::pcapng;
use incast_world::{Captured, Monitor};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Writes one run's files into a folder: Parquet, summary, CSV if requested, and a manifest with
/// `"complete": false`.
pub fn write_run(folder: &Path, run: &Run, csv: bool) -> Result<(), Fault> {
    incast_measure::write_tables(folder, run, csv)?;
    Ok(incast_measure::write_manifest(&folder.join("manifest.json"), &run.manifest, false)?)
}

/// Rewrites the manifest after all other files of a run, so that `complete` is true only now.
pub fn seal(folder: &Path, run: &Run) -> Result<(), Fault> {
    let place = folder.join("manifest.json");
    Ok(incast_measure::write_manifest(&place, &run.manifest, run.complete())?)
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
pub fn fill(
    folder: &ResultsFolder,
    plan: &Plan,
    threads: usize,
    monitor: &Monitor,
    mut around: impl FnMut(&str, &mut dyn FnMut()),
) -> Result<Filled, Fault> {
    let ports = ports(plan, &plan.scenario.output.pcap)?;
    let title = title(plan);
    let manifest = folder.path().join("manifest.json");
    incast_measure::write_manifest(&manifest, &outline(plan, &title), false)?;
    let (mut runs, mut stopped) = (vec![], false);
    for case in &plan.cases {
        let mut done = None;
        around(&case.label, &mut || {
            done = Some(execute(plan, case, ports.clone(), threads, monitor));
        });
        let (run, captured) = done.expect("the work has been done")?;
        let place = match plan.cases.len() {
            1 => folder.path().to_path_buf(),
            _ => folder.subfolder(&case.label)?,
        };
        write_run(&place, &run, plan.scenario.output.csv)?;
        write_captures(&place, plan, &ports, &captured)?;
        if plan.cases.len() > 1 {
            seal(&place, &run)?;
        }
        runs.push(run);
        stopped = monitor.stop.load(Ordering::Relaxed);
        if stopped {
            break;
        }
    }
    if plan.scenario.run.warmup.0.is_none() && runs.len() > 1 {
        // All runs have the same arrivals: what is compared are the same flows.
        let common = Balance::common(&runs);
        runs.iter_mut().for_each(|run| common.judge(run));
    }
    write_report(folder, &title, &runs)?;
    if let (1, [run]) = (plan.cases.len(), runs.as_slice()) {
        seal(folder.path(), run)?;
    } else {
        let whole = runs.iter().all(Run::complete);
        let complete = whole && !stopped && runs.len() == plan.cases.len();
        let all = comparison(plan, &title, &runs);
        incast_measure::write_manifest(&manifest, &all, complete)?;
    }
    Ok(Filled { runs, stopped })
}

/// Fills a folder with the record of a run of the plan's only case that several processes have made,
/// `world` in words. What each of them has left is in `nodes.json`.
#[cfg(target_os = "linux")]
pub fn fill_from(
    folder: &ResultsFolder,
    plan: &Plan,
    nodes: &[crate::nodes::NodeRecord],
    world: &str,
    wall: f64,
) -> Result<Run, Fault> {
    let title = title(plan);
    let manifest = folder.path().join("manifest.json");
    incast_measure::write_manifest(&manifest, &outline(plan, &title), false)?;
    let record = crate::nodes::gather(plan, nodes);
    let mut run = crate::run::describe(plan, &plan.cases[0], record, None, 1, wall);
    run.world = world.into();
    run.manifest["processes"] = nodes.len().into();
    let json = serde_json::to_vec_pretty(nodes).map_err(Fault::new)?;
    incast_measure::write_atomic(&folder.path().join("nodes.json"), &json)?;
    write_run(folder.path(), &run, plan.scenario.output.csv)?;
    write_report(folder, &title, std::slice::from_ref(&run))?;
    seal(folder.path(), &run)?;
    Ok(run)
}

/// The title of a report.
fn title(plan: &Plan) -> String {
    match plan.scenario.title.as_str() {
        "" => format!("{} on {}", plan.cases[0].label, plan.fabric.name()),
        title => title.to_string(),
    }
}

/// Writes the comparison of several runs: report and picture.
pub fn write_report(folder: &ResultsFolder, title: &str, runs: &[Run]) -> Result<(), Fault> {
    incast_measure::report_html(&folder.path().join("report.html"), title, runs)?;
    incast_measure::summary_svg(&folder.path().join("summary.svg"), title, runs)?;
    Ok(())
}

/// Port numbers for the requested names: `leaf0->spine1`, a number, or `all`.
pub fn ports(plan: &Plan, names: &[String]) -> Result<Vec<u32>, Fault> {
    let fabric = &plan.fabric;
    let name = |port: &incast_fabric::PortSpec| {
        format!("{}->{}", fabric.node_name(port.node), fabric.node_name(port.peer))
    };
    let known: Vec<String> = fabric.ports().iter().map(name).collect();
    let mut all = vec![];
    for text in names {
        if text == "all" {
            return Ok((0..known.len() as u32).collect());
        }
        let by_number = text.parse::<u32>().ok().filter(|port| (*port as usize) < known.len());
        let by_name = known.iter().position(|name| name == text).map(|port| port as u32);
        all.push(by_number.or(by_name).ok_or_else(|| {
            let hint = crate::nearest(text, known.iter().map(String::as_str));
            let (first, last) = (&known[0], known.len() - 1);
            let problem = format!("expected a port such as `{first}`, or 0 to {last}{hint}");
            Fault::value("output.pcap", text, problem)
        })?);
    }
    Ok(all)
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
    let path = folder.join("ports.pcapng");
    let fail = |error: std::io::Error| Fault::new(error).placed(path.display().to_string());
    let mut bytes = Vec::new();
    let version = format!("incast {}", env!("CARGO_PKG_VERSION"));
    let mut writer = pcapng::Writer::new(&mut bytes, &version).map_err(fail)?;
    let mut interfaces = std::collections::BTreeMap::new();
    for port in ports {
        let spec = &plan.fabric.ports()[*port as usize];
        let (from, to) = (plan.fabric.node_name(spec.node), plan.fabric.node_name(spec.peer));
        let interface = writer.interface(&format!("{from}->{to}"), spec.rate).map_err(fail)?;
        interfaces.insert(*port, interface);
    }
    for one in captured {
        let interface = interfaces[&one.port];
        writer.packet(interface, one.at, &one.packet, &one.extension).map_err(fail)?;
    }
    writer.finish().map_err(fail)?;
    Ok(incast_measure::write_atomic(&path, &bytes)?)
}
