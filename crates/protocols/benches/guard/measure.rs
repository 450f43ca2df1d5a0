//! Measures cases: this program runs itself, as it is and under callgrind.

use crate::cases::Case;
use crate::table::Row;
use std::process::{Command, Output};
use std::sync::Mutex;

/// Two sizes. Per hop is the difference of the runs over that of their hops, so that what a run costs
/// before its first packet and after its last cancels.
const SIZES: [u32; 2] = [1, 3];

/// What a run prints about itself.
struct Counted {
    hops: u64,
    events: u64,
    calls: u64,
    bytes: u64,
    peak: u64,
}

impl Counted {
    fn of(case: Case, size: u32) -> Counted {
        let text = done(run(itself()).args(run_of(case, size)));
        let numbers: Vec<u64> =
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [hops, events, calls, bytes, peak] = numbers[..] else {
            panic!("{}: five numbers, not `{text}`", case.name())
        };
        Counted { hops, events, calls, bytes, peak }
    }
}

/// Measures a case. Without `callgrind` there are no instructions.
pub fn measure(case: Case, callgrind: bool) -> Row {
    let [short, long] = SIZES.map(|size| Counted::of(case, size));
    let hops = (long.hops - short.hops) as f64;
    let per_hop = |short: u64, long: u64| Some((long as f64 - short as f64) / hops);
    let instructions = callgrind.then(|| {
        let [short, long] = SIZES.map(|size| instructions(case, size));
        (long as f64 - short as f64) / hops
    });
    Row {
        instructions,
        events: per_hop(short.events, long.events),
        allocations: per_hop(short.calls, long.calls),
        bytes: per_hop(short.bytes, long.bytes),
        heap_kib: Some(long.peak as f64 / 1024.0),
        ..Row::default()
    }
}

/// Measures cases on all cores, and gives each to `report` when it is done.
pub fn measure_all(
    cases: &[Case],
    callgrind: bool,
    report: impl Fn(Case, &Row) + Sync,
) -> Vec<Row> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let (next, rows) = (Mutex::new(0), Mutex::new(vec![Row::default(); cases.len()]));
    let work = || loop {
        let at = {
            let mut next = next.lock().expect("no panic");
            *next += 1;
            *next - 1
        };
        let Some(case) = cases.get(at) else { return };
        let row = measure(*case, callgrind);
        report(*case, &row);
        rows.lock().expect("no panic")[at] = row;
    };
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    rows.into_inner().expect("no panic")
}

fn instructions(case: Case, size: u32) -> u64 {
    let mut command = run("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(itself());
    let output = output(command.args(run_of(case, size)));
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected : "));
    let count = count.and_then(|(_, count)| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind counts no instructions: {text}"))
}

fn run_of(case: Case, size: u32) -> [String; 3] {
    ["run".into(), case.name(), size.to_string()]
}

/// The version of callgrind, if it is installed.
pub fn valgrind() -> Option<String> {
    version("valgrind")
}

/// The compiler's version.
pub fn rustc() -> Option<String> {
    version("rustc")
}

fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

fn itself() -> std::path::PathBuf {
    std::env::current_exe().expect("the system names the program")
}

/// A command whose memory does not depend on its environment.
fn run(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("GLIBC_TUNABLES");
    command
}

fn done(command: &mut Command) -> String {
    String::from_utf8_lossy(&output(command).stdout).into_owned()
}

fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}
