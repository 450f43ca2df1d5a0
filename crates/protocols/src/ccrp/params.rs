//! Parameters of CCRP.

use incast_egress::red::Red;
use incast_transport::{ByRate, Bytes, ParameterSet, Rate, Span, choice, parameters};

choice! {
    /// Meaning of "ECN-based feedback control of DCQCN" in Algorithm 1.
    pub enum Recovery {
        /// DCQCN's rate increase, from the first cut on.
        Recovery = "recovery",
        /// The same, but only after several RTTs without a mark (CCRP §3.2 to the letter).
        StrictText = "strict_text",
        /// One increase per RTT where lines 8 to 10 stand: in the branch of line 5, while the last RTTs had
        /// no mark. Only with `ratio_test = at_least` does such an RTT reach them.
        Listing = "listing",
        /// No recovery.
        Off = "off",
    }
}

choice! {
    /// When the share of marked packets cuts the rate.
    pub enum RatioTest {
        /// When it is above the target.
        Above = "above",
        /// When it is at least the target, as Algorithm 1 has it.
        AtLeast = "at_least",
    }
}

fn share(v: &f64) -> bool {
    (0.0..=1.0).contains(v)
}

fn positive_share(v: &f64) -> bool {
    *v > 0.0 && *v <= 1.0
}

