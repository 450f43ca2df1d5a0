//! The packets of sender-driven transports, all of the layout [`Segment`](Header::Segment) but one.
//! A transport lists those that it sends, without the fields it does not use; where it gives a
//! meaning to `window` or `nibble` it declares a view of its own in their place.

#[cfg(doc)]
use incast_transport::Header;
use incast_transport::{HeaderView, header_view, tcp_flag};

header_view! {
    /// Bytes of a flow.
    pub struct Data over Segment {
        /// The first byte of the payload, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// A value of the transport's congestion control.
        window: u16 = window, "";
        /// Four bits of the transport's congestion control.
        nibble: u8 = nibble, "";
    }
    bits {
        /// The payload ends the flow.
        last = tcp_flag::FIN;
    }
    clear tcp_flag::ACK | tcp_flag::SYN;
    payload true;
    unused ack;

    /// Acknowledges a data packet, and with it all bytes before a number.
    pub struct Ack over Segment {
        /// The first byte of the data packet that is acknowledged (the last one of several), modulo
        /// 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: all before it have arrived.
        cumulative: u32 = ack, "bytes";
        /// A value of the transport's congestion control.
        window: u16 = window, "";
        /// Four bits of the transport's congestion control.
        nibble: u8 = nibble, "";
    }
    bits {
        /// The data packet was marked: congestion was experienced (RFC 3168's ECE).
        marked = tcp_flag::ECE;
        /// Every byte of the flow has arrived.
        complete = tcp_flag::FIN;
    }
    set tcp_flag::ACK;
    clear tcp_flag::SYN;
    payload false;

    /// Asks the source to go back: what follows the number is not kept (go-back-N).
    pub struct GoBack over Nack {
        /// The first byte of the data packet that came out of order, modulo 2^32.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32: from there on all is to be sent again.
        cumulative: u32 = cumulative, "bytes";
    }
    bits {
        /// The data packet was marked.
        marked = tcp_flag::ECE;
    }
    set tcp_flag::ACK;
    payload false;
    unused number;

    /// A request of the source's congestion control, sent before data or beside it.
    pub struct Open over Segment {
        /// The next byte that the source will send for the first time, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// A value of the transport's congestion control.
        window: u16 = window, "";
        /// Four bits of the transport's congestion control.
        nibble: u8 = nibble, "";
    }
    set tcp_flag::SYN;
    clear tcp_flag::ACK;
    payload false;
    unused ack;

    /// The destination's reply to [`Open`].
    pub struct OpenAck over Segment {
        /// The `sequence` of the request.
        acked: u32 = seq, "bytes";
        /// The next byte expected, modulo 2^32.
        cumulative: u32 = ack, "bytes";
        /// A value of the transport's congestion control.
        window: u16 = window, "";
        /// Four bits of the transport's congestion control.
        nibble: u8 = nibble, "";
    }
    set tcp_flag::ACK | tcp_flag::SYN;
    payload false;

    /// The source sends no more: it knows that every byte has arrived. It gets no reply.
    pub struct Close over Segment {
        /// The byte behind the flow's last one, modulo 2^32.
        sequence: u32 = seq, "bytes";
        /// A value of the transport's congestion control.
        window: u16 = window, "";
        /// Four bits of the transport's congestion control.
        nibble: u8 = nibble, "";
    }
    set tcp_flag::FIN;
    clear tcp_flag::ACK | tcp_flag::SYN;
    payload false;
    unused ack;
}

/// [`Data`] where the congestion control adds nothing to headers.
pub const DATA: HeaderView = Data::VIEW.without("window").without("nibble");
/// [`Ack`] where the congestion control adds nothing to headers, and marks are not echoed.
pub const ACK: HeaderView = Ack::VIEW.without("window").without("nibble").without("marked");
/// [`GoBack`] where marks are not echoed.
pub const GO_BACK: HeaderView = GoBack::VIEW.without("marked");
/// [`Open`] where the congestion control adds nothing to headers.
pub const OPEN: HeaderView = Open::VIEW.without("window").without("nibble");
/// [`OpenAck`] where the congestion control adds nothing to headers.
pub const OPEN_ACK: HeaderView = OpenAck::VIEW.without("window").without("nibble");
/// [`Close`] where the congestion control adds nothing to headers.
pub const CLOSE: HeaderView = Close::VIEW.without("window").without("nibble");
