//! The numbers that claims and figures read from a run, by name.

use super::Chosen;
use crate::numbers::{
    Claimed, ClaimedNumber, Number, Of, OfInterval, Read, claimed, numbers, similar,
};
use crate::statistics::{ascending, mean, percentile};
use crate::{Run, group, summarise};
use incast_units::Fault;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;
use std::sync::LazyLock;

impl ClaimedNumber {
    /// The number of this name.
    ///
    /// # Errors
    /// There is none: a message with the nearest names.
    pub fn named(name: &str) -> Result<ClaimedNumber, Fault> {
        static OF_STUDY: LazyLock<Vec<Claimed>> = LazyLock::new(|| {
            let one = |number: &'static Number| {
                let own = Claimed::new(&number.name, number.unit, Of::Other, Read::Number(number));
                if number.of_flows().is_some() { own.steady() } else { own }
            };
            numbers().iter().map(one).collect()
        });
        let all = || claimed().chain(OF_STUDY.iter());
        let found = all().find(|entry| entry.name == name);
        found.map(ClaimedNumber).ok_or_else(|| {
            let known = similar(name, all().map(|entry| entry.name));
            Fault::text(name, known.in_part(&"there is no such number"))
        })
    }

    /// Those that are not simply numbers of a study, as a Markdown table.
    pub fn markdown() -> String {
        let row = |own: &Claimed| {
            let doc = own.doc.trim_end_matches('.');
            let (first, rest) = doc.split_at(1);
            format!("| `{}` | {} | {}{rest} |\n", own.name, own.unit, first.to_uppercase())
        };
        "| kind | unit | meaning |\n|---|---|---|\n".to_string()
            + &claimed().map(row).collect::<String>()
    }

    /// What a measure of it must give.
    pub(super) fn needs(self) -> &'static [&'static str] {
        self.0.needs
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
    pub(super) fn read(self, measure: &Chosen<ClaimedNumber>, run: &Run) -> Option<f64> {
        let chosen = |sizes: &Range<u64>| {
            let own = measure.flows(run).into_iter();
            let own = own.filter(|flow| sizes.contains(&run.flows[*flow].size_bytes));
            group(run, "chosen", &own.collect::<Vec<usize>>())
        };
        match self.0.read {
            Read::Flows(value, _) => {
                let flows = measure.flows(run).into_iter();
                self.statistic(&flows.filter_map(|flow| value(run, flow)).collect::<Vec<f64>>())
            }
            Read::Ports(read, _, unit) => Some(read(measure, run)? / unit(run)?),
            Read::Run(read) => read(measure, run),
            Read::Group(read) => read(&chosen(&(0..u64::MAX))),
            Read::Number(number) => match number.of_flows() {
                Some((sizes, read)) => read(&chosen(sizes)),
                None => number.of(&summarise(run)),
            },
        }
    }

    /// How the number of one interval of a port is read, and in what; `None` if it is not one over intervals.
    pub(super) fn of_interval(self, run: &Run) -> Option<(OfInterval, f64)> {
        match self.0.read {
            Read::Ports(_, each, unit) => Some((each, unit(run)?)),
            _ => None,
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

impl PartialEq for ClaimedNumber {
    fn eq(&self, other: &ClaimedNumber) -> bool {
        self.name() == other.name()
    }
}

impl std::fmt::Debug for ClaimedNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ClaimedNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ClaimedNumber {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ClaimedNumber, D::Error> {
        ClaimedNumber::named(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_study_are_numbers_of_claims() {
        assert_eq!(ClaimedNumber::named("fct_p99_us").unwrap().of(), Of::Flows);
        for (name, unit) in [("slowdown_p95", ""), ("fct_max_ns", "ns"), ("goodput_gbps", "Gb/s")] {
            assert_eq!(ClaimedNumber::named(name).unwrap().unit(), unit, "{name}");
        }
        let needs_balance = ["short_slowdown_mean", "queue_nic_mean_ns"]
            .map(|name| ClaimedNumber::named(name).unwrap().needs_balance());
        assert_eq!(
            (needs_balance, ClaimedNumber::named("edge_up_drops").unwrap().unit()),
            ([true; 2], "")
        );
        let said = ClaimedNumber::named("fct_p9_us").unwrap_err();
        assert_eq!(said.suggestion(), Some("fct_p99_us"), "{said}");
    }

    #[test]
    fn names_are_single() {
        let names: std::collections::BTreeSet<_> = claimed().map(|own| own.name).collect();
        assert_eq!(names.len(), claimed().count());
    }
}
