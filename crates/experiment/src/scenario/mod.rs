//! A scenario: one value from the command line to the manifest. Every key is declared once, here
//! and in [`traffic`]: type, default, accepted range, meaning and flag.

mod docs;
mod draft;
mod field;
mod key;
mod node;
mod section;
mod traffic;

pub use docs::keys_markdown;
pub use draft::Draft;
pub use field::{Auto, Buffer, Hosts, Setting, auto};
pub use key::{Command, Flag, Form, Key, Preset};
pub use node::{Node, Origin, Value};
pub use traffic::{
    AllToAll, Burst, FlowFile, Incast, Long, ManyToMany, Permutation, Poisson, Requests, Traffic,
};

use crate::Fault;
use crate::world::World;
use field::Field;
use incast_egress::port::Join;
use incast_transport::{Bytes, Limit, Rate, Routing, Span, Time};
use incast_workload::FlowClass;
use section::{Section, Table, join, within};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

use section::{first, preset, read_key, section, section_field};

/// Rate of links if the scenario does not say (REN §6).
pub const RATE: Rate = Rate::from_gbps(40);
/// Propagation of a link if the scenario does not say.
pub const PROPAGATION: Span = Span::from_us(1);
/// Buffer of a switch port if the scenario does not say: REN's study.
pub const BUFFER: Buffer = Buffer(Limit::Bytes(128 << 10));

/// Parameters by transport, then by key.
pub type Parameters = BTreeMap<String, BTreeMap<String, Setting>>;

section! {
    /// One scenario.
    pub struct Scenario is "a scenario" {
        /// What it is called in tables.
        title: String = String::new(), says "made of the rest";
        /// The network.
        fabric: Fabric;
        /// Who carries the flows.
        transport: Transport;
        /// The flows; all entries together.
        traffic: Vec<Traffic>;
        /// How to run.
        run: Run = Run::defaults(), says "all defaults";
        /// What to write.
        output: Output = Output::defaults(), says "all defaults";
    }
}

section! {
    /// The network.
    pub struct Fabric is "[fabric]" {
        /// A shape of `incast list`, such as `leaf-spine:8x8x8`; either this or `file`.
        topology: Option<String> = None,
            flag [Compare] "--topology" "SPEC" "Topology";
        /// A topology file of another tool (HPCC, htsim .topo), recognised by content.
        file: Option<String> = None,
            flag [Run] "--topology" "FILE";
        /// Rate of links; with `file`, as it says.
        rate: Auto<Rate> = auto(), says "40Gbps",
            "a rate above 0" => |rate| rate.0 > 0,
            flag [Compare] "--rate" "RATE" "Rate of links";
        /// One-way propagation of a link; with `file`, as it says.
        propagation: Auto<Span> = auto(), says "1us",
            flag [Compare] "--propagation" "TIME" "One-way propagation of a link";
        /// Rate of links between switches.
        uplink_rate: Auto<Rate> = auto(), says "as `rate`, or by `oversubscription`",
            "a rate above 0" => |rate| rate.0 > 0;
        /// One-way propagation of links between switches.
        uplink_propagation: Auto<Span> = auto(), says "as `propagation`";
        /// Host capacity over uplink capacity of an edge switch.
        oversubscription: Option<f64> = None,
            "a number above 0" => |ratio| *ratio > 0.0 && ratio.is_finite(),
            flag [Compare] "--oversubscription" "RATIO";
        /// Probability that a link loses a packet.
        loss: f64 = 0.0, "0 to less than 1" => |loss| (0.0..1.0).contains(loss);
        /// Buffer of a switch port, in bytes (a full packet or more) or packets.
        buffer: Buffer = BUFFER,
            flag [Compare] "--buffer" "SIZE"
                "Buffer of a switch port, in bytes or packets; REN's study has 128KiB";
        /// One buffer per switch instead.
        shared_buffer: Option<SharedBuffer> = None;
        /// Links are paused (802.1Qbb) instead of packets dropped; `{}` for all defaults.
        pfc: Option<Pfc> = None,
            switch [Compare] "--pfc" "{}"
                "Pause links (802.1Qbb) instead of dropping packets; `--buffer` is then a link's share";
        /// Links charge 38 B of Ethernet per packet, at least 84 B.
        l2_overhead: bool = true,
            switch [Compare] "--no-l2-overhead" "false"
                "Links charge IP bytes only, as in ns-2-style figures";
        /// The base RTT that transports are told.
        base_rtt: Auto<Span> = auto(), says "computed",
            "more than 0, such as `10us`" => |rtt| *rtt > Span::ZERO;
        /// Links that differ.
        links: Vec<Link> = vec![];
        /// Links that fail.
        failures: Vec<LinkFailure> = vec![];
    }
}

section! {
    /// One buffer per switch.
    pub struct SharedBuffer is "[fabric.shared_buffer]" {
        /// Bytes of each switch.
        pool: Bytes, "2KB or more" => |pool| pool.0 >= 2_000,
            flag [Compare] "--shared-buffer" "SIZE"
                "One buffer of this size per switch instead, with dynamic threshold alpha = 1";
        /// Factor of the dynamic threshold.
        alpha: f64 = 1.0, "a number above 0" => |alpha| alpha.is_finite() && *alpha > 0.0;
    }
}

