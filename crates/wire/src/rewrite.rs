//! Changing an encoded packet in place.

use crate::Packet;
use crate::checksum::{complement, updated};
use crate::codec::{IP_BYTES, check_common, check_ip, common_words, ip_words};
use crate::words::{HEADERS, word};

/// Sets the mark of an encoded packet, and updates the IPv4 header checksum incrementally if that is
/// another one.
///
/// Panics if `bytes` is shorter than an IPv4 header or `mark` is above 3.
#[inline]
pub fn rewrite_mark(bytes: &mut [u8], mark: u8) {
    assert!(bytes.len() >= IP_BYTES, "{} bytes are no IPv4 header", bytes.len());
    assert!(mark < 4, "mark {mark} is wider than 2 bits");
    if bytes[1] & 3 == mark {
        return;
    }
    let from = word(bytes, 0);
    bytes[1] = bytes[1] & !3 | mark;
    let sum = updated(word(bytes, 10), from, word(bytes, 0));
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Brings the headers of an encoded packet to what `is` says, which has the same extension and payload.
/// Words that differ are written and their checksums updated incrementally (RFC 1624); all others,
/// the time to live among them, stay as they are.
///
/// Panics, as [`encode_headers`](crate::encode_headers) does, if `bytes` is shorter than the headers, or if the packets differ in
/// length.
#[inline]
pub fn rewrite(bytes: &mut [u8], is: &Packet) {
    let headers = bytes.first_chunk_mut::<HEADERS>().expect("the headers are there");
    let (words, _) = headers.as_chunks_mut::<4>();
    let (ip, transport) = words.split_at_mut(IP_BYTES / 4);
    // The third word is the time to live, the protocol and the checksum, which it does not cover.
    let [new_first, new_path, _, new_src, new_dst] = ip_words(is);
    let first = says(ip[0]) ^ new_first;
    let others = says(ip[1]) ^ new_path | says(ip[3]) ^ new_src | says(ip[4]) ^ new_dst;
    if first | others != 0 {
        check_ip(is);
        assert_eq!(word(&ip[0], 2), new_first as u16, "the packets differ in length");
        // A mark or a class, most of the time.
        let mut change = replace(&mut ip[0], new_first);
        if others != 0 {
            change += replace(&mut ip[1], new_path);
            change += replace(&mut ip[3], new_src) + replace(&mut ip[4], new_dst);
        }
        update_sum(&mut ip[2], change);
    }
    let [flow, kind] = common_words(is);
    let [own_first, own_second, own_third] = is.header.words();
    let common = says(transport[0]) ^ flow | (says(transport[1]) ^ kind) >> 16;
    let own_begin = says(transport[2]) ^ own_first | says(transport[3]) ^ own_second;
    if common | own_begin | says(transport[4]) ^ own_third != 0 {
        check_common(is);
        let kind = kind | says(transport[1]) & 0xffff;
        let new = [flow, kind, own_first, own_second, own_third];
        let words = transport.iter_mut().zip(new);
        let change = words.map(|(word, new)| replace(word, new)).sum();
        update_sum(&mut transport[1], change);
    }
}

#[inline]
fn says(word: [u8; 4]) -> u32 {
    u32::from_be_bytes(word)
}

/// Writes a word; what the sum gains by it: the complement of the old one and the new one.
#[inline]
fn replace(bytes: &mut [u8; 4], word: u32) -> u64 {
    let old = u32::from_be_bytes(*bytes);
    *bytes = word.to_be_bytes();
    u64::from(!old) + u64::from(word)
}

/// Adds `change` to what the checksum in the lower half of a word covers (RFC 1624, equation 3).
#[inline]
fn update_sum(bytes: &mut [u8; 4], change: u64) {
    let old = u16::from_be_bytes([bytes[2], bytes[3]]);
    let sum = complement(u64::from(!old) + change);
    bytes[2..].copy_from_slice(&sum.to_be_bytes());
}
