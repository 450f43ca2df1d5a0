//! Runs a study on the cores of this machine.

use crate::driver::{Driver, Progress, Work};
use crate::job::{Job, RowOf, Task};
use crate::run::caught;
use incast_experiment::memory::available;
use incast_experiment::{Fault, Monitor};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// How often a forecast is made, and a request to stop is seen.
const BEAT: Duration = Duration::from_millis(200);

/// Share of the free memory that runs may take together.
const SHARE: f64 = 0.8;

/// Most points that lie ready for the next free thread.
const READY: usize = 32;

/// Runs what a driver hands out, as many points at a time as there are `threads`, and no more than
/// memory carries; the last points get the threads that are left over. `told` is called after each
/// point and a few times per second. When `monitor` is asked to stop, points in flight are dropped.
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
    let free = available().map(|bytes| (bytes as f64 * SHARE) as u64);
    run_within(driver, threads, free, monitor, told)
}

/// The same within so many bytes of memory; none is no limit.
fn run_within<J: Job>(
    driver: &mut Driver<J>,
    threads: usize,
    free: Option<u64>,
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
            free,
            queue: Arc::default(),
            flying: BTreeMap::new(),
            waiting: None,
            sizes: BTreeMap::new(),
            took: None,
            left: None,
            looked: Instant::now(),
        };
        pool.run(driver, monitor, told)
    })
}

/// What runs, or lies ready to.
struct Flying {
    memory: u64,
    monitor: Arc<Monitor>,
}

/// What a thread needs to run a point.
struct Ready<T> {
    ticket: u64,
    point: Arc<T>,
    threads: usize,
    monitor: Arc<Monitor>,
    folder: Option<PathBuf>,
}

/// What threads share.
struct Queue<T> {
    /// Handed out, for whichever thread is free next: it need not wait for this one, which may be slow
    /// to wake on a busy machine.
    ready: VecDeque<Ready<T>>,
    /// Threads that are at work.
    busy: usize,
    /// Points that are being run.
    running: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue { ready: VecDeque::new(), busy: 0, running: 0 }
    }
}

fn locked<T>(queue: &Mutex<Queue<T>>) -> MutexGuard<'_, Queue<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ticket, row, and what its run took; no row if the run was interrupted. Or the text of a panic that
/// is not the point's: a task makes those of its own run a row.
type Made<J> = (u64, Result<Option<RowOf<J>>, String>, Duration);

