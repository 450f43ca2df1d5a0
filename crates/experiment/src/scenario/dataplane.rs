//! How the data plane runs: what carries frames, and what its time is.

use super::field::Field;
use super::key::{Command, Flag, Key, Preset};
use super::node::Node;
use super::section::{Section, Table, brief, first, join, preset, read_key, section, within};
use crate::Fault;
use crate::fault::{Problem, one_of};
use incast_dataplane::Rule;

section! {
    /// How the data plane runs (`run.world = "dataplane"`).
    pub struct DataPlane is "[dataplane]" {
        /// What carries frames: `memory`, rings of this program, or `rings`, rings of DPDK (in a
        /// program built with the feature `dpdk`). Results are equal.
        backend: Backend = Backend::Memory, flag [Demo Run Compare] "--backend" "NAME"
            "What carries the data plane's frames: memory, or rings (DPDK)";
        /// Time of the run: `virtual` jumps to what is due next; `paced` is the same schedule, no
        /// earlier than real time; `compensated` is real time without the gaps in which the program did
        /// not run; `tsc` is real time, for isolated cores. Results are equal under the first two, and
        /// differ from run to run under the others.
        clock: Clock = Clock::Virtual, flag [Demo Run Compare] "--clock" "NAME"
            "The data plane's clock: virtual, paced, compensated or tsc";
        /// A run in real time is refused if the 99.9th percentile of the lateness of its packets
        /// exceeds this share of the base RTT.
        max_lateness: f64 = 0.05, "0 to 1" => |share| (0.0..=1.0).contains(share),
            flag [Demo Run Compare] "--max-lateness" "SHARE"
                "Refuse a run in real time whose p99.9 lateness exceeds this share of the base RTT";
        /// A run in real time is refused if its number of packets differs from that of the same run
        /// under the virtual clock by more than this share.
        max_packet_difference: f64 = 0.03, "0 to 1" => |share| (0.0..=1.0).contains(share),
            flag [Demo Run Compare] "--max-packet-difference" "SHARE"
                "Refuse a run in real time whose packets differ from the virtual run's by this share";
    }
}

impl Default for DataPlane {
    fn default() -> DataPlane {
        Section::defaults()
    }
}

/// What carries frames between the nodes of the data plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// Rings in memory.
    Memory,
    /// Rings of DPDK.
    Rings,
}

impl Backend {
    /// Every backend by name.
    pub const NAMES: [(&'static str, Backend); 2] =
        [("memory", Backend::Memory), ("rings", Backend::Rings)];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Backend::NAMES.iter().find(|(_, one)| *one == self);
        found.map(|(name, _)| *name).expect("every backend has a name")
    }
}

/// What the time of the data plane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// It jumps.
    Virtual,
    /// The same schedule, throttled.
    Paced,
    /// Real time without stalls.
    Compensated,
    /// Real time.
    Tsc,
}

impl Clock {
    /// Every clock by name.
    pub const NAMES: [(&'static str, Clock); 4] = [
        ("virtual", Clock::Virtual),
        ("paced", Clock::Paced),
        ("compensated", Clock::Compensated),
        ("tsc", Clock::Tsc),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Clock::NAMES.iter().find(|(_, one)| *one == self);
        found.map(|(name, _)| *name).expect("every clock has a name")
    }

    /// How it follows real time; `None` if it does not.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Clock::Virtual => None,
            Clock::Paced => Some(Rule::Paced),
            Clock::Compensated => Some(Rule::Compensated),
            Clock::Tsc => Some(Rule::Tsc),
        }
    }

    /// The clock of this name, if it follows real time.
    ///
    /// # Errors
    /// What is accepted.
    pub fn real(text: &str) -> Result<Clock, Problem> {
        let real = || Clock::NAMES.into_iter().filter(|(_, clock)| clock.rule().is_some());
        real().find(|(name, _)| *name == text).map(|(_, clock)| clock).ok_or_else(|| {
            let names: Vec<&str> = real().map(|(name, _)| name).collect();
            one_of(text, names)
        })
    }

    /// Whether its runs differ from each other.
    pub fn varies(self) -> bool {
        matches!(self, Clock::Compensated | Clock::Tsc)
    }
}
