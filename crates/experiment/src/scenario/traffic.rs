//! The kinds of traffic: one struct per kind, so that a key that a kind does not have is refused.

use super::field::{Field, Hosts};
use super::key::{Command, Flag, Key, Preset};
use super::names::{Connections, Issue};
use super::node::{Node, Value};
use super::program::Program;
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section};
use crate::Fault;
use crate::fault::one_of;
use incast_transport::{Bytes, Span};
use incast_workload::{Algorithm, CollectiveKind, MAX_FLOWS, REQUEST_BYTES, SizeUnit, StartUnit};

/// Declares a kind of traffic: a section that ends with the keys that all kinds have. With `queue` after it, it has no `jitter` but its
/// own, and says what `priority` is if it is not given.
macro_rules! kind {
    ($(#$about:tt)+ pub struct $name:ident is $title:literal { $($keys:tt)* }) => {
        kind! {
            $(#$about)+
            pub struct $name is $title {
                $($keys)*
                /// Each flow starts at random up to this much later: hosts are not in step.
                jitter: Span = Span::ZERO;
            } queue "the last queue"
        }
    };
    ($(#$about:tt)+ pub struct $name:ident is $title:literal { $($keys:tt)* } queue $queue:literal) => {
        section! {
            $(#$about)+
            pub struct $name is $title {
                $($keys)*
                /// Packets that each flow may send before its source hears from its destination: the first
                /// burst of a receiver-driven transport, the initial window of another.
                burst: Option<u32> = None, says "as the transport has it",
                    "1 to 1000000" => |packets| (1..=1_000_000).contains(packets);
                /// The queue of data (`fabric.queues`) that its flows are in, the first one is 1.
                priority: Option<u8> = None, says $queue, "1 to 7" => |queue| (1..=7).contains(queue);
            }
        }
    };
}

kind! {
    /// Flows with sizes of a distribution, at random instants, between random hosts.
    pub struct Poisson is "kind `poisson`" {
        /// Flow sizes: a name of `incast list`, or a file.
        workload: String, flag [Compare] "--workload" "NAME";
        /// Share of the ToR uplinks' rate that the flows take on the wire; of the host links' rate where uplinks
        /// are no bottleneck. The run says of which, the manifest how it is counted.
        load: f64, "a number above 0, at most 10; 0.6 is 60 %" => |load| *load > 0.0 && *load <= 10.0,
            flag [Compare] "--load" "SHARE";
        /// Number of flows.
        flows: u32, "1 to 4194304" => |flows| (1..=MAX_FLOWS).contains(&u64::from(*flows)),
            flag [Compare] "--flows" "N";
        /// What the sizes of a file count: `bytes`, or `packets` of 1460 B.
        size_unit: Option<SizeUnit> = None, says "by the file's columns or its mean, and said";
        /// Packet sizes, such as `pkt_cache_follower`.
        packets: Option<String> = None, says "full packets";
    } queue "the last queue"
}

kind! {
    /// A fixed number of flows under way: when one is complete, its destination starts the next one, to
    /// a random host. Sizes are of a distribution.
    pub struct ClosedLoop is "kind `closed_loop`" {
        /// Flow sizes: a name of `incast list`, or a file.
        workload: String;
        /// What the sizes of a file count: `bytes`, or `packets` of 1460 B.
        size_unit: Option<SizeUnit> = None, says "by the file's columns or its mean, and said";
        /// Flows under way at once (fewer during `pause`). Flow i follows flow i - `active`; a place whose
        /// flows are used up stays empty.
        active: u32, "1 to 4194304" => |active| (1..=MAX_FLOWS).contains(&u64::from(*active));
        /// Number of flows in all.
        flows: u32, "1 to 4194304" => |flows| (1..=MAX_FLOWS).contains(&u64::from(*flows));
        /// Time from the end of a flow to the start of the next.
        pause: Span = Span::ZERO;
        /// When the first flows start.
        at: Span = Span::ZERO;
    }
}

kind! {
    /// Every host sends one flow and receives one.
    pub struct Permutation is "kind `permutation`" {
        /// Bytes of a flow.
        size: Bytes;
    }
}

kind! {
    /// Every host sends one flow to every other.
    pub struct AllToAll is "kind `all_to_all`" {
        /// Bytes of a flow.
        size: Bytes;
        /// A file with a line for each sending host and in it a number for each receiving one, separated by commas:
        /// the flow of this pair has so many times `size`; of 0 there is none.
        matrix: Option<String> = None, says "1 for each pair";
    }
}

kind! {
    /// Many hosts send to one at the same time, once or again and again.
    pub struct Incast is "kind `incast`" {
        /// The receiving host.
        receiver: Option<u32> = None, says "one of `receivers` for each incast";
        /// Hosts that may receive: each incast goes to one of them, chosen at random. Excludes `receiver`.
        receivers: Option<Hosts> = None, says "all";
        /// The sending hosts. Excludes `senders`.
        from: Option<Hosts> = None, says "all others";
        /// Number of senders, chosen at random for each incast.
        senders: Option<u32> = None,
            flag [Compare] "--incast" "N"
                "Add an incast: this many senders, 64 KB each, to host 0 after 100 us; with --incast-period \
                 one after the other, each to a random host";
        /// Flows of an incast, dealt to its senders in turn: more than there are senders, or, without
        /// `from` and `senders`, the number of random senders if there are so many other hosts.
        fan_in: Option<u32> = None, says "one for each sender",
            "1 to 4194304" => |flows| (1..=MAX_FLOWS).contains(&u64::from(*flows));
        /// Bytes of a flow.
        size: Bytes, flag [Compare] "--incast-size" "SIZE" "Bytes of a flow of the incast";
        /// Bytes of a request by which the receiver asks for each flow, which starts when the request has
        /// arrived.
        request: Option<Bytes> = None, says "none: senders start by themselves";
        /// When the flows start; of several incasts, the first, or the process of which they are.
        at: Span = Span::ZERO;
        /// Time from one incast to the next.
        period: Option<Span> = None,
            flag [Compare] "--incast-period" "TIME"
                "Time from one incast to the next, as long as other flows start";
        /// Incasts per second, at random instants. Excludes `period`.
        rate: Option<f64> = None,
            "a number above 0" => |rate| rate.is_finite() && *rate > 0.0;
        /// Load of incasts at random instants: their mean rate over the rate of the links of all hosts that
        /// may receive. Excludes `period` and `rate`.
        load: Option<f64> = None,
            "a number above 0" => |load| load.is_finite() && *load > 0.0;
        /// Number of incasts; more than one needs `period`, `rate` or `load`.
        count: Option<u32> = None, says "1",
            "1 to 4194304" => |count| (1..=MAX_FLOWS).contains(&u64::from(*count));
        /// Time in which incasts begin, from `at` on, instead of their number.
        lasts: Option<Span> = None;
    }
}

kind! {
    /// Clients send requests to all servers in rounds; all servers respond at the same time.
    pub struct Requests is "kind `requests`" {
        /// The clients.
        to: Hosts;
        /// The servers.
        from: Hosts;
        /// Bytes that a client receives per round, from all servers together.
        size: Bytes;
        /// Bytes of a request.
        request: Bytes = Bytes(REQUEST_BYTES);
        /// Rounds of each client.
        count: u32 = 1;
        /// Time between the last response of a round and the next round.
        period: Span = Span::ZERO;
        /// When the first round starts.
        at: Span = Span::ZERO;
    }
}

kind! {
    /// Every sender has two flows to receivers of two groups.
    pub struct ManyToMany is "kind `many_to_many`" {
        /// The senders.
        from: Hosts;
        /// Receivers of the first connections.
        to: Hosts;
        /// Receivers of the second connections.
        to_second: Hosts;
        /// Bytes of a flow.
        size: Bytes;
        /// Share of responsive senders; the others stop sending after the first RTT.
        responsive: f64 = 1.0,
            "a number from 0 to 1" => |share| (0.0..=1.0).contains(share);
        /// When the flows start.
        at: Span = Span::ZERO;
    }
}

kind! {
    /// Flow i goes from the i-th host of `from` to the i-th of `to`; without a size it has no end.
    pub struct Long is "kind `long`" {
        /// The senders.
        from: Hosts;
        /// The receivers.
        to: Hosts;
        /// Bytes of a flow. Flows without an end, also those of 1 TB and more, are no part of the offered load, and
        /// none is expected to complete.
        size: Option<Bytes> = None, says "without an end";
        /// When the flows start.
        at: Span = Span::ZERO;
        /// When the applications end flows that have no end by themselves. Excludes `size`.
        until: Option<Span> = None, says "`run.until`, or when all other flows are complete";
    }
}

kind! {
    /// Each sender sends a flow to one receiver, repeatedly.
    pub struct Burst is "kind `burst`" {
        /// The senders.
        from: Hosts;
        /// The receiver.
        receiver: u32;
        /// Bytes of a flow. Excludes `lasts`.
        size: Option<Bytes> = None;
        /// Duration of a flow at the rate of the host link; determines its size.
        lasts: Option<Span> = None;
        /// When the first burst starts.
        at: Span = Span::ZERO;
        /// Number of bursts.
        count: u32 = 1;
        /// Time from one burst to the next.
        period: Span = Span::from_us(1);
    }
}

kind! {
    /// Ranks of a job compute, then exchange data in a collective, once or again and again.
    pub struct Collective is "kind `collective`" {
        /// What the ranks want: `all_reduce` (the sum of the data of all), `reduce_scatter` (each a share of
        /// it), `all_gather` (the shares of all), `all_to_all` (each sends a share to each other) or
        /// `broadcast` (the data of one).
        collective: CollectiveKind;
        /// Who sends what to whom. `direct` is for all, `ring` for all but `all_to_all`, `hierarchical` for all but
        /// `broadcast`, `tree` and `double_tree` for `all_reduce` and `broadcast`, `halving_doubling` for
        /// `all_reduce`, `reduce_scatter` and `all_gather` of a power of two of ranks, `pairwise` for
        /// `reduce_scatter`, `all_gather` and `all_to_all`.
        algorithm: Option<Algorithm> = None, says "`ring`; of `all_to_all`, `direct`";
        /// The host of each rank, in the order of ranks.
        ranks: Option<Hosts> = None, says "all hosts";
        /// Bytes that a rank has in the end or has to give, all shares together (as `size` in nccl-tests).
        size: Bytes;
        /// Ranks of a group, which are neighbours in the order of ranks, of `hierarchical`.
        group: Option<u32> = None;
        /// The rank whose data a `broadcast` sends.
        root: Option<u32> = None, says "0";
        /// Share of each rank's data that each rank gets in an `all_to_all`, in the order of ranks, such as the
        /// load of experts. They sum to 1.
        shares: Option<Vec<f64>> = None, says "equal";
        /// A file with the shares of an `all_to_all` by rank: a line for each rank that sends, and in it as many numbers as
        /// `shares` has. Excludes `shares`.
        shares_file: Option<String> = None, says "the same for all ranks";
        /// Parts of the data that are exchanged at the same time, each in messages of its own.
        channels: u32 = 1, "1 to 4194304" => |parts| (1..=MAX_FLOWS).contains(&u64::from(*parts));
        /// Parts of each of these that are exchanged one after the other, so that a rank passes one on while it
        /// gets the next.
        chunks: u32 = 1, "1 to 4194304" => |parts| (1..=MAX_FLOWS).contains(&u64::from(*parts));
        /// When a rank sends: `serial`, when it has what it sends and its message of the step before has arrived, as over
        /// one connection; or `free`, when it has what it sends, so that what has gathered at a rank that was late shares its
        /// link. `free` with one chunk lets several threads work on a run.
        issue: Issue = Issue::Serial;
        /// What is sent over one connection: `message` (each message begins as a flow of its own), `pair` (all that one host
        /// sends another: windows, rates and measured times live on from a message to the next, and all take one path) or
        /// `pair_channel` (the same for each of the `channels`). Only for transports whose sources append messages.
        connection: Connections = Connections::Message;
        /// How often. A rank begins the next one when everything that was sent to it has arrived, the root of a
        /// `broadcast` when what it sent has.
        iterations: u32 = 1, "1 to 4194304" => |times| (1..=MAX_FLOWS).contains(&u64::from(*times));
        /// How long each rank computes before each iteration.
        compute: Span = Span::ZERO;
        /// A rank that computes longer, by `extra`.
        straggler: Option<u32> = None;
        /// How much longer the `straggler` computes before each iteration.
        extra: Option<Span> = None;
        /// When the first computation begins.
        at: Span = Span::ZERO;
    } queue "the last queue"
}

kind! {
    /// The flows of a file.
    pub struct FlowFile is "kind `file`" {
        /// A flow file (HPCC, htsim .cm, YAPS, CSV), recognised by content.
        file: String, flag [Run] "--flows" "FILE";
        /// What the starts of a connection matrix count: `us` or `ps`.
        start_unit: Option<StartUnit> = None, says "`us` if one has a fraction, else `ps`, and said";
        /// Each flow starts at random up to this much later: hosts are not in step.
        jitter: Span = Span::ZERO;
    } queue "the file's, or the last queue"
}

/// Declares the kinds by name.
macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// Some flows, by kind.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Traffic {
            $(
                #[doc = concat!("`", $name, "`.")]
                $kind($kind),
            )*
        }

        impl Traffic {
            /// The names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// The name of its kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Traffic::$kind(_) => $name,)*
                }
            }

            /// The first burst of each of its flows, if it is given.
            pub fn burst(&self) -> Option<u32> {
                match self {
                    $(Traffic::$kind(own) => own.burst,)*
                }
            }

            /// The queue of its flows, if it is given.
            pub fn priority(&self) -> Option<u8> {
                match self {
                    $(Traffic::$kind(own) => own.priority,)*
                }
            }

            /// Over which connections its messages go.
            pub fn connection(&self) -> Connections {
                match self {
                    Traffic::Collective(own) => own.connection,
                    Traffic::Program(own) => own.connection,
                    _ => Connections::Message,
                }
            }

            fn of_kind(kind: &str, node: &Node, path: &str) -> Option<Result<Traffic, Fault>> {
                match kind {
                    $($name => Some(read::<$kind>(node, path).map(Traffic::$kind)),)*
                    _ => None,
                }
            }

            fn entries(&self) -> Vec<(String, Node)> {
                match self {
                    $(Traffic::$kind(own) => own.entries(),)*
                }
            }

            fn brief_entries(&self) -> Vec<(String, Node)> {
                match self {
                    $(Traffic::$kind(own) => own.brief_entries(),)*
                }
            }

            /// Each kind and what it is, in a sentence.
            pub fn abouts() -> Vec<(&'static str, &'static str)> {
                vec![$(($name, <$kind as Section>::ABOUT.trim_ascii())),*]
            }

            /// The keys of each kind.
            pub(super) fn meanings() -> Vec<(&'static str, Vec<Key>)> {
                vec![$(($name, <$kind as Section>::describe("traffic"))),*]
            }

            /// Kinds that have a key.
            fn with_key(key: &str) -> Vec<&'static str> {
                let all = [$(($name, <$kind as Section>::KEYS)),*];
                all.iter().filter(|one| one.1.contains(&key)).map(|one| one.0).collect()
            }

            fn check_kind(&self, path: &str) -> Result<(), Fault> {
                match self {
                    $(Traffic::$kind(own) => own.check_keys(path),)*
                }
            }
        }
    };
}
kinds! {
    Poisson = "poisson",
    ClosedLoop = "closed_loop",
    Permutation = "permutation",
    AllToAll = "all_to_all",
    Incast = "incast",
    Requests = "requests",
    ManyToMany = "many_to_many",
    Long = "long",
    Burst = "burst",
    Collective = "collective",
    Program = "program",
    FlowFile = "file",
}

