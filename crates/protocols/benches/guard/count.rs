//! What a program asks of its allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The system's allocator, with counts.
pub struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Counts since the program started.
#[derive(Clone, Copy)]
pub struct Counts {
    /// Calls that gave memory.
    pub calls: u64,
    /// Bytes that they gave.
    pub bytes: u64,
    /// Most bytes that were held at a time.
    pub peak: u64,
}

impl Counts {
    pub fn now() -> Counts {
        Counts { calls: CALLS.load(Relaxed), bytes: BYTES.load(Relaxed), peak: PEAK.load(Relaxed) }
    }
}

fn given(bytes: usize) {
    CALLS.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
    let held = HELD.fetch_add(bytes as u64, Relaxed) + bytes as u64;
    PEAK.fetch_max(held, Relaxed);
}

fn taken(bytes: usize) {
    HELD.fetch_sub(bytes as u64, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        given(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        given(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        taken(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(layout.size());
        given(size);
        // SAFETY: as the caller's.
        unsafe { System.realloc(memory, layout, size) }
    }
}
