//! Messages that want grants, in the order in which a receiver prefers them.

use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::ranking::{Rank, Ranking};
use incast_transport::{FlowId, HostId};

/// Shortest remaining first; of each sender only its best message, by default.
pub struct Agenda {
    one_per_sender: bool,
    /// What may be granted.
    best: Ranking,
    /// By sender, all its messages. Not used when a sender may have several granted.
    senders: FlowTable<Ranking>,
}

impl Agenda {
    /// No message needs grants.
    pub fn new(one_per_sender: bool) -> Agenda {
        Agenda { one_per_sender, best: Ranking::default(), senders: FlowTable::new() }
    }

    /// Messages that may be granted, were there no limit to their number.
    #[inline]
    pub fn len(&self) -> usize {
        self.best.len()
    }

    /// The message at a place of the order, 0 the best.
    #[inline]
    pub fn at(&self, place: usize) -> Option<Rank> {
        self.best.at(place)
    }

    /// A message wants grants.
    pub fn insert(&mut self, sender: HostId, rank: Rank) {
        if !self.one_per_sender {
            return self.best.insert(rank);
        }
        let slot = match self.senders.slot_of(key(sender)) {
            Some(slot) => slot,
            None => self.senders.insert(key(sender), Ranking::default()),
        };
        self.exchange(slot, |messages| messages.insert(rank));
    }

    /// A message wants no more grants. Panics when it is not there.
    pub fn remove(&mut self, sender: HostId, rank: Rank) {
        if !self.one_per_sender {
            return self.best.remove(rank);
        }
        let slot = self.senders.slot_of(key(sender)).expect("a known sender");
        self.exchange(slot, |messages| messages.remove(rank));
    }

    /// More or less remains of a message. Panics when it is not there.
    pub fn change(&mut self, sender: HostId, old: Rank, remaining: u64) {
        if !self.one_per_sender {
            return self.best.change(old, remaining);
        }
        let slot = self.senders.slot_of(key(sender)).expect("a known sender");
        let messages = self.senders.at_mut(slot);
        if messages.len() == 1 {
            messages.change(old, remaining);
            return self.best.change(old, remaining);
        }
        self.exchange(slot, |messages| messages.change(old, remaining));
    }

    /// Changes a sender's messages, and which of them is its best.
    fn exchange(&mut self, slot: u32, change: impl FnOnce(&mut Ranking)) {
        let messages = self.senders.at_mut(slot);
        let before = messages.best();
        change(messages);
        let after = messages.best();
        if before == after {
            return;
        }
        if let Some(rank) = before {
            self.best.remove(rank);
        }
        if let Some(rank) = after {
            self.best.insert(rank);
        }
    }
}

/// A sender's number as the table wants it.
fn key(sender: HostId) -> FlowId {
    FlowId(sender.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn behaves_like_ordered_sets() {
        for one_per_sender in [true, false] {
            let mut random = Random::new(3, 0, 0);
            let mut agenda = Agenda::new(one_per_sender);
            let mut model: BTreeSet<(Rank, u32)> = BTreeSet::new();
            for order in 0..10_000 {
                let remaining = random.below(60);
                let picked = model.iter().nth(random.below(25) as usize).copied();
                match (random.below(3), picked) {
                    (0, Some((rank, sender))) => {
                        agenda.remove(HostId(sender), rank);
                        model.remove(&(rank, sender));
                    }
                    (1, Some((rank, sender))) => {
                        agenda.change(HostId(sender), rank, remaining);
                        model.remove(&(rank, sender));
                        model.insert((Rank { remaining, ..rank }, sender));
                    }
                    _ if model.len() < 30 => {
                        let rank = Rank { remaining, order, flow: FlowId(order) };
                        let sender = random.below(6) as u32;
                        agenda.insert(HostId(sender), rank);
                        model.insert((rank, sender));
                    }
                    _ => {}
                }
                let mut seen = BTreeMap::new();
                let expected = model
                    .iter()
                    .filter(|(_, sender)| !one_per_sender || seen.insert(*sender, ()).is_none());
                let expected: Vec<_> = expected.map(|(rank, _)| *rank).collect();
                let found: Vec<_> = (0..agenda.len()).map(|at| agenda.at(at).unwrap()).collect();
                assert_eq!(found, expected);
                assert_eq!(agenda.at(found.len()), None);
            }
        }
    }
}
