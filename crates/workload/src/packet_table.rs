//! Packet-size distributions, and the segmentation of flows into packets.

use crate::error::in_file;
use crate::random::Stream;
use crate::size_table::SizeTable;
use incast_units::Fault;

/// IPv4 and transport header of a data packet, in bytes: the 40 B of the papers and of traces.
pub const HEADER_BYTES: u64 = 40;

/// Packets of at most this many bytes are pure ACKs of the trace; transports generate their own.
pub const ACK_LIMIT: u64 = 60;

/// Longest IP packet a table may hold, in bytes.
const MAX_LENGTH: f64 = 65_535.0;

/// A distribution of IP packet lengths. Data packets follow the distribution above [`ACK_LIMIT`];
/// 40 B of each are headers.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketTable {
    lengths: SizeTable,
    acks: f64,
}

impl PacketTable {
    /// Creates a packet table from a table of IP packet lengths in bytes.
    ///
    /// # Errors
    /// Rejects a table with lengths above 65,535 B, or with none above [`ACK_LIMIT`].
    pub fn new(lengths: SizeTable) -> Result<PacketTable, Fault> {
        let longest = lengths.quantile(1.0);
        // A largest length of exactly 60.5 B rounds to 61 B, but no sample exceeds the limit.
        let acks = lengths.below(ACK_LIMIT as f64 + 0.5);
        if acks >= 1.0 || lengths.range().1 > MAX_LENGTH {
            let accepted = format!("a longest packet of {} to {MAX_LENGTH} B", ACK_LIMIT + 1);
            return Err(in_file(lengths.name(), "size", longest, accepted));
        }
        Ok(PacketTable { lengths, acks })
    }

    /// Reads a table of IP packet lengths in any dialect of [`SizeTable::parse`].
    ///
    /// # Errors
    /// Those of [`SizeTable::parse`] and [`PacketTable::new`].
    pub fn parse(text: &str, source_name: &str) -> Result<PacketTable, Fault> {
        PacketTable::new(SizeTable::parse(text, source_name)?)
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        self.lengths.name()
    }

    /// The distribution of all IP packet lengths, ACKs included.
    pub fn lengths(&self) -> &SizeTable {
        &self.lengths
    }

    /// The payload in bytes of a data packet at `u` in (0, 1], at least 21 B. Sampling the part of
    /// the table above the ACKs is equivalent to rejecting ACK lengths.
    pub fn payload(&self, u: f64) -> u32 {
        // The bounds guard against rounding beyond 1 or into the ACKs.
        let length = self.lengths.sample((self.acks + u * (1.0 - self.acks)).min(1.0));
        (length.max(ACK_LIMIT + 1) - HEADER_BYTES) as u32
    }

    /// The largest payload in bytes that a packet can carry.
    pub fn largest_payload(&self) -> u32 {
        self.payload(1.0)
    }

    /// The probability of each payload: `(bytes, probability)`, ascending, zeros left out. Exact
    /// for lengths rounded to whole bytes.
    pub(crate) fn payloads(&self) -> Vec<(u32, f64)> {
        let share = |n: u64| {
            let upper = self.lengths.below(n as f64 + 0.5);
            (upper - self.lengths.below(n as f64 - 0.5)) / (1.0 - self.acks)
        };
        (ACK_LIMIT + 1..=u64::from(self.largest_payload()) + HEADER_BYTES)
            .map(|n| ((n - HEADER_BYTES) as u32, share(n)))
            .filter(|(_, share)| *share > 0.0)
            .collect()
    }

    /// The mean IP length in bytes of data packets, excluding partial last packets.
    pub fn mean_packet(&self) -> f64 {
        self.mean_payload() + HEADER_BYTES as f64
    }

    /// The mean payload in bytes of data packets, excluding partial last packets.
    pub fn mean_payload(&self) -> f64 {
        self.payloads().iter().map(|(payload, share)| f64::from(*payload) * share).sum()
    }
}

/// The payload of each packet of a flow of `size` bytes, drawn from `table` by `key`; the last one
/// carries the rest. Equal keys give equal packets.
pub fn segment(size: u64, table: &PacketTable, key: u64) -> Vec<u32> {
    let mut stream = Stream::new(key);
    let mut payloads = Vec::with_capacity((size / 256) as usize + 1);
    let mut left = size;
    while left > 0 {
        let payload = u64::from(table.payload(stream.unit())).min(left);
        payloads.push(payload as u32);
        left -= payload;
    }
    payloads
}

/// The payload of each packet of a flow of `size` bytes with `mss` bytes per packet; the last one
/// carries the rest. Panics if `mss` is 0.
pub fn uniform(size: u64, mss: u32) -> Vec<u32> {
    assert!(mss > 0, "packets without payload");
    let full = size / u64::from(mss);
    let rest = (size % u64::from(mss)) as u32;
    let mut payloads = vec![mss; full as usize];
    payloads.extend((rest > 0).then_some(rest));
    payloads
}
