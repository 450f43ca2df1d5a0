//! Values of options, refused where they are read, so that messages name the option.

use incast_experiment::Buffer;
use incast_transport::{Bytes, Rate, Span};
use std::str::FromStr;

/// A quantity that a scenario takes as text.
fn quantity<T: FromStr>(text: &str) -> Result<String, String>
where
    T::Err: std::fmt::Display,
{
    text.parse::<T>().map(|_| text.to_string()).map_err(|error| error.to_string())
}

/// A rate such as `40Gbps`, as text.
pub fn rate(text: &str) -> Result<String, String> {
    quantity::<Rate>(text)
}

/// A time such as `1us`, as text.
pub fn time(text: &str) -> Result<String, String> {
    quantity::<Span>(text)
}

/// A size such as `64KB`, as text.
pub fn size(text: &str) -> Result<String, String> {
    quantity::<Bytes>(text)
}

/// A port's buffer such as `128KiB` or `128packets`, as text.
pub fn buffer(text: &str) -> Result<String, String> {
    quantity::<Buffer>(text)
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| *number > 0.0 && number.is_finite())
        .ok_or_else(|| "expected a number above 0".into())
}

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

/// What an override looks like: `key=value`.
pub fn set(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_string()),
        _ => Err("expected key=value".into()),
    }
}
