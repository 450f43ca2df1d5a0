//! The graph of a rank.

use incast_units::{Notice, Span};
use std::ops::Range;

/// Any source, or any tag, of a receive.
pub const ANY: u32 = u32::MAX;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends a message to a rank.
    Send {
        /// The rank.
        to: u32,
        /// Bytes of the message.
        bytes: u64,
        /// By which it is told from others.
        tag: u32,
    },
    /// Takes a message.
    Recv {
        /// The rank that sends it, or [`ANY`].
        from: u32,
        /// Bytes that it expects; how many come is the sender's decision.
        bytes: u64,
        /// The message's tag, or [`ANY`].
        tag: u32,
    },
    /// Computes.
    Calc {
        /// How long, in nanoseconds as files count.
        ns: u64,
    },
}

/// A node of a rank's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// The stream of a computation: those of one stream are done one after the other.
    pub cpu: u8,
    /// The NIC of a message.
    pub nic: u8,
}

impl Node {
    /// How long a computation takes; nothing for a message.
    pub fn duration(&self) -> Span {
        match self.op {
            Op::Calc { ns } => Span(ns.saturating_mul(1_000)),
            _ => Span::ZERO,
        }
    }
}

/// A node waits for another one of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// What it waits for.
    pub before: u32,
    /// Which node waits.
    pub after: u32,
    /// For the start of `before` instead of its end.
    pub at_start: bool,
}

/// Nodes by the node they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Followers {
    /// First of each node in `nodes`, and their number.
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Followers {
    fn new(count: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Followers {
        let mut starts = vec![0u32; count + 1];
        edges.clone().for_each(|(before, _)| starts[before as usize + 1] += 1);
        (0..count).for_each(|node| starts[node + 1] += starts[node]);
        let mut next = starts.clone();
        let mut nodes = vec![0; starts[count] as usize];
        for (before, after) in edges {
            let place = &mut next[before as usize];
            nodes[*place as usize] = after;
            *place += 1;
        }
        Followers { starts, nodes }
    }

    fn of(&self, node: u32) -> Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }
}

/// What one rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    nodes: Vec<Node>,
    at_end: Followers,
    at_start: Followers,
    /// Where each node is in its file, if that has lines; 0 of one that is not there.
    lines: Vec<u32>,
}

impl Rank {
    /// A rank of these nodes and edges. Panics if an edge names a node that is not there.
    pub fn new(nodes: Vec<Node>, edges: &[Edge]) -> Rank {
        let of = |at_start: bool| {
            let own = edges.iter().filter(move |edge| edge.at_start == at_start);
            let pairs = own.map(|edge| (edge.before, edge.after));
            assert!(
                pairs.clone().all(|(_, after)| (after as usize) < nodes.len()),
                "edges are between nodes"
            );
            Followers::new(nodes.len(), pairs)
        };
        let (at_end, at_start) = (of(false), of(true));
        Rank { nodes, at_end, at_start, lines: vec![] }
    }

    /// With the line of each node in its file.
    pub(crate) fn with_lines(mut self, lines: Vec<u32>) -> Rank {
        self.lines = lines;
        self
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that wait for the end of a node.
    pub fn at_end(&self, node: u32) -> &[u32] {
        &self.at_end.nodes[self.at_end.of(node)]
    }

    /// The nodes that wait for the start of a node.
    pub fn at_start(&self, node: u32) -> &[u32] {
        &self.at_start.nodes[self.at_start.of(node)]
    }

    /// Edges of both kinds.
    pub fn edges(&self) -> usize {
        self.at_end.nodes.len() + self.at_start.nodes.len()
    }

    /// The line of a node in its file, if that has lines.
    pub fn line(&self, node: u32) -> Option<u32> {
        self.lines.get(node as usize).copied().filter(|line| *line > 0)
    }

    /// Computations take `factor` times as long.
    pub(crate) fn scale(&mut self, factor: f64) {
        for node in &mut self.nodes {
            if let Op::Calc { ns } = &mut node.op {
                *ns = (*ns as f64 * factor).round() as u64;
            }
        }
    }

    /// For how many others each node waits.
    pub fn waits(&self) -> Vec<u32> {
        let mut waits = vec![0; self.nodes.len()];
        let all = self.at_end.nodes.iter().chain(&self.at_start.nodes);
        all.for_each(|node| waits[*node as usize] += 1);
        waits
    }
}

/// What all ranks of a job do.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) ranks: Vec<Rank>,
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) iterations: u32,
    pub(crate) server: u32,
    /// What stands for the lines of its file are ids of its nodes, with one added.
    pub(crate) has_ids: bool,
    /// Its steps are of groups ([`Group`](crate::Group)).
    pub(crate) has_groups: bool,
    /// What its reader took for granted.
    pub(crate) notes: Vec<Notice>,
}

/// Programs are equal if they do the same, wherever they stand.
impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        let same = |(a, b): (&Rank, &Rank)| {
            a.nodes == b.nodes && a.at_end == b.at_end && a.at_start == b.at_start
        };
        self.ranks.len() == other.ranks.len() && self.ranks.iter().zip(&other.ranks).all(same)
    }
}

impl Program {
    /// Its ranks.
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// With what its reader took for granted.
    pub(crate) fn with_notes(mut self, notes: Vec<Notice>) -> Program {
        self.notes = notes;
        self
    }

    /// Of steps that say by `nic`, and by `cpu` above 0, of which group they are.
    pub(crate) fn with_groups(mut self) -> Program {
        self.has_groups = true;
        self
    }

    /// Whether its file names groups of ranks.
    pub fn has_groups(&self) -> bool {
        self.has_groups
    }

    /// The place in [`Group::ALL`](crate::Group::ALL) of the group whose message or collective a step is part of. None of
    /// computations of layers, and where the file names no groups.
    pub fn group_of(&self, rank: u32, node: u32) -> Option<u8> {
        let node = self.ranks[rank as usize].nodes()[node as usize];
        match node.op {
            _ if !self.has_groups => None,
            Op::Calc { .. } => node.cpu.checked_sub(1),
            _ => Some(node.nic),
        }
    }

    /// The name of its file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The messages that leave their rank, or [server](Program::on_servers): number of the rank and the node that sends, in
    /// order.
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32, Op)> + '_ {
        let ranks = self.ranks.iter().zip(0u32..);
        ranks.flat_map(move |(rank, number)| {
            let nodes = rank.nodes.iter().zip(0u32..);
            nodes.filter_map(move |(node, place)| match node.op {
                Op::Send { to, .. } if !self.is_local(number, to) => Some((number, place, node.op)),
                _ => None,
            })
        })
    }

    /// Whether a message between these ranks stays in their server.
    pub fn is_local(&self, from: u32, to: u32) -> bool {
        from / self.server == to / self.server
    }
}
