//! Who does the next window: all threads, each its partition, or one thread alone all of them.

use std::time::{Duration, Instant};

/// Decides between two windows whether one thread does the next one alone. No record depends on it.
pub trait Turns {
    /// Whether it does, after so many windows and events of the run.
    fn alone(&mut self, windows: u64, events: u64) -> bool;
}

/// Smallest number of events per window that other threads do meanwhile for which threads meet at a barrier: a
/// meeting costs some tens of microseconds, an event a third of one.
const MIN_EVENTS: u64 = 150;
/// Events between two looks at the clock, a fraction of a millisecond.
const LOOK: u64 = 2_000;
/// Time over which a speed is measured.
const SLICE: Duration = Duration::from_millis(2);
/// Slices of a trial of all threads, of which the best counts: another program may take one.
const TRIES: u32 = 2;
/// Time until the other way is tried again, which doubles with each trial that changes nothing.
const PAUSE: Duration = Duration::from_millis(16);
/// That time at most.
const LONGEST: Duration = Duration::from_secs(1);
/// So many times faster are all threads, or the cores that they take are for nothing.
const GAIN: f64 = 1.1;
/// Share of their speed when they were chosen below which all threads are tried against one again. One
/// slow slice, which another program may have taken, is not enough.
const FALL: f64 = 0.7;

/// Measures which of both is faster, and tries the other one now and then: whether threads gain
/// anything depends on the other programs of the machine, and changes while the run goes on.
pub struct Measured<C = fn() -> Duration> {
    clock: C,
    partitions: u64,
    alone: bool,
    /// Slices left of a trial; 0 outside of one.
    trial: u32,
    /// Speed of the best slice of the trial.
    best: f64,
    /// Events per second of late: one thread, all of them. 0 while it is not known.
    speeds: [f64; 2],
    /// Time from the last trial to the next one, and when that is.
    pause: Duration,
    due: Duration,
    /// Speed of what was chosen when it was.
    chosen: f64,
    /// Events at the next look.
    look: u64,
    slice: Slice,
}

/// Where a slice began.
#[derive(Clone, Copy, Default)]
struct Slice {
    at: Duration,
    windows: u64,
    events: u64,
}

impl Measured {
    /// For so many partitions, by the clock of this machine.
    pub fn new(partitions: usize) -> Measured<impl FnMut() -> Duration> {
        let begin = Instant::now();
        Measured::by(move || begin.elapsed(), partitions)
    }
}

impl<C: FnMut() -> Duration> Measured<C> {
    fn by(clock: C, partitions: usize) -> Measured<C> {
        Measured {
            clock,
            partitions: partitions as u64,
            alone: true,
            trial: 0,
            best: 0.0,
            speeds: [0.0; 2],
            pause: PAUSE,
            due: Duration::ZERO,
            chosen: 0.0,
            look: LOOK,
            slice: Slice::default(),
        }
    }

    /// Takes note of a slice that ends now.
    fn close(&mut self, now: Slice) {
        let before = std::mem::replace(&mut self.slice, now);
        let (windows, events) = (now.windows - before.windows, now.events - before.events);
        let (all, others) = (self.partitions, self.partitions - 1);
        if events * others < windows * all * MIN_EVENTS {
            if !self.alone {
                // The barrier is not for sparse windows; dense ones are tried again.
                let pause = if self.trial > 0 { self.pause } else { Duration::ZERO };
                (self.alone, self.trial, self.due) = (true, 0, now.at + pause);
            }
            return;
        }
        let speed = events as f64 / (now.at - before.at).as_secs_f64();
        match self.trial {
            0 => self.go_on(speed, now.at),
            _ => self.try_on(speed, now.at),
        }
    }

    /// A slice of what was chosen.
    fn go_on(&mut self, speed: f64, now: Duration) {
        let known = &mut self.speeds[usize::from(!self.alone)];
        *known += (speed - *known) * if *known == 0.0 { 1.0 } else { 0.25 };
        if now >= self.due || !self.alone && *known < FALL * self.chosen {
            self.alone = !self.alone;
            self.trial = if self.alone { 1 } else { TRIES };
            self.best = 0.0;
        }
    }

