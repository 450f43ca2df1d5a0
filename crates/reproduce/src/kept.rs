//! What runs of figures gave, kept: a file of results per figure, and beside it a small file per run
//! until that one takes it up, so that no run is repeated and an interruption costs one run.

use super::files;
use super::results::{decode, encode};
use super::table::{Address, KeptTable, Tables};
use incast_experiment::Fault;
use incast_experiment::fault::wrong;
use incast_measure::write_atomic;
use incast_study::{Claim, Claimed, claim};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The file of a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Single {
    address: Address,
    table: KeptTable,
}

/// A folder of experiments with their kept tables. Processes may share it.
pub struct Store {
    folder: PathBuf,
    /// Files of results that have been read, with what they were then.
    read: Mutex<BTreeMap<String, (Stamp, Arc<Tables>)>>,
}

/// When a file was written, and its length; none if it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// The file of a figure's results.
const RESULTS: &str = "results.parquet";

/// Files of runs that no file of results has yet.
const RUNS: &str = ".runs";

/// Locked by who changes something.
const LOCK: &str = ".runs.lock";

/// What a folder of experiments has, so that it is not taken for another one of that name.
const KNOWN: &str = "ren/fig1/claims.toml";

impl Store {
    /// The tables in a folder.
    pub fn at(folder: &Path) -> Store {
        Store { folder: folder.into(), read: Mutex::default() }
    }

    /// The folder `experiments` of the clone that the current folder is in.
    ///
    /// # Errors
    /// That there is none, with where it was looked for.
    pub fn find() -> Result<PathBuf, Fault> {
        let here = std::env::current_dir().map_err(Fault::new)?;
        let places = here.ancestors().map(|one| one.join("experiments"));
        places.into_iter().find(|place| place.join(KNOWN).is_file()).ok_or_else(|| {
            let problem = wrong(format!(
                "no kept results: there is no folder `experiments` with {KNOWN} in {} or above",
                here.display()
            ))
            .expected(
                "to be called inside a clone of the repository, which has them, or --keep with its \
                 folder `experiments`",
            );
            Fault::at("--from-kept", problem)
        })
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The tables of an experiment.
    ///
    /// # Errors
    /// A file that cannot be read or has no tables.
    pub fn tables(&self, experiment: &str) -> Result<Arc<Tables>, Fault> {
        // Runs first: a file of results is written before they are removed.
        let runs = singles(&self.folder.join(RUNS).join(experiment))?;
        let mut all = self.results(experiment)?;
        if !runs.is_empty() {
            let runs = runs.into_iter().map(|one| (one.address, one.table));
            Arc::make_mut(&mut all).extend(runs);
        }
        Ok(all)
    }

    /// The table of a run, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or has no tables.
    pub fn table(&self, address: &Address) -> Result<Option<KeptTable>, Fault> {
        if let Some(one) = single(&self.place(address))? {
            return Ok(Some(one.table));
        }
        Ok(self.results(&address.experiment)?.get(address).cloned())
    }

    /// Keeps the table of a run: every reader sees it when this returns.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&self, address: &Address, table: &KeptTable) -> Result<(), Fault> {
        let place = self.place(address);
        let one = Single { address: address.clone(), table: table.clone() };
        let bytes = serde_json::to_vec(&one).expect("plain data becomes JSON");
        let _alone = self.lock()?;
        make(place.parent().expect("it has folders"))?;
        Ok(write_atomic(&place, &bytes)?)
    }

