//! What a user should know before trusting the results of a run.

use crate::stuck::Stuck;
use incast_units::{Notice, WarningKind};
use serde::{Deserialize, Serialize};
use std::fmt;

incast_units::warnings! {
    /// Kinds of warnings before a run that come with data of their own.
    pub static WARNINGS_BEFORE;
    WITHOUT_PFC = "without_pfc" {
        says: "designed for lossless fabrics, but this one drops packets: {transports}; `fabric.pfc` \
               (--pfc) makes it lossless",
        means: "These transports rely on PFC: their papers assume that no packet is lost, and their \
                recovery from loss is slow. In a fabric that drops packets they look worse than they are.",
        remedy: "`fabric.pfc = {}` or `--pfc`; without it say so beside the results.",
    }
}

incast_units::warnings! {
    /// Kinds of warnings about the records of a run.
    pub static WARNINGS_AFTER;
    INTERRUPTED = "interrupted" {
        says: "interrupted: the results cover a part of the run",
        means: "Ctrl-C (or the stop of a study) ended the run. All files are there, until the time of \
                the interruption; the manifest has `\"complete\": false`.",
        remedy: "Repeat it with `incast run FOLDER`.",
    }
    REFUSED = "refused" {
        says: "refused: {reasons}; the results are not those of the scenario",
        means: "A run in real time was not faithful: the machine was late by more than the bounds \
                allow, so the times are those of the machine.",
        remedy: "The bounds and what to do about each: docs/testbed.md. `incast doctor` looks at the \
                 machine.",
    }
    NOTHING_COMPLETED = "nothing_completed" {
        says: "none of {flows} flows completed: there are no completion times",
        means: "The run ended before any flow did. Tables and charts of completion times are empty.",
        remedy: "A later `run.until`, or smaller flows. If flows should have completed, `incast explain` \
                 says what one waits for.",
    }
    INCOMPLETE = "incomplete" {
        says: "{open} of {flows} measured flows did not complete; they are excluded from completion \
               times and slowdowns, which therefore look too good",
        means: "The flows that are left out are the slow ones, so means and percentiles are too low. A \
                transport with more open flows can look better than one that completed all of them.",
        remedy: "A later `run.until`, or none: without it a run lasts until all flows are complete.",
    }
    NEVER_BALANCED = "never_balanced" {
        says: "arrivals and departures never balance: {arrivals} flows start in the second half of the \
               arrivals and {departures} complete in it, more than 2 % apart, and the number of open flows \
               has no steady level. Completion times depend on the number of flows; take more of them, or \
               less load",
        means: "The run has no steady state to measure: flows pile up for as long as they arrive (or the \
                run is too short to tell). The balance test: docs/results.md.",
        remedy: "More flows (`flows`), or a lower `load`.",
    }
    LOCK_STEP = "lock_step" {
        says: "{flows} flows start together with others, and {percent} % of the time of all flows is their recovery \
               from losses: their timeouts may be in step, as those of real hosts are not",
        means: "Flows that start together lose packets together, and exact timers let them retransmit \
                together, again and again. Real hosts start microseconds apart, and their timers are \
                milliseconds off. Times of such a run say more about the clock than about the transport.",
        remedy: "`jitter` of the traffic lets flows start apart; `transport.rto_jitter` and \
                 `transport.timer_granularity` make the timers those of real hosts. Compare.",
    }
    TIMEOUT_TAIL = "timeout_tail" {
        says: "{flows} of {all} flows spend most of their time on recovery that lasts a retransmission timeout or more, most of \
               the slowest 1 % among them: {key} = {timeout}, {rtts} base RTTs",
        means: "The least timeout is hundreds of times what the fabric needs, as in the Internet or on the testbed of a paper. \
                Losses that only a timer repairs then decide the tail: it says more of the timer than of the transport.",
        remedy: "Compare with a timeout of this fabric (`--set dctcp.rto_min=1ms` of `incast compare`), or state it beside the \
                 results. `incast explain RESULTS --slowest 1` shows such a flow.",
    }
    PROGRAM_STUCK = "program_stuck" {
        says: "{stuck}",
        means: "Ranks of a program wait for messages that nobody will send, because their senders wait as well, or take \
                receives that others of the same source and tag should have. The run ended there; the results are those \
                until then, and `ranks.parquet` says what each rank waits for.",
        remedy: "Follow the ranks named: the first of them waits for one whose own wait is listed, and so on.",
    }
    CAPTURES_CUT = "captures_cut" {
        says: "the capture was cut off at {packets} packets, {until_ns} ns into the run; select less \
               (output.pcap, pcap_flows) or raise output.pcap_limit",
        means: "`ports.pcapng` has the first packets only. The run itself and all other files are whole.",
        remedy: "Capture fewer ports or flows, or raise `output.pcap_limit`.",
    }
    TRACE_CUT = "trace_cut" {
        says: "the trace was cut off at {events} events, {until_ns} ns into the run; select less \
               (output.trace.flows, ports, hosts, from, until) or raise output.trace.limit",
        means: "`trace.parquet` has the first events only. The run itself and all other files are whole.",
        remedy: "Select less, or raise `output.trace.limit`: about 200 bytes of memory per event.",
    }
}

/// Fewest values above a percentile: of fewer it is an accident.
const VALUES_ABOVE: u64 = 10;

