//! Claims whose verdict is another than before the audit: what was said then, what is said now, and
//! why.

use super::expected::Experiment;
use super::sets::{COMPARED, PUBLISHED};
use super::{InSet, Verdict, Word, files};
use incast_experiment::fault::wrong;
use incast_experiment::{Fault, nearest};
use serde::Deserialize;
use std::fmt::Write;

/// The file of an experiment that has the earlier verdicts.
const FILE: &str = "audit.toml";

/// What was said of an experiment's claims before the audit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Audited {
    /// The earlier runs.
    pub runs: String,
    /// The runs of today.
    pub today: String,
    /// The earlier verdicts.
    pub verdicts: Vec<Group>,
    /// Earlier claims that are made in other words today, or not at all.
    #[serde(default)]
    pub withdrawn: Vec<Withdrawn>,
}

/// An earlier claim that none of today is like in sense.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Withdrawn {
    /// The claim, in its own words.
    pub text: String,
    /// What has taken its place.
    pub why: String,
}

/// Claims with one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    /// Why another verdict is given today; empty if none is.
    #[serde(default)]
    pub why: String,
    /// The claims.
    pub claims: Vec<Then>,
}

/// A claim then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Then {
    /// The claim, in today's words.
    pub text: String,
    /// The earlier verdict.
    pub verdict: Word,
    /// What was measured then.
    pub measured: String,
}

impl Audited {
    /// What was said of an experiment; `None` if no table of it was kept then.
    ///
    /// # Errors
    /// A file that cannot be read, or names a claim that is not there.
    pub fn of(experiment: &Experiment, verdicts: &[Verdict]) -> Result<Option<Audited>, Fault> {
        let place = format!("{}/{FILE}", experiment.name);
        let Some(text) = files::find(&place) else { return Ok(None) };
        let audited: Audited =
            toml::from_str(text).map_err(|error| Fault::new(format!("{place}: {error}")))?;
        for Then { text, .. } in audited.verdicts.iter().flat_map(|group| &group.claims) {
            if !verdicts.iter().any(|one| one.claim == *text) {
                let hint = nearest(text, verdicts.iter().map(|one| one.claim.as_str()));
                let problem = wrong(format!("no claim `{text}`"));
                return Err(Fault::new(problem.meant(hint)).placed(place));
            }
        }
        let made = |gone: &&Withdrawn| verdicts.iter().any(|one| one.claim == gone.text);
        if let Some(Withdrawn { text, .. }) = audited.withdrawn.iter().find(made) {
            return Err(Fault::new(format!("`{text}` is withdrawn, and a claim")).placed(place));
        }
        Ok(Some(audited))
    }
}

/// What became of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// No set has run.
    NotRun,
    /// As before in each set of the paper that has run.
    Same,
    /// Another in one of them.
    Changed,
}

/// What became of the verdict on a claim. Sensitivities ask other questions, and are left out.
pub(super) fn fate(then: &Then, now: &Verdict) -> Fate {
    let run: Vec<Word> =
        papers(now).map(|one| one.verdict).filter(|word| *word != Word::NotRun).collect();
    match run.is_empty() {
        true => Fate::NotRun,
        false if run.iter().all(|word| *word == then.verdict) => Fate::Same,
        false => Fate::Changed,
    }
}

/// The page, from experiments with their verdicts.
pub(super) fn page<'a>(
    all: impl Iterator<Item = (&'a Experiment, &'a [Verdict])>,
) -> Result<String, Fault> {
    let (mut counts, mut tables) = ([0; 3], String::new());
    for (experiment, verdicts) in all {
        let Some(audited) = Audited::of(experiment, verdicts)? else { continue };
        let now = |then: &Then| {
            verdicts.iter().find(|one| one.claim == then.text).expect("it was looked for")
        };
        let mut own = String::new();
        for group in &audited.verdicts {
            let fates: Vec<(&Then, &Verdict, Fate)> = group
                .claims
                .iter()
                .map(|then| (then, now(then)))
                .map(|(then, now)| (then, now, fate(then, now)))
                .collect();
            fates.iter().for_each(|(_, _, fate)| counts[*fate as usize] += 1);
            own += &table(&group.why, fates.iter().filter(|(_, _, fate)| *fate == Fate::Changed));
        }
        own += &withdrawn(&audited.withdrawn);
        if !own.is_empty() {
            let Experiment { name, expected, .. } = experiment;
            let _ = write!(
                tables,
                "## {name}: {}\n\nThen: {}. Today: {}.\n\n{own}",
                expected.title, audited.runs, audited.today
            );
        }
    }
    let [not_run, same, changed] = counts;
    let total: usize = counts.iter().sum();
    Ok(format!(
        "# Verdicts that changed\n\n[All papers](README.md). An audit on 2026-11-22 found (1) defects in REN and \
         AMRT, (2) sizes and constants that were not the authors', (3) runs that were judged while they still filled \
         up, (4) borders that accepted too much. Of {total} claims the verdict of before is written down, claim by \
         claim: {changed} have another one today, {same} the same, {not_run} have not run since at full size. (REN 14, 16, 20, \
         21 and CCRP: verdicts of the time. The others: the program of the time, commit a27bc787, was run again.) \
         Claims that are new since then are not listed. Before, a claim had one \
         verdict, from the scenario that is nearest to `as published`; sensitivities are left out here. Ratios were \
         printed as such: 0.62 is what reads 38 % lower today.\n\n{tables}"
    ))
}

