//! This process: how it was started, how its command ended, and what could not be printed.

use std::ffi::OsString;
use std::sync::OnceLock;

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

/// How this program was started: what starts it again, and its arguments.
pub static STARTED: OnceLock<(Vec<OsString>, Vec<OsString>)> = OnceLock::new();

/// What starts this program again, without arguments.
pub fn program() -> &'static [OsString] {
    STARTED.get().map_or(&[], |(program, _)| program)
}

/// The arguments of this program, without its name.
pub fn arguments() -> &'static [OsString] {
    STARTED.get().map_or(&[], |(_, arguments)| arguments)
}

/// Why something could not be printed, the first time.
pub static UNPRINTED: OnceLock<std::io::Error> = OnceLock::new();

/// Notes that something could not be printed. Who closes a pipe has read enough.
pub fn printed(outcome: std::io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        UNPRINTED.get_or_init(|| error);
    }
}
