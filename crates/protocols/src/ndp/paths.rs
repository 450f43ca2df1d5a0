//! A source's choice of paths: each path once, in random order, then a new order.

use incast_transport::Random;
use smallvec::SmallVec;

/// A permutation of path numbers that is renewed after each turn (NDP §3.1.1).
#[derive(Clone, Debug)]
pub struct Paths {
    order: SmallVec<[u16; 8]>,
    next: usize,
}

impl Paths {
    /// `count` paths; with one the path number is always 0.
    pub fn new(count: u32) -> Paths {
        let order: SmallVec<[u16; 8]> =
            if count > 1 { (0..count as u16).collect() } else { SmallVec::new() };
        Paths { next: order.len(), order }
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
