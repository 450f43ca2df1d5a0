//! The runs that figures need: kept tables where there are, else tasks of one driver.

use super::as_run::{ByLength, is_asked};
use super::expected::Experiment;
use super::figures::{Asked, Figures, RunsSoFar, is_whole};
use super::judged::Results;
use super::kept::{Index, Store};
use super::reports::Reports;
use super::sets::{REAL_TIME, Set};
use super::table::{Address, KeptTable};
use super::{Options, Verdict, chosen_sets, curves, standard, verdicts};
use incast_experiment::{Contents, Fault, Scenario, World, gather};
use incast_measure::measured::Wanted;
use incast_study::{Done, Driver, DriverOptions, Point};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Figures, the runs that they need, and what these gave so far.
pub struct Reproduction {
    experiments: Vec<Arc<Experiment>>,
    options: Options,
    store: Option<Arc<Store>>,
    folder: Option<PathBuf>,
    points: Vec<Arc<Point>>,
    /// What is known of points, by their hashes.
    about: Arc<BTreeMap<String, Asked>>,
    /// Hash of each run that an experiment asks for, by its number.
    asked: Vec<Vec<(Address, String)>>,
    so_far: Arc<RunsSoFar>,
    reports: Arc<Reports>,
    /// Experiments that have been judged.
    judged: usize,
}

/// What decides the results of a scenario of one transport, without planning it, and its input files.
pub fn identity_of(scenario: &Scenario) -> Result<(String, Contents), Fault> {
    let mut contents = Contents::new();
    gather(scenario, &mut contents)?;
    Ok((incast_experiment::identity_of(scenario, &contents)?, contents))
}

impl Reproduction {
    /// Finds the runs of experiments, and the tables that there are.
    pub(crate) fn plan(
        experiments: Vec<Experiment>,
        options: &Options,
        folder: Option<&Path>,
    ) -> Result<Reproduction, Fault> {
        let store = options.keep.as_ref().map(|folder| Arc::new(Store::at(folder)));
        let (so_far, reports) = (Arc::<RunsSoFar>::default(), Arc::<Reports>::default());
        let mut planning = Planning {
            options,
            folder,
            store: store.as_deref(),
            index: None,
            so_far: &so_far,
            reports: &reports,
            points: vec![],
            about: BTreeMap::new(),
            transports: BTreeMap::new(),
            scenarios: 0,
            asked: vec![],
        };
        let experiments: Vec<_> = experiments.into_iter().map(Arc::new).collect();
        for experiment in &experiments {
            planning.asked.push(vec![]);
            if !experiment.expected.claims.is_empty() {
                for set in chosen_sets(experiment, options) {
                    planning.worlds(experiment, &set)?;
                }
                planning.finite(experiment)?;
            }
        }
        let (points, about, asked) = (planning.points, Arc::new(planning.about), planning.asked);
        let points = points.into_iter().map(Arc::new).collect();
        let (options, folder) = (options.clone(), folder.map(Path::to_path_buf));
        Ok(Reproduction {
            experiments,
            options,
            store,
            folder,
            points,
            about,
            asked,
            so_far,
            reports,
            judged: 0,
        })
    }

    /// How it is reproduced.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Drives the runs that are missing; an executor is a loop around it.
    ///
    /// # Errors
    /// Tables that cannot be read.
    pub fn driver(&self) -> Result<Driver<Figures>, Fault> {
        let retry_failed = self.options.retry_failed;
        let (keep, so_far) = (self.store.clone(), self.so_far.clone());
        let job = Figures { keep, so_far, asked: self.about.clone(), retry: retry_failed };
        Driver::of(job, self.points.clone(), DriverOptions { retry_failed })
    }

    /// What is to be told since the last call: tables that were kept, or are stale.
    pub fn news(&self) -> Vec<String> {
        self.so_far.news()
    }

