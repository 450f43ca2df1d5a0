//! Faults in workload files and settings.

use incast_units::Fault;
use incast_units::fault::expected;
use std::fmt;

/// A fault of the setting `key`; its value is empty if it is missing.
pub(crate) fn setting(key: &str, value: impl fmt::Display, accepted: impl fmt::Display) -> Fault {
    Fault::value(key, value, expected(accepted))
}

/// A fault of `key` in a line of `file`, from 1.
pub(crate) fn in_line(
    file: &str,
    line: usize,
    key: &str,
    value: impl fmt::Display,
    accepted: impl fmt::Display,
) -> Fault {
    setting(key, value, accepted).on_line(file, line)
}

/// A fault of the entire `file`.
pub(crate) fn in_file(
    file: &str,
    key: &str,
    value: impl fmt::Display,
    accepted: impl fmt::Display,
) -> Fault {
    setting(key, value, accepted).placed(file)
}
