//! Algorithm 1: the credit rate of a destination as a function of lost credits and marked data.

use super::params::{Params, RatioTest, Recovery};
use incast_endpoint::credit::{Arrived, CreditControl, CreditCount, CreditRequest};
use incast_transport::{Span, Time};

/// Feedback loop of the credit rate, driven by marks and credit loss.
pub struct MarkLoop {
    params: Params,
    /// Charged bytes of a credit.
    credit: f64,
    /// Largest rate and the increases, in charged bytes of credits per second.
    max: f64,
    additive: f64,
    hyper: f64,
}

/// The loop's state of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Rate, charged bytes of credits per second.
    pub rate: f64,
    /// Aggressiveness.
    pub omega: f64,
    /// Average share of marked packets in the RTTs with marks.
    pub alpha: f64,
    /// Whether the last update was an increase.
    pub increased: bool,
    /// Whether several RTTs passed without a mark (DCQCN_Timer).
    pub clean: bool,
    /// RTTs in a row without a mark.
    pub clean_rtts: u32,
    /// Time of the last update, or of the request before the first one.
    pub updated: Time,
    /// The last time from a credit to its data; before the first sample twice the request's one-way
    /// delay.
    pub rtt: Span,
    /// Marked packets since the last update.
    pub marked: u32,
    /// State of the recovery.
    pub stages: Stages,
}

/// DCQCN's recovery of the rate before a cut (DCQCN §3.1, figure 7).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stages {
    /// The target rate.
    pub target: f64,
    /// Increases by the timer.
    pub by_time: u32,
    /// Increases by the byte counter.
    pub by_bytes: u32,
    /// Hyper increases.
    pub hyper: u32,
    /// Payload bytes since the last increase by bytes.
    pub bytes: u64,
    /// When the timer expires next; [`Time::NEVER`] before the first cut.
    pub next: Time,
}

impl MarkLoop {
    /// A loop for credits of `credit` charged bytes, each of which releases `data` charged bytes of
    /// data; `max` is the largest rate in charged bytes of credits per second.
    pub fn new(params: &Params, credit: u32, data: u32, max: f64) -> MarkLoop {
        let of_credits =
            |rate: incast_transport::Rate| rate.0 as f64 / 8.0 * credit as f64 / data as f64;
        MarkLoop {
            params: params.clone(),
            credit: credit as f64,
            max,
            additive: of_credits(params.additive_increase),
            hyper: of_credits(params.hyper_increase),
        }
    }

    /// The largest rate, charged bytes of credits per second.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The additive and the hyper increase of the recovery, charged bytes of credits per second.
    pub fn steps(&self) -> (f64, f64) {
        (self.additive, self.hyper)
    }

    /// Updates the rate, once per RTT (Algorithm 1). `ratio` is the marked share of the data that
    /// arrived, `loss` the lost share of the credits.
    pub fn update(&self, pace: &mut Pace, now: Time, ratio: f64, loss: f64) {
        let params = &self.params;
        let target = params.target_ecn_ratio;
        let cuts = match params.ratio_test {
            RatioTest::Above => ratio > target,
            RatioTest::AtLeast => ratio >= target,
        };
        if cuts {
            // Lines 6 and 7; the rate before the cut is the target of the recovery.
            let before = pace.rate;
            pace.alpha = (1.0 - params.gain) * pace.alpha + params.gain * ratio;
            pace.rate *= (1.0 - (target + pace.alpha) / 2.0).max(0.0);
            if params.dcqcn == Recovery::Listing && ratio == 0.0 {
                self.note_clean(pace, now);
                self.recover_in_place(pace);
            } else {
                pace.stages = self.begin_stages(before, now, pace.rtt);
                (pace.clean, pace.clean_rtts) = (false, 0);
            }
        } else {
            self.note_clean(pace, now);
        }
        if loss <= params.target_loss {
            if pace.increased || !params.omega_guard {
                pace.omega = (pace.omega + params.omega_max) / 2.0;
            }
            pace.rate = (1.0 - pace.omega) * pace.rate + pace.omega * self.max;
        } else {
            pace.rate *= 1.0 - loss;
            pace.omega = (pace.omega / 2.0).max(params.omega_min);
        }
        pace.increased = loss <= params.target_loss;
        self.clamp(pace);
        pace.updated = now;
        pace.marked = 0;
    }

