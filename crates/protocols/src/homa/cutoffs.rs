//! Sizes at which unscheduled bytes are split among their classes, and how many levels they get.

use super::params::Unscheduled;
use incast_transport::{Bytes, SizeQuantiles};

/// Most classes a port has.
const CLASSES_MOST: usize = 8;

/// The class of unscheduled bytes, by bytes remaining (or by size): class 1 up to the first limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cutoffs {
    limits: [u64; CLASSES_MOST],
}

impl Cutoffs {
    /// Splits the unscheduled bytes of the run into `levels` equal shares (Homa §3.4).
    /// `blind` is RTTbytes. Without sizes, remaining bytes up to RTTbytes count as equally common.
    pub fn new(
        sizes: Option<&SizeQuantiles>,
        blind: u64,
        levels: u8,
        mode: Unscheduled,
    ) -> Cutoffs {
        let mut limits = [u64::MAX; CLASSES_MOST];
        for level in 1..levels as usize {
            limits[level - 1] = match sizes {
                None => blind * level as u64 / levels as u64,
                Some(sizes) => {
                    let sizes = Sizes { points: &sizes.points, blind: blind as f64 };
                    sizes.split(level as f64 / levels as f64, mode)
                }
            };
        }
        Cutoffs { limits }
    }

    /// Limits as the user gave them, of at most `levels` classes; what is left over has the last.
    pub fn given(sizes: &[Bytes], levels: u8) -> Cutoffs {
        let mut limits = [u64::MAX; CLASSES_MOST];
        let most = levels.max(1) as usize - 1;
        limits.iter_mut().zip(sizes.iter().take(most)).for_each(|(to, from)| *to = from.0);
        Cutoffs { limits }
    }

    /// The class of a packet at which so many bytes remain, or of a message of this size.
    #[inline]
    pub fn class(&self, bytes: u64) -> u8 {
        1 + self.limits.iter().position(|&limit| bytes <= limit).expect("the last has no limit")
            as u8
    }
}

/// The share of bytes of the run that are unscheduled, 0 to 1. `blind` is RTTbytes.
pub fn unscheduled_share(sizes: &SizeQuantiles, blind: u64) -> f64 {
    let capped = |blind: f64| Sizes { points: &sizes.points, blind }.capped_below(f64::MAX);
    let all = capped(f64::MAX);
    if all > 0.0 { capped(blind as f64) / all } else { 1.0 }
}

/// A distribution of sizes: points joined by straight lines; a repeated size is a jump.
struct Sizes<'a> {
    points: &'a [(f64, f64)],
    blind: f64,
}

