//! Several runs side by side.

use crate::number::{escape, significant};
use crate::numbers::{Better, COMPARED};
use crate::statistics::{Confidence, confidence, mean};
use crate::{Run, Summary, number, summarise};

/// Numbers that a run without them does not have: most have none.
const RARE: [&str; 2] = ["link_losses", "credit_drops"];

/// Numbers about packets, which a run at flow level does not have.
const OF_PACKETS: [&str; 8] = [
    "switch_backlog_max_bytes",
    "total_retransmit_share",
    "drops",
    "trims",
    "marks",
    "paused_ns",
    "pause_frames",
    "feedback_per_payload",
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
    pub metrics: Vec<String>,
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
        for (name, title, unit, scale) in COMPARED {
            let number = number(name).expect("a number");
            let shown = |summary: &Summary| {
                let left_out = summary.flow_level.is_some() && OF_PACKETS.contains(name);
                let value = number.of(summary).filter(|value| *value > 0.0 || !RARE.contains(name));
                let value = value.filter(|_| !left_out);
                value.map(|value| if *scale < 1.0 { value * (1.0 / scale) } else { value / scale })
            };
            let value = |label: &String| {
                let runs = of_label(label).into_iter();
                let samples: Vec<f64> = runs.filter_map(shown).collect();
                mean(&samples).map(|mean| Value { mean, interval: confidence(&samples) })
            };
            let values: Vec<Option<Value>> = table.labels.iter().map(value).collect();
            if values.iter().any(Option::is_some) {
                let comma = if unit.is_empty() { "" } else { ", " };
                table.metrics.push(format!("{title}{comma}{unit}"));
                table.best.push(best(&values, number.better));
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
                let name = if line == 0 { "" } else { &self.metrics[line - 1] };
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
    pub fn zeros(&self) -> Vec<&str> {
        let zero =
            |values: &Vec<Option<Value>>| values.iter().flatten().all(|value| value.mean == 0.0);
        let lines = self.metrics.iter().zip(&self.values);
        lines.filter(|(_, values)| zero(values)).map(|(name, _)| name.as_str()).collect()
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
        let shown = |(_, name): &(usize, &String)| !zeros.contains(&name.as_str());
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
