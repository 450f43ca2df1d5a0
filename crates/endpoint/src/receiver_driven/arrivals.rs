//! Which packets of a flow have arrived, and which holes to request.

use incast_transport::{Span, Time};
use std::collections::VecDeque;

/// How far beyond the lowest missing packet one may arrive and still be remembered.
const WINDOW: u32 = 1 << 20;

/// What an arriving packet was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// It had not arrived before.
    New,
    /// It had.
    Duplicate,
    /// Beyond the end of the flow, or too far ahead to be remembered; as if it had been lost.
    Outside,
}

/// A sliding bitmap over the packets of a flow.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Bits from packet `64 * base` on; complete words at the front are gone.
    words: VecDeque<u64>,
    base: u32,
    lowest_missing: u32,
    end: u32,
    burst_end: u32,
    packets: Option<u32>,
}

impl Arrivals {
    /// Nothing has arrived.
    pub fn new() -> Arrivals {
        Arrivals::default()
    }

    /// Takes in packet `seq`; `last` says that it is the flow's last one.
    #[inline]
    pub fn insert(&mut self, seq: u32, last: bool) -> Arrival {
        if self.packets.is_some_and(|packets| seq >= packets)
            || seq >= self.lowest_missing.saturating_add(WINDOW)
            || (last && seq + 1 < self.end)
        {
            return Arrival::Outside;
        }
        if last {
            self.packets = Some(seq + 1);
        }
        if seq < self.lowest_missing {
            return Arrival::Duplicate;
        }
        let word = (seq / 64 - self.base) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1u64 << (seq % 64);
        if self.words[word] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.words[word] |= bit;
        self.end = self.end.max(seq + 1);
        if seq == self.lowest_missing {
            self.advance();
        }
        Arrival::New
    }

    #[inline]
    fn advance(&mut self) {
        while let Some(&word) = self.words.front() {
            self.lowest_missing = self.base * 64 + word.trailing_ones();
            if word != u64::MAX {
                return;
            }
            self.words.pop_front();
            self.base += 1;
        }
    }

    /// The lowest packet that has not arrived.
    #[inline]
    pub fn lowest_missing(&self) -> u32 {
        self.lowest_missing
    }

    /// One more than the highest packet that has arrived.
    #[inline]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Notes that the packets below `end` are sent without a grant.
    #[inline]
    pub fn sent_unasked(&mut self, end: u32) {
        self.burst_end = self.burst_end.max(end);
    }

    /// Notes that the packets below `end` are all that is sent without a grant. Each packet of a flow
    /// says the same; where one is forged, the least counts.
    #[inline]
    pub fn first_burst(&mut self, end: u32) {
        self.burst_end = if self.burst_end == 0 { end } else { self.burst_end.min(end) };
    }

    /// Packets below are sent without a grant, as far as is known.
    #[inline]
    pub fn burst_end(&self) -> u32 {
        self.burst_end
    }

    /// Whether a packet below the highest one is missing.
    #[inline]
    pub fn has_hole(&self) -> bool {
        self.lowest_missing < self.end
    }

    /// Number of packets of the flow, once the last one has arrived.
    #[inline]
    pub fn packets(&self) -> Option<u32> {
        self.packets
    }

    /// Whether every packet has arrived.
    #[inline]
    pub fn complete(&self) -> bool {
        self.packets == Some(self.lowest_missing)
    }

    /// Whether a packet has arrived.
    #[inline]
    pub fn has(&self, seq: u32) -> bool {
        if seq < self.lowest_missing || seq >= self.end {
            return seq < self.lowest_missing;
        }
        self.words[(seq / 64 - self.base) as usize] & 1 << (seq % 64) != 0
    }

    /// Which of the 64 packets from `from` on have arrived, the first in the lowest bit.
    #[inline]
    pub fn bits(&self, from: u32) -> u64 {
        let word = |index: u32| match index.checked_sub(self.base) {
            Some(place) => self.words.get(place as usize).copied().unwrap_or(0),
            None => u64::MAX,
        };
        let (index, shift) = (from / 64, from % 64);
        match shift {
            0 => word(index),
            _ => word(index) >> shift | word(index + 1) << (64 - shift),
        }
    }