/// One warning: its data, and with [`Display`](fmt::Display) its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// What the scenario, a file it reads, or the configuration of a transport gives reason for.
    Configuration {
        /// Name of its [kind](WarningKind); empty in manifests of older versions.
        #[serde(default)]
        name: String,
        /// Its sentence.
        about: String,
    },
    /// Transports whose papers assume a lossless fabric, in one that drops packets.
    WithoutPfc {
        /// Their names.
        transports: Vec<String>,
    },
    /// The user stopped the run.
    Interrupted,
    /// A run in real time that is not accepted.
    Refused {
        /// Why.
        reasons: Vec<String>,
    },
    /// No flow is complete.
    NothingCompleted {
        /// Flows of the run.
        flows: usize,
    },
    /// Some measured flows are not complete.
    Incomplete {
        /// Those.
        open: usize,
        /// All measured flows.
        flows: usize,
    },
    /// Arrivals and departures never balance ([`Balance::Never`](crate::Balance::Never)).
    NeverBalanced {
        /// Flows that start in the second half of the arrivals.
        arrivals: usize,
        /// Flows that complete in it.
        departures: usize,
    },
    /// Flows that start together and spend most of their time on recovery.
    LockStep {
        /// How many start at one instant.
        flows: usize,
        /// Of their time, how much is recovery, percent.
        percent: u64,
    },
    /// Timeouts far above the RTT make the tail of a transport.
    TimeoutTail {
        /// Completed flows that spend most of their time waiting for one.
        flows: usize,
        /// Completed flows.
        all: usize,
        /// The key that decides it.
        key: String,
        /// The least timeout.
        timeout: String,
        /// The same in base RTTs.
        rtts: u64,
    },
    /// A program cannot go on.
    ProgramStuck {
        /// Which, and what its ranks wait for.
        stuck: Stuck,
    },
    /// Only the first packets of the captured ports were kept.
    CapturesCut {
        /// How many.
        packets: u64,
        /// Time of the last one, nanoseconds.
        until_ns: u64,
    },
    /// Only the first events of a trace were kept.
    TraceCut {
        /// How many.
        events: u64,
        /// Time of the last one, nanoseconds.
        until_ns: u64,
    },
}

/// Values that a percentile in thousandths needs to have ten above it.
pub fn values_needed(thousandths: u32) -> u64 {
    VALUES_ABOVE * 1000 / (1000 - thousandths as u64)
}

/// Kinds that say what a run is, and ask for nothing.
const NOTES: [&str; 2] = ["flow_level", "against_packets"];

impl Warning {
    /// Whether it says what a run is rather than what to fix.
    pub fn is_note(&self) -> bool {
        NOTES.contains(&self.name())
    }

    /// A warning that is known before a run.
    pub fn known(notice: &Notice) -> Warning {
        Warning::Configuration { name: notice.kind.name.into(), about: notice.text.clone() }
    }

    /// The name of its kind.
    pub fn name(&self) -> &str {
        match self {
            Warning::Configuration { name, .. } => name,
            other => other.kind().expect("all others are declared").name,
        }
    }

    /// Its kind; `None` for one of a scenario, which carries its sentence.
    pub fn kind(&self) -> Option<&'static WarningKind> {
        Some(match self {
            Warning::Configuration { .. } => return None,
            Warning::WithoutPfc { .. } => &WITHOUT_PFC,
            Warning::Interrupted => &INTERRUPTED,
            Warning::Refused { .. } => &REFUSED,
            Warning::NothingCompleted { .. } => &NOTHING_COMPLETED,
            Warning::Incomplete { .. } => &INCOMPLETE,
            Warning::NeverBalanced { .. } => &NEVER_BALANCED,
            Warning::LockStep { .. } => &LOCK_STEP,
            Warning::TimeoutTail { .. } => &TIMEOUT_TAIL,
            Warning::ProgramStuck { .. } => &PROGRAM_STUCK,
            Warning::CapturesCut { .. } => &CAPTURES_CUT,
            Warning::TraceCut { .. } => &TRACE_CUT,
        })
    }

    /// The values of its sentence, by their names in it.
    fn values(&self) -> Vec<(&'static str, String)> {
        match self {
            Warning::Configuration { .. } | Warning::Interrupted => vec![],
            Warning::WithoutPfc { transports } => vec![("transports", transports.join(", "))],
            Warning::Refused { reasons } => vec![("reasons", reasons.join("; "))],
            Warning::NothingCompleted { flows } => vec![("flows", flows.to_string())],
            Warning::Incomplete { open, flows } => {
                vec![("open", open.to_string()), ("flows", flows.to_string())]
            }
            Warning::NeverBalanced { arrivals, departures } => {
                vec![("arrivals", arrivals.to_string()), ("departures", departures.to_string())]
            }
            Warning::LockStep { flows, percent } => {
                vec![("flows", flows.to_string()), ("percent", percent.to_string())]
            }
            Warning::TimeoutTail { flows, all, key, timeout, rtts } => vec![
                ("flows", flows.to_string()),
                ("all", all.to_string()),
                ("key", key.clone()),
                ("timeout", timeout.clone()),
                ("rtts", rtts.to_string()),
            ],
            Warning::ProgramStuck { stuck } => vec![("stuck", stuck.to_string())],
            Warning::CapturesCut { packets, until_ns } => {
                vec![("packets", packets.to_string()), ("until_ns", until_ns.to_string())]
            }
            Warning::TraceCut { events, until_ns } => {
                vec![("events", events.to_string()), ("until_ns", until_ns.to_string())]
            }
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Warning::Configuration { about, .. } = self {
            return f.write_str(about);
        }
        let values = self.values();
        let shown: Vec<(&str, &dyn fmt::Display)> =
            values.iter().map(|(name, value)| (*name, value as &dyn fmt::Display)).collect();
        f.write_str(&self.kind().expect("all others are declared").text(&shown))
    }
}
