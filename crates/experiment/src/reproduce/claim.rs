//! Claims and how they are judged.

use super::confidence::verdict;
use super::measure::Kind;
use super::{Finished, Measure, Runs};
use crate::{Fault, Plan};
use incast_measure::Run;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A statement of a paper, or a known result, that a measured value can confirm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// The number.
    pub measure: Measure,
    /// In which run; the only one if not given.
    pub run: Option<String>,
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
    /// Least accepted value.
    pub min: Option<f64>,
    /// Largest accepted value.
    pub max: Option<f64>,
    /// Value in the paper, in the paper's unit, if it gives one.
    #[serde(default)]
    pub paper: String,
    /// What to know about the comparison.
    #[serde(default)]
    pub deviation: String,
}

/// Verdict on a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub measured: String,
    /// `matches`, `differs` or `cannot be judged`.
    pub verdict: &'static str,
}

impl Claim {
    /// Judges the claim by finished runs.
    pub fn judge(&self, runs: &Runs) -> Judgement {
        if let Some(order) = &self.order {
            return self.judge_order(order, runs);
        }
        if let Some(trace) = &self.trace {
            return self.judge_trace(trace, runs);
        }
        let value = self.value(runs);
        let width = self.half_width(runs);
        let expected = match (self.paper.as_str(), self.interval()) {
            ("", interval) => interval,
            (paper, interval) => format!("{paper}; accepted {interval}"),
        };
        let Some(value) = value else {
            let measured = "no such number in the run".to_string();
            return Judgement { expected, measured, verdict: "cannot be judged" };
        };
        let verdict = verdict(value, width, self.min, self.max);
        Judgement { expected, measured: shown(value, width) + open(verdict), verdict }
    }