    /// Judges the experiments, in order, whose runs are all there; or `all`.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn judge(&mut self, all: bool) -> Result<Vec<Verdict>, Fault> {
        let mut new = vec![];
        while let Some(experiment) = self.experiments.get(self.judged) {
            if !all && !self.is_whole(self.judged) {
                return Ok(new);
            }
            let (expected, folder) = (&experiment.expected, self.folder.as_deref());
            let values = match &expected.model {
                Some(model) => {
                    let (name, title) = (&experiment.name, &expected.title);
                    Some(curves(name, title, model, &self.options, folder)?)
                }
                None => None,
            };
            let mut results = vec![];
            if !expected.claims.is_empty() {
                for set in chosen_sets(experiment, &self.options) {
                    let own = in_worlds(experiment, &set, |set| Ok(self.results(experiment, set)))?;
                    results.push((set, own));
                }
            }
            let of = |set: &Set| Ok(self.results(experiment, set));
            let finite = in_finite(experiment, of)?;
            new.extend(verdicts(experiment, values.as_ref(), &results, &finite));
            self.judged += 1;
        }
        self.reports.close()?;
        Ok(new)
    }

    /// Names of the runs of the first experiment in a set, one for each transport and seed.
    #[cfg(test)]
    pub(crate) fn runs_of(&self, set: &str) -> Vec<String> {
        let of = self.asked[0].iter().filter(|(address, _)| address.set == set);
        of.map(|(address, _)| address.run.clone()).collect()
    }

    /// Whether all runs of an experiment are there.
    fn is_whole(&self, at: usize) -> bool {
        let made = self.so_far.made();
        self.asked[at].iter().all(|(_, hash)| made.contains_key(hash))
    }

    /// What the runs of the experiment that is judged now gave in a set.
    fn results(&self, experiment: &Experiment, set: &Set) -> Results {
        let seeds = experiment.seeds(&self.options).len();
        let smoke = self.options.quick && !experiment.expected.quick.is_empty();
        let mut results = Results::new(experiment.default_run(), seeds, smoke);
        results.fewer = experiment.fewer_seeds();
        let made = self.so_far.made();
        for (address, hash) in self.asked[self.judged].iter().filter(|one| one.0.set == set.name) {
            if let Some(made) = made.get(hash) {
                results.add_table(&address.run, &address.transport, address.seed, made);
            }
        }
        results
    }
}

/// What a set gave in the simulator, with what it gave in the other worlds of the experiment.
///
/// # Errors
/// Those of `of`, which says what the set of one world gave.
pub fn in_worlds(
    experiment: &Experiment,
    set: &Set,
    of: impl Fn(&Set) -> Result<Results, Fault>,
) -> Result<Results, Fault> {
    let mut own = of(set)?;
    if experiment.in_dataplane() {
        own.dataplane = Some(Box::new(of(&set.in_dataplane())?));
    }
    if experiment.in_real_time() {
        for clock in REAL_TIME {
            let beside = of(&set.in_real_time(clock))?;
            if !beside.is_empty() {
                own.real_time.push((clock, beside));
            }
        }
    }
    Ok(own)
}

/// What finite runs gave in each of their sets, by length.
///
/// # Errors
/// Those of `of`, which says what the set of one length gave.
pub fn in_finite(
    experiment: &Experiment,
    of: impl Fn(&Set) -> Result<Results, Fault>,
) -> Result<Vec<(Set, ByLength)>, Fault> {
    let by_length = |(set, lengths): (Set, Vec<Set>)| {
        let length = |one: &Set| Ok((one.flows.unwrap_or_default(), of(one)?));
        Ok((set, lengths.iter().map(length).collect::<Result<_, Fault>>()?))
    };
    experiment.finite().into_iter().map(by_length).collect()
}

/// What is found while runs are planned.
struct Planning<'a> {
    options: &'a Options,
    folder: Option<&'a Path>,
    store: Option<&'a Store>,
    /// Made when a run has no table of its own.
    index: Option<Index>,
    so_far: &'a RunsSoFar,
    reports: &'a Arc<Reports>,
    points: Vec<Point>,
    about: BTreeMap<String, Asked>,
    transports: BTreeMap<String, usize>,
    scenarios: usize,
    asked: Vec<Vec<(Address, String)>>,
}

