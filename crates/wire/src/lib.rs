//! Packets and their wire format: the same in captures, the simulator and the data plane.
//!
//! [`Packet`] is the decoded form, [`encode`] and [`decode`] convert it to and from bytes, and
//! [`pcapng`] writes captures. The headers take 40 B, as in the papers: IPv4 (20 B) and a transport
//! header of 20 B, of which 8 are common (ports, transport, kind and flags, checksum) and 12 are
//! specific to the transport.

mod arrivals;
mod checksum;
mod codec;
mod extension;
mod header;
mod layout;
mod malformed;
mod packet;
pub mod pcapng;
mod rewrite;
pub mod telemetry;
mod view;
mod words;

pub use checksum::{checksum, checksum_of};
pub use codec::{
    decode, decode_extension, decode_headers, decode_headers_into, encode, encode_headers,
};
pub use extension::{
    ARRIVALS_BYTES, Explicit, Extension, INT_HOPS, IntRecord, PADDING_PAIRS, SACK_RANGES,
};
pub use header::{Header, LAYOUTS, U24_MAX, data_flag, tcp_flag};
pub use layout::Layout;
pub use malformed::{Covered, Malformed};
pub use packet::{Ecn, FlowId, Framing, HEADER_BYTES, HostId, Packet, TransportId, flag};
pub use rewrite::{rewrite, rewrite_mark};
pub use view::{HeaderField, HeaderView, MarkCode};
pub use words::PROTOCOL;
