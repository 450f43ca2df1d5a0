//! The window for a power, however that is measured (PowerTCP Algorithms 1 and 2).

use incast_endpoint::sender::{Loss, Progress};
use incast_endpoint::telemetry::pacing;
use incast_transport::{Rate, Span};

incast_transport::choice! {
    /// The window with which a new one is averaged.
    pub enum Average {
        /// The present one.
        Window = "window",
        /// That of the beginning of the round: then the window is a function of the power alone.
        Reference = "reference",
    }
}

/// Effective settings at a host. Windows are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Base RTT (tau).
    pub base_rtt: Span,
    /// First and largest window: what the link carries in a base RTT.
    pub most: f64,
    /// Least window.
    pub least: f64,
    /// Additive step (beta).
    pub additive: f64,
    /// Weight of the new window (gamma).
    pub gain: f64,
    /// Power that is aimed at (eta).
    pub target: f64,
    /// Least rate of arrivals, or growth of delay, as a share of the link's rate.
    pub floor: f64,
    /// With what a new window is averaged.
    pub average: Average,
}

/// Window and power of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Power {
    window: f64,
    /// The window at the beginning of the round that ACKs are of (w_old).
    reference: f64,
    /// Smoothed, normalised (Gamma).
    power: f64,
    /// Bytes sent when the round began; 0 before the first ACK.
    round_end: u64,
}

impl Power {
    /// A flow starts with a base RTT at line rate.
    pub fn new(rule: &Rule) -> Power {
        Power { window: rule.most, reference: rule.most, power: 1.0, round_end: 0 }
    }

    /// Window, reference (bytes) and power.
    pub fn state(&self) -> (f64, f64, f64) {
        (self.window, self.reference, self.power)
    }

    /// Whether this is the flow's first ACK: it begins the first round.
    #[inline]
    pub fn begins(&mut self, progress: &Progress) -> bool {
        let first = self.round_end == 0;
        if first {
            self.round_end = progress.sent;
        }
        first
    }

    /// Whether an ACK of what was sent after the last round began has come; then the next one begins.
    #[inline]
    pub fn round_over(&mut self, progress: &Progress) -> bool {
        let over = progress.acknowledged > self.round_end;
        if over {
            self.round_end = progress.sent;
        }
        over
    }

    /// A power was measured over `elapsed`.
    #[inline]
    pub fn smooth(&mut self, rule: &Rule, power: f64, elapsed: Span) {
        let weight = elapsed.min(rule.base_rtt).0 as f64 / rule.base_rtt.0 as f64;
        self.power = (1.0 - weight) * self.power + weight * power;
    }

    /// The window follows the power.
    #[inline]
    pub fn follow(&mut self, rule: &Rule) {
        let old = match rule.average {
            Average::Window => self.window,
            Average::Reference => self.reference,
        };
        let new = self.reference / (self.power / rule.target) + rule.additive;
        let window = rule.gain * new + (1.0 - rule.gain) * old;
        self.window = window.clamp(rule.least, rule.most);
    }

    /// The reference is the window as it is now.
    #[inline]
    pub fn renew(&mut self) {
        self.reference = self.window;
    }

    /// A timeout halves the window; other losses are no news.
    pub fn lose(&mut self, rule: &Rule, loss: Loss) {
        if loss == Loss::Timeout {
            self.window = (self.window / 2.0).max(rule.least);
            self.renew();
        }
    }

    /// Bytes that may be in flight.
    #[inline]
    pub fn bytes(&self) -> u64 {
        (self.window as u64).max(1)
    }

    /// The rate of the window.
    #[inline]
    pub fn pacing(&self, rule: &Rule) -> Option<Rate> {
        pacing(self.window, rule.most, rule.base_rtt)
    }
}
