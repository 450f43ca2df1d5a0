//! Rows and heads of the report's tables of numbers.

use crate::number;

/// A number of what a row is of, if it has one.
pub(super) type Get<T> = fn(&T) -> Option<f64>;

/// The heads of columns of these names.
pub(super) fn heads<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("<th scope=\"col\">{name}</th>")).collect()
}

/// The cells of each row; a dash where there is no number.
pub(super) fn cells<'a, T>(columns: impl Iterator<Item = &'a Get<T>>, rows: &[&T]) -> Vec<String>
where
    T: 'a,
{
    let mut all = vec![String::new(); rows.len()];
    for get in columns {
        let values: Vec<Option<f64>> = rows.iter().map(|row| get(row)).collect();
        all.iter_mut().zip(number::column(&values)).for_each(|(row, cell)| *row += &cell);
    }
    all
}

/// A table that a narrow screen scrolls, with a shadow where there is more of it; keys reach it too.
pub(super) fn wide(table: &str) -> String {
    format!("<div class=\"wide\" tabindex=\"0\">{table}</div>\n")
}
