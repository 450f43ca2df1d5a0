//! The runs of an experiment in one assumption set: kept tables where there are, else run.

use super::expected::{Experiment, Planned};
use super::kept::{Address, Store, Table, fingerprint};
use super::seen::{Results, Row, Wanted};
use super::sets::Set;
use super::{Finished, Options};
use crate::plan::Case;
use crate::{Fault, execute, output};
use incast_measure::Run;
use incast_world::Monitor;
use std::path::{Path, PathBuf};

/// What the runs of an experiment gave in one set. `told` is called with what a person wants to
/// know meanwhile; with a `folder`, the results of runs are written there.
///
/// # Errors
/// A run that cannot be planned, or a table that cannot be read or written.
pub fn results(
    experiment: &Experiment,
    set: &Set,
    options: &Options,
    folder: Option<&Path>,
    told: &mut dyn FnMut(&str),
) -> Result<Results, Fault> {
    let seeds = experiment.seeds(options);
    let smoke = options.quick && !experiment.expected.quick.is_empty();
    let mut results = Results::new(experiment.default_run(), seeds.len(), smoke);
    for run in experiment.runs() {
        let wanted = experiment.wanted(&run);
        let mut made = vec![];
        for seed in &seeds {
            let planned = experiment.plan(&run, set, *seed, options.quick)?;
            let place = folder.map(|folder| folder.join(place(experiment, set, &planned)));
            let gather = Gather { experiment, set, options, planned: &planned, wanted: &wanted };
            for case in &planned.plan.cases {
                let (row, run) = gather.row(case, place.as_deref(), &mut results, told)?;
                made.extend(run);
                if let Some(row) = row {
                    results.add(&planned.run, &case.label, planned.seed, row);
                }
            }
        }
        if let (Some(folder), false) = (folder, made.is_empty()) {
            let title = format!("{}: {} ({run})", experiment.name, experiment.expected.title);
            let place = folder.join(within(experiment, set)).join(&run).join("report.html");
            incast_measure::report_html(&place, &title, &made)?;
        }
    }
    Ok(results)
}

/// Folder of a set's results: the experiment's own if that has one set.
fn within(experiment: &Experiment, set: &Set) -> PathBuf {
    match experiment.sets().len() {
        1 => PathBuf::from(&experiment.name),
        _ => Path::new(&experiment.name).join(&set.name),
    }
}

/// Folder of a run's results: one per seed if the experiment has several.
fn place(experiment: &Experiment, set: &Set, planned: &Planned) -> PathBuf {
    let run = within(experiment, set).join(&planned.run);
    match experiment.expected.seeds.len() {
        0 | 1 => run,
        _ => run.join(format!("seed-{}", planned.seed)),
    }
}

/// One run to be had.
struct Gather<'a> {
    experiment: &'a Experiment,
    set: &'a Set,
    options: &'a Options,
    planned: &'a Planned,
    wanted: &'a [Wanted],
}

impl Gather<'_> {
    fn address(&self, case: &Case) -> Address {
        Address {
            experiment: self.experiment.name.clone(),
            set: self.set.name.clone(),
            run: self.planned.run.clone(),
            transport: case.label.clone(),
            seed: self.planned.seed,
        }
    }

    /// The kept table of a case.
    fn kept(&self, address: &Address) -> Result<Option<Table>, Fault> {
        match (&self.options.keep, self.options.from_kept) {
            (Some(folder), _) => Store::Folder(folder.clone()).table(address),
            (None, true) => Store::Embedded.table(address),
            (None, false) => Ok(None),
        }
    }

    /// What a case gave, and the run if it had to be made.
    fn row(
        &self,
        case: &Case,
        place: Option<&Path>,
        results: &mut Results,
        told: &mut dyn FnMut(&str),
    ) -> Result<(Option<Row>, Option<Run>), Fault> {
        let address = self.address(case);
        let kept = self.kept(&address)?;
        if let Some(table) = kept {
            let stale = table.manifest != fingerprint(&self.planned.plan, case);
            let whole = self.wanted.iter().all(|one| table.row.contains_key(&one.id()));
            let path = address.path().display().to_string();
            if stale {
                told(&format!("{path} is stale: made by another manifest"));
                results.stale.push(path);
            }
            if self.options.from_kept || (whole && !stale) {
                return Ok((Some(table.row), None));
            }
        }
        if self.options.from_kept {
            return Ok((None, None));
        }
        let begin = std::time::Instant::now();
        let finished = self.run(case, place)?;
        let row: Row = self.wanted.iter().map(|one| (one.id(), one.read(&finished))).collect();
        if let Some(folder) = &self.options.keep {
            Table::of(&self.planned.plan, case, row.clone()).keep(folder, &address)?;
            let seconds = begin.elapsed().as_secs();
            told(&format!("kept {} ({seconds} s)", address.path().display()));
        }
        Ok((Some(row), Some(finished.run)))
    }

    /// Runs a case; with a `place`, its results are written there.
    fn run(&self, case: &Case, place: Option<&Path>) -> Result<Finished, Fault> {
        let plan = &self.planned.plan;
        let watched: Vec<String> = self.wanted.iter().flat_map(Wanted::captures).collect();
        let ports = output::ports(plan, &watched)?;
        let monitor = Monitor::default();
        let (run, captured) = execute(plan, case, ports.clone(), self.options.threads, &monitor)?;
        if let Some(place) = place {
            let place = place.join(&case.label);
            std::fs::create_dir_all(&place).map_err(|error| {
                Fault::new(format!("could not create {}: {error}", place.display()))
            })?;
            output::write_run(&place, &run, false)?;
            output::write_captures(&place, plan, &ports, &captured)?;
            output::seal(&place, &run)?;
        }
        Ok(Finished { run, captured })
    }
}
