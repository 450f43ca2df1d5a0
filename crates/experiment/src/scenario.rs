//! A scenario as a person writes it. Unknown keys are refused, quantities carry their units.

use crate::fault::text_of;
use crate::{Fault, nearest};
use incast_transport::{Bytes, Limit, Rate, Span};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::Path;

/// A quantity written as text with its unit: `"8us"`, `"40Gbps"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<T>(pub T);

impl<'de, T: std::str::FromStr<Err = incast_transport::ParseError>> Deserialize<'de>
    for Quantity<T>
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Quantity).map_err(serde::de::Error::custom)
    }
}

/// A port's buffer: `"128KiB"` or `"128packets"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer(pub Limit);

impl std::str::FromStr for Buffer {
    type Err = String;
    fn from_str(text: &str) -> Result<Buffer, String> {
        let trimmed = text.trim();
        if let Some(count) = trimmed.strip_suffix("packets").or(trimmed.strip_suffix("packet")) {
            return match count.trim().parse::<u32>() {
                Ok(count) if count > 0 => Ok(Buffer(Limit::Packets(count))),
                _ => Err(format!("`{text}`: expected a whole number of packets above 0")),
            };
        }
        if trimmed == "unlimited" {
            return Ok(Buffer(Limit::Unlimited));
        }
        match trimmed.parse::<Bytes>() {
            Ok(Bytes(0)) => Err(format!("`{text}`: a buffer cannot be empty")),
            Ok(bytes) => Ok(Buffer(Limit::Bytes(bytes.0))),
            Err(error) => Err(format!("{error}, `<n>packets` or `unlimited`")),
        }
    }
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Limit::Packets(count) => write!(f, "{count}packets"),
            Limit::Bytes(bytes) => write!(f, "{}", Bytes(bytes)),
            Limit::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Buffer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it is called in tables.
    #[serde(default)]
    pub title: String,
    /// The network.
    pub fabric: FabricSection,
    /// Who carries the flows.
    pub transport: TransportSection,
    /// The flows; all entries together.
    pub traffic: Vec<TrafficSection>,
    /// How to run.
    #[serde(default)]
    pub run: RunSection,
    /// What to write.
    #[serde(default)]
    pub output: OutputSection,
}

/// The network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FabricSection {
    /// `leaf-spine:8x8x8`, `dumbbell:3x2`, ...; or `file`.
    pub topology: Option<String>,
    /// A topology file of another tool.
    pub file: Option<String>,
    /// Rate of links, `40Gbps` if not said.
    pub rate: Option<Quantity<Rate>>,
    /// Rate of links between switches, if it differs.
    pub uplink_rate: Option<Quantity<Rate>>,
    /// One-way propagation of a link, `1us` if not said.
    pub propagation: Option<Quantity<Span>>,
    /// One-way propagation of links between switches, if it differs.
    pub uplink_propagation: Option<Quantity<Span>>,
    /// Probability that a link loses a packet.
    #[serde(default)]
    pub loss: f64,
    /// Host capacity over uplink capacity of an edge switch.
    pub oversubscription: Option<f64>,
    /// Buffer of each switch port, `128KiB` if not said.
    pub buffer: Option<Buffer>,
    /// One buffer per switch instead.
    pub shared_buffer: Option<SharedSection>,
    /// Links are paused instead of packets dropped.
    pub pfc: Option<PfcSection>,
    /// Whether links charge Ethernet's 38 bytes; true if not said.
    pub l2_overhead: Option<bool>,
    /// The base RTT that transports are told, if not the computed one.
    pub base_rtt: Option<Quantity<Span>>,
    /// Links that differ.
    #[serde(default)]
    pub links: Vec<LinkSection>,
    /// Links that fail.
    #[serde(default)]
    pub failures: Vec<FailureSection>,
}

/// A shared buffer.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedSection {
    /// Bytes of each switch.
    pub pool: Quantity<Bytes>,
    /// Factor of the dynamic threshold.
    pub alpha: f64,
}

