//! The egress marker (REN §3.2): once per period the port compares what waits with the time it was
//! idle, both in packets, and turns the difference into marks on the packets that leave next.

#[cfg(test)]
#[path = "switch_tests.rs"]
mod tests;

use super::{Feedback, Params, Rule, Spread};
use incast_transport::{Marker, PacketPool, PacketRef, Span, Time, View};

/// What the two ECN bits of a REN packet say (REN §3.2.3). A later hop may only raise the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Code {
    /// Room for more: a grant lets two packets go.
    Under = 0b00,
    /// No room: one packet.
    Full = 0b01,
    /// A queue: none.
    Over = 0b10,
}

impl Code {
    /// The code in the ECN bits; the unused value counts as [`Code::Over`].
    #[inline]
    pub fn of(mark: u8) -> Code {
        match mark & 3 {
            0b00 => Code::Under,
            0b01 => Code::Full,
            _ => Code::Over,
        }
    }
}

/// Marks of one kind still to be handed out in this period, and where.
#[derive(Clone, Copy, Debug, Default)]
struct Budget {
    left: u32,
    /// A mark on every `stride`-th packet.
    stride: u32,
    /// Packets to pass before the next mark.
    pass: u32,
}

impl Budget {
    fn new(marks: u64, spread: Spread, packets: u32) -> Budget {
        let left = marks.min(u32::MAX as u64) as u32;
        let stride = match spread {
            Spread::Head => 1,
            Spread::Even => (packets / left.max(1)).max(1),
        };
        Budget { left, stride, pass: 0 }
    }

    #[inline]
    fn take(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        if self.pass > 0 {
            self.pass -= 1;
            return false;
        }
        self.left -= 1;
        self.pass = self.stride - 1;
        true
    }
}

/// A port's state; it does not depend on the number of flows.
#[derive(Debug)]
pub struct PortMarker {
    feedback: Feedback,
    rule: Rule,
    spread: Spread,
    /// `T`.
    period: Span,
    /// Transmission time of a full packet.
    packet_time: Span,
    /// `ts`.
    started: Time,
    /// Idle time in this period; `ti` is this in full packets.
    idle: Span,
    over: Budget,
    under: Budget,
    /// Packets that left with code over or under in this period (`m_over`, `m_under`).
    left_over: u64,
    left_under: u64,
    /// Data packets that left in this period.
    left: u32,
}

impl PortMarker {
    /// An idle port.
    pub fn new(params: &Params, period: Span, packet_time: Span) -> PortMarker {
        PortMarker {
            feedback: params.feedback,
            rule: params.rule,
            spread: params.spread,
            period,
            packet_time,
            started: Time::ZERO,
            idle: Span::ZERO,
            over: Budget::default(),
            under: Budget::default(),
            left_over: 0,
            left_under: 0,
            left: 0,
        }
    }

    /// Ends the period if it is over: the excess of waiting packets over idle time becomes marks
    /// of over-utilisation, the opposite marks of under-utilisation (REN §3.2.3).
    #[inline]
    fn roll(&mut self, now: Time, waiting: u64) {
        let elapsed = now.since(self.started);
        if elapsed < self.period {
            return;
        }
        // An idle period is no evidence of room (deviation 6).
        let idle = if elapsed >= self.period * 2 { Span::ZERO } else { self.idle.min(self.period) };
        let room = idle.0 / self.packet_time.0;
        let (mut over, mut under) = (waiting.saturating_sub(room), room.saturating_sub(waiting));
        if self.feedback == Feedback::Compensate {
            over = over.saturating_sub(self.left_over);
            under = under.saturating_sub(self.left_under);
        }
        self.over = Budget::new(over, self.spread, self.left);
        self.under = Budget::new(under, self.spread, self.left);
        (self.left_over, self.left_under, self.left) = (0, 0, 0);
        self.idle = Span::ZERO;
        self.started = now;
    }

    /// The mark for the next data packet.
    #[inline]
    fn code(&mut self, gap: Span) -> Code {
        if self.over.take() {
            return Code::Over;
        }
        let under = match self.rule {
            Rule::Budget => self.under.take(),
            Rule::Gap => gap >= self.packet_time,
        };
        if under { Code::Under } else { Code::Full }
    }
}

impl Marker for PortMarker {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        self.roll(view.now, view.data.packets as u64);
        // A longer gap is a pause of the traffic, not room between packets (deviation 6).
        let gap = view.idle.filter(|&gap| gap < self.period * 2).unwrap_or(Span::ZERO);
        self.idle += gap;
        let content = &mut packets[packet];
        if !view.own || !content.is_data() {
            return false;
        }
        let local = self.code(gap);
        let merged = Code::of(content.mark).max(local);
        let decisive = merged == local;
        packets[packet].mark = merged as u8;
        if decisive {
            packets.stamps_mut(packet).informed = view.now.0;
        }
        self.left += 1;
        self.left_over += (merged == Code::Over) as u64;
        self.left_under += (merged == Code::Under) as u64;
        decisive && local != Code::Full
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
