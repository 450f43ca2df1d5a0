//! `study.html`: one self-contained page that needs neither files nor network.

use super::facets::Facets;
use super::paper::PaperTable;
use super::{Finding, StudyResults, curves, sizes};
use crate::chart::{Chart, write_charts};
use crate::folder::{FolderError, write_atomic};
use crate::headline::{Headline, of_study};
use crate::number::escape;
use crate::numbers::{Number, class_numbers, listed, number};
use crate::page::{self, END};
use std::path::Path;

/// What a study is about: its own metric, else the time of a training step, the tail of its flows, of each class if there are
/// several, or its goodput.
pub(super) fn leading(results: &StudyResults) -> Vec<&'static Number> {
    let some = |one: &&Number| results.done().any(|row| row.number(&one.name).is_some());
    let named = |name: &str| number(name).ok().filter(some);
    let first = |names: &[&str]| names.iter().find_map(|name| named(name));
    if let Some(own) = results.metric.as_deref().and_then(named).or(first(&["iteration_ms"])) {
        return vec![own];
    }
    // The tail of all flows would be that of whichever class is slowest.
    let tails = class_numbers().iter().filter(|one| one.name.ends_with("_slowdown_p99"));
    let classes: Vec<&Number> = tails.filter(some).collect();
    match classes.is_empty() {
        true => first(&["slowdown_p99", "goodput_gbps"]).into_iter().collect(),
        false => classes,
    }
}

/// Metrics that are drawn: what the study is about first.
fn metrics(results: &StudyResults) -> Vec<&'static Number> {
    let mut all = leading(results);
    for one in listed(|place| place.drawn) {
        if all.iter().all(|known| known.name != one.name) {
            all.push(one);
        }
    }
    all
}

/// What the numbers say first.
pub(super) fn headline(results: &StudyResults, facets: &Facets<'_>) -> Headline {
    let found = leading(results).into_iter().filter_map(|one| Finding::of(results, facets, one));
    Headline::together(found.map(|found| of_study(&found)))
}

/// The charts of a study: curves with intervals, slowdown by size, paired differences from the
/// baseline. Charts without data are left out.
pub fn study_figures(results: &StudyResults) -> Vec<Chart> {
    let facets = Facets::of(results);
    let metrics = metrics(results);
    let mut all = Vec::new();
    all.extend(metrics.first().and_then(|first| curves::metric(results, &facets, first)));
    all.extend(metrics.first().and_then(|first| curves::differences(results, &facets, first)));
    all.extend(sizes::by_size(results, &facets));
    all.extend(metrics.iter().skip(1).filter_map(|one| curves::metric(results, &facets, one)));
    all
}

/// Writes `study.html` atomically, and its figures as Plotly JSON into `figures/` beside it.
///
/// # Errors
/// An I/O error.
pub fn write_study_page(path: &Path, results: &StudyResults) -> Result<(), FolderError> {
    let figures = study_figures(results);
    write_charts(path, &figures)?;
    write_atomic(path, text(results, &figures).as_bytes())
}

fn text(results: &StudyResults, figures: &[Chart]) -> String {
    let mut out = page::head_with(&results.title, include_str!("study.css"));
    let facets = Facets::of(results);
    out += &headline(results, &facets).html();
    out += &failed(results);
    let warning = |text: &String| format!("<p class=\"warning\">{}</p>\n", escape(text));
    out += &warnings(results).iter().map(warning).collect::<String>();
    out += &summary(results);
    for figure in figures {
        out += &page::section(figure);
    }
    let tables = leading(results).into_iter();
    for table in tables.filter_map(|one| PaperTable::laid_out(results, &facets, one)) {
        out += &table.html();
    }
    out += &format!(
        "<h2>Configuration</h2>\n<details><summary>study.toml: the scenario with all defaults</summary>\
         <pre>{}</pre></details>\n<p class=\"caption\">Incast {}</p>\n<script>charts.then(()=>{{{}}});</script>\n",
        escape(&results.resolved),
        env!("CARGO_PKG_VERSION"),
        include_str!("study.js")
    );
    out + END
}

/// Distinct texts in order of first appearance.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

/// What the study varies and how much of it is there.
fn summary(results: &StudyResults) -> String {
    let seeds = distinct(results.rows.iter().map(|row| row.seed.to_string()));
    let (done, failed) = (results.done().count(), results.rows.len() - results.done().count());
    let mut lines = vec![("Compared".to_string(), results.series.join(", "))];
    for (at, key) in results.keys.iter().enumerate() {
        let values = distinct(results.rows.iter().map(|row| row.setting(at)));
        let name = match results.title_of(at) {
            title if title == key => key.clone(),
            title => format!("{title} ({key})"),
        };
        lines.push((name, shortened(&values)));
    }
    lines.push(("Seeds".into(), shortened(&seeds)));
    let mut runs = format!("{done} done");
    if failed > 0 {
        runs += &format!(", {failed} failed");
    }
    let left = results.points.saturating_sub(results.rows.len());
    if left > 0 {
        runs += &format!(", {left} not run yet");
    }
    lines.push(("Runs".into(), runs));
    let row = |(name, value): &(String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value))
    };
    format!("<dl class=\"summary\">\n{}</dl>\n", lines.iter().map(row).collect::<String>())
}

/// A list that fits a line.
fn shortened(values: &[String]) -> String {
    match values {
        [first, second, .., last] if values.len() > 12 => {
            format!("{first}, {second} … {last} ({} values)", values.len())
        }
        _ => values.join(", "),
    }
}

fn failed(results: &StudyResults) -> String {
    let wrong = results.rows.iter().filter_map(|row| Some((row, row.error.as_ref()?)));
    let item = |(row, error): (&super::StudyRow, &String)| {
        let keys =
            results.keys.iter().enumerate().map(|(at, key)| format!("{key}={} ", row.setting(at)));
        let name =
            format!("{}{} seed {}", keys.collect::<String>(), results.series[row.series], row.seed);
        format!("<li><b>{}</b>: {}</li>\n", escape(&name), escape(error))
    };
    let items: Vec<String> = wrong.map(item).collect();
    if items.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"warning\" open><summary>{} of {} points failed and are in no figure</summary>\
         <ul>\n{}</ul></details>\n",
        items.len(),
        results.rows.len(),
        items.concat()
    )
}

/// The warnings of all points, each with how many have it. Those that differ in their numbers alone are one, as the first has it.
pub(super) fn warnings(results: &StudyResults) -> Vec<String> {
    let kind = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let mut all: Vec<(String, &String, usize)> = Vec::new();
    for text in results.rows.iter().flat_map(|row| &row.warnings) {
        match all.iter_mut().find(|(known, ..)| *known == kind(text)) {
            Some((.., count)) => *count += 1,
            None => all.push((kind(text), text, 1)),
        }
    }
    let points = results.rows.len();
    all.iter().map(|(_, text, count)| format!("{count} of {points} points: {text}")).collect()
}
