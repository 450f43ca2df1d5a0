//! What a packet costs a switch, in cycles of the processor's counter.

use incast_transport::PacketRef;
use std::time::Instant;

/// The stages of a packet in a switch, in order. Markers are part of the two in the middle.
pub const STAGES: [&str; 6] = ["rx", "decode", "route", "enqueue", "dequeue", "tx"];

/// The unit of costs: cycles of the time stamp counter, or nanoseconds where there is none.
pub const UNIT: &str = if cfg!(target_arch = "x86_64") { "cycles" } else { "ns" };

/// Reads the counter.
#[inline]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        use std::sync::OnceLock;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Readings of the counter per second, over a tenth of a second.
pub fn counter_rate() -> f64 {
    let (start, from) = (Instant::now(), counter());
    while start.elapsed().as_millis() < 100 {
        std::hint::spin_loop();
    }
    (counter() - from) as f64 / start.elapsed().as_secs_f64()
}

/// What two readings of the counter cost by themselves: the median of many.
pub fn overhead() -> u64 {
    let mut all: Vec<u64> = (0..10_000)
        .map(|_| {
            let from = counter();
            counter() - from
        })
        .collect();
    median(&mut all)
}

/// The middle one; 0 of none.
pub fn median(all: &mut [u64]) -> u64 {
    if all.is_empty() {
        return 0;
    }
    let middle = all.len() / 2;
    *all.select_nth_unstable(middle).1
}

/// The time of each stage of bursts.
#[derive(Default)]
pub(crate) struct Laps {
    from: u64,
    /// Of each stage, a time for each burst.
    pub taken: [Vec<u64>; STAGES.len()],
    /// Room for packets between two stages.
    pub leaving: Vec<(PacketRef, u64, u64)>,
}

impl Laps {
    #[inline]
    pub fn start(&mut self) {
        self.from = counter();
    }

    #[inline]
    pub fn end(&mut self, stage: usize) {
        let now = counter();
        self.taken[stage].push(now - self.from);
        self.from = counter();
    }
}

/// The cost of a packet: the median of many bursts over the packets of one, so that what interrupts the
/// thread does not count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// As measured.
    pub raw: f64,
    /// Without the cost of reading the counter.
    pub corrected: f64,
    /// The same of the burst that a tenth of all are not slower than. Where it is far below the median,
    /// other programs were at work on the same core, or on the other hardware thread of it.
    pub quiet: f64,
}

impl Cost {
    /// Of bursts of `burst` packets that took so long, where two readings cost `overhead`.
    pub fn of(taken: &mut [u64], overhead: u64, burst: usize) -> Cost {
        let of = |taken: u64| (taken as f64 - overhead as f64).max(0.0) / burst as f64;
        let middle = median(taken);
        let quiet = match taken.len() {
            0 => 0,
            count => *taken.select_nth_unstable(count / 10).1,
        };
        Cost { raw: middle as f64 / burst as f64, corrected: of(middle), quiet: of(quiet) }
    }
}

/// What a packet costs a switch.
#[derive(Clone, PartialEq, Debug)]
pub struct SwitchCost {
    /// Packets per burst.
    pub burst: usize,
    /// Bursts measured, of each kind.
    pub bursts: usize,
    /// From reception to transmission, with each burst as the switch handles it.
    pub whole: Cost,
    /// By stage, with each stage done for all packets of a burst before the next.
    pub stages: [Cost; STAGES.len()],
    /// Share of packets whose bytes differ from those that were sent to the switch: marked ones. Of bursts that
    /// came through whole.
    pub changed: f64,
    /// Share of packets that the port dropped, since its queue is shorter than a burst. They count as packets.
    pub lost: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_a_median_without_the_clock() {
        assert_eq!((median(&mut []), median(&mut [9, 1, 5])), (0, 5));
        let cost = Cost::of(&mut [640, 3_200_000, 672], 32, 32);
        assert_eq!((cost.raw, cost.corrected, cost.quiet), (21.0, 20.0, 19.0));
        let mut many: Vec<u64> = (1..=20).rev().map(|one| one * 32).collect();
        assert_eq!(Cost::of(&mut many, 0, 32), Cost { raw: 11.0, corrected: 11.0, quiet: 3.0 });
        assert_eq!(Cost::of(&mut [], 32, 32), Cost { raw: 0.0, corrected: 0.0, quiet: 0.0 });
        assert_eq!(Cost::of(&mut [8], 32, 32).corrected, 0.0);
    }

    #[test]
    fn the_counter_counts() {
        let (from, rate) = (counter(), counter_rate());
        assert!(counter() > from && rate > 1e6, "{rate}");
        assert!(overhead() < 100_000);
    }
}
