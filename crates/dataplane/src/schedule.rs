//! Which node must be visited when.

use incast_world::NEVER;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The next visit of each node, in picoseconds.
pub(crate) struct Schedule {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// The earliest visit of each node; other entries of the heap are void.
    next: Vec<u64>,
}

impl Schedule {
    pub fn new(nodes: usize) -> Schedule {
        Schedule { heap: BinaryHeap::new(), next: vec![NEVER; nodes] }
    }

    /// `node` is to be visited at `at`, or earlier.
    pub fn visit(&mut self, node: u32, at: u64) {
        if at < self.next[node as usize] {
            self.next[node as usize] = at;
            self.heap.push(Reverse((at, node)));
        }
    }

    /// The earliest visit.
    pub fn due(&mut self) -> u64 {
        while let Some(Reverse((at, node))) = self.heap.peek().copied() {
            if self.next[node as usize] == at {
                return at;
            }
            self.heap.pop();
        }
        NEVER
    }

    /// Takes the nodes that are to be visited by `now`.
    pub fn take(&mut self, now: u64, nodes: &mut Vec<u32>) {
        while let Some(Reverse((at, node))) = self.heap.peek().copied() {
            if at > now {
                return;
            }
            self.heap.pop();
            if self.next[node as usize] == at {
                self.next[node as usize] = NEVER;
                nodes.push(node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_visit_of_a_node_counts() {
        let mut schedule = Schedule::new(3);
        schedule.visit(1, 50);
        schedule.visit(1, 20);
        schedule.visit(1, 30);
        schedule.visit(2, 40);
        assert_eq!(schedule.due(), 20);
        let mut nodes = vec![];
        schedule.take(20, &mut nodes);
        assert_eq!(nodes, [1]);
        assert_eq!(schedule.due(), 40);
        schedule.take(100, &mut nodes);
        assert_eq!(nodes, [1, 2]);
        assert_eq!(schedule.due(), NEVER);
    }
}
