//! Compares what is measured now with the table of the release.

use crate::cases::Case;
use crate::measure::{measure_all, rustc, valgrind};
use crate::table::{Row, Table, file, version};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

/// Of these cases instructions are compared too; of all others what costs no time. They pass the code of most packets: ports in order,
/// priorities, trimming, shared buffers, pauses, and windows, grants, pulls and rates at hosts, with and without losses.
const COUNTED: [&str; 8] = [
    "permutation/dctcp",
    "permutation/ndp",
    "permutation/ren",
    "incast/dctcp",
    "incast/ren",
    "web_search/homa",
    "web_search/timely",
    "web_search_pfc/hpcc",
];

/// What is compared: how it is called, where it stands, and by which share and by how much at the least it may differ.
type Figure = (&'static str, fn(&Row) -> Option<f64>, f64, f64);

const FIGURES: [Figure; 5] = [
    ("instructions per packet-hop", |row| row.instructions, 0.02, 0.0),
    ("events per packet-hop", |row| row.events, 0.02, 0.0),
    ("allocations per packet-hop", |row| row.allocations, 0.1, 0.0005),
    ("bytes allocated per packet-hop", |row| row.bytes, 0.1, 1.0),
    ("KiB of memory at the most", |row| row.heap_kib, 0.1, 0.0),
];

/// What has moved in a row, in words.
fn moved(case: &str, kept: &Row, now: &Row) -> Vec<String> {
    let judge = |(name, of, share, least): &Figure| {
        let (kept, now) = (of(kept)?, of(now)?);
        let most = (kept * share).max(*least);
        (now - kept).abs().gt(&most).then(|| {
            let digits = if kept < 10.0 { 4 } else { 1 };
            format!(
                "{case}: {now:.digits$} {name}, and {kept:.digits$} in the table: {:+.1} %, of which {:.0} % are accepted",
                (now / kept - 1.0) * 100.0,
                share * 100.0
            )
        })
    };
    FIGURES.iter().filter_map(judge).collect()
}

/// The sizes that are not those of the table.
fn changed(kept: &BTreeMap<String, usize>, now: &BTreeMap<String, usize>) -> Vec<String> {
    let mut all: Vec<String> = now
        .iter()
        .filter(|(name, bytes)| kept.get(*name) != Some(bytes))
        .map(|(name, bytes)| match kept.get(name) {
            Some(kept) => format!("{name} takes {bytes} B, and {kept} B in the table"),
            None => format!("{name} takes {bytes} B and is not in the table"),
        })
        .collect();
    let gone = kept.keys().filter(|name| !now.contains_key(*name));
    all.extend(gone.map(|name| format!("{name} is in the table and no longer measured")));
    all
}

/// Whether instructions can be compared; else why not.
fn countable(table: &Table) -> Result<(), String> {
    let Some(_) = valgrind() else { return Err("valgrind is not installed".into()) };
    match rustc() {
        Some(rustc) if rustc == table.rustc => Ok(()),
        other => Err(format!(
            "the compiler is {}, and that of the table {}",
            other.as_deref().unwrap_or("unknown"),
            table.rustc
        )),
    }
}

/// Compares and says what has moved.
pub fn check(sizes: &BTreeMap<String, usize>) -> ExitCode {
    let Some(table) = Table::read(version()) else {
        eprintln!("{} is missing: `make bench` writes it", file(version()));
        return ExitCode::FAILURE;
    };
    let countable = countable(&table).map_err(skip).is_ok();
    let (counted, plain): (Vec<Case>, Vec<Case>) =
        Case::all().partition(|case| COUNTED.contains(&case.name().as_str()));
    assert_eq!(counted.len(), COUNTED.len(), "each counted case is one");
    let mut faults = changed(&table.sizes, sizes);
    let mut passed = sizes.len() - faults.len().min(sizes.len());
    let quiet = |_: Case, _: &Row| ();
    let rows = measure_all(&counted, countable, quiet);
    let rows = rows.into_iter().chain(measure_all(&plain, false, quiet));
    for (case, row) in counted.iter().chain(&plain).zip(rows) {
        let name = case.name();
        let found = match table.row(case.kind.name(), case.transport) {
            Some(kept) => moved(&name, kept, &row),
            None => vec![format!("{name} is not in the table")],
        };
        passed += found.is_empty() as usize;
        faults.extend(found);
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    if !faults.is_empty() {
        eprintln!("if this is meant, `make bench` renews {}; the commit says why", file(version()));
    }
    let word = if faults.is_empty() { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {} failed", faults.len());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Notes for the end of `make test` what is not checked here.
fn skip(why: String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/skipped");
    let noted = Command::new(script).args(["instructions per packet-hop", &why]).status();
    assert!(noted.is_ok_and(|status| status.success()), "not noted: {why}");
}
