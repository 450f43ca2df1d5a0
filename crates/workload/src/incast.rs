//! Incasts: many hosts send to one at the same time, once or again and again.

use crate::error::setting;
use crate::pattern::{check_distinct, check_senders, choose_senders};
use crate::random::{Stream, fold, fold_text};
use crate::traffic::{
    FlowClass, FlowSpec, MAX_FLOWS, RequestGroup, Shape, Start, Traffic, check_size,
};
use crate::warning::LOAD_ABOVE_CAPACITY;
use crate::wire_cost::WireCost;
use incast_units::Fault;
use incast_units::{Rate, Span, Time};

/// Who sends in an incast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// All hosts but the receiver, or, with fewer flows than these, so many of them at random.
    Others,
    /// These; the receiver sends nothing to itself.
    Listed(Vec<u32>),
    /// So many of the other hosts, chosen at random for each incast.
    Random(u32),
}

/// When incasts begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recurrence {
    /// In steps of this time.
    Period(Span),
    /// A Poisson process with so many of them per second.
    Rate(f64),
    /// A Poisson process that loads the links of the hosts that may receive with this share.
    Load(f64),
}

/// How many incasts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many.
    Count(u32),
    /// As many as begin in this time.
    Lasts(Span),
}

/// Incasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Incasts {
    /// Hosts that may receive; each incast picks one at random.
    pub receivers: Vec<u32>,
    /// Who sends.
    pub senders: Senders,
    /// Flows of an incast, dealt to its senders in turn; one for each if not given.
    pub fan_in: Option<u32>,
    /// Payload of a flow in bytes.
    pub size: u64,
    /// Payload of a request by which the receiver asks for each flow, which then starts when the request
    /// has arrived.
    pub request: Option<u64>,
    /// When the first one begins, or the process of which they are.
    pub at: Time,
    /// When the others do.
    pub recurrence: Recurrence,
    /// How many there are.
    pub extent: Extent,
    /// Chooses receivers, senders and times.
    pub seed: u64,
    /// What links charge, for a load.
    pub wire: WireCost,
}

impl Incasts {
    /// One incast of the listed senders.
    pub fn once(receiver: u32, senders: Vec<u32>, size: u64, at: Time) -> Incasts {
        Incasts {
            receivers: vec![receiver],
            senders: Senders::Listed(senders),
            fan_in: None,
            size,
            request: None,
            at,
            recurrence: Recurrence::Period(Span::ZERO),
            extent: Extent::Count(1),
            seed: 0,
            wire: WireCost::ETHERNET,
        }
    }
}

/// The flows of incasts.
///
/// # Errors
/// Rejects hosts that do not exist or are named twice, no receivers or senders, more random senders than
/// other hosts, fewer flows than senders, a size of 0 or above 2^53, no incasts, more than 2^22 flows, and
/// times past 213 days.
pub fn incasts(shape: &Shape, spec: &Incasts) -> Result<Traffic, Fault> {
    check(shape, spec)?;
    let (starts, load) = starts(shape, spec)?;
    let mut choice = Choice::new(shape, spec);
    let (mut flows, mut groups) = (vec![], vec![]);
    for (round, at) in (0u32..).zip(&starts) {
        let receiver = choice.receiver();
        let senders = choice.senders(receiver)?;
        let count = spec.fan_in.map_or(senders.len(), |fan_in| fan_in as usize);
        let each = if spec.request.is_some() { 2 } else { 1 };
        if flows.len() + each * count > MAX_FLOWS as usize {
            return Err(too_many(spec, starts.len()));
        }
        let first = flows.len() as u32;
        let sources = || senders.iter().cycle().take(count);
        let Some(request) = spec.request else {
            let flow = |src| flow(src, receiver, spec.size, Start::At(*at), FlowClass::Incast);
            flows.extend(sources().map(flow));
            continue;
        };
        let ask =
            |src: &u32| FlowSpec::new(receiver, *src, request, Start::At(*at), FlowClass::Request);
        flows.extend(sources().map(ask));
        let requests: Vec<u32> = (first..first + count as u32).collect();
        flows.extend(sources().zip(&requests).map(|(src, asked)| {
            let start = Start::After { flows: vec![*asked], delay: Span::ZERO };
            flow(src, receiver, spec.size, start, FlowClass::Incast)
        }));
        let responses = requests.iter().map(|one| one + count as u32).collect();
        groups.push(RequestGroup { client: receiver, round, requests, responses });
    }
    let mut traffic = Traffic::from_flows(flows, groups);
    if let Some((load, definition)) = load {
        traffic.load_definition = definition;
        traffic.offered_load = Some(load);
        if load >= 1.0 {
            traffic.warnings.push(LOAD_ABOVE_CAPACITY.notice(&[("load", &load)]));
        }
    }
    Ok(traffic)
}