fn table<'a>(
    why: &str,
    changed: impl Iterator<Item = &'a (&'a Then, &'a Verdict, Fate)>,
) -> String {
    let rows: String = changed
        .map(|(then, now, _)| {
            let Then { text, verdict, measured } = then;
            format!("| {text} | {}: {measured} | {} |\n", verdict.text(), today(now))
        })
        .collect();
    match (rows.is_empty(), why) {
        (true, _) => String::new(),
        (false, "") => format!("{HEAD}{rows}\nWhy: not said yet.\n\n"),
        (false, why) => format!("{HEAD}{rows}\nWhy: {why}\n\n"),
    }
}

/// The earlier claims that are not made today.
fn withdrawn(all: &[Withdrawn]) -> String {
    let rows = all.iter().map(|Withdrawn { text, why }| format!("| {text} | {why} |\n"));
    let rows: String = rows.collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("| earlier claim | today |\n|---|---|\n{rows}\n"),
    }
}

/// What the sets of the paper say today.
fn today(now: &Verdict) -> String {
    let of_set = |one: &InSet| {
        let InSet { set, measured, verdict, .. } = one;
        let set = set.replace('_', " ");
        match measured.is_empty() {
            true => format!("{set} {}", verdict.text()),
            false => format!("{set} {}: {measured}", verdict.text()),
        }
    };
    papers(now).map(of_set).collect::<Vec<_>>().join("; ")
}

/// The sets that there were then.
fn papers(now: &Verdict) -> impl Iterator<Item = &InSet> {
    now.sets.iter().filter(|one| [PUBLISHED, COMPARED].contains(&one.set.as_str()))
}

const HEAD: &str = "| claim | then | today |\n|---|---|---|\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn now(sets: &[(&str, Word)]) -> Verdict {
        let of = |(set, verdict): &(&str, Word)| InSet {
            set: set.to_string(),
            measured: "1.5".into(),
            verdict: *verdict,
            dataplane: None,
            real_time: vec![],
        };
        Verdict {
            experiment: "ren/fig16".into(),
            claim: "a".into(),
            quote: String::new(),
            paper: String::new(),
            accepted: String::new(),
            sets: sets.iter().map(of).collect(),
            sentence: String::new(),
            deviation: String::new(),
            headline: false,
            as_run: vec![],
            equation: false,
        }
    }

    #[test]
    fn a_withdrawn_claim_is_listed_with_what_took_its_place() {
        assert_eq!(withdrawn(&[]), "");
        let gone = Withdrawn { text: "a (b)".into(), why: "said as `c`".into() };
        assert!(withdrawn(&[gone]).ends_with("|---|---|\n| a (b) | said as `c` |\n\n"));
    }

    fn then() -> Then {
        Then { text: "a".into(), verdict: Word::Matches, measured: "1.2".into() }
    }

    #[test]
    fn a_verdict_changes_if_a_set_of_the_paper_has_another() {
        let (same, other) = (Word::Matches, Word::CannotBeJudged);
        let of = |sets: &[(&str, Word)]| fate(&then(), &now(sets));
        assert_eq!(of(&[("as_published", same), ("as_compared", same)]), Fate::Same);
        assert_eq!(of(&[("as_published", same), ("as_compared", Word::NotRun)]), Fate::Same);
        assert_eq!(of(&[("as_published", same), ("as_compared", other)]), Fate::Changed);
        assert_eq!(of(&[("as_published", same), ("sensitivity/a", other)]), Fate::Same);
        assert_eq!(of(&[("as_published", Word::NotRun)]), Fate::NotRun);
        assert_eq!(of(&[("sensitivity/a", other)]), Fate::NotRun);
    }

    #[test]
    fn a_table_has_what_changed_and_why() {
        let now = now(&[("as_published", Word::Differs), ("sensitivity/a", Word::Matches)]);
        let then = then();
        let changed = [(&then, &now, fate(&then, &now))];
        assert_eq!(changed[0].2, Fate::Changed);
        let row = "| a | matches: 1.2 | as published differs: 1.5 |";
        assert_eq!(table("of it.", changed.iter()), format!("{HEAD}{row}\n\nWhy: of it.\n\n"));
        assert!(table("", changed.iter()).ends_with("Why: not said yet.\n\n"));
        assert_eq!(table("of it.", [].iter()), "");
    }
}
