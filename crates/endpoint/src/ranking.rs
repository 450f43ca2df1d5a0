//! Flows in the order in which they are preferred: the fewest remaining (shortest remaining first),
//! then the earliest.

use incast_transport::FlowId;

/// A flow's place in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// Packets or bytes that are still to come.
    pub remaining: u64,
    /// How many flows came before it.
    pub order: u32,
    /// Which.
    pub flow: FlowId,
}

/// A sorted list, the best last. Ranks change by small steps, few flows are eligible at once and
/// the best ones move most: a list beats a tree here and never allocates in steady state.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    worst_first: Vec<Rank>,
}

impl Ranking {
    /// The flow that is preferred.
    #[inline]
    pub fn best(&self) -> Option<Rank> {
        self.worst_first.last().copied()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.worst_first.is_empty()
    }

    /// Where a rank is, or would be.
    #[inline]
    fn place(&self, rank: Rank) -> usize {
        self.worst_first.partition_point(|other| *other > rank)
    }

    /// Adds a flow.
    pub fn insert(&mut self, rank: Rank) {
        let place = self.place(rank);
        self.worst_first.insert(place, rank);
    }

    /// Takes a flow out by the rank with which it was added. Panics when it is not there.
    pub fn remove(&mut self, rank: Rank) {
        let place = self.place(rank);
        assert_eq!(self.worst_first.get(place), Some(&rank), "a ranked flow");
        self.worst_first.remove(place);
    }

    /// The flow at a place of the order, 0 the preferred one.
    #[inline]
    pub fn at(&self, place: usize) -> Option<Rank> {
        self.worst_first.len().checked_sub(place + 1).map(|index| self.worst_first[index])
    }

    /// All flows, the preferred one first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        self.worst_first.iter().rev().copied()
    }

    /// Number of flows.
    #[inline]
    pub fn len(&self) -> usize {
        self.worst_first.len()
    }

    /// Gives a flow more or less that remains. Panics when it is not there.
    pub fn change(&mut self, old: Rank, remaining: u64) {
        let new = Rank { remaining, ..old };
        let (from, to) = (self.place(old), self.place(new));
        assert_eq!(self.worst_first.get(from), Some(&old), "a ranked flow");
        self.worst_first[from] = new;
        if from < to {
            self.worst_first[from..to].rotate_left(1);
        } else {
            self.worst_first[to..=from].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;
    use std::collections::BTreeSet;

    #[test]
    fn behaves_like_an_ordered_set() {
        let mut random = Random::new(1, 0, 0);
        let (mut ranking, mut model) = (Ranking::default(), BTreeSet::new());
        for order in 0..20_000 {
            let remaining = random.below(50);
            let picked = model.iter().nth(random.below(30) as usize).copied();
            match (random.below(3), picked) {
                (0, Some(rank)) => {
                    ranking.remove(rank);
                    model.remove(&rank);
                }
                (1, Some(rank)) => {
                    ranking.change(rank, remaining);
                    model.remove(&rank);
                    model.insert(Rank { remaining, ..rank });
                }
                _ if model.len() < 40 => {
                    let rank = Rank { remaining, order, flow: FlowId(order) };
                    ranking.insert(rank);
                    model.insert(rank);
                }
                _ => {}
            }
            assert_eq!(ranking.best(), model.first().copied());
            assert_eq!(ranking.at(3), model.iter().nth(3).copied());
            assert!(ranking.iter().eq(model.iter().copied()) && ranking.len() == model.len());
        }
    }
}
