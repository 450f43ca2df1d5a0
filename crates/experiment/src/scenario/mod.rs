//! A scenario: one value from the command line to the manifest. Every key is declared once, here
//! and in `traffic`: type, default, accepted range, meaning and flag.

mod dataplane;
mod delay;
mod docs;
mod draft;
mod field;
mod host;
mod job;
mod key;
mod names;
mod node;
mod pfc;
mod program;
mod queue;
mod range;
mod section;
pub mod study;
mod title;
mod traffic;
mod world;

pub use dataplane::{Backend, Clock, DataPlane};
pub use delay::DelayText;
pub use docs::{keys_markdown, study_markdown};
pub use draft::Draft;
pub use field::{Auto, Buffer, Hosts, Overhead, auto};
pub use host::Host;
pub use incast_transport::Setting;
pub use job::Job;
pub use key::{Command, Flag, Form, Key, Preset};
pub use names::{Connections, ForwardingName, Issue, NicChoice};
pub use node::{Node, Origin, Value};
pub use pfc::{Pfc, Storm, Watchdog};
pub use program::{Placement, Program};
pub use queue::Queue;
pub use title::title_of;
pub use traffic::{
    AllToAll, Burst, ClosedLoop, Collective, FlowFile, Incast, Long, ManyToMany, Permutation,
    Poisson, Requests, Traffic,
};
pub use world::World;

use crate::Fault;
use field::Field;
use incast_egress::port::Join;
use incast_transport::{Acks, Bytes, Limit, Rate, Routing, Span, Time};
use incast_workload::FlowClass;
use section::{Section, Table, join, within};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

use section::{brief, first, preset, read_key, section, section_field};

/// Default rate of links (REN §6).
pub const RATE: Rate = Rate::from_gbps(40);
/// Default propagation delay of a link.
pub const PROPAGATION: Span = Span::from_us(1);
/// Default buffer of a switch port, from REN's evaluation.
pub const BUFFER: Buffer = Buffer(Limit::Bytes(128 << 10));

/// Default of `fabric.cut_through_bytes`: the smallest frame of Ethernet.
pub(crate) const CUT_THROUGH_BYTES: u32 = 64;

/// Parameters by transport, then by key.
pub type Parameters = BTreeMap<String, BTreeMap<String, Setting>>;

section! {
    /// One scenario.
    pub struct Scenario is "a scenario" {
        /// Title in tables and reports.
        title: String = String::new(), says "derived from the other keys";
        /// The network.
        fabric: Fabric;
        /// The transports.
        transport: Transport;
        /// The flows; all entries together, and those of `job`.
        traffic: Vec<Traffic> = vec![], says "none: there is a `job`";
        /// Jobs, whose ranks compute and send to each other.
        job: Vec<Job> = vec![];
        /// Hosts that are not ideal.
        host: Option<Host> = None, says "hosts that take no time";
        /// How to run.
        run: Run = Run::defaults(), says "all defaults";
        /// How the data plane runs. Without effect in the simulator.
        dataplane: Option<DataPlane> = None, says "all defaults in the data plane";
        /// What to write.
        output: Output = Output::defaults(), says "all defaults";
    }
}

