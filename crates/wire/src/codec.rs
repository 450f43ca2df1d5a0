//! Encoding and decoding of packets.
//!
//! ```text
//!  0  45 (version 4, five words)         20  high half of the flow number ("source port")
//!  1  class 3 | extension 1 | 0 2 | mark 2  22  low half ("destination port")
//!  2  total length                       24  transport
//!  4  path                               25  kind 5 | flags 3
//!  6  4000 (do not fragment)             26  checksum of 20.. up to the payload
//!  8  time to live 64                    28  the transport's own twelve bytes
//!  9  protocol 253                       40  extension: kind 4 | count 4, reserved 8,
//! 10  checksum of 0..20                      then eight bytes per entry, padding two; or
//! 12  10.src                                 kind 4 | SACK follows 1 | 3 and explicit feedback,
//! 16  10.dst                                 followed by a SACK extension; or
//!                                            kind 4 | reserved 12, arrivals, reserved 16
//!                                         .  payload
//! ```
//!
//! The transport checksum covers headers and extension only, as UDP-Lite's may (RFC 3828): a switch
//! that trims a packet need not read what it cuts off. What protects the payload is the link's frame
//! check sequence and, end to end, the application. There is no pseudo header: the IPv4 header
//! checksum covers the addresses.
//!
//! `decode` is strict: `encode` reproduces an accepted packet byte by byte, except for the time to
//! live (any value is accepted), a checksum of ffff (the other zero of ones' complement), the
//! contents of the payload and bytes beyond the IP length (Ethernet pads short frames).

use crate::arrivals::{self, ARRIVALS};
use crate::checksum::{checksum, complement, is_valid, sum, sum_native};
use crate::header::BLANK;
use crate::malformed::{Covered, Malformed};
use crate::words::{HEADERS, PROTOCOL, long_word, word};
use crate::{
    Explicit, Extension, FlowId, HEADER_BYTES, HostId, INT_HOPS, IntRecord, PADDING_PAIRS, Packet,
    SACK_RANGES, TransportId, U24_MAX, flag,
};

/// Bytes of the IPv4 header.
pub(crate) const IP_BYTES: usize = 20;

/// Bytes of the transport-specific part, after the common 8.
pub(crate) const OWN_BYTES: usize = 12;
/// Version 4, five 32-bit words of header.
const VERSION: u8 = 0x45;
/// "Do not fragment", offset 0.
const DO_NOT_FRAGMENT: u16 = 0x4000;
const TIME_TO_LIVE: u8 = 64;
/// Bit of the second byte: an extension follows the header.
const EXTENDED: u8 = 1 << 4;
/// Reserved bits of the second byte.
const RESERVED: u8 = 0b11 << 2;
const SACK: u8 = 1;
const INT: u8 = 2;
const PADDING: u8 = 3;
const WINDOW: u8 = 4;
const RATE: u8 = 5;
const CLASS: u8 = 6;
const STAMP: u8 = 7;
/// Bit of the first byte of explicit feedback: SACK ranges follow.
const RANGES: u8 = 8;
/// The other low bits of that byte: the class in [`CLASS`]; in [`WINDOW`], the flag of a fifth
/// word.
const LOW: u8 = 7;
const LONG: u8 = 1;

/// Appends the packet to `out`, from its IPv4 header to the end of its payload, which is zeros;
/// returns the IP length in bytes. Header values wider than their field are truncated.
///
/// Panics if `packet.extension` is not `extension.bytes()`, if a common value is out of range (host
/// of more than 24 bits, mark above 3, class above 7, flags above 7, length above 65535), or if a
/// trimmed packet has a payload.
pub fn encode(packet: &Packet, extension: &Extension, out: &mut Vec<u8>) -> usize {
    let length = packet.ip_bytes() as usize;
    let start = out.len();
    out.resize(start + length, 0);
    encode_headers(packet, extension, &mut out[start..]);
    length
}

