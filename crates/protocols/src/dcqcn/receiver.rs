//! The notification point: sends at most one CNP per interval when marked packets arrive.

use super::headers::Cnp;
use super::params::CnpForm;
use incast_endpoint::sender::{AckFields, Arriving, Feedback, Notification};
use incast_transport::{Ecn, Span, Time};

/// The CNP generation of one flow (DCQCN §3.1, "NP algorithm").
#[derive(Clone, Copy, Debug)]
pub struct Notifier {
    interval: Span,
    form: CnpForm,
    last: Option<Time>,
}

impl Notifier {
    /// A notification point that sends at most one CNP per `interval`, in this form.
    pub fn new(interval: Span, form: CnpForm) -> Notifier {
        Notifier { interval, form, last: None }
    }
}

impl Feedback for Notifier {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        if data.packet.mark != Ecn::Ce as u8 {
            return None;
        }
        if self.last.is_some_and(|last| data.now.since(last) < self.interval) {
            return None;
        }
        self.last = Some(data.now);
        if self.form == CnpForm::AckFlag {
            ack.ece = true;
            return None;
        }
        Some(Notification::new(0, Cnp {}))
    }
}
