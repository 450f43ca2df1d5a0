//! Size distributions as piecewise-linear cumulative tables.

use crate::dialect::{self, MAX_SIZE, SizeUnit, Sizes};
use crate::random::{fold, fold_text};
use incast_units::Fault;
use incast_units::Notice;

/// A distribution of sizes in bytes: points (size, cumulative share of flows), interpolated
/// linearly. A repeated size is a jump: a share of flows of exactly that size. A repeated share is
/// a gap without flows. No flow is smaller than the first size; a first share above 0 is the share
/// of flows of that size. The last share is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    name: String,
    sizes: Vec<f64>,
    shares: Vec<f64>,
}

impl SizeTable {
    /// Parses a table as [`read`](SizeTable::read) does, without its notices.
    ///
    /// # Errors
    /// Those of [`read`](SizeTable::read).
    pub fn parse(text: &str, source_name: &str) -> Result<SizeTable, Fault> {
        SizeTable::read(text, source_name, None).map(|(table, _)| table)
    }

    /// Parses a table. The dialect is detected by content: the native CSV (`size_bytes,cdf`),
    /// HPCC's `bytes percent`, the `bytes probability` of ABM and PowerTCP, the ns-2 family's
    /// `size 1 probability` (packets of 1460 B unless `unit` says otherwise) and Homa's (the mean,
    /// then `size probability`), whose mean decides between steps and straight lines, bytes and
    /// packets. Notices tell what was taken where the file does not say. The table is named after
    /// `source_name` without folders and extension.
    ///
    /// # Errors
    /// The first error, with file, line, column and accepted range: an empty
    /// file, a negative or non-finite number, sizes or shares that decrease, a last share other
    /// than 1 (100 %), sizes that are all zero or above 2^53, a mean above 1 GB in a unit that nobody
    /// stated, a stated mean that is not that of the table.
    pub fn read(
        text: &str,
        source_name: &str,
        unit: Option<SizeUnit>,
    ) -> Result<(SizeTable, Vec<Notice>), Fault> {
        let Sizes { rows, notices } = dialect::read_sizes(text, source_name, unit)?;
        let stem = source_name.rsplit(['/', '\\']).next().unwrap_or(source_name);
        let stem = stem.split_once('.').map_or(stem, |(stem, _)| stem);
        let table = SizeTable {
            name: stem.to_string(),
            sizes: rows.iter().map(|row| row.size).collect(),
            shares: rows.iter().map(|row| row.share).collect(),
        };
        Ok((table, notices))
    }

    /// A table in which every flow has `size` bytes. Panics unless `size` is in 1..=2^53.
    pub fn constant(size: u64) -> SizeTable {
        assert!(size >= 1 && size as f64 <= MAX_SIZE, "constant size {size} B");
        let name = format!("constant_{size}");
        SizeTable { name, sizes: vec![size as f64], shares: vec![1.0] }
    }

