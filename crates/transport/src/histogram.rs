//! A histogram in constant time per value, percentiles afterwards: ages of information, backlogs.

/// Bits of a value after its leading one that select the bin.
const FINE: u32 = 4;
/// Bins per power of two.
const STEPS: usize = 1 << FINE;
/// Values from 2^48 on (an age of 281 s) share the last bin.
const BINS: usize = (48 - FINE as usize + 1) * STEPS;

/// A histogram of whole numbers. A bin is 1/16 of its power of two wide, so percentiles are less
/// than 1/16 too small; numbers below 32 have a bin each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    /// Up to the last bin that has values.
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram, without memory.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// Counts a value that came `count` times.
    #[inline]
    pub fn add_many(&mut self, value: u64, count: u64) {
        let bin = bin(value);
        if bin >= self.counts.len() {
            self.grow(bin);
        }
        self.counts[bin] += count;
    }

    #[cold]
    fn grow(&mut self, bin: usize) {
        self.counts.resize(bin + 1, 0);
    }

    /// Adds the counts of another histogram.
    pub fn join(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The values, each as the start of its bin, and how often they came.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(|(bin, count)| (start(bin), *count))
    }

    /// The percentile in thousandths (`990` is the 99th) by nearest rank, rounded down to the start
    /// of its bin. `None` without values.
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
fn bin(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let power = 63 - value.leading_zeros();
    let step = (value >> (power - FINE)) as usize & (STEPS - 1);
    (((power - FINE) as usize + 1) * STEPS + step).min(BINS - 1)
}

/// The smallest value of a bin.
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
        let mut ages = Histogram::new();
        (1..=100_000u64).for_each(|i| ages.add(i * 1000));
        for (thousandths, exact) in [(500, 50_000_000), (990, 99_000_000), (1000, 100_000_000)] {
            let seen = ages.percentile(thousandths).unwrap();
            assert!(seen <= exact && seen + seen / 16 >= exact, "{thousandths}: {seen}");
        }
        assert_eq!(Histogram::new().percentile(500), None);
    }

    #[test]
    fn joining_adds_the_counts() {
        let (mut a, mut b, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
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
        let mut again = Histogram::new();
        both.values().for_each(|(value, count)| again.add_many(value, count));
        assert_eq!(again, both);
        let mut empty = Histogram::new();
        empty.join(&both);
        empty.join(&Histogram::new());
        assert_eq!(empty, both);
    }
}
