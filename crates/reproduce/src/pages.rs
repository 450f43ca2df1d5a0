//! The replication pages: every claim of a paper beside what kept tables say.

use super::expected::Experiment;
use super::judged::Results;
use super::kept::Store;
use super::pictures::{Styles, picture, short_numbers};
use super::real_time::{Faithful, faithful};
use super::runs::{in_finite, in_worlds};
use super::sets::{COMPARED, PUBLISHED, SENSITIVITY, Set, verb};
use super::{InSet, Options, Verdict, Word, curves, verdicts};
use super::{answer, changes, matrix};
use crate::page::Page;
use incast_experiment::Fault;
use incast_measure::chart::{Chart, looks};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Papers in order: folder, name, title.
const PAPERS: [(&str, &str, &str); 5] = [
    (
        "ren",
        "REN",
        "Receiver-driven Congestion Control using Explicit Notification for Data Center",
    ),
    ("amrt", "AMRT", "Anti-ECN Marking to Improve Utilization of Receiver-driven Transmission"),
    (
        "decn",
        "DECN",
        "Achieving Fast Convergence and High Efficiency using Differential Explicit Feedback",
    ),
    ("ccrp", "CCRP", "Converging Credit-Based and Reactive Protocols in Datacenters"),
    ("fasttune", "FastTune", "Timely and Precise Congestion Control in Data Center Network"),
];

/// How the pages are made again.
const COMMAND: &str = "incast reproduce --all --from-kept --pages DIR";

/// An experiment with what its tables say.
struct Judged {
    experiment: Experiment,
    results: Vec<(Set, Results)>,
    verdicts: Vec<Verdict>,
    /// Pictures of equations.
    curves: Vec<Chart>,
}

/// All pages, from tables.
///
/// # Errors
/// An experiment or a table that cannot be read.
pub fn pages(store: &Store) -> Result<Vec<Page>, Fault> {
    let all: Vec<Judged> = Experiment::all()?
        .into_iter()
        .map(|experiment| judged(experiment, store))
        .collect::<Result<_, Fault>>()?;
    let verdicts = all.iter().map(|one| (&one.experiment, one.verdicts.as_slice()));
    let mut pages = vec![];
    let summary = summary(&all, &mut pages)?;
    pages.push(Page { name: "README.md".into(), text: summary });
    pages.push(Page { name: "changes.md".into(), text: changes::page(verdicts)? });
    for (paper, name, title) in PAPERS {
        let begins = format!("{paper}/");
        let mut of: Vec<&Judged> =
            all.iter().filter(|one| one.experiment.name.starts_with(&begins)).collect();
        of.sort_by_key(|one| order(&one.experiment.name));
        let mut text = format!(
            "# {name}\n\n*{title}*. [All papers](README.md). Made from kept tables by\n\n    {COMMAND}\n\n\
             In pictures points are ours, with 95 % intervals (cut at 0); a hollow one, or a dashed line, is of a \
             run that never reaches balance, so that it depends on the run's length. An open square is where the paper's \
             printed ratio puts a transport, given our value of the other.\n\n"
        );
        let verdicts: Vec<&Verdict> = of.iter().flat_map(|one| &one.verdicts).collect();
        text += &answer::section(paper, &verdicts)?;
        let styles = styles(paper, &of);
        for one in of {
            text += &figure(one, &styles, &mut pages);
        }
        text += &answer::left_out(paper)?;
        pages.push(Page { name: format!("{paper}.md"), text: text.trim_end().to_string() + "\n" });
    }
    Ok(pages)
}

/// Looks of the transports of a paper's figures, as in every report. Where two would have one colour, that of the paper and those of
/// most figures keep it.
fn styles<'a>(paper: &str, of: &[&'a Judged]) -> Styles<'a> {
    let mut figures: BTreeMap<&str, usize> = BTreeMap::new();
    for one in of {
        let results = one.results.iter().map(|(_, results)| results);
        let own: BTreeSet<&str> = results.flat_map(Results::all_transports).collect();
        own.into_iter().for_each(|name| *figures.entry(name).or_default() += 1);
    }
    let mut all: Vec<(&str, usize)> = figures.into_iter().collect();
    all.sort_by_key(|(name, figures)| (*name != paper, Reverse(*figures), *name));
    let names = || all.iter().map(|(name, _)| *name);
    names().zip(looks(names())).collect()
}

