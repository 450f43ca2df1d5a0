//! Bytes and rates.

use crate::Span;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// A flow of this size or a larger one stands for a flow without an end, as in files of HPCC.
    pub const ENDLESS: Bytes = Bytes(1_000_000_000_000);
    /// Kilobytes of 1000 bytes.
    pub const fn from_kb(kb: u64) -> Bytes {
        Bytes(kb * 1_000)
    }
    /// Kibibytes of 1024 bytes: the unit of the papers' buffers.
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(kib * 1_024)
    }
    /// `self - other`, or zero when `other` is larger.
    #[inline]
    pub fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// Whole megabits per second.
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }
    /// Whole gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }
    /// Picoseconds per byte if that is a whole number below 2^32, else 0: `n` of them are what
    /// [`tx_time`](Rate::tx_time) says of `n` bytes. Panics if the rate is zero.
    pub fn byte_ps(self) -> u32 {
        let (per_byte, rest) = (8_000_000_000_000 / self.0, 8_000_000_000_000 % self.0);
        if rest == 0 { u32::try_from(per_byte).unwrap_or(0) } else { 0 }
    }
    /// Transmission time of `size` at this rate, rounded up to a picosecond. Panics if the rate is
    /// zero or the result exceeds 213 days.
    #[inline]
    pub fn tx_time(self, size: Bytes) -> Span {
        const PS_BITS: u64 = 8_000_000_000_000;
        match size.0.checked_mul(PS_BITS) {
            Some(product) => Span(product.div_ceil(self.0)),
            None => {
                let ps = (size.0 as u128 * PS_BITS as u128).div_ceil(self.0 as u128);
                Span(u64::try_from(ps).expect("transmission time exceeds 213 days"))
            }
        }
    }
    /// Bytes transmitted in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.0 as u128 / 8_000_000_000_000) as u64)
    }
    /// Gigabits per second as a float, for columns and plots.
    pub fn as_gbps_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self * numerator / denominator`, rounded down.
    pub fn scale(self, numerator: u64, denominator: u64) -> Rate {
        Rate((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }
}

macro_rules! arithmetic {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = $unit;
            #[inline]
            fn add(self, other: $unit) -> $unit { $unit(self.0 + other.0) }
        }
        impl AddAssign for $unit {
            #[inline]
            fn add_assign(&mut self, other: $unit) { self.0 += other.0; }
        }
        impl Sub for $unit {
            type Output = $unit;
            #[inline]
            fn sub(self, other: $unit) -> $unit { $unit(self.0 - other.0) }
        }
        impl SubAssign for $unit {
            #[inline]
            fn sub_assign(&mut self, other: $unit) { self.0 -= other.0; }
        }
        impl Mul<u64> for $unit {
            type Output = $unit;
            #[inline]
            fn mul(self, factor: u64) -> $unit { $unit(self.0 * factor) }
        }
        impl Div<u64> for $unit {
            type Output = $unit;
            #[inline]
            fn div(self, divisor: u64) -> $unit { $unit(self.0 / divisor) }
        }
        impl std::iter::Sum for $unit {
            fn sum<I: Iterator<Item = $unit>>(iter: I) -> $unit {
                iter.fold($unit(0), |a, b| a + b)
            }
        }
        impl fmt::Debug for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
arithmetic!(Bytes, Rate);

/// Prints exactly: `128KiB` when a whole number of KiB, else decimal units.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            b if b >= 1_024 && b % 1_024 == 0 && b % 1_000 != 0 => ("KiB", 1_024),
            b if b >= 1_000_000_000 => ("GB", 1_000_000_000),
            b if b >= 1_000_000 => ("MB", 1_000_000),
            b if b >= 1_000 => ("KB", 1_000),
            _ => ("B", 1),
        };
        crate::decimal::write_decimal(f, self.0, scale)?;
        f.write_str(unit)
    }
}
/// Prints exactly: `40Gbps`, `2.5Gbps`, `100Mbps`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            r if r >= 1_000_000_000 => ("Gbps", 1_000_000_000),
            r if r >= 1_000_000 => ("Mbps", 1_000_000),
            r if r >= 1_000 => ("Kbps", 1_000),
            _ => ("bps", 1),
        };
        crate::decimal::write_decimal(f, self.0, scale)?;
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_picoseconds_per_byte_are_the_transmission_time() {
        for rate in [1, 3, 7, 1_000, 8_000_000, 10_000_000_000, 56_000_000_000, 400_000_000_000] {
            let rate = Rate(rate);
            for size in [1, 7, 84, 1_538, 9_038] {
                let exact = rate.tx_time(Bytes(size)).0;
                match rate.byte_ps() as u64 {
                    0 => assert!(8_000_000_000_000 % rate.0 > 0 || exact / size > u32::MAX as u64),
                    per_byte => assert_eq!(size * per_byte, exact, "{rate} {size}"),
                }
            }
        }
        assert_eq!([10, 40, 100, 400].map(|g| Rate::from_gbps(g).byte_ps()), [800, 200, 80, 20]);
        assert_eq!(Rate::from_gbps(56).byte_ps(), 0);
    }
}
