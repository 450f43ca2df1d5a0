//! A source's choice of paths, packet by packet.

use incast_transport::{Random, Span, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// What was heard of a packet on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// It arrived, unmarked.
    Good,
    /// It arrived marked.
    Marked,
    /// Its payload was cut off.
    Cut,
    /// Nothing, for a timeout.
    Lost,
}

/// Each path once, in random order, then a new order (NDP §3.1.1).
#[derive(Clone, Debug)]
pub struct Permutation {
    order: SmallVec<[u16; 8]>,
    next: usize,
}

impl Permutation {
    /// `count` paths; with one the path number is always 0.
    pub fn new(count: u32) -> Permutation {
        let order: SmallVec<[u16; 8]> =
            if count > 1 { (0..count as u16).collect() } else { SmallVec::new() };
        Permutation { next: order.len(), order }
    }

    /// The next packet's path.
    #[inline]
    pub fn take(&mut self, random: &mut Random) -> u16 {
        if self.order.is_empty() {
            return 0;
        }
        if self.next == self.order.len() {
            self.shuffle(random);
        }
        self.next += 1;
        self.order[self.next - 1]
    }

    fn shuffle(&mut self, random: &mut Random) {
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, random.below(last as u64 + 1) as usize);
        }
        self.next = 0;
    }
}

incast_transport::choice! {
    /// How a flow chooses among its path numbers.
    pub enum Strategy {
        /// Each once, in an order that is drawn anew after each turn.
        Oblivious = "oblivious",
        /// The same, without those that were marked, cut or lost, for a while.
        Bitmap = "bitmap",
        /// Those again on which packets arrived unmarked, the last eight, else at random.
        Reps = "reps",
        /// All of those, else as `Bitmap`.
        Mixed = "mixed",
        /// Each once, in an order that is drawn anew after each turn, without one turn of those that were marked, cut or lost.
        Skip = "skip",
    }
}

/// The paths of one flow: a power of two.
#[derive(Clone, Debug)]
pub enum Paths {
    /// See [`Strategy::Oblivious`].
    Oblivious(Turn),
    /// See [`Strategy::Bitmap`] and [`Strategy::Skip`].
    Bitmap(Scored),
    /// See [`Strategy::Reps`].
    Reps(Box<Recycled>),
    /// See [`Strategy::Mixed`]: unmarked paths in order of their ACKs, and the others.
    Mixed(VecDeque<u16>, Scored),
}

impl Paths {
    /// `count` paths, a power of two up to 32,768. `freezes`: whether a timeout says that a path has failed,
    /// because congestion only cuts packets; then REPS takes no new paths for a while.
    pub fn new(strategy: Strategy, count: u32, freezes: bool) -> Paths {
        let turn = Turn::new(count);
        match strategy {
            Strategy::Oblivious => Paths::Oblivious(turn),
            Strategy::Bitmap => Paths::Bitmap(Scored::new(turn, false)),
            Strategy::Skip => Paths::Bitmap(Scored::new(turn, true)),
            Strategy::Reps => Paths::Reps(Box::new(Recycled::new(count, freezes))),
            Strategy::Mixed => Paths::Mixed(VecDeque::new(), Scored::new(turn, false)),
        }
    }

    /// The next packet's path.
    #[inline]
    pub fn take(&mut self, random: &mut Random) -> u16 {
        match self {
            Paths::Oblivious(turn) => turn.take(random),
            Paths::Bitmap(scored) => scored.take(random),
            Paths::Reps(recycled) => recycled.take(random),
            Paths::Mixed(good, scored) => match good.pop_front() {
                Some(path) => path,
                None => scored.take(random),
            },
        }
    }

    /// Something was heard of a path.
    #[inline]
    pub fn heard(&mut self, now: Time, path: u16, heard: Heard) {
        match self {
            Paths::Oblivious(_) => {}
            Paths::Bitmap(scored) => scored.heard(path, heard),
            Paths::Reps(recycled) => recycled.heard(now, path, heard),
            Paths::Mixed(good, scored) => {
                if heard == Heard::Good {
                    good.push_back(path);
                }
                scored.heard(path, heard);
            }
        }
    }
}

