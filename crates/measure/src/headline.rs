//! What the numbers say first, in a sentence or three: the first line of a report, of a study and of a table.

use crate::figures::{Line, largest, lines};
use crate::number::{escape, three};
use crate::statistics::percentile;
use crate::study::Finding;
use crate::{Comparison, PartMeans, Run, Summary, values_needed};
use std::collections::BTreeSet;

/// Sentences about some results, with marks around names of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline(Vec<String>);

/// What stands before and behind a name, which no text has: pages set names in bold.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

/// A name within a sentence.
fn bold(name: &str) -> String {
    let [before, behind] = MARKS;
    format!("{before}{}{behind}", name.replace(MARKS, ""))
}

/// What is shown of lines with few flows.
const LARGEST: &str = "largest slowdown";
/// Values that are as near to each other are the same for a reader.
const SAME: f64 = 1.05;

impl Headline {
    /// The sentences of several, one after the other.
    pub(crate) fn together(all: impl Iterator<Item = Headline>) -> Headline {
        Headline(all.flat_map(|one| one.0).collect())
    }

    /// As text; empty where there is nothing to say.
    pub fn text(&self) -> String {
        self.0.join(" ").replace(MARKS, "")
    }

    /// As a paragraph of a page.
    pub(crate) fn html(&self) -> String {
        let text = escape(&self.0.join(" "));
        match text.is_empty() {
            true => text,
            false => format!(
                "<p class=\"lead\">{}</p>\n",
                text.replace(MARKS[0], "<b>").replace(MARKS[1], "</b>")
            ),
        }
    }
}

/// What some runs say.
pub fn of_runs(runs: &[Run], summaries: &[Summary]) -> Headline {
    let table = Comparison::of(summaries);
    let iterations = iterations(&table);
    if !iterations.is_empty() {
        return Headline(iterations);
    }
    let lines = lines(runs);
    let (whole, open): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| line.open().0 == 0);
    let classes: BTreeSet<&str> = whole.iter().flat_map(|line| line.classes()).collect();
    let mut all = match classes.len() {
        0 | 1 => of_lines(&whole, lines.len(), None),
        // The tail of all flows would be that of whichever class is slowest.
        _ => classes.into_iter().flat_map(|class| of_class(&whole, lines.len(), class)).collect(),
    };
    if all.is_empty() {
        all = goodput(&table);
    }
    if !all.is_empty() {
        all.extend(open.iter().filter(|line| !line.slowdowns().is_empty()).map(|line| {
            let (open, flows) = line.open();
            format!(
                "{} is left out: {open} of its {flows} flows did not complete.",
                bold(&line.name)
            )
        }));
    }
    Headline(all)
}

