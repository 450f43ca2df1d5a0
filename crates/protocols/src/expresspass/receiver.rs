//! The feedback loop: the credit rate of a destination for a flow.

use super::params::{Feedback, Params};
use incast_endpoint::credit::{Arrived, CreditControl, CreditCount, CreditRequest};
use incast_transport::{Span, Time};

/// `w` grows by this much in each step of the code.
const STEP: f64 = 0.05;
/// Target loss of the code at a rate of zero.
const CODE_TARGET: f64 = 0.125;
/// Target loss of the paper.
const PAPER_TARGET: f64 = 0.1;
/// In the code, flows of fewer packets start at a lower rate.
const CODE_SHORT: u32 = 40;

/// Feedback loop of the credit rate, driven by credit loss.
pub struct FeedbackLoop {
    params: Params,
    target: f64,
    short: u32,
    /// Charged bytes of a credit.
    credit: f64,
    /// Largest rate, charged bytes of credits per second.
    max: f64,
}

/// The loop's state of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Rate, charged bytes of credits per second.
    pub rate: f64,
    /// Aggressiveness.
    pub w: f64,
    /// Whether the last update was an increase.
    pub increased: bool,
    /// Smoothed time from a credit to its data; zero before the first.
    pub rtt: Span,
    /// Time of the last update, or of the request before the first one.
    pub updated: Time,
}

impl FeedbackLoop {
    /// A loop for credits of `credit` charged bytes; `max` is the largest rate in charged bytes per
    /// second.
    pub fn new(params: &Params, credit: u32, max: f64) -> FeedbackLoop {
        let (target, short) = match params.fb {
            Feedback::Code => (CODE_TARGET, CODE_SHORT),
            Feedback::Paper => (PAPER_TARGET, 0),
        };
        FeedbackLoop {
            params: params.clone(),
            target: params.target_loss.unwrap_or(target),
            short: params.short_flow.unwrap_or(short),
            credit: credit as f64,
            max,
        }
    }

    /// The largest rate, charged bytes of credits per second.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Updates the rate, once per RTT. Since the last update `used` credits returned data, and the
    /// share `loss` of the credits was lost.
    pub fn update(&self, pace: &mut Pace, now: Time, used: u32, loss: f64) {
        let least = self.credit / pace.rtt.max(Span::from_ns(1)).as_secs_f64();
        match self.params.fb {
            Feedback::Code => {
                let elapsed = now.since(pace.updated).max(Span::from_ns(1)).as_secs_f64();
                self.update_as_coded(pace, loss, least, used as f64 * self.credit / elapsed);
            }
            Feedback::Paper => self.update_as_published(pace, loss),
        }
        pace.rate = pace.rate.max(least).min(self.max);
        pace.updated = now;
    }

    /// xpass.cc, credit_feedback_control: a loss lowers the rate to the `delivered` one.
    fn update_as_coded(&self, pace: &mut Pace, loss: f64, least: f64, delivered: f64) {
        let Params { w_min, w_max, .. } = self.params;
        let target = (1.0 - pace.rate / self.max) * self.target;
        if loss > target {
            pace.rate = match loss >= 1.0 {
                true => least,
                false => pace.rate.min(delivered * (1.0 + target)),
            };
            pace.w = (pace.w / 2.0).max(w_min);
            pace.increased = false;
            return;
        }
        if pace.increased {
            pace.w = (pace.w + STEP).min(w_max);
        }
        pace.increased = true;
        if pace.rate < self.max {
            pace.rate = pace.w * self.max + (1.0 - pace.w) * pace.rate;
        }
    }

    /// SIGCOMM 2017, Algorithm 1.
    fn update_as_published(&self, pace: &mut Pace, loss: f64) {
        let Params { w_min, w_max, .. } = self.params;
        if loss <= self.target {
            if pace.increased {
                pace.w = (pace.w + w_max) / 2.0;
            }
            pace.rate = (1.0 - pace.w) * pace.rate + pace.w * self.max * (1.0 + self.target);
        } else {
            pace.rate *= (1.0 - loss) * (1.0 + self.target);
            pace.w = (pace.w / 2.0).max(w_min);
        }
        pace.increased = loss <= self.target;
    }
}

impl CreditControl for FeedbackLoop {
    type Flow = Pace;

    fn begin(&self, request: &CreditRequest) -> Pace {
        let whole = self.params.alpha * self.max;
        let short = request.packets < self.short;
        let rate =
            if short { whole * request.packets.max(1) as f64 / self.short as f64 } else { whole };
        let w = self.params.w_init;
        Pace { rate, w, increased: false, rtt: Span::ZERO, updated: request.now }
    }

    #[inline]
    fn rate(&self, pace: &Pace) -> f64 {
        pace.rate
    }

    #[inline]
    fn on_data(&self, pace: &mut Pace, arrived: &Arrived, _count: &CreditCount) -> bool {
        pace.rtt = match pace.rtt {
            Span::ZERO => arrived.rtt,
            // xpass.cc, update_rtt: 0.8 old + 0.2 new.
            old => (old * 4 + arrived.rtt) / 5,
        };
        false
    }

    #[inline]
    fn on_credit(&self, pace: &mut Pace, now: Time, count: &CreditCount) -> bool {
        let over = now.since(pace.updated) >= pace.rtt && count.total() > 0;
        if over {
            self.update(pace, now, count.used(), count.loss());
        }
        over
    }
}
