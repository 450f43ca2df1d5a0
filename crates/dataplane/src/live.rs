//! Flows that a host opens, and flows that come to it, while it runs.

use crate::host::HostNode;
use crate::medium::Medium;
use crate::names::{Bounds, Found, Lapsed, Names, RUN_TIME};
use crate::node::Node;
use crate::run_time::Live;
use crate::trouble::Trouble;
use crate::{Clock, PacketIo, Payload, Testbed};
use incast_transport::{Ended, Flow, FlowId, HostId, PacketRef, Segments, Span, Time, TransportId};
use incast_world::{FlowSetup, NEVER, most_payload};
use std::collections::HashMap;

impl<I: PacketIo> HostNode<I> {
    /// Gives a packet of a run-time flow that has arrived its number here. Returns false, and frees
    /// the packet, if it is of no flow.
    pub fn recognise(&mut self, medium: &mut Medium<I>, packet: PacketRef) -> bool {
        let content = self.packets.pool[packet];
        if content.flow.0 & RUN_TIME == 0 {
            return true;
        }
        let live = self.live.as_mut().expect("others are malformed");
        let full = self.packets.pool.framing().mss();
        let found = match live.names.admits(&content, full) {
            true => live.names.arrive(&content, medium.now),
            false => Found::Refused,
        };
        let flow = match found {
            Found::Known(flow) => flow,
            Found::New(flow) => {
                medium.probe.admit(flow, 0, 0);
                flow
            }
            Found::Stale | Found::Refused => {
                medium.tally.unwanted += 1;
                self.packets.free(&mut medium.io, packet);
                return false;
            }
        };
        self.packets.pool[packet].flow = flow;
        true
    }
}

impl<I: PacketIo, C: Clock, P: Payload> Testbed<I, C, P> {
    /// From now on `host` opens flows at run time and takes in those of others. `start` differs from
    /// one start of the host to the next.
    pub(crate) fn accept(&mut self, host: HostId, start: u32, bounds: Bounds) {
        let first = self.medium.flows.len() as u32;
        self.medium.troubles.live = true;
        let node = self.host(host);
        let names = Names::new(host.0, first, start, bounds);
        node.live = Some(Live { names, sent: HashMap::new(), alarm: NEVER });
    }

    fn host(&mut self, host: HostId) -> &mut HostNode<I> {
        match &mut self.nodes[host.0 as usize] {
            Node::Host(host) => host,
            _ => panic!("host {} is not in this process", host.0),
        }
    }

    fn live(&mut self, host: HostId) -> &mut Live {
        self.host(host).live.as_mut().expect("the host takes run-time flows")
    }

    /// Number of hosts of the fabric.
    pub fn hosts(&self) -> u32 {
        self.medium.fabric.hosts()
    }

    /// The instant of the last pass.
    pub fn now(&self) -> Time {
        Time(self.medium.now)
    }

    /// The application.
    pub fn payload(&self) -> &P {
        &self.payload
    }

    /// The application.
    pub(crate) fn payload_mut(&mut self) -> &mut P {
        &mut self.payload
    }

    /// Names, entries of the probe, and flows with state in transports.
    pub(crate) fn tables(&self, host: HostId) -> (usize, usize, usize) {
        let Node::Host(node) = &self.nodes[host.0 as usize] else { return (0, 0, 0) };
        let names = node.live.as_ref().map_or(0, |live| live.names.len());
        (names, self.medium.probe.admitted(), node.end.open_flows())
    }

    /// Looks at the clock once: does what is due, or waits as the clock does. Returns whether
    /// something was due. Nodes of other testbeds may have sent something since the last call.
    pub fn turn(&mut self) -> bool {
        for place in 0..self.here.len() {
            self.reschedule(self.here[place]);
        }
        let due = self.due();
        let now = self.clock.now().0;
        let seen = self.medium.tally.moved();
        if due <= now || !self.external.is_empty() {
            self.pass(now);
        }
        let busy = due <= now || self.medium.tally.moved() != seen;
        if !busy {
            let due = self.due();
            self.clock.idle(Time(due));
        }
        busy
    }

    /// Opens a flow of `size` bytes, now. `enter` makes it known to the application.
    pub(crate) fn open(
        &mut self,
        host: HostId,
        to: HostId,
        transport: TransportId,
        size: u64,
        enter: impl FnOnce(&mut P, FlowId),
    ) {
        let now = self.clock.now().0;
        self.pass(now);
        let most = most_payload(&self.payloads, transport).min(self.framing.mss());
        let segments = Segments::Uniform(most);
        let id = self.live(host).names.open(to.0, transport, now);
        let (src, dst, start) = (host, to, Time(now));
        let flow = Flow { id, src, dst, size, start, segments, burst: None, connection: None };
        self.live(host).sent.insert(id, (flow.clone(), 0));
        self.medium.probe.admit(id, size, 0);
        enter(&mut self.payload, id);
        let setup = FlowSetup {
            flow,
            transport,
            after: vec![],
            delay: Span::ZERO,
            gate: None,
            cut: Time::NEVER,
        };
        let Testbed { nodes, medium, payload, .. } = self;
        let Node::Host(node) = &mut nodes[host.0 as usize] else { unreachable!("it has names") };
        node.start(medium, payload, &setup);
        node.run_timers(medium, payload);
        node.advance(medium, payload, now + 1);
        node.line.flush(medium);
        self.reschedule(host.0);
    }

    /// Moves the ends of run-time flows since the last call to `into`.
    pub(crate) fn take_ended(&mut self, into: &mut Vec<Ended>) {
        self.medium.probe.take_ended(into);
    }

    /// A flow that has ended is forgotten, or only remembered.
    pub(crate) fn finish(&mut self, host: HostId, flow: FlowId) {
        let now = self.medium.now;
        self.medium.probe.dismiss(flow);
        self.live(host).forget(flow);
        self.live(host).names.finish(flow, now);
    }

    /// A flow is given up, by its transport too. What still comes of it is ignored.
    pub(crate) fn abandon(&mut self, host: HostId, flow: FlowId) {
        let now = self.medium.now;
        self.live(host).forget(flow);
        self.live(host).names.bar(flow, now);
        let Testbed { nodes, medium, payload, .. } = self;
        let Node::Host(node) = &mut nodes[host.0 as usize] else { unreachable!("it has names") };
        node.abandon(medium, payload, flow);
        self.medium.probe.dismiss(flow);
        self.reschedule(host.0);
    }

    /// Flows that were given up since the last call, because they let no time pass.
    #[inline]
    pub(crate) fn take_troubles(&mut self) -> Vec<Trouble> {
        self.medium.troubles.take()
    }

    /// The next flow that has lasted too long.
    pub(crate) fn lapsed(&mut self, host: HostId) -> Option<Lapsed> {
        let now = self.medium.now;
        self.live(host).names.lapsed(now)
    }

    /// The application of `host` wants a turn at `at`, picoseconds.
    pub(crate) fn set_alarm(&mut self, host: HostId, at: u64) {
        self.live(host).alarm = at;
        self.reschedule(host.0);
    }

    /// The source of a flow that arrives here, and its number of this flow.
    pub(crate) fn origin(&mut self, host: HostId, flow: FlowId) -> Option<(HostId, u32)> {
        let names = &self.live(host).names;
        Some((HostId(names.peer(flow)?), (names.wire(flow)?.0 & !RUN_TIME) >> 1))
    }

    /// Gives the backend back, with every frame.
    pub fn into_io(mut self) -> I {
        self.nodes.iter_mut().for_each(|node| node.give_frames_back(&mut self.medium.io));
        self.medium.io
    }
}
