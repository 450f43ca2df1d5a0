//! Claims and how they are judged.

use super::band::{Band, Printed, Unit, Word};
use super::judged::Results;
use super::template::Templated;
use super::verdict::{Judgement, SOME_SEEDS};
use incast_experiment::{Fault, Plan};
use incast_measure::measured::{
    Estimate, Measure, MeasuredValue, Of, Wanted, difference, estimate, quotient,
};
use incast_measure::significant;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A statement of a paper, or a known result, that a measured value can confirm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In our words.
    pub text: String,
    /// In the paper's words; those of the figure if not given.
    pub quote: Option<String>,
    /// Whether it is ours and not the paper's: a known answer, or a guard.
    #[serde(default)]
    pub ours: bool,
    /// Whether it is one of those by which the paper is known.
    #[serde(default)]
    pub headline: bool,
    /// The number.
    pub measure: Measure,
    /// In which run; the first one if not given.
    pub run: Option<String>,
    /// Instead of one run, of "up to" so much: the run among these in which the ratio is farthest from 1 on
    /// the paper's side. Those that never balance are left out.
    #[serde(default)]
    pub among: Vec<String>,
    /// Of which transport.
    pub transport: Option<String>,
    /// The number is divided by that of this transport.
    pub over: Option<String>,
    /// The number is divided by that of this run.
    pub over_run: Option<String>,
    /// Instead of an interval: these transports, from the smallest number to the largest.
    pub order: Option<Vec<String>>,
    /// Instead of an interval, exactly: the packets `port` sends in each interval of the time
    /// series, from the one in which `from` lies on; or the marks of a packet at each `port`.
    pub trace: Option<Vec<u32>>,
    /// What the paper prints, in its unit: a number, or a range.
    pub paper: Option<Printed>,
    /// The paper's unit.
    #[serde(default)]
    pub unit: String,
    /// Least accepted value, where the rule for ratios and ranges does not apply.
    pub min: Option<f64>,
    /// Largest accepted value, likewise.
    pub max: Option<f64>,
    /// Why `min` and `max` are what they are.
    #[serde(default)]
    pub because: String,
    /// What to know about the comparison.
    #[serde(default)]
    pub deviation: String,
}

impl Templated for Claim {
    const HEAD: &'static str = "text";
    const PROSE: &'static [&'static str] = &["text", "quote", "because", "deviation"];
    const KEYS: &'static [&'static str] = &[
        "quote",
        "headline",
        "measure",
        "run",
        "transport",
        "over",
        "over_run",
        "paper",
        "unit",
        "min",
        "max",
        "because",
        "deviation",
    ];
}

impl Claim {
    /// Judges the claim by the runs of a set.
    pub fn judge(&self, results: &Results) -> Judgement {
        let (paper, accepted) = self.expected();
        if let Some(missing) = self.missing(results) {
            return Judgement { paper, accepted, measured: missing, word: Word::NotRun };
        }
        if !self.among.is_empty() {
            return self.judge_best(results);
        }
        let (mut measured, word, interval) = match (&self.order, &self.trace) {
            (Some(order), _) => self.judge_order(order, results),
            (_, Some(trace)) => self.judge_trace(trace, results),
            _ => self.judge_number(results),
        };
        // What is seen then depends on the length of the run.
        if let Some(never) = self.unbalanced(results) {
            let measured = format!("{measured}, but {never}");
            return Judgement { paper, accepted, measured, word: Word::CannotBeJudged };
        }
        // Of a hundred flows the 99th percentile is the slowest one.
        let accident = !interval && self.measure.kind.is_percentile();
        let word = match accident || results.smoke && !interval {
            true => Word::CannotBeJudged,
            false => word,
        };
        if word == Word::CannotBeJudged {
            measured += match (results.smoke, accident, interval) {
                (true, _, false) => "; a smoke test is too small to judge it",
                (_, true, _) => "; a percentile of too few flows of one seed",
                (_, _, true) => "; the interval reaches across the border",
                _ => "",
            };
        }
        Judgement { paper, accepted, measured, word }
    }

