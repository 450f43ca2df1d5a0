//! Congestion control by delay and its growth (PowerTCP Algorithm 2).

use crate::powertcp::{Power, Rule};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress, stamp, stamp_age};
use incast_transport::{Rate, Span, Time};
use std::sync::Arc;

incast_transport::choice! {
    /// When the window changes.
    pub enum Update {
        /// Once per RTT.
        Round = "round",
        /// With each ACK, from the window of the round.
        Ack = "ack",
    }
}

/// Effective settings at a host.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The window for a power.
    pub rule: Rule,
    /// Base RTTs that count as a delay without a queue.
    pub tolerance: f64,
    /// When the window changes.
    pub update: Update,
}

/// theta-PowerTCP's window of one flow.
#[derive(Clone, Debug)]
pub struct Theta {
    measure: Arc<Measure>,
    flow: Power,
    /// Delay and time of the ACK before.
    previous: Option<(Span, Time)>,
    decided: bool,
}

impl Theta {
    /// Initial state of a flow.
    pub fn new(measure: Arc<Measure>) -> Theta {
        Theta { flow: Power::new(&measure.rule), measure, previous: None, decided: false }
    }

    /// Window, reference (bytes) and power.
    pub fn state(&self) -> (f64, f64, f64) {
        self.flow.state()
    }

    /// NORMPOWER; false if nothing can be told from this delay.
    fn sample(&mut self, delay: Span, now: Time) -> bool {
        let Some((before, at)) = self.previous else {
            self.previous = Some((delay, now));
            return false;
        };
        let elapsed = now.since(at);
        if elapsed == Span::ZERO {
            return false;
        }
        self.previous = Some((delay, now));
        let Measure { rule, tolerance, .. } = &*self.measure;
        let growth = (delay.0 as f64 - before.0 as f64) / elapsed.0 as f64 + 1.0;
        let delays = delay.0 as f64 / (rule.base_rtt.0 as f64 * tolerance);
        self.flow.smooth(rule, growth.max(rule.floor) * delays, elapsed);
        true
    }
}

impl Control for Theta {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        packet.extension = stamp(progress.now);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        let Some(delay) = stamp_age(ack.extension, progress.now) else { return };
        let first = self.flow.begins(progress);
        if !self.sample(delay, progress.now) || first {
            return;
        }
        let over = self.flow.round_over(progress);
        self.decided = over || self.measure.update == Update::Ack;
        if self.decided {
            // Once per RTT the reference is the present window before and after it.
            self.flow.follow(&self.measure.rule);
        }
        if over {
            self.flow.renew();
        }
    }

    fn on_loss(&mut self, loss: Loss, _progress: &Progress) {
        self.flow.lose(&self.measure.rule, loss);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.flow.bytes()
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.flow.pacing(&self.measure.rule)
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
