//! Warnings as a page shows them: the sentence, and what its kind means and asks for (`docs/warnings.md`).

use incast_measure::{WARNINGS_AFTER, WARNINGS_BEFORE, Warning};
use incast_transport::WarningKind;
use serde_json::{Value, json};

/// The kind of that name; `None` of a name that another version of the program gave.
fn kind(name: &str) -> Option<&'static WarningKind> {
    let records = WARNINGS_BEFORE.iter().chain(WARNINGS_AFTER).copied();
    records.chain(incast_experiment::warnings::kinds()).find(|kind| kind.name == name)
}

/// `Warning` in `incast-web.d.ts`.
fn shown(name: &str, text: String) -> Value {
    let kind = kind(name);
    json!({
        "name": name,
        "text": text,
        "means": kind.map_or("", |kind| kind.means),
        "remedy": kind.map_or("", |kind| kind.remedy),
    })
}

/// A warning that a manifest holds. Those of older versions are a sentence, or have no name.
pub fn stored(one: &Value) -> Value {
    let name = match one["kind"].as_str() {
        Some("configuration") => one["name"].as_str(),
        kind => kind,
    };
    let text = one.as_str().or(one["text"].as_str()).map(str::to_string);
    shown(name.unwrap_or_default(), text.unwrap_or_else(|| one.to_string()))
}

/// Warnings of a scenario that has been planned.
pub fn planned(warnings: &[Warning]) -> Vec<Value> {
    warnings.iter().map(|warning| stored(&warning.to_json())).collect()
}