    /// Judges a claim of "up to" so much by the run that shows most of it.
    fn judge_best(&self, results: &Results) -> Judgement {
        let id = self.measure.id();
        let (own, base) = (self.transport.as_deref(), self.over.as_deref());
        let (own, base) = (own.unwrap_or_default(), base.unwrap_or_default());
        let in_run = |run: &String| {
            let claim = Claim { run: Some(run.clone()), among: vec![], ..self.clone() };
            let steady = claim.unbalanced(results).is_none();
            let ratio = quotient(&results.of(run, own, &id), &results.of(run, base, &id))?;
            let judged = claim.judge(results);
            let judged = Judgement { measured: format!("{run}: {}", judged.measured), ..judged };
            Some((ratio.value, judged, steady))
        };
        let all: Vec<_> = self.among.iter().filter_map(in_run).collect();
        let none = match all.is_empty() {
            true => "no run has such a number",
            false => "no run reaches balance",
        };
        let steady = all.into_iter().filter(|one| one.2);
        let by = |a: &(f64, Judgement, bool), b: &(f64, Judgement, bool)| a.0.total_cmp(&b.0);
        let best = if self.prints_more() { steady.max_by(by) } else { steady.min_by(by) };
        let (paper, accepted) = self.expected();
        let word = Word::CannotBeJudged;
        let undecided = || Judgement { paper, accepted, measured: none.into(), word };
        best.map_or_else(undecided, |(_, best, _)| best)
    }

    /// Whether the paper prints a ratio above 1.
    fn prints_more(&self) -> bool {
        let unit = Unit::named(&self.unit);
        matches!(self.paper, Some(Printed::One(number)) if unit.measured(number) > 1.0)
    }

    /// What the paper prints, and what is accepted.
    pub fn expected(&self) -> (String, String) {
        let band = self.band();
        let accepted = match (&self.order, &self.trace) {
            (Some(order), _) => order.join(" <= "),
            (_, Some(trace)) => format!("exactly {}", self.list(trace.iter().copied())),
            _ => band.accepted(),
        };
        (band.paper(), accepted)
    }

    /// What is accepted of its number.
    pub(crate) fn band(&self) -> Band {
        let unit = Unit::named(&self.unit);
        match (self.paper, self.min, self.max) {
            (Some(paper), None, None) => Band::of(paper, unit),
            (paper, min, max) => Band::explicit(min, max, unit, paper),
        }
    }

    /// The first run that the claim needs and that is missing.
    fn missing(&self, results: &Results) -> Option<String> {
        let needed = self.needed(results.default_run());
        let missing = needed.into_iter().find(|(run, name)| !results.has(run, name));
        missing.map(|(run, name)| format!("no run of {name} ({run})"))
    }

    /// The first run in which arrivals and departures never balance, if the number depends on that.
    fn unbalanced(&self, results: &Results) -> Option<String> {
        let needed = self.needed(results.default_run());
        let never = |(run, name): &(String, String)| results.never_balances(run, name);
        let found = needed.into_iter().filter(|_| self.measure.kind.needs_balance()).find(never);
        found.map(|(run, name)| format!("{name} never reaches balance ({run})"))
    }

    /// Runs and transports that decide the claim.
    pub fn needed(&self, default: &str) -> Vec<(String, String)> {
        if !self.among.is_empty() {
            let both = self.transport.iter().chain(&self.over);
            let of = |run: &String| both.clone().map(|name| (run.clone(), name.clone())).collect();
            return self.among.iter().flat_map::<Vec<_>, _>(of).collect();
        }
        let run = self.run.as_deref().unwrap_or(default);
        let base = self.over_run.as_deref().unwrap_or(run);
        let own = self.transport.iter().chain(self.order.iter().flatten());
        let mut all: Vec<_> = own.map(|name| (run.to_string(), name.clone())).collect();
        if self.over.is_some() || self.over_run.is_some() {
            let name = self.over.as_ref().or(self.transport.as_ref());
            all.extend(name.map(|name| (base.to_string(), name.clone())));
        }
        all
    }

