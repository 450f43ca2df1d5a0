//! The receiver sends a packet's time stamp back.

use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};

/// Returns each packet's time stamp with its ACK.
#[derive(Clone, Copy, Debug)]
pub struct ReturnStamp;

impl Feedback for ReturnStamp {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = *data.extension;
        // What the RTT says of queues was so until the packet arrived.
        ack.informed = Some(data.now);
        None
    }
}
