//! What Linux says about itself, read from its text files.

use std::time::{Duration, Instant};

/// The value of `key:` in a list such as `/proc/meminfo`.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = |line: &'a str| line.strip_prefix(key)?.strip_prefix(':');
    text.lines().find_map(after).map(str::trim)
}

/// Free and all hugepages, and their size in KiB, of `/proc/meminfo`.
pub fn hugepages(meminfo: &str) -> Option<(u64, u64, u64)> {
    let number = |key| field(meminfo, key)?.split_whitespace().next()?.parse().ok();
    Some((number("HugePages_Free")?, number("HugePages_Total")?, number("Hugepagesize")?))
}

/// Effective capabilities of `/proc/self/status`, of those that packets need.
pub fn capabilities(status: &str) -> Vec<&'static str> {
    const WANTED: [(u32, &str); 4] =
        [(12, "CAP_NET_ADMIN"), (13, "CAP_NET_RAW"), (14, "CAP_IPC_LOCK"), (21, "CAP_SYS_ADMIN")];
    let bits = field(status, "CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let has = |bit: u32| bits.is_some_and(|bits| bits & 1 << bit != 0);
    WANTED.iter().filter(|(bit, _)| has(*bit)).map(|(_, name)| *name).collect()
}

/// Share of time that the hypervisor gave to others since the start, of `/proc/stat`.
pub fn stolen(stat: &str) -> Option<f64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // The ninth and tenth, of guests, are in the first two already.
    let all: u64 = times.iter().take(8).sum();
    (all > 0).then(|| *times.get(7).unwrap_or(&0) as f64 / all as f64)
}

/// Numbers of cores in a list such as `0-3,8`.
pub fn cores(list: &str) -> usize {
    let count = |part: &str| match part.split_once('-') {
        Some((from, to)) => Some(to.parse::<usize>().ok()?.checked_sub(from.parse().ok()?)? + 1),
        None => part.parse::<usize>().ok().map(|_| 1),
    };
    list.trim().split(',').filter_map(count).sum()
}

/// What a thread that never waits sees of time in which it does not run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stalls {
    /// Share of time in gaps of more than 5 us.
    pub share: f64,
    /// The longest gap.
    pub longest: Duration,
}

/// Watches the clock for `span` without a pause.
pub fn stalls(span: Duration) -> Stalls {
    let start = Instant::now();
    let (mut last, mut lost, mut longest) = (start, Duration::ZERO, Duration::ZERO);
    while last - start < span {
        let now = Instant::now();
        let gap = now - last;
        if gap > Duration::from_micros(5) {
            lost += gap;
            longest = longest.max(gap);
        }
        last = now;
    }
    Stalls { share: lost.as_secs_f64() / (last - start).as_secs_f64(), longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_linux_are_read() {
        let meminfo = "MemTotal:  8 kB\nHugePages_Total:      64\nHugePages_Free:       60\n\
            Hugepagesize:       2048 kB\n";
        assert_eq!(hugepages(meminfo), Some((60, 64, 2048)));
        assert_eq!(hugepages("MemTotal: 8 kB\n"), None);
        assert_eq!(
            capabilities("Name:\tx\nCapEff:\t0000000000003000\n"),
            ["CAP_NET_ADMIN", "CAP_NET_RAW"]
        );
        assert!(
            capabilities("CapEff:\t0000000000000000\n").is_empty() && capabilities("").is_empty()
        );
        let share = stolen("cpu  10 0 10 60 0 0 0 20 5 5\ncpu0 1 2 3\n");
        assert_eq!(share, Some(0.2));
        assert_eq!(stolen("intr 5\n"), None);
        assert_eq!((cores("0-3,8\n"), cores("\n"), cores("5"), cores("x-y,7-5")), (5, 0, 1, 0));
    }

    #[test]
    fn gaps_are_a_share_of_the_time_watched() {
        let seen = stalls(Duration::from_millis(5));
        assert!((0.0..=1.0).contains(&seen.share));
        assert_eq!(seen.longest > Duration::ZERO, seen.share > 0.0);
    }
}
