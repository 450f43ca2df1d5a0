//! The event queue: a coarse timing wheel. Buckets are unsorted until they become current.
//!
//! `docs/performance.md` compares it with a heap. Events beyond the wheel's horizon are in one
//! heap, events added to the current bucket in another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event. Events of one instant are ordered by key. It is two words, each written and read as a
/// whole: a wide load of what narrow stores have just written has to wait for them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// Picoseconds.
    pub time: u64,
    /// Key and id.
    rest: u64,
}

impl Event {
    /// An event at `time`, in picoseconds.
    #[inline]
    pub fn new(time: u64, key: u32, id: u32) -> Event {
        Event { time, rest: (key as u64) << 32 | id as u64 }
    }

    /// Class in the two upper bits, tie-breaker in the others.
    #[inline]
    pub fn key(self) -> u32 {
        (self.rest >> 32) as u32
    }

    /// A packet, flow, host or port, depending on the class.
    #[inline]
    pub fn id(self) -> u32 {
        self.rest as u32
    }
}

/// Bucket width: 2^16 ps = 66 ns.
const WIDTH: u32 = 16;
/// Buckets: 8192, together 537 us.
const BUCKETS: u64 = 1 << 13;
const MASK: u64 = BUCKETS - 1;

/// How many events after the next one are looked at.
pub(crate) const AHEAD: usize = 15;
/// Behind the last event of the current bucket: never due, and no arrival.
const END: Event = Event { time: u64::MAX, rest: u64::MAX };

/// A priority queue of events. Pushing into the past is a bug.
pub struct Wheel {
    buckets: Vec<Vec<Event>>,
    occupied: Vec<u64>,
    spare: Vec<Vec<Event>>,
    /// The current bucket in order, then [`AHEAD`] times [`END`] if there are as many events.
    current: Vec<Event>,
    /// Sort keys of the current bucket; see [`sort`].
    ranks: Vec<u64>,
    position: usize,
    slot: u64,
    side: BinaryHeap<Reverse<Event>>,
    far: BinaryHeap<Reverse<Event>>,
    len: usize,
}

impl Wheel {
    /// An empty queue at time zero.
    pub fn new() -> Wheel {
        Wheel {
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            occupied: vec![0; (BUCKETS / 64) as usize],
            spare: Vec::new(),
            current: Vec::new(),
            ranks: Vec::new(),
            position: 0,
            slot: 0,
            side: BinaryHeap::new(),
            far: BinaryHeap::new(),
            len: 0,
        }
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.len += 1;
        let slot = event.time >> WIDTH;
        if slot <= self.slot {
            self.side.push(Reverse(event));
        } else if slot - self.slot > MASK {
            self.far.push(Reverse(event));
        } else {
            self.put(slot, event);
        }
    }

    #[inline]
    fn put(&mut self, slot: u64, event: Event) {
        let index = (slot & MASK) as usize;
        let bucket = &mut self.buckets[index];
        if bucket.is_empty() {
            self.occupied[index / 64] |= 1 << (index % 64);
            if bucket.capacity() == 0 {
                *bucket = self.spare.pop().unwrap_or_default();
            }
        }
        bucket.push(event);
    }

    /// The time of the earliest event of the current bucket; `u64::MAX` if it is empty.
    #[inline]
    fn current_time(&self) -> u64 {
        let sorted = self.current.get(self.position).map_or(u64::MAX, |event| event.time);
        self.side.peek().map_or(sorted, |event| event.0.time.min(sorted))
    }

    /// Whether an event is pending at `now`, which must not be before the last one popped.
    #[inline]
    pub fn has_at(&self, now: u64) -> bool {
        self.current_time() == now
    }

    /// The time of the earliest event if it is before `end`, else any time at or after `end`;
    /// `u64::MAX` without events. The wheel does not advance beyond `end`: events pushed later may
    /// be earlier, and events before the current bucket go to a slow heap.
    #[inline]
    pub fn next_time(&mut self, end: u64) -> u64 {
        loop {
            let first = self.current_time();
            if first != u64::MAX {
                return first;
            }
            match self.next_slot() {
                None => return u64::MAX,
                Some(slot) if slot << WIDTH >= end => return slot << WIDTH,
                Some(slot) => self.advance_to(slot),
            }
        }
    }

    /// The time of the earliest event; `u64::MAX` without events. Does not advance the wheel.
    pub fn earliest(&self) -> u64 {
        let first = self.current_time();
        if first != u64::MAX {
            return first;
        }
        let near = self.next_occupied().and_then(|slot| {
            self.buckets[(slot & MASK) as usize].iter().map(|event| event.time).min()
        });
        let far = self.far.peek().map(|far| far.0.time);
        near.unwrap_or(u64::MAX).min(far.unwrap_or(u64::MAX))
    }

