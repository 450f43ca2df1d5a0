//! Data packets of a flow that are lost and not recovered yet.

use crate::Stamps;
use crate::breakdown::Loss;
use crate::room::{excess, growth};
use crate::spent::{Spent, TIERS};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// The first loss of each data packet of a flow that is still missing. A trimming transport loses most
/// of its packets once, and one without a window may miss very many. So what is needed of each is
/// small, and apart are details for which only a recovery asks before which nothing new was sent.
#[derive(Default)]
pub(crate) struct Losses {
    /// By data key.
    index: HashMap<u32, First, BuildHasherDefault<Spread>>,
    /// In the order in which losses became known, without the first ones, which are forgotten.
    details: VecDeque<Detail>,
    /// The number of the first of them.
    forgotten: u32,
    /// The latest loss so far: no loss that is not earlier is the first one of a known packet.
    latest: u64,
    /// Look for details that can be forgotten when there are so many.
    pub full: usize,
}

/// The first loss of a packet. Two words with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// When it was lost: lower and upper half.
    at: [u32; 2],
    /// The number of its details, and whether it was a retransmission.
    rest: u32,
}

/// The bit of [`First::rest`] of a retransmission. The other bits are a number that begins anew after
/// so many losses.
const AGAIN: u32 = 1 << 31;

impl First {
    #[inline]
    fn of(loss: &Loss, number: u32) -> First {
        let again = if loss.again { AGAIN } else { 0 };
        First { at: [loss.at as u32, (loss.at >> 32) as u32], rest: number & !AGAIN | again }
    }

    /// When it was lost.
    #[inline]
    pub fn at(&self) -> u64 {
        (self.at[1] as u64) << 32 | self.at[0] as u64
    }

    /// Whether it was a retransmission: then what it repeats has arrived, or was late.
    #[inline]
    pub fn again(&self) -> bool {
        self.rest & AGAIN != 0
    }
}

/// What came before the first loss of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// When it was lost.
    at: u64,
    /// When it departed.
    pub departed: u64,
    /// What the sender had done by then.
    pub spent: Spent,
    /// Its queueing delay until the loss, by tier.
    pub waited: [u64; TIERS],
    /// Picoseconds of serialisation until the loss.
    pub serialised: u32,
    /// Whether the packet is still missing.
    missing: bool,
}

impl Detail {
    #[inline]
    fn of(loss: &Loss, stamps: &Stamps) -> Detail {
        let Loss { at, serialised, .. } = *loss;
        let Stamps { departed, spent, waited, .. } = *stamps;
        Detail { at, departed, spent, waited, serialised, missing: true }
    }
}

impl Losses {
    /// Nothing is lost. Memory is kept.
    pub fn clear(&mut self) {
        self.index.clear();
        self.details.clear();
        (self.latest, self.full) = (0, 0);
    }

    /// Records the loss of a data packet. Of several losses of one packet the earliest is kept.
    /// Returns whether it is the packet's only one so far.
    pub fn insert(&mut self, key: u32, loss: &Loss, stamps: &Stamps) -> bool {
        if self.index.is_empty() {
            self.drop_first(self.details.len());
        }
        let earlier = loss.at < self.latest;
        self.latest = self.latest.max(loss.at);
        let first = First::of(loss, self.forgotten.wrapping_add(self.details.len() as u32));
        let before = match self.index.entry(key) {
            Entry::Occupied(mut known) if earlier && loss.at < known.get().at() => {
                Some(known.insert(first))
            }
            Entry::Occupied(_) => return false,
            Entry::Vacant(new) => {
                new.insert(first);
                None
            }
        };
        if let Some(later) = &before {
            self.settle(later);
        }
        if self.details.len() == self.details.capacity() {
            self.details.reserve_exact(growth(self.details.len()));
        }
        self.details.push_back(Detail::of(loss, stamps));
        before.is_none()
    }

    /// The first loss of a packet, if one is known.
    #[inline]
    pub fn first(&self, key: u32) -> Option<First> {
        self.index.get(&key).copied()
    }

    #[inline]
    fn place(&self, first: &First) -> usize {
        (first.rest.wrapping_sub(self.forgotten) & !AGAIN) as usize
    }

    /// Its details, if they are not forgotten. Those of a loss that was removed are there until
    /// something is forgotten.
    #[inline]
    pub fn detail(&self, first: &First) -> Option<&Detail> {
        self.details.get(self.place(first)).filter(|detail| detail.at == first.at())
    }

    /// The packet is not missing since this loss.
    #[inline]
    fn settle(&mut self, first: &First) {
        let place = self.place(first);
        if let Some(detail) = self.details.get_mut(place).filter(|one| one.at == first.at()) {
            detail.missing = false;
        }
    }

    /// Removes and returns the first loss of a packet.
    pub fn remove(&mut self, key: u32) -> Option<First> {
        let first = self.index.remove(&key)?;
        self.settle(&first);
        Some(first)
    }

    /// Whether no packet is missing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// How many details are kept, perhaps of packets that are not missing any more; 0 if none is.
    #[inline]
    pub fn detailed(&self) -> usize {
        if self.is_empty() { 0 } else { self.details.len() }
    }

    /// When the packets departed of which details are kept, in no order.
    pub fn departures(&self) -> impl Iterator<Item = u64> {
        self.details.iter().filter(|detail| detail.missing).map(|detail| detail.departed)
    }

    fn drop_first(&mut self, count: usize) {
        self.details.drain(..count);
        self.forgotten = self.forgotten.wrapping_add(count as u32);
    }

    /// Forgets the details of losses before an instant, as far as they became known in order.
    pub fn forget(&mut self, before: u64) {
        let old = |detail: &&Detail| !detail.missing || detail.at < before;
        let count = self.details.iter().take_while(old).count();
        self.drop_first(count);
        let kept = self.details.len();
        if let Some(most) = excess(kept, self.details.capacity()) {
            self.details.shrink_to(most);
        }
        self.full = kept + growth(kept);
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
        assert_eq!(losses.first(7).map(|loss| loss.at()), Some(40));
        assert_eq!(losses.remove(7).map(|loss| loss.at()), Some(40));
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
                assert_eq!(found.at(), round);
            }
        }
        assert_eq!((losses.details.len(), losses.detailed()), (50, 0));
        assert!(losses.details.capacity() < 100);
    }

    #[test]
    fn details_are_forgotten_and_the_losses_are_not() {
        let mut losses = Losses::default();
        (0..1_000).for_each(|key| assert!(lose(&mut losses, key, 1 << 33 | key as u64)));
        (0..10).for_each(|key| assert!(losses.remove(key).is_some()));
        losses.forget(1 << 33 | 900);
        assert_eq!(losses.detailed(), 100);
        assert!(losses.details.capacity() <= 200);
        for key in 10..1_000 {
            let first = losses.first(key).expect("it is lost");
            let departed = losses.detail(&first).map(|detail| detail.departed);
            assert_eq!(first.at(), 1 << 33 | key as u64);
            assert_eq!(departed, (key >= 900).then_some(first.at()));
        }
        // An earlier loss of a packet has details of its own.
        assert!(!lose(&mut losses, 50, 7));
        let first = losses.remove(50).expect("it is lost");
        assert_eq!(losses.detail(&first).map(|detail| detail.departed), Some(7));
        assert_eq!(std::mem::size_of::<(u32, First)>(), 16);
    }
}
