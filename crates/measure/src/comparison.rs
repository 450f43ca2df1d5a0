//! Several runs side by side.

use crate::number::{escape, significant};
use crate::statistics::{Confidence, confidence, mean};
use crate::{Run, Summary, summarise};

/// Which values are good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// Neither: the number describes.
    Neither,
}

/// One line of the comparison.
#[derive(Clone, Copy)]
pub struct Metric {
    /// What it is, with its unit.
    pub name: &'static str,
    /// Which values are good.
    pub better: Better,
    /// Its value in a run, if it has one.
    pub value: fn(&Summary) -> Option<f64>,
}

const fn lower(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Lower, value }
}

const fn higher(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Higher, value }
}

const fn neither(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Neither, value }
}

/// The lines of the comparison, in order. Lines without a value in any run are left out.
pub const METRICS: &[Metric] = &[
    neither("measured flows", |s| Some(s.all.flows as f64)),
    higher("completed, %", |s| {
        (s.all.flows > 0).then(|| 100.0 * s.all.completed as f64 / s.all.flows as f64)
    }),
    neither("offered load, % of NICs", |s| s.load.offered_load.map(|load| 100.0 * load)),
    higher("goodput, Gb/s", |s| s.load.goodput_gbps),
    lower("FCT mean, µs", |s| Some(s.all.fct_ns?.mean / 1e3)),
    lower("FCT p99, µs", |s| Some(s.all.fct_ns?.p99 / 1e3)),
    lower("FCT of short flows, mean, µs", |s| Some(s.short().fct_ns?.mean / 1e3)),
    lower("FCT of short flows, p99, µs", |s| Some(s.short().fct_ns?.p99 / 1e3)),
    lower("FCT of long flows, mean, µs", |s| Some(s.long().fct_ns?.mean / 1e3)),
    lower("slowdown, mean", |s| Some(s.all.slowdown?.mean)),
    lower("slowdown, median", |s| Some(s.all.slowdown?.median)),
    lower("slowdown, p99", |s| Some(s.all.slowdown?.p99)),
    lower("slowdown, p99.9", |s| Some(s.all.slowdown?.p999)),
    lower("slowdown of short flows, p99", |s| Some(s.short().slowdown?.p99)),
    lower("slowdown of long flows, p99", |s| Some(s.long().slowdown?.p99)),
    higher("throughput of a long flow, mean, Gb/s", |s| s.long().throughput_mean_gbps),
    higher("Jain's index of long flows", |s| s.jain_long),
    higher("Jain's index of recorded flows", |s| s.jain_series),
    higher("Jain's index over time, mean", |s| s.fairness.as_ref()?.jain_mean),
    lower("convergence of recorded flows, µs", |s| {
        Some(s.fairness.as_ref()?.convergence_ns? / 1e3)
    }),
    lower("request completion, mean, µs", |s| Some(s.requests?.completion_ns?.mean / 1e3)),
    lower("request completion, p99, µs", |s| Some(s.requests?.completion_ns?.p99 / 1e3)),
    lower("largest switch queue, KB", |s| {
        let switches = s.tiers.iter().filter(|tier| tier.tier != "nic");
        switches.map(|tier| tier.backlog_max_bytes as f64 / 1e3).reduce(f64::max)
    }),
    neither("busiest switch port, % used", |s| {
        let switches = s.tiers.iter().filter(|tier| tier.tier != "nic");
        switches.filter_map(|tier| tier.utilisation_max).reduce(f64::max).map(|used| 100.0 * used)
    }),
    lower("retransmitted packets, %", |s| {
        let Summary { counters, .. } = s;
        (counters.packets > 0)
            .then(|| 100.0 * counters.retransmits as f64 / counters.packets as f64)
    }),
    lower("drops", |s| Some(s.counters.drops as f64)),
    neither("losses on links", |s| {
        (s.counters.link_losses > 0).then_some(s.counters.link_losses as f64)
    }),
    neither("credits dropped", |s| {
        (s.counters.credit_drops > 0).then_some(s.counters.credit_drops as f64)
    }),
    neither("trims", |s| Some(s.counters.trims as f64)),
    neither("marks", |s| Some(s.counters.marks as f64)),
    neither("paused port time, µs", |s| Some(s.counters.paused_ns / 1e3)),
    neither("pause frames", |s| Some(s.counters.pause_frames as f64)),
    neither("age of feedback, mean, µs", |s| Some(s.all.decision_age_mean_ns? / 1e3)),
    neither("age of feedback, p99, µs", |s| Some(s.all.decision_age_ns?.p99 / 1e3)),
    neither("decisions per RTT", |s| s.all.decisions_per_rtt),
    neither("utility of feedback", |s| s.all.feedback_utility),
    neither("feedback, % of payload", |s| Some(100.0 * s.all.feedback_per_payload?)),
];

/// A value of the table: the mean over repetitions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// Mean over the runs of one label that have the value.
    pub mean: f64,
    /// Its 95 % confidence interval, if there are at least two.
    pub interval: Option<Confidence>,
}