fn flow(src: &u32, dst: u32, size: u64, start: Start, class: FlowClass) -> FlowSpec {
    FlowSpec::new(*src, dst, size, start, class)
}

fn check(shape: &Shape, spec: &Incasts) -> Result<(), Fault> {
    if spec.receivers.is_empty() {
        return Err(setting("receivers", 0, "1 host or more"));
    }
    check_distinct("receivers", &spec.receivers, shape.hosts)?;
    check_size("size", spec.size)?;
    spec.request.map_or(Ok(()), |request| check_size("request", request))?;
    let least = match (&spec.senders, spec.receivers.as_slice()) {
        (Senders::Others, _) => 1,
        (Senders::Random(count), _) => *count,
        (Senders::Listed(listed), [only]) => {
            check_senders(shape, *only, listed)?;
            listed.len() as u32
        }
        (Senders::Listed(listed), _) => {
            check_distinct("senders", listed, shape.hosts)?;
            listed.len() as u32
        }
    };
    match spec.fan_in {
        Some(fan_in) if fan_in < least.max(1) => {
            let accepted = format!("{} or more: a flow of each sender", least.max(1));
            Err(setting("fan_in", fan_in, accepted))
        }
        _ => Ok(()),
    }
}

fn too_many(spec: &Incasts, incasts: usize) -> Fault {
    let accepted = format!("at most {MAX_FLOWS} flows in all: {incasts} incasts have more");
    match spec.extent {
        Extent::Count(count) => setting("count", count, accepted),
        Extent::Lasts(lasts) => setting("lasts", lasts, accepted),
    }
}

/// Mean number of flows of an incast.
fn mean_flows(shape: &Shape, spec: &Incasts) -> f64 {
    match (spec.fan_in, &spec.senders) {
        (Some(fan_in), _) => f64::from(fan_in),
        (None, Senders::Others) => f64::from(shape.hosts - 1),
        (None, Senders::Random(count)) => f64::from(*count),
        (None, Senders::Listed(listed)) => {
            let both = spec.receivers.iter().filter(|host| listed.contains(host)).count();
            listed.len() as f64 - both as f64 / spec.receivers.len() as f64
        }
    }
}

/// When incasts begin, and of a load what it means.
type Starts = (Vec<Time>, Option<(f64, String)>);

fn starts(shape: &Shape, spec: &Incasts) -> Result<Starts, Fault> {
    let (rate, load) = match spec.recurrence {
        Recurrence::Period(period) => return Ok((periodic(spec, period)?, None)),
        Recurrence::Rate(rate) => (rate, None),
        Recurrence::Load(load) => {
            let all = spec.receivers.iter().map(|host| shape.host_rate[*host as usize].0);
            let capacity = Rate(all.fold(0, u64::saturating_add));
            let (flows, charge) = (mean_flows(shape, spec), spec.wire.flow(spec.size));
            let rate = load * capacity.0 as f64 / (8.0 * flows * charge as f64);
            let definition = format!(
                "load {load} = mean wire rate on the links of {} receivers ({capacity}): {rate:.6} \
                 incasts/s x {flows} flows x 8 x {charge} B on the wire / {capacity}; Poisson arrivals",
                spec.receivers.len()
            );
            (rate, Some((load, definition)))
        }
    };
    let mut stream = Stream::new(fold_text(spec.seed, "incasts"));
    let mut at = spec.at.0;
    let next = || {
        let gap = (stream.exponential() * 1e12 / rate).round();
        // Beyond the clock: the next one is never.
        at = if gap < 1.8e19 { at.saturating_add(gap as u64) } else { u64::MAX };
        Some(at)
    };
    Ok((within(spec, std::iter::from_fn(next))?, load))
}

