//! The runs of figures as what a driver drives: points of a study, whose rows are kept tables.

use super::kept::Store;
use super::table::{Address, KeptTable};
use incast_experiment::Fault;
use incast_measure::measured::{Measured, Wanted};
use incast_study::{Claimed, Job, Point, Row, claim};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of a run besides its point.
pub(crate) struct Asked {
    /// What decides its results ([`incast_experiment::identity`]).
    pub identity: String,
    /// Where its table is kept: several if figures or sets ask for the same run.
    pub addresses: Vec<Address>,
    /// Seeds with which it is run: with one, batches of flows give the interval.
    pub seeds: usize,
    /// Where the files of the run go.
    pub files: Option<PathBuf>,
}

/// What runs gave so far, and what a person wants to know of them.
#[derive(Default)]
pub struct RunsSoFar {
    made: Mutex<BTreeMap<String, KeptTable>>,
    notes: Mutex<Vec<String>>,
}

impl RunsSoFar {
    pub(crate) fn made(&self) -> MutexGuard<'_, BTreeMap<String, KeptTable>> {
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
    pub(crate) so_far: Arc<RunsSoFar>,
    /// By the hash of the point.
    pub(crate) asked: Arc<BTreeMap<String, Asked>>,
    /// Whether runs in real time that were refused are made again.
    pub(crate) retry: bool,
}

/// Locks of runs in a folder of kept tables.
const CLAIMS: &str = ".claims";

impl Figures {
    fn asked(&self, point: &Point) -> &Asked {
        &self.asked[&point.hash]
    }
}

impl Job for Figures {
    type Task = Point;

    fn kept(&self) -> Result<BTreeSet<String>, Fault> {
        Ok(self.so_far.made().keys().cloned().collect())
    }

    fn reads(&self) -> bool {
        true
    }

    /// The row is without numbers; these are in the table.
    fn row(&self, point: &Point) -> Result<Option<Row>, Fault> {
        let bare = |table: &KeptTable| Row::bare(point, table.error.clone());
        if let Some(table) = self.so_far.made().get(&point.hash) {
            return Ok(Some(bare(table)));
        }
        let (Some(store), own) = (&self.keep, self.asked(point)) else { return Ok(None) };
        // Another process may have made it.
        let does = |table: &KeptTable| {
            let again = self.retry && table.refused.is_some();
            table.identity == own.identity
                && !again
                && (table.error.is_some() || is_whole(&table.row, point.wanted(), own.seeds))
        };
        let Some(table) = store.table(&own.addresses[0])?.filter(does) else { return Ok(None) };
        let row = bare(&table);
        self.so_far.made().insert(point.hash.clone(), table);
        Ok(Some(row))
    }

    fn keep(&self, point: &Point, row: &Row) -> Result<(), Fault> {
        let (Some(store), own) = (&self.keep, self.asked(point)) else { return Ok(()) };
        let table = KeptTable::of_row(&own.identity, row);
        for address in &own.addresses {
            store.keep(address, &table)?;
            let seconds = row.times.wall_seconds as u64;
            self.so_far.tell(format!("kept {address} ({seconds} s)"));
        }
        Ok(())
    }

    fn remove(&self, point: &Point) {
        self.so_far.made().remove(&point.hash);
        let Some(store) = &self.keep else { return };
        for address in &self.asked(point).addresses {
            let _ = store.remove(address);
        }
    }

    fn claim(&self, point: &Point) -> Claimed {
        let Some(store) = &self.keep else { return Claimed::Own(None) };
        let place = store.folder().join(CLAIMS);
        // Without it, every run is one's own.
        let _ = std::fs::create_dir_all(&place);
        claim(&place.join(&point.hash))
    }

    fn folder(&self, point: &Point) -> Option<PathBuf> {
        self.asked(point).files.clone()
    }

    fn note(&mut self, point: &Point, row: &Row) {
        let mut made = self.so_far.made();
        let new = || KeptTable::of_row(&self.asked[&point.hash].identity, row);
        let table = made.entry(point.hash.clone()).or_insert_with(new);
        let name = &self.asked[&point.hash].addresses[0];
        if let Some(error) = &table.error {
            self.so_far.tell(format!("failed: {name}: {error}"));
        }
        if let Some(why) = &table.refused {
            self.so_far.tell(format!("refused: {name}: {why}"));
        }
    }

    fn gather(&self, _changed: bool) -> Result<(), Fault> {
        let Some(store) = &self.keep else { return Ok(()) };
        // Another process may still have claims.
        let _ = std::fs::remove_dir(store.folder().join(CLAIMS));
        store.gather()
    }
}

/// Whether a row has everything that is wanted; of one seed, with the batches that give the interval.
pub fn is_whole(row: &Measured, wanted: &[Wanted], seeds: usize) -> bool {
    let needed = |wanted: &&Wanted| !matches!(wanted, Wanted::Value(_));
    wanted.iter().filter(needed).all(|wanted| {
        row.get(&wanted.id()).is_some_and(|seen| {
            let batches = matches!(wanted, Wanted::Number(_)) && seen.flows != 0;
            seeds > 1 || !batches || !seen.list.is_empty()
        })
    })
}
