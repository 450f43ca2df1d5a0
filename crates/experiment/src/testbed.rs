//! Runs in the data plane: backend, clock, and whether a run in real time is accepted.

use crate::Fault;
use crate::scenario::{Backend, DataPlane};
use incast_dataplane::{Bounds, Data, Idle, Mem, PacketIo, RealTime, Testbed, Virtual};
use incast_measure::Fidelity;
use incast_transport::{FlowRecord, RunRecord, Span};
use incast_world::{Captured, Monitor, Setup};

/// What a run of either world leaves.
pub struct Ran {
    /// The record.
    pub record: RunRecord,
    /// Captured packets.
    pub captured: Vec<Captured>,
    /// How faithful it was to real time, if it followed it.
    pub fidelity: Option<incast_dataplane::Fidelity>,
}

/// Refuses a backend that this program or machine does not have.
pub fn check(settings: &DataPlane) -> Result<(), Fault> {
    match settings.backend {
        Backend::Memory => Ok(()),
        Backend::Rings => dpdk::check(),
    }
}

/// Runs a setup to its end, in this thread.
pub fn run(settings: &DataPlane, setup: Setup, monitor: &Monitor) -> Result<Ran, Fault> {
    match settings.backend {
        Backend::Memory => {
            let io = Mem::new(&setup.fabric, setup.framing);
            run_over(settings, setup, io, monitor)
        }
        Backend::Rings => dpdk::run(settings, setup, monitor),
    }
}

/// Runs a setup over a backend that emulates its links.
fn run_over<I: PacketIo>(
    settings: &DataPlane,
    setup: Setup,
    io: I,
    monitor: &Monitor,
) -> Result<Ran, Fault> {
    let ran = match settings.clock.rule() {
        None => Testbed::with(setup, io, Virtual::new()).run_timed(monitor),
        // Links are emulated: nothing comes before it is due.
        Some(rule) => Testbed::with(setup, io, RealTime::new(rule, Idle::Spin)).run_timed(monitor),
    };
    if ran.exhausted > 0 {
        let problem = crate::fault::wrong(format!(
            "its packet memory ran out {} times, so packets were lost that no buffer of the \
             scenario dropped",
            ran.exhausted
        ))
        .expected("smaller buffers or fewer links, or `memory`");
        return Err(Fault::value("dataplane.backend", settings.backend.name(), problem));
    }
    Ok(Ran { record: ran.record, captured: ran.captured, fidelity: ran.fidelity })
}

/// With the feature: rings of DPDK.
#[cfg(feature = "dpdk")]
pub(crate) mod dpdk {
    use super::{DataPlane, Fault, Monitor, Ran, Setup, run_over};
    use incast_dataplane::dpdk::{EMBEDDED, Environment, Error, Rings};

    pub fn refused(error: Error) -> Fault {
        Fault::value("dataplane.backend", "rings", error)
    }

    pub fn start() -> Result<Environment, Fault> {
        Environment::start(EMBEDDED).map_err(refused)
    }

    pub fn check() -> Result<(), Fault> {
        start().map(drop)
    }

    pub fn run(settings: &DataPlane, setup: Setup, monitor: &Monitor) -> Result<Ran, Fault> {
        let environment = start()?;
        let _thread = environment.register_thread();
        let io = Rings::new(environment, &setup.fabric, setup.framing).map_err(refused)?;
        run_over(settings, setup, io, monitor)
    }
}

/// Without it there are none.
#[cfg(not(feature = "dpdk"))]
pub(crate) mod dpdk {
    use super::{DataPlane, Fault, Monitor, Ran, Setup};

    pub fn check() -> Result<(), Fault> {
        Err(Fault::value(
            "dataplane.backend",
            "rings",
            crate::fault::wrong("this program was built without DPDK")
                .expected("`memory` (`incast doctor` says how to get DPDK)"),
        ))
    }

    pub fn run(_: &DataPlane, _: Setup, _: &Monitor) -> Result<Ran, Fault> {
        Err(check().expect_err("there is no DPDK"))
    }
}

/// Holds a run in real time against its bounds and against the same run under the virtual clock,
/// of which `setup` is.
pub fn judge(
    settings: &DataPlane,
    mut fidelity: incast_dataplane::Fidelity,
    base_rtt: Span,
    setup: Setup,
    monitor: &Monitor,
) -> Fidelity {
    if !monitor.stopped() {
        let (exact, _) = incast_dataplane::run(setup, monitor);
        // One that was stopped meanwhile is no measure.
        if !exact.interrupted {
            fidelity.exact_packets = Some(exact.packet_hops);
            fidelity.exact_data = Some(data(exact.flows.iter()));
        }
    }
    let bounds = Bounds {
        lateness: settings.max_lateness,
        packets: settings.max_packet_difference,
        ..Bounds::default()
    };
    let refused = fidelity.refusals(base_rtt, bounds).iter().map(|why| why.to_string()).collect();
    Fidelity { refused, ..told(&fidelity, base_rtt) }
}

/// Data packets of flows.
pub(crate) fn data<'a>(flows: impl Iterator<Item = &'a FlowRecord>) -> Data {
    flows.fold(Data::default(), |sum, flow| Data {
        packets: sum.packets + flow.packets as u64,
        resent: sum.resent + flow.retransmits as u64,
    })
}

/// A frame that waits longer than this share of the base RTT until its node looks is doubted. The base RTT of
/// wires is measured with the looks of nodes in it.
const WIRE_LATENESS: f64 = 1.0;

/// What is told of nodes over wires, and what of it is doubted.
pub fn over_wires(
    settings: &DataPlane,
    fidelity: &incast_dataplane::Fidelity,
    base_rtt: Span,
) -> Fidelity {
    let most = settings.max_packet_difference;
    let bounds = Bounds { lateness: WIRE_LATENESS, packets: most, resent: most };
    let doubts = fidelity.refusals(base_rtt, bounds).iter().map(|why| why.to_string()).collect();
    Fidelity { doubts, ..told(fidelity, base_rtt) }
}

/// What was measured.
fn told(fidelity: &incast_dataplane::Fidelity, base_rtt: Span) -> Fidelity {
    let late = |thousandths| fidelity.lateness(thousandths).as_ns_f64();
    let share = |thousandths| fidelity.lateness_share(thousandths, base_rtt);
    let pace = fidelity.pace;
    Fidelity {
        wall_ns: pace.wall.as_ns_f64(),
        run_ns: pace.run.as_ns_f64(),
        wall_lag_ns: pace.lag().as_ns_f64(),
        wall_lag_max_ns: pace.lag_most.as_ns_f64(),
        stalled_share: pace.stalled_share(),
        stalls: pace.stalls,
        longest_stall_ns: pace.longest_stall.as_ns_f64(),
        lateness_p50_ns: late(500),
        lateness_p99_ns: late(990),
        lateness_p999_ns: late(999),
        lateness_p50_rtts: share(500),
        lateness_p99_rtts: share(990),
        lateness_p999_rtts: share(999),
        packets: fidelity.packets,
        virtual_packets: fidelity.exact_packets,
        resent_share: fidelity.data.resent_share(),
        virtual_resent_share: fidelity.exact_data.map(|data| data.resent_share()),
        ..Fidelity::default()
    }
}