parameters! {
    /// Parameters of CCRP.
    pub struct Params for "ccrp" {
        /// First credit rate, as a share of the largest.
        initial_rate: f64 = 1.0, "0 < initial_rate <= 1" => positive_share,
            "CCRP §3.2: starts high; no value given";
        /// Largest aggressiveness omega.
        omega_max: f64 = 0.06, "0 < omega_max <= 1" => positive_share,
            "CCRP §3.3: 0.06, suitable 0.04 to 0.07";
        /// Least aggressiveness after a loss of credits.
        omega_min: f64 = 0.01, "0 < omega_min <= 1" => positive_share,
            "ExpressPass: 0.01; not restated";
        /// Whether only the second increase in a row raises omega, as in ExpressPass.
        omega_guard: bool = false, "true or false" => |_| true,
            "off in CCRP Algorithm 1, line 13";
        /// Credit loss up to which the rate increases.
        target_loss: f64 = 0.0, "0 to 1" => share, "CCRP §3.3: 0";
        /// Target share of marked packets.
        target_ecn_ratio: f64 = 0.0, "0 to 1" => share, "CCRP §3.3: 0";
        /// Whether a share equal to the target cuts the rate.
        ratio_test: RatioTest = RatioTest::Above, "above or at_least" => |_| true,
            "CCRP Algorithm 1, line 5 has >=, which always cuts with a target of 0";
        /// Weight g of an RTT in the average of marks.
        gain: f64 = 0.0625, "0 < gain <= 1" => positive_share,
            "not given; 1/16 as in DCTCP";
        /// Recovery of the rate after a cut.
        dcqcn: Recovery = Recovery::Recovery, "recovery, strict_text, listing or off" => |_| true,
            "CCRP §3.2: after RTTs without a mark; Algorithm 1, lines 8-10, stands in the branch of line 5";
        /// RTTs without a mark after which reactive traffic counts as absent.
        clean_rtts: u32 = 5, "1 to 1000000" => |v| (1..=1_000_000).contains(v),
            "CCRP §3.2: several";
        /// Whether the recovery's target follows a rate above it.
        target_follows: bool = false, "true or false" => |_| true,
            "DCQCN §3.1: the target is the rate before the cut; the NUDT model: it follows";
        /// Increases of each kind before additive increase.
        fast_recovery: u32 = 5, "0 to 1000" => |v| *v <= 1_000, "DCQCN §3.1: F = 5";
        /// Payload bytes between two increases.
        byte_counter: Bytes = Bytes(10_000_000), "1B and more" => |v| v.0 > 0,
            "DCQCN §5.2: 10 MB";
        /// Time between two increases, in addition to an RTT.
        timer: Span = Span::from_us(5), "0 and more" => |_| true,
            "the NUDT model: RTT + 5 us";
        /// Additive increase, as a data rate.
        additive_increase: Rate = Rate::from_mbps(40), "1bps and more" => |v| v.0 > 0,
            "not given; DCQCN §5.2: 40 Mb/s of data, 84/1538 of it in credits";
        /// Hyper increase, as a data rate.
        hyper_increase: Rate = Rate::from_mbps(400), "1bps and more" => |v| v.0 > 0,
            "not given; ten times the additive, as DCQCN's";
        /// Queue up to which no data is marked (Kmin).
        mark_min: Bytes = Bytes(5_000), "any size" => |_| true, "CCRP §3.4: 5 KB";
        /// Queue from which all data is marked (Kmax).
        mark_max: Bytes = Bytes(200_000), "1B and more" => |v| v.0 > 0, "CCRP §3.4: 200 KB";
        /// Probability of a mark just below Kmax (Pmax).
        mark_probability: f64 = 0.01, "0 to 1" => share, "not given; DCQCN §5.2: 1 %";
        /// RED profiles (Kmin/Kmax/Pmax) of ports with these rates; others have the values above.
        mark_by_rate: ByRate<Red> = ByRate::NONE,
            "none, or profiles by rate such as 10Gbps=5KB/200KB/0.01" => |_| true, "as DCQCN's";
        /// Largest deviation of the time between credits, as a share of it.
        jitter: f64 = 0.1, "0 <= jitter < 1" => |v| (0.0..1.0).contains(v),
            "as ExpressPass";
        /// Whether the length of credits varies, from 84 to 100 charged bytes.
        size_jitter: bool = false, "true or false" => |_| true, "as ExpressPass";
        /// Share of a link for credits; auto: the share whose data fills the rest of the link, 84/1622 with Ethernet, with `size_jitter` 92/1630.
        credit_share: Option<f64> = None, "0 < share <= 1, such that the data of the credits fits the link (0.0546, 84/1538, with Ethernet), or auto"
            => |v| v.is_none_or(|v| v > 0.0 && v <= 1.0),
            "CCRP §3.4: 5 %, a rounded 84 / (84 + 1538)";
        /// Whether the credits' share of a link is reserved for them even when there are few credits.
        reserve: bool = false, "true or false" => |_| true,
            "CCRP §3.4: data has 95 % of a link, also in a mix";
        /// Most credits queued at a port.
        credit_queue: u32 = 8, "1 to 10000 credits" => |v| (1..=10_000).contains(v),
            "as ExpressPass";
        /// Depth of a port's token bucket, in credits.
        bucket: u32 = 2, "1 to 10000 credits" => |v| (1..=10_000).contains(v),
            "as ExpressPass";
        /// Whether a source stops credits as soon as those in flight suffice.
        early_stop: bool = true, "true or false" => |_| true, "as ExpressPass";
        /// Time after which a request without a reply is repeated; auto: 0.1 ms, at least 2 base RTT.
        retransmit_timeout: Option<Span> = None, "1us to 1s, or auto"
            => |v| v.is_none_or(|v| (Span::from_us(1)..=Span::from_secs(1)).contains(&v)),
            "as ExpressPass";
        /// Time after which missing data is requested again.
        missing_timeout: Span = Span::from_ms(1), "1us to 1s"
            => |v| (Span::from_us(1)..=Span::from_secs(1)).contains(v),
            "not given: reactive traffic can cause data loss";
    }
}

/// The sets of DCQCN's constants: those of the recovery, as data rates, under the same names as
/// DCQCN's.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet {
        name: "paper",
        source: "DCQCN §5.2: R_AI 40 Mb/s; its R_HAI of 400 Mb/s is ours",
        values: &[],
    },
    ParameterSet {
        name: "group_40_100",
        source: "public OMNeT++/INET code of the authors' group, not declared to be what CCRP ran",
        values: &[
            ("additive_increase", "40Mbps"),
            ("hyper_increase", "100Mbps"),
            ("gain", "0.00390625"),
        ],
    },
    ParameterSet {
        name: "group_200_500",
        source: "another configuration of the same code",
        values: &[
            ("additive_increase", "200Mbps"),
            ("hyper_increase", "500Mbps"),
            ("gain", "0.00390625"),
        ],
    },
    ParameterSet {
        name: "steps_5_50",
        source: "own choice: an eighth of the paper's increases, for sensitivity",
        values: &[("additive_increase", "5Mbps"), ("hyper_increase", "50Mbps")],
    },
];