section! {
    /// The network.
    pub struct Fabric is "[fabric]" {
        /// A topology of `incast list`, such as `leaf-spine:8x8x8`, or with names and rates
        /// `leaf-spine:leaves=8,spines=100Gbps*8,hosts=25Gbps*8`. Excludes `file`.
        topology: Option<String> = None,
            flag [Run Compare] "--topology" "SPEC" "Topology, such as leaf-spine:8x8x8, or a topology file (HPCC, htsim .topo)";
        /// A topology file of another tool (HPCC, htsim .topo), recognised by content.
        file: Option<String> = None,
            flag [Run Compare] "--topology" "FILE";
        /// Which NIC a flow takes of servers with several: `hash` (each end at random), `round_robin` (each
        /// server's flows in turn), or `plane` (the same number at both ends, in turn).
        nic: Option<NicChoice> = None, says "`hash` where servers have several";
        /// Whether hosts of `file` that have several links forward, as in BCube, each by a switch on its board. Without
        /// this key only hosts of files that link hosts to each other do; others are servers with a NIC for each link.
        hosts_forward: bool = false;
        /// Rate of links. Not allowed with `file`.
        rate: Auto<Rate> = auto(), says "40Gbps",
            "a rate above 0" => |rate| rate.0 > 0,
            flag [Compare] "--rate" "RATE" "Rate of links";
        /// One-way propagation delay of a link. Not allowed with `file`.
        propagation: Auto<Span> = auto(), says "1us",
            flag [Compare] "--propagation" "TIME" "One-way propagation delay of a link";
        /// Rate of links between switches.
        uplink_rate: Auto<Rate> = auto(), says "as `rate`, or by `oversubscription`",
            "a rate above 0" => |rate| rate.0 > 0;
        /// Rate of links between aggregation and core switches of a `clos`.
        core_rate: Option<Rate> = None, says "as `uplink_rate`", "a rate above 0" => |rate| rate.0 > 0;
        /// One-way propagation delay of links between switches.
        uplink_propagation: Auto<Span> = auto(), says "as `propagation`";
        /// Ratio of host capacity to uplink capacity of an edge switch.
        oversubscription: Option<f64> = None,
            "a number above 0" => |ratio| *ratio > 0.0 && ratio.is_finite(),
            flag [Compare] "--oversubscription" "RATIO";
        /// Probability that a link loses a packet.
        loss: f64 = 0.0, "0 to less than 1" => |loss| (0.0..1.0).contains(loss);
        /// Buffer of a switch port, in bytes (a full packet or more) or packets.
        buffer: Buffer = BUFFER,
            flag [Compare] "--buffer" "SIZE"
                "Buffer of a switch port, in bytes or packets; REN's evaluation uses 128KiB";
        /// Queues of data at every port of a switch, and how they are served: `["strict", 3, 1]` serves the first
        /// before all others, and these by weights, in bytes. Flows are in the one of their `priority` (class 1 is the first), in a host
        /// as well. ECN thresholds and `buffer` are those of each queue. Only for transports that need one
        /// class of data, and no grants.
        queues: Vec<Queue> = vec![], says "one";
        /// One shared buffer per switch instead of one buffer per port.
        shared_buffer: Option<SharedBuffer> = None;
        /// Priority-based flow control (802.1Qbb): links are paused before a buffer overflows. `{}` sets
        /// all defaults.
        pfc: Option<Pfc> = None,
            switch [Compare] "--pfc" "{}"
                "Enable PFC (802.1Qbb); `--buffer` is then the xoff threshold per link and class";
        /// Largest packet at the network layer, in bytes. Whatever is given in full packets or
        /// derived from one (bandwidth-delay products, credit shares, token times) follows it.
        mtu: u32 = 1500, "128 to 65000" => |mtu| (128..=65_000).contains(mtu),
            flag [Compare] "--mtu" "BYTES" "Largest packet at the network layer";
        /// Headers of a data packet in bytes, within `mtu`. Links charge this size; on the wire
        /// (pcapng, data plane) headers take 40 B.
        data_header: u32 = 40, "0 to 1000" => |bytes| *bytes <= 1_000;
        /// A packet without payload - ACK, grant, credit, token, pull, pause, trimmed header - in
        /// bytes at the network layer, without what a transport adds. Links charge this size; on
        /// the wire (pcapng, data plane) it is 40 B.
        control_packet: u32 = 40, "1 to 60000" => |bytes| (1..=60_000).contains(bytes);
        /// Bytes that a link charges for a packet beyond the network layer; `true` is Ethernet's
        /// 38 (preamble, header, check sequence, gap), `false` is 0.
        l2_overhead: Overhead = Overhead(38), "0 to 255" => |overhead| overhead.0 <= 255,
            switch [Compare] "--no-l2-overhead" "false"
                "Links charge IP bytes only, as in ns-2-style figures";
        /// Smallest number of bytes that a link charges for a packet.
        min_frame: Auto<u32> = auto(),
            says "46 and `l2_overhead` (84 with Ethernet's), 0 without `l2_overhead`",
            "0 to 60000" => |bytes| *bytes <= 60_000;
        /// Whether the last packet of a flow is padded to a full packet, instead of sent at its own
        /// size. Not with `packets` of `poisson`.
        pad_last: bool = false;
        /// How switches forward packets: `store_and_forward`, or `cut_through`, which begins when a
        /// packet's first bytes have arrived if the egress is idle and no faster than the link by
        /// which the packet arrives, and stores it otherwise.
        forwarding: ForwardingName = ForwardingName::StoreAndForward,
            flag [Compare] "--forwarding" "NAME";
        /// Bytes of a packet, as links charge them, that a switch reads before it cuts through.
        cut_through_bytes: u32 = CUT_THROUGH_BYTES, "1 to 65000" => |bytes| (1..=65_000).contains(bytes);
        /// Time between the arrival of a packet at a switch and the earliest start of its
        /// transmission there. Counts as propagation.
        switch_delay: Span = Span::ZERO, "at most 1s" => |delay| *delay <= Span::from_secs(1);
        /// Time between the arrival of a packet at a host and its delivery to the transport. Counts
        /// as propagation.
        host_delay: Span = Span::ZERO, "at most 1s" => |delay| *delay <= Span::from_secs(1);
        /// The base RTT that transports are configured with. Nodes that are processes of their own measure
        /// it where it is not set.
        base_rtt: Auto<Span> = auto(), says "computed",
            "more than 0, such as `10us`" => |rtt| *rtt > Span::ZERO;
        /// Overrides for single links.
        links: Vec<Link> = vec![];
        /// Link failures.
        failures: Vec<LinkFailure> = vec![];
        /// Hosts whose NICs send pause frames without end.
        storms: Vec<Storm> = vec![];
    }
}

