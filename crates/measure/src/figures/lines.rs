//! What becomes a line: the measured flows of one label and transport.

use crate::Run;
use crate::run::LONG_FLOW_BYTES;
use crate::statistics::{mean, percentile, percentile_interval};
use incast_transport::Parts;
use std::collections::BTreeSet;

/// The flows of one label and transport, over all runs of the label.
pub(crate) struct Line<'a> {
    /// Name in legends.
    pub name: String,
    /// Runs with the transport's index in each.
    runs: Vec<(&'a Run, usize)>,
    /// Of which class its flows are; `None`: of all.
    class: Option<&'static str>,
}

/// One line per label, or per label and transport where a run has several transports; in order of
/// first appearance. Lines without a measured flow are left out.
pub(crate) fn lines(runs: &[Run]) -> Vec<Line<'_>> {
    let mut labels: Vec<&str> = Vec::new();
    for run in runs {
        if !labels.contains(&run.label.as_str()) {
            labels.push(&run.label);
        }
    }
    let mut lines = Vec::new();
    for label in &labels {
        let same: Vec<&Run> = runs.iter().filter(|run| run.label == **label).collect();
        let mut names: Vec<&str> = Vec::new();
        for run in &same {
            for (at, name) in run.transports.iter().enumerate() {
                if !names.contains(&name.as_str()) && uses(run, at) {
                    names.push(name);
                }
            }
        }
        for name in &names {
            let at = |run: &Run| run.transports.iter().position(|known| known == name);
            let runs = same.iter().filter_map(|run| Some((*run, at(run)?))).collect();
            let name = match (names.len(), labels.len()) {
                (1, _) => label.to_string(),
                (_, 1) => name.to_string(),
                _ => format!("{label}: {name}"),
            };
            lines.push(Line { name, runs, class: None });
        }
    }
    lines
}

fn uses(run: &Run, transport: usize) -> bool {
    run.flows.iter().any(|flow| !flow.warmup && flow.transport as usize == transport)
}

/// Flows of similar size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizeBin {
    /// Their sizes have this many bits: from 2^(bits-1) to below 2^bits bytes.
    pub bits: u32,
    /// Their mean size in bytes.
    pub size: f64,
    /// Their number.
    pub count: usize,
    /// Median and 99th percentile of the completion time in nanoseconds.
    pub fct_ns: [f64; 2],
    /// Median and 99th percentile of the slowdown.
    pub slowdown: [f64; 2],
    /// The 95 % confidence intervals of median and 99th percentile of the completion time, if there
    /// are flows enough.
    pub fct_between: [Option<(f64, f64)>; 2],
    /// The same of the slowdown.
    pub slowdown_between: [Option<(f64, f64)>; 2],
}

impl<'a> Line<'a> {
    /// The same with its flows of one class.
    pub fn of_class(&self, class: &'static str) -> Line<'a> {
        Line { name: self.name.clone(), runs: self.runs.clone(), class: Some(class) }
    }

    /// The classes of its flows, in alphabetical order.
    pub fn classes(&self) -> BTreeSet<&'static str> {
        self.flows().map(|(run, at)| run.flows[at].class).collect()
    }

    /// Mean completion time of completed flows, in nanoseconds.
    pub fn fct_mean_ns(&self) -> Option<f64> {
        mean(
            &self
                .flows()
                .filter_map(|(run, at)| Some(run.fct(at)?.as_ns_f64()))
                .collect::<Vec<f64>>(),
        )
    }

    /// Measured flows as run and number.
    fn flows(&self) -> impl Iterator<Item = (&Run, usize)> {
        self.runs.iter().flat_map(|(run, transport)| {
            let class = self.class;
            let of_line = move |at: &usize| {
                let flow = &run.flows[*at];
                let chosen = class.is_none_or(|class| flow.class == class);
                chosen && !flow.warmup && flow.transport as usize == *transport
            };
            (0..run.flows.len()).filter(of_line).map(move |at| (*run, at))
        })
    }

    /// Completed flows by size, in bins of a factor of two, ascending.
    pub fn by_size(&self) -> Vec<SizeBin> {
        size_bins(self.flows().filter_map(|(run, at)| {
            let (fct, slowdown) = (run.fct(at)?, run.slowdown(at)?);
            Some((run.flows[at].size_bytes, fct.as_ns_f64(), slowdown))
        }))
    }

    /// Slowdowns of completed flows, ascending.
    pub fn slowdowns(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.flows().filter_map(|(run, at)| run.slowdown(at)).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    }

    /// Flows with an end that started and did not complete, and all that started.
    pub fn open(&self) -> (usize, usize) {
        let started = self.flows().filter(|(run, at)| {
            run.record.flows[*at].started.is_some() && !run.flows[*at].is_endless()
        });
        started.fold((0, 0), |(open, all), (run, at)| {
            (open + usize::from(run.fct(at).is_none()), all + 1)
        })
    }

    /// Parts of the completion times of flows from this slowdown on.
    pub fn slowest(&self, from: f64) -> impl Iterator<Item = &Parts> {
        let slow =
            move |(run, at): &(&Run, usize)| run.slowdown(*at).is_some_and(|own| own >= from);
        self.flows().filter(slow).filter_map(|(run, at)| run.record.flows[at].parts.as_ref())
    }

    /// Parts of the completion times of short or long flows.
    pub fn parts(&self, long: bool) -> impl Iterator<Item = &Parts> {
        self.flows()
            .filter(move |(run, at)| (run.flows[*at].size_bytes >= LONG_FLOW_BYTES) == long)
            .filter_map(|(run, at)| run.record.flows[at].parts.as_ref())
    }
}

/// Flows given by size in bytes, completion time in nanoseconds and slowdown, in bins of a factor of two in size, ascending.
pub(crate) fn size_bins(flows: impl IntoIterator<Item = (u64, f64, f64)>) -> Vec<SizeBin> {
    // Size, completion time, slowdown.
    let mut bins: Vec<Vec<[f64; 3]>> = vec![Vec::new(); 64];
    for (size, fct_ns, slowdown) in flows {
        bins[size.max(1).ilog2() as usize].push([size as f64, fct_ns, slowdown]);
    }
    let full = bins.iter().enumerate().filter(|(_, bin)| !bin.is_empty());
    full.map(|(at, bin)| size_bin(at as u32 + 1, bin)).collect()
}

fn size_bin(bits: u32, bin: &[[f64; 3]]) -> SizeBin {
    let sorted = |column: usize| {
        let mut values: Vec<f64> = bin.iter().map(|flow| flow[column]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let quantiles = |all: &[f64]| [500, 990].map(|p| percentile(all, p).expect("a bin has flows"));
    let between = |all: &[f64]| [500, 990].map(|p| percentile_interval(all, p));
    let size = bin.iter().map(|flow| flow[0]).sum::<f64>() / bin.len() as f64;
    let (times, slowdowns) = (sorted(1), sorted(2));
    SizeBin {
        bits,
        size,
        count: bin.len(),
        fct_ns: quantiles(&times),
        slowdown: quantiles(&slowdowns),
        fct_between: between(&times),
        slowdown_between: between(&slowdowns),
    }
}
