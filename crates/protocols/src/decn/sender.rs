//! The congestion control (DECN §III): three consecutive packets collect the difference between
//! the flow's fair share and its rate; when all three are acknowledged the rate changes by it.

use super::code::{PACKETS, decode};
use super::params::{Cadence, Rule};
use super::{FIRST_OF_UNIT, UNDECIDED};
use incast_endpoint::sender::{Ack, Control, Loss, Outbound, Progress};
use incast_transport::{Rate, Span, Time};
use std::collections::VecDeque;

/// Most units in flight (`guard` allows one).
const UNITS_MAX: usize = 64;
/// Picoseconds per second, for rates in bits per second.
const PS: u128 = 1_000_000_000_000;

/// A feedback unit in flight.
#[derive(Clone, Copy, Debug)]
struct Unit {
    opened: Time,
    /// First bytes of its packets.
    offsets: [u64; PACKETS as usize],
    sent: u8,
    /// ACKs so far, which must arrive in order, and the code of their nibbles.
    acked: u8,
    code: u16,
}

impl Unit {
    fn has(&self, offset: u64) -> bool {
        self.offsets[..self.sent as usize].contains(&offset)
    }
}

/// DECN's rate of one flow, in bits per second of charged bytes.
#[derive(Clone, Debug)]
pub struct Decn {
    rule: Rule,
    rate: u64,
    rtt: Span,
    /// Oldest first.
    units: VecDeque<Unit>,
    /// When the last unit was opened (t_unit), when the rate changed last (t_apply), and when for
    /// a loss.
    opened: Option<Time>,
    applied: Option<Time>,
    halved: Option<Time>,
    /// When the current rate took effect, and the bytes charged since.
    since: Time,
    sent: u64,
    /// Packets not yet sent.
    remaining: u32,
    decided: bool,
}

impl Decn {
    /// The state of a new flow of `packets`.
    pub fn new(rule: Rule, packets: u32) -> Decn {
        Decn {
            rule,
            rate: rule.initial,
            rtt: rule.base_rtt,
            units: VecDeque::new(),
            opened: None,
            applied: None,
            halved: None,
            since: Time::NEVER,
            sent: 0,
            remaining: packets,
            decided: false,
        }
    }

    /// The rate in bits per second.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Number of units in flight.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    fn time_of(&self, packets: u64) -> Span {
        let bits = packets as u128 * self.rule.charged as u128 * 8;
        Span((bits * PS / self.rate as u128) as u64)
    }

    /// Removes units whose ACKs have not arrived in time.
    fn expire(&mut self, now: Time) {
        let patience = self.rtt * 2 + self.rule.period * 4 + self.time_of(6);
        while self.units.front().is_some_and(|unit| now > unit.opened.saturating_add(patience)) {
            self.units.pop_front();
        }
    }

    fn may_open(&self, now: Time) -> bool {
        let since = |last: Option<Time>, span: Span| last.is_none_or(|at| now >= at + span);
        let free = match self.rule.cadence {
            Cadence::Guard => self.units.is_empty() && since(self.applied, self.rule.guard),
            Cadence::Paper | Cadence::Gain => {
                self.units.back().is_none_or(|unit| unit.sent == PACKETS)
            }
        };
        free && self.units.len() < UNITS_MAX
            && since(self.opened, self.rule.period)
            && self.remaining >= PACKETS as u32
    }

    /// The current rate, or if less the rate that the flow has used since its last change, to the
    /// precision of one packet: what switches measured.
    fn current(&self, now: Time) -> u64 {
        let lasted = now.since(self.since.min(now)).0;
        if !self.rule.from_sent || lasted == 0 {
            return self.rate;
        }
        let bits = (self.sent + self.rule.charged) as u128 * 8;
        self.rate.min((bits * PS / lasted as u128) as u64)
    }

    fn changes(&mut self, now: Time) {
        self.applied = Some(now);
        (self.since, self.sent) = (now, 0);
    }

    /// Applies the difference of a complete unit.
    fn apply(&mut self, code: u16, now: Time) {
        let Rule { cadence, period, floor, step, least, line, .. } = self.rule;
        let mut difference = decode(code, step) as i128;
        if cadence == Cadence::Gain {
            let span = self.rtt + period * 2;
            difference = difference * period.0 as i128 / span.0 as i128;
        }
        let current = self.current(now);
        let kept = (current as f64 * floor) as i128;
        let rate = (current as i128 + difference).max(kept);
        self.rate = rate.clamp(least as i128, line as i128) as u64;
        self.changes(now);
        self.decided = true;
    }
}

impl Control for Decn {
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        let now = progress.now;
        self.since = self.since.min(now);
        self.sent += packet.payload as u64 + self.rule.charged - self.rule.segment;
        if packet.retransmit {
            // Its unit has a hole.
            self.units.retain(|unit| !unit.has(packet.offset));
            return;
        }
        self.expire(now);
        if self.may_open(now) {
            let offsets = [0; PACKETS as usize];
            self.units.push_back(Unit { opened: now, offsets, sent: 0, acked: 0, code: 0 });
            self.opened = Some(now);
            packet.mark = FIRST_OF_UNIT;
        }
        if let Some(unit) = self.units.back_mut().filter(|unit| unit.sent < PACKETS) {
            packet.nibble = UNDECIDED;
            unit.offsets[unit.sent as usize] = packet.offset;
            unit.sent += 1;
        }
        self.remaining = self.remaining.saturating_sub(1);
    }

    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.decided = false;
        self.rtt = progress.smoothed_rtt.unwrap_or(self.rtt);
        if self.units.is_empty() {
            return;
        }
        self.expire(progress.now);
        let Some(index) = self.units.iter().position(|unit| unit.has(ack.echo)) else { return };
        let unit = &mut self.units[index];
        if unit.offsets[unit.acked as usize] != ack.echo {
            // Out of order or a duplicate: the nibbles may not belong together.
            self.units.remove(index);
            return;
        }
        unit.acked += 1;
        unit.code = unit.code << 4 | (ack.nibble & 0xF) as u16;
        if unit.acked == PACKETS {
            let code = unit.code;
            // ACKs come in order: those before it have lost one.
            self.units.drain(..=index);
            self.apply(code, progress.now);
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        let Rule { initial, least, halve_on_loss, .. } = self.rule;
        let now = progress.now;
        match loss {
            Loss::Fast => {
                let recent = self.halved.is_some_and(|at| now.since(at) < self.rtt);
                if !halve_on_loss || recent {
                    return;
                }
                self.rate = (self.rate / 2).max(least);
            }
            Loss::Timeout => {
                self.units.clear();
                if !halve_on_loss {
                    return;
                }
                self.rate = (self.rate / 2).min(initial).max(least);
            }
        }
        self.halved = Some(now);
        self.changes(now);
    }

    fn decided(&self) -> bool {
        self.decided
    }

    /// Twice the rate times the RTT, and three packets: no limit while ACKs arrive.
    fn window(&self) -> u64 {
        let bits = 2 * self.rate as u128 * self.rtt.0 as u128 / PS;
        let segments = bits * self.rule.segment as u128 / (8 * self.rule.charged as u128);
        segments as u64 + 3 * self.rule.segment
    }

    fn pacing(&self) -> Option<Rate> {
        Some(Rate(self.rate))
    }
}
