//! The papers' figures as experiments: scenario, assumption sets, claims, verdicts.
//!
//! An experiment is a folder `experiments/<paper>/<figure>/` with scenarios, `claims.toml`, a
//! README and `results.parquet`, what its runs gave. Scenarios and claims are part of the program;
//! results are read from the folder. See `experiments/README.md` for the format.

mod answer;
mod as_run;
mod band;
mod changes;
mod claim;
mod expected;
mod figures;
mod files;
mod finite;
mod functions;
mod judged;
mod kept;
mod matrix;
#[cfg(test)]
mod measured_tests;
mod model;
mod options;
mod page;
mod pages;
mod panel;
mod pictures;
mod real_time;
mod reports;
mod results;
mod runs;
mod sets;
mod standard;
mod table;
mod template;
#[cfg(test)]
mod testbeds_tests;
#[cfg(test)]
mod tests;
mod verdict;

use expected::Experiment;
use incast_experiment::{Fault, Monitor, fault, nearest};
use incast_study::{Progress, run_local};
use judged::Results;
use model::{Model, Values};
use sets::Set;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub use band::Word;
pub use claim::Claim;
pub use figures::Figures;
pub use finite::{InFinite, Length, Order, Size};
pub use incast_measure::measured::{Apart, Measure};
pub use kept::Store;
pub use options::Options;
pub use page::Page;
pub use pages::pages;
pub use runs::Reproduction;
pub use table::{Address, KeptTable};
pub use verdict::{InDataPlane, InRealTime, InSet, Judgement, Verdict};

/// Every experiment with its title, by name.
pub fn names() -> Vec<(String, String)> {
    let all = files::experiments().filter_map(|name| {
        let experiment = Experiment::read(name).ok()?;
        Some((name.to_string(), experiment.expected.title))
    });
    all.collect()
}

/// Reports of a reproduction while it runs.
pub trait Watch {
    /// A verdict.
    fn verdict(&mut self, verdict: &Verdict);
    /// Something that is worth a line: a table was kept, or is stale.
    fn note(&mut self, text: &str);
    /// How far it is; a few times per second.
    fn progress(&mut self, _progress: &Progress) {}
}

impl Reproduction {
    /// An experiment, a paper's experiments or `all`, with the runs that they need; with a `folder`,
    /// the results of runs are written there. Kept tables are read, and taken over from other figures
    /// that have the same runs.
    ///
    /// # Errors
    /// An unknown name; tables that cannot be read.
    pub fn of(
        requested: &str,
        options: &Options,
        folder: Option<&Path>,
    ) -> Result<Reproduction, Fault> {
        let chosen = chosen(requested, options)?;
        let mut options = options.clone();
        if options.from_kept {
            options.keep = Some(kept_folder(options.keep.as_deref())?);
        }
        Reproduction::plan(chosen, &options, folder)
    }

