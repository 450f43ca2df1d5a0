//! The paths that the packets of a flow took, if a run records them.

use std::collections::BTreeMap;

/// Most packets of a flow whose order may still change: of one that arrives behind more, only its path
/// counts.
const MOST: usize = 1_024;

/// Which paths the data packets of a flow took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathsTaken {
    /// Different paths.
    pub used: u32,
    /// How often a packet took another path than the one that was sent before it, of those that
    /// arrived.
    pub changes: u32,
}

/// The packets of one flow that have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathTrace {
    /// The paths, in order.
    used: Vec<u32>,
    /// Paths of the last packets, by their numbers in the order of sending.
    last: BTreeMap<u32, u32>,
    /// Changes before the first of `last`.
    settled: u32,
    /// The number of the packet before it.
    until: u32,
}

impl PathTrace {
    /// The packet of this number in the order of sending has come by this path.
    pub fn arrives(&mut self, number: u32, path: u32) {
        if let Err(place) = self.used.binary_search(&path) {
            self.used.insert(place, path);
        }
        if number <= self.until {
            return;
        }
        self.last.insert(number, path);
        if self.last.len() > MOST {
            let (first, own) = self.last.pop_first().expect("several");
            let next = self.last.first_key_value().map(|(_, path)| *path);
            self.settled += (next != Some(own)) as u32;
            self.until = first;
        }
    }

    /// `None` if no packet has come.
    pub fn taken(&self) -> Option<PathsTaken> {
        let next = self.last.values().skip(1);
        let changes = self.last.values().zip(next).filter(|(own, next)| own != next).count();
        let used = self.used.len() as u32;
        (used > 0).then_some(PathsTaken { used, changes: self.settled + changes as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn counted(arrivals: &[(u32, u32)]) -> Option<PathsTaken> {
        let mut trace = PathTrace::default();
        arrivals.iter().for_each(|(number, path)| trace.arrives(*number, *path));
        trace.taken()
    }

    #[test]
    fn paths_are_counted_in_the_order_of_sending() {
        assert_eq!(counted(&[]), None);
        assert_eq!(counted(&[(7, 3)]), Some(PathsTaken { used: 1, changes: 0 }));
        // Sent by path 1, then by path 2; on the way they overtake each other, and the third is lost.
        let arrivals = [(1, 1), (2, 1), (5, 2), (4, 1), (6, 2), (7, 2)];
        assert_eq!(counted(&arrivals), Some(PathsTaken { used: 2, changes: 1 }));
        // One packet of another path between two of the same.
        assert_eq!(counted(&[(1, 1), (3, 1), (2, 2)]), Some(PathsTaken { used: 2, changes: 2 }));
    }

    /// Against all packets sorted by number, in random order, some of them lost.
    #[test]
    fn any_order_of_arrival_gives_the_same() {
        let mut random = Random::new(7, 0, 0);
        for round in 0..300 {
            let paths = 1 + random.below(4);
            let stays = 0.2 * (round % 5) as f64;
            let (mut path, mut all) = (0, vec![]);
            for number in 1..=60u32 {
                if !random.chance(stays) {
                    path = random.below(paths) as u32;
                }
                if random.chance(0.9) {
                    all.push((number, path));
                }
            }
            let used: std::collections::BTreeSet<u32> = all.iter().map(|(_, path)| *path).collect();
            let changes = all.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u32;
            let expected = PathsTaken { used: used.len() as u32, changes };
            for _ in 0..3 {
                for place in 0..all.len() {
                    let other = place + random.below((all.len() - place) as u64) as usize;
                    all.swap(place, other);
                }
                assert_eq!(counted(&all), Some(expected), "{all:?}");
            }
        }
    }

    /// A flow that changes its path with each packet keeps no more than the last ones.
    #[test]
    fn what_is_long_past_is_settled() {
        let mut trace = PathTrace::default();
        (1..=100_000).for_each(|number| trace.arrives(number, number % 8));
        assert_eq!(trace.taken(), Some(PathsTaken { used: 8, changes: 99_999 }));
        assert_eq!(trace.last.len(), MOST);
    }
}
