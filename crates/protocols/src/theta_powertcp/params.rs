//! Parameters.

use super::sender::{Measure, Update};
use crate::powertcp::params::{power_parameters, share};
use crate::powertcp::{Average, Rule};
use incast_endpoint::sender::{Recovery, STAMP_BYTES};
use incast_transport::{FabricSite, ParameterSet, Rate, Span};

power_parameters! {
    /// Parameters of theta-PowerTCP.
    pub struct Params for "theta_powertcp" {
        /// Weight of the new window (gamma).
        gain: f64 = 0.7, "0 < gain <= 1" => share, "PowerTCP's simulator: 0.7; PowerTCP §3: 0.9";
        /// Base RTTs that count as a delay without a queue.
        tolerance: f64 = 1.0, "1 to 10" => |v| (1.0..=10.0).contains(v),
            "PowerTCP Algorithm 2: 1; its simulator: 1.05";
        /// Least growth of delay, in link rates.
        power_floor: f64 = 0.5, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "PowerTCP's simulator: 0.5; the paper has none";
        /// When the window changes: once per RTT, or with each ACK.
        update: Update = Update::Round, "round or ack" => |_| true,
            "PowerTCP Algorithm 2; its simulator: ack";
    }
}

/// The paper, and its simulator.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "paper", source: "PowerTCP §3", values: &[] },
    ParameterSet {
        name: "code",
        source: "the authors' ns-3 simulator, UpdateRatePower",
        values: &[("tolerance", "1.05"), ("additive_rate", "150Mbps"), ("update", "ack")],
    },
];

impl Params {
    /// The settings of a host whose link has the rate `line`.
    pub fn measure(&self, line: Rate, fabric: &FabricSite) -> Measure {
        let average = match self.update {
            Update::Round => Average::Window,
            Update::Ack => Average::Reference,
        };
        let rule = Rule { average, ..self.common(line, fabric, STAMP_BYTES) };
        Measure { rule, tolerance: self.tolerance, update: self.update }
    }
}