struct Pool<'scope, 'env, J: Job> {
    scope: &'scope Scope<'scope, 'env>,
    sender: Sender<Made<J>>,
    receiver: Receiver<Made<J>>,
    threads: usize,
    /// Bytes that runs may take together, if it is known.
    free: Option<u64>,
    queue: Arc<Mutex<Queue<J::Task>>>,
    flying: BTreeMap<u64, Flying>,
    /// Handed out, but there is no memory for it yet; with what it takes.
    waiting: Option<(Work<J::Task>, u64)>,
    /// What the points of a combination take.
    sizes: BTreeMap<usize, u64>,
    /// Seconds that a point takes, of late.
    took: Option<f64>,
    /// The forecast, and when it was made.
    left: Option<Duration>,
    looked: Instant,
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
            if self.flying.is_empty() && (monitor.stopped() || result.is_err()) {
                break;
            }
            match self.receiver.recv_timeout(BEAT) {
                Ok((ticket, row, took)) => {
                    self.flying.remove(&ticket);
                    match row {
                        Ok(Some(row)) => {
                            let (last, new) = (self.took, took.as_secs_f64());
                            self.took = Some(last.map_or(new, |last| last + (new - last) / 8.0));
                            result = driver.keep(ticket, &row, Some(took)).and(result);
                        }
                        Ok(None) => driver.put_back(ticket),
                        Err(panic) => {
                            // The program is not as it should be: no other point is run.
                            let name = driver.name(ticket).unwrap_or_default();
                            driver.put_back(ticket);
                            self.stop();
                            result = result.and(Err(Fault::new(panic).noted(&name)));
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the pool has a sender"),
            }
            told(&self.progress(driver));
        }
        if let Some((work, _)) = self.waiting.take() {
            driver.put_back(work.ticket);
        }
        result
    }

    /// How far it is; with a new forecast if the last is old.
    fn progress(&mut self, driver: &Driver<J>) -> Progress {
        let mut progress = driver.counts();
        if self.left.is_none() || self.looked.elapsed() >= BEAT || driver.done() {
            (self.left, self.looked) = (driver.progress().left, Instant::now());
        }
        progress.left = self.left;
        progress.running = locked(&self.queue).running;
        progress.flows += self.flows();
        progress
    }

    /// Starts what there is room for, and lays a few short points ready.
    fn start(&mut self, driver: &mut Driver<J>) -> Result<(), Fault> {
        loop {
            let (busy, ready) = {
                let queue = locked(&self.queue);
                (queue.busy, queue.ready.len())
            };
            if busy >= self.threads && ready >= self.ahead() {
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
            let taken: u64 = self.flying.values().map(|one| one.memory).sum();
            // One point always runs: there may be more memory than the system says.
            let fits = self.free.is_none_or(|free| taken + memory <= free);
            if !fits && !self.flying.is_empty() {
                self.waiting = Some((work, memory));
                return Ok(());
            }
            let folder = driver.job().folder(&work.point);
            self.give(work, memory, folder);
        }
    }

    /// How many points lie ready: those of a beat. Long ones do not, as another process may want them.
    fn ahead(&self) -> usize {
        let many = self.took.map_or(0.0, |took| BEAT.as_secs_f64() / took.max(1e-6));
        (many as usize).min(READY)
    }

    /// Gives a point to a new thread, or to the next one that is free.
    fn give(&mut self, work: Work<J::Task>, memory: u64, folder: Option<PathBuf>) {
        let monitor = Arc::new(Monitor::default());
        self.flying.insert(work.ticket, Flying { memory, monitor: monitor.clone() });
        let mut queue = locked(&self.queue);
        let free = self.threads.saturating_sub(queue.busy);
        let threads = if work.last { free.max(1) } else { 1 };
        let own = Ready { ticket: work.ticket, point: work.point, threads, monitor, folder };
        if free == 0 {
            queue.ready.push_back(own);
            return;
        }
        queue.busy += threads;
        queue.running += 1;
        let (shared, sender) = (self.queue.clone(), self.sender.clone());
        self.scope.spawn(move || work_off::<J>(own, &shared, &sender));
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
        self.flying.values().map(|one| one.monitor.completed.load(Ordering::Relaxed)).sum()
    }

    fn stop(&self) {
        self.flying.values().for_each(|one| one.monitor.stop.store(true, Ordering::Relaxed));
    }
}

impl<J: Job> Drop for Pool<'_, '_, J> {
    /// Whatever happened, a panic included, nothing runs on behind.
    fn drop(&mut self) {
        self.stop();
    }
}

/// A thread: runs a point, then what lies ready.
fn work_off<J: Job>(
    first: Ready<J::Task>,
    queue: &Mutex<Queue<J::Task>>,
    sender: &Sender<Made<J>>,
) {
    let mut next = Some(first);
    while let Some(Ready { ticket, point, threads, monitor, folder }) = next {
        let begin = Instant::now();
        let row = match monitor.stopped() {
            true => Ok(None),
            false => caught(|| point.run(threads, &monitor, folder.as_deref())),
        };
        {
            // Before the row is sent: whoever gets it sees which threads are free.
            let mut queue = locked(queue);
            // One that had all threads goes on with one: what lies ready has nobody else.
            next = queue.ready.pop_front();
            queue.busy -= threads - next.as_ref().map_or(0, |one| one.threads);
            queue.running -= usize::from(next.is_none());
        }
        // The pool is gone only if the study has failed.
        let _ = sender.send((ticket, row, begin.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Claimed;
    use crate::driver::DriverOptions;
    use crate::job::Gained;
    use serde::{Deserialize, Serialize};
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::sync::atomic::AtomicUsize;

    /// A task that takes some memory, and notes how many run at a time.
    struct Heavy {
        name: String,
        memory: u64,
        here: Arc<Here>,
    }

    #[derive(Default)]
    struct Here {
        now: AtomicUsize,
        most: AtomicUsize,
        threads: AtomicUsize,
        pause: Duration,
        /// Name of a task with a defect that its own guard does not see.
        broken: &'static str,
    }

    #[derive(Serialize, Deserialize)]
    struct Done(String);

    impl Gained for Done {
        fn hash(&self) -> &str {
            &self.0
        }

        fn error(&self) -> Option<&str> {
            None
        }

        fn flows(&self) -> u64 {
            1
        }
    }

    impl Task for Heavy {
        type Row = Done;

        fn hash(&self) -> &str {
            &self.name
        }

        fn kind(&self) -> (usize, usize) {
            (0, self.memory as usize)
        }

        fn name(&self) -> String {
            self.name.clone()
        }

        fn memory(&self) -> u64 {
            self.memory
        }

        fn to_bytes(&self) -> Vec<u8> {
            vec![]
        }

        fn run(&self, threads: usize, _: &Monitor, _: Option<&Path>) -> Option<Done> {
            let now = self.here.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.here.most.fetch_max(now, Ordering::SeqCst);
            self.here.threads.fetch_max(threads, Ordering::SeqCst);
            std::thread::sleep(self.here.pause);
            assert!(self.name != self.here.broken, "no row for {}", self.name);
            self.here.now.fetch_sub(1, Ordering::SeqCst);
            Some(Done(self.name.clone()))
        }
    }

    /// Keeps nothing.
    struct Nowhere;

    impl Job for Nowhere {
        type Task = Heavy;

        fn kept(&self) -> Result<BTreeSet<String>, Fault> {
            Ok(BTreeSet::new())
        }

        fn reads(&self) -> bool {
            false
        }

        fn row(&self, _: &Heavy) -> Result<Option<Done>, Fault> {
            Ok(None)
        }

        fn keep(&self, _: &Heavy, _: &Done) -> Result<(), Fault> {
            Ok(())
        }

        fn remove(&self, _: &Heavy) {}

        fn claim(&self, _: &Heavy) -> Claimed {
            Claimed::Own(None)
        }
    }

    /// Runs tasks of these sizes in four threads; most at a time, most threads of one, and most that
    /// were told to run.
    fn most(sizes: &[u64], free: Option<u64>, pause: Duration) -> (usize, usize, usize) {
        let here = Arc::new(Here { pause, ..Here::default() });
        let task = |(at, memory): (usize, &u64)| {
            Arc::new(Heavy { name: at.to_string(), memory: *memory, here: here.clone() })
        };
        let tasks = sizes.iter().enumerate().map(task).collect();
        let mut driver = Driver::of(Nowhere, tasks, DriverOptions::default()).unwrap();
        let mut told = 0;
        run_within(&mut driver, 4, free, &Arc::default(), &mut |now| told = told.max(now.running))
            .unwrap();
        let progress = driver.finish().unwrap().progress;
        assert_eq!((progress.done, progress.points), (sizes.len(), sizes.len()));
        let [at_once, threads] = [&here.most, &here.threads].map(|one| one.load(Ordering::SeqCst));
        (at_once, threads, told)
    }

    #[test]
    fn no_more_points_run_at_a_time_than_memory_carries() {
        let pause = Duration::from_millis(20);
        assert_eq!(most(&[100; 12], Some(250), pause).0, 2, "two fit");
        assert_eq!(most(&[100; 12], None, pause).0, 4, "threads are the limit");
        // One that is too large for all of it runs alone, and the others go on after it.
        assert_eq!(most(&[300, 90, 300, 90], Some(200), pause).0, 1);
    }

    /// The study would wait for its row for ever.
    #[test]
    fn a_panic_outside_of_a_points_guard_ends_the_study_with_its_message() {
        let here = Arc::new(Here { broken: "point 3", ..Here::default() });
        let task =
            |at| Arc::new(Heavy { name: format!("point {at}"), memory: 1, here: here.clone() });
        let tasks = (0..40).map(task).collect();
        let mut driver = Driver::of(Nowhere, tasks, DriverOptions::default()).unwrap();
        let ended = run_within(&mut driver, 2, None, &Arc::default(), &mut |_| ());
        let text = ended.unwrap_err().to_string();
        assert!(text.starts_with("internal error: no row for point 3 ("), "{text}");
        assert!(text.contains("local.rs") && text.ends_with("(point 3)"), "{text}");
        let progress = driver.progress();
        assert_eq!((progress.running, progress.failed), (0, 0));
        assert!((1..40).contains(&progress.done), "{progress:?}");
    }

    /// A study that repeats until it is sure adds points while its last one has all threads. One of
    /// them lay ready for ever when that one ended.
    #[test]
    fn what_lies_ready_is_run_by_a_thread_that_had_all_of_them() {
        let here = Arc::new(Here::default());
        let ready = |ticket: u64, threads| Ready {
            ticket,
            point: Arc::new(Heavy { name: ticket.to_string(), memory: 1, here: here.clone() }),
            threads,
            monitor: Arc::default(),
            folder: None,
        };
        let lying = VecDeque::from([ready(1, 1), ready(2, 1)]);
        let queue = Mutex::new(Queue { ready: lying, busy: 4, running: 1 });
        let (sender, receiver) = channel();
        work_off::<Nowhere>(ready(0, 4), &queue, &sender);
        assert_eq!(receiver.try_iter().map(|(ticket, ..)| ticket).collect::<Vec<_>>(), [0, 1, 2]);
        let queue = locked(&queue);
        assert_eq!((queue.ready.len(), queue.busy, queue.running), (0, 0, 0));
    }

    #[test]
    fn short_points_lie_ready_and_no_more_run_than_there_are_threads() {
        let (at_once, _, told) = most(&[1; 400], Some(1_000), Duration::from_millis(1));
        assert!(at_once <= 4 && told <= 4, "{at_once} at a time, {told} told");
        assert_eq!(most(&[1], None, Duration::ZERO).1, 4, "the only one gets all threads");
    }
}
