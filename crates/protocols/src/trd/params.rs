//! Parameters.

use incast_transport::{Bytes, Span, choice};

choice! {
    /// Which flow of a receiver gets the grant that a data packet makes room for.
    pub enum Order {
        /// The packet's.
        None = "none",
        /// The one with the fewest packets that still need a grant.
        Srpt = "srpt",
    }
}

incast_transport::parameters! {
    /// Parameters of the traditional receiver-driven transport.
    pub struct Params for "trd" {
        /// Packets sent without a grant when a flow starts; auto: one bandwidth-delay product.
        burst: Option<u32> = None, "auto, or 1 and more" => |v| v.is_none_or(|v| v > 0),
            "REN §2.1: line rate in the first RTT";
        /// Which flow of a receiver the next grant is for: none (the packet's) or srpt.
        order: Order = Order::None, "none, srpt" => |_| true,
            "AMRT §2: pHost and Homa serve the shortest first, a token for each packet that came";
        /// Receive timeout after which a receiver requests again; auto: 2 base RTT + buffer / rate.
        stall: Option<Span> = None, "auto, or more than 0" => |v| v.is_none_or(|v| v.0 > 0),
            "own choice: REN and AMRT say nothing about the baseline's losses";
        /// What the control class of a port holds.
        control_limit: Bytes = Bytes::from_kib(128), "a control packet and more" => |v| v.0 > 0,
            "own choice: as large as the data buffer of REN §6";
    }
}
