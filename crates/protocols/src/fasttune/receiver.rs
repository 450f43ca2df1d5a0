//! The receiver acknowledges each packet at once with an empty stack, which switches fill on the reverse path.

use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};
use incast_transport::telemetry::empty_stack;

/// ACKs with an empty stack.
#[derive(Clone, Copy, Debug)]
pub struct EmptyStack;

impl Feedback for EmptyStack {
    #[inline]
    fn on_data(&mut self, _data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.extension = empty_stack(0);
        None
    }
}
