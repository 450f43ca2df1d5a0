//! SIRD (NSDI 2025): destinations give credits out of a budget of 1.5 BDP, and learn from marks of
//! sources and switches how much of it each source can use.

mod deviations;
pub mod headers;
mod incoming;
mod law;
#[cfg(test)]
mod network_tests;
mod outgoing;
mod params;
mod receiver;
mod sender;
mod terms;
#[cfg(test)]
mod tests;

pub use headers::ID;
pub use law::{Law, Share};
pub use params::{Busy, Params};

use deviations::DEVIATIONS;
use headers::UNSCHEDULED_MOST;
use headers::{Credit, Finish, Request, Resend};
use incast_egress::threshold::ThresholdMarker;
use incast_endpoint::outbox::{CONTROL, Outbox};
use incast_transport::{
    ClassPolicy, Classes, Declaration, Discipline, EcnUse, Env, Flow, FlowId, Host, HostSite, Info,
    Marker, Observed, Optional, Packet, PacketRef, Policy, PortSite, Ready, Routing, Time,
    TransportKind,
};
use receiver::{Arriving, Receivers};
use sender::Senders;
use terms::Terms;

/// The catalogue entry.
pub static ENTRY: Declaration<Params> = Declaration {
    info: &Info {
        name: "sird",
        id: ID,
        title: "SIRD",
        paper: "Prasopoulos et al., SIRD: A sender-informed, receiver-driven datacenter transport protocol, \
                NSDI 2025",
        kind: TransportKind::ReceiverDriven,
        switch_support: "three priorities, ECN between switches, per-packet load balancing",
        routing: Routing::Spray,
        symmetric_paths: false,
        one_path: false,
        ecn: EcnUse::Rfc3168,
        marks: true,
        made_for_pfc: false,
        feedback_bits: None,
        headers: headers::HEADERS,
        deviations: DEVIATIONS,
    },
    derive: Params::check,
    host,
    policy,
    unsolicited: |sird, site, packets| {
        let terms = terms(sird, site);
        let cost = packets as u64 * terms.full;
        let fits = cost <= terms.unscheduled && packets <= UNSCHEDULED_MOST;
        if fits { packets } else { 0 }
    },
    optional: Optional {
        sets: params::SETS,
        in_force: |sird| {
            let Ready { params, fabric, .. } = sird;
            let bdp = params.bdp_of(fabric.bdp_packets(fabric.host_rate), &fabric.framing);
            vec![
                ("bdp (in force)", bdp.to_string()),
                ("mark_threshold (in force)", params.mark_bytes(fabric).to_string()),
            ]
        },
        ..Optional::NONE
    },
};

fn terms(sird: &Ready<Params>, site: &HostSite) -> Terms {
    let Ready { params, fabric, .. } = sird;
    let (framing, full) = (fabric.framing, fabric.framing.charged_mtu() as u64);
    let bdp = params.bdp_of(site.bdp_packets, &framing).0;
    let share = |of: f64| (bdp as f64 * of) as u64;
    Terms {
        framing,
        full,
        least: framing.charged_packet(1, 0) as u64,
        bdp,
        budget: share(params.budget),
        unscheduled: share(params.unscheduled),
        congested: share(params.sender_threshold),
        busy: params.busy,
        shortest: params.shortest,
        law: Law {
            bdp: bdp as f64,
            packet: full as f64,
            gain: params.gain,
            host_least: params.host_min,
            net_least: params.net_min,
            grows_on_marks: params.grows_on_marks,
        },
        rate: site.rate,
        retry: params.retry.unwrap_or(fabric.base_rtt * 3),
    }
}

fn host(sird: &Ready<Params>, site: &HostSite) -> Box<dyn Host> {
    let terms = terms(sird, site);
    Box::new(SirdHost {
        senders: Senders::new(terms),
        receivers: Receivers::new(terms),
        outbox: Outbox::new(ID),
    })
}

/// Ports between switches mark; those of hosts are scheduled by their destination.
fn policy(sird: &Ready<Params>, site: &PortSite) -> Policy {
    let control = ClassPolicy::fifo(site.buffer);
    let data = ClassPolicy { discipline: Discipline::SharedTail, ..control };
    let between = !site.nic && (site.upward || site.tier >= 2);
    let threshold = sird.params.threshold(&sird.fabric);
    let marker = || -> Box<dyn Marker> { Box::new(ThresholdMarker::new(threshold, site)) };
    let markers = between.then(marker).into_iter().collect();
    Policy { transport: ID, classes: vec![control, data, data], markers }
}

/// SIRD on one host.
struct SirdHost {
    senders: Senders,
    receivers: Receivers,
    outbox: Outbox,
}

impl Host for SirdHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        self.senders.open(env, &mut self.outbox, flow);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { header, flow, src, .. } = content;
        let informed = Time(env.packets.stamps(packet).informed);
        if let Some(data) = Arriving::read(&content) {
            self.receivers.data(env, &mut self.outbox, data);
        } else if let Some(request) = Request::read(&header) {
            self.receivers.requested(env.now, &mut self.outbox, (flow, src), request);
        } else if let Some(Credit { worth, .. }) = Credit::read(&header) {
            self.senders.credited(env, (flow, src), None, worth as u64, informed);
        } else if let Some(Resend { packet, worth }) = Resend::read(&header) {
            self.senders.credited(env, (flow, src), Some(packet), worth as u64, informed);
        } else if Finish::read(&header).is_some() {
            self.senders.finished(env, flow);
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
        self.senders.wake(env, &mut self.outbox);
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.senders.remove(env, flow);
        self.receivers.remove(env.now, flow);
    }

    fn observe(&self, flow: FlowId, _now: Time) -> Observed {
        self.senders.observe(flow)
    }

    fn open_flows(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }
}
