//! The congestion control. The common sender does the rest: what is sent, when it is acknowledged,
//! and what is lost.

use super::params::Params;
use incast_endpoint::sender::{Ack, Control, Loss, Progress};

/// The window of one flow, in bytes; fractions of a byte add up.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    decrease: f64,
    /// Bytes of a full segment.
    segment: f64,
    window: f64,
    /// Slow start below it.
    threshold: f64,
    /// The end of the data that was in flight at the last reduction: until it is acknowledged the
    /// window neither grows nor falls.
    reduced_until: u64,
}

impl Template {
    /// Initial state of a flow whose full segments carry `segment` bytes.
    pub fn new(params: &Params, segment: u64) -> Template {
        let segment = segment as f64;
        Template {
            decrease: params.decrease,
            segment,
            window: params.initial_window as f64 * segment,
            threshold: f64::INFINITY,
            reduced_until: 0,
        }
    }

    /// RFC 5681 §3.1, Eq. 4: two segments at the least.
    fn reduce(&mut self, progress: &Progress) {
        self.window = (self.window * self.decrease).max(2.0 * self.segment);
        self.threshold = self.window;
        self.reduced_until = progress.sent;
    }
}

impl Control for Template {
    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        let reacted = progress.acknowledged <= self.reduced_until || progress.recovering;
        if ack.bytes == 0 || reacted {
            return;
        }
        if ack.ece {
            self.reduce(progress);
        } else if ack.limited {
            // RFC 5681 §3.1: doubled per RTT in slow start, else a segment per window.
            let slow_start = self.window < self.threshold;
            let share = if slow_start { 1.0 } else { self.segment / self.window };
            self.window += ack.bytes as f64 * share;
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        if progress.acknowledged >= self.reduced_until {
            self.reduce(progress);
        }
        if loss == Loss::Timeout {
            // Slow start restarts, with the first ACK.
            self.window = self.segment;
            self.reduced_until = progress.acknowledged;
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }
}
