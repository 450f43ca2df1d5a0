//! Runs the cases of a plan and writes their results.

use crate::arguments::Told;
use crate::process::Ended;
use crate::progress::shown;
use crate::warnings::{CTRL_C_NOT_HANDLED, check_threads, warn};
use incast_experiment::{Fault, Monitor, Plan, World, output};
use incast_measure::{
    Balance, BalancedWindow, Comparison, Fidelity, ResultsFolder, Run, Summary, collectives,
    grouped, headline_of_runs, programs, summarise, warnings_of,
};
use incast_transport::{Bytes, Time};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Installs `handler` for Ctrl-C and termination signals.
pub fn on_signal(handler: impl FnMut() + Send + 'static) {
    if let Err(error) = ctrlc::set_handler(handler) {
        warn(&CTRL_C_NOT_HANDLED, &[("error", &error)]);
    }
}

/// A monitor that Ctrl-C stops. A second Ctrl-C ends the program at once, as does the first before
/// the first run starts, when there are no results yet.
pub fn stoppable() -> Arc<Monitor> {
    let monitor = Arc::new(Monitor::default());
    let shared = monitor.clone();
    on_signal(move || {
        if !shared.begun.load(Ordering::Relaxed) {
            eprintln!("\nstopped before the run started; no results are written");
            std::process::exit(130);
        }
        if shared.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping; writing the results so far (press Ctrl-C again to quit at once)");
    });
    monitor
}

/// Runs every case of a plan, fills the folder, prints the table.
pub fn run_plan(
    plan: &Plan,
    label: &str,
    options: &Told,
    monitor: &Arc<Monitor>,
) -> Result<Ended, Fault> {
    let threads = check_threads(plan.threads());
    let out = options.folder.out.as_deref();
    let folder = ResultsFolder::create(out, options.folder.force, Path::new("results"), label)?;
    announce(plan);
    let total = plan.traffic.flows.len() as u64;
    let around = |label: &str, work: &mut dyn FnMut()| shown(label, total, monitor, work);
    let filled = output::fill(&folder, plan, threads, monitor, around)?;
    finish(plan, folder, &filled.runs, filled.stopped, options.all)
}

/// Prints what the runs say: warnings, the numbers that decide or all of them, a sentence.
fn table(runs: &[Run], all: bool) {
    for (labels, warning) in grouped(runs, warnings_of) {
        say!("warning: {labels}: {warning}");
    }
    let summaries: Vec<Summary> = runs.iter().map(summarise).collect();
    let table = Comparison::of(&summaries).with_classes(&summaries);
    let few = table.deciding();
    let more = table.metrics.len() - few.len();
    say!("{}", table.text(width(), &if all { table.lines() } else { few }));
    let said = headline_of_runs(runs, &summaries).text();
    if !said.is_empty() {
        say!("{said}");
    }
    if !all && more > 0 {
        say!("{more} more numbers: --all, or the report");
    }
}

/// Prints the results of the runs, with `all` numbers.
pub fn finish(
    plan: &Plan,
    folder: ResultsFolder,
    runs: &[Run],
    stopped: bool,
    all: bool,
) -> Result<Ended, Fault> {
    table(runs, all);
    if plan.scenario.run.warmup.0.is_none()
        && let Balance::Reached(BalancedWindow { from, to }) = Balance::common(runs)
    {
        let (from, to) = (from.as_ns_f64() / 1e6, to.as_ns_f64() / 1e6);
        say!(
            "measured: flows that start from {from:.3} to {to:.3} ms, while arrivals and departures \
             balance\n"
        );
    }
    runs.iter().for_each(tell);
    let place = folder.finish()?;
    say!("report: {}", place.join("report.html").display());
    let of = if runs.len() > 1 { format!(" --transport {}", runs[0].label) } else { String::new() };
    let shown = place.display();
    let mut next = Vec::new();
    // A run at flow level has no packets to explain.
    if plan.scenario.run.world != World::Flow {
        // Where ranks wait for each other, the iteration counts, not its slowest message.
        let iterates = !runs[0].collectives.is_empty() || !runs[0].ranks.is_empty();
        let what = if iterates { "--iteration 0" } else { "--slowest 1" };
        next.push(format!("`incast explain {shown}{of} {what}`"));
    }
    if crate::explore::page::PAGE.is_some() {
        next.push(format!("`incast explore {shown}`"));
    }
    if !next.is_empty() {
        say!("next: {}", next.join(", "));
    }
    for (run, case) in runs.iter().zip(&plan.cases) {
        if let Some(ports) = incast_experiment::deadlock(&plan.fabric, &run.record) {
            return Err(Fault::new(format!(
                "{}: deadlock at {}: paused links wait for each other in a cycle: {ports}; the \
                 results end at this time",
                case.label, run.record.ended
            )));
        }
    }
    if stopped {
        return Ok(Ended::Interrupted);
    }
    if let Some((run, stuck)) = runs.iter().find_map(|run| Some((run, run.stuck()?))) {
        let (label, ended) = (&run.label, run.record.ended);
        return Err(Fault::new(format!("{label}: {stuck}; the results end at {ended}")));
    }
    let cut: Vec<String> = runs.iter().filter_map(cut_short).collect();
    cut.iter().for_each(|why| eprintln!("error: {why}"));
    let mut refused = false;
    for run in runs {
        for why in run.fidelity.iter().flat_map(|fidelity| &fidelity.refused) {
            refused = true;
            eprintln!("error: {}: refused: {why}", run.label);
        }
    }
    Ok(match (cut.is_empty(), refused) {
        (false, _) => Ended::Failed,
        (true, true) => Ended::Refused,
        (true, false) => Ended::Done,
    })
}

