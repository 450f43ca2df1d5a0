//! Parameters.

use incast_endpoint::sender::Recovery;
use incast_endpoint::telemetry::{carried, pacing};
use incast_endpoint::unordered::{Delivery, Spray, Strategy};
use incast_transport::fault::expected;
use incast_transport::parameter::Value;
use incast_transport::telemetry::Reader;
use incast_transport::{FabricSite, Fault, INT_HOPS, Rate, Span};

pub(crate) fn positive(span: &Span) -> bool {
    *span > Span::ZERO
}

pub(crate) fn auto_or_positive(span: &Option<Span>) -> bool {
    span.as_ref().is_none_or(positive)
}

pub(crate) fn auto_or_rate(rate: &Option<Rate>) -> bool {
    rate.is_none_or(|rate| rate.0 > 0)
}

pub(crate) fn auto_or_hops(hops: &Option<u8>) -> bool {
    hops.is_none_or(|hops| hops > 0 && hops as usize <= INT_HOPS)
}

/// Parameters of a telemetry-based congestion control: its own and the common ones.
macro_rules! telemetry_parameters {
    ($(#[$doc:meta])* pub struct $name:ident for $transport:literal { $($own:tt)* }) => {
        incast_transport::parameters! {
            $(#[$doc])*
            pub struct $name for $transport {
                $($own)*
                /// Share of the busiest link that is aimed at (eta).
                target_utilisation: f64 = 0.95, "0 < target_utilisation <= 1" =>
                    |v| *v > 0.0 && *v <= 1.0, "HPCC §3.3, FastTune §V-A: 0.95";
                /// Flows on one link for which additive steps leave room (N).
                flows: u32 = 100, "1 to 1000000" => |v| (1..=1_000_000).contains(v),
                    "HPCC §5.1: 80 B at 100 Gb/s and 13 us; FastTune §V-A: not stated";
                /// Additive step as a rate; auto: (1 - target_utilisation) / flows of the link.
                additive_rate: Option<Rate> = None, "auto, or more than 0" =>
                    $crate::hpcc::params::auto_or_rate,
                    "HPCC §3.3; its simulator: 10 Mb/s for each 25 Gb/s";
                /// Least rate.
                min_rate: Rate = Rate::from_mbps(100), "more than 0" => |v| v.0 > 0,
                    "HPCC's simulator: 100 Mb/s";
                /// RTT that windows are for (T); auto: the fabric's.
                base_rtt: Option<Span> = None, "auto, or more than 0" =>
                    $crate::hpcc::params::auto_or_positive,
                    "HPCC's simulator: the largest of all pairs";
                /// Whether a window is at most what the host's link carries in T.
                cap_window: bool = true, "true or false" => |_| true,
                    "HPCC's simulator: no window above the link's rate; no listing has a bound";
                /// Records that a packet has room for; auto: as many as the longest path has switches.
                int_hops: Option<u8> = None, "auto, or 1 to 8" =>
                    $crate::hpcc::params::auto_or_hops, "HPCC's simulator: 5";
                /// Whether records have the widths of their fields on the wire.
                quantise_int: bool = true, "true or false" => |_| true,
                    "HPCC §4.1; false: an ablation without a codec";
                /// Least time between two requests to go back for the same byte; at least two base RTTs.
                nack_interval: Span = Span::from_us(500), "more than 0" =>
                    $crate::hpcc::params::positive, "HPCC's simulator: 500 us";
                /// Minimum retransmission timeout; auto: 1 ms, at least eight RTTs.
                rto_min: Option<Span> = None, "auto, or more than 0, at most 60s" =>
                    incast_endpoint::rto::accepted_or_auto, "own choice: HPCC has none";
            }
        }

        impl $name {
            /// The window settings they imply.
            pub fn windows(&self) -> $crate::hpcc::Windows {
                $crate::hpcc::Windows {
                    target: self.target_utilisation,
                    flows: self.flows,
                    additive_rate: self.additive_rate,
                    min_rate: self.min_rate,
                    base_rtt: self.base_rtt,
                    capped: self.cap_window,
                }
            }
        }
    };
}
pub(crate) use telemetry_parameters;

telemetry_parameters! {
    /// Parameters of HPCC.
    pub struct Params for "hpcc" {
        /// Additive steps of the window in a row; then it follows the utilisation (maxStage).
        max_stage: u32 = 5, "0 to 1000000" => |v| *v <= 1_000_000, "HPCC §3.3: 5";
        /// Whether packets have all their records' bytes from the start.
        int_fixed: bool = false, "true or false" => |_| true,
            "HPCC §4.1: they grow; its simulator: 42 B";
        /// How lost packets are sent again.
        recovery: Recovery = Recovery::GoBackN, "go-back-n or sack" => |_| true,
            "HPCC §4.2: go-back-N under PFC";
        /// In which order receivers take packets; unordered: each packet may take its own path, and gaps are no losses by themselves.
        reliability: Delivery = Delivery::Ordered, "ordered or unordered" => |_| true,
            "HPCC §4.2: in order";
        /// With `reliability = unordered`: how a source chooses the path number of each packet.
        path_choice: Strategy = Strategy::Oblivious, "oblivious, bitmap, reps or mixed" => |_| true,
            "own choice; UEC's simulator: mixed";
        /// With `reliability = unordered`: path numbers of a flow.
        entropies: u32 = 64, "a power of two, 1 to 32768"
            => |v| v.is_power_of_two() && *v <= 1 << 15,
            "UEC's simulator: 64";
    }
}

impl Params {
    /// How packets are spread, if they may come in any order.
    pub fn spray(&self) -> Option<Spray> {
        self.reliability.spray(self.path_choice, self.entropies)
    }

    /// What has no meaning where packets may come in any order.
    pub fn check(&self) -> Result<(), Fault> {
        if self.reliability == Delivery::Unordered && self.recovery != Recovery::GoBackN {
            let problem = expected("its default with reliability = unordered, which has its own");
            return Err(Fault::value("recovery", self.recovery.show(), problem));
        }
        Ok(())
    }
}

/// Bytes of a window without a cap: more than any flow has, and exact as a float.
pub const UNCAPPED: f64 = (1u64 << 50) as f64;

/// Effective settings at a host, for telemetry-based congestion control. Windows are in bytes.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Reads records.
    pub reader: Reader,
    /// Base RTT (T).
    pub base_rtt: Span,
    /// The host's link.
    pub line: Rate,
    /// First window: what the link carries in T. A window of at least this is not paced.
    pub most: f64,
    /// Least window.
    pub least: f64,
    /// Upper bound of windows: `most`, or `UNCAPPED`.
    pub cap: f64,
    /// Target utilisation (eta).
    pub target: f64,
    /// Additive step (W_AI).
    pub additive: f64,
}

/// Window settings derived from the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Target utilisation (eta).
    pub target: f64,
    /// Flows for which the additive step leaves room.
    pub flows: u32,
    /// The additive step as a rate, if it is given.
    pub additive_rate: Option<Rate>,
    /// The rate of the least window.
    pub min_rate: Rate,
    /// T, if it is given.
    pub base_rtt: Option<Span>,
    /// Whether windows are at most what the link carries in T.
    pub capped: bool,
}

