//! Parameters of Homa.

use incast_transport::{Bytes, Span, choice, parameters};

choice! {
    /// What decides the class of an unscheduled packet.
    pub enum Unscheduled {
        /// What remains of the message at that packet.
        Graduated = "graduated",
        /// The size of the message.
        Size = "size",
    }
}

choice! {
    /// Which of the scheduled levels are used when fewer messages are granted than there are levels.
    pub enum LevelUse {
        /// The lowest ones, so that a newcomer has a level above.
        Lowest = "lowest",
        /// The best message always the highest.
        Fixed = "fixed",
    }
}

choice! {
    /// What a receiver requests when a message makes no progress.
    pub enum Asked {
        /// Every range that is missing.
        All = "all",
        /// The first range.
        First = "first",
    }
}

fn ascending(cutoffs: &Option<Vec<Bytes>>) -> bool {
    cutoffs.as_ref().is_none_or(|sizes| {
        (1..=6).contains(&sizes.len()) && sizes.windows(2).all(|pair| pair[0] < pair[1])
    })
}

parameters! {
    /// Parameters of Homa.
    pub struct Params for "homa" {
        /// Payload bytes that a message sends unscheduled and may have in flight, rounded up to packets; auto: one RTT.
        rtt_bytes: Option<Bytes> = None, "1B to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "Homa §3.2: RTTbytes, 9.7 KB at 10 Gb/s";
        /// Service classes of a port; class 0 is left to control packets.
        priorities: u8 = 8, "2 to 8" => |v| (2..=8).contains(v), "Homa §3.4";
        /// Levels for scheduled packets, the rest is for unscheduled ones; auto: by the share of unscheduled bytes in the sizes of the run, or by the cutoffs given.
        scheduled: Option<u8> = None, "1 to 6 and below priorities - 1, or auto"
            => |v| v.is_none_or(|v| (1..=6).contains(&v)),
            "Homa §3.4; 4 of 8 in the Linux module when sizes are unknown";
        /// Messages granted at a time (degree of overcommitment); auto: the number of scheduled levels.
        overcommitment: Option<u32> = None, "1 to 64, or auto"
            => |v| v.is_none_or(|v| (1..=64).contains(&v)), "Homa §3.5";
        /// Whether only one message of each sender is granted at a time.
        one_per_sender: bool = true, "true or false" => |_| true,
            "authors' simulator: SenderState";
        /// What decides the class of an unscheduled packet: graduated or size.
        unscheduled: Unscheduled = Unscheduled::Graduated, "graduated or size" => |_| true,
            "authors' simulator: STATIC_CBF_GRADUATED";
        /// Sizes up to which unscheduled packets have the best class, the next one and so on; auto: equal shares of unscheduled bytes.
        cutoffs: Option<Vec<Bytes>> = None, "1 to 6 sizes in ascending order, or auto" => ascending,
            "Homa §3.4: from the sizes of the run";
        /// Which scheduled levels few messages use: lowest or fixed.
        levels: LevelUse = LevelUse::Lowest, "lowest or fixed" => |_| true,
            "Homa §3.4: lowest; authors' simulator: fixed";
        /// Whether the last RTTbytes of a message get an unscheduled class if that is better.
        boost_tail: bool = true, "true or false" => |_| true,
            "authors' simulator: boostTailBytesPrio = RTTbytes";
        /// Scheduled payload bytes that may be in flight to a host; auto: overcommitment x RTTbytes.
        max_incoming: Option<Bytes> = None, "1B to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "Homa §3.5: buffers needed; Linux module: max_incoming = 400 kB";
        /// Time without progress after which missing packets are requested; auto: 20 base RTT, 1ms at least.
        resend_interval: Option<Span> = None, "1ns to 10s, or auto"
            => |v| v.is_none_or(|v| (Span::from_ns(1)..=Span::from_secs(10)).contains(&v)),
            "Homa §3.7: a few milliseconds";
        /// What is requested then: all or first.
        resend: Asked = Asked::All, "all or first" => |_| true,
            "Homa §3.7: the first range; Linux module: all";
        /// Requests without a reply after which a message is set aside.
        give_up: u32 = 5, "1 to 1000" => |v| (1..=1_000).contains(v), "Linux module";
        /// Idle time of the downlink, in bytes, after which one more message is granted; 0: never.
        link_check: Bytes = Bytes(0), "0B to 1MB" => |v| v.0 <= 1_000_000,
            "authors' simulator: linkCheckBytes, off";
        /// Buffer of a port, all data classes together; auto: that of the scenario.
        buffer: Option<Bytes> = None, "a full packet to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "authors' simulator: very large; REN: 64 and 128 KB";
    }
}
