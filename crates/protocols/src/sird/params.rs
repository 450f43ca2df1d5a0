//! Parameters of SIRD.

use incast_egress::threshold::Threshold;
use incast_endpoint::rto::accepted_or_auto;
use incast_transport::{Bytes, FabricSite, Fault, Framing, ParameterSet, Span, choice, parameters};

choice! {
    /// What a source counts to know that its link has several users.
    pub enum Busy {
        /// Destinations to which something is left to send.
        Destinations = "destinations",
        /// Messages of which something is left to send.
        Messages = "messages",
    }
}

fn bdps(v: &f64) -> bool {
    (0.0..=1_000.0).contains(v)
}

fn share(v: &f64) -> bool {
    (0.0..=1.0).contains(v)
}

parameters! {
    /// Parameters of SIRD.
    pub struct Params for "sird" {
        /// What fills the round trip, in charged bytes; auto: the packets of a base RTT.
        bdp: Option<Bytes> = None, "a full packet to 1GB, or auto"
            => |v| v.is_none_or(|v| (1..=1_000_000_000).contains(&v.0)),
            "authors' simulator: 100,000 B at 100 Gb/s and 8 us";
        /// What a destination has credited and not received at most, in BDPs (B).
        budget: f64 = 1.5, "1 to 1000 BDPs" => |v| (1.0..=1_000.0).contains(v),
            "SIRD: 1.5 BDP; authors' simulator: 150,000 B";
        /// Largest message that is sent without being asked for, in BDPs (UnschT).
        unscheduled: f64 = 1.0, "0 to 1000 BDPs" => bdps,
            "SIRD: 1 BDP; authors' simulator: 100,000 B";
        /// Unused credit from which on a source says that it is congested, in BDPs (SThr).
        sender_threshold: f64 = 0.5, "0 to 1000 BDPs" => bdps,
            "SIRD: 0.5 BDP; authors' simulator: 33 packets of 1458 B";
        /// Of which there must be two for a source to say so.
        busy: Busy = Busy::Destinations, "destinations or messages" => |_| true,
            "the paper's meaning; authors' simulator: messages";
        /// Queue between switches from which on packets are marked; auto: 1.25 BDP.
        mark_threshold: Threshold = Threshold::Auto, "auto, 1B or more, or 1 to 4294967295 packets"
            => |_| true, "SIRD: 1.25 BDP; authors' simulator: 82 packets";
        /// Weight of the last window in the average share of marks.
        gain: f64 = 0.08, "more than 0, at most 1" => |v| *v > 0.0 && *v <= 1.0,
            "authors' simulator: 0.08";
        /// Least credit of a source whose marks are its own, in BDPs.
        host_min: f64 = 0.1, "0.001 to 1 BDPs" => |v| (0.001..=1.0).contains(v),
            "authors' simulator: 0.1";
        /// Least credit of a source whose packets switches mark, in BDPs.
        net_min: f64 = 0.03, "0.001 to 1 BDPs" => |v| (0.001..=1.0).contains(v),
            "authors' simulator: 0.03";
        /// Whether marked packets raise the credit of a source too.
        grows_on_marks: bool = true, "true or false" => |_| true,
            "authors' simulator, where a flag is set before it is asked for; DCTCP's rule: false";
        /// Share of a source's link that goes to the destination with the least to send; equal shares get the rest.
        shortest: f64 = 0.5, "0 to 1" => share, "authors' simulator: half, and half fair";
        /// Silence after which a destination gives new credits for what is missing, and a source asks again; auto: 3 base RTT.
        retry: Option<Span> = None, "auto, or more than 0, at most 60s" => accepted_or_auto,
            "ours: the authors' simulator loses nothing";
    }
}

/// Values of the authors' simulator.
pub(super) const SETS: &[ParameterSet] = &[
    ParameterSet { name: "fabric", source: "a BDP that fits the fabric", values: &[] },
    ParameterSet {
        name: "authors",
        source: "the authors' runs, 100 Gb/s and 8 us",
        values: &[("bdp", "100KB"), ("mark_threshold", "82 packets"), ("busy", "messages")],
    },
];

impl Params {
    /// Refuses values that do not fit the fabric.
    ///
    /// # Errors
    /// A BDP below a packet.
    pub fn check(&self, fabric: &FabricSite) -> Result<(), Fault> {
        match self.bdp {
            Some(bdp) => fabric.check_data_limit("bdp", bdp),
            None => Ok(()),
        }
    }

    /// The BDP of a link whose round trip holds so many packets.
    pub fn bdp_of(&self, packets: u32, framing: &Framing) -> Bytes {
        self.bdp.unwrap_or(Bytes(packets as u64 * framing.charged_mtu() as u64))
    }

    /// The queue from which on ports between switches mark.
    pub fn threshold(&self, fabric: &FabricSite) -> Threshold {
        if self.mark_threshold != Threshold::Auto {
            return self.mark_threshold;
        }
        let bdp = self.bdp_of(fabric.bdp_packets(fabric.host_rate), &fabric.framing);
        Threshold::Bytes(Bytes(bdp.0 * 5 / 4))
    }

    /// The same, for the manifest.
    pub fn mark_bytes(&self, fabric: &FabricSite) -> String {
        incast_transport::parameter::Value::show(&self.threshold(fabric))
    }
}
