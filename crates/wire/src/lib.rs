//! Packets and their bytes: the same in a capture file, in the simulator and on a wire.
//!
//! [`Packet`] is what the program works with, [`encode`] and [`decode`] turn it into bytes and
//! back, [`pcapng`] writes captures. IPv4 (20 B) and a transport header of 20 B - 8 common (ports,
//! transport, kind and flags, checksum), 12 of the transport's own - are the 40 B of the papers.

mod checksum;
mod codec;
mod extension;
mod header;
mod malformed;
mod packet;
pub mod pcapng;
pub mod telemetry;
mod view;

pub use checksum::checksum;
pub use codec::{PROTOCOL, decode, encode, encode_headers, rewrite_mark};
pub use extension::{Explicit, Extension, INT_HOPS, IntRecord, PADDING_PAIRS, SACK_RANGES};
pub use header::{Header, LAYOUTS, U24_MAX, data_flag, tcp_flag};
pub use malformed::{Covered, Malformed};
pub use packet::{Ecn, FlowId, Framing, HEADER_BYTES, HostId, Packet, TransportId, flag};
pub use view::{HeaderField, HeaderView, Layout, MarkCode};