/// Writes the IPv4 header, the transport header and the extension to the start of `out`; returns
/// their length in bytes. The `packet.payload` bytes that follow are the caller's.
///
/// Panics like [`encode`], and if `out` is too short.
pub fn encode_headers(packet: &Packet, extension: &Extension, out: &mut [u8]) -> usize {
    check(packet, extension);
    let end = HEADERS + packet.extension as usize;
    let (headers, rest) = out.split_first_chunk_mut::<HEADERS>().expect("room for the headers");
    let extension_bytes = &mut rest[..packet.extension as usize];
    write_extension(extension, extension_bytes);

    let mut ip = ip_words(packet);
    ip[2] |= u32::from(complement(sum_words(&ip)));

    let mut own = [0; OWN_BYTES];
    packet.header.write(&mut own);
    let mut common = common_words(packet);
    common[1] |= u32::from(complement(sum_words(&common) + sum(&own) + sum(extension_bytes)));

    let (words, _) = headers.as_chunks_mut::<4>();
    for (bytes, word) in words.iter_mut().zip(ip.iter().chain(&common)) {
        *bytes = word.to_be_bytes();
    }
    headers[HEADERS - OWN_BYTES..].copy_from_slice(&own);
    end
}

/// The IPv4 header without its checksum.
#[inline]
pub(crate) fn ip_words(packet: &Packet) -> [u32; 5] {
    let extended = if packet.extension > 0 { EXTENDED } else { 0 };
    let second = packet.class << 5 | extended | packet.mark;
    [
        u32::from(VERSION) << 24 | u32::from(second) << 16 | packet.ip_bytes(),
        u32::from(packet.path) << 16 | u32::from(DO_NOT_FRAGMENT),
        u32::from(TIME_TO_LIVE) << 24 | u32::from(PROTOCOL) << 16,
        10 << 24 | packet.src.0,
        10 << 24 | packet.dst.0,
    ]
}

/// The common part of the transport header without the checksum.
#[inline]
pub(crate) fn common_words(packet: &Packet) -> [u32; 2] {
    let kind = packet.header.kind() << 3 | packet.flags;
    [packet.flow.0, u32::from(packet.transport.0) << 24 | u32::from(kind) << 16]
}

/// The sum of 32-bit words, see [`sum`].
#[inline]
fn sum_words(words: &[u32]) -> u64 {
    words.iter().map(|&word| u64::from(word)).sum()
}

/// Checks invariants that only a bug can violate.
fn check(packet: &Packet, extension: &Extension) {
    let fits = match *extension {
        Extension::None | Extension::Arrivals { .. } => true,
        Extension::Sack { count, .. } | Extension::Explicit { count, .. } => {
            count as usize <= SACK_RANGES
        }
        Extension::Int { count, .. } => count as usize <= INT_HOPS,
        Extension::Padding { count } => count <= PADDING_PAIRS,
    };
    assert!(fits, "{extension:?} counts more entries than it has");
    assert_eq!(packet.extension, extension.bytes(), "the packet's extension is not {extension:?}");
    check_common(packet);
}

/// The same for what every packet has.
pub(crate) fn check_common(packet: &Packet) {
    check_ip(packet);
    assert!(packet.flags < 8, "flags {} are wider than 3 bits", packet.flags);
    assert!(!packet.has(flag::TRIMMED) || packet.payload == 0, "a trimmed packet has a payload");
}

/// The same for what the IPv4 header says.
#[inline]
pub(crate) fn check_ip(packet: &Packet) {
    assert!(packet.src.0 <= U24_MAX, "{:?} is wider than 24 bits", packet.src);
    assert!(packet.dst.0 <= U24_MAX, "{:?} is wider than 24 bits", packet.dst);
    assert!(packet.mark < 4, "mark {} is wider than 2 bits", packet.mark);
    assert!(packet.class < 8, "class {} is wider than 3 bits", packet.class);
    assert!(packet.ip_bytes() <= u16::MAX.into(), "{} bytes do not fit IPv4", packet.ip_bytes());
}

/// Decodes a packet from the start of its IPv4 header. Bytes beyond the IP length are padding; the
/// contents of the payload are ignored. Never panics.
pub fn decode(bytes: &[u8]) -> Result<(Packet, Extension), Malformed> {
    let packet = decode_headers(bytes)?;
    Ok((packet, decode_extension(bytes, &packet)))
}

