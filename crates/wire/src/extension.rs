//! Header extensions of packets. Links charge their bytes; they are stored apart from the packet.

/// Largest number of SACK ranges in an ACK.
pub const SACK_RANGES: usize = 3;
/// Largest number of pairs of padding bytes in a packet.
pub const PADDING_PAIRS: u8 = 15;
/// Bytes of [`Extension::Arrivals`].
pub const ARRIVALS_BYTES: u8 = 24;
/// Largest number of telemetry records in a packet.
pub const INT_HOPS: usize = 8;

/// The telemetry of one hop, eight bytes on the wire (HPCC's layout). Remainders below the wire's
/// units are kept in memory only, to measure the effect of rounding; decoded records have none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntRecord {
    /// Index of the port's rate in the list of known rates plus 1, 4 bits; 0 for an unwritten
    /// record.
    pub rate_code: u8,
    /// Nanoseconds, 24 bits.
    pub timestamp: u32,
    /// Bytes sent in units of 128, 20 bits.
    pub sent: u32,
    /// Bytes queued in units of 80, 16 bits.
    pub queued: u16,
    /// Remainder of the bytes sent; not on the wire.
    pub sent_rest: u16,
    /// Remainder of the bytes queued; not on the wire.
    pub queued_rest: u16,
}

impl IntRecord {
    /// The record as decoded: values truncated to their fields' widths.
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

/// Explicit feedback of switches (XCP, RCP, MLCP) or a timestamp (TIMELY). The first byte on the
/// wire encodes the variant and whether SACK ranges follow; the sizes below include it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Explicit {
    /// Window feedback (XCP): 16 or 20 bytes.
    Window {
        /// Whether a fifth word of zeros follows, for the draft's version and lengths.
        long: bool,
        /// The sender's RTT in units of 64 ns, 24 bits; 0 if unknown.
        rtt: u32,
        /// Interval between the sender's packets, in units of 64 ps.
        spacing: u32,
        /// Rate change that switches allow, in units of 16 B/s.
        feedback: i32,
        /// The feedback that reached the receiver, echoed to the sender.
        reverse: i32,
    },
    /// Rate feedback (RCP): 12 bytes.
    Rate {
        /// The sender's RTT in units of 64 ns, 24 bits; 0 if unknown.
        rtt: u32,
        /// The requested rate, which switches lower, in units of 64 B/s.
        forward: u32,
        /// The rate that reached the receiver, echoed to the sender.
        reverse: u32,
    },
    /// RTT class (MLCP): 1 byte.
    Class {
        /// Class of the sender's RTT, 0 to 7.
        class: u8,
    },
    /// Send timestamp (TIMELY): 8 bytes.
    Stamp {
        /// When the packet, or the burst it belongs to, was sent: picoseconds, 56 bits (20 hours).
        sent: u64,
    },
}

impl Explicit {
    /// Largest timestamp; later ones wrap to 0.
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

    /// The feedback as decoded: values truncated to their fields' widths.
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

/// A header extension. The first four bits on the wire encode the variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extension {
    /// No extension.
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
    /// Explicit feedback, followed by [`Sack`](Extension::Sack) if there are ranges.
    Explicit {
        /// The feedback.
        fields: Explicit,
        /// Ranges in use.
        count: u8,
        /// `[from, to)` modulo 2^32.
        ranges: [(u32, u32); SACK_RANGES],
    },
    /// What has arrived of packets that may come in any order, [`ARRIVALS_BYTES`] bytes.
    Arrivals {
        /// The packet of the lowest bit.
        base: u32,
        /// One bit per packet from `base` on, the lowest first: whether it has arrived.
        bits: u64,
        /// Bytes that have arrived of the flow, headers included and each packet once, 48 bits.
        received: u64,
        /// Packets that have arrived beyond the lowest missing one; 65,535 also stands for more.
        beyond: u16,
    },
}

impl Extension {
    /// Bytes on the wire.
    pub fn bytes(&self) -> u8 {
        match self {
            Extension::None => 0,
            Extension::Sack { count, .. } | Extension::Int { count, .. } => 2 + 8 * count,
            Extension::Padding { count } => 2 + 2 * count,
            Extension::Arrivals { .. } => ARRIVALS_BYTES,
            Extension::Explicit { fields, count: 0, .. } => fields.bytes(),
            Extension::Explicit { fields, count, .. } => fields.bytes() + 2 + 8 * count,
        }
    }

    /// Explicit feedback without SACK ranges.
    #[inline]
    pub fn explicit(fields: Explicit) -> Extension {
        Extension::Explicit { fields, count: 0, ranges: [(0, 0); SACK_RANGES] }
    }

    /// The SACK ranges, alone or after explicit feedback.
    #[inline]
    pub fn sack_ranges(&self) -> &[(u32, u32)] {
        match self {
            Extension::Sack { count, ranges } | Extension::Explicit { count, ranges, .. } => {
                &ranges[..*count as usize]
            }
            _ => &[],
        }
    }

    /// Adds the ranges of `sack` to an empty extension or to explicit feedback. Others are
    /// unchanged.
    #[inline]
    pub fn with_sack(self, sack: &Extension) -> Extension {
        let Extension::Sack { count, ranges } = *sack else { return self };
        match self {
            Extension::None => *sack,
            Extension::Explicit { fields, .. } => Extension::Explicit { fields, count, ranges },
            other => other,
        }
    }

    /// The extension as decoded: values truncated to their fields' widths, unused entries zero.
    pub fn rounded(mut self) -> Extension {
        match &mut self {
            Extension::None | Extension::Padding { .. } => {}
            Extension::Arrivals { received, .. } => *received &= (1 << 48) - 1,
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
