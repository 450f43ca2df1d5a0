//! A table for a paper: a metric by point and series, as LaTeX, Markdown and CSV.

use super::StudyResults;
use super::curves::Shown;
use super::facets::{Estimate, Facets};
use crate::grid::{blocks, numbers};
use crate::number::{escape, significant, with_interval};
use crate::numbers::Number;

/// The estimate in the unit of the title, if there is one.
type Value = Option<Estimate>;

/// A metric: a line per point, a column per series; means over seeds with 95 % intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperTable {
    /// What is in it, with its unit.
    pub title: String,
    /// Heads of the columns: keys, then series.
    pub heads: Vec<String>,
    /// How many of them are keys.
    keys: usize,
    /// Values of the keys, and of each series.
    lines: Vec<(Vec<String>, Vec<Value>)>,
    /// Fewest and most seeds of a value.
    pub seeds: (usize, usize),
}

impl PaperTable {
    /// The table of a metric; `None` if no row has it.
    pub fn of(results: &StudyResults, number: &Number) -> Option<PaperTable> {
        PaperTable::laid_out(results, &Facets::of(results), number)
    }

    pub(super) fn laid_out(
        results: &StudyResults,
        facets: &Facets<'_>,
        number: &Number,
    ) -> Option<PaperTable> {
        let series = 0..results.series.len();
        let places = || facets.places();
        let estimate = |place: &super::facets::Place<'_>, one: usize| {
            Estimate::of(&place.samples(one, &number.name))
        };
        let all: Vec<Estimate> = places()
            .flat_map(|place| series.clone().filter_map(move |one| estimate(place, one)))
            .collect();
        let shown = Shown::of(number, all.iter().map(|one| one.mean).reduce(f64::max)?);
        let lines = places().map(|place| {
            let first = place.rows.first().expect("a place has rows");
            let keys = (0..results.keys.len()).map(|key| first.setting(key)).collect();
            let value = |one: usize| {
                let mut found = estimate(place, one)?;
                found.mean /= shown.scale;
                if let Some(interval) = &mut found.interval {
                    interval.half_width /= shown.scale;
                }
                Some(found)
            };
            (keys, series.clone().map(value).collect())
        });
        let lines = lines.collect();
        let seeds = || all.iter().map(|one| one.seeds);
        Some(PaperTable {
            title: shown.label(),
            heads: results.keys.iter().chain(&results.series).cloned().collect(),
            keys: results.keys.len(),
            lines,
            seeds: (seeds().min()?, seeds().max()?),
        })
    }

    /// How many seeds a value is the mean of, in words.
    fn over(&self) -> String {
        match self.seeds {
            (1, 1) => "One seed".into(),
            (low, high) if low == high => {
                format!("Mean of {low} seeds ± half of the 95 % confidence interval")
            }
            (low, high) => {
                format!("Mean of {low} to {high} seeds ± half of the 95 % confidence interval")
            }
        }
    }

    /// Every line as texts, with a value and its half width joined by `sign`.
    fn cells<'a>(&'a self, sign: &'a str, none: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
        self.lines.iter().map(move |(keys, values)| {
            let text = |value: &Value| match value {
                Some(one) => match one.interval {
                    Some(interval) => with_interval(one.mean, interval.half_width, one.floor, sign),
                    None => significant(one.mean),
                },
                None => none.to_string(),
            };
            keys.iter().cloned().chain(values.iter().map(text)).collect()
        })
    }

    /// For a console: its title, then the first `most` lines, in blocks of at most `width` characters a line.
    pub(super) fn text(&self, width: usize, most: usize) -> String {
        let rows: Vec<Vec<String>> = self.cells(" ± ", "-").take(most).collect();
        let texts = |at: usize| rows.iter().map(move |row| row[at].clone());
        let column = |(at, head): (usize, &String)| match at < self.keys {
            true => std::iter::once(head.clone()).chain(texts(at)).collect(),
            false => numbers(head, texts(at).map(Some)),
        };
        let mut heads: Vec<Vec<String>> = self.heads.iter().enumerate().map(column).collect();
        let columns = heads.split_off(self.keys);
        let table = blocks(heads, columns, width);
        let more = match self.lines.len().saturating_sub(most) {
            0 => String::new(),
            more => format!("{more} more points: study.html\n"),
        };
        format!("{}. {}:\n\n{table}{more}", self.title, self.over())
    }

    /// As a LaTeX `tabular` that needs `booktabs`.
    pub fn latex(&self) -> String {
        let columns = "l".repeat(self.keys) + &"r".repeat(self.heads.len() - self.keys);
        let row = |cells: &[String]| {
            cells.iter().map(|cell| tex(cell)).collect::<Vec<_>>().join(" & ") + " \\\\\n"
        };
        let mut out = format!(
            "% {}; {}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n",
            self.title,
            self.over()
        );
        out += &row(&self.heads);
        out += "\\midrule\n";
        self.cells(" ± ", "--").for_each(|cells| out += &row(&cells));
        out + "\\bottomrule\n\\end{tabular}\n"
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            format!(
                "| {} |\n",
                cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | ")
            )
        };
        let rule: Vec<&str> =
            (0..self.heads.len()).map(|at| if at < self.keys { "---" } else { "---:" }).collect();
        let mut out = format!("{}; {}\n\n", self.title, self.over());
        out += &row(&self.heads);
        out += &format!("|{}|\n", rule.join("|"));
        self.cells(" ± ", "–").for_each(|cells| out += &row(&cells));
        out
    }

    /// As CSV (RFC 4180): two columns per series, mean and half width of the 95 % interval, with all
    /// digits.
    pub fn csv(&self) -> String {
        let quote = |cell: &str| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.to_string(),
        };
        let (keys, series) = self.heads.split_at(self.keys);
        let mut heads: Vec<String> = keys.iter().map(|key| quote(key)).collect();
        for name in series {
            heads.extend([quote(name), quote(&format!("{name} half_width"))]);
        }
        let mut out = heads.join(",") + "\n";
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for (keys, values) in &self.lines {
            let mut cells: Vec<String> = keys.iter().map(|key| quote(key)).collect();
            for value in values {
                let width = value.and_then(|one| Some(one.interval?.half_width));
                cells.extend([number(value.map(|one| one.mean)), number(width)]);
            }
            out += &(cells.join(",") + "\n");
        }
        out
    }

    /// As an HTML section with the three texts to copy.
    pub(super) fn html(&self) -> String {
        let head = |(at, name): (usize, &String)| {
            let class = if at < self.keys { " class=\"text\"" } else { "" };
            format!("<th scope=\"col\"{class}>{}</th>", escape(name))
        };
        let heads: String = self.heads.iter().enumerate().map(head).collect();
        let mut rows = String::new();
        for cells in self.cells(" ± ", "–") {
            let cell = |(at, text): (usize, &String)| match at < self.keys {
                true => format!("<th scope=\"row\">{}</th>", escape(text)),
                false => format!("<td>{}</td>", escape(text)),
            };
            rows +=
                &format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>());
        }
        let texts = [("LaTeX", self.latex()), ("Markdown", self.markdown()), ("CSV", self.csv())];
        let copies: String = texts
            .iter()
            .map(|(name, text)| {
                format!(
                    "<details class=\"copy\"><summary>{name}</summary><button type=\"button\">Copy</button>\
                     <pre>{}</pre></details>\n",
                    escape(text)
                )
            })
            .collect();
        format!(
            "<h2>Table: {}</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr>{heads}</tr></thead><tbody>\n{rows}\
             </tbody></table></div>\n<p class=\"caption\">{}.</p>\n{copies}",
            escape(&self.title),
            escape(&self.over())
        )
    }
}

/// Text in LaTeX.
fn tex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '±' => out += "$\\pm$",
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