/// Prints how faithful a run or node was to real time, and what is doubted of it.
pub fn tell_fidelity(label: &str, fidelity: &Fidelity) {
    for (name, value) in fidelity.rows() {
        say!("{label}: {name}: {value}");
    }
    fidelity.doubts.iter().for_each(|why| eprintln!("warning: {label}: {why}"));
}

/// Prints what is said of a run beside the table of all.
fn tell(run: &Run) {
    let label = &run.label;
    run.fidelity.iter().for_each(|fidelity| tell_fidelity(label, fidelity));
    let level = run.flow_level.as_ref().and_then(|level| level.against_packets.as_ref());
    if let Some(against) = level {
        say!("{label}: flow level against packets, {}", against.words());
    }
    let jobs = collectives(run).into_iter().filter(|one| !one.job.is_empty());
    jobs.for_each(|job| say!("{label}: {job}"));
    programs(run).iter().for_each(|program| say!("{label}: {program}"));
}

/// Why a run that the user did not stop ended before all flows completed or `run.until`.
fn cut_short(run: &Run) -> Option<String> {
    let (label, record) = (&run.label, &run.record);
    let cut = &run.manifest.cut_off;
    if record.stalled_since.is_some() && !cut.is_empty() {
        let ended = record.ended;
        return Some(format!("{label}: {}; the run was stopped at {ended}", cut.join("; ")));
    }
    if let Some(since) = record.stalled_since {
        return Some(format!(
            "{label}: no payload has been delivered since {since}, although packets are still sent: \
             the run was stopped at {}",
            record.ended
        ));
    }
    (!record.ran_to_end()).then(|| {
        format!(
            "{label}: reached the limit of simulated time, {}; the results end there",
            Time::HORIZON
        )
    })
}

/// Prints the resolved configuration.
fn announce(plan: &Plan) {
    let site = &plan.site;
    say!(
        "{}: {} hosts, host links {}, base RTT {}, BDP {} packets, buffer {}, seed {}",
        plan.fabric.name(),
        site.hosts,
        site.host_rate,
        site.base_rtt,
        site.bdp_packets(site.host_rate),
        match (&plan.pfc, plan.shared) {
            (Some(pfc), None) => match pfc.xoff_range() {
                (least, most) if least == most => {
                    format!("{} per link and class, then PFC", Bytes(least))
                }
                (least, most) => {
                    format!("{} to {} per link and class, then PFC", Bytes(least), Bytes(most))
                }
            },
            (Some(_), Some(shared)) => format!("{} per switch, then PFC", Bytes(shared.pool)),
            (None, Some(shared)) => format!("{} per switch", Bytes(shared.pool)),
            (None, None) => format!("{} per port", incast_experiment::Buffer(site.buffer)),
        },
        plan.scenario.run.seed,
    );
    say!("{} flows; {}", plan.traffic.flows.len(), in_short(&plan.traffic.load_definition));
    let own = incast_experiment::warnings::own_queues(plan);
    if !own.is_empty() {
        say!("queues that the transport decides, whatever the buffer: {}", own.join(", "));
    }
    if plan.scenario.run.world != World::Sim {
        say!("in {}", plan.scenario.run.world.words(&plan.dataplane()));
    }
    for warning in &plan.warnings {
        say!("{}: {warning}", if warning.is_note() { "note" } else { "warning" });
    }
}

/// What a load is of, without the formula, which the manifest has.
fn in_short(definition: &str) -> String {
    let of = |one: &str| match one.split_once(": ") {
        Some((of, _)) if of.starts_with("load ") => format!("{of}; manifest.json has the formula"),
        _ => one.to_string(),
    };
    definition.split("; and ").map(of).collect::<Vec<_>>().join("; and ")
}

/// Characters of a line of the console.
pub fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}
