//! Servers with several NICs as a table: those whose flows took longest.

use super::table::{Get, cells, heads};
use crate::number::escape;
use crate::{Server, Summary};

/// Servers shown of a run.
const SHOWN: usize = 10;

/// Columns: name and value.
const COLUMNS: [(&str, Get<Server>); 6] = [
    ("NICs", |one| Some(one.nics.into())),
    ("sent, MB", |one| Some(one.sent_bytes as f64 / 1e6)),
    ("delivered, MB", |one| Some(one.delivered_bytes as f64 / 1e6)),
    ("flows received", |one| Some(one.received_flows as f64)),
    ("FCT, mean \u{b5}s", |one| Some(one.fct_ns?.mean / 1e3)),
    ("slowdown, mean", |one| Some(one.slowdown?.mean)),
];

/// The tables of all runs; nothing where every host is a server.
pub(super) fn table(summaries: &[Summary]) -> String {
    let slowest = |summary: &'_ Summary| {
        let mut slowest: Vec<Server> = summary.servers.clone();
        let mean = |one: &Server| one.slowdown.map_or(0.0, |slowdown| slowdown.mean);
        slowest.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        slowest.truncate(SHOWN);
        slowest.into_iter().map(|one| (summary.label.clone(), one)).collect::<Vec<_>>()
    };
    let all: Vec<(String, Server)> = summaries.iter().flat_map(slowest).collect();
    let numbers: Vec<&Server> = all.iter().map(|(_, one)| one).collect();
    let numbers = cells(COLUMNS.iter().map(|(_, get)| get), &numbers);
    let row = |((label, one), cells): (&(String, Server), String)| {
        let (label, server) = (escape(label), one.server);
        format!("<tr><th scope=\"row\">{label}</th><td>server{server}</td>{cells}</tr>\n")
    };
    let rows: String = all.iter().zip(numbers).map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let heads = heads(COLUMNS.iter().map(|(name, _)| *name));
    format!(
        "<h2>Servers</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th>server</th>{heads}</tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n<p class=\"caption\">The NICs of a server together; the {SHOWN} servers \
         of each run whose received flows took longest over their times alone. All are in servers.parquet.</p>\n"
    )
}
