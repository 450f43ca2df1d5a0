//! The switch (FastTune §III-B, Algorithm 1): it acknowledges the data of a flow itself until an
//! ACK of the flow has passed, and adds to passing ACKs the state of the data's egress port, which
//! is the ACK's ingress port.

use super::ID;
use super::headers::SwitchAck;
use super::params::Params;
use incast_egress::telemetry::stamp;
use incast_endpoint::flow_table::FlowTable;
use incast_endpoint::sender::views::Ack;
use incast_transport::telemetry::{Gauge, empty_stack};
use incast_transport::{
    Decision, FlowId, IntRecord, Packet, PacketRef, PortView, Rate, Span, SwitchEnv, SwitchHook,
    SwitchSite, Time, TransportId,
};
use std::collections::VecDeque;

/// State of a flow at a switch.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whether no ACK has passed (NewACK).
    no_ack_yet: bool,
    /// Arrival of its last packet.
    last: Time,
}

/// The hook of one switch.
pub struct SwitchAcks {
    gauges: Vec<(Rate, Gauge)>,
    flows: FlowTable<Seen>,
    /// When each flow is next checked for idleness, earliest first.
    watch: VecDeque<(Time, FlowId)>,
    forget_after: Span,
    most: usize,
}

impl SwitchAcks {
    /// A switch without flows.
    pub fn new(params: &Params, site: &SwitchSite) -> SwitchAcks {
        let rates = &site.fabric.rates;
        let gauge = |rate: &Rate| (*rate, Gauge::new(rates, *rate, !params.quantise_int));
        SwitchAcks {
            gauges: rates.iter().map(gauge).collect(),
            flows: FlowTable::new(),
            watch: VecDeque::new(),
            forget_after: params.forget_after,
            most: params.switch_flows as usize,
        }
    }

    /// Telemetry record of a port: its data queue and its sent bytes.
    fn sample(&self, now: Time, port: &PortView) -> IntRecord {
        let gauge = self.gauges.iter().find(|(rate, _)| *rate == port.rate);
        gauge.expect("the port's rate is one of the fabric's").1.record(
            now,
            port.sent,
            port.data.bytes,
        )
    }

    /// Removes idle flows, and the one checked longest ago if there are too many.
    fn forget(&mut self, now: Time) {
        while let Some(&(at, flow)) = self.watch.front() {
            let full = self.flows.len() >= self.most;
            if at > now && !full {
                return;
            }
            self.watch.pop_front();
            let Some(seen) = self.flows.get(flow) else { continue };
            let until = seen.last.saturating_add(self.forget_after);
            if until <= now || full {
                self.flows.remove(flow);
            } else {
                self.watch.push_back((until, flow));
            }
        }
    }

    /// State of the flow of an arriving packet, created if it is new.
    fn seen(&mut self, now: Time, flow: FlowId) -> &mut Seen {
        let slot = match self.flows.slot_of(flow) {
            Some(slot) => slot,
            None => {
                self.forget(now);
                self.watch.push_back((now.saturating_add(self.forget_after), flow));
                self.flows.insert(flow, Seen { no_ack_yet: true, last: now })
            }
        };
        let seen = self.flows.at_mut(slot);
        seen.last = now;
        seen
    }

    /// The switch's own ACK to data that is about to leave by `env.egress`.
    fn switch_ack(&mut self, env: &mut SwitchEnv<'_>, data: &Packet) -> PacketRef {
        let header = SwitchAck { acked: data.header.data_key() }.into();
        let (src, dst) = (data.dst, data.src);
        let (payload, class, flags, extension) = (0, 0, 0, 0);
        let ack = Packet { header, src, dst, payload, class, flags, extension, ..*data };
        let ack = env.packets.create(ack);
        env.packets.extend(ack, empty_stack(0));
        let record = self.sample(env.now, &env.egress);
        stamp(env.packets, ack, record, env.now);
        ack
    }
}

impl SwitchHook for SwitchAcks {
    fn transport(&self) -> TransportId {
        ID
    }

    fn forward(&mut self, env: &mut SwitchEnv<'_>, packet: PacketRef) -> Decision {
        let content = env.packets[packet];
        if content.is_data() {
            let no_ack_yet = self.seen(env.now, content.flow).no_ack_yet;
            let reply = no_ack_yet.then(|| self.switch_ack(env, &content));
            return Decision { reply, ..Decision::default() };
        }
        let record = self.sample(env.now, &env.back);
        stamp(env.packets, packet, record, env.now);
        if Ack::read(&content.header).is_some_and(|ack| ack.complete) {
            // The flow is complete: only duplicates can follow.
            self.flows.remove(content.flow);
        } else {
            self.seen(env.now, content.flow).no_ack_yet = false;
        }
        Decision::default()
    }

    fn entries(&self) -> usize {
        self.flows.len()
    }
}