/// The extension of a packet that [`decode_headers`] has read from the same bytes.
///
/// Panics if it has read it from others.
#[inline]
pub fn decode_extension(bytes: &[u8], packet: &Packet) -> Extension {
    match packet.extension as usize {
        0 => Extension::None,
        length => read_extension(&bytes[HEADERS..HEADERS + length]),
    }
}

/// Checks all that [`decode`] checks, and reads all but the extension, which few packets have.
/// Never panics.
pub fn decode_headers(bytes: &[u8]) -> Result<Packet, Malformed> {
    let none = HostId(0);
    let mut packet = Packet::header_only(TransportId(0), FlowId(0), none, none, 0, BLANK);
    decode_headers_into(bytes, &mut packet)?;
    Ok(packet)
}

/// The same in place. What is in `packet` after an error is undefined.
#[inline]
pub fn decode_headers_into(bytes: &[u8], packet: &mut Packet) -> Result<(), Malformed> {
    let Some(headers) = bytes.first_chunk::<HEADERS>() else {
        return Err(Malformed::Short { needed: HEADER_BYTES, present: bytes.len() as u16 });
    };
    let (words, _) = headers.as_chunks::<4>();
    let length = ip_header(headers, bytes.len())?;
    let extended = headers[1] & EXTENDED != 0;
    let extension_bytes = if extended { extension_bytes(bytes, length)? } else { 0 };
    let end = HEADERS + extension_bytes as usize;
    let own_sum = match extended {
        false => sum_native(headers.last_chunk().expect("twenty bytes")),
        true => sum(&headers[IP_BYTES..]) + sum(&bytes[HEADERS..end]),
    };
    if !is_valid(own_sum) {
        return Err(Malformed::Checksum(Covered::Transport));
    }
    let kind = headers[25] >> 3;
    let own = headers.last_chunk().expect("twelve bytes");
    if !packet.header.read_into(kind, own) {
        return Err(Malformed::Kind { kind });
    }
    packet.src = host(words[3])?;
    packet.dst = host(words[4])?;
    packet.flow = FlowId(u32::from_be_bytes(words[5]));
    packet.path = word(headers, 4);
    packet.mark = headers[1] & 3;
    packet.class = headers[1] >> 5;
    packet.transport = TransportId(headers[24]);
    packet.flags = headers[25] & 7;
    packet.extension = extension_bytes;
    let payload = length - end as u16;
    packet.payload = payload;
    if headers[25] & flag::TRIMMED != 0 && payload > 0 {
        return Err(Malformed::Trimmed { payload });
    }
    Ok(())
}

/// Checks the IPv4 header, except for the addresses; returns the IP length.
#[inline]
fn ip_header(headers: &[u8; HEADERS], present: usize) -> Result<u16, Malformed> {
    let length = word(headers, 2);
    let right = headers[0] == VERSION
        && is_valid(sum_native(headers.first_chunk().expect("twenty bytes")))
        && headers[9] == PROTOCOL
        && word(headers, 6) == DO_NOT_FRAGMENT
        && headers[1] & RESERVED == 0
        && length >= HEADER_BYTES
        && present >= length as usize;
    if right { Ok(length) } else { Err(ip_fault(headers, present)) }
}

/// The first thing wrong with an IPv4 header that [`ip_header`] does not accept.
#[cold]
fn ip_fault(headers: &[u8; HEADERS], present: usize) -> Malformed {
    let (fragment, length) = (word(headers, 6), word(headers, 2));
    if headers[0] != VERSION {
        Malformed::Version { byte: headers[0] }
    } else if checksum(&headers[..IP_BYTES]) != 0 {
        Malformed::Checksum(Covered::Ip)
    } else if headers[9] != PROTOCOL {
        Malformed::Protocol { protocol: headers[9] }
    } else if fragment != DO_NOT_FRAGMENT {
        Malformed::Fragment { word: fragment }
    } else if headers[1] & RESERVED != 0 {
        Malformed::Class { dscp: headers[1] >> 2 }
    } else if length < HEADER_BYTES {
        Malformed::Length { length, minimum: HEADER_BYTES }
    } else {
        Malformed::Short { needed: length, present: present as u16 }
    }
}

