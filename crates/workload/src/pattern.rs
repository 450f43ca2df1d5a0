//! Patterns with given sizes and times: permutation, all-to-all, n-to-1, long flows, bursts.

use crate::error::setting;
use crate::random::{Stream, fold_text};
use crate::traffic::{
    FlowClass, FlowSpec, MAX_FLOWS, Shape, Start, Traffic, check_host, check_pair, check_size,
};
use incast_units::Fault;
use incast_units::{Span, Time};

fn given(flows: Vec<FlowSpec>) -> Traffic {
    Traffic::from_flows(flows, Vec::new())
}

fn at_least_two(hosts: u32) -> Result<(), Fault> {
    match hosts {
        0 | 1 => Err(setting("hosts", hosts, "2 or more")),
        _ => Ok(()),
    }
}

/// A uniformly random permutation without fixed point of `0..hosts`.
fn derangement(hosts: u32, stream: &mut Stream) -> Vec<u32> {
    // A shuffle has no fixed point with probability 1/e or more (1/2 for two, 1/3 for three), so
    // all these attempts fail less often than once in 2^50.
    const ATTEMPTS: u32 = 100;
    let mut order: Vec<u32> = (0..hosts).collect();
    for _ in 0..ATTEMPTS {
        stream.shuffle(&mut order);
        if order.iter().zip(0..).all(|(&dst, src)| dst != src) {
            return order;
        }
    }
    (0..hosts).map(|host| (host + 1) % hosts).collect()
}

/// Every host sends `size` bytes to one other host and receives from one other host, starting at
/// time 0. The pairs are a uniformly random derangement chosen by `seed`.
///
/// # Errors
/// Rejects fewer than two hosts and a size of 0 or above 2^53.
pub fn permutation(hosts: u32, size: u64, seed: u64) -> Result<Traffic, Fault> {
    at_least_two(hosts)?;
    check_size("size", size)?;
    let mut stream = Stream::new(fold_text(seed, "permutation"));
    let flow =
        |(src, dst)| FlowSpec::new(src, dst, size, Start::At(Time::ZERO), FlowClass::Background);
    Ok(given((0..hosts).zip(derangement(hosts, &mut stream)).map(flow).collect()))
}

/// Every host sends `size` bytes to every other host, starting at time 0. Host h lists its
/// receivers cyclically from h + 1, so that senders that open flows in order do not all start with
/// host 0.
///
/// # Errors
/// Rejects fewer than two hosts, more than 2^22 flows and a size of 0 or above 2^53.
pub fn all_to_all(hosts: u32, size: u64) -> Result<Traffic, Fault> {
    at_least_two(hosts)?;
    check_size("size", size)?;
    if u64::from(hosts) * u64::from(hosts - 1) > MAX_FLOWS {
        return Err(setting("hosts", hosts, "2 to 2048 for all-to-all"));
    }
    let flow = |(src, step)| {
        let dst = (src + step) % hosts;
        FlowSpec::new(src, dst, size, Start::At(Time::ZERO), FlowClass::Background)
    };
    let pairs = (0..hosts).flat_map(|src| (1..hosts).map(move |step| (src, step)));
    Ok(given(pairs.map(flow).collect()))
}

/// As [`all_to_all`], with as many times `size` from one host to another as `matrix` says, rounded to bytes; of less
/// than half a byte there is no flow.
///
/// # Errors
/// The same, a matrix of another number of hosts, sizes above 2^53, and no flow at all.
pub fn uneven_all_to_all(hosts: u32, size: u64, matrix: &[Vec<f64>]) -> Result<Traffic, Fault> {
    let mut even = all_to_all(hosts, size)?;
    let square =
        matrix.len() == hosts as usize && matrix.iter().all(|row| row.len() == matrix.len());
    if !square {
        let accepted = format!("{hosts} times {hosts} numbers");
        return Err(setting("matrix", matrix.len(), accepted));
    }
    for flow in &mut even.flows {
        let times = matrix[flow.src as usize][flow.dst as usize];
        flow.size = (size as f64 * times).round() as u64;
        if flow.size > 0 {
            check_size("size", flow.size)?;
        }
    }
    even.flows.retain(|flow| flow.size > 0);
    match even.flows.is_empty() {
        true => Err(setting("matrix", "all of it", "a flow of a byte or more")),
        false => Ok(even),
    }
}

