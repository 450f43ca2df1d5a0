//! Marks whose effect has not come back yet (deviation 2).

use super::{Clock, Code, Window};
use incast_transport::{Span, Time};
use std::collections::VecDeque;

/// Packets that left in one period, by code.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    all: [u32; 3],
    /// Those that are less than a base RTT old when the period is the oldest one that counts.
    late: [u32; 3],
}

/// The codes whose marks are counted: over- and under-utilisation.
const KINDS: [usize; 2] = [Code::Over as usize, Code::Under as usize];

/// The marks of the periods that the last base RTT reaches into. A period ends with a packet, so
/// that one with a gap in the traffic reaches further back.
#[derive(Debug)]
pub(super) struct Periods {
    now: Left,
    /// The periods before this one that a base RTT reaches into; a ring.
    before: Box<[Left]>,
    oldest: usize,
    /// Sum of `all` over `before`.
    sum: [u64; 2],
    /// Marks are late from this age of a period on.
    late_from: Span,
}

impl Periods {
    fn new(clock: &Clock) -> Periods {
        let periods = clock.periods();
        Periods {
            now: Left::default(),
            before: vec![Left::default(); periods as usize - 1].into(),
            oldest: 0,
            sum: [0; 2],
            late_from: (clock.period * periods).saturating_sub(clock.horizon),
        }
    }

    /// A packet leaves with `code`, so long after the period's start.
    #[inline]
    fn left(&mut self, code: Code, age: Span) {
        self.now.all[code as usize] += 1;
        self.now.late[code as usize] += (age >= self.late_from) as u32;
    }

    /// Ends a period: marks of over- and under-utilisation within the last base RTT.
    #[inline]
    fn roll(&mut self) -> [u64; 2] {
        let now = std::mem::take(&mut self.now);
        let Some(oldest) = self.before.get_mut(self.oldest) else {
            return KINDS.map(|code| u64::from(now.late[code]));
        };
        let gone = std::mem::replace(oldest, now);
        self.oldest = if self.oldest + 1 < self.before.len() { self.oldest + 1 } else { 0 };
        [0, 1].map(|kind| {
            let code = KINDS[kind];
            self.sum[kind] += now.all[code] as u64;
            self.sum[kind] -= gone.all[code] as u64;
            self.sum[kind] + gone.late[code] as u64
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

    #[inline]
    fn left(&mut self, code: Code, now: Time) {
        if let Some(kind) = KINDS.iter().position(|kind| *kind == code as usize) {
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

    /// A packet leaves with `code`; its period began at `started`.
    #[inline]
    pub fn left(&mut self, code: Code, started: Time, now: Time) {
        match self {
            Recent::Periods(periods) => periods.left(code, now.since(started)),
            Recent::Elapsed(elapsed) => elapsed.left(code, now),
        }
    }

    /// Ends a period: marks of over- and under-utilisation that count as in flight.
    #[inline]
    pub fn roll(&mut self, now: Time) -> [u64; 2] {
        match self {
            Recent::Periods(periods) => periods.roll(),
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
