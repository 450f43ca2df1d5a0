//! The papers' figures as experiments: scenario, claims, verdicts.
//!
//! An experiment is a folder `experiments/<paper>/<figure>/` with scenarios, `expected.toml` and a
//! README; all are part of the program. See `experiments/README.md` for the format.

mod claim;
mod confidence;
mod fairness;
mod functions;
mod marks;
mod measure;
mod model;

use crate::{Fault, Plan, Scenario, execute, nearest, output};
use incast_measure::Run;
use incast_world::{Captured, Monitor};
use include_dir::{Dir, DirEntry, include_dir};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

pub use claim::{Claim, Judgement};
pub use measure::Measure;
use model::Model;

static EXPERIMENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../experiments");

/// Verdict on one claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `ren/fig3`.
    pub experiment: String,
    /// The claim, in words.
    pub claim: String,
    /// Value in the paper, or the known result.
    pub expected: String,
    /// What we see.
    pub measured: String,
    /// `matches`, `differs` or `cannot be judged`.
    pub verdict: String,
    /// Why it differs, or what to know about the comparison.
    pub deviation: String,
}

/// How to reproduce.
#[derive(Clone, Debug)]
pub struct Options {
    /// Fewer flows and shorter runs, as defined by the experiment.
    pub quick: bool,
    /// Another seed than the experiment's.
    pub seed: Option<u64>,
    /// Threads.
    pub threads: usize,
}

/// `expected.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    title: String,
    /// Runs by name: which scenario, with which changes.
    #[serde(default)]
    runs: BTreeMap<String, RunOf>,
    /// Changes for `--quick`.
    #[serde(default)]
    quick: Vec<String>,
    /// Claims about runs; without them no run is started.
    #[serde(default, rename = "claim")]
    claims: Vec<Claim>,
    /// What the paper's equations are to show.
    model: Option<Model>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunOf {
    #[serde(default = "scenario_file")]
    scenario: String,
    #[serde(default)]
    set: Vec<String>,
}

fn scenario_file() -> String {
    "scenario.toml".into()
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it left.
    pub run: Run,
    /// Packets of the ports whose marks claims are about.
    pub captured: Vec<Captured>,
}

/// Finished runs: by name of the run, then by transport.
pub type Runs = BTreeMap<String, BTreeMap<String, Finished>>;

/// Every experiment with its title, by name.
pub fn names() -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = folders()
        .into_iter()
        .filter_map(|(name, folder)| Some((name.clone(), expected(&name, folder).ok()?.title)))
        .collect();
    names.sort();
    names
}

fn folders() -> Vec<(String, &'static Dir<'static>)> {
    let papers = EXPERIMENTS.entries().iter().filter_map(DirEntry::as_dir);
    let figures = papers.flat_map(|paper| paper.entries().iter().filter_map(DirEntry::as_dir));
    figures.map(|folder| (folder.path().display().to_string(), folder)).collect()
}

fn text(folder: &Dir<'_>, name: &str, file: &str) -> Result<String, Fault> {
    let found = folder.files().find(|f| f.path().file_name().is_some_and(|f| f == file));
    let found = found.and_then(|f| f.contents_utf8());
    found.map(str::to_string).ok_or_else(|| Fault::new(format!("{name}: {file} is missing")))
}

fn expected(name: &str, folder: &Dir<'_>) -> Result<Expected, Fault> {
    let text = text(folder, name, "expected.toml")?;
    toml::from_str(&text).map_err(|error| Fault::new(format!("{name}/expected.toml: {error}")))
}

/// Runs an experiment, a paper's experiments or `all`, and judges them. `report` is called
/// with every verdict; with a `folder`, the results of runs are written there.
///
/// # Errors
/// An unknown name, or results that cannot be written.
pub fn reproduce(
    requested: &str,
    options: &Options,
    mut report: impl FnMut(&Verdict),
    folder: Option<&Path>,
) -> Result<Vec<Verdict>, Fault> {
    let mut chosen = folders();
    chosen.sort_by(|a, b| a.0.cmp(&b.0));
    let fits = |name: &str| {
        requested == "all" || requested == name || name.split('/').next() == Some(requested)
    };
    let all: Vec<String> = chosen.iter().map(|(name, _)| name.clone()).collect();
    chosen.retain(|(name, _)| fits(name));
    if chosen.is_empty() {
        let hint = nearest(requested, all.iter().map(String::as_str));
        return Err(Fault::new(format!("no experiment `{requested}`{hint}")));
    }
    let mut verdicts = vec![];
    for (name, from) in chosen {
        let expected = expected(&name, from)?;
        let mut judge = |claim: &str, deviation: &str, judged: Judgement| {
            let verdict = Verdict {
                experiment: name.clone(),
                claim: claim.to_string(),
                expected: judged.expected,
                measured: judged.measured,
                verdict: judged.verdict.into(),
                deviation: deviation.to_string(),
            };
            report(&verdict);
            verdicts.push(verdict);
        };
        if let Some(model) = &expected.model {
            let values = curves(&name, &expected.title, model, options, folder)?;
            for claim in &model.claims {
                judge(&claim.text, &claim.deviation, claim.judge(&values));
            }
        }
        if !expected.claims.is_empty() {
            let runs = runs(&name, from, &expected, options, folder)?;
            for claim in &expected.claims {
                judge(&claim.text, &claim.deviation, claim.judge(&runs));
            }
        }
    }
    Ok(verdicts)
}