section! {
    /// One buffer per switch.
    pub struct SharedBuffer is "[fabric.shared_buffer]" {
        /// Buffer size of each switch.
        pool: Bytes, "2KB or more" => |pool| pool.0 >= 2_000,
            flag [Compare] "--shared-buffer" "SIZE"
                "One shared buffer of this size per switch, with dynamic threshold alpha = 1";
        /// Factor alpha of the dynamic threshold.
        alpha: f64 = 1.0, "a number above 0" => |alpha| alpha.is_finite() && *alpha > 0.0;
    }
}

section! {
    /// Override for one link.
    pub struct Link is "[[fabric.links]]" {
        /// One end, such as `host0` or `leaf1`.
        a: String;
        /// The other end.
        b: String;
        /// Rate of the link.
        rate: Option<Rate> = None, "a rate above 0" => |rate| rate.0 > 0;
        /// One-way propagation delay of the link.
        propagation: Option<Span> = None;
        /// Loss probability of the link.
        loss: Option<f64> = None, "0 to less than 1" => |loss| (0.0..1.0).contains(loss);
        /// Mean time between two bursts of losses, such as those of a bad cable, in each direction; drawn from an
        /// exponential distribution (Gilbert-Elliott model).
        burst_every: Option<Span> = None, says "no bursts", "more than 0" => |span| *span > Span::ZERO;
        /// Mean length of a burst. Needs `burst_every`.
        burst_lasts: Option<Span> = None, "more than 0" => |span| *span > Span::ZERO;
        /// Loss probability in a burst; `loss` holds between two.
        burst_loss: Option<f64> = None, says "1", "0 to 1" => |loss| (0.0..=1.0).contains(loss);
    }
}

section! {
    /// A link failure. While the link is down routes avoid it, and packets that are on it or waiting
    /// for it are lost.
    pub struct LinkFailure is "[[fabric.failures]]" {
        /// Time of the failure.
        at: Span;
        /// One end.
        a: String;
        /// The other end.
        b: String;
        /// Time from the failure until the link works again, with the routes of before.
        repair_after: Option<Span> = None, says "never", "more than 0" => |span| *span > Span::ZERO;
        /// For a link that flaps: time from each repair until the next failure. Needs `times`.
        up_for: Option<Span> = None, "more than 0" => |span| *span > Span::ZERO;
        /// Whether `repair_after` and `up_for` are means of times that are drawn from exponential distributions,
        /// as those of an optic that flaps.
        random: bool = false;
        /// How often the link fails. More than once needs `repair_after` and `up_for`.
        times: u32 = 1, "1 to 10000" => |times| (1..=10_000).contains(times);
    }
}

