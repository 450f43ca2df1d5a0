//! Typed quantities: times and durations in integer picoseconds, bytes, and rates in bits per
//! second. One byte takes 20 ps at 400 Gb/s and a `u64` of picoseconds covers 213 days, so no
//! floating point is needed. Every inexact operation documents its rounding. Also what every crate that
//! reads input can give: [faults](Fault) and [warnings](WarningKind).

mod decimal;
pub mod fault;
pub mod math;
mod parse;
mod time;
mod volume;
mod warning;

pub use fault::{Fault, Problem, nearest};
pub use time::{Span, Time};
pub use volume::{Bytes, Rate};
pub use warning::{Notice, WarningKind};
