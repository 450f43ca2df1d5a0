//! Values of options, checked while parsing, so that messages name the option.

use incast_experiment::fault::{expected, wrong};
use incast_experiment::{Fault, scenario::Clock};
use incast_transport::Bytes;
use std::str::FromStr;

/// A whole number, 0 or more.
pub fn whole<T: FromStr>(text: &str) -> Result<T, Fault> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| {
        Fault::new(match text.strip_prefix('-') {
            Some(_) if number => wrong("negative").expected("a whole number, 0 or more"),
            None if number => wrong("too large"),
            _ => expected("a whole number, 0 or more"),
        })
    })
}

/// A clock that follows real time.
pub fn real_clock(text: &str) -> Result<Clock, Fault> {
    Clock::real(text).map_err(Fault::new)
}

/// So many things: `1 thread`, `2 threads`.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A duration for people: `40 s`, `12 min`, `3.5 h`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// An override: `key=value`.
pub fn set(text: &str) -> Result<String, Fault> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_string()),
        _ => Err(Fault::new(expected("key=value"))),
    }
}

/// Sizes such as `10KB-100KB`, or one size; in bytes.
pub fn sizes(text: &str) -> Result<(u64, u64), Fault> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let size = |text: &str| {
        let size: Result<Bytes, _> = text.trim().parse();
        size.map(|size| size.0).map_err(|fault| fault.or("such as 10KB-100KB"))
    };
    let (from, to) = (size(from)?, size(to)?);
    match from <= to {
        true => Ok((from, to)),
        false => Err(Fault::text(text, expected("the smaller size first, such as 10KB-100KB"))),
    }
}
