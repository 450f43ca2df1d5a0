//! The congestion control of DCTCP.

use super::params::Params;
use incast_endpoint::sender::{Ack, Control, Loss, Progress};

/// DCTCP's window of one flow. Windows are in bytes, with fractions.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    gain: f64,
    /// Bytes of a full segment.
    segment: f64,
    least: f64,
    window: f64,
    /// Slow-start threshold.
    threshold: f64,
    /// Estimate of the share of marked bytes (DCTCP §3.3, alpha).
    alpha: f64,
    acked: u64,
    acked_marked: u64,
    /// End of the window of data over which marks are counted.
    observed_until: u64,
    /// End of the data in flight at the last cut. ACKs up to here neither cut nor grow the window.
    cut_until: u64,
    /// The window before the last cut.
    before_cut: f64,
}

impl Dctcp {
    /// The state of a new flow whose full segments carry `segment` bytes.
    pub fn new(params: &Params, segment: u64) -> Dctcp {
        let segment = segment as f64;
        Dctcp {
            gain: params.gain,
            segment,
            least: params.min_window as f64 * segment,
            window: params.initial_window as f64 * segment,
            threshold: f64::INFINITY,
            alpha: params.initial_alpha,
            acked: 0,
            acked_marked: 0,
            observed_until: 0,
            cut_until: 0,
            before_cut: 0.0,
        }
    }

    /// The estimated share of marked bytes, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether the window doubles each RTT.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// RFC 8257 §3.3, steps 1 to 7: once per window of data.
    #[inline]
    fn observe(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.acked += ack.bytes;
        self.acked_marked += if ack.ece { ack.bytes } else { 0 };
        if progress.acknowledged >= self.observed_until {
            let share = self.acked_marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
            debug_assert!((0.0..=1.0 + 1e-9).contains(&self.alpha), "a share of bytes");
            self.acked = 0;
            self.acked_marked = 0;
            self.observed_until = progress.sent;
        }
    }

    /// DCTCP §3.3, Eq. 2.
    fn cut(&mut self, progress: &Progress) {
        self.before_cut = self.window;
        let floor = self.least.min(self.window);
        self.window = (self.window * (1.0 - self.alpha / 2.0)).max(floor);
        self.threshold = self.window;
        self.cut_until = progress.sent;
    }

    /// RFC 5681 §3.1.
    #[inline]
    fn grow(&mut self, bytes: u64) {
        self.window += match self.in_slow_start() {
            true => bytes as f64,
            false => self.segment * bytes as f64 / self.window,
        };
    }
}

impl Control for Dctcp {
    fn start_with(&mut self, packets: u32) {
        self.window = packets as f64 * self.segment;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        if ack.bytes == 0 {
            return;
        }
        self.observe(ack, progress);
        if progress.acknowledged <= self.cut_until || progress.recovering {
            return;
        }
        if ack.ece {
            self.cut(progress);
        } else if ack.limited {
            self.grow(ack.bytes);
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        // A loss in a round that marks have already cut deepens that cut to one half: the window
        // is reduced once per window of data.
        let fresh = progress.acknowledged >= self.cut_until;
        let before = if fresh { self.window } else { self.before_cut };
        let half = (before / 2.0).max(2.0 * self.segment);
        self.threshold = half;
        self.before_cut = before;
        self.cut_until = progress.sent;
        self.window = match loss {
            Loss::Fast => half.min(self.window),
            Loss::Timeout => self.segment,
        };
        if loss == Loss::Timeout {
            // Slow start may start with the first ACK.
            self.cut_until = progress.acknowledged;
        }
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }
}
