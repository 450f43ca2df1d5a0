//! What a flow puts on the wire, and what it takes beyond the time in which its source sends it.

use incast_fabric::{Fabric, Hop, Packets, PathUse, Routes};
use incast_transport::{Bytes, Flow, Framing, Segments, Span};
use incast_transport::{Rate, Routing, TransportId};
use incast_world::path_use;

/// A transport, of which at this level only the paths, the packets' sizes and a fixed rate count.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// Its number.
    pub id: TransportId,
    /// Load balancing.
    pub routing: Routing,
    /// Most payload of a packet.
    pub payload: u16,
    /// No flow of it is faster.
    pub most: Option<Rate>,
}

/// A flow as links see it.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// Bits that links charge.
    pub bits: f64,
    /// Payload per charged bit.
    pub payload: f64,
    /// From the last bit at the source until it has arrived, alone.
    pub lag: Span,
}

/// The packets of a flow if one has at most this payload.
fn packets(framing: Framing, flow: &Flow, most: u16) -> Packets {
    // What a packet lacks in payload it has as an extension.
    let extension = u8::try_from(framing.mss().saturating_sub(most)).unwrap_or(u8::MAX);
    let charged = |payload: u64| match payload {
        0 => Bytes(0),
        _ => Bytes(u64::from(framing.charged_packet(payload as u16, extension))),
    };
    match &flow.segments {
        Segments::Uniform(mss) => {
            let mss = u64::from(*mss);
            let (count, last) = (flow.size / mss, charged(flow.size % mss));
            Packets::Uniform { full: charged(mss), count, last }
        }
        Segments::Table(ends) => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            Packets::Each(starts.zip(ends.iter()).map(|(from, to)| charged(to - from)).collect())
        }
    }
}

/// How a flow is carried that alone takes the ideal time.
pub fn carried(
    fabric: &Fabric,
    routes: &Routes,
    framing: Framing,
    flow: &Flow,
    carrier: Carrier,
) -> Carried {
    let hops = fabric.hops(routes, flow.src.0, flow.dst.0);
    let packets = packets(framing, flow, carrier.payload);
    let path_use = path_use(carrier.routing);
    let ideal = packets.ideal(fabric.forwarding(), &hops, path_use);
    let bits = packets.bytes() as f64 * 8.0;
    // Alone it has the slowest step to itself: one link of it, or all that it is spread over.
    let speed = |hop: &Hop| match path_use {
        PathUse::One => hop.rate.0 as f64,
        PathUse::Each => hop.rate.0 as f64 * f64::from(hop.links),
    };
    let speed = hops.iter().map(speed).fold(f64::INFINITY, f64::min);
    let sending = (bits / (speed / 1e12)).ceil() as u64;
    let propagation = hops.iter().fold(Span::ZERO, |sum, hop| sum + hop.propagation);
    let lag = ideal.saturating_sub(Span(sending)).max(propagation);
    let payload = if bits == 0.0 { 0.0 } else { flow.size as f64 * 8.0 / bits };
    Carried { bits, payload, lag }
}
