//! Lines of files and hosts in them.

use crate::error::{in_line, setting};
use crate::traffic::MAX_FLOW_BYTES;
use incast_units::{Fault, Time};

/// The mapping of a file's host numbers to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostIds {
    /// The file's number of each host, ascending; `None` for the identity.
    ids: Option<Vec<u64>>,
    hosts: u32,
}

impl HostIds {
    /// The identity: the file numbers hosts from 0 to `hosts` - 1.
    pub fn same(hosts: u32) -> HostIds {
        HostIds { ids: None, hosts }
    }

    /// Host i is the i-th smallest of `ids`, for files that number hosts and switches together.
    /// Panics if a number appears twice.
    pub fn listed(ids: &[u64]) -> HostIds {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "a host number appears twice");
        HostIds { hosts: ids.len() as u32, ids: Some(sorted) }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    fn host(&self, id: u64) -> Option<u32> {
        match &self.ids {
            None => u32::try_from(id).ok().filter(|&host| host < self.hosts),
            Some(ids) => ids.binary_search(&id).ok().map(|place| place as u32),
        }
    }

    pub(super) fn id(&self, host: u32) -> Option<u64> {
        match &self.ids {
            None => (host < self.hosts).then_some(u64::from(host)),
            Some(ids) => ids.get(host as usize).copied(),
        }
    }

    pub(super) fn accepted(&self) -> String {
        match &self.ids {
            None => format!("a host from 0 to {}", i64::from(self.hosts) - 1),
            Some(ids) => match (ids.first(), ids.last()) {
                (Some(low), Some(high)) => {
                    format!("one of the {} hosts numbered {low} to {high}", ids.len())
                }
                _ => "no host: the fabric has none".to_string(),
            },
        }
    }
}

/// Parses fields of one line of a file; every error contains the location.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: usize,
}

impl Place<'_> {
    pub(crate) fn fail<T>(
        &self,
        key: &str,
        value: impl std::fmt::Display,
        accepted: impl std::fmt::Display,
    ) -> Result<T, Fault> {
        Err(in_line(self.file, self.line, key, value, accepted))
    }

    /// An integer in `low..=high`.
    pub(crate) fn integer(&self, key: &str, text: &str, low: u64, high: u64) -> Result<u64, Fault> {
        match text.parse::<u64>() {
            Ok(value) if (low..=high).contains(&value) => Ok(value),
            _ => self.fail(key, text, format!("a whole number from {low} to {high}")),
        }
    }

    pub(crate) fn host(&self, key: &str, text: &str, hosts: &HostIds) -> Result<u32, Fault> {
        let host = text.parse::<u64>().ok().and_then(|id| hosts.host(id));
        host.map_or_else(|| self.fail(key, text, hosts.accepted()), Ok)
    }

    /// A receiver, which must not be the sender.
    pub(crate) fn receiver(&self, text: &str, src: u32, hosts: &HostIds) -> Result<u32, Fault> {
        let dst = self.host("dst", text, hosts)?;
        if dst == src {
            return self.fail("dst", text, "a host other than the sender");
        }
        Ok(dst)
    }

    pub(crate) fn size(&self, key: &str, text: &str) -> Result<u64, Fault> {
        self.integer(key, text, 1, MAX_FLOW_BYTES)
    }

    /// A time in units of 10^`power` picoseconds, rounded to the nearest picosecond.
    pub(crate) fn time(&self, key: &str, text: &str, power: i32) -> Result<Time, Fault> {
        match scaled(text, power).filter(|&time| time < Time::NEVER.0) {
            Some(time) => Ok(Time(time)),
            None => self.fail(key, text, "a number, 0 or more, that ends within 213 days"),
        }
    }
}

/// `text` times 10^`power`, rounded to the nearest integer (halves up), without floating point.
/// `None` if it is not a decimal number, negative or too large.
pub(crate) fn scaled(text: &str, power: i32) -> Option<u64> {
    const FRACTION_DIGITS: usize = 24;
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |s: &str| s.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let kept = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    // The leading zero allows an empty integer part, as in `.5`.
    let value: u128 = format!("0{whole}{kept}").parse().ok()?;
    let shift = exponent.checked_add(power)?.checked_sub(kept.len() as i32)?;
    let result = match 10u128.checked_pow(shift.unsigned_abs()) {
        Some(factor) if shift >= 0 => value.checked_mul(factor)?,
        Some(factor) => value / factor + u128::from(value % factor >= factor.div_ceil(2)),
        None if shift < 0 || value == 0 => 0,
        None => return None,
    };
    u64::try_from(result).ok()
}

/// The inverse of [`scaled`] for a negative power: `value` / 10^`places`, without trailing zeros.
pub(crate) fn unscaled(value: u64, places: usize) -> String {
    let factor = 10u64.pow(places as u32);
    let rest = format!("{:0places$}", value % factor);
    match rest.trim_end_matches('0') {
        "" => (value / factor).to_string(),
        rest => format!("{}.{rest}", value / factor),
    }
}

/// The error for a dependent flow in a format with start times only.
pub(crate) fn waits(flow: usize) -> Fault {
    let key = format!("flow {flow}: start");
    setting(&key, "after other flows", "a given time: the format has nothing else")
}
