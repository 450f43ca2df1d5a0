//! Data packets of a flow that are lost and not recovered yet.

use crate::Stamps;
use crate::breakdown::{Loss, Spent, TIERS};
use crate::flow_losses::make_room;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// The first loss of each data packet of a flow that is still missing. A trimming transport loses most
/// of its packets once, so the index is small and fast, and the entries are stored apart.
#[derive(Default)]
pub(crate) struct Losses {
    /// Entries by data key.
    index: HashMap<u32, u32, BuildHasherDefault<Spread>>,
    entries: Vec<First>,
    free: Vec<u32>,
    /// The latest loss so far: no loss that is not earlier is the first one of a known packet.
    latest: u64,
}

/// As a departure: the entry is not in use.
const GONE: u64 = u64::MAX;

/// The first loss of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// When it was lost.
    pub at: u64,
    /// When it departed.
    pub departed: u64,
    /// What the sender had done by then.
    pub spent: Spent,
    /// Its queueing delay until the loss, by tier.
    pub waited: [u64; TIERS],
    /// Picoseconds of serialisation until the loss.
    pub serialised: u32,
    /// Whether it was a retransmission: then what it repeats has arrived, or was late.
    pub again: bool,
}

impl First {
    #[inline]
    fn of(loss: &Loss, stamps: &Stamps) -> First {
        let Loss { at, serialised, again, .. } = *loss;
        let Stamps { departed, spent, waited, .. } = *stamps;
        First { at, departed, spent, waited, serialised, again }
    }
}

impl Losses {
    /// Nothing is lost. Memory is kept.
    pub fn clear(&mut self) {
        self.index.clear();
        self.entries.clear();
        self.free.clear();
        self.latest = 0;
    }

    /// Records the loss of a data packet. Of several losses of one packet the earliest is kept.
    /// Returns whether it is the packet's only one so far.
    pub fn insert(&mut self, key: u32, loss: &Loss, stamps: &Stamps) -> bool {
        match self.index.entry(key) {
            Entry::Occupied(known) => {
                if loss.at < self.latest {
                    let known = &mut self.entries[*known.get() as usize];
                    if loss.at < known.at {
                        *known = First::of(loss, stamps);
                    }
                }
                self.latest = self.latest.max(loss.at);
                false
            }
            Entry::Vacant(place) => {
                let entry = self.free.pop().unwrap_or(self.entries.len() as u32);
                match self.entries.get_mut(entry as usize) {
                    Some(unused) => *unused = First::of(loss, stamps),
                    None => {
                        make_room(&mut self.entries);
                        self.entries.push(First::of(loss, stamps));
                    }
                }
                place.insert(entry);
                self.latest = self.latest.max(loss.at);
                true
            }
        }
    }

    /// The first loss of a packet, if one is known.
    #[inline]
    pub fn first(&self, key: u32) -> Option<&First> {
        let entry = self.index.get(&key)?;
        Some(&self.entries[*entry as usize])
    }

    /// Removes and returns the first loss of a packet.
    pub fn remove(&mut self, key: u32) -> Option<First> {
        let entry = self.index.remove(&key)?;
        self.free.push(entry);
        let known = &mut self.entries[entry as usize];
        let first = *known;
        known.departed = GONE;
        Some(first)
    }

    /// How many packets are missing.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// When the packets departed whose losses are known, in no order.
    pub fn departures(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(|first| first.departed).filter(|departed| *departed != GONE)
    }
}

/// Spreads numbers over 64 bits and keeps consecutive ones, such as packets that are lost and recovered
/// together, in one cache line. Keys are not adversarial, and no result depends on the order of the
/// index.
#[derive(Default)]
pub(crate) struct Spread(u64);

/// Binary logarithm of the numbers per neighbourhood.
const NEIGHBOURS: u32 = 3;

impl Hasher for Spread {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        let place = value & ((1 << NEIGHBOURS) - 1);
        let spread = (value >> NEIGHBOURS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // `HashMap` uses the low bits as the bucket and the top seven as the tag.
        self.0 = ((spread ^ spread >> 32) << NEIGHBOURS | place) ^ place << 61;
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value as u64);
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
    use crate::breakdown::Lost;
    use incast_wire::FlowId;

    fn lose(losses: &mut Losses, key: u32, at: u64) -> bool {
        let (flow, what) = (FlowId(0), Lost::Data(key));
        let loss = Loss { flow, what, at, serialised: 0, again: false };
        losses.insert(key, &loss, &Stamps { departed: at, ..Stamps::default() })
    }

    #[test]
    fn the_first_loss_of_a_packet_is_kept_until_it_is_taken() {
        let mut losses = Losses::default();
        assert!(lose(&mut losses, 7, 50));
        assert!(!lose(&mut losses, 7, 40));
        assert!(!lose(&mut losses, 7, 60));
        assert!(lose(&mut losses, 1, 55));
        assert_eq!(losses.first(7).map(|loss| loss.at), Some(40));
        assert_eq!(losses.remove(7).map(|loss| loss.at), Some(40));
        assert!(losses.remove(7).is_none());
        let left: Vec<u64> = losses.departures().collect();
        assert_eq!(left, [55]);
        losses.clear();
        assert!(losses.first(1).is_none());
    }

    #[test]
    fn entries_are_reused() {
        let mut losses = Losses::default();
        for round in 0..100 {
            (0..50).for_each(|key| assert!(lose(&mut losses, key, round)));
            for key in 0..50 {
                let found = losses.remove(key).expect("inserted above");
                assert_eq!(found.at, round);
            }
        }
        assert_eq!(losses.entries.len(), 50);
    }
}
