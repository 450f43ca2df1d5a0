//! Losses that are not recovered yet, by flow and data key.

use crate::breakdown::Spent;
use crate::{FlowId, Loss, Parts};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// The first loss of each data packet that is still missing. A trimming transport loses most of its
/// packets once, so the index is small and fast, and the entries are stored apart.
#[derive(Default)]
pub(crate) struct Losses {
    index: HashMap<Number, u32, BuildHasherDefault<Spread>>,
    slots: Vec<First>,
    free: Vec<u32>,
}

/// The first loss of a packet.
#[derive(Clone, Copy)]
pub(crate) struct First {
    /// When it was lost.
    pub at: u64,
    /// When it departed.
    pub departed: u64,
    /// What the sender had done by then.
    pub spent: Spent,
    /// The path's parts from its departure until the loss.
    pub path: Parts,
    /// Whether it was a retransmission: then what it repeats has arrived, or was late.
    pub again: bool,
}

impl Losses {
    /// Records the loss of a data packet. Of several losses of one packet the earliest is kept.
    /// Returns whether it is the packet's only one so far.
    pub fn insert(&mut self, key: u32, loss: Loss) -> bool {
        let Loss { flow, at, departed, spent, path, again, .. } = loss;
        let lost = First { at, departed, spent, path, again };
        match self.index.entry(Number { flow: flow.0, key }) {
            Entry::Occupied(known) => {
                let known = &mut self.slots[*known.get() as usize];
                if at < known.at {
                    *known = lost;
                }
                false
            }
            Entry::Vacant(place) => {
                let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
                match self.slots.get_mut(slot as usize) {
                    Some(unused) => *unused = lost,
                    None => self.slots.push(lost),
                }
                place.insert(slot);
                true
            }
        }
    }

    /// The first loss of a packet, if one is known.
    pub fn first(&self, flow: FlowId, key: u32) -> Option<First> {
        let slot = self.index.get(&Number { flow: flow.0, key })?;
        Some(self.slots[*slot as usize])
    }

    /// Removes and returns the first loss of a packet.
    pub fn remove(&mut self, flow: FlowId, key: u32) -> Option<First> {
        let slot = self.index.remove(&Number { flow: flow.0, key })?;
        self.free.push(slot);
        Some(self.slots[slot as usize])
    }

    /// Removes all losses of a flow. Takes time in proportion to all losses.
    pub fn forget(&mut self, flow: FlowId) {
        let of_flow = |number: &Number, _: &mut u32| number.flow == flow.0;
        self.free.extend(self.index.extract_if(of_flow).map(|(_, slot)| slot));
    }
}

/// Identifies a data packet.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number {
    flow: u32,
    key: u32,
}

impl Hash for Number {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64((self.flow as u64) << 32 | self.key as u64);
    }
}

/// Spreads flows over 64 bits and keeps consecutive packets of a flow, which are lost and recovered
/// together, in one cache line. Keys are not adversarial, and no result depends on the order of the
/// index.
#[derive(Default)]
pub(crate) struct Spread(u64);

/// Binary logarithm of the packets per neighbourhood.
const NEIGHBOURS: u32 = 3;

impl Hasher for Spread {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        let place = value & ((1 << NEIGHBOURS) - 1);
        let spread = (value >> NEIGHBOURS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // `HashMap` uses the low bits as the bucket and the top seven as the tag.
        self.0 = ((spread ^ spread >> 32) << NEIGHBOURS | place) ^ place << 61;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 ^ *byte as u64));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakdown::{Gap, Lost};

    fn loss(flow: u32, key: u32, at: u64) -> Loss {
        let (spent, path, gap) = (Spent::default(), Parts::default(), Gap::default());
        let (flow, what, departed, started) = (FlowId(flow), Lost::Data(key), at, 0);
        Loss { flow, what, at, departed, spent, path, again: false, started, gap }
    }

    #[test]
    fn the_first_loss_of_a_packet_is_kept_until_it_is_taken() {
        let mut losses = Losses::default();
        assert!(losses.insert(7, loss(1, 7, 50)));
        assert!(!losses.insert(7, loss(1, 7, 40)));
        assert!(!losses.insert(7, loss(1, 7, 60)));
        assert!(losses.insert(1, loss(7, 1, 55)));
        assert_eq!(losses.remove(FlowId(1), 7).map(|loss| loss.at), Some(40));
        assert!(losses.remove(FlowId(1), 7).is_none());
        assert_eq!(losses.remove(FlowId(7), 1).map(|loss| loss.at), Some(55));
    }

    #[test]
    fn a_flow_is_forgotten_and_its_slots_are_reused() {
        let mut losses = Losses::default();
        for key in 0..10 {
            losses.insert(key, loss(key % 2, key, 1));
        }
        losses.forget(FlowId(1));
        assert!(losses.first(FlowId(1), 3).is_none() && losses.first(FlowId(0), 4).is_some());
        (20..25).for_each(|key| assert!(losses.insert(key, loss(3, key, 1))));
        assert_eq!(losses.slots.len(), 10);
    }

    #[test]
    fn slots_are_reused() {
        let mut losses = Losses::default();
        for round in 0..100 {
            (0..50).for_each(|key| assert!(losses.insert(key, loss(round, key, round as u64))));
            for key in 0..50 {
                let found = losses.remove(FlowId(round), key).expect("inserted above");
                assert_eq!(found.at, round as u64);
            }
        }
        assert_eq!(losses.slots.len(), 50);
    }
}
