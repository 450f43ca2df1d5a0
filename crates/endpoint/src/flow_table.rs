//! Flows by number: what a host looks up for each packet.
//!
//! Flow numbers are dense over a run, but one host meets only some of them. The table is a small
//! open-addressing index over a slab; nothing about it depends on the order of hash buckets.

use incast_transport::{FlowId, Span, Time};
use smallvec::SmallVec;

/// Stands for an unused cell of the index. No flow has this number.
const VACANT: u32 = u32::MAX;
/// Cells that lie in the table itself: enough for two flows.
const NEAR_CELLS: usize = 4;
/// Cells of the smallest generation of a set.
const FIRST_CELLS: usize = 16;

/// Fibonacci hashing: the golden ratio spreads consecutive numbers over the upper bits.
#[inline]
fn home(flow: u32, shift: u32) -> usize {
    (flow.wrapping_mul(0x9E37_79B1) >> shift) as usize
}

/// The shift that leaves `log2(cells)` bits.
fn shift_of(cells: usize) -> u32 {
    32 - cells.trailing_zeros()
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    flow: u32,
    slot: u32,
}

/// Values by flow number. A value keeps its slot from insertion to removal.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    /// A power of two, at most half of it in use; linear probing.
    cells: SmallVec<[Cell; NEAR_CELLS]>,
    shift: u32,
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        FlowTable::new()
    }
}

impl<T> FlowTable<T> {
    /// An empty table. Allocates with the first insertion.
    pub fn new() -> FlowTable<T> {
        FlowTable { cells: SmallVec::new(), shift: 31, slots: vec![], free: vec![] }
    }

    /// Number of flows in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The flow's slot, for [`at`](FlowTable::at); valid until the flow is removed.
    #[inline]
    pub fn slot_of(&self, flow: FlowId) -> Option<u32> {
        let mask = self.cells.len().wrapping_sub(1);
        let mut cell = home(flow.0, self.shift) & mask;
        loop {
            let found = self.cells.get(cell)?;
            if found.flow == flow.0 {
                return (flow.0 != VACANT).then_some(found.slot);
            }
            if found.flow == VACANT {
                return None;
            }
            cell = (cell + 1) & mask;
        }
    }

    /// Whether the flow is in the table.
    #[inline]
    pub fn contains(&self, flow: FlowId) -> bool {
        self.slot_of(flow).is_some()
    }

    /// The flow's value.
    #[inline]
    pub fn get(&self, flow: FlowId) -> Option<&T> {
        self.slots[self.slot_of(flow)? as usize].as_ref()
    }

    /// The flow's value.
    #[inline]
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        let slot = self.slot_of(flow)?;
        self.slots[slot as usize].as_mut()
    }

    /// The value in a slot. Panics when the slot is not in use.
    #[inline]
    pub fn at(&self, slot: u32) -> &T {
        self.slots[slot as usize].as_ref().expect("slot in use")
    }

    /// The value in a slot. Panics when the slot is not in use.
    #[inline]
    pub fn at_mut(&mut self, slot: u32) -> &mut T {
        self.slots[slot as usize].as_mut().expect("slot in use")
    }

    /// Adds a flow and returns its slot. Panics when the flow is there already.
    pub fn insert(&mut self, flow: FlowId, value: T) -> u32 {
        assert!(flow.0 != VACANT, "flow number out of range");
        assert!(!self.contains(flow), "flow {} inserted twice", flow.0);
        if (self.len() + 1) * 2 > self.cells.len() {
            self.grow();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            // Most hosts of a large fabric have one flow at a time, and an entry is large.
            if self.slots.len() == self.slots.capacity() {
                self.slots.reserve_exact(self.slots.len().max(1));
            }
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(value);
        self.place(Cell { flow: flow.0, slot });
        slot
    }

    /// Takes a flow out.
    pub fn remove(&mut self, flow: FlowId) -> Option<T> {
        let slot = self.slot_of(flow)?;
        self.vacate(flow.0);
        self.free.push(slot);
        self.slots[slot as usize].take()
    }

    /// All flows' values, in order of their slots (which only insertions and removals decide).
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    /// All flows' values, in order of their slots.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten()
    }

    fn place(&mut self, entry: Cell) {
        let mask = self.cells.len() - 1;
        let mut cell = home(entry.flow, self.shift);
        while self.cells[cell].flow != VACANT {
            cell = (cell + 1) & mask;
        }
        self.cells[cell] = entry;
    }

    /// Empties the flow's cell and closes the gap, so that no probe sequence is interrupted.
    fn vacate(&mut self, flow: u32) {
        let mask = self.cells.len() - 1;
        let mut gap = home(flow, self.shift);
        while self.cells[gap].flow != flow {
            gap = (gap + 1) & mask;
        }
        let mut cell = gap;
        loop {
            cell = (cell + 1) & mask;
            let entry = self.cells[cell];
            if entry.flow == VACANT {
                break;
            }
            let displaced = cell.wrapping_sub(home(entry.flow, self.shift)) & mask;
            if displaced >= cell.wrapping_sub(gap) & mask {
                self.cells[gap] = entry;
                gap = cell;
            }
        }
        self.cells[gap].flow = VACANT;
    }

    #[cold]
    fn grow(&mut self) {
        let count = (self.cells.len() * 2).max(NEAR_CELLS);
        let vacant = Cell { flow: VACANT, slot: 0 };
        let old = std::mem::replace(&mut self.cells, SmallVec::from_elem(vacant, count));
        self.shift = shift_of(count);
        old.into_iter().filter(|cell| cell.flow != VACANT).for_each(|cell| self.place(cell));
    }
}

