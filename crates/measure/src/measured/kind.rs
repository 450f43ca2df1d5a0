//! The numbers that claims and figures read from a run, each in one line.

use super::Measure;
use crate::numbers::{OF_GROUP, OF_RUN, similar};
use crate::statistics::{ascending, mean, percentile};
use crate::{Group, Run, Summary, group, summarise};
use incast_units::Fault;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::LazyLock;

/// What a number is of, which decides how it can be restricted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// A statistic over flows that completed.
    Flows,
    /// Ports, in a window.
    Ports,
    /// Ports, over the run.
    PortsOverRun,
    /// Ports in a window, or the whole fabric.
    Fabric,
    /// One recorded flow, in a window.
    Flow,
    /// One packet, on its way.
    Packet,
    /// Transports that share recorded flows.
    Transports,
    /// Something else: chosen flows, recorded flows, requests.
    Other,
}

/// How a number is read.
#[derive(Clone, Copy)]
enum Read {
    /// A statistic of a value of each flow: the mean, or a percentile in thousandths.
    Flows(fn(&Run, usize) -> Option<f64>, Option<u32>),
    /// Anything else.
    Run(fn(&Measure, &Run) -> Option<f64>),
    /// As a study has it, of the chosen flows.
    Group(fn(&Group) -> Option<f64>),
    /// As a study has it.
    Summary(fn(&Summary) -> Option<f64>),
}

/// An entry of the list.
pub struct Entry {
    name: &'static str,
    unit: &'static str,
    of: Of,
    /// Whether it depends on the length of a run that never reaches balance.
    steady: bool,
    /// The size below which differences of its values are shares of this size instead of the value itself,
    /// so that queues next to nothing can be compared. `None` if it does not summarise values.
    least: Option<f64>,
    read: Read,
}

macro_rules! numbers {
    ($($name:literal $unit:literal $of:ident $steady:literal $least:expr => $read:expr;)*) => {
        &[$(Entry { name: $name, unit: $unit, of: Of::$of, steady: $steady, least: $least, read: $read }),*]
    };
}

/// Name, unit (empty for a share, an index, a ratio or a count of no unit), what it is of, whether it needs balance, the least size of
/// its values that counts, and how it is read.
const OWN: &[Entry] = numbers! {
    "backlog_max_packets" "packets" Ports false Some(1.0) => Read::Run(|m, run| Some(m.backlog_max(run)? / full_packet(run)?));
    "backlog_mean_packets" "packets" Ports true Some(1.0) => Read::Run(|m, run| Some(m.backlog_mean(run)? / full_packet(run)?));
    "backlog_max_kb" "KB" Ports false Some(1.5) => Read::Run(|m, run| Some(m.backlog_max(run)? / 1e3));
    "backlog_mean_kb" "KB" Ports true Some(1.5) => Read::Run(|m, run| Some(m.backlog_mean(run)? / 1e3));
    "backlog_p50_kb" "KB" PortsOverRun true None => Read::Run(|m, run| m.backlog_percentile(run, 500));
    "backlog_p99_kb" "KB" PortsOverRun true None => Read::Run(|m, run| m.backlog_percentile(run, 990));
    "utilisation" "" Ports true Some(0.01) => Read::Run(Measure::utilisation);
    "packets" "packets" Ports false None => Read::Run(|m, run| m.counted(run, |bin| bin.sent_packets.into()));
    "marks" "" Packet false None => Read::Run(|_, _| None);
    "drops" "packets" Fabric false None => Read::Run(|m, run| m.counted(run, |bin| bin.drops.into()));
    "credit_drops" "packets" Fabric false None => Read::Run(|m, run| m.counted(run, |bin| bin.credit_drops.into()));
    "trims" "packets" Fabric false None => Read::Run(|m, run| m.counted(run, |bin| bin.trims.into()));
    "flow_gbps" "Gb/s" Flow false Some(0.01) => Read::Run(Measure::flow_gbps);
    "fct_mean_us" "us" Flows true Some(1.0) => Read::Flows(fct_us, None);
    "fct_p99_us" "us" Flows true Some(1.0) => Read::Flows(fct_us, Some(990));
    "fct_p999_us" "us" Flows true Some(1.0) => Read::Flows(fct_us, Some(999));
    "slowdown_mean" "" Flows true Some(0.01) => Read::Flows(Run::slowdown, None);
    "slowdown_p99" "" Flows true Some(0.01) => Read::Flows(Run::slowdown, Some(990));
    "throughput_mean_gbps" "Gb/s" Flows true Some(0.01) => Read::Flows(gbps, None);
    "request_mean_ms" "ms" Other false None => Read::Run(|_, run| request_mean_ms(run));
    "completed" "" Other false None => Read::Run(Measure::completed);
    "share" "" Transports false None => Read::Run(Measure::share);
    "rate_ratio" "" Transports false None => Read::Run(Measure::rate_ratio);
    "jain" "" Other false None => Read::Run(Measure::jain);
    "convergence_ms" "ms" Other false None => Read::Run(Measure::convergence_ms);
    "feedback_age_us" "us" Other true None => Read::Group(|g| Some(g.decision_age_mean_ns? / 1e3));
    "feedback_utility" "" Other false None => Read::Group(|g| g.feedback_utility);
    "decisions_per_rtt" "per base RTT" Other false None => Read::Group(|g| g.decisions_per_rtt);
    "feedback_percent" "%" Other false None => Read::Group(|g| Some(100.0 * g.feedback_per_payload?));
    "extension_per_packet" "B per packet" Other false None => Read::Group(|g| (g.packets > 0).then(|| g.extension_bytes as f64 / g.packets as f64));
};