/// What lines of so many say of their flows of one class.
fn of_class(lines: &[&Line<'_>], of: usize, class: &'static str) -> Vec<String> {
    let own: Vec<Line> = lines.iter().map(|line| line.of_class(class)).collect();
    of_lines(&own.iter().collect::<Vec<&Line>>(), of, Some(class))
}

/// What lines of so many say, of the flows of a class if one is named.
fn of_lines(lines: &[&Line<'_>], of: usize, class: Option<&str>) -> Vec<String> {
    let slow = slowdowns(lines);
    let of_class = class.map_or(String::new(), |class| format!(" of class {class}"));
    let mut said = match slow.as_slice() {
        [] => return vec![],
        [one] if of == 1 => return alone(one, &of_class),
        [one] => return alone(one, &format!("{of_class} of {}", bold(&one.line.name))),
        several => ranked(several),
    };
    if let (Some(class), Some(first)) = (class, said.first_mut()) {
        let mut letters = first.chars();
        // A name stays as it is.
        let begin =
            letters.next().map_or(String::new(), |letter| letter.to_lowercase().to_string());
        *first = format!("Of flows of class {class}, {begin}{}", letters.as_str());
    }
    said.extend(means(&slow));
    said
}

/// That the line with the shortest tail is not the one with the shortest mean completion time, if it is not.
fn means(slow: &[Slow<'_>]) -> Option<String> {
    let mean = |slow: &Slow<'_>| slow.line.fct_mean_ns();
    let of_first = mean(slow.first()?)?;
    let known = slow.iter().filter_map(|one| Some((one, mean(one)?)));
    let (shortest, least) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (of_first > SAME * least).then(|| {
        let (name, more) = (bold(&shortest.line.name), 100.0 * (of_first / least - 1.0));
        format!(
            "By mean completion time {name} is best, {} \u{b5}s; that of {} is {more:.0} % longer.",
            three(least / 1e3),
            bold(&slow[0].line.name)
        )
    })
}

/// The tail of a line.
struct Slow<'a> {
    line: &'a Line<'a>,
    sorted: Vec<f64>,
    /// The slowdown with which its tail begins.
    from: f64,
    /// What that is, in words.
    what: &'static str,
}

/// The tails of lines, from the farthest percentile that all of them have flows enough for; the lowest first.
fn slowdowns<'a>(lines: &[&'a Line<'a>]) -> Vec<Slow<'a>> {
    let all = lines.iter().map(|line| (*line, line.slowdowns()));
    let all: Vec<(&Line, Vec<f64>)> = all.filter(|(_, sorted)| !sorted.is_empty()).collect();
    let fewest = all.iter().map(|(_, sorted)| sorted.len() as u64).min().unwrap_or(0);
    let chosen = [(990, "p99 slowdown"), (950, "p95 slowdown")];
    let chosen = chosen.into_iter().find(|(thousandths, _)| fewest >= values_needed(*thousandths));
    let (thousandths, what) = chosen.unwrap_or((1000, LARGEST));
    let slow = |(line, sorted): (&'a Line<'a>, Vec<f64>)| {
        let from = percentile(&sorted, thousandths).expect("it has flows");
        Slow { line, sorted, from, what }
    };
    let mut all: Vec<Slow> = all.into_iter().map(slow).collect();
    all.sort_by(|a, b| a.from.total_cmp(&b.from));
    all
}

/// What flows in a tail spend most of their time with, beside what each flow has: its name and share.
fn cause(slow: &Slow<'_>) -> Option<(&'static str, f64)> {
    largest(&PartMeans::of(slow.line.slowest(slow.from))?.named().map(|(_, value)| value))
}

fn ranked(all: &[Slow<'_>]) -> Vec<String> {
    let [best, .., worst] = all else { return vec![] };
    let (low, high, what) = (three(best.from), three(worst.from), best.what);
    let (first, last) = (bold(&best.line.name), bold(&worst.line.name));
    if worst.from <= SAME * best.from {
        return vec![format!("All have nearly the same {what}: {low} to {high}.")];
    }
    let mut said = vec![match (what, all.len()) {
        (LARGEST, 2) => format!(
            "The slowest flow of {first} takes {low} times as long as alone, that of {last} {high} times."
        ),
        (LARGEST, _) => format!(
            "The slowest flow of {first} takes {low} times as long as alone, the least; that of {last} \
             {high} times, the most."
        ),
        (_, 2) => format!("{first} has the lower {what}, {low}; {last} has {high}."),
        _ => format!("{first} has the lowest {what}, {low}; {last} the highest, {high}."),
    }];
    let part = |(name, share): (&str, f64)| format!("{name}, {:.0} %", 100.0 * share);
    said.extend(match (cause(worst).map(part), cause(best).map(part)) {
        (Some(of), Some(other)) => {
            Some(format!("The tail of {last} is {of}; that of {first} {other}."))
        }
        (Some(of), None) => Some(format!("The tail of {last} is {of}.")),
        _ => None,
    });
    said
}

/// Of one line; `of_line` says which, where there are others.
fn alone(slow: &Slow<'_>, of_line: &str) -> Vec<String> {
    let median = percentile(&slow.sorted, 500).expect("it has flows");
    let (tail, more, of) = match slow.what {
        "p99 slowdown" => ("1 in 100", "more than ", "the time of these"),
        "p95 slowdown" => ("1 in 20", "more than ", "the time of these"),
        _ => ("the slowest", "", "its time"),
    };
    let (median, from) = (three(median), three(slow.from));
    let cause = cause(slow).map_or(String::new(), |(name, share)| {
        format!("; {:.0} % of {of} is {name}", 100.0 * share)
    });
    vec![format!(
        "Half of the flows{of_line} take at most {median} times as long as alone, {tail} {more}{from} times{cause}."
    )]
}

/// The labels with the least and the most of a number.
fn ends(table: &Comparison, name: &str) -> Option<[(String, f64); 2]> {
    let values = table.values_of(name)?;
    let mut all: Vec<(&str, f64)> = values.collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some([all.first()?, all.last()?].map(|(label, value)| (bold(label), *value)))
}

fn iterations(table: &Comparison) -> Vec<String> {
    let Some([low, high]) = ends(table, "iteration_ms") else { return vec![] };
    let exposed = ends(table, "exposed_ms").unwrap_or_default();
    let of = |label: &String| {
        let found = exposed.iter().find(|(own, _)| own == label);
        found.map_or(String::new(), |(_, ms)| {
            format!(", {} ms of it exposed communication", three(*ms))
        })
    };
    let time = |(label, ms): &(String, f64)| format!("{} ms{}", three(*ms), of(label));
    match table.labels.len() {
        1 => vec![format!("An iteration takes {}.", time(&low))],
        _ => vec![format!(
            "An iteration takes least under {}, {}; most under {}, {}.",
            low.0,
            time(&low),
            high.0,
            time(&high)
        )],
    }
}

fn goodput(table: &Comparison) -> Vec<String> {
    let Some([low, high]) = ends(table, "goodput_gbps") else { return vec![] };
    let rate = |value: f64| format!("{} Gb/s", three(value));
    match table.labels.len() {
        1 => vec![format!("Goodput is {}.", rate(low.1))],
        _ if high.1 <= SAME * low.1 => {
            vec![format!("All have nearly the same goodput, {} to {}.", three(low.1), rate(high.1))]
        }
        _ => vec![format!(
            "{} has the most goodput, {}; {} the least, {}.",
            high.0,
            rate(high.1),
            low.0,
            rate(low.1)
        )],
    }
}

/// What a study says.
pub(crate) fn of_study(found: &Finding) -> Headline {
    let Finding { place, what, unit, ranked, unfinished, wins, seeds, told, class, cause } = found;
    let value = |value: f64| match unit.is_empty() {
        true => three(value),
        false => format!("{} {unit}", three(value)),
    };
    let [(best, low), .., (worst, high)] = ranked.as_slice() else { return Headline::default() };
    let marked = |name: &String| match unfinished.get(name) {
        None => bold(name),
        Some(share) => {
            let percent = (1000.0 * share).floor() / 10.0;
            format!("{} (of the {percent} % of its flows that completed)", bold(name))
        }
    };
    let (first, last) = (marked(best), marked(worst));
    let (best, worst, second) = (bold(best), bold(worst), bold(&ranked[1].0));
    let (least, most) = if low <= high { ("lowest", "highest") } else { ("highest", "lowest") };
    let (low, high) = (value(*low), value(*high));
    let mut said = vec![match place.is_empty() {
        true => format!("{first} has the {least} {what}, {low}; {last} the {most}, {high}."),
        false => {
            format!("{place}, {first} has the {least} {what}, {low}; {last} the {most}, {high}.")
        }
    }];
    if !told {
        said.push(match seeds {
            0 | 1 => format!("One seed cannot tell whether {best} and {second} differ."),
            _ => format!("{seeds} seeds do not tell {best} and {second} apart."),
        });
    }
    if let Some((name, count, of)) = wins {
        let name = bold(name);
        said.push(format!("{name} is {least} at {count} of {of} points."));
    }
    if let Some((part, share)) = cause {
        let of = if class.is_empty() { class.to_string() } else { format!(" for class {class}") };
        said.push(format!(
            "Of the mean completion time of {worst}{of}, {:.0} % is {part}.",
            100.0 * share
        ));
    }
    Headline(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn finding() -> Finding {
        Finding {
            place: "At load 0.8".into(),
            what: "99th percentile of the slowdown".into(),
            unit: "",
            ranked: vec![("one".into(), 4.104), ("two".into(), 5.0), ("three".into(), 31.26)],
            unfinished: BTreeMap::new(),
            wins: Some(("one".into(), 3, 4)),
            seeds: 5,
            told: true,
            class: "",
            cause: Some(("recovery from loss", 0.462)),
        }
    }

    #[test]
    fn a_study_says_who_is_best_where_and_why_the_worst_is_not() {
        let said = of_study(&finding()).text();
        assert_eq!(
            said,
            "At load 0.8, one has the lowest 99th percentile of the slowdown, 4.10; three the highest, 31.3. one is \
             lowest at 3 of 4 points. Of the mean completion time of three, 46 % is recovery from loss."
        );
        let open = [("one".to_string(), 0.9996), ("two".to_string(), 0.5)].into();
        let said = of_study(&Finding { unfinished: open, ..finding() }).text();
        let first = "At load 0.8, one (of the 99.9 % of its flows that completed) has the lowest 99th percentile of \
                     the slowdown, 4.10; three the highest, 31.3. one is lowest at 3 of 4 points.";
        assert!(said.starts_with(first), "{said}");
        let near = Finding { told: false, wins: None, cause: None, ..finding() };
        assert_eq!(
            of_study(&near).0[1].replace(MARKS, ""),
            "5 seeds do not tell one and two apart."
        );
        let rates = vec![("a".into(), 40.0), ("b".into(), 30.0)];
        let goodput = Finding {
            place: String::new(),
            what: "goodput".into(),
            unit: "Gb/s",
            ranked: rates,
            ..near
        };
        assert_eq!(
            of_study(&goodput).text(),
            "a has the highest goodput, 40 Gb/s; b the lowest, 30 Gb/s. 5 seeds do not tell a and b apart."
        );
        assert_eq!(
            of_study(&Finding { ranked: vec![("a".into(), 1.0)], ..finding() }),
            Headline::default()
        );
    }

    #[test]
    fn the_largest_part_is_none_that_every_flow_has() {
        let mut parts = [0.0; 14];
        (parts[0], parts[7], parts[11]) = (50.0, 30.0, 20.0);
        assert_eq!(largest(&parts), Some(("recovery from loss", 0.3)));
        parts[0] = 5_000.0;
        assert_eq!(largest(&parts), None);
        assert_eq!(largest(&[0.0; 14]), None);
    }
}
