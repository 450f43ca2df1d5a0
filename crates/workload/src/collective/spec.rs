//! What a collective is, and what it becomes.

use Algorithm::{Direct, DoubleTree, HalvingDoubling, Hierarchical, Pairwise, Ring, Tree};
use incast_units::{Span, Time};
use std::ops::Range;

/// What the ranks want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveKind {
    /// Each gets the sum of the data of all.
    AllReduce,
    /// Each gets its share of the sum.
    ReduceScatter,
    /// Each gets the shares of all.
    AllGather,
    /// Each sends a share of its data to each other.
    AllToAll,
    /// Each gets the data of one.
    Broadcast,
}

/// Who sends what to whom, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Each rank passes on to the next one what it got from the one before it.
    Ring,
    /// Up a binary tree and down again.
    Tree,
    /// Two trees with half of the data each; whoever passes data on in one is a leaf of the other.
    DoubleTree,
    /// Pairs exchange halves, quarters and so on, and then as much again in the opposite order.
    HalvingDoubling,
    /// Each rank sends to all others at once.
    Direct,
    /// In step i each rank sends to the i-th behind it.
    Pairwise,
    /// Within groups and among the ranks that have one place in their groups.
    Hierarchical,
}

impl CollectiveKind {
    /// All, by name.
    pub const NAMES: [(&'static str, CollectiveKind); 5] = [
        ("all_reduce", CollectiveKind::AllReduce),
        ("reduce_scatter", CollectiveKind::ReduceScatter),
        ("all_gather", CollectiveKind::AllGather),
        ("all_to_all", CollectiveKind::AllToAll),
        ("broadcast", CollectiveKind::Broadcast),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        CollectiveKind::NAMES.iter().find(|one| one.1 == self).expect("each has a name").0
    }

    /// Its algorithms, the default first.
    pub fn algorithms(self) -> &'static [Algorithm] {
        match self {
            CollectiveKind::AllReduce => {
                &[Ring, Tree, DoubleTree, HalvingDoubling, Direct, Hierarchical]
            }
            CollectiveKind::ReduceScatter | CollectiveKind::AllGather => {
                &[Ring, HalvingDoubling, Direct, Pairwise, Hierarchical]
            }
            CollectiveKind::AllToAll => &[Direct, Pairwise, Hierarchical],
            CollectiveKind::Broadcast => &[Ring, Tree, DoubleTree, Direct],
        }
    }

    /// What algorithm bandwidth is multiplied with to compare collectives of `ranks` ranks with the rate
    /// of a link: bus bandwidth (nccl-tests, PERFORMANCE.md).
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let share = f64::from(ranks - 1) / f64::from(ranks);
        match self {
            CollectiveKind::AllReduce => 2.0 * share,
            CollectiveKind::Broadcast => 1.0,
            _ => share,
        }
    }
}

impl Algorithm {
    /// All, by name.
    pub const NAMES: [(&'static str, Algorithm); 7] = [
        ("ring", Ring),
        ("tree", Tree),
        ("double_tree", DoubleTree),
        ("halving_doubling", HalvingDoubling),
        ("direct", Direct),
        ("pairwise", Pairwise),
        ("hierarchical", Hierarchical),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Algorithm::NAMES.iter().find(|one| one.1 == self).expect("each has a name").0
    }
}

/// A collective, once or again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// What the ranks want.
    pub kind: CollectiveKind,
    /// How they get it.
    pub algorithm: Algorithm,
    /// The host of each rank.
    pub ranks: Vec<u32>,
    /// Bytes that a rank has in the end, or has to give: all shares together.
    pub size: u64,
    /// Ranks of a group, of `Hierarchical`.
    pub group: Option<u32>,
    /// The rank whose data the others get, of `Broadcast`; rank 0 if not given.
    pub root: Option<u32>,
    /// How much of its data each rank gives to each, of `AllToAll`: one list for all ranks, or one for each; equal if
    /// not given.
    pub shares: Option<Vec<Vec<f64>>>,
    /// Parts of the data that are treated at the same time.
    pub channels: u32,
    /// Parts of each of these that are sent one after the other.
    pub chunks: u32,
    /// Whether a rank's message of a step waits until its message of the step before has arrived, and one of a chunk
    /// until that of the chunk before has; else only for what the rank has to have.
    pub in_turn: bool,
    /// How often.
    pub iterations: u32,
    /// Each rank computes for so long before each iteration.
    pub compute: Span,
    /// A rank that computes longer, and by how much.
    pub straggler: Option<(u32, Span)>,
    /// When the computation before the first iteration begins.
    pub at: Time,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its index in [`Traffic::flows`](crate::Traffic::flows).
    pub flow: u32,
    /// The rank that sends it.
    pub from: u32,
    /// The rank that receives it.
    pub to: u32,
}

/// One iteration of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveGroup {
    /// Which collective of the traffic, from 0.
    pub number: u32,
    /// Which of its iterations, from 0.
    pub iteration: u32,
    /// What the ranks want.
    pub kind: CollectiveKind,
    /// How they get it.
    pub algorithm: Algorithm,
    /// How many there are.
    pub ranks: u32,
    /// The size of the collective.
    pub bytes: u64,
    /// Its messages.
    pub messages: Vec<Message>,
    /// For each rank the index in [`Traffic::gates`](crate::Traffic::gates) of the gate that opens when the rank has computed.
    pub ready: Range<u32>,
    /// When the first computation begins.
    pub at: Time,
    /// The longest computation before the iteration.
    pub compute: Span,
}
