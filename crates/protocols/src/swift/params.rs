//! Parameters.

use incast_endpoint::rto::accepted;
use incast_endpoint::sender::STAMP_BYTES;
use incast_endpoint::unordered::{Delivery, Spray, Strategy};
use incast_transport::fault::expected;
use incast_transport::{Bytes, FabricSite, Fault, Notice, ParameterSet, Rate, Span};

incast_transport::warnings! {
    /// Kinds of warnings about targets of delay.
    pub static WARNINGS;
    SWIFT_TARGET_BELOW_RTT = "swift_target_below_rtt" {
        says: "swift.base_target: {base} with its part per hop, but the longest path takes {rtt} without \
               any queue, so windows of its flows shrink until their target has grown above that",
        means: "Swift compares the whole round trip, with what links need for packet and ACK, with its \
                target. Below the unloaded round trip every ACK is an order to slow down: the longer the \
                path, the smaller the share.",
        remedy: "`swift.base_target = \"auto\"`, or more than the unloaded round trip.",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn auto_or_positive(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

fn packets(v: &f64) -> bool {
    (0.001..=1e6).contains(v)
}

incast_transport::parameters! {
    /// Parameters of Swift.
    pub struct Params for "swift" {
        /// Target delay of a flow with a large window; auto: 1.25 base RTTs and 2 us.
        base_target: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "Swift §3.5; auto is our own; htsim: 20 us, Bolt's simulator: 25 us";
        /// What each link of the longest path adds to it; auto: 0 with `base_target = auto`, else 1 us.
        hop_target: Option<Span> = None, "auto, or 0 and more" => |_| true,
            "Swift §3.5; SIRD's and Bolt's simulators: 1 us, htsim: 3.05 us";
        /// What a small window adds to it at most (fs_range); auto: five times `base_target`.
        flow_range: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "Swift §3.5; htsim, SIRD's simulator: five times the base";
        /// Window that adds all of it, in packets (fs_min_cwnd).
        flow_min: f64 = 0.1, "0.001 to 1000000" => packets, "Swift §3.5; htsim: 0.1";
        /// Window from which on nothing is added, in packets (fs_max_cwnd).
        flow_max: f64 = 100.0, "0.001 to 1000000" => packets,
            "Swift §3.5; htsim: 100, Bolt's simulator: 256";
        /// Packets that a window grows by per RTT (ai).
        increase: f64 = 1.0, "more than 0, at most 1000" => |v| *v > 0.0 && *v <= 1_000.0,
            "Swift Algorithm 1; htsim: 1";
        /// Factor of a decrease (beta).
        decrease: f64 = 0.8, "more than 0, at most 1" => |v| *v > 0.0 && *v <= 1.0,
            "Swift Algorithm 1; htsim: 0.8";
        /// Largest share that a decrease takes (max_mdf).
        max_decrease: f64 = 0.5, "more than 0, below 1" => |v| *v > 0.0 && *v < 1.0,
            "Swift Algorithm 1; htsim: 0.5";
        /// Least window, in packets.
        min_window: f64 = 0.001, "0.001 to 1000000" => packets,
            "SIRD's simulator: 0.001; htsim: 10 B";
        /// Largest window, in packets.
        max_window: f64 = 256.0, "0.001 to 1000000" => packets,
            "Bolt's simulator: 256; htsim: 1000";
        /// First window, in packets; auto: a BDP.
        initial_window: Option<f64> = None, "auto, or 0.001 to 1000000" =>
            |v| v.as_ref().is_none_or(packets),
            "SIRD's and Bolt's simulators: a BDP; htsim: 12";
        /// Timeouts in a row after which the window is the least one.
        timeouts_to_min: u32 = 5, "1 to 1000" => |v| (1..=1_000).contains(v),
            "htsim: 5; SIRD's simulator: 12";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_us(100), "more than 0, at most 60s" => accepted,
            "htsim: 100 us";
        /// Retransmission timeout before the first sample.
        rto_initial: Span = Span::from_ms(1), "more than 0, at most 60s" => accepted,
            "htsim: 1 ms";
        /// In which order receivers take packets; unordered: each packet may take its own path, and gaps are no losses by themselves.
        reliability: Delivery = Delivery::Ordered, "ordered or unordered" => |_| true,
            "Swift is a stack of flows in order; htsim sprays, too";
        /// With `reliability = unordered`: how a source chooses the path number of each packet.
        path_choice: Strategy = Strategy::Oblivious, "oblivious, bitmap, reps or mixed" => |_| true,
            "own choice; UEC's simulator: mixed";
        /// With `reliability = unordered`: path numbers of a flow.
        entropies: u32 = 64, "a power of two, 1 to 32768"
            => |v| v.is_power_of_two() && *v <= 1 << 15,
            "UEC's simulator: 64";
    }
}

/// Values of public simulators.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet {
        name: "fabric",
        source: "targets and first window that fit the fabric",
        values: &[],
    },
    ParameterSet {
        name: "htsim",
        source: "htsim (csg-htsim), which calls them guesses",
        values: &[
            ("base_target", "20us"),
            ("hop_target", "3.05us"),
            ("flow_range", "100us"),
            ("min_window", "0.007"),
            ("max_window", "1000"),
            ("initial_window", "12"),
        ],
    },
    ParameterSet {
        name: "sird",
        source: "the runs of SIRD's authors, 100 Gb/s",
        values: &[
            ("base_target", "15us"),
            ("hop_target", "1us"),
            ("flow_range", "75us"),
            ("max_window", "666667"),
            ("timeouts_to_min", "12"),
            ("rto_min", "200us"),
        ],
    },
    ParameterSet {
        name: "bolt",
        source: "the simulator of Bolt's authors",
        values: &[
            ("base_target", "25us"),
            ("hop_target", "1us"),
            ("flow_range", "100us"),
            ("flow_max", "256"),
            ("min_window", "0.01"),
        ],
    },
];

impl Params {
    /// How packets are spread, if they may come in any order.
    pub fn spray(&self) -> Option<Spray> {
        self.reliability.spray(self.path_choice, self.entropies)
    }

    /// The target of a flow that needs nothing for its window.
    pub fn base(&self, fabric: &FabricSite) -> Span {
        let auto = self.base_target.is_none();
        let hop = self.hop_target.unwrap_or(if auto { Span::ZERO } else { Span::from_us(1) });
        self.own_base(fabric) + hop * fabric.hops as u64
    }

    fn own_base(&self, fabric: &FabricSite) -> Span {
        let rtt = fabric.base_rtt_with(STAMP_BYTES);
        self.base_target.unwrap_or(rtt + rtt / 4 + Span::from_us(2))
    }

    /// Whether bounds are in order.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let order = |least: (&str, f64), most: (&str, f64), equal: bool| {
            if least.1 < most.1 || equal && least.1 == most.1 {
                return Ok(());
            }
            let but = if equal { "at most" } else { "less than" };
            let problem = expected(format!("{but} {} = {}", most.0, most.1));
            Err(Fault::value(least.0, least.1, problem))
        };
        order(("flow_min", self.flow_min), ("flow_max", self.flow_max), false)?;
        order(("min_window", self.min_window), ("max_window", self.max_window), true)
    }

    /// Targets that no flow of the longest path can meet.
    pub(super) fn warnings(&self, fabric: &FabricSite) -> Vec<Notice> {
        let (base, rtt) = (self.base(fabric), fabric.base_rtt_with(STAMP_BYTES));
        if base >= rtt {
            return vec![];
        }
        vec![SWIFT_TARGET_BELOW_RTT.notice(&[("base", &base), ("rtt", &rtt)])]
    }
}

