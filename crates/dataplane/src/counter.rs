//! Where real time comes from.

use incast_transport::Span;
use std::time::{Duration, Instant};

/// A counter of real time.
pub trait Counter {
    /// Picoseconds since an instant of the counter's choice. Never less than a reading before.
    fn read(&mut self) -> u64;

    /// Gives the core up for about `wait`, or for longer.
    fn sleep(&mut self, wait: Span);
}

/// The system's monotonic clock: `CLOCK_MONOTONIC`, which Linux computes from the processor's
/// counter without a system call, in about 20 ns. Zero is at the first reading. It needs no calibration and is the same on every
/// core; the processor's own instruction would take about 12 ns. A reading is exact to 1 ns.
#[derive(Clone, Debug, Default)]
pub struct Monotonic {
    origin: Option<Instant>,
}

impl Monotonic {
    /// Zero at this instant; readings before it are zero.
    pub fn since(origin: Instant) -> Monotonic {
        Monotonic { origin: Some(origin) }
    }
}

impl Counter for Monotonic {
    fn read(&mut self) -> u64 {
        let now = Instant::now();
        let origin = *self.origin.get_or_insert(now);
        // 2^64 ps are 213 days.
        now.duration_since(origin).as_nanos() as u64 * 1_000
    }

    fn sleep(&mut self, wait: Span) {
        std::thread::sleep(Duration::from_nanos(wait.0.div_ceil(1_000)));
    }
}