/// Length of the extension of a packet of `length` bytes, which are all present. Checks that the
/// extension lies within the packet.
fn extension_bytes(bytes: &[u8], length: u16) -> Result<u8, Malformed> {
    if length <= HEADER_BYTES {
        return Err(Malformed::Length { length, minimum: HEADER_BYTES + 1 });
    }
    let first = bytes[HEADERS];
    let (fields, low) = match first >> 4 {
        WINDOW => (16 + 4 * (first & LONG), LONG),
        RATE => (12, 0),
        CLASS => (1, LOW),
        STAMP => (8, 0),
        ARRIVALS => return arrivals::extent(bytes, length),
        _ => return list_bytes(bytes, 0, length),
    };
    let minimum = HEADER_BYTES + fields as u16;
    if first & LOW & !low != 0 {
        return Err(Malformed::Extension { first, reserved: 0 });
    }
    if length < minimum {
        return Err(Malformed::Length { length, minimum });
    }
    let fifth = &bytes[HEADERS + 16.min(fields as usize)..minimum as usize];
    if let Some(&reserved) = fifth.iter().find(|&&byte| byte != 0) {
        return Err(Malformed::Extension { first, reserved });
    }
    if first & RANGES == 0 {
        return Ok(fields);
    }
    let ranges = list_bytes(bytes, fields, length)?;
    let second = bytes[minimum as usize];
    if second >> 4 != SACK || second & 15 == 0 {
        return Err(Malformed::Extension { first: second, reserved: 0 });
    }
    Ok(fields + ranges)
}

/// Length of a list of entries that starts `at` bytes into the extension.
fn list_bytes(bytes: &[u8], at: u8, length: u16) -> Result<u8, Malformed> {
    let start = HEADERS + at as usize;
    if (length as usize) < start + 2 {
        return Err(Malformed::Length { length, minimum: start as u16 + 2 });
    }
    let (first, reserved) = (bytes[start], bytes[start + 1]);
    let count = first & 15;
    let most = match first >> 4 {
        SACK => SACK_RANGES,
        INT => INT_HOPS,
        PADDING => PADDING_PAIRS as usize,
        _ => return Err(Malformed::Extension { first, reserved }),
    };
    if count as usize > most || reserved != 0 {
        return Err(Malformed::Extension { first, reserved });
    }
    let padding = first >> 4 == PADDING;
    let extension = 2 + if padding { 2 } else { 8 } * count;
    let minimum = start as u16 + extension as u16;
    if length < minimum {
        return Err(Malformed::Length { length, minimum });
    }
    let entries = &bytes[start + 2..minimum as usize];
    if padding && entries.iter().any(|&byte| byte != 0) {
        return Err(Malformed::Extension { first, reserved });
    }
    Ok(extension)
}

#[inline]
fn host(address: [u8; 4]) -> Result<HostId, Malformed> {
    match address {
        [10, b, c, d] => Ok(HostId(u32::from_be_bytes([0, b, c, d]))),
        _ => Err(Malformed::Address { address }),
    }
}

/// Writes exactly `extension.bytes()` bytes.
fn write_extension(extension: &Extension, out: &mut [u8]) {
    match extension {
        Extension::None => {}
        Extension::Sack { count, ranges } => write_ranges(*count, ranges, out),
        Extension::Explicit { fields, count, ranges } => {
            let (head, rest) = out.split_at_mut(fields.bytes() as usize);
            write_explicit(&fields.rounded(), head);
            if *count > 0 {
                head[0] |= RANGES;
                write_ranges(*count, ranges, rest);
            }
        }
        Extension::Padding { count } => {
            out.fill(0);
            out[0] = PADDING << 4 | count;
        }
        Extension::Arrivals { base, bits, received, beyond } => {
            arrivals::write((*base, *bits, *received, *beyond), out);
        }
        Extension::Int { count, records } => {
            out[..2].copy_from_slice(&[INT << 4 | count, 0]);
            for (entry, record) in out[2..].chunks_exact_mut(8).zip(records) {
                entry.copy_from_slice(&pack(record).to_be_bytes());
            }
        }
    }
}

