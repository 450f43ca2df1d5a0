//! What the nodes of one process share and borrow for one pass.

use incast_fabric::{Fabric, PortId, Routes};
use incast_transport::{Histogram, Loss, Packet, PacketPool, PacketRef, Probe, Routing, Time};
use incast_world::{
    Arrival, Buffers, Captures, Choice, DeadlockDetector, Deliveries, Faults, FlowSetup, choose,
};
use std::sync::Arc;

/// What nodes share.
pub(crate) struct Medium<I> {
    /// The instant of the pass.
    pub now: u64,
    pub fabric: Arc<Fabric>,
    pub seed: u64,
    /// Load balancing of each transport there is.
    pub routing: [Option<Routing>; 256],
    pub flows: Vec<FlowSetup>,
    pub buffers: Buffers,
    /// Where links may come to wait for each other: who waits for whom.
    pub detector: Option<DeadlockDetector>,
    pub faults: Faults,
    /// Routes with what has failed gone.
    pub routes: Arc<Routes>,
    /// Ports whose link has failed.
    pub dead: Vec<bool>,
    pub probe: Probe,
    pub tally: Tally,
    pub io: I,
}

/// What nodes count.
#[derive(Default)]
pub(crate) struct Tally {
    pub hops: u64,
    /// Frames received.
    pub frames: u64,
    /// By how much frames were handled late, of those that were.
    pub lateness: Histogram,
    pub malformed: u64,
    pub link_losses: u64,
    pub captures: Captures,
    /// Releases of frames since the last look: when, and to which node.
    pub released: Vec<(u64, u32)>,
    /// Payload delivered over time.
    pub deliveries: Deliveries,
}

impl<I> Medium<I> {
    /// The egress of a packet that is at the switch of port `back`, through which its reverse path
    /// leads.
    pub fn choose(&self, back: u32, packet: &Packet) -> Choice {
        let routing = self.routing[packet.transport.0 as usize].expect("that of a known flow");
        let (node, back) = (self.fabric.port(PortId(back)).node, PortId(back));
        let arrival = Arrival { node, back, at: Time(self.now) };
        choose(&self.fabric, &self.routes, routing, self.seed, arrival, packet)
    }

    /// A packet or its payload is lost at a port, at `at`.
    pub fn note_loss(&mut self, pool: &PacketPool, packet: PacketRef, at: u64) {
        let loss = Loss::at_port(&pool[packet], pool.stamps(packet), pool.meta(packet), at);
        loss.into_iter().for_each(|loss| self.probe.record_loss(loss));
    }

    /// A packet is lost on a link, at `at`.
    pub fn lose_on_link(&mut self, pool: &mut PacketPool, packet: PacketRef, at: u64) {
        self.tally.link_losses += 1;
        let loss = Loss::of(&pool[packet], pool.stamps(packet), pool.meta(packet), at);
        loss.into_iter().for_each(|loss| self.probe.record_loss(loss));
        pool.free(packet);
    }
}