section! {
    /// The transports of the flows.
    pub struct Transport is "[transport]" {
        /// Transports to compare; `all` alone stands for every one of `incast list`. Each has its own
        /// run; arrivals are identical.
        names: Vec<String>,
            flag [Compare] "--transports" "NAMES" "Transports, separated by commas, or `all`",
            flag [Run] "--transport" "NAME" "Transport for --flows or --program";
        /// Load balancing of all transports.
        routing: Auto<Routing> = auto(), says "each transport's own",
            flag [Compare] "--lb" "NAME";
        /// Load balancing by transport, as in `routings.phost = "ecmp"`.
        routings: BTreeMap<String, Routing> = BTreeMap::new(), says "as `routing`";
        /// Numbers of the routings `entropy`, `drill`, `least-queue`, `flowlet`, `conga` and `plb`.
        balance: Option<Balance> = None, says "all defaults";
        /// CSV file of fixed paths, for the routing `paths`. Its first line is `flow,path`, or
        /// `src,dst,path` for every flow between two hosts; a path is the switches in order, such as
        /// `leaf0 spine1 leaf2`. ACKs and grants take the reverse path. Flows that the file does not
        /// name take symmetric ECMP.
        paths: Option<String> = None,
            flag [Compare] "--paths" "FILE" "Fixed paths of flows, for `--lb paths`";
        /// Class of the ACKs of sender-driven transports: `data` (ACKs wait among data) or `control`
        /// (class 0, strictly before data). What destinations of receiver-driven transports send (grants,
        /// tokens, credits, pulls) keeps the class of their papers: it paces data, and would be another
        /// transport in a queue behind data.
        acks: Auto<Acks> = auto(), says "each transport's own",
            flag [Compare] "--acks" "CLASS";
        /// Retransmission timers of sender-driven transports expire at random up to this share of the
        /// timeout late, as those of real hosts do: hosts that lost packets together do not
        /// retransmit together.
        rto_jitter: f64 = 0.0, "0 to 1" => |share| (0.0..=1.0).contains(share);
        /// Period of the clock by which these timers expire, such as `4ms` (Linux with 250 Hz); each
        /// host's has its own phase. Zero: they are exact.
        timer_granularity: Span = Span::ZERO, "at most 1s" => |tick| *tick <= Span::from_secs(1);
        /// How transports share a port. `shared`: one set of queues; each transport marks and drops
        /// its own packets by the total queue length. `separate`: own queues per transport, equal
        /// shares of the link.
        join: Join = Join::Shared;
        /// The transport whose marking rule applies to all ECN-capable packets, as in a switch with
        /// one rule per queue.
        marking: Option<String> = None, says "each transport's own";
        /// Flows assigned to one transport in every run.
        assign: Vec<Assign> = vec![];
        /// Parameters by transport, as in `[transport.parameters.ren]`; `incast list` shows them.
        parameters: Parameters = Parameters::new(), says "the papers' values";
    }
}