/// Figures in order of their number, then what has none.
fn order(name: &str) -> (u32, String) {
    let number = name.rsplit_once("fig").and_then(|(_, number)| number.parse().ok());
    (number.unwrap_or(u32::MAX), name.to_string())
}

fn judged(experiment: Experiment, store: &Store) -> Result<Judged, Fault> {
    let expected = &experiment.expected;
    let options = Options { threads: 1, ..Options::default() };
    let values = match &expected.model {
        Some(model) => Some(curves(&experiment.name, &expected.title, model, &options, None)?),
        None => None,
    };
    let drawn = expected.model.as_ref().zip(values.as_ref());
    let curves = drawn.map_or(vec![], |(model, values)| model.pictures(values));
    let mut results = vec![];
    for set in experiment.sets() {
        results.push((set.clone(), tables(&experiment, &set, store)?));
    }
    let finite = in_finite(&experiment, |set| of_world(&experiment, set, store))?;
    let verdicts = verdicts(&experiment, values.as_ref(), &results, &finite);
    Ok(Judged { results, verdicts, curves, experiment })
}

/// What the kept tables of a set say, in the worlds of the experiment.
fn tables(experiment: &Experiment, set: &Set, store: &Store) -> Result<Results, Fault> {
    in_worlds(experiment, set, |set| of_world(experiment, set, store))
}

fn of_world(experiment: &Experiment, set: &Set, store: &Store) -> Result<Results, Fault> {
    let seeds = experiment.expected.seeds.len().max(1);
    let mut results = Results::new(experiment.default_run(), seeds, false);
    results.fewer = experiment.fewer_seeds();
    let runs = experiment.runs_in(set);
    for (address, table) in store.tables(&experiment.name)?.iter() {
        if address.set == set.name && runs.contains(&address.run) {
            results.add_table(&address.run, &address.transport, address.seed, table);
        }
    }
    Ok(results)
}

/// How many claims have which word in a set, and in how many no set matches.
fn counts(verdicts: &[&Verdict], set: &str) -> BTreeMap<Word, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        // A figure without `as_compared` is the same run in both.
        let own = verdict.sets.iter().find(|one| one.set == set);
        let asks = |one: &InSet| one.set == COMPARED || one.set.starts_with(SENSITIVITY);
        let only = verdict.sets.first().filter(|_| !verdict.sets.iter().any(asks));
        if let Some(one) = own.or(only) {
            *counts.entry(one.verdict).or_default() += 1;
        }
    }
    counts
}

/// Does it hold? Per paper its headlines as they were run, a picture of the first, and, folded away, what
/// long runs say.
fn summary(all: &[Judged], pages: &mut Vec<Page>) -> Result<String, Fault> {
    let mut text = format!(
        "# Do the five papers' claims hold?\n\nThe headlines, run as a paper of simulations runs them: a finite run from \
         an empty network, all flows counted, at several numbers of flows N, three seeds \
         ([how](../../experiments/README.md#as-run)). {}.\n\nColumns: *as written*, the paper's own system to the letter; \
         *repaired*, the same with our deviations; in both every baseline is as its authors published it. The others are \
         *repaired* with one assumption changed. An empty cell has not run.\n\n",
        matrix::LEGEND
    );
    for (paper, name, _) in PAPERS {
        let begins = format!("{paper}/");
        let of = all.iter().filter(|one| one.experiment.name.starts_with(&begins));
        let every: Vec<&Verdict> = of.clone().flat_map(|one| &one.verdicts).collect();
        let answer = answer::paragraph(paper, &every)?;
        let verdicts: Vec<&Verdict> =
            every.into_iter().filter(|one| !one.quote.is_empty()).collect();
        let experiments = of.map(|one| &one.experiment);
        let (section, picture) = matrix::section(paper, experiments, &verdicts);
        pages.extend(picture);
        let _ = write!(text, "## {name}\n\n{section}");
        let _ = write!(
            text,
            "<details markdown=\"1\"><summary>In long runs</summary>\n\n{}\n\n{answer}\n\n{}</details>\n\n",
            in_sets(&verdicts),
            paragraph(name, &verdicts)
        );
    }
    text += &long_runs(all);
    Ok(text)
}