impl Terms {
    /// Of a host whose link has the rate `line`.
    pub fn new(windows: &Windows, line: Rate, fabric: &FabricSite) -> Terms {
        let Windows { target, flows, additive_rate, min_rate, base_rtt, capped } = *windows;
        let base_rtt = base_rtt.unwrap_or(fabric.base_rtt);
        let carried = |rate: Rate| carried(rate, base_rtt);
        let most = carried(line).max(1.0);
        let share = most * (1.0 - target) / flows as f64;
        Terms {
            reader: Reader::new(fabric.rates.clone()),
            base_rtt,
            line,
            most,
            least: carried(min_rate).min(most),
            cap: if capped { most } else { UNCAPPED },
            target,
            additive: additive_rate.map_or(share, carried),
        }
    }

    /// The window at this utilisation for a reference window.
    #[inline]
    pub fn multiplied(&self, reference: f64, utilisation: f64) -> f64 {
        self.bounded(reference / (utilisation / self.target) + self.additive)
    }

    /// A window within its bounds.
    #[inline]
    pub fn bounded(&self, window: f64) -> f64 {
        window.clamp(self.least, self.cap)
    }

    /// The rate of a window; none to keep to at line rate and above.
    #[inline]
    pub fn pacing(&self, window: f64) -> Option<Rate> {
        pacing(window, self.most, self.base_rtt)
    }
}