/// Several runs side by side; runs of one label are repetitions and become one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Labels, in order of first appearance.
    pub labels: Vec<String>,
    /// How many runs have the label.
    pub repetitions: Vec<usize>,
    /// Names of the metrics that some run has.
    pub metrics: Vec<&'static str>,
    /// Values by metric, then label.
    pub values: Vec<Vec<Option<Value>>>,
    /// Whether the value is the best of its line, by metric, then label. Never of a single label
    /// or when all are equal. Does not imply significance.
    pub best: Vec<Vec<bool>>,
}

impl Comparison {
    /// Compares runs.
    pub fn of_runs(runs: &[Run]) -> Comparison {
        Comparison::of(&runs.iter().map(summarise).collect::<Vec<_>>())
    }

    /// Compares summaries.
    pub fn of(summaries: &[Summary]) -> Comparison {
        let mut labels: Vec<String> = Vec::new();
        for summary in summaries {
            if !labels.contains(&summary.label) {
                labels.push(summary.label.clone());
            }
        }
        let of_label = |label: &str| -> Vec<&Summary> {
            summaries.iter().filter(|summary| summary.label == label).collect()
        };
        let repetitions = labels.iter().map(|label| of_label(label).len()).collect();
        let mut table =
            Comparison { labels, repetitions, metrics: vec![], values: vec![], best: vec![] };
        for metric in METRICS {
            let value = |label: &String| {
                let runs = of_label(label).into_iter();
                let samples: Vec<f64> = runs.filter_map(metric.value).collect();
                mean(&samples).map(|mean| Value { mean, interval: confidence(&samples) })
            };
            let values: Vec<Option<Value>> = table.labels.iter().map(value).collect();
            if values.iter().any(Option::is_some) {
                table.metrics.push(metric.name);
                table.best.push(best(&values, metric.better));
                table.values.push(values);
            }
        }
        table
    }

    /// The table as text with aligned columns: metrics down, labels across, in blocks of at most
    /// `width` characters a line (one label a block at least).
    pub fn text(&self, width: usize) -> String {
        let first = self.metrics.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let cells: Vec<Vec<String>> = (0..self.labels.len()).map(|at| self.column(at)).collect();
        let wide = |column: &Vec<String>| {
            column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut out = String::new();
        let mut at = 0;
        while at < cells.len() {
            let (start, mut used) = (at, first);
            while at < cells.len() && (at == start || used + 2 + wide(&cells[at]) <= width) {
                used += 2 + wide(&cells[at]);
                at += 1;
            }
            let block = &cells[start..at];
            for line in 0..=self.metrics.len() {
                let name = if line == 0 { "" } else { self.metrics[line - 1] };
                let mut text = pad_end(name, first);
                for column in block {
                    text += "  ";
                    text += &pad_start(&column[line], wide(column));
                }
                out += text.trim_end();
                out.push('\n');
            }
            if at < cells.len() {
                out.push('\n');
            }
        }
        out
    }

    fn column(&self, label: usize) -> Vec<String> {
        let mut cells = vec![self.labels[label].clone()];
        for values in &self.values {
            cells.push(values[label].map_or("-".to_string(), |value| print(&value)));
        }
        cells
    }

    /// The metrics that are zero in every run that has them.
    pub fn zeros(&self) -> Vec<&'static str> {
        let zero =
            |values: &Vec<Option<Value>>| values.iter().flatten().all(|value| value.mean == 0.0);
        let lines = self.metrics.iter().zip(&self.values);
        lines.filter(|(_, values)| zero(values)).map(|(name, _)| *name).collect()
    }

    /// The table as an HTML `table` element, without the metrics that are zero in every run; best
    /// values are set in bold.
    pub fn html(&self) -> String {
        let zeros = self.zeros();
        let mut out = String::from("<table><thead><tr><th></th>");
        for label in &self.labels {
            out += &format!("<th scope=\"col\">{}</th>", escape(label));
        }
        out += "</tr></thead><tbody>\n";
        let shown = |(_, name): &(usize, &&str)| !zeros.contains(name);
        for (line, name) in self.metrics.iter().enumerate().filter(shown) {
            out += &format!("<tr><th scope=\"row\">{}</th>", escape(name));
            for (value, best) in self.values[line].iter().zip(&self.best[line]) {
                let class = if *best { " class=\"best\"" } else { "" };
                let text = value.map_or("–".to_string(), |value| print(&value));
                out += &format!("<td{class}>{text}</td>");
            }
            out += "</tr>\n";
        }
        out + "</tbody></table>\n"
    }
}

fn print(value: &Value) -> String {
    match value.interval {
        Some(interval) => {
            format!("{} ± {}", significant(value.mean), significant(interval.half_width))
        }
        None => significant(value.mean),
    }
}

fn best(values: &[Option<Value>], better: Better) -> Vec<bool> {
    let means = || values.iter().flatten().map(|value| value.mean);
    let (low, high) = (means().reduce(f64::min), means().reduce(f64::max));
    let target = match better {
        Better::Lower => low,
        Better::Higher => high,
        Better::Neither => None,
    };
    let differ = low != high;
    values.iter().map(|v| differ && v.is_some_and(|v| Some(v.mean) == target)).collect()
}

fn pad_end(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

fn pad_start(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}
