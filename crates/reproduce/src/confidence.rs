//! Confidence intervals of measured values.
//!
//! Of several seeds, the interval is that of their values; quotients and differences are formed
//! seed by seed. A single run is cut into batches of its flows in order of their start, and the
//! values of the batches are treated as samples. Two runs of the same flows are compared batch by
//! batch: effects of the arrivals cancel, as in a paired comparison.

use super::Measure;
use super::kind::Kind;
use super::seen::Seen;
use incast_measure::{Run, statistics};
use std::collections::BTreeMap;

/// A measured number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// Its value; the mean over seeds.
    pub value: f64,
    /// Half width of its 95 % confidence interval, if it has one.
    pub half_width: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl Number {
    /// The number of several seeds; with one, `half_width` is that of its batches.
    fn of(samples: &[f64], half_width: impl Fn() -> Option<f64>) -> Option<Number> {
        // Seeds some of which never get there have no mean.
        let finite = samples.iter().filter(|sample| sample.is_finite()).count();
        if finite > 0 && finite < samples.len() {
            return None;
        }
        let value = statistics::mean(samples)?;
        let half_width = match samples.len() {
            1 => half_width(),
            _ => interval(samples).filter(|width| width.is_finite()),
        };
        Some(Number { value, half_width, seeds: samples.len() })
    }
}

type BySeed<'a> = BTreeMap<u64, &'a Seen>;

/// The number of some runs that differ in their seed.
pub(super) fn number(runs: &BySeed<'_>) -> Option<Number> {
    let samples: Vec<f64> = runs.values().filter_map(|seen| seen.value).collect();
    Number::of(&samples, || runs.values().find_map(|seen| interval(&seen.list)))
}

/// The number of some runs less that of others.
pub(super) fn difference(runs: &BySeed<'_>, base: &BySeed<'_>) -> Option<Number> {
    let pairs = pairs(runs, base);
    let samples: Vec<f64> = pairs
        .iter()
        .map(|(a, b)| a.value.zip(b.value))
        .map(|pair| pair.map(|(a, b)| a - b))
        .collect::<Option<_>>()?;
    Number::of(&samples, || width_against(pairs[0].0, pairs[0].1, 1.0))
}

/// The number of some runs over that of others. Of `r = a / b` in one run of each, the half width
/// is that of `(a - r b) / b`.
pub(super) fn quotient(runs: &BySeed<'_>, base: &BySeed<'_>) -> Option<Number> {
    let pairs = pairs(runs, base);
    let ratio = |(a, b): &(&Seen, &Seen)| {
        let (a, b) = a.value.zip(b.value)?;
        (b != 0.0).then(|| a / b)
    };
    let samples: Vec<f64> = pairs.iter().map(ratio).collect::<Option<_>>()?;
    Number::of(&samples, || {
        let (own, other) = pairs[0];
        Some(width_against(own, other, samples[0])? / other.value?.abs())
    })
}

/// Runs of the same seed.
fn pairs<'a>(runs: &BySeed<'a>, base: &BySeed<'a>) -> Vec<(&'a Seen, &'a Seen)> {
    runs.iter().filter_map(|(seed, own)| Some((*own, *base.get(seed)?))).collect()
}

/// Half width of the 95 % confidence interval of one number less `factor` times another. Where the
/// same flows completed in both, it is that of the batches' differences; else the runs are taken
/// for independent and the squares of their half widths added.
fn width_against(own: &Seen, base: &Seen, factor: f64) -> Option<f64> {
    if own.flows == base.flows && own.list.len() == base.list.len() {
        let pairs = own.list.iter().zip(&base.list);
        return interval(&pairs.map(|(a, b)| a - factor * b).collect::<Vec<_>>());
    }
    let (a, b) = (interval(&own.list)?, factor * interval(&base.list)?);
    Some((a * a + b * b).sqrt())
}

impl Measure {
    /// The number of each batch of the flows in order of their start; `None` for numbers that are
    /// not statistics of flows, and of too few flows.
    pub(super) fn batches(&self, run: &Run) -> Option<Vec<f64>> {
        let smallest = match self.kind {
            Kind::FctMeanUs | Kind::SlowdownMean | Kind::ThroughputMeanGbps => 10,
            Kind::FctP99Us | Kind::SlowdownP99 => 100,
            _ => return None,
        };
        let values: Vec<f64> = self.samples(run).into_iter().map(|(_, value)| value).collect();
        statistics::batches(&values, smallest, |batch| self.statistic(batch))
    }

