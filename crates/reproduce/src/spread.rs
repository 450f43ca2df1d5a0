//! How a number is spread over a run's flows or ports: its distribution, and the number of each tenth of
//! the flows by size.

use super::distribution::rounded;
use super::kind::Kind;
use super::measure::Measure;
use incast_experiment::Fault;
use incast_measure::{Run, statistics};
use serde::Deserialize;

/// Steps of a distribution: one per percent.
pub const STEPS: u32 = 100;
/// Parts into which flows are divided by size.
pub const PARTS: usize = 10;

/// The form of a picture that shows how a number is spread over one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

    /// Refuses a measure that is not of flows; a distribution may be of ports, too.
    ///
    /// # Errors
    /// The key, the measure and what is expected.
    pub fn check(self, measure: &Measure) -> Result<(), Fault> {
        let ports = matches!(
            measure.kind,
            Kind::BacklogMeanKb | Kind::BacklogMeanPackets | Kind::Utilisation
        );
        let (accepted, expected) = match self {
            Form::Cdf => (
                measure.kind.is_of_flows() || ports,
                "expected a statistic of flows (fct_mean_us, slowdown_p99, ...), or backlog_mean_kb, \
                 backlog_mean_packets or utilisation of ports",
            ),
            Form::Deciles => (
                measure.kind.is_of_flows(),
                "expected a statistic of flows (fct_mean_us, slowdown_p99, ...)",
            ),
        };
        let said = || {
            let key = format!("panel.measure of form {}", self.name());
            Fault::value(key, measure.id(), expected)
        };
        if accepted { Ok(()) } else { Err(said()) }
    }

    /// What a run gives, with five digits. A distribution: the least value, the quantile of each
    /// percent (nearest rank), of which the last is the largest value. Deciles: the number of each tenth of the chosen flows that
    /// completed, sorted by size and then by start, and after all of these the largest size of each in bytes. Empty
    /// if there are no values, or fewer flows than tenths.
    pub fn read(self, measure: &Measure, run: &Run) -> Vec<f64> {
        let all = match self {
            Form::Cdf => quantiles(measure.spread(run)),
            Form::Deciles => measure.deciles(run),
        };
        all.into_iter().map(rounded).collect()
    }
}

/// The least value and the quantile of each percent.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |percent| statistics::percentile(&values, percent * 1000 / STEPS);
    (0..=STEPS).filter_map(at).collect()
}

impl Measure {
    /// The values whose distribution is drawn: of each chosen flow that completed, or of each port.
    fn spread(&self, run: &Run) -> Vec<f64> {
        if self.kind.is_of_flows() {
            return self.samples(run).into_iter().map(|(_, value)| value).collect();
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
            self.statistic(&values).expect("a part has flows")
        };
        let largest = |at: usize| part(at).last().map_or(0.0, |(flow, _)| size(*flow) as f64);
        (0..PARTS).map(number).chain((0..PARTS).map(largest)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_of;

    fn measure(text: &str) -> Measure {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn quantiles_are_values_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let known = quantiles(values);
        assert_eq!(known.len(), 101);
        assert_eq!(
            [known[0], known[1], known[50], known[99], known[100]],
            [1., 2., 100., 198., 200.]
        );
        assert_eq!(quantiles(vec![7.0]), vec![7.0; 101]);
        assert!(quantiles(vec![]).is_empty());
    }

    /// The quantiles of a run are those of its numbers, and tenths by size have all of its flows.
    #[test]
    fn a_run_is_spread_over_its_flows() {
        let run = run_of(0.5, 1);
        let fct = measure("kind = \"fct_p99_us\"");
        let cdf = Form::Cdf.read(&fct, &run);
        assert_eq!(cdf[99], rounded(fct.of(&run).unwrap()));
        assert!(cdf.is_sorted() && cdf[0] < cdf[100]);

        let mean = measure("kind = \"fct_mean_us\"");
        let parts = Form::Deciles.read(&mean, &run);
        assert_eq!(parts.len(), 2 * PARTS);
        let (numbers, sizes) = parts.split_at(PARTS);
        assert!(sizes.is_sorted() && sizes[0] < sizes[9], "{sizes:?}");
        // Tenths of the same number of flows: the mean of their means is that of all.
        let flows = mean.samples(&run).len();
        assert!(flows >= 500, "{flows}");
        let middle = numbers.iter().sum::<f64>() / PARTS as f64;
        assert!((middle / mean.of(&run).unwrap() - 1.0).abs() < 0.02, "{middle}");
        let smallest = Measure { largest: Some(sizes[0] as u64 - 1), ..mean.clone() };
        assert!(smallest.samples(&run).len() < flows.div_ceil(PARTS));
        let none = Measure { smallest: Some(u64::MAX), ..mean };
        assert!(Form::Deciles.read(&none, &run).is_empty());
        assert!(Form::Cdf.read(&none, &run).is_empty());
    }

    /// Of ports: one value each, over time.
    #[test]
    fn a_distribution_may_be_of_ports() {
        let run = run_of(0.5, 1);
        let all = measure("kind = \"utilisation\"\nport = \"leaf*->host*\"");
        let cdf = Form::Cdf.read(&all, &run);
        let mut own: Vec<f64> = (0..8)
            .map(|host| Measure {
                port: Some(format!("leaf{}->host{host}", host / 4)),
                ..all.clone()
            })
            .map(|one| rounded(one.of(&run).unwrap()))
            .collect();
        own.sort_unstable_by(f64::total_cmp);
        assert_eq!((cdf[0], cdf[50], cdf[100]), (own[0], own[3], own[7]));
    }

    #[test]
    fn what_has_no_such_form_is_refused() {
        let said = |form: Form, text: &str| form.check(&measure(text)).map_err(|f| f.to_string());
        assert!(said(Form::Cdf, "kind = \"drops\"").unwrap_err().contains("drops"));
        let port = "kind = \"utilisation\"\nport = \"*\"";
        assert!(said(Form::Cdf, port).is_ok());
        assert!(said(Form::Deciles, port).unwrap_err().contains("fct_mean_us"));
        assert!(said(Form::Deciles, "kind = \"slowdown_p99\"").is_ok());
    }
}
