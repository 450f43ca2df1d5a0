//! `claims.toml`: runs, assumption sets, claims and pictures of an experiment.

use super::claim::Claim;
use super::finite::Finite;
use super::model::Model;
use super::panel::{OfSize, Panel, Place};
use super::sets::{self, Set};
use super::template::written_out;
use super::{Options, files};
#[cfg(test)]
use incast_experiment::Plan;
use incast_experiment::fault::{expected, one_of};
use incast_experiment::{Fault, Scenario, World, fault};
use incast_measure::measured::{Measure, Wanted};
use incast_transport::Rate;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What the experiment is.
    pub title: String,
    /// What the paper says of the figure; the words of claims that quote nothing else.
    #[serde(default)]
    pub quote: String,
    /// Runs by name: which scenario, with which changes.
    #[serde(default)]
    runs: BTreeMap<String, RunOf>,
    /// A key that takes several values in every run.
    axis: Option<Axis>,
    /// Seeds of a full reproduction; that of the scenario if there are none.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Worlds in which claims are judged, the simulator first; that alone if there are none.
    #[serde(default)]
    worlds: Vec<String>,
    /// Changes for `--quick`.
    #[serde(default)]
    pub quick: Vec<String>,
    /// Assumption sets besides the scenario as it is.
    #[serde(default, rename = "set")]
    sets: Vec<Set>,
    /// Sets of the paper's `sets.toml` that the figure has, too, by their names.
    #[serde(default)]
    shared: Vec<String>,
    /// Runs that are made from empty, too, at several lengths.
    pub as_run: Option<Finite>,
    /// The sets of these.
    #[serde(skip)]
    finite: Vec<Set>,
    #[serde(default, rename = "claim")]
    claim_templates: Vec<toml::Table>,
    #[serde(default, rename = "panel")]
    panel_templates: Vec<toml::Table>,
    /// Claims about runs; without them no run is started.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// Pictures in the paper's form.
    #[serde(skip)]
    pub panels: Vec<Panel>,
    /// What other figures read from the same runs, so that one table serves all of them.
    #[serde(default)]
    pub also: Vec<Measure>,
    /// What the paper's equations are to show.
    pub model: Option<Model>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOf {
    #[serde(default = "scenario_file")]
    scenario: String,
    #[serde(default)]
    set: Vec<String>,
    /// Assumption sets that have this run; all if there are none.
    #[serde(default)]
    sets: Vec<String>,
    /// How many of the experiment's seeds it is run with; all if not given.
    seeds: Option<usize>,
}

impl RunOf {
    /// Whether a set has the run, in the simulator or the data plane.
    fn is_in(&self, set: &Set) -> bool {
        self.sets.is_empty() || self.sets.iter().any(|name| set.of_simulator() == name)
    }
}

/// A key that takes several values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Axis {
    key: String,
    values: Vec<toml::Value>,
}

fn scenario_file() -> String {
    "scenario.toml".into()
}

/// An experiment.
pub struct Experiment {
    /// `ren/fig3`.
    pub name: String,
    /// Its `claims.toml`.
    pub expected: Expected,
}

impl Experiment {
    /// Reads an experiment.
    ///
    /// # Errors
    /// What `claims.toml` has wrong.
    pub fn read(name: &str) -> Result<Experiment, Fault> {
        let place = format!("{name}/claims.toml");
        let text = files::text(&place)?;
        let expected: Expected =
            toml::from_str(text).map_err(|error| Fault::new(format!("{place}: {error}")))?;
        let mut own = Experiment { name: name.into(), expected };
        own.complete().map_err(|fault| fault.placed(place))?;
        Ok(own)
    }

