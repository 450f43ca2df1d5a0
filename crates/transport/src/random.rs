//! Counter-based random streams: one per (run, entity, purpose), so no result depends on the
//! order in which entities are visited, nor on threads.

/// A random stream. Draw `n` of a stream is a pure function of its key and `n`.
#[derive(Clone, Debug)]
pub struct Random {
    key: u64,
    count: u64,
}

/// SplitMix64's finaliser (Steele, Lea and Flood 2014), a bijection of 64 bits.
#[inline]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl Random {
    /// The stream of `entity` (a host or port number) for one `purpose` in the run of `seed`.
    pub fn new(seed: u64, entity: u32, purpose: u32) -> Random {
        let who = mix((entity as u64) << 32 | purpose as u64);
        Random { key: mix(seed ^ 0x9E37_79B9_7F4A_7C15) ^ who, count: 0 }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.count += 1;
        mix(self.key ^ mix(self.count.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// Uniform in `0..bound`; the bias is below `bound / 2^64`. Panics when `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0);
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// Uniform in `[0, 1)`, 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |seed, entity, purpose| {
            let mut r = Random::new(seed, entity, purpose);
            [r.next_u64(), r.next_u64()]
        };
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(1, 3, 2));
        assert_ne!(draw(1, 2, 3), draw(2, 2, 3));
    }

    #[test]
    fn unit_and_below_are_uniform() {
        let mut r = Random::new(7, 0, 0);
        let n = 100_000;
        let mean = (0..n).map(|_| r.unit()).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let mut counts = [0u32; 7];
        (0..n).for_each(|_| counts[r.below(7) as usize] += 1);
        assert!(counts.iter().all(|&c| (c as f64 - n as f64 / 7.0).abs() < 500.0), "{counts:?}");
    }
}
