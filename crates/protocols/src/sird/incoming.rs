//! The receiving side of one message.

use super::terms::Terms;
use incast_endpoint::ranking::Rank;
use incast_endpoint::receiver_driven::Arrivals;
use incast_transport::{HostId, Span, Time};
use std::collections::VecDeque;

/// Waits for missing packets double at most this often.
const DOUBLINGS_MOST: u32 = 6;

/// The receiving side of one message.
pub(super) struct Incoming {
    pub src: HostId,
    pub arrivals: Arrivals,
    /// Packets that have arrived, each once.
    pub arrived: u32,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    /// Packets of the message; 0 until it is announced.
    pub packets: u32,
    /// Its length, if it was requested.
    pub bytes: Option<u64>,
    /// Packets that were credited once, those that the source gave itself included.
    pub credited: u32,
    /// Packets whose credit was taken back, because they did not come.
    pub lost: VecDeque<u32>,
    /// By packets that are missing; `ranked`: whether credit is to be given.
    pub rank: Rank,
    pub ranked: bool,
    /// Everything has arrived; other messages of its source used some of what was credited for them instead.
    pub complete: bool,
    /// When data last came or was credited.
    pub quiet_since: Time,
    pub doublings: u32,
    pub armed: Time,
}

impl Incoming {
    /// Of which a first packet comes now.
    pub fn new(src: HostId, rank: Rank, now: Time) -> Incoming {
        Incoming {
            src,
            arrivals: Arrivals::new(),
            arrived: 0,
            offset: 0,
            packets: 0,
            bytes: None,
            credited: 0,
            lost: VecDeque::new(),
            rank,
            ranked: false,
            complete: false,
            quiet_since: now,
            doublings: 0,
            armed: Time::NEVER,
        }
    }

    /// What the next credit is worth, and the packet that it is for, if that is missing; `None` if all is
    /// credited.
    pub fn due(&self, terms: &Terms) -> Option<(u64, Option<u32>)> {
        if let Some(&seq) = self.lost.front() {
            return Some((self.worth(terms, seq), Some(seq)));
        }
        (self.credited < self.packets).then(|| (self.worth(terms, self.credited), None))
    }

    /// What a packet costs in credit.
    pub fn worth(&self, terms: &Terms, seq: u32) -> u64 {
        terms.worth(self.packets, self.bytes, seq)
    }

    /// A credit for what is [due](Incoming::due) is given.
    pub fn give(&mut self, now: Time) {
        if self.lost.pop_front().is_none() {
            self.credited += 1;
        }
        self.quiet_since = now;
    }

    /// A packet has arrived for the first time: what of its credit is used up now.
    pub fn used(&mut self, terms: &Terms, seq: u32) -> u64 {
        match self.lost.iter().position(|lost| *lost == seq) {
            // Its credit was taken back already.
            Some(place) => {
                self.lost.remove(place);
                0
            }
            None => self.worth(terms, seq),
        }
    }

    /// Takes back the credit of packets that did not come; returns it.
    pub fn take_back(&mut self, terms: &Terms) -> u64 {
        let missing = |seq: &u32| !self.arrivals.has(*seq) && !self.lost.contains(seq);
        let from = self.arrivals.lowest_missing();
        let missing: Vec<u32> = (from..self.credited).filter(missing).collect();
        let credit = missing.iter().map(|seq| self.worth(terms, *seq)).sum();
        self.lost.extend(missing);
        credit
    }

    /// When packets that were credited are taken for lost.
    pub fn deadline(&self, retry: Span) -> Time {
        let waits = self.credited > self.arrived + self.lost.len() as u32 && !self.complete;
        if !waits {
            return Time::NEVER;
        }
        self.quiet_since.saturating_add(retry.saturating_mul(1 << self.doublings))
    }

    pub fn backed_off(&mut self) {
        self.doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    pub fn widen(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}