    /// Which flows are behind the number, as a hash of number, source, destination and size; 0 if
    /// it is not a statistic of flows.
    pub(super) fn fingerprint(&self, run: &Run) -> u64 {
        if self.batches(run).is_none() {
            return 0;
        }
        // FNV-1a: the same on every machine, and kept in tables.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let known = self.samples(run).into_iter().flat_map(|(flow, _)| {
            let meta = &run.flows[flow];
            [flow as u64, meta.src.into(), meta.dst.into(), meta.size_bytes]
        });
        known.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, add)
    }
}

fn interval(samples: &[f64]) -> Option<f64> {
    statistics::confidence(samples).map(|interval| interval.half_width)
}

#[cfg(test)]
mod tests {
    use super::super::band::Word;
    use super::super::seen::{Results, Wanted};
    use super::super::tests::run_of;
    use super::super::{Claim, Finished};
    use super::*;

    fn measure(kind: &str) -> Measure {
        toml::from_str(&format!("kind = \"{kind}\"")).unwrap()
    }

    /// What a measure sees in a run.
    fn seen(measure: &Measure, run: &Run) -> Seen {
        let finished = Finished { run: run.clone(), captured: vec![] };
        Wanted::Number(measure.clone()).read(&finished)
    }

    fn width_of(measure: &Measure, run: &Run) -> Option<f64> {
        interval(&seen(measure, run).list)
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
                    let measured = width_of(&measure, &run).expect(kind);
                    assert!(width > 0.0 && (measured / width - 1.0).abs() < 1e-9, "{kind}");
                }
                None => assert_eq!(width_of(&measure, &run), None, "{kind}"),
            }
        };
        near("fct_mean_us", fct.mean / 1e3, Some(fct.mean_ci95.unwrap() / 1e3));
        near("fct_p99_us", fct.p99 / 1e3, Some(fct.p99_ci95.unwrap() / 1e3));
        near("fct_p999_us", fct.p999 / 1e3, None);
        near("slowdown_mean", slowdown.mean, slowdown.mean_ci95);
        near("slowdown_p99", slowdown.p99, slowdown.p99_ci95);
        assert_eq!(width_of(&measure("completed"), &run), None);
        let few = Measure { largest: Some(400), ..measure("slowdown_p99") };
        assert_eq!((few.kind, width_of(&few, &run)), (Kind::SlowdownP99, None), "too few");
    }

    /// Runs of the same flows are compared pair by pair; of others, squares add up.
    #[test]
    fn what_the_same_arrivals_do_to_both_runs_cancels() {
        let (run, mean) = (run_of(0.5, 1), measure("fct_mean_us"));
        let own = width_of(&mean, &run).unwrap();
        let against = |measure: &Measure, run: &Run, other: &Run, factor: f64| {
            width_against(&seen(measure, run), &seen(measure, other), factor)
        };
        assert_eq!(against(&mean, &run, &run, 1.0), Some(0.0));
        let half = against(&mean, &run, &run, 0.5).unwrap();
        assert!((half / own - 0.5).abs() < 1e-9, "{half} {own}");
        let other = run_of(0.5, 2);
        let base = width_of(&mean, &other).unwrap();
        let both = against(&mean, &run, &other, 2.0).unwrap();
        assert!((both - (own * own + 4.0 * base * base).sqrt()).abs() < 1e-9);
        assert_eq!(against(&measure("completed"), &run, &run, 1.0), None);
    }

    /// An order is decided by the difference and its interval, a quotient by that of the pairs.
    #[test]
    fn orders_and_quotients_are_judged_by_pairs() {
        let claim = |text: &str| -> Claim {
            toml::from_str(&format!("text = \"x\"\nmeasure = {{ kind = \"fct_mean_us\" }}\n{text}"))
                .unwrap()
        };
        let mean = measure("fct_mean_us");
        let runs = |a: Run, b: Run| -> Results {
            let mut results = Results::new("run".into(), 1, false);
            for (name, run) in [("a", a), ("b", b)] {
                results.add("run", name, 1, [(mean.id(), seen(&mean, &run))].into());
            }
            results
        };
        let order = claim("order = [\"a\", \"b\"]");
        let equal =
            claim("transport = \"a\"\nover = \"b\"\nmin = 0.99\nmax = 1.01\nbecause = \"x\"");
        let same = runs(run_of(0.5, 1), run_of(0.5, 1));
        assert_eq!(order.judge(&same).word, Word::Matches, "a tie is no disorder");
        assert_eq!(equal.judge(&same).word, Word::Matches, "{:?}", equal.judge(&same));
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
                assert_eq!(judged.word, Word::CannotBeJudged, "{judged:?}");
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
        assert_eq!(judged.word, Word::Matches, "{judged:?}");
        assert!(judged.measured.contains(", difference ") && !judged.measured.contains("border"));
        let faster = runs(double(run_of(0.5, 1)), run_of(0.5, 1));
        assert_eq!(order.judge(&faster).word, Word::Differs);
        assert_eq!(equal.judge(&faster).word, Word::Differs);
    }

    /// Quotients and differences of several seeds are formed seed by seed; of a smoke test only what
    /// has an interval is judged.
    #[test]
    fn seeds_give_the_interval() {
        let row = |value: f64| -> super::super::seen::Row {
            let one = Seen { value: Some(value), ..Seen::default() };
            [("fct_mean_us".to_string(), one)].into()
        };
        let claim: Claim = toml::from_str(
            "text = \"x\"\nmeasure = { kind = \"fct_mean_us\" }\ntransport = \"a\"\nover = \"b\"\n\
             paper = 40\nunit = \"% lower\"",
        )
        .unwrap();
        let mut results = Results::new("run".into(), 3, false);
        assert_eq!(claim.judge(&results).word, Word::NotRun);
        for (seed, a, b) in [(1, 58.0, 100.0), (2, 122.0, 200.0), (3, 60.0, 100.0)] {
            results.add("run", "a", seed, row(a));
            results.add("run", "b", seed, row(b));
        }
        let judged = claim.judge(&results);
        // 0.58, 0.61, 0.60: half width 4.303 * 0.01528 / sqrt(3).
        assert_eq!(judged.measured, "40.3 ± 3.8 % lower");
        assert_eq!((judged.word, judged.paper.as_str()), (Word::Matches, "40 % lower"));
        assert_eq!(judged.accepted, "20 to 80 % lower");
        let mut one = Results::new("run".into(), 3, false);
        one.add("run", "a", 1, row(58.0));
        one.add("run", "b", 1, row(100.0));
        assert_eq!(claim.judge(&one).measured, "42 % lower (1 of 3 seeds)");
        one.smoke = true;
        assert_eq!(claim.judge(&one).word, Word::CannotBeJudged);
    }

    /// The 99th percentile of fewer than a hundred flows is the slowest one: without an interval, over
    /// batches or seeds, it says nothing.
    #[test]
    fn a_percentile_of_one_seed_needs_an_interval() {
        let claim: Claim = toml::from_str(
            "text = \"x\"\nmeasure = { kind = \"slowdown_p99\" }\norder = [\"a\", \"b\"]",
        )
        .unwrap();
        let row = |value: f64, batches: &[f64]| -> super::super::seen::Row {
            let list = batches.iter().map(|share| share * value).collect();
            let one = Seen { value: Some(value), list, ..Seen::default() };
            [("slowdown_p99".to_string(), one)].into()
        };
        let judge = |seeds: &[(f64, f64)], batches: &[f64]| {
            let mut results = Results::new("run".into(), 3, false);
            for (seed, (a, b)) in seeds.iter().enumerate() {
                results.add("run", "a", seed as u64, row(*a, batches));
                results.add("run", "b", seed as u64, row(*b, batches));
            }
            claim.judge(&results)
        };
        let alone = judge(&[(3.0, 27.0)], &[]);
        assert_eq!(alone.word, Word::CannotBeJudged);
        assert!(alone.measured.ends_with("; a percentile of too few flows of one seed"));
        assert_eq!(judge(&[(3.0, 27.0)], &[0.9, 1.0, 1.1]).word, Word::Matches);
        assert_eq!(judge(&[(3.0, 27.0), (3.1, 26.0), (2.9, 28.0)], &[]).word, Word::Matches);
    }
}
