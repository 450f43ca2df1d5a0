//! Who filled a queue.

use crate::Trouble;
use crate::lab::{Lab, Progress};
use incast_experiment::fault::expected;
use incast_experiment::scenario::Trace;
use incast_experiment::{Fault, Plan};
use incast_measure::Run;
use incast_transport::{Bytes, EventKind, Span, Time, TraceEvent, Traced, flag};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most instants of an answer.
const INSTANTS: u64 = 512;
/// Most flows that are named; the rest is one.
const NAMED: usize = 11;
/// Most events of the trace.
const EVENTS_MOST: u64 = 4_000_000;
/// How often a queue may take the time in which its link could empty it.
const DRAINS: u32 = 64;

/// What was in the queue of a port over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filling {
    /// The port.
    pub port: String,
    /// Start of the window, picoseconds.
    pub from_ps: u64,
    /// End of the window.
    pub until_ps: u64,
    /// Whether events are missing at the end.
    pub cut: bool,
    /// Instants, picoseconds since the start of the run.
    pub times_ps: Vec<u64>,
    /// By flow, most bytes times time first; all others last.
    pub flows: Vec<FlowFilling>,
}

/// What a flow had in the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowFilling {
    /// The flow; `None` for all that are not named.
    pub flow: Option<u32>,
    /// Its source.
    pub src: Option<u32>,
    /// Its destination.
    pub dst: Option<u32>,
    /// Its transport; empty for several flows.
    pub transport: String,
    /// Its size.
    pub size_bytes: u64,
    /// Of the queue's bytes times time in the window.
    pub share: f64,
    /// Bytes that joined the queue within the window, as links charge them.
    pub arrived_bytes: u64,
    /// Its packets marked within the window.
    pub marked: u64,
    /// Its packets dropped within the window.
    pub dropped: u64,
    /// Its bytes in the queue at each instant.
    pub queue_bytes: Vec<u64>,
}

/// A packet's stay in the queue, as long as it has one size.
struct Stay {
    flow: u32,
    bytes: u64,
    from: u64,
    until: u64,
    /// Whether it begins with the packet's arrival.
    joins: bool,
}

/// What tells a packet of a queue from the others: flow, kind, number, whether it is sent again.
type Name = (u32, u8, u32, bool);

/// A packet that waits: when it came, since when it has its present size, and that size.
struct Packet {
    came: u64,
    since: u64,
    bytes: u64,
}

impl Packet {
    /// Its stay with its present size until `until`.
    fn stay(&self, flow: u32, until: u64) -> Stay {
        let &Packet { came, since, bytes } = self;
        Stay { flow, bytes, from: since, until, joins: came == since }
    }
}

/// The packets that have joined a queue and have not left it, by arrival.
#[derive(Default)]
struct Waiting(BTreeMap<Name, Vec<Packet>>);

impl Waiting {
    /// Follows an event of the queue; stays that have ended go to `stays`. A packet that is trimmed
    /// while it waits has stayed with its whole size until then.
    fn follow(&mut self, event: &TraceEvent, flow: u32, packet: &Traced, stays: &mut Vec<Stay>) {
        let again = packet.flags & flag::RETRANSMIT != 0;
        let name = (flow, packet.kind, packet.number, again);
        let (now, bytes) = (event.at.0, packet.bytes as u64);
        let known = self.0.entry(name).or_default();
        match event.kind {
            EventKind::Queued => known.push(Packet { came: now, since: now, bytes }),
            EventKind::Started => {
                let came = now - event.waited.unwrap_or(0);
                let own = known.iter().position(|one| one.came == came);
                // One that came before the trace began is not known.
                let own = own.map_or(Packet { came, since: came, bytes }, |at| known.remove(at));
                stays.push(own.stay(flow, now));
            }
            EventKind::Trimmed => {
                for one in known.iter_mut() {
                    // One that was trimmed as it came never had its whole size here.
                    stays.extend((one.since < now).then(|| one.stay(flow, now)));
                    (one.since, one.bytes) = (now, bytes);
                }
            }
            // One that was dropped as it arrived has not joined.
            EventKind::Dropped | EventKind::Bounced => drop(known.pop()),
            _ => {}
        }
        if known.is_empty() {
            self.0.remove(&name);
        }
    }

    /// The stays of those that had come before `end`, which last until then at least.
    fn stays(&self, end: u64) -> impl Iterator<Item = Stay> {
        self.0.iter().flat_map(move |(name, all)| {
            let flow = name.0;
            let there = all.iter().filter(move |one| one.since < end);
            there.map(move |one| one.stay(flow, end))
        })
    }
}

