//! A host whose events are recorded.

use super::log::Writer;
use incast_transport::{
    Acks, Classes, Env, EventKind, Flow, FlowId, Host, Observed, PacketRef, Time, TraceEvent,
    Traced,
};

/// A host behind a recorder.
pub(super) struct TracedHost {
    inner: Box<dyn Host>,
    writer: Writer,
    /// Traced flows that were seen here and are not known to be over.
    live: Vec<FlowId>,
}

/// What the probe and the host knew of a flow before a call.
struct Before {
    flow: FlowId,
    decisions: u32,
    age: u64,
    acknowledged: bool,
    timeouts: u32,
}

impl TracedHost {
    pub fn new(inner: Box<dyn Host>, writer: Writer) -> TracedHost {
        TracedHost { inner, writer, live: vec![] }
    }

    fn event(&self, at: Time, kind: EventKind, flow: FlowId) -> TraceEvent {
        TraceEvent::new(at, self.writer.place, kind, Some(flow))
    }

    fn meet(&mut self, flow: FlowId) {
        if !self.live.contains(&flow) {
            self.live.push(flow);
        }
    }

    fn packet(&self, env: &Env<'_>, packet: PacketRef) -> Traced {
        let departed = env.packets.stamps(packet).departed;
        Traced::of(&env.packets[packet], env.packets.charged(packet), departed)
    }

    /// What is known of the live flows before a call.
    fn before(&self, env: &Env<'_>) -> Vec<Before> {
        let one = |flow: &FlowId| {
            let known = env.probe.senders().get(flow.0 as usize)?;
            Some(Before {
                flow: *flow,
                decisions: known.decisions,
                age: known.decision_age,
                acknowledged: known.acknowledged.is_some(),
                timeouts: known.timeouts,
            })
        };
        self.live.iter().filter_map(one).collect()
    }

    /// Records what a call has changed.
    fn after(&mut self, env: &Env<'_>, before: &[Before]) {
        for Before { flow, decisions, age, acknowledged, timeouts } in before {
            let known = env.probe.senders()[flow.0 as usize];
            let event = |kind| self.event(env.now, kind, *flow).observed(&*self.inner, *flow);
            let mut new = vec![];
            if known.timeouts > *timeouts {
                new.push(event(EventKind::Timeout));
            }
            let taken = (known.decisions - decisions) as u64;
            for _ in 0..taken {
                let mean = (known.decision_age - age) / taken;
                new.push(TraceEvent { age: Some(mean), ..event(EventKind::Decision) });
            }
            let over = known.acknowledged.is_some() && !acknowledged;
            if over {
                new.push(event(EventKind::Acknowledged));
            }
            new.into_iter().for_each(|event| self.writer.write(event));
            if over {
                self.live.retain(|live| live != flow);
            }
        }
    }
}

impl Host for TracedHost {
    fn set_acks(&mut self, acks: Acks) {
        self.inner.set_acks(acks);
    }

    fn open(&mut self, env: &mut Env<'_>, flow: &Flow) {
        if self.writer.selects(flow.id) {
            self.meet(flow.id);
        }
        let before = self.before(env);
        self.inner.open(env, flow);
        if self.writer.selects(flow.id) {
            let event = self.event(env.now, EventKind::Opened, flow.id);
            self.writer.write(event.observed(&*self.inner, flow.id));
        }
        self.after(env, &before);
    }

    fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
        let flow = env.packets[packet].flow;
        let selected = self.writer.selects(flow);
        if selected && env.probe.senders().get(flow.0 as usize).is_some() {
            self.meet(flow);
        }
        let traced = selected.then(|| self.packet(env, packet));
        let before = self.before(env);
        let outcomes = env.probe.outcomes().len();
        self.inner.receive(env, packet);
        if traced.is_some() {
            let event = self.event(env.now, EventKind::Delivered, flow);
            let event = event.observed(&*self.inner, flow);
            self.writer.write(TraceEvent { packet: traced, ..event });
            if env.probe.outcomes().len() > outcomes {
                let event = self.event(env.now, EventKind::Completed, flow);
                self.writer.write(event);
                // At the receiving end the flow is over.
                self.live.retain(|live| *live != flow);
            }
        }
        self.after(env, &before);
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let before = self.before(env);
        let packet = self.inner.transmit(env, open);
        if let Some(packet) = packet {
            let flow = env.packets[packet].flow;
            if self.writer.selects(flow) {
                let event = self.event(env.now, EventKind::Sent, flow);
                let event = event.observed(&*self.inner, flow);
                // The world writes the departure after this call.
                let content = &env.packets[packet];
                let traced = Traced::of(content, env.packets.charged(packet), env.now.0);
                self.writer.write(TraceEvent { packet: Some(traced), ..event });
            }
        }
        self.after(env, &before);
        packet
    }

    fn idle(&self) -> bool {
        self.inner.idle()
    }

    fn deadline(&self) -> Time {
        self.inner.deadline()
    }

    fn wake(&mut self, env: &mut Env<'_>) {
        let before = self.before(env);
        self.inner.wake(env);
        self.after(env, &before);
    }

    fn abandon(&mut self, env: &mut Env<'_>, flow: FlowId) {
        self.live.retain(|live| *live != flow);
        self.inner.abandon(env, flow);
    }

    fn observe(&self, flow: FlowId, now: Time) -> Observed {
        self.inner.observe(flow, now)
    }

    fn open_flows(&self) -> usize {
        self.inner.open_flows()
    }
}