    /// Seeds that the claim is to be judged by.
    fn seeds(&self, results: &Results) -> usize {
        results.seeds_of(self.runs(results.default_run()).iter())
    }

    /// Runs that decide the claim.
    pub fn runs(&self, default: &str) -> Vec<String> {
        self.needed(default).into_iter().map(|(run, _)| run).collect()
    }

    /// What must be read from a run of this name, if the claim is about it.
    pub fn wanted(&self, run: &str, default: &str) -> Option<Wanted> {
        let about = self.needed(default).iter().any(|(needed, _)| needed == run);
        about.then(|| match &self.trace {
            Some(trace) => Wanted::Trace(self.measure.clone(), trace.len()),
            None => Wanted::Number(self.measure.clone()),
        })
    }

    /// The values that its number summarises, if the claim is about a run of this name.
    pub fn each(&self, run: &str, default: &str) -> Option<Wanted> {
        let about = self.needed(default).iter().any(|(needed, _)| needed == run);
        let has = about && self.trace.is_none() && self.measure.kind.least().is_some();
        has.then(|| Wanted::Each(self.measure.clone()))
    }

    fn judge_number(&self, results: &Results) -> (String, Word, bool) {
        let band = self.band();
        let id = self.measure.id();
        let needed = self.needed(results.default_run());
        let read = |(run, name): &(String, String)| results.of(run, name, &id);
        let found = match &needed[..] {
            [own] => estimate(&read(own)),
            [own, base, ..] => quotient(&read(own), &read(base)),
            [] => None,
        };
        let Some(found) = found else {
            let own = needed.first().map(read).unwrap_or_default();
            return (without_number(&own), Word::CannotBeJudged, false);
        };
        let Estimate { value, half_width, seeds } = found;
        let measured = band.shown(value, half_width) + &of_seeds(seeds, self.seeds(results));
        (measured, band.judge(value, half_width), half_width.is_some())
    }

    fn judge_order(&self, order: &[String], results: &Results) -> (String, Word, bool) {
        let (run, id) = (self.run.as_deref().unwrap_or(results.default_run()), self.measure.id());
        let mut rows: Vec<_> = order.iter().map(|name| results.of(run, name, &id)).collect();
        // Means and differences are of the seeds that all have.
        let seeds: Vec<Vec<u64>> = rows.iter().map(|row| row.keys().copied().collect()).collect();
        let common = |seed: &u64| seeds.iter().all(|row| row.contains(seed));
        rows.iter_mut().for_each(|row| row.retain(|seed, _| common(seed)));
        let numbers: Vec<Option<Estimate>> = rows.iter().map(estimate).collect();
        let unit = match self.measure.kind.unit() {
            "" => Unit::Ratio,
            unit => Unit::Plain(unit.into()),
        };
        let shown = |value: f64, half_width| unit.shown(value, half_width);
        let mut measured: Vec<String> = order
            .iter()
            .zip(&numbers)
            .map(|(name, number)| match number {
                Some(one) => format!("{name} {}", shown(one.value, one.half_width)),
                None => format!("{name} none"),
            })
            .collect();
        let (mut words, mut intervals) = (vec![], true);
        for pair in rows.windows(2) {
            let Some(between) = difference(&pair[1], &pair[0]) else {
                return (measured.join(", "), Word::CannotBeJudged, false);
            };
            let above = Band::explicit(Some(0.0), None, Unit::Ratio, None);
            words.push(above.judge(between.value, between.half_width));
            intervals &= between.half_width.is_some();
            if between.half_width.is_some() {
                let text = shown(between.value, between.half_width);
                measured.push(format!(
                    "difference {text}{}",
                    of_seeds(between.seeds, self.seeds(results))
                ));
            }
        }
        let word = match () {
            () if words.contains(&Word::Differs) => Word::Differs,
            () if words.iter().all(|one| *one == Word::Matches) => Word::Matches,
            () => Word::CannotBeJudged,
        };
        (measured.join(", "), word, intervals)
    }

