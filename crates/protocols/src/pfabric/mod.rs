//! pFabric (SIGCOMM 2013): packets carry what their flow has left, ports send the least first and drop the
//! most, hosts start at line rate and slow down after timeouts only.

mod deviations;
pub mod headers;
#[cfg(test)]
mod network_tests;
mod params;
mod receiver;
mod sender;
mod terms;
#[cfg(test)]
mod tests;
mod window;

pub use headers::ID;
pub use params::Params;
pub use window::{Law, Window};

use deviations::DEVIATIONS;
use headers::DATA;
use headers::{Ack, Complete, Data, Probe};
use incast_endpoint::outbox::{CONTROL, Outbox};
use incast_transport::{
    ClassPolicy, Classes, Declaration, Discipline, EcnUse, Env, Flow, FlowId, Host, HostSite, Info,
    Limit, Observed, Optional, Packet, PacketRef, Policy, PortSite, Ready, Routing, Time, Timers,
    TransportKind,
};
use receiver::Receivers;
use sender::Senders;
use terms::Terms;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "pfabric",
        id: ID,
        title: "pFabric",
        paper: "Alizadeh et al., pFabric: Minimal near-optimal datacenter transport, SIGCOMM 2013",
        kind: TransportKind::Window,
        switch_support: "ports that send the flow with the least left first and drop the one with the most",
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
    derive: Params::check,
    host,
    policy,
    unsolicited: |pfabric, site, packets| packets.min(pfabric.params.law(site).first),
    optional: Optional {
        sets: params::SETS,
        in_force: |pfabric| {
            let Ready { params, fabric, .. } = pfabric;
            vec![
                ("buffer (in force)", params.limit(fabric).to_string()),
                ("rto (in force)", params.timeout(fabric).to_string()),
            ]
        },
        takes_burst: true,
        ..Optional::NONE
    },
};

fn host(pfabric: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let Ready { params, fabric, .. } = pfabric;
    let terms = Terms {
        law: params.law(site),
        rto: params.timeout(fabric),
        probe_after: params.probe_after,
    };
    Box::new(PfabricHost {
        senders: Senders::new(terms),
        receivers: Receivers::default(),
        acks: Outbox::new(ID),
    })
}

/// ACKs have nothing left: they leave first, and are never dropped while data waits.
fn policy(pfabric: &Ready<Params>, _site: &PortSite) -> Policy {
    let limit = Limit::Bytes(pfabric.params.limit(&pfabric.fabric).0);
    let class = ClassPolicy { discipline: Discipline::Remaining, ..ClassPolicy::fifo(limit) };
    Policy { transport: ID, classes: vec![class; 2], markers: vec![] }
}

/// pFabric on one host.
struct PfabricHost {
    senders: Senders,
    receivers: Receivers,
    acks: Outbox,
}

impl Host for PfabricHost {
    fn set_timers(&mut self, timers: Timers) {
        self.senders.set_timers(timers);
    }

    fn open(&mut self, _env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let Packet { header, flow, src, payload, .. } = env.packets[packet];
        if let Some(Data { packet, offset, last, .. }) = Data::read(&header) {
            if payload > 0 {
                let place = (packet, offset, payload);
                self.receivers.data(env, &mut self.acks, (flow, src), place, last);
            }
        } else if Probe::read(&header).is_some() {
            self.receivers.asked(env.now, &mut self.acks, (flow, src));
        } else if let Some(Ack { packet: seq, cumulative, probe }) = Ack::read(&header) {
            let informed = Time(env.packets.stamps(packet).informed);
            let seq = (!probe).then_some(seq);
            self.senders.acked(env, flow, seq, cumulative, informed);
        } else if Complete::read(&header).is_some() {
            let informed = Time(env.packets.stamps(packet).informed);
            self.senders.completed(env, flow, informed);
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CONTROL)
            && let Some(ack) = self.acks.send(env)
        {
            return Some(ack);
        }
        if open.has(DATA) { self.senders.transmit(env) } else { None }
    }

    fn idle(&self) -> bool {
        self.acks.is_empty() && self.senders.is_idle()
    }

    fn deadline(&self) -> Time {
        self.senders.deadline()
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.senders.wake(env);
    }

    fn abandon(&mut self, _env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(flow);
        self.receivers.remove(flow);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.observe(flow)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
