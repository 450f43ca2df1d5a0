//! The points of a study as what a driver drives.

use crate::claim::Claimed;
use crate::driver::{Driver, DriverOptions};
use crate::job::{Gained, Job, Task};
use crate::memory::of_plan;
use crate::point::Point;
use crate::rounds::{Known, Rounds};
use crate::row::Row;
use crate::run::run_into;
use crate::store::Store;
use crate::study::Study;
use incast_experiment::{Fault, Monitor, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The points of a study, whose rows are in its store.
pub struct Points {
    study: Arc<Study>,
    store: Arc<Store>,
    rounds: Vec<Rounds>,
    known: Known,
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
}

impl Job for Points {
    type Task = Point;

    fn kept(&self) -> Result<BTreeSet<String>, Fault> {
        self.store.hashes()
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

    fn note(&mut self, _: &Point, row: &Row) {
        self.known.note(&self.study, row);
    }

    /// The seeds that rows call for.
    fn more(&mut self) -> Result<Vec<Arc<Point>>, Fault> {
        let mut all = vec![];
        for rounds in &mut self.rounds {
            all.extend(rounds.advance(&self.study, &self.known)?);
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
    ) -> Result<Driver, Fault> {
        let (points, rounds) = (study.points().to_vec(), Rounds::of(&study));
        Driver::of(Points { study, store, rounds, known: Known::default() }, points, options)
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
    ) -> Result<Driver, Fault> {
        let points = points.into_iter().map(Arc::new).collect();
        Driver::of(
            Points { study, store, rounds: vec![], known: Known::default() },
            points,
            options,
        )
    }
}
