//! The packets of ExpressPass: those of the common credit scheme, and with `first_rtt = aeolus`
//! those of an unscheduled first RTT.

use incast_endpoint::credit::views::{Credit, Data, Finish, Missing, Request, Unscheduled};
use incast_endpoint::first_round::views::{Ack, Probe, ProbeAck};
use incast_transport::HeaderView;

/// The packets that ExpressPass sends.
pub const HEADERS: &[HeaderView] = &[
    Request::VIEW,
    Credit::VIEW,
    Data::VIEW,
    Missing::VIEW,
    Finish::VIEW,
    Unscheduled::VIEW,
    Probe::VIEW,
    Ack::VIEW,
    ProbeAck::VIEW,
];
