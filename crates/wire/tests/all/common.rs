//! Packets of every kind, for encoding tests.

use incast_wire::{
    Explicit, Extension, FlowId, Header, HostId, INT_HOPS, IntRecord, PADDING_PAIRS, Packet,
    SACK_RANGES, TransportId, flag,
};

pub fn packet(header: Header, extension: &Extension) -> Packet {
    Packet {
        header,
        src: HostId(1),
        dst: HostId(0x02_0304),
        flow: FlowId(0x0007_0009),
        payload: 0,
        path: 0x1234,
        mark: 2,
        class: 5,
        transport: TransportId(3),
        flags: 0,
        extension: extension.bytes(),
    }
}

/// No extension, and all extension kinds with every count.
pub fn extensions() -> Vec<Extension> {
    let mut ranges = [(0, 0); SACK_RANGES];
    for (range, from) in ranges.iter_mut().zip([1_000, 3_920, 0xffff_ff00u32]) {
        *range = (from, from.wrapping_add(1460));
    }
    let mut records = [IntRecord::default(); INT_HOPS];
    for (hop, record) in records.iter_mut().enumerate() {
        let hop = hop as u32;
        *record = IntRecord {
            rate_code: 15 - hop as u8,
            timestamp: 0xff_fff0 + hop,
            sent: 0xa_bcd0 + hop,
            queued: 0xf010 + hop as u16,
            ..IntRecord::default()
        };
    }
    let sack = (0..=SACK_RANGES as u8).map(|count| Extension::Sack { count, ranges });
    let int = (0..=INT_HOPS as u8).map(|count| Extension::Int { count, records });
    let padding = (0..=PADDING_PAIRS).map(|count| Extension::Padding { count });
    let explicit = explicit().into_iter().flat_map(|fields| {
        (0..=SACK_RANGES as u8).map(move |count| Extension::Explicit { fields, count, ranges })
    });
    let arrivals = [(0, 0, 0, 0), (u32::MAX, u64::MAX, u64::MAX, u16::MAX), ARRIVALS];
    let arrivals = arrivals.into_iter().map(|(base, bits, received, beyond)| Extension::Arrivals {
        base,
        bits,
        received,
        beyond,
    });
    let all = [Extension::None].into_iter().chain(sack).chain(int).chain(padding).chain(explicit);
    all.chain(arrivals).map(Extension::rounded).collect()
}

/// Values of [`Extension::Arrivals`] of which each byte is another.
pub const ARRIVALS: (u32, u64, u64, u16) =
    (0x0102_0304, 0x0506_0708_090a_0b0c, 0x0d0e_0f10_1112, 0x1314);

/// One of each kind of explicit feedback.
pub fn explicit() -> Vec<Explicit> {
    let rtt = 0xfe_dcba;
    let (feedback, reverse) = (-1, i32::MIN + 7);
    vec![
        Explicit::Window { long: false, rtt, spacing: 0x0102_0304, feedback, reverse },
        Explicit::Rate { rtt, forward: u32::MAX, reverse: 0x8000_0001 },
        Explicit::Class { class: 5 },
        Explicit::Stamp { sent: 0xfe_dcba_9876_5432 },
        Explicit::Window { long: true, rtt, spacing: 0x0102_0304, feedback, reverse },
    ]
}

/// Each header x extension x flags, with boundary values.
pub fn all_packets() -> Vec<(Packet, Extension)> {
    let values = [(0, 0), (u32::MAX, u8::MAX), (0x0102_0304, 0x55)];
    let mut packets = Vec::new();
    for (a, b) in values {
        // Pause frames are no transport packets; captures use the MAC control frame.
        let own = |header: &Header| !matches!(header, Header::Pause { .. });
        for header in Header::samples(a, b).into_iter().filter(own) {
            for extension in extensions() {
                for flags in 0..8 {
                    let mut packet = packet(header, &extension);
                    packet.flags = flags;
                    packet.mark = flags & 3;
                    packet.class = flags;
                    packet.payload = if flags & flag::TRIMMED != 0 { 0 } else { b.into() };
                    packets.push((packet, extension));
                }
            }
        }
    }
    packets
}
