//! What the program declares, as JSON: for `incast list --json`, Python and pages.

use incast_fabric::SHAPES;
use incast_transport::{HeaderView, ParameterSet, Transport};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One transport: names, kind, parameters.
pub fn transport(entry: &dyn Transport) -> Value {
    let info = entry.info();
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
        "routing": info.routing.name(),
        "parameters": parameters,
    })
}

/// One transport with all details.
pub fn transport_in_full(entry: &dyn Transport) -> Value {
    let info = entry.info();
    let deviations: Vec<Value> = info
        .deviations
        .iter()
        .map(|deviation| {
            json!({
                "number": deviation.number, "section": deviation.section, "what": deviation.what,
                "reason": deviation.reason, "effect": deviation.effect,
            })
        })
        .collect();
    let set = |set: &ParameterSet| {
        let values: BTreeMap<_, _> = set.values.iter().copied().collect();
        json!({"name": set.name, "source": set.source, "values": values})
    };
    let sets: Vec<Value> = entry.sets().iter().map(set).collect();
    let mut value = transport(entry);
    value["sets"] = json!(sets);
    value["symmetric_paths"] = json!(info.symmetric_paths);
    value["ecn"] = json!(info.ecn.name());
    value["marks"] = json!(info.marks);
    value["made_for_pfc"] = json!(info.made_for_pfc);
    value["feedback_bits"] = json!(info.feedback_bits);
    value["deviations"] = json!(deviations);
    value["packets"] = info.headers.iter().map(|view| packet(info.name, view)).collect();
    value["codes"] = codes(info.headers);
    value
}

/// What the transport's own twelve bytes say in one kind of packet.
fn packet(transport: &str, view: &HeaderView) -> Value {
    let fields: Vec<Value> = view
        .fields()
        .map(|field| {
            json!({"name": field.name, "place": field.place(), "unit": field.unit, "doc": sentence(field.doc)})
        })
        .collect();
    json!({
        "name": view.name, "doc": sentence(view.doc), "layout": view.signature(),
        "filter": format!("incast.{transport}.{}", view.filter_name()), "fields": fields,
    })
}

/// The transport's codes in the ECN bits, if it has its own.
fn codes(views: &[HeaderView]) -> Value {
    let views = views.iter().find(|view| !view.codes.is_empty());
    let codes = views.map_or(&[][..], |view| view.codes).iter();
    codes
        .map(|code| json!({"mark": code.mark, "name": code.name, "doc": sentence(code.doc)}))
        .collect()
}

/// A description without its last full stop.
fn sentence(doc: &str) -> &str {
    doc.trim().trim_end_matches('.')
}

/// The distributions of flow sizes that come with the program.
pub fn workloads() -> Vec<Value> {
    let one = |table: &incast_workload::TableInfo| {
        json!({
            "name": table.name, "title": table.title, "source": table.source,
            "mean_bytes": table.mean,
        })
    };
    incast_workload::tables().iter().map(one).collect()
}

/// The shapes of a network.
pub fn topologies() -> Vec<Value> {
    let one = |shape: &&incast_fabric::Shape| json!({"name": shape.name, "form": shape.form(), "title": shape.doc});
    SHAPES.iter().map(one).collect()
}
