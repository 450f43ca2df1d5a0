//! Setups for both worlds, and how their results are compared.

use incast_dataplane::{PacketIo, Testbed};
use incast_sim::Monitor;
use incast_testkit::{Trial, fabric, setup_of};
use incast_transport::*;
use incast_world::{Captured, FlowSetup};

pub fn transport(name: &str) -> &'static dyn Transport {
    incast_protocols::find(name).unwrap_or_else(|| panic!("no transport {name}"))
}

/// A flow of a transport.
pub fn of(name: &str, flow: Flow) -> FlowSetup {
    setup_of(flow, transport(name).info().id)
}

/// Transports on links of 10 Gb/s, all of whose packets are captured.
pub fn trial(names: &[&str], spec: &str, propagation: Span, buffer: Limit) -> Trial<'static> {
    let fabric = fabric(spec, Rate::from_gbps(10), propagation);
    let mut trial = Trial::new(transport(names[0]), fabric, vec![]);
    for other in &names[1..] {
        trial = trial.beside(transport(other), &[]);
    }
    trial.buffer = buffer;
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    trial
}

/// What is done with a trial here.
pub trait BothWorlds {
    /// Runs it in the simulator.
    fn simulate(&self) -> (RunRecord, Vec<Captured>);

    /// Runs it in both worlds and compares everything: each packet at each port with its time,
    /// each flow's fate and where its time went, each port's series. Returns the record.
    fn same_in_both_worlds(&self) -> (RunRecord, Vec<Captured>);
}

impl BothWorlds for Trial<'static> {
    fn simulate(&self) -> (RunRecord, Vec<Captured>) {
        incast_sim::run(self.setup(), 1, &Monitor::default())
    }

    fn same_in_both_worlds(&self) -> (RunRecord, Vec<Captured>) {
        let what = self.names();
        let (simulated, packets) = self.simulate();
        // Unobserved, the simulator may decide about packets earlier; nothing else changes.
        let mut unobserved = self.setup();
        unobserved.options.capture.clear();
        let (unobserved, _) = incast_sim::run(unobserved, 1, &Monitor::default());
        assert!(unobserved == simulated, "{what:?}: observation changes the run");
        let (record, received, io) = Testbed::new(self.setup()).run();
        assert_eq!((io.held(), io.lost()), (0, 0), "{what:?}: frames that leaked");
        assert_same(&what, (simulated, &packets), (&record, &received));
        (record, received)
    }
}

/// What the simulator and a data plane have left is the same.
pub fn assert_same(
    what: &[&str],
    (mut simulated, packets): (RunRecord, &[Captured]),
    (record, received): (&RunRecord, &[Captured]),
) {
    let differ = packets.iter().zip(received).position(|(a, b)| a != b);
    if let Some(at) = differ {
        let from = at.saturating_sub(3);
        let simulator = &packets[from..(at + 3).min(packets.len())];
        let data_plane = &received[from..(at + 3).min(received.len())];
        panic!("{what:?}: packet {at}\nsimulator {simulator:#?}\ndata plane {data_plane:#?}");
    }
    assert_eq!(packets.len(), received.len(), "{what:?}: number of packets");
    assert_eq!(simulated.flows, record.flows, "{what:?}: flows");
    assert_eq!(simulated.interval, record.interval, "{what:?}: interval");
    for (a, b) in simulated.ports.iter().zip(&record.ports) {
        assert_eq!(a, b, "{what:?}: port {}", a.port);
    }
    assert_eq!(simulated.ports.len(), record.ports.len(), "{what:?}: number of ports");
    simulated.events = record.events;
    assert_eq!(&simulated, record, "{what:?}: record");
}