    /// Runs what is missing on this machine's cores, and judges each experiment as soon as its last
    /// run is there. If `monitor` stops it, what was judged so far is returned, and tables are kept.
    ///
    /// # Errors
    /// Results that cannot be written.
    pub fn run(
        mut self,
        monitor: &Arc<Monitor>,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Verdict>, Fault> {
        let mut verdicts = vec![];
        let mut judge = |own: &mut Reproduction, watch: &mut dyn Watch, all: bool| {
            own.news().iter().for_each(|note| watch.note(note));
            let new = own.judge(all)?;
            new.iter().for_each(|verdict| watch.verdict(verdict));
            verdicts.extend(new);
            Ok::<(), Fault>(())
        };
        let mut judged = judge(&mut self, watch, false);
        if let (Ok(()), false) = (&judged, self.options().from_kept) {
            let mut driver = self.driver()?;
            // Runs in real time would be in each other's way.
            let threads = self.options().clock.map_or(self.options().threads, |_| 1);
            let ran = run_local(&mut driver, threads, monitor, &mut |progress| {
                if judged.is_ok() {
                    judged = judge(&mut self, watch, false);
                }
                if judged.is_err() {
                    monitor.stop.store(true, Ordering::Relaxed);
                }
                watch.progress(progress);
            });
            let outcome = driver.finish();
            ran?;
            watch.progress(&outcome?.progress);
        }
        judged?;
        judge(&mut self, watch, !monitor.stopped())?;
        Ok(verdicts)
    }
}

/// Refuses names, sets and runs that do not exist, and a clock that none of the experiments has, before
/// anything is made.
///
/// # Errors
/// That, with what there is.
pub fn check(requested: &str, options: &Options) -> Result<(), Fault> {
    chosen(requested, options).map(drop)
}

/// The experiments that are asked for.
fn chosen(requested: &str, options: &Options) -> Result<Vec<Experiment>, Fault> {
    let fits = |name: &str| is_meant(requested, name);
    let all = Experiment::all()?;
    if !all.iter().any(|one| fits(&one.name)) {
        let hint = nearest(requested, all.iter().map(|one| one.name.as_str()));
        let problem = fault::wrong(format!("no experiment `{requested}`; `incast list` shows all"));
        return Err(Fault::new(problem.meant(hint)));
    }
    if options.clock.is_some() {
        check_clock(requested)?;
    }
    let chosen: Vec<Experiment> = all.into_iter().filter(|one| fits(&one.name)).collect();
    check_sets(&chosen, &options.assuming)?;
    check_runs(&chosen, &options.runs)?;
    Ok(chosen)
}

/// The folder of kept tables by which claims are judged: the given one, or that of the clone.
///
/// # Errors
/// There is no such folder.
pub fn kept_folder(given: Option<&Path>) -> Result<PathBuf, Fault> {
    match given {
        None => Store::find(),
        Some(folder) if folder.is_dir() => Ok(folder.into()),
        Some(folder) => {
            let expected = "expected the folder of experiments with their kept tables";
            Err(Fault::value("--keep", folder.display(), expected))
        }
    }
}

/// Refuses a clock of runs in real time for an experiment, a paper's experiments or `all` if none of
/// them has such runs.
///
/// # Errors
/// That, with the experiments that have them.
pub fn check_clock(requested: &str) -> Result<(), Fault> {
    let all = Experiment::all()?;
    let real = || all.iter().filter(|one| one.in_real_time());
    if real().any(|one| is_meant(requested, &one.name)) {
        return Ok(());
    }
    let known: Vec<&str> = real().map(|one| one.name.as_str()).collect();
    let expected =
        format!("{requested} has no runs in real time: expected one of {}", known.join(", "));
    Err(Fault::at("--clock", expected))
}

/// Whether an experiment is asked for: by its name, that of its paper, or `all`.
fn is_meant(requested: &str, name: &str) -> bool {
    requested == "all" || requested == name || name.split('/').next() == Some(requested)
}

/// Refuses sets that none of the experiments has.
fn check_sets(chosen: &[Experiment], wanted: &[String]) -> Result<(), Fault> {
    let mut known: Vec<String> =
        chosen.iter().flat_map(|one| one.sets()).map(|set| set.name).collect();
    // A figure without sets of its own is the same run in both.
    known.extend([sets::PUBLISHED, sets::COMPARED].map(str::to_string));
    let finite = chosen.iter().flat_map(Experiment::finite).flat_map(|(_, sets)| sets);
    for Set { name, .. } in finite {
        // `as_run/1000/as_written` is asked for by each of its beginnings, too.
        let cuts = name.match_indices('/').map(|(at, _)| name[..at].to_string());
        known.extend(cuts.take(2).collect::<Vec<_>>());
        known.push(name);
    }
    known.sort();
    known.dedup();
    match wanted.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(other) => {
            let known = fault::one_of(other, known.iter().map(String::as_str));
            Err(Fault::value("--assuming", other, known))
        }
    }
}

/// Refuses runs that none of the experiments has.
fn check_runs(chosen: &[Experiment], wanted: &[String]) -> Result<(), Fault> {
    let Some(other) = wanted.iter().find(|name| !chosen.iter().any(|one| one.has_run(name))) else {
        return Ok(());
    };
    let full: Vec<String> = chosen.iter().flat_map(Experiment::runs).collect();
    let short: Vec<String> = chosen.iter().flat_map(Experiment::runs_along).collect();
    let hint = nearest(other, full.iter().chain(&short).map(String::as_str));
    let accepted = match chosen {
        [one] if short.is_empty() => format!("some of {}", one.runs().join(", ")),
        [_] => format!("some of {}, or as {}", short.join(", "), full[0]),
        _ => "names of runs in the figures' claims.toml".into(),
    };
    Err(Fault::value("--runs", other, fault::expected(accepted).meant(hint)))
}

/// The sets of an experiment that are asked for.
fn chosen_sets(experiment: &Experiment, options: &Options) -> Vec<Set> {
    let mut sets = experiment.sets();
    match options.assuming.is_empty() {
        // A smoke test is one run.
        true if options.quick => sets.truncate(1),
        true => {}
        false if options.assuming.iter().all(|name| name.starts_with(sets::AS_RUN)) => sets.clear(),
        false if sets.len() == 1 => {}
        false => {
            let asked = |name: &str| options.assuming.iter().any(|own| own == name);
            // A figure without `as_compared` is the same run in both.
            let both = !sets.iter().any(|set| set.name == sets::COMPARED) && asked(sets::COMPARED);
            sets.retain(|set| asked(&set.name) || (both && set.name == sets::PUBLISHED));
        }
    }
    sets
}

