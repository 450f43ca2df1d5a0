//! How much of a flow may be in flight.

use incast_transport::{Extension, Flow, Span, Time, Timers};

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// When it arrived.
    pub now: Time,
    /// Bytes that have arrived since the ACK before.
    pub bytes: u64,
    /// Bytes in flight now.
    pub in_flight: u64,
    /// Whether the packet that it answers was marked.
    pub marked: bool,
    /// The round trip of that packet, if it is known.
    pub rtt: Option<Span>,
    /// Its path number.
    pub path: u16,
    /// Its first byte.
    pub echo: u64,
    /// What came back behind the header.
    pub extension: &'a Extension,
    /// When the information that it carries was current.
    pub informed: Time,
    /// Whether what was dropped before is being sent again.
    pub recovering: bool,
}

/// A packet that was dropped, as its source believes.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// When the source concludes it.
    pub now: Time,
    /// Bytes of the packet.
    pub bytes: u64,
    /// Bytes in flight, which counts it still.
    pub in_flight: u64,
}

/// A packet that leaves now.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The instant.
    pub now: Time,
    /// Its first byte.
    pub offset: u64,
    /// Its payload.
    pub payload: u16,
    /// Whether it was sent before.
    pub again: bool,
    /// Bytes in flight, with it.
    pub in_flight: u64,
}

/// A payload that was cut off.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// When the sender heard of it.
    pub now: Time,
    /// Bytes of its packet.
    pub bytes: u64,
    /// Bytes in flight, which counts it still.
    pub in_flight: u64,
    /// The round trip of its header, if it is known.
    pub rtt: Option<Span>,
    /// Whether the receiver, which gives credits, controls the link where it was cut.
    pub controlled: bool,
}

/// The congestion control of one flow. Bytes are what [`HostPlan`](super::HostPlan) counts: payload and
/// headers of the network layer, or payload alone.
pub trait Law: Send {
    /// Whether it is a control of the common sender: what has arrived is counted by the packets that ACKs
    /// name, and a decision is as old as what switches wrote, if they wrote something.
    const STEERED: bool = false;

    /// Packets have arrived.
    fn on_ack(&mut self, news: &News<'_>);

    /// The payload of a packet was cut off.
    fn on_nack(&mut self, cut: &Cut);

    /// A packet is taken for lost, because nothing was heard of it for long.
    fn on_timeout(&mut self, lost: &Lost);

    /// Bytes that may be in flight, at least a full packet.
    fn window(&self) -> u64;

    /// Whether a packet of so many bytes may leave.
    #[inline]
    fn admits(&self, in_flight: u64, bytes: u64) -> bool {
        in_flight + bytes <= self.window()
    }

    /// The window holds a packet back.
    #[inline]
    fn on_full(&mut self, _in_flight: u64) {}

    /// A gap shows that packets were dropped: they are sent again.
    #[inline]
    fn on_gap(&mut self, _lost: &Lost) {}

    /// A packet leaves. Returns what goes behind its header; `None`: padding.
    #[inline]
    fn on_send(&mut self, _packet: &Departure) -> Option<Extension> {
        None
    }

    /// The packet that left last is so many bytes long on a link.
    #[inline]
    fn paced(&mut self, _now: Time, _charged: u32) {}

    /// When the next packet may leave, whatever is in flight.
    #[inline]
    fn opens(&mut self) -> Time {
        Time::ZERO
    }

    /// When a packet that was sent `at` is taken for lost, where its host's plan says `timeout`.
    #[inline]
    fn due(&self, at: Time, timeout: Span) -> Time {
        at + timeout
    }

    /// Packets sent until then are lost if one is that was sent `at`.
    #[inline]
    fn lost_with(&self, at: Time) -> Time {
        at
    }

    /// Whether the last ACK led to a decision.
    #[inline]
    fn decided(&self) -> bool {
        true
    }
}

/// Makes the laws of flows.
pub trait Laws: Send {
    /// That of one flow.
    type Law: Law;

    /// A flow begins while `others` are being sent.
    fn begin(&mut self, now: Time, flow: &Flow, others: usize) -> Self::Law;

    /// How exact timers are.
    fn set_timers(&mut self, _timers: Timers) {}
}

/// Flows begin with a copy.
impl<L: Law + Clone> Laws for L {
    type Law = L;

    fn begin(&mut self, _now: Time, _flow: &Flow, _others: usize) -> L {
        self.clone()
    }
}

/// No window: credits alone say how much may be in flight.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Law for Unbounded {
    fn on_ack(&mut self, _: &News<'_>) {}
    fn on_nack(&mut self, _: &Cut) {}
    fn on_timeout(&mut self, _: &Lost) {}
    fn window(&self) -> u64 {
        u64::MAX
    }
}
