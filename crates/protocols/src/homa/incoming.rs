//! One message at its destination: what has arrived, what was granted, and what is missing.

use super::headers::{Grant, Resend};
use super::sender::control;
use super::terms::Terms;
use incast_endpoint::outbox::Outbox;
use incast_endpoint::ranking::Rank;
use incast_endpoint::receiver_driven::{Arrival, Arrivals};
use incast_transport::{Header, HostId, Time};

/// Most packets of a first burst whose loss is noted when the burst is over: a forged length asks for no more
/// memory than this. The timer finds the rest.
const MOST_LISTED: u32 = 1 << 20;

/// What is known of the length of a message's first burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Length {
    /// RTTbytes, as all messages have it.
    Usual,
    /// The message's own, which its last packet will tell.
    Open,
    /// The message's own.
    Own,
}

/// The receiving side of one message.
pub(super) struct Incoming {
    pub src: HostId,
    pub arrivals: Arrivals,
    arrived: u32,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
    pub packets: u32,
    /// Packets below may be sent.
    granted: u32,
    /// Packets below were sent without a grant, for all that is known.
    burst: u32,
    length: Length,
    /// Those of them presumed in flight.
    blind: u32,
    /// It is known how many were sent.
    pub blind_over: bool,
    /// Packets known to be lost, which are granted again; the lowest last.
    lost: Vec<u32>,
    /// `remaining` counts packets that have not arrived.
    pub rank: Rank,
    /// Whether it is on the agenda.
    pub waiting: bool,
    /// Whether it is set aside: its sender does not reply.
    pub aside: bool,
    /// When the next grant may be issued.
    pub next_grant: Time,
    /// Since when an expected packet is overdue.
    idle_since: Time,
    /// Requests for missing packets since something was heard.
    pub unanswered: u32,
    pub armed: Time,
}

impl Incoming {
    /// A message without received packets; its first `blind` packets need no grant.
    pub fn new(src: HostId, packets: u32, blind: u32, rank: Rank, now: Time) -> Incoming {
        Incoming {
            src,
            arrivals: Arrivals::new(),
            arrived: 0,
            offset: 0,
            packets,
            granted: blind,
            burst: blind,
            length: Length::Usual,
            blind,
            blind_over: false,
            lost: vec![],
            rank,
            waiting: false,
            aside: false,
            next_grant: now,
            idle_since: now,
            unanswered: 0,
            armed: Time::NEVER,
        }
    }

    /// Something was heard of it.
    #[inline]
    pub fn heard(&mut self, now: Time) {
        self.idle_since = now;
        self.unanswered = 0;
        self.aside = false;
    }

    /// A data packet arrived. Returns its offset in the message if it is new.
    #[inline]
    pub fn data(&mut self, seq: u32, offset: u32, last: bool) -> Option<u64> {
        if self.arrivals.insert(seq, last) != Arrival::New {
            return None;
        }
        self.arrived(seq);
        Some(self.widen_offset(offset))
    }

    /// Packets that have not arrived.
    #[inline]
    pub fn remaining(&self) -> u64 {
        (self.packets - self.arrived) as u64
    }

