//! The packets of UEC: those of every transport whose packets may come in any order. A port marks data;
//! what has arrived stands in the extension of ACKs.

use incast_endpoint::unordered::{Ack, Complete, Data, Nack, Probe, Pull};
use incast_transport::HeaderView;

/// The packets that UEC sends.
pub const HEADERS: &[HeaderView] =
    &[Data::VIEW, Probe::VIEW, Ack::VIEW, Complete::VIEW, Nack::VIEW, Pull::VIEW];
