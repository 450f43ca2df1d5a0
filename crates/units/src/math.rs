//! Functions beyond `+ - * / sqrt` for recorded results. They are pure Rust and give the same bits
//! on every platform and build; those of the standard library may differ.

pub use libm::{cbrt, exp, log, pow};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_bit_exact() {
        assert_eq!(cbrt(75.0).to_bits(), 0x4010_de60_1024_fb88);
        assert_eq!(cbrt(27.0), 3.0);
        assert_eq!(cbrt(-8.0), -2.0);
        assert_eq!(pow(1.0625, 2.5).to_bits(), 0x3ff2_9e4f_62ec_9a95);
        assert_eq!(pow(2.0, 0.5), 2f64.sqrt());
    }
}
