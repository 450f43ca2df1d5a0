//! Where a host, port or switch stands: what it may know about the fabric.

use crate::Limit;
use incast_units::{Bytes, Rate, Span};
use incast_wire::{Framing, HostId};
use std::sync::Arc;

/// Quantiles of the flow sizes of the run, where known (Homa's cut-offs are computed from it).
#[derive(Clone, Debug)]
pub struct SizeQuantiles {
    /// `(size in bytes, cumulative probability)`, increasing, last probability 1.
    pub points: Vec<(f64, f64)>,
}

/// What the whole fabric has in common; known before any host or port is made.
#[derive(Clone, Debug)]
pub struct FabricSite {
    /// Number of hosts.
    pub hosts: u32,
    /// What links charge a packet.
    pub framing: Framing,
    /// Unloaded RTT of an MTU packet and its header-only answer over the longest path.
    pub base_rtt: Span,
    /// The largest link rate.
    pub max_rate: Rate,
    /// The different link rates, increasing.
    pub rates: Arc<[Rate]>,
    /// The smallest host link rate.
    pub host_rate: Rate,
    /// Buffer of a switch port for data.
    pub buffer: Limit,
    /// Most hops (links) on a shortest path between hosts.
    pub hops: u32,
    /// Most equal-cost paths between two hosts, from the first rack: as many numbers has a source
    /// that chooses paths.
    pub paths: u32,
    /// Flow sizes of the run, if they come from a table.
    pub sizes: Option<Arc<SizeQuantiles>>,
}

/// A host's place.
#[derive(Clone, Debug)]
pub struct HostSite {
    /// Which host.
    pub host: HostId,
    /// Its link's rate.
    pub rate: Rate,
    /// `ceil(rate x base_rtt / charged MTU)`, at least 1: packets that fill the RTT.
    pub bdp_packets: u32,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

/// A port's place.
#[derive(Clone, Debug)]
pub struct PortSite {
    /// Which port, numbered over the whole fabric.
    pub port: u32,
    /// Its link's rate.
    pub rate: Rate,
    /// Whether the port is a host's NIC.
    pub nic: bool,
    /// Hops from the hosts: 0 a NIC, 1 an edge switch's port, 2 aggregation, 3 core.
    pub tier: u8,
    /// Whether the link leads away from the hosts.
    pub upward: bool,
    /// Buffer for data.
    pub buffer: Limit,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

/// A switch's place.
#[derive(Clone, Debug)]
pub struct SwitchSite {
    /// Which node of the fabric.
    pub node: u32,
    /// Number of its ports.
    pub ports: u32,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

impl FabricSite {
    /// How long a full packet occupies a link of `rate`.
    pub fn mtu_time(&self, rate: Rate) -> Span {
        rate.tx_time(Bytes(self.framing.charged_mtu() as u64))
    }

    /// `ceil(rate x base_rtt / charged MTU)`, at least 1.
    pub fn bdp_packets(&self, rate: Rate) -> u32 {
        let bits = rate.0 as u128 * self.base_rtt.0 as u128;
        let packet = self.framing.charged_mtu() as u128 * 8_000_000_000_000;
        bits.div_ceil(packet).max(1) as u32
    }
}
