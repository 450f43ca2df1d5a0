//! The packets of CCRP: those of the credit-clocked half. Nothing is kept behind a packet that is
//! missing, so requests tell no segment.

use incast_endpoint::credit::views::{Credit, Data, Finish, Missing, Request};
use incast_transport::HeaderView;

/// The packets that CCRP sends.
pub const HEADERS: &[HeaderView] = &[
    Request::VIEW.without("segment"),
    Credit::VIEW,
    Data::VIEW,
    Missing::VIEW.without("end"),
    Finish::VIEW,
];
