//! Encoding and decoding round-trip; malformed bytes are classified and never panic.

use crate::common;
use crate::common::{all_packets, extensions, packet};
use incast_wire::*;
use proptest::prelude::*;

fn bytes_of(packet: &Packet, extension: &Extension) -> Vec<u8> {
    let mut out = Vec::new();
    assert_eq!(encode(packet, extension, &mut out), out.len());
    out
}

/// Recomputes both checksums; the transport checksum covers the bytes up to `end`.
fn reseal(bytes: &mut [u8], end: usize) {
    bytes[10..12].fill(0);
    let sum = checksum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes[26..28].fill(0);
    let sum = checksum(&bytes[20..end]);
    bytes[26..28].copy_from_slice(&sum.to_be_bytes());
}

fn data() -> Header {
    Header::Data { seq: 0x0102_0304, offset: 0x0506_0708, tag: 0x09_0a0b, flags: 0x13 }
}

#[test]
fn every_packet_round_trips() {
    let packets = all_packets();
    assert!(packets.len() >= 3 * 17 * 14 * 8);
    for (packet, extension) in packets {
        let bytes = bytes_of(&packet, &extension);
        assert_eq!(bytes.len(), packet.ip_bytes() as usize);
        assert_eq!(decode(&bytes), Ok((packet, extension)));
        assert_eq!(checksum(&bytes[..20]), 0);
        assert_eq!(checksum(&bytes[20..]), 0, "with the payload and without");
    }
}

#[test]
fn a_data_packet_byte_by_byte() {
    let mut packet = packet(data(), &Extension::None);
    packet.payload = 100;
    packet.flags = flag::RETRANSMIT;
    #[rustfmt::skip]
    let mut expected = vec![
        0x45, 0xa2, 0x00, 0x8c, // class 5, mark 2; 140 bytes
        0x12, 0x34, 0x40, 0x00, // path; do not fragment
        0x40, 0xfd, 0x0f, 0x99, // time to live 64, protocol 253, checksum (added up by hand)
        0x0a, 0x00, 0x00, 0x01, // 10.0.0.1
        0x0a, 0x02, 0x03, 0x04, // 10.2.3.4
        0x00, 0x07, 0x00, 0x09, // flow
        0x03, 0x14, 0xd8, 0xaa, // transport 3, kind 2, retransmit; checksum (added up by hand)
        0x01, 0x02, 0x03, 0x04, // seq
        0x05, 0x06, 0x07, 0x08, // offset
        0x09, 0x0a, 0x0b, 0x13, // tag, flags
    ];
    expected.resize(140, 0);
    assert_eq!(bytes_of(&packet, &Extension::None), expected);
}

#[test]
fn the_extensions_byte_by_byte() {
    let extension = Extension::Sack { count: 2, ranges: [(1000, 2460), (3920, 5380), (0, 0)] };
    let bytes = bytes_of(&packet(data(), &extension), &extension);
    assert_eq!(bytes[1], 0xb2, "class 5, extension present, mark 2");
    #[rustfmt::skip]
    assert_eq!(bytes[40..], [
        0x12, 0x00,
        0x00, 0x00, 0x03, 0xe8, 0x00, 0x00, 0x09, 0x9c,
        0x00, 0x00, 0x0f, 0x50, 0x00, 0x00, 0x15, 0x04,
    ]);

    let mut records = [IntRecord::default(); INT_HOPS];
    records[0] = record(5, 0x12_3456, 0xa_bcde, 0xf012);
    let extension = Extension::Int { count: 1, records };
    let bytes = bytes_of(&packet(data(), &extension), &extension);
    assert_eq!(bytes[40..], [0x21, 0x00, 0x51, 0x23, 0x45, 0x6a, 0xbc, 0xde, 0xf0, 0x12]);

    let extension = Extension::Padding { count: 2 };
    let bytes = bytes_of(&packet(data(), &extension), &extension);
    assert_eq!(bytes[40..], [0x32, 0, 0, 0, 0, 0]);
}

