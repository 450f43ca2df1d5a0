//! One flow at its source: the first window at line rate, then one packet for each pull.

use incast_endpoint::unordered::Permutation;
use incast_transport::{Flow, Observed, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The state of a packet: where it is (2 bits), its back-off (3 bits), and the number of its
/// retransmissions (27 bits). The number stops at its largest value, so that no retransmission is
/// taken for the first transmission.
const IN_FLIGHT: u32 = 0;
const TO_REPAIR: u32 = 1;
const ACKED: u32 = 2;
const PLACE: u32 = 0b11;
const BACKOFF: u32 = 0b1_1100;
const BACKOFF_SHIFT: u32 = 2;
const ATTEMPT: u32 = 0b10_0000;

/// Feedbacks that are remembered (authors' simulator: 12).
const HISTORY: u16 = (1 << 12) - 1;
/// ACKs among them from which on a bounce is taken for a bad path: a quarter.
const GOOD: u32 = 3;
/// The timeout of a packet doubles at most this often.
const BACKOFF_MOST: u32 = 6;

/// What a host needs to know.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan {
    /// Packets of the first window.
    pub first_window: u32,
    /// Time between pulls.
    pub spacing: Span,
    /// The shortest timeout.
    pub timeout_least: Span,
    /// Paths in a permutation; 0 if the switches choose.
    pub paths: u32,
}

/// The state of a packet after one more retransmission.
pub(super) fn sent_again(state: u32) -> u32 {
    let attempt = state & !PLACE;
    attempt.checked_add(ATTEMPT).unwrap_or(attempt) | IN_FLIGHT
}

/// How often the timeout of a packet of this state has doubled.
fn backoff(state: u32) -> u32 {
    (state & BACKOFF) >> BACKOFF_SHIFT
}

/// Whether a packet of this state was sent once only.
pub(super) fn sent_once(state: u32) -> bool {
    state < ATTEMPT
}

/// Which packet goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its number.
    pub seq: u32,
    /// Whether it was sent before.
    pub again: bool,
    /// Whether it belongs to the first window.
    pub unscheduled: bool,
}

/// A transmission of a packet.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    seq: u32,
    /// The packet's state after it: the transmission is the last one while that is its state.
    state: u32,
    at: Time,
}

/// A transmission after a timeout of its packet, ordered by its deadline.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Late {
    deadline: Time,
    at: Time,
    seq: u32,
    state: u32,
}

/// The sending side of one flow.
pub struct Sender {
    /// What is sent.
    pub flow: Flow,
    /// Its packets.
    pub total: u32,
    /// Its paths.
    pub paths: Permutation,
    /// Whether it is in the queue for the NIC.
    pub queued: bool,
    /// Whether it was last said to wait for a pull.
    pub waits: bool,
    /// When its timer looks at it.
    pub armed: Time,
    /// Packets `0..first_window` need no pull.
    first_window: u32,
    /// Packets of the first window without feedback.
    unconfirmed: u32,
    /// First packet that was never sent.
    next: u32,
    /// First packet that is not acknowledged; `states[0]` is its state.
    base: u32,
    states: VecDeque<u32>,
    /// Packets to send again, lowest first; those acknowledged meanwhile are skipped.
    repairs: BinaryHeap<Reverse<u32>>,
    to_repair: u32,
    /// Largest pull number heard of, and pulls used.
    max_pull: u32,
    last_pull: u32,
    /// ACKs and NACKs received minus pulls: pulls in flight.
    pull_window: u32,
    /// One bit a feedback, the newest lowest: whether it was an ACK.
    history: u16,
    /// Packets that may be sent without a pull (bounces and timeouts).
    at_once: u32,
    /// Transmissions in order, except the late ones.
    flight: VecDeque<Transmission>,
    /// Transmissions whose timeout has doubled; those of a flow that hears nothing.
    late: BinaryHeap<Reverse<Late>>,
    /// The packet whose RTT is measured.
    timed: Option<(u32, Time)>,
    smoothed: u64,
    deviation: u64,
    /// The shortest timeout.
    timeout_least: Span,
    /// Timeouts that have sent something again, or something at all.
    pub timeouts: u32,
    heard: Time,
}

