//! What a process asks of the system: instants that processes share, a number that no other
//! process has, interfaces that no other process has, and a quiet network namespace.

use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
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

/// Keeps this thread on a core, as the system numbers them.
///
/// # Errors
/// There is no such core, or this process may not use it; in words.
pub fn pin(core: usize) -> Result<(), String> {
    // SAFETY: all bytes 0 are an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let allowed = allowed_cores();
    if !allowed.contains(&core) {
        let all: Vec<String> = allowed.iter().map(usize::to_string).collect();
        let all = all.join(", ");
        return Err(format!("core {core} is none of this process: it may use {all}"));
    }
    // SAFETY: the core is within the set, which lives during the call; 0 is this thread.
    let result = unsafe {
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    match result {
        0 => Ok(()),
        _ => Err(format!("core {core}: {}", std::io::Error::last_os_error())),
    }
}

/// The cores on which this thread may run.
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: all bytes 0 are an empty set, which the system fills and which lives during the call.
    let (result, set) = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        (libc::sched_getaffinity(0, size, &raw mut set), set)
    };
    let most = libc::CPU_SETSIZE as usize;
    // SAFETY: every core is within the set.
    let has = |core: &usize| result == 0 && unsafe { libc::CPU_ISSET(*core, &set) };
    (0..most).filter(has).collect()
}

/// Switches IPv6 off at interfaces that come into this network namespace, as far as that is allowed:
/// their kernel then sends nothing of its own.
pub fn disable_ipv6() {
    for whose in ["all", "default"] {
        // Without IPv6 there is nothing to switch off.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{whose}/disable_ipv6"), "1");
    }
}

/// Keeps every other node from an interface, until it is dropped or the process ends: both would get
/// each frame, and take each other's.
#[derive(Debug)]
pub struct Claim {
    /// Has a name in this network namespace. Nothing is sent to it.
    _socket: UnixDatagram,
}

/// Claims an interface of this network namespace.
///
/// # Errors
/// Another node has claimed it, or the system gives no socket; in words.
pub fn claim(interface: &str) -> Result<Claim, String> {
    let name = format!("incast/interface/{interface}");
    let bound = SocketAddr::from_abstract_name(name).and_then(|at| UnixDatagram::bind_addr(&at));
    bound.map(|_socket| Claim { _socket }).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            format!(
                "the interface `{interface}` belongs to another node that runs: end that one first"
            )
        }
        _ => format!("the interface `{interface}` cannot be claimed: {error}"),
    })
}

/// A number that no other process has, with all likelihood; not 0.
pub fn process_number() -> u64 {
    RandomState::new().hash_one((std::process::id(), monotonic())) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_on_its_core() {
        let core = *allowed_cores().last().expect("it runs somewhere");
        std::thread::spawn(move || {
            pin(core).unwrap();
            assert_eq!(allowed_cores(), [core]);
            assert!(pin(1_023).unwrap_err().contains("may use"));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_interface_belongs_to_one_node() {
        let first = claim("incast-test0").unwrap();
        let second = claim("incast-test0").unwrap_err();
        assert!(second.contains("`incast-test0` belongs to another node"), "{second}");
        let _other = claim("incast-test1").unwrap();
        drop(first);
        claim("incast-test0").unwrap();
    }

    #[test]
    fn instants_agree_with_the_clock() {
        let soon = instant_of(monotonic() + 1_000_000_000);
        let away = soon - Instant::now();
        assert!((900..=1_000).contains(&(away.as_millis() as u64)), "{away:?}");
        assert!(instant_of(monotonic() - 1_000_000) <= Instant::now());
        assert_ne!(process_number(), process_number());
    }
}