/// How many claims hold in every set of long runs that has run, in some, or in none.
fn in_sets(verdicts: &[&Verdict]) -> String {
    let (mut every, mut some, mut none, mut open) = (0, 0, 0, 0);
    for verdict in verdicts {
        let run = verdict.sets.iter().map(|one| one.verdict).filter(|word| *word != Word::NotRun);
        let run: Vec<Word> = run.collect();
        let holds = run.iter().filter(|word| **word == Word::Matches).count();
        match () {
            () if holds > 0 && holds == run.len() => every += 1,
            () if holds > 0 => some += 1,
            () if run.iter().any(|word| *word != Word::CannotBeJudged) => none += 1,
            () => open += 1,
        }
    }
    format!(
        "Of {} claims {every} hold in every set, {some} in some, {none} in none; {open} are undecided in all.",
        verdicts.len()
    )
}

/// How many claims have which verdict in long runs.
fn long_runs(all: &[Judged]) -> String {
    let mut rows = String::new();
    for (paper, name, _) in PAPERS {
        let begins = format!("{paper}/");
        let of = all.iter().filter(|one| one.experiment.name.starts_with(&begins));
        let verdicts = of.flat_map(|one| &one.verdicts).filter(|one| !one.quote.is_empty());
        let verdicts: Vec<&Verdict> = verdicts.collect();
        for set in [PUBLISHED, COMPARED] {
            let counts = counts(&verdicts, set);
            let of = |word: Word| counts.get(&word).copied().unwrap_or(0);
            let _ = writeln!(
                rows,
                "| {name} | {} | {} | {} | {} | {} | {} |",
                set.replace('_', " "),
                of(Word::Matches),
                of(Word::SameOrder),
                of(Word::Differs),
                of(Word::CannotBeJudged),
                of(Word::NotRun)
            );
        }
    }
    format!(
        "<details markdown=\"1\"><summary>Verdicts of long runs, counted</summary>\n\n\
         Judged in balance, second half of the arrivals; by tables beside the experiments, as this page, which is made by\n\n    {COMMAND}\n\n\
         | paper | set | match | same order, other size | differ | cannot be judged | not run |\n\
         |---|---|---|---|---|---|---|\n{rows}\n\
         Claims of the papers, known answers of ours apart. A figure without `as_compared` counts in both rows. A missing table is made by \
         `incast reproduce ren/fig16 --keep experiments`. Verdicts that changed since the audit, and why: a page of the site, made from the \
         `audit.toml` of the figures.\n\n</details>\n"
    )
}

