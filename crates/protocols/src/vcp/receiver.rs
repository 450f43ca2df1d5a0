//! The receiver (VCP §3): the code of a data packet is returned in its ACK.

use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};

/// Copies a data packet's code into its ACK; stateless.
#[derive(Clone, Copy)]
pub struct Copying;

impl Feedback for Copying {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        // In the header: the ACK's own ECN bits belong to the reverse path.
        ack.nibble = data.packet.mark;
        None
    }
}