/// Priority-based flow control.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PfcSection {
    /// Lossless classes; all if not said.
    pub classes: Option<Vec<u8>>,
    /// Bytes a link may hold in a switch before it is paused, each class; `fabric.buffer` if not
    /// said, and never more than the dynamic threshold of a shared buffer.
    pub xoff: Option<Quantity<Bytes>>,
    /// A link is released this much below `xoff`; two packets if not said.
    pub release: Option<Quantity<Bytes>>,
    /// Room for what arrives after a pause; enough for each link if not said.
    pub headroom: Option<Quantity<Bytes>>,
    /// Run although links may come to wait for each other in a circle.
    #[serde(default)]
    pub allow_cycles: bool,
}

/// A link that differs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// One end, such as `host0` or `leaf1`.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Its rate.
    pub rate: Option<Quantity<Rate>>,
    /// Its one-way propagation.
    pub propagation: Option<Quantity<Span>>,
    /// Its loss probability.
    pub loss: Option<f64>,
}

/// A link that fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureSection {
    /// When.
    pub at: Quantity<Span>,
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
}

/// Who carries the flows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportSection {
    /// Transports that are compared, each in a run of its own on identical arrivals.
    pub names: Vec<String>,
    /// Load balancing of all, instead of each one's own.
    pub routing: Option<String>,
    /// How transports share ports: `shared` or `separate`.
    pub join: Option<String>,
    /// The transport whose rule marks the ECN-capable packets of all; each its own if not said.
    pub marking: Option<String>,
    /// Flows that are carried by a certain transport in every run.
    #[serde(default)]
    pub assign: Vec<Assign>,
    /// Parameters, by transport.
    #[serde(default)]
    pub parameters: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// Flows that are carried by a certain transport.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assign {
    /// By whom.
    pub name: String,
    /// Flows from these hosts: `"0-7,9"`.
    pub hosts: Option<String>,
    /// Flows of this class.
    pub class: Option<String>,
}

/// Some flows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficSection {
    /// `poisson`, `permutation`, `all_to_all`, `incast`, `requests`, `many_to_many`, `long`,
    /// `burst` or `file`.
    pub kind: String,
    /// Sizes of `poisson`.
    pub workload: Option<String>,
    /// Packet sizes of `poisson`, if not full packets.
    pub packets: Option<String>,
    /// Load of `poisson`.
    pub load: Option<f64>,
    /// Number of flows of `poisson`.
    pub flows: Option<u32>,
    /// Bytes of a flow.
    pub size: Option<Quantity<Bytes>>,
    /// Start.
    pub at: Option<Quantity<Span>>,
    /// Receiver, or receivers of second connections.
    pub receiver: Option<u32>,
    /// Number of senders of `incast`, chosen at random.
    pub senders: Option<u32>,
    /// Sending hosts: `"0-7,9"`.
    pub from: Option<String>,
    /// Receiving hosts.
    pub to: Option<String>,
    /// Receivers of the second connections of `many_to_many`.
    pub to_second: Option<String>,
    /// Share of responsive senders.
    pub responsive: Option<f64>,
    /// Repetitions of `burst`, rounds of `requests`.
    pub count: Option<u32>,
    /// Time between repetitions.
    pub period: Option<Quantity<Span>>,
    /// Bytes of a request message.
    pub request: Option<Quantity<Bytes>>,
    /// A flow list.
    pub file: Option<String>,
    /// Rate and time from which a burst's size is computed: `size = rate x lasts`.
    pub lasts: Option<Quantity<Span>>,
}

/// How to run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; all cores if not said.
    pub threads: Option<usize>,
    /// End of the run, whether or not flows are open.
    pub until: Option<Quantity<Span>>,
    /// Interval of time series at first.
    pub interval: Option<Quantity<Span>>,
    /// Share of `poisson` flows that are warm-up.
    pub warmup: f64,
    /// Record the throughput of the first flows of the list, at most this many; 8 if not said, or
    /// 128 with several transports.
    pub watch: Option<u32>,
}

impl Default for RunSection {
    fn default() -> RunSection {
        RunSection { seed: 1, threads: None, until: None, interval: None, warmup: 0.1, watch: None }
    }
}

/// What to write beside the usual.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSection {
    /// CSV beside Parquet.
    pub csv: bool,
    /// Ports whose packets are captured: `leaf0->spine1`, or a port number.
    pub pcap: Vec<String>,
}