impl Sender {
    /// What a trace shows of the flow: pulls that it has not used, and packets it may send without.
    pub fn observe(&self) -> Observed {
        let pulls = self.max_pull.wrapping_sub(self.last_pull) + self.at_once;
        Observed { credits: Some(pulls as u64), ..Observed::default() }
    }

    /// A flow as the plan of its host says.
    pub fn new(flow: Flow, plan: &HostPlan, now: Time) -> Sender {
        let total = flow.packets();
        let first_window = flow.burst.unwrap_or(plan.first_window).min(total);
        Sender {
            flow,
            total,
            paths: Permutation::new(plan.paths),
            queued: false,
            waits: false,
            armed: Time::NEVER,
            first_window,
            unconfirmed: first_window,
            next: 0,
            base: 0,
            states: VecDeque::new(),
            repairs: BinaryHeap::new(),
            to_repair: 0,
            max_pull: 0,
            last_pull: 0,
            pull_window: 0,
            history: 0,
            at_once: 0,
            flight: VecDeque::new(),
            late: BinaryHeap::new(),
            timed: None,
            smoothed: 0,
            deviation: 0,
            timeout_least: plan.timeout_least,
            timeouts: 0,
            heard: now,
        }
    }

    /// Whether every packet is acknowledged.
    #[inline]
    pub fn finished(&self) -> bool {
        self.base == self.total
    }

