//! Parameters of UEC.

use incast_endpoint::unordered::Strategy;
use incast_transport::{Bytes, Span, choice, parameters};

incast_transport::warnings! {
    /// Kinds of warnings about ACKs.
    pub static WARNINGS;
    UEC_ACKS_RARE = "uec_acks_rare" {
        says: "uec.ack_bytes: {bytes} is about what a link carries in a base RTT, {bdp}, so each window waits for \
               the ACK of its last packet, and links are idle meanwhile",
        means: "Receivers send an ACK for so many bytes, whatever the rate. Where a window holds no more, none \
                comes before the window is full: a flow that was alone again after sharing its link of 10 Gb/s \
                stayed at 6.5 Gb/s, with 3 KB at 8.8.",
        remedy: "`uec.ack_bytes` of a quarter of that, or less.",
    }
}

choice! {
    /// Which congestion controls run.
    pub enum Mode {
        /// The sender's window.
        Nscc = "nscc",
        /// The receiver's credits.
        Rccc = "rccc",
        /// Both: a packet needs room in the window and credit.
        Both = "nscc_rccc",
    }
}

fn size(v: &Option<Bytes>) -> bool {
    v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0))
}

fn factor(v: &f64) -> bool {
    (0.0..=1_000.0).contains(v)
}

parameters! {
    /// Parameters of UEC.
    pub struct Params for "uec" {
        /// Which congestion controls run.
        mode: Mode = Mode::Nscc, "nscc, rccc or nscc_rccc" => |_| true,
            "the authors' simulator: nscc";
        /// Whether a full queue cuts payloads off instead of dropping packets.
        trimming: bool = true, "true or false" => |_| true,
            "the authors' simulator: on";
        /// Whether a source tells losses by how much has arrived beyond them (Sleek), for switches that do not cut packets.
        sleek: bool = false, "true or false; true needs trimming = false" => |_| true,
            "the authors' simulator: off";
        /// How a source chooses the path number of each packet.
        path_choice: Strategy = Strategy::Mixed, "oblivious, bitmap, reps or mixed"
            => |_| true,
            "the authors' simulator: mixed";
        /// Path numbers of a flow.
        entropies: u32 = 64, "a power of two, 1 to 32768"
            => |v| v.is_power_of_two() && *v <= 1 << 15,
            "the authors' simulator: 64";
        /// Bytes that a receiver takes in before it sends an ACK that nothing else asks for.
        ack_bytes: Bytes = Bytes(16_384), "1B to 1GB" => |v| (1..=1_000_000_000).contains(&v.0),
            "the authors' simulator";
        /// Queueing delay that windows aim at, in base RTT; auto: 0.75 with trimming, 1 without.
        target: Option<f64> = None, "0.01 to 100, or auto"
            => |v| v.is_none_or(|v| (0.01..=100.0).contains(&v)),
            "the authors' simulator";
        /// Increase below the target, as a factor of the published gain.
        alpha: f64 = 4.0, "0 to 1000" => factor,
            "the authors' simulator: 4 mss, scaled with BDP and target";
        /// Increase above the target while nothing is marked, in packets, scaled with the BDP.
        fair: f64 = 5.0, "0 to 1000" => factor,
            "the authors' simulator: 5 mss";
        /// Increase once per base RTT, in packets, scaled with the BDP.
        eta: f64 = 0.15, "0 to 1000" => factor,
            "the authors' simulator: 0.15 mss";
        /// Increase per byte while there is no queue, scaled with the BDP.
        fast: f64 = 0.25, "0 to 1000" => factor,
            "the authors' simulator: 0.25";
        /// Queueing delay below which there is no queue.
        fast_below: Span = Span::from_us(1), "0ps to 1s" => |v| *v <= Span::from_secs(1),
            "the authors' simulator: 1 us, whatever the rate";
        /// Decrease: this share of how far the average delay is above the target, at most a half.
        gamma: f64 = 0.8, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "the authors' simulator: 0.8";
        /// Quick adaptation needs less than the largest window over this to have arrived in a period.
        adapt_share: u32 = 8, "1 to 1000000" => |v| (1..=1_000_000).contains(v),
            "the authors' simulator: a gate of 2^3";
        /// Quick adaptation needs a delay of so many targets, if nothing is lost.
        adapt_delay: f64 = 4.0, "0 to 1000" => factor,
            "the authors' simulator: 4";
        /// Whether a flow lowers its base RTT to its shortest sample.
        learn_base_rtt: bool = true, "true or false" => |_| true,
            "the authors' simulator: on";
        /// Share of its link at which a receiver gives credits.
        credit_rate: f64 = 0.99, "0.01 to 1" => |v| (0.01..=1.0).contains(v),
            "the authors' simulator: 0.99";
        /// Whether with rccc alone receivers slow down behind an oversubscribed core, by marks and by what is cut before the last hop.
        core_pace: bool = true, "true or false" => |_| true,
            "the authors' simulator: on where a topology is oversubscribed";
        /// Data that may wait at a port and be in transmission; auto: a BDP in full packets, without trimming five.
        data_queue: Option<Bytes> = None, "auto, or two full packets to 1GB" => size,
            "the authors' simulator";
        /// Up to this queue of data nothing is marked; auto: a fifth of a BDP, in full packets.
        mark_min: Option<Bytes> = None, "auto, or 1B to 1GB" => size,
            "the authors' simulator: 0.2 BDP";
        /// Above this queue of data all is marked; auto: four fifths of a BDP, in full packets.
        mark_max: Option<Bytes> = None, "auto, or 1B to 1GB" => size,
            "the authors' simulator: 0.8 BDP";
        /// A packet of which nothing is heard for so long is lost; auto: 15 us and six times what the data queue of a port takes.
        rto: Option<Span> = None, "auto, or 1us to 10s"
            => |v| v.is_none_or(|v| (Span::from_us(1)..=Span::from_secs(10)).contains(&v)),
            "the authors' simulator";
    }
}
