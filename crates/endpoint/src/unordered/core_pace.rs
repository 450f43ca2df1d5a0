//! The pace of a receiver's credits behind an oversubscribed core, where its own link is not what limits its flows: it follows marks,
//! and cuts that were not made at the last hop (UEC's RCCC alone).

use incast_transport::{Random, Rate, Span, Time};

/// Above this average of the marked share the pace falls.
const TARGET: f64 = 0.3;
/// By this share of what the average is above the target.
const DECREASE: f64 = 0.5;
/// The first step of an increase, as a share of the link.
const STEP: f64 = 0.01;
/// After so many steps in a row a doubled step is more than a link.
const STEPS: u32 = 7;
/// After so many intervals without a packet a receiver is as new: the pace is full, and less than 1/65,536 is left of the average.
const IDLE: u32 = 16;

/// What is fixed for a host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CorePlan {
    /// The full pace.
    pub pace: Rate,
    /// Mean time between two changes.
    pub every: Span,
    /// The least share of the full pace.
    pub least: f64,
}

/// A packet of data that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// With its payload.
    Whole {
        /// With CE.
        marked: bool,
    },
    /// Its header alone.
    Cut {
        /// Whether its payload was cut off by the last switch.
        last_hop: bool,
    },
}

/// The pace, and what has arrived since it last changed. Intervals that have passed are made up for at the next call, so that an
/// idle host needs no timer.
#[derive(Clone, Debug)]
pub struct CorePace {
    plan: CorePlan,
    share: f64,
    /// Average of the marked share.
    average: f64,
    /// Increases in a row.
    steps: u32,
    /// Intervals in a row without a packet.
    idle: u32,
    /// End of the interval; [`Time::NEVER`] before the first packet.
    next: Time,
    packets: u32,
    whole: u32,
    marked: u32,
    early: u32,
}

impl CorePace {
    /// The full pace; nothing has arrived.
    pub fn new(plan: CorePlan) -> CorePace {
        CorePace {
            plan,
            share: 1.0,
            average: 0.0,
            steps: 0,
            idle: 0,
            next: Time::NEVER,
            packets: 0,
            whole: 0,
            marked: 0,
            early: 0,
        }
    }

    /// A packet of data arrives.
    pub fn arrived(&mut self, packet: Arrived, now: Time, random: &mut Random) {
        self.advance(now, random);
        if self.next == Time::NEVER {
            self.next = now + self.interval(random);
        }
        self.packets += 1;
        match packet {
            Arrived::Whole { marked } => {
                self.whole += 1;
                self.marked += marked as u32;
            }
            Arrived::Cut { last_hop } => self.early += !last_hop as u32,
        }
    }

    /// The pace of credits now.
    pub fn pace(&mut self, now: Time, random: &mut Random) -> Rate {
        self.advance(now, random);
        Rate((self.plan.pace.0 as f64 * self.share) as u64)
    }

    /// Three to five quarters of the mean.
    fn interval(&self, random: &mut Random) -> Span {
        let Span(every) = self.plan.every;
        Span(every - every / 4 + random.below((every / 2).max(1)))
    }

    fn advance(&mut self, now: Time, random: &mut Random) {
        while self.next <= now {
            self.change();
            if self.idle >= IDLE {
                *self = CorePace::new(self.plan);
                return;
            }
            self.next += self.interval(random);
        }
    }

