//! `incast list`.

use crate::arguments::List;
use crate::process::Ended;
use incast_experiment::{Fault, declared};
use incast_fabric::SHAPES;
use incast_protocols::CATALOGUE;
use incast_transport::{Deviation, Transport};
use serde_json::{Value, json};

pub fn list(options: List) -> Result<Ended, Fault> {
    let Some(name) = &options.name else {
        match options.json {
            true => print(&all()),
            false => overview(),
        }
        return Ok(Ended::Done);
    };
    if let Some(one) = other(name) {
        match options.json {
            true => print(&one),
            false => described(&one),
        }
        return Ok(Ended::Done);
    }
    let entry = incast_experiment::transport(name, "NAME")?;
    match options.json {
        true => print(&declared::transport_in_full(entry)),
        false => show(entry),
    }
    Ok(Ended::Done)
}

fn print(value: &Value) {
    say!("{}", serde_json::to_string_pretty(value).expect("plain data becomes JSON"));
}

/// Names with a line each.
fn overview() {
    say!("Transports");
    for entry in CATALOGUE {
        let info = entry.info();
        say!("  {:<14} {:<15} {}", info.name, info.kind.name(), info.title);
    }
    say!("\nWorkloads");
    for table in incast_workload::tables() {
        say!("  {:<20} {}", table.name, table.title);
    }
    say!("\nTopologies");
    for shape in SHAPES {
        say!("  {:<42} {}", shape.form(), shape.doc);
    }
    say!("\nExperiments");
    for (name, title) in incast_reproduce::names() {
        say!("  {name:<14} {title}");
    }
    say!(
        "\n`incast list NAME` shows one: a transport's parameters with their sources, and what differs from its paper"
    );
}

/// A workload, topology or experiment of this name.
fn other(name: &str) -> Option<Value> {
    let mut all = all();
    let lists = ["workloads", "topologies", "experiments"].map(|key| all[key].take());
    let mut entries = lists.iter().filter_map(Value::as_array).flatten();
    entries.find(|one| one["name"] == name).cloned()
}

/// Prints what is declared of a workload, topology or experiment.
fn described(one: &Value) {
    for (key, value) in one.as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), String::from);
        say!("{}: {text}", key.replace('_', " "));
    }
}

/// Prints one transport as text: properties, parameters, deviations.
fn show(entry: &dyn Transport) {
    let info = entry.info();
    let yes = |is: bool| if is { "yes" } else { "no" };
    say!("{} - {}", info.name, info.title);
    say!("  paper: {}", info.paper);
    say!("  transport number: {}", info.id.0);
    say!("  kind: {}", info.kind.name());
    say!("  switch support: {}", info.switch_support);
    say!("  routing: {}", info.routing.name());
    say!("  requires symmetric paths: {}", yes(info.symmetric_paths));
    say!("  ECN bits of data: {}", info.ecn.name());
    say!("  switches mark its data packets: {}", yes(info.marks));
    say!("  designed for PFC: {}", yes(info.made_for_pfc));
    if let Some(bits) = info.feedback_bits {
        let unit = if bits == 1 { "bit" } else { "bits" };
        say!("  feedback per data packet: {bits} {unit}");
    }
    say!("\nParameters");
    for doc in entry.parameters() {
        say!("  {} = {}", doc.name, doc.default);
        say!("      {}", doc.doc);
        say!("      accepted: {}; source: {}", doc.accepts, doc.source);
    }
    if !entry.sets().is_empty() {
        say!("\nParameter sets (values of `set`)");
    }
    for set in entry.sets() {
        let values: Vec<String> =
            set.values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let values = if values.is_empty() { "the defaults".into() } else { values.join(", ") };
        say!("  {} - {}", set.name, set.source);
        say!("      {values}");
    }
    say!("\nDeviations from the paper");
    for deviation in info.deviations {
        let Deviation { number, section, what, reason, effect } = deviation;
        let place = if section.is_empty() { String::new() } else { format!("[{section}] ") };
        say!("  {number:>2}. {place}{what}");
        say!("      Why: {reason}");
        if let Some(effect) = effect {
            say!("      Effect: {effect}");
        }
    }
    if info.deviations.is_empty() {
        say!("  none specific to this transport");
    }
    packets(&declared::transport_in_full(entry));
}

/// Prints what the transport's own header says.
fn packets(one: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    say!(
        "\nPackets (the twelve bytes of the transport's own header, in network order; in brackets filters for Wireshark)"
    );
    for packet in list(&one["packets"]) {
        say!(
            "  {} ({}) - {}",
            text(&packet["name"]),
            text(&packet["filter"]),
            text(&packet["doc"])
        );
        say!("      layout {}", text(&packet["layout"]));
        for field in list(&packet["fields"]) {
            let unit = text(&field["unit"]);
            let unit = if unit.is_empty() { unit } else { format!(", {unit}") };
            say!(
                "      {} ({}{unit}): {}",
                text(&field["name"]),
                text(&field["place"]),
                text(&field["doc"])
            );
        }
    }
    for code in list(&one["codes"]) {
        say!(
            "  ECN bits {:02b}: {} - {}",
            code["mark"].as_u64().unwrap_or(0),
            text(&code["name"]),
            text(&code["doc"])
        );
    }
}

/// Everything, in short, as JSON.
pub fn all() -> Value {
    let experiments: Vec<Value> = incast_reproduce::names()
        .into_iter()
        .map(|(name, title)| json!({"name": name, "title": title}))
        .collect();
    let transports: Vec<Value> =
        CATALOGUE.iter().map(|entry| declared::transport(*entry)).collect();
    json!({
        "transports": transports,
        "workloads": declared::workloads(),
        "topologies": declared::topologies(),
        "experiments": experiments,
    })
}
