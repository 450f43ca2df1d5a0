//! What a run knows of its jobs: the programs, their ranks and steps, and each iteration of a collective.

use incast_transport::Parts;
use incast_units::{Span, Time};

/// A program of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramMeta {
    /// Its file.
    pub file: String,
    /// Its job; empty of traffic of kind `program`.
    pub job: String,
    /// When it began.
    pub at: Time,
    /// How often it is done.
    pub iterations: u32,
    /// When each time is over if messages take no time, from its beginning: the longest path of computations.
    pub alone: Vec<Span>,
    /// Names of its groups of ranks, such as `TP`; none if its file has no groups.
    pub groups: Vec<&'static str>,
}

/// A rank of a program; its [record](incast_transport::ExecutionRecord) has the same place in the run's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankMeta {
    /// The program, from 0.
    pub program: u32,
    /// Its number there.
    pub rank: u32,
    /// Its host, a server where those have several NICs.
    pub host: u32,
    /// What it has to do: sends, receives and computations.
    pub steps: u64,
    /// Messages that it sends over the network.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What it sends to ranks of its server.
    pub local_bytes: u64,
    /// What its steps are.
    pub what: Vec<StepMeta>,
}

/// A step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepMeta {
    /// `send`, `recv` or `calc`.
    pub kind: &'static str,
    /// The other rank of a message, if it is known.
    pub peer: Option<u32>,
    /// Bytes of a message.
    pub bytes: Option<u64>,
    /// The flow of a message that it sends.
    pub flow: Option<u32>,
    /// The place in its program's `groups` of the group whose collective or message it is part of.
    pub group: Option<u8>,
}

/// One iteration of a collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// Which collective of the scenario, from 0.
    pub number: u32,
    /// Its job; empty of traffic of kind `collective`.
    pub job: String,
    /// Which of its iterations, from 0.
    pub iteration: u32,
    /// What the ranks want, such as `all_reduce`.
    pub kind: &'static str,
    /// How they get it, such as `ring`.
    pub algorithm: &'static str,
    /// How many ranks.
    pub ranks: u32,
    /// Bytes that each has or wants.
    pub bytes: u64,
    /// Bus bandwidth over algorithm bandwidth.
    pub bus_factor: f64,
    /// How many messages.
    pub messages: u32,
    /// The longest computation of a rank before it.
    pub compute: Span,
    /// When the computation before it began: the end of the iteration before.
    pub begin: Option<Time>,
    /// When its first message started.
    pub start: Option<Time>,
    /// When its last message had arrived.
    pub end: Option<Time>,
    /// The rank to which that was sent.
    pub slowest_rank: Option<u32>,
    /// From the first rank that had computed to the last one.
    pub skew_start: Option<Span>,
    /// From the first rank that had got everything to the last one.
    pub skew_end: Option<Span>,
    /// Its completion time on a network that only NICs limit, with ranks that are ready when they were.
    pub ideal: Option<Span>,
    /// What its end waited for.
    pub path: Option<CriticalPath>,
}

/// From the last message that arrived back over what each waited for longest, to where a rank began to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// Messages on it.
    pub messages: u32,
    /// Computation on it.
    pub compute: Span,
    /// The parts of the completion times of these messages.
    pub parts: Parts,
    /// How long before the end of the iteration before it begins: its rank was done earlier.
    pub ahead: Span,
}

impl Collective {
    /// From its first start to its last arrival.
    pub fn completion(&self) -> Option<Span> {
        Some(self.end?.since(self.start?))
    }

    /// From the end of the iteration before.
    pub fn time(&self) -> Option<Span> {
        Some(self.end?.since(self.begin?))
    }

    /// What of this time is more than computation.
    pub fn exposed(&self) -> Option<Span> {
        Some(Span(self.time()?.0.saturating_sub(self.compute.0)))
    }

    /// Size over completion time, GB/s.
    pub fn algorithm_bandwidth(&self) -> Option<f64> {
        let time = self.completion().filter(|time| time.0 > 0)?;
        Some(self.bytes as f64 * 1e3 / time.0 as f64)
    }

    /// The same as compared with the rate of a link, GB/s.
    pub fn bus_bandwidth(&self) -> Option<f64> {
        Some(self.algorithm_bandwidth()? * self.bus_factor)
    }

    /// Completion time over the ideal one.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal = self.ideal.filter(|ideal| ideal.0 > 0)?;
        Some(self.completion()?.0 as f64 / ideal.0 as f64)
    }
}
