//! What a study compares: transports, and variants of them.

use incast_experiment::fault::{one_of, wrong};
use incast_experiment::scenario::study::{Any, Ordered, Study as Section};
use incast_experiment::scenario::{Node, Value};
use incast_experiment::{Fault, entry, nearest};

/// A transport, or a variant of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in tables: the transport's, or the variant's.
    pub label: String,
    /// The transport.
    pub transport: String,
    /// What a variant changes: keys of the scenario.
    pub(crate) changes: Vec<(String, Node)>,
}

/// Keys of the fabric that a variant may change: they leave the arrivals as they are.
const OF_FABRIC: [&str; 3] = ["fabric.buffer", "fabric.shared_buffer", "fabric.pfc"];

/// The transports of `names` and the variants, in this order.
pub fn series(names: &[String], section: &Section) -> Result<Vec<Series>, Fault> {
    let mut all: Vec<Series> = vec![];
    for name in names {
        entry(name, "transport.names")?;
        let (label, transport) = (name.clone(), name.clone());
        add(&mut all, Series { label, transport, changes: vec![] }, "transport.names")?;
    }
    for (label, keys) in &section.variants.0 {
        let key = format!("study.variants.{label}");
        add(&mut all, variant(label, keys, &key)?, &key)?;
    }
    if all.is_empty() {
        return Err(Fault::at("transport.names", "at least one transport or variant is needed"));
    }
    let labels: Vec<&str> = all.iter().map(|one| one.label.as_str()).collect();
    match &section.baseline {
        Some(baseline) if !labels.contains(&baseline.as_str()) => {
            let problem = one_of(baseline, labels.iter().copied());
            Err(Fault::value("study.baseline", baseline, problem))
        }
        _ => Ok(all),
    }
}

fn add(all: &mut Vec<Series>, own: Series, key: &str) -> Result<(), Fault> {
    if own.label.is_empty() || all.iter().any(|one| one.label == own.label) {
        let problem =
            wrong(format!("`{}` twice or empty", own.label)).expected("names that differ");
        return Err(Fault::at(key, problem));
    }
    all.push(own);
    Ok(())
}

fn variant(label: &str, keys: &Ordered<Any>, path: &str) -> Result<Series, Fault> {
    let named = keys.0.iter().find(|(key, _)| key == "transport").map(|(_, Any(node))| node);
    let Some(Node { value: Value::Text(name), .. }) = named else {
        let problem = wrong("a variant needs the key `transport`").expected(
            "the name of a transport, such as \
                       { transport = \"ren\", spend = \"any\" }",
        );
        return Err(Fault::at(path, problem));
    };
    let entry = entry(name, &format!("{path}.transport"))?;
    let parameters: Vec<&str> = entry.parameters().iter().map(|doc| doc.name).collect();
    let mut changes = vec![];
    for (key, Any(node)) in keys.0.iter().filter(|(key, _)| key != "transport") {
        let known = parameters.contains(&key.as_str()) || key == "set";
        let place = match key.as_str() {
            "routing" if !known => format!("transport.routings.{name}"),
            key if OF_FABRIC.contains(&key) => key.to_string(),
            key if known => format!("transport.parameters.{name}.{key}"),
            _ => {
                let all = || parameters.iter().copied().chain(["routing"]).chain(OF_FABRIC);
                let hint = nearest(key, all());
                let list: Vec<&str> = all().collect();
                let problem = wrong(format!("not a key of a variant of {name}"))
                    .expected(format!("one of {}", list.join(", ")))
                    .meant(hint);
                return Err(Fault::at(format!("{path}.{key}"), problem));
            }
        };
        changes.push((place, node.clone()));
    }
    Ok(Series { label: label.into(), transport: name.clone(), changes })
}
