//! `report.html`: one self-contained page that needs neither files nor network.

mod collectives;
mod programs;
mod servers;
mod sizes;
mod table;
mod tiers;

use crate::chart::{Chart, write_charts};
use crate::figures::figures;
use crate::folder::{FolderError, write_atomic};
use crate::number::{escape, significant};
use crate::page::{self, END};
use crate::warning::Warning;
use crate::warnings::grouped;
use crate::{Comparison, Run, Summary, headline, summarise};
use std::path::Path;
use table::wide;

/// Writes the report of some runs atomically, and its figures as JSON into `figures/`. Runs of one label are repetitions.
pub fn report_html(path: &Path, title: &str, runs: &[Run]) -> Result<(), FolderError> {
    report_html_of(path, path.parent().unwrap_or(Path::new(".")), title, runs)
}

/// The same for results that will be in the folder `place`.
pub fn report_html_of(
    path: &Path,
    place: &Path,
    title: &str,
    runs: &[Run],
) -> Result<(), FolderError> {
    let figures = figures(runs);
    write_charts(path, &figures)?;
    write_atomic(path, page(title, runs, &figures, Some(place)).as_bytes())
}

/// The report of some runs as text (about 4.7 MB, most of it the charts' library).
pub fn report_text(title: &str, runs: &[Run]) -> String {
    page(title, runs, &figures(runs), None)
}

fn page(title: &str, runs: &[Run], figures: &[Chart], place: Option<&Path>) -> String {
    let summaries: Vec<Summary> = runs.iter().map(summarise).collect();
    let mut out = page::head(title);
    out += &headline::of_runs(runs, &summaries).html();
    out += &warnings(runs);
    out += &comparison(&summaries);
    out += &next(place, runs);
    out += &balance(&summaries);
    out += &collectives::table(&summaries);
    out += &programs::table(&summaries);
    out += &servers::table(&summaries);
    for figure in figures {
        out += &page::section(figure);
        if figure.name == "slowdown_by_size" {
            out += &sizes::table(runs);
        }
    }
    out += &fairness(&summaries);
    out += &tiers::table(&summaries);
    out += &real_time(runs);
    out += &manifests(runs);
    out + END
}

fn warnings(runs: &[Run]) -> String {
    let one = |(labels, warning): (String, Warning)| {
        let (labels, text) = (escape(&labels), escape(&warning.to_string()));
        format!("{labels}: {text}.</p>\n")
    };
    let (notes, warnings): (Vec<_>, Vec<_>) =
        grouped(runs, Run::warnings).into_iter().partition(|(_, warning)| warning.is_note());
    let list = |class: &str, all: Vec<(String, Warning)>| -> String {
        all.into_iter().map(|all| format!("<p class=\"{class}\">{}", one(all))).collect()
    };
    list("warning", warnings) + &list("caption", notes)
}

/// What a reader may do next with the results in `place`.
fn next(place: Option<&Path>, runs: &[Run]) -> String {
    let Some(place) = place else { return String::new() };
    let folder = escape(&shell_word(&place.display().to_string()));
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let transport = match labels.as_slice() {
        [first, rest @ ..] if rest.iter().any(|label| label != first) => {
            format!(" --transport {}", escape(&shell_word(first)))
        }
        _ => String::new(),
    };
    format!(
        "<p class=\"caption next\">Look closer: <code>incast explore {folder}</code> opens these results \
         in a browser, with the fabric over time; <code>incast explain {folder}{transport} --slowest \
         1</code> says why the slowest flow was slow.</p>\n"
    )
}

/// A word as a shell reads it.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// When arrivals and departures balance in each run.
fn balance(summaries: &[Summary]) -> String {
    let of = |summary: &Summary| {
        let balance = summary.balance.filter(|balance| balance.reached)?;
        Some(format!(
            "{} from {} to {} ms, {} arrivals and {} departures",
            escape(&summary.label),
            significant(balance.from_ns / 1e6),
            significant(balance.to_ns / 1e6),
            balance.arrivals,
            balance.departures
        ))
    };
    let list: Vec<String> = summaries.iter().filter_map(of).collect();
    if list.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"fold\"><summary>When arrivals and departures balance</summary><p>{}. Outside of the \
         window the number of open flows has no steady level.</p></details>\n",
        list.join("; ")
    )
}