#[test]
fn explicit_feedback_byte_by_byte() {
    let own = |extension: Extension| {
        let bytes = bytes_of(&packet(data(), &extension), &extension);
        assert_eq!(bytes[1], 0xb2, "class 5, extension present, mark 2");
        bytes[40..].to_vec()
    };
    let (feedback, reverse) = (-2, 0x0d0e_0f10);
    let (rtt, spacing) = (0x02_0304, 0x0506_0708);
    let window = Explicit::Window { long: false, rtt, spacing, feedback, reverse };
    #[rustfmt::skip]
    assert_eq!(own(Extension::explicit(window)), [
        0x40, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xfe, 13, 14, 15, 16,
    ]);
    let long = Explicit::Window { long: true, rtt, spacing, feedback, reverse };
    #[rustfmt::skip]
    assert_eq!(own(Extension::explicit(long)), [
        0x41, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xfe, 13, 14, 15, 16, 0, 0, 0, 0,
    ]);
    let rate = Explicit::Rate { rtt: 0x02_0304, forward: 0x0506_0708, reverse: 0x090a_0b0c };
    assert_eq!(own(Extension::explicit(rate)), [0x50, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let class = Explicit::Class { class: 6 };
    assert_eq!(own(Extension::explicit(class)), [0x66]);
    let stamp = Explicit::Stamp { sent: 0x02_0304_0506_0708 };
    assert_eq!(own(Extension::explicit(stamp)), [0x70, 2, 3, 4, 5, 6, 7, 8]);

    // The SACK ranges that follow have the format of a SACK extension.
    let sack = Extension::Sack { count: 1, ranges: [(1_000, 2_460), (0, 0), (0, 0)] };
    let alone = own(sack);
    let kinds = [(window, 0x48), (rate, 0x58), (class, 0x6e), (stamp, 0x78), (long, 0x49)];
    for (fields, first) in kinds {
        let both = own(Extension::explicit(fields).with_sack(&sack));
        let (head, rest) = both.split_at(fields.bytes() as usize);
        assert_eq!(head[0], first, "{fields:?}");
        assert_eq!(rest, alone, "{fields:?}");
    }
}

#[test]
fn sack_ranges_are_added_to_extensions_with_room() {
    let sack = Extension::Sack { count: 2, ranges: [(1, 2), (5, 9), (0, 0)] };
    assert_eq!(Extension::None.with_sack(&sack), sack);
    for fields in common::explicit() {
        let both = Extension::explicit(fields).with_sack(&sack);
        assert_eq!(both.sack_ranges(), [(1, 2), (5, 9)]);
        assert_eq!(both.bytes(), fields.bytes() + sack.bytes());
        assert_eq!(both.with_sack(&Extension::None), both);
        assert_eq!(Extension::explicit(fields).sack_ranges(), []);
    }
    let padding = Extension::Padding { count: 3 };
    assert_eq!(padding.with_sack(&sack), padding);
    assert_eq!(padding.sack_ranges(), []);
}

#[test]
fn arrivals_are_twenty_four_bytes_whose_reserved_ones_are_zero() {
    let (base, bits, received, beyond) = common::ARRIVALS;
    let arrivals = Extension::Arrivals { base, bits, received, beyond };
    let bytes = bytes_of(&packet(data(), &arrivals), &arrivals);
    let mut expected: Vec<u8> = vec![0x80, 0];
    expected.extend(1..=0x14);
    expected.extend([0, 0]);
    assert_eq!(bytes[40..], expected);
    let broken = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        let end = bytes.len();
        reseal(&mut bytes, end);
        decode(&bytes).unwrap_err()
    };
    let extension = |first, reserved| Malformed::Extension { first, reserved };
    assert_eq!(broken(40, 0x81), extension(0x81, 0));
    assert_eq!(broken(41, 7), extension(0x80, 7));
    assert_eq!(broken(62, 8), extension(0x80, 8));
    assert_eq!(broken(63, 9), extension(0x80, 9));
    assert_eq!(broken(3, 63), Malformed::Length { length: 63, minimum: 64 });
}

#[test]
fn malformed_explicit_feedback_is_classified() {
    let sack = Extension::Sack { count: 1, ranges: [(1, 2), (0, 0), (0, 0)] };
    let named = |fields: Explicit, edits: &[(usize, u8)], length: u8| {
        let both = Extension::explicit(fields).with_sack(&sack);
        let mut bytes = bytes_of(&packet(data(), &both), &both);
        edits.iter().for_each(|&(at, value)| bytes[at] = value);
        let end = bytes.len();
        if length > 0 {
            bytes[3] = length;
        }
        reseal(&mut bytes, end);
        decode(&bytes).unwrap_err()
    };
    let window = common::explicit()[0];
    let extension = |first| Malformed::Extension { first, reserved: 0 };
    // A reserved bit; announced ranges that are missing or of another kind.
    assert_eq!(named(window, &[(40, 0x4a)], 0), extension(0x4a));
    assert_eq!(named(common::explicit()[1], &[(40, 0x59)], 0), extension(0x59));
    let long = *common::explicit().last().unwrap();
    let not_zero = Malformed::Extension { first: 0x49, reserved: 6 };
    assert_eq!(named(long, &[(59, 6)], 0), not_zero);
    assert_eq!(named(window, &[(56, 0x10)], 0), extension(0x10));
    assert_eq!(named(window, &[(56, 0x21)], 0), extension(0x21));
    assert_eq!(named(window, &[(56, 0x41)], 0), extension(0x41));
    assert_eq!(named(window, &[], 40), Malformed::Length { length: 40, minimum: 41 });
    assert_eq!(named(window, &[], 55), Malformed::Length { length: 55, minimum: 56 });
    assert_eq!(named(window, &[], 57), Malformed::Length { length: 57, minimum: 58 });
    assert_eq!(named(window, &[], 65), Malformed::Length { length: 65, minimum: 66 });
    let stamp = Explicit::Stamp { sent: 1 };
    assert_eq!(named(stamp, &[(40, 0x79)], 0), extension(0x79));
    assert_eq!(named(stamp, &[], 47), Malformed::Length { length: 47, minimum: 48 });
    let class = Explicit::Class { class: 0 };
    assert_eq!(named(class, &[], 42), Malformed::Length { length: 42, minimum: 43 });
}

/// Kind, header and its twelve bytes. A capture made today must stay readable.
#[rustfmt::skip]
fn layouts() -> Vec<(u8, Header, [u8; 12])> {
    vec![
        (1, Header::Segment { seq: 0x01020304, ack: 0x05060708, window: 0x090a, nibble: 11, flags: 12 },
         [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (2, Header::Data { seq: 0x01020304, offset: 0x05060708, tag: 0x090a0b, flags: 12 },
         [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (3, Header::Grant { seq: 0x11121314, request: 0x15161718, tag: 0x191a1b, flags: 0x1c },
         [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c]),
        (4, Header::Ack { seq: 7, cumulative: 5, number: 3, flags: 1 },
         [0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 3, 1]),
        (5, Header::Nack { seq: 256, cumulative: 255, number: 65536, flags: 2 },
         [0, 0, 1, 0, 0, 0, 0, 255, 1, 0, 0, 2]),
        (6, Header::Pull { cumulative: 9, number: 0xdeadbeef, spare: 0, flags: 4 },
         [0, 0, 0, 9, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 4]),
        (7, Header::Announce { packets: 700, bytes_low: 1_022_000, bytes_high: 0, flags: 0 },
         [0, 0, 2, 0xbc, 0, 0x0f, 0x98, 0x30, 0, 0, 0, 0]),
        (8, Header::Token { seq: 1, remaining: 2, number: 0xffffff, flags: 16 },
         [0, 0, 0, 1, 0, 0, 0, 2, 255, 255, 255, 16]),
        (9, Header::Finish { packets: 0xffffffff, spare: 0, spare_high: 0, flags: 1 },
         [255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 1]),
        (10, Header::Credit { number: 0x80000000, stamp: 0x7fffffff, spare: 0, flags: 255 },
         [0x80, 0, 0, 0, 0x7f, 255, 255, 255, 0, 0, 0, 255]),
        (11, Header::Credited { seq: 0x01020304, stamp: 0x05060708, number: 0x090a0b, flags: 12 },
         [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        (12, Header::Request { packets: 0x01020304, stamp: 0xfffefdfc, segment: 1460, flags: 1 },
         [1, 2, 3, 4, 255, 254, 253, 252, 
         0, 5, 180, 1]),
        (13, Header::Resend { first: 258, packets: 3, class: 2, flags: 0 },
         [0, 0, 1, 2, 0, 0, 0, 3, 0, 0, 2, 0]),
        (14, Header::Busy { first: 0x01020304, spare: 0, spare_high: 0, flags: 0 },
         [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
        (15, Header::Unknown { spare_low: 0, spare: 0, spare_high: 0, flags: 128 },
         [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128]),
        (16, Header::Pause { classes: 3, paused: 1, quanta: 0xffff, spare_low: 0, spare: 0 },
         [3, 1, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]),
        (17, Header::Probe { packets: 0x01020304, sent: 9, spare: 0, flags: 0 },
         [1, 2, 3, 4, 0, 0, 0, 9, 0, 0, 0, 0]),
        (18, Header::Match { epoch: 0x01020304, remaining: 0x05060708, channels: 9, prompt: 10, round: 11, flags: 12 },
         [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    ]
}

#[test]
fn each_kind_has_its_layout() {
    let layouts = layouts();
    let kinds: Vec<u8> = Header::samples(0, 0).iter().map(Header::kind).collect();
    assert_eq!(kinds, layouts.iter().map(|l| l.0).collect::<Vec<_>>(), "a kind has no layout here");
    for (kind, header, own) in layouts {
        let mut packet = packet(header, &Extension::None);
        packet.flags = flag::BOUNCED;
        let bytes = bytes_of(&packet, &Extension::None);
        assert_eq!(bytes[20..26], [0, 7, 0, 9, 3, kind * 8 + 2], "{header:?}");
        assert_eq!(bytes[28..], own, "{header:?}");
        assert_eq!(checksum(&bytes[20..]), 0, "{header:?}");
    }
}

#[test]
fn wide_values_are_truncated_like_rounded() {
    let header = Header::Data { seq: 1, offset: 2, tag: 0x0123_4567, flags: 3 };
    let mut records = [IntRecord::default(); INT_HOPS];
    records[0] = record(0x25, 0x0312_3456, 0x00fa_bcde, 1);
    (records[0].sent_rest, records[0].queued_rest) = (77, 33); // not on the wire
    records[1].queued = 7; // not in use
    let extension = Extension::Int { count: 1, records };
    let bytes = bytes_of(&packet(header, &extension), &extension);
    let (read, read_extension) = decode(&bytes).unwrap();
    assert_eq!(read.header, Header::Data { seq: 1, offset: 2, tag: 0x23_4567, flags: 3 });
    assert_eq!(read.header, header.rounded());
    assert_eq!(read_extension, extension.rounded());
    let Extension::Int { records, .. } = read_extension else { panic!() };
    assert_eq!(records[0], record(5, 0x12_3456, 0xa_bcde, 1));
    assert_eq!(records[1], IntRecord::default());

    let window = |rtt| Explicit::Window { long: false, rtt, spacing: 1, feedback: 2, reverse: 3 };
    let wide = Extension::explicit(window(0xff12_3456));
    let bytes = bytes_of(&packet(header, &wide), &wide);
    assert_eq!(decode(&bytes).unwrap().1, Extension::explicit(window(0x12_3456)));
    assert_eq!(wide.rounded(), Extension::explicit(window(0x12_3456)));
    let class = |class| Extension::explicit(Explicit::Class { class });
    assert_eq!(class(0x1d).rounded(), class(5));
    let stamp = |sent| Extension::explicit(Explicit::Stamp { sent });
    assert_eq!(stamp(u64::MAX).rounded(), stamp(Explicit::STAMP_MAX));
}

#[test]
fn encode_appends_and_does_not_allocate() {
    let packet = packet(data(), &Extension::None);
    let mut out = Vec::with_capacity(14 + 40);
    out.extend_from_slice(&[0xee; 14]);
    let before = out.as_ptr();
    assert_eq!(encode(&packet, &Extension::None, &mut out), 40);
    assert_eq!(out.as_ptr(), before);
    assert_eq!(out[..14], [0xee; 14]);
    assert_eq!(decode(&out[14..]), Ok((packet, Extension::None)));
}

#[test]
fn encoded_headers_are_the_start_of_the_packet() {
    for extension in extensions() {
        let mut packet = packet(data(), &extension);
        packet.payload = 99;
        let mut headers = [0xee; 256];
        let end = encode_headers(&packet, &extension, &mut headers);
        assert_eq!(end, 40 + extension.bytes() as usize);
        assert_eq!(headers[..end], bytes_of(&packet, &extension)[..end]);
        assert!(headers[end..].iter().all(|&byte| byte == 0xee), "wrote behind the headers");
    }
}

#[test]
fn violated_invariants_panic() {
    let none = Extension::None;
    let sack = Extension::Sack { count: 1, ranges: [(0, 1); SACK_RANGES] };
    let too_many = Extension::Sack { count: 4, ranges: [(0, 1); SACK_RANGES] };
    let far_too_many = Extension::Int { count: 255, records: [IntRecord::default(); INT_HOPS] };
    let good = packet(data(), &none);
    let cases = [
        (good, sack),
        (Packet { extension: 10, ..good }, none),
        (Packet { extension: 34, ..good }, too_many),
        (Packet { extension: 250, ..good }, far_too_many),
        (Packet { src: HostId(1 << 24), ..good }, none),
        (Packet { dst: HostId(1 << 24), ..good }, none),
        (Packet { mark: 4, ..good }, none),
        (Packet { class: 8, ..good }, none),
        (Packet { flags: 8, ..good }, none),
        (Packet { payload: u16::MAX - 39, ..good }, none),
        (Packet { payload: 1, flags: flag::TRIMMED, ..good }, none),
    ];
    for (packet, extension) in cases {
        let result = std::panic::catch_unwind(|| bytes_of(&packet, &extension));
        assert!(result.is_err(), "{packet:?} {extension:?} was written");
    }
    bytes_of(&Packet { payload: u16::MAX - 40, ..good }, &none);
}

#[test]
fn each_malformation_is_classified() {
    use Malformed::{
        Address, Checksum, Class, Fragment, Kind, Length, Protocol, Short, Trimmed, Version,
    };
    let sack = Extension::Sack { count: 2, ranges: [(1, 2), (3, 4), (0, 0)] };
    let mut packet = packet(data(), &sack);
    packet.payload = 10;
    let good = bytes_of(&packet, &sack);
    assert_eq!(good.len(), 68);
    // Both checksums are recomputed, so that only the edit is wrong.
    let edited = |edits: &[(usize, u8)], end: usize| {
        let mut bytes = good.clone();
        for &(at, value) in edits {
            bytes[at] = value;
        }
        reseal(&mut bytes, end);
        decode(&bytes)
    };
    assert_eq!(edited(&[], 58), Ok((packet, sack)), "the resealed packet is good");
    #[rustfmt::skip]
    let cases: &[(&[(usize, u8)], Malformed)] = &[
        (&[(0, 0x46)], Version { byte: 0x46 }),
        (&[(0, 0x65)], Version { byte: 0x65 }),
        (&[(1, 0xb2 | 0x08)], Class { dscp: 0b101110 }),
        (&[(1, 0xb2 | 0x04)], Class { dscp: 0b101101 }),
        (&[(3, 39)], Length { length: 39, minimum: 40 }),
        (&[(3, 41)], Length { length: 41, minimum: 42 }),
        (&[(3, 57)], Length { length: 57, minimum: 58 }),
        (&[(3, 69)], Short { needed: 69, present: 68 }),
        (&[(6, 0)], Fragment { word: 0 }),
        (&[(6, 0x60)], Fragment { word: 0x6000 }),
        (&[(7, 1)], Fragment { word: 0x4001 }),
        (&[(9, 6)], Protocol { protocol: 6 }),
        (&[(12, 11)], Address { address: [11, 0, 0, 1] }),
        (&[(16, 192)], Address { address: [192, 2, 3, 4] }),
        (&[(25, 0)], Kind { kind: 0 }),
        (&[(25, 31 << 3)], Kind { kind: 31 }),
        (&[(25, 0x11)], Trimmed { payload: 10 }),
        (&[(40, 0x02)], Malformed::Extension { first: 0x02, reserved: 0 }),
        (&[(40, 0x32)], Malformed::Extension { first: 0x32, reserved: 0 }),
        (&[(40, 0x42)], Malformed::Extension { first: 0x42, reserved: 0 }),
        (&[(40, 0x39)], Malformed::Extension { first: 0x39, reserved: 0 }),
        (&[(40, 0x14)], Malformed::Extension { first: 0x14, reserved: 0 }),
        (&[(40, 0x29)], Malformed::Extension { first: 0x29, reserved: 0 }),
        (&[(41, 0x80)], Malformed::Extension { first: 0x12, reserved: 0x80 }),
    ];
    for (edits, expected) in cases {
        assert_eq!(edited(edits, 58), Err(*expected), "{edits:x?}");
    }
    let mut bytes = good.clone();
    bytes[8] -= 1;
    assert_eq!(decode(&bytes), Err(Checksum(Covered::Ip)));
    let mut bytes = good.clone();
    bytes[57] += 1;
    assert_eq!(decode(&bytes), Err(Checksum(Covered::Transport)));
    bytes[57] -= 1;
    bytes[58] += 1;
    assert_eq!(decode(&bytes), Ok((packet, sack)), "the payload's contents do not matter");
    bytes.extend_from_slice(&[0xff; 6]);
    assert_eq!(decode(&bytes), Ok((packet, sack)), "nor does padding");
    assert_eq!(edited(&[(8, 3)], 58), Ok((packet, sack)), "nor the time to live");
}

#[test]
fn messages_and_counter_names_are_distinct() {
    let all = [
        Malformed::Short { needed: 40, present: 3 },
        Malformed::Version { byte: 0x60 },
        Malformed::Length { length: 39, minimum: 40 },
        Malformed::Checksum(Covered::Ip),
        Malformed::Checksum(Covered::Transport),
        Malformed::Fragment { word: 1 },
        Malformed::Protocol { protocol: 6 },
        Malformed::Class { dscp: 1 },
        Malformed::Address { address: [192, 168, 0, 1] },
        Malformed::Kind { kind: 31 },
        Malformed::Extension { first: 0x39, reserved: 4 },
        Malformed::Trimmed { payload: 9 },
    ];
    let names: std::collections::BTreeSet<_> = all.iter().map(Malformed::name).collect();
    assert_eq!(names.len(), all.len());
    assert_eq!(all[0].to_string(), "3 bytes where 40 are needed");
    assert_eq!(all[6].to_string(), "IP protocol 6, expected 253");
    assert_eq!(all[8].to_string(), "address 192.168.0.1 is not in 10.0.0.0/8");
    assert_eq!(all[10].to_string(), "unknown extension: kind 3, count 9, reserved 0x04");
}

#[test]
fn every_truncation_is_short() {
    for extension in extensions() {
        let mut packet = packet(data(), &extension);
        packet.payload = 33;
        let bytes = bytes_of(&packet, &extension);
        for present in 0..bytes.len() {
            let needed = if present < 40 { 40 } else { bytes.len() as u16 };
            let expected = Malformed::Short { needed, present: present as u16 };
            assert_eq!(decode(&bytes[..present]), Err(expected));
        }
    }
}

#[test]
fn every_flipped_header_bit_is_detected() {
    for extension in extensions() {
        let mut packet = packet(data(), &extension);
        packet.payload = 33;
        let good = bytes_of(&packet, &extension);
        for bit in 0..8 * (good.len() - 33) {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bytes).is_err(), "bit {bit} of {extension:?}");
        }
    }
}

#[test]
fn a_rewritten_mark_equals_an_encoded_one() {
    for (packet, extension) in all_packets() {
        for mark in 0..4 {
            let mut bytes = bytes_of(&packet, &extension);
            rewrite_mark(&mut bytes, mark);
            assert_eq!(bytes, bytes_of(&Packet { mark, ..packet }, &extension));
        }
    }
}

fn record(rate_code: u8, timestamp: u32, sent: u32, queued: u16) -> IntRecord {
    IntRecord { rate_code, timestamp, sent, queued, ..IntRecord::default() }
}

fn any_extension() -> impl Strategy<Value = Extension> {
    let record = any::<(u8, u32, u32, u16)>().prop_map(|(rate_code, timestamp, sent, queued)| {
        record(rate_code, timestamp, sent, queued)
    });
    let explicit = prop_oneof![
        any::<(bool, u32, u32, i32, i32)>().prop_map(|(long, rtt, spacing, feedback, reverse)| {
            Explicit::Window { long, rtt, spacing, feedback, reverse }
        }),
        any::<(u32, u32, u32)>().prop_map(|(rtt, forward, reverse)| Explicit::Rate {
            rtt,
            forward,
            reverse
        }),
        any::<u8>().prop_map(|class| Explicit::Class { class }),
        any::<u64>().prop_map(|sent| Explicit::Stamp { sent }),
    ];
    prop_oneof![
        (explicit, 0..=SACK_RANGES as u8, any::<[(u32, u32); SACK_RANGES]>())
            .prop_map(|(fields, count, ranges)| Extension::Explicit { fields, count, ranges }),
        Just(Extension::None),
        (0..=SACK_RANGES as u8, any::<[(u32, u32); SACK_RANGES]>())
            .prop_map(|(count, ranges)| Extension::Sack { count, ranges }),
        (0..=INT_HOPS as u8, prop::array::uniform8(record))
            .prop_map(|(count, records)| Extension::Int { count, records }),
        (0..=PADDING_PAIRS).prop_map(|count| Extension::Padding { count }),
        any::<(u32, u64, u64, u16)>().prop_map(|(base, bits, received, beyond)| {
            Extension::Arrivals { base, bits, received, beyond }
        }),
    ]
    .prop_map(Extension::rounded)
}

prop_compose! {
    fn any_packet()(
        extension in any_extension(),
        own in any::<[u8; 12]>(),
        index in any::<prop::sample::Index>(),
        (src, dst, flow) in (0..=U24_MAX, 0..=U24_MAX, any::<u32>()),
        (payload, path, transport) in (0..=9_000u16, any::<u16>(), any::<u8>()),
        (mark, class, flags) in (0..4u8, 0..8u8, 0..8u8),
    ) -> (Packet, Extension) {
        let kinds = Header::samples(0, 0);
        let header = Header::read(index.get(&kinds).kind(), &own).unwrap();
        let payload = if flags & flag::TRIMMED != 0 { 0 } else { payload };
        let packet = Packet {
            header, src: HostId(src), dst: HostId(dst), flow: FlowId(flow), payload, path, mark,
            class, transport: TransportId(transport), flags, extension: extension.bytes(),
        };
        (packet, extension)
    }
}

/// A decoded packet encodes to the same bytes, except for bytes that `decode` ignores.
fn check_canonical(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok((packet, extension)) = decode(bytes) else { return Ok(()) };
    let end = 40 + packet.extension as usize;
    let mut expected = bytes.to_vec();
    expected.truncate(packet.ip_bytes() as usize);
    expected[8] = 64;
    expected[end..].fill(0);
    reseal(&mut expected, end);
    prop_assert_eq!(bytes_of(&packet, &extension), expected);
    Ok(())
}

proptest! {
    #[test]
    fn any_packet_round_trips((packet, extension) in any_packet()) {
        prop_assert_eq!(decode(&bytes_of(&packet, &extension)), Ok((packet, extension)));
    }

    #[test]
    fn any_mark_is_rewritten((packet, extension) in any_packet(), mark in 0..4u8) {
        let mut bytes = bytes_of(&packet, &extension);
        rewrite_mark(&mut bytes, mark);
        prop_assert_eq!(decode(&bytes), Ok((Packet { mark, ..packet }, extension)));
    }

    /// A switch may change anything but extension and payload.
    #[test]
    fn any_headers_are_rewritten((was, extension) in any_packet(), (other, _) in any_packet()) {
        let flags = if was.payload > 0 { other.flags & !flag::TRIMMED } else { other.flags };
        let (extension_bytes, payload) = (was.extension, was.payload);
        let is = Packet { extension: extension_bytes, payload, flags, ..other };
        let mut bytes = bytes_of(&was, &extension);
        bytes[8] = 63;
        reseal(&mut bytes, 40 + was.extension as usize);
        rewrite(&mut bytes, &is);
        prop_assert_eq!(decode(&bytes), Ok((is, extension)));
        prop_assert_eq!(bytes[8], 63);
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_canonical(&bytes)?;
    }

    /// With recomputed checksums, edits reach the later checks.
    #[test]
    fn any_edit_does_not_panic(
        (packet, extension) in any_packet(),
        edits in prop::collection::vec((0..108usize, any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        sealed in 40..108usize,
    ) {
        let mut bytes = bytes_of(&packet, &extension);
        for (at, value) in edits {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        let end = sealed.min(bytes.len());
        reseal(&mut bytes, end);
        check_canonical(&bytes)?;
        let end = 40 + packet.extension as usize;
        reseal(&mut bytes, end);
        check_canonical(&bytes)?;
        check_canonical(&bytes[..cut.index(bytes.len())])?;
    }
}
