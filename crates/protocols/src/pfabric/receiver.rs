//! Destinations: an ACK for each packet, at once.

use super::headers::{Ack, Complete};
use incast_endpoint::flow_table::{FlowSet, FlowTable};
use incast_endpoint::outbox::{Control, Outbox};
use incast_endpoint::receiver_driven::{Arrival, Arrivals};
use incast_transport::{Env, FlowId, Header, HostId, Time};

/// The receiving side of one flow.
#[derive(Default)]
struct Incoming {
    arrivals: Arrivals,
    /// Offset of the packet that came last: headers carry offsets modulo 2^32.
    offset: u64,
}

/// All flows that arrive at one host.
#[derive(Default)]
pub struct Receivers {
    flows: FlowTable<Incoming>,
    finished: FlowSet,
}

impl Receivers {
    /// Flows that are incomplete.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Forgets a flow.
    pub fn remove(&mut self, flow: FlowId) {
        self.flows.remove(flow);
    }

    /// A packet arrived: its number, offset and payload.
    pub fn data(
        &mut self,
        env: &mut Env<'_>,
        acks: &mut Outbox,
        (id, from): (FlowId, HostId),
        (seq, offset, payload): (u32, u32, u16),
        last: bool,
    ) {
        if self.finished.contains(id) {
            return answer(env.now, acks, (id, from), Complete {});
        }
        let known = self.flows.slot_of(id);
        let slot = known.unwrap_or_else(|| self.flows.insert(id, Incoming::default()));
        let flow = self.flows.at_mut(slot);
        match flow.arrivals.insert(seq, last) {
            Arrival::Outside => return,
            Arrival::Duplicate => {}
            Arrival::New => {
                let offset = flow.widen(offset);
                env.probe.delivered(id, seq, offset, payload as u32);
            }
        }
        if flow.arrivals.complete() {
            env.probe.completed(id);
            self.flows.remove(id);
            self.finished.insert(id, env.now);
            return answer(env.now, acks, (id, from), Complete {});
        }
        let cumulative = flow.arrivals.lowest_missing();
        answer(env.now, acks, (id, from), Ack { packet: seq, cumulative, probe: false });
    }

    /// A probe arrived.
    pub fn asked(&mut self, now: Time, acks: &mut Outbox, (id, from): (FlowId, HostId)) {
        if self.finished.contains(id) {
            return answer(now, acks, (id, from), Complete {});
        }
        let cumulative = self.flows.get(id).map_or(0, |flow| flow.arrivals.lowest_missing());
        answer(now, acks, (id, from), Ack { packet: 0, cumulative, probe: true });
    }
}

impl Incoming {
    /// The offset of which a packet carries the lower 32 bits: the nearest to that of the last.
    fn widen(&mut self, offset: u32) -> u64 {
        let ahead = offset.wrapping_sub(self.offset as u32) as i32;
        self.offset = self.offset.wrapping_add_signed(ahead as i64);
        self.offset
    }
}

fn answer(now: Time, acks: &mut Outbox, (flow, to): (FlowId, HostId), header: impl Into<Header>) {
    acks.push(Control { flow, to, header: header.into(), again: false, informed: now });
}
