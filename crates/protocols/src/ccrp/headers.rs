//! The packets of CCRP: those of the common credit scheme. Its `Request` carries no segment and
//! its `Missing` no end.

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
