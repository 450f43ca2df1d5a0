//! Confidence intervals of measured values, and verdicts that follow from them.
//!
//! A run is cut into batches of its flows in order of their start, and the values of the
//! batches are treated as samples. Two runs of the same flows are compared batch by batch: effects of
//! the arrivals cancel, as in a paired comparison.

use super::Measure;
use super::measure::Kind;
use incast_measure::{Run, statistics};

impl Measure {
    /// Half width of the number's 95 % confidence interval, by batches of the flows in order of
    /// their start; `None` for numbers that are not statistics of flows, and of too few flows.
    pub fn half_width(&self, run: &Run) -> Option<f64> {
        half_width(&self.batches(run)?)
    }

    /// Half width of the 95 % confidence interval of the number of `run` less `factor` times that
    /// of `other`. Where the same flows completed in both, it is that of the batches' differences;
    /// else the runs are taken for independent and the squares of their half widths added.
    pub fn half_width_against(&self, run: &Run, other: &Run, factor: f64) -> Option<f64> {
        let (own, base) = (self.batches(run)?, self.batches(other)?);
        if self.flows(run) == self.flows(other) {
            let pairs = own.iter().zip(&base);
            return half_width(&pairs.map(|(a, b)| a - factor * b).collect::<Vec<_>>());
        }
        let (a, b) = (half_width(&own)?, factor * half_width(&base)?);
        Some((a * a + b * b).sqrt())
    }

    fn batches(&self, run: &Run) -> Option<Vec<f64>> {
        let smallest = match self.kind {
            Kind::FctMeanUs | Kind::SlowdownMean | Kind::ThroughputMeanGbps => 10,
            Kind::FctP99Us | Kind::SlowdownP99 => 100,
            _ => return None,
        };
        let values: Vec<f64> = self.samples(run).into_iter().map(|(_, value)| value).collect();
        statistics::batches(&values, smallest, |batch| self.statistic(batch))
    }

    /// The flows behind the number: number, source, destination, size.
    fn flows(&self, run: &Run) -> Vec<(usize, u32, u32, u64)> {
        let known = |(flow, _): (usize, f64)| {
            let meta = &run.flows[flow];
            (flow, meta.src, meta.dst, meta.size_bytes)
        };
        self.samples(run).into_iter().map(known).collect()
    }
}

fn half_width(samples: &[f64]) -> Option<f64> {
    statistics::confidence(samples).map(|interval| interval.half_width)
}

