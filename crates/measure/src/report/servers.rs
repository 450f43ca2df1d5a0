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
    let mut rows = String::new();
    for summary in summaries {
        let mut slowest: Vec<&Server> = summary.servers.iter().collect();
        let mean = |one: &Server| one.slowdown.map_or(0.0, |slowdown| slowdown.mean);
        slowest.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        for one in slowest.into_iter().take(SHOWN) {
            let (label, server) = (escape(&summary.label), one.server);
            rows += &format!("<tr><th scope=\"row\">{label}</th><td>server{server}</td>");
            rows += &cells(COLUMNS.iter().map(|(_, get)| get), one);
            rows += "</tr>\n";
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let heads = heads(COLUMNS.iter().map(|(name, _)| *name));
    format!(
        "<h2>Servers</h2>\n<div class=\"wide\"><table><thead><tr><th>run</th><th>server</th>{heads}</tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n<p class=\"caption\">The NICs of a server together; the {SHOWN} servers \
         of each run whose received flows took longest over their times alone. All are in servers.parquet.</p>\n"
    )
}
