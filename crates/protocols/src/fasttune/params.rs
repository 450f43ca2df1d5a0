//! Parameters.

use crate::hpcc::Recovery;
use crate::hpcc::params::telemetry_parameters;
use incast_transport::{Bytes, Rate, Span};

telemetry_parameters! {
    /// Parameters of FastTune.
    pub struct Params for "fasttune" {
        /// How lost packets are sent again.
        recovery: Recovery = Recovery::Sack, "go-back-n or sack" => |_| true,
            "own choice: the paper says nothing; go-back-n as HPCC under PFC";
        /// Idle time after which a switch forgets that an ACK of a flow has passed.
        forget_after: Span = Span::from_ms(1), "more than 0" => |v| *v > Span::ZERO, "own choice";
        /// Most flows that a switch remembers.
        switch_flows: u32 = 65_536, "1 to 16777216" => |v| (1..=1 << 24).contains(v), "own choice";
        /// ACKs that may wait at a port.
        control_limit: Bytes = Bytes::from_kib(128), "84B and more" => |v| v.0 >= 84,
            "own choice: as REN's";
    }
}
