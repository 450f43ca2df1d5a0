//! Numbers in words.

use std::fmt::Write;

/// A time with three digits and a unit.
pub fn time(ps: u64) -> String {
    let (value, unit) = match ps {
        0..1_000 => return format!("{ps} ps"),
        1_000..1_000_000 => (ps as f64 / 1e3, "ns"),
        1_000_000..1_000_000_000 => (ps as f64 / 1e6, "µs"),
        1_000_000_000..1_000_000_000_000 => (ps as f64 / 1e9, "ms"),
        _ => (ps as f64 / 1e12, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// Bytes on links: exact below 10,000, so that single packets can be counted.
pub fn bytes(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} B") } else { size(bytes) }
}

/// A size of a flow.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", (bytes as f64 / 1e2).round() / 10.0),
        _ => format!("{} MB", (bytes as f64 / 1e4).round() / 100.0),
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    let digits = if share < 0.1 { 1 } else { 0 };
    format!("{:.digits$} %", share * 100.0)
}

/// A list with commas; of more than `most`, how many there are besides.
pub(crate) fn list(all: impl Iterator<Item = String>, most: usize) -> String {
    let all: Vec<String> = all.collect();
    let beyond = all.len().saturating_sub(most);
    let mut text = all[..all.len() - beyond].join(", ");
    if beyond > 0 {
        write!(text, " and {beyond} more").expect("a string takes all");
    }
    text
}