    /// Checks what was read, and writes templates out.
    fn complete(&mut self) -> Result<(), Fault> {
        let runs = self.runs();
        let expected = &mut self.expected;
        expected.claims = written_out(&std::mem::take(&mut expected.claim_templates), &runs)?;
        expected.panels = written_out(&std::mem::take(&mut expected.panel_templates), &runs)?;
        check_worlds(&expected.worlds)?;
        expected.panels.iter().try_for_each(Panel::check)?;
        let paper = of_paper(&self.name)?;
        for name in &expected.shared {
            expected.sets.push(sets::named(name, &paper, "shared")?.clone());
        }
        expected.sets.iter().try_for_each(Set::check)?;
        sets::inherit(&mut expected.sets)?;
        check_runs(expected)?;
        let Some(as_run) = &expected.as_run else { return Ok(()) };
        as_run.check(&runs)?;
        let mut all = sets::all(&expected.sets);
        for name in &as_run.sets {
            if all.iter().all(|own| own.name != *name) {
                all.push(sets::named(name, &paper, "as_run.sets")?.clone());
            }
        }
        sets::inherit(&mut all)?;
        expected.finite = all.into_iter().filter(|set| as_run.sets.contains(&set.name)).collect();
        Ok(())
    }

    /// All experiments, by name.
    ///
    /// # Errors
    /// What an `claims.toml` has wrong.
    pub fn all() -> Result<Vec<Experiment>, Fault> {
        files::experiments().map(Experiment::read).collect()
    }

    /// Whether its claims are judged in the data plane, too.
    pub fn in_dataplane(&self) -> bool {
        !self.expected.worlds.is_empty()
    }

    /// Whether they are judged in real time, too.
    pub fn in_real_time(&self) -> bool {
        self.expected.worlds.iter().any(|world| world == REAL_TIME)
    }

    /// Whether a run can be made in real time: no link is faster than 1 Gb/s.
    pub fn can_be_real(&self, run: &str) -> bool {
        let scenario = self.scenario(run, &Set::published(), None, false);
        let slow = |rate: Rate| rate.0 <= FASTEST_REAL;
        scenario.is_ok_and(|scenario| {
            scenario.fabric.rate.0.is_some_and(slow)
                && scenario.fabric.uplink_rate.0.is_none_or(slow)
        })
    }

    /// Its assumption sets, the scenario as it is first.
    pub fn sets(&self) -> Vec<Set> {
        sets::all(&self.expected.sets)
    }

    /// Finite runs from an empty network: each set with itself at every length.
    pub fn finite(&self) -> Vec<(Set, Vec<Set>)> {
        let lengths = self.expected.as_run.iter().flat_map(|as_run| &as_run.flows);
        let of = |set: &Set| lengths.clone().map(|flows| set.in_finite(*flows)).collect();
        self.expected.finite.iter().map(|set| (set.clone(), of(set))).collect()
    }

    /// Names of its runs with their places on the axis, in order; scenario and overrides of each.
    pub fn labelled(&self) -> BTreeMap<String, (Option<f64>, RunOf)> {
        let mut base = self.expected.runs.clone();
        if base.is_empty() {
            base.insert(
                "run".into(),
                RunOf { scenario: scenario_file(), set: vec![], sets: vec![], seeds: None },
            );
        }
        let Some(axis) = &self.expected.axis else {
            return base.into_iter().map(|(name, run)| (name, (None, run))).collect();
        };
        let alone = self.expected.runs.is_empty();
        let along = |(name, run): (String, RunOf)| {
            axis.values.iter().map(move |value| {
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                let name = if alone { shown } else { format!("{name}-{shown}") };
                let mut run = run.clone();
                run.set.push(format!("{}={value}", axis.key));
                (name, (place(value), run))
            })
        };
        base.into_iter().flat_map(along).collect()
    }

    /// Names of its runs.
    pub fn runs(&self) -> Vec<String> {
        self.labelled().into_keys().collect()
    }

    /// Names of its runs without their places on the axis; none without an axis.
    pub fn runs_along(&self) -> Vec<String> {
        let named = self.expected.runs.keys().filter(|_| self.expected.axis.is_some());
        named.cloned().collect()
    }

    /// Whether it has a run of this name, or runs of this name along the axis.
    pub fn has_run(&self, name: &str) -> bool {
        let asked = [name.to_string()];
        self.runs().iter().any(|run| self.is_asked(run, &asked))
    }

