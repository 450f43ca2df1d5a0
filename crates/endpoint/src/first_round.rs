//! The unscheduled first round of a flow as Aeolus (SIGCOMM 2020) has it, whatever transport
//! follows: packets that switches may drop, one probe behind them, and what is known to be lost.
//!
//! Each unscheduled packet is acknowledged, and so is the probe. A packet that is not acknowledged
//! is sent again, once, as scheduled data, which is protected: as soon as it is known to be lost,
//! or when nothing else is left to send.

pub mod views;

use crate::receiver_driven::Arrivals;
use incast_transport::{Span, Time};

/// Unanswered probes after which what is not acknowledged counts as lost.
const TRIES: u32 = 3;

/// How losses are found.
#[derive(Clone, Copy, Debug)]
pub struct RoundTerms {
    /// Whether packets keep their order: then an ACK shows that earlier ones are lost.
    pub in_order: bool,
    /// Time that packets which the probe overtook may still take.
    pub grace: Span,
    /// Time after which an unanswered probe is repeated.
    pub probe_again: Span,
}

/// What became of the probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Probing {
    /// Not sent yet.
    Not,
    /// Sent so often, the last time then.
    Waiting { since: Time, tries: u32 },
    /// From then on what is not acknowledged is lost.
    LostFrom(Time),
}

/// What a source knows of a flow's unscheduled packets, which are its first ones.
#[derive(Clone, Debug)]
pub struct FirstRound {
    budget: u32,
    sent: u32,
    over: bool,
    /// Packets that were acknowledged, or sent again.
    settled: Arrivals,
    /// One more than the highest packet acknowledged.
    acked_end: u32,
    probing: Probing,
}

impl FirstRound {
    /// Up to `budget` packets may be sent.
    pub fn new(budget: u32) -> FirstRound {
        FirstRound {
            budget,
            sent: 0,
            over: false,
            settled: Arrivals::new(),
            acked_end: 0,
            probing: Probing::Not,
        }
    }

