//! The points of a study as what a driver drives.

use crate::claim::Claimed;
use crate::driver::{Driver, DriverOptions};
use crate::job::{Gained, Job, Task};
use crate::point::Point;
use crate::rounds::{Known, Rounds};
use crate::row::Row;
use crate::run::run_into;
use crate::store::Store;
use crate::study::Study;
use incast_experiment::memory::of_plan;
use incast_experiment::{Fault, Monitor, Plan};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The points of a study, whose rows are in its store.
pub struct Points {
    study: Arc<Study>,
    store: Arc<Store>,
    /// By combination, those that may need more seeds.
    rounds: BTreeMap<usize, Rounds>,
    /// Combinations whose rows have been looked at least since they came.
    fresh: BTreeSet<usize>,
    known: Known,
}

impl Points {
    fn of(study: Arc<Study>, store: Arc<Store>, rounds: Vec<Rounds>) -> Points {
        let by_combination = |own: Rounds| (own.points[0][0].combination, own);
        let rounds: BTreeMap<_, _> = rounds.into_iter().map(by_combination).collect();
        let fresh = rounds.keys().copied().collect();
        Points { study, store, rounds, fresh, known: Known::default() }
    }
}

impl Task for Point {
    type Row = Row;

    fn hash(&self) -> &str {
        &self.hash
    }

    fn kind(&self) -> (usize, usize) {
        (self.series, self.combination)
    }

    fn name(&self) -> String {
        Point::name(self)
    }

    fn memory(&self) -> u64 {
        let plan = Plan::with_contents(self.scenario(), self.contents().clone());
        // What cannot be planned fails at once.
        plan.map_or(0, |plan| of_plan(&plan))
    }

    fn to_bytes(&self) -> Vec<u8> {
        Point::to_bytes(self)
    }

    fn run(&self, threads: usize, monitor: &Monitor, folder: Option<&Path>) -> Option<Row> {
        run_into(self, threads, monitor, folder)
    }
}

impl Gained for Row {
    fn hash(&self) -> &str {
        &self.hash
    }

    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn flows(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.flows.completed as u64)
    }

    fn took(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.times.wall_seconds))
    }
}

impl Job for Points {
    type Task = Point;

    fn kept(&self) -> Result<BTreeSet<String>, Fault> {
        self.store.hashes()
    }

    fn failed(&self) -> Result<BTreeSet<String>, Fault> {
        self.store.failed()
    }

    fn reads(&self) -> bool {
        self.study.repeat().is_some()
    }

    fn row(&self, point: &Point) -> Result<Option<Row>, Fault> {
        self.store.row(&point.hash)
    }

    fn keep(&self, _: &Point, row: &Row) -> Result<(), Fault> {
        self.store.add(row)
    }

    fn remove(&self, point: &Point) {
        self.store.remove(&point.hash);
    }

    fn claim(&self, point: &Point) -> Claimed {
        self.store.claim(&point.hash)
    }

    fn folder(&self, point: &Point) -> Option<PathBuf> {
        self.study.reports().then(|| self.store.report(&point.hash))
    }

    fn note(&mut self, point: &Point, row: &Row) {
        self.known.note(&self.study, row);
        self.fresh.insert(point.combination);
    }

    /// The seeds that rows call for.
    fn more(&mut self) -> Result<Vec<Arc<Point>>, Fault> {
        let mut all = vec![];
        for combination in std::mem::take(&mut self.fresh) {
            let Some(rounds) = self.rounds.get_mut(&combination) else { continue };
            let next = rounds.advance(&self.study, &self.known)?;
            if !next.is_empty() {
                self.fresh.insert(combination);
            }
            all.extend(next);
        }
        Ok(all)
    }

    fn gather(&self, changed: bool) -> Result<(), Fault> {
        crate::gather(&self.study, &self.store, changed)
    }
}

impl Driver<Points> {
    /// Drives a study.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn new(
        study: Arc<Study>,
        store: Arc<Store>,
        options: DriverOptions,
    ) -> Result<Driver<Points>, Fault> {
        let points = study.points().to_vec();
        let rounds = study.repeat().map_or(vec![], |_| Rounds::of(&study));
        Driver::of(Points::of(study, store, rounds), points, options)
    }

    /// Drives these points and no others.
    ///
    /// # Errors
    /// As [`Driver::new`].
    pub fn of_points(
        study: Arc<Study>,
        store: Arc<Store>,
        points: Vec<Point>,
        options: DriverOptions,
    ) -> Result<Driver<Points>, Fault> {
        let points = points.into_iter().map(Arc::new).collect();
        Driver::of(Points::of(study, store, vec![]), points, options)
    }
}
