//! Congestion control: the window follows the delay of each packet (Swift Algorithm 1).

use super::params::Rule;
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress, stamp, stamp_age};
use incast_transport::{Rate, Span, Time};
use std::sync::Arc;

/// Swift's window of one flow, in packets, with its fraction.
#[derive(Clone, Debug)]
pub struct Swift {
    rule: Arc<Rule>,
    window: f64,
    /// The last delay.
    rtt: Option<Span>,
    /// When the window last fell.
    fell: Option<Time>,
    /// Timeouts in a row.
    timeouts: u32,
    /// The last delay was above the target of a large window.
    late: bool,
    decided: bool,
}

impl Swift {
    /// Initial state of a flow.
    pub fn new(rule: Arc<Rule>) -> Swift {
        Swift {
            window: rule.first,
            rule,
            rtt: None,
            fell: None,
            timeouts: 0,
            late: false,
            decided: false,
        }
    }

    /// What it follows.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The window in packets.
    pub fn packets(&self) -> f64 {
        self.window
    }

    /// At most one decrease per RTT; the first is free.
    #[inline]
    fn may_fall(&self, now: Time) -> bool {
        match (self.fell, self.rtt) {
            (Some(fell), Some(rtt)) => now.since(fell) >= rtt,
            _ => true,
        }
    }

    /// The window becomes `window`, within its bounds.
    #[inline]
    fn set(&mut self, window: f64, now: Time) {
        let window = window.clamp(self.rule.least, self.rule.most);
        if window < self.window {
            self.fell = Some(now);
        }
        self.window = window;
    }
}

impl Control for Swift {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        packet.extension = stamp(progress.now);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.timeouts = 0;
        let age = stamp_age(ack.extension, progress.now);
        self.decided = age.is_some();
        let Some(age) = age else { return };
        let may_fall = self.may_fall(progress.now);
        self.rtt = Some(age);
        let (rule, window, delay) = (&*self.rule, self.window, age.0 as f64);
        let target = rule.target(window);
        self.late = delay > rule.base;
        if delay < target {
            let grown = rule.increase * (ack.bytes as f64 / rule.payload as f64);
            let grown = if window >= 1.0 { grown / window } else { grown };
            self.set(window + grown, progress.now);
        } else if may_fall {
            let factor = 1.0 - rule.decrease * ((delay - target) / delay);
            self.set(window * factor.max(1.0 - rule.max_decrease), progress.now);
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        self.timeouts = if loss == Loss::Timeout { self.timeouts + 1 } else { 0 };
        let now = progress.now;
        if self.timeouts >= self.rule.timeouts {
            self.set(self.rule.least, now);
        } else if self.may_fall(now) {
            self.set(self.window * (1.0 - self.rule.max_decrease), now);
        }
    }

    #[inline]
    fn congested(&self, _marked: bool) -> bool {
        self.late
    }

    /// A window below a packet lets one be in flight.
    #[inline]
    fn window(&self) -> u64 {
        (self.window.max(1.0) * self.rule.payload as f64) as u64
    }

    /// A packet per RTT and window, if that is less than one.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        if self.window >= 1.0 {
            return None;
        }
        let rtt = self.rtt.map_or(self.rule.base, |rtt| rtt.0 as f64);
        let rate = self.rule.charged * self.window / (rtt / 1e12);
        Some(Rate((rate as u64).max(1)))
    }

    #[inline]
    fn decided(&self) -> bool {
        self.decided
    }
}
