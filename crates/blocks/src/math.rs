//! The functions beyond `+ - * / sqrt` that control laws may use. They are pure Rust, so every
//! platform and build computes the same bits; those of the standard library need not agree.

pub use libm::cbrt;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_bits_and_no_others() {
        assert_eq!(cbrt(75.0).to_bits(), 0x4010_de60_1024_fb88);
        assert_eq!(cbrt(27.0), 3.0);
        assert_eq!(cbrt(-8.0), -2.0);
    }
}