/// A finished flow is remembered at least this long after the last packet of it: the sender asks
/// again until it knows, and its timer has doubled ten times from a millisecond by then.
pub const LINGER: Span = Span::from_secs(1);

/// As many flows are remembered whatever their age.
const KEPT: usize = 4096;

/// The flows a host has finished, so that a late duplicate is recognised and does not begin its
/// flow again. Bounded: flows are forgotten in two generations, so that it holds the last 4,096 of
/// them and those that finished, or were heard of, within the last second, and at most twice as
/// many. Six to eleven bytes a flow.
#[derive(Clone, Debug)]
pub struct FlowSet {
    young: Generation,
    old: Generation,
    /// When `young` was begun.
    since: Time,
}

impl Default for FlowSet {
    fn default() -> Self {
        FlowSet::new()
    }
}

impl FlowSet {
    /// An empty set.
    pub fn new() -> FlowSet {
        FlowSet { young: Generation::new(), old: Generation::new(), since: Time::ZERO }
    }

    /// Number of flows in it.
    pub fn len(&self) -> usize {
        self.young.len + self.old.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the flow is in the set. Once heard of again, it counts as young.
    #[inline]
    pub fn contains(&mut self, flow: FlowId) -> bool {
        if self.young.contains(flow.0) {
            return true;
        }
        let found = self.old.contains(flow.0);
        if found {
            self.young.insert(flow.0);
        }
        found
    }

    /// Adds a flow that is finished `now`; returns whether it is new.
    pub fn insert(&mut self, flow: FlowId, now: Time) -> bool {
        assert!(flow.0 != VACANT, "flow number out of range");
        let new = !self.contains(flow);
        if new {
            if self.young.len >= KEPT && now >= self.since.saturating_add(LINGER) {
                // The old generation's memory serves the new one.
                std::mem::swap(&mut self.young, &mut self.old);
                self.young.clear();
                self.since = now;
            }
            self.young.insert(flow.0);
        }
        new
    }
}

/// Flow numbers, in open addressing.
#[derive(Clone, Debug)]
struct Generation {
    cells: Vec<u32>,
    shift: u32,
    len: usize,
}

impl Generation {
    fn new() -> Generation {
        Generation { cells: vec![], shift: 31, len: 0 }
    }

    fn clear(&mut self) {
        // A burst of short flows does not hold its memory for ever.
        if self.cells.len() > self.len.max(KEPT) * 4 {
            *self = Generation::new();
        }
        self.cells.fill(VACANT);
        self.len = 0;
    }

    #[inline]
    fn contains(&self, flow: u32) -> bool {
        self.len > 0 && self.cells[self.find(flow)] == flow
    }

    fn insert(&mut self, flow: u32) {
        if (self.len + 1) * 4 > self.cells.len() * 3 {
            let count = (self.cells.len() * 2).max(FIRST_CELLS);
            let old = std::mem::replace(&mut self.cells, vec![VACANT; count]);
            self.shift = shift_of(count);
            for flow in old.into_iter().filter(|&flow| flow != VACANT) {
                let cell = self.find(flow);
                self.cells[cell] = flow;
            }
        }
        let cell = self.find(flow);
        self.len += (self.cells[cell] == VACANT) as usize;
        self.cells[cell] = flow;
    }

