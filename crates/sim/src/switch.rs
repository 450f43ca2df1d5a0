//! Switches: route, call hooks, share a buffer.

use crate::partition::{Partition, SwitchState};
use incast_fabric::balance::{RoundRobin, at_level, at_switch, flow_hash, pick, spray_hash};
use incast_fabric::{NodeId, PortId, balance};
use incast_transport::{Backlog, Decision, PacketRef, PortView, Routing, SwitchEnv, Time, flag};

impl SwitchState {
    /// The turn of a destination group.
    fn turn(&mut self, seed: u64, node: NodeId, group: u32, ports: usize) -> usize {
        let found = self.turns.iter_mut().find(|(known, _)| *known == group);
        match found {
            Some((_, turns)) if turns.ports() == ports => turns.turn(),
            _ => {
                let mut turns = RoundRobin::new(seed, node, group, ports);
                let index = turns.turn();
                self.turns.retain(|(known, _)| *known != group);
                self.turns.push((group, turns));
                index
            }
        }
    }
}

impl Partition {
    /// A packet arrives at a switch through the link whose way back is `back`; `target` is its
    /// egress, or not a port if it is still to be chosen.
    pub fn switch_arrival(&mut self, node: NodeId, back: u32, target: u32, packet: PacketRef) {
        if self.common.shared.is_some() {
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
        let known = self.choose(node, back, packet, self.now);
        match known.or_else(|| self.choose_by_turn(node, packet)) {
            Some(port) => self.forward(node, back, port, packet),
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

    /// The egress at a switch where the packet arrives at `at`, unless there is none or it
    /// depends on packets before.
    #[inline]
    pub fn choose(&self, node: NodeId, back: u32, packet: PacketRef, at: u64) -> Option<u32> {
        let content = &self.pool[packet];
        let dst = if content.has(flag::BOUNCED) { content.src } else { content.dst };
        let ports = self.routes.next(node, dst.0);
        match ports {
            [] => return None,
            [only] => return Some(only.0),
            _ => {}
        }
        let seed = self.common.seed;
        let index = match self.common.routing[content.transport.0 as usize] {
            Routing::Spray => {
                pick(spray_hash(seed, node, Time(at), PortId(back)), ports.len())
            }
            Routing::Ecmp => {
                let flow = content.flow.0 as u64;
                let hash = flow_hash(content.src.0, content.dst.0, flow, seed);
                pick(at_switch(hash, node), ports.len())
            }
            Routing::SymmetricEcmp => {
                let flow = content.flow.0 as u64;
                let hash = balance::symmetric_hash(content.src.0, content.dst.0, flow, seed);
                let level = self.common.fabric.ports()[ports[0].0 as usize].level;
                pick(at_level(hash, level), ports.len())
            }
            Routing::SourcePath => content.path as usize % ports.len(),
            Routing::RoundRobin => return None,
        };
        Some(ports[index].0)
    }

    /// The egress of a packet that takes the next turn of its destination group.
    fn choose_by_turn(&mut self, node: NodeId, packet: PacketRef) -> Option<u32> {
        let content = &self.pool[packet];
        let dst = if content.has(flag::BOUNCED) { content.src } else { content.dst };
        let ports = self.routes.next(node, dst.0);
        if ports.is_empty() {
            return None;
        }
        let group = self.routes.group(node, dst.0);
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        let index = state.turn(self.common.seed, node, group, ports.len());
        Some(ports[index].0)
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

    /// Whether the switch's shared buffer takes the packet; books it if so.
    #[inline]
    pub fn admit_shared(&mut self, port: u32, packet: PacketRef) -> bool {
        let Some(shared) = self.common.shared else { return true };
        let node = self.common.fabric.ports()[port as usize].node;
        let charged = self.pool.charged(packet);
        let queued = self.queued_shared[port as usize];
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        let free = shared.pool - state.used;
        let threshold = (shared.alpha * free as f64) as u64;
        let fits = charged as u64 <= free && queued + charged as u64 <= threshold;
        if fits {
            state.used += charged as u64;
            self.queued_shared[port as usize] += charged as u64;
            self.pool.stamps_mut(packet).admitted = charged;
        }
        fits
    }

    /// Gives a packet's share of the buffer back.
    #[inline]
    pub fn release_shared(&mut self, port: u32, packet: PacketRef) {
        if self.common.shared.is_none() {
            return;
        }
        let node = self.common.fabric.ports()[port as usize].node;
        let admitted = std::mem::take(&mut self.pool.stamps_mut(packet).admitted) as u64;
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        state.used -= admitted;
        self.queued_shared[port as usize] -= admitted;
    }
}