section! {
    /// Priority-based flow control.
    pub struct Pfc is "[fabric.pfc]" {
        /// Lossless classes.
        classes: Vec<u8> = (0..8).collect(), says "all", "0 to 7" => |class| *class < 8;
        /// Bytes that a link may hold in a switch, per class, before it is paused.
        xoff: Auto<Bytes> = auto(),
            says "`fabric.buffer`, and at most the threshold of a shared buffer";
        /// A link is released this much below `xoff`.
        release: Auto<Bytes> = auto(), says "two packets";
        /// Room for what arrives after a pause; less than enough is refused.
        headroom: Auto<Bytes> = auto(), says "enough for each link";
        /// Run although paused links may come to wait for each other in a cycle.
        allow_cycles: bool = false;
    }
}

section! {
    /// A link that differs.
    pub struct Link is "[[fabric.links]]" {
        /// One end, such as `host0` or `leaf1`.
        a: String;
        /// The other end.
        b: String;
        /// Its rate.
        rate: Option<Rate> = None, "a rate above 0" => |rate| rate.0 > 0;
        /// Its one-way propagation.
        propagation: Option<Span> = None;
        /// Its loss probability.
        loss: Option<f64> = None, "0 to less than 1" => |loss| (0.0..1.0).contains(loss);
    }
}

section! {
    /// A link that fails.
    pub struct LinkFailure is "[[fabric.failures]]" {
        /// When.
        at: Span;
        /// One end.
        a: String;
        /// The other end.
        b: String;
    }
}

section! {
    /// Who carries the flows.
    pub struct Transport is "[transport]" {
        /// Transports that are compared, each in a run of its own on identical arrivals.
        names: Vec<String>,
            flag [Compare] "--transports" "NAMES" "Transports, separated by commas",
            flag [Run] "--transport" "NAME" "Transport for --flows";
        /// Load balancing of all transports.
        routing: Auto<Routing> = auto(), says "each transport's own",
            flag [Compare] "--lb" "NAME";
        /// How transports share a port: `shared` queues, in which each judges its own packets by
        /// the whole queue, or `separate` ones, which share the link equally.
        join: Join = Join::Shared;
        /// The transport whose rule marks the ECN-capable packets of all, as in a switch with one
        /// rule per queue.
        marking: Option<String> = None, says "each transport's own";
        /// Flows that one transport carries in every run.
        assign: Vec<Assign> = vec![];
        /// Parameters of `incast list`, by transport: `[transport.parameters.ren]`.
        parameters: Parameters = Parameters::new(), says "the papers'";
    }
}

section! {
    /// Flows that one transport carries in every run.
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
        /// Seed of everything random.
        seed: u64 = 1, flag [Run Compare Reproduce] "--seed" "N";
        /// What runs the network: `sim`, the simulator, or `dataplane`, hosts and switches of the data
        /// plane that exchange encoded frames in memory, in one thread. Results are the same.
        world: World = World::Sim, flag [Demo Run Compare] "--world" "NAME"
            "What runs the network: the simulator (sim) or the data plane (dataplane)";
        /// Threads, by default as many as there are cores; they change no result.
        threads: Auto<usize> = auto(), says "all cores",
            "1 or more" => |threads| *threads > 0,
            flag [Demo Run Compare Reproduce] "--threads" "N";
        /// The run ends here even if flows are open.
        until: Option<Span> = None,
            says "all flows complete; 100 days, or an hour in which nothing is delivered",
            "more than 0 and at most 8640000s (100 days)" => in_a_run;
        /// Interval of time series at first, at least `1us`; doubled when there are more than 512.
        interval: Auto<Span> = auto(), says "base RTT",
            "more than 0 and at most 8640000s (100 days)" => in_a_run;
        /// Share of `poisson` flows left out of statistics.
        warmup: f64 = 0.1, "0 to less than 1" => |share| (0.0..1.0).contains(share);
        /// Number of flows whose throughput is recorded, the first ones.
        watch: Auto<u32> = auto(), says "8; 128 with several transports in a run";
    }
}

section! {
    /// What to write.
    pub struct Output is "[output]" {
        /// CSV beside Parquet.
        csv: bool = false, switch [Run Compare] "--csv" "true" "Write CSV beside Parquet";
        /// Ports whose packets are captured as pcapng: `leaf0->spine1`, a number, or `all`.
        pcap: Vec<String> = vec![], flag [Run Compare] "--pcap" "PORTS"
            "Capture these ports (leaf0->spine1, a number, all) as pcapng";
    }
}

section_field! {
    Scenario, Fabric, SharedBuffer, Pfc, Link, LinkFailure, Transport, Assign, Run, Output
}

/// A length of time that a run can last.
fn in_a_run(span: &Span) -> bool {
    *span > Span::ZERO && span.0 <= Time::HORIZON.0
}

impl Scenario {
    /// The scenario as TOML, every key written out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a scenario can be written")
    }

    /// Whether a key of a scenario, such as `fabric.rate`, begins with this word.
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
