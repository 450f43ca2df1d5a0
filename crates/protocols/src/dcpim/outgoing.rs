//! The sending side of one flow.

use super::headers::{Announce, ID, Scheduled, Unscheduled};
use super::params::Terms;
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::queue::Queue;
use incast_endpoint::receiver_driven::{Arrival, Arrivals};
use incast_transport::{Env, Flow, Header, Packet, PacketRef, Span, Time, flag};

/// Announcements are repeated at intervals that double at most this often.
const DOUBLINGS_MOST: u32 = 6;

/// A token in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub packet: u32,
    pub number: u32,
    pub priority: u8,
    /// It is of no use later.
    pub until: Time,
}

/// The sending side of one flow.
pub(super) struct Outgoing {
    pub flow: Flow,
    /// Flows that are older come first.
    pub order: u32,
    pub packets: u32,
    pub class: u8,
    /// The next packet that is sent without a token; none of a long flow.
    next: u32,
    /// Which packets were sent: tokens overtake each other.
    sent: Arrivals,
    /// How many these are.
    first: u32,
    /// Tokens, in the order in which they came.
    pub tokens: Queue<Held>,
    announced: bool,
    /// When something was last sent or heard.
    pub quiet_since: Time,
    doublings: u32,
    pub armed: Time,
}

impl Outgoing {
    /// A flow that starts now.
    pub fn new(flow: &Flow, order: u32, terms: &Terms, now: Time) -> Outgoing {
        let packets = flow.packets();
        let short = packets <= terms.token_initial;
        Outgoing {
            flow: flow.clone(),
            order,
            packets,
            class: Terms::class(packets),
            next: if short { 0 } else { packets },
            sent: Arrivals::new(),
            first: 0,
            tokens: Queue::new(),
            announced: false,
            quiet_since: now,
            doublings: 0,
            armed: Time::NEVER,
        }
    }

    /// Packets that were never sent.
    pub fn remaining(&self) -> u32 {
        self.packets - self.first
    }

    /// Whether a packet is to be sent without a token.
    pub fn is_unasked(&self) -> bool {
        self.next < self.packets
    }

    /// Priority of its next packet, 1 being the highest; `None` if it may send none.
    pub fn priority(&self) -> Option<u8> {
        match self.is_unasked() {
            true => Some(1),
            false => self.tokens.front().map(|token| token.priority),
        }
    }

    /// Something was heard of its destination.
    pub fn heard(&mut self, now: Time) {
        (self.quiet_since, self.doublings) = (now, 0);
    }

    pub fn deadline(&self, retry: Span) -> Time {
        self.quiet_since.saturating_add(retry.saturating_mul(1 << self.doublings))
    }

    pub fn backed_off(&mut self, now: Time) {
        self.quiet_since = now;
        self.doublings = (self.doublings + 1).min(DOUBLINGS_MOST);
    }

    pub fn announce(&mut self, now: Time, outbox: &mut Outbox) {
        let (packets, size) = (self.packets, self.flow.size);
        let (bytes_low, bytes_high) = (size as u32, (size >> 32) as u32);
        let header = Announce { packets, bytes_low, bytes_high }.into();
        let (flow, to, again) = (self.flow.id, self.flow.dst, self.announced);
        outbox.push(Control { flow, to, header, again, informed: now });
        self.announced = true;
    }

    /// Its next packet.
    pub fn packet(&mut self, env: &mut Env<'_>) -> PacketRef {
        let flow = &self.flow;
        let (seq, token) = match self.next < self.packets {
            true => (self.next, None),
            false => {
                let token = self.tokens.pop_front().expect("it may send");
                (token.packet, Some(token.number))
            }
        };
        let (offset, last) = (flow.offset(seq) as u32, seq + 1 == self.packets);
        let header: Header = match token {
            None => Unscheduled { packet: seq, offset, last }.into(),
            Some(token) => Scheduled { packet: seq, offset, token, last }.into(),
        };
        self.next += token.is_none() as u32;
        let again = self.sent.insert(seq, last) == Arrival::Duplicate;
        self.first += !again as u32;
        self.quiet_since = env.now;
        let payload = flow.payload(seq);
        let empty = Packet::header_only(ID, flow.id, flow.src, flow.dst, self.class, header);
        let flags = if again { flag::RETRANSMIT } else { 0 };
        let packet = env.packets.create(Packet { payload, flags, ..empty });
        env.packets.stamps_mut(packet).informed = env.now.0;
        packet
    }
}