/// Whether a paper's claims hold, in words.
fn paragraph(name: &str, verdicts: &[&Verdict]) -> String {
    let word = |verdict: &Verdict, word: Word| verdict.sets.iter().any(|one| one.verdict == word);
    let main = |verdict: &Verdict| {
        let main = |set: &str| set == PUBLISHED || set == COMPARED;
        verdict.sets.iter().any(|one| one.verdict == Word::Matches && main(&one.set))
    };
    let total = verdicts.len();
    let run: Vec<&&Verdict> = verdicts
        .iter()
        .filter(|one| one.sets.iter().any(|set| set.verdict != Word::NotRun))
        .collect();
    // Each claim counts once, by the best word that it has.
    let all = |one: &Verdict, what: Word| one.sets.iter().all(|set| set.verdict == what);
    let (mut holds, mut equations, mut other, mut order, mut none, mut so_far) = (0, 0, 0, 0, 0, 0);
    for one in &run {
        match () {
            () if main(one) => {
                holds += 1;
                equations += usize::from(one.equation);
            }
            () if word(one, Word::Matches) => other += 1,
            () if word(one, Word::SameOrder) => order += 1,
            () if all(one, Word::Differs) => none += 1,
            () if word(one, Word::Differs) => so_far += 1,
            () => {}
        }
    }
    let undecided = run.len() - holds - other - order - none - so_far;
    let mut text = format!(
        "Of {total} claims {holds} hold as published or as compared ({equations} by equations alone), {other} in another set \
         alone, {order} in order but not in size, and {none} in no set; {so_far} do not hold where they are decided, and are \
         undecided in another set; {undecided} cannot be judged in any set{}. ",
        match total - run.len() {
            0 => String::new(),
            left => format!(", and {left} have run in none"),
        }
    );
    let headlines: Vec<&&Verdict> = verdicts.iter().filter(|one| one.headline).collect();
    if headlines.is_empty() {
        return text + &format!("{name} is known by no single number.\n\n");
    }
    text += "Its headline numbers:\n\n";
    for one in headlines {
        let _ = write!(text, "- *{}* ({}). {}", one.claim, one.experiment, one.sentence);
        if !one.deviation.is_empty() {
            let _ = write!(text, " Note: {}.", one.deviation.trim_end_matches('.'));
        }
        text.push('\n');
    }
    text + "\n"
}

/// One figure of a paper.
fn figure(one: &Judged, styles: &Styles<'_>, pages: &mut Vec<Page>) -> String {
    let Experiment { name, expected, .. } = &one.experiment;
    let mut text = format!("## {name}: {}\n\n", expected.title);
    let mut by_quote: Vec<(&str, Vec<&Verdict>)> = vec![];
    for verdict in &one.verdicts {
        match by_quote.iter_mut().find(|(quote, _)| *quote == verdict.quote) {
            Some((_, same)) => same.push(verdict),
            None => by_quote.push((&verdict.quote, vec![verdict])),
        }
    }
    for (quote, verdicts) in by_quote {
        text += &match quote {
            "" => "Ours, not the paper's:\n\n".to_string(),
            quote => format!("> {quote}\n\n"),
        };
        text += "| claim | paper | accepted | verdict |\n|---|---|---|---|\n";
        for Verdict { claim, paper, accepted, sentence, .. } in verdicts {
            let _ = writeln!(text, "| {claim} | {paper} | {accepted} | {sentence} |");
        }
        text.push('\n');
    }
    text += &sensitivities(one);
    text += &equations(one, pages);
    text += &pictures(one, styles, pages);
    text += &real_time(one);
    text += &why(one);
    text += &assumptions(one);
    text
}

/// What was measured in each sensitivity: a table per set.
fn sensitivities(one: &Judged) -> String {
    let mut text = String::new();
    for set in one.results.iter().map(|(set, _)| set).filter(|set| set.is_sensitivity()) {
        let judged = one.verdicts.iter().flat_map(|verdict| {
            let own = verdict.sets.iter().filter(|own| own.set == set.name);
            own.filter(|own| own.verdict != Word::NotRun).map(move |own| (verdict, own))
        });
        let rows: String = judged
            .map(|(verdict, own)| {
                format!("| {} | {} | {} |\n", verdict.claim, verb(own.verdict), own.measured)
            })
            .collect();
        if !rows.is_empty() {
            let _ = write!(
                text,
                "With `{}`: {}.\n\n| claim | verdict | measured |\n|---|---|---|\n{rows}\n",
                set.name.trim_start_matches("sensitivity/"),
                set.assumes
            );
        }
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "<details markdown=\"1\"><summary>What was measured in sensitivities</summary>\n\n{text}</details>\n\n"
        ),
    }
}

/// What is known of claims that are not simply seen.
fn why(one: &Judged) -> String {
    let told: Vec<&Verdict> =
        one.verdicts.iter().filter(|verdict| !verdict.deviation.is_empty()).collect();
    if told.is_empty() {
        return String::new();
    }
    let mut by_reason: Vec<(&str, Vec<&str>)> = vec![];
    for verdict in told {
        match by_reason.iter_mut().find(|(reason, _)| *reason == verdict.deviation) {
            Some((_, claims)) => claims.push(&verdict.claim),
            None => by_reason.push((&verdict.deviation, vec![&verdict.claim])),
        }
    }
    let lines = by_reason
        .into_iter()
        .map(|(reason, claims)| format!("- {}: {reason}\n", claims.join("; ")));
    format!("Why:\n\n{}\n", lines.collect::<String>())
}

