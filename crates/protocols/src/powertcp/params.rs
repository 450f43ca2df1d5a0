//! Parameters.

use super::law::Average;
use incast_endpoint::sender::Recovery;
use incast_transport::{ParameterSet, Rate, Span};

/// Parameters of a transport that follows power: its own and the common ones.
macro_rules! power_parameters {
    ($(#[$doc:meta])* pub struct $name:ident for $transport:literal { $($own:tt)* }) => {
        incast_transport::parameters! {
            $(#[$doc])*
            pub struct $name for $transport {
                $($own)*
                /// Flows that a host's link is expected to have at once (N): each adds so many times less.
                flows: u32 = 10, "1 to 1000000" => |v| (1..=1_000_000).contains(v),
                    "PowerTCP §3: expected flows per NIC; 10 is our own";
                /// Additive step as a rate; auto: the link's over `flows`.
                additive_rate: Option<Rate> = None, "auto, or 0bps and more" => |_| true,
                    "PowerTCP §3; its simulator: 150 Mb/s";
                /// Least rate.
                min_rate: Rate = Rate::from_mbps(100), "more than 0" => |v| v.0 > 0,
                    "PowerTCP's simulator: 100 Mb/s";
                /// RTT that windows are for (tau); auto: the fabric's.
                base_rtt: Option<Span> = None, "auto, or more than 0" =>
                    |v| v.is_none_or(|rtt| rtt > Span::ZERO),
                    "PowerTCP's simulator: the largest of all pairs";
                /// How lost packets are sent again.
                recovery: Recovery = Recovery::GoBackN, "go-back-n or sack" => |_| true,
                    "PowerTCP's simulator: go-back-N under PFC";
                /// Least time between two requests to go back for the same byte; at least two base RTTs.
                nack_interval: Span = Span::from_us(500), "more than 0" => |v| *v > Span::ZERO,
                    "HPCC's simulator: 500 us";
                /// Minimum retransmission timeout; auto: 1 ms, at least eight RTTs.
                rto_min: Option<Span> = None, "auto, or more than 0, at most 60s" =>
                    incast_endpoint::rto::accepted_or_auto, "own choice: PowerTCP has none";
            }
        }

        impl $name {
            /// The settings of a host whose link has the rate `line`, where ACKs carry `extension`
            /// bytes; `target` is the power that is aimed at.
            fn common(
                &self,
                line: incast_transport::Rate,
                fabric: &incast_transport::FabricSite,
                extension: u16,
            ) -> $crate::powertcp::Rule {
                use incast_endpoint::telemetry::carried;
                let base_rtt = self.base_rtt.unwrap_or(fabric.base_rtt_with(extension));
                let most = carried(line, base_rtt).max(1.0);
                let share = most / self.flows as f64;
                $crate::powertcp::Rule {
                    base_rtt,
                    most,
                    least: carried(self.min_rate, base_rtt).min(most),
                    additive: self.additive_rate.map_or(share, |rate| carried(rate, base_rtt)),
                    gain: self.gain,
                    target: 1.0,
                    floor: self.power_floor,
                    average: $crate::powertcp::Average::Window,
                }
            }

            /// Minimum retransmission timeout.
            pub fn timeout(&self, rule: &$crate::powertcp::Rule) -> incast_transport::Span {
                incast_endpoint::rto::least_or_auto(self.rto_min, rule.base_rtt)
            }
        }
    };
}
pub(crate) use power_parameters;

/// What a weight may be.
pub(crate) fn share(value: &f64) -> bool {
    *value > 0.0 && *value <= 1.0
}

power_parameters! {
    /// Parameters of PowerTCP.
    pub struct Params for "powertcp" {
        /// Weight of the new window (gamma).
        gain: f64 = 0.9, "0 < gain <= 1" => share, "PowerTCP §3: 0.9";
        /// Power that is aimed at (eta); a busy link without a queue has 1.
        target_power: f64 = 1.0, "0 < target_power <= 1" => share,
            "PowerTCP Algorithm 1; its simulator: 0.95";
        /// Least rate of arrivals that a hop counts with, in link rates.
        power_floor: f64 = 0.5, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "PowerTCP's simulator: 0.5; the paper has none";
        /// The window with which a new one is averaged: the present one, or that of the round.
        average: Average = Average::Window, "window or reference" => |_| true,
            "PowerTCP Algorithm 1; its simulator: reference";
        /// Records that a packet has room for; auto: as many as the longest path has switches.
        int_hops: Option<u8> = None, "auto, or 1 to 8" => crate::hpcc::params::auto_or_hops,
            "as HPCC";
        /// Whether records have the widths of their fields on the wire.
        quantise_int: bool = true, "true or false" => |_| true,
            "HPCC §4.1; false: an ablation without a codec";
    }
}

/// The paper, and its simulator.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "paper", source: "PowerTCP §3", values: &[] },
    ParameterSet {
        name: "code",
        source: "the authors' ns-3 simulator, UpdateRatePower",
        values: &[("target_power", "0.95"), ("additive_rate", "150Mbps"), ("average", "reference")],
    },
];

impl Params {
    /// The settings of a host.
    pub fn rule(
        &self,
        line: Rate,
        fabric: &incast_transport::FabricSite,
        extension: u16,
    ) -> super::Rule {
        let common = self.common(line, fabric, extension);
        super::Rule { target: self.target_power, average: self.average, ..common }
    }
}
