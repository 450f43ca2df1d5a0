//! The `incast` command: names a user can guess, exit codes that scripts can use.
//!
//! 0: success. 1: the run failed or results could not be written. 2: invalid input. 3: a run in real
//! time was refused: it is not what the scenario says. 130: interrupted.

/// Prints a line. A closed pipe (`incast list | head`) is ignored; results are still written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

#[cfg(target_os = "linux")]
mod apps;
mod arguments;
mod compare;
mod doctor;
mod flags;
mod list;
#[cfg(target_os = "linux")]
mod netns;
#[cfg(target_os = "linux")]
mod node;
pub mod pages;
mod progress;
mod reproduce;
mod session;
mod switch_bench;
mod testbed;
#[cfg(target_os = "linux")]
mod transfer;
mod values;

use arguments::{Arguments, Command};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// How a command ended.
pub enum Ended {
    /// Success.
    Done,
    /// Interrupted by the user; partial results are kept.
    Interrupted,
    /// Failed; the error has been printed.
    Failed,
    /// A run in real time is not accepted; the reason has been printed.
    Refused,
}

/// Runs the command that `arguments` ask for; the first is the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(answer) => {
            let _ = answer.print();
            return ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2));
        }
    };
    let ended = match arguments.command {
        Command::Demo(options) => compare::demo(options),
        Command::Run(options) => compare::run(*options),
        Command::Check(options) => compare::check(options),
        Command::Compare(options) => compare::compare(*options),
        Command::List(options) => list::list(options),
        Command::Reproduce(options) => reproduce::reproduce(*options),
        Command::Bench(options) => reproduce::bench(options),
        Command::Doctor(options) => doctor::doctor(options),
        Command::Testbed(options) => testbed::testbed(options.command),
    };
    match ended {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(130),
        Ok(Ended::Failed) => ExitCode::from(1),
        Ok(Ended::Refused) => ExitCode::from(3),
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::from(2)
        }
    }
}