    /// Packets that were let go and have not arrived, for all that is known.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.granted - self.arrived - self.lost.len() as u32
    }

    /// Those of them that were granted. None of a message that was set aside.
    #[inline]
    pub fn scheduled(&self) -> u32 {
        if self.aside { 0 } else { self.in_flight() - self.blind }
    }

    /// Whether it is to be on the agenda. Not before a burst of its own is known: a grant would
    /// allow packets that the message was not to send blindly.
    #[inline]
    pub fn wants_grant(&self) -> bool {
        !self.aside
            && !self.burst_is_open()
            && (self.granted < self.packets || !self.lost.is_empty())
    }

    /// A packet arrived for the first time.
    #[inline]
    fn arrived(&mut self, seq: u32) {
        self.arrived += 1;
        if let Some(packets) = self.arrivals.packets().filter(|packets| *packets != self.packets) {
            self.packets = packets;
            self.lost.retain(|seq| *seq < packets);
        }
        self.granted = self.granted.max(seq + 1).min(self.packets);
        if let Ok(known) = self.lost.binary_search_by(|other| seq.cmp(other)) {
            self.lost.remove(known);
        } else if self.blind > 0 && seq < self.burst {
            self.blind -= 1;
        }
        // An end below the packets that were taken for sent leaves none of them under way.
        self.blind = self.blind.min(self.in_flight());
    }

    /// The next grant: for a lost packet, or one packet more.
    pub fn grant(&mut self, now: Time, class: u8, terms: &Terms) -> Header {
        if self.in_flight() == 0 {
            self.idle_since = now;
        }
        self.next_grant = now + terms.slot;
        if let Some(lost) = self.lost.pop() {
            let class = terms.recovery_class(self.packets) as u32;
            return Grant { granted: self.granted, lost, class, again: true }.into();
        }
        let left = self.packets - self.granted;
        self.granted += 1;
        let class = if terms.boost_tail && left <= terms.blind {
            let (size, left) = (self.packets as u64 * terms.mss, left as u64 * terms.mss);
            class.min(terms.unscheduled_class(size, left))
        } else {
            class
        };
        Grant { granted: self.granted, lost: 0, class: class as u32, again: false }.into()
    }

    /// When to request what is missing, if no packet arrives until then. Not for packets that were
    /// not granted, but for the end of a burst whose length is unknown.
    #[inline]
    pub fn deadline(&self, terms: &Terms) -> Time {
        if self.aside || self.in_flight() == 0 && !self.burst_is_open() {
            return Time::NEVER;
        }
        self.idle_since.saturating_add(terms.resend_interval)
    }

    /// Asks for the ranges that are missing.
    pub fn request_missing(&mut self, now: Time, terms: &Terms, outbox: &mut Outbox) {
        self.idle_since = now;
        self.unanswered += 1;
        if self.burst_is_open() {
            self.length = Length::Own; // Its end is lost: what was presumed holds.
        }
        let class = terms.recovery_class(self.packets) as u32;
        let mut from = self.arrivals.lowest_missing();
        while from < self.granted {
            let to = self.arrivals.missing_until(from).min(self.granted);
            let header = Resend { first: from, packets: to - from, class };
            outbox.push(control(self.rank.flow, self.src, header, now));
            if !terms.ask_all {
                break;
            }
            from = self.arrivals.hole_from(to).unwrap_or(to.max(self.arrivals.end()));
        }
        if terms.ask_all {
            self.lost.clear(); // Asked for with the others.
        }
    }

    /// The first burst has a length of its own, still unknown.
    pub fn begin_burst(&mut self) {
        if self.length == Length::Usual && !self.blind_over {
            self.length = Length::Open;
        }
    }

    /// Whether the first burst has a length of its own, still unknown.
    #[inline]
    pub fn burst_is_open(&self) -> bool {
        self.length == Length::Open
    }

    /// Packets that need no grant, for all that is known.
    pub fn unscheduled(&self, terms: &Terms) -> u32 {
        if self.length == Length::Usual { terms.blind } else { self.burst }
    }

    /// It is known that the first burst has `sent` packets, and how many of them are in flight.
    pub fn end_burst(&mut self, sent: u32) {
        if self.blind_over {
            return; // More is known already.
        }
        self.length = Length::Own;
        self.cut_burst(sent);
        let missing = (0..sent).filter(|&seq| !self.arrivals.has(seq)).count() as u32;
        self.blind = missing.min(self.in_flight());
    }

    /// What was presumed to be sent without a grant and was not needs one.
    fn cut_burst(&mut self, sent: u32) {
        let presumed = std::mem::replace(&mut self.burst, sent);
        if self.granted == presumed {
            self.granted = sent.max(self.arrivals.end()); // No grant has left.
        }
        self.granted = self.granted.max(sent).min(self.packets);
    }

    /// No unscheduled packet of the message is in flight any more.
    pub fn end_blind(&mut self, sent: u32) {
        (self.blind_over, self.blind) = (true, 0);
        if self.burst_is_open() {
            self.length = Length::Own;
        }
        self.cut_burst(sent);
        let first = self.arrivals.lowest_missing();
        let below = sent.min(self.granted).min(first.saturating_add(MOST_LISTED));
        let missing = |&seq: &u32| !self.arrivals.has(seq);
        self.lost.extend((first..below).rev().filter(missing));
    }

    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    fn widen_offset(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}
