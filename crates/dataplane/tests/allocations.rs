//! A run that has warmed up allocates nothing: packets, frames and bursts are used again.
//!
//! A process of its own: its allocator counts.

use incast_dataplane::{Clock, Mem, Testbed, Virtual};
use incast_testkit::{Trial, fabric, flow};
use incast_transport::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A virtual clock that looks how much was allocated when it passes two instants.
struct Watching<'a> {
    clock: Virtual,
    between: [Time; 2],
    seen: &'a Cell<[u64; 2]>,
}

impl Clock for Watching<'_> {
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn idle(&mut self, due: Time) {
        let (before, count) = (self.clock.now(), ALLOCATIONS.get());
        let mut seen = self.seen.get();
        for (instant, seen) in self.between.iter().zip(&mut seen) {
            if before < *instant && due >= *instant {
                *seen = count;
            }
        }
        self.seen.set(seen);
        self.clock.idle(due);
    }
}

/// Two flows that last longer than the run, across one bottleneck.
fn steady(entry: &'static dyn Transport) -> Trial<'static> {
    let fabric = fabric("dumbbell:2x2", Rate::from_gbps(10), Span::from_us(4));
    let flows = [flow(0, 0, 2, 1 << 30, Time::ZERO), flow(1, 1, 3, 1 << 30, Time::ZERO)];
    let mut trial = Trial::new(entry, fabric, flows.to_vec());
    trial.buffer = Limit::Packets(64);
    trial.options.until = Time::ZERO + Span::from_ms(40);
    trial
}

#[test]
fn nothing_is_allocated_in_steady_state() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let trial = steady(*entry);
        let seen = Cell::new([0; 2]);
        let between = [20, 39].map(|ms| Time::ZERO + Span::from_ms(ms));
        let clock = Watching { clock: Virtual::new(), between, seen: &seen };
        let io = Mem::new(&trial.fabric, Framing::ETHERNET);
        let (record, ..) = Testbed::with(trial.setup(), io, clock).run();
        let [from, to] = seen.get();
        println!("{name}: {} allocations in {} hops", to - from, record.packet_hops);
        assert!(from > 0 && to >= from, "{name}: {from} to {to}");
        assert!(record.packet_hops > 20_000, "{name}: {} hops", record.packet_hops);
        assert!(to - from <= most(name), "{name}: {} allocations in 19 ms", to - from);
    }
}

/// Most allocations of a transport: tables of packets that grow to a new maximum when a window or a
/// queue of headers does, and each flow's lists of losses, which grow by a half.
fn most(name: &str) -> u64 {
    match name {
        // Its list of losses gives memory back between two periods.
        "cubic" => 24,
        // It loses half of all packets for as long as the run lasts, and its lists of losses are long and
        // short again with each recovery: 1.4 allocations per 1,000 packet-hops.
        "none" => 340,
        // Of two flows as long as each other the later one loses what it probes with, again and again.
        "pfabric" => 480,
        "ndp" | "phost" => 4,
        _ => 0,
    }
}
