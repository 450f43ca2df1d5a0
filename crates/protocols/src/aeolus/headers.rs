//! The packets of Aeolus on Homa: Homa's, and those of the unscheduled first round.

use crate::homa::headers::{Busy, Data, Finish, Grant, Resend, Unknown};
use incast_endpoint::first_round::views::{Ack, Probe, ProbeAck};
use incast_transport::{HeaderView, TransportId};

/// Aeolus's number on the wire.
pub const ID: TransportId = TransportId(8);

/// The packets that Aeolus sends.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW,
    Grant::VIEW,
    Resend::VIEW,
    Busy::VIEW,
    Unknown::VIEW,
    Finish::VIEW,
    Probe::VIEW,
    Ack::VIEW,
    ProbeAck::VIEW,
];
