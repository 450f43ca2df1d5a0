//! Values of options, checked while parsing, so that messages name the option.

use incast_experiment::nearest;
use incast_experiment::scenario::Clock;
use std::str::FromStr;

/// A whole number, 0 or more.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| match text.strip_prefix('-') {
        Some(_) if number => "negative: expected a whole number, 0 or more".into(),
        None if number => "too large".into(),
        _ => "expected a whole number, 0 or more".into(),
    })
}

/// A clock that follows real time.
pub fn real_time(text: &str) -> Result<Clock, String> {
    let real = || Clock::NAMES.into_iter().filter(|(_, clock)| clock.rule().is_some());
    real().find(|(name, _)| *name == text).map(|(_, clock)| clock).ok_or_else(|| {
        let names: Vec<&str> = real().map(|(name, _)| name).collect();
        format!("expected one of {}{}", names.join(", "), nearest(text, names.iter().copied()))
    })
}

/// An override: `key=value`.
pub fn set(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_string()),
        _ => Err("expected key=value".into()),
    }
}