/// Runs a plan with a trace of one port from `from` to `until` picoseconds.
pub(crate) fn filling(
    mut plan: Plan,
    port: u32,
    from: u64,
    until: u64,
    progress: Progress<'_>,
) -> Result<Filling, Trouble> {
    let ports = plan.fabric.ports().len();
    if port as usize >= ports {
        return Err(Fault::value("port", port, expected(format!("0 to {}", ports - 1))).into());
    }
    if until <= from {
        let problem = expected(format!("a time after {from} ps"));
        return Err(Fault::value("until", format!("{until} ps"), problem).into());
    }
    plan.scenario.output.trace = Some(Trace {
        flows: vec![],
        ports: vec![port.to_string()],
        hosts: None,
        from: Span(from.min(Time::HORIZON.0)),
        until: None,
        limit: EVENTS_MOST,
    });
    let rate = plan.fabric.ports()[port as usize].rate;
    let rtt = plan.site.base_rtt.0;
    let mut lab = Lab::of(Arc::new(plan), 0)?;
    lab.run_until(until, progress)?;
    // How long a packet stays is known when it leaves.
    let state = lab.ports()[port as usize];
    let drain = rate.tx_time(Bytes(state.backlog)).0 + rtt;
    for _ in 0..DRAINS {
        let sent = lab.ports()[port as usize].total.sent_bytes;
        if sent >= state.total.sent_bytes + state.backlog || lab.engine().is_over() {
            break;
        }
        let next = lab.engine().now() + drain;
        lab.run_until(next, progress)?;
    }
    let run = lab.finish()?;
    Ok(of_run(&run, port, from, until))
}

fn of_run(run: &Run, port: u32, from: u64, until: u64) -> Filling {
    let trace = run.record.trace.as_ref().expect("the run was traced");
    let mut stays = vec![];
    let mut counts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    let mut waiting = Waiting::default();
    for event in &trace.events {
        let (Some(flow), Some(packet)) = (event.flow, event.packet) else { continue };
        let within = (from..until).contains(&event.at.0);
        waiting.follow(event, flow.0, &packet, &mut stays);
        match event.kind {
            EventKind::Marked if within => counts.entry(flow.0).or_default()[0] += 1,
            EventKind::Dropped if within => counts.entry(flow.0).or_default()[1] += 1,
            _ => {}
        }
    }
    // Some never leave: the run ends first, a pause is not lifted, or others are always preferred.
    let end = match trace.cut_at {
        Some(_) => trace.events.last().map_or(from, |last| last.at.0.min(until)),
        None => until,
    };
    stays.extend(waiting.stays(end));
    stays.retain(|stay| stay.from < until && stay.until > from);
    let step = (until - from).div_ceil(INSTANTS).max(1);
    let times_ps: Vec<u64> = (from..until).step_by(step as usize).collect();
    let flows = by_flow(run, &stays, &counts, &times_ps, from..until);
    Filling {
        port: run.ports[port as usize].name.clone(),
        from_ps: from,
        until_ps: until,
        cut: trace.cut_at.is_some(),
        times_ps,
        flows,
    }
}

/// What each flow had in the queue, the largest shares first.
fn by_flow(
    run: &Run,
    stays: &[Stay],
    counts: &BTreeMap<u32, [u64; 2]>,
    times: &[u64],
    window: std::ops::Range<u64>,
) -> Vec<FlowFilling> {
    let mut areas: BTreeMap<u32, u128> = counts.keys().map(|flow| (*flow, 0)).collect();
    for stay in stays {
        let time = stay.until.min(window.end) - stay.from.max(window.start);
        *areas.entry(stay.flow).or_default() += stay.bytes as u128 * time as u128;
    }
    let whole = areas.values().sum::<u128>().max(1) as f64;
    let mut order: Vec<(u32, u128)> = areas.into_iter().collect();
    order.sort_by_key(|(flow, area)| (std::cmp::Reverse(*area), *flow));
    let mut place: BTreeMap<u32, usize> = BTreeMap::new();
    let mut all: Vec<FlowFilling> = vec![];
    for (at, (flow, area)) in order.into_iter().enumerate() {
        let at = at.min(NAMED);
        if all.len() == at {
            let named = at < NAMED;
            let meta = &run.flows[flow as usize];
            all.push(FlowFilling {
                flow: named.then_some(flow),
                src: named.then_some(meta.src),
                dst: named.then_some(meta.dst),
                transport: match named {
                    true => run.transports[meta.transport as usize].clone(),
                    false => String::new(),
                },
                size_bytes: if named { meta.size_bytes } else { 0 },
                queue_bytes: vec![0; times.len()],
                ..FlowFilling::default()
            });
        }
        let [marked, dropped] = counts.get(&flow).copied().unwrap_or_default();
        let own = &mut all[at];
        own.share += area as f64 / whole;
        (own.marked, own.dropped) = (own.marked + marked, own.dropped + dropped);
        place.insert(flow, at);
    }
    for stay in stays {
        let own = &mut all[place[&stay.flow]];
        if stay.joins && stay.from >= window.start {
            own.arrived_bytes += stay.bytes;
        }
        // Those instants at which it waits: it has come, and has not left.
        let first = times.partition_point(|time| *time < stay.from);
        let end = times.partition_point(|time| *time < stay.until);
        own.queue_bytes[first..end].iter_mut().for_each(|bytes| *bytes += stay.bytes);
    }
    all
}