section! {
    /// Load balancing that has numbers.
    pub struct Balance is "[transport.balance]" {
        /// Routing `entropy`: path numbers per flow. A source that chooses none itself draws one for each
        /// data packet; with 1 all packets of a flow take one path, as with `ecmp`.
        entropies: u32 = 64, "1 to 65535" => |count| (1..=65_535).contains(count);
        /// Routing `drill`: ports drawn at random for each packet.
        samples: u32 = 2, "1 to 64" => |count| (1..=64).contains(count);
        /// Routing `drill`: ports remembered, those with the shortest queues at the packet before.
        memory: u32 = 1, "0 to 64" => |count| *count <= 64;
        /// Routings `flowlet` and `conga`: a flow that sends nothing for longer takes a new port.
        flowlet_gap: Auto<Span> = auto(), says "base RTT, at least 10 packet times of a host's link",
            "at most 1s" => |gap| *gap <= Span::from_secs(1);
        /// Routings `least-queue` and `drill`: lengths of queues are known in multiples of so many bytes, as
        /// those of a switch with few levels are.
        quantum: Bytes = Bytes(1), "1 to 1GB" => |bytes| (1..=1_000_000_000).contains(&bytes.0);
        /// Routings `least-queue` and `drill`: lengths of queues are read anew once they are so old. Zero: at
        /// each packet.
        stale: Span = Span::ZERO, "at most 1s" => |age| *age <= Span::from_secs(1);
        /// Routing `plb`: a flow moves to another path after so many windows of data in a row that told of
        /// congestion.
        plb_rounds: Auto<u32> = auto(), says "each transport's own: `dctcp` 3, `swift` 5 to 7 at random",
            "1 to 1000" => |rounds| (1..=1_000).contains(rounds);
        /// Routing `plb`: share of a window's ACKs from which on they tell of congestion.
        plb_share: Auto<f64> = auto(), says "each transport's own: `dctcp` 0.5, `swift` 1",
            "0.01 to 1" => |share| (0.01..=1.0).contains(share);
        /// Routings `least-queue`, `drill`, `flowlet` and `conga`: packets without payload (ACKs, grants, ...)
        /// take `ecmp` instead.
        data_only: bool = false;
        /// Routing `conga`: after each such period the load of a link loses a share.
        conga_period: Span = Span::from_us(50), "1ns to 1s" =>
            |span| (Span::from_ns(1)..=Span::from_secs(1)).contains(span);
        /// Routing `conga`: that share. The load is known to an eighth of what the link carries in a period over
        /// this share.
        conga_decay: f64 = 0.2, "0.01 to 1" => |share| (0.01..=1.0).contains(share);
        /// Routing `conga`: what a leaf told of a path counts for so long.
        conga_age: Span = Span::from_us(500), "at most 1s" => |age| *age <= Span::from_secs(1);
    }
}

impl Default for Balance {
    fn default() -> Balance {
        Section::defaults()
    }
}

section! {
    /// Flows assigned to one transport in every run.
    pub struct Assign is "[[transport.assign]]" {
        /// The transport.
        name: String;
        /// Flows from these hosts only.
        hosts: Option<Hosts> = None, says "all";
        /// Flows of this class only.
        class: Option<FlowClass> = None, says "all";
    }
}

section! {
    /// How to run.
    pub struct Run is "[run]" {
        /// Seed of the random numbers.
        seed: u64 = 1, flag [Run Compare Reproduce] "--seed" "N";
        /// Execution environment: `sim`, the simulator, or `dataplane`, hosts and switches of the
        /// data plane that exchange encoded frames, in one thread. Results are equal unless
        /// `dataplane.clock` is real time. Or `flow`, flow level: instead of packets, flows share the links by
        /// max-min fairness, for first looks at many hosts and where only load matters.
        world: World = World::Sim, flag [Demo Run Compare] "--world" "NAME"
            "Execution environment: the simulator (sim), the data plane (dataplane), or flow level (flow)";
        /// With world `flow`: so many flows, those that start first, are run alone in the simulator as well, and
        /// the error of their completion times at flow level is in the results.
        against_packets: Option<u32> = None, says "no comparison",
            "1 to 1000000" => |flows| (1..=1_000_000).contains(flows),
            flag [Run Compare] "--against-packets" "FLOWS"
                "With --world flow: run the first FLOWS flows in packets as well, and tell the error";
        /// Number of threads, one per core by default. Does not change results.
        threads: Auto<usize> = auto(), says "all cores",
            "1 or more" => |threads| *threads > 0,
            flag [Demo Run Compare Reproduce] "--threads" "N";
        /// End of the run, even if flows are incomplete.
        until: Option<Span> = None,
            says "until all flows complete, at most 100 days, or one hour without delivery",
            "more than 0 and at most 8640000s (100 days)" => in_a_run;
        /// Initial interval of time series, at least `1us`; doubled when there are more than 512.
        interval: Auto<Span> = auto(), says "base RTT",
            "more than 0 and at most 8640000s (100 days)" => in_a_run;
        /// Share of `poisson` flows excluded from statistics as warm-up, in order of their start.
        /// `auto`: `poisson` flows and background flows of files that start outside of the window in
        /// which arrivals and departures balance.
        warmup: Auto<f64> = Auto(Some(0.1)), says "`0.1`",
            "0 to less than 1" => |share| (0.0..1.0).contains(share);
        /// Throughput is recorded for this many flows, in order of their number.
        watch: Auto<u32> = auto(), says "8; 128 with several transports in a run";
    }
}

