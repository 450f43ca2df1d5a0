//! The packets of EQDS: those of every transport whose packets may come in any order. What has arrived stands
//! in the extension of ACKs.

use incast_endpoint::unordered::{Ack, Complete, Data, Nack, Probe, Pull};
use incast_transport::HeaderView;

/// The packets that EQDS sends: none is marked, and a cut counts the same wherever it was.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW,
    Probe::VIEW,
    Ack::VIEW.without("marked"),
    Complete::VIEW.without("marked"),
    Nack::VIEW.without("marked").without("last_hop"),
    Pull::VIEW,
];
