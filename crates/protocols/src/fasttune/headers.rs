//! The packets of FastTune: those of the common sender, and the ACKs that switches make
//! (FastTune §III-B); telemetry follows the header.

use incast_endpoint::sender::views::{ACK, DATA, GO_BACK};
use incast_transport::{HeaderView, header_view};

/// The packets that FastTune sends.
pub const HEADERS: &[HeaderView] = &[DATA, ACK, GO_BACK, SwitchAck::VIEW];

header_view! {
    /// A switch's ACK of a data packet that passed it. It acknowledges no bytes.
    pub struct SwitchAck over Segment {
        /// The first byte of the data packet, modulo 2^32.
        acked: u32 = seq, "bytes";
    }
    clear u8::MAX;
    payload false;
    unused ack, window, nibble;
}