    /// Whether a packet waits to be sent, now or later.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.to_repair > 0 || self.next < self.total
    }

    /// Whether a packet may be sent now.
    #[inline]
    pub fn sendable(&self) -> bool {
        let allowed = self.at_once > 0 || self.last_pull != self.max_pull;
        self.next < self.first_window || allowed && self.has_work()
    }

    /// Takes the next packet: those to repair first, then new ones. `None` if it must wait.
    pub fn take(&mut self, now: Time) -> Option<Sent> {
        let unscheduled = self.next < self.first_window;
        let pulled = self.last_pull != self.max_pull;
        let sent = if self.to_repair > 0 && (self.at_once > 0 || pulled) {
            if self.at_once > 0 {
                self.at_once -= 1
            } else {
                self.last_pull += 1
            }
            self.repair()
        } else if unscheduled {
            self.fresh(now, true)
        } else if self.next < self.total && (pulled || self.at_once > 0) {
            if pulled {
                self.last_pull += 1
            } else {
                self.at_once -= 1
            }
            self.fresh(now, false)
        } else {
            return None;
        };
        let state = self.states[(sent.seq - self.base) as usize];
        match backoff(state) {
            0 => self.flight.push_back(Transmission { seq: sent.seq, state, at: now }),
            doubled => self.push_late(sent.seq, state, now, doubled),
        }
        Some(sent)
    }

    fn fresh(&mut self, now: Time, unscheduled: bool) -> Sent {
        let seq = self.next;
        self.next += 1;
        self.states.push_back(IN_FLIGHT);
        if self.timed.is_none_or(|(timed, _)| timed < self.base) {
            self.timed = Some((seq, now));
        }
        Sent { seq, again: false, unscheduled }
    }

    fn repair(&mut self) -> Sent {
        loop {
            let Reverse(seq) = self.repairs.pop().expect("a packet waits for repair");
            if seq >= self.base {
                let state = &mut self.states[(seq - self.base) as usize];
                if *state & PLACE == TO_REPAIR {
                    *state = sent_again(*state);
                    self.to_repair -= 1;
                    return Sent { seq, again: true, unscheduled: false };
                }
            }
        }
    }

    /// ACK: `seq` arrived, and all packets below `cumulative`.
    pub fn on_ack(&mut self, seq: u32, cumulative: u32, pull: Option<u32>, now: Time) {
        self.feedback(seq, true, now);
        self.mark_acked(seq);
        self.advance(cumulative);
        if self.to_repair == 0 {
            self.at_once = 0;
        }
        if let Some(number) = pull {
            self.on_pull(number, now);
        }
    }

    /// NACK: the payload of `seq` was cut off. It is sent again when a pull allows.
    pub fn on_nack(&mut self, seq: u32, cumulative: u32, pull: Option<u32>, now: Time) {
        self.feedback(seq, false, now);
        self.advance(cumulative);
        self.mark_for_repair(seq, 0);
        if let Some(number) = pull {
            self.on_pull(number, now);
        }
    }

    /// PULL: pulls up to `number` may be used. Old numbers have no effect.
    pub fn on_pull(&mut self, number: u32, now: Time) {
        self.hear(now);
        let ahead = number.wrapping_sub(self.max_pull);
        if ahead != 0 && ahead < 1 << 31 {
            self.max_pull = number;
            self.pull_window = self.pull_window.saturating_sub(ahead);
        }
    }

    /// The pull number of which a reply carries the lower 24 bits.
    pub fn widen(&self, number: u32) -> u32 {
        let ahead = (number.wrapping_sub(self.max_pull) << 8) as i32 >> 8;
        self.max_pull.wrapping_add(ahead as u32)
    }

    /// A header came back: it found no room at a port.
    pub fn on_bounce(&mut self, seq: u32, now: Time) {
        let no_pull_expected = self.pull_window == 0 && self.unconfirmed <= 1;
        let bad_path = (self.history & HISTORY).count_ones() >= GOOD;
        self.note(seq, false, now);
        if self.mark_for_repair(seq, 0) && (no_pull_expected || bad_path) {
            self.at_once += 1;
        }
    }

    /// PULL or bounce with feedback for packets below `cumulative`.
    pub fn advance(&mut self, cumulative: u32) {
        while self.base < cumulative.min(self.next) {
            self.drop_front();
        }
    }

    /// The receiver has all packets.
    pub fn finish(&mut self) {
        self.base = self.total;
        self.to_repair = 0;
    }

    fn drop_front(&mut self) {
        let state = self.states.pop_front().expect("a sent packet has a state");
        self.to_repair -= (state & PLACE == TO_REPAIR) as u32;
        self.base += 1;
    }

    fn state(&mut self, seq: u32) -> Option<&mut u32> {
        self.states.get_mut(seq.checked_sub(self.base)? as usize)
    }

    fn mark_acked(&mut self, seq: u32) {
        let Some(state) = self.state(seq) else { return };
        let was_to_repair = *state & PLACE == TO_REPAIR;
        *state = ACKED;
        self.to_repair -= was_to_repair as u32;
        while self.states.front().is_some_and(|state| state & PLACE == ACKED) {
            self.drop_front();
        }
    }

    /// The packet is to be sent again, with a timeout that has doubled so often.
    fn mark_for_repair(&mut self, seq: u32, doubled: u32) -> bool {
        let Some(state) = self.state(seq) else { return false };
        if *state & PLACE != IN_FLIGHT {
            return false;
        }
        *state = *state & !BACKOFF | doubled << BACKOFF_SHIFT | TO_REPAIR;
        self.repairs.push(Reverse(seq));
        self.to_repair += 1;
        true
    }

    fn feedback(&mut self, seq: u32, ack: bool, now: Time) {
        self.pull_window += 1;
        self.note(seq, ack, now);
    }

    /// What every feedback changes: history, the count of packets without feedback, the RTT.
    fn note(&mut self, seq: u32, ack: bool, now: Time) {
        self.hear(now);
        self.history = self.history << 1 | ack as u16;
        let first = self.state(seq).is_some_and(|state| sent_once(*state));
        if first && seq < self.first_window {
            self.unconfirmed = self.unconfirmed.saturating_sub(1);
        }
        if let Some((_, sent)) = self.timed.filter(|(timed, _)| *timed == seq) {
            self.timed = None;
            if first {
                self.measure((now - sent).0);
            }
        }
    }

    /// RFC 6298's averages, in picoseconds.
    fn measure(&mut self, sample: u64) {
        if self.smoothed == 0 {
            self.smoothed = sample;
            self.deviation = sample / 2;
        } else {
            self.deviation = (3 * self.deviation + self.smoothed.abs_diff(sample)) / 4;
            self.smoothed = (7 * self.smoothed + sample) / 8;
        }
    }

    /// The flow is alive: no timeout is longer than the first one.
    #[inline]
    fn hear(&mut self, now: Time) {
        self.heard = now;
        if !self.late.is_empty() {
            self.revive();
        }
    }

    #[cold]
    fn revive(&mut self) {
        let late = self.late.drain();
        self.flight.extend(late.map(|Reverse(Late { seq, state, at, .. })| Transmission {
            seq,
            state,
            at,
        }));
        self.flight.make_contiguous().sort_by_key(|sent| sent.at);
    }

    #[cold]
    fn push_late(&mut self, seq: u32, state: u32, at: Time, doubled: u32) {
        let deadline = at + self.timeout() * (1 << doubled);
        self.late.push(Reverse(Late { deadline, at, seq, state }));
    }

    /// The timeout of a packet that has not expired.
    fn timeout(&self) -> Span {
        Span(self.smoothed + 4 * self.deviation).max(self.timeout_least)
    }

    /// When [`on_timer`](Sender::on_timer) is due, at the latest.
    pub fn first_deadline(&self, now: Time) -> Time {
        now + self.timeout()
    }

    /// Retransmits the packets whose timeout has expired, each counted from its own latest
    /// transmission, without waiting for pulls. The timeout of such a packet doubles if nothing
    /// was heard of the flow since it was sent; those of other packets do not. If every pull was
    /// lost, one packet goes without. Returns when to look again, later than `now`.
    pub fn on_timer(&mut self, now: Time) -> Time {
        let timeout = self.timeout();
        let mut next = Time::NEVER;
        let mut expired = false;
        while let Some(&Transmission { seq, state, at }) = self.flight.front() {
            let current = self.is_current(seq, state);
            if current && at + timeout > now {
                next = at + timeout;
                break;
            }
            self.flight.pop_front();
            expired |= current && self.expire(seq, at);
        }
        while let Some(&Reverse(Late { deadline, at, seq, state })) = self.late.peek() {
            let current = self.is_current(seq, state);
            if current && deadline > now {
                next = next.min(deadline);
                break;
            }
            self.late.pop();
            expired |= current && self.expire(seq, at);
        }
        if !expired && next == Time::NEVER && self.has_work() && !self.sendable() {
            if self.heard + timeout > now {
                return self.heard + timeout;
            }
            self.at_once = 1;
            expired = true;
        }
        self.timeouts += expired as u32;
        // No later than this, so that a flow that is heard of again need not be armed anew.
        next.min(now + timeout)
    }

    /// Whether this is the latest transmission of a packet that is still in flight.
    fn is_current(&mut self, seq: u32, state: u32) -> bool {
        self.state(seq).is_some_and(|now| *now == state)
    }

    /// The timeout of a packet sent at `at` has expired: it goes again, without a pull.
    fn expire(&mut self, seq: u32, at: Time) -> bool {
        let silent = self.heard <= at;
        let Some(state) = self.state(seq) else { return false };
        let doubled = if silent { (backoff(*state) + 1).min(BACKOFF_MOST) } else { 0 };
        let again = self.mark_for_repair(seq, doubled);
        if again {
            if self.timed.is_some_and(|(timed, _)| timed == seq) {
                self.timed = None;
            }
            self.at_once += 1;
        }
        again
    }
}