    /// The table's name: the file's name without folders and extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The points (size in bytes, share of flows up to it), in ascending order.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.sizes.iter().copied().zip(self.shares.iter().copied())
    }

    /// The smallest and the largest size in bytes.
    pub fn range(&self) -> (f64, f64) {
        (self.sizes[0], self.sizes[self.sizes.len() - 1])
    }

    /// The size in bytes at `u` in (0, 1], rounded to the nearest byte, at least 1. Panics if
    /// `u` is outside.
    pub fn sample(&self, u: f64) -> u64 {
        assert!(u > 0.0 && u <= 1.0, "sample({u}) outside (0, 1]");
        (self.quantile(u).round() as u64).max(1)
    }

    /// The `p` quantile of the size in bytes, the smallest one in a gap. Panics if `p` lies outside
    /// [0, 1].
    pub fn quantile(&self, p: f64) -> f64 {
        assert!((0.0..=1.0).contains(&p), "quantile({p}) outside [0, 1]");
        let upper = self.shares.partition_point(|&share| share < p);
        if upper == 0 {
            return self.sizes[0];
        }
        let (size, share) = (self.sizes[upper - 1], self.shares[upper - 1]);
        size + (p - share) / (self.shares[upper] - share) * (self.sizes[upper] - size)
    }

    /// The share of flows of at most `size` bytes, before rounding to whole bytes.
    pub fn cdf(&self, size: u64) -> f64 {
        let x = size as f64;
        let above = self.sizes.partition_point(|&s| s <= x);
        if above == 0 {
            return 0.0;
        }
        if above == self.sizes.len() || self.sizes[above - 1] == x {
            return self.shares[above - 1];
        }
        self.between(above, x)
    }

    /// The share of flows smaller than `x` bytes, before rounding to whole bytes.
    pub(crate) fn below(&self, x: f64) -> f64 {
        let from = self.sizes.partition_point(|&s| s < x);
        match from {
            0 => 0.0,
            _ if from == self.sizes.len() => 1.0,
            _ => self.between(from, x),
        }
    }

    /// The share at `x` on the line that ends at point `upper`.
    fn between(&self, upper: usize, x: f64) -> f64 {
        let (size, share) = (self.sizes[upper - 1], self.shares[upper - 1]);
        share + (x - size) / (self.sizes[upper] - size) * (self.shares[upper] - share)
    }

    /// The mean size in bytes, exact for straight lines between the points and before rounding
    /// to whole bytes.
    pub fn mean(&self) -> f64 {
        self.bytes_up_to(f64::INFINITY)
    }

    /// The share of bytes in flows of at most `size` bytes.
    pub fn byte_cdf(&self, size: u64) -> f64 {
        self.bytes_up_to(size as f64) / self.mean()
    }

    /// The mean of the size where it is at most `limit`, and of 0 elsewhere.
    fn bytes_up_to(&self, limit: f64) -> f64 {
        let mut sum = if self.sizes[0] <= limit { self.sizes[0] * self.shares[0] } else { 0.0 };
        for i in 1..self.sizes.len() {
            let (lower, upper) = (self.sizes[i - 1], self.sizes[i]);
            let share = self.shares[i] - self.shares[i - 1];
            if upper <= limit {
                sum += share * (lower + upper) / 2.0;
            } else if lower < limit {
                sum += share * (limit - lower) / (upper - lower) * (lower + limit) / 2.0;
            }
        }
        sum
    }

    /// The mean of [`sample`](SizeTable::sample), exactly: of sizes rounded to whole bytes, at
    /// least 1.
    pub fn mean_sampled(&self) -> f64 {
        self.sum_of_tails(1, 0)
    }

    /// The sum over k = 0, 1, 2, ... of the probability that a sampled size exceeds
    /// `k * step + offset` bytes: for `offset` 0 the mean number of packets of `step` bytes.
    /// In closed form, one arithmetic series for each line of the table.
    pub(crate) fn sum_of_tails(&self, step: u32, offset: u32) -> f64 {
        // A sampled size exceeds n >= 1 exactly when the size before rounding is >= n + 1/2.
        let (step, first) = (f64::from(step), f64::from(offset) + 0.5);
        let count_to = |x: f64| (((x - first) / step).floor() + 1.0).max(0.0);
        let mut sum = count_to(self.sizes[0]);
        for i in 1..self.sizes.len() {
            let (lower, upper) = (self.sizes[i - 1], self.sizes[i]);
            let (from, to) = (count_to(lower), count_to(upper));
            if to <= from {
                continue;
            }
            let count = to - from;
            let mean_threshold = first + step * (from + to - 1.0) / 2.0;
            let slope = (self.shares[i] - self.shares[i - 1]) / (upper - lower);
            sum += count * (1.0 - self.shares[i - 1] - slope * (mean_threshold - lower));
        }
        if offset == 0 {
            // Sizes that round to 0 count as 1 byte.
            sum += self.below(0.5);
        }
        sum
    }

    /// `key` folded with the points of the table, but not its name.
    pub(crate) fn fold_into(&self, key: u64) -> u64 {
        let key = fold_text(key, "sizes");
        self.points().fold(key, |key, (s, c)| fold(fold(key, s.to_bits()), c.to_bits()))
    }
}
