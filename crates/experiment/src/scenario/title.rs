//! Titles of keys.

use super::Scenario;
use super::key::{Key, humanised};

/// The title of the key at a path as a scenario has it, such as `traffic.0.load`, in traffic of `kind`
/// if it is in an entry of traffic. A parameter of a transport is called by both names.
pub fn title_of(path: &str, kind: Option<&str>) -> String {
    if let Some(parameter) = path.strip_prefix("transport.parameters.")
        && let Some((transport, name)) = parameter.split_once('.')
    {
        return format!("{transport}: {}", name.replace('_', " "));
    }
    let parts: Vec<&str> = path.split('.').filter(|part| part.parse::<u32>().is_err()).collect();
    let path = parts.join(".");
    let own =
        |key: &&Key| key.path == path && (key.kind.is_none() || kind.is_none() || key.kind == kind);
    let keys = Scenario::all_keys();
    keys.iter().find(own).map_or_else(|| humanised(&path), Key::title)
}