    /// An interval ends.
    fn change(&mut self) {
        let share = |of: u32, all: u32| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        self.idle = if self.packets > 0 { 0 } else { self.idle + 1 };
        self.average = (self.average + share(self.marked, self.whole)) / 2.0;
        self.share -= share(self.early, self.packets);
        let congested = self.average > TARGET;
        if congested {
            self.share *= 1.0 - (self.average - TARGET) * DECREASE;
        }
        if congested || self.early > 0 {
            self.steps = 0;
        } else {
            let doubled = if self.marked == 0 { self.steps.min(STEPS) } else { 0 };
            self.share += STEP * (1u32 << doubled) as f64;
            self.steps += 1;
        }
        self.share = self.share.clamp(self.plan.least, 1.0);
        (self.packets, self.whole, self.marked, self.early) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Span = Span::from_us(14);
    const PLAN: CorePlan = CorePlan { pace: Rate::from_gbps(100), every: EVERY, least: 0.225 };

    struct Bench {
        pace: CorePace,
        random: Random,
    }

    impl Bench {
        fn new() -> Bench {
            Bench { pace: CorePace::new(PLAN), random: Random::new(1, 2, 3) }
        }

        /// An interval of so many packets, some of them marked, some cut before the last hop and at it; the pace behind it, in Mb/s.
        fn interval(&mut self, whole: u32, marked: u32, early: u32, late: u32) -> u64 {
            let Bench { pace, random } = self;
            let now = if pace.next == Time::NEVER { Time(0) } else { pace.next - Span(1) };
            let mut arrived = |packet| pace.arrived(packet, now, random);
            (0..whole).for_each(|at| arrived(Arrived::Whole { marked: at < marked }));
            (0..early).for_each(|_| arrived(Arrived::Cut { last_hop: false }));
            (0..late).for_each(|_| arrived(Arrived::Cut { last_hop: true }));
            let end = pace.next;
            pace.pace(end, random).0.div_ceil(1_000_000)
        }
    }

    /// Each step by hand.
    #[test]
    fn the_pace_follows_marks_and_cuts_before_the_last_hop() {
        let mut b = Bench::new();
        // A tenth of the packets.
        assert_eq!(b.interval(90, 0, 10, 0), 90_000);
        // 80 % marked: the average is 0.4, a tenth above the target, of which half: 90 x 0.95.
        assert_eq!(b.interval(100, 80, 0, 0), 85_500);
        // Both: 85.5 - 5, and the average is (0.4 + 0.6) / 2: 80.5 x 0.9.
        assert_eq!(b.interval(95, 57, 5, 0), 72_450);
        // What the last switch cuts counts as a packet and no more: 25 of 100 were marked, so 0.375.
        assert_eq!(b.interval(100, 25, 0, 20), 69_734);
        // No marks: the average halves, and steps of 1 % double.
        assert_eq!(b.interval(100, 0, 0, 0), 70_734);
        assert_eq!(b.interval(100, 0, 0, 0), 72_734);
        assert_eq!(b.interval(100, 0, 0, 0), 76_734);
        // A few marks: a step of 1 %, which counts as one of the row.
        assert_eq!(b.interval(100, 5, 0, 0), 77_734);
        assert_eq!(b.interval(100, 0, 0, 0), 93_734);
        assert_eq!(b.interval(100, 0, 0, 0), 100_000);
    }

    #[test]
    fn the_pace_has_a_least_share() {
        let mut b = Bench::new();
        assert_eq!(b.interval(10, 0, 90, 0), 22_500);
        assert_eq!(b.interval(0, 0, 90, 0), 22_500);
    }

    /// Intervals are three to five quarters of their mean, and one that nobody asked about has its effect.
    #[test]
    fn intervals_pass_also_while_nobody_asks() {
        let mut b = Bench::new();
        b.interval(50, 0, 50, 0);
        let mut last = b.pace.next;
        for _ in 0..200 {
            b.interval(1, 0, 0, 0);
            let taken = b.pace.next.since(last);
            assert!(taken >= EVERY * 3 / 4 && taken < EVERY * 5 / 4, "{taken}");
            last = b.pace.next;
        }
        let mut b = Bench::new();
        assert_eq!(b.interval(50, 0, 50, 0), 50_000);
        // The second interval ends within five quarters of the mean, the third one does not: 1 % and 2 %.
        let later = b.pace.next + EVERY * 5 / 4;
        assert_eq!(b.pace.pace(later, &mut b.random).0.div_ceil(1_000_000), 53_000);
        // After a long time it is as new, and waits for the first packet.
        let pace = b.pace.pace(later + Span::from_secs(1), &mut b.random);
        assert_eq!((pace, b.pace.next), (PLAN.pace, Time::NEVER));
    }
}