    /// A slice of a trial.
    fn try_on(&mut self, speed: f64, now: Duration) {
        self.best = self.best.max(speed);
        self.trial -= 1;
        let tried = self.alone;
        self.speeds[usize::from(!tried)] = self.best;
        let [one, all] = self.speeds;
        let alone = all < GAIN * one;
        if alone && !tried && self.trial > 0 {
            return;
        }
        self.pause = if alone == tried { PAUSE } else { LONGEST.min(self.pause * 2) };
        (self.alone, self.trial) = (alone, 0);
        (self.chosen, self.due) = (self.speeds[usize::from(!alone)], now + self.pause);
    }
}

impl<C: FnMut() -> Duration> Turns for Measured<C> {
    #[inline]
    fn alone(&mut self, windows: u64, events: u64) -> bool {
        if events >= self.look {
            self.look = events + LOOK;
            let at = (self.clock)();
            if at >= self.slice.at + SLICE {
                self.close(Slice { at, windows, events });
            }
        }
        self.alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A machine on which one thread does eight million events per second, and all of them so many times
    /// as many.
    struct Machine<T> {
        turns: T,
        now: Rc<Cell<Duration>>,
        windows: u64,
        events: u64,
    }

    fn machine() -> Machine<Measured<impl FnMut() -> Duration>> {
        machine_of(2)
    }

    /// With so many cores.
    fn machine_of(cores: usize) -> Machine<Measured<impl FnMut() -> Duration>> {
        let now = Rc::new(Cell::new(Duration::ZERO));
        let clock = now.clone();
        Machine { turns: Measured::by(move || clock.get(), cores), now, windows: 0, events: 0 }
    }

    impl<T: Turns> Machine<T> {
        /// Share of the events within so many milliseconds that one thread did alone.
        fn alone(&mut self, milliseconds: u64, gain: f64, events: u64) -> f64 {
            let end = self.now.get() + Duration::from_millis(milliseconds);
            let (first, mut alone) = (self.events, 0);
            let mut solo = self.turns.alone(self.windows, self.events);
            while self.now.get() < end {
                let speed = if solo { 8e6 } else { 8e6 * gain };
                self.now.set(self.now.get() + Duration::from_secs_f64(events as f64 / speed));
                alone += if solo { events } else { 0 };
                self.windows += 1;
                self.events += events;
                solo = self.turns.alone(self.windows, self.events);
            }
            alone as f64 / (self.events - first) as f64
        }
    }

    #[test]
    fn the_faster_way_is_chosen_and_the_other_one_is_tried_ever_more_rarely() {
        let mut machine = machine();
        machine.alone(20, 1.7, 1_000);
        assert!(machine.alone(100, 1.7, 1_000) < 0.05);
        machine.alone(5_000, 1.7, 1_000);
        assert!(machine.alone(5_000, 1.7, 1_000) < 0.003);
        // Another program takes a core.
        machine.alone(20, 0.3, 1_000);
        assert!(machine.alone(100, 0.3, 1_000) > 0.93);
        machine.alone(5_000, 0.3, 1_000);
        assert!(machine.alone(5_000, 0.3, 1_000) > 0.997);
        // It is gone.
        machine.alone(1_000, 1.7, 1_000);
        assert!(machine.alone(100, 1.7, 1_000) < 0.05);
    }

    #[test]
    fn cores_are_not_taken_for_a_gain_that_is_none() {
        let mut machine = machine();
        machine.alone(1_000, 1.05, 1_000);
        assert!(machine.alone(2_000, 1.05, 1_000) > 0.99);
    }

    /// What one of sixteen does per window is little, what the others do meanwhile is not.
    #[test]
    fn many_cores_take_windows_that_are_sparse_for_each() {
        let mut machine = machine_of(16);
        machine.alone(20, 5.0, 900);
        assert!(machine.alone(100, 5.0, 900) < 0.05);
        let mut machine = machine_of(16);
        assert!(machine.alone(100, 5.0, 150) == 1.0);
    }

    /// A burst of many events is worth a barrier at once, whatever came before.
    #[test]
    fn windows_with_few_events_are_for_one_thread() {
        let mut machine = machine();
        machine.alone(20, 1.7, 1_000);
        for _ in 0..5 {
            machine.alone(10, 1.7, 200);
            assert!(machine.alone(200, 1.7, 200) == 1.0, "sparse");
            machine.alone(8, 1.7, 1_000);
            assert!(machine.alone(10, 1.7, 1_000) < 0.3, "dense");
        }
    }
}
