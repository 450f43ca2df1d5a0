//! Decimal numbers without floating point.

use std::fmt;

/// Writes `value / scale` exactly, without trailing zeros if `scale` is a power of ten. A binary
/// scale must divide `value`.
pub fn write_decimal(f: &mut fmt::Formatter<'_>, value: u64, scale: u64) -> fmt::Result {
    write!(f, "{}", value / scale)?;
    let rest = value % scale;
    if rest > 0 {
        let width = scale.ilog10() as usize;
        let digits = format!("{rest:0width$}");
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}
