//! The packets of REN: those of the grant-clocked half, whose grants have no numbers here, with a
//! code in their ECN bits (REN §3.2.3).

use super::Code;
use incast_endpoint::receiver_driven::views::{Data, Finish, Grant};
use incast_transport::{HeaderView, MarkCode, TransportId};

/// Number on the wire; the code is in the ECN bits.
pub const ID: TransportId = TransportId(0x86);

/// The packets that REN sends.
pub const HEADERS: &[HeaderView] = &[
    Data::VIEW.without("grant_or_rest").without("numbered").coded(CODES),
    Grant::VIEW.without("number").without("numbered").without("last_resort").coded(CODES),
    Finish::VIEW,
];

const CODES: &[MarkCode] = &[
    MarkCode { mark: Code::Under as u8, name: "under", doc: "room for more: two packets" },
    MarkCode { mark: Code::Full as u8, name: "full", doc: "no room: one packet" },
    MarkCode { mark: Code::Over as u8, name: "over", doc: "a queue: no packet" },
];
