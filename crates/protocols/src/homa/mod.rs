//! Homa (SIGCOMM 2018): messages, unscheduled for one RTT and then granted by their receivers,
//! shortest remaining first, with the priorities of switches.

mod agenda;
mod cutoffs;
mod deviations;
pub mod headers;
mod incoming;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod terms;
#[cfg(test)]
pub(crate) mod tests;

pub use params::{Asked, LevelUse, Params, Unscheduled};
pub(crate) use receiver::Receivers;
pub(crate) use sender::{Senders, control};
pub(crate) use terms::{Levels, Terms, blind_packets, levels};

use deviations::DEVIATIONS;
use incast_endpoint::outbox::{CONTROL, Outbox};
use incast_transport::{
    ClassPolicy, Classes, Declaration, Discipline, EcnUse, Env, Flow, FlowId, Header, Host,
    HostSite, Info, Limit, Observed, Optional, PacketRef, Policy, PortSite, Ready, Routing, Time,
    TransportId, TransportKind,
};

/// Homa's number on the wire.
pub const ID: TransportId = TransportId(7);

/// The catalogue entry.
pub static ENTRY: Declaration<Params, Levels> = Declaration {
    info: &Info {
        name: "homa",
        id: ID,
        title: "Homa",
        paper: "Montazeri et al., Homa: A receiver-driven low-latency transport protocol using \
                network priorities, SIGCOMM 2018",
        kind: TransportKind::ReceiverDriven,
        switch_support: "eight priorities, per-packet load balancing",
        routing: Routing::Spray,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| levels(params, fabric),
    host,
    policy,
    unsolicited: |homa, _, packets| packets.min(blind_packets(&homa.params, &homa.fabric)),
    optional: Optional { takes_burst: true, ..Optional::NONE },
};

fn host(homa: &Ready<Params, Levels>, site: &HostSite) -> Box<dyn Host> {
    Box::new(HomaHost::new(ID, Terms::new(&homa.params, homa.derived, site)))
}

fn policy(homa: &Ready<Params, Levels>, site: &PortSite) -> Policy {
    let discipline = Discipline::SharedTail;
    Policy {
        transport: ID,
        classes: classes(homa.params.priorities, homa.params.buffer, discipline, site),
        markers: vec![],
    }
}

/// Strict classes: control with a limit of its own, and data with one buffer behind all of it.
pub(crate) fn classes(
    priorities: u8,
    buffer: Option<incast_transport::Bytes>,
    discipline: Discipline,
    site: &PortSite,
) -> Vec<ClassPolicy> {
    let limit = buffer.map_or(site.buffer, |bytes| Limit::Bytes(bytes.0));
    let data = ClassPolicy { discipline, ..ClassPolicy::fifo(limit) };
    let mut classes = vec![data; priorities as usize];
    classes[CONTROL as usize] = ClassPolicy::fifo(limit);
    classes
}

/// Homa on one host.
pub(crate) struct HomaHost {
    pub(crate) senders: Senders,
    pub(crate) receivers: Receivers,
    pub(crate) outbox: Outbox,
}

impl HomaHost {
    /// A host without messages.
    pub(crate) fn new(transport: TransportId, terms: Terms) -> HomaHost {
        HomaHost {
            senders: Senders::new(transport, terms),
            receivers: Receivers::new(terms),
            outbox: Outbox::new(transport),
        }
    }

    /// The sender does not know a message that arrives here.
    fn unknown(&mut self, env: &mut Env<'_>, flow: FlowId) {
        if self.receivers.unknown(flow, env.now, &mut self.outbox) {
            env.probe.forgot(flow);
        }
    }
}

impl Host for HomaHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        let blind = flow.burst.unwrap_or(self.senders.blind());
        self.senders.open(env, flow, blind);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let flow = env.packets[packet].flow;
        match env.packets[packet].header {
            Header::Data { .. } => self.receivers.data(env, &mut self.outbox, packet),
            Header::Grant { .. } => self.senders.grant(env, packet),
            Header::Resend { .. } => self.senders.resend(env, &mut self.outbox, packet),
            Header::Finish { .. } => self.senders.finish(env, flow),
            Header::Busy { .. } => self.receivers.busy(flow, env.now, &mut self.outbox),
            Header::Unknown { .. } => self.unknown(env, flow),
            _ => {}
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CONTROL)
            && let Some(packet) = self.outbox.send(env)
        {
            return Some(packet);
        }
        self.senders.transmit(env, open)
    }

    fn idle(&self) -> bool {
        self.outbox.is_empty() && self.senders.is_idle()
    }

    fn deadline(&self) -> Time {
        self.senders.deadline().min(self.receivers.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.receivers.wake(env, &mut self.outbox);
        self.senders.wake(env);
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(flow);
        self.receivers.unknown(flow, env.now, &mut self.outbox);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.observe(flow)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
