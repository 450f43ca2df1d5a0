//! Parameters.

use incast_endpoint::rto::accepted;
use incast_endpoint::sender::STAMP_BYTES;
use incast_transport::fault::expected;
use incast_transport::{Bytes, FabricSite, Fault, ParameterSet, Rate, Span};

fn some_bytes(bytes: &Option<Bytes>) -> bool {
    bytes.is_none_or(|bytes| (1..=1_000_000_000).contains(&bytes.0))
}

incast_transport::parameters! {
    /// Parameters of Bolt.
    pub struct Params for "bolt" {
        /// Queue from which on a switch tells sources and spares nothing (CC_THRESH); auto: two full packets.
        threshold: Option<Bytes> = None, "auto, or 1B to 1GB" => some_bytes,
            "authors' simulator: 10 KB at 5000 B, 3 KB at 1500 B; the paper: about one packet";
        /// Most unused capacity of a link that is kept for a later packet (SM); auto: one full packet.
        spare_limit: Option<Bytes> = None, "auto, or 1B to 1GB" => some_bytes,
            "the paper and the authors' runs: one MTU";
        /// Most packets of ending flows that are kept for others (PRU).
        ending_limit: u32 = 256, "0 to 1000000 packets" => |v| *v <= 1_000_000,
            "authors' simulator: 256";
        /// First and largest window, in payload bytes; auto: the packets of a BDP.
        window: Option<Bytes> = None, "auto, or 1B to 1GB" => some_bytes,
            "authors' simulator: a BDP, 62420 B at 100 Gb/s and 13092 B at 10 Gb/s";
        /// Least window, in payload bytes.
        min_window: Bytes = Bytes(15), "1B to 1GB" => |v| (1..=1_000_000_000).contains(&v.0),
            "authors' simulator: 15 B";
        /// Share that a loss takes, and a notice of a window of a packet or less (max_md).
        decrease: f64 = 0.5, "more than 0, below 1" => |v| *v > 0.0 && *v < 1.0,
            "authors' simulator: 0.5";
        /// Queue that notices let stand.
        target_queue: Bytes = Bytes(0), "0B to 1GB" => |v| v.0 <= 1_000_000_000,
            "authors' simulator: 0";
        /// Whether one packet of each round trip raises the window whatever switches say (AI).
        probe: bool = true, "true or false" => |_| true, "authors' simulator: on";
        /// Whether switches send notices back to sources (SRC).
        notices: bool = true, "true or false" => |_| true, "false: an ablation";
        /// Whether windows grow where links have unused capacity (SM).
        spare: bool = true, "true or false" => |_| true, "false: an ablation";
        /// Whether windows grow where flows are about to end (PRU).
        endings: bool = true, "true or false" => |_| true, "false: an ablation";
        /// Least time between two requests to go back for the same byte; at least two base RTTs.
        nack_interval: Span = Span::from_us(100), "more than 0" => |v| *v > Span::ZERO,
            "own choice: the authors' simulator asks with each packet out of order";
        /// Least retransmission timeout; auto: 1 ms, at least eight RTTs.
        rto_min: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            |v| v.as_ref().is_none_or(accepted), "own choice; authors' simulator: 10 ms, at most five";
        /// Most bytes of ACKs and notices queued at a port.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "own choice: as REN's";
    }
}

/// Values of the authors' simulator.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "fabric", source: "windows that fit the fabric", values: &[] },
    ParameterSet {
        name: "authors",
        source: "the simulator of Bolt's authors, packets of 5000 B at 100 Gb/s",
        values: &[
            ("threshold", "10KB"),
            ("spare_limit", "5KB"),
            ("window", "62.42KB"),
            ("rto_min", "10ms"),
        ],
    },
];

impl Params {
    /// Whether bounds are in order.
    pub(super) fn check(&self, fabric: &FabricSite) -> Result<(), Fault> {
        fabric.check_control_limit("control_limit", self.control_limit)?;
        let most = Rule::new(self, fabric.host_rate, fabric).most;
        if self.min_window.0 <= most {
            return Ok(());
        }
        let problem = expected(format!("at most window = {most}B"));
        Err(Fault::value("min_window", self.min_window, problem))
    }
}

/// Effective settings at a host. Windows are in payload bytes.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Payload bytes of a full packet.
    pub payload: u64,
    /// Bytes that links charge for one.
    pub charged: u64,
    /// The host's link.
    pub line: Rate,
    /// Bounds of the window; the first is the largest.
    pub least: u64,
    /// The same.
    pub most: u64,
    /// Share that a loss takes.
    pub decrease: f64,
    /// Queue that notices let stand, in bytes.
    pub target: f64,
    /// Whether a packet of each round trip raises the window.
    pub probe: bool,
    /// The round trip without queues.
    pub base_rtt: Span,
}

impl Rule {
    /// The parameters at a host whose link has the rate `line`.
    pub fn new(params: &Params, line: Rate, fabric: &FabricSite) -> Rule {
        let charged = fabric.framing.charged_mtu() as u64;
        let payload = (fabric.framing.mss() - STAMP_BYTES) as u64;
        let base_rtt = fabric.base_rtt_with(STAMP_BYTES);
        let bdp = || line.bytes_in(base_rtt).0.div_ceil(charged).max(1) * payload;
        Rule {
            payload,
            charged,
            line,
            least: params.min_window.0,
            most: params.window.map_or_else(bdp, |bytes| bytes.0),
            decrease: params.decrease,
            target: params.target_queue.0 as f64,
            probe: params.probe,
            base_rtt,
        }
    }
}
