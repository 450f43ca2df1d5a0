//! The runs of figures as what a driver drives: their rows are kept tables.

use super::expected::Experiment;
use super::files;
use super::kept::{Address, Store, Table};
use super::reports::Reports;
use super::runs::{identity_of, is_whole};
use super::seen::{Row, Seen, Wanted};
use super::sets::{self, Set};
use super::{Finished, standard};
use incast_experiment::{Fault, Monitor, Plan, VERSION, execute, output};
use incast_study::{Claimed, Gained, Job, Task, Times, answer, claim, guarded, of_plan};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One run of a figure: one transport with one seed in one set.
pub struct FigureRun {
    pub(crate) experiment: Arc<Experiment>,
    pub(crate) set: Set,
    pub(crate) run: String,
    /// The seed that is asked for; none is the scenario's.
    pub(crate) asked: Option<u64>,
    pub(crate) quick: bool,
    pub(crate) transport: String,
    /// What decides its results ([`incast_experiment::identity`]).
    pub(crate) identity: String,
    /// Hash of that, of what is read from the run, and of where its files go.
    pub(crate) hash: String,
    /// Its number among the transports of the reproduction, and the number of its scenario.
    pub(crate) kind: (usize, usize),
    /// Where its table is kept: several if figures or sets ask for the same run.
    pub(crate) addresses: Vec<Address>,
    /// Whether its table has the standard numbers.
    pub(crate) standard: bool,
    /// Seeds with which it is run: with one, batches of flows give the interval.
    pub(crate) seeds: usize,
    /// Where the files of the run go, the page that it is part of, and its place there.
    pub(crate) files: Option<(PathBuf, PathBuf, usize)>,
    pub(crate) reports: Arc<Reports>,
}

/// A run as it travels: experiments are part of the program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    /// Version of the program.
    incast: String,
    figure: String,
    set: String,
    run: String,
    seed: Option<u64>,
    quick: bool,
    transport: String,
    identity: String,
    hash: String,
    standard: bool,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    hash: String,
    /// What it took.
    pub(crate) times: Times,
    /// Its table; with an error, if the run failed.
    pub(crate) table: Table,
}

impl Made {
    /// What a kept table says.
    pub(crate) fn kept(hash: &str, table: Table) -> Made {
        Made { hash: hash.into(), times: Times::default(), table }
    }
}

impl Gained for Made {
    fn hash(&self) -> &str {
        &self.hash
    }

    fn error(&self) -> Option<&str> {
        self.table.error.as_deref()
    }

    fn flows(&self) -> u64 {
        self.table.flows as u64
    }

    fn took(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.times.wall_seconds))
    }
}

impl FigureRun {
    fn plan(&self) -> Result<Plan, Fault> {
        let mut scenario =
            self.experiment.scenario(&self.run, &self.set, self.asked, self.quick)?;
        scenario.transport.names = vec![self.transport.clone()];
        self.experiment.resolve(scenario, &self.run, &self.set)
    }

    /// What must be read from it.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        self.experiment.wanted(&self.run, &self.set)
    }

    /// The run, if `monitor` does not interrupt it.
    fn table(
        &self,
        threads: usize,
        monitor: &Monitor,
        folder: Option<&Path>,
    ) -> Result<Option<Table>, Fault> {
        let plan = self.plan()?;
        let wanted = self.wanted();
        let watched: Vec<String> = wanted.iter().flat_map(Wanted::captures).collect();
        let ports = output::ports(&plan, &watched)?;
        let (run, captured) = execute(&plan, &plan.cases[0], ports.clone(), threads, monitor)?;
        if run.record.interrupted {
            return Ok(None);
        }
        if let Some(place) = folder {
            std::fs::create_dir_all(place).map_err(|error| {
                Fault::unwritten(format!("could not create {}: {error}", place.display()))
            })?;
            output::write_run(place, &run, false)?;
            output::write_captures(place, &plan, &ports, &captured)?;
            output::seal(place, &run)?;
        }
        let finished = Finished { run, captured };
        let mut row: Row = wanted.iter().map(|one| (one.id(), one.read(&finished))).collect();
        if self.standard {
            add_standard(&mut row, &finished);
        }
        let mut table = Table::of(self.identity.clone(), plan.traffic.flows.len(), row);
        if let Some(fidelity) = &finished.run.fidelity {
            table = table.in_real_time(fidelity);
        }
        if let Some((_, page, place)) = &self.files {
            self.reports.add(page, *place, finished.run)?;
        }
        Ok(Some(table))
    }

    /// Reads what [`Task::to_bytes`] wrote.
    fn from_bytes(bytes: &[u8]) -> Result<FigureRun, Fault> {
        let packed: Packed = serde_json::from_slice(bytes)
            .map_err(|error| Fault::new(format!("not a run of a figure: {error}")))?;
        let other = || {
            Fault::new(format!(
                "the run comes from a program with other results (version {}), and this is {VERSION}: \
                 expected the same version of incast on every worker",
                packed.incast
            ))
        };
        let known = files::experiments().find(|name| *name == packed.figure);
        let experiment = Experiment::read(known.ok_or_else(other)?)?;
        let set = sets::find(&experiment.sets(), &packed.set).ok_or_else(other)?;
        if !experiment.has(&packed.run, &set) {
            return Err(other());
        }
        let mut scenario = experiment.scenario(&packed.run, &set, packed.seed, packed.quick)?;
        scenario.transport.names = vec![packed.transport.clone()];
        if identity_of(&scenario)? != packed.identity {
            return Err(other());
        }
        Ok(FigureRun {
            experiment: Arc::new(experiment),
            set,
            run: packed.run,
            asked: packed.seed,
            quick: packed.quick,
            transport: packed.transport,
            identity: packed.identity,
            hash: packed.hash,
            kind: (0, 0),
            addresses: vec![],
            standard: packed.standard,
            seeds: 1,
            files: None,
            reports: Arc::default(),
        })
    }
}

