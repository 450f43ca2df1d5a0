//! Parameters of EQDS.

use incast_endpoint::unordered::Strategy;
use incast_transport::{Bytes, Span, parameters};

fn size(v: &Option<Bytes>) -> bool {
    v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0))
}

parameters! {
    /// Parameters of EQDS.
    pub struct Params for "eqds" {
        /// Bytes that a flow sends before it has heard anything, and its largest credit; auto: a BDP in full packets.
        window: Option<Bytes> = None, "auto, or a full packet to 1GB" => size,
            "authors' simulator: 50 packets";
        /// Credit of a pull, in steps of 256 bytes.
        credit_per_pull: Bytes = Bytes(4_096), "256B to 65280B" => |v| (256..=65_280).contains(&v.0),
            "authors' simulator";
        /// Share of its link at which a receiver gives credit.
        credit_rate: f64 = 0.985, "0.01 to 1" => |v| (0.01..=1.0).contains(v),
            "authors' simulator: 4,096 bytes in 0.99 of the time of 4,198";
        /// How a source chooses the path number of each packet.
        path_choice: Strategy = Strategy::Skip, "oblivious, bitmap, reps, mixed or skip" => |_| true,
            "authors' simulator: skip";
        /// Path numbers of a flow.
        entropies: u32 = 256, "a power of two, 1 to 32768"
            => |v| v.is_power_of_two() && *v <= 1 << 15,
            "authors' simulator: 256";
        /// Bytes that a receiver takes in before it sends an ACK that nothing else asks for.
        ack_bytes: Bytes = Bytes(16_384), "1B to 1GB" => |v| (1..=1_000_000_000).contains(&v.0),
            "authors' simulator";
        /// Data that may wait at a port and be in transmission; auto: a BDP in full packets.
        data_queue: Option<Bytes> = None, "auto, or two full packets to 1GB" => size,
            "authors' simulator: 35 packets";
        /// The least time after which a packet of which nothing is heard is lost, if the round trip and four times its mean difference are less; auto: 50 us and six times what the data queue of a port takes.
        rto: Option<Span> = None, "auto, or 1us to 10s"
            => |v| v.is_none_or(|v| (Span::from_us(1)..=Span::from_secs(10)).contains(&v)),
            "authors' simulator";
    }
}
