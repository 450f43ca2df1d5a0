//! Clocks that keep to real time.

use crate::{Clock, Counter, Monotonic, Pace};
use incast_transport::{Span, Time};

/// Two readings of a counter that are further apart than this have a stall between them: the
/// thread did not run.
pub const STALL: Span = Span::from_us(5);
/// How much a [`Rule::Compensated`] clock advances over a stall.
pub const CREDIT: Span = Span::from_ns(500);
/// What a system may add to a sleep without being late: on Linux a timer's slack and a wake-up.
pub const SLACK: Span = Span::from_us(100);
/// Longest wait in one call of [`Clock::idle`], so that a request to stop is noticed.
const LONGEST_WAIT: Span = Span::from_ms(1);

/// How a clock follows the counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The exact schedule of [`Virtual`](crate::Virtual), throttled to the counter: an instant
    /// begins when the counter has reached it. Packets and records are those of the virtual clock;
    /// where the machine is too slow, the counter runs ahead ([`Pace::lag`]).
    Paced,
    /// The counter without stalls: a gap of more than [`STALL`] between two readings advances the
    /// clock by [`CREDIT`]. For one thread with all nodes, whose links stand still with it.
    Compensated,
    /// The counter as it is, for cores on which nothing else runs.
    Tsc,
}

/// What a thread does when a pass has found nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// Reads the counter until something is due: links are emulated within the process, and nothing
    /// can come before.
    Spin,
    /// Looks again at once: frames come from outside, to a core of their own.
    Poll,
    /// Gives the core up for this long: frames come from outside, and other processes need the
    /// core.
    Sleep(Span),
}

impl Pace {
    /// Share of real time in which the thread did not run; 0 of no time.
    pub fn stalled_share(&self) -> f64 {
        self.stalled.0 as f64 / (self.wall.0 as f64).max(1.0)
    }

    /// How far real time is ahead of the run at its end.
    pub fn lag(&self) -> Span {
        self.wall.saturating_sub(self.run)
    }
}

/// A clock that keeps to real time by a [`Rule`].
#[derive(Clone, Debug)]
pub struct RealTime<K = Monotonic> {
    rule: Rule,
    idle: Idle,
    counter: K,
    now: u64,
    /// The last reading.
    last: Option<u64>,
    pace: Pace,
}

impl RealTime {
    /// On the system's monotonic clock, starting with the run.
    pub fn new(rule: Rule, idle: Idle) -> RealTime {
        RealTime::on(Monotonic::default(), rule, idle)
    }
}

impl<K: Counter> RealTime<K> {
    /// On another counter, whose zero is the start of the run.
    pub fn on(counter: K, rule: Rule, idle: Idle) -> RealTime<K> {
        RealTime { rule, idle, counter, now: 0, last: None, pace: Pace::default() }
    }

    /// Reads the counter, after a wait of `meant` that the thread chose itself, and advances clocks
    /// that follow it. Returns the reading.
    fn read(&mut self, meant: u64) -> u64 {
        let reading = self.counter.read();
        let gap = reading - self.last.unwrap_or(reading);
        self.last = Some(reading);
        let pace = &mut self.pace;
        let lost = gap.saturating_sub(meant);
        let mut credit = gap;
        if lost > STALL.0 {
            pace.stalled += Span(lost);
            pace.stalls += 1;
            pace.longest_stall = pace.longest_stall.max(Span(lost));
            credit = meant + CREDIT.0;
        }
        pace.wall = Span(reading);
        match self.rule {
            Rule::Paced => return reading,
            Rule::Compensated => self.now += credit,
            Rule::Tsc => self.now = reading,
        }
        self.note();
        reading
    }

    /// Takes note of how far the run is.
    fn note(&mut self) {
        self.pace.run = Span(self.now);
        self.pace.lag_most = self.pace.lag_most.max(self.pace.lag());
    }

    /// The time that is compared with what is due.
    fn reading(&mut self, meant: u64) -> u64 {
        let reading = self.read(meant);
        if self.rule == Rule::Paced { reading } else { self.now }
    }

    /// Waits until `due` by what [`RealTime::reading`] returns, or for [`LONGEST_WAIT`]. Returns
    /// whether `due` has come.
    fn spin(&mut self, due: u64) -> bool {
        let begun = self.pace.wall;
        loop {
            if self.reading(0) >= due {
                return true;
            }
            if self.pace.wall - begun >= LONGEST_WAIT {
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// Gives the core up for `period`, or until `due` if that is earlier. Returns whether `due` has
    /// come.
    fn sleep(&mut self, period: Span, due: u64) -> bool {
        let now = self.reading(0);
        if now >= due {
            return true;
        }
        let wait = period.0.min(due - now);
        self.counter.sleep(Span(wait));
        // A clock that credits what was meant must not be given more.
        let slack = if self.rule == Rule::Tsc { SLACK.0 } else { 0 };
        self.reading(wait + slack) >= due
    }
}

impl<K: Counter> Clock for RealTime<K> {
    #[inline]
    fn now(&mut self) -> Time {
        if self.rule != Rule::Paced {
            self.read(0);
        }
        Time(self.now)
    }

    fn idle(&mut self, due: Time) {
        let has_come = match self.idle {
            Idle::Spin => self.spin(due.0),
            Idle::Poll => self.reading(0) >= due.0,
            Idle::Sleep(period) => self.sleep(period, due.0),
        };
        if has_come && self.rule == Rule::Paced {
            // What the instant is late by counts, not the wait for it.
            self.now = self.now.max(due.0);
            self.note();
        }
    }

    fn pace(&self) -> Option<Pace> {
        Some(self.pace)
    }
}
