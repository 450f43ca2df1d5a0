//! Congestion control: the rate follows the RTT and its gradient.

use super::params::{Pace, Rule, Update, Variant};
use incast_endpoint::sender::{
    Ack, Control, Loss, Outbound, Progress, STAMP_BYTES, stamp, stamp_age,
};
use incast_transport::{Bytes, Framing, Rate, Span, Time};

/// TIMELY's rate of one flow. Rates are in bits per second, fractions of a bit add up.
#[derive(Clone, Copy, Debug)]
pub struct Timely {
    rule: Rule,
    framing: Framing,
    rate: f64,
    /// The RTT of the last decision.
    previous: Option<f64>,
    /// Average difference between RTTs.
    difference: f64,
    /// Rises in a row.
    rises: u32,
    /// Bytes sent at the last decision; its ACKs belong to that round.
    round_end: u64,
    /// Acknowledged segments.
    completed: u64,
    /// When the segment being sent began to leave.
    segment_sent: Time,
    decided: bool,
}

impl Timely {
    /// Initial state of a flow of a host that sends `others`, which starts with its share of the
    /// link among them.
    pub fn new(rule: Rule, framing: Framing, others: usize) -> Timely {
        Timely {
            rule,
            framing,
            rate: (rule.line / (others + 1) as f64).max(rule.least),
            previous: None,
            difference: 0.0,
            rises: 0,
            round_end: 0,
            completed: 0,
            segment_sent: Time::ZERO,
            decided: false,
        }
    }

    /// The rate, bits per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The average RTT difference divided by the least one.
    pub fn gradient(&self) -> f64 {
        self.difference / self.rule.min_rtt
    }

    /// How long the link of the host is busy with `payload` bytes in full packets.
    fn serialisation(&self, payload: u64) -> Span {
        let full = (self.framing.mss() - STAMP_BYTES) as u64;
        let rest = payload % full;
        let charged =
            |payload: u64| self.framing.charged_packet(payload as u16, STAMP_BYTES as u8) as u64;
        let last = if rest > 0 { charged(rest) } else { 0 };
        Rate(self.rule.line as u64).tx_time(Bytes(payload / full * charged(full) + last))
    }

    /// Where the timed segment starts that ends with the packet from `offset` on.
    fn timed_from(&self, offset: u64) -> u64 {
        match self.rule.pace {
            Pace::Packet => offset,
            Pace::Segment => offset / self.rule.segment * self.rule.segment,
        }
    }

    /// Whether this ACK is a completion that the rate reacts to.
    fn completes(&mut self, progress: &Progress) -> bool {
        match self.rule.update {
            Update::Round => {
                let complete = progress.acknowledged > self.round_end;
                if complete {
                    self.round_end = progress.sent;
                }
                complete
            }
            Update::Segment => {
                let completed = progress.acknowledged / self.rule.segment;
                completed > std::mem::replace(&mut self.completed, completed)
            }
        }
    }

    /// TIMELY §4.3, Algorithm 1, for an RTT in picoseconds without serialisation.
    pub(super) fn react(&mut self, rtt: f64) {
        let Some(previous) = self.previous.replace(rtt) else { return };
        let rule = self.rule;
        self.difference = (1.0 - rule.weight) * self.difference + rule.weight * (rtt - previous);
        let gradient = self.gradient();
        if rtt < rule.low {
            match rule.hyper_below_low {
                true => self.rise(),
                false => self.rate += rule.step,
            }
        } else if rtt > rule.high {
            self.fall(1.0 - rule.decrease * (1.0 - rule.high / rtt));
        } else if rule.variant == Variant::Patched {
            self.weigh(gradient, rtt);
        } else if gradient <= 0.0 {
            self.rise();
        } else {
            self.fall((1.0 - rule.decrease * gradient).max(1.0 - rule.max_decrease));
        }
        self.rate = self.rate.clamp(rule.least, rule.line);
    }

    fn rise(&mut self) {
        self.rises += 1;
        let hyper = self.rises >= self.rule.hyper_after;
        self.rate += self.rule.step * if hyper { self.rule.hyper_factor } else { 1.0 };
    }

    fn fall(&mut self, factor: f64) {
        self.rises = 0;
        self.rate *= factor;
    }

    /// ECN or Delay §4.3, Algorithm 2: the steeper the rise of delay, the more its distance from
    /// the reference counts and the less the additive step.
    fn weigh(&mut self, gradient: f64, rtt: f64) {
        let rule = self.rule;
        let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
        let error = (rtt - rule.reference) / rule.reference;
        self.rises = 0;
        self.rate =
            rule.step * (1.0 - weight) + self.rate * (1.0 - rule.patched_decrease * weight * error);
    }
}

impl Control for Timely {
    #[inline]
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        let end = packet.offset + packet.payload as u64;
        let mut sent = progress.now;
        if self.rule.pace == Pace::Segment {
            if packet.offset.is_multiple_of(self.rule.segment) {
                self.segment_sent = progress.now;
            }
            sent = self.segment_sent;
            packet.more = !end.is_multiple_of(self.rule.segment) && end < progress.size;
        }
        packet.extension = stamp(sent);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        if ack.nack || ack.bytes == 0 || !self.completes(progress) {
            return;
        }
        let Some(rtt) = stamp_age(ack.extension, progress.now) else { return };
        let piece = progress.acknowledged.saturating_sub(self.timed_from(ack.echo));
        let own = self.serialisation(piece.min(self.rule.segment));
        self.react(rtt.saturating_sub(own).0 as f64);
        self.decided = true;
    }

    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}

    #[inline]
    fn window(&self) -> u64 {
        let of_rate = |bdp: u64| ((bdp as f64 * (self.rate / self.rule.line)) as u64).max(1);
        self.rule.window.map_or(u64::MAX, of_rate).min(self.rule.cap)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        (self.rate < self.rule.line).then_some(Rate(self.rate as u64))
    }

    fn decided(&self) -> bool {
        self.decided
    }
}
