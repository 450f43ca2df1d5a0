//! Rows and heads of the report's tables of numbers.

use crate::number::significant;

/// A number of what a row is of, if it has one.
pub(super) type Get<T> = fn(&T) -> Option<f64>;

/// The heads of columns of these names.
pub(super) fn heads<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("<th scope=\"col\">{name}</th>")).collect()
}

/// The cells of a row; a dash where there is no number.
pub(super) fn cells<'a, T: 'a>(columns: impl Iterator<Item = &'a Get<T>>, of: &T) -> String {
    let text = |get: &Get<T>| get(of).map_or("\u{2013}".to_string(), significant);
    columns.map(|get| format!("<td>{}</td>", text(get))).collect()
}
