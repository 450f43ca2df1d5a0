//! Parameters of AMRT.

use incast_transport::{Span, choice};

choice! {
    /// When a receiver considers the data of a grant lost.
    pub enum Recovery {
        /// One timeout after the arrival of data of a later grant; without arrivals, a probe after
        /// the flow's packet interval.
        Passed = "passed",
        /// One timeout after the grant.
        Paper = "paper",
    }
}

choice! {
    /// Which packet the gap before a data packet is counted from.
    pub enum Gap {
        /// The last packet of any kind: a grant of the other direction ends a gap.
        Any = "any",
        /// The last data packet: grants between two of them are room for data.
        Data = "data",
    }
}

choice! {
    /// What becomes of the grant of a lost packet.
    pub enum Losses {
        /// The next grant names the lost packet and takes the place of its own: the flow has one
        /// packet less under way. A lost tail is asked for one packet after the other.
        Named = "named",
        /// The same, but a lost tail of a first burst is asked for as a whole when the first of it has
        /// come.
        TailReissued = "tail_reissued",
        /// A packet that a grant had let go gets a new grant beside the ordinary ones; one of the first
        /// burst is named, and its tail is asked for as a whole.
        GrantedReissued = "granted_reissued",
        /// Each lost packet gets a grant of its own beside the ordinary ones, those of a lost tail
        /// all when the first of it has come: the flow has as many packets under way as before.
        Reissued = "reissued",
    }
}

incast_transport::parameters! {
    /// Parameters of AMRT.
    pub struct Params for "amrt" {
        /// Most data packets queued at a port.
        data_packets: u32 = 8, "1 and more" => |v| *v > 0, "AMRT §6";
        /// Most grants and finishes queued at a port.
        control_packets: u32 = 128, "1 and more" => |v| *v > 0,
            "AMRT §2.1, §8.1: the switch buffer of the other schemes";
        /// Whether NICs clear the mark as switch ports do; their queues have no limit.
        at_nics: bool = true, "true or false" => |_| true,
            "AMRT §4.1 has switches only; ns-2 (AMRT §8) marks in every link's queue";
        /// Where the gap before a data packet begins: after the last data packet, or after the last packet of any kind.
        gap_after: Gap = Gap::Data, "any, data" => |_| true,
            "AMRT §3: the time between two consecutive data packets; AMRT §4.1 has packets";
        /// Packets sent without a grant when a flow starts; auto: one bandwidth-delay product.
        burst: Option<u32> = None, "auto, or 1 and more" => |v| v.is_none_or(|v| v > 0),
            "AMRT §6, §7: line rate in the first RTT";
        /// When granted data counts as lost: passed or paper.
        recovery: Recovery = Recovery::Passed, "passed, paper" => |_| true,
            "AMRT §6 starts the timeout at the grant (paper), which counts data in a NIC as lost";
        /// With `recovery = passed`, a lost packet: named in the next grant (a burst's tail one by one, or all at once), or granted beside it.
        losses: Losses = Losses::TailReissued, "named, tail_reissued, granted_reissued, reissued" => |_| true,
            "AMRT §6: a timeout for each packet, and the receiver reissues a grant for the lost packet";
        /// The timeout; auto: base RTT + two data queues per hop (16 base RTT at most) + 1us.
        timeout: Option<Span> = None, "auto, or more than 0" => |v| v.is_none_or(|v| v.0 > 0),
            "AMRT §6 says 1 RTT, which a full 8-packet queue already exceeds";
        /// Whether the timeout is exactly one base RTT, as the paper says.
        strict_1rtt: bool = false, "true or false" => |_| true, "AMRT §6";
    }
}
