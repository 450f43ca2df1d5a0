//! The packets of AMRT: those of the grant-clocked half, with the anti-ECN bit (AMRT §4.1).

use super::Code;
use incast_endpoint::receiver_driven::views::{Data, Finish, Grant};
use incast_transport::{HeaderView, MarkCode, TransportId};

/// AMRT's number on the wire.
pub const ID: TransportId = TransportId(0x85);

/// The packets that AMRT sends.
pub const HEADERS: &[HeaderView] =
    &[Data::VIEW.coded(CODES), Grant::VIEW.coded(CODES), Finish::VIEW];

const CODES: &[MarkCode] = &[
    MarkCode {
        mark: Code::Saturated as u8,
        name: "saturated",
        doc: "some port had no room for one packet more: one packet",
    },
    MarkCode {
        mark: Code::Room as u8,
        name: "room",
        doc: "every port had room for one packet more: two packets",
    },
];
