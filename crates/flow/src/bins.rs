//! Bits over time, in a bounded number of intervals.

use incast_transport::{Span, Time};

/// Most intervals; then neighbours are joined and the width doubles.
const MOST: u64 = 512;

/// Bits by interval.
pub struct Bins {
    start: u64,
    width: u64,
    bits: Vec<f64>,
}

impl Bins {
    /// Nothing yet; the first interval begins at `start`.
    pub fn new(start: Time, interval: Span) -> Bins {
        Bins { start: start.0, width: interval.0.max(1), bits: vec![] }
    }

    /// So many bits were sent evenly from one instant to a later one; what was before the start counts in the first
    /// interval.
    pub fn add(&mut self, from: u64, to: u64, bits: f64) {
        let (from, to) = (from.saturating_sub(self.start), to.saturating_sub(self.start));
        while to > self.width * MOST {
            self.double();
        }
        let last = to.saturating_sub(1).max(from) / self.width;
        if last as usize >= self.bits.len() {
            self.bits.resize(last as usize + 1, 0.0);
        }
        let first = from / self.width;
        if first == last {
            self.bits[first as usize] += bits;
            return;
        }
        let rate = bits / (to - from) as f64;
        let mut left = bits;
        for index in first..last {
            let begin = from.max(index * self.width);
            let part = rate * ((index + 1) * self.width - begin) as f64;
            self.bits[index as usize] += part;
            left -= part;
        }
        self.bits[last as usize] += left.max(0.0);
    }

    fn double(&mut self) {
        self.bits = self.bits.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.width *= 2;
    }

    /// The width of the intervals.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Whole bytes by intervals of `width`, that is this one's times a power of two. Their sum is that of the bits.
    pub fn finish(mut self, width: u64) -> Vec<u64> {
        while self.width < width {
            self.double();
        }
        let (mut bits, mut bytes) = (0.0, 0);
        let whole = |own: &f64| {
            bits += own;
            // What is short of a byte by rounding alone is one.
            let all = (bits / 8.0 + 1e-3) as u64;
            all - std::mem::replace(&mut bytes, all)
        };
        self.bits.iter().map(whole).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_where_they_were_sent() {
        let mut bins = Bins::new(Time(100), Span(10));
        bins.add(105, 125, 160.0);
        bins.add(120, 130, 8.0);
        bins.add(130, 130, 8.0);
        assert_eq!(bins.width(), 10);
        assert_eq!(bins.finish(10), [5, 10, 6, 1]);
    }

    #[test]
    fn intervals_double_and_nothing_is_lost() {
        let mut bins = Bins::new(Time::ZERO, Span(10));
        for step in 0..10_000u64 {
            bins.add(step, step + 7, 3.0);
        }
        assert_eq!(bins.width(), 20);
        let all = bins.finish(40);
        assert_eq!(all.len(), 251);
        assert_eq!(all.iter().sum::<u64>(), 3_750);
    }
}
