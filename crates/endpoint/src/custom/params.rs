//! Parameters of the common sender that every custom control has.

use crate::rto::{RtoBounds, accepted, accepted_or_auto};
use crate::sender::{DelayedAck, Options, Reliability};
use incast_transport::{Span, TransportId};

incast_transport::choice! {
    /// How lost data is found and sent again.
    pub enum Recovery {
        /// Selective acknowledgement (RFC 6675).
        Sack = "sack",
        /// Duplicate and partial ACKs only (RFC 6582).
        NewReno = "newreno",
        /// The receiver keeps what is in order and asks to go back.
        GoBackN = "go-back-n",
    }
}

incast_transport::parameters! {
    /// Parameters of the common sender of a custom control.
    pub struct SenderParams for "custom" {
        /// Loss detection: SACK, NewReno's duplicate ACKs, or the receiver's request to go back.
        recovery: Recovery = Recovery::Sack, "sack, newreno or go-back-n" => |_| true,
            "RFC 6675";
        /// Least retransmission timeout.
        rto_min: Span = Span::from_ms(10), "more than 0, at most 60s" => accepted,
            "own choice, as the catalogue's DCTCP: 10 ms";
        /// Retransmission timeout before the first sample; auto: `rto_min`.
        rto_initial: Option<Span> = None, "auto, or more than 0, at most 60s" =>
            accepted_or_auto, "own choice; RFC 6298: 1 s";
        /// With `recovery = go-back-n`: least time between two requests for the same byte.
        nack_interval: Span = Span::from_us(500), "more than 0" => |v| *v > Span::ZERO,
            "own choice";
        /// Data packets per ACK; 1 acknowledges each packet at once.
        delayed_ack: u32 = 1, "1 to 255" => |v| (1..=255).contains(v), "own choice";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Span = Span::from_ms(1), "more than 0" => |v| *v > Span::ZERO,
            "own choice, below `rto_min`";
    }
}

impl SenderParams {
    /// The sender's options, for data that is ECN-capable.
    pub fn options(&self, transport: TransportId) -> Options {
        let &SenderParams { rto_min: min, delayed_ack, delayed_ack_timeout, .. } = self;
        Options {
            reliability: match self.recovery {
                Recovery::Sack => Reliability::Sack,
                Recovery::NewReno => Reliability::NewReno,
                Recovery::GoBackN => Reliability::GoBackN { again: self.nack_interval },
            },
            rto: RtoBounds::starting_at(self.rto_initial, min),
            delayed_ack: DelayedAck::of(delayed_ack, delayed_ack_timeout),
            ..Options::tcp(transport, min)
        }
    }
}
