//! The packets of the scheme: those of the grant-clocked half, whose grants have no numbers here.

use incast_endpoint::receiver_driven::views::{Data, Finish, Grant};
use incast_transport::HeaderView;

/// The packets that the scheme sends.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW.without("grant").without("numbered"),
    Grant::VIEW.without("number").without("numbered").without("last_resort"),
    Finish::VIEW,
];
