//! The congestion control of CUBIC.

use super::hystart::HyStart;
use super::params::{Growth, Params};
use incast_endpoint::sender::views::OpenAck;
use incast_endpoint::sender::{Ack, Control, Loss, Message, Progress, Request};
use incast_transport::math::cbrt;
use incast_transport::{Extension, Span, Time};

/// State of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opening {
    /// No SYN in flight; this many were sent without a reply.
    Closed {
        tries: u32,
    },
    /// A SYN was sent at `at`; it is repeated at `again`.
    SynSent {
        at: Time,
        again: Time,
        tries: u32,
    },
    Open,
}

/// A period of congestion avoidance between two losses.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it started; time in which the window was not the limit is excluded.
    began: Time,
    /// The window of the plateau.
    origin: f64,
    /// Seconds from `began` to the plateau.
    climb: f64,
    /// Reno's window.
    friendly: f64,
}

/// CUBIC's window of one flow, or TCP Reno's. Windows are in full segments, with fractions.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    growth: Growth,
    beta: f64,
    scale: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    least: f64,
    /// Bytes of a full segment.
    segment: f64,
    window: f64,
    /// Slow-start threshold.
    threshold: f64,
    /// The window of the last loss (W_max); 0 if there was none.
    peak: f64,
    epoch: Option<Epoch>,
    least_rtt: Option<Span>,
    /// When the last ACK arrived.
    last: Time,
    hystart: Option<HyStart>,
    opening: Opening,
    patience: Span,
}

impl Cubic {
    /// The state of a new flow whose full segments carry `segment` bytes.
    pub fn new(params: &Params, segment: u64) -> Cubic {
        Cubic {
            growth: params.growth,
            beta: params.beta(),
            scale: params.scale,
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            least: params.min_window as f64,
            segment: segment as f64,
            window: params.initial_window as f64,
            threshold: f64::INFINITY,
            peak: 0.0,
            epoch: None,
            least_rtt: None,
            last: Time::ZERO,
            hystart: params.hystart.then(|| HyStart::new(params)),
            opening: match params.handshake {
                true => Opening::Closed { tries: 0 },
                false => Opening::Open,
            },
            patience: params.rto_initial(),
        }
    }

    /// The window in full segments, with its fraction.
    pub fn segments(&self) -> f64 {
        self.window
    }

    /// The window of the last loss, lowered by fast convergence; 0 if there was none.
    pub fn peak(&self) -> f64 {
        self.peak
    }

    /// Seconds from the start of this epoch to its plateau.
    pub fn climb(&self) -> Option<f64> {
        self.epoch.map(|epoch| epoch.climb)
    }

    /// Whether the window doubles each RTT.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// The curve `seconds` into an epoch (RFC 9438 §4.2, Eq. 1).
    fn curve(&self, epoch: &Epoch, seconds: f64) -> f64 {
        let from_plateau = seconds - epoch.climb;
        epoch.origin + self.scale * from_plateau * from_plateau * from_plateau
    }

    fn slow_start(&mut self, ack: &Ack<'_>, acked: f64, progress: &Progress) {
        if let Some(hystart) = &mut self.hystart
            && hystart.ends(progress, self.window, ack.rtt, self.least_rtt)
        {
            self.threshold = self.window;
            return;
        }
        if ack.limited {
            // RFC 5681 §3.1, Eq. 2: an ACK that closes a hole after a timeout acknowledges a
            // window at once, and must not release one at once.
            self.window += acked.min(1.0);
        }
    }

    /// RFC 9438 §4.2 to 4.5.
    fn avoid_congestion(&mut self, limited: bool, acked: f64, now: Time) {
        if self.growth == Growth::Reno {
            self.window += if limited { acked / self.window } else { 0.0 };
            return;
        }
        let idle = if limited { Span::ZERO } else { now.since(self.last) };
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now));
        epoch.began += idle;
        self.epoch = Some(epoch);
        if !limited {
            return; // RFC 9438 §5.8
        }
        let elapsed = now.since(epoch.began).as_secs_f64();
        let ahead = self.least_rtt.map_or(0.0, Span::as_secs_f64);
        // Not below the window; grows by at most half a segment per acknowledged segment.
        let target = self.curve(&epoch, elapsed + ahead).clamp(self.window, 1.5 * self.window);
        // RFC 9438 §4.3: Reno's average window with this beta; from the old peak on Reno's slope.
        let slope = match epoch.friendly >= self.peak {
            true => 1.0,
            false => 3.0 * (1.0 - self.beta) / (1.0 + self.beta),
        };
        epoch.friendly += slope * acked / self.window;
        self.epoch = Some(epoch);
        if self.reno_friendly && self.curve(&epoch, elapsed) < epoch.friendly {
            self.window = self.window.max(epoch.friendly);
        } else {
            self.window += (target - self.window) / self.window * acked;
        }
    }

    fn begin(&self, now: Time) -> Epoch {
        let (origin, climb) = match self.window < self.peak {
            true => (self.peak, cbrt((self.peak - self.window) / self.scale)),
            false => (self.window, 0.0),
        };
        Epoch { began: now, origin, climb, friendly: self.window }
    }
}

impl Control for Cubic {
    fn start_with(&mut self, packets: u32) {
        self.window = packets as f64;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if ack.bytes > 0 && !progress.recovering {
            let acked = ack.bytes as f64 / self.segment;
            match self.in_slow_start() {
                true => self.slow_start(ack, acked, progress),
                false => self.avoid_congestion(ack.limited, acked, progress.now),
            }
        }
        self.last = progress.now;
    }

    fn on_loss(&mut self, loss: Loss, _progress: &Progress) {
        self.epoch = None;
        let before = self.window;
        self.threshold = (before * self.beta).max(self.least);
        match loss {
            Loss::Fast => {
                // RFC 9438 §4.7: a flow that did not reach its old peak leaves room for others.
                let below = self.fast_convergence && before < self.peak;
                self.peak = if below { before * (1.0 + self.beta) / 2.0 } else { before };
                self.window = self.threshold;
            }
            Loss::Timeout => {
                self.peak = 0.0;
                self.window = 1.0;
            }
        }
    }

    fn on_message(&mut self, message: &Message<'_>, progress: &Progress) {
        let Opening::SynSent { at, tries, .. } = self.opening else { return };
        if OpenAck::read(&message.packet.header).is_some() {
            self.opening = Opening::Open;
            if tries == 1 {
                self.least_rtt = Some(progress.now.since(at));
            }
        }
    }

    fn deadline(&self) -> Time {
        match self.opening {
            Opening::SynSent { again, .. } => again,
            _ => Time::NEVER,
        }
    }

    fn on_deadline(&mut self, progress: &Progress) {
        if let Opening::SynSent { again, tries, .. } = self.opening
            && again <= progress.now
        {
            self.opening = Opening::Closed { tries };
        }
    }

    fn request(&mut self, progress: &Progress) -> Option<Request> {
        let Opening::Closed { tries } = self.opening else { return None };
        // RFC 6298 §5.5: the timeout doubles with each attempt.
        let again = progress.now.saturating_add(self.patience.saturating_mul(1 << tries.min(12)));
        self.opening = Opening::SynSent { at: progress.now, again, tries: tries + 1 };
        Some(Request { nibble: 0, window: 0, class: 1, extension: Extension::None })
    }

    #[inline]
    fn window(&self) -> u64 {
        if self.opening == Opening::Open { (self.window * self.segment) as u64 } else { 0 }
    }
}
