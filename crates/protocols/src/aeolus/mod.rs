//! Aeolus (SIGCOMM 2020) on Homa: switches drop unscheduled packets first, a probe detects the
//! losses, and grants recover them.

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
pub use params::{Both, Params, ThresholdOf};

use crate::homa::headers::{Data, Grant, Resend};
use crate::homa::{self, HomaHost};
use deviations::DEVIATIONS;
use incast_endpoint::first_round::RoundTerms;
use incast_endpoint::first_round::views::Probe;
use incast_endpoint::outbox::CONTROL;
use incast_transport::{
    Bytes, Classes, Declaration, Discipline, EcnUse, Env, FabricSite, Flow, FlowId, Header, Host,
    HostSite, Info, Limit, Observed, Optional, Packet, PacketRef, Policy, PortSite, Routing, Span,
    Time, TransportKind,
};
use receiver::Probed;
use sender::Rounds;
use terms::Terms;

/// Least automatic time for a probe's reply, in base RTT.
const PROBE_ROUND_TRIPS: u64 = 3;
/// Largest share of that time due to the drain of a full buffer, in base RTT.
const DRAIN_ROUND_TRIPS: u64 = 16;

/// The catalogue entry.
pub static ENTRY: Declaration<Both, homa::Levels> = Declaration {
    info: &Info {
        name: "aeolus",
        id: ID,
        title: "Aeolus on Homa",
        paper: "Hu et al., Aeolus: A building block for proactive transport in datacenters, \
                SIGCOMM 2020",
        kind: TransportKind::ReceiverDriven,
        switch_support: "selective dropping (RED by colour), eight priorities, per-packet load \
                         balancing",
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
    derive: |params, fabric| homa::levels(&params.homa, fabric),
    host,
    policy,
    unsolicited,
    optional: Optional { takes_burst: true, ..Optional::NONE },
};

type Ready = incast_transport::Ready<Both, homa::Levels>;

fn host(aeolus: &Ready, site: &HostSite) -> Box<dyn Host> {
    let terms = terms(aeolus, site);
    Box::new(AeolusHost {
        homa: HomaHost::new(ID, terms.homa),
        rounds: Rounds::new(&terms),
        probed: Probed::new(terms.round.grace),
        terms: terms.homa,
    })
}

fn buffer(aeolus: &Ready, limit: Limit) -> Limit {
    aeolus.params.homa.buffer.map_or(limit, |bytes| Limit::Bytes(bytes.0))
}

fn terms(aeolus: &Ready, site: &HostSite) -> Terms {
    let own = &aeolus.params.own;
    let grace = own.grace.unwrap_or(aeolus.fabric.base_rtt);
    let probe_again = own.probe_timeout.unwrap_or_else(|| probe_timeout(aeolus));
    Terms {
        round: RoundTerms { in_order: grace == Span::ZERO, grace, probe_again },
        host_burst: own.host_burst.unwrap_or(u32::MAX),
        homa: homa::Terms::new(&aeolus.params.homa, aeolus.derived, site),
    }
}

/// The automatic probe timeout: a base RTT and the drain time of a full buffer, at least 3 base RTT.
fn probe_timeout(aeolus: &Ready) -> Span {
    let FabricSite { base_rtt, framing, host_rate, .. } = *aeolus.fabric;
    let drain = match buffer(aeolus, aeolus.fabric.buffer).bytes(framing.charged_mtu()) {
        Bytes(u64::MAX) => Span::ZERO,
        bytes => host_rate.tx_time(bytes).min(base_rtt * DRAIN_ROUND_TRIPS),
    };
    (base_rtt + drain).max(base_rtt * PROBE_ROUND_TRIPS)
}

fn policy(aeolus: &Ready, site: &PortSite) -> Policy {
    let threshold = Limit::Packets(aeolus.params.own.threshold);
    let homa::Params { priorities, buffer, .. } = aeolus.params.homa;
    let alone = aeolus.params.own.threshold_of == ThresholdOf::Class;
    let discipline = Discipline::Selective { threshold, alone };
    Policy {
        transport: ID,
        classes: homa::classes(priorities, buffer, discipline, site),
        markers: vec![],
    }
}

fn unsolicited(aeolus: &Ready, _site: &HostSite, packets: u32) -> u32 {
    let burst = homa::blind_packets(&aeolus.params.homa, &aeolus.fabric);
    packets.min(burst).min(aeolus.params.own.host_burst.unwrap_or(u32::MAX))
}

/// Aeolus on one host.
struct AeolusHost {
    homa: HomaHost,
    rounds: Rounds,
    probed: Probed,
    terms: homa::Terms,
}

impl AeolusHost {
    /// Handles a grant's class at the source: from now on no packet of the flow is unscheduled.
    fn granted(&mut self, env: &Env<'_>, packet: &Packet, class: u32) {
        self.rounds.granted(env, packet.flow);
        self.homa.senders.stop_blind(packet.flow, self.terms.levels.valid(class));
    }
}

impl Host for AeolusHost {
    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        let class = self.terms.unscheduled_class(flow.size, flow.size);
        let burst = flow.burst.unwrap_or(self.terms.blind);
        let burst = self.rounds.open(env, flow, burst, class);
        self.homa.senders.open(env, flow, burst);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let content = env.packets[packet];
        let Packet { flow, src, header, .. } = content;
        match header {
            Header::Grant { .. } => {
                if let Some(grant) = Grant::read(&header) {
                    self.granted(env, &content, grant.class);
                }
            }
            Header::Resend { .. } => {
                if let Some(resend) = Resend::read(&header) {
                    self.granted(env, &content, resend.class);
                }
            }
            Header::Finish { .. } => self.rounds.finish(flow),
            Header::Ack { .. } => {
                self.rounds.acked(env, flow, &header);
                self.homa.senders.known(flow, env.now);
            }
            Header::Probe { .. } => {
                let HomaHost { receivers, outbox, .. } = &mut self.homa;
                if let Some(probe) = Probe::read(&header) {
                    self.probed.probe(receivers, outbox, flow, src, probe, env.now);
                }
            }
            _ => {}
        }
        self.homa.receive(env, packet);
        if let Some(Data { packet: seq, unscheduled: true, .. }) = Data::read(&header)
            && content.is_data()
        {
            let HomaHost { receivers, outbox, .. } = &mut self.homa;
            self.probed.data(receivers, outbox, flow, src, seq, env.now);
        }
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        if open.has(CONTROL)
            && let Some(packet) = self.homa.outbox.send(env)
        {
            return Some(packet);
        }
        if let Some(packet) = self.rounds.transmit(env, open) {
            return Some(packet);
        }
        let packet = self.homa.senders.transmit(env, open)?;
        let Packet { header, flow, .. } = env.packets[packet];
        if Data::read(&header).is_some_and(|data| data.unscheduled) {
            self.rounds.sent(env, flow);
        }
        Some(packet)
    }

    fn idle(&self) -> bool {
        self.homa.idle() && self.rounds.is_idle()
    }

    fn deadline(&self) -> Time {
        self.homa.deadline().min(self.rounds.deadline()).min(self.probed.deadline())
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        let HomaHost { receivers, outbox, .. } = &mut self.homa;
        self.probed.wake(receivers, outbox, env.now);
        self.homa.wake(env);
        self.rounds.wake(env);
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.rounds.finish(flow);
        self.homa.abandon(env, flow);
    }

    fn observe(&self, flow: FlowId, now: Time) -> Observed {
        self.homa.observe(flow, now)
    }

    fn open_flows(&self) -> usize {
        self.homa.open_flows()
    }
}