    /// Whether a run is asked for: by its name, or by that of all its values of the axis.
    pub fn is_asked(&self, run: &str, asked: &[String]) -> bool {
        let along = |name: &&String| {
            let value = run.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('-'));
            value.is_some() && asked.contains(name)
        };
        let alone = asked.is_empty() || asked.iter().any(|name| name == run);
        alone || self.runs_along().iter().any(|name| along(&name))
    }

    /// Whether a set has a run of this name.
    pub fn has(&self, run: &str, set: &Set) -> bool {
        if set.flows.is_some() {
            return self.runs_in(set).iter().any(|name| name == run);
        }
        self.labelled().get(run).is_some_and(|(_, of)| of.is_in(set))
            && (set.clock.is_none() || self.can_be_real(run))
    }

    /// Names of the runs of a set.
    pub fn runs_in(&self, set: &Set) -> Vec<String> {
        if let (Some(_), Some(as_run)) = (set.flows, &self.expected.as_run) {
            return as_run.runs.clone();
        }
        let all = self.labelled().into_iter();
        let real = |name: &String| set.clock.is_none() || self.can_be_real(name);
        let of = all.filter(|(name, (_, run))| run.is_in(set) && real(name));
        of.map(|(name, _)| name).collect()
    }

    /// Seeds of a run; `None` is that of the scenario.
    pub fn seeds_of(&self, run: &str, options: &Options) -> Vec<Option<u64>> {
        let mut seeds = self.seeds(options);
        let own = self.labelled().remove(run).and_then(|(_, of)| of.seeds);
        seeds.truncate(own.unwrap_or(usize::MAX));
        seeds
    }

    /// Runs with fewer seeds than the experiment, and how many.
    pub fn fewer_seeds(&self) -> BTreeMap<String, usize> {
        let all = self.labelled().into_iter();
        all.filter_map(|(name, (_, run))| Some((name, run.seeds?))).collect()
    }

    /// Seeds of its runs; `None` is that of the scenario.
    pub fn seeds(&self, options: &Options) -> Vec<Option<u64>> {
        let own = &self.expected.seeds;
        match (options.seed, own.first()) {
            (Some(seed), _) => vec![Some(seed)],
            (None, None) => vec![None],
            (None, Some(first)) if options.quick => vec![Some(*first)],
            (None, Some(_)) => own.iter().copied().map(Some).collect(),
        }
    }

    /// The scenario of one run.
    ///
    /// # Errors
    /// What the scenario, the run or the set has wrong.
    pub fn scenario(
        &self,
        run: &str,
        set: &Set,
        seed: Option<u64>,
        quick: bool,
    ) -> Result<Scenario, Fault> {
        let (_, of) = self.labelled().remove(run).expect("one of its runs");
        let mut changes = set.overrides();
        changes.extend(of.set);
        if quick {
            changes.extend(self.expected.quick.iter().cloned());
        }
        changes.extend(seed.map(|seed| format!("run.seed={seed}")));
        changes.extend(set.last_overrides());
        let place = format!("{}/{}", self.name, of.scenario);
        Scenario::parse(files::text(&place)?, &place, &changes)
    }

    /// Resolves one run with all its transports.
    #[cfg(test)]
    pub fn plan(
        &self,
        run: &str,
        set: &Set,
        seed: Option<u64>,
        quick: bool,
    ) -> Result<Plan, Fault> {
        Plan::new(self.scenario(run, set, seed, quick)?)
            .map_err(|fault| fault.noted(&format!("{} ({run}, {})", self.name, set.name)))
    }

    /// What must be read from a run of this name in a set. Where it is compared with one in real time,
    /// distributions are needed, too.
    pub fn wanted(&self, run: &str, set: &Set) -> Vec<Wanted> {
        let default = self.default_run();
        let compared =
            set.world == World::DataPlane && self.in_real_time() && self.can_be_real(run);
        let each = self.expected.claims.iter().filter(|_| compared);
        let each = each.filter_map(|claim| claim.each(run, &default));
        let claims = self.expected.claims.iter().filter_map(|claim| claim.wanted(run, &default));
        let places = self.expected.panels.iter().flat_map(|panel| self.places(panel));
        let panels = places.filter(|place| place.run == run).map(|place| place.wanted);
        let all = claims
            .chain(each)
            .chain(panels)
            .chain(self.expected.also.iter().cloned().map(Wanted::Number))
            .chain([Wanted::Balance])
            .map(|wanted| (wanted.id(), wanted));
        all.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// The run of claims that name none.
    pub fn default_run(&self) -> String {
        self.runs().swap_remove(0)
    }

    /// Points of a picture, in each transport's line.
    pub fn places(&self, panel: &Panel) -> Vec<Place> {
        let of = |(run, x)| Place { run, x, flow: None, wanted: panel.wanted() };
        let run = || panel.run.clone().unwrap_or(self.default_run());
        if let Some(step) = panel.step.filter(|_| !panel.flows.is_empty()) {
            let one = |(name, place): (&String, &u32)| {
                let measure = Measure { flow: Some(*place), ..panel.measure.clone() };
                Place {
                    run: run(),
                    x: 0.0,
                    flow: Some(name.clone()),
                    wanted: Wanted::Series(measure, step),
                }
            };
            return panel.flows.iter().map(one).collect();
        }
        if panel.step.is_some() || panel.form.is_some() {
            return vec![of((run(), 0.0))];
        }
        if !panel.sizes.is_empty() {
            let one = |size: &OfSize| {
                let OfSize { at: x, smallest, largest } = *size;
                let measure = Measure { smallest, largest, ..panel.measure.clone() };
                Place { run: run(), x, flow: None, wanted: Wanted::Number(measure) }
            };
            return panel.sizes.iter().map(one).collect();
        }
        let named = |(name, at): (&String, &f64)| of((name.clone(), *at));
        if !panel.lines.is_empty() {
            return panel.lines.values().flatten().map(named).collect();
        }
        if !panel.at.is_empty() {
            return panel.at.iter().map(named).collect();
        }
        let begins = panel.run.as_ref().map(|name| format!("{name}-"));
        let is = |name: &String| begins.as_ref().is_none_or(|begins| name.starts_with(begins));
        let all = self.labelled().into_iter().filter(|(name, _)| is(name));
        all.filter_map(|(name, (at, _))| Some(of((name, at?)))).collect()
    }
}

