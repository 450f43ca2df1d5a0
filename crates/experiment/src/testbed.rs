//! Runs in the data plane: backend, clock, and whether a run in real time is accepted.

use crate::Fault;
use crate::scenario::{Backend, DataPlane};
use incast_dataplane::{Bounds, Idle, Mem, RealTime, Testbed, Virtual};
use incast_measure::Fidelity;
use incast_transport::{RunRecord, Span};
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
        Backend::Rings => Err(Fault::value(
            "dataplane.backend",
            settings.backend.name(),
            "this program was built without DPDK: expected `memory`",
        )),
    }
}

/// Runs a setup to its end, in this thread.
pub fn run(settings: &DataPlane, setup: Setup, monitor: &Monitor) -> Result<Ran, Fault> {
    check(settings)?;
    let io = Mem::new(&setup.fabric, setup.framing);
    let ran = match settings.clock.rule() {
        None => Testbed::with(setup, io, Virtual::new()).run_timed(monitor),
        // Links are emulated: nothing comes before it is due.
        Some(rule) => Testbed::with(setup, io, RealTime::new(rule, Idle::Spin)).run_timed(monitor),
    };
    Ok(Ran { record: ran.record, captured: ran.captured, fidelity: ran.fidelity })
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
        fidelity.exact_packets = (!exact.interrupted).then_some(exact.packet_hops);
    }
    let bounds =
        Bounds { lateness: settings.max_lateness, packets: settings.max_packet_difference };
    let refusals = fidelity.refusals(base_rtt, bounds);
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
        refused: refusals.iter().map(|why| why.to_string()).collect(),
    }
}
