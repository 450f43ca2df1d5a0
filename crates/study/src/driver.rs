//! Says what to run next, and keeps what comes back. It has neither threads nor workers: an executor
//! asks for work, does it wherever it likes, and brings bytes.

use crate::claim::{Claim, Claimed};
use crate::eta::Eta;
use crate::job::{Gained, Job, RowOf, Task};
use crate::point::Point;
use crate::run::Answer;
use incast_experiment::Fault;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Times that a point is handed out again after its worker was lost.
const TRIES: u32 = 3;

/// Most claims at a time: each is an open file. Points beyond are run without one.
const CLAIMS: usize = 256;

/// How often points that other processes run are looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How a study is driven.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverOptions {
    /// Run points again that have failed before.
    pub retry_failed: bool,
}

/// A point to be run.
#[derive(Clone, Debug)]
pub struct Work<T = Point> {
    /// Names it in [`Driver::take`] and [`Driver::lost`].
    pub ticket: u64,
    /// What to run.
    pub point: Arc<T>,
    /// Whether no other point waits: a place that is free may help with this one.
    pub last: bool,
}

/// How far a study is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Points, as far as they are known to be needed; equal ones once.
    pub points: usize,
    /// Points with a row.
    pub done: usize,
    /// Of these, rows that were there before, or that another process has made.
    pub kept: usize,
    /// Of these, rows with an error.
    pub failed: usize,
    /// Points that were given up, because their workers were lost.
    pub not_run: usize,
    /// Points that are being run.
    pub running: usize,
    /// Flows that have completed since the start: of points that were run, and, as far as it is known,
    /// of those that are being run.
    pub flows: u64,
    /// Time that the rest will take, once a point is done.
    pub left: Option<Duration>,
}

/// A point that has no row, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct NotRun {
    /// The point.
    pub point: String,
    /// Why.
    pub why: String,
}

/// How a study ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How far it came.
    pub progress: Progress,
    /// Points that failed, with their errors; by name, whichever ended first.
    pub failed: Vec<NotRun>,
    /// Points that were given up, by name.
    pub not_run: Vec<NotRun>,
}

struct Flight<T> {
    point: Arc<T>,
    since: Instant,
    /// Held until the row is kept.
    claim: Option<Claim>,
}

/// What is there when points are planned.
#[derive(Clone, Copy)]
struct Kept<'a> {
    /// Hashes of rows.
    rows: &'a BTreeSet<String>,
    /// Of these, those that are known to have an error.
    failed: &'a BTreeSet<String>,
    /// Whether points that have failed are run again.
    retry: bool,
}

/// Points that are planned late: whether they have a row is looked at when they are handed out.
const NOTHING: Kept = Kept { rows: &BTreeSet::new(), failed: &BTreeSet::new(), retry: false };

/// Drives the points of a study, or the tasks of another job, to the end.
pub struct Driver<J: Job> {
    job: J,
    waiting: VecDeque<Arc<J::Task>>,
    /// Points that another process runs.
    elsewhere: Vec<Arc<J::Task>>,
    looked: Option<Instant>,
    flights: BTreeMap<u64, Flight<J::Task>>,
    next: u64,
    tries: BTreeMap<String, u32>,
    /// Every hash that was met.
    met: BTreeSet<String>,
    eta: Eta,
    progress: Progress,
    failed: Vec<NotRun>,
    not_run: Vec<NotRun>,
    width: usize,
}