    /// Removes the table of a run.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, address: &Address) -> Result<(), Fault> {
        let _alone = self.lock()?;
        let _ = std::fs::remove_file(self.place(address));
        self.forget();
        let mut tables = self.results(&address.experiment)?;
        if tables.contains_key(address) {
            Arc::make_mut(&mut tables).remove(address);
            self.write(&address.experiment, &tables)?;
        }
        Ok(())
    }

    /// Takes all files of runs up into the files of results.
    ///
    /// # Errors
    /// What cannot be read or written; then nothing is lost.
    pub fn gather(&self) -> Result<(), Fault> {
        let place = self.folder.join(RUNS);
        if !place.is_dir() {
            return Ok(());
        }
        let _alone = self.lock()?;
        self.forget();
        let mut figures: BTreeMap<String, Tables> = BTreeMap::new();
        for Single { address, table } in singles(&place)? {
            figures.entry(address.experiment.clone()).or_default().insert(address, table);
        }
        for (experiment, new) in figures {
            let before = self.results(&experiment)?;
            let mut tables = Tables::clone(&before);
            tables.extend(new);
            // The same results leave the file as it is, whichever version of the writer made it.
            if tables != *before {
                self.write(&experiment, &tables)?;
            }
        }
        let _ = std::fs::remove_dir_all(&place);
        Ok(())
    }

    /// The file of a run.
    fn place(&self, address: &Address) -> PathBuf {
        let Address { experiment, set, run, transport, seed } = address;
        let name = format!("{transport}-{seed}.json");
        [RUNS, experiment, set, run, &name].iter().fold(self.folder.clone(), |at, one| at.join(one))
    }

    /// What the file of results of an experiment has; nothing without the file.
    fn results(&self, experiment: &str) -> Result<Arc<Tables>, Fault> {
        let path = self.folder.join(experiment).join(RESULTS);
        let placed = |fault: Fault| fault.placed(path.display().to_string());
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let found = std::fs::metadata(&path).ok();
        let stamp: Stamp = found.and_then(|found| Some((found.modified().ok()?, found.len())));
        if let Some((known, tables)) = read.get(experiment)
            && *known == stamp
        {
            return Ok(tables.clone());
        }
        let tables = match stamp {
            None => Tables::new(),
            Some(_) => {
                let bytes = std::fs::read(&path).map_err(|error| placed(Fault::new(error)))?;
                decode(bytes, experiment).map_err(placed)?
            }
        };
        let tables = Arc::new(tables);
        read.insert(experiment.into(), (stamp, tables.clone()));
        Ok(tables)
    }

    /// Reads anew what is to be changed: two files of one length may have been written in one tick of
    /// the clock.
    fn forget(&self) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn write(&self, experiment: &str, tables: &Tables) -> Result<(), Fault> {
        let place = self.folder.join(experiment);
        make(&place)?;
        Ok(write_atomic(&place.join(RESULTS), &encode(tables))?)
    }

    /// Waits until no other process changes anything.
    fn lock(&self) -> Result<Option<Claim>, Fault> {
        make(&self.folder)?;
        loop {
            match claim(&self.folder.join(LOCK)) {
                Claimed::Own(lock) => return Ok(lock),
                Claimed::Elsewhere => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn make(folder: &Path) -> Result<(), Fault> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Fault::unwritten(format!("could not create: {error}")).placed(folder.display().to_string())
    })
}

/// The file of a run, if it is there.
fn single(path: &Path) -> Result<Option<Single>, Fault> {
    let placed = |fault: Fault| fault.placed(path.display().to_string());
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(placed(Fault::new(error))),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let fault = placed(Fault::new(format!("not the table of a run: {error}")));
        fault.noted("remove it, and its run is made again")
    })
}

/// The files of runs below a folder; none without the folder.
fn singles(folder: &Path) -> Result<Vec<Single>, Fault> {
    let (mut all, mut folders) = (vec![], vec![folder.to_path_buf()]);
    while let Some(place) = folders.pop() {
        for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "json") {
                all.extend(single(&path)?);
            }
        }
    }
    Ok(all)
}

/// Runs by what made them, so that a run of another figure or set that is the same is found.
pub struct Index(BTreeMap<(String, u64, String), Vec<Address>>);

impl Index {
    /// The runs of all experiments.
    ///
    /// # Errors
    /// A file that cannot be read or has no tables.
    pub fn of(store: &Store) -> Result<Index, Fault> {
        let mut all = BTreeMap::<_, Vec<_>>::new();
        for experiment in files::experiments() {
            for (address, table) in store.tables(experiment)?.iter() {
                let key = (address.transport.clone(), address.seed, table.identity.clone());
                all.entry(key).or_default().push(address.clone());
            }
        }
        Ok(Index(all))
    }

