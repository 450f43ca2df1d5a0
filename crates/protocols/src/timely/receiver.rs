//! The receiver sends a packet's time stamp back.

use incast_endpoint::sender::{Answer, Arriving, Feedback, Notice};

/// Returns each packet's time stamp with its ACK.
#[derive(Clone, Copy, Debug)]
pub struct ReturnStamp;

impl Feedback for ReturnStamp {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, answer: &mut Answer) -> Option<Notice> {
        answer.extension = *data.extension;
        // What the RTT says of queues was so until the packet arrived.
        answer.informed = Some(data.now);
        None
    }
}
