//! A switch as both worlds run it: its turns among equal routes and its hooks.

use crate::conga::Conga;
use crate::{Ask, Balancer, Choice, OWN, Setup, Turns, heading, purpose};
use incast_fabric::{FixedPaths, NodeId, PortId, Routes};
use incast_transport::{
    Decision, Packet, PacketPool, PacketRef, PortView, Probe, Random, Routing, SwitchEnv,
    SwitchHook, Time,
};
use std::sync::Arc;

/// Most hooks that one transport may have at a switch.
const MOST_HOOKS: usize = 4;

/// A switch without its ports.
pub struct Switch {
    node: NodeId,
    hooks: Vec<Box<dyn SwitchHook>>,
    random: Random,
    turns: Turns,
    balancer: Balancer,
    conga: Option<Conga>,
    paths: Option<Arc<FixedPaths>>,
}

/// What the hooks see of a switch's ports.
pub struct Views {
    /// The port that leads back to the packet's sender.
    pub back: PortView,
    /// The port by which the packet will leave.
    pub egress: PortView,
}

/// What the hooks of a packet's transport decided.
pub struct Decisions {
    list: [Decision; MOST_HOOKS],
    count: usize,
}

impl Decisions {
    /// Packets to send back by the port the packet came from.
    pub fn replies(&self) -> impl Iterator<Item = PacketRef> {
        self.list[..self.count].iter().filter_map(|decision| decision.reply)
    }

    /// Whether the packet goes no further.
    pub fn drop(&self) -> bool {
        self.list[..self.count].iter().any(|decision| decision.drop)
    }

    /// Packets to send behind this one.
    pub fn follows(&self) -> impl Iterator<Item = PacketRef> {
        self.list[..self.count].iter().filter_map(|decision| decision.follow)
    }
}

impl Switch {
    /// Takes switch `node` out of a setup.
    pub fn new(setup: &mut Setup, node: u32) -> Switch {
        Switch {
            node: NodeId(node),
            hooks: std::mem::take(&mut setup.hooks[node as usize]),
            random: Random::new(setup.options.seed, node, purpose::SWITCH),
            turns: Turns::default(),
            balancer: Balancer::new(setup.options.balance, setup.options.seed, NodeId(node)),
            conga: setup
                .routing
                .iter()
                .any(|(_, routing)| *routing == Routing::Conga)
                .then(|| Conga::new(setup.options.balance, setup.fabric.clone(), NodeId(node))),
            paths: setup.options.paths.clone(),
        }
    }

    /// Its number.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Whether it has hooks.
    #[inline]
    pub fn has_hooks(&self) -> bool {
        !self.hooks.is_empty()
    }

    /// The egress of a packet for which [`choose`](crate::choose) has made a choice, other than to
    /// [`ask`](Switch::ask); `None` if its destination cannot be reached.
    #[inline]
    pub fn egress(
        &mut self,
        choice: Choice,
        routes: &Routes,
        seed: u64,
        packet: &Packet,
    ) -> Option<PortId> {
        match choice {
            Choice::Port(port) => Some(port),
            Choice::Turn => self.turns.next(routes, seed, self.node, heading(packet)),
            Choice::SourceTurn => self.turns.next_of_source(routes, seed, self.node, packet),
            Choice::Fixed(other) => Some(self.fixed(packet).unwrap_or(other)),
            Choice::Ask(_) => unreachable!("the switch is asked"),
            Choice::Nowhere => None,
        }
    }

    /// The egress of a packet that arrives `now`, by the queues of the ports or what the switch remembers:
    /// see [`Balancer::choose`].
    #[cold]
    pub fn ask(
        &mut self,
        ask: Ask,
        routes: &Routes,
        seed: u64,
        packet: &Packet,
        now: Time,
        queue: &mut dyn FnMut(PortId) -> u64,
    ) -> Option<PortId> {
        self.balancer.choose(ask, (routes, self.node, seed), packet, now, queue)
    }

    /// The egress of a packet that arrives `now` under [`Ask::Conga`]; writes what it carries through the
    /// fabric.
    #[cold]
    pub fn tag(
        &mut self,
        routes: &Routes,
        seed: u64,
        packets: &mut PacketPool,
        packet: PacketRef,
        now: Time,
    ) -> Option<PortId> {
        let conga = self.conga.as_mut().expect("a switch of a run with this routing");
        conga.choose(self.balancer.random(), (routes, seed), packets, packet, now)
    }

    /// The port on the fixed path of the packet's flow, if it has one.
    fn fixed(&self, packet: &Packet) -> Option<PortId> {
        self.paths.as_ref()?.port(packet.flow.0, self.node, heading(packet).0)
    }

    /// Lets the hooks of the packet's transport see it. `back` is the reverse path to its sender,
    /// `egress` the port it will leave by, both brought up to `now`.
    #[inline]
    pub fn decide(
        &mut self,
        now: u64,
        probe: &mut Probe,
        packets: &mut PacketPool,
        views: Views,
        packet: PacketRef,
    ) -> Decisions {
        let Views { back, egress } = views;
        let transport = packets[packet].transport;
        let mut decisions = Decisions { list: [Decision::default(); MOST_HOOKS], count: 0 };
        for hook in self.hooks.iter_mut().filter(|hook| hook.transport() == transport) {
            let (now, random) = (Time(now), &mut self.random);
            let mut env = SwitchEnv { now, random, packets, probe, back, egress };
            let decision = hook.forward(&mut env, packet);
            for own in [decision.reply, decision.follow].into_iter().flatten() {
                packets.stamps_mut(own).ingress = OWN;
            }
            decisions.list[decisions.count] = decision;
            decisions.count += 1;
        }
        decisions
    }
}
