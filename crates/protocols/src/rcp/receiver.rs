//! The receiver: returns the rate that switches wrote into data or a request.

use super::{forward_of, header};
use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};
use incast_transport::Extension;

/// Copies forward rates into the reverse field of ACKs; stateless.
#[derive(Clone, Copy)]
pub struct Returning;

fn returned(extension: &Extension) -> Extension {
    Extension::explicit(header(0, 0, forward_of(extension)))
}

impl Feedback for Returning {
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = returned(data.extension);
        None
    }

    fn on_request(&mut self, request: &Arriving<'_>, ack: &mut AckFields) {
        ack.extension = returned(request.extension);
    }
}
