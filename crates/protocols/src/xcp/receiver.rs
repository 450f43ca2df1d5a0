//! The receiver (XCP §3.3): what switches left of the feedback goes back.

use super::{UNLIMITED, feedback_of, header_of};
use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};
use incast_transport::Extension;

/// Copies feedback into ACKs; a delayed ACK carries the sum.
#[derive(Clone, Copy)]
pub struct Returning {
    /// Whether congestion headers have a fifth word.
    pub long: bool,
}

impl Returning {
    fn header(&self, reverse: i32) -> Extension {
        Extension::explicit(header_of(self.long, 0, 0, 0, reverse))
    }
}

impl Feedback for Returning {
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        let (feedback, _) = feedback_of(data.extension);
        // What no port has lowered is no feedback.
        ack.extension = self.header(if feedback == UNLIMITED { 0 } else { feedback });
        None
    }

    fn join(&mut self, earlier: &AckFields, ack: &mut AckFields) {
        let (_, before) = feedback_of(&earlier.extension);
        let (_, now) = feedback_of(&ack.extension);
        ack.extension = self.header(before.saturating_add(now));
    }
}
