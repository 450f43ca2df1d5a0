//! Making the graph of a rank: nodes one after the other, and the messages of collectives.

use crate::graph::{Edge, Node, Op, Rank};

/// What ranks of a group want of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
}

impl Collective {
    /// Messages that a rank of a group of so many sends, on average.
    pub fn sends(self, members: u64) -> u64 {
        match self {
            Collective::AllReduce => 2 * (members - 1),
            // Each but the last passes it on.
            Collective::Broadcast => 1,
            _ => members - 1,
        }
    }
}

/// Who takes part: ranks in the order of their ring.
pub(crate) trait Members {
    /// How many.
    fn count(&self) -> u32;
    /// The rank at a place.
    fn rank(&self, place: u32) -> u32;
}

impl Members for &[u32] {
    fn count(&self) -> u32 {
        self.len() as u32
    }

    fn rank(&self, place: u32) -> u32 {
        self[place as usize]
    }
}

/// One collective, as one of its ranks sees it.
pub(crate) struct Exchange<M> {
    pub kind: Collective,
    pub members: M,
    /// The place of the rank among them.
    pub place: u32,
    /// All data: of an all-gather, that of all ranks together.
    pub bytes: u64,
    /// Of all of its messages. Those between two ranks are sent and taken in one order.
    pub tag: u32,
    pub nic: u8,
    pub line: u32,
}

/// The graph of a rank as it grows.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    lines: Vec<u32>,
}

impl Graph {
    pub fn rank(self) -> Rank {
        Rank::new(self.nodes, &self.edges).with_lines(self.lines)
    }

    /// A node that waits for the end of these.
    pub fn add(&mut self, node: Node, after: &[u32], line: u32) -> u32 {
        let own = self.nodes.len() as u32;
        self.nodes.push(node);
        self.lines.push(line);
        after.iter().for_each(|before| self.wait(own, *before));
        own
    }

    /// `after` waits for the end of `before`.
    pub fn wait(&mut self, after: u32, before: u32) {
        self.edges.push(Edge { before, after, at_start: false });
    }

    pub fn calc(&mut self, ns: u64, cpu: u8, after: &[u32], line: u32) -> u32 {
        self.add(Node { op: Op::Calc { ns }, cpu, nic: 0 }, after, line)
    }

    /// What a rank does in a collective that begins after these. Returns the nodes at whose ends it has all data.
    pub fn exchange<M: Members>(&mut self, own: &Exchange<M>, after: &[u32]) -> Vec<u32> {
        let n = own.members.count();
        debug_assert!(n > 1 && own.place < n);
        match own.kind {
            Collective::AllReduce => self.ring(own, 2 * (n - 1), after),
            Collective::AllGather | Collective::ReduceScatter => self.ring(own, n - 1, after),
            Collective::AllToAll => self.direct(own, after),
            Collective::Broadcast => self.chain(own, after),
        }
    }

    fn send<M: Members>(&mut self, own: &Exchange<M>, to: u32, bytes: u64, after: &[u32]) -> u32 {
        let op = Op::Send { to: own.members.rank(to), bytes, tag: own.tag };
        self.add(Node { op, cpu: 0, nic: own.nic }, after, own.line)
    }

    fn take<M: Members>(&mut self, own: &Exchange<M>, from: u32, bytes: u64, after: &[u32]) -> u32 {
        let op = Op::Recv { from: own.members.rank(from), bytes, tag: own.tag };
        self.add(Node { op, cpu: 0, nic: own.nic }, after, own.line)
    }

    /// In step s the i-th sends part i - s to the next one, which is what it got in the step before.
    fn ring<M: Members>(&mut self, own: &Exchange<M>, steps: u32, after: &[u32]) -> Vec<u32> {
        let n = own.members.count();
        let part = |place: u32, step: u32| cut(own.bytes, (place + 2 * n - step % n) % n, n);
        let (to, from) = ((own.place + 1) % n, (own.place + n - 1) % n);
        let mut got = None;
        for step in 0..steps {
            let bytes = part(own.place, step);
            match got {
                None => self.send(own, to, bytes, after),
                Some(got) => self.send(own, to, bytes, &[got]),
            };
            got = Some(self.take(own, from, part(from, step), after));
        }
        got.into_iter().collect()
    }

    /// Each sends to all others at once.
    fn direct<M: Members>(&mut self, own: &Exchange<M>, after: &[u32]) -> Vec<u32> {
        let n = own.members.count();
        let mut got = vec![];
        for step in 1..n {
            let (to, from) = ((own.place + step) % n, (own.place + n - step) % n);
            self.send(own, to, cut(own.bytes, to, n), after);
            got.push(self.take(own, from, cut(own.bytes, own.place, n), after));
        }
        got
    }

    /// Each passes all on to the next one, from the first to the last.
    fn chain<M: Members>(&mut self, own: &Exchange<M>, after: &[u32]) -> Vec<u32> {
        let (n, bytes) = (own.members.count(), own.bytes.max(1));
        let got = (own.place > 0).then(|| self.take(own, own.place - 1, bytes, after));
        let sent = (own.place + 1 < n).then(|| match got {
            Some(got) => self.send(own, own.place + 1, bytes, &[got]),
            None => self.send(own, own.place + 1, bytes, after),
        });
        got.or(sent).into_iter().collect()
    }
}

/// One of so many equal parts, in bytes; no message has none.
fn cut(bytes: u64, part: u32, parts: u32) -> u64 {
    let until = |part: u32| (u128::from(bytes) * u128::from(part) / u128::from(parts)) as u64;
    (until(part + 1) - until(part)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;

    fn program(kind: Collective, members: &[u32], bytes: u64) -> Program {
        let rank = |place: u32| {
            let mut graph = Graph::default();
            let own = Exchange { kind, members, place, bytes, tag: 7, nic: 0, line: 1 };
            let got = graph.exchange(&own, &[]);
            graph.calc(5, 0, &got, 1);
            graph.rank()
        };
        let ranks = (0..members.len() as u32).map(rank).collect();
        Program::new("x", ranks).unwrap()
    }

    /// What each collective sends in all, and how many messages, from its definition.
    #[test]
    fn collectives_send_their_bytes() {
        use Collective::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
        for n in [2u32, 3, 4, 7] {
            let members: Vec<u32> = (0..n).collect();
            let (n, bytes) = (u64::from(n), 1_000_001);
            for (kind, shares) in [
                (AllReduce, 2 * (n - 1)),
                (AllGather, n - 1),
                (ReduceScatter, n - 1),
                (AllToAll, n - 1),
                (Broadcast, n - 1),
            ] {
                let program = program(kind, &members, bytes);
                let size = |(_, _, op)| match op {
                    Op::Send { bytes, .. } => bytes,
                    _ => unreachable!("messages are sends"),
                };
                let sizes: Vec<u64> = program.messages().map(size).collect();
                assert_eq!(sizes.iter().sum::<u64>(), shares * bytes, "{kind:?} {n}");
                let sends = if kind == Broadcast { n - 1 } else { n * kind.sends(n) };
                assert_eq!(sizes.len() as u64, sends, "{kind:?} {n}");
            }
        }
    }

    #[test]
    fn parts_have_a_byte_each() {
        assert_eq!((cut(10, 0, 4), cut(10, 1, 4), cut(10, 3, 4)), (2, 3, 3));
        assert_eq!((0..8).map(|part| cut(4, part, 8)).sum::<u64>(), 8);
        assert_eq!(cut(u64::MAX, 1, 2) - cut(u64::MAX, 0, 2), 1);
    }
}
