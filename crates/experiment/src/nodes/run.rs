//! The run of a node: in one thread, or in one for each of its cores.

use super::{CorePart, Cores, Interface, Kept, Node, NodeRecord, check};
use crate::plan::Plan;
use crate::{Fault, prepare};
use cpu_time::{ProcessTime, ThreadTime};
use incast_dataplane::{Crossing, Idle, Monotonic, Outside, Ran, RealTime, Rule, Testbed, system};
use incast_transport::Span;
use incast_world::Monitor;
use std::thread::{scope, sleep};
use std::time::Instant;

/// How long an idle node gives its core up: between namespaces of one machine a yield instead keeps
/// the neighbours from running.
const NAP: Span = Span::from_us(1);
/// Frames that may be on their way from one core of a switch to another.
const CROSSING: usize = 1_024;

/// Runs a node from `epoch` on, an instant of the machine's monotonic clock in nanoseconds, until
/// `monitor` stops it or `run.until` comes; on `cores`, if it has been given any. `done` is called when
/// it is over, before the frames that are still there are counted.
///
/// # Errors
/// The scenario is of a kind that no process can run alone, or a core is not there.
pub fn run<I>(
    plan: &Plan,
    node: &Node,
    io: I,
    cores: &Cores,
    epoch: u64,
    monitor: &Monitor,
    done: impl FnOnce(),
) -> Result<NodeRecord, Fault>
where
    I: Outside + Send,
    I::Frame: Send,
{
    check(plan)?;
    let idle = if cores.polls { Idle::Poll } else { Idle::Sleep(NAP) };
    let start = system::instant_of(epoch);
    sleep(start.saturating_duration_since(Instant::now()));
    let (cpu, begin) = (ProcessTime::now(), Instant::now());
    let clock = || RealTime::on(Monotonic::since(start), Rule::Tsc, idle);
    let (mut record, mut parts) = match cores.groups() {
        [] | [_] => {
            for (core, _) in cores.iter() {
                system::pin(core).map_err(|why| Fault::new(why).placed("--lcores"))?;
            }
            let setup = prepare(plan, &plan.cases[0], vec![])?;
            let ran = Testbed::part(setup, io, clock(), &[node.id.0]).run_timed(monitor);
            let part = NodeRecord::of(plan, node, &ran.record);
            let kept = ran.fidelity.as_ref().map(Kept::of);
            (NodeRecord { exhausted: ran.exhausted, kept, ..part }, vec![ran.io])
        }
        _ => over_cores(plan, node, io, cores, clock, monitor)?,
    };
    (record.cpu_s, record.wall_s) = (cpu.elapsed().as_secs_f64(), begin.elapsed().as_secs_f64());
    done();
    parts.iter_mut().for_each(Outside::drain);
    let interface = |(port, _): &(u32, _)| Interface::of(*port, &mut parts);
    record.interfaces = node.ports.iter().map(interface).collect();
    Ok(record)
}

/// The record of a switch, and its ports, after a run with a thread on each core.
fn over_cores<I>(
    plan: &Plan,
    node: &Node,
    io: I,
    cores: &Cores,
    clock: impl Fn() -> RealTime + Sync,
    monitor: &Monitor,
) -> Result<(NodeRecord, Vec<I>), Fault>
where
    I: Outside + Send,
    I::Frame: Send,
{
    let crossings = Crossing::of(cores.groups(), CROSSING);
    let clock = &clock;
    let one = |core: usize, io: I, crossing: Crossing<I::Frame>| -> Result<_, Fault> {
        system::pin(core).map_err(|why| Fault::new(why).placed("--lcores"))?;
        let _entered = io.enter_thread();
        let cpu = ThreadTime::now();
        let setup = prepare(plan, &plan.cases[0], vec![])?;
        let ran = Testbed::core(setup, io, clock(), node.id.0, crossing).run_timed(monitor);
        Ok((ran, cpu.elapsed().as_secs_f64()))
    };
    let ran: Result<Vec<(Ran<I>, f64)>, Fault> = scope(|threads| {
        let parts = io.split(cores.groups()).into_iter().zip(crossings).zip(cores.iter());
        let started: Vec<_> = parts
            .map(|((io, crossing), (core, _))| threads.spawn(move || one(core, io, crossing)))
            .collect();
        started.into_iter().map(|one| one.join().expect("a core's thread panicked")).collect()
    });
    let (mut parts, mut backends) = (vec![], vec![]);
    let mut fidelity = incast_dataplane::Fidelity::default();
    for ((mut ran, cpu_s), (core, ports)) in ran?.into_iter().zip(cores.iter()) {
        let part = NodeRecord::of(plan, node, &ran.record);
        let part = NodeRecord { exhausted: ran.exhausted, ..part };
        let (packets, ports, unread) = (part.packet_hops, ports.clone(), ran.drain_crossing());
        let Ran { crossed, taken, .. } = ran;
        ran.fidelity.iter().for_each(|own| fidelity.join(own));
        let own = CorePart { core, ports, packets, crossed, taken, unread, cpu_s };
        parts.push((part, own));
        backends.push(ran.io);
    }
    let kept = Some(Kept::of(&fidelity));
    Ok((NodeRecord { kept, ..NodeRecord::of_cores(parts) }, backends))
}
