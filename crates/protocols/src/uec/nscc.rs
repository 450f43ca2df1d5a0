//! NSCC: the window of one flow, from the delay and the mark of the packet that each ACK answers.

use incast_endpoint::unordered::{Cut, Law, Lost, News};
use incast_transport::{Rate, Span, Time};
use std::sync::Arc;

/// What is the same for all flows of a host. Times in picoseconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// The host's link.
    pub rate: Rate,
    /// Round trip of a full packet and its ACK on the longest path.
    pub base_rtt: u64,
    /// A full packet.
    pub mtu: u64,
    /// The queueing delay that windows aim at.
    pub target: u64,
    /// Per byte and picosecond below the target.
    pub alpha: f64,
    /// Per byte above the target.
    pub fair: f64,
    /// Per base RTT.
    pub eta: u64,
    /// Per byte without a queue.
    pub fast: f64,
    /// Below this delay there is no queue.
    pub fast_below: u64,
    /// Share of the excess of the average delay.
    pub gamma: f64,
    /// See `adapt_share`.
    pub adapt_share: u64,
    /// Delay that lets a window adapt without a loss.
    pub adapt_delay: u64,
    /// Whether base RTTs follow samples.
    pub learn_base_rtt: bool,
}

/// An average delay moves by this share of the difference.
const AVERAGE: i64 = 80;
/// A window changes once so many full packets have arrived, or once per base RTT.
const ADJUST: u64 = 8;

/// The window of one flow.
#[derive(Clone, Debug)]
pub struct Nscc {
    of: Arc<Constants>,
    window: u64,
    /// The largest window: 1.5 times what its base RTT holds.
    most: u64,
    base_rtt: u64,
    average: i64,
    /// Increases that wait for the next adjustment, in bytes squared, and the bytes since the last one.
    increase: u64,
    received: u64,
    adjusted: Time,
    decreased: Time,
    /// Bytes that arrived without a queue.
    clear: u64,
    is_fast: bool,
    /// Quick adaptation: bytes that arrived in this period, and its end.
    achieved: u64,
    period_end: Time,
    /// A payload has been cut off since the last adaptation.
    cut: bool,
    /// Bytes whose marks say nothing new, because they were in flight at the last adaptation, and those of
    /// them that were heard of.
    to_ignore: u64,
    ignored: u64,
}

impl Constants {
    /// The largest window of a flow with this base RTT.
    pub fn most(&self, base_rtt: u64) -> u64 {
        let window = 1.5 * self.rate.0 as f64 * base_rtt as f64 / 8e12;
        // The product of two integers may lie just below one.
        ((window + 1e-3) as u64).max(self.mtu)
    }
}

impl Nscc {
    /// A flow that begins.
    pub fn new(of: Arc<Constants>) -> Nscc {
        let most = of.most(of.base_rtt);
        Nscc {
            window: most,
            most,
            base_rtt: of.base_rtt,
            average: 0,
            increase: 0,
            received: 0,
            adjusted: Time::ZERO,
            decreased: Time::ZERO,
            clear: 0,
            is_fast: false,
            achieved: 0,
            period_end: Time::ZERO,
            cut: false,
            to_ignore: 0,
            ignored: 0,
            of,
        }
    }

    #[cfg(test)]
    pub(super) fn observes_fast(&self) -> bool {
        self.is_fast
    }

    fn clamp(&mut self) {
        self.window = self.window.clamp(self.of.mtu, self.most);
    }

    fn sample(&mut self, rtt: Span) {
        if self.of.learn_base_rtt && rtt.0 < self.base_rtt {
            self.base_rtt = rtt.0;
            self.most = self.of.most(rtt.0);
        }
    }

    fn averages(&mut self, delay: u64) {
        self.average += (delay as i64 - self.average) / AVERAGE;
    }

