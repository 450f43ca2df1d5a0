//! Parameters of DCQCN.

use incast_egress::red::Red;
use incast_endpoint::rto::accepted;
use incast_endpoint::sender::Recovery;
use incast_transport::{ByRate, Bytes, ParameterSet, PortSite, Rate, Span};

incast_transport::choice! {
    /// Variant of the rate control.
    pub enum Variant {
        /// The paper's: a cut per CNP, increases by timer and byte counter.
        Paper = "paper",
        /// The simplified one of NICs as in HPCC's simulator: cuts and updates of alpha on timers,
        /// no byte counter.
        Mlx = "mlx",
    }
}

incast_transport::choice! {
    /// How the receiver tells the sender of marks.
    pub enum CnpForm {
        /// A packet of its own.
        Packet = "packet",
        /// A flag of the ACK of the marked packet.
        AckFlag = "ack_flag",
    }
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

fn auto_or_positive(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

fn auto_or_rate(rate: &Option<Rate>) -> bool {
    rate.is_none_or(|rate| rate.0 > 0)
}

incast_transport::parameters! {
    /// Parameters of DCQCN.
    pub struct Params for "dcqcn" {
        /// Variant of the rate control: the paper's, or that of NICs.
        variant: Variant = Variant::Paper, "paper or mlx" => |_| true,
            "DCQCN §3.1; mlx: HPCC's simulator";
        /// Queue up to which nothing is marked (Kmin).
        mark_min: Bytes = Bytes(5_000), "any size" => |_| true, "DCQCN §5.2, CCRP §3.4: 5 KB";
        /// Queue from which everything is marked (Kmax); auto: 200 KB, at most 70 % of the buffer.
        mark_max: Option<Bytes> = None, "auto, or 1B and more" =>
            |v| v.is_none_or(|bytes| bytes.0 > 0),
            "DCQCN §5.2, CCRP §3.4: 200 KB; DCQCN §4: marks come before the buffer is full";
        /// Probability of a mark just below Kmax (Pmax).
        mark_probability: f64 = 0.01, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "DCQCN §5.2: 1 %; CCRP: not stated";
        /// Port rate to which Kmin and Kmax apply, scaled for other rates; auto: the same for all.
        mark_rate: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "HPCC's simulator: 100 KB and 400 KB at 25 Gb/s";
        /// RED profiles (Kmin/Kmax/Pmax) of ports with these rates; others have the values above.
        mark_by_rate: ByRate<Red> = ByRate::NONE,
            "none, or profiles by rate such as 25Gbps=100KB/400KB/0.2" => |_| true,
            "HPCC's simulator: a table by rate";
        /// How notifications travel: as packets of their own, or as flags of ACKs.
        cnp: CnpForm = CnpForm::Packet, "packet or ack_flag" => |_| true,
            "DCQCN §3.1: a packet; HPCC's simulator: a flag";
        /// Least time between two CNPs of a flow (N).
        cnp_interval: Span = Span::from_us(50), "more than 0" => positive, "DCQCN §3.1: 50 us";
        /// Weight g of a CNP in alpha.
        gain: f64 = 0.003_906_25, "0 < gain <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "DCQCN §5.2: 1/256";
        /// Time without a CNP after which alpha falls; auto: 55 us, mlx 1 us.
        alpha_interval: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "DCQCN §3.1: 55 us; HPCC's simulator: 1 us";
        /// Interval at which the rate may be cut; with mlx only.
        cut_interval: Span = Span::from_us(4), "more than 0" => positive,
            "HPCC's simulator: 4 us";
        /// Time between two increases; auto: 55 us, mlx 300 us.
        increase_interval: Option<Span> = None, "auto, or more than 0" => auto_or_positive,
            "DCQCN §5.2: 55 us; HPCC's simulator: 300 us";
        /// Charged bytes between two increases; with paper only.
        byte_counter: Bytes = Bytes(10_000_000), "1B and more" => |v| v.0 > 0,
            "DCQCN §5.2: 10 MB";
        /// Increases of each kind before additive increase (F); auto: 5, mlx 1.
        fast_recovery: Option<u32> = None, "auto, or 0 to 1000" =>
            |v| v.is_none_or(|steps| steps <= 1_000), "DCQCN §3.1: 5; HPCC's simulator: 1";
        /// Additive increase R_AI; auto: 40 Mb/s, mlx 5 Mb/s per 25 Gb/s.
        additive_increase: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "DCQCN §5.2: 40 Mb/s";
        /// Hyper increase R_HAI; auto: ten times the default of R_AI.
        hyper_increase: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "not in DCQCN's table: own choice; HPCC's simulator: 50 Mb/s per 25 Gb/s";
        /// Least rate; auto: 40 Mb/s, mlx 100 Mb/s.
        min_rate: Option<Rate> = None, "auto, or more than 0" => auto_or_rate,
            "own choice; HPCC's simulator: 100 Mb/s";
        /// Whether the data in flight is limited to a BDP, in proportion to the flow's rate.
        window_limit: bool = false, "true or false" => |_| true,
            "the paper: none; HPCC's simulator: DCQCN+win";
        /// How lost packets are sent again; with `sack` a BDP may be in flight at most.
        recovery: Recovery = Recovery::GoBackN, "go-back-n or sack" => |_| true,
            "HPCC's simulator: go-back-n; sack: Mittal et al., IRN, SIGCOMM 2018";
        /// Least time between two NACKs (go-back-n) for the same byte; at least two base RTTs.
        nack_interval: Span = Span::from_us(500), "more than 0" => positive,
            "HPCC's simulator: 500 us";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(1), "more than 0, at most 60s" => accepted, "own choice";
        /// Most bytes of ACKs and CNPs queued at a port.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "own choice: as REN's";
    }
}

/// The published configurations of DCQCN.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet {
        name: "paper",
        source: "DCQCN §3.1, §5.2: R_AI 40 Mb/s, timers of 55 us, a CNP per 50 us; R_HAI is ours",
        values: &[],
    },
    ParameterSet {
        name: "group_40_100",
        source: "public OMNeT++/INET code of the CCRP authors' group, not declared to be what CCRP \
                 ran; CCRP's RED thresholds are kept (the code has a Kmax of 20 KB)",
        values: &[
            ("additive_increase", "40Mbps"),
            ("hyper_increase", "100Mbps"),
            ("alpha_interval", "25us"),
            ("increase_interval", "55us"),
            ("cnp_interval", "55us"),
            ("gain", "0.00390625"),
            ("min_rate", "1bps"),
        ],
    },
    ParameterSet {
        name: "group_200_500",
        source: "another configuration of the same code",
        values: &[
            ("additive_increase", "200Mbps"),
            ("hyper_increase", "500Mbps"),
            ("alpha_interval", "55us"),
            ("increase_interval", "55us"),
            ("cnp_interval", "55us"),
            ("gain", "0.00390625"),
            ("min_rate", "1bps"),
        ],
    },
    ParameterSet {
        name: "steps_5_50",
        source: "own choice: an eighth of the paper's increases, for sensitivity",
        values: &[("additive_increase", "5Mbps"), ("hyper_increase", "50Mbps")],
    },
    ParameterSet {
        name: "hpcc",
        source: "HPCC's simulator, `dcqcn`",
        values: &[
            ("variant", "mlx"),
            ("mark_min", "100KB"),
            ("mark_max", "400KB"),
            ("mark_probability", "0.2"),
            ("mark_rate", "25Gbps"),
            ("cnp", "ack_flag"),
            ("cnp_interval", "1ns"),
        ],
    },
    ParameterSet {
        name: "hpcc_paper",
        source: "HPCC's simulator, `dcqcn_paper`",
        values: &[
            ("variant", "mlx"),
            ("alpha_interval", "50us"),
            ("cut_interval", "50us"),
            ("increase_interval", "55us"),
            ("mark_min", "100KB"),
            ("mark_max", "400KB"),
            ("mark_probability", "0.2"),
            ("mark_rate", "25Gbps"),
            ("cnp", "ack_flag"),
            ("cnp_interval", "1ns"),
        ],
    },
];

