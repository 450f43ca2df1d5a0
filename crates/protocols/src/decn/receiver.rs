//! The receiver (DECN §III-A): the mark and the four bits of a data packet go back in its answer.

use incast_endpoint::sender::{Answer, Arriving, Feedback, Notice};

/// Copies what a data packet carries into its answer; keeps nothing.
#[derive(Clone, Copy)]
pub struct Copying;

impl Feedback for Copying {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, answer: &mut Answer) -> Option<Notice> {
        let (_, nibble, _) = data.fields();
        answer.mark = data.packet.mark;
        answer.nibble = nibble;
        None
    }
}