impl Planning<'_> {
    /// The runs of a set in the worlds of the experiment. In real time they are made under the clock
    /// that is asked for; of other clocks, and without one, there is what has been kept.
    fn worlds(&mut self, experiment: &Arc<Experiment>, set: &Set) -> Result<(), Fault> {
        let options = self.options;
        self.set(experiment, set, options.from_kept)?;
        if experiment.in_dataplane() {
            self.set(experiment, &set.in_dataplane(), options.from_kept)?;
        }
        for clock in REAL_TIME.into_iter().filter(|_| experiment.in_real_time()) {
            let kept = options.from_kept || options.clock != Some(clock);
            if !kept || options.from_kept || options.keep.is_some() {
                self.set(experiment, &set.in_real_time(clock), kept)?;
            }
        }
        Ok(())
    }

    /// Finite runs from an empty network: those that are asked for, and of others what has been kept.
    fn finite(&mut self, experiment: &Arc<Experiment>) -> Result<(), Fault> {
        let options = self.options;
        for set in experiment.finite().into_iter().flat_map(|(_, lengths)| lengths) {
            let kept = options.from_kept || !is_asked(&set.name, options);
            if !kept || (options.keep.is_some() && !options.quick) {
                self.set(experiment, &set, kept)?;
            }
        }
        Ok(())
    }

    /// The runs of a set; of `kept`, those that have a table.
    fn set(&mut self, experiment: &Arc<Experiment>, set: &Set, kept: bool) -> Result<(), Fault> {
        let options = self.options;
        let seeds = experiment.seeds(options);
        let mut runs = experiment.runs_in(set);
        if kept {
            // What has no table is not asked for.
            let store = self.store.expect("tables are kept somewhere");
            let tables = store.tables(&experiment.name)?;
            let there = tables.keys().filter(|address| address.set == set.name);
            let there: BTreeSet<&str> = there.map(|address| address.run.as_str()).collect();
            runs.retain(|run| there.contains(run.as_str()));
        }
        let takes =
            |run: &str, seed: &Option<u64>| experiment.seeds_of(run, options).contains(seed);
        let mut all: Vec<(&Option<u64>, &String)> = match self.folder {
            // The first seed of every run comes first: an interruption leaves something of each.
            None => seeds.iter().flat_map(|seed| runs.iter().map(move |run| (seed, run))).collect(),
            // With files, one run after the other, so that few of them wait for their page.
            Some(_) => {
                runs.iter().flat_map(|run| seeds.iter().map(move |seed| (seed, run))).collect()
            }
        };
        all.retain(|(seed, run)| takes(run, seed));
        for (seed, run) in all {
            self.run(experiment, set, run, *seed, kept)?;
        }
        Ok(())
    }

    /// The transports of a run with a seed.
    fn run(
        &mut self,
        experiment: &Arc<Experiment>,
        set: &Set,
        run: &str,
        asked: Option<u64>,
        kept: bool,
    ) -> Result<(), Fault> {
        let mut scenario = experiment.scenario(run, set, asked, self.options.quick)?;
        let seed = scenario.run.seed;
        let wanted = experiment.wanted(run, set);
        self.scenarios += 1;
        for transport in std::mem::take(&mut scenario.transport.names) {
            scenario.transport.names = vec![set.in_place_of(&transport).into()];
            let (identity, contents) = identity_of(&scenario)
                .map_err(|fault| fault.noted(&format!("{} ({run})", experiment.name)))?;
            let address = Address {
                experiment: experiment.name.clone(),
                set: set.name.clone(),
                run: run.into(),
                transport: transport.clone(),
                seed,
            };
            let page = self.folder.map(|folder| folder.join(within(experiment, set)).join(run));
            let files = page.as_ref().map(|page| match experiment.expected.seeds.len() {
                0 | 1 => page.join(&transport),
                _ => page.join(format!("seed-{seed}")).join(&transport),
            });
            let hash = hash(&identity, &wanted, files.as_deref());
            let seeds = experiment.seeds_of(run, self.options).len();
            let table = self.table(&address, &identity, &wanted, seeds)?;
            let kept = kept || !experiment.is_asked(run, &self.options.runs);
            self.ask(&address, &hash, table, kept);
            if kept {
                continue;
            }
            if let Some(known) = self.about.get_mut(&hash) {
                known.addresses.push(address);
                continue;
            }
            let series = self.transports.len();
            let series = *self.transports.entry(transport.clone()).or_insert(series);
            let is_made = self.so_far.made().contains_key(&hash);
            let page = page.filter(|_| !is_made);
            let done = page.as_ref().map(|page| {
                let page = page.join("report.html");
                let title = format!("{}: {} ({run})", experiment.name, experiment.expected.title);
                let place = self.reports.await_one(&page, &title);
                let reports = self.reports.clone();
                Done::new(move |run| reports.add(&page, place, run))
            });
            let Address { experiment, set, run, transport, .. } = &address;
            let label = format!("{experiment}, {set}, {run}, {transport}");
            let mut wanted = wanted.clone();
            if self.options.keep.is_some() {
                standard::add(&mut wanted);
            }
            let (kind, own) = ((series, self.scenarios), (scenario.clone(), contents));
            self.points.push(Point::alone((label, hash.clone()), kind, own, wanted, done));
            let files = files.filter(|_| page.is_some());
            let about = Asked { identity, addresses: vec![address], seeds, files };
            self.about.insert(hash, about);
        }
        Ok(())
    }

    /// Takes note of a run and its table. One of `kept` runs that has none is not waited for.
    fn ask(&mut self, address: &Address, hash: &str, table: Option<KeptTable>, kept: bool) {
        if table.is_some() || !kept || self.options.from_kept {
            let asked = self.asked.last_mut().expect("an experiment");
            asked.push((address.clone(), hash.into()));
        }
        if let Some(table) = table {
            self.so_far.made().insert(hash.into(), table);
        }
    }

    /// The table of a run, if there is one that will do: its own, or that of the same run elsewhere,
    /// now kept here - a set that changes other transports leaves this one's run as it is, and
    /// figures share runs. Tables that are judged as they are may be stale.
    fn table(
        &mut self,
        address: &Address,
        identity: &str,
        wanted: &[Wanted],
        seeds: usize,
    ) -> Result<Option<KeptTable>, Fault> {
        let Some(store) = self.store else { return Ok(None) };
        let again = self.options.retry_failed;
        let retry = |table: &KeptTable| again && table.refused.is_some();
        let does = |table: &KeptTable| {
            table.error.is_some() || (is_whole(&table.row, wanted, seeds) && !retry(table))
        };
        if let Some(table) = store.table(address)? {
            let stale = table.identity != identity;
            if stale {
                let why = "is stale: made from another scenario or version";
                self.so_far.tell(format!("{address} {why}"));
            }
            if self.options.from_kept || (!stale && does(&table)) {
                return Ok(Some(table));
            }
        }
        if self.options.from_kept {
            return Ok(None);
        }
        let index = match &mut self.index {
            Some(index) => index,
            none => none.insert(Index::of(store)?),
        };
        for other in index.same(address, identity) {
            let Some(table) = store.table(other)? else { continue };
            if is_whole(&table.row, wanted, seeds) && !retry(&table) {
                store.keep(address, &table)?;
                return Ok(Some(table));
            }
        }
        Ok(None)
    }
}

/// The name of a task: what decides its results, what is read, and where its files go.
fn hash(identity: &str, wanted: &[Wanted], files: Option<&Path>) -> String {
    let mut sha = Sha256::new();
    sha.update(identity);
    for wanted in wanted {
        sha.update(format!("\n{}", wanted.id()));
    }
    if let Some(files) = files {
        sha.update(format!("\nfiles {}", files.display()));
    }
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Folder of a set's results: the experiment's own if that has one set, in the simulator.
fn within(experiment: &Experiment, set: &Set) -> PathBuf {
    match experiment.sets().len() {
        1 if set.world == World::Sim => PathBuf::from(&experiment.name),
        _ => Path::new(&experiment.name).join(&set.name),
    }
}

#[cfg(test)]
mod tests;
