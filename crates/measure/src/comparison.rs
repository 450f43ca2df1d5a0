//! Several runs side by side.

use crate::grid::{blocks, numbers};
use crate::number::{aligned, escape, three, with_interval};
use crate::numbers::{Better, Number, listed};
use crate::statistics::{Confidence, confidence, mean};
use crate::summary::Group;
use crate::{Run, Summary, summarise, values_needed};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The lines of a comparison, in order.
fn compared() -> &'static [&'static Number] {
    static ALL: LazyLock<Vec<&Number>> = LazyLock::new(|| listed(|place| place.line));
    &ALL
}

/// The unit of a line, and how much of the number's unit it is.
fn unit(number: &Number) -> (&'static str, f64) {
    number.listing.unit.unwrap_or(match number.unit {
        "ns" => ("\u{b5}s", 1e3),
        "bytes" => ("KB", 1e3),
        own => (own, 1.0),
    })
}

/// Numbers that decide.
const DECIDING: usize = 10;

/// A value of the table: the mean over repetitions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// Mean over the runs of one label that have the value.
    pub mean: f64,
    /// Its 95 % confidence interval, if there are at least two.
    pub interval: Option<Confidence>,
    /// What the interval cannot go below: 0 of what is never negative.
    pub floor: f64,
}

/// Several runs side by side; runs of one label are repetitions and become one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Labels, in order of first appearance.
    pub labels: Vec<String>,
    /// How many runs have the label.
    pub repetitions: Vec<usize>,
    /// Titles of the metrics that some run has.
    pub metrics: Vec<Cow<'static, str>>,
    /// Their units; empty where they have none.
    pub units: Vec<&'static str>,
    /// The names of their numbers; empty of those of one class of flows.
    names: Vec<&'static str>,
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
        let mut table = Comparison { labels, repetitions, ..Comparison::default() };
        for number in compared() {
            let (unit, scale) = unit(number);
            let shown = |summary: &Summary| {
                let left_out = summary.flow_level.is_some() && number.listing.of_packets;
                let value = number.of(summary).filter(|_| !left_out);
                let value = value.filter(|value| *value > 0.0 || !number.listing.rare);
                value.map(|value| if scale < 1.0 { value * (1.0 / scale) } else { value / scale })
            };
            let value = |label: &String| {
                let runs = of_label(label);
                let samples: Vec<f64> = runs.iter().filter_map(|run| shown(run)).collect();
                Value::of(&samples).filter(|_| enough(number, &runs))
            };
            let values: Vec<Option<Value>> = table.labels.iter().map(value).collect();
            if values.iter().any(Option::is_some) {
                table.metrics.push(number.listing.title.into());
                table.units.push(unit);
                table.names.push(&number.name);
                table.best.push(best(&values, number.better));
                table.values.push(values);
            }
        }
        table
    }

    /// The same with the tail and the mean of each class of flows, if there are several: the tail of all
    /// flows is that of whichever class is slowest. `summaries` are those that are compared.
    #[must_use]
    pub fn with_classes(mut self, summaries: &[Summary]) -> Comparison {
        type Read = fn(&Group) -> Option<f64>;
        let lines: [(&str, &str, Read); 2] = [
            ("slowdown, p99", "", |group| {
                let enough = group.completed as u64 >= values_needed(990);
                group.slowdown.filter(|_| enough).map(|slowdown| slowdown.p99)
            }),
            ("FCT, mean", "\u{b5}s", |group| Some(group.fct_ns?.mean / 1e3)),
        ];
        let groups = summaries.iter().flat_map(|summary| &summary.by_class);
        let classes: BTreeSet<&str> = groups.map(|group| group.name.as_str()).collect();
        for class in classes {
            for (title, unit, read) in lines {
                let of = |summary: &Summary| {
                    summary.by_class.iter().find(|group| group.name == class).and_then(read)
                };
                let value = |label: &String| {
                    let own = summaries.iter().filter(|summary| summary.label == *label);
                    Value::of(&own.filter_map(of).collect::<Vec<f64>>())
                };
                let values: Vec<Option<Value>> = self.labels.iter().map(value).collect();
                if values.iter().any(Option::is_some) {
                    self.metrics.push(format!("{title}, class {class}").into());
                    self.units.push(unit);
                    self.names.push("");
                    self.best.push(best(&values, Better::Lower));
                    self.values.push(values);
                }
            }
        }
        self
    }

    /// The lines of the ten numbers that decide, in the order of the table, and those of classes.
    pub fn deciding(&self) -> Vec<usize> {
        let weighty = listed(|place| place.decides);
        let line = |number: &&Number| self.names.iter().position(|known| *known == number.name);
        let first = |some: &[&Number]| some.iter().find_map(line);
        let rank = |number: &Number| number.listing.decides.map(|weight| weight / 10);
        let all = weighty.chunk_by(|a, b| rank(a) == rank(b)).filter_map(first);
        let said = |at: &usize| self.names[*at] == "completed_share" || !self.is_zero(*at);
        let mut lines: Vec<usize> = all.filter(said).take(DECIDING).collect();
        lines.extend((0..self.names.len()).filter(|line| self.names[*line].is_empty()));
        lines.sort_unstable();
        lines
    }

    /// The labels that have a number, with its value; `None` if none has.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn values_of(&self, name: &str) -> Option<impl Iterator<Item = (&str, f64)>> {
        let line = self.names.iter().position(|known| *known == name)?;
        let all = self.labels.iter().zip(&self.values[line]);
        Some(all.filter_map(|(label, value)| Some((label.as_str(), (*value)?.mean))))
    }

    /// All lines.
    pub fn lines(&self) -> Vec<usize> {
        (0..self.metrics.len()).collect()
    }

    /// Some lines of the table as text: metrics and units down, labels across, decimal points below each other, in blocks of
    /// at most `width` characters a line (one label a block at least).
    pub fn text(&self, width: usize, lines: &[usize]) -> String {
        let of = |texts: &dyn Fn(usize) -> String| -> Vec<String> {
            let texts = lines.iter().map(|line| texts(*line));
            std::iter::once(String::new()).chain(texts).collect()
        };
        let titles = of(&|line| self.metrics[line].to_string());
        let mut heads = vec![titles, of(&|line| self.units[line].to_string())];
        heads.retain(|column| column.iter().any(|text| !text.is_empty()));
        let column = |(label, name): (usize, &String)| {
            let value = |line: &usize| self.values[*line][label];
            numbers(name, lines.iter().map(|line| value(line).map(|value| value.text())))
        };
        blocks(heads, self.labels.iter().enumerate().map(column).collect(), width)
    }

    /// Whether a line is zero in every run that has it.
    fn is_zero(&self, line: usize) -> bool {
        self.values[line].iter().flatten().all(|value| value.mean == 0.0)
    }

    /// The metrics that are zero in every run that has them.
    pub fn zeros(&self) -> Vec<&str> {
        let zero = (0..self.metrics.len()).filter(|line| self.is_zero(*line));
        zero.map(|line| self.metrics[line].as_ref()).collect()
    }

    /// Some lines of the table as an HTML `table` element, without those that are zero in every run; best values are set
    /// in bold, all digits are under the pointer.
    pub fn html(&self, lines: &[usize]) -> String {
        let lines: Vec<usize> = lines.iter().copied().filter(|line| !self.is_zero(*line)).collect();
        let mut out = String::from("<table><thead><tr><td></td><td></td>");
        for label in &self.labels {
            out += &format!("<th scope=\"col\">{}</th>", escape(label));
        }
        out += "</tr></thead><tbody>\n";
        let column = |label: usize| {
            let text = |at: &usize| {
                self.values[*at][label].map_or("\u{2013}".into(), |value| value.text())
            };
            aligned(&lines.iter().map(text).collect::<Vec<String>>(), '\u{2007}', '\u{2008}')
        };
        let columns: Vec<Vec<String>> = (0..self.labels.len()).map(column).collect();
        for (row, line) in lines.iter().enumerate() {
            let (title, unit) = (escape(&self.metrics[*line]), escape(self.units[*line]));
            out += &format!("<tr><th scope=\"row\">{title}</th><td class=\"unit\">{unit}</td>");
            for (label, texts) in columns.iter().enumerate() {
                let class = if self.best[*line][label] { " class=\"best\"" } else { "" };
                let whole = self.values[*line][label]
                    .map_or(String::new(), |value| format!(" title=\"{}\"", value.mean));
                out += &format!("<td{class}{whole}>{}</td>", texts[row]);
            }
            out += "</tr>\n";
        }
        out + "</tbody></table>\n"
    }
}

impl Value {
    /// The mean of some runs' values; `None` without any.
    fn of(samples: &[f64]) -> Option<Value> {
        let negative = samples.iter().any(|value| *value < 0.0);
        let floor = if negative { f64::NEG_INFINITY } else { 0.0 };
        Some(Value { mean: mean(samples)?, interval: confidence(samples), floor })
    }

    fn text(&self) -> String {
        match self.interval {
            Some(interval) => with_interval(self.mean, interval.half_width, self.floor, " ± "),
            None => three(self.mean),
        }
    }
}

/// Whether a number is no percentile, or enough flows are behind it that it is not the accident of a few.
fn enough(number: &Number, runs: &[&Summary]) -> bool {
    let of = runs.iter().filter_map(|run| number.percentile(run));
    let all: Vec<(u32, u64)> = of.collect();
    let flows: u64 = all.iter().map(|(_, flows)| flows).sum();
    all.first().is_none_or(|(thousandths, _)| flows >= values_needed(*thousandths))
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
