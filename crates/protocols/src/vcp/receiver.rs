//! The receiver (VCP §3): the code of a data packet goes back in its answer.

use incast_endpoint::sender::{Answer, Arriving, Feedback, Notice};

/// Copies a data packet's code into its answer; keeps nothing.
#[derive(Clone, Copy)]
pub struct Copying;

impl Feedback for Copying {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, answer: &mut Answer) -> Option<Notice> {
        // In the header: the answer's own ECN bits belong to the way back.
        answer.nibble = data.packet.mark;
        None
    }
}
