//! Parameters of pFabric.

use incast_endpoint::rto::accepted_or_auto;
use incast_transport::fault::expected;
use incast_transport::{Bytes, FabricSite, Fault, HostSite, ParameterSet, Span, parameters};

use super::window::Law;

/// Least buffer that `auto` gives: YAPS has 24 packets at 40 and at 100 Gb/s.
const LEAST_PACKETS: u64 = 24;

fn packets(v: &Option<u32>) -> bool {
    v.is_none_or(|v| (1..=1_000_000).contains(&v))
}

parameters! {
    /// Parameters of pFabric.
    pub struct Params for "pfabric" {
        /// Buffer of a port, ACKs included; auto: 2 BDP of a host's link, at least 24 full packets.
        buffer: Option<Bytes> = None, "a full packet to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "the paper's rule: 2 BDP; YAPS: 24 packets of 1536 B; SIRD's simulator: 54 packets";
        /// First window, in packets; auto: a BDP.
        initial_window: Option<u32> = None, "1 to 1000000 packets, or auto" => packets,
            "a BDP; YAPS: 12 at 40 Gb/s; dcPIM's simulator: 19 at 100 Gb/s";
        /// Largest window, in packets; auto: 1.25 BDP.
        max_window: Option<u32> = None, "1 to 1000000 packets, or auto" => packets,
            "YAPS: 15 for a first window of 12; dcPIM's simulator: 22 for 19";
        /// Retransmission timeout, which does not grow; auto: 3 base RTT.
        rto: Option<Span> = None, "auto, or more than 0, at most 60s" => accepted_or_auto,
            "YAPS: 45 us; dcPIM's simulator: 15.4 us; SIRD's: 24 us";
        /// Timeouts in a row after which a flow sends only probes, without payload, until an ACK comes; 0: never.
        probe_after: u32 = 5, "0 to 1000000 timeouts" => |v| *v <= 1_000_000,
            "the paper; no public simulator has probes";
    }
}

/// Values of public simulators.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet {
        name: "fabric",
        source: "windows, buffer and timeout that fit the fabric",
        values: &[],
    },
    ParameterSet {
        name: "yaps",
        source: "YAPS (NetSys/simulator), 40 Gb/s",
        values: &[
            ("buffer", "36KiB"),
            ("initial_window", "12"),
            ("max_window", "15"),
            ("rto", "45us"),
            ("probe_after", "0"),
        ],
    },
    ParameterSet {
        name: "dcpim",
        source: "the runs of dcPIM's authors, 100 Gb/s",
        values: &[
            ("buffer", "36KiB"),
            ("initial_window", "19"),
            ("max_window", "22"),
            ("rto", "15.4us"),
            ("probe_after", "0"),
        ],
    },
];

impl Params {
    /// Refuses values that do not fit together or the fabric.
    ///
    /// # Errors
    /// A buffer that holds no packet, or a first window above the largest.
    pub fn check(&self, fabric: &FabricSite) -> Result<(), Fault> {
        if let Some(limit) = self.buffer {
            fabric.check_data_limit("buffer", limit)?;
        }
        match (self.initial_window, self.max_window) {
            (Some(first), Some(most)) if first > most => {
                let problem = expected(format!("at most max_window, {most}"));
                Err(Fault::value("initial_window", first, problem))
            }
            _ => Ok(()),
        }
    }

    /// Bounds of windows at a host.
    pub fn law(&self, site: &HostSite) -> Law {
        let bdp = site.bdp_packets;
        let first = self.initial_window.unwrap_or(bdp.min(self.max_window.unwrap_or(bdp)));
        let most = self.max_window.unwrap_or((bdp * 5).div_ceil(4).max(first));
        Law { first, most }
    }

    /// Charged bytes that wait at a port at most.
    pub fn limit(&self, fabric: &FabricSite) -> Bytes {
        let packets = (2 * fabric.bdp_packets(fabric.host_rate) as u64).max(LEAST_PACKETS);
        self.buffer.unwrap_or(Bytes(packets * fabric.framing.charged_mtu() as u64))
    }

    /// The retransmission timeout.
    pub fn timeout(&self, fabric: &FabricSite) -> Span {
        self.rto.unwrap_or(fabric.base_rtt * 3)
    }
}
