//! The packets of DCQCN: those of the common sender, and the congestion notification (DCQCN §3.1).

use incast_endpoint::sender::views::{Ack, DATA, GoBack};
use incast_transport::{HeaderView, header_view, tcp_flag};

/// The packets that DCQCN sends.
pub const HEADERS: &[HeaderView] =
    &[DATA, Ack::VIEW.without("window").without("nibble"), GoBack::VIEW, Cnp::VIEW];

header_view! {
    /// Tells the source that marked packets of the flow arrive.
    pub struct Cnp over Segment {}
    clear tcp_flag::ACK | tcp_flag::SYN | tcp_flag::FIN;
    payload false;
    unused seq, ack, window, nibble;
}
