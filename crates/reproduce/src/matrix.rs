//! The headlines of a paper as they were run, in one look: a matrix of claims and sets in colours, what moves
//! them, and a picture of the first against the number of flows.

use super::as_run::says_more;
use super::band::{Printed, Unit};
use super::claim::Claim;
use super::expected::Experiment;
use super::finite::{InFinite, Order, Size};
use super::sets::title;
use super::{Page, Verdict, sets};
use incast_measure::chart::{Axis, Chart, Line, Point, Scale};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What the colours mean.
pub const LEGEND: &str = "🟩 order and size; 🟨 order at every N, size other or undecided; 🟧 order at some N only; 🟥 never; \
    ⬜ cannot be judged. The number: our improvement as a multiple of the paper's, at the longest N with its order";

/// The claims that stand for a paper: its headlines and printed ratios that have been run so, or else all
/// that have.
pub fn headlines<'a>(verdicts: &[&'a Verdict]) -> Vec<&'a Verdict> {
    let run = || verdicts.iter().copied().filter(|one| !one.as_run.is_empty());
    let printed: Vec<&Verdict> = run().filter(|one| !one.paper.is_empty()).collect();
    if printed.is_empty() { run().filter(|one| !one.quote.is_empty()).collect() } else { printed }
}

/// The matrix as a table; nothing of no claims.
pub fn table(claims: &[&Verdict]) -> String {
    let mut sets: Vec<&str> = claims.iter().flat_map(|one| &one.as_run).map(set).collect();
    sets.sort_by_key(|name| sets::place(name));
    sets.dedup();
    if sets.is_empty() {
        return String::new();
    }
    let heads: String = sets.iter().map(|name| format!(" {} |", title(name))).collect();
    let mut text = format!("| claim | paper |{heads}\n|---|---|{}\n", "---|".repeat(sets.len()));
    for claim in claims {
        let of = |name: &&str| claim.as_run.iter().find(|one| one.set == **name);
        let cells: String = sets.iter().map(|name| format!(" {} |", cell(of(name)))).collect();
        let _ = writeln!(text, "| {} | {} |{cells}", claim.claim, claim.paper);
    }
    text + "\n"
}

fn set(one: &InFinite) -> &str {
    &one.set
}

/// A colour, our share of the paper's improvement, and the rest on hover.
fn cell(one: Option<&InFinite>) -> String {
    let Some(one) = one else { return String::new() };
    let size = one.size();
    let colour = match (one.order, size.map(|(size, _)| size)) {
        (Order::Every, None | Some(Size::Within)) => "🟩",
        (Order::Every, Some(_)) => "🟨",
        (Order::Short | Order::Long | Order::Some, _) => "🟧",
        (Order::Never, _) => "🟥",
        (Order::Undecided, _) => "⬜",
    };
    let share = size.and_then(|(_, at)| at.share).map(|share| format!(" {share:.2}"));
    let mut said = one.order_text();
    if size.is_some() {
        let _ = write!(said, "; size {}", one.size_text());
    }
    let _ = write!(said, ". {}", one.listed(|_| String::new()));
    format!("<abbr title=\"{said}\">{colour}</abbr>{}", share.unwrap_or_default())
}

/// What moves a claim's lead most: each set against the repaired one, in points at the longest length that
/// all have, the largest first; nothing without another set.
pub fn moves(verdict: &Verdict, claim: &Claim) -> String {
    let value = |one: &InFinite, flows: u64| {
        one.lengths.iter().find(|at| at.flows == flows).map(|at| 100.0 * at.value)
    };
    let others = || verdict.as_run.iter().filter(|one| one.set != sets::PUBLISHED);
    let Some(base) = verdict.as_run.iter().find(|one| one.set == sets::PUBLISHED) else {
        return String::new();
    };
    let lengths = base.lengths.iter().rev().map(|at| at.flows);
    let whole = |flows: &u64| others().all(|one| value(one, *flows).is_some());
    let Some(flows) = lengths.into_iter().find(whole) else { return String::new() };
    let sign = if says_more(claim) { 1.0 } else { -1.0 };
    let shift = |one: &InFinite| Some(sign * (value(one, flows)? - value(base, flows)?));
    let mut all: Vec<(f64, String)> =
        others().filter_map(|one| Some((shift(one)?, title(&one.set)))).collect();
    all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let all: Vec<String> =
        all.iter().map(|(points, name)| format!("{name} {points:+.0}")).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            "What moves \"{}\", each against *repaired*, in points (+: more of a lead), N = {flows}: {}.\n\n",
            verdict.claim,
            all.join(", ")
        ),
    }
}

