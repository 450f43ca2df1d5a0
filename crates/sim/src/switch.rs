//! Switches: route, call hooks, share a buffer.

use crate::partition::Partition;
use incast_fabric::{NodeId, PortId};
use incast_transport::{Backlog, Decision, PacketRef, PortView, SwitchEnv, Time};
use incast_world::{Choice, OWN, heading};

impl Partition {
    /// A packet arrives at a switch through the link whose way back is `back`; `target` is its
    /// egress, or not a port if it is still to be chosen.
    pub fn switch_arrival(&mut self, node: NodeId, back: u32, target: u32, packet: PacketRef) {
        if self.booked {
            self.pool.stamps_mut(packet).ingress = back;
        }
        if (target as usize) < self.egress.len() {
            self.forward(node, back, target, packet);
        } else {
            self.route(node, back, packet);
        }
    }

    /// Chooses the egress, and forwards.
    pub fn route(&mut self, node: NodeId, back: u32, packet: PacketRef) {
        let port = match self.choose(node, back, packet, self.now) {
            Choice::Port(port) => Some(port),
            Choice::Turn => {
                let dst = heading(&self.pool[packet]);
                let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
                state.turns.next(&self.routes, self.common.seed, node, dst)
            }
            Choice::Nowhere => None,
        };
        match port {
            Some(port) => self.forward(node, back, port.0, packet),
            None => {
                self.link_losses += 1;
                self.lose(packet, self.now);
            }
        }
    }

    fn forward(&mut self, node: NodeId, back: u32, port: u32, packet: PacketRef) {
        let state = self.switches[node.0 as usize].as_ref().expect("an own switch");
        if state.hooks.is_empty() {
            self.enqueue(port, packet);
        } else {
            self.call_hooks(node, back, port, packet);
        }
    }

    /// The egress at a switch where the packet arrives at `at`.
    #[inline]
    pub fn choose(&self, node: NodeId, back: u32, packet: PacketRef, at: u64) -> Choice {
        let content = &self.pool[packet];
        let routing = self.common.routing[content.transport.0 as usize];
        let place = (node, PortId(back));
        let (fabric, seed) = (&self.common.fabric, self.common.seed);
        incast_world::choose(fabric, &self.routes, routing, seed, place, content, Time(at))
    }

    /// Lets the hooks of the packet's transport see it, and sends what they emit.
    #[cold]
    fn call_hooks(&mut self, node: NodeId, back: u32, port: u32, packet: PacketRef) {
        self.advance_port(back, self.now);
        self.advance_port(port, self.now);
        let (back_view, egress_view) = (self.view(back), self.view(port));
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        let transport = self.pool[packet].transport;
        let mut decisions = [Decision::default(); 4];
        let mut count = 0;
        for hook in state.hooks.iter_mut().filter(|hook| hook.transport() == transport) {
            let mut env = SwitchEnv {
                now: Time(self.now),
                random: &mut state.random,
                packets: &mut self.pool,
                probe: &mut self.probe,
                back: back_view,
                egress: egress_view,
            };
            decisions[count] = hook.forward(&mut env, packet);
            count += 1;
        }
        for decision in &decisions[..count] {
            if let Some(reply) = decision.reply {
                self.pool.stamps_mut(reply).ingress = OWN;
                self.enqueue(back, reply);
            }
        }
        if decisions[..count].iter().any(|decision| decision.drop) {
            self.lose(packet, self.now);
        } else {
            self.enqueue(port, packet);
        }
        for decision in &decisions[..count] {
            if let Some(follow) = decision.follow {
                self.pool.stamps_mut(follow).ingress = OWN;
                self.enqueue(port, follow);
            }
        }
    }

    fn view(&self, port: u32) -> PortView {
        let data = self.ports[port as usize]
            .as_ref()
            .map_or(Backlog::default(), |handler| handler.data_backlog());
        let rate = self.common.fabric.ports()[port as usize].rate;
        PortView { port, rate, data, sent: self.sent_bytes[port as usize] }
    }
}
