//! The receiver: the rate that switches left in data, or in a question, goes back.

use super::{forward_of, header};
use incast_endpoint::sender::{Answer, Arriving, Feedback, Notice};
use incast_transport::Extension;

/// Copies forward rates into the reverse field of ACKs; keeps nothing.
#[derive(Clone, Copy)]
pub struct Returning;

fn returned(extension: &Extension) -> Extension {
    Extension::explicit(header(0, 0, forward_of(extension)))
}

impl Feedback for Returning {
    fn on_data(&mut self, data: &Arriving<'_>, answer: &mut Answer) -> Option<Notice> {
        answer.extension = returned(data.extension);
        None
    }

    fn on_question(&mut self, question: &Arriving<'_>, answer: &mut Answer) {
        answer.extension = returned(question.extension);
    }
}
