//! How a number is spread over a run's flows or ports: its distribution, and the number of each tenth of
//! the flows by size.

use super::each::rounded;
use super::{Measure, Of};
use crate::{Run, statistics};
use serde::{Deserialize, Serialize};

/// Steps of a distribution: one per percent.
pub const STEPS: u32 = 100;
/// Parts into which flows are divided by size.
pub const PARTS: usize = 10;

/// The form of a picture that shows how a number is spread over one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The cumulative distribution of the values that the number summarises: one per flow that completed,
    /// or one per port, over time.
    Cdf,
    /// The number of each tenth of the flows, from the smallest flows to the largest.
    Deciles,
}

impl Form {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Form::Cdf => "cdf",
            Form::Deciles => "deciles",
        }
    }

    /// Refuses a measure that is not of flows; a distribution may be of means of ports, too.
    ///
    /// # Errors
    /// What is expected.
    pub fn check(self, measure: &Measure) -> Result<(), &'static str> {
        let kind = measure.kind;
        let ports = kind.of() == Of::Ports && kind.needs_balance();
        match self {
            _ if kind.is_of_flows() => Ok(()),
            Form::Cdf if ports => Ok(()),
            Form::Cdf => Err(
                "expected a statistic of flows (fct_mean_us, slowdown_p99, ...), or backlog_mean_kb, \
                              backlog_mean_packets or utilisation of ports",
            ),
            Form::Deciles => Err("expected a statistic of flows (fct_mean_us, slowdown_p99, ...)"),
        }
    }

    /// What a run gives, with five digits. A distribution: the least value, the quantile of each
    /// percent (nearest rank), of which the last is the largest value. Deciles: the number of each tenth of the chosen flows that
    /// completed, sorted by size and then by start, and after all of these the largest size of each in bytes. Empty
    /// if there are no values, or fewer flows than tenths.
    pub fn read(self, measure: &Measure, run: &Run) -> Vec<f64> {
        let all = match self {
            Form::Cdf => quantiles(&measure.spread(run)),
            Form::Deciles => measure.deciles(run),
        };
        all.into_iter().map(rounded).collect()
    }
}

/// The least value and the quantile of each percent.
fn quantiles(values: &[f64]) -> Vec<f64> {
    let values = statistics::ascending(values);
    let at = |percent| statistics::percentile(&values, percent * 1000 / STEPS);
    (0..=STEPS).filter_map(at).collect()
}

impl Measure {
    /// The values whose distribution is drawn: of each chosen flow that completed, or of each port.
    fn spread(&self, run: &Run) -> Vec<f64> {
        if self.kind.is_of_flows() {
            return self.values(run);
        }
        let names = self.ports_of(run).into_iter().map(|port| run.ports[port].name.clone());
        names.filter_map(|name| Measure { port: Some(name), ..self.clone() }.of(run)).collect()
    }

    /// The number of each tenth of the flows by size, and then the largest sizes.
    fn deciles(&self, run: &Run) -> Vec<f64> {
        let size = |flow: usize| run.flows[flow].size_bytes;
        let mut flows = self.samples(run);
        if flows.len() < PARTS {
            return vec![];
        }
        flows.sort_by_key(|(flow, _)| (size(*flow), *flow));
        let part = |at: usize| &flows[flows.len() * at / PARTS..flows.len() * (at + 1) / PARTS];
        let number = |at: usize| {
            let values: Vec<f64> = part(at).iter().map(|(_, value)| *value).collect();
            self.kind.statistic(&values).expect("a part has flows")
        };
        let largest = |at: usize| part(at).last().map_or(0.0, |(flow, _)| size(*flow) as f64);
        (0..PARTS).map(number).chain((0..PARTS).map(largest)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let known = quantiles(&values);
        assert_eq!(known.len(), 101);
        assert_eq!(
            [known[0], known[1], known[50], known[99], known[100]],
            [1., 2., 100., 198., 200.]
        );
        assert_eq!(quantiles(&[7.0]), vec![7.0; 101]);
        assert!(quantiles(&[]).is_empty());
    }
}
