//! The runs of an experiment in one assumption set: kept tables where there are, else run.

use super::expected::{Experiment, Planned};
use super::kept::{self, Address, Store, Table};
use super::seen::{Results, Row, Seen, Wanted};
use super::sets::Set;
use super::{Finished, Options, standard};
use incast_experiment::Case;
use incast_experiment::{Fault, World, execute, identity, output};
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
    let mut results = in_one_world(experiment, set, options, folder, told)?;
    if experiment.in_dataplane() {
        let beside = in_one_world(experiment, &set.in_dataplane(), options, folder, told)?;
        results.dataplane = Some(Box::new(beside));
    }
    Ok(results)
}

/// The results of the set's own world.
fn in_one_world(
    experiment: &Experiment,
    set: &Set,
    options: &Options,
    folder: Option<&Path>,
    told: &mut dyn FnMut(&str),
) -> Result<Results, Fault> {
    let seeds = experiment.seeds(options);
    let smoke = options.quick && !experiment.expected.quick.is_empty();
    let mut results = Results::new(experiment.default_run(), seeds.len(), smoke);
    results.fewer = experiment.fewer_seeds();
    let mut runs = experiment.runs_in(set);
    let takes = |run: &str, seed: &Option<u64>| experiment.seeds_of(run, options).contains(seed);
    if options.from_kept {
        // What has no table need not be planned.
        let store = options.keep.clone().map_or(Store::Embedded, Store::Folder);
        let mut kept = vec![];
        for run in runs {
            if !store.runs(&experiment.name, &set.name, &run)?.is_empty() {
                kept.push(run);
            }
        }
        runs = kept;
    }
    let Some(folder) = folder else {
        // The first seed of every run comes first: an interruption leaves something of each.
        let all = seeds.iter().flat_map(|seed| runs.iter().map(move |run| (seed, run)));
        let all: Vec<_> = all.filter(|(seed, run)| takes(run, seed)).collect();
        // Before any of them, what other figures have run already: it costs nothing.
        if let (Some(folder), false) = (&options.keep, options.from_kept) {
            let store = Store::Folder(folder.clone());
            for (seed, run) in &all {
                let begun = store.runs(&experiment.name, &set.name, run)?;
                if seed.is_some_and(|seed| begun.iter().any(|(_, own, _)| *own == seed)) {
                    continue;
                }
                let planned = experiment.plan(run, set, **seed, options.quick)?;
                let wanted = experiment.wanted(&planned.run);
                let planned = &planned;
                let gather = Gather { experiment, set, options, planned, wanted: &wanted };
                for case in &planned.plan.cases {
                    gather.shared(&gather.address(case), &identity(&planned.plan, case))?;
                }
            }
        }
        for (seed, run) in all {
            let planned = experiment.plan(run, set, *seed, options.quick)?;
            gather(experiment, set, options, &planned, None, &mut results, told)?;
        }
        return Ok(results);
    };
    for run in runs {
        let mut made = vec![];
        for seed in seeds.iter().filter(|seed| takes(&run, seed)) {
            let planned = experiment.plan(&run, set, *seed, options.quick)?;
            let place = folder.join(place(experiment, set, &planned));
            let place = Some(place.as_path());
            made.extend(gather(experiment, set, options, &planned, place, &mut results, told)?);
        }
        if !made.is_empty() {
            let title = format!("{}: {} ({run})", experiment.name, experiment.expected.title);
            let place = folder.join(within(experiment, set)).join(&run).join("report.html");
            incast_measure::report_html(&place, &title, &made)?;
        }
    }
    Ok(results)
}

/// Adds what the cases of a planned run gave to the results, and returns the runs that were made if
/// they have a `place`.
fn gather(
    experiment: &Experiment,
    set: &Set,
    options: &Options,
    planned: &Planned,
    place: Option<&Path>,
    results: &mut Results,
    told: &mut dyn FnMut(&str),
) -> Result<Vec<Run>, Fault> {
    let wanted = experiment.wanted(&planned.run);
    let gather = Gather { experiment, set, options, planned, wanted: &wanted };
    let mut made = vec![];
    for case in &planned.plan.cases {
        let (row, run) = gather.row(case, place, results, told)?;
        made.extend(run.filter(|_| place.is_some()));
        if let Some(row) = row {
            results.add(&planned.run, &case.label, planned.seed, row);
        }
    }
    Ok(made)
}