/// Evaluates an experiment's equations; with a `folder` table and figure are kept there.
fn curves(
    name: &str,
    title: &str,
    model: &Model,
    options: &Options,
    folder: Option<&Path>,
) -> Result<model::Values, Fault> {
    let named = |fault: Fault| Fault::new(format!("{name}/expected.toml: {fault}"));
    let values = model.check().and_then(|()| model.evaluate(options.seed)).map_err(named)?;
    if let Some(folder) = folder {
        let place = folder.join(name);
        std::fs::create_dir_all(&place).map_err(|error| {
            Fault::new(format!("could not create {}: {error}", place.display()))
        })?;
        model.drawn(&format!("{name}: {title}"), &values).write(&place)?;
    }
    Ok(values)
}

/// Resolves every run of an experiment.
fn plans(
    name: &str,
    from: &Dir<'_>,
    expected: &Expected,
    options: &Options,
) -> Result<Vec<(String, Plan)>, Fault> {
    let mut wanted = expected.runs.clone();
    if wanted.is_empty() {
        wanted.insert("run".into(), RunOf { scenario: scenario_file(), set: vec![] });
    }
    let mut plans = vec![];
    for (label, run) in wanted {
        let mut sets = run.set.clone();
        if options.quick {
            sets.extend(expected.quick.iter().cloned());
        }
        if let Some(seed) = options.seed {
            sets.push(format!("run.seed={seed}"));
        }
        let text = text(from, name, &run.scenario)?;
        let place = format!("{name}/{}", run.scenario);
        plans.push((label, Plan::new(Scenario::parse(&text, &place, &sets)?)?));
    }
    Ok(plans)
}

fn runs(
    name: &str,
    from: &Dir<'_>,
    expected: &Expected,
    options: &Options,
    folder: Option<&Path>,
) -> Result<Runs, Fault> {
    let mut runs = Runs::new();
    for (label, plan) in plans(name, from, expected, options)? {
        let mut by_transport = BTreeMap::new();
        let about = expected.claims.iter().filter(|claim| claim.is_about(&label));
        let watched: Vec<String> = about.flat_map(|claim| claim.measure.captures()).collect();
        let ports = output::ports(&plan, &watched)?;
        for case in &plan.cases {
            let monitor = Monitor::default();
            let (run, captured) = execute(&plan, case, ports.clone(), options.threads, &monitor)?;
            if let Some(folder) = folder {
                let place = folder.join(name).join(&label).join(&case.label);
                std::fs::create_dir_all(&place).map_err(|error| {
                    Fault::new(format!("could not create {}: {error}", place.display()))
                })?;
                output::write_run(&place, &run, false)?;
                output::write_captures(&place, &plan, &ports, &captured)?;
                output::seal(&place, &run)?;
            }
            by_transport.insert(case.label.clone(), Finished { run, captured });
        }
        if let Some(folder) = folder {
            let all: Vec<Run> = by_transport.values().map(|one| one.run.clone()).collect();
            let title = format!("{name}: {} ({label})", expected.title);
            incast_measure::report_html(
                &folder.join(name).join(&label).join("report.html"),
                &title,
                &all,
            )?;
        }
        runs.insert(label, by_transport);
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_can_be_planned_full_and_quick() {
        assert!(!folders().is_empty());
        for (name, folder) in folders() {
            let expected = expected(&name, folder).unwrap_or_else(|fault| panic!("{fault}"));
            let equations = expected.model.as_ref().map_or(0, |model| model.claims.len());
            assert!(expected.claims.len() + equations > 0, "{name} claims nothing");
            if let Some(model) = &expected.model {
                model.check().unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }
            if expected.claims.is_empty() {
                continue;
            }
            text(folder, &name, "README.md").unwrap_or_else(|fault| panic!("{fault}"));
            for quick in [false, true] {
                let options = Options { quick, seed: None, threads: 1 };
                let plans = plans(&name, folder, &expected, &options);
                let plans = plans.unwrap_or_else(|fault| panic!("{name}: {fault}"));
                for claim in &expected.claims {
                    claim.check(&plans).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                }
            }
        }
    }

    #[test]
    fn equations_match_their_papers() {
        let options = Options { quick: true, seed: None, threads: 1 };
        let (mut judged, mut wrong) = (0, vec![]);
        for (name, folder) in folders() {
            let expected = expected(&name, folder).unwrap();
            let Some(model) = &expected.model else { continue };
            let values = curves(&name, &expected.title, model, &options, None);
            let values = values.unwrap_or_else(|fault| panic!("{fault}"));
            for claim in &model.claims {
                let seen = claim.judge(&values);
                if seen.verdict != "matches" {
                    wrong.push(format!("{name}: {}: {seen:?}", claim.text));
                }
                judged += 1;
            }
        }
        assert!(wrong.is_empty() && judged > 50, "{judged} judged: {wrong:#?}");
    }

    #[test]
    fn an_unknown_name_suggests_a_known_one() {
        let options = Options { quick: true, seed: None, threads: 1 };
        let fault = reproduce("ren/fig33", &options, |_| (), None).unwrap_err();
        assert!(fault.to_string().contains("did you mean `ren/fig3`?"), "{fault}");
    }
}
