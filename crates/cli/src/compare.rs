//! `incast demo`, `incast run` and `incast compare`: all become a scenario.

use crate::Ended;
use crate::arguments::{Compare, Output, Run};
use crate::session::run_plan;
use incast_experiment::{Fault, Plan, Scenario};

/// The scenario of the demo.
const DEMO: &str = include_str!("demo.toml");

pub fn demo(options: Output) -> Result<Ended, Fault> {
    let scenario = Scenario::parse(DEMO, "demo", &[])?;
    run_plan(&Plan::new(scenario)?, "demo", &options)
}

pub fn run(options: Run) -> Result<Ended, Fault> {
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
    run_plan(&Plan::new(scenario)?, &label, &options.output)
}

/// Text as a TOML string.
fn quoted(text: impl std::fmt::Display) -> String {
    serde_json::Value::String(text.to_string()).to_string()
}

pub fn compare(options: Box<Compare>) -> Result<Ended, Fault> {
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
    run_plan(&Plan::new(scenario)?, "compare", &options.output)
}

/// `ren.rule=gap` is short for `transport.parameters.ren.rule=gap`.
fn expand(set: &str) -> String {
    let first = set.split(['.', '=']).next().unwrap_or("");
    let sections = ["title", "fabric", "transport", "traffic", "run", "output"];
    if sections.contains(&first) { set.into() } else { format!("transport.parameters.{set}") }
}

fn title(options: &Compare) -> String {
    format!("{} at load {} on {}", options.workload, options.load, options.topology)
}