/// Runs what came as the bytes of a figure's run, and answers with bytes for
/// [`Driver::take`](incast_study::Driver::take). None if the bytes are of something else.
pub fn run_bytes(run: &[u8], threads: usize, monitor: &Monitor) -> Option<Vec<u8>> {
    let own = serde_json::from_slice::<serde_json::Value>(run).ok()?.get("figure").is_some();
    own.then(|| answer(FigureRun::from_bytes(run), threads, monitor))
}

impl Task for FigureRun {
    type Row = Made;

    fn hash(&self) -> &str {
        &self.hash
    }

    fn kind(&self) -> (usize, usize) {
        self.kind
    }

    fn name(&self) -> String {
        self.addresses[0].to_string()
    }

    fn memory(&self) -> u64 {
        // What cannot be planned fails at once.
        self.plan().map_or(0, |plan| of_plan(&plan))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let packed = Packed {
            incast: VERSION.into(),
            figure: self.experiment.name.clone(),
            set: self.set.name.clone(),
            run: self.run.clone(),
            seed: self.asked,
            quick: self.quick,
            transport: self.transport.clone(),
            identity: self.identity.clone(),
            hash: self.hash.clone(),
            standard: self.standard,
        };
        serde_json::to_vec(&packed).expect("plain data becomes JSON")
    }

    fn run(&self, threads: usize, monitor: &Monitor, folder: Option<&Path>) -> Option<Made> {
        let (made, times) = guarded(threads, || self.table(threads, monitor, folder))?;
        let table = made.unwrap_or_else(|error| Table::failed(self.identity.clone(), &error));
        Some(Made { hash: self.hash.clone(), times, table })
    }
}

/// Adds the numbers that every table has, so that a claim about one of them needs no new run.
fn add_standard(row: &mut Row, finished: &Finished) {
    for measure in standard::measures() {
        // Without its batches, a table stays small: seeds give the interval.
        let of = |measure| Seen { list: vec![], ..Wanted::Number(measure).read(finished) };
        row.entry(measure.id()).or_insert_with(|| of(measure));
    }
}

/// What runs gave so far, and what a person wants to know of them.
#[derive(Default)]
pub struct Shelf {
    made: Mutex<BTreeMap<String, Made>>,
    notes: Mutex<Vec<String>>,
}

impl Shelf {
    pub(crate) fn made(&self) -> MutexGuard<'_, BTreeMap<String, Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has not been told yet.
    pub(crate) fn news(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn tell(&self, note: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
}

/// Runs of figures; their tables are in a folder of experiments, if there is one.
pub struct Figures {
    pub(crate) keep: Option<Arc<Store>>,
    pub(crate) shelf: Arc<Shelf>,
    /// Whether runs in real time that were refused are made again.
    pub(crate) retry: bool,
}

/// Locks of runs in a folder of kept tables.
const CLAIMS: &str = ".claims";

impl Job for Figures {
    type Task = FigureRun;

    fn kept(&self) -> Result<BTreeSet<String>, Fault> {
        Ok(self.shelf.made().keys().cloned().collect())
    }

    fn reads(&self) -> bool {
        true
    }

    fn row(&self, run: &FigureRun) -> Result<Option<Made>, Fault> {
        if let Some(made) = self.shelf.made().get(&run.hash) {
            return Ok(Some(made.clone()));
        }
        let Some(store) = &self.keep else { return Ok(None) };
        // Another process may have made it.
        let table = store.table(&run.addresses[0])?;
        let again = |table: &Table| self.retry && table.refused.is_some();
        let table = table.filter(|table| table.identity == run.identity && !again(table));
        let whole = |table: &Table| is_whole(&table.row, &run.wanted(), run.seeds);
        let table = table.filter(|table| table.error.is_some() || whole(table));
        Ok(table.map(|table| Made::kept(&run.hash, table)))
    }

    fn keep(&self, run: &FigureRun, made: &Made) -> Result<(), Fault> {
        let Some(store) = &self.keep else { return Ok(()) };
        for address in &run.addresses {
            store.keep(address, &made.table)?;
            let seconds = made.times.wall_seconds as u64;
            self.shelf.tell(format!("kept {address} ({seconds} s)"));
        }
        Ok(())
    }

    fn remove(&self, run: &FigureRun) {
        self.shelf.made().remove(&run.hash);
        let Some(store) = &self.keep else { return };
        for address in &run.addresses {
            let _ = store.remove(address);
        }
    }

    fn claim(&self, run: &FigureRun) -> Claimed {
        let Some(store) = &self.keep else { return Claimed::Own(None) };
        let place = store.folder().join(CLAIMS);
        // Without it, every run is one's own.
        let _ = std::fs::create_dir_all(&place);
        claim(&place.join(&run.hash))
    }

    fn folder(&self, run: &FigureRun) -> Option<PathBuf> {
        run.files.as_ref().map(|(place, _, _)| place.clone())
    }

    fn note(&mut self, run: &FigureRun, made: &Made) {
        if let Some(error) = made.error() {
            self.shelf.tell(format!("failed: {}: {error}", run.name()));
        }
        if let Some(why) = &made.table.refused {
            self.shelf.tell(format!("refused: {}: {why}", run.name()));
        }
        self.shelf.made().insert(run.hash.clone(), made.clone());
    }

    fn gather(&self, _changed: bool) -> Result<(), Fault> {
        let Some(store) = &self.keep else { return Ok(()) };
        // Another process may still have claims.
        let _ = std::fs::remove_dir(store.folder().join(CLAIMS));
        store.gather()
    }
}
