//! Readers of flow files, including other tools' formats, detected by content.

pub(crate) mod hpcc;
pub(crate) mod htsim;
pub(crate) mod native;
pub(crate) mod yaps;

use crate::dialect::{Dialect, dialect};
use crate::error::{in_file, in_line, setting};
pub(crate) use crate::lines::{Line, content};
use crate::traffic::{MAX_FLOW_BYTES, Traffic};
use htsim::{Failure, StartUnit};
use incast_units::Fault;
use incast_units::Time;

/// The format of a workload file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Flow list with the header `src,dst,size_bytes,start_ns`.
    NativeFlows,
    /// HPCC flow file: a count, then six columns.
    HpccFlows,
    /// htsim connection matrix.
    HtsimConnections,
    /// YAPS flow trace: nine columns.
    YapsTrace,
    /// Size distribution with the header `size_bytes,cdf`.
    NativeSizes,
    /// Size distribution `bytes percent`.
    PercentSizes,
    /// Size distribution `bytes probability`.
    ProbabilitySizes,
    /// Size distribution `size 1 probability`.
    ThreeColumnSizes,
    /// Size distribution of the Homa simulator.
    HomaSizes,
}

/// Detects the format of a workload file by its header, or else by most of its lines, so that a
/// single broken line does not change the result and the reader can report it. `None` for an
/// unknown format.
pub fn detect(text: &str) -> Option<Kind> {
    let lines = content(text);
    let first = lines.first()?;
    let header: Vec<&str> = first.text.split(',').map(str::trim).collect();
    match header[..] {
        ["flow_id", "src", "dst", ..] | ["src", "dst", ..] => return Some(Kind::NativeFlows),
        [sizes, ..] if sizes.starts_with("size_bytes") => return Some(Kind::NativeSizes),
        _ => {}
    }
    let share = |is: fn(&str) -> bool| {
        let such = lines.iter().filter(|line| is(line.text)).count();
        such as f64 / lines.len() as f64
    };
    let connects = |line: &Line<'_>| htsim::connects(line.text);
    if share(htsim::belongs) > 0.5 && lines.iter().any(connects) {
        return Some(Kind::HtsimConnections);
    }
    let counted = lines.len() > 1 && columns(first.text) == 1 && numbers(first.text);
    // The line with the count does not have six columns.
    let body = if counted { &lines[1..] } else { &lines[..] };
    let most = |wide: fn(&str) -> bool| {
        2 * body.iter().filter(|line| wide(line.text)).count() > body.len()
    };
    if most(|text| text.split(',').count() >= 4) {
        return Some(Kind::NativeFlows);
    }
    let flow = |text: &str| columns(text) == 6 && columns_of_numbers(text) == 6;
    if counted && body.first().is_some_and(|line| flow(line.text)) {
        return Some(Kind::HpccFlows);
    }
    if most(|text| columns(text) == 6 && columns_of_numbers(text) >= 4)
        || (counted && most(|text| columns_of_numbers(text) >= 4))
    {
        return Some(Kind::HpccFlows);
    }
    if most(|text| columns(text) == 9 && columns_of_numbers(text) >= 4) {
        return Some(Kind::YapsTrace);
    }
    sizes(&lines)
}

fn columns(text: &str) -> usize {
    text.split_whitespace().count()
}

fn columns_of_numbers(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.parse::<f64>().is_ok()).count()
}

fn numbers(text: &str) -> bool {
    let mut fields = text.split([',', ' ', '\t']).filter(|field| !field.is_empty());
    fields.all(|field| field.parse::<f64>().is_ok())
}

