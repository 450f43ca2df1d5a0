//! The receiver sends a packet's records back.

use incast_endpoint::sender::{Answer, Arriving, Feedback, Notice};

/// Copies each packet's records into its ACK.
#[derive(Clone, Copy, Debug)]
pub struct ReturnStack;

impl Feedback for ReturnStack {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, answer: &mut Answer) -> Option<Notice> {
        answer.extension = *data.extension;
        None
    }
}
