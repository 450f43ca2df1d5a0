//! The position of a host, port or switch in the fabric, and the facts it may use.

use crate::timers::{Acks, Timers};
use crate::{Host, Limit, Routing};
use incast_units::fault::{Fault, expected};
use incast_units::{Bytes, Rate, Span};
use incast_wire::{Framing, HostId};
use std::sync::Arc;

/// Quantiles of the flow sizes of the run. Homa computes its priority cutoffs from them.
#[derive(Clone, Debug)]
pub struct SizeQuantiles {
    /// `(size in bytes, cumulative probability)`, increasing, last probability 1.
    pub points: Vec<(f64, f64)>,
}

/// When a source moves a flow to another path ([`Routing::Plb`]): after `rounds` windows of data in a
/// row, and up to `spread` more at random, in each of which at least the share `share` of ACKs told of
/// congestion.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlbRule {
    /// Rounds in a row.
    pub rounds: u32,
    /// So many more at most.
    pub spread: u32,
    /// Share of ACKs that makes a round one of congestion.
    pub share: f64,
}

/// What a scenario sets of [`PlbRule`], for all transports.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlbSettings {
    /// Rounds in a row, exactly.
    pub rounds: Option<u32>,
    /// Share of ACKs.
    pub share: Option<f64>,
}

/// Facts about the fabric, known before hosts and ports are built.
#[derive(Clone, Debug)]
pub struct FabricSite {
    /// Number of hosts.
    pub hosts: u32,
    /// The bytes that links charge per packet.
    pub framing: Framing,
    /// Unloaded RTT of an MTU packet and its header-only ACK over the longest path.
    pub base_rtt: Span,
    /// How much longer that takes than two packets without payload.
    pub data_delay: Span,
    /// The largest link rate.
    pub max_rate: Rate,
    /// The different link rates, increasing.
    pub rates: Arc<[Rate]>,
    /// The smallest host link rate.
    pub host_rate: Rate,
    /// Buffer of a switch port for data.
    pub buffer: Limit,
    /// Largest number of links on a shortest path between hosts.
    pub hops: u32,
    /// Largest number of equal-cost paths from a host of the first rack to another host: the range
    /// of path numbers for sources that choose paths.
    pub paths: u32,
    /// How much faster hosts of any rack may send than the links above them carry, at least 1: 4 for "4:1".
    pub oversubscription: f64,
    /// Flow sizes of the run, if they come from a table.
    pub sizes: Option<Arc<SizeQuantiles>>,
    /// The class of the ACKs of sender-driven transports; `None`: each transport's own.
    pub acks: Option<Acks>,
    /// How exact timers are.
    pub timers: Timers,
    /// When flows change their paths.
    pub plb: PlbSettings,
}

/// The position of a host.
#[derive(Clone, Debug)]
pub struct HostSite {
    /// Which host.
    pub host: HostId,
    /// Its link's rate.
    pub rate: Rate,
    /// `ceil(rate x base_rtt / charged MTU)`, at least 1: packets that fill the RTT.
    pub bdp_packets: u32,
    /// Load balancing of the transport's packets.
    pub routing: Routing,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

/// The position of a port.
#[derive(Clone, Debug)]
pub struct PortSite {
    /// Number of the port in the fabric.
    pub port: u32,
    /// Its link's rate.
    pub rate: Rate,
    /// Whether the port is a host's NIC.
    pub nic: bool,
    /// Distance from the hosts: 0 for a NIC, 1 edge switch, 2 aggregation, 3 core.
    pub tier: u8,
    /// Whether the link leads away from the hosts.
    pub upward: bool,
    /// Buffer for data.
    pub buffer: Limit,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

/// The position of a switch.
#[derive(Clone, Debug)]
pub struct SwitchSite {
    /// Which node of the fabric.
    pub node: u32,
    /// Number of its ports.
    pub ports: u32,
    /// The fabric.
    pub fabric: Arc<FabricSite>,
}

impl HostSite {
    /// When sources here move flows, if they do, for a transport whose own rule is `own`.
    pub fn plb(&self, own: PlbRule) -> Option<PlbRule> {
        let PlbSettings { rounds, share } = self.fabric.plb;
        let spread = if rounds.is_some() { 0 } else { own.spread };
        let rounds = rounds.unwrap_or(own.rounds);
        let rule = PlbRule { rounds, spread, share: share.unwrap_or(own.share) };
        (self.routing == Routing::Plb).then_some(rule)
    }

    /// Sets what all transports of a run share, before a host's first flow.
    pub fn set_up(&self, host: &mut dyn Host) {
        if let Some(acks) = self.fabric.acks {
            host.set_acks(acks);
        }
        if self.fabric.timers != Timers::default() {
            host.set_timers(self.fabric.timers.of_host(self.host));
        }
    }
}

impl FabricSite {
    /// Refuses `limit`, the value of `key`, for a queue that a full packet does not fit.
    ///
    /// # Errors
    /// The limit is below the charged bytes of a full packet.
    pub fn check_data_limit(&self, key: &str, limit: Bytes) -> Result<(), Fault> {
        let least = Bytes(self.framing.charged_mtu() as u64);
        let problem = || expected(format!("{least} and more, a full packet as links charge it"));
        (limit >= least).then_some(()).ok_or_else(|| Fault::value(key, limit, problem()))
    }

    /// Refuses `limit`, the value of `key`, for a queue that a control packet does not fit.
    ///
    /// # Errors
    /// The limit is below the charged bytes of a packet without payload.
    pub fn check_control_limit(&self, key: &str, limit: Bytes) -> Result<(), Fault> {
        let least = Bytes(self.framing.charged_header() as u64);
        let problem = || expected(format!("{least} and more, a control packet as links charge it"));
        (limit >= least).then_some(()).ok_or_else(|| Fault::value(key, limit, problem()))
    }

    /// The base RTT of packets whose ACKs carry `extension` bytes.
    pub fn base_rtt_with(&self, extension: u16) -> Span {
        let framing = &self.framing;
        let longer = framing.charged_packet(0, extension as u8) - framing.charged_header();
        self.base_rtt + self.host_rate.tx_time(Bytes(longer as u64)) * self.hops as u64
    }

    /// Transmission time of a full packet on a link of `rate`.
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
