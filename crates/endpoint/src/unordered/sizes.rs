//! Sizes that follow from what a link carries in a round trip, in full packets.

use super::EXTENSION;
use incast_transport::fault::{Fault, expected};
use incast_transport::{Bytes, FabricSite, Rate, Span};

/// A link, and the fabric's longest round trip.
#[derive(Clone, Copy)]
pub struct Sizes<'a> {
    /// The fabric.
    pub fabric: &'a FabricSite,
    /// The link's rate.
    pub rate: Rate,
}

impl Sizes<'_> {
    /// Charged bytes of a full packet.
    pub fn packet(&self) -> u64 {
        self.fabric.framing.charged_mtu() as u64
    }

    /// Bytes of the headers of a packet at the network layer.
    pub fn header(&self) -> u16 {
        self.fabric.framing.header + EXTENSION
    }

    /// Payload of a full packet.
    pub fn payload(&self) -> u16 {
        self.fabric.framing.mtu - self.header()
    }

    /// Round trip of a full packet and its ACK on the longest path.
    pub fn base_rtt(&self) -> Span {
        self.fabric.base_rtt_with(EXTENSION)
    }

    /// So many bandwidth-delay products, in full packets, rounded up.
    pub fn bdp_packets(&self, factor: u64) -> u64 {
        let bdp = self.rate.bytes_in(self.base_rtt()).0;
        (factor * bdp).div_ceil(self.packet())
    }

    /// Charged bytes of data that may be at a port of this link, with the packet in transmission: what is given, or so many
    /// bandwidth-delay products.
    pub fn data_queue(&self, given: Option<Bytes>, factor: u64) -> u64 {
        given.map_or(self.bdp_packets(factor).max(2) * self.packet(), |given| given.0)
    }

    /// Refuses a data queue that does not hold two packets.
    ///
    /// # Errors
    /// With key, value and the least.
    pub fn check_data_queue(&self, given: Option<Bytes>) -> Result<(), Fault> {
        at_least("data_queue", given, 2 * self.packet(), "two full packets")
    }

    /// When a packet is taken for lost: what is given, or `base` and six times what this link needs for a queue.
    pub fn timeout(&self, given: Option<Span>, base: Span, queue: u64) -> Span {
        given.unwrap_or(base + self.rate.tx_time(Bytes(queue)) * 6)
    }

    /// A share of the rate.
    pub fn pace(&self, share: f64) -> Rate {
        Rate((self.rate.0 as f64 * share) as u64)
    }
}

/// Refuses a value of `key` below `least` bytes, which are `what`.
///
/// # Errors
/// With key, value and the least.
pub fn at_least(key: &str, given: Option<Bytes>, least: u64, what: &str) -> Result<(), Fault> {
    given.filter(|given| given.0 < least).map_or(Ok(()), |given| {
        let problem = expected(format!("{} and more, {what}", Bytes(least)));
        Err(Fault::value(key, given, problem))
    })
}
