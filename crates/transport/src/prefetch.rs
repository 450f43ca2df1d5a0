//! Bringing memory near before it is needed: a fabric's state does not fit into the caches, and
//! the order of events tells early what the next ones will touch.

/// Bytes of a cache line, and most lines of one value that are brought near.
const LINE: usize = 64;
const MOST: usize = 8;

/// Brings a value near; of a large one the beginning. Does nothing a program can observe.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let (start, size) = (value as *const T as *const u8, size_of_val(value));
    for line in 0..size.div_ceil(LINE).min(MOST) {
        prefetch_line(start.wrapping_add(line * LINE));
    }
}

/// Brings the line of an address near. Any address is allowed.
#[inline]
pub fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect a program can observe, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(address as *const i8, _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
