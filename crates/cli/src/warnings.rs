//! Warnings of commands, and every kind of warning that the program can give.

use incast_transport::WarningKind;

incast_transport::warnings! {
    /// Kinds of warnings of commands.
    pub static WARNINGS;
    SEARCH_WITH_FAILED_RUNS = "search_with_failed_runs" {
        says: "some runs failed or lack the metric; they count as failing the condition, see {file}",
        means: "`incast search` looks for the largest (or smallest) value at which a condition holds. A \
                run that failed cannot hold it, so the answer may be that of the failure and not of the \
                transport.",
        remedy: "`search.json` lists the runs of each value with their errors; fix those and search \
                 again.",
    }
    NO_BROWSER = "no_browser" {
        says: "no browser could be started ({error}): open {address}",
        means: "`incast explore` serves its page, but this machine has no browser that it can start.",
        remedy: "Open the address; from another machine, forward the port (`ssh -L`). `--no-open` tries no \
                 browser.",
    }
    MORE_THREADS_THAN_CORES = "more_threads_than_cores" {
        says: "{threads} threads, and this process may use {cores} cores: they wait for each other",
        means: "Threads of one run advance together. Results are the same for any number of them; with more \
                than cores they only take turns.",
        remedy: "Leave `run.threads` or `--threads` out: one thread per core.",
    }
    CTRL_C_NOT_HANDLED = "ctrl_c_not_handled" {
        says: "Ctrl-C will not be handled: {error}",
        means: "The system refused a handler. Ctrl-C then ends the program at once, without the results \
                so far.",
        remedy: "Let the run come to its end.",
    }
}

/// Warns of more threads than the machine has cores for. The run is the same, and slower.
pub(crate) fn check_threads(threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(threads, |cores| cores.get());
    if threads > cores {
        warn(&MORE_THREADS_THAN_CORES, &[("threads", &threads), ("cores", &cores)]);
    }
    threads
}

/// Prints a warning of a command.
pub(crate) fn warn(kind: &'static WarningKind, values: &[(&str, &dyn std::fmt::Display)]) {
    eprintln!("warning: {}", kind.text(values));
}

/// Warnings given at one time: when, where they appear, and their kinds.
pub struct Group {
    /// When they are given.
    pub title: &'static str,
    /// Where they appear.
    pub place: &'static str,
    /// Their kinds.
    pub kinds: Vec<&'static WarningKind>,
}

/// Every kind of warning that the program can give.
pub fn all() -> [Group; 3] {
    let before = incast_measure::WARNINGS_BEFORE.iter().copied();
    [
        Group {
            title: "Before a run",
            place: "On the console before the run and with `incast check`; in the manifest with `kind` \
                    `configuration` and its name as `name` (`without_pfc` with its name as `kind`); in the \
                    report and the explorer; in the `warnings` of a study's table and page, and of \
                    results in Python.",
            kinds: before.chain(incast_experiment::warnings::kinds()).collect(),
        },
        Group {
            title: "After a run",
            place: "On the console after the table; in the manifest with its name as `kind` and the values \
                    of its sentence beside it; in the report and the explorer; in the `warnings` of a \
                    study's table and page, and of results in Python.",
            kinds: incast_measure::WARNINGS_AFTER.to_vec(),
        },
        Group {
            title: "Of a command",
            place: "On the console alone (standard error).",
            kinds: WARNINGS.to_vec(),
        },
    ]
}
