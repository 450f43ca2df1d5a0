//! The generated parts of `docs/performance.md`.

use super::table::{Row, Table, version};
use incast_testkit::check_part;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Kinds of traffic, as the table and as the page calls them.
const KINDS: [(&str, &str); 4] = [
    ("permutation", "permutation"),
    ("incast", "incast"),
    ("web_search", "web search"),
    ("web_search_pfc", "web search, PFC"),
];

/// Compares the page with the tables; with `UPDATE_DOCS=1` it is written instead.
pub fn check() {
    let all = Table::all();
    let (_, now) =
        all.iter().find(|(name, _)| name == version()).expect("this release has a table");
    let parts = [
        ("instructions", instructions(now)),
        ("memory", memory(now)),
        ("releases", releases(&all)),
    ];
    for (part, made) in parts {
        check_part("docs/performance.md", part, &made);
    }
}

fn compiled(table: &Table) -> String {
    let mut words = table.rustc.split_whitespace();
    let (name, number) = (words.next().unwrap_or("?"), words.next().unwrap_or("?"));
    format!("{name} {number}")
}

/// A row per transport, with what `cell` says for each kind of traffic.
fn grid(table: &Table, head: &str, cell: impl Fn(&Row) -> String) -> String {
    let mut out = format!("\n| {head} |");
    KINDS.iter().for_each(|(_, title)| out += &format!(" {title} |"));
    out += "\n|---|---|---|---|---|\n";
    let names: BTreeSet<&String> = table.cases.values().flat_map(|rows| rows.keys()).collect();
    for name in names {
        let _ = write!(out, "| {name} |");
        for (kind, _) in KINDS {
            let text = table.row(kind, name).map_or("-".into(), &cell);
            let _ = write!(out, " {text} |");
        }
        out += "\n";
    }
    out + "\n"
}

/// A number, or a dash.
fn text(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

fn instructions(table: &Table) -> String {
    let title = format!("instructions and events per packet-hop, {}", compiled(table));
    grid(table, &title, |row| format!("{}, {}", text(row.instructions, 0), text(row.events, 3)))
}

fn memory(table: &Table) -> String {
    let head = "KiB at the most; allocations and bytes per 1,000 packet-hops";
    let rows = grid(table, head, |row| {
        let thousand = |value: Option<f64>, digits| text(value.map(|value| value * 1000.0), digits);
        let (allocations, bytes) = (thousand(row.allocations, 1), thousand(row.bytes, 0));
        format!("{}; {allocations}, {bytes}", text(row.heap_kib, 0))
    });
    let sizes: Vec<String> =
        table.sizes.iter().map(|(name, bytes)| format!("`{name}` {bytes} B")).collect();
    format!("{rows}Sizes of types: {}.\n\n", sizes.join(", "))
}

/// The median of measurements, and their range.
fn share(row: &Row) -> String {
    let mut all = row.share.clone();
    all.sort_by(f64::total_cmp);
    match all[..] {
        [] => "-".into(),
        [one] => format!("{one:.2}"),
        _ => {
            let (first, last) = (all[0], all[all.len() - 1]);
            format!("{:.2} ({} runs, {first:.2} to {last:.2})", all[all.len() / 2], all.len())
        }
    }
}

/// Every case that `incast bench` has timed, by release.
fn releases(all: &[(String, Table)]) -> String {
    let mut out = String::from("\n| case |");
    for (version, _) in all {
        let _ = write!(out, " {version}: share of the kernel | MiB | instructions |");
    }
    out += &format!("\n|---|{}\n", "---|---|---|".repeat(all.len()));
    for (kind, title) in KINDS {
        let timed = |table: &Table| -> Vec<String> {
            let rows = table.cases.get(kind).into_iter().flatten();
            rows.filter(|(_, row)| !row.share.is_empty()).map(|(name, _)| name.clone()).collect()
        };
        let names: BTreeSet<String> = all.iter().flat_map(|(_, table)| timed(table)).collect();
        for name in names {
            let _ = write!(out, "| {title}, {name} |");
            for (_, table) in all {
                let row = table.row(kind, &name).cloned().unwrap_or_default();
                let (mib, count) = (text(row.resident_mib, 0), text(row.instructions, 0));
                let _ = write!(out, " {} | {mib} | {count} |", share(&row));
            }
            out += "\n";
        }
    }
    out + "\n"
}
