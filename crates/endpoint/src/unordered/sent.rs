//! Packets of a flow between the lowest that has not arrived and the highest sent.

use incast_transport::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// On its way.
    Flying,
    /// To be sent again.
    Waiting,
    /// At the receiver.
    Arrived,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// When, for the last time.
    pub at: Time,
    /// Its bytes at the network layer.
    pub bytes: u32,
    /// Its last path.
    pub path: u16,
    /// How often it was sent; 255 also stands for more.
    pub tries: u8,
    /// Where it is.
    pub place: Place,
}

/// Bytes of packets that have arrived, as an ACK says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cleared {
    /// Of those that were on their way.
    pub flying: u64,
    /// Of those that were to be sent again.
    pub waiting: u64,
}

/// The packets of one flow; 16 bytes for each in flight.
#[derive(Debug, Default)]
pub struct Sent {
    entries: VecDeque<Entry>,
    /// Number of the first entry.
    base: u32,
    /// Those to be sent again, the lowest first. Numbers of packets that have arrived since are skipped.
    waiting: BinaryHeap<Reverse<u32>>,
    /// How many there are.
    to_repeat: u32,
    /// Their bytes.
    repeat_bytes: u64,
    /// Packets on their way.
    flying: u32,
}

impl Sent {
    /// Packets below have arrived.
    #[inline]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The first packet that was not sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.base + self.entries.len() as u32
    }

    /// Whether a packet is to be sent again.
    #[inline]
    pub fn repeats(&self) -> bool {
        self.to_repeat > 0
    }

    /// Bytes of the packets that are to be sent again.
    #[inline]
    pub fn repeat_bytes(&self) -> u64 {
        self.repeat_bytes
    }

    /// Whether a packet is on its way.
    #[inline]
    pub fn flies(&self) -> bool {
        self.flying > 0
    }

    /// The next packet is sent.
    #[inline]
    pub fn push(&mut self, at: Time, bytes: u32, path: u16) {
        self.flying += 1;
        self.entries.push_back(Entry { at, bytes, path, tries: 1, place: Place::Flying });
    }

    /// A packet that is on its way.
    #[inline]
    pub fn flying(&self, packet: u32) -> Option<&Entry> {
        let entry = self.entries.get(packet.checked_sub(self.base)? as usize)?;
        (entry.place == Place::Flying).then_some(entry)
    }

    /// A packet that is on its way is to be sent again.
    pub fn fail(&mut self, packet: u32) {
        let entry = &mut self.entries[(packet - self.base) as usize];
        debug_assert_eq!(entry.place, Place::Flying);
        entry.place = Place::Waiting;
        self.repeat_bytes += entry.bytes as u64;
        self.waiting.push(Reverse(packet));
        self.to_repeat += 1;
        self.flying -= 1;
    }

    /// The same, if it is on its way. Returns its bytes.
    pub fn fail_if_flying(&mut self, packet: u32) -> u64 {
        let bytes = self.flying(packet).map(|entry| entry.bytes as u64);
        if bytes.is_some() {
            self.fail(packet);
        }
        bytes.unwrap_or(0)
    }

    /// The lowest packet to be sent again, and its bytes.
    pub fn first_repeat(&mut self) -> Option<(u32, u32)> {
        while let Some(&Reverse(packet)) = self.waiting.peek() {
            if let Some(place) = packet.checked_sub(self.base) {
                let entry = &self.entries[place as usize];
                if entry.place == Place::Waiting {
                    return Some((packet, entry.bytes));
                }
            }
            self.waiting.pop();
        }
        None
    }

    /// That packet is sent again.
    pub fn repeat(&mut self, packet: u32, at: Time, path: u16) {
        let entry = &mut self.entries[(packet - self.base) as usize];
        debug_assert_eq!(entry.place, Place::Waiting);
        let tries = entry.tries.saturating_add(1);
        *entry = Entry { at, path, tries, place: Place::Flying, ..*entry };
        self.repeat_bytes -= entry.bytes as u64;
        self.to_repeat -= 1;
        self.flying += 1;
        self.waiting.pop();
    }

    /// A packet has arrived.
    #[inline]
    fn arrive(&mut self, place: usize, cleared: &mut Cleared) {
        let Some(entry) = self.entries.get_mut(place) else { return };
        match std::mem::replace(&mut entry.place, Place::Arrived) {
            Place::Arrived => {}
            Place::Flying => {
                self.flying -= 1;
                cleared.flying += entry.bytes as u64;
            }
            Place::Waiting => {
                self.repeat_bytes -= entry.bytes as u64;
                self.to_repeat -= 1;
                cleared.waiting += entry.bytes as u64;
            }
        }
    }

    /// Packets that have arrived behind one that has not.
    #[inline]
    pub fn beyond(&self) -> u32 {
        self.entries.len() as u32 - self.flying - self.to_repeat
    }

    /// When the first packet that has not arrived was sent last.
    #[inline]
    pub fn first_at(&self) -> Option<Time> {
        self.entries.front().map(|entry| entry.at)
    }

    /// The packets below `cumulative` have arrived, and those that `bits` names from `base` on. Returns the
    /// bytes of those of which it was not known.
    #[inline]
    pub fn clear(&mut self, cumulative: u32, base: u32, bits: u64) -> Cleared {
        let mut cleared = Cleared::default();
        let below = cumulative.min(self.next()).saturating_sub(self.base);
        for place in 0..below as usize {
            self.arrive(place, &mut cleared);
        }
        let mut rest = bits;
        while rest != 0 {
            let packet = base as u64 + rest.trailing_zeros() as u64;
            rest &= rest - 1;
            if let Some(place) = packet.checked_sub(self.base as u64) {
                self.arrive(place as usize, &mut cleared);
            }
        }
        while self.entries.front().is_some_and(|entry| entry.place == Place::Arrived) {
            self.entries.pop_front();
            self.base += 1;
        }
        cleared
    }

    /// The packet that has been on its way for longest, and since when.
    pub fn oldest(&self) -> Option<(u32, Time)> {
        let flying = |(_, entry): &(usize, &Entry)| entry.place == Place::Flying;
        let oldest = self.entries.iter().enumerate().filter(flying).min_by_key(|(_, one)| one.at);
        oldest.map(|(place, entry)| (self.base + place as u32, entry.at))
    }

    /// The round trip of a packet that is on its way; `again`: of one that was sent twice. `None` if it is not
    /// known which transmission was answered.
    #[inline]
    pub fn round_trip(&self, packet: u32, again: bool, now: Time) -> Option<Span> {
        let entry = self.flying(packet)?;
        (entry.tries == 1 + again as u8).then(|| now.since(entry.at))
    }
}
