//! The receiver sends a packet's records back.

use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};

/// Copies each packet's records into its ACK.
#[derive(Clone, Copy, Debug)]
pub struct ReturnStack;

impl Feedback for ReturnStack {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = *data.extension;
        None
    }
}
