//! The receiver sends a packet's time stamp back.

use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};

/// Returns each packet's time stamp with its ACK.
#[derive(Clone, Copy, Debug)]
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
