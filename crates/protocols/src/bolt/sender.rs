//! Congestion control (Bolt): a window that falls by a packet when a switch tells of a queue, and grows by
//! one where all switches had room for it.

use super::headers::{Notice, bit};
use super::params::Rule;
use incast_endpoint::sender::{
    Ack, AckFields, Arriving, Control, Feedback, Loss, Message, Notification, Outbound, Progress,
    stamp, stamp_age,
};
use incast_transport::{Rate, Span, Time};
use std::sync::Arc;

/// Bolt's window of one flow.
#[derive(Clone, Debug)]
pub struct Bolt {
    rule: Arc<Rule>,
    /// In payload bytes.
    window: u64,
    /// That of the last ACK.
    rtt: Option<Span>,
    /// When a notice last lowered the window; at first the flow's start.
    lowered: Time,
    /// When a loss last did.
    cut: Option<Time>,
    /// No packet that raises the window is under way.
    probe_free: bool,
    /// An ACK has come.
    heard: bool,
    decided: bool,
}

impl Bolt {
    /// Initial state of a flow that starts now.
    pub fn new(rule: Arc<Rule>, now: Time) -> Bolt {
        Bolt {
            window: rule.most,
            probe_free: rule.probe,
            rule,
            rtt: None,
            lowered: now,
            cut: None,
            heard: false,
            decided: false,
        }
    }

    /// The window in bytes, also below a packet.
    pub fn bytes(&self) -> u64 {
        self.window
    }

    fn raise(&mut self, packets: u64) {
        self.window = (self.window + packets * self.rule.payload).min(self.rule.most);
    }

    fn lower_to(&mut self, window: f64) {
        self.window = (window.max(0.0) as u64).max(self.rule.least);
    }

    /// The time between two decrements that notices of this queue may cause: all flows together take it
    /// away once in a round trip, each its share of the link.
    pub fn interval(&self, notice: &Notice, round: Span) -> Option<Span> {
        let rate = (notice.rate.max(1) as f64) * 1e8;
        let queue = notice.drain as f64 / 1e9 * rate / 8.0 - self.rule.target;
        let packets = queue / self.rule.charged as f64;
        let own = match self.rtt {
            Some(rtt) => self.window as f64 * 8e12 / rtt.0.max(1) as f64,
            None => self.rule.line.0 as f64,
        };
        let share = (own / rate).min(1.0);
        (packets > 0.0).then(|| Span((round.0 as f64 / (packets * share)) as u64))
    }
}

impl Control for Bolt {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        let rest = packet.offset + self.window;
        let mut bits = if rest >= progress.size { bit::LAST } else { 0 };
        bits |= match self.heard {
            false => bit::FIRST,
            true if rest < progress.size => bit::MORE,
            true => 0,
        };
        if self.probe_free {
            self.probe_free = false;
            bits |= bit::PROBE;
        }
        packet.nibble = bits;
        packet.extension = stamp(progress.now);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        if let Some(age) = stamp_age(ack.extension, progress.now) {
            self.rtt = Some(age);
        }
        self.heard = true;
        let bits = ack.nibble;
        let room = bits & (bit::MORE | bit::CONGESTED) == bit::MORE;
        let probe = self.rule.probe && bits & bit::PROBE != 0;
        self.probe_free |= probe;
        self.raise(probe as u64 + room as u64);
        self.decided = bits & (bit::MORE | bit::CONGESTED) != 0;
    }

    /// A notice comes back sooner than an ACK.
    fn on_message(&mut self, message: &Message<'_>, progress: &Progress) {
        self.decided = false;
        let Some(notice) = Notice::read(&message.packet.header) else { return };
        let Some(round) = stamp_age(message.extension, progress.now) else { return };
        self.decided = true;
        let interval = match self.window <= self.rule.payload {
            true => Some(round),
            false => self.interval(&notice, round),
        };
        if interval.is_none_or(|interval| progress.now.since(self.lowered) < interval) {
            return;
        }
        self.lowered = progress.now;
        let (window, payload) = (self.window as f64, self.rule.payload as f64);
        self.lower_to(match window <= payload {
            true => window * (1.0 - self.rule.decrease),
            false => window - payload,
        });
    }

    fn on_loss(&mut self, _loss: Loss, progress: &Progress) {
        // What raises the window may be among what was lost.
        self.probe_free = self.rule.probe;
        let round = self.rtt.unwrap_or(self.rule.base_rtt);
        if self.cut.is_none_or(|cut| progress.now.since(cut) >= round) {
            self.cut = Some(progress.now);
            self.lower_to(self.window as f64 * (1.0 - self.rule.decrease));
        }
    }

    /// A window below a packet lets one be in flight.
    #[inline]
    fn window(&self) -> u64 {
        self.window.max(self.rule.payload)
    }

    /// A packet per RTT and window, if that is less than one.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        if self.window >= self.rule.payload {
            return None;
        }
        let rtt = self.rtt.unwrap_or(self.rule.base_rtt).0.max(1) as f64;
        let share = self.window as f64 / self.rule.payload as f64;
        Some(Rate(((self.rule.charged as f64 * share * 8e12 / rtt) as u64).max(1)))
    }

    #[inline]
    fn decided(&self) -> bool {
        self.decided
    }
}

/// Repeats the bits and the time stamp of each data packet in its ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeat;

impl Feedback for Repeat {
    #[inline]
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        if let Some(super::headers::Data { bits, .. }) =
            super::headers::Data::read(&data.packet.header)
        {
            ack.nibble = bits;
        }
        ack.extension = *data.extension;
        None
    }
}
