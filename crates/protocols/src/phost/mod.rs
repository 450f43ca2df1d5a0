//! pHost (CoNEXT 2015): destinations hand out tokens, sources spend them.

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

pub use headers::ID;
pub use params::{Params, Wake};

use deviations::DEVIATIONS;
use headers::{LARGE, SMALL};
use incast_endpoint::outbox::{CONTROL, Outbox};
use incast_transport::{
    Bytes, ClassPolicy, Classes, Declaration, Discipline, EcnUse, Env, Flow, FlowId, Header, Host,
    HostSite, Info, Limit, Observed, Optional, PacketRef, Policy, PortSite, Ready, Routing, Time,
    TransportKind,
};
use receiver::{Receivers, default_waits};
use sender::Senders;
use terms::Terms;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "phost",
        id: ID,
        title: "pHost",
        paper: "Gao et al., pHost: Distributed near-optimal datacenter transport over commodity \
                network fabric, CoNEXT 2015",
        kind: TransportKind::ReceiverDriven,
        switch_support: "three priorities, per-packet load balancing",
        routing: Routing::RoundRobin,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::None,
        marks: false,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: |params, fabric| match params.buffer {
        Some(limit) => fabric.check_data_limit("buffer", limit),
        None => Ok(()),
    },
    host,
    policy,
    unsolicited: |phost, site, packets| terms(phost, site).free(packets),
    optional: Optional { takes_burst: true, ..Optional::NONE },
};

fn host(phost: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = terms(phost, site);
    Box::new(PhostHost {
        senders: Senders::new(terms),
        receivers: Receivers::new(terms),
        outbox: Outbox::new(ID),
    })
}

fn terms(phost: &Ready<Params>, site: &HostSite) -> Terms {
    let params = &phost.params;
    let base_rtt = phost.fabric.base_rtt;
    let slot = site.rate.tx_time(Bytes(phost.fabric.framing.charged_mtu() as u64));
    let (pause, downgrade) = default_waits(site.bdp_packets, base_rtt, slot);
    Terms {
        free_tokens: params.free_tokens.unwrap_or(site.bdp_packets),
        free_for_long: params.free_for_long,
        third_level: params.third_level,
        window: params.window.unwrap_or(site.bdp_packets),
        slot,
        token_life: slot.scale((params.token_life * 1e3) as u64, 1_000),
        pause: params.pause.unwrap_or(pause),
        downgrade: params.downgrade.unwrap_or(downgrade),
        announce_again: params.announce_again.unwrap_or(base_rtt * 3),
        wake: params.wake,
    }
}

fn policy(phost: &Ready<Params>, site: &PortSite) -> Policy {
    let limit = phost.params.buffer.map_or(site.buffer, |bytes| Limit::Bytes(bytes.0));
    let discipline = if phost.params.push_out { Discipline::PushOut } else { Discipline::DropTail };
    let class = ClassPolicy { discipline, ..ClassPolicy::fifo(limit) };
    Policy { transport: ID, classes: vec![class; 3], markers: vec![] }
}

/// pHost on one host.
struct PhostHost {
    senders: Senders,
    receivers: Receivers,
    outbox: Outbox,
}

impl Host for PhostHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(env, &mut self.outbox, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        match env.packets[packet].header {
            Header::Data { .. } => self.receivers.data(env, &mut self.outbox, packet),
            Header::Token { .. } => self.senders.token(env, packet),
            Header::Announce { .. } => self.receivers.announced(env, &mut self.outbox, packet),
            Header::Finish { .. } => {
                let flow = env.packets[packet].flow;
                self.senders.finish(env, flow);
            }
            _ => {}
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let control = open.has(CONTROL);
        if control && let Some(packet) = self.outbox.send(env) {
            return Some(packet);
        }
        if open.has(SMALL)
            && open.has(LARGE)
            && let Some(packet) = self.senders.transmit(env, &mut self.outbox)
        {
            return Some(packet);
        }
        // A flow whose free tokens have all expired has just announced itself.
        if control { self.outbox.send(env) } else { None }
    }

    fn idle(&self) -> bool {
        self.outbox.is_empty() && self.senders.is_idle()
    }

    fn deadline(&self) -> Time {
        self.senders.deadline().min(self.receivers.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        self.receivers.wake(env, &mut self.outbox);
        self.senders.wake(env, &mut self.outbox);
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
