//! Which egress a packet takes at a switch; the same in both worlds.

use incast_fabric::balance::{self, RoundRobin, at_level, at_switch, flow_hash, pick, spray_hash};
use incast_fabric::{Fabric, NodeId, PortId, Routes};
use incast_transport::{HostId, Packet, Routing, Time, flag};

/// A switch's answer to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// It leaves by this port.
    Port(PortId),
    /// It takes the next turn of its destination group, see [`Turns`].
    Turn,
    /// Its destination cannot be reached.
    Nowhere,
}

/// Where a packet is going: to its source once it has been sent back.
#[inline]
pub fn heading(packet: &Packet) -> HostId {
    if packet.has(flag::BOUNCED) { packet.src } else { packet.dst }
}

/// Chooses the egress at switch `node` of a packet that arrives at `at` through the link whose way
/// back is `back`. Depends on nothing that came before. `seed` is the run's. Panics if the packet
/// heads for a host that the fabric does not have.
#[inline]
pub fn choose(
    fabric: &Fabric,
    routes: &Routes,
    routing: Routing,
    seed: u64,
    (node, back): (NodeId, PortId),
    packet: &Packet,
    at: Time,
) -> Choice {
    let ports = routes.next(node, heading(packet).0);
    match ports {
        [] => return Choice::Nowhere,
        [only] => return Choice::Port(*only),
        _ => {}
    }
    let (src, dst, flow) = (packet.src.0, packet.dst.0, packet.flow.0 as u64);
    let index = match routing {
        Routing::Spray => pick(spray_hash(seed, node, at, back), ports.len()),
        Routing::Ecmp => pick(at_switch(flow_hash(src, dst, flow, seed), node), ports.len()),
        Routing::SymmetricEcmp => {
            let hash = balance::symmetric_hash(src, dst, flow, seed);
            pick(at_level(hash, fabric.port(ports[0]).level), ports.len())
        }
        Routing::SourcePath => packet.path as usize % ports.len(),
        Routing::RoundRobin => return Choice::Turn,
    };
    Choice::Port(ports[index])
}

/// The round-robin turns of one switch, by destination group.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    groups: Vec<(u32, RoundRobin)>,
}

impl Turns {
    /// The port of the next turn of the group in which `dst` is; `None` if it cannot be reached.
    /// A group whose number of ports has changed starts anew.
    pub fn next(
        &mut self,
        routes: &Routes,
        seed: u64,
        node: NodeId,
        dst: HostId,
    ) -> Option<PortId> {
        let ports = routes.next(node, dst.0);
        if ports.is_empty() {
            return None;
        }
        let group = routes.group(node, dst.0);
        let known = self.groups.iter_mut().find(|(known, _)| *known == group);
        let index = match known {
            Some((_, turns)) if turns.ports() == ports.len() => turns.turn(),
            _ => {
                let mut turns = RoundRobin::new(seed, node, group, ports.len());
                let index = turns.turn();
                self.groups.retain(|(known, _)| *known != group);
                self.groups.push((group, turns));
                index
            }
        };
        Some(ports[index])
    }
}