    /// The next unscheduled packet, if one may still be sent.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        (!self.over && self.sent < self.budget).then_some(self.sent)
    }

    /// Unscheduled packets sent.
    #[inline]
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// The next unscheduled packet leaves. Behind the last one a probe is due, which tells how
    /// many there were.
    #[inline]
    pub fn send(&mut self, now: Time) -> Option<u32> {
        debug_assert!(self.next().is_some());
        self.sent += 1;
        if self.sent == self.budget { self.end(now) } else { None }
    }

    /// No more unscheduled packets: a credit or grant came, or the budget is used up. The first
    /// time a probe is due, unless it has nothing to request.
    #[inline]
    pub fn end(&mut self, now: Time) -> Option<u32> {
        if self.over {
            return None;
        }
        self.over = true;
        if self.sent == 0 && self.budget > 0 {
            return None;
        }
        self.probing = Probing::Waiting { since: now, tries: 1 };
        Some(self.sent)
    }

    /// Whether unscheduled packets may still be sent.
    #[inline]
    pub fn open(&self) -> bool {
        !self.over
    }

    /// Packet `seq` was acknowledged, and all below `cumulative` with it.
    pub fn acked(&mut self, seq: u32, cumulative: u32) {
        if seq >= self.sent {
            return;
        }
        self.settled.insert(seq, false);
        self.acked_below(cumulative);
        self.acked_end = self.acked_end.max(seq + 1);
    }

    /// The probe was acknowledged: all below `cumulative` have arrived.
    pub fn probe_acked(&mut self, now: Time, cumulative: u32, terms: &RoundTerms) {
        self.acked_below(cumulative);
        if matches!(self.probing, Probing::Waiting { .. }) {
            self.probing = Probing::LostFrom(now.saturating_add(terms.grace));
        }
    }

    fn acked_below(&mut self, cumulative: u32) {
        for seq in self.settled.lowest_missing()..cumulative.min(self.sent) {
            self.settled.insert(seq, false);
        }
    }

    /// Takes the lowest packet that is known to be lost, to send it again.
    pub fn take_lost(&mut self, now: Time, terms: &RoundTerms) -> Option<u32> {
        let all = matches!(self.probing, Probing::LostFrom(at) if at <= now);
        let below = match (all, terms.in_order) {
            (true, _) => self.sent,
            (false, true) => self.acked_end,
            (false, false) => 0,
        };
        self.take_below(below)
    }

    /// Takes the lowest packet that is not acknowledged, to send it again for want of others.
    pub fn take_unacked(&mut self) -> Option<u32> {
        self.take_below(self.sent)
    }

    fn take_below(&mut self, below: u32) -> Option<u32> {
        let seq = self.settled.lowest_missing();
        (seq < below).then(|| {
            self.settled.insert(seq, false);
            seq
        })
    }

    /// Notes that a packet is sent again for another reason.
    pub fn sent_again(&mut self, seq: u32) {
        if seq < self.sent {
            self.settled.insert(seq, false);
        }
    }

    /// Unscheduled packets that were neither acknowledged nor sent again, at most: none if every
    /// one was.
    #[inline]
    pub fn unsettled(&self) -> u32 {
        self.sent.saturating_sub(self.settled.lowest_missing())
    }

    /// When the probe is to be repeated.
    #[inline]
    pub fn deadline(&self, terms: &RoundTerms) -> Time {
        match self.probing {
            Probing::Waiting { since, .. } => since.saturating_add(terms.probe_again),
            _ => Time::NEVER,
        }
    }

    /// The probe was not acknowledged in time: what the next probe says, or `None` after the last
    /// try; then what is not acknowledged counts as lost.
    pub fn expired(&mut self, now: Time) -> Option<u32> {
        match self.probing {
            Probing::Waiting { tries, .. } if tries < TRIES => {
                self.probing = Probing::Waiting { since: now, tries: tries + 1 };
                Some(self.sent)
            }
            _ => {
                self.probing = Probing::LostFrom(now);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPRAYED: RoundTerms =
        RoundTerms { in_order: false, grace: Span::from_us(10), probe_again: Span::from_us(30) };
    const ORDERED: RoundTerms = RoundTerms { in_order: true, grace: Span::ZERO, ..SPRAYED };

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// `packets` sent of a budget of eight, then the first credit.
    fn round(packets: u32) -> FirstRound {
        let mut round = FirstRound::new(8);
        (0..packets).for_each(|seq| {
            assert_eq!(round.next(), Some(seq));
            assert_eq!(round.send(us(1)), (seq == 7).then_some(8));
        });
        if packets < 8 {
            assert_eq!(round.end(us(1)), Some(packets));
        }
        round
    }

    #[test]
    fn one_probe_and_nothing_unscheduled_behind_it() {
        for packets in 1..=8 {
            let mut round = round(packets);
            assert!(!round.open() && round.next().is_none());
            assert_eq!(round.end(us(2)), None, "one probe");
        }
        let mut unused = FirstRound::new(8);
        assert_eq!(unused.end(us(0)), None, "nothing was sent");
        assert!(unused.next().is_none() && unused.unsettled() == 0);
        assert_eq!(unused.deadline(&ORDERED), Time::NEVER);
        // Without a budget the probe announces the flow.
        assert_eq!(FirstRound::new(0).end(us(0)), Some(0));
    }

    #[test]
    fn in_order_a_later_ack_reveals_a_loss() {
        let mut round = round(8);
        for seq in [0, 1, 4] {
            round.acked(seq, 0);
        }
        let mut ordered = round.clone();
        let lost: Vec<_> = std::iter::from_fn(|| ordered.take_lost(us(2), &ORDERED)).collect();
        assert_eq!(lost, [2, 3]);
        assert_eq!(round.take_lost(us(2), &SPRAYED), None);
        // The last one lost is found by the probe.
        (5..7).for_each(|seq| ordered.acked(seq, 0));
        assert_eq!(ordered.take_lost(us(2), &ORDERED), None);
        ordered.probe_acked(us(3), 0, &ORDERED);
        assert_eq!(ordered.take_lost(us(3), &ORDERED), Some(7));
        assert_eq!(ordered.take_lost(us(3), &ORDERED), None);
        assert_eq!(ordered.unsettled(), 0);
    }

    #[test]
    fn sprayed_only_the_probe_reveals_a_loss_and_not_at_once() {
        let mut round = round(3);
        round.probe_acked(us(5), 1, &SPRAYED);
        assert_eq!(round.take_lost(us(14), &SPRAYED), None);
        round.acked(2, 0); // The probe had overtaken it.
        assert_eq!(round.take_lost(us(15), &SPRAYED), Some(1));
        assert_eq!(round.take_lost(us(15), &SPRAYED), None);
        assert_eq!(round.unsettled(), 0);
    }

    #[test]
    fn each_packet_is_sent_again_once() {
        let mut round = round(4);
        round.acked(1, 0);
        assert_eq!(round.take_unacked(), Some(0));
        assert!(round.unsettled() > 0);
        round.probe_acked(us(2), 0, &ORDERED);
        assert_eq!(round.take_lost(us(2), &ORDERED), Some(2));
        round.sent_again(3);
        assert_eq!((round.take_unacked(), round.take_lost(us(2), &ORDERED)), (None, None));
        // Acknowledgements of what was never sent mean nothing.
        round.acked(9, 9);
        assert_eq!(round.unsettled(), 0);
    }

    #[test]
    fn a_lost_probe_is_repeated_and_then_given_up() {
        let mut round = round(2);
        for sent in [1, 31] {
            assert_eq!(round.deadline(&SPRAYED), us(sent + 30));
            assert_eq!(round.expired(us(sent + 30)), Some(2));
        }
        assert_eq!(round.expired(us(91)), None);
        assert_eq!(round.deadline(&SPRAYED), Time::NEVER);
        assert_eq!(round.take_lost(us(91), &SPRAYED), Some(0));
    }
}
