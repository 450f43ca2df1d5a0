//! Which of the queues that may send is served.

use incast_transport::Schedule;
use smallvec::SmallVec;

/// Shares one resource in proportion to weights: start-time fair queueing (Goyal, Vin and Cheng
/// 1996) over `N` whole queues. Two queues that both wait never differ in charged bytes per weight
/// by more than one packet of each. A queue without packets, or closed, neither saves nor owes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Fair<const N: usize> {
    /// Start tag of the packet served last.
    virtual_time: u64,
    /// Finish tags of the queues' last packets.
    finish: [u64; N],
    /// Virtual time of one byte of each queue.
    step: [u32; N],
}

/// Tags are brought back to zero beyond this.
const TAG_LIMIT: u64 = 1 << 62;

/// Largest least common multiple of weights: a packet then advances tags by less than 2^36.
pub(crate) const WEIGHT_LIMIT: u64 = 1 << 20;

/// Least common multiple of the weights; `None` when one is zero or it exceeds [`WEIGHT_LIMIT`].
pub(crate) fn common_multiple(weights: impl Iterator<Item = u32>) -> Option<u64> {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let mut multiple = 1;
    for weight in weights {
        if weight == 0 {
            return None;
        }
        multiple = multiple / gcd(multiple, weight as u64) * weight as u64;
        if multiple > WEIGHT_LIMIT {
            return None;
        }
    }
    Some(multiple)
}

impl<const N: usize> Fair<N> {
    /// Of `(queue, weight)`. Panics if the weights have no [`common_multiple`].
    pub fn new(weights: &[(u8, u32)]) -> Fair<N> {
        let multiple = common_multiple(weights.iter().map(|&(_, weight)| weight))
            .expect("weights were checked when the policies were joined");
        let mut step = [0; N];
        for &(index, weight) in weights {
            step[index as usize] = (multiple / weight as u64) as u32;
        }
        Fair { virtual_time: 0, finish: [0; N], step }
    }

    /// The member of the set that is served next; of equals the lowest.
    #[inline]
    fn pick(&self, mut set: u8) -> u8 {
        let mut best = (u64::MAX, 0);
        while set != 0 {
            let index = set.trailing_zeros() as u8;
            set &= set - 1;
            let start = self.start(index as usize);
            if start < best.0 {
                best = (start, index);
            }
        }
        best.1
    }

    /// Where the next packet of a queue would begin.
    #[inline]
    pub fn start(&self, index: usize) -> u64 {
        self.finish[index].max(self.virtual_time)
    }

    /// A queue was served `bytes`.
    #[inline]
    pub fn charge(&mut self, index: usize, bytes: u32) {
        let start = self.start(index);
        self.virtual_time = start;
        self.finish[index] = start + bytes as u64 * self.step[index] as u64;
        if start > TAG_LIMIT {
            self.begin_anew(start);
        }
    }

    #[cold]
    fn begin_anew(&mut self, start: u64) {
        self.virtual_time = 0;
        self.finish.iter_mut().for_each(|finish| *finish = finish.saturating_sub(start));
    }
}

/// Queues of one transport, or of all: strict ones first, the others by weight.
#[derive(Clone, Copy, Debug)]
struct Group {
    strict: u8,
    members: u8,
    fair: Fair<8>,
}

/// Chooses among queues: first the strict ones in order, then by turns the groups, each of which
/// serves its own strict queues first and the others by weight.
#[derive(Clone, Debug)]
pub struct Scheduler {
    strict: u8,
    groups: SmallVec<[Group; 1]>,
    /// If there are several groups.
    between: Option<Box<Fair<8>>>,
}

/// Describes a group to [`Scheduler::new`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub strict: u8,
    /// `(queue, weight)`.
    pub weighted: Vec<(u8, u32)>,
}

