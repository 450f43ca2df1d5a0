//! Scenarios as text, as tables for forms, and what the program declares.

use crate::{
    FILE_BYTES_MOST, FLOWS_MOST, HOSTS_MOST, TRACE_ROWS_MOST, Trouble, TroubleKind, warning,
};
use incast_experiment::fault::wrong;
use incast_experiment::scenario::{Draft, Key, Node, Traffic};
use incast_experiment::{
    Content, Contents, Fault, Plan, Scenario, World, declared, output, sources,
};
use incast_measure::columns::{Column, Table, all_tables};
use incast_protocols::CATALOGUE;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What messages call the text of a scenario.
const NAME: &str = "scenario.toml";

/// Input files of a scenario by name.
pub type Files = BTreeMap<String, String>;

/// A scenario from its text.
///
/// # Errors
/// What is wrong, with its line.
pub fn parsed(toml: &str) -> Result<Scenario, Fault> {
    Draft::parse(toml, NAME)?.scenario()
}

/// A plan from the text of its scenario.
///
/// # Errors
/// What is wrong, with its line.
pub fn planned(toml: &str, files: &Files) -> Result<Plan, Trouble> {
    let draft = Draft::parse(toml, NAME)?;
    let scenario = draft.scenario()?;
    let contents = contents(files);
    let sources = sources(&scenario, |name| contents.contains_key(name));
    if let Some((name, role)) = sources.iter().find(|one| !contents.contains_key(&one.0)) {
        let problem =
            format!("the {role} file of the scenario is not here: choose it with the scenario");
        return Err(Trouble::of(TroubleKind::MissingFile, name, problem));
    }
    let plan = Plan::with_contents(scenario, Arc::new(contents));
    let plan = plan.map_err(|fault| draft.placed(fault))?;
    output::check(&plan).map_err(|fault| draft.placed(fault))?;
    Ok(plan)
}

fn contents(files: &Files) -> Contents {
    let one = |(name, text): (&String, &String)| (name.clone(), Content::of(text.as_str()));
    files.iter().map(one).collect()
}

/// Refuses a plan that this module does not run.
///
/// # Errors
/// Too many hosts or flows, or not the simulator.
pub fn fits(plan: &Plan) -> Result<(), Trouble> {
    let (hosts, flows) = (plan.fabric.hosts(), plan.traffic.flows.len());
    let large = |key: &str, value: String, most: String| {
        let problem =
            wrong("too large for a page").expected(format!("{most}; `incast run` runs it"));
        Err(Trouble { kind: TroubleKind::TooLarge, fault: Fault::value(key, value, problem) })
    };
    if hosts > HOSTS_MOST {
        let key =
            if plan.scenario.fabric.file.is_some() { "fabric.file" } else { "fabric.topology" };
        return large(key, plan.fabric.name().into(), format!("at most {HOSTS_MOST} hosts"));
    }
    if flows > FLOWS_MOST {
        return large("traffic", format!("{flows} flows"), format!("at most {FLOWS_MOST} flows"));
    }
    let problem = match plan.scenario.run.world {
        World::DataPlane if plan.dataplane().clock.varies() => {
            wrong("in real time, which a page cannot").expected("`sim`")
        }
        World::Flow => wrong("a page shows packets, which are not there at flow level")
            .expected("`sim`; `incast run` runs it"),
        World::Sim | World::DataPlane => return Ok(()),
    };
    Err(Fault::value("run.world", plan.scenario.run.world.name(), problem).into())
}

/// What a scenario would run, or what is wrong with it: `Check` in `incast-web.d.ts`.
pub fn check(toml: &str, files: &Files) -> Value {
    let planned = planned(toml, files).and_then(|plan| fits(&plan).map(|()| plan));
    match planned {
        Ok(plan) => json!({
            "ok": true,
            "title": output::title(&plan),
            "warnings": warning::planned(&plan.warnings),
            "cases": plan.cases.iter().map(|case| &case.label).collect::<Vec<_>>(),
            "hosts": plan.fabric.hosts(),
            "switches": plan.fabric.nodes() - plan.fabric.hosts(),
            "ports": plan.fabric.ports().len(),
            "flows": plan.traffic.flows.len(),
            "total_bytes": plan.traffic.total_bytes(),
            "base_rtt_ps": plan.site.base_rtt.0,
            "host_rate_bps": plan.site.host_rate.0,
            "topology": plan.fabric.name(),
            "files": plan.inputs.files.iter().map(|file| &file.name).collect::<Vec<_>>(),
        }),
        Err(trouble) => json!({ "ok": false, "fault": trouble.to_json() }),
    }
}

/// The text as a table, as it is written.
///
/// # Errors
/// It is no TOML.
pub fn to_table(toml: &str) -> Result<Value, Trouble> {
    let node = Node::document(toml, NAME)?;
    Ok(serde_json::to_value(node).map_err(Fault::new)?)
}

/// A table as the text of a scenario, without keys that are as their defaults.
///
/// # Errors
/// A key that does not exist, a value of another type or beyond its range.
pub fn to_toml(table: &Value) -> Result<String, Trouble> {
    let node = Node::deserialize(without_nulls(table)).map_err(Fault::new)?;
    Ok(Draft::of_node(node, "").scenario()?.to_brief_toml())
}

/// The table without keys that have no value.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let given = entries.iter().filter(|(_, value)| !value.is_null());
            given
                .map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// The scenario with every default written out.
///
/// # Errors
/// What is wrong with it.
pub fn resolved(toml: &str, files: &Files) -> Result<String, Trouble> {
    let plan = planned(toml, files)?;
    Ok(plan.resolved(&plan.cases).to_toml())
}

/// What the program declares: `Declarations` in `incast-web.d.ts`.
pub fn declarations() -> Value {
    let keys: Vec<Key> = Scenario::all_keys();
    let of_kind = |kind: &str| -> Vec<&str> {
        keys.iter().filter(|key| key.kind == Some(kind)).map(|key| key.path.as_str()).collect()
    };
    let traffic = Traffic::abouts();
    let traffic: Vec<Value> = traffic
        .iter()
        .map(|(kind, about)| json!({ "kind": kind, "meaning": about, "keys": of_kind(kind) }))
        .collect();
    let transports: Vec<Value> =
        CATALOGUE.iter().map(|entry| declared::transport_in_full(*entry)).collect();
    let tables: Vec<Value> = all_tables().map(table).collect();
    json!({
        "version": incast_experiment::VERSION,
        "keys": keys.iter().map(Key::to_json).collect::<Vec<_>>(),
        "transports": transports,
        "topologies": declared::topologies(),
        "workloads": declared::workloads(),
        "traffic": traffic,
        "tables": tables,
        "limits": {
            "hosts": HOSTS_MOST,
            "flows": FLOWS_MOST,
            "trace_rows": TRACE_ROWS_MOST,
            "file_bytes": FILE_BYTES_MOST,
        },
    })
}

fn table(table: &Table) -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "type": column.type_name(),
            "unit": column.unit,
            "doc": column.doc,
        })
    };
    let columns: Vec<Value> = table.columns.iter().map(column).collect();
    json!({ "name": table.name, "doc": table.doc, "rows": 0, "columns": columns })
}
