//! Runs a study on the cores of this machine.

use crate::driver::{Driver, Progress, Work};
use crate::job::{Job, RowOf, Task};
use crate::memory::available;
use incast_experiment::{Fault, Monitor};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

/// How often progress is told, and a request to stop is seen.
const BEAT: Duration = Duration::from_millis(200);

/// Share of the free memory that runs may take together.
const SHARE: f64 = 0.8;

/// Runs what a driver hands out, as many points at a time as there are `threads`, and no more than
/// memory carries; the last points get the threads that are left over. `told` is called a few times
/// per second. When `monitor` is asked to stop, points in flight are dropped.
///
/// # Errors
/// A row that cannot be kept: no new point is started then, and the rows of those that run are kept
/// if possible.
pub fn run_local<J: Job>(
    driver: &mut Driver<J>,
    threads: usize,
    monitor: &Arc<Monitor>,
    told: &mut dyn FnMut(&Progress),
) -> Result<(), Fault> {
    let threads = threads.max(1);
    driver.set_width(threads);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let mut pool = Pool {
            scope,
            sender,
            receiver,
            threads,
            free: available().map(|bytes| (bytes as f64 * SHARE) as u64),
            running: BTreeMap::new(),
            waiting: None,
            sizes: BTreeMap::new(),
        };
        let result = pool.run(driver, monitor, told);
        // Whatever happened, nothing runs on behind.
        pool.stop();
        result
    })
}

/// What runs.
struct Running {
    threads: usize,
    memory: u64,
    monitor: Arc<Monitor>,
}

struct Pool<'scope, 'env, J: Job> {
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<(u64, Option<RowOf<J>>)>,
    receiver: Receiver<(u64, Option<RowOf<J>>)>,
    threads: usize,
    /// Bytes that runs may take together, if it is known.
    free: Option<u64>,
    running: BTreeMap<u64, Running>,
    /// Handed out, but there is no memory for it yet; with what it takes.
    waiting: Option<(Work<J::Task>, u64)>,
    /// What the points of a combination take.
    sizes: BTreeMap<usize, u64>,
}

impl<'scope, J: Job> Pool<'scope, '_, J> {
    fn run(
        &mut self,
        driver: &mut Driver<J>,
        monitor: &Arc<Monitor>,
        told: &mut dyn FnMut(&Progress),
    ) -> Result<(), Fault> {
        monitor.begun.store(true, Ordering::Relaxed);
        let mut result = Ok(());
        while !driver.done() {
            if monitor.stopped() {
                self.stop();
            } else if result.is_ok() {
                result = self.start(driver);
            }
            if self.running.is_empty() && (monitor.stopped() || result.is_err()) {
                break;
            }
            match self.receiver.recv_timeout(BEAT) {
                Ok((ticket, row)) => {
                    self.running.remove(&ticket);
                    match row {
                        Some(row) => result = driver.keep(ticket, &row).and(result),
                        None => driver.put_back(ticket),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the pool has a sender"),
            }
            let mut progress = driver.progress();
            progress.flows += self.flows();
            told(&progress);
        }
        if let Some((work, _)) = self.waiting.take() {
            driver.put_back(work.ticket);
        }
        result
    }

    /// Starts what there is room for.
    fn start(&mut self, driver: &mut Driver<J>) -> Result<(), Fault> {
        loop {
            let busy: usize = self.running.values().map(|one| one.threads).sum();
            if busy >= self.threads {
                return Ok(());
            }
            let (work, memory) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => {
                    let Some(work) = driver.next_work()? else { return Ok(()) };
                    let memory = self.size(&work);
                    (work, memory)
                }
            };
            let taken: u64 = self.running.values().map(|one| one.memory).sum();
            // One point always runs: there may be more memory than the system says.
            let fits = self.free.is_none_or(|free| taken + memory <= free);
            if !fits && !self.running.is_empty() {
                self.waiting = Some((work, memory));
                return Ok(());
            }
            let own = if work.last { self.threads - busy } else { 1 };
            let folder = driver.job().folder(&work.point);
            self.spawn(work, own, memory, folder);
        }
    }

    fn spawn(&mut self, work: Work<J::Task>, threads: usize, memory: u64, folder: Option<PathBuf>) {
        let monitor = Arc::new(Monitor::default());
        self.running.insert(work.ticket, Running { threads, memory, monitor: monitor.clone() });
        let sender = self.sender.clone();
        self.scope.spawn(move || {
            let row = work.point.run(threads, &monitor, folder.as_deref());
            // The pool is gone only if the study has failed.
            let _ = sender.send((work.ticket, row));
        });
    }

    /// Bytes that a point takes; points of a combination take about the same.
    fn size(&mut self, work: &Work<J::Task>) -> u64 {
        if self.threads == 1 {
            return 0;
        }
        let (_, combination) = work.point.kind();
        *self.sizes.entry(combination).or_insert_with(|| work.point.memory())
    }

    /// Flows that have completed in what runs.
    fn flows(&self) -> u64 {
        self.running.values().map(|one| one.monitor.completed.load(Ordering::Relaxed)).sum()
    }

    fn stop(&self) {
        self.running.values().for_each(|one| one.monitor.stop.store(true, Ordering::Relaxed));
    }
}
