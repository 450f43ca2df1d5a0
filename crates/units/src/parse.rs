//! Parsing and formatting of quantities: `8us`, `100Gbps`, `128KiB`.

use crate::{Bytes, Rate, Span};
use std::fmt;
use std::str::FromStr;

/// An invalid quantity. The message contains the text and the expected syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    problem: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.text, self.problem)
    }
}
impl std::error::Error for ParseError {}

const TIME_UNITS: &[(&str, u128)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];
const BYTE_UNITS: &[(&str, u128)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const RATE_UNITS: &[(&str, u128)] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("bit/s", 1),
    ("Kb/s", 1_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("Tb/s", 1_000_000_000_000),
];

fn quantity(text: &str, units: &[(&str, u128)], what: &str) -> Result<u64, ParseError> {
    let fail = |problem: String| ParseError { text: text.to_string(), problem };
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-' || c == '+'))
        .unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    let names = || units.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", ");
    if number.starts_with('-') {
        return Err(fail(format!("{what} cannot be negative")));
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return Err(fail(format!("expected a number and a unit, such as one of {}", names())));
    }
    if unit.is_empty() && number != "0" {
        return Err(fail(format!("the unit is missing; use one of {}", names())));
    }
    let scale = if unit.is_empty() {
        1
    } else {
        match units.iter().find(|(n, _)| *n == unit) {
            Some((_, scale)) => *scale,
            None => return Err(fail(format!("unknown unit `{unit}`; use one of {}", names()))),
        }
    };
    let too_large = || fail(format!("{what} is too large"));
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let mut total = whole.checked_mul(scale).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let value: u128 = fraction.parse().map_err(|_| too_large())?;
        let power = 10u128.checked_pow(fraction.len() as u32).ok_or_else(too_large)?;
        let scaled = value.checked_mul(scale).ok_or_else(too_large)?;
        if scaled % power != 0 {
            return Err(fail(format!("finer than the smallest unit, {}", units[0].0)));
        }
        total += scaled / power;
    }
    u64::try_from(total).map_err(|_| too_large())
}

impl FromStr for Span {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Span, ParseError> {
        quantity(text, TIME_UNITS, "a time").map(Span)
    }
}
impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        quantity(text, BYTE_UNITS, "a size").map(Bytes)
    }
}
impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        quantity(text, RATE_UNITS, "a rate").map(Rate)
    }
}

/// Writes `value / scale` exactly, without trailing zeros if `scale` is a power of ten. A binary
/// scale must divide `value`.
pub(crate) fn write_decimal(f: &mut fmt::Formatter<'_>, value: u64, scale: u64) -> fmt::Result {
    write!(f, "{}", value / scale)?;
    let rest = value % scale;
    if rest > 0 {
        let width = scale.ilog10() as usize;
        let digits = format!("{rest:0width$}");
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for text in ["8us", "1.5ms", "0s", "213ps", "2s", "10.25ns"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in ["100Gbps", "2.5Gbps", "40Gbps", "100Mbps", "1bps"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        for text in ["128KiB", "30KB", "1500B", "1.5MB", "1MB"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text.replace("1500B", "1.5KB"));
        }
    }

    #[test]
    fn refuses_with_the_reason() {
        let says = |r: Result<Span, ParseError>| r.unwrap_err().to_string();
        assert!(says("5".parse()).contains("unit is missing"));
        assert!(says("-5us".parse()).contains("negative"));
        assert!(says("5Gbps".parse()).contains("unknown unit `Gbps`"));
        assert!(says("0.1ps".parse()).contains("finer"));
        assert!(says("99999999999999s".parse()).contains("too large"));
        assert!(says("us".parse()).contains("expected a number"));
        assert!(says("1.2.3us".parse()).contains("expected a number"));
    }

    #[test]
    fn transmission_time_rounds_up() {
        assert_eq!(Rate::from_gbps(40).tx_time(Bytes(1538)), Span(307_600));
        assert_eq!(Rate(3).tx_time(Bytes(1)), Span(2_666_666_666_667));
        assert_eq!(Rate::from_gbps(10).bytes_in(Span::from_us(1)), Bytes(1250));
        assert_eq!(Rate(1).tx_time(Bytes(2_000_000)), Span(16_000_000_000_000_000_000));
    }
}
