//! `incast list`.

use crate::Ended;
use crate::arguments::List;
use incast_experiment::{Fault, declared};
use incast_fabric::SHAPES;
use incast_protocols::CATALOGUE;
use incast_transport::{Deviation, Transport};
use serde_json::{Value, json};

pub fn list(options: List) -> Result<Ended, Fault> {
    if let Some(name) = &options.name {
        let entry = incast_experiment::transport(name, "NAME")?;
        match options.json {
            true => {
                let text = serde_json::to_string_pretty(&declared::transport_in_full(entry));
                say!("{}", text.expect("plain data becomes JSON"));
            }
            false => show(entry),
        }
        return Ok(Ended::Done);
    }
    if options.json {
        let text = serde_json::to_string_pretty(&all()).expect("plain data becomes JSON");
        say!("{text}");
        return Ok(Ended::Done);
    }
    say!("Transports (transport number in packets, name)");
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
    for shape in SHAPES {
        say!("  {:<32} {}", shape.form(), shape.doc);
    }
    say!("\nExperiments");
    for (name, title) in incast_reproduce::names() {
        say!("  {name:<14} {title}");
    }
    Ok(Ended::Done)
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