/// Kmax unless one is given. DCQCN §5.2, CCRP §3.4: 200 KB.
pub(super) const MARK_MAX: Bytes = Bytes(200_000);

impl Params {
    /// The RED profile of a port.
    pub fn red(&self, site: &PortSite) -> Red {
        if let Some(red) = self.mark_by_rate.at(site.rate) {
            return *red;
        }
        let max = self.mark_max.unwrap_or(MARK_MAX);
        let given = Red { min: self.mark_min, max, probability: self.mark_probability };
        let red = self.mark_rate.map_or(given, |reference| given.scaled(site.rate, reference));
        if self.mark_max.is_some() {
            return red;
        }
        let buffer = site.buffer.bytes(site.fabric.framing.charged_mtu()).0;
        let most = (buffer as u128 * 7 / 10) as u64;
        Red { max: red.max.min(Bytes(most)), ..red }
    }
}

/// Effective settings of a host.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Variant of the rate control.
    pub variant: Variant,
    /// Rate of the host's link. All rates here are in bits per second.
    pub line: f64,
    /// Least rate.
    pub least: f64,
    /// Additive increase.
    pub additive: f64,
    /// Hyper increase.
    pub hyper: f64,
    /// Weight of a CNP.
    pub gain: f64,
    /// Increases before additive increase.
    pub fast_recovery: u32,
    /// Time between updates of alpha.
    pub alpha_interval: Span,
    /// Time between possible cuts.
    pub cut_interval: Span,
    /// Time between increases.
    pub increase_interval: Span,
    /// Charged bytes between increases.
    pub byte_counter: u64,
    /// Payload bytes in flight at line rate; `None` for no limit.
    pub window: Option<u64>,
    /// Payload bytes that may be in flight at any rate.
    pub cap: u64,
}

impl Rule {
    /// The settings of a host with a link of rate `line` and a BDP of `bdp` payload bytes.
    pub fn new(params: &Params, line: Rate, bdp: u64) -> Rule {
        let mlx = params.variant == Variant::Mlx;
        let of = |rate: Option<Rate>, paper: Rate, other: Rate| {
            rate.unwrap_or(if mlx { other } else { paper }).0 as f64
        };
        let mbps = Rate::from_mbps;
        let scaled = |rate: Rate| rate.scale(line.0, Rate::from_gbps(25).0).max(Rate(1));
        let span = |given: Option<Span>, paper, other| {
            given.unwrap_or(Span::from_us(if mlx { other } else { paper }))
        };
        Rule {
            variant: params.variant,
            line: line.0 as f64,
            least: of(params.min_rate, mbps(40), mbps(100)).min(line.0 as f64),
            additive: of(params.additive_increase, mbps(40), scaled(mbps(5))),
            hyper: of(params.hyper_increase, mbps(400), scaled(mbps(50))),
            gain: params.gain,
            fast_recovery: params.fast_recovery.unwrap_or(if mlx { 1 } else { 5 }),
            alpha_interval: span(params.alpha_interval, 55, 1),
            cut_interval: params.cut_interval,
            increase_interval: span(params.increase_interval, 55, 300),
            byte_counter: params.byte_counter.0,
            window: params.window_limit.then_some(bdp),
            cap: if params.recovery == Recovery::Sack { bdp } else { u64::MAX },
        }
    }
}