impl Traffic {
    /// By how much its flows start later, at the most; those of a Poisson process are never in step, ranks of a
    /// job are.
    pub fn jitter(&self) -> Span {
        match self {
            Traffic::Poisson(_) | Traffic::Collective(_) | Traffic::Program(_) => Span::ZERO,
            Traffic::ClosedLoop(own) => own.jitter,
            Traffic::Permutation(own) => own.jitter,
            Traffic::AllToAll(own) => own.jitter,
            Traffic::Incast(own) => own.jitter,
            Traffic::Requests(own) => own.jitter,
            Traffic::ManyToMany(own) => own.jitter,
            Traffic::Long(own) => own.jitter,
            Traffic::Burst(own) => own.jitter,
            Traffic::FlowFile(own) => own.jitter,
        }
    }
}

/// Reads the keys of one kind, including `kind`.
fn read<T: Section>(node: &Node, path: &str) -> Result<T, Fault> {
    let table = Table::new(node, path, T::TITLE)?;
    let known: Vec<&str> = std::iter::once("kind").chain(T::KEYS.iter().copied()).collect();
    table.only(&known, |key, problem| match Traffic::with_key(key).as_slice() {
        [] => problem,
        kinds => problem.in_part(&format!("`{key}` is a key of {}", kinds.join(", "))),
    })?;
    T::of_table(&table)
}