    /// Runs of the transport and seed of `address` that are the same as `identity` says.
    pub fn same(&self, address: &Address, identity: &str) -> &[Address] {
        let key = (address.transport.clone(), address.seed, identity.to_string());
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_measure::measured::MeasuredValue;

    fn address(seed: u64) -> Address {
        Address {
            experiment: "ren/fig16".into(),
            set: "sensitivity/hosts".into(),
            run: "0.7".into(),
            transport: "ren".into(),
            seed,
        }
    }

    fn table(value: f64) -> KeptTable {
        let seen = MeasuredValue {
            value: Some(value),
            flows: 0xfeed,
            list: vec![1.0 / 3.0, f64::INFINITY],
        };
        let row = [
            ("backlog port=a->b,c->*".to_string(), seen),
            ("none".into(), MeasuredValue::default()),
        ];
        KeptTable::of("00ff".into(), 7, row.into())
    }

    /// Every reader sees a run at once, before and after it is taken up, and an interruption loses none.
    #[test]
    fn runs_are_kept_one_by_one_and_taken_up_together() {
        let folder = tempfile::tempdir().unwrap();
        let (store, other) = (Store::at(folder.path()), Store::at(folder.path()));
        let all = || {
            let tables = other.tables("ren/fig16").unwrap();
            for (address, table) in tables.iter() {
                assert_eq!(other.table(address).unwrap().as_ref(), Some(table));
            }
            tables.iter().map(|one| (one.0.seed, one.1.clone())).collect::<Vec<_>>()
        };
        assert_eq!((all(), other.table(&address(1)).unwrap()), (vec![], None));
        store.keep(&address(1), &table(0.1 + 0.2)).unwrap();
        assert_eq!(all(), [(1, table(0.1 + 0.2))]);
        let place = folder.path().join("ren/fig16/results.parquet");
        assert!(!place.exists());
        store.gather().unwrap();
        let bytes = std::fs::read(&place).unwrap();
        assert_eq!(all(), [(1, table(0.1 + 0.2))]);
        // A process that is killed leaves its runs; whoever ends next takes them up. A later run of the
        // same replaces the one that is there.
        store.keep(&address(2), &table(2.0)).unwrap();
        store.keep(&address(1), &table(1.0)).unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), bytes);
        assert_eq!(all(), [(1, table(1.0)), (2, table(2.0))]);
        other.gather().unwrap();
        assert_eq!(all(), [(1, table(1.0)), (2, table(2.0))]);
        store.remove(&address(2)).unwrap();
        store.keep(&address(1), &table(0.1 + 0.2)).unwrap();
        store.gather().unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), bytes, "the same results are the same bytes");
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        assert_eq!(left.map(|one| one.file_name()).collect::<Vec<_>>(), ["ren"]);
    }

    /// Equal results leave the file as it is, also one that another version of the writer made.
    #[test]
    fn equal_results_make_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.keep(&address(1), &table(1.0)).unwrap();
        store.gather().unwrap();
        let place = folder.path().join("ren/fig16/results.parquet");
        let when = || std::fs::metadata(&place).unwrap().modified().unwrap();
        let before = when();
        store.keep(&address(1), &table(1.0)).unwrap();
        store.gather().unwrap();
        assert_eq!(when(), before);
    }

    #[test]
    fn processes_keep_runs_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let one = |part: u64| {
            let store = Store::at(folder.path());
            for seed in (part..20).step_by(4) {
                store.keep(&address(seed), &table(seed as f64)).unwrap();
                store.gather().unwrap();
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|part| {
                scope.spawn(move || one(part));
            });
        });
        let tables = Store::at(folder.path()).tables("ren/fig16").unwrap();
        assert!(tables.iter().all(|(address, own)| *own == table(address.seed as f64)));
        assert_eq!(tables.len(), 20);
    }

    #[test]
    fn a_file_that_has_no_tables_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let run = folder.path().join(".runs/ren/fig16/sensitivity/hosts/0.7/ren-1.json");
        std::fs::create_dir_all(run.parent().unwrap()).unwrap();
        std::fs::write(&run, "{}").unwrap();
        let said = store.table(&address(1)).unwrap_err().to_string();
        assert!(said.contains("ren-1.json") && said.contains("remove it"), "{said}");
        assert!(store.gather().is_err() && run.exists());
        std::fs::remove_file(run).unwrap();
        std::fs::create_dir_all(folder.path().join("ren/fig16")).unwrap();
        std::fs::write(folder.path().join("ren/fig16/results.parquet"), "none").unwrap();
        let said = store.tables("ren/fig16").err().unwrap().to_string();
        assert!(
            said.contains("results.parquet") && said.contains("not a file of results"),
            "{said}"
        );
    }
}
