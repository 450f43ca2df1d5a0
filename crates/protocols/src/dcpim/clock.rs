//! Epochs and rounds. All hosts count them from the beginning of time, each by its own clock, so that one
//! that slept knows where the others are.

use incast_transport::{Span, Time};

/// The calendar of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// How much the host's clock is ahead.
    pub ahead: Span,
    /// A round: a request, a grant and an accept.
    pub round: Span,
    /// Rounds of a matching.
    pub rounds: u32,
    /// From the beginning of an epoch to that of the next: as long as a data phase. A matching is no longer.
    pub epoch: Span,
}

/// An instant of the calendar: `round` rounds of an epoch are over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Step {
    /// Which epoch.
    pub epoch: u64,
    /// 0 to [`Clock::rounds`]: then the data phase begins.
    pub round: u32,
}

impl Clock {
    /// The time of the host's clock.
    fn local(&self, now: Time) -> u64 {
        now.0 + self.ahead.0
    }

    /// When a step is, by the world's clock.
    pub fn at(&self, step: Step) -> Time {
        let local = step.epoch * self.epoch.0 + step.round as u64 * self.round.0;
        Time(local.saturating_sub(self.ahead.0))
    }

    /// The epoch and its round, from 0, that is going on; `rounds` between a matching and the next.
    pub fn now(&self, now: Time) -> Step {
        let (epoch, into) = (self.local(now) / self.epoch.0, self.local(now) % self.epoch.0);
        Step { epoch, round: ((into / self.round.0) as u32).min(self.rounds) }
    }

    /// The next beginning of a round, perhaps now.
    pub fn next_round(&self, now: Time) -> Step {
        let step = self.now(now);
        match self.at(step) >= now && step.round < self.rounds {
            true => step,
            false => self.round_after(step),
        }
    }

    fn round_after(&self, step: Step) -> Step {
        match step.round + 1 < self.rounds {
            true => Step { round: step.round + 1, ..step },
            false => Step { epoch: step.epoch + 1, round: 0 },
        }
    }

    /// The step after one: rounds, and the end of the last one.
    pub fn after(&self, step: Step) -> Step {
        match step.round < self.rounds {
            true => Step { round: step.round + 1, ..step },
            false => Step { epoch: step.epoch + 1, round: 0 },
        }
    }

    /// When sources answer the requests of a round, from 0.
    pub fn middle(&self, step: Step) -> Time {
        Time(self.at(step).0 + self.round.0 / 2)
    }

    /// When the data phase of an epoch is over.
    pub fn data_ends(&self, epoch: u64) -> Time {
        let begins = self.at(Step { epoch, round: self.rounds });
        begins.saturating_add(self.epoch)
    }
}
