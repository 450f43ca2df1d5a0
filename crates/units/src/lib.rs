//! Quantities as types: instants and spans in integer picoseconds, bytes, and rates in bits per
//! second. One byte lasts 20 ps at 400 Gb/s and a `u64` of picoseconds lasts 213 days, so nothing
//! here needs floating point. Every operation that could lose something names its rounding.

pub mod math;
mod parse;
mod time;
mod volume;

pub use parse::ParseError;
pub use time::{Span, Time};
pub use volume::{Bytes, Rate};
