//! dcPIM (SIGCOMM 2022): sources and destinations agree in rounds of requests, grants and accepts on who sends to
//! whom in the next epoch; short flows are sent at once.

mod clock;
mod deviations;
pub mod headers;
mod incoming;
mod matching;
#[cfg(test)]
mod network_tests;
mod outgoing;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use clock::{Clock, Step};
pub use headers::ID;
pub use params::{Params, Terms};

use deviations::DEVIATIONS;
use headers::{Accept, Announce, Finish, Grant, Request, Return, Token};
use incast_endpoint::outbox::{CONTROL, Outbox};
use incast_transport::{
    ClassPolicy, Classes, Declaration, Discipline, EcnUse, Env, Flow, FlowId, Host, HostSite, Info,
    Optional, Packet, PacketRef, Policy, PortSite, Ready, Routing, Time, TransportKind,
};
use receiver::Receivers;
use sender::Senders;

/// Classes: control, and six of data by the size of flows.
const CLASSES: usize = 7;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "dcpim",
        id: ID,
        title: "dcPIM",
        paper: "Cai, Arashloo and Agarwal, dcPIM: Near-optimal proactive datacenter transport, SIGCOMM 2022",
        kind: TransportKind::ReceiverDriven,
        switch_support: "seven priorities, per-packet load balancing",
        routing: Routing::SourceRoundRobin,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| params.check(fabric),
    host,
    policy: |dcpim, site: &PortSite| {
        let class = ClassPolicy::fifo(dcpim.params.limit(site.buffer));
        let class = ClassPolicy { discipline: Discipline::PushOut, ..class };
        Policy { transport: ID, classes: vec![class; CLASSES], markers: vec![] }
    },
    // The announcement leaves before the first packet.
    unsolicited: |_, _, _| 0,
    optional: Optional {
        sets: params::SETS,
        in_force: |dcpim| dcpim.params.in_force(&dcpim.fabric),
        ..Optional::NONE
    },
};

fn host(dcpim: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = Terms::new(&dcpim.params, site);
    Box::new(DcpimHost {
        senders: Senders::new(terms),
        receivers: Receivers::new(terms),
        outbox: Outbox::new(ID),
    })
}

/// dcPIM on one host.
struct DcpimHost {
    senders: Senders,
    receivers: Receivers,
    outbox: Outbox,
}

impl Host for DcpimHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(env, &mut self.outbox, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { header, flow, src, .. } = content;
        let (ends, informed) = ((flow, src), Time(env.packets.stamps(packet).informed));
        let DcpimHost { senders, receivers, outbox } = self;
        if content.is_data() {
            receivers.data(env, outbox, &content);
        } else if let Some(announce) = Announce::read(&header) {
            receivers.announced(env.now, outbox, ends, announce.packets);
        } else if let Some(request) = Request::read(&header) {
            senders.requested((env.now, informed), ends, request);
        } else if let Some(grant) = Grant::read(&header) {
            receivers.granted(ends, grant, informed);
        } else if let Some(accept) = Accept::read(&header) {
            senders.accepted(env, outbox, ends, accept, informed);
        } else if let Some(back) = Return::read(&header) {
            receivers.returned(src, back);
        } else if let Some(token) = Token::read(&header) {
            senders.token(env, ends, token);
        } else if Finish::read(&header).is_some() {
            senders.finished(env, ends);
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        // After a long pause of its link, a host has asked for rounds that are over.
        self.outbox.drop_while(|control| self.receivers.is_late(&control.header, env.now));
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
        self.senders.wake(env, &mut self.outbox);
        self.receivers.wake(env, &mut self.outbox);
    }

    fn abandon(&mut self, _env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(flow);
        self.receivers.remove(flow);
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
