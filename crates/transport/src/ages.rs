//! Histogram of the age of information: constant time per decision, percentiles afterwards.

/// Bits of a value after its leading one that select the bin.
const FINE: u32 = 4;
/// Bins per power of two.
const STEPS: usize = 1 << FINE;
/// Ages from 2^48 ps (281 s) on share the last bin.
const BINS: usize = (48 - FINE as usize + 1) * STEPS;

/// A histogram of ages in picoseconds. A bin is 1/16 of its power of two wide, so percentiles are
/// less than 1/16 too small.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ages {
    counts: Vec<u64>,
}

impl Ages {
    /// An empty histogram. The first age allocates its memory.
    pub fn new() -> Ages {
        Ages::default()
    }

    /// Counts a decision of this age.
    #[inline]
    pub fn add(&mut self, age: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; BINS];
        }
        self.counts[bin(age)] += 1;
    }

    /// Adds the counts of another histogram.
    pub fn join(&mut self, other: &Ages) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
            return;
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    /// Number of decisions.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The percentile in thousandths (`990` is the 99th) in picoseconds, by nearest rank, rounded
    /// down to the start of its bin. `None` without decisions.
    pub fn percentile(&self, thousandths: u32) -> Option<u64> {
        assert!(thousandths <= 1000, "a percentile of {thousandths} thousandths");
        let all = self.count() as u128;
        let rank = (all * thousandths as u128).div_ceil(1000).max(1);
        let mut seen = 0u128;
        self.counts.iter().enumerate().find_map(|(at, count)| {
            seen += *count as u128;
            (seen >= rank).then(|| start(at))
        })
    }
}

#[inline]
fn bin(age: u64) -> usize {
    if age < STEPS as u64 {
        return age as usize;
    }
    let power = 63 - age.leading_zeros();
    let step = (age >> (power - FINE)) as usize & (STEPS - 1);
    (((power - FINE) as usize + 1) * STEPS + step).min(BINS - 1)
}

/// The smallest age of a bin.
fn start(bin: usize) -> u64 {
    let (power, step) = (bin / STEPS, bin % STEPS);
    match power {
        0 => step as u64,
        _ => ((STEPS + step) as u64) << (power - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_contiguous_and_start_at_their_lower_bound() {
        let mut last = 0;
        for at in 1..BINS {
            assert!(start(at) > start(at - 1));
            assert_eq!((bin(start(at) - 1), bin(start(at))), (at - 1, at));
        }
        for age in (0..60).map(|power| 1u64 << power) {
            assert!(bin(age) >= last);
            last = bin(age);
        }
        assert_eq!(bin(u64::MAX), BINS - 1);
    }

    #[test]
    fn percentiles_are_accurate_to_a_sixteenth() {
        let mut ages = Ages::new();
        (1..=100_000u64).for_each(|i| ages.add(i * 1000));
        for (thousandths, exact) in [(500, 50_000_000), (990, 99_000_000), (1000, 100_000_000)] {
            let seen = ages.percentile(thousandths).unwrap();
            assert!(seen <= exact && seen + seen / 16 >= exact, "{thousandths}: {seen}");
        }
        assert_eq!(Ages::new().percentile(500), None);
    }

    #[test]
    fn joining_adds_the_counts() {
        let (mut a, mut b, mut both) = (Ages::new(), Ages::new(), Ages::new());
        for i in 0..1000u64 {
            if i % 3 == 0 {
                a.add(i * i)
            } else {
                b.add(i * i)
            }
            both.add(i * i);
        }
        a.join(&b);
        assert_eq!(a, both);
        let mut empty = Ages::new();
        empty.join(&both);
        empty.join(&Ages::new());
        assert_eq!(empty, both);
    }
}
