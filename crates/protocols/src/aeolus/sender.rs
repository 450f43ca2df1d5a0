//! Sources: the first RTT of each flow, its probe and its ACKs.

use super::headers::ID;
use super::terms::Terms;
use incast_endpoint::first_round::views::{Ack, Probe, ProbeAck};
use incast_endpoint::first_round::{FirstRound, RoundTerms};
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::receiver_driven::FlowTimers;
use incast_transport::{Classes, Env, Flow, FlowId, Header, HostId, Packet, PacketRef, Time};
use std::collections::VecDeque;

/// A flow's first round.
struct Outgoing {
    round: FirstRound,
    dst: HostId,
    packets: u32,
    /// Class of the probe: the lowest priority of the round's packets, so that it arrives after them.
    class: u8,
    /// Unscheduled packets charged to the host's budget for the flow.
    reserved: u32,
    armed: Time,
}

/// The first rounds of all flows that start at one host.
pub struct Rounds {
    terms: RoundTerms,
    /// Most unscheduled packets in flight of all flows.
    most: u32,
    reserved: u32,
    flows: FlowTable<Outgoing>,
    timers: FlowTimers,
    probes: VecDeque<Packet>,
}

impl Rounds {
    /// An empty table.
    pub fn new(terms: &Terms) -> Rounds {
        Rounds {
            terms: terms.round,
            most: terms.host_burst,
            reserved: 0,
            flows: FlowTable::new(),
            timers: FlowTimers::default(),
            probes: VecDeque::new(),
        }
    }

    /// Starts a flow whose probe has `class`. Returns the number of packets that it may send
    /// unscheduled, at most `burst`.
    pub fn open(&mut self, env: &Env<'_>, flow: &Flow, burst: u32, class: u8) -> u32 {
        let packets = flow.packets();
        let budget = packets.min(burst).min(self.most - self.reserved);
        self.reserved += budget;
        let round = FirstRound::new(budget);
        let dst = flow.dst;
        let slot = self.flows.insert(
            flow.id,
            Outgoing { round, dst, packets, class, reserved: budget, armed: Time::NEVER },
        );
        if budget == 0 {
            self.end(env, flow.id, slot);
        }
        budget
    }

    /// Records the departure of an unscheduled packet.
    #[inline]
    pub fn sent(&mut self, env: &Env<'_>, id: FlowId) {
        let Some(slot) = self.flows.slot_of(id) else { return };
        if let Some(sent) = self.flows.at_mut(slot).round.send(env.now) {
            self.probe(env, id, slot, sent);
        }
    }

    /// Ends the unscheduled packets of a flow, because a grant arrived.
    pub fn granted(&mut self, env: &Env<'_>, id: FlowId) {
        if let Some(slot) = self.flows.slot_of(id) {
            self.end(env, id, slot);
        }
    }

    fn end(&mut self, env: &Env<'_>, id: FlowId, slot: u32) {
        if let Some(sent) = self.flows.at_mut(slot).round.end(env.now) {
            self.probe(env, id, slot, sent);
        }
    }

    /// Queues a probe and waits for its reply.
    fn probe(&mut self, env: &Env<'_>, id: FlowId, slot: u32, sent: u32) {
        let flow = self.flows.at_mut(slot);
        let header = Probe { packets: flow.packets, sent };
        let hosts = (env.host, flow.dst);
        self.probes.push_back(Packet::header_only(ID, id, hosts.0, hosts.1, flow.class, header));
        let deadline = flow.round.deadline(&self.terms);
        self.timers.arm(id, &mut flow.armed, deadline);
    }

    /// Whether no probe is queued.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.probes.is_empty()
    }

    /// The next probe, if its class is open. It leaves before queued data.
    pub fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let probe = *self.probes.front().filter(|probe| open.has(probe.class))?;
        self.probes.pop_front();
        let packet = env.packets.create(probe);
        env.packets.stamps_mut(packet).informed = env.now.0;
        Some(packet)
    }

    /// Handles the ACK of an unscheduled packet or of the probe.
    pub fn acked(&mut self, env: &Env<'_>, id: FlowId, header: &Header) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        if let Some(ProbeAck { cumulative, .. }) = ProbeAck::read(header) {
            flow.round.probe_acked(env.now, cumulative, &self.terms);
            self.reserved -= std::mem::take(&mut flow.reserved);
        } else if let Some(Ack { packet, cumulative }) = Ack::read(header) {
            flow.round.acked(packet, cumulative);
        }
    }

    /// Removes a flow that is complete at the receiver.
    pub fn finish(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.remove(id) {
            self.reserved -= flow.reserved;
        }
    }

    /// A time not later than the earliest timer.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Repeats probes without a reply.
    pub fn wake(&mut self, env: &mut Env<'_>) {
        while let Some((id, slot)) =
            self.timers.expired(env.now, &mut self.flows, |flow| &mut flow.armed)
        {
            let flow = self.flows.at_mut(slot);
            if flow.round.deadline(&self.terms) > env.now {
                let deadline = flow.round.deadline(&self.terms);
                self.timers.arm(id, &mut flow.armed, deadline);
            } else if let Some(sent) = flow.round.expired(env.now) {
                env.probe.timeout(id);
                self.probe(env, id, slot, sent);
            } else {
                env.probe.timeout(id);
                self.reserved -= std::mem::take(&mut flow.reserved);
            }
        }
    }
}
