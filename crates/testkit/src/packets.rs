//! Flows and packets with every field filled in.

use incast_transport::{
    Flow, FlowId, Framing, Header, HostId, Packet, Random, Segments, Span, Time, TransportId,
};

/// Payload bytes of a full packet without extension.
pub const MSS: u64 = 1_460;
/// How long a full packet, 1538 charged bytes, occupies a link of 10 Gb/s.
pub const FULL: Span = Span(1_230_400);
/// Bytes that no run ends.
pub const FOREVER: u64 = 1 << 40;

/// A flow of `size` bytes in full packets.
pub fn flow(id: u32, src: u32, dst: u32, size: u64, start: Time) -> Flow {
    let segments = Segments::Uniform(Framing::ETHERNET.mss());
    let (src, dst) = (HostId(src), HostId(dst));
    Flow { id: FlowId(id), src, dst, size, start, segments, burst: None, connection: None }
}

/// `count` flows between random pairs of `hosts` hosts; `size` draws their bytes, and they start at
/// random within `within`.
pub fn random_flows(
    random: &mut Random,
    hosts: u32,
    count: u32,
    within: Span,
    mut size: impl FnMut(&mut Random, u32) -> u64,
) -> Vec<Flow> {
    let mut one = |id| {
        let src = random.below(hosts as u64) as u32;
        let dst = (src + 1 + random.below(hosts as u64 - 1) as u32) % hosts;
        let bytes = size(random, id);
        flow(id, src, dst, bytes, Time(random.below(within.0)))
    };
    (0..count).map(&mut one).collect()
}

/// A header-only control packet from host 0 to host 1 about flow 0.
pub fn packet(transport: TransportId, header: impl Into<Header>) -> Packet {
    Packet::header_only(transport, FlowId(0), HostId(0), HostId(1), 0, header)
}

/// Packet `seq` of flow 0, full, in class 1, with these flags in its header
/// ([`data_flag`](incast_transport::data_flag)).
pub fn data(transport: TransportId, seq: u32, flags: u8) -> Packet {
    let header = Header::Data { seq, offset: seq * MSS as u32, tag: 0, flags };
    Packet { payload: MSS as u16, class: 1, ..packet(transport, header) }
}

/// A segment of the common sender in class 1, from byte `seq` of `flow` on.
pub fn segment(transport: TransportId, flow: u32, seq: u32, payload: u16) -> Packet {
    let header = Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 };
    Packet { flow: FlowId(flow), payload, class: 1, ..packet(transport, header) }
}

/// So many microseconds.
pub fn us(count: u64) -> Span {
    Span::from_us(count)
}

/// So many milliseconds.
pub fn ms(count: u64) -> Span {
    Span::from_ms(count)
}

/// So many microseconds after the beginning.
pub fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}