impl<J: Job> Driver<J> {
    /// Drives these tasks and those that their rows call for.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub fn of(
        job: J,
        tasks: Vec<Arc<J::Task>>,
        options: DriverOptions,
    ) -> Result<Driver<J>, Fault> {
        let mut driver = Driver {
            job,
            waiting: VecDeque::new(),
            elsewhere: vec![],
            looked: None,
            flights: BTreeMap::new(),
            next: 0,
            tries: BTreeMap::new(),
            met: BTreeSet::new(),
            eta: Eta::default(),
            progress: Progress::default(),
            failed: vec![],
            not_run: vec![],
            width: 1,
        };
        let kept = driver.job.kept()?;
        let failed = driver.job.failed()?;
        let kept = Kept { rows: &kept, failed: &failed, retry: options.retry_failed };
        driver.plan(tasks, kept)?;
        driver.advance(kept)?;
        Ok(driver)
    }

    /// Adds points: those with a row are done, the others wait.
    fn plan(&mut self, points: Vec<Arc<J::Task>>, kept: Kept) -> Result<(), Fault> {
        let Kept { rows, failed, retry } = kept;
        for point in points {
            if !self.met.insert(point.hash().to_string()) {
                continue;
            }
            self.progress.points += 1;
            if !rows.contains(point.hash()) {
                self.waiting.push_back(point);
                continue;
            }
            // Rows are opened only if what they say is needed.
            let row = match self.job.reads() || retry || failed.contains(point.hash()) {
                true => self.job.row(&point)?,
                false => None,
            };
            match row {
                Some(row) if retry && row.error().is_some() => {
                    self.job.remove(&point);
                    self.waiting.push_back(point);
                }
                Some(row) => self.note(&point, &row, true),
                None => {
                    self.progress.done += 1;
                    self.progress.kept += 1;
                }
            }
        }
        Ok(())
    }

    /// Takes note of a row.
    fn note(&mut self, point: &J::Task, row: &RowOf<J>, kept: bool) {
        self.progress.done += 1;
        match kept {
            true => self.progress.kept += 1,
            false => self.progress.flows += row.flows(),
        }
        if let Some(error) = row.error() {
            self.progress.failed += 1;
            self.failed.push(NotRun { point: point.name(), why: error.to_string() });
        }
        self.job.note(point, row);
    }

    /// Adds the points that rows call for.
    fn advance(&mut self, kept: Kept) -> Result<(), Fault> {
        loop {
            let next = self.job.more()?;
            if next.is_empty() {
                return Ok(());
            }
            self.plan(next, kept)?;
        }
    }

    /// Says how many points run at a time, for the forecast.
    pub fn set_width(&mut self, places: usize) {
        self.width = places.max(1);
    }

    /// A point to be run. None if there is nothing to hand out now: everything is in flight, here or
    /// in another process that shares the store, or done.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn next_work(&mut self) -> Result<Option<Work<J::Task>>, Fault> {
        while let Some(point) = self.waiting.pop_front() {
            if let Some(work) = self.hand_out(point)? {
                return Ok(Some(work));
            }
        }
        if self.elsewhere.is_empty() || self.looked.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(None);
        }
        self.looked = Some(Instant::now());
        for point in std::mem::take(&mut self.elsewhere) {
            if let Some(work) = self.hand_out(point)? {
                self.waiting.extend(std::mem::take(&mut self.elsewhere));
                return Ok(Some(work));
            }
        }
        Ok(None)
    }

    /// Claims a point, unless its row is there or another process runs it.
    fn hand_out(&mut self, point: Arc<J::Task>) -> Result<Option<Work<J::Task>>, Fault> {
        let claims = self.flights.values().filter(|flight| flight.claim.is_some()).count();
        let claim = match claims < CLAIMS {
            true => self.job.claim(&point),
            false => Claimed::Own(None),
        };
        let Claimed::Own(claim) = claim else {
            self.elsewhere.push(point);
            return Ok(None);
        };
        // Looked at after the claim: whoever had it before has written its row by now.
        if let Some(row) = self.job.row(&point)? {
            self.note(&point, &row, true);
            self.advance(NOTHING)?;
            return Ok(None);
        }
        let ticket = self.next;
        self.next += 1;
        self.flights.insert(ticket, Flight { point: point.clone(), since: Instant::now(), claim });
        let last = self.waiting.is_empty() && self.elsewhere.is_empty();
        Ok(Some(Work { ticket, point, last }))
    }

    /// Keeps what a worker answered ([`run_bytes`](crate::run_bytes)). What is no answer to this
    /// point counts as [`lost`](Driver::lost).
    ///
    /// # Errors
    /// A worker of another version; a row that cannot be kept, because the disk is full, say. The
    /// point is not lost then: it waits again.
    pub fn take(&mut self, ticket: u64, answer: &[u8]) -> Result<(), Fault> {
        let answer = match serde_json::from_slice::<Answer<RowOf<J>>>(answer) {
            Ok(answer) => answer,
            Err(_) if answer.is_empty() => {
                self.lost(ticket, "the worker returned nothing");
                return Ok(());
            }
            Err(error) => {
                self.lost(
                    ticket,
                    &format!("the worker returned something that is no row: {error}"),
                );
                return Ok(());
            }
        };
        match answer {
            Answer::Row(row) => self.keep(ticket, &row, row.took()),
            Answer::Interrupted => {
                self.put_back(ticket);
                Ok(())
            }
            Answer::Refused(why) => {
                self.put_back(ticket);
                Err(Fault::new(format!("a worker refused a point: {why}")))
            }
        }
    }

    /// The same for a row that needs no reading, with what its run took if that is known.
    pub(crate) fn keep(
        &mut self,
        ticket: u64,
        row: &RowOf<J>,
        took: Option<Duration>,
    ) -> Result<(), Fault> {
        let Some(flight) = self.flights.get(&ticket) else { return Ok(()) };
        if flight.point.hash() != row.hash() {
            self.lost(ticket, "the worker returned the row of another point");
            return Ok(());
        }
        if let Err(fault) = self.job.keep(&flight.point, row) {
            self.put_back(ticket);
            return Err(fault);
        }
        let Flight { point, since, claim } = self.flights.remove(&ticket).expect("found above");
        // Only now: another process may take the point as soon as nobody has it.
        drop(claim);
        let (series, combination) = point.kind();
        self.eta.took(series, combination, took.unwrap_or_else(|| since.elapsed()));
        self.note(&point, row, false);
        self.advance(NOTHING)
    }

    /// The point waits again, as if it had never been handed out: for a pool that broke through no
    /// fault of the point's.
    pub fn put_back(&mut self, ticket: u64) {
        if let Some(flight) = self.flights.remove(&ticket) {
            self.waiting.push_front(flight.point);
        }
    }

    /// What the point of a ticket is called, while it is handed out.
    pub(crate) fn name(&self, ticket: u64) -> Option<String> {
        self.flights.get(&ticket).map(|flight| flight.point.name())
    }

    /// A worker died, or its answer never came. The point is handed out again, three times in all;
    /// then it is given up: it has no row, and a later call of the study runs it.
    pub fn lost(&mut self, ticket: u64, why: &str) {
        let Some(flight) = self.flights.remove(&ticket) else { return };
        let tries = self.tries.entry(flight.point.hash().to_string()).or_default();
        *tries += 1;
        if *tries < TRIES {
            self.waiting.push_back(flight.point);
            return;
        }
        self.progress.not_run += 1;
        let why = format!("{why} ({TRIES} times)");
        self.not_run.push(NotRun { point: flight.point.name(), why });
    }

    /// Whether every point has a row or was given up.
    pub fn done(&self) -> bool {
        self.waiting.is_empty() && self.elsewhere.is_empty() && self.flights.is_empty()
    }

    /// How far the study is.
    pub fn progress(&self) -> Progress {
        let now = Instant::now();
        let waiting = self.waiting.iter().chain(&self.elsewhere);
        let running = self.flights.values().map(|flight| {
            let (series, combination) = flight.point.kind();
            (series, combination, now.duration_since(flight.since))
        });
        let waiting = waiting.map(|point| point.kind());
        let left = self.eta.left(waiting, running, self.width);
        Progress { left, ..self.counts() }
    }

    /// The same without the forecast, which looks at every point that waits.
    pub(crate) fn counts(&self) -> Progress {
        Progress { running: self.flights.len(), ..self.progress }
    }

    /// What is driven.
    pub fn job(&self) -> &J {
        &self.job
    }

    /// Ends the study, or interrupts it: what is done is gathered.
    ///
    /// # Errors
    /// A row that cannot be read, or a table that cannot be written.
    pub fn finish(self) -> Result<Outcome, Fault> {
        let changed = self.progress.done > self.progress.kept;
        self.job.gather(changed)?;
        Ok(self.outcome())
    }

    /// How it ended, or how far it is if it did not.
    pub fn outcome(&self) -> Outcome {
        let (mut failed, mut not_run) = (self.failed.clone(), self.not_run.clone());
        for list in [&mut failed, &mut not_run] {
            list.sort_by(|a, b| a.point.cmp(&b.point));
        }
        Outcome { progress: self.progress(), failed, not_run }
    }
}