    fn interval(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any value".into(),
        }
    }

    fn judge_order(&self, order: &[String], runs: &Runs) -> Judgement {
        let run = self.run.as_deref();
        let values: Vec<Option<f64>> = order.iter().map(|name| self.one(runs, run, name)).collect();
        let mut measured: Vec<String> = order
            .iter()
            .zip(&values)
            .map(|(name, value)| match value {
                Some(value) => format!("{name} {}", shown(*value, self.width(runs, run, name))),
                None => format!("{name} none"),
            })
            .collect();
        let mut verdicts = vec![];
        for (names, pair) in order.windows(2).zip(values.windows(2)) {
            let &[Some(less), Some(more)] = pair else {
                verdicts.push("cannot be judged");
                continue;
            };
            let results = find(runs, run, &names[1]).zip(find(runs, run, &names[0]));
            let width =
                results.and_then(|(more, less)| self.measure.half_width_against(more, less, 1.0));
            verdicts.push(verdict(more - less, width, Some(0.0), None));
            if width.is_some() {
                measured.push(format!("difference {}", shown(more - less, width)));
            }
        }
        let complete = values.iter().all(Option::is_some);
        let verdict = match complete {
            true if verdicts.contains(&"differs") => "differs",
            true if verdicts.iter().all(|one| *one == "matches") => "matches",
            _ => "cannot be judged",
        };
        let note = if complete { open(verdict) } else { "" };
        Judgement { expected: order.join(" <= "), measured: measured.join(", ") + note, verdict }
    }

    fn judge_trace(&self, trace: &[u32], runs: &Runs) -> Judgement {
        let marks = self.measure.kind == Kind::Marks;
        let one = |number: &u32| match marks {
            true => format!("{number:02b}"),
            false => number.to_string(),
        };
        let list = |numbers: &[u32]| numbers.iter().map(one).collect::<Vec<_>>().join(" ");
        let found = self.name(runs).and_then(|name| {
            let finished = of_run(runs, self.run.as_deref())?.get(&name)?;
            match marks {
                true => self.measure.marks(&finished.run, &finished.captured),
                false => self.measure.packets(&finished.run, trace.len()),
            }
        });
        let expected = match self.paper.as_str() {
            "" => list(trace),
            paper => format!("{paper}; exactly {}", list(trace)),
        };
        match found {
            None => Judgement {
                expected,
                measured: match marks {
                    true => "no such packet".to_string(),
                    false => "the run is too short".to_string(),
                },
                verdict: "cannot be judged",
            },
            Some(found) => Judgement {
                expected,
                measured: list(&found),
                verdict: if found == trace { "matches" } else { "differs" },
            },
        }
    }

    /// The transport that is measured; the first one if none is named.
    fn name(&self, runs: &Runs) -> Option<String> {
        match &self.transport {
            Some(name) => Some(name.clone()),
            None => Some(of_run(runs, self.run.as_deref())?.keys().next()?.clone()),
        }
    }

    fn value(&self, runs: &Runs) -> Option<f64> {
        let name = self.name(runs)?;
        let value = self.one(runs, self.run.as_deref(), &name)?;
        if self.over.is_none() && self.over_run.is_none() {
            return Some(value);
        }
        let run = self.over_run.as_deref().or(self.run.as_deref());
        let base = self.one(runs, run, self.over.as_ref().unwrap_or(&name))?;
        (base != 0.0).then(|| value / base)
    }

    fn one(&self, runs: &Runs, run: Option<&str>, transport: &str) -> Option<f64> {
        self.measure.of(find(runs, run, transport)?)
    }

    fn width(&self, runs: &Runs, run: Option<&str>, transport: &str) -> Option<f64> {
        self.measure.half_width(find(runs, run, transport)?)
    }

    /// Half width of the 95 % confidence interval of what [`value`](Self::value) gives; of a
    /// quotient `r = a / b` that of `(a - r b) / b`.
    fn half_width(&self, runs: &Runs) -> Option<f64> {
        let name = self.name(runs)?;
        let own = self.run.as_deref();
        if self.over.is_none() && self.over_run.is_none() {
            return self.width(runs, own, &name);
        }
        let run = self.over_run.as_deref().or(own);
        let other = self.over.as_ref().unwrap_or(&name);
        let base = self.one(runs, run, other)?;
        let (ours, theirs) = (find(runs, own, &name)?, find(runs, run, other)?);
        let width = self.measure.half_width_against(ours, theirs, self.value(runs)?)?;
        Some(width / base.abs())
    }

    /// Whether the claim may be judged by the run of that name.
    pub(super) fn is_about(&self, run: &str) -> bool {
        self.run.as_ref().is_none_or(|own| own == run)
    }

    /// Whether everything the claim names exists.
    pub fn check(&self, plans: &[(String, Plan)]) -> Result<(), Fault> {
        let fail = |why: String| Err(Fault::new(format!("claim `{}`: {why}", self.text)));
        for run in [&self.run, &self.over_run].into_iter().flatten() {
            if !plans.iter().any(|(name, _)| name == run) {
                return fail(format!("there is no run `{run}`"));
            }
        }
        let exact = self.order.is_some() || self.trace.is_some();
        if !exact && self.min.is_none() && self.max.is_none() {
            return fail("it has neither an order, a trace nor an interval".into());
        }
        if self.measure.kind == Kind::Marks
            && self.trace.as_ref().map(Vec::len) != Some(self.measure.captures().len())
        {
            return fail("marks need a trace with one for each port".into());
        }
        let of = |run: Option<&String>| {
            let own = plans.iter().find(|(name, _)| run == Some(name));
            &own.unwrap_or(&plans[0]).1
        };
        let plan = of(self.run.as_ref());
        let base = of(self.over_run.as_ref().or(self.run.as_ref()));
        let own = self.transport.iter().chain(self.order.iter().flatten()).map(|name| (name, plan));
        for (name, plan) in own.chain(self.over.iter().map(|name| (name, base))) {
            if !plan.cases.iter().any(|case| case.label == *name) {
                return fail(format!("there is no run of `{name}`"));
            }
        }
        let fabric = &plan.fabric;
        let name = |port: &incast_fabric::PortSpec| {
            format!("{}->{}", fabric.node_name(port.node), fabric.node_name(port.peer))
        };
        let ports: Vec<String> = fabric.ports().iter().map(name).collect();
        let transports = plan.cases.iter().flat_map(|case| &case.transports);
        let carriers: Vec<&str> = transports.map(|transport| transport.info.name).collect();
        self.measure.check(&ports, plan.traffic.flows.len(), &carriers).or_else(fail)
    }
}

/// A number and, where there is one, the half width of its 95 % confidence interval.
/// The result of a transport in the run of this name, or in the first one.
fn find<'a>(runs: &'a Runs, run: Option<&str>, transport: &str) -> Option<&'a Run> {
    Some(&of_run(runs, run)?.get(transport)?.run)
}

/// The transports of the run of this name, or of the first one.
fn of_run<'a>(runs: &'a Runs, run: Option<&str>) -> Option<&'a BTreeMap<String, Finished>> {
    match run {
        Some(name) => runs.get(name),
        None => runs.values().next(),
    }
}

fn shown(value: f64, half_width: Option<f64>) -> String {
    match half_width {
        Some(half_width) => format!("{value:.4} +- {half_width:.4}"),
        None => format!("{value:.4}"),
    }
}

/// What to add to a measured number whose interval leaves the verdict open.
fn open(verdict: &str) -> &'static str {
    match verdict {
        "cannot be judged" => "; the interval reaches across the border",
        _ => "",
    }
}
