//! Decoding errors.

use std::fmt;

/// The reason why bytes are not a valid packet. Such packets are counted and dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Malformed {
    /// Fewer bytes than the headers need or the length field states.
    Short {
        /// Bytes needed.
        needed: u16,
        /// Bytes present.
        present: u16,
    },
    /// Not IPv4 without options: the first byte is not 0x45.
    Version {
        /// The first byte.
        byte: u8,
    },
    /// The IP length is too small for the headers and the extension.
    Length {
        /// The length field, bytes.
        length: u16,
        /// The smallest valid length, bytes.
        minimum: u16,
    },
    /// A checksum is wrong.
    Checksum(Covered),
    /// The packet may be a fragment: the word is not "do not fragment", offset 0.
    Fragment {
        /// The flags and fragment offset word.
        word: u16,
    },
    /// The protocol is not [`PROTOCOL`](crate::PROTOCOL).
    Protocol {
        /// The protocol field.
        protocol: u8,
    },
    /// One of the two reserved bits of the DSCP is set.
    Class {
        /// The six bits of the DSCP.
        dscp: u8,
    },
    /// An address outside 10.0.0.0/8.
    Address {
        /// The address, network order.
        address: [u8; 4],
    },
    /// Unknown header kind.
    Kind {
        /// The five bits of the kind.
        kind: u8,
    },
    /// The extension has an unknown kind, too many entries, or a reserved bit set.
    Extension {
        /// Its first byte: kind and count.
        first: u8,
        /// Its second byte, reserved.
        reserved: u8,
    },
    /// Flagged as trimmed, but with a payload.
    Trimmed {
        /// Payload bytes.
        payload: u16,
    },
}

/// What a checksum covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Covered {
    /// The IPv4 header.
    Ip,
    /// The transport header and the extension.
    Transport,
}

impl Malformed {
    /// A short name for counters: `short`, `version`, `ip_checksum`, ...
    pub fn name(&self) -> &'static str {
        match self {
            Malformed::Short { .. } => "short",
            Malformed::Version { .. } => "version",
            Malformed::Length { .. } => "length",
            Malformed::Checksum(Covered::Ip) => "ip_checksum",
            Malformed::Checksum(Covered::Transport) => "transport_checksum",
            Malformed::Fragment { .. } => "fragment",
            Malformed::Protocol { .. } => "protocol",
            Malformed::Class { .. } => "class",
            Malformed::Address { .. } => "address",
            Malformed::Kind { .. } => "kind",
            Malformed::Extension { .. } => "extension",
            Malformed::Trimmed { .. } => "trimmed",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Malformed::Short { needed, present } => {
                write!(f, "{present} bytes where {needed} are needed")
            }
            Malformed::Version { byte } => {
                write!(f, "first byte {byte:#04x}, expected 0x45 (IPv4 without options)")
            }
            Malformed::Length { length, minimum } => {
                write!(f, "IP length {length}, expected at least {minimum}")
            }
            Malformed::Checksum(Covered::Ip) => write!(f, "wrong IPv4 header checksum"),
            Malformed::Checksum(Covered::Transport) => write!(f, "wrong transport checksum"),
            Malformed::Fragment { word } => {
                write!(f, "fragment word {word:#06x}, expected 0x4000 (do not fragment)")
            }
            Malformed::Protocol { protocol } => {
                write!(f, "IP protocol {protocol}, expected {}", crate::PROTOCOL)
            }
            Malformed::Class { dscp } => {
                write!(f, "DSCP {dscp:#04x}: its lowest two bits must be 0")
            }
            Malformed::Address { address: [a, b, c, d] } => {
                write!(f, "address {a}.{b}.{c}.{d} is not in 10.0.0.0/8")
            }
            Malformed::Kind { kind } => write!(f, "unknown header kind {kind}"),
            Malformed::Extension { first, reserved } => write!(
                f,
                "unknown extension: kind {}, count {}, reserved {reserved:#04x}",
                first >> 4,
                first & 15
            ),
            Malformed::Trimmed { payload } => {
                write!(f, "flagged as trimmed, but with {payload} bytes of payload")
            }
        }
    }
}

impl std::error::Error for Malformed {}
