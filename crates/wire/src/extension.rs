//! What a packet may carry behind its header: charged on every link, kept beside the packet.

/// Most SACK ranges in one acknowledgement.
pub const SACK_RANGES: usize = 3;
/// Most pairs of padding bytes in one packet.
pub const PADDING_PAIRS: u8 = 15;
/// Most telemetry records in one packet.
pub const INT_HOPS: usize = 8;

/// One hop's telemetry, eight bytes on the wire (HPCC's layout). What the units leave over is kept
/// in memory only, for those who ask what rounding costs; a record that went over a wire has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntRecord {
    /// Place of the port's rate in the list of known rates, 4 bits; 0 for a record not yet written.
    pub rate_code: u8,
    /// Nanoseconds, 24 bits.
    pub timestamp: u32,
    /// Bytes sent in units of 128, 20 bits.
    pub sent: u32,
    /// Bytes queued in units of 80, 16 bits.
    pub queued: u16,
    /// Bytes sent beyond whole units; not on the wire.
    pub sent_rest: u16,
    /// Bytes queued beyond whole units; not on the wire.
    pub queued_rest: u16,
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
            sent_rest: 0,
            queued_rest: 0,
        }
    }
}

/// Explicit feedback of switches (XCP, RCP, MLCP) or of clocks (TIMELY). The first byte on the wire
/// says which, and whether SACK ranges follow; that byte is among those counted here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Explicit {
    /// How a window may change: 16 bytes, or 20.
    Window {
        /// With a fifth word, zeros: the draft's version and lengths.
        long: bool,
        /// The sender's RTT in units of 64 ns, 24 bits; 0 if it knows none.
        rtt: u32,
        /// Time between its packets, in units of 64 ps.
        spacing: u32,
        /// Change of the rate that switches allow, in units of 16 B/s.
        feedback: i32,
        /// The same as it came to the receiver, on its reverse path.
        reverse: i32,
    },
    /// A rate: 12 bytes.
    Rate {
        /// The sender's RTT in units of 64 ns, 24 bits; 0 if it knows none.
        rtt: u32,
        /// The rate that is asked for and that switches lower, in units of 64 B/s.
        forward: u32,
        /// The same as it came to the receiver, on its reverse path.
        reverse: u32,
    },
    /// Three bits: 1 byte.
    Class {
        /// Class of the sender's RTT, 0 to 7.
        class: u8,
    },
    /// A clock's reading: 8 bytes.
    Stamp {
        /// When the packet, or the burst it belongs to, was sent: picoseconds, 56 bits (20 hours).
        sent: u64,
    },
}

impl Explicit {
    /// Largest reading of a clock; later ones begin again at 0.
    pub const STAMP_MAX: u64 = (1 << 56) - 1;

    /// Bytes on the wire.
    #[inline]
    pub const fn bytes(&self) -> u8 {
        match self {
            Explicit::Window { long, .. } => 16 + 4 * *long as u8,
            Explicit::Rate { .. } => 12,
            Explicit::Class { .. } => 1,
            Explicit::Stamp { .. } => 8,
        }
    }

    /// With each value cut to its field's width, as a receiver will see it.
    #[inline]
    pub fn rounded(mut self) -> Explicit {
        match &mut self {
            Explicit::Window { rtt, .. } | Explicit::Rate { rtt, .. } => *rtt &= 0xff_ffff,
            Explicit::Class { class } => *class &= 7,
            Explicit::Stamp { sent } => *sent &= Explicit::STAMP_MAX,
        }
        self
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
        /// In the order they were added.
        records: [IntRecord; INT_HOPS],
    },
    /// Zeros that make a packet longer, 2 + 2 n bytes.
    Padding {
        /// Pairs of bytes.
        count: u8,
    },
    /// Explicit feedback, and behind it the bytes of [`Sack`](Extension::Sack) if there are ranges.
    Explicit {
        /// The feedback.
        fields: Explicit,
        /// Ranges in use.
        count: u8,
        /// `[from, to)` modulo 2^32.
        ranges: [(u32, u32); SACK_RANGES],
    },
}

impl Extension {
    /// Bytes on the wire.
    pub fn bytes(&self) -> u8 {
        match self {
            Extension::None => 0,
            Extension::Sack { count, .. } | Extension::Int { count, .. } => 2 + 8 * count,
            Extension::Padding { count } => 2 + 2 * count,
            Extension::Explicit { fields, count: 0, .. } => fields.bytes(),
            Extension::Explicit { fields, count, .. } => fields.bytes() + 2 + 8 * count,
        }
    }

    /// Explicit feedback without SACK ranges.
    #[inline]
    pub fn explicit(fields: Explicit) -> Extension {
        Extension::Explicit { fields, count: 0, ranges: [(0, 0); SACK_RANGES] }
    }

    /// The SACK ranges it carries, alone or behind something else.
    #[inline]
    pub fn sack_ranges(&self) -> &[(u32, u32)] {
        match self {
            Extension::Sack { count, ranges } | Extension::Explicit { count, ranges, .. } => {
                &ranges[..*count as usize]
            }
            _ => &[],
        }
    }

    /// It with the ranges of `sack` as well, where both have room: explicit feedback has,
    /// telemetry and padding stay as they are.
    #[inline]
    pub fn with_sack(self, sack: &Extension) -> Extension {
        let Extension::Sack { count, ranges } = *sack else { return self };
        match self {
            Extension::None => *sack,
            Extension::Explicit { fields, .. } => Extension::Explicit { fields, count, ranges },
            other => other,
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
            Extension::Explicit { fields, count, ranges } => {
                *fields = fields.rounded();
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
