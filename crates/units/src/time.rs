//! Points in simulated time, and durations.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A point in time: picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A duration in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any time of a run; means "never".
    pub const NEVER: Time = Time(u64::MAX);
    /// The longest simulated time, 100 days. Durations of up to 113 days can be added to any time
    /// of a run without overflow.
    pub const HORIZON: Time = Time(100 * 86_400 * 1_000_000_000_000);

    /// The duration from `earlier` to `self`, or zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, saturating at [`Time::NEVER`].
    #[inline]
    pub fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// Nanoseconds as a float, for columns and plots.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Seconds as a float, for columns and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Span = Span(0);
    /// The longest duration; means "no limit".
    pub const MAX: Span = Span(u64::MAX);

    /// Whole picoseconds.
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }
    /// Whole nanoseconds. Panics on overflow (more than 213 days).
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * 1_000)
    }
    /// Whole microseconds. Panics on overflow in debug builds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000_000)
    }
    /// Whole milliseconds. Panics on overflow in debug builds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000_000)
    }
    /// Whole seconds. Panics on overflow in debug builds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * 1_000_000_000_000)
    }
    /// Seconds rounded to the nearest picosecond; `None` when negative, not finite or too long.
    pub fn from_secs_f64(s: f64) -> Option<Span> {
        let ps = (s * 1e12).round();
        (ps.is_finite() && (0.0..1.8e19).contains(&ps)).then_some(Span(ps as u64))
    }
    /// Nanoseconds as a float, for columns and plots.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// Seconds as a float, for columns and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// `self - other`, or zero when `other` is longer.
    #[inline]
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, saturating at [`Span::MAX`].
    #[inline]
    pub fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
    /// `self * numerator / denominator`, rounded down, without intermediate overflow.
    pub fn scale(self, numerator: u64, denominator: u64) -> Span {
        Span((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}
impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        debug_assert!(self >= earlier, "negative span: {self} - {earlier}");
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}
impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}
impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}
impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}
impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(iter: I) -> Span {
        iter.fold(Span::ZERO, |a, b| a + b)
    }
}

/// Prints the value exactly, in the largest unit that keeps it a short decimal: `8us`, `1.5ms`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0 => return f.write_str("0s"),
            ps if ps >= 1_000_000_000_000 => ("s", 1_000_000_000_000),
            ps if ps >= 1_000_000_000 => ("ms", 1_000_000_000),
            ps if ps >= 1_000_000 => ("us", 1_000_000),
            ps if ps >= 1_000 => ("ns", 1_000),
            _ => ("ps", 1),
        };
        crate::decimal::write_decimal(f, self.0, scale)?;
        f.write_str(unit)
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            return f.write_str("never");
        }
        fmt::Display::fmt(&Span(self.0), f)
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
