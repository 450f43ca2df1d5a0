//! Where the threads of a run wait for one another: awake for a moment, then asleep.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Spins of a thread that waits, a few microseconds, before it yields.
const SPINS: u32 = 200;
/// Yields before it sleeps.
const YIELDS: u32 = 50;
/// Time that it yields for at most. On a busy machine a yield gives a whole time slice away.
const AWAKE: Duration = Duration::from_micros(100);

/// A barrier, and other conditions to wait for. Once a thread has broken it off, nobody waits.
#[derive(Default)]
pub(crate) struct Barrier {
    /// Arrivals at the barrier so far, of all rounds.
    arrived: AtomicU64,
    asleep: AtomicU32,
    broken: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    /// Waits until each of `threads` threads has come to the end of `round`, counted from 0. Returns
    /// false if one of them has broken off.
    pub fn meet(&self, threads: usize, round: u64) -> bool {
        let all = threads as u64 * (round + 1);
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == all {
            self.tell();
        }
        self.until(|| self.arrived.load(Ordering::SeqCst) >= all)
    }

    /// Waits until `ready` is true, or returns false if a thread has broken off. `ready` loads with
    /// [`Ordering::SeqCst`]; whoever makes it true stores so, and calls [`tell`](Barrier::tell).
    pub fn until(&self, ready: impl Fn() -> bool) -> bool {
        for _ in 0..SPINS {
            if ready() {
                return true;
            }
            std::hint::spin_loop();
        }
        let began = Instant::now();
        for _ in 0..YIELDS {
            if ready() {
                return true;
            }
            if self.broken.load(Ordering::SeqCst) || began.elapsed() > AWAKE {
                break;
            }
            std::thread::yield_now();
        }
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted before the condition is read, and read after it has changed: either this thread
        // sees the change, or the other sees that somebody is asleep.
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while !ready() && !self.broken.load(Ordering::SeqCst) {
            lock = self.wake.wait(lock).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        ready()
    }

    /// Wakes whoever waits for what has just become true.
    pub fn tell(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // Not between another thread's look at its condition and its sleep.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Ends all waiting, now and later.
    pub fn break_off(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::{scope, sleep};

    /// Whoever comes much later than the others finds them asleep, and wakes them.
    #[test]
    fn threads_that_sleep_are_woken_by_the_last_one() {
        let barrier = Barrier::default();
        let most = AtomicU32::new(0);
        scope(|threads| {
            for index in 0..3 {
                let (barrier, most) = (&barrier, &most);
                threads.spawn(move || {
                    for round in 0..6 {
                        if round % 3 == index {
                            while barrier.asleep.load(Ordering::SeqCst) < 2 {
                                sleep(Duration::from_millis(1));
                            }
                            most.fetch_max(barrier.asleep.load(Ordering::SeqCst), Ordering::SeqCst);
                        }
                        assert!(barrier.meet(3, round));
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 2);
        assert_eq!(barrier.asleep.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_thread_that_breaks_off_wakes_all() {
        let barrier = Barrier::default();
        scope(|threads| {
            let waiting = [(); 3].map(|()| threads.spawn(|| barrier.meet(4, 0)));
            while barrier.asleep.load(Ordering::SeqCst) < 3 {
                sleep(Duration::from_millis(1));
            }
            barrier.break_off();
            assert_eq!(waiting.map(|one| one.join().unwrap()), [false; 3]);
        });
        assert!(!barrier.until(|| false), "and nobody waits later");
    }
}
