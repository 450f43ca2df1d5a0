//! What a host tells of a flow.

use incast_units::{Rate, Time};

/// What a transport tells of one flow at one of its hosts, for traces. What it has no notion of is
/// `None`. Worlds ask for it only while they trace the flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// Payload bytes that may be in flight.
    pub window: Option<u64>,
    /// The rate, in charged bytes, at which packets are spaced.
    pub rate: Option<Rate>,
    /// Payload bytes that were sent, are not known to have arrived, and are not taken for lost.
    pub in_flight: Option<u64>,
    /// Packets that the source may send at once: grants, tokens, credits or pulls that it has not used.
    pub credits: Option<u64>,
    /// When it takes what is unanswered for lost: its retransmission timer.
    pub timer: Option<Time>,
}
