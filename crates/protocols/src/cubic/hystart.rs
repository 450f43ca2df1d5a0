//! HyStart: slow start ends when the ACKs of a round spread or their RTT rises, before a loss.

use super::params::Params;
use incast_endpoint::sender::Progress;
use incast_transport::{Span, Time};

/// HyStart (Ha and Rhee 2008) as in Linux: a round is the window in flight at its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    least_window: f64,
    samples: u32,
    gap: Span,
    train: f64,
    delay_min: Span,
    delay_max: Span,
    /// The byte whose ACK ends the round; `None` before the first.
    end: Option<u64>,
    began: Time,
    last: Time,
    /// Least RTT of the round and the number of its samples.
    least: Span,
    count: u32,
}

impl HyStart {
    pub fn new(params: &Params) -> HyStart {
        HyStart {
            least_window: params.hystart_window as f64,
            samples: params.hystart_samples,
            gap: params.hystart_gap,
            train: params.hystart_train,
            delay_min: params.hystart_delay_min,
            delay_max: params.hystart_delay_max.max(params.hystart_delay_min),
            end: None,
            began: Time::ZERO,
            last: Time::ZERO,
            least: Span::MAX,
            count: 0,
        }
    }

    /// Handles an ACK in slow start, with the window in segments and the flow's least RTT. Returns
    /// whether slow start ends.
    pub fn ends(
        &mut self,
        progress: &Progress,
        window: f64,
        rtt: Option<Span>,
        least_rtt: Option<Span>,
    ) -> bool {
        let now = progress.now;
        if self.end.is_none_or(|end| progress.acknowledged > end) {
            self.end = Some(progress.sent);
            self.began = now;
            self.last = now;
            self.least = Span::MAX;
            self.count = 0;
        }
        let Some(least_rtt) = least_rtt.filter(|_| window >= self.least_window) else {
            return false;
        };
        let in_train = now.since(self.last) <= self.gap;
        if in_train {
            self.last = now;
        }
        let spread = now.since(self.began).0 as f64 > self.train * least_rtt.0 as f64;
        if let Some(rtt) = rtt.filter(|_| self.count < self.samples) {
            self.least = self.least.min(rtt);
            self.count += 1;
        }
        let excess = (least_rtt / 8).clamp(self.delay_min, self.delay_max);
        let late = self.count == self.samples && self.least > least_rtt + excess;
        in_train && spread || late
    }
}
