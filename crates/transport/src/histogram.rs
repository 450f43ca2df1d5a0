//! A histogram in constant time per value, percentiles afterwards: ages of information, backlogs.

/// Bits of a value after its leading one that select the bin.
const FINE: u32 = 4;
/// Bins per power of two.
const STEPS: usize = 1 << FINE;
/// Values from 2^48 on (an age of 281 s) share the last bin.
const BINS: usize = (48 - FINE as usize + 1) * STEPS;

/// Most bins that are kept as a list: beyond that a table of all takes less time and not much more
/// memory. A port whose backlog is seen at a few lengths has a few words instead of kilobytes.
const FEW: usize = 32;
/// An entry of the list has its bin above so many bits, and its count in them.
const COUNT: u32 = 48;

/// A histogram of whole numbers. A bin is 1/16 of its power of two wide, so percentiles are less
/// than 1/16 too small; numbers below 32 have a bin each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Histogram {
    /// Whether more than [`FEW`] bins have values.
    table: bool,
    /// In a table the counts up to the last bin that has values; else bins with their counts, in order.
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

    /// Counts a value that came `count` times, which are fewer than 2^48 in all.
    #[inline]
    pub fn add_many(&mut self, value: u64, count: u64) {
        let bin = bin(value);
        match self.table && bin < self.counts.len() {
            true => self.counts[bin] += count,
            false => self.add_to_list(bin, count),
        }
    }

    #[inline(never)]
    fn add_to_list(&mut self, bin: usize, count: u64) {
        if self.table {
            self.counts.resize(bin + 1, 0);
            self.counts[bin] += count;
            return;
        }
        let place = self.counts.partition_point(|entry| parted(*entry).0 < bin);
        let entry = (bin as u64) << COUNT | count;
        if self.counts.get(place).is_some_and(|known| parted(*known).0 == bin) {
            self.counts[place] += count;
        } else if self.counts.len() < FEW {
            self.counts.insert(place, entry);
        } else {
            self.table = true;
            for entry in std::mem::take(&mut self.counts).into_iter().chain([entry]) {
                let (bin, count) = parted(entry);
                self.counts.resize(self.counts.len().max(bin + 1), 0);
                self.counts[bin] += count;
            }
        }
    }

    /// Adds the counts of another histogram.
    pub fn join(&mut self, other: &Histogram) {
        other.values().for_each(|(value, count)| self.add_many(value, count));
    }

    /// The bins that have values, with their counts, in order.
    fn bins(&self) -> impl Iterator<Item = (usize, u64)> {
        let entry = |(at, entry): (usize, &u64)| match self.table {
            true => (at, *entry),
            false => parted(*entry),
        };
        self.counts.iter().enumerate().map(entry).filter(|(_, count)| *count > 0)
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.bins().map(|(_, count)| count).sum()
    }

    /// The values, each as the start of its bin, and how often they came.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> {
        self.bins().map(|(bin, count)| (start(bin), count))
    }

    /// The percentile in thousandths (`990` is the 99th) by nearest rank, rounded down to the start
    /// of its bin. `None` without values.
    pub fn percentile(&self, thousandths: u32) -> Option<u64> {
        assert!(thousandths <= 1000, "a percentile of {thousandths} thousandths");
        let all = self.count() as u128;
        let rank = (all * thousandths as u128).div_ceil(1000).max(1);
        let mut seen = 0u128;
        self.bins().find_map(|(bin, count)| {
            seen += count as u128;
            (seen >= rank).then(|| start(bin))
        })
    }
}

/// Bin and count of an entry of a list.
fn parted(entry: u64) -> (usize, u64) {
    ((entry >> COUNT) as usize, entry & ((1 << COUNT) - 1))
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

    /// Whichever values come first, and whether one by one: equal values make equal histograms.
    #[test]
    fn a_long_list_becomes_a_table() {
        let values: Vec<u64> = (0..100).map(|i| (i * 7919) % 5_000).collect();
        for some in [1, FEW, FEW + 1, 60, 100] {
            let (mut forth, mut back, mut joined) = Default::default();
            let add = |all: &mut Histogram, value: &u64| all.add_many(*value, 3);
            values[..some].iter().for_each(|value| add(&mut forth, value));
            values[..some].iter().rev().for_each(|value| add(&mut back, value));
            for value in &values[..some] {
                let mut one = Histogram::new();
                add(&mut one, value);
                Histogram::join(&mut joined, &one);
            }
            assert_eq!(forth, back, "{some}");
            assert_eq!(forth, joined, "{some}");
            assert_eq!(forth.count(), 3 * some as u64);
            let mut bins: Vec<usize> = values[..some].iter().map(|value| bin(*value)).collect();
            bins.sort_unstable();
            let counted = forth.bins().flat_map(|(bin, count)| vec![bin; count as usize / 3]);
            assert_eq!(counted.collect::<Vec<_>>(), bins);
            bins.dedup();
            assert_eq!(forth.table, bins.len() > FEW);
        }
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