impl Scheduler {
    /// `strict` are the queues before all groups. The groups are disjoint and weigh the same.
    pub(crate) fn new(strict: u8, groups: &[Members]) -> Scheduler {
        let weights: Vec<_> = (0..groups.len() as u8).map(|group| (group, 1)).collect();
        let make = |members: &Members| Group {
            strict: members.strict,
            members: members.weighted.iter().fold(members.strict, |set, &(q, _)| set | 1 << q),
            fair: Fair::new(&members.weighted),
        };
        Scheduler {
            strict,
            groups: groups.iter().map(make).collect(),
            between: (weights.len() > 1).then(|| Box::new(Fair::new(&weights))),
        }
    }

    /// Of one group, whose queues are served like this; see [`check_queues`](super::check_queues).
    pub fn of(queues: &[Schedule]) -> Scheduler {
        let mut members = Members::default();
        for (queue, schedule) in (0u8..).zip(queues) {
            match schedule {
                Schedule::Strict => members.strict |= 1 << queue,
                Schedule::Weighted(weight) => members.weighted.push((queue, *weight)),
            }
        }
        Scheduler::new(0, &[members])
    }

    /// The queue served next of a set that is not empty.
    #[inline]
    pub fn pick(&self, ready: u8) -> u8 {
        if ready & (ready - 1) == 0 {
            return ready.trailing_zeros() as u8;
        }
        let first = ready & self.strict;
        if first != 0 {
            return first.trailing_zeros() as u8;
        }
        let group = &self.groups[self.pick_group(ready)];
        let first = ready & group.strict;
        if first != 0 {
            return first.trailing_zeros() as u8;
        }
        group.fair.pick(ready & group.members)
    }

    #[inline]
    fn pick_group(&self, ready: u8) -> usize {
        let Some(between) = &self.between else { return 0 };
        let mut waiting = 0;
        for (index, group) in self.groups.iter().enumerate() {
            waiting |= ((ready & group.members != 0) as u8) << index;
        }
        between.pick(waiting) as usize
    }

    /// The queue was served `bytes`.
    #[inline]
    pub fn charge(&mut self, queue: u8, bytes: u32) {
        let bit = 1 << queue;
        if self.strict & bit != 0 {
            return;
        }
        let mut index = 0;
        if let Some(between) = &mut self.between {
            let own = self.groups.iter().position(|group| group.members & bit != 0);
            index = own.expect("every queue is strict or in a group");
            between.charge(index, bytes);
        }
        let group = &mut self.groups[index];
        if group.strict & bit == 0 {
            group.fair.charge(queue as usize, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bringing the tags back to zero after years of traffic changes no choice.
    #[test]
    fn old_tags_choose_like_new_ones() {
        let mut young = Fair::<8>::new(&[(0, 10), (1, 1), (2, 3)]);
        let mut old = young;
        let age = TAG_LIMIT - 200_000;
        old.virtual_time += age;
        old.finish.iter_mut().for_each(|finish| *finish += age);
        for turn in 0..1000u32 {
            let set = if turn % 7 == 0 { 0b101 } else { 0b111 };
            let index = young.pick(set);
            assert_eq!(old.pick(set), index, "turn {turn}");
            let bytes = [84, 1538, 700][index as usize];
            young.charge(index as usize, bytes);
            old.charge(index as usize, bytes);
        }
        assert!(old.virtual_time < TAG_LIMIT, "the tags were brought back");
    }

    /// Queues that were closed start level with each other, whatever they sent before.
    #[test]
    fn closed_queues_save_no_service() {
        let mut fair = Fair::<3>::new(&[(0, 1), (1, 1), (2, 1)]);
        fair.charge(0, 50);
        for _ in 0..10 {
            fair.charge(2, 100);
        }
        // The last packet of queue 2 began at 900: queues 0 and 1 begin there, 2 at 1000.
        assert_eq!(fair.pick(0b111), 0, "of equals the lowest");
        fair.charge(0, 100);
        assert_eq!(fair.pick(0b111), 1);
        fair.charge(1, 100);
        assert_eq!(fair.pick(0b111), 0, "level again after one packet each, not ten");
    }
}