    fn judge_trace(&self, trace: &[u32], results: &Results) -> (String, Word, bool) {
        let run = self.run.as_deref().unwrap_or(results.default_run());
        let name = self.transport.as_deref().unwrap_or_default();
        let id = Wanted::Trace(self.measure.clone(), trace.len()).id();
        let found = results.of(run, name, &id).into_values().next();
        let list = found.map_or(&[][..], |seen| &seen.list);
        if list.is_empty() {
            let why = match self.measure.kind.of() {
                Of::Packet => "no such packet",
                _ => "the run is too short",
            };
            return (why.into(), Word::CannotBeJudged, false);
        }
        let found: Vec<u32> = list.iter().map(|one| *one as u32).collect();
        let word = if found == trace { Word::Matches } else { Word::Differs };
        (self.list(found.into_iter()), word, false)
    }

    /// Numbers of a trace as they are printed.
    fn list(&self, numbers: impl Iterator<Item = u32>) -> String {
        let one = |number: u32| match self.measure.kind.of() {
            Of::Packet => format!("{number:02b}"),
            _ => significant(number.into()),
        };
        numbers.map(one).collect::<Vec<_>>().join(" ")
    }

    /// Whether everything the claim names exists.
    pub fn check(&self, plans: &[(String, Plan)]) -> Result<(), Fault> {
        let fail = |why: String| Err(Fault::new(format!("claim `{}`: {why}", self.text)));
        for run in self.run.iter().chain(&self.over_run).chain(&self.among) {
            if !plans.iter().any(|(name, _)| name == run) {
                return fail(format!("there is no run `{run}`"));
            }
        }
        self.check_band().or_else(fail)?;
        if self.measure.kind.of() == Of::Packet
            && self.trace.as_ref().map(Vec::len) != Some(self.measure.captures().len())
        {
            return fail("marks need a trace with one for each port".into());
        }
        let of = |run: Option<&String>| {
            let own = plans.iter().find(|(name, _)| run == Some(name));
            &own.unwrap_or(&plans[0]).1
        };
        let plan = of(self.run.as_ref().or(self.among.first()));
        for (run, name) in self.needed(&plans[0].0) {
            if !of(Some(&run)).cases.iter().any(|case| case.label == name) {
                return fail(format!("there is no run of `{name}`"));
            }
        }
        let fabric = &plan.fabric;
        let name = |port: &incast_fabric::PortSpec| fabric.port_name(port);
        let ports: Vec<String> = fabric.ports().iter().map(name).collect();
        let transports = plan.cases.iter().flat_map(|case| &case.transports);
        let carriers: Vec<&str> = transports.map(|transport| transport.info.name).collect();
        self.measure.check(&ports, plan.traffic.flows.len(), &carriers).or_else(fail)
    }

    /// Whether there is one rule by which the claim is judged.
    fn check_band(&self) -> Result<(), String> {
        let exact = self.order.is_some() || self.trace.is_some();
        let explicit = self.min.is_some() || self.max.is_some();
        if self.order.is_none() && self.transport.is_none() {
            return Err("it names no transport".into());
        }
        if exact && (explicit || self.paper.is_some()) {
            return Err("an order and a trace have no numbers beside them".into());
        }
        if !exact && !explicit && self.paper.is_none() {
            return Err(
                "it has neither an order, a trace, the paper's number nor an interval".into()
            );
        }
        if explicit == self.because.is_empty() {
            return Err("`min` and `max` need `because`, and only they".into());
        }
        let whole_ratio = self.over.is_some() && self.over_run.is_none() && self.run.is_none();
        let printed = matches!(self.paper, Some(Printed::One(_)));
        if !self.among.is_empty() && (exact || !whole_ratio || !printed) {
            let expected =
                "`among` needs `transport`, `over` and `paper`, and neither `run` nor `order`";
            return Err(expected.into());
        }
        let quotient = self.over.is_some() || self.over_run.is_some();
        let whole = matches!(Unit::named(&self.unit), Unit::PercentLost);
        if matches!(self.paper, Some(Printed::One(_))) && !explicit && !quotient && !whole {
            return Err("one absolute number needs `min` and `max`".into());
        }
        Ok(())
    }
}