section! {
    /// What to write.
    pub struct Output is "[output]" {
        /// Write CSV files in addition to Parquet.
        csv: bool = false, switch [Run Compare] "--csv" "true" "Write CSV files in addition to Parquet";
        /// Ports whose packets are captured as pcapng: `leaf0->spine1`, a number, or `all`.
        pcap: Vec<String> = vec![], flag [Run Compare] "--pcap" "PORTS"
            "Capture these ports (leaf0->spine1, a number, all) as pcapng";
        /// Flows whose packets are captured, by number; without it all, and pause frames.
        pcap_flows: Vec<u32> = vec![], says "all", flag [Run Compare] "--pcap-flows" "FLOWS"
            "Capture only the packets of these flows";
        /// Bytes kept of each captured packet, its Ethernet header included; 0 keeps all. 120 hold
        /// every header.
        pcap_snap: u32 = 0, flag [Run Compare] "--pcap-snap" "BYTES"
            "Keep only the first BYTES of each captured packet";
        /// Most packets that are captured: the first ones of the run. A warning tells that there were
        /// more.
        pcap_limit: u64 = 1_000_000, "1 to 100000000000" =>
            |limit| (1..=100_000_000_000).contains(limit);
        /// Record how many paths each flow's packets took and how often they changed, in `flows.parquet`.
        paths: bool = false;
        /// Every event of some flows, ports or hosts, in `trace.parquet`. `{}` traces everything.
        trace: Option<Trace> = None;
    }
}

section! {
    /// Which events are traced: those of one of `flows` at one of `ports` or `hosts`.
    pub struct Trace is "[output.trace]" {
        /// Numbers of flows, such as `[7, 9]`.
        flows: Vec<u32> = vec![], says "all";
        /// Ports as in `pcap`.
        ports: Vec<String> = vec![], says "all, or none if there are `hosts`";
        /// Hosts, such as `0-7,9`: what their transports send, receive and decide.
        hosts: Option<Hosts> = None, says "all, or none if there are `ports`";
        /// Start of the trace.
        from: Span = Span::ZERO;
        /// End of the trace.
        until: Option<Span> = None, says "the end of the run";
        /// Most events, of about 200 bytes of memory each: the first ones of the run. A warning tells
        /// that there were more.
        limit: u64 = 1_000_000, "1 to 100000000" => |limit| (1..=100_000_000).contains(limit);
    }
}

section_field! {
    Scenario, Fabric, SharedBuffer, Link, LinkFailure, Transport, Balance, Assign, Run, DataPlane,
    Output, Trace
}

/// Whether the value is a possible duration of a run.
fn in_a_run(span: &Span) -> bool {
    *span > Span::ZERO && span.0 <= Time::HORIZON.0
}

impl Scenario {
    /// The scenario as TOML, every key written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a scenario can be written")
    }

    /// The scenario as TOML, without keys that are as their defaults.
    pub fn to_brief_toml(&self) -> String {
        toml::to_string(&self.brief()).expect("a scenario can be written")
    }

    /// The keys that differ from their defaults, and those without default.
    pub fn brief(&self) -> Node {
        Value::Table(self.brief_entries()).into()
    }

    /// Every key with its value.
    pub fn to_node(&self) -> Node {
        Value::Table(self.entries()).into()
    }

    /// Whether a key of a scenario, such as `fabric.rate`, starts with this word.
    pub fn begins_with(word: &str) -> bool {
        Scenario::KEYS.contains(&word)
    }

    /// Every key that a scenario can have.
    pub fn all_keys() -> Vec<Key> {
        Scenario::describe("")
    }

    /// Checks the accepted range of every key.
    pub fn check_ranges(&self) -> Result<(), Fault> {
        self.check_keys("")
    }
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scenario, D::Error> {
        let node = Node::deserialize(from)?;
        Scenario::read(&node, "").map_err(serde::de::Error::custom)
    }
}
