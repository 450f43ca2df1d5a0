//! Recoveries of a flow: those that a packet can still ask for.
//!
//! A packet asks for the last recovery that was over when it departed. So of the recoveries that
//! were over before the oldest packet under way departed, the last one is needed, and for each lost
//! packet that is still missing the last one before its departure; no others. Which packets
//! are under way follows from counting: packets are numbered by departure, and all numbers up to some
//! number have arrived or were lost once as many of them have been counted.

use crate::Stamps;
use crate::breakdown::Parts;
use crate::room::{excess, make_room};
use crate::spent::Spent;

/// A departure until which a flow was recovering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumed {
    pub at: u64,
    /// What the sender had done by then.
    pub spent: Spent,
    /// The first departure of the same recovery: its place in [`Recoveries::first`].
    first: u32,
}

/// Where the time went from a flow's start until the first departure of a recovery, at `at`. What came
/// then until its later departures is recovery alone.
#[derive(Clone, Copy, Debug)]
struct First {
    at: u64,
    parts: Parts,
}

/// The number of a packet that is the copy of another one.
pub(crate) const COPY: u32 = u32::MAX >> 1;

/// How many recoveries of a flow make a difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From so many on, packets under way are counted.
    pub followed: usize,
    /// From so many on, those that nobody can ask for are looked for.
    pub full: usize,
    /// Most that are kept. There are more only where losses remain unknown, as on wires: then the older
    /// half is forgotten, and a packet that departed before the others knows of none.
    pub most: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { followed: 8, full: 24, most: 1 << 12 }
    }
}

/// The recoveries of a flow, in order of time.
#[derive(Default)]
pub(crate) struct Recoveries {
    all: Vec<Resumed>,
    /// The first departures of these recoveries, and of some that are forgotten.
    first: Vec<First>,
    limits: Limits,
    /// Look for what can be forgotten when there are so many.
    full: usize,
    under_way: Option<UnderWay>,
    /// Departures of copies under way, which are not counted.
    copies: Vec<u64>,
}

/// A packet by its number among the flow's departures, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Departed {
    number: u32,
    at: u64,
}

/// How many packets are under way of those that departed up to some packet.
#[derive(Debug)]
struct UnderWay {
    /// What came before this instant was counted only, and departed before it.
    since: u64,
    /// The last departure known.
    last: Departed,
    /// The packet up to which packets are counted.
    goal: Option<Departed>,
    /// How many up to the goal are under way.
    left: u32,
    /// The latest packet known that was sent for the first time.
    new: Departed,
    /// That one when the goal was set.
    goal_new: u64,
    /// Nothing is under way that departed before.
    clear: u64,
    /// Nothing is under way that departed before the packet that was sent for the first time at this
    /// instant, and it is not either.
    clear_new: u64,
}

impl UnderWay {
    fn new(since: u64) -> UnderWay {
        let none = Departed { number: 0, at: 0 };
        UnderWay {
            since,
            last: none,
            goal: None,
            left: 0,
            new: none,
            goal_new: 0,
            clear: 0,
            clear_new: 0,
        }
    }

    /// A packet has arrived or was lost, the `counted`-th of the flow.
    fn count(&mut self, packet: Departed, again: bool, counted: u32) {
        if packet.number > self.last.number {
            self.last = packet;
        }
        if !again && packet.number > self.new.number {
            self.new = packet;
        }
        match self.goal {
            Some(goal) => {
                self.left = self.left.saturating_sub((packet.number <= goal.number) as u32)
            }
            None if packet.at >= self.since => self.aim(counted),
            None => {}
        }
        while let Some(goal) = self.goal.filter(|_| self.left == 0) {
            (self.clear, self.clear_new) = (goal.at, self.goal_new);
            if goal == self.last {
                break;
            }
            self.aim(counted);
        }
    }

    /// All packets counted so far departed up to the last known departure.
    fn aim(&mut self, counted: u32) {
        (self.goal, self.goal_new) = (Some(self.last), self.new.at);
        self.left = self.last.number.saturating_sub(counted);
    }
}

impl Recoveries {
    pub fn new(limits: Limits) -> Recoveries {
        Recoveries { limits, ..Recoveries::default() }
    }

    /// There are none.
    pub fn clear(&mut self) {
        self.all.clear();
        self.first.clear();
        self.copies.clear();
        (self.full, self.under_way) = (0, None);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The last recovery that was over by `at`.
    #[inline]
    pub fn latest(&self, at: u64) -> Option<&Resumed> {
        let after = match self.all.last() {
            Some(last) if last.at <= at => self.all.len(),
            _ => self.all.partition_point(|known| known.at <= at),
        };
        after.checked_sub(1).map(|last| &self.all[last])
    }

    /// Where the time went from the flow's start until then.
    pub fn parts(&self, resumed: &Resumed) -> Parts {
        let First { at, mut parts } = self.first[resumed.first as usize];
        parts.recovery += resumed.at - at;
        parts
    }

    /// Adds a recovery, before those that were over at the same time.
    pub fn insert(&mut self, at: u64, spent: Spent, parts: Parts) {
        make_room(&mut self.first);
        self.first.push(First { at, parts });
        self.put(Resumed { at, spent, first: self.first.len() as u32 - 1 });
    }

    /// The recovery that was over with `last` went on until `at`.
    pub fn extend(&mut self, last: &Resumed, at: u64, spent: Spent) {
        self.put(Resumed { at, spent, first: last.first });
    }

    fn put(&mut self, resumed: Resumed) {
        let place = match self.all.last() {
            Some(last) if last.at >= resumed.at => {
                self.all.partition_point(|known| known.at < resumed.at)
            }
            _ => self.all.len(),
        };
        make_room(&mut self.all);
        self.all.insert(place, resumed);
        if self.all.len() > self.limits.most {
            self.all.drain(..self.limits.most / 2);
            self.forget_first(&mut vec![]);
        }
    }

    /// Whether all packets are to be counted with their stamps.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.are_many() || self.under_way.is_some() || !self.copies.is_empty()
    }

