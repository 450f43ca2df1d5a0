//! The reaction point: the rate control of one flow.

use super::headers::Cnp;
use super::params::{Rule, Variant};
use incast_endpoint::sender::{Ack, Control, Loss, Message, Outbound, Progress};
use incast_transport::{Framing, Rate, Time};

/// A flow within this distance from the line rate, in bits per second, is at the line rate.
const AT_LINE: f64 = 1.0;

/// DCQCN's rate of one flow. Rates are in bits per second, with fractions.
#[derive(Clone, Copy, Debug)]
pub struct Dcqcn {
    rule: Rule,
    framing: Framing,
    /// Current rate (R_C) and target rate (R_T).
    current: f64,
    target: f64,
    alpha: f64,
    /// When alpha is next updated. Alpha is read only in cuts, so due updates are applied then.
    /// [`Time::NEVER`] before the first CNP.
    alpha_due: Time,
    /// When the timer raises the rate next; [`Time::NEVER`] at line rate.
    increase_due: Time,
    /// When the rate is to be cut (mlx).
    cut_due: Time,
    /// Start of the intervals of cuts (mlx).
    cuts_from: Time,
    /// Whether a CNP arrived since the last update of alpha (mlx).
    noticed: bool,
    /// Increases since the last cut: by the timer (T) and by the byte counter (B).
    timer_steps: u32,
    byte_steps: u32,
    /// Charged bytes sent since the last increase by the byte counter.
    counted: u64,
    decided: bool,
}

impl Dcqcn {
    /// The state of a new flow: at line rate, without timers.
    pub fn new(rule: Rule, framing: Framing) -> Dcqcn {
        Dcqcn {
            rule,
            framing,
            current: rule.line,
            target: rule.line,
            alpha: 1.0,
            alpha_due: Time::NEVER,
            increase_due: Time::NEVER,
            cut_due: Time::NEVER,
            cuts_from: Time::NEVER,
            noticed: false,
            timer_steps: 0,
            byte_steps: 0,
            counted: 0,
            decided: false,
        }
    }

    /// Current rate, bits per second.
    pub fn current(&self) -> f64 {
        self.current
    }

    /// Target rate, bits per second.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// The congestion estimate at `now`, more than 0, at most 1.
    pub fn alpha(&self, now: Time) -> f64 {
        let mut then = *self;
        then.settle(now);
        then.alpha
    }

    /// Applies the updates of alpha that were due until `now`.
    fn settle(&mut self, now: Time) {
        while self.alpha_due <= now {
            self.alpha *= 1.0 - self.rule.gain;
            if self.noticed {
                self.alpha += self.rule.gain;
                self.noticed = false;
            }
            self.alpha = self.alpha.max(f64::MIN_POSITIVE);
            self.alpha_due += self.rule.alpha_interval;
        }
    }

    /// DCQCN §3.1, Eq. 1: cut with the old alpha, then raise alpha; increases restart.
    fn cut(&mut self, now: Time) {
        self.target = self.current;
        self.lower(now);
        self.alpha = (1.0 - self.rule.gain) * self.alpha + self.rule.gain;
        self.alpha_due = now + self.rule.alpha_interval;
    }

    fn lower(&mut self, now: Time) {
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.rule.least);
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.counted = 0;
        self.increase_due = now + self.rule.increase_interval;
    }

    /// A CNP arrived, as a packet or as a flag.
    fn notified(&mut self, now: Time) {
        self.decided = true;
        match self.rule.variant {
            Variant::Paper => {
                self.settle(now);
                self.cut(now);
            }
            Variant::Mlx => self.note(now),
        }
    }

    /// Records a CNP (mlx). The cut follows at the next multiple of `cut_interval` since the first
    /// CNP.
    fn note(&mut self, now: Time) {
        if self.cuts_from == Time::NEVER {
            self.cuts_from = now;
            self.alpha_due = now + self.rule.alpha_interval;
        } else {
            // As with any timer, an update due at this instant follows the arrival.
            self.settle(Time(now.0.saturating_sub(1)));
            self.noticed = true;
        }
        if self.cut_due == Time::NEVER {
            let interval = self.rule.cut_interval;
            let looks = now.since(self.cuts_from).0 / interval.0;
            self.cut_due = self.cuts_from + interval * (looks + 1);
        }
    }

    /// Cuts the rate after a CNP (mlx).
    fn react(&mut self, now: Time) {
        self.cut_due = Time::NEVER;
        self.settle(now);
        // The target is unchanged if the rate was not raised since the last cut.
        if self.timer_steps > 0 {
            self.target = self.current;
        }
        self.lower(now);
    }

    /// DCQCN §3.1, Eq. 3 and 4, after a step of the timer or the byte counter.
    fn raise(&mut self) {
        let (most, least) = match self.timer_steps > self.byte_steps {
            true => (self.timer_steps, self.byte_steps),
            false => (self.byte_steps, self.timer_steps),
        };
        let fast = self.rule.fast_recovery;
        let by = match self.rule.variant {
            Variant::Paper if most < fast => 0.0,
            Variant::Paper if least > fast => (least - fast) as f64 * self.rule.hyper,
            // HPCC's simulator counts the timer's step after the increase.
            Variant::Mlx if self.timer_steps <= fast => 0.0,
            Variant::Mlx if self.timer_steps > fast + 1 => self.rule.hyper,
            _ => self.rule.additive,
        };
        self.target = (self.target + by).min(self.rule.line);
        self.current = (self.target + self.current) / 2.0;
        if self.rule.line - self.current < AT_LINE {
            // Line rate is reached: the timer stops until the next cut.
            self.current = self.rule.line;
            self.target = self.rule.line;
            self.increase_due = Time::NEVER;
        }
    }
}

impl Control for Dcqcn {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, _progress: &Progress) {
        if self.increase_due == Time::NEVER || self.rule.variant == Variant::Mlx {
            return;
        }
        self.counted += self.framing.charged_packet(packet.payload, 0) as u64;
        if self.counted >= self.rule.byte_counter {
            self.counted -= self.rule.byte_counter;
            self.byte_steps += 1;
            self.raise();
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        if ack.ece {
            self.notified(progress.now);
        }
    }

    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    fn on_message(&mut self, message: &Message<'_>, progress: &Progress) {
        if Cnp::read(&message.packet.header).is_some() {
            self.notified(progress.now);
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.increase_due.min(self.cut_due)
    }

    fn on_deadline(&mut self, progress: &Progress) {
        let now = progress.now;
        if self.cut_due <= now {
            self.react(now);
        }
        if self.increase_due <= now {
            self.increase_due = now + self.rule.increase_interval;
            self.timer_steps += 1;
            self.raise();
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        let of_rate = |bdp: u64| ((bdp as f64 * (self.current / self.rule.line)) as u64).max(1);
        self.rule.window.map_or(u64::MAX, of_rate).min(self.rule.cap)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        (self.current < self.rule.line).then_some(Rate(self.current as u64))
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
