//! Changing an encoded packet in place.

use crate::Packet;
use crate::checksum::{complement, updated};
use crate::codec::{HEADERS, IP_BYTES, OWN_BYTES, check_common, common_words, ip_words, word};

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

/// Brings the headers of an encoded packet from what `was` says to what `is` says, both with the
/// same extension and payload. Words that differ are written and their checksums updated
/// incrementally (RFC 1624); all others, the time to live among them, stay as they are.
///
/// Panics, as [`encode_headers`](crate::encode_headers) does, if `bytes` is shorter than the headers, or if the packets differ in
/// length.
pub fn rewrite(bytes: &mut [u8], was: &Packet, is: &Packet) {
    if was.mark != is.mark {
        rewrite_mark(bytes, is.mark);
    }
    if (Packet { mark: is.mark, ..*was }) != *is {
        rewrite_words(bytes, was, is);
    }
}

/// The same for other fields than the mark.
fn rewrite_words(bytes: &mut [u8], was: &Packet, is: &Packet) {
    let lengths = |packet: &Packet| (packet.extension, packet.payload);
    assert_eq!(lengths(was), lengths(is), "extension and payload");
    check_common(is);
    let headers = bytes.first_chunk_mut::<HEADERS>().expect("the headers are there");
    let (words, _) = headers.as_chunks_mut::<4>();
    let (ip, transport) = words.split_at_mut(IP_BYTES / 4);
    // The third word is the time to live, the protocol and the checksum, which it does not cover.
    let mut change = 0;
    for (index, word) in ip_words(is).into_iter().enumerate().filter(|(index, _)| *index != 2) {
        change += replace(&mut ip[index], word);
    }
    update_sum(&mut ip[2], change);
    let [flow, kind] = common_words(is);
    let mut change = replace(&mut transport[0], flow);
    let sum_before = u32::from(transport[1][2]) << 8 | u32::from(transport[1][3]);
    change += replace(&mut transport[1], kind | sum_before);
    let mut own = [0; OWN_BYTES];
    is.header.write(&mut own);
    let (own, _) = own.as_chunks::<4>();
    for (word, own) in transport[2..].iter_mut().zip(own) {
        change += replace(word, u32::from_be_bytes(*own));
    }
    update_sum(&mut transport[1], change);
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
