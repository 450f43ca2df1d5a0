//! The `incast` command: names a user can guess, exit codes that scripts can use.
//!
//! 0: success. 1: the run failed or results could not be written. 2: invalid input. 3: a run in real
//! time was refused: it is not what the scenario says. 130: interrupted.

/// Prints a line. A closed pipe (`incast list | head`) is ignored; results are still written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        $crate::process::printed(writeln!(std::io::stdout(), $($text)*));
    }};
}

#[cfg(target_os = "linux")]
mod apps;
mod arguments;
mod check;
mod commands;
mod compare;
mod doctor;
mod explain;
mod explore;
mod export;
mod flags;
mod guide;
mod list;
#[cfg(target_os = "linux")]
mod netns;
#[cfg(target_os = "linux")]
mod node;
pub mod pages;
pub mod prepare;
mod process;
mod progress;
mod reproduce;
mod search;
mod session;
mod study;
mod switch_bench;
mod testbed;
#[cfg(target_os = "linux")]
mod transfer;
mod values;
pub mod warnings;

pub use guide::command_line;
pub use process::Ended;
pub use values::sizes;

use clap::FromArgMatches;
use commands::{Arguments, Command};
use incast_experiment::Fault;
use process::{STARTED, UNPRINTED, printed};
use serde_json::Value;
use std::ffi::OsString;
use std::io::Write;

/// Runs the command that `arguments` ask for; the first is the program's name. Returns its exit code.
/// `program` are the words that start this program again, before its arguments. Handlers of signals that
/// a command installs stay, so a process runs one command.
pub fn run(program: Vec<OsString>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let all: Vec<OsString> = arguments.into_iter().collect();
    let own = all.iter().skip(1).cloned().collect();
    STARTED.get_or_init(|| (program, own));
    let code = answer(all);
    // A program that is not written in Rust does not do this at its end.
    printed(std::io::stdout().flush());
    match UNPRINTED.get() {
        Some(error) if code == 0 => {
            eprintln!("error: the output could not be written: {error}");
            1
        }
        _ => code,
    }
}

/// What `incast list` prints as JSON: all that there is, or one transport in full.
///
/// # Errors
/// There is no such transport.
pub fn catalogue(transport: Option<&str>) -> Result<Value, Fault> {
    match transport {
        Some(name) => Ok(incast_experiment::declared::transport_in_full(
            incast_experiment::transport(name, "name")?,
        )),
        None => Ok(list::all()),
    }
}

fn answer(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let matches = command_line().try_get_matches_from(arguments);
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(answer) => {
            let _ = answer.print();
            return u8::try_from(answer.exit_code()).unwrap_or(2);
        }
    };
    let ended = match arguments.command {
        Command::Demo(options) => compare::demo(options),
        Command::Run(options) => compare::run(*options),
        Command::Check(options) => check::check(options),
        Command::Compare(options) => compare::compare(*options),
        Command::Study(options) => study::study(options),
        Command::Explain(options) => explain::explain(*options),
        Command::Explore(options) => explore::explore(options),
        Command::Export(options) => export::export(options),
        Command::Search(options) => search::search(options),
        Command::List(options) => list::list(options),
        Command::Reproduce(options) => reproduce::reproduce(*options),
        Command::Bench(options) => reproduce::bench(options),
        Command::Doctor(options) => doctor::doctor(options),
        Command::Testbed(options) => testbed::testbed(options.command),
        Command::Completions(options) => guide::completions(&options),
        Command::Man(options) => guide::man(&options),
    };
    match ended {
        Ok(Ended::Done) => 0,
        Ok(Ended::Interrupted) => 130,
        Ok(Ended::Failed) => 1,
        Ok(Ended::Refused) => 3,
        Err(fault) => {
            eprintln!("error: {fault}");
            if fault.is_unwritten() { 1 } else { 2 }
        }
    }
}