impl Field for Traffic {
    type Item = std::convert::Infallible;
    fn expects() -> String {
        "a section [[traffic]]".into()
    }
    fn read(node: &Node, path: &str) -> Result<Traffic, Fault> {
        let table = Table::new(node, path, "[[traffic]]")?;
        let kind: String = table.need("kind", None)?;
        Traffic::of_kind(&kind, node, path).unwrap_or_else(|| {
            let problem = one_of(&kind, Traffic::KINDS.iter().copied());
            Err(Fault::value(join(path, "kind"), kind, problem))
        })
    }
    fn write(&self) -> Option<Node> {
        let mut all = vec![("kind".to_string(), Node::text(self.kind()))];
        all.extend(self.entries());
        Some(Value::Table(all).into())
    }
    fn brief(&self) -> Option<Node> {
        let mut all = vec![("kind".to_string(), Node::text(self.kind()))];
        all.extend(self.brief_entries());
        Some(Value::Table(all).into())
    }
    fn items(&self) -> Vec<&Self::Item> {
        vec![]
    }
    fn check(&self, path: &str) -> Result<(), Fault> {
        self.check_kind(path)
    }
    fn keys(path: &str) -> Vec<Key> {
        let of_kind = |(kind, keys): (&'static str, Vec<Key>)| {
            keys.into_iter().map(move |key| Key { kind: Some(kind), ..key })
        };
        debug_assert_eq!(path, "traffic");
        Traffic::meanings().into_iter().flat_map(of_kind).collect()
    }
}
