//! The receiver (DECN §III-A): echoes the mark and the four bits of a data packet in its ACK.

use super::headers::Data;
use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};

/// Copies the feedback of a data packet into its ACK, without state.
#[derive(Clone, Copy)]
pub struct Copying;

impl Feedback for Copying {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.mark = data.packet.mark;
        ack.nibble = Data::read(&data.packet.header).map_or(0, |own| own.difference);
        None
    }
}
