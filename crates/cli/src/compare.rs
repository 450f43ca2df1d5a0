//! `incast demo`, `incast run` and `incast compare`: all become a scenario.

use crate::Ended;
use crate::arguments::{Compare, Output, Run};
use crate::session::{run_plan, stoppable};
use incast_experiment::{Fault, Plan, Scenario, nearest};

/// The scenario of the demo.
const DEMO: &str = include_str!("demo.toml");

pub fn demo(options: Output) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let scenario = Scenario::parse(DEMO, "demo", &[])?;
    run_plan(&Plan::new(scenario)?, "demo", &options, &monitor)
}

pub fn run(options: Run) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let mut sets = options.set.clone();
    if let Some(seed) = options.seed {
        sets.push(format!("run.seed={seed}"));
    }
    let (scenario, label) = match (&options.scenario, &options.topology, &options.flows) {
        (Some(path), ..) => {
            let stem = path.file_stem().map_or("run".into(), |stem| stem.to_string_lossy());
            (Scenario::load(path, &sets)?, stem.to_string())
        }
        (None, Some(topology), Some(flows)) => {
            let text = format!(
                "[fabric]\nfile = {}\n[transport]\nnames = [{}]\n[[traffic]]\nkind = \"file\"\n\
                 file = {}\n",
                quoted(topology.display()),
                quoted(&options.transport),
                quoted(flows.display())
            );
            (Scenario::parse(&text, "the command line", &sets)?, options.transport.clone())
        }
        _ => return Err(Fault("expected a scenario, or --topology and --flows".into())),
    };
    let plan = Plan::new(scenario).map_err(|fault| match &options.scenario {
        Some(path) => Fault(format!("{}: {fault}", path.display())),
        None => by_option(fault, &[("transport.names", "--transport")]),
    })?;
    check_effect(&plan, options.set.iter().map(|set| (set.as_str(), set.as_str())))?;
    run_plan(&plan, &label, &options.output, &monitor)
}

/// A fault that names the option a person wrote instead of the key that it became.
fn by_option(Fault(text): Fault, options: &[(&str, &str)]) -> Fault {
    let renamed = options.iter().find_map(|(key, option)| {
        let rest = text.strip_prefix(key)?;
        let whole = rest.starts_with([' ', ':', '=']);
        whole.then(|| format!("{option}{rest}"))
    });
    Fault(renamed.unwrap_or(text))
}

/// Refuses parameters of transports that take no part: they would change nothing, silently. `sets`
/// are overrides as written and as applied.
fn check_effect<'a>(
    plan: &Plan,
    sets: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), Fault> {
    let mut names: Vec<&str> = vec![];
    for lane in plan.cases.iter().flat_map(|case| &case.lanes) {
        if !names.contains(&lane.info.name) {
            names.push(lane.info.name);
        }
    }
    for (written, applied) in sets {
        let Some(rest) = applied.strip_prefix("transport.parameters.") else { continue };
        let name = rest.split(['.', '=']).next().unwrap_or("");
        if !names.contains(&name) {
            let hint = nearest(name, names.iter().copied());
            return Err(Fault(format!(
                "--set {written}: `{name}` takes no part: expected one of {}{hint}",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

/// Text as a TOML string.
fn quoted(text: impl std::fmt::Display) -> String {
    serde_json::Value::String(text.to_string()).to_string()
}

pub fn compare(options: Box<Compare>) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let mut text = format!("title = {}\n[fabric]\n", quoted(title(&options)));
    text += &format!("topology = {}\n", quoted(&options.topology));
    text += &format!("rate = {}\n", quoted(&options.rate));
    text += &format!("propagation = {}\n", quoted(&options.propagation));
    text += &format!("buffer = {}\n", quoted(&options.buffer));
    if let Some(ratio) = options.oversubscription {
        text += &format!("oversubscription = {ratio:?}\n");
    }
    if let Some(pool) = &options.shared_buffer {
        text += &format!("shared_buffer = {{ pool = {}, alpha = 1.0 }}\n", quoted(pool));
    }
    if options.pfc {
        text += "pfc = {}\n";
    }
    if options.no_l2_overhead {
        text += "l2_overhead = false\n";
    }
    let names: Vec<String> = options.transports.iter().map(quoted).collect();
    text += &format!("[transport]\nnames = [{}]\n", names.join(", "));
    if let Some(routing) = &options.lb {
        text += &format!("routing = {}\n", quoted(routing));
    }
    text += &format!(
        "[[traffic]]\nkind = \"poisson\"\nworkload = {}\nload = {:?}\nflows = {}\n",
        quoted(&options.workload),
        options.load,
        options.flows
    );
    if let Some(senders) = options.incast {
        text += &format!(
            "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = {senders}\n\
             size = \"64KB\"\nat = \"100us\"\n"
        );
    }
    let pcap: Vec<String> = options.pcap.iter().map(quoted).collect();
    text += &format!("[run]\nseed = {}\nwatch = 0\n", options.seed);
    text += &format!("[output]\ncsv = {}\npcap = [{}]\n", options.csv, pcap.join(", "));
    let sets: Vec<String> = options.set.iter().map(|set| expand(set)).collect();
    let scenario = Scenario::parse(&text, "the command line", &sets)?;
    let plan = Plan::new(scenario).map_err(|fault| by_option(fault, &KEYS))?;
    check_effect(&plan, options.set.iter().zip(&sets).map(|(a, b)| (a.as_str(), b.as_str())))?;
    run_plan(&plan, "compare", &options.output, &monitor)
}

/// What the options of `compare` become.
const KEYS: [(&str, &str); 13] = [
    ("fabric.topology", "--topology"),
    ("fabric.rate", "--rate"),
    ("fabric.propagation", "--propagation"),
    ("fabric.buffer", "--buffer"),
    ("fabric.oversubscription", "--oversubscription"),
    ("fabric.shared_buffer.pool", "--shared-buffer"),
    ("transport.names", "--transports"),
    ("transport.routing", "--lb"),
    ("traffic.0.workload", "--workload"),
    ("traffic.0.load", "--load"),
    ("traffic.0.flows", "--flows"),
    ("traffic.1.senders", "--incast"),
    ("output.pcap", "--pcap"),
];

/// `ren.rule=gap` is short for `transport.parameters.ren.rule=gap`.
fn expand(set: &str) -> String {
    let first = set.split(['.', '=']).next().unwrap_or("");
    let sections = ["title", "fabric", "transport", "traffic", "run", "output"];
    if sections.contains(&first) { set.into() } else { format!("transport.parameters.{set}") }
}

fn title(options: &Compare) -> String {
    format!("{} at load {} on {}", options.workload, options.load, options.topology)
}
