//! `manifest.json`, declared once for who writes and who reads it: what repeats a run, and where and how it ran.

use crate::{Fidelity, Warning};
use incast_units::Span;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A file that a run has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// File name as given, relative to the current directory.
    pub name: String,
    /// Role: `scenario`, `topology`, `flows`, `paths` or `workload`.
    pub role: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Path of its copy in a results folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

impl InputFile {
    /// A file of these bytes.
    pub fn of(name: &str, role: &str, bytes: &[u8]) -> InputFile {
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            write!(sha256, "{byte:02x}").expect("a string takes all");
        }
        InputFile { name: name.into(), role: role.into(), sha256, copy: None }
    }

    /// Whether it is the file of a scenario, which a manifest has within itself.
    pub fn is_scenario(&self) -> bool {
        ["scenario", "manifest"].contains(&self.role.as_str())
    }
}

/// What every manifest has, also that of several runs, and before a run: enough to repeat it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Of the program.
    pub version: String,
    /// Of the scenario.
    pub title: String,
    /// The scenario with all defaults filled in.
    pub scenario: Value,
    /// The input files.
    pub files: Vec<InputFile>,
    /// The current directory of the run, to which file names are relative.
    pub directory: String,
    /// The run ended regularly and all files are written.
    pub complete: bool,
    /// How many processes made it together; such a run is in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
}

/// The manifest of several runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunsManifest {
    /// What they have in common.
    #[serde(flatten)]
    pub outline: Outline,
    /// That of each.
    pub runs: Vec<Manifest>,
}

/// The manifest of a run. docs/results.md says what each entry means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// What repeats it.
    #[serde(flatten)]
    pub outline: Outline,
    /// The user stopped it.
    pub interrupted: bool,
    /// Ports whose paused links wait for each other in a cycle.
    pub deadlock: Option<String>,
    /// Time of the last delivery, if it ended because nothing was delivered any more.
    pub stalled_since: Option<String>,
    /// Open flows whose ends came apart for good.
    pub cut_off: Vec<String>,
    /// Its transport, whose name its folder has.
    pub transport: String,
    /// The same, or all that carry flows.
    pub label: String,
    /// All parameters of every transport, with its routing.
    pub parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// How transports share ports.
    pub join: Option<String>,
    /// The transport whose marking rule applies to all packets.
    pub marking: Option<String>,
    /// The network.
    pub fabric: FabricFacts,
    /// The flows.
    pub traffic: TrafficFacts,
    /// Of the run.
    pub seed: u64,
    /// The world that ran it.
    pub world: String,
    /// Of the run.
    pub threads: usize,
    /// What to know before trusting it.
    pub warnings: Vec<StatedWarning>,
    /// Where it ran.
    pub machine: Machine,
    /// Wall-clock time, if it is known.
    pub wall_seconds: Option<f64>,
    /// Simulated time.
    pub simulated_ns: f64,
    /// Start of the first interval of time series.
    pub series_start_ns: f64,
    /// Packet transmissions, summed over ports.
    pub packet_hops: u64,
    /// Of the engine.
    pub events: u64,
    /// How faithful it was, if it followed real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// What a run at flow level is, of such a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_level: Option<String>,
}

/// The network of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FabricFacts {
    /// Its name.
    pub topology: String,
    /// Its hosts.
    pub hosts: u32,
    /// As configured in transports.
    #[serde(with = "as_text")]
    pub base_rtt: Span,
    /// Of a host link.
    pub bdp_packets: u32,
    /// Of most hosts.
    pub host_rate: String,
    /// The highest.
    pub max_rate: String,
    /// Of a port.
    pub buffer: String,
    /// Its rules, if there is PFC.
    pub pfc: Option<PfcFacts>,
    /// Of each switch, if ports share one.
    pub shared_buffer: Option<PoolFacts>,
    /// Charged bytes of a full packet.
    pub charged_mtu_bytes: u32,
}

/// PFC in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PfcFacts {
    /// Lossless ones.
    pub classes: Vec<u8>,
    /// The smallest threshold of all links.
    pub xoff_bytes: u64,
    /// The largest.
    pub xoff_bytes_max: u64,
    /// How far below it a class is released.
    pub release_bytes: u64,
    /// The largest of all links.
    pub headroom_bytes_max: Option<u64>,
}

/// The buffer that the ports of a switch share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolFacts {
    /// Its size.
    pub pool_bytes: u64,
    /// Factor of the dynamic threshold.
    pub alpha: f64,
}

/// The flows of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrafficFacts {
    /// How many.
    pub flows: usize,
    /// What a load of 1 is.
    pub load_definition: String,
    /// For which they were drawn.
    pub offered_load: Option<f64>,
    /// Payload.
    pub total_bytes: u64,
}

/// Where a run was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of its processor.
    pub cpu: String,
    /// How many the program may use.
    pub cores: usize,
    /// Operating system.
    pub os: String,
}

/// A warning with its sentence. Kinds that another version has are kept as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedWarning {
    kind: String,
    /// Of its kind, where that is not `kind` itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// In words.
    pub text: String,
    /// Its data.
    #[serde(flatten)]
    pub data: serde_json::Map<String, Value>,
}

impl StatedWarning {
    /// The name of its kind.
    pub fn name(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.kind)
    }
}

impl From<Warning> for StatedWarning {
    fn from(warning: Warning) -> StatedWarning {
        let mut all = serde_json::to_value(&warning).expect("plain data becomes JSON");
        all["text"] = warning.to_string().into();
        serde_json::from_value(all).expect("kind and text are there")
    }
}

/// Quantities as they are printed.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
