//! Warnings as a page shows them: the sentence, and what its kind means and asks for (`docs/warnings.md`).

use incast_measure::{StatedWarning, WARNINGS_AFTER, WARNINGS_BEFORE, Warning};
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

/// A warning that a manifest holds.
pub fn stated(one: &StatedWarning) -> Value {
    shown(one.name(), one.text.clone())
}

/// Warnings of a scenario that has been planned.
pub fn planned(warnings: &[Warning]) -> Vec<Value> {
    warnings.iter().map(|one| shown(one.name(), one.to_string())).collect()
}
