//! `incast list`.

use crate::Ended;
use crate::arguments::List;
use incast_experiment::Fault;
use incast_protocols::CATALOGUE;
use incast_transport::Routing;
use serde_json::{Value, json};

/// The topologies, as the command line takes them.
const TOPOLOGIES: [(&str, &str, &str); 5] = [
    ("star", "star:HOSTS", "hosts around one switch"),
    ("dumbbell", "dumbbell:LEFTxRIGHT", "two switches and one link between them"),
    ("parking-lot", "parking-lot:K", "a chain of K bottlenecks"),
    ("leaf-spine", "leaf-spine:LEAVESxSPINESxHOSTS", "HOSTS per leaf"),
    ("fat-tree", "fat-tree:K", "three tiers of K-port switches, K^3/4 hosts"),
];

pub fn list(options: List) -> Result<Ended, Fault> {
    if options.json {
        let text = serde_json::to_string_pretty(&all()).expect("plain data becomes JSON");
        say!("{text}");
        return Ok(Ended::Done);
    }
    say!("Transports (number on the wire, name)");
    for entry in CATALOGUE {
        let info = entry.info();
        say!("  {:>3}  {:<8} {} - {}", info.id.0, info.name, info.title, info.paper);
        say!("       {}; switches: {}", info.kind.name(), info.switch_support);
        for doc in entry.parameters() {
            let (name, default) = (doc.name, doc.default);
            say!("       {name} = {default}  ({}; {}) {}", doc.accepts, doc.source, doc.doc);
        }
    }
    say!("\nWorkloads");
    for table in incast_workload::tables() {
        say!("  {:<22} {} (mean {:.0} B; {})", table.name, table.title, table.mean, table.source);
    }
    say!("\nTopologies");
    for (_, form, text) in TOPOLOGIES {
        say!("  {form:<32} {text}");
    }
    say!("\nExperiments");
    for (name, title) in incast_experiment::reproduce::names() {
        say!("  {name:<14} {title}");
    }
    Ok(Ended::Done)
}

fn all() -> Value {
    let transports: Vec<Value> = CATALOGUE.iter().map(|entry| transport(*entry)).collect();
    let workloads: Vec<Value> = incast_workload::tables()
        .iter()
        .map(
            |t| json!({"name": t.name, "title": t.title, "source": t.source, "mean_bytes": t.mean}),
        )
        .collect();
    let topologies: Vec<Value> = TOPOLOGIES
        .iter()
        .map(|(name, form, text)| json!({"name": name, "form": form, "title": text}))
        .collect();
    let experiments: Vec<Value> = incast_experiment::reproduce::names()
        .into_iter()
        .map(|(name, title)| json!({"name": name, "title": title}))
        .collect();
    json!({
        "transports": transports,
        "workloads": workloads,
        "topologies": topologies,
        "experiments": experiments,
    })
}

fn transport(entry: &dyn incast_transport::Transport) -> Value {
    let info = entry.info();
    let routing = Routing::NAMES.iter().find(|(_, how)| *how == info.routing);
    let parameters: Vec<Value> = entry
        .parameters()
        .iter()
        .map(|doc| {
            json!({
                "name": doc.name, "default": doc.default, "accepts": doc.accepts,
                "source": doc.source, "doc": doc.doc,
            })
        })
        .collect();
    json!({
        "name": info.name,
        "id": info.id.0,
        "title": info.title,
        "paper": info.paper,
        "kind": info.kind.name(),
        "switch_support": info.switch_support,
        "routing": routing.map(|(name, _)| *name),
        "parameters": parameters,
    })
}
