//! What a job makes of a program: it repeats it, with a computation before each time, and scales its computations.

use crate::graph::{Edge, Node, Op, Program, Rank};

impl Program {
    /// The program `times` times, one after the other: a rank begins the next time when everything that it did in the one
    /// before is done, and computes for `compute` nanoseconds first, by rank. Once and without computation it is as it is.
    /// Panics without a number for each rank.
    pub fn repeated(&self, times: u32, compute: &[u64]) -> Program {
        assert_eq!(compute.len(), self.ranks.len(), "a computation for each rank");
        if times <= 1 && compute.iter().all(|ns| *ns == 0) {
            return self.clone();
        }
        let ranks = self.ranks.iter().zip(compute);
        let ranks = ranks.map(|(rank, ns)| rank.repeated(times.max(1), *ns)).collect();
        Program { ranks, iterations: times.max(1), ..self.clone() }
    }

    /// With computations that take `factor` times as long, to a whole nanosecond.
    pub fn scaled(mut self, factor: f64) -> Program {
        for rank in &mut self.ranks {
            rank.scale(factor);
        }
        self
    }

    /// On servers of so many ranks, neighbours in their order: messages within one do not take the network.
    pub fn on_servers(mut self, ranks: u32) -> Program {
        self.server = ranks.max(1);
        self
    }

    /// Ranks of a server; 1 where each is on its own.
    pub fn server(&self) -> u32 {
        self.server
    }

    /// How often the program is done.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// In which of its iterations a node of a rank is, from 0.
    pub fn iteration_of(&self, rank: u32, node: u32) -> u32 {
        let each = self.ranks[rank as usize].nodes().len() as u32 / self.iterations;
        node / each.max(1)
    }
}

impl Rank {
    fn edges_of(&self) -> impl Iterator<Item = Edge> + '_ {
        (0..self.nodes().len() as u32).flat_map(|before| {
            let edge = move |at_start| move |after: &u32| Edge { before, after: *after, at_start };
            let ends = self.at_end(before).iter().map(edge(false));
            ends.chain(self.at_start(before).iter().map(edge(true)))
        })
    }

    fn repeated(&self, times: u32, ns: u64) -> Rank {
        let each = self.nodes().len() as u32 + 1;
        let roots: Vec<u32> =
            (0u32..).zip(self.waits()).filter(|(_, waits)| *waits == 0).map(|one| one.0).collect();
        let is_last = |node: &u32| self.at_end(*node).is_empty();
        let last: Vec<u32> = (0..each - 1).filter(is_last).collect();
        let begin = Node { op: Op::Calc { ns }, cpu: 0, nic: 0 };
        let (mut nodes, mut edges, mut lines) = (vec![], vec![], vec![]);
        for first in (0..times).map(|time| time * each) {
            let at_end = |before, after| Edge { before, after, at_start: false };
            match first {
                0 => {}
                _ if last.is_empty() => edges.push(at_end(first - each, first)),
                _ => edges.extend(last.iter().map(|node| at_end(first - each + 1 + node, first))),
            }
            nodes.push(begin);
            nodes.extend_from_slice(self.nodes());
            edges.extend(roots.iter().map(|node| at_end(first, first + 1 + node)));
            edges.extend(self.edges_of().map(|edge| Edge {
                before: first + 1 + edge.before,
                after: first + 1 + edge.after,
                ..edge
            }));
            lines.push(0);
            lines.extend((0..each - 1).map(|node| self.line(node).unwrap_or(0)));
        }
        Rank::new(nodes, &edges).with_lines(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_goal;

    const TEXT: &str = "num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1\nb requires a\nc: calc 30\n}\n\
                        rank 1 {\na: recv 8b from 0\nb: calc 50\nb irequires a\n}\n";

    fn program() -> Program {
        read_goal("x", TEXT.as_bytes()).unwrap()
    }

    #[test]
    fn a_rank_begins_again_when_all_is_done() {
        let twice = program().repeated(2, &[7, 9]);
        let first = &twice.ranks()[0];
        assert_eq!(first.nodes().len(), 8);
        assert_eq!(first.nodes()[0].op, Op::Calc { ns: 7 });
        assert_eq!(twice.ranks()[1].nodes()[3].op, Op::Calc { ns: 9 });
        // Its begin lets `a` and `c` begin; the second begin waits for `b` and `c`.
        assert_eq!((first.at_end(0), first.at_end(4)), (&[1, 3][..], &[5, 7][..]));
        assert_eq!((first.at_end(2), first.at_end(3)), (&[4][..], &[4][..]));
        let second = &twice.ranks()[1];
        assert_eq!((second.at_end(1), second.at_start(1)), (&[3][..], &[2][..]));
        assert_eq!((first.line(0), first.line(5), second.line(4)), (None, Some(3), Some(9)));
        let iterations: Vec<u32> = (0..8).map(|node| twice.iteration_of(0, node)).collect();
        assert_eq!(iterations, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(twice.messages().count(), 2);
        assert_eq!(program().repeated(1, &[0, 0]), program());
    }

    #[test]
    fn computations_are_scaled_to_a_whole_nanosecond() {
        let of = |factor| program().scaled(factor).ranks()[0].nodes()[2].op;
        assert_eq!((of(1.0), of(2.5)), (Op::Calc { ns: 30 }, Op::Calc { ns: 75 }));
        assert_eq!((of(0.05), of(0.0)), (Op::Calc { ns: 2 }, Op::Calc { ns: 0 }));
    }
}
