//! What a receiver of a byte stream has, and what its selective ACKs report.

use incast_transport::Extension;

/// Ranges in one selective acknowledgement.
const REPORTED: usize = 3;

/// What an arrival was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The next bytes; `filled` when ranges beyond became contiguous with them.
    InOrder {
        /// Whether a hole was closed.
        filled: bool,
    },
    /// New, beyond a hole.
    Beyond,
    /// Some or all of it had arrived before. Packets are cut at fixed places, so an overlap in
    /// part cannot come from a correct source and counts as this.
    Duplicate,
}

/// Bytes that have arrived. In order it is one number; ranges are kept only beyond holes.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    next: u64,
    /// Disjoint, not adjacent, sorted, all beyond `next`.
    ranges: Vec<(u64, u64)>,
    /// A byte of each of the ranges that grew last, the last first (RFC 2018 §4).
    recent: [u64; REPORTED],
}

impl Reassembly {
    /// Nothing arrived.
    pub fn new() -> Reassembly {
        Reassembly::default()
    }

    /// The same, with all bytes below `next` there already.
    pub fn starting_at(next: u64) -> Reassembly {
        Reassembly { next, ..Reassembly::default() }
    }

    /// The first byte missing.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether something arrived beyond a hole.
    #[inline]
    pub fn has_holes(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Bytes `[from, to)` arrived.
    #[inline]
    pub fn insert(&mut self, from: u64, to: u64) -> Arrival {
        assert!(from < to, "an empty range arrives");
        if from == self.next && (self.ranges.is_empty() || to <= self.ranges[0].0) {
            self.next = to;
            if self.ranges.first().is_none_or(|range| range.0 != to) {
                return Arrival::InOrder { filled: false };
            }
            self.next = self.ranges.remove(0).1;
            return Arrival::InOrder { filled: true };
        }
        if from <= self.next { Arrival::Duplicate } else { self.insert_beyond(from, to) }
    }

    #[cold]
    fn insert_beyond(&mut self, from: u64, to: u64) -> Arrival {
        let at = self.ranges.partition_point(|range| range.1 < from);
        match self.ranges.get(at).copied() {
            Some((start, end)) if end == from => {
                let follows = self.ranges.get(at + 1).copied();
                match follows {
                    Some((next, _)) if next < to => return Arrival::Duplicate,
                    Some((next, last)) if next == to => {
                        self.ranges[at] = (start, last);
                        self.ranges.remove(at + 1);
                    }
                    _ => self.ranges[at].1 = to,
                }
            }
            Some((start, end)) if start <= to => {
                if start < to {
                    return Arrival::Duplicate;
                }
                self.ranges[at] = (from, end);
            }
            _ => self.ranges.insert(at, (from, to)),
        }
        self.touch(from);
        Arrival::Beyond
    }

    /// Puts the range of `byte` to the front of the recent ones.
    fn touch(&mut self, byte: u64) {
        let (from, to) = self.range_of(byte).expect("just inserted");
        let known = self.recent.iter().position(|&b| (from..to).contains(&b));
        let last = known.unwrap_or(REPORTED - 1);
        self.recent[..=last].rotate_right(1);
        self.recent[0] = byte;
    }

    fn range_of(&self, byte: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|range| range.1 <= byte);
        self.ranges.get(at).copied().filter(|range| range.0 <= byte)
    }

    /// The selective acknowledgement: up to three ranges, the one that grew last first; none
    /// without holes.
    pub fn sack(&self) -> Extension {
        if self.ranges.is_empty() {
            return Extension::None;
        }
        let mut ranges = [(0, 0); REPORTED];
        let mut count = 0;
        // Ranges that grew lately, then, if some of those are complete by now, the lowest ones.
        let lately = self.recent.iter().filter_map(|&byte| self.range_of(byte));
        for (from, to) in lately.chain(self.ranges.iter().copied().take(REPORTED)) {
            let range = (from as u32, to as u32);
            if count < REPORTED && !ranges[..count].contains(&range) {
                ranges[count] = range;
                count += 1;
            }
        }
        Extension::Sack { count: count as u8, ranges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    #[test]
    fn ranges_grow_join_and_close() {
        let mut r = Reassembly::new();
        assert_eq!(r.insert(0, 10), Arrival::InOrder { filled: false });
        assert_eq!(r.insert(0, 10), Arrival::Duplicate);
        assert_eq!(r.insert(20, 30), Arrival::Beyond);
        assert_eq!(r.insert(40, 50), Arrival::Beyond);
        assert_eq!(r.insert(40, 50), Arrival::Duplicate);
        assert_eq!(r.insert(30, 40), Arrival::Beyond);
        assert_eq!(r.ranges, [(20, 50)]);
        assert_eq!(r.insert(25, 60), Arrival::Duplicate);
        assert_eq!(r.insert(5, 20), Arrival::Duplicate);
        assert_eq!(r.insert(10, 20), Arrival::InOrder { filled: true });
        assert_eq!((r.next(), r.has_holes()), (50, false));
        assert_eq!(r.sack(), Extension::None);
    }

    #[test]
    fn the_range_that_grew_last_is_reported_first() {
        let mut r = Reassembly::new();
        for from in [20, 40, 60, 80] {
            r.insert(from, from + 10);
        }
        let first = |r: &Reassembly| match r.sack() {
            Extension::Sack { count, ranges } => ranges[..count as usize].to_vec(),
            _ => vec![],
        };
        assert_eq!(first(&r), [(80, 90), (60, 70), (40, 50)]);
        r.insert(30, 35);
        assert_eq!(first(&r), [(20, 35), (80, 90), (60, 70)]);
        r.insert(35, 40);
        assert_eq!(first(&r), [(20, 50), (80, 90), (60, 70)]);
    }

    #[test]
    fn agrees_with_a_bitmap() {
        for seed in 0..50 {
            let mut random = Random::new(seed, 0, 0);
            let (mut r, mut seen) = (Reassembly::new(), [false; 64]);
            for _ in 0..400 {
                let cell = random.below(64);
                let arrival = r.insert(cell * 7, cell * 7 + 7);
                assert_eq!(arrival == Arrival::Duplicate, seen[cell as usize]);
                seen[cell as usize] = true;
                let next = seen.iter().position(|&s| !s).unwrap_or(64) as u64;
                assert_eq!(r.next(), next * 7);
                assert_eq!(r.has_holes(), seen[next as usize..].iter().any(|&s| s));
                if let Extension::Sack { count, ranges } = r.sack() {
                    assert!(count > 0);
                    for &(from, to) in &ranges[..count as usize] {
                        assert!((from / 7..to / 7).all(|cell| seen[cell as usize]));
                        assert!(!seen[from as usize / 7 - 1]);
                    }
                }
            }
        }
    }
}
