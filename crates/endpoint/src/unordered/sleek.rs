//! Sleek: what was dropped is told by how much has arrived beyond it, for switches that do not cut
//! packets.

use super::sent::Sent;
use incast_transport::{Span, Time};

/// Packets that make a gap one of losses, at least.
const LEAST: u64 = 5;

/// What the flows of a host have in common.
#[derive(Clone, Copy, Debug)]
pub struct SleekPlan {
    /// The largest window, in bytes.
    pub most: u64,
    /// Payload of a full packet.
    pub payload: u64,
    /// The unloaded round trip.
    pub base_rtt: Span,
    /// Below this queueing delay nothing that is missing is still on its way; `None`: it never asks, as
    /// other paths than that of a probe may have queues.
    pub target: Option<Span>,
}

/// The recovery of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Sleek {
    plan: SleekPlan,
    /// All packets below are to arrive before the recovery is over.
    until: Option<u32>,
    /// In it all below were sent again, if they were missing.
    next: u32,
    /// When to ask.
    due: Time,
    /// The packet that was asked for last, and when.
    asked: Option<(u32, Time)>,
}

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When it arrived.
    pub now: Time,
    /// The packet that it answers, if that was a probe.
    pub probe: Option<u32>,
    /// Packets that have arrived beyond the lowest missing one.
    pub beyond: u16,
    /// Bytes that may be in flight.
    pub window: u64,
    /// Bytes that were, lately, where a gap must be longer than that; else 0.
    pub in_flight: u64,
    /// Whether everything was sent.
    pub all_sent: bool,
}

impl Sleek {
    /// A flow of which nothing is missing.
    pub fn new(plan: SleekPlan) -> Sleek {
        Sleek { plan, until: None, next: 0, due: Time::NEVER, asked: None }
    }

    /// Whether what is missing is sent again whatever the window.
    #[inline]
    pub fn recovers(&self) -> bool {
        self.until.is_some()
    }

    /// When to ask for an ACK.
    #[inline]
    pub fn due(&self) -> Time {
        self.due
    }

    /// Asks now for an ACK that says what is missing from `packet` on.
    pub fn ask(&mut self, packet: u32, now: Time) {
        self.asked = Some((packet, now));
        self.due = now + self.plan.base_rtt * 5;
    }

    /// An ACK arrived; `sent` knows what it says. Returns the bytes of packets that are now to be sent again.
    pub fn heard(&mut self, heard: &Heard, sent: &mut Sent) -> u64 {
        let Heard { now, probe, beyond, window, in_flight, all_sent } = *heard;
        let SleekPlan { most, payload, base_rtt, target } = self.plan;
        self.due = target.map_or(Time::NEVER, |target| {
            now + if all_sent { base_rtt + target } else { base_rtt * 3 }
        });
        let clear = match (probe, self.asked, target) {
            (Some(packet), Some((asked, at)), Some(target)) if packet == asked => {
                self.asked = None;
                now.since(at) < base_rtt + target
            }
            _ => false,
        };
        let widest = window.max(in_flight);
        let gap = (widest + widest / 2).min(most).max(LEAST * payload) / payload;
        let begins = (u64::from(beyond) >= gap || clear) && !sent.repeats();
        if begins && self.until.is_none() {
            self.until = Some(sent.next());
            self.next = sent.base();
        }
        let Some(until) = self.until else { return 0 };
        if sent.base() >= until {
            self.until = None;
            return 0;
        }
        let reach = sent.base().saturating_add((window / payload) as u32).min(until);
        let missing = self.next.max(sent.base())..reach;
        self.next = self.next.max(reach);
        missing.map(|packet| sent.fail_if_flying(packet)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: SleekPlan = SleekPlan {
        most: 40_000,
        payload: 1_000,
        base_rtt: Span::from_us(10),
        target: Some(Span::from_us(7)),
    };

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn sent(packets: u32) -> Sent {
        let mut sent = Sent::default();
        (0..packets).for_each(|_| sent.push(Time::ZERO, 1_000, 0));
        sent
    }

    /// An ACK at `at` behind which `beyond` packets have arrived.
    fn heard(at: u64, beyond: u16, window: u64) -> Heard {
        Heard { now: us(at), probe: None, beyond, window, in_flight: 0, all_sent: false }
    }

    #[test]
    fn a_gap_is_one_and_a_half_windows_and_five_packets_at_least() {
        for (window, gap) in [(10_000, 15), (2_000, 5), (100_000, 40)] {
            let (mut sleek, mut sent) = (Sleek::new(PLAN), sent(60));
            assert_eq!(sleek.heard(&heard(20, gap - 1, window), &mut sent), 0);
            assert!(!sleek.recovers());
            let bytes = sleek.heard(&heard(20, gap, window), &mut sent);
            assert_eq!(bytes, window.min(60_000), "a window of what is missing");
        }
    }

    #[test]
    fn nothing_is_sent_again_twice_in_a_recovery_which_ends_with_what_was_sent() {
        let (mut sleek, mut sent) = (Sleek::new(PLAN), sent(30));
        // All but the first two of twenty have arrived.
        sent.clear(0, 2, (1 << 18) - 1);
        assert_eq!(sleek.heard(&heard(20, 18, 10_000), &mut sent), 2_000);
        assert_eq!(sleek.heard(&heard(21, 18, 10_000), &mut sent), 0);
        sent.first_repeat();
        sent.repeat(0, us(22), 0);
        sent.clear(1, 0, 0);
        assert_eq!(sleek.heard(&heard(23, 18, 10_000), &mut sent), 0);
        // Ten more come into the window's reach with the second, and of them five are missing.
        sent.first_repeat();
        sent.repeat(1, us(23), 0);
        sent.clear(20, 20, 0b11111);
        assert_eq!(sleek.heard(&heard(24, 0, 10_000), &mut sent), 5_000);
        assert!(sleek.recovers());
        sent.clear(30, 0, 0);
        assert_eq!(sleek.heard(&heard(25, 0, 10_000), &mut sent), 0);
        assert!(!sleek.recovers());
    }

    #[test]
    fn a_probe_that_met_no_queue_tells_that_the_rest_is_lost() {
        for (after, lost) in [(16, 10_000), (17, 0)] {
            let (mut sleek, mut sent) = (Sleek::new(PLAN), sent(10));
            sleek.heard(&Heard { all_sent: true, ..heard(0, 0, 20_000) }, &mut sent);
            assert_eq!(sleek.due(), us(17));
            sleek.ask(0, us(17));
            assert_eq!(sleek.due(), us(67));
            let answer = Heard { probe: Some(0), ..heard(17 + after, 0, 20_000) };
            assert_eq!(sleek.heard(&answer, &mut sent), lost);
            // More is to be sent: the next one is three RTTs away.
            assert_eq!(sleek.due(), us(17 + after + 30));
        }
    }
}
