//! What a process asks of the system: instants that processes share, a number that no other
//! process has, and a quiet network namespace.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// The machine's monotonic clock in nanoseconds, the same in all its processes.
pub fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes the time, which lives during the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(result, 0, "Linux has a monotonic clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The instant at which [`monotonic`] is `epoch`.
pub fn instant_of(epoch: u64) -> Instant {
    let (now, read) = (Instant::now(), monotonic());
    let away = Duration::from_nanos(epoch.abs_diff(read));
    if epoch >= read { now + away } else { now.checked_sub(away).unwrap_or(now) }
}

/// Switches IPv6 off at interfaces that come into this network namespace, as far as that is allowed:
/// their kernel then sends nothing of its own.
pub fn disable_ipv6() {
    for whose in ["all", "default"] {
        // Without IPv6 there is nothing to switch off.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{whose}/disable_ipv6"), "1");
    }
}

/// A number that no other process has, with all likelihood; not 0.
pub fn process_number() -> u64 {
    RandomState::new().hash_one((std::process::id(), monotonic())) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_agree_with_the_clock() {
        let soon = instant_of(monotonic() + 1_000_000_000);
        let away = soon - Instant::now();
        assert!((900..=1_000).contains(&(away.as_millis() as u64)), "{away:?}");
        assert!(instant_of(monotonic() - 1_000_000) <= Instant::now());
        assert_ne!(process_number(), process_number());
    }
}
