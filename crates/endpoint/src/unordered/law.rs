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

/// The congestion control of one flow. Bytes are those of the network layer: headers and payload.
pub trait Law: Send {
    /// Packets have arrived.
    fn on_ack(&mut self, news: &News);

    /// The payload of a packet of `bytes` was cut off; `in_flight` counts it still.
    fn on_nack(&mut self, now: Time, bytes: u64, in_flight: u64, rtt: Option<Span>);

    /// A packet of `bytes` is taken for lost.
    fn on_timeout(&mut self, bytes: u64);

    /// Bytes that may be in flight, at least a full packet.
    fn window(&self) -> u64;
}
