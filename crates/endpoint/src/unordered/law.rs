//! How much of a flow may be in flight.

use incast_transport::{Span, Time};

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct News {
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

/// The congestion control of one flow. Bytes are those of the network layer: headers and payload.
pub trait Law: Send {
    /// Packets have arrived.
    fn on_ack(&mut self, news: &News);

    /// The payload of a packet was cut off.
    fn on_nack(&mut self, cut: &Cut);

    /// A packet of `bytes` is taken for lost.
    fn on_timeout(&mut self, bytes: u64);

    /// Bytes that may be in flight, at least a full packet.
    fn window(&self) -> u64;
}

/// No window: credits alone say how much may be in flight.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Law for Unbounded {
    fn on_ack(&mut self, _: &News) {}
    fn on_nack(&mut self, _: &Cut) {}
    fn on_timeout(&mut self, _: u64) {}
    fn window(&self) -> u64 {
        u64::MAX
    }
}