    /// The first packet at or above `from` that has arrived; `u32::MAX` if there is none.
    pub fn missing_until(&self, from: u32) -> u32 {
        if from < self.lowest_missing {
            return from;
        }
        if from >= self.end {
            return u32::MAX;
        }
        let mut word = (from / 64 - self.base) as usize;
        let mut present = self.words[word] & (u64::MAX << (from % 64));
        while present == 0 {
            word += 1;
            present = self.words[word]; // The highest that arrived is in one of them.
        }
        (self.base + word as u32) * 64 + present.trailing_zeros()
    }

    /// The first hole at or above `from`: missing, and below the highest packet that arrived.
    pub fn hole_from(&self, from: u32) -> Option<u32> {
        let from = from.max(self.lowest_missing);
        if from >= self.end {
            return None;
        }
        let mut word = (from / 64 - self.base) as usize;
        let mut missing = !self.words[word] & (u64::MAX << (from % 64));
        while missing == 0 {
            word += 1;
            missing = !*self.words.get(word)?;
        }
        let hole = (self.base + word as u32) * 64 + missing.trailing_zeros();
        (hole < self.end).then_some(hole)
    }
}

/// The longest back-off between requests for one hole, as a power of two.
const DOUBLINGS: u8 = 4;

/// A hole that has been requested.
#[derive(Clone, Copy, Debug)]
struct Requested {
    seq: u32,
    at: Time,
    /// When it may be requested again.
    due: Time,
    /// How often it has been requested again.
    again: u8,
}

/// Chooses holes to request in grants: each once, and again when it is still there after twice as
/// long as packets took to come that were requested lately, and after twice that, and so on. (The
/// time is measured because a packet that is sent again waits in its sender's NIC, too.)
#[derive(Clone, Debug)]
pub struct Holes {
    /// Holes below have been requested.
    requested: u32,
    /// Those that were still missing when last looked at.
    waiting: Vec<Requested>,
    /// No hole may be requested again before.
    next_due: Time,
    /// From asking to the packet: the longest of late.
    longest_reply: Span,
    /// Packets below were passed by a higher one at least one `patience` ago.
    old_end: u32,
    /// The end of arrivals at `seen_at`.
    seen_end: u32,
    seen_at: Time,
}

impl Default for Holes {
    fn default() -> Holes {
        Holes {
            requested: 0,
            waiting: Vec::new(),
            next_due: Time::NEVER,
            longest_reply: Span::ZERO,
            old_end: 0,
            seen_end: 0,
            seen_at: Time::ZERO,
        }
    }
}

impl Holes {
    /// A hole to request now: more than `behind` packets below the highest arrival, or passed for
    /// at least `patience` (noticed within another `patience`), and not requested recently.
    #[inline]
    pub fn pick(
        &mut self,
        arrivals: &Arrivals,
        now: Time,
        patience: Span,
        behind: u32,
    ) -> Option<u32> {
        let below = self.surely_lost_below(arrivals, now, patience, behind)?;
        self.next(arrivals, now, patience, below)
    }

    /// The same, of those below `limit` that have never been requested.
    pub fn pick_new(
        &mut self,
        arrivals: &Arrivals,
        now: Time,
        patience: Span,
        behind: u32,
        limit: u32,
    ) -> Option<u32> {
        let below = self.surely_lost_below(arrivals, now, patience, behind)?;
        self.next_new(arrivals, now, patience, below.min(limit))
    }

    /// The lowest hole that has never been requested.
    pub fn next_unasked(&self, arrivals: &Arrivals) -> Option<u32> {
        arrivals.hole_from(self.requested)
    }

