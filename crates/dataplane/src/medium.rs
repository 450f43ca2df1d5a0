//! What the nodes of one process share and borrow for one pass.

use crate::frames::Packets;
use crate::payload::offset_of;
use crate::trouble::Troubles;
use crate::{Arrival as Received, PacketIo};
use incast_fabric::{Fabric, NodeId, PortId, Routes};
use incast_transport::{
    Bytes, FlowId, Header, Histogram, Loss, Packet, PacketRef, Probe, Routing, Time,
};
use incast_world::{
    Arrival, Buffers, Captures, Choice, DeadlockDetector, Deliveries, Faults, FlowSetup, LinkState,
    LossLog, PathRecorder, choose_here,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What nodes share.
pub(crate) struct Medium<I: PacketIo> {
    /// The instant of the pass.
    pub now: u64,
    /// The instant of the last pass: what arrived since is looked at in this one.
    pub since: u64,
    pub fabric: Arc<Fabric>,
    pub seed: u64,
    /// Load balancing of each transport there is.
    pub routing: [Option<Routing>; 256],
    pub flows: Vec<FlowSetup>,
    pub buffers: Buffers,
    /// Where links may come to wait for each other: who waits for whom.
    pub detector: Option<DeadlockDetector>,
    pub faults: Faults,
    /// Hosts and flows to them that their applications have ended: what is late of these is nothing.
    pub ended: BTreeSet<(u32, FlowId)>,
    /// Routes without the links that are down.
    pub routes: Arc<Routes>,
    /// The links of all ports.
    pub links: Vec<LinkState>,
    pub probe: Probe,
    pub tally: Tally,
    /// Hosts and ports that let no time pass.
    pub troubles: Troubles,
    /// Losses for a trace.
    pub losses: LossLog,
    /// Where the sender of each flow was last, in bytes.
    pub sent: Vec<u64>,
    pub io: I,
    /// Whether frames take their packet's path along.
    pub trails: bool,
    /// Records which paths packets take.
    pub recorder: Option<PathRecorder>,
    /// A burst; empty between calls.
    pub incoming: Vec<Received<I::Frame>>,
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
    /// Packets of run-time flows that are over, or for which there is no room.
    pub unwanted: u64,
    pub link_losses: u64,
    /// When the packets of these would have arrived, of those that were lost before.
    pub ahead: Vec<u64>,
    /// Packets for which there was no frame, which are link losses too.
    pub exhausted: u64,
    pub captures: Captures,
    /// Releases of frames since the last look: when, and to which node.
    pub released: Vec<(u64, u32)>,
    /// Payload delivered over time.
    pub deliveries: Deliveries,
}

/// Losses ahead of time after which those that time has reached are forgotten.
const AHEAD_MOST: usize = 1_024;

impl Tally {
    /// A packet is lost on a link that would have arrived at `at`; it is `now`.
    fn lost_on_link(&mut self, at: u64, now: u64) {
        self.link_losses += 1;
        if at <= now {
            return;
        }
        if self.ahead.len() >= AHEAD_MOST {
            self.ahead.retain(|at| *at > now);
        }
        self.ahead.push(at);
    }

    /// Nothing at or after `limit` was done: what would have been lost then was not.
    pub fn end_at(&mut self, limit: u64) {
        let late = self.ahead.drain(..).filter(|at| *at >= limit).count();
        self.link_losses -= late as u64;
    }

    /// Frames received and sent: a pass that does not change it has found nothing to do.
    pub fn moved(&self) -> u64 {
        self.frames + self.hops
    }
}

impl<I: PacketIo> Medium<I> {
    /// Where in its flow the payload begins that a packet of this header takes along.
    pub fn departing(&mut self, flow: FlowId, header: &Header) -> u64 {
        let index = flow.0 as usize;
        let place = offset_of(&self.flows[index].flow, header, self.sent[index]);
        self.sent[index] = place.expect("a transport sends what the flow has");
        self.sent[index]
    }

    /// Where in its flow the payload begins of which the transport has reported that it begins at
    /// `reported`. A receiver need not know how a flow is cut.
    pub fn arriving(&self, flow: FlowId, header: &Header, reported: u64) -> u64 {
        // Of a flow that is opened at run time its transport knows best.
        let setup = self.flows.get(flow.0 as usize);
        setup.and_then(|setup| offset_of(&setup.flow, header, reported)).unwrap_or(reported)
    }

    /// The egress of a packet that is at switch `node`, through whose port `back` its reverse path
    /// leads.
    #[inline]
    pub fn choose(&self, node: NodeId, back: u32, packet: &Packet) -> Choice {
        let routing = self.routing[packet.transport.0 as usize].expect("that of a known flow");
        let arrival = Arrival { node, back: PortId(back), at: Time(self.now) };
        choose_here(&self.fabric, &self.routes, routing, self.seed, arrival, packet)
    }

    /// Whether a packet whose last bit arrives at `complete` over the link of `port` is lost, because
    /// the link was down at an instant since its transmission began.
    #[inline]
    pub fn is_cut_off(&self, port: u32, complete: u64, charged: u32) -> bool {
        let link = self.links[port as usize];
        if link == LinkState::Whole {
            return false;
        }
        let spec = self.fabric.port(PortId(port));
        let took = spec.rate.tx_time(Bytes(charged as u64)).0 + spec.propagation.0;
        link.loses(complete.saturating_sub(took))
    }

    /// Whether the link of `port` is down.
    pub fn is_down(&self, port: u32) -> bool {
        self.links[port as usize] == LinkState::Down
    }

    /// A packet or its payload is lost at a port, at `at`.
    pub fn note_loss(&mut self, packets: &mut Packets<I::Frame>, packet: PacketRef, at: u64) {
        packets.complete_stamps(packet, |flow| self.probe.started(flow));
        let pool = &mut packets.pool;
        if let Some(loss) = Loss::at_port(&pool[packet], pool.meta(packet), at) {
            self.probe.record_loss(&loss, pool.stamps(packet));
        }
        // What is left of the packet may be lost as well.
        pool.stamps_mut(packet).lose();
    }

    /// A packet is lost on a link, at `at`.
    pub fn lose_on_link(&mut self, packets: &mut Packets<I::Frame>, packet: PacketRef, at: u64) {
        self.tally.lost_on_link(at, self.now);
        packets.complete_stamps(packet, |flow| self.probe.started(flow));
        let pool = &packets.pool;
        self.losses.lost(at, pool, packet);
        if let Some(loss) = Loss::of(&pool[packet], pool.meta(packet), at) {
            self.probe.record_loss(&loss, pool.stamps(packet));
        }
        packets.free(&mut self.io, packet);
    }
}