fn comparison(summaries: &[Summary]) -> String {
    let table = Comparison::of(summaries).with_classes(summaries);
    let mut notes = String::from(
        "FCT: flow completion time, from the start of a flow to the arrival of its last byte. \
         Slowdown: FCT over the FCT of the same flow alone on an empty network. Short flows: \
         under 100 KB. Percentiles are by nearest rank; one with fewer than ten flows above it is not shown: p99 \
         needs 1,000 flows, p99.9 needs 10,000.",
    );
    if table.repetitions.iter().any(|count| *count > 1) {
        notes += " Values are means over repetitions ± the 95 % confidence interval (Student's t).";
    }
    let heading = if table.labels.len() > 1 {
        notes += " Bold: the best value of the row, significant or not.";
        "Comparison"
    } else {
        "Summary"
    };
    let (few, all) = (table.deciding(), table.lines());
    let rest = match all.len() - few.len() {
        0 => String::new(),
        more => format!(
            "<details class=\"fold\"><summary>{more} more numbers</summary>{}{}</details>\n",
            wide(&table.html(&all)),
            tiers::folded("rows are", &table.zeros())
        ),
    };
    format!(
        "<h2>{heading}</h2>\n{}{rest}<p class=\"caption\">{notes}</p>\n",
        wide(&table.html(&few))
    )
}

/// Share of each transport, for runs with several.
fn fairness(summaries: &[Summary]) -> String {
    let mut rows = String::new();
    let number = |value: Option<f64>| value.map_or("–".to_string(), significant);
    for summary in summaries {
        let Some(fairness) = summary.fairness.as_ref().filter(|all| all.shares.len() > 1) else {
            continue;
        };
        for share in &fairness.shares {
            let cells = [
                share.flows.to_string(),
                number(share.share.map(|share| 100.0 * share)),
                number(share.recorded_flow_mean_gbps),
                number(fairness.jain_mean),
                number(fairness.jain_min),
                number(fairness.convergence_ns.map(|time| time / 1e6)),
            ];
            rows += &format!(
                "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>",
                escape(&summary.label),
                escape(&share.transport)
            );
            cells.iter().for_each(|cell| rows += &format!("<td>{cell}</td>"));
            rows += "</tr>\n";
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let names = [
        "flows",
        "share, %",
        "recorded flow, mean Gb/s",
        "Jain, mean",
        "Jain, min",
        "convergence, ms",
    ];
    let heads: String = names.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    format!(
        "<h2>Fairness</h2>\n<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>run</th><th \
         class=\"text\">transport</th>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"caption\">Share: fraction of the payload delivered by all flows. Jain's index: over \
         the recorded flows of all transports, in windows of a fiftieth of the run. Convergence: \
         time from the start of the last of them to the end of the first window from which on each \
         rate is within 20 % of their mean.</p>\n"
    )
}

/// How faithful runs in real time were.
fn real_time(runs: &[Run]) -> String {
    let mut rows = String::new();
    for run in runs {
        for (name, value) in run.fidelity.as_ref().map_or(vec![], |fidelity| fidelity.rows()) {
            rows += &format!(
                "<tr><th scope=\"row\">{}</th><td class=\"text\">{name}</td><td \
                 class=\"text\">{}</td></tr>\n",
                escape(&run.label),
                escape(&value)
            );
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h2>Real time</h2>\n<div class=\"wide\" tabindex=\"0\"><table><tbody>\n{rows}</tbody></table></div>\n<p \
         class=\"caption\">Lateness: how long after it was due a packet was handled, by the run's \
         clock. Stalled: gaps of more than 5 µs between two readings of the clock.</p>\n"
    )
}

fn manifests(runs: &[Run]) -> String {
    let mut out = String::from("<h2>Configuration</h2>\n");
    for run in runs {
        let sorted = serde_json::to_value(&run.manifest).expect("plain data becomes JSON");
        let text = serde_json::to_string_pretty(&sorted).expect("JSON becomes text");
        let timed = |seconds: &f64| *seconds > 0.0 && run.flow_level.is_none();
        let speed = run.wall_seconds.filter(timed).map(|seconds| {
            let rate = run.record.packet_hops as f64 / seconds / 1e6;
            let (hops, rate) = (significant(seconds), significant(rate));
            format!(", {hops} s of wall-clock time, {rate} million packet-hops per second")
        });
        let world = match run.world.as_str() {
            "" => String::new(),
            world => format!(" in {}", escape(world)),
        };
        out += &format!(
            "<details{}><summary>{}: {} simulated{world}{}</summary><pre>{}</pre></details>\n",
            if runs.len() == 1 { " open" } else { "" },
            escape(&run.label),
            run.record.ended,
            speed.unwrap_or_default(),
            escape(&text)
        );
    }
    out + &format!("<p class=\"caption\">Incast {}</p>\n", env!("CARGO_PKG_VERSION"))
}
