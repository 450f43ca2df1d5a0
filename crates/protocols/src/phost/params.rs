//! Parameters of pHost.

use incast_transport::{Bytes, Span, choice, parameters};

choice! {
    /// The end of a destination's sleep while no flow may have a token.
    pub enum Wake {
        /// The closest retry of a waiting flow, or a new flow.
        Timer = "timer",
        /// Also data that makes room in a flow's window.
        Data = "data",
    }
}

parameters! {
    /// Parameters of pHost.
    pub struct Params for "phost" {
        /// Free tokens of a flow that is no larger; auto: the packets of the RTT.
        free_tokens: Option<u32> = None, "0 to 1000000 packets, or auto"
            => |v| v.is_none_or(|v| v <= 1_000_000),
            "authors' simulator: capability_initial = 8 = BDP";
        /// Whether larger flows have free tokens too, for their first packets.
        free_for_long: bool = false, "true or false" => |_| true,
            "off in the authors' simulator; REN and AMRT describe pHost with it";
        /// Tokens of a flow that may be unused before it must wait; auto: the RTT's.
        window: Option<u32> = None, "1 to 1000000 tokens, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000).contains(&v)),
            "authors' simulator: capability_window = 8 = BDP";
        /// Life of a token at the source, in packet times.
        token_life: f64 = 1.5, "0 to 1000000" => |v| (0.0..=1e6).contains(v),
            "pHost §3; capability_timeout";
        /// Wait of a flow that does not use its tokens; auto: 3 base RTT (25 packet times at a BDP of 8).
        downgrade: Option<Span> = None, "1ns to 10s, or auto"
            => |v| v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(10)).contains(&v)),
            "pHost §3.3: 3 RTT; capability_window_timeout = 25 packet times";
        /// What wakes a destination's token clock while no flow may have a token: the closest retry (`timer`), or also data that makes room in a window (`data`). A new flow always does.
        wake: Wake = Wake::Timer, "timer or data" => |_| true,
            "authors' simulator: send_capability sleeps until the closest timeout";
        /// Wait after the last token before tokens are issued again; auto: 1.1 base RTT (9 packet times at a BDP of 8).
        pause: Option<Span> = None, "1ns to 10s, or auto"
            => |v| v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(10)).contains(&v)),
            "capability_resend_timeout = 9 packet times at a BDP of 8";
        /// Time without progress after which a source repeats an announcement; auto: 3 base RTT.
        announce_again: Option<Span> = None, "1ns to 10s, or auto"
            => |v| v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(10)).contains(&v)),
            "ours: the authors' simulator loses no announcement";
        /// Whether flows larger than the free tokens have a priority below the others.
        third_level: bool = true, "true or false" => |_| true,
            "authors' simulator: capability_third_level";
        /// Buffer of a port, all classes together; auto: that of the scenario.
        buffer: Option<Bytes> = Some(Bytes(36_864)), "a full packet to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "authors' simulator: queue_size = 24 packets of 1536 B";
        /// Whether a full port drops its least important packet instead of the arriving one.
        push_out: bool = true, "true or false" => |_| true,
            "authors' simulator: pFabric queue with static priorities";
    }
}