/// Each path once, in an order that one random number gives: path `i` of a turn is `i` xor that number.
#[derive(Clone, Debug)]
pub struct Turn {
    count: u32,
    next: u32,
    key: u16,
}

impl Turn {
    fn new(count: u32) -> Turn {
        debug_assert!(count.is_power_of_two() && count <= 1 << 15);
        Turn { count, next: count, key: 0 }
    }

    /// The path whose turn it is.
    #[inline]
    fn current(&mut self, random: &mut Random) -> u16 {
        if self.next == self.count {
            self.next = 0;
            self.key = random.below(self.count as u64) as u16;
        }
        self.next as u16 ^ self.key
    }

    #[inline]
    fn take(&mut self, random: &mut Random) -> u16 {
        let path = self.current(random);
        self.next += 1;
        path
    }
}

/// Highest score of a path.
const SCORE_MOST: u8 = 15;

/// Paths in turn. One with a score is skipped, and loses a point if it is the first that a choice skips; with `once` a score is one
/// point, and each that is skipped loses it.
#[derive(Clone, Debug)]
pub struct Scored {
    turn: Turn,
    /// By path; empty until one has a score.
    scores: Vec<u8>,
    /// Paths with a score.
    bad: u32,
    once: bool,
}

impl Scored {
    fn new(turn: Turn, once: bool) -> Scored {
        Scored { turn, scores: vec![], bad: 0, once }
    }

    #[inline]
    fn take(&mut self, random: &mut Random) -> u16 {
        if self.bad == 0 {
            return self.turn.take(random);
        }
        self.skip(random)
    }

    fn skip(&mut self, random: &mut Random) -> u16 {
        for skipped in 0..self.turn.count {
            let path = self.turn.take(random);
            let score = &mut self.scores[path as usize];
            if *score == 0 {
                return path;
            }
            if skipped == 0 || self.once {
                *score -= 1;
                self.bad -= (*score == 0) as u32;
            }
        }
        self.turn.take(random)
    }

    #[inline]
    fn heard(&mut self, path: u16, heard: Heard) {
        let points = match heard {
            Heard::Good => return,
            Heard::Marked => 1,
            Heard::Cut => 4,
            Heard::Lost => SCORE_MOST,
        };
        self.blame(path, points);
    }

    #[cold]
    fn blame(&mut self, path: u16, points: u8) {
        self.scores.resize(self.turn.count as usize, 0);
        // A forged packet can name any path.
        let Some(score) = self.scores.get_mut(path as usize) else { return };
        self.bad += (*score == 0) as u32;
        *score = (*score + points).min(if self.once { 1 } else { SCORE_MOST });
    }
}

/// Paths that are remembered.
const RING: usize = 8;
/// For how long a timeout keeps the paths that are remembered.
const FREEZE: Span = Span::from_ms(10);
/// Choices at random after that.
const EXPLORE: u8 = 16;

/// A ring of the paths on which packets arrived unmarked last (REPS).
#[derive(Clone, Debug)]
pub struct Recycled {
    count: u32,
    ring: [u16; RING],
    /// Where the next path is written.
    head: u8,
    /// Entries written, and those of them that were not taken, which are the newest.
    written: u8,
    fresh: u8,
    /// Choices that are still made at random.
    explore: u8,
    /// Of the frozen ring: the entry whose turn it is.
    next: u8,
    freezes: bool,
    frozen: Option<Time>,
}

impl Recycled {
    fn new(count: u32, freezes: bool) -> Recycled {
        let ring = [0; RING];
        let (head, written, fresh, explore, next) = (0, 0, 0, 0, 0);
        Recycled { count, ring, head, written, fresh, explore, next, freezes, frozen: None }
    }

