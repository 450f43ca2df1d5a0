//! Traffic of kind `program`.

use super::field::{Field, Hosts};
use super::key::{Command, Flag, Key, Preset};
use super::names::{Connections, Issue};
use super::node::Node;
use super::section::{Table, join, within};
use super::section::{brief, first, preset, read_key, section};
use crate::Fault;
use incast_transport::Span;

section! {
    /// Ranks of a job, each at a host, do what a file says: they send, receive and compute, each when what it waits for
    /// is done.
    pub struct Program is "kind `program`" {
        /// A file of GOAL, text or binary, a workload of SimAI, or a trace of Chakra, of which it names one rank's file
        /// (docs/dialects.md).
        file: String, flag [Run] "--program" "FILE";
        /// Hosts at which ranks can be.
        hosts: Option<Hosts> = None, says "all hosts";
        /// At which of `hosts` the ranks are: `packed` (the first ones, in order), `strided:K` (every K-th, then from
        /// the second on every K-th, and so on), `random` (by `run.seed`) or `rail_aligned:K` (as in `[[job]]`).
        placement: String = "packed".into(), "packed, random, strided:K or rail_aligned:K with K from 1, or rail_aligned"
            => |text| Placement::of(text).is_some();
        /// A file with the host of each rank, numbers in the order of ranks. Excludes other values of `placement`.
        placement_file: Option<String> = None, says "as `placement` says";
        /// When a rank sends: `free`, when what the message waits for is done, or `serial`, when also the one before it at
        /// the same `nic` of the file is known to have arrived.
        issue: Issue = Issue::Free;
        /// What is sent over one connection: `message` (each message begins as a flow of its own), `pair` (all that one host
        /// sends another: windows, rates and measured times live on from a message to the next, and all take one path) or
        /// `pair_channel` (the same for each `nic` of the file). Only for transports whose sources append messages.
        connection: Connections = Connections::Message;
        /// When the ranks begin.
        at: Span = Span::ZERO;
        /// Packets that each flow may send before its source hears from its destination: the first
        /// burst of a receiver-driven transport, the initial window of another.
        burst: Option<u32> = None, says "as the transport has it",
            "1 to 1000000" => |packets| (1..=1_000_000).contains(packets);
        /// The queue of data (`fabric.queues`) that its flows are in, the first one is 1.
        priority: Option<u8> = None, says "the last queue", "1 to 7" => |queue| (1..=7).contains(queue);
    }
}

/// At which hosts ranks are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The first ones.
    Packed,
    /// Every so many, then from the second on.
    Strided(usize),
    /// At random.
    Random,
    /// In servers of so many, each of a server in another rack; without a number in as many as there are.
    RailAligned(Option<usize>),
    /// As a file of this name and text says.
    File(String, String),
}

impl Placement {
    /// The one that a scenario names.
    pub fn of(text: &str) -> Option<Placement> {
        match text {
            "packed" => Some(Placement::Packed),
            "random" => Some(Placement::Random),
            "rail_aligned" => Some(Placement::RailAligned(None)),
            other => {
                let (name, count) = other.split_once(':')?;
                let count = count.parse().ok().filter(|count: &usize| *count > 0)?;
                match name {
                    "strided" => Some(Placement::Strided(count)),
                    "rail_aligned" => Some(Placement::RailAligned(Some(count))),
                    _ => None,
                }
            }
        }
    }
}