/// The format of a size distribution, if most lines have the columns of its dialect.
fn sizes(lines: &[Line<'_>]) -> Option<Kind> {
    let dialect = dialect(lines)?;
    let fits = |line: &&Line<'_>| dialect.fits(line.text) && numbers(line.text);
    if 2 * lines.iter().filter(fits).count() <= lines.len() && dialect != Dialect::Homa {
        return None;
    }
    match dialect {
        Dialect::Native => Some(Kind::NativeSizes),
        Dialect::Percent => Some(Kind::PercentSizes),
        Dialect::Probability => Some(Kind::ProbabilitySizes),
        Dialect::ThreeColumns => {
            let ones = lines.iter().filter(|line| line.text.split_whitespace().nth(1) == Some("1"));
            (2 * ones.count() > lines.len()).then_some(Kind::ThreeColumnSizes)
        }
        Dialect::Homa => (lines.len() > 1
            && numbers(lines[0].text)
            && lines[1..].iter().filter(fits).count() * 2 > lines.len() - 1)
            .then_some(Kind::HomaSizes),
    }
}

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

    fn id(&self, host: u32) -> Option<u64> {
        match &self.ids {
            None => (host < self.hosts).then_some(u64::from(host)),
            Some(ids) => ids.get(host as usize).copied(),
        }
    }

    fn accepted(&self) -> String {
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

/// The contents of a flow file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The format.
    pub kind: Kind,
    /// Its flows.
    pub traffic: Traffic,
    /// Its link failures (htsim only).
    pub failures: Vec<Failure>,
}

/// Reads a flow file of any format. `file` is its name in messages, `starts` the unit of the starts
/// of a connection matrix, if it is given.
///
/// # Errors
/// Those of the format's reader; for an unknown format, an error that lists the known ones; a unit of
/// starts for a file that is no connection matrix.
pub fn read_flows(
    text: &str,
    file: &str,
    hosts: &HostIds,
    starts: Option<StartUnit>,
) -> Result<Imported, Fault> {
    let kind = detect(text);
    if let (Some(unit), true) = (starts, kind.is_some_and(|kind| kind != Kind::HtsimConnections)) {
        let named = StartUnit::NAMES.iter().find(|(_, known)| *known == unit);
        let accepted = format!("no unit: {file} is no connection matrix of htsim");
        return Err(setting("start_unit", named.map_or("", |one| one.0), accepted));
    }
    let (traffic, failures) = match kind {
        Some(Kind::NativeFlows) => (native::read_csv(text, file, hosts)?, Vec::new()),
        Some(Kind::HpccFlows) => (hpcc::read_hpcc(text, file, hosts)?, Vec::new()),
        Some(Kind::YapsTrace) => (yaps::read_yaps(text, file, hosts)?, Vec::new()),
        Some(Kind::HtsimConnections) => {
            let read = htsim::read_htsim(text, file, hosts, starts)?;
            (read.traffic, read.failures)
        }
        other => return Err(no_flow_file(text, file, other)),
    };
    let kind = kind.expect("matched above");
    Ok(Imported { kind, traffic, failures })
}

/// The error for a file that contains no flows.
fn no_flow_file(text: &str, file: &str, kind: Option<Kind>) -> Fault {
    let accepted = "a flow list: CSV with the header `src,dst,size_bytes,start_ns`, an HPCC flow \
         file (a count, then `src dst pg dport bytes start_s`), an htsim connection matrix \
         (`Nodes <n>`, `Connections <n>`, `0->1 start 0 size 1000`) or a YAPS trace (9 columns)";
    match (kind, content(text).first()) {
        (Some(_), _) => in_file(file, "content", "a size distribution", accepted),
        (None, None) => in_file(file, "content", "an empty file", accepted),
        (None, Some(first)) => in_line(file, first.number, "unknown layout", first.text, accepted),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(scaled("2.000001", 12), Some(2_000_001_000_000));
        assert_eq!(scaled("2e-05", 12), Some(20_000_000));
        assert_eq!(scaled("1.5E3", 0), Some(1500));
        assert_eq!(scaled("0.0005", 3), Some(1));
        assert_eq!(scaled("0.0004", 3), Some(0));
        assert_eq!(scaled("000", 12), Some(0));
        assert_eq!(scaled("1e-400", 12), Some(0));
        for bad in ["-1", "", ".", "1e", "nan", "inf", "1e40", "18446745", "1.2.3", "+1"] {
            assert_eq!(scaled(bad, 12), None, "{bad}");
        }
        assert_eq!(unscaled(2_000_001_000_000, 12), "2.000001");
        assert_eq!(unscaled(1_234, 3), "1.234");
        assert_eq!(unscaled(5_000, 3), "5");
    }
}