    #[inline]
    fn take(&mut self, random: &mut Random) -> u16 {
        if self.explore > 0 {
            self.explore -= 1;
        } else if self.frozen.is_some() {
            if self.written > 0 {
                let path = self.ring[self.next as usize % self.written as usize];
                self.next = (self.next + 1) % self.written;
                return path;
            }
        } else if self.fresh > 0 {
            let oldest = (self.head + RING as u8 - self.fresh) % RING as u8;
            self.fresh -= 1;
            return self.ring[oldest as usize];
        }
        random.below(self.count as u64) as u16
    }

    #[inline]
    fn heard(&mut self, now: Time, path: u16, heard: Heard) {
        if self.frozen.is_some_and(|until| now > until) {
            self.frozen = None;
            (self.head, self.written, self.fresh, self.next) = (0, 0, 0, 0);
            self.explore = EXPLORE;
        }
        match heard {
            Heard::Good => {
                self.ring[self.head as usize] = path;
                self.head = (self.head + 1) % RING as u8;
                self.written = (self.written + 1).min(RING as u8);
                self.fresh = (self.fresh + 1).min(RING as u8);
            }
            Heard::Lost if self.freezes && self.frozen.is_none() && self.explore == 0 => {
                self.frozen = Some(now + FREEZE);
                self.next = 0;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Heard::{Cut, Good, Lost, Marked};

    fn turn(paths: &mut Paths, random: &mut Random, count: u32) -> Vec<u16> {
        (0..count).map(|_| paths.take(random)).collect()
    }

    fn sorted(mut paths: Vec<u16>) -> Vec<u16> {
        paths.sort_unstable();
        paths
    }

    #[test]
    fn a_permutation_takes_every_path_once() {
        let mut random = Random::new(1, 0, 0);
        let mut paths = Permutation::new(16);
        let mut turns = vec![];
        for _ in 0..4 {
            let turn: Vec<u16> = (0..16).map(|_| paths.take(&mut random)).collect();
            assert_eq!(sorted(turn.clone()), (0..16).collect::<Vec<_>>());
            turns.push(turn);
        }
        assert!(turns[0] != turns[1] && turns[1] != turns[2]);
    }

    #[test]
    fn an_oblivious_turn_is_an_exclusive_or() {
        let mut random = Random::new(1, 0, 0);
        let mut paths = Paths::new(Strategy::Oblivious, 64, true);
        let mut keys = vec![];
        for _ in 0..20 {
            let turn = turn(&mut paths, &mut random, 64);
            let key = turn[0];
            assert!(turn.iter().enumerate().all(|(i, path)| *path == i as u16 ^ key));
            keys.push(key);
            paths.heard(Time(0), turn[3], Lost);
        }
        assert!(keys.iter().any(|key| *key != keys[0]));
    }

    #[test]
    fn a_path_with_a_score_is_skipped_until_it_is_paid() {
        for (heard, points) in [(Good, 0), (Marked, 1), (Cut, 4), (Lost, 15)] {
            let mut random = Random::new(2, 0, 0);
            let mut paths = Paths::new(Strategy::Bitmap, 4, true);
            paths.heard(Time(0), 2, heard);
            // The other three are taken in each turn in which it is skipped. Last in one turn and first
            // in the next, it is skipped twice for one point.
            let taken = turn(&mut paths, &mut random, 100);
            let first = taken.iter().position(|path| *path == 2).expect("taken again");
            assert!((3 * points..6 * points + 4).contains(&first), "{heard:?}: {first}");
        }
    }

    #[test]
    fn a_choice_takes_one_point_and_any_path_if_all_are_bad() {
        let mut random = Random::new(3, 0, 0);
        let mut paths = Paths::new(Strategy::Bitmap, 4, true);
        for path in [0, 1, 2, 3] {
            paths.heard(Time(0), path, Lost);
            paths.heard(Time(0), path, Cut);
        }
        paths.heard(Time(0), 9, Cut);
        for left in [59, 58, 57] {
            turn(&mut paths, &mut random, 1);
            let Paths::Bitmap(scored) = &paths else { panic!("as made") };
            assert_eq!(scored.scores.iter().map(|score| *score as u32).sum::<u32>(), left);
        }
        turn(&mut paths, &mut random, 300);
        let Paths::Bitmap(scored) = &paths else { panic!("as made") };
        assert_eq!((scored.bad, &scored.scores[..]), (0, &[0; 4][..]));
    }

    #[test]
    fn a_path_that_is_skipped_once_is_taken_in_the_next_turn() {
        let mut random = Random::new(2, 0, 0);
        let mut paths = Paths::new(Strategy::Skip, 8, true);
        turn(&mut paths, &mut random, 8);
        for path in [2, 5] {
            paths.heard(Time(0), path, Lost);
            paths.heard(Time(0), path, Cut);
        }
        assert_eq!(sorted(turn(&mut paths, &mut random, 6)), [0, 1, 3, 4, 6, 7]);
        assert_eq!(sorted(turn(&mut paths, &mut random, 8)), (0..8).collect::<Vec<_>>());
        // If all are bad each has paid after a turn.
        (0..8).for_each(|path| paths.heard(Time(0), path, Marked));
        turn(&mut paths, &mut random, 1);
        let Paths::Bitmap(scored) = &paths else { panic!("as made") };
        assert_eq!((scored.bad, &scored.scores[..]), (0, &[0; 8][..]));
    }

    #[test]
    fn reps_takes_good_paths_in_order_and_each_once() {
        let mut random = Random::new(4, 0, 0);
        let mut paths = Paths::new(Strategy::Reps, 32_768, true);
        for path in 0..10 {
            paths.heard(Time(0), path, Good);
        }
        paths.heard(Time(0), 10, Marked);
        paths.heard(Time(0), 11, Cut);
        assert_eq!(turn(&mut paths, &mut random, 8), (2..10).collect::<Vec<_>>());
        paths.heard(Time(0), 12, Good);
        assert_eq!(paths.take(&mut random), 12);
        let drawn = turn(&mut paths, &mut random, 50);
        assert!(sorted(drawn).windows(2).all(|pair| pair[0] < pair[1]), "drawn at random");
    }

    #[test]
    fn reps_freezes_at_a_timeout_and_thaws() {
        let mut random = Random::new(5, 0, 0);
        let mut paths = Paths::new(Strategy::Reps, 32_768, true);
        for path in [1, 2, 3] {
            paths.heard(Time(0), path, Good);
        }
        assert_eq!(paths.take(&mut random), 1);
        paths.heard(Time(5), 9, Lost);
        assert_eq!(turn(&mut paths, &mut random, 7), [1, 2, 3, 1, 2, 3, 1]);
        paths.heard(Time(5) + FREEZE, 4, Good);
        assert_eq!(turn(&mut paths, &mut random, 4), [2, 3, 4, 1]);
        // The first that is heard later: sixteen random choices, then what was good since.
        paths.heard(Time(6) + FREEZE, 7, Good);
        assert!(turn(&mut paths, &mut random, 16).iter().filter(|path| **path < 8).count() < 2);
        assert_eq!(paths.take(&mut random), 7);
        // Without trimming a timeout says little.
        let mut paths = Paths::new(Strategy::Reps, 32_768, false);
        paths.heard(Time(0), 1, Good);
        paths.heard(Time(5), 9, Lost);
        let drawn = turn(&mut paths, &mut random, 3);
        assert!(drawn[0] == 1 && drawn[1..] != [1, 1]);
    }

    #[test]
    fn mixed_recycles_without_end_and_else_skips_bad_paths() {
        let mut random = Random::new(6, 0, 0);
        let mut paths = Paths::new(Strategy::Mixed, 4, true);
        paths.heard(Time(0), 1, Lost);
        (0..20).for_each(|_| paths.heard(Time(0), 3, Good));
        assert_eq!(turn(&mut paths, &mut random, 20), [3; 20]);
        assert!(!turn(&mut paths, &mut random, 30).contains(&1));
    }
}
