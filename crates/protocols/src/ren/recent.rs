//! Marks whose effect has not come back yet (deviation 2).

use super::Window;
use super::clock::Clock;
use super::code::Code;
use incast_transport::{Span, Time};
use std::collections::VecDeque;

/// Marks that left in one period: of over- and of under-utilisation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    all: [u32; 2],
    /// Those that are less than a base RTT old when the period is the oldest one that counts.
    late: [u32; 2],
}

/// The codes whose marks are counted: over- and under-utilisation.
const KINDS: [Code; 2] = [Code::Over, Code::Under];

impl Left {
    /// A packet leaves with `code`, `late` in the period.
    #[inline]
    pub fn count(&mut self, code: Code, late: bool) {
        for kind in [0, 1] {
            let counts = (code == KINDS[kind]) as u32;
            self.all[kind] += counts;
            self.late[kind] += counts & late as u32;
        }
    }
}

/// The marks of the periods that the last base RTT reaches into, but for the present one. A period
/// ends with a packet, so that one with a gap in the traffic reaches further back.
#[derive(Debug)]
pub(super) struct Periods {
    /// A ring.
    before: Box<[Left]>,
    oldest: usize,
    /// Sum of `all` over `before`.
    sum: [u64; 2],
}

impl Periods {
    fn new(clock: &Clock) -> Periods {
        let before = vec![Left::default(); clock.periods() as usize - 1].into();
        Periods { before, oldest: 0, sum: [0; 2] }
    }

    /// Ends a period, `now`: marks of over- and under-utilisation within the last base RTT.
    #[inline]
    fn roll(&mut self, now: Left) -> [u64; 2] {
        let Some(oldest) = self.before.get_mut(self.oldest) else {
            return now.late.map(u64::from);
        };
        let gone = std::mem::replace(oldest, now);
        self.oldest = if self.oldest + 1 < self.before.len() { self.oldest + 1 } else { 0 };
        [0, 1].map(|kind| {
            self.sum[kind] += now.all[kind] as u64;
            self.sum[kind] -= gone.all[kind] as u64;
            self.sum[kind] + gone.late[kind] as u64
        })
    }
}

/// The marks that left within the last base RTT, by their times.
#[derive(Debug)]
pub(super) struct Elapsed {
    /// A base RTT and a packet, since periods end with a packet.
    window: Span,
    /// When marks left, oldest first; of each kind.
    marks: [VecDeque<Time>; 2],
}

impl Elapsed {
    fn new(clock: &Clock) -> Elapsed {
        Elapsed { window: clock.horizon + clock.packet_time, marks: Default::default() }
    }

    pub fn left(&mut self, code: Code, now: Time) {
        if let Some(kind) = KINDS.iter().position(|kind| *kind == code) {
            self.forget(now);
            self.marks[kind].push_back(now);
        }
    }

    fn forget(&mut self, now: Time) {
        for marks in &mut self.marks {
            while marks.front().is_some_and(|left| now.since(*left) >= self.window) {
                marks.pop_front();
            }
        }
    }

    fn roll(&mut self, now: Time) -> [u64; 2] {
        self.forget(now);
        [0, 1].map(|kind| self.marks[kind].len() as u64)
    }
}

/// The marks that left within the last base RTT (`m_over`, `m_under`): their effect has not come
/// back yet.
#[derive(Debug)]
pub(super) enum Recent {
    Periods(Periods),
    Elapsed(Elapsed),
}

impl Recent {
    pub fn new(window: Window, clock: &Clock) -> Recent {
        match window {
            Window::Periods => Recent::Periods(Periods::new(clock)),
            Window::Elapsed => Recent::Elapsed(Elapsed::new(clock)),
        }
    }

    /// Ends a period with these marks: those of over- and under-utilisation that count as in flight.
    pub fn roll(&mut self, period: Left, now: Time) -> [u64; 2] {
        match self {
            Recent::Periods(periods) => periods.roll(period),
            Recent::Elapsed(elapsed) => elapsed.roll(now),
        }
    }

    /// Bytes of what lies outside of the marker itself.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Recent::Periods(periods) => size_of_val(&*periods.before),
            Recent::Elapsed(elapsed) => {
                elapsed.marks.iter().map(|marks| marks.capacity() * size_of::<Time>()).sum()
            }
        }
    }
}