    /// Removes the earliest event. Call only after [`next_time`](Wheel::next_time) has returned its
    /// time.
    #[inline]
    pub fn pop(&mut self) -> Event {
        self.len -= 1;
        if let Some(&event) = self.current.get(self.position) {
            match self.side.peek() {
                Some(side) if side.0 < event => {}
                _ => {
                    self.position += 1;
                    return event;
                }
            }
        }
        self.side.pop().expect("an event is waiting").0
    }

    /// The events from the next one on, if the current bucket had as many when it began; behind its last
    /// one is what is no arrival.
    #[inline]
    pub(crate) fn ahead(&self) -> Option<&[Event; AHEAD]> {
        self.current.get(self.position..)?.first_chunk()
    }

    /// Whether the first event of the current bucket was removed, and no other.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.position == 1
    }

    /// The next slot with events, if any.
    fn next_slot(&self) -> Option<u64> {
        let far = self.far.peek().map(|far| far.0.time >> WIDTH);
        match (self.next_occupied(), far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// Makes the bucket of a slot the current one.
    #[inline(never)]
    fn advance_to(&mut self, next: u64) {
        self.slot = next;
        while let Some(far) = self.far.peek() {
            let slot = far.0.time >> WIDTH;
            if slot > self.slot + MASK {
                break;
            }
            let event = self.far.pop().expect("peeked").0;
            self.put(slot, event);
        }
        let index = (self.slot & MASK) as usize;
        self.occupied[index / 64] &= !(1 << (index % 64));
        let mut bucket = std::mem::take(&mut self.buckets[index]);
        self.position = 0;
        sort(&mut bucket, &mut self.ranks, &mut self.current);
        if bucket.len() >= AHEAD {
            self.current.extend([END; AHEAD]);
        }
        bucket.clear();
        self.spare.push(bucket);
    }

    /// The first occupied slot after the current one.
    fn next_occupied(&self) -> Option<u64> {
        let words = self.occupied.len();
        let start = ((self.slot + 1) & MASK) as usize;
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= !0 << (start % 64);
            }
            if step == words {
                bits &= !(!0 << (start % 64));
            }
            if bits != 0 {
                let index = (word * 64) as u64 + bits.trailing_zeros() as u64;
                let ahead = index.wrapping_sub(self.slot + 1) & MASK;
                return Some(self.slot + 1 + ahead);
            }
        }
        None
    }
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel::new()
    }
}

/// Largest bucket that is sorted by 64-bit ranks.
const MAX_RANKED: usize = 1 << 16;

/// Sorts the events of a bucket into `sorted`. Time within the bucket, key and index in the bucket
/// fit into 64-bit ranks, which sort without branches.
fn sort(bucket: &mut [Event], ranks: &mut Vec<u64>, sorted: &mut Vec<Event>) {
    sorted.clear();
    if bucket.len() > MAX_RANKED {
        bucket.sort_unstable();
        sorted.extend_from_slice(bucket);
        return;
    }
    ranks.clear();
    let within = (1 << WIDTH) - 1;
    ranks.extend(
        bucket
            .iter()
            .zip(0u64..)
            .map(|(event, place)| (event.time & within) << 48 | event.rest >> 32 << 16 | place),
    );
    ranks.sort_unstable();
    sorted.extend(ranks.iter().map(|rank| bucket[(rank & 0xffff) as usize]));
}

const _: () = assert!(WIDTH <= 16);

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;

    #[test]
    fn pops_in_order_at_any_distance() {
        let mut random = Random::new(1, 2, 3);
        let mut wheel = Wheel::new();
        let mut oracle = BinaryHeap::new();
        let mut now = 0;
        for step in 0..200_000u32 {
            let push = oracle.is_empty() || random.below(100) < 50;
            if push {
                let span = 1 << random.below(36);
                let event = Event::new(now + random.below(span), random.below(4) as u32, step);
                wheel.push(event);
                oracle.push(Reverse(event));
            } else {
                let Reverse(expected) = oracle.pop().unwrap();
                assert_eq!(wheel.earliest(), expected.time);
                let end = now + 1 + random.below(1 << 20);
                let next = wheel.next_time(end);
                assert!(if expected.time < end { next == expected.time } else { next >= end });
                assert_eq!(wheel.next_time(u64::MAX), expected.time);
                assert!(wheel.has_at(expected.time));
                assert_eq!(wheel.pop(), expected);
                now = expected.time;
            }
            assert_eq!(wheel.len(), oracle.len());
        }
    }

    #[test]
    fn empty_has_no_next() {
        let mut wheel = Wheel::new();
        assert_eq!(wheel.next_time(u64::MAX), u64::MAX);
        wheel.push(Event::new(1 << 60, 0, 0));
        assert_eq!(wheel.next_time(u64::MAX), 1 << 60);
        wheel.pop();
        assert_eq!(wheel.next_time(u64::MAX), u64::MAX);
    }
}
