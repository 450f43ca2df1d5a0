//! Numbers for each pair of hosts or ranks: how much one sends to another.

use crate::error::in_file;
use crate::import::{Line, Place, content};
use incast_units::Fault;

/// Reads a file with a line for each of `count` senders and in it a number for each of as many receivers, 0 or more,
/// separated by commas or blanks. Nobody sends to itself, whatever its own number is.
///
/// # Errors
/// With file and line: another number of lines or numbers, and what is no number from 0 to a million.
pub fn read_matrix(text: &str, file: &str, count: usize) -> Result<Vec<Vec<f64>>, Fault> {
    let lines = content(text);
    if lines.len() != count {
        let accepted = format!("{count}: one for each that sends");
        return Err(in_file(file, "lines", lines.len(), accepted));
    }
    let row = |line: &Line<'_>| {
        let place = Place { file, line: line.number };
        let fields = line.text.split(|c: char| c == ',' || c.is_whitespace());
        let fields: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
        if fields.len() != count {
            return place.fail(
                "numbers",
                fields.len(),
                format!("{count}: one for each that receives"),
            );
        }
        let number = |field: &&str| match field.parse::<f64>() {
            Ok(number) if (0.0..=1e6).contains(&number) => Ok(number),
            _ => place.fail("number", field, "a number from 0 to 1000000"),
        };
        fields.iter().map(number).collect()
    };
    lines.iter().map(row).collect()
}
