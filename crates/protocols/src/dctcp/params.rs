//! Parameters of DCTCP.

use incast_egress::threshold::Threshold;
use incast_endpoint::rto::{accepted, accepted_or_auto};
use incast_endpoint::sender::WindowUnit;
use incast_endpoint::unordered::{Delivery, Spray, Strategy};
use incast_transport::fault::{expected, wrong};
use incast_transport::parameter::Value;
use incast_transport::{ByRate, Bytes, FabricSite, Fault, ParameterSet, PortSite, Rate, Span};

incast_transport::choice! {
    /// Loss detection.
    pub enum Recovery {
        /// Selective acknowledgement (RFC 6675).
        Sack = "sack",
        /// Duplicate and partial ACKs only (RFC 6582).
        NewReno = "newreno",
    }
}

incast_transport::choice! {
    /// What marks change.
    pub enum Controlled {
        /// TCP's window (RFC 8257).
        Window = "window",
        /// A rate that starts at the link's, as in RDMA NICs.
        Rate = "rate",
    }
}

fn above_zero(threshold: &Threshold) -> bool {
    !matches!(threshold, Threshold::Packets(0) | Threshold::Bytes(Bytes(0)))
}

fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

incast_transport::parameters! {
    /// Parameters of DCTCP.
    pub struct Params for "dctcp" {
        /// What marks change: TCP's window, or a rate that starts at the link's.
        control: Controlled = Controlled::Window, "window or rate" => |_| true,
            "RFC 8257; rate: HPCC's simulator, for comparisons with RDMA";
        /// With `control = rate`: increase per round without a mark; auto: a packet per base RTT.
        additive_rate: Option<Rate> = None, "auto, or more than 0" =>
            |v| v.is_none_or(|rate| rate.0 > 0),
            "HPCC's simulator: 615 Mb/s, a packet of 1,000 B per 13 us";
        /// With `control = rate`: least rate.
        min_rate: Rate = Rate::from_mbps(100), "more than 0" => |v| v.0 > 0,
            "HPCC's simulator: 100 Mb/s";
        /// Weight g of a new sample in the estimate of the marked share.
        gain: f64 = 0.0625, "0 < gain <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "DCTCP §3.3, §4: 1/16";
        /// The estimate alpha before the first window.
        initial_alpha: f64 = 1.0, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "RFC 8257 §4.2: 1; the simulator of 2010 used 0";
        /// Marking threshold K of the queue; auto: max(30 KB, rate x base RTT / 7), at most 70 % of the buffer.
        mark_threshold: Threshold = Threshold::Auto, "auto, 1B or more, or 1 to 4294967295 packets" =>
            above_zero,
            "DCTCP §3.4: 20 packets at 1 Gb/s, 65 at 10 Gb/s; auto is our own";
        /// Port rate that `mark_threshold` is for, scaled for other rates; auto: the same for all.
        mark_rate: Option<Rate> = None, "auto, or more than 0" =>
            |v| v.is_none_or(|rate| rate.0 > 0), "HPCC's simulator: 30 KB per 10 Gb/s";
        /// Marking thresholds of ports with these rates; others have `mark_threshold`.
        mark_threshold_by_rate: ByRate<Threshold> = ByRate::NONE,
            "none, or thresholds above 0 by rate such as 1Gbps=30KB,10Gbps=97.5KB" =>
            |v| v.all(|k| *k != Threshold::Auto && above_zero(k)),
            "DCTCP §3.4: 20 packets at 1 Gb/s, 65 at 10 Gb/s";
        /// What windows count and grow by: full segments, or packets of the flow's own size.
        window_unit: WindowUnit = WindowUnit::Segment, "segment or packet" => |_| true,
            "RFC 5681 §3.1; ns-2 counts packets of any size";
        /// First window, in units of `window_unit`.
        initial_window: u32 = 10, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 6928; 2 in the paper of 2010";
        /// Least window after a cut due to marks, in units of `window_unit`.
        min_window: u32 = 2, "1 to 1000" => |v| (1..=1_000).contains(v),
            "RFC 8257 §3.3, which refers to RFC 5681; 1 in the incast test";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "DCTCP §4.1: 10 ms; a stock kernel has 200 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto,
            "own choice; RFC 6298: 1 s";
        /// Loss detection: SACK, or NewReno's duplicate ACKs.
        recovery: Recovery = Recovery::Sack, "sack or newreno" => |_| true,
            "DCTCP §4: TCP NewReno with SACK";
        /// In which order receivers take packets; unordered: each packet may take its own path, and gaps are no losses by themselves.
        reliability: Delivery = Delivery::Ordered, "ordered or unordered" => |_| true,
            "RFC 8257: in order";
        /// With `reliability = unordered`: how a source chooses the path number of each packet.
        path_choice: Strategy = Strategy::Oblivious, "oblivious, bitmap, reps or mixed" => |_| true,
            "own choice; UEC's simulator: mixed";
        /// With `reliability = unordered`: path numbers of a flow.
        entropies: u32 = 64, "a power of two, 1 to 32768"
            => |v| v.is_power_of_two() && *v <= 1 << 15,
            "UEC's simulator: 64";
        /// Data packets per ACK; 1 acknowledges each packet at once.
        delayed_ack: u32 = 1, "1 to 255" => |v| (1..=255).contains(v),
            "the papers' simulators: 1; DCTCP §3.1 allows 2";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Span = Span::from_ms(1), "more than 0" => positive,
            "own choice, below `rto_min`; stock kernels wait 40 ms";
    }
}

/// TCP's DCTCP, and that of RDMA NICs.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "tcp", source: "RFC 8257", values: &[] },
    ParameterSet {
        name: "hpcc",
        source: "HPCC's simulator, congestion control 8",
        values: &[("control", "rate"), ("mark_threshold", "30KB"), ("mark_rate", "10Gbps")],
    },
];

impl Params {
    /// How packets are spread, if they may come in any order.
    pub fn spray(&self) -> Option<Spray> {
        self.reliability.spray(self.path_choice, self.entropies)
    }

    /// Marking threshold of a port.
    pub fn threshold(&self, site: &PortSite) -> Threshold {
        let general = self.mark_threshold;
        let scaled = self.mark_rate.map_or(general, |rate| general.scaled(site.rate, rate));
        self.mark_threshold_by_rate.at(site.rate).copied().unwrap_or(scaled)
    }

    /// What has no meaning where packets may come in any order.
    fn check_delivery(&self) -> Result<(), Fault> {
        let unordered = self.reliability == Delivery::Unordered;
        if unordered && self.delayed_ack > 1 {
            let problem = expected("1 with reliability = unordered: each packet is acknowledged");
            return Err(Fault::value("delayed_ack", self.delayed_ack, problem));
        }
        if unordered && self.recovery != Recovery::Sack {
            let problem = expected("sack with reliability = unordered, which counts no duplicates");
            return Err(Fault::value("recovery", self.recovery.show(), problem));
        }
        Ok(())
    }

    /// Whether the thresholds fit the fabric's rates.
    pub fn check(&self, fabric: &FabricSite) -> Result<(), Fault> {
        self.check_delivery()?;
        let key = "mark_threshold_by_rate";
        self.mark_threshold_by_rate.check(key, &fabric.rates)?;
        if self.mark_rate.is_some() && self.mark_threshold == Threshold::Auto {
            let auto = "`mark_threshold` is auto, which depends on each port's rate already";
            let problem = wrong(auto).expected("a size or a count of packets to scale");
            return Err(Fault::value("mark_rate", self.mark_rate.show(), problem));
        }
        Ok(())
    }
}
