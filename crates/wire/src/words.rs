//! Numbers of headers, and where they stand.

use crate::HEADER_BYTES;

/// The IPv4 protocol number of the transport header: "for experimentation and testing" (RFC 3692).
pub const PROTOCOL: u8 = 253;

/// Bytes of the IPv4 and the transport header.
pub(crate) const HEADERS: usize = HEADER_BYTES as usize;

#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
pub(crate) fn long_word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