    #[inline]
    fn are_many(&self) -> bool {
        self.all.len() >= self.limits.followed
    }

    /// A data packet has arrived or was lost, the `counted`-th of the flow.
    #[inline]
    pub fn count(&mut self, stamps: &Stamps, again: bool, counted: u32) {
        let number = stamps.ordinal();
        if number == COPY {
            let copy = self.copies.iter().position(|departed| *departed == stamps.departed);
            copy.map(|copy| self.copies.swap_remove(copy));
        } else if let Some(under_way) = &mut self.under_way
            && number > 0
        {
            under_way.count(Departed { number, at: stamps.departed }, again, counted);
        }
    }

    /// A packet under way is there twice from now on: this one is its copy.
    pub fn double(&mut self, stamps: &Stamps) {
        self.copies.push(stamps.departed);
    }

    /// Something new was sent at this instant or later before whatever departs from now on or is under
    /// way.
    pub fn new_since(&self) -> u64 {
        // Copies are not counted.
        let under_way = self.under_way.as_ref().filter(|_| self.copies.is_empty());
        under_way.map_or(0, |under_way| under_way.clear_new)
    }

    /// Whether there are so many that those are to be looked for that no packet can ask for, also of
    /// those that are `missing`.
    #[inline]
    pub fn are_full(&self, missing: usize) -> bool {
        self.all.len() >= self.enough(self.full).max(missing / 8)
    }

    /// How many are worth a search, but not less than so many.
    #[inline]
    pub fn enough(&self, full: usize) -> usize {
        full.max(self.limits.full)
    }

    /// Before a packet that arrives at `now` is counted: packets under way are counted, if there are
    /// many recoveries, or losses with details.
    #[inline]
    pub fn follow(&mut self, now: u64, detailed: usize) {
        if self.under_way.is_none() && (self.are_many() || detailed >= self.limits.followed) {
            self.under_way = Some(UnderWay::new(now));
        }
    }

    /// Packets under way need not be counted, if there are few.
    #[inline]
    pub fn unfollow(&mut self, detailed: usize) {
        if !self.are_many() && detailed < self.limits.followed {
            self.under_way = None;
        }
    }

    /// Forgets those that no packet can ask for, also of those that are missing, whose departures are
    /// `asked`.
    pub fn forget(&mut self, asked: impl Fn(&mut dyn FnMut(u64)), needed: &mut Vec<usize>) {
        let after = |at| self.all.partition_point(|known: &Resumed| known.at <= at);
        let clear = self.under_way.as_ref().map_or(0, |under_way| under_way.clear);
        let first = after(clear).saturating_sub(1);
        let oldest = self.all.get(first).map_or(u64::MAX, |known| known.at);
        let mut ask = |at: u64| {
            // The others ask for one that is kept anyway.
            if at < oldest {
                needed.extend(after(at).checked_sub(1));
            }
        };
        asked(&mut ask);
        self.copies.iter().copied().for_each(ask);
        needed.sort_unstable();
        let mut asked_for = needed.drain(..).peekable();
        let mut place = 0;
        self.all.retain(|_| {
            let mut keep = place >= first;
            while asked_for.next_if_eq(&place).is_some() {
                keep = true;
            }
            place += 1;
            keep
        });
        drop(asked_for);
        if let Some(most) = excess(self.all.len(), self.all.capacity()) {
            self.all.shrink_to(most);
        }
        self.forget_first(needed);
        self.full = 2 * self.all.len();
    }

    /// Forgets first departures of recoveries that are forgotten. Without an allocation: a flow that keeps on
    /// losing packets comes here again and again.
    fn forget_first(&mut self, places: &mut Vec<usize>) {
        const UNUSED: usize = usize::MAX;
        places.resize(self.first.len(), UNUSED);
        self.all.iter().for_each(|resumed| places[resumed.first as usize] = 0);
        let mut kept = 0;
        for (from, place) in places.iter_mut().enumerate().filter(|(_, place)| **place != UNUSED) {
            self.first[kept] = self.first[from];
            *place = kept;
            kept += 1;
        }
        self.first.truncate(kept);
        if let Some(most) = excess(self.first.len(), self.first.capacity()) {
            self.first.shrink_to(most);
        }
        for resumed in &mut self.all {
            resumed.first = places[resumed.first as usize] as u32;
        }
        places.clear();
    }
}