fn write_ranges(count: u8, ranges: &[(u32, u32); SACK_RANGES], out: &mut [u8]) {
    out[..2].copy_from_slice(&[SACK << 4 | count, 0]);
    for (entry, (from, to)) in out[2..].chunks_exact_mut(8).zip(ranges) {
        entry[..4].copy_from_slice(&from.to_be_bytes());
        entry[4..].copy_from_slice(&to.to_be_bytes());
    }
}

fn write_explicit(fields: &Explicit, out: &mut [u8]) {
    let word = |kind: u8, rtt: u32| u32::from(kind) << 28 | rtt;
    let mut words = [0; 5];
    match *fields {
        Explicit::Window { long, rtt, spacing, feedback, reverse } => {
            let first = word(WINDOW, rtt) | u32::from(if long { LONG } else { 0 }) << 24;
            words = [first, spacing, feedback as u32, reverse as u32, 0];
        }
        Explicit::Rate { rtt, forward, reverse } => {
            words[..3].copy_from_slice(&[word(RATE, rtt), forward, reverse]);
        }
        Explicit::Class { class } => out[0] = CLASS << 4 | class,
        Explicit::Stamp { sent } => {
            words[..2].copy_from_slice(&[word(STAMP, (sent >> 32) as u32), sent as u32]);
        }
    }
    let (chunks, _) = out.as_chunks_mut::<4>();
    for (bytes, word) in chunks.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
}

/// Decodes an extension that [`extension_bytes`] has accepted.
fn read_extension(bytes: &[u8]) -> Extension {
    let (kind, count) = (bytes[0] >> 4, bytes[0] & 15);
    match kind {
        SACK => Extension::Sack { count, ranges: read_ranges(bytes) },
        PADDING => Extension::Padding { count },
        ARRIVALS => arrivals::read(bytes),
        INT => {
            let mut records = [IntRecord::default(); INT_HOPS];
            let entries = bytes[2..].chunks_exact(8);
            for (record, entry) in records.iter_mut().zip(entries) {
                *record = unpack(u64::from_be_bytes(entry.try_into().expect("eight bytes")));
            }
            Extension::Int { count, records }
        }
        _ => {
            let fields = read_explicit(bytes);
            if bytes[0] & RANGES == 0 {
                return Extension::explicit(fields);
            }
            let rest = &bytes[fields.bytes() as usize..];
            Extension::Explicit { fields, count: rest[0] & 15, ranges: read_ranges(rest) }
        }
    }
}

/// The ranges of a SACK extension.
fn read_ranges(bytes: &[u8]) -> [(u32, u32); SACK_RANGES] {
    let mut ranges = [(0, 0); SACK_RANGES];
    for (range, entry) in ranges.iter_mut().zip(bytes[2..].chunks_exact(8)) {
        *range = (long_word(entry, 0), long_word(entry, 4));
    }
    ranges
}

fn read_explicit(bytes: &[u8]) -> Explicit {
    let word = |index: usize| long_word(bytes, 4 * index);
    match bytes[0] >> 4 {
        WINDOW => Explicit::Window {
            long: bytes[0] & LONG != 0,
            rtt: word(0) & U24_MAX,
            spacing: word(1),
            feedback: word(2) as i32,
            reverse: word(3) as i32,
        },
        RATE => Explicit::Rate { rtt: word(0) & U24_MAX, forward: word(1), reverse: word(2) },
        STAMP => Explicit::Stamp { sent: u64::from(word(0) & U24_MAX) << 32 | u64::from(word(1)) },
        _ => Explicit::Class { class: bytes[0] & LOW },
    }
}

/// Four bits of rate, 24 of time, 20 of bytes sent, 16 of bytes queued.
fn pack(record: &IntRecord) -> u64 {
    let record = record.rounded();
    u64::from(record.rate_code) << 60
        | u64::from(record.timestamp) << 36
        | u64::from(record.sent) << 16
        | u64::from(record.queued)
}

fn unpack(entry: u64) -> IntRecord {
    IntRecord {
        rate_code: (entry >> 60) as u8,
        timestamp: (entry >> 36) as u32,
        sent: (entry >> 16) as u32,
        queued: entry as u16,
        ..IntRecord::default()
    }
    .rounded()
}
