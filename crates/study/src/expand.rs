//! Combinations of the values of varied keys.

use crate::series::Series;
use incast_experiment::Fault;
use incast_experiment::fault::{expected, one_of, wrong};
use incast_experiment::scenario::study::Study as Section;
use incast_experiment::scenario::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that advance together, and their values, one list per key.
struct Axis<'a> {
    keys: Vec<&'a str>,
    values: Vec<&'a [Node]>,
}

/// One combination under one series: the values that are set.
pub struct Combined {
    /// Number of the combination; those of several series with the same values share it.
    pub combination: usize,
    /// Index of the series.
    pub series: usize,
    /// The value of each varied key; `None` where it keeps that of the scenario.
    pub values: Vec<Option<Node>>,
}

/// Keys that a study cannot vary, with what is expected; without that they do not change results.
const FIXED: [(&str, Option<&str>); 5] = [
    ("run.seed", Some("the key `seeds` of [study]")),
    ("run.threads", None),
    ("transport.names", Some("`transport.names` outside of [study], and `variants`")),
    ("title", None),
    ("output", None),
];

/// Refuses keys that cannot be varied, groups and conditions that do not fit.
pub fn check(section: &Section, series: &[Series]) -> Result<(), Fault> {
    let known: Vec<&str> = section.vary.0.iter().map(|(key, _)| key.as_str()).collect();
    for key in &known {
        let path = format!("study.vary.{key}");
        let fixed = FIXED.iter().find(|(fixed, _)| {
            key.strip_prefix(fixed).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if let Some((_, instead)) = fixed {
            let problem = match instead {
                Some(instead) => wrong("cannot be varied").expected(instead),
                None => wrong("cannot be varied: it does not change results"),
            };
            return Err(Fault::at(path, problem));
        }
        if key.split('.').any(str::is_empty) || key.starts_with("study") {
            let problem = expected("a key of the scenario, such as `traffic.0.load`");
            return Err(Fault::at(path, problem));
        }
        if let Some(rest) = key.strip_prefix("transport.parameters.") {
            let name = rest.split('.').next().unwrap_or("");
            of_study(name, series, &path)?;
        }
    }
    groups(section, &known)?;
    for (key, conditions) in &section.when.0 {
        let path = format!("study.when.{key}");
        is_varied(key, &known, &path)?;
        for (other, choice) in &conditions.0 {
            let path = format!("{path}.{other}");
            for node in &choice.0 {
                let text = node.to_string();
                if other == "transport" {
                    let all = series.iter().flat_map(|one| [&one.label, &one.transport]);
                    let all: BTreeSet<&str> = all.map(String::as_str).collect();
                    among(&text, &all.into_iter().collect::<Vec<_>>(), &path)?;
                    continue;
                }
                is_varied(other, &known, &path)?;
                if other == key {
                    let problem = "a key cannot be its own condition";
                    return Err(Fault::at(path, problem));
                }
                let values =
                    &section.vary.0.iter().find(|(name, _)| name == other).expect("is varied").1;
                let texts: Vec<String> = values.0.iter().map(Node::to_string).collect();
                among(&text, &texts.iter().map(String::as_str).collect::<Vec<_>>(), &path)?;
            }
        }
    }
    Ok(())
}

fn among(text: &str, all: &[&str], path: &str) -> Result<(), Fault> {
    if all.contains(&text) {
        return Ok(());
    }
    Err(Fault::value(path, text, one_of(text, all.iter().copied())))
}

fn is_varied(key: &str, known: &[&str], path: &str) -> Result<(), Fault> {
    if known.contains(&key) {
        return Ok(());
    }
    let problem = match known {
        [] => wrong("no key is varied").expected("keys of [study.vary]"),
        known => one_of(key, known.iter().copied()).in_part(&"not a varied key"),
    };
    Err(Fault::at(path, problem))
}

/// Refuses parameters of a transport that the study does not run.
fn of_study(name: &str, series: &[Series], path: &str) -> Result<(), Fault> {
    let names: BTreeSet<&str> = series.iter().map(|one| one.transport.as_str()).collect();
    if names.contains(name) {
        return Ok(());
    }
    let problem = one_of(name, names).in_part(&format!("`{name}` is not in this study"));
    Err(Fault::at(path, problem))
}

/// Refuses groups with unknown keys, keys of two groups, and lists of different lengths.
fn groups(section: &Section, known: &[&str]) -> Result<(), Fault> {
    let mut grouped: Vec<&str> = vec![];
    for (at, group) in section.zip.iter().enumerate() {
        let path = format!("study.zip.{at}");
        for key in group {
            is_varied(key, known, &path)?;
            if grouped.contains(&key.as_str()) {
                return Err(Fault::value(
                    path,
                    key,
                    wrong("twice").expected("each key in one group"),
                ));
            }
            grouped.push(key);
        }
        let length = |key: &str| {
            let (_, values) =
                section.vary.0.iter().find(|(name, _)| name == key).expect("is varied");
            values.0.len()
        };
        let lengths: Vec<(&String, usize)> = group.iter().map(|key| (key, length(key))).collect();
        if lengths.windows(2).any(|two| two[0].1 != two[1].1) {
            let all: Vec<String> =
                lengths.iter().map(|(key, count)| format!("{key} has {count}")).collect();
            let problem = expected(format!("as many values of each key; {}", all.join(", ")));
            return Err(Fault::at(path, problem));
        }
    }
    Ok(())
}

fn axes(section: &Section) -> Vec<Axis<'_>> {
    let values = |key: &str| -> &[Node] {
        let (_, values) = section.vary.0.iter().find(|(name, _)| name == key).expect("is varied");
        &values.0
    };
    let mut axes: Vec<Axis<'_>> = vec![];
    for (key, _) in &section.vary.0 {
        if axes.iter().any(|axis| axis.keys.contains(&key.as_str())) {
            continue;
        }
        let group = section.zip.iter().find(|group| group.contains(key));
        let keys: Vec<&str> = match group {
            Some(group) => group.iter().map(String::as_str).collect(),
            None => vec![key.as_str()],
        };
        let values = keys.iter().map(|key| values(key)).collect();
        axes.push(Axis { keys, values });
    }
    axes
}

/// Number of combinations, conditions not counted.
pub fn count(section: &Section) -> f64 {
    axes(section).iter().map(|axis| axis.values[0].len() as f64).product()
}

/// Every combination under every series, each once; the first key changes slowest.
pub fn combine(section: &Section, series: &[Series]) -> Vec<Combined> {
    let axes = axes(section);
    let count: usize = axes.iter().map(|axis| axis.values[0].len()).product();
    let (mut all, mut seen) = (vec![], BTreeSet::new());
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for at in 0..count {
        let mut rest = at;
        let mut chosen: BTreeMap<&str, &Node> = BTreeMap::new();
        for axis in axes.iter().rev() {
            let length = axis.values[0].len();
            for (key, values) in axis.keys.iter().zip(&axis.values) {
                chosen.insert(key, &values[rest % length]);
            }
            rest /= length;
        }
        for (index, own) in series.iter().enumerate() {
            let value = |(key, _): &(String, _)| {
                holds(section, key, own, &chosen).then(|| chosen[key.as_str()].clone())
            };
            let values: Vec<Option<Node>> = section.vary.0.iter().map(value).collect();
            let name = Node::from(Value::List(
                values
                    .iter()
                    .map(|one| Value::List(one.iter().cloned().collect()).into())
                    .collect(),
            ));
            let name = name.to_string();
            if !seen.insert((index, name.clone())) {
                continue;
            }
            let next = numbers.len();
            let combination = *numbers.entry(name).or_insert(next);
            all.push(Combined { combination, series: index, values });
        }
    }
    all
}

/// Whether a key is varied under a series in a combination.
fn holds(section: &Section, key: &str, series: &Series, chosen: &BTreeMap<&str, &Node>) -> bool {
    let conditions = section.when.0.iter().filter(|(name, _)| name == key);
    conditions.flat_map(|(_, conditions)| &conditions.0).all(|(other, choice)| {
        choice.0.iter().map(Node::to_string).any(|text| match other.as_str() {
            "transport" => text == series.label || text == series.transport,
            other => chosen[other].to_string() == text,
        })
    })
}
