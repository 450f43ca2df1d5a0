//! The sending side of one message.

use super::headers::{ID, SCHEDULED, UNSCHEDULED, UNSCHEDULED_MOST};
use super::headers::{Request, Scheduled, Unscheduled};
use super::terms::Terms;
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::ranking::Rank;
use incast_transport::{Ecn, Env, Flow, Header, Packet, PacketRef, Span, Time, flag};
use std::collections::VecDeque;

/// Requests are repeated at intervals that double at most this often.
const DOUBLINGS_MOST: u32 = 6;

/// The sending side of one message.
pub(super) struct Outgoing {
    pub flow: Flow,
    pub packets: u32,
    /// Packets below are sent with credit that the source gave itself.
    pub unscheduled: u32,
    /// The packet to send next.
    pub next: u32,
    /// Packets below were sent at least once.
    pub sent: u32,
    /// Packets that the destination asks for again.
    again: VecDeque<u32>,
    /// By bytes that are left to send; `ranked`: whether any are.
    pub rank: Rank,
    pub ranked: bool,
    /// Whether the destination has answered.
    pub answered: bool,
    requested: bool,
    /// When something was last sent or heard.
    pub quiet_since: Time,
    pub doublings: u32,
    pub armed: Time,
}

impl Outgoing {
    /// A message that starts now.
    pub fn new(flow: &Flow, order: u32, now: Time) -> Outgoing {
        Outgoing {
            flow: flow.clone(),
            packets: flow.packets(),
            unscheduled: 0,
            next: 0,
            sent: 0,
            again: VecDeque::new(),
            rank: Rank { remaining: flow.size, order, flow: flow.id },
            ranked: false,
            answered: false,
            requested: false,
            quiet_since: now,
            doublings: 0,
            armed: Time::NEVER,
        }
    }

    /// Charged bytes of a packet.
    fn charged(&self, terms: &Terms, seq: u32) -> u64 {
        terms.framing.charged_packet(self.flow.payload(seq), 0) as u64
    }

    /// Packets that leave without being asked for: none of a message that is too long, else what `room`
    /// bytes hold, at least one.
    pub fn unasked(&self, terms: &Terms, room: u64) -> u32 {
        let charged = |seq| self.charged(terms, seq);
        if self.packets > UNSCHEDULED_MOST
            || (0..self.packets).map(charged).sum::<u64>() > terms.unscheduled
        {
            return 0;
        }
        let mut sum = 0;
        let fits = |seq: &u32| {
            sum += charged(*seq);
            sum <= room
        };
        ((0..self.packets).take_while(fits).count() as u32).max(1)
    }

    /// What the next packet costs in credit; `None` if none is left.
    pub fn cost(&self, terms: &Terms) -> Option<u64> {
        self.following().map(|seq| self.worth(terms, seq))
    }

    fn worth(&self, terms: &Terms, seq: u32) -> u64 {
        let bytes = (self.unscheduled == 0).then_some(self.flow.size);
        terms.worth(self.packets, bytes, seq)
    }

    fn following(&self) -> Option<u32> {
        let next = (self.next < self.packets).then_some(self.next);
        self.again.front().copied().or(next)
    }

    /// The class of the next packet.
    pub fn class(&self) -> u8 {
        let unasked = self.again.is_empty() && self.next < self.unscheduled;
        if unasked { UNSCHEDULED } else { SCHEDULED }
    }

    /// The destination misses a packet that was sent. Of a message that [starts
    /// again](Outgoing::start_again) it would not know that.
    pub fn resend(&mut self, seq: u32) {
        if (self.next..self.sent).contains(&seq) {
            self.next = self.sent;
        }
        if seq < self.next && !self.again.contains(&seq) {
            self.again.push_back(seq);
        }
    }

    /// Nothing has been heard: everything may be lost, also what announced the message.
    pub fn start_again(&mut self) {
        (self.unscheduled, self.next) = (0, 0);
        self.again.clear();
    }

    pub fn deadline(&self, retry: Span) -> Time {
        self.quiet_since.saturating_add(retry.saturating_mul(1 << self.doublings))
    }

    /// Whether it has sent anything, or was never to do so without a credit.
    pub fn has_begun(&self) -> bool {
        self.sent > 0 || self.unscheduled == 0
    }

    pub fn backed_off(&mut self, now: Time) {
        self.quiet_since = now;
        self.doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
    }

    pub fn request(&mut self, now: Time, outbox: &mut Outbox) {
        let (packets, size) = (self.packets, self.flow.size);
        let (bytes_low, bytes_high) = (size as u32, (size >> 32) as u32);
        let header = Request { packets, bytes_low, bytes_high }.into();
        let (flow, to, again) = (self.flow.id, self.flow.dst, self.requested);
        outbox.push(Control { flow, to, header, again, informed: now });
        self.requested = true;
    }

    /// The next packet, and the bytes that it takes from what was left to send.
    pub fn packet(&mut self, env: &mut Env<'_>, congested: bool) -> (PacketRef, u64) {
        let seq = self.following().expect("something is left to send");
        let class = self.class();
        if self.again.pop_front().is_none() {
            self.next += 1;
        }
        let again = seq < self.sent;
        self.sent = self.sent.max(seq + 1);
        self.quiet_since = env.now;
        let flow = &self.flow;
        let (offset, last) = (flow.offset(seq) as u32, seq + 1 == self.packets);
        let header: Header = match class {
            UNSCHEDULED => {
                let lengths = self.packets << 12 | self.unscheduled;
                Unscheduled { packet: seq, offset, lengths, last, congested }.into()
            }
            _ => Scheduled { packet: seq, offset, last, congested }.into(),
        };
        let payload = flow.payload(seq);
        let empty = Packet::header_only(ID, flow.id, flow.src, flow.dst, class, header);
        let flags = if again { flag::RETRANSMIT } else { 0 };
        let packet = env.packets.create(Packet { payload, flags, mark: Ecn::Ect0 as u8, ..empty });
        env.packets.stamps_mut(packet).informed = env.now.0;
        (packet, if again { 0 } else { payload as u64 })
    }
}