/// The sets that figures of a paper share: those of its `sets.toml`, if it has one.
///
/// # Errors
/// What that file has wrong.
fn of_paper(experiment: &str) -> Result<Vec<Set>, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sets {
        set: Vec<Set>,
    }
    let place = format!("{}/sets.toml", experiment.split('/').next().unwrap_or_default());
    let Some(text) = files::find(&place) else { return Ok(vec![]) };
    let read: Result<Sets, _> = toml::from_str(text);
    let Sets { set } = read.map_err(|error| Fault::new(error.to_string()).placed(&*place))?;
    set.iter().try_for_each(Set::check).map_err(|fault| fault.placed(&*place))?;
    Ok(set)
}

/// Refuses runs of sets that do not exist, and runs without seeds.
fn check_runs(expected: &Expected) -> Result<(), Fault> {
    let sets = sets::all(&expected.sets);
    let known: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    for (name, run) in &expected.runs {
        if let Some(other) = run.sets.iter().find(|set| !known.contains(&set.as_str())) {
            let wanted = one_of(other, known.iter().copied());
            return Err(Fault::value(format!("runs.{name}.sets"), other, wanted));
        }
        if let Some(seeds) = run.seeds.filter(|n| *n == 0 || *n > expected.seeds.len()) {
            let accepted = format!("1 to {}, the seeds of all runs", expected.seeds.len());
            let wanted = fault::expected(accepted);
            return Err(Fault::value(format!("runs.{name}.seeds"), seeds, wanted));
        }
    }
    Ok(())
}

/// The world of runs in real time.
const REAL_TIME: &str = "real-time";

/// The fastest link of a run in real time, in bits per second: what one core carries for a dumbbell.
const FASTEST_REAL: u64 = 1_000_000_000;

/// Refuses another list of worlds than the two, or them and real time, in their order.
fn check_worlds(worlds: &[String]) -> Result<(), Fault> {
    let all = [World::Sim.name(), World::DataPlane.name(), REAL_TIME];
    let both = &all[..2];
    if worlds.is_empty() || *worlds == *both || *worlds == all {
        return Ok(());
    }
    let expected = expected(format!("`{both:?}`, `{all:?}`, or no such key: the simulator alone"));
    Err(Fault::value("worlds", format!("{worlds:?}"), expected))
}

/// Where a value lies on an axis of numbers.
fn place(value: &toml::Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|whole| whole as f64))
}