/// One number over the other against the number of flows: a line per set, and what the paper prints.
pub fn picture(verdict: &Verdict, claim: &Claim) -> Chart {
    let unit = match Unit::named(&claim.unit) {
        Unit::Ratio => Unit::PercentLower,
        unit => unit,
    };
    let lengths = verdict.as_run.iter().flat_map(|one| &one.lengths).map(|one| one.flows);
    let lengths: BTreeSet<u64> = lengths.collect();
    let line = |one: &InFinite| {
        let points = one.lengths.iter().map(|at| {
            let width = at.half_width.map(|width| 100.0 * width);
            Point::at(at.flows as f64, unit.of(at.value)).within(width)
        });
        Line { name: title(&one.set), points: points.collect(), ..Line::default() }
    };
    let mut lines: Vec<Line> = verdict.as_run.iter().map(line).collect();
    if let Some(Printed::One(number)) = claim.paper {
        let printed = lengths.iter().map(|flows| (*flows as f64, number)).collect();
        lines.push(Line { name: "the paper".into(), printed, ..Line::default() });
    }
    lines.iter_mut().enumerate().for_each(|(look, line)| line.look = look);
    let ticks = lengths.iter().map(|flows| (*flows as f64, flows.to_string()));
    Chart {
        title: verdict.claim.clone(),
        x: Axis::titled("flows of a run from empty").scaled(Scale::Log).ticks(ticks.collect()),
        y: Axis::titled(&claim.unit),
        lines,
        ..Chart::default()
    }
}

/// The claim whose ratio the sets move farthest, a headline if there is one.
fn most_moved<'a>(claims: &[&'a Verdict]) -> Option<&'a Verdict> {
    let range = |one: &Verdict| {
        let values = || one.as_run.iter().flat_map(|own| &own.lengths).map(|at| at.value);
        values().fold(0.0, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    let by = |a: &&&Verdict, b: &&&Verdict| {
        (a.headline, range(a)).partial_cmp(&(b.headline, range(b))).expect("numbers")
    };
    claims.iter().max_by(by).copied()
}

/// The headlines of a paper as they were run: the matrix, what moves the first of them, and its picture.
pub fn section<'a>(
    paper: &str,
    mut experiments: impl Iterator<Item = &'a Experiment>,
    verdicts: &[&Verdict],
) -> (String, Option<Page>) {
    let claims = headlines(verdicts);
    let Some(first) = most_moved(&claims) else {
        return ("No headline has been run so.\n\n".into(), None);
    };
    let mut text = table(&claims);
    let own = experiments.find(|one| one.name == first.experiment);
    let mut claims = own.into_iter().flat_map(|one| &one.expected.claims);
    let picture = claims.find(|claim| claim.text == first.claim).map(|claim| {
        let name = format!("{paper}-as-run.svg");
        text += &moves(first, claim);
        let _ = writeln!(text, "![{}]({name})\n", first.claim);
        Page { name, text: picture(first, claim).svg() }
    });
    let _ = writeln!(
        text,
        "All claims: [as run](../../experiments/{paper}/as_run.tsv), [in long runs](../../experiments/{paper}/verdicts.tsv). \
         Again: `incast reproduce {} --assuming as_run/1000`.\n",
        first.experiment
    );
    (text, picture)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Length;

    fn length(flows: u64, value: f64, share: f64) -> Length {
        Length {
            flows,
            value,
            half_width: Some(0.01),
            measured: format!("{value}"),
            holds: Some(value < 1.0),
            size: Some(Size::Smaller),
            share: Some(share),
            unbalanced: vec![],
        }
    }

    fn claim() -> Claim {
        let text = "text = 't'\nmeasure.kind = 'fct_mean_us'\ntransport = 'a'\nover = 'b'\npaper = 40\n\
                    unit = '% lower'\n";
        toml::from_str(text).unwrap()
    }

    fn verdict() -> Verdict {
        let of = |set: &str, order, lengths| InFinite { set: set.into(), order, lengths };
        let both = |a, b| vec![length(1000, a, 0.25), length(3000, b, 0.2)];
        Verdict {
            experiment: "ren/fig16".into(),
            claim: "mean".into(),
            quote: "q".into(),
            paper: "40 % lower".into(),
            accepted: String::new(),
            sets: vec![],
            sentence: String::new(),
            deviation: String::new(),
            headline: true,
            as_run: vec![
                of("same_routing/spray", Order::Never, both(1.1, 1.1)),
                of("as_published", Order::Every, both(0.9, 0.92)),
                of("as_written", Order::Undecided, vec![length(1000, 0.91, 0.2)]),
            ],
            equation: false,
        }
    }

    #[test]
    fn a_matrix_says_order_and_size_in_colours() {
        let own = verdict();
        let text = table(&headlines(&[&own]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "| claim | paper | as written | repaired | all sprayed |");
        for part in ["🟨</abbr> 0.20", "🟥</abbr>", "⬜</abbr>", "smaller (0.20 of it at N = 3000)"]
        {
            assert!(lines[2].contains(part), "{part}: {}", lines[2]);
        }
        assert_eq!(table(&[]), "");
        let other = Verdict { headline: false, ..verdict() };
        assert!(most_moved(&[&other, &own]).is_some_and(|one| one.headline));
        // The longest length that all have; a larger ratio is less of a lead.
        let said = moves(&own, &claim());
        let end = "points (+: more of a lead), N = 1000: all sprayed -20, as written -1.\n\n";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn a_picture_has_a_line_per_set_and_the_papers_marks() {
        let drawn = picture(&verdict(), &claim());
        let paper = drawn.lines.last().unwrap();
        assert_eq!(
            (drawn.lines.len(), &paper.printed[..]),
            (4, &[(1000.0, 40.0), (3000.0, 40.0)][..])
        );
        assert!((drawn.lines[1].points[0].y - 10.0).abs() < 1e-9);
    }
}
