//! Parsing and formatting of quantities: `8us`, `100Gbps`, `128KiB`.

use crate::fault::{Fault, Problem, expected, wrong};
use crate::{Bytes, Rate, Span};
use std::str::FromStr;

/// The units of a quantity, in each spelling that is read; the first one is the smallest.
struct Units {
    /// The quantity in messages.
    what: &'static str,
    /// Spellings of incast, which messages name: each with the number of smallest units it stands for.
    own: &'static [(&'static str, u128)],
    /// Other spellings that are read.
    other: &'static [(&'static str, u128)],
    /// Spellings of thousandths of the smallest unit.
    thousandths: &'static [&'static str],
}

const SECOND: u128 = 1_000_000_000_000;

/// The other spellings are those of ns-3's `Time`; a year has 365 days there.
const TIME: Units = Units {
    what: "a time",
    own: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", SECOND)],
    other: &[
        ("µs", 1_000_000),
        ("min", 60 * SECOND),
        ("h", 3_600 * SECOND),
        ("d", 86_400 * SECOND),
        ("y", 365 * 86_400 * SECOND),
    ],
    thousandths: &["fs"],
};
const BYTES: Units = Units {
    what: "a size",
    own: &[
        ("B", 1),
        ("KB", 1_000),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    other: &[("TB", 1_000_000_000_000), ("TiB", 1 << 40)],
    thousandths: &[],
};
/// The other spellings are those of ns-3's `DataRate`, of bits and of bytes per second.
const RATE: Units = Units {
    what: "a rate",
    own: &[
        ("bps", 1),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
    other: &[
        ("bit/s", 1),
        ("b/s", 1),
        ("kbps", 1_000),
        ("kb/s", 1_000),
        ("Kb/s", 1_000),
        ("Mb/s", 1_000_000),
        ("Gb/s", 1_000_000_000),
        ("Tb/s", 1_000_000_000_000),
        ("Kibps", 1 << 10),
        ("Kib/s", 1 << 10),
        ("Mibps", 1 << 20),
        ("Mib/s", 1 << 20),
        ("Gibps", 1 << 30),
        ("Gib/s", 1 << 30),
        ("Tibps", 1 << 40),
        ("Tib/s", 1 << 40),
        ("Bps", 8),
        ("B/s", 8),
        ("kBps", 8_000),
        ("kB/s", 8_000),
        ("KBps", 8_000),
        ("KB/s", 8_000),
        ("MBps", 8_000_000),
        ("MB/s", 8_000_000),
        ("GBps", 8_000_000_000),
        ("GB/s", 8_000_000_000),
        ("TBps", 8_000_000_000_000),
        ("TB/s", 8_000_000_000_000),
        ("KiBps", 8 << 10),
        ("KiB/s", 8 << 10),
        ("MiBps", 8 << 20),
        ("MiB/s", 8 << 20),
        ("GiBps", 8 << 30),
        ("GiB/s", 8 << 30),
        ("TiBps", 8 << 40),
        ("TiB/s", 8 << 40),
    ],
    thousandths: &[],
};

impl Units {
    fn names(&self) -> String {
        self.own.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The unit that may be meant by one that is not known: `G` or `gbps` of a rate is `Gbps`.
    fn nearest(&self, unit: &str) -> Option<&'static str> {
        let (first, unit) = (unit.get(..1)?.to_lowercase(), unit.to_lowercase());
        let alike = |name: &str| name.to_lowercase().starts_with(&first);
        let mut names = self.own.iter().map(|(name, _)| *name).filter(|name| alike(name));
        let same = names.clone().find(|name| name.to_lowercase() == unit);
        same.or_else(|| names.next())
    }

    /// What a unit stands for, in smallest units: the number over the divisor.
    fn scale(&self, unit: &str) -> Option<(u128, u128)> {
        let mut whole = self.own.iter().chain(self.other);
        let whole = whole.find(|(name, _)| *name == unit).map(|(_, scale)| (*scale, 1));
        whole.or_else(|| self.thousandths.contains(&unit).then_some((1, 1_000)))
    }
}

/// A decimal number, exactly: `digits` over 10^`places`.
struct Decimal {
    digits: u128,
    places: i64,
}

/// Digits after which a number is cut: no quantity here has as many.
const DIGITS: usize = 26;

impl Decimal {
    /// Reads `12`, `1.5`, `.5`, `1_000`, `+1.5e+03`; `None` if it is no number.
    fn read(text: &str) -> Option<Decimal> {
        let text = text.strip_prefix('+').unwrap_or(text);
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        let all = format!("{whole}{fraction}").replace('_', "");
        if all.is_empty() || !digits(whole) || !digits(fraction) {
            return None;
        }
        let places = fraction.bytes().filter(|byte| *byte != b'_').count();
        let kept = all.trim_start_matches('0');
        // Zeros at the end stand for nothing, and may be many.
        let (kept, zeros) = match kept.trim_end_matches('0') {
            "" => ("0", 0),
            some => (some, kept.len() - some.len()),
        };
        let places = places as i64 - zeros as i64 - i64::from(exponent);
        (kept.len() <= DIGITS)
            .then(|| kept.parse().ok().map(|digits| Decimal { digits, places }))?
    }
}

/// The number and the unit of a quantity: the number is what reads as one, with its exponent.
fn split(text: &str) -> (&str, &str) {
    let sign = |c: char| c == '-' || c == '+';
    let of_number = |c: char| c.is_ascii_digit() || c == '.' || c == '_' || sign(c);
    let mut end = text.find(|c: char| !of_number(c)).unwrap_or(text.len());
    if let Some(rest) = text[end..].strip_prefix(['e', 'E']) {
        let signed = rest.strip_prefix(sign).unwrap_or(rest);
        let digits = signed.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            end += 1 + rest.len() - signed.len() + digits;
        }
    }
    (&text[..end], text[end..].trim())
}

/// How a quantity is read that has no unit, or is finer than the smallest one.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// Refused.
    Exact,
    /// Without a unit in this one, and rounded to the nearest smallest unit.
    Nearest(&'static str),
}

fn quantity(text: &str, units: &Units, reading: Reading) -> Result<u64, Fault> {
    let fail = |problem: Problem| Fault::text(text, problem);
    let what = units.what;
    let (number, unit) = split(text.trim());
    if number.starts_with('-') {
        return Err(fail(format!("{what} cannot be negative").into()));
    }
    let written = number;
    let Some(number) = Decimal::read(number) else {
        let accepted = format!("a number and a unit, such as one of {}", units.names());
        return Err(fail(expected(accepted)));
    };
    let unit = match (unit, reading) {
        ("", _) if number.digits == 0 => units.own[0].0,
        ("", Reading::Nearest(unit)) => unit,
        ("", Reading::Exact) => {
            let problem = wrong("the unit is missing");
            return Err(fail(problem.expected(format!("one of {}", units.names()))));
        }
        (unit, _) => unit,
    };
    let Some((scale, divisor)) = units.scale(unit) else {
        let problem = wrong(format!("unknown unit `{unit}`"));
        let meant = units.nearest(unit).map(|unit| format!("{written}{unit}"));
        let problem = problem.expected(format!("one of {}", units.names()));
        return Err(fail(problem.meant(meant.as_deref())));
    };
    let too_large = || fail(format!("{what} is too large").into());
    let power = |places: i64| u32::try_from(places).ok().and_then(|p| 10u128.checked_pow(p));
    let scaled = number.digits.checked_mul(scale).ok_or_else(too_large)?;
    let factor = power((-number.places).max(0)).ok_or_else(too_large);
    let factor = if scaled == 0 { 1 } else { factor? };
    let scaled = scaled.checked_mul(factor).ok_or_else(too_large)?;
    let divisor = power(number.places.max(0)).and_then(|power| power.checked_mul(divisor));
    let (total, rest) = match divisor {
        Some(divisor) => {
            let rest = scaled % divisor;
            (scaled / divisor + u128::from(rest > 0 && rest >= divisor.div_ceil(2)), rest)
        }
        // So many places that less than half a unit is left.
        None => (0, scaled),
    };
    if rest > 0 && reading == Reading::Exact {
        return Err(fail(format!("finer than the smallest unit, {}", units.own[0].0).into()));
    }
    u64::try_from(total).map_err(|_| too_large())
}

impl FromStr for Span {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Span, Fault> {
        quantity(text, &TIME, Reading::Exact).map(Span)
    }
}
impl FromStr for Bytes {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Bytes, Fault> {
        quantity(text, &BYTES, Reading::Exact).map(Bytes)
    }
}
impl FromStr for Rate {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Rate, Fault> {
        quantity(text, &RATE, Reading::Exact).map(Rate)
    }
}

impl Span {
    /// Reads a time of a file of ns-3: without a unit it is in seconds, and what is finer than a
    /// picosecond is rounded to the nearest.
    pub fn of_ns3(text: &str) -> Result<Span, Fault> {
        quantity(text, &TIME, Reading::Nearest("s")).map(Span)
    }
}
impl Rate {
    /// Reads a rate of a file of ns-3: without a unit it is in bits per second, and what is finer is
    /// rounded to the nearest.
    pub fn of_ns3(text: &str) -> Result<Rate, Fault> {
        quantity(text, &RATE, Reading::Nearest("bps")).map(Rate)
    }
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
        let says = |r: Result<Span, Fault>| r.unwrap_err().to_string();
        assert!(says("5".parse()).contains("unit is missing"));
        assert!(says("-5us".parse()).contains("negative"));
        assert!(says("5Gbps".parse()).contains("unknown unit `Gbps`"));
        assert!(says("0.1ps".parse()).contains("finer"));
        assert!(says("99999999999999s".parse()).contains("too large"));
        assert!(says("us".parse()).contains("expected a number"));
        assert!(says("1.2.3us".parse()).contains("expected a number"));
        let rate = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        for text in ["100G", "100gbps", "100GBit", "100 gb"] {
            assert!(rate(text).contains("did you mean `100Gbps`?"), "{}", rate(text));
        }
        assert!(!rate("5us").contains("mean"));
        let size = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert!(size("64K").contains("did you mean `64KB`?"), "{}", size("64K"));
        assert!(size("64kib").contains("did you mean `64KiB`?"), "{}", size("64kib"));
        assert!(says("3 sec".parse()).contains("did you mean `3s`?"));
        assert!(says("3µ".parse()).contains("expected one of"));
    }

    /// What ns-3's classes read and print.
    #[test]
    fn reads_the_spellings_of_ns3() {
        let times = [
            ("1e-6s", 1_000_000),
            ("+1.5e+03ns", 1_500_000),
            ("+1000000.0ns", 1_000_000_000),
            ("1E3 us", 1_000_000_000),
            ("2000fs", 2),
            ("1min", 60_000_000_000_000),
            ("0.5h", 1_800_000_000_000_000),
            ("1d", 86_400_000_000_000_000),
            ("0.001y", 31_536_000_000_000_000),
            ("0e5s", 0),
            ("1_000ns", 1_000_000),
        ];
        for (text, ps) in times {
            assert_eq!(text.parse(), Ok(Span(ps)), "{text}");
            assert_eq!(Span::of_ns3(text), Ok(Span(ps)), "{text}");
        }
        let rates = [
            ("12.5GBps", 100_000_000_000),
            ("100Mb/s", 100_000_000),
            ("100000000000bps", 100_000_000_000),
            ("1e+11bps", 100_000_000_000),
            ("1.5e2KiBps", 1_228_800),
            ("8kbps", 8_000),
            ("1Kib/s", 1_024),
            ("1B/s", 8),
            ("1TBps", 8_000_000_000_000),
            ("40 Gb/s", 40_000_000_000),
        ];
        for (text, bits) in rates {
            assert_eq!(text.parse(), Ok(Rate(bits)), "{text}");
            assert_eq!(Rate::of_ns3(text), Ok(Rate(bits)), "{text}");
        }
        assert_eq!("1TB".parse(), Ok(Bytes(1_000_000_000_000)));
        assert_eq!(Span::of_ns3("2e-6"), Ok(Span(2_000_000)), "seconds");
        assert_eq!(Span::of_ns3("1.3333333333333333e-06s"), Ok(Span(1_333_333)));
        assert_eq!(Span::of_ns3("1500fs"), Ok(Span(2)), "halves up");
        assert_eq!(Span::of_ns3("1e-90s"), Ok(Span(0)));
        assert_eq!(Rate::of_ns3("25000000000.0"), Ok(Rate(25_000_000_000)));
        for bad in ["", "e5s", "1es", "1e+s", "1e99s", "--1s", "1s2", "1 2s", "1e5e5s", "0x1s"] {
            assert!(Span::of_ns3(bad).is_err() && bad.parse::<Span>().is_err(), "{bad}");
        }
        assert!("1500fs".parse::<Span>().unwrap_err().to_string().contains("finer"));
        assert!("1e-13s".parse::<Span>().unwrap_err().to_string().contains("finer"));
    }

    #[test]
    fn transmission_time_rounds_up() {
        assert_eq!(Rate::from_gbps(40).tx_time(Bytes(1538)), Span(307_600));
        assert_eq!(Rate(3).tx_time(Bytes(1)), Span(2_666_666_666_667));
        assert_eq!(Rate::from_gbps(10).bytes_in(Span::from_us(1)), Bytes(1250));
        assert_eq!(Rate(1).tx_time(Bytes(2_000_000)), Span(16_000_000_000_000_000_000));
    }
}
