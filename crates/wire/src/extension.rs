//! What a packet may carry behind its header: charged on every link, kept beside the packet.

/// Most SACK ranges in one acknowledgement.
pub const SACK_RANGES: usize = 3;
/// Most pairs of padding bytes in one packet.
pub const PADDING_PAIRS: u8 = 15;
/// Most telemetry records in one packet.
pub const INT_HOPS: usize = 8;

/// One hop's telemetry, eight bytes on the wire (HPCC's layout).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntRecord {
    /// Index of the port's rate in the list of known rates, 4 bits.
    pub rate_code: u8,
    /// Nanoseconds, 24 bits.
    pub timestamp: u32,
    /// Bytes sent in units of 128, 20 bits.
    pub sent: u32,
    /// Bytes queued in units of 80, 16 bits.
    pub queued: u16,
}

impl IntRecord {
    /// The record with each value cut to its field's width, as a receiver will see it.
    #[inline]
    pub fn rounded(self) -> IntRecord {
        IntRecord {
            rate_code: self.rate_code & 0xf,
            timestamp: self.timestamp & 0xff_ffff,
            sent: self.sent & 0xf_ffff,
            queued: self.queued,
        }
    }
}

/// An extension. The first four bits on the wire say which.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extension {
    /// Nothing.
    #[default]
    None,
    /// Selective acknowledgement: half-open byte ranges, the most recent first. 2 + 8 n bytes.
    Sack {
        /// Ranges in use.
        count: u8,
        /// `[from, to)` modulo 2^32.
        ranges: [(u32, u32); SACK_RANGES],
    },
    /// In-band telemetry, 2 + 8 n bytes.
    Int {
        /// Records in use.
        count: u8,
        /// Nearest the sender first, in the order they were added.
        records: [IntRecord; INT_HOPS],
    },
    /// Zeros that make a packet longer, 2 + 2 n bytes.
    Padding {
        /// Pairs of bytes.
        count: u8,
    },
}

impl Extension {
    /// Bytes on the wire.
    pub fn bytes(&self) -> u8 {
        match self {
            Extension::None => 0,
            Extension::Sack { count, .. } | Extension::Int { count, .. } => 2 + 8 * count,
            Extension::Padding { count } => 2 + 2 * count,
        }
    }

    /// The extension as a receiver will see it: each value cut to its field's width, what is not
    /// in use zero.
    pub fn rounded(mut self) -> Extension {
        match &mut self {
            Extension::None | Extension::Padding { .. } => {}
            Extension::Sack { count, ranges } => {
                ranges.iter_mut().skip(*count as usize).for_each(|range| *range = (0, 0));
            }
            Extension::Int { count, records } => {
                records.iter_mut().for_each(|record| *record = record.rounded());
                records.iter_mut().skip(*count as usize).for_each(|r| *r = IntRecord::default());
            }
        }
        self
    }
}