/// How many seeds a number is of, where some are missing.
fn of_seeds(seeds: usize, all: usize) -> String {
    match seeds < all {
        true => format!(" ({seeds} of {all}{SOME_SEEDS}"),
        false => String::new(),
    }
}

/// Why seeds of a run have no number together.
fn without_number(by_seed: &BTreeMap<u64, &MeasuredValue>) -> String {
    let never = by_seed.values().filter(|seen| seen.value == Some(f64::INFINITY)).count();
    match never {
        0 => "not every run has such a number".into(),
        never => format!("never in {never} of {} seeds", by_seed.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three runs the one that never balances is left out, and of the others the one with the
    /// largest reduction is judged.
    #[test]
    fn up_to_so_much_is_judged_by_the_best_run() {
        let text = "text = 't'\nmeasure.kind = 'fct_mean_us'\ntransport = 'a'\nover = 'b'\npaper = 40\n\
                    unit = '% lower'\namong = ['x', 'y', 'z']\n";
        let claim: Claim = toml::from_str(text).unwrap();
        assert_eq!(claim.check_band(), Ok(()));
        assert_eq!(claim.runs("x"), ["x", "x", "y", "y", "z", "z"]);
        let mut results = Results::new("x".into(), 1, false);
        let id = claim.measure.id();
        for (run, transport, value, steady) in [
            ("x", "a", 90.0, 1.0),
            ("x", "b", 100.0, 1.0),
            ("y", "a", 70.0, 1.0),
            ("y", "b", 100.0, 1.0),
            ("z", "a", 10.0, 0.0),
            ("z", "b", 100.0, 1.0),
        ] {
            let of = |value| MeasuredValue { value: Some(value), ..MeasuredValue::default() };
            let row = [(id.clone(), of(value)), (Wanted::Balance.id(), of(steady))];
            results.add(run, transport, 1, row.into_iter().collect());
        }
        let judged = claim.judge(&results);
        assert_eq!((judged.measured.as_str(), judged.word), ("y: 30 % lower", Word::Matches));

        let more = text.replace("40", "50").replace("% lower", "% higher");
        let claim: Claim = toml::from_str(&more).unwrap();
        let judged = claim.judge(&results);
        assert_eq!((judged.measured.as_str(), judged.word), ("x: 10 % lower", Word::Differs));
        let times: Claim =
            toml::from_str(&text.replace("40", "1.5").replace("% lower", "times")).unwrap();
        assert!(times.judge(&results).measured.starts_with("x: "));
        let none = claim.judge(&Results::new("x".into(), 1, false));
        assert_eq!(none.word, Word::NotRun);

        for wrong in ["run = 'x'", "over_run = 'x'"] {
            let claim: Claim = toml::from_str(&format!("{text}{wrong}\n")).unwrap();
            assert!(claim.check_band().unwrap_err().contains("among"), "{wrong}");
        }
        let claim: Claim =
            toml::from_str(&text.replace("paper = 40\n", "min = 0.1\nbecause = 'b'\n")).unwrap();
        assert!(claim.check_band().unwrap_err().contains("among"));
    }

    #[test]
    fn what_some_seeds_never_reach_is_counted() {
        let seen = |value| MeasuredValue { value: Some(value), ..MeasuredValue::default() };
        let all = [seen(1.0), seen(f64::INFINITY), seen(2.0)];
        assert_eq!(without_number(&(1..).zip(&all).collect()), "never in 1 of 3 seeds");
        assert_eq!(
            without_number(&(1..).zip(&all[..1]).collect()),
            "not every run has such a number"
        );
    }
}