impl Scenario {
    /// Reads a scenario file; `sets` are `key=value` overrides.
    pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, Fault> {
        let name = path.display().to_string();
        let text = text_of(path)?;
        Scenario::parse(&text, &name, sets)
    }

    /// Reads a scenario; `name` is what messages call it.
    pub fn parse(text: &str, name: &str, sets: &[String]) -> Result<Scenario, Fault> {
        if sets.is_empty() {
            return toml::from_str(text).map_err(|error| told(name, text, &error));
        }
        let mut table: toml::Table =
            toml::from_str(text).map_err(|error| told(name, text, &error))?;
        for set in sets {
            apply(&mut table, set)?;
        }
        toml::Value::Table(table).try_into().map_err(|error| blame(text, name, sets, &error))
    }
}

/// The error of a scenario with overrides, told of the first override that brings it.
fn blame(text: &str, name: &str, sets: &[String], error: &toml::de::Error) -> Fault {
    let mut table: toml::Table = toml::from_str(text).expect("it was read before");
    let read = |table: &toml::Table| toml::Value::Table(table.clone()).try_into::<Scenario>();
    if read(&table).is_ok() {
        for set in sets {
            apply(&mut table, set).expect("it was applied before");
            if let Err(error) = read(&table) {
                return told(&format!("--set {set}"), "", &error);
            }
        }
    }
    told(&format!("{name} with --set"), "", error)
}

/// A TOML error with file, line and the nearest known key.
fn told(name: &str, text: &str, error: &toml::de::Error) -> Fault {
    let message = error.message();
    let mut hint = String::new();
    if let Some(rest) = message.strip_prefix("unknown field `")
        && let Some((key, rest)) = rest.split_once('`')
    {
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        hint = nearest(key, known);
    }
    for section in ["fabric", "transport", "traffic"] {
        if message == format!("missing field `{section}`") {
            let one = if section == "traffic" { "[[traffic]]" } else { &format!("[{section}]") };
            return Fault(format!("{name}: there is no `{section}`: expected a section {one}"));
        }
    }
    let line = error.span().filter(|_| !text.is_empty());
    let place = match line {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            let written = text.lines().nth(line - 1).unwrap_or("").trim();
            format!("{name}:{line}: {written}")
        }
        None => name.to_string(),
    };
    Fault(format!("{place}: {message}{hint}"))
}

/// Applies `a.b.c=value`; numbers index lists.
fn apply(table: &mut toml::Table, set: &str) -> Result<(), Fault> {
    let fail = |why: &str| Fault(format!("--set {set}: {why}"));
    let (key, value) = set.split_once('=').ok_or_else(|| fail("expected key=value"))?;
    let written: toml::Value = match format!("v = {value}").parse::<toml::Table>() {
        Ok(mut table) => table.remove("v").ok_or_else(|| fail("expected a value"))?,
        Err(_) => toml::Value::String(value.to_string()),
    };
    let parts: Vec<&str> = key.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(fail("an empty part in the key"));
    }
    let (last, way) = parts.split_last().expect("split gives a part");
    let mut place =
        table.entry(parts[0].to_string()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if way.is_empty() {
        *place = written;
        return Ok(());
    }
    for part in &way[1..] {
        place = step(place, part).ok_or_else(|| fail("no such key"))?;
    }
    match place {
        toml::Value::Table(inner) => {
            inner.insert(last.to_string(), written);
        }
        other => *step(other, last).ok_or_else(|| fail("no such key"))? = written,
    }
    Ok(())
}

fn step<'a>(value: &'a mut toml::Value, part: &str) -> Option<&'a mut toml::Value> {
    match value {
        toml::Value::Table(table) => Some(
            table.entry(part.to_string()).or_insert_with(|| toml::Value::Table(toml::Table::new())),
        ),
        toml::Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    }
}

/// A parameter table as the `(key, value)` pairs that transports read; lists with commas.
pub fn parameters_from(table: &BTreeMap<String, toml::Value>) -> Vec<(String, String)> {
    fn text(value: &toml::Value) -> String {
        match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        }
    }
    table.iter().map(|(key, value)| (key.clone(), text(value))).collect()
}