fn fct_us(run: &Run, flow: usize) -> Option<f64> {
    Some(run.fct(flow)?.as_ns_f64() / 1e3)
}

fn gbps(run: &Run, flow: usize) -> Option<f64> {
    Some(run.flows[flow].size_bytes as f64 * 8.0 / run.fct(flow)?.as_ns_f64())
}

fn request_mean_ms(run: &Run) -> Option<f64> {
    let measured = run.requests.iter().filter(|request| !request.warmup);
    let time = |r: &crate::Request| Some(r.end?.since(r.start).0 as f64 / 1e9);
    mean(&measured.filter_map(time).collect::<Vec<f64>>())
}

/// Charged bytes of a full packet of the run.
pub(super) fn full_packet(run: &Run) -> Option<f64> {
    let bytes = run.manifest.fabric.charged_mtu_bytes;
    (bytes > 0).then(|| f64::from(bytes))
}

/// A number that claims and figures read: one of the list, or one that a study has, of the chosen flows or of
/// the run.
#[derive(Clone, Copy)]
pub struct Kind(&'static Entry);

impl Kind {
    /// The number of this name.
    ///
    /// # Errors
    /// There is none: a message with the nearest names.
    pub fn named(name: &str) -> Result<Kind, Fault> {
        static OF_STUDY: LazyLock<Vec<Entry>> = LazyLock::new(|| {
            let entry = |name, unit, steady, read| Entry {
                name,
                unit,
                of: Of::Other,
                steady,
                least: None,
                read,
            };
            let groups =
                OF_GROUP.iter().map(|one| entry(one.name, one.unit, true, Read::Group(one.read)));
            let runs =
                OF_RUN.iter().map(|one| entry(one.name, one.unit, false, Read::Summary(one.read)));
            groups.chain(runs).collect()
        });
        let all = || OWN.iter().chain(OF_STUDY.iter());
        let found = all().find(|entry| entry.name == name);
        found.map(Kind).ok_or_else(|| {
            let known = similar(name, all().map(|entry| entry.name));
            Fault::text(name, known.in_part(&"there is no such number"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its unit as it is printed; empty for a share, an index, a ratio or a count of no unit.
    pub fn unit(self) -> &'static str {
        self.0.unit
    }

    /// What it is of.
    pub fn of(self) -> Of {
        self.0.of
    }

    /// Whether it is a percentile over flows that completed.
    pub fn is_percentile(self) -> bool {
        matches!(self.0.read, Read::Flows(_, Some(_)))
    }

    /// Whether it is a statistic over flows that completed.
    pub fn is_of_flows(self) -> bool {
        self.0.of == Of::Flows
    }

    /// Whether it depends on the length of a run that never reaches balance: statistics over flows,
    /// and means over time of queues, links and feedback, which grow with the number of open flows.
    pub fn needs_balance(self) -> bool {
        self.0.steady
    }

    /// The size below which differences of its values are shares of this size instead of the value
    /// itself. `None` if a number of this kind does not summarise values of flows or intervals.
    pub fn least(self) -> Option<f64> {
        self.0.least
    }

    /// The number, if the run has it.
    pub(super) fn read(self, measure: &Measure, run: &Run) -> Option<f64> {
        match self.0.read {
            Read::Flows(..) => {
                let all: Vec<f64> =
                    measure.samples(run).into_iter().map(|(_, value)| value).collect();
                self.statistic(&all)
            }
            Read::Run(read) => read(measure, run),
            Read::Group(read) => read(&group(run, "chosen", &measure.flows(run))),
            Read::Summary(read) => read(&summarise(run)),
        }
    }

    /// The value of a flow that it is a statistic of.
    pub(super) fn of_flow(self, run: &Run, flow: usize) -> Option<f64> {
        match self.0.read {
            Read::Flows(value, _) => value(run, flow),
            _ => None,
        }
    }

    /// The statistic of some values of flows.
    pub(super) fn statistic(self, values: &[f64]) -> Option<f64> {
        match self.0.read {
            Read::Flows(_, Some(thousandths)) => percentile(&ascending(values), thousandths),
            _ => mean(values),
        }
    }

    /// The fewest flows of a batch, where those give an interval.
    pub(super) fn smallest_batch(self) -> Option<usize> {
        match self.0.read {
            Read::Flows(_, None) => Some(10),
            Read::Flows(_, Some(990)) => Some(100),
            _ => None,
        }
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.name() == other.name()
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Kind, D::Error> {
        Kind::named(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_study_are_numbers_of_claims() {
        assert_eq!(Kind::named("fct_p99_us").unwrap().of(), Of::Flows);
        for (name, unit) in [("slowdown_p95", ""), ("fct_max_ns", "ns"), ("goodput_gbps", "Gb/s")] {
            assert_eq!(Kind::named(name).unwrap().unit(), unit, "{name}");
        }
        let said = Kind::named("fct_p9_us").unwrap_err();
        assert_eq!(said.suggestion(), Some("fct_p99_us"), "{said}");
    }

    #[test]
    fn names_are_single() {
        let names: std::collections::BTreeSet<_> = OWN.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), OWN.len());
    }
}
