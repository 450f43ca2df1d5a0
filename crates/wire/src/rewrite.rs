//! Changing an encoded packet in place.

use crate::Packet;
use crate::checksum::{complement, updated};
use crate::codec::{HEADERS, IP_BYTES, check_common, common_words, ip_words, word};

/// Sets the mark of an encoded packet and updates the IPv4 header checksum incrementally.
///
/// Panics if `bytes` is shorter than an IPv4 header or `mark` is above 3.
#[inline]
pub fn rewrite_mark(bytes: &mut [u8], mark: u8) {
    assert!(bytes.len() >= IP_BYTES, "{} bytes are no IPv4 header", bytes.len());
    assert!(mark < 4, "mark {mark} is wider than 2 bits");
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
    let says = |word: &[u8; 4]| u32::from_be_bytes(*word);
    // The third word is the time to live, the protocol and the checksum, which it does not cover.
    let mut new_ip = ip_words(is);
    new_ip[2] = says(&ip[2]);
    let [flow, kind] = common_words(is);
    let [first, second, third] = is.header.words();
    let new_transport = [flow, kind | says(&transport[1]) & 0xffff, first, second, third];
    if differ(ip, &new_ip) {
        check_common(is);
        assert_eq!(word(ip.as_flattened(), 2), new_ip[0] as u16, "the packets differ in length");
        let change = ip.iter_mut().zip(new_ip).map(|(word, new)| replace(word, new)).sum();
        update_sum(&mut ip[2], change);
    }
    if differ(transport, &new_transport) {
        check_common(is);
        let words = transport.iter_mut().zip(new_transport);
        let change = words.map(|(word, new)| replace(word, new)).sum();
        update_sum(&mut transport[1], change);
    }
}

/// Whether the bytes say something else; without a branch for each word.
#[inline]
fn differ(bytes: &[[u8; 4]], words: &[u32; 5]) -> bool {
    let differences = bytes.iter().zip(words).map(|(old, new)| u32::from_be_bytes(*old) ^ new);
    differences.fold(0, |all, one| all | one) != 0
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