/// `count` different hosts other than `receiver`, chosen by `seed`, in random order.
///
/// # Errors
/// Rejects a receiver that does not exist, and 0 senders or more than there are other hosts.
pub fn choose_senders(
    shape: &Shape,
    receiver: u32,
    count: u32,
    seed: u64,
) -> Result<Vec<u32>, Fault> {
    check_host("receiver", receiver, shape.hosts)?;
    if count == 0 || count >= shape.hosts {
        let accepted = format!("1 to {} (the hosts other than the receiver)", shape.hosts - 1);
        return Err(setting("senders", count, accepted));
    }
    let mut others: Vec<u32> = (0..shape.hosts).filter(|&host| host != receiver).collect();
    Stream::new(fold_text(seed, "senders")).shuffle(&mut others);
    others.truncate(count as usize);
    Ok(others)
}

/// Checks the senders of one receiver: they exist, are distinct and differ from the receiver.
pub(crate) fn check_senders(shape: &Shape, receiver: u32, senders: &[u32]) -> Result<(), Fault> {
    check_host("receiver", receiver, shape.hosts)?;
    if senders.is_empty() {
        return Err(setting("senders", 0, "1 sender or more"));
    }
    check_distinct("senders", senders, shape.hosts)?;
    if senders.contains(&receiver) {
        return Err(setting("senders", receiver, "hosts other than the receiver"));
    }
    Ok(())
}

/// Checks that all hosts of a list exist and none is named twice.
pub(crate) fn check_distinct(key: &str, list: &[u32], hosts: u32) -> Result<(), Fault> {
    list.iter().try_for_each(|&host| check_host(key, host, hosts))?;
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(setting(key, pair[0], "each host once")),
        None => Ok(()),
    }
}

/// A single long flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongFlow {
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload in bytes.
    pub size: u64,
    /// When it opens.
    pub at: Time,
    /// When its application ends it, of one without an end.
    pub stop: Option<Time>,
}

/// Long flows at given times.
///
/// # Errors
/// Rejects an empty list, hosts that do not exist, a flow to itself, and a size of 0 or above
/// 2^53.
pub fn long_flows(shape: &Shape, list: &[LongFlow]) -> Result<Traffic, Fault> {
    if list.is_empty() {
        return Err(setting("flows", 0, "1 long flow or more"));
    }
    let flow = |long: &LongFlow| {
        check_pair(long.src, long.dst, shape.hosts)?;
        check_size("size", long.size)?;
        let &LongFlow { src, dst, size, at, stop } = long;
        Ok(FlowSpec { stop, ..FlowSpec::new(src, dst, size, Start::At(at), FlowClass::Long) })
    };
    Ok(given(list.iter().map(flow).collect::<Result<_, Fault>>()?))
}

/// Repeated bursts to one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Hosts that send simultaneously.
    pub senders: Vec<u32>,
    /// The host that receives.
    pub receiver: u32,
    /// Payload in bytes that each sender adds to each burst.
    pub size: u64,
    /// When the first burst starts.
    pub at: Time,
    /// Number of bursts.
    pub count: u32,
    /// Time between the starts of two bursts.
    pub period: Span,
}

/// The flows of repeated bursts.
///
/// # Errors
/// Rejects hosts that do not exist, a sender named twice or that is the receiver, no senders, a size of 0 or
/// above 2^53, 0 bursts or more than 2^22 flows, and times past 213
/// days.
pub fn bursts(shape: &Shape, burst: &Burst) -> Result<Traffic, Fault> {
    check_senders(shape, burst.receiver, &burst.senders)?;
    check_size("size", burst.size)?;
    let total = u64::from(burst.count) * burst.senders.len() as u64;
    if total == 0 || total > MAX_FLOWS {
        let accepted = format!("1 to {} bursts", MAX_FLOWS / burst.senders.len() as u64);
        return Err(setting("count", burst.count, accepted));
    }
    let mut flows = Vec::with_capacity(total as usize);
    for round in 0..u64::from(burst.count) {
        let delay = burst.period.0.checked_mul(round);
        let time = delay
            .and_then(|delay| burst.at.0.checked_add(delay))
            .ok_or_else(|| setting("period", burst.period, "bursts that end within 213 days"))?;
        flows.extend(burst.senders.iter().map(|&src| {
            let start = Start::At(Time(time));
            FlowSpec::new(src, burst.receiver, burst.size, start, FlowClass::Burst)
        }));
    }
    Ok(given(flows))
}
