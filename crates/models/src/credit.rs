//! The share of a link used by credits (CCRP, Figure 1; ExpressPass, section 3).

/// Share of a link for credits of `credit` bytes when each triggers `data` bytes, both in charged
/// bytes. Credits use it in one direction while data fills the rest in the other.
pub fn credit_share(credit: f64, data: f64) -> f64 {
    credit / (credit + data)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_twentieth() {
        // 84 / 1622.
        assert!((super::credit_share(84.0, 1538.0) - 0.051788).abs() < 1e-6);
    }
}
