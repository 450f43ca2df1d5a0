//! Parameters of FastTune.

use crate::hpcc::params::telemetry_parameters;
use incast_endpoint::sender::Recovery;
use incast_transport::{Bytes, Rate, Span};

telemetry_parameters! {
    /// Parameters of FastTune.
    pub struct Params for "fasttune" {
        /// Retransmission of lost packets: go-back-n or SACK.
        recovery: Recovery = Recovery::Sack, "go-back-n or sack" => |_| true,
            "own choice: the paper does not specify it; go-back-n as HPCC under PFC";
        /// Idle time after which a switch removes its state of a flow.
        forget_after: Span = Span::from_ms(1), "more than 0" => |v| *v > Span::ZERO, "own choice";
        /// Most flows with state at a switch.
        switch_flows: u32 = 65_536, "1 to 16777216" => |v| (1..=1 << 24).contains(v), "own choice";
        /// Most bytes of ACKs queued at a port.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "own choice: as REN's";
    }
}