/// How faithful the runs in real time were, by clock and transport.
fn real_time(one: &Judged) -> String {
    let mut all: BTreeMap<(&str, String), Faithful> = BTreeMap::new();
    for (clock, results) in one.results.iter().flat_map(|(_, results)| &results.real_time) {
        for (transport, own) in faithful(results) {
            all.entry((clock.name(), transport)).or_default().join(own);
        }
    }
    if all.is_empty() {
        return String::new();
    }
    let mut text = "In real time ([how it is judged](../../experiments/README.md#real-time)); of several runs, \
        the largest number:\n\n\
        | clock | transport | runs | refused | real time | stalled | p99.9 lateness, % of the base RTT | packets, of the virtual run's |\n\
        |---|---|---|---|---|---|---|---|\n"
        .to_string();
    for ((clock, transport), Faithful { runs, refused, wall, stalled, lateness, packets }) in all {
        let _ = writeln!(
            text,
            "| {clock} | {transport} | {runs} | {refused} | {wall:.2} x | {:.0} % | {:.1} | {:+.2} % |",
            100.0 * stalled,
            100.0 * lateness,
            100.0 * packets
        );
    }
    text + "\n"
}

/// What the sets assume: what would change the verdicts.
fn assumptions(one: &Judged) -> String {
    let sets: Vec<&Set> =
        one.results.iter().map(|(set, _)| set).filter(|set| !set.departures.is_empty()).collect();
    if sets.is_empty() || one.experiment.expected.claims.is_empty() {
        return String::new();
    }
    let mut text = "What would change it:\n\n".to_string();
    for set in sets {
        let _ = writeln!(text, "- `{}`: {}", set.name, set.assumes);
        if let Some(base) = &set.base {
            let _ = writeln!(text, "  - what `{base}` departs in, and");
        }
        for departure in &set.departures {
            let super::sets::Departure { key, value, reason, source } = departure;
            let _ = writeln!(text, "  - `{key} = {value}`: {reason} ({source})");
        }
    }
    text + "\n"
}

/// Pictures of the figure's equations.
fn equations(one: &Judged, pages: &mut Vec<Page>) -> String {
    let mut text = String::new();
    for (at, picture) in one.curves.iter().enumerate() {
        let name = format!("{}-equations-{}.svg", one.experiment.name.replace('/', "-"), at + 1);
        let _ = writeln!(text, "![{}]({name})\n", picture.title);
        pages.push(Page { name, text: picture.svg() });
    }
    text
}

/// Pictures of the figure: one per panel and set that has run. Transports look alike in all of them.
fn pictures(one: &Judged, styles: &Styles<'_>, pages: &mut Vec<Page>) -> String {
    let mut text = String::new();
    for (at, panel) in one.experiment.expected.panels.iter().enumerate() {
        let (mut shown, mut run) = (false, false);
        let of = |results| picture(&one.experiment, panel, results, styles);
        let mut drawn: Vec<_> = one.results.iter().map(of).collect();
        short_numbers(&mut drawn);
        for ((set, results), picture) in one.results.iter().zip(&drawn) {
            run |= !results.is_empty();
            if picture.lines.is_empty() {
                continue;
            }
            let file = [&one.experiment.name, &set.name].map(|name| name.replace('/', "-"));
            let name = format!("{}-{}-{}.svg", file[0], at + 1, file[1]);
            let _ = writeln!(text, "![{}, {}]({name})", panel.title, set.name);
            pages.push(Page { name, text: picture.svg() });
            shown = true;
        }
        let _ = match (shown, run) {
            (true, _) => writeln!(text),
            (false, true) => writeln!(text, "{}: no run has such a number\n", panel.title),
            (false, false) => writeln!(text, "{}: not run\n", panel.title),
        };
    }
    text
}