/// Folder of a set's results: the experiment's own if that has one set, in the simulator.
fn within(experiment: &Experiment, set: &Set) -> PathBuf {
    match experiment.sets().len() {
        1 if set.world == World::Sim => PathBuf::from(&experiment.name),
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
        let own = identity(&self.planned.plan, case);
        if let Some(table) = self.kept(&address)? {
            let stale = table.identity != own;
            let path = address.path().display().to_string();
            if stale {
                told(&format!("{path} is stale: made from another scenario or version"));
                results.stale.push(path);
            }
            if self.options.from_kept || (self.is_whole(&table) && !stale) {
                return Ok((Some(table.row), None));
            }
        }
        if self.options.from_kept {
            return Ok((None, None));
        }
        if let Some(table) = self.shared(&address, &own)? {
            return Ok((Some(table.row), None));
        }
        let begin = std::time::Instant::now();
        let finished = self.run(case, place)?;
        let row: Row = self.wanted.iter().map(|one| (one.id(), one.read(&finished))).collect();
        if let Some(folder) = &self.options.keep {
            let flows = self.planned.plan.traffic.flows.len();
            Table::of(own, flows, with_standard(&row, &finished)).keep(folder, &address)?;
            let seconds = begin.elapsed().as_secs();
            told(&format!("kept {} ({seconds} s)", address.path().display()));
        }
        Ok((Some(row), Some(finished.run)))
    }

    /// Whether a table has everything that is wanted.
    fn is_whole(&self, table: &Table) -> bool {
        self.wanted.iter().all(|one| self.is_kept(&table.row, one))
    }

    /// Whether a row has what is wanted; of one seed, with the batches that give the interval.
    fn is_kept(&self, row: &Row, wanted: &Wanted) -> bool {
        let seeds = self.experiment.seeds_of(&self.planned.run, self.options).len();
        row.get(&wanted.id()).is_some_and(|seen| {
            let batches = matches!(wanted, Wanted::Number(_)) && seen.flows != 0;
            seeds > 1 || !batches || !seen.list.is_empty()
        })
    }

    /// The table of the same run elsewhere, now kept here: a set that changes other transports leaves
    /// this one's run as it is, and figures share runs.
    fn shared(&self, address: &Address, identity: &str) -> Result<Option<Table>, Fault> {
        let Some(folder) = &self.options.keep else { return Ok(None) };
        let found = kept::same(folder, address, identity)?;
        let table = found.into_iter().find(|table| self.is_whole(table));
        if let Some(table) = &table {
            table.keep(folder, address)?;
        }
        Ok(table)
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

/// A row with the numbers that every table has, so that a claim about one of them needs no new run.
fn with_standard(row: &Row, finished: &Finished) -> Row {
    let mut whole = row.clone();
    for measure in standard::measures() {
        // Without its batches, a table stays small: seeds give the interval.
        let of = |measure| Seen { list: vec![], ..Wanted::Number(measure).read(finished) };
        whole.entry(measure.id()).or_insert_with(|| of(measure));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected::folders;

    /// Tables in the repository are of this program: their scenarios and versions are today's.
    #[test]
    fn no_kept_table_is_stale() {
        let mut stale = vec![];
        for experiment in Experiment::all().unwrap() {
            let every = experiment.sets().into_iter().flat_map(|set| {
                experiment.runs_in(&set).into_iter().map(move |run| (set.clone(), run))
            });
            for (set, run) in every {
                let kept = Store::Embedded.runs(&experiment.name, &set.name, &run).unwrap();
                // Other seeds differ in nothing else.
                let Some(seed) = kept.iter().map(|(_, seed, _)| *seed).min() else { continue };
                let Planned { plan, .. } = experiment.plan(&run, &set, Some(seed), false).unwrap();
                for (transport, _, table) in kept.iter().filter(|one| one.1 == seed) {
                    let case = plan.cases.iter().find(|case| case.label == *transport);
                    if case.map(|case| identity(&plan, case)).as_ref() != Some(&table.identity) {
                        stale.push(format!("{} {} {run} {transport}", experiment.name, set.name));
                    }
                }
            }
        }
        assert!(stale.is_empty(), "made from another scenario or version: {stale:#?}");
    }

    /// Sets that change other transports share the table of a run.
    #[test]
    fn the_same_run_of_two_sets_is_made_once() {
        let (name, place) = folders().into_iter().find(|(name, _)| name == "ren/fig16").unwrap();
        let experiment = Experiment::read(&name, place).unwrap();
        let of = |name: &str| experiment.sets().into_iter().find(|set| set.name == name).unwrap();
        let sets = ["as_published", "as_compared"].map(of);
        let plans = sets.each_ref().map(|set| experiment.plan("0.1", set, Some(2), true).unwrap());
        let keep = tempfile::tempdir().unwrap();
        let options = Options { keep: Some(keep.path().into()), ..Options::default() };
        let wanted = experiment.wanted("0.1");
        let gathers = [0, 1].map(|at| Gather {
            experiment: &experiment,
            set: &sets[at],
            options: &options,
            planned: &plans[at],
            wanted: &wanted,
        });
        let case = |at: usize, name: &str| {
            plans[at].plan.cases.iter().find(|case| case.label == name).unwrap().clone()
        };
        let row: Row = wanted.iter().map(|one| (one.id(), Seen::default())).collect();
        for name in ["dctcp", "phost"] {
            let case = case(0, name);
            let table = Table::of(identity(&plans[0].plan, &case), 1000, row.clone());
            table.keep(keep.path(), &gathers[0].address(&case)).unwrap();
        }
        let other = case(1, "dctcp");
        let mut results = Results::new("0.1".into(), 1, false);
        let (seen, run) = gathers[1].row(&other, None, &mut results, &mut |_| ()).unwrap();
        assert!(seen == Some(row) && run.is_none());
        let own = gathers[1].address(&other).path();
        assert!(keep.path().join(own).is_file(), "the set has a table of its own");
        // pHost has other routes in this set, so it has another run.
        let other = case(1, "phost");
        let own = identity(&plans[1].plan, &other);
        assert_eq!(gathers[1].shared(&gathers[1].address(&other), &own).unwrap(), None);
    }
}