impl Sizes<'_> {
    /// The smallest number of bytes up to which unscheduled bytes are at least this share of all.
    fn split(&self, share: f64, mode: Unscheduled) -> u64 {
        let below = |bytes: f64| match mode {
            Unscheduled::Graduated => self.graduated_below(bytes),
            Unscheduled::Size => self.capped_below(bytes),
        };
        let largest = self.points.last().map_or(0.0, |point| point.0);
        let target = share * below(largest);
        let (mut low, mut high) = (0, largest as u64 + 1);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if below(middle as f64) >= target { high = middle } else { low = middle }
        }
        high
    }

    /// Unscheduled bytes of an average message at which at most `bytes` remain. A message of size
    /// s has one for each number of remaining bytes from s - min(s, RTTbytes) to s.
    fn graduated_below(&self, bytes: f64) -> f64 {
        let integral = |to| self.share_integral(to);
        integral(bytes + self.blind) - integral(self.blind) - integral(bytes)
    }

    /// The integral of the cumulative share from 0 to `to`.
    fn share_integral(&self, to: f64) -> f64 {
        let mut sum = 0.0;
        for pair in self.points.windows(2) {
            let ((from, share), (end, end_share)) = (pair[0], pair[1]);
            let width = end.min(to) - from;
            if width > 0.0 {
                let slope = (end_share - share) / (end - from);
                sum += width * (share + slope * width / 2.0);
            }
        }
        let (last, share) = self.points.last().copied().unwrap_or((0.0, 1.0));
        sum + (to - last).max(0.0) * share
    }

    /// Unscheduled bytes of messages no larger than `bytes`, of an average message.
    fn capped_below(&self, bytes: f64) -> f64 {
        let Some(&(first, share)) = self.points.first() else { return 0.0 };
        let jump =
            |size: f64, share: f64| if size <= bytes { share * size.min(self.blind) } else { 0.0 };
        let mut sum = jump(first, share);
        for pair in self.points.windows(2) {
            let ((from, share), (end, end_share)) = (pair[0], pair[1]);
            if end <= from {
                sum += jump(end, end_share - share);
            } else if bytes > from {
                let density = (end_share - share) / (end - from);
                sum += density * self.capped(from, end.min(bytes));
            }
        }
        sum
    }

    /// The integral of min(s, RTTbytes) over s.
    fn capped(&self, from: f64, to: f64) -> f64 {
        let knee = self.blind.clamp(from, to);
        let rising = (knee - from) * (knee + from) / 2.0;
        // No gain beyond the knee, also where RTTbytes counts as infinite.
        if knee >= to { rising } else { rising + (to - knee) * self.blind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    fn sizes(points: &[(f64, f64)]) -> SizeQuantiles {
        SizeQuantiles { points: points.to_vec() }
    }

    /// Roughly web search: short messages, and a heavy tail.
    fn web_search() -> SizeQuantiles {
        sizes(&[
            (1.0, 0.0),
            (10_000.0, 0.15),
            (20_000.0, 0.2),
            (50_000.0, 0.4),
            (80_000.0, 0.53),
            (200_000.0, 0.6),
            (1_000_000.0, 0.7),
            (2_000_000.0, 0.8),
            (5_000_000.0, 0.9),
            (10_000_000.0, 0.97),
            (30_000_000.0, 1.0),
        ])
    }

    fn sample(sizes: &SizeQuantiles, random: &mut Random) -> u64 {
        let u = random.unit();
        let upper = sizes.points.partition_point(|point| point.1 < u).max(1);
        let ((a, p), (b, q)) = (sizes.points[upper - 1], sizes.points[upper]);
        (a + (b - a) * (u - p) / (q - p)).round().max(1.0) as u64
    }

    /// Known result: the bytes in each unscheduled class are equal.
    #[test]
    fn unscheduled_bytes_are_split_equally() {
        for mode in [Unscheduled::Graduated, Unscheduled::Size] {
            for (levels, blind) in [(2, 10_000), (4, 100_000), (7, 48_180)] {
                let sizes = web_search();
                let cutoffs = Cutoffs::new(Some(&sizes), blind, levels, mode);
                let mut random = Random::new(levels as u64, 0, 0);
                let mut bytes = [0u64; 8];
                for _ in 0..200_000 {
                    let size = sample(&sizes, &mut random);
                    let mut at = size;
                    while at > size.saturating_sub(blind) {
                        let step = at.min(1_460);
                        let class = match mode {
                            // A packet's class goes by its first byte.
                            Unscheduled::Graduated => cutoffs.class(at - step / 2),
                            Unscheduled::Size => cutoffs.class(size),
                        };
                        bytes[class as usize] += step;
                        at -= step;
                    }
                }
                let all: u64 = bytes.iter().sum();
                for (class, &bytes) in bytes[1..=levels as usize].iter().enumerate() {
                    let share = bytes as f64 / all as f64 * levels as f64;
                    assert!((share - 1.0).abs() < 0.03, "{mode:?} {levels}: {class} has {share}");
                }
            }
        }
    }

    #[test]
    fn fewer_remaining_bytes_never_have_a_worse_class() {
        let cutoffs = Cutoffs::new(Some(&web_search()), 48_180, 7, Unscheduled::Graduated);
        let classes: Vec<_> = (0..3_000).map(|step| cutoffs.class(step * 10_000)).collect();
        assert!(classes.is_sorted());
        assert_eq!((classes[0], classes[2_999]), (1, 7));
        assert_eq!(cutoffs.class(u64::MAX), 7);
    }

    #[test]
    fn by_hand() {
        // All messages are of 1000 bytes: all unscheduled bytes are of one size, and their
        // remainders are spread from 1000 down.
        let one = sizes(&[(1_000.0, 0.0), (1_000.0, 1.0)]);
        let graduated = Cutoffs::new(Some(&one), 400, 2, Unscheduled::Graduated);
        assert_eq!([800, 801].map(|bytes| graduated.class(bytes)), [1, 2]);
        let by_size = Cutoffs::new(Some(&one), 400, 2, Unscheduled::Size);
        assert_eq!([999, 1_000, 1_001].map(|bytes| by_size.class(bytes)), [1, 1, 2]);
        assert_eq!(unscheduled_share(&one, 400), 0.4);
        assert_eq!(unscheduled_share(&one, 1_000), 1.0);
        // Half of them 100 B, half 1000 B: 50 of 250 unscheduled bytes, 550 in all.
        let two = sizes(&[(100.0, 0.5), (1_000.0, 0.5), (1_000.0, 1.0)]);
        assert!((unscheduled_share(&two, 400) - 250.0 / 550.0).abs() < 1e-12);
        let by_size = Cutoffs::new(Some(&two), 400, 5, Unscheduled::Size);
        assert_eq!([100, 101, 1_000].map(|bytes| by_size.class(bytes)), [1, 2, 2]);
        // Uniform from 0 to 800: of sizes up to s, s^2/2 for s up to 400, then 400 each.
        let even = sizes(&[(0.0, 0.0), (800.0, 1.0)]);
        let by_size = Cutoffs::new(Some(&even), 400, 3, Unscheduled::Size);
        assert_eq!([400, 401, 600, 601].map(|bytes| by_size.class(bytes)), [1, 2, 2, 3]);
    }

    #[test]
    fn without_sizes_rttbytes_is_split_evenly() {
        let cutoffs = Cutoffs::new(None, 9_000, 3, Unscheduled::Graduated);
        assert_eq!([3_000, 3_001, 6_000, 6_001].map(|bytes| cutoffs.class(bytes)), [1, 2, 2, 3]);
        assert_eq!(Cutoffs::new(None, 9_000, 1, Unscheduled::Size).class(1 << 40), 1);
    }
}
