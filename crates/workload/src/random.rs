//! Counter-based randomness: each draw is a function of a key and a counter.
//!
//! The n-th draw of a key is `mix(mix(key) + n * GAMMA)`, the finaliser and the odd increment of
//! SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
//! There is no state, so the size of flow 7 does not depend on the number or order of draws. The
//! logarithm uses only + - x /, so that arrivals are equal on every machine.

/// SplitMix64's increment: 2^64 divided by the golden ratio, made odd.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Draw number `counter` of `key`: 64 uniform bits, the same on every machine.
pub fn draw(key: u64, counter: u64) -> u64 {
    // The extra GAMMA keeps key 0, counter 0 away from the fixed point mix(0) = 0.
    mix(mix(key.wrapping_add(GAMMA)).wrapping_add(counter.wrapping_mul(GAMMA)))
}

/// A key derived from `key` and a value; the order of successive folds matters.
pub fn fold(key: u64, value: u64) -> u64 {
    draw(key, value)
}

/// A key derived from `key` and a text, such as the name of a purpose.
pub fn fold_text(key: u64, text: &str) -> u64 {
    let key = fold(key, text.len() as u64);
    text.bytes().fold(key, |key, byte| fold(key, u64::from(byte)))
}

/// The sequence of draws of one key.
#[derive(Clone, Debug)]
pub struct Stream {
    key: u64,
    counter: u64,
}

impl Stream {
    /// The draws of `key`, from number 0.
    pub fn new(key: u64) -> Stream {
        Stream { key, counter: 0 }
    }

    /// The next 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        let bits = draw(self.key, self.counter);
        self.counter += 1;
        bits
    }

    /// The next uniform number in (0, 1], a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// The next uniform integer in `0..bound`, with a bias below `bound` / 2^64. Panics if `bound`
    /// is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "no number lies below 0");
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// The next exponential variate of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -ln(self.unit())
    }

    /// Shuffles `items` uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// The natural logarithm of a positive, normal `x`, to within a few units in the last place.
///
/// `x = m * 2^e` with m in [sqrt(1/2), sqrt(2)), and ln m = 2 artanh((m - 1) / (m + 1)); the
/// argument is below 0.172 there, so twelve terms of the series leave an error under 1e-19.
pub(crate) fn ln(x: f64) -> f64 {
    assert!(x.is_normal() && x > 0.0, "ln({x})");
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa >= std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for term in (0..12).rev() {
        sum = sum * square + 1.0 / f64::from(2 * term + 1);
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * s * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pinned() {
        // Changing these numbers changes every workload ever published with them.
        assert_eq!(mix(GAMMA), 0xe220_a839_7b1d_cdaf, "SplitMix64's first output from 0");
        assert_eq!(draw(0, 0), 0x4821_8226_ff3c_d4bf);
        assert_eq!(draw(1, 2), 0xf18d_6ce9_3d6c_f1ee);
        assert_ne!(draw(0, 1), draw(1, 0));
        assert_ne!(fold_text(1, "ab"), fold_text(fold_text(1, "a"), "b"));
    }

    #[test]
    fn logarithm_agrees_with_the_library() {
        let mut stream = Stream::new(7);
        for _ in 0..20_000 {
            let x = stream.unit();
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((ln(1e300) - 1e300f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn moments_of_the_streams() {
        let (n, mut stream) = (200_000, Stream::new(3));
        let mean = (0..n).map(|_| stream.exponential()).sum::<f64>() / f64::from(n);
        assert!((mean - 1.0).abs() < 4.0 / f64::from(n).sqrt(), "{mean}");
        let mut counts = [0u32; 7];
        (0..n).for_each(|_| counts[stream.below(7) as usize] += 1);
        let expected = f64::from(n) / 7.0;
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi < 22.5, "chi-square of 6 degrees of freedom, p = 0.001: {chi}");
    }
}
