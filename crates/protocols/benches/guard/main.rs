//! What the engine costs per packet-hop, in figures that another program on the same machine does not move: instructions, events,
//! allocations, memory, sizes of types.
//!
//!     cargo bench -p incast-protocols --bench guard -- check            # against docs/performance, as `make test` does
//!     cargo bench -p incast-protocols --bench guard -- measure ndp      # of all cases whose names contain this
//!     make bench                                                        # measures all and renews docs/performance
//!
//! It is compiled as releases are: at lower levels of optimisation counts repeat as well, but a call that is not inlined there, or a
//! copy that is made, says nothing about what users run. That costs little because it needs the engine and the transports alone:
//! neither Arrow nor Plotly.

mod cases;
mod count;
mod judge;
mod measure;
mod page;
mod table;

use cases::Case;
use count::{Counting, Counts};
use incast_transport::{Gap, Loss, Meta, Packet, Spent, Stamps};
use std::collections::BTreeMap;
use std::process::ExitCode;
use table::{Row, Table};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is held once per packet or loss. `Slot`, a packet in its pool, is private: an assertion beside it says 64.
fn sizes() -> BTreeMap<String, usize> {
    let all = [
        ("Gap", size_of::<Gap>()),
        ("Loss", size_of::<Loss>()),
        ("Meta", size_of::<Meta>()),
        ("Packet", size_of::<Packet>()),
        ("Spent", size_of::<Spent>()),
        ("Stamps", size_of::<Stamps>()),
    ];
    all.into_iter().map(|(name, bytes)| (name.to_string(), bytes)).collect()
}

fn main() -> ExitCode {
    // `cargo bench` adds an argument of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["run", case, size] => run(case, size),
        ["check"] => return judge::check(&sizes()),
        ["measure", part] => measure_some(part),
        ["renew", file] => renew(file),
        _ => {
            eprintln!("expected `check`, `measure PART` or `renew FILE`, not {words:?}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Runs a case in this process and prints what `measure` reads.
fn run(case: &str, size: &str) {
    let case = Case::find(case).unwrap_or_else(|| panic!("no case `{case}`"));
    let (hops, events) = case.run(size.parse().expect("a whole number"));
    let Counts { calls, bytes, peak } = Counts::now();
    println!("{hops} {events} {calls} {bytes} {peak}");
}

fn measure_some(part: &str) {
    let cases: Vec<Case> = Case::all().filter(|case| case.name().contains(part)).collect();
    measure::measure_all(&cases, measure::valgrind().is_some(), print);
}

fn print(case: Case, row: &Row) {
    println!("{:<26} {}", case.name(), row.text());
}

/// Measures all cases, and takes shares of the kernel's speed and resident memory from what `incast bench` printed.
fn renew(file: &str) {
    let valgrind = measure::valgrind().expect("valgrind is installed");
    let rustc = measure::rustc().expect("the compiler is installed");
    let version = table::version();
    let before = Table::read(version).unwrap_or_default();
    let mut table = Table { rustc, valgrind, sizes: sizes(), ..Table::default() };
    let cases: Vec<Case> = Case::all().collect();
    for (case, row) in cases.iter().zip(measure::measure_all(&cases, true, print)) {
        let (kind, transport) = (case.kind.name(), case.transport);
        let old = before.row(kind, transport).cloned().unwrap_or_default();
        let row = Row { share: old.share, resident_mib: old.resident_mib, ..row };
        table.cases.entry(kind.into()).or_default().insert(transport.into(), row);
    }
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    for (kind, transport, share, resident) in text.lines().filter_map(timed) {
        let rows = table.cases.entry(kind.into()).or_default();
        let row = rows.entry(transport.into()).or_default();
        (row.share, row.resident_mib) = (vec![share], Some(resident));
    }
    table.write(version);
    page::check();
    println!("{} and docs/performance.md are renewed", table::file(version));
}

/// Case, transport, share and resident memory of a row that `incast bench` printed.
fn timed(line: &str) -> Option<(&str, &str, f64, f64)> {
    let [case, transport, _threads, _hops, _events, _wall, _cpu, resident, share] =
        line.split_whitespace().collect::<Vec<&str>>()[..]
    else {
        return None;
    };
    Some((case, transport, share.parse().ok()?, resident.parse().ok()?))
}