    /// Records an RTT without marks.
    fn note_clean(&self, pace: &mut Pace, now: Time) {
        pace.clean_rtts += 1;
        if pace.clean || pace.clean_rtts < self.params.clean_rtts {
            return;
        }
        pace.clean = true;
        if self.params.dcqcn == Recovery::StrictText && pace.stages.next == Time::NEVER {
            pace.stages = self.begin_stages(self.max, now, pace.rtt);
        }
    }

    /// Lines 8 to 10.
    fn recover_in_place(&self, pace: &mut Pace) {
        if pace.clean {
            pace.stages.by_time += 1;
            self.increase(pace);
        }
    }

    fn begin_stages(&self, target: f64, now: Time, rtt: Span) -> Stages {
        let next = match self.params.dcqcn {
            Recovery::Off | Recovery::Listing => Time::NEVER,
            _ => now + rtt + self.params.timer,
        };
        Stages { target, by_time: 0, by_bytes: 0, hyper: 0, bytes: 0, next }
    }

    /// Whether the recovery's timer and byte counter are active.
    fn recovers(&self, pace: &Pace) -> bool {
        match self.params.dcqcn {
            Recovery::Off | Recovery::Listing => false,
            Recovery::Recovery => pace.stages.next != Time::NEVER,
            Recovery::StrictText => pace.clean,
        }
    }

    /// Fast recovery, then additive and finally hyper increase. Omega may have raised the rate above
    /// the target; unless the target follows, the increase then halves the excess.
    fn increase(&self, pace: &mut Pace) {
        let (stages, fast) = (&mut pace.stages, self.params.fast_recovery);
        if self.params.target_follows {
            stages.target = stages.target.max(pace.rate);
        }
        if stages.by_time.min(stages.by_bytes) > fast {
            stages.hyper += 1;
            stages.target += stages.hyper as f64 * self.hyper;
        } else if stages.by_time.max(stages.by_bytes) >= fast {
            stages.target += self.additive;
        }
        stages.target = stages.target.min(self.max);
        pace.rate = (pace.rate + stages.target) / 2.0;
        self.clamp(pace);
    }

    /// Limits the rate to at least one credit per RTT and at most the largest rate.
    fn clamp(&self, pace: &mut Pace) {
        let least = self.credit / pace.rtt.max(Span::from_ns(1)).as_secs_f64();
        pace.rate = pace.rate.max(least).min(self.max);
    }
}

impl CreditControl for MarkLoop {
    type Flow = Pace;

    fn begin(&self, request: &CreditRequest) -> Pace {
        Pace {
            rate: self.params.initial_rate * self.max,
            omega: 0.0,
            alpha: 1.0,
            increased: false,
            clean: false,
            clean_rtts: 0,
            updated: request.now,
            rtt: request.one_way * 2,
            marked: 0,
            stages: Stages {
                target: self.max,
                by_time: 0,
                by_bytes: 0,
                hyper: 0,
                bytes: 0,
                next: Time::NEVER,
            },
        }
    }

    #[inline]
    fn rate(&self, pace: &Pace) -> f64 {
        pace.rate
    }

    fn on_data(&self, pace: &mut Pace, arrived: &Arrived, count: &CreditCount) -> bool {
        pace.rtt = arrived.rtt;
        pace.marked += arrived.marked as u32;
        if self.recovers(pace) {
            pace.stages.bytes += arrived.payload as u64;
            if pace.stages.bytes >= self.params.byte_counter.0 {
                pace.stages.bytes = 0;
                pace.stages.by_bytes += 1;
                self.increase(pace);
            }
        }
        let over = arrived.now.since(pace.updated) >= pace.rtt;
        if over {
            let ratio = pace.marked as f64 / count.used() as f64;
            self.update(pace, arrived.now, ratio, count.loss());
        }
        over
    }

    #[inline]
    fn deadline(&self, pace: &Pace) -> Time {
        pace.stages.next
    }

    /// Handles the recovery's timer: no mark arrived in this time, so the average falls.
    fn wake(&self, pace: &mut Pace, now: Time) {
        pace.stages.next = now + pace.rtt + self.params.timer.max(Span(1));
        pace.alpha *= 1.0 - self.params.gain;
        if self.recovers(pace) {
            pace.stages.by_time += 1;
            self.increase(pace);
        }
    }
}
