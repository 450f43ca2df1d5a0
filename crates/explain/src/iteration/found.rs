//! What is known of an iteration.

use super::timeline::RankFacts;
use crate::explanation::PartFacts;
use serde::Serialize;

/// An iteration of a collective or a program. Times in picoseconds, from the beginning of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Iteration {
    /// The transport of the run.
    pub run: String,
    /// What it is of, in words.
    pub what: String,
    /// The job; empty of traffic.
    pub job: String,
    /// Which program of the scenario, from 0; none of a collective.
    pub program: Option<u32>,
    /// Which collective of the scenario, from 0; 0 of a program.
    pub collective: u32,
    /// Which of its iterations, from 0.
    pub iteration: u32,
    /// What the ranks want, such as `all_reduce`, or the file of a program.
    pub kind: String,
    /// How they get it, such as `ring`; empty of a program.
    pub algorithm: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Size of the collective, as in the scenario, or of all messages of a program's iteration.
    pub size_bytes: u64,
    /// When the one before was over, or the first computation began.
    pub begin_ps: u64,
    /// When its first message started.
    pub start_ps: u64,
    /// When its last message had arrived.
    pub end_ps: u64,
    /// The longest computation of a rank; of a program, what its computations take alone.
    pub compute_ps: u64,
    /// Completion time of its messages on a network that only NICs limit, where it is stored.
    pub ideal_ps: Option<u64>,
    /// How long before `begin_ps` the critical path begins: its rank was done earlier.
    pub ahead_ps: u64,
    /// What took longest, in sentences.
    pub verdict: Vec<String>,
    /// The computation and the parts of the messages on the critical path; they add up to the iteration and
    /// `ahead_ps`.
    pub parts: Vec<PartFacts>,
    /// The messages on the critical path, the first one first.
    pub path: Vec<Leg>,
    /// Ports where messages of the path waited longest, the one that costs most first.
    pub ports: Vec<PortCost>,
    /// What each rank did.
    pub by_rank: Vec<RankFacts>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A message of the critical path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leg {
    /// Its flow; none within a server.
    pub flow: Option<u32>,
    /// The rank that sent it.
    pub from: u32,
    /// The rank that got it.
    pub to: u32,
    /// Its bytes.
    pub size_bytes: u64,
    /// When it started: when what it waited for was there.
    pub start_ps: u64,
    /// When it had arrived.
    pub end_ps: u64,
    /// How long it takes alone on an empty network.
    pub ideal_ps: u64,
    /// Port at which the packet that completed it waited longest; empty if it waited nowhere.
    pub port: String,
    /// The largest of the parts of its time.
    pub part: &'static str,
}

/// A port of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortCost {
    /// Its name.
    pub port: String,
    /// Messages of the path whose last packet waited longest there.
    pub messages: u32,
    /// What these took longer than alone, all together.
    pub excess_ps: u64,
    /// Of the time of the iteration.
    pub share: f64,
}