    /// Sets the window to what arrived in a period, if that was little. Returns whether it has done all
    /// there is to do.
    fn adapts(&mut self, now: Time, in_flight: u64, lost: bool, marked: bool, delay: u64) -> bool {
        let mut done = self.ignored < self.to_ignore && marked;
        if !done && now > self.period_end {
            let slow = self.cut || lost || delay > self.of.adapt_delay;
            let little = self.achieved < self.most / self.of.adapt_share;
            if self.period_end != Time::ZERO && slow && little {
                self.window = self.achieved.max(self.of.mtu);
                (self.to_ignore, self.ignored, self.cut) = (in_flight, 0, false);
                done = true;
            }
            self.achieved = 0;
            self.period_end = now + Span(self.base_rtt + self.of.target);
        }
        if done {
            (self.increase, self.received) = (0, 0);
        }
        done
    }

    fn changes(&mut self, now: Time, bytes: u64, marked: bool, delay: u64) {
        let target = self.of.target;
        match (marked, delay >= target) {
            (false, true) => self.gain(self.of.fair * bytes as f64),
            (false, false) => {
                let is_clear = delay < self.of.fast_below;
                self.clear = if is_clear { self.clear.saturating_add(bytes) } else { 0 };
                self.is_fast = is_clear && (self.is_fast || self.clear > self.window);
                if self.is_fast {
                    let more = (self.of.fast * bytes as f64) as u64;
                    self.window = self.window.saturating_add(more);
                } else {
                    self.gain(self.of.alpha * bytes as f64 * (target - delay) as f64);
                }
            }
            (true, true) => {
                (self.clear, self.is_fast) = (0, false);
                let (average, aim) = (self.average as f64, target as f64);
                if average > aim && now.since(self.decreased).0 > self.base_rtt {
                    let kept = (1.0 - self.of.gamma * (average - aim) / average).max(0.5);
                    self.window = (self.window as f64 * kept) as u64;
                    self.decreased = now;
                }
            }
            // The next packets take other paths.
            (true, false) => {}
        }
    }

    fn gain(&mut self, more: f64) {
        self.increase = self.increase.saturating_add(more as u64);
    }

    fn adjusts(&mut self, now: Time) {
        let since = now.since(self.adjusted).0;
        if self.received <= ADJUST * self.of.mtu && since <= self.of.base_rtt {
            return;
        }
        self.window = self.window.saturating_add(self.increase / self.window);
        if since >= self.of.base_rtt {
            self.window = self.window.saturating_add(self.of.eta);
            self.adjusted = now;
        }
        (self.increase, self.received) = (0, 0);
        self.clamp();
    }
}

impl Law for Nscc {
    fn on_ack(&mut self, news: &News<'_>) {
        let News { now, bytes, in_flight, marked, rtt, .. } = *news;
        for count in [&mut self.achieved, &mut self.received, &mut self.ignored] {
            *count = count.saturating_add(bytes);
        }
        let mut delay = self.average as u64;
        if let Some(rtt) = rtt {
            self.sample(rtt);
            delay = rtt.0 - self.base_rtt.min(rtt.0);
            // The path, not the destination, is slow if it does not mark.
            let lone = !marked && delay > self.of.target;
            self.averages(if lone { self.base_rtt / 4 } else { delay });
        }
        if !self.adapts(now, in_flight, false, marked, delay) {
            self.changes(now, bytes, marked, delay);
            self.clamp();
            self.adjusts(now);
        }
    }

    fn on_nack(&mut self, cut: &Cut) {
        let Cut { now, bytes, in_flight, rtt, controlled } = *cut;
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        self.ignored = self.ignored.saturating_add(bytes);
        self.averages(self.of.base_rtt);
        self.cut = true;
        if !self.adapts(now, in_flight, true, true, 0) && !controlled {
            self.window = self.window.saturating_sub(bytes);
            self.clamp();
        }
    }

    fn on_timeout(&mut self, lost: &Lost) {
        self.window = self.window.saturating_sub(lost.bytes).max(self.of.mtu);
    }

    fn window(&self) -> u64 {
        self.window
    }
}