/// Judges the claims of an experiment by its equations, by the runs of some sets, and by finite ones.
fn verdicts(
    experiment: &Experiment,
    values: Option<&Values>,
    results: &[(Set, Results)],
    finite: &[(Set, as_run::ByLength)],
) -> Vec<Verdict> {
    let expected = &experiment.expected;
    let mut verdicts = vec![];
    if let (Some(model), Some(values)) = (&expected.model, values) {
        for claim in &model.claims {
            let judged = claim.judge(values);
            let said = (judged.paper.clone(), judged.accepted.clone());
            let words = (claim.text.as_str(), expected.quote.as_str(), claim.deviation.as_str());
            let judged = vec![(Set::published(), judged)];
            let one = verdict(&experiment.name, words, said, judged, 0);
            verdicts.push(Verdict { equation: true, ..one });
        }
    }
    for claim in &expected.claims {
        // A run may be a question of one set alone.
        let of_set = |(set, _): &&(Set, Results)| {
            claim.runs(&experiment.default_run()).iter().all(|run| experiment.has(run, set))
        };
        let results: Vec<&(Set, Results)> = results.iter().filter(of_set).collect();
        let as_run = as_run::of_claim(experiment, claim, finite);
        if results.is_empty() && as_run.is_empty() {
            continue;
        }
        let judged = results.iter().map(|(set, results)| (set.clone(), claim.judge(results)));
        let quote = claim.quote.as_ref().unwrap_or(&expected.quote);
        let quote = if claim.ours { "" } else { quote };
        let words = (claim.text.as_str(), quote, claim.deviation.as_str());
        let declared = experiment.sets();
        let runs = claim.runs(&experiment.default_run());
        let has = |set: &&Set| runs.iter().all(|run| experiment.has(run, set));
        let declared = declared.iter().filter(has).count();
        let (said, judged) = (claim.expected(), judged.collect());
        let mut one = verdict(&experiment.name, words, said, judged, declared);
        for (in_set, (_, results)) in one.sets.iter_mut().zip(&results) {
            in_set.dataplane = in_dataplane(claim, results);
            in_set.real_time = real_time::judge(claim, results);
        }
        let beside = sets::beside(&one.sets) + &real_time::beside(&one.sets);
        let sentence = one.sentence.clone() + &beside + &as_run::sentence(&as_run);
        let sentence = sentence.trim_start().to_string();
        verdicts.push(Verdict { headline: claim.headline, sentence, as_run, ..one });
    }
    verdicts
}

/// What the data plane says of a claim, if its runs are there.
fn in_dataplane(claim: &Claim, results: &Results) -> Option<InDataPlane> {
    let beside = results.dataplane.as_deref()?;
    let Judgement { measured, word: verdict, .. } = claim.judge(beside);
    let equal = results.equals(beside);
    (verdict != Word::NotRun).then_some(InDataPlane { measured, verdict, equal })
}

/// The verdict on one claim: `words` are its text, the paper's words, and what to know; `said` what the
/// paper prints, and what is accepted; `declared` is the number of sets that the experiment has, 0 of
/// equations.
fn verdict(
    experiment: &str,
    (claim, quote, deviation): (&str, &str, &str),
    (paper, accepted): (String, String),
    judged: Vec<(Set, Judgement)>,
    declared: usize,
) -> Verdict {
    let of = |(set, one): &(Set, Judgement)| InSet {
        set: set.name.clone(),
        measured: one.measured.clone(),
        verdict: one.word,
        dataplane: None,
        real_time: vec![],
    };
    let sentence = match judged.is_empty() {
        true => String::new(),
        false => sets::sentence(&paper, &judged, declared),
    };
    Verdict {
        experiment: experiment.to_string(),
        claim: claim.to_string(),
        quote: quote.to_string(),
        paper,
        accepted,
        sets: judged.iter().map(of).collect(),
        sentence,
        deviation: deviation.to_string(),
        headline: false,
        as_run: vec![],
        equation: false,
    }
}

/// Evaluates an experiment's equations; with a `folder` table and figure are kept there.
fn curves(
    name: &str,
    title: &str,
    model: &Model,
    options: &Options,
    folder: Option<&Path>,
) -> Result<model::Values, Fault> {
    let named = |fault: Fault| Fault::new(format!("{name}/claims.toml: {fault}"));
    let values = model.check().and_then(|()| model.evaluate(options.seed)).map_err(named)?;
    if let Some(folder) = folder {
        let place = folder.join(name);
        std::fs::create_dir_all(&place).map_err(|error| {
            Fault::unwritten(format!("could not create {}: {error}", place.display()))
        })?;
        incast_measure::write_curves(&place, &model.drawn(format!("{name}: {title}"), &values))?;
    }
    Ok(values)
}
