//! What receiving halves of several transports put into ACKs, and time stamps, which the sending half
//! writes and reads.

use super::control::{AckFields, Arriving, Feedback, Notification};
use incast_transport::{Ecn, Explicit, Extension, Span, Time};

/// Nothing: ACKs only acknowledge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Feedback for Silent {
    #[inline]
    fn on_data(&mut self, _data: &Arriving<'_>, _ack: &mut AckFields) -> Option<Notification> {
        None
    }
}

/// Echoes the mark of RFC 3168 as ECE, packet by packet (RFC 8257 §3.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoMark;

impl Feedback for EchoMark {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.ece = data.packet.mark == Ecn::Ce as u8;
        None
    }
}

/// Copies each packet's telemetry records into its ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnStack;

impl Feedback for ReturnStack {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = *data.extension;
        None
    }
}

/// Returns each packet's time stamp with its ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnStamp;

impl Feedback for ReturnStamp {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = *data.extension;
        // The RTT reflects queues up to the arrival of the packet.
        ack.informed = Some(data.now);
        None
    }
}

/// Bytes of a time stamp on each packet.
pub const STAMP_BYTES: u16 = 8;

/// The time stamp of a packet that leaves now.
#[inline]
pub fn stamp(now: Time) -> Extension {
    Extension::explicit(Explicit::Stamp { sent: now.0 & Explicit::STAMP_MAX })
}

/// How long ago the packet left whose time stamp came back; `None` without one.
#[inline]
pub fn stamp_age(extension: &Extension, now: Time) -> Option<Span> {
    let Extension::Explicit { fields: Explicit::Stamp { sent }, .. } = *extension else {
        return None;
    };
    Some(Span(now.0.wrapping_sub(sent) & Explicit::STAMP_MAX))
}
