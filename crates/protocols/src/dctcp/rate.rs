//! DCTCP as a rate instead of a window (HPCC's simulator, congestion control 8): for comparisons
//! with transports of RDMA NICs.

use super::params::Params;
use incast_endpoint::sender::{Ack, Control, Loss, Progress};
use incast_transport::{HostSite, Rate};

/// Effective settings of a host. Rates are in bits per second of charged bytes.
#[derive(Clone, Copy, Debug)]
pub struct RateRule {
    /// Weight of a round in alpha.
    pub gain: f64,
    /// Alpha before the first round.
    pub alpha: f64,
    /// Rate of the host's link.
    pub line: f64,
    /// Least rate.
    pub least: f64,
    /// Increase per round without a mark.
    pub step: f64,
    /// Payload bytes in flight at line rate.
    pub bdp: u64,
    /// Payload bytes of a full packet.
    pub segment: u64,
}

impl RateRule {
    /// The settings of a host.
    pub fn new(params: &Params, site: &HostSite) -> RateRule {
        let framing = &site.fabric.framing;
        let packet = framing.charged_mtu() as f64 * 8.0 / site.fabric.base_rtt.as_secs_f64();
        let line = site.rate.0 as f64;
        RateRule {
            gain: params.gain,
            alpha: params.initial_alpha,
            line,
            least: (params.min_rate.0 as f64).min(line),
            step: params.additive_rate.map_or(packet, |rate| rate.0 as f64),
            bdp: site.bdp_packets as u64 * framing.mss() as u64,
            segment: framing.mss() as u64,
        }
    }
}

/// DCTCP's rate of one flow.
#[derive(Clone, Copy, Debug)]
pub struct RateDctcp {
    rule: RateRule,
    /// Current rate.
    current: f64,
    /// Estimate of the share of marked bytes.
    alpha: f64,
    acked: u64,
    acked_marked: u64,
    /// End of the round over which marks are counted; 0 before the first ACK.
    observed_until: u64,
    /// End of the data in flight at the last cut.
    cut_until: u64,
    /// Most payload bytes in flight before the first ACK.
    burst: u64,
}

impl RateDctcp {
    /// The state of a new flow: at line rate.
    pub fn new(rule: RateRule) -> RateDctcp {
        RateDctcp {
            rule,
            current: rule.line,
            alpha: rule.alpha,
            acked: 0,
            acked_marked: 0,
            observed_until: 0,
            cut_until: 0,
            burst: u64::MAX,
        }
    }

    /// Current rate, bits per second.
    pub fn current(&self) -> f64 {
        self.current
    }

    /// The estimated share of marked bytes, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts an ACK; returns whether it ends a round.
    fn observe(&mut self, ack: &Ack<'_>, progress: &Progress) -> bool {
        self.acked += ack.bytes;
        self.acked_marked += if ack.ece { ack.bytes } else { 0 };
        if progress.acknowledged <= self.observed_until {
            return false;
        }
        // The first ACK only begins a round.
        if self.observed_until > 0 && self.acked > 0 {
            let share = self.acked_marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.rule.gain) * self.alpha + self.rule.gain * share;
            (self.acked, self.acked_marked) = (0, 0);
        }
        self.observed_until = progress.sent;
        true
    }
}

impl Control for RateDctcp {
    fn start_with(&mut self, packets: u32) {
        self.burst = packets as u64 * self.rule.segment;
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.burst = u64::MAX;
        let round = self.observe(ack, progress);
        if progress.acknowledged <= self.cut_until && self.cut_until > 0 {
            return;
        }
        if ack.ece {
            self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.rule.least);
            self.cut_until = progress.sent;
        } else if round {
            self.current = (self.current + self.rule.step).min(self.rule.line);
        }
    }

    /// Losses leave the rate as it is.
    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    #[inline]
    fn window(&self) -> u64 {
        let window = (self.rule.bdp as f64 * (self.current / self.rule.line)) as u64;
        window.clamp(1, self.burst.max(1))
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        (self.current < self.rule.line).then_some(Rate(self.current as u64))
    }
}
