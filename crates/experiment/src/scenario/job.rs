//! Jobs: what ranks do, where they are, how often.

use super::field::{Field, Hosts};
use super::key::{Key, Preset};
use super::names::{Connections, Issue};
use super::node::{Node, Value};
use super::program::Placement;
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section, section_field};
use crate::Fault;
use incast_transport::{Bytes, Rate, Span};
use incast_workload::{Algorithm, CollectiveKind, MAX_FLOWS};

section! {
    /// A job: ranks, each at a host, repeat a collective or a program.
    pub struct Job is "[[job]]" {
        /// What results call it.
        name: String = String::new(), says "`job0`, `job1` and so on";
        /// A file that says what each rank does in an iteration: GOAL, a workload of SimAI, or a trace of Chakra, as `file` of
        /// traffic of kind `program`. Excludes `collective`.
        program: Option<String> = None;
        /// What the ranks want in an iteration, as `collective` of traffic of kind `collective`. Excludes `program`. This key
        /// and the next seven mean what they mean there.
        collective: Option<CollectiveKind> = None;
        /// Who sends what to whom in a collective.
        algorithm: Option<Algorithm> = None, says "`ring`; of `all_to_all`, `direct`";
        /// Bytes of a collective, which needs them.
        size: Option<Bytes> = None;
        /// Ranks of a group of `hierarchical`.
        group: Option<u32> = None, says "`server`, if that is more than 1";
        /// The rank whose data a `broadcast` sends.
        root: Option<u32> = None, says "0";
        /// Share of each rank's data that each rank gets in an `all_to_all`.
        shares: Option<Vec<f64>> = None, says "equal";
        /// Parts of a collective's data that are exchanged at the same time.
        channels: u32 = 1, "1 to 4194304" => |parts| (1..=MAX_FLOWS).contains(&u64::from(*parts));
        /// Parts of each of these that are exchanged one after the other.
        chunks: u32 = 1, "1 to 4194304" => |parts| (1..=MAX_FLOWS).contains(&u64::from(*parts));
        /// Number of ranks of a collective. Those of a program are the file's.
        ranks: Option<u32> = None, says "as many as `placement_file` lists, or as there are `hosts`",
            "2 to 4194304" => |ranks| (2..=MAX_FLOWS).contains(&u64::from(*ranks));
        /// Hosts at which ranks can be. With `packed`, and as many as there are ranks, the list of the ranks' hosts.
        hosts: Option<Hosts> = None, says "all hosts";
        /// At which of `hosts` the ranks are: `packed` (the first ones, in order), `strided:K` (every K-th, then from
        /// the second on every K-th, and so on), `random` (by `run.seed` and the number of the job), or `rail_aligned:K`, for
        /// servers of K ranks, of which the i-th is on rail i: a rail is a rack of hosts, and each server takes the next
        /// host of each rail. `rail_aligned` alone takes all rails.
        placement: String = "packed".into(), "packed, random, strided:K or rail_aligned:K with K from 1, or rail_aligned"
            => |text| Placement::of(text).is_some();
        /// A file with the host of each rank, numbers in the order of ranks. Excludes other values of `placement`.
        placement_file: Option<String> = None, says "as `placement` says";
        /// Whether ranks of other jobs that say the same may be at its hosts. They share the NIC; each computes as if alone.
        share: bool = false;
        /// Ranks of a server, neighbours in the order of ranks. What they send each other does not take the network. In the
        /// simulator only.
        server: u32 = 1, "1 to 65536" => |ranks| (1..=65_536).contains(ranks);
        /// Rate at which a rank sends within its server, one message after the other, and at which it receives. Needed where
        /// `server` is more than 1.
        local_rate: Option<Rate> = None, "a rate above 0" => |rate| rate.0 > 0;
        /// How long a message within a server takes in addition.
        local_latency: Span = Span::ZERO;
        /// When the first iteration begins.
        at: Span = Span::ZERO;
        /// How often. A rank begins the next iteration when it has done all of this one; of a collective without `server`,
        /// when everything that was sent to it has arrived.
        iterations: u32 = 1, "1 to 4194304" => |times| (1..=MAX_FLOWS).contains(&u64::from(*times));
        /// How long each rank computes before each iteration; of a program, and of servers, to a whole nanosecond.
        compute: Span = Span::ZERO;
        /// All computations of the job take so many times as long, `compute` and those of the program.
        compute_scale: f64 = 1.0, "0 to 1000000" => |factor| (0.0..=1e6).contains(factor);
        /// A rank that computes longer, by `extra`.
        straggler: Option<u32> = None;
        /// How much longer the `straggler` computes before each iteration, whatever `compute_scale` is.
        extra: Option<Span> = None;
        /// When a rank sends: `serial` or `free`, as in traffic of kind `collective` and of kind `program`. With `server` a rank
        /// that sends in turn waits until it knows that the message before has arrived.
        issue: Option<Issue> = None, says "`serial` of a collective without `server`, else `free`";
        /// What is sent over one connection: `message` (each message begins as a flow of its own), `pair` (all that one host
        /// sends another: windows, rates and measured times live on from a message to the next, and all take one path) or
        /// `pair_channel` (the same for each of the `channels`, of a program for each `nic` of its file). Only for transports whose sources append messages.
        connection: Connections = Connections::Message;
        /// Packets that each flow may send before its source hears from its destination: the first
        /// burst of a receiver-driven transport, the initial window of another.
        burst: Option<u32> = None, says "as the transport has it",
            "1 to 1000000" => |packets| (1..=1_000_000).contains(packets);
        /// The queue of data (`fabric.queues`) that its flows are in, the first one is 1.
        priority: Option<u8> = None, says "the last queue", "1 to 7" => |queue| (1..=7).contains(queue);
    }
}

section_field! { Job }

impl Job {
    /// Whether its ranks run a program, which decides while the run goes on when messages start.
    pub fn executes(&self) -> bool {
        self.program.is_some() || self.server > 1
    }

    /// The first key that only a collective has and that is given here.
    pub fn key_of_collective(&self) -> Option<&'static str> {
        let given = [
            ("algorithm", self.algorithm.is_some()),
            ("size", self.size.is_some()),
            ("group", self.group.is_some()),
            ("root", self.root.is_some()),
            ("shares", self.shares.is_some()),
            ("channels", self.channels != 1),
            ("chunks", self.chunks != 1),
            ("ranks", self.ranks.is_some()),
        ];
        given.into_iter().find(|one| one.1).map(|one| one.0)
    }
}
