//! How much may wait in a queue.

use incast_units::Bytes;

/// A queue limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many charged bytes.
    Bytes(u64),
    /// No limit at the port.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `charged` bytes fits a queue of `packets` packets and `bytes` bytes.
    #[inline]
    pub fn admits(self, packets: u32, bytes: u64, charged: u32) -> bool {
        match self {
            Limit::Packets(most) => packets < most,
            Limit::Bytes(most) => bytes + charged as u64 <= most,
            Limit::Unlimited => true,
        }
    }

    /// The limit in bytes, at `charged` bytes per packet.
    pub fn bytes(self, charged: u32) -> Bytes {
        match self {
            Limit::Packets(most) => Bytes(most as u64 * charged as u64),
            Limit::Bytes(most) => Bytes(most),
            Limit::Unlimited => Bytes(u64::MAX),
        }
    }
}
