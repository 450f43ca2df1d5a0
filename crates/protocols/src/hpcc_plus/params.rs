//! Parameters: HPCC's without additive stages.

use crate::hpcc;
use crate::hpcc::params::telemetry_parameters;
use incast_endpoint::sender::Recovery;
use incast_transport::{Rate, Span};

telemetry_parameters! {
    /// Parameters of HPCC+.
    pub struct Params for "hpcc_plus" {
        /// Whether packets have all their records' bytes from the start.
        int_fixed: bool = false, "true or false" => |_| true,
            "HPCC §4.1: they grow; its simulator: 42 B";
        /// How lost packets are sent again.
        recovery: Recovery = Recovery::GoBackN, "go-back-n or sack" => |_| true,
            "HPCC §4.2: go-back-N under PFC";
    }
}

impl Params {
    /// HPCC's parameters, which these stand for: no additive step ever (FastTune §V-A).
    pub fn as_hpcc(&self) -> hpcc::Params {
        hpcc::Params {
            max_stage: 0,
            int_fixed: self.int_fixed,
            recovery: self.recovery,
            target_utilisation: self.target_utilisation,
            flows: self.flows,
            additive_rate: self.additive_rate,
            min_rate: self.min_rate,
            base_rtt: self.base_rtt,
            cap_window: self.cap_window,
            int_hops: self.int_hops,
            quantise_int: self.quantise_int,
            nack_interval: self.nack_interval,
            rto_min: self.rto_min,
            ..hpcc::Params::default()
        }
    }
}