    /// The flow's cell, or the vacant one where it would go.
    #[inline]
    fn find(&self, flow: u32) -> usize {
        let mask = self.cells.len() - 1;
        let mut cell = home(flow, self.shift);
        while self.cells[cell] != flow && self.cells[cell] != VACANT {
            cell = (cell + 1) & mask;
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Random;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn behaves_like_a_map_under_random_operations() {
        for seed in 0..20 {
            let mut random = Random::new(seed, 0, 0);
            let (mut table, mut model) = (FlowTable::new(), BTreeMap::new());
            for step in 0..4_000u64 {
                let flow = FlowId(random.below(if seed % 2 == 0 { 40 } else { 2_000 }) as u32);
                match random.below(3) {
                    0 if !model.contains_key(&flow) => {
                        let slot = table.insert(flow, step);
                        assert_eq!(*table.at(slot), step);
                        model.insert(flow, step);
                    }
                    1 => assert_eq!(table.remove(flow), model.remove(&flow)),
                    _ => assert_eq!(table.get(flow), model.get(&flow)),
                }
                assert_eq!(table.len(), model.len());
            }
            for (flow, value) in &model {
                assert_eq!(table.get_mut(*flow), Some(&mut value.clone()));
            }
            let mut values: Vec<u64> = table.values().copied().collect();
            values.sort_unstable();
            let mut expected: Vec<u64> = model.values().copied().collect();
            expected.sort_unstable();
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn an_empty_table_knows_nothing() {
        let mut table = FlowTable::<u8>::new();
        assert!(table.is_empty() && table.get(FlowId(0)).is_none());
        assert_eq!(table.remove(FlowId(7)), None);
        assert!(!FlowSet::new().contains(FlowId(0)) && FlowSet::default().is_empty());
    }

    #[test]
    fn slots_are_reused() {
        let mut table = FlowTable::new();
        for flow in 0..1_000 {
            table.insert(FlowId(flow), flow);
            if flow >= 10 {
                assert_eq!(table.remove(FlowId(flow - 10)), Some(flow - 10));
            }
        }
        assert!(table.slots.len() <= 11 && table.cells.len() <= 32, "{}", table.cells.len());
    }

    #[test]
    #[should_panic(expected = "inserted twice")]
    fn a_flow_is_inserted_once() {
        let mut table = FlowTable::new();
        table.insert(FlowId(3), ());
        table.insert(FlowId(3), ());
    }

    #[test]
    fn the_set_behaves_like_a_set() {
        let mut random = Random::new(5, 0, 0);
        let (mut set, mut model) = (FlowSet::new(), BTreeSet::new());
        for step in 0..20_000 {
            let flow = FlowId(random.below(10_000) as u32);
            assert_eq!(set.insert(flow, Time(step)), model.insert(flow));
            let other = FlowId(random.below(10_000) as u32);
            assert_eq!(set.contains(other), model.contains(&other));
        }
        assert_eq!(set.len(), model.len(), "nothing is forgotten within a second");
        assert!(set.young.cells.len() * 4 <= set.len() * 16);
    }

    /// A million flows, of which 10,000 finish in a second: what is held stays what 2 s bring.
    #[test]
    fn the_set_is_bounded_and_remembers_a_second() {
        let mut set = FlowSet::new();
        let apart = Span::from_us(100);
        let at = |flow: u32| Time::ZERO + apart * flow as u64;
        let mut most = 0;
        for flow in 0..1_000_000u32 {
            assert!(set.insert(FlowId(flow), at(flow)));
            // The oldest that must still be known, and one of which a packet comes every 50 ms.
            assert!(
                flow < 9_999 || set.young.contains(flow - 9_999) || set.old.contains(flow - 9_999)
            );
            assert!(!flow.is_multiple_of(500) || set.contains(FlowId(0)), "{flow}");
            most = most.max((set.young.cells.len() + set.old.cells.len()) * 4);
        }
        assert!(set.len() <= 20_002, "{}", set.len());
        assert!(most <= 2 * 16_384 * 4, "{most} B");
        assert!(!set.contains(FlowId(900_000)), "what finished 10 s ago is forgotten");
    }

    #[test]
    fn the_last_flows_are_kept_however_long_ago_they_finished() {
        let mut set = FlowSet::new();
        for flow in 0..20_000u32 {
            let now = Time::ZERO + Span::from_secs(flow as u64);
            set.insert(FlowId(flow), now);
            let oldest = flow.saturating_sub(KEPT as u32 - 1);
            assert!(set.young.contains(oldest) || set.old.contains(oldest));
        }
        assert!(set.len() <= 2 * KEPT);
    }
}