fn periodic(spec: &Incasts, period: Span) -> Result<Vec<Time>, Fault> {
    if period == Span::ZERO && spec.extent != Extent::Count(1) {
        return Err(setting("period", period, "more than 0"));
    }
    let at = |round: u64| spec.at.0.saturating_add(period.0.saturating_mul(round));
    within(spec, (0..).map(at))
}

/// The first ones of an endless row of starts.
fn within(spec: &Incasts, starts: impl Iterator<Item = u64>) -> Result<Vec<Time>, Fault> {
    let found: Vec<u64> = match spec.extent {
        Extent::Count(count) if u64::from(count) > MAX_FLOWS => {
            return Err(too_many(spec, count as usize));
        }
        Extent::Count(count) => starts.take(count as usize).collect(),
        Extent::Lasts(lasts) => {
            let end = spec.at.0.saturating_add(lasts.0);
            let row = starts.take_while(|at| *at < end).take(MAX_FLOWS as usize + 1);
            let row: Vec<u64> = row.collect();
            if row.len() as u64 > MAX_FLOWS {
                return Err(too_many(spec, row.len()));
            }
            row
        }
    };
    if found.contains(&Time::NEVER.0) {
        let (key, value) = match spec.extent {
            Extent::Count(count) => ("count", count.to_string()),
            Extent::Lasts(lasts) => ("lasts", lasts.to_string()),
        };
        return Err(setting(key, value, "incasts that begin within 213 days"));
    }
    match (found.is_empty(), spec.extent) {
        (false, _) => Ok(found.into_iter().map(Time).collect()),
        (true, Extent::Count(count)) => Err(setting("count", count, "1 or more")),
        (true, Extent::Lasts(lasts)) => {
            let accepted = "a time in which an incast begins";
            Err(setting("lasts", lasts, accepted))
        }
    }
}

/// Chooses the hosts of one incast after the other.
struct Choice<'a> {
    shape: &'a Shape,
    spec: &'a Incasts,
    stream: Stream,
    /// All hosts, in the order that the choices so far have left.
    pool: Vec<u32>,
    first: bool,
}

impl Choice<'_> {
    fn new<'a>(shape: &'a Shape, spec: &'a Incasts) -> Choice<'a> {
        let stream = Stream::new(fold(fold_text(spec.seed, "hosts of incasts"), 0));
        Choice { shape, spec, stream, pool: (0..shape.hosts).collect(), first: true }
    }

    fn receiver(&mut self) -> u32 {
        match self.spec.receivers.as_slice() {
            [only] => *only,
            several => several[self.stream.below(several.len() as u32) as usize],
        }
    }

    fn senders(&mut self, receiver: u32) -> Result<Vec<u32>, Fault> {
        let others = self.shape.hosts - 1;
        let senders = match (&self.spec.senders, self.spec.fan_in) {
            (Senders::Listed(listed), _) => {
                listed.iter().copied().filter(|host| *host != receiver).collect()
            }
            (Senders::Random(count), _) => self.some(receiver, *count)?,
            (Senders::Others, Some(fan_in)) if fan_in < others => self.some(receiver, fan_in)?,
            (Senders::Others, _) => {
                (0..self.shape.hosts).filter(|host| *host != receiver).collect()
            }
        };
        match senders.is_empty() {
            true => Err(setting("senders", receiver, "hosts other than the receiver")),
            false => Ok(senders),
        }
    }

    /// So many hosts but the receiver. The first choice is that of an incast alone; each later one takes
    /// time with the hosts chosen only.
    fn some(&mut self, receiver: u32, count: u32) -> Result<Vec<u32>, Fault> {
        if std::mem::take(&mut self.first) {
            return choose_senders(self.shape, receiver, count, self.spec.seed);
        }
        // One more than needed, for the case that the receiver is among them.
        for at in 0..=count {
            let other = at + self.stream.below(self.shape.hosts - at);
            self.pool.swap(at as usize, other as usize);
        }
        let chosen = self.pool[..=count as usize].iter().copied();
        Ok(chosen.filter(|host| *host != receiver).take(count as usize).collect())
    }
}