/// Compares a value with the range from `min` to `max`: its entire interval has to lie on one side
/// of each border. A number without an interval counts as exact.
pub(super) fn verdict(
    value: f64,
    half_width: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
) -> &'static str {
    let width = half_width.unwrap_or(0.0);
    let (low, high) = (value - width, value + width);
    let (min, max) = (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY));
    if low >= min && high <= max {
        "matches"
    } else if high < min || low > max {
        "differs"
    } else {
        "cannot be judged"
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Claim, Finished, Runs};
    use super::*;
    use crate::{Plan, Scenario, execute};

    fn measure(kind: &str) -> Measure {
        toml::from_str(&format!("kind = \"{kind}\"")).unwrap()
    }

    fn run_of(load: f64, seed: u64) -> Run {
        let text = format!(
            "[run]\nseed = {seed}\n[fabric]\ntopology = \"leaf-spine:2x2x4\"\n\
             [transport]\nnames = [\"trd\"]\n[[traffic]]\nkind = \"poisson\"\n\
             workload = \"ali_storage\"\nload = {load}\nflows = 1200\n"
        );
        let plan = Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap();
        let monitor = incast_world::Monitor::default();
        execute(&plan, &plan.cases[0], vec![], 1, &monitor).unwrap().0
    }

    /// The intervals are those of the summary; numbers that are no statistic of flows have none.
    #[test]
    fn statistics_of_flows_come_with_their_interval() {
        let run = run_of(0.5, 1);
        let all = incast_measure::summarise(&run).all;
        let (fct, slowdown) = (all.fct_ns.unwrap(), all.slowdown.unwrap());
        let near = |kind: &str, value: f64, half_width: Option<f64>| {
            let measure = measure(kind);
            assert!((measure.of(&run).unwrap() / value - 1.0).abs() < 1e-9, "{kind}");
            match half_width {
                Some(width) => {
                    let measured = measure.half_width(&run).expect(kind);
                    assert!(width > 0.0 && (measured / width - 1.0).abs() < 1e-9, "{kind}");
                }
                None => assert_eq!(measure.half_width(&run), None, "{kind}"),
            }
        };
        near("fct_mean_us", fct.mean / 1e3, Some(fct.mean_ci95.unwrap() / 1e3));
        near("fct_p99_us", fct.p99 / 1e3, Some(fct.p99_ci95.unwrap() / 1e3));
        near("fct_p999_us", fct.p999 / 1e3, None);
        near("slowdown_mean", slowdown.mean, slowdown.mean_ci95);
        near("slowdown_p99", slowdown.p99, slowdown.p99_ci95);
        assert_eq!(measure("completed").half_width(&run), None);
        let few = Measure { largest: Some(400), ..measure("slowdown_p99") };
        assert_eq!((few.kind, few.half_width(&run)), (Kind::SlowdownP99, None), "too few");
    }

    #[test]
    fn an_interval_across_a_border_leaves_the_verdict_open() {
        let of = |value, width, min, max| verdict(value, Some(width), min, max);
        assert_eq!(of(1.0, 0.1, Some(0.8), Some(1.2)), "matches");
        assert_eq!(of(1.0, 0.25, Some(0.8), Some(1.2)), "cannot be judged", "wider than the range");
        assert_eq!(of(1.15, 0.1, Some(0.8), Some(1.2)), "cannot be judged");
        assert_eq!(of(0.75, 0.1, Some(0.8), Some(1.2)), "cannot be judged", "outside, but near");
        assert_eq!(of(1.35, 0.1, Some(0.8), Some(1.2)), "differs");
        assert_eq!(of(0.65, 0.1, Some(0.8), None), "differs");
        assert_eq!(of(5.0, 0.1, Some(0.8), None), "matches");
        assert_eq!(of(0.0, 0.0, Some(0.0), None), "matches", "equal is enough");
    }

    #[test]
    fn a_number_without_an_interval_counts_as_exact() {
        assert_eq!(verdict(0.95, None, Some(0.95), None), "matches");
        assert_eq!(verdict(0.949, None, Some(0.95), None), "differs");
        assert_eq!(verdict(f64::INFINITY, None, Some(990.0), None), "matches");
        assert_eq!(verdict(f64::INFINITY, None, None, Some(990.0)), "differs");
        assert_eq!(verdict(f64::NAN, None, Some(0.0), None), "cannot be judged");
    }

    /// Runs of the same flows are compared pair by pair; of others, squares add up.
    #[test]
    fn what_the_same_arrivals_do_to_both_runs_cancels() {
        let (run, mean) = (run_of(0.5, 1), measure("fct_mean_us"));
        let own = mean.half_width(&run).unwrap();
        assert_eq!(mean.half_width_against(&run, &run, 1.0), Some(0.0));
        let half = mean.half_width_against(&run, &run, 0.5).unwrap();
        assert!((half / own - 0.5).abs() < 1e-9, "{half} {own}");
        let other = run_of(0.5, 2);
        let base = mean.half_width(&other).unwrap();
        let both = mean.half_width_against(&run, &other, 2.0).unwrap();
        assert!((both - (own * own + 4.0 * base * base).sqrt()).abs() < 1e-9);
        assert_eq!(measure("completed").half_width_against(&run, &run, 1.0), None);
    }

    /// An order is decided by the difference and its interval, a quotient by that of the pairs.
    #[test]
    fn orders_and_quotients_are_judged_by_pairs() {
        let claim = |text: &str| -> Claim {
            toml::from_str(&format!("text = \"x\"\nmeasure = {{ kind = \"fct_mean_us\" }}\n{text}"))
                .unwrap()
        };
        let finished = |run: Run| Finished { run, captured: vec![] };
        let runs = |a: Run, b: Run| -> Runs {
            let both = [("a".to_string(), finished(a)), ("b".to_string(), finished(b))];
            [("run".to_string(), both.into())].into()
        };
        let order = claim("order = [\"a\", \"b\"]");
        let equal = claim("transport = \"a\"\nover = \"b\"\nmin = 0.99\nmax = 1.01");
        let same = runs(run_of(0.5, 1), run_of(0.5, 1));
        assert_eq!(order.judge(&same).verdict, "matches", "a tie is no disorder");
        assert_eq!(equal.judge(&same).verdict, "matches", "{:?}", equal.judge(&same));
        // Unpaired flows give a wider interval.
        let others = |mut run: Run| {
            run.flows.iter_mut().for_each(|flow| flow.src += 1);
            run
        };
        for other in [
            runs(run_of(0.5, 1), others(run_of(0.5, 1))),
            runs(others(run_of(0.5, 1)), run_of(0.5, 1)),
        ] {
            for claim in [&order, &equal] {
                let judged = claim.judge(&other);
                assert_eq!(judged.verdict, "cannot be judged", "{judged:?}");
                assert!(judged.measured.ends_with("; the interval reaches across the border"));
            }
        }
        let double = |mut run: Run| {
            for flow in &mut run.record.flows {
                let start = flow.started.unwrap();
                flow.completed = flow.completed.map(|end| end + end.since(start));
            }
            run
        };
        let slower = runs(run_of(0.5, 1), double(run_of(0.5, 1)));
        let judged = order.judge(&slower);
        assert_eq!(judged.verdict, "matches", "{judged:?}");
        assert!(judged.measured.contains(", difference ") && !judged.measured.contains("border"));
        let faster = runs(double(run_of(0.5, 1)), run_of(0.5, 1));
        assert_eq!(order.judge(&faster).verdict, "differs");
        assert_eq!(equal.judge(&faster).verdict, "differs");
    }
}