    /// What is missing below is lost; `None` if there is no hole.
    #[inline]
    fn surely_lost_below(
        &mut self,
        arrivals: &Arrivals,
        now: Time,
        patience: Span,
        behind: u32,
    ) -> Option<u32> {
        if !arrivals.has_hole() {
            let end = arrivals.end();
            self.requested = self.requested.max(end);
            (self.old_end, self.seen_end, self.seen_at) = (end, end, now);
            self.waiting.retain(|beyond| beyond.seq >= end);
            self.next_due = self.waiting.iter().map(|hole| hole.due).min().unwrap_or(Time::NEVER);
            return None;
        }
        if now.since(self.seen_at) >= patience {
            self.old_end = self.seen_end;
            self.seen_end = arrivals.end();
            self.seen_at = now;
        }
        Some(self.old_end.max((arrivals.end() - 1).saturating_sub(behind)))
    }

    /// A hole that is to be requested again, or the next one below `below`.
    pub fn next(
        &mut self,
        arrivals: &Arrivals,
        now: Time,
        patience: Span,
        below: u32,
    ) -> Option<u32> {
        if now >= self.next_due
            && let Some(seq) = self.overdue(arrivals, now, patience)
        {
            return Some(seq);
        }
        self.next_new(arrivals, now, patience, below)
    }

    /// The next hole below `below` that has not been requested.
    #[inline]
    fn next_new(
        &mut self,
        arrivals: &Arrivals,
        now: Time,
        patience: Span,
        below: u32,
    ) -> Option<u32> {
        let hole = arrivals.hole_from(self.requested).filter(|&hole| hole < below)?;
        self.request(hole, now, patience);
        Some(hole)
    }

    /// The hole that has been due for longest, requested again.
    #[cold]
    fn overdue(&mut self, arrivals: &Arrivals, now: Time, patience: Span) -> Option<u32> {
        self.waiting.retain(|hole| !arrivals.has(hole.seq));
        let wait = self.wait(patience);
        let due = self.waiting.iter_mut().filter(|hole| hole.due <= now);
        let seq = due.min_by_key(|hole| hole.due).map(|hole| {
            hole.again = (hole.again + 1).min(DOUBLINGS);
            (hole.at, hole.due) = (now, now + wait * (1 << hole.again));
            hole.seq
        });
        let dues = self.waiting.iter().map(|hole| hole.due);
        self.next_due = dues.min().unwrap_or(Time::NEVER);
        seq
    }

    fn wait(&self, patience: Span) -> Span {
        patience.max(self.longest_reply * 2)
    }

    /// Notes that a packet has just been requested. If it is beyond all that have arrived, those before
    /// it that have been requested, too, may come after it.
    pub fn request(&mut self, seq: u32, now: Time, patience: Span) {
        let due = now + self.wait(patience);
        self.waiting.push(Requested { seq, at: now, due, again: 0 });
        self.next_due = self.next_due.min(due);
        self.requested = self.requested.max(seq + 1);
    }

    /// Notes that the lowest missing packet has just been requested by other means.
    pub fn requested_lowest(&mut self, arrivals: &Arrivals, now: Time, patience: Span) {
        let (seq, wait) = (arrivals.lowest_missing(), self.wait(patience));
        match self.waiting.iter_mut().find(|hole| hole.seq == seq) {
            Some(hole) => {
                hole.again = (hole.again + 1).min(DOUBLINGS);
                (hole.at, hole.due) = (now, now + wait * (1 << hole.again));
            }
            None => self.request(seq, now, patience),
        }
    }

    /// Packet `seq` arrived for the first time. If it was requested once, that is how long the
    /// reply took; after a second request it is unknown which one it replies to.
    #[inline]
    pub fn arrived(&mut self, seq: u32, now: Time) {
        if seq < self.requested
            && let Some(at) = self.waiting.iter().position(|hole| hole.seq == seq)
        {
            let hole = self.waiting.remove(at);
            if hole.again == 0 {
                let faded = self.longest_reply.saturating_sub(Span(self.longest_reply.0 / 8));
                self.longest_reply = faded.max(now.since(hole.at));
            }
        }
    }
}