/// Effective settings at a host. Times are in picoseconds, windows in packets.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Payload bytes of a full packet.
    pub payload: u16,
    /// Bits that links charge for one.
    pub charged: f64,
    /// Target of a window of `flow_max` and more.
    pub base: f64,
    /// What small windows add at most (fs_range).
    pub range: f64,
    /// Of the added target over one by the root of the window (fs alpha and beta).
    pub slope: f64,
    /// The same.
    pub offset: f64,
    /// Growth per RTT.
    pub increase: f64,
    /// Factor of a decrease.
    pub decrease: f64,
    /// Largest decrease.
    pub max_decrease: f64,
    /// Bounds of the window.
    pub least: f64,
    /// The same.
    pub most: f64,
    /// First window.
    pub first: f64,
    /// Timeouts in a row after which the window is the least one.
    pub timeouts: u32,
}

impl Rule {
    /// The parameters at a host whose link has the rate `line`.
    pub fn new(params: &Params, line: Rate, fabric: &FabricSite) -> Rule {
        let root = |packets: f64| 1.0 / packets.sqrt();
        let base = params.base(fabric).0 as f64;
        let auto_range = || params.own_base(fabric) * 5;
        let range = params.flow_range.unwrap_or_else(auto_range).0 as f64;
        // Swift §3.5: alpha and beta of the flow's share.
        let slope = range / (root(params.flow_min) - root(params.flow_max));
        let charged = fabric.framing.charged_mtu() as u64;
        let bdp = line.bytes_in(fabric.base_rtt_with(STAMP_BYTES)).0.div_ceil(charged) as f64;
        let first = params.initial_window.unwrap_or(bdp);
        Rule {
            payload: fabric.framing.mss() - STAMP_BYTES,
            charged: (Bytes(charged).0 * 8) as f64,
            base,
            range,
            slope,
            offset: -slope * root(params.flow_max),
            increase: params.increase,
            decrease: params.decrease,
            max_decrease: params.max_decrease,
            least: params.min_window,
            most: params.max_window,
            first: first.clamp(params.min_window, params.max_window),
            timeouts: params.timeouts_to_min,
        }
    }

    /// Target delay of a window of so many packets.
    #[inline]
    pub fn target(&self, window: f64) -> f64 {
        let flow = self.slope / window.max(0.001).sqrt() + self.offset;
        self.base + flow.clamp(0.0, self.range)
    }
}
