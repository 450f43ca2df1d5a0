//! Values of options, checked while parsing, so that messages name the option.

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
pub fn set(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_string()),
        _ => Err("expected key=value".into()),
    }
}
