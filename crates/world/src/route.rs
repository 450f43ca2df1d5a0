//! Which egress a packet takes at a switch; the same in both worlds.

use incast_fabric::balance::{self, RoundRobin, at_level, at_switch, flow_hash, pick, spray_hash};
use incast_fabric::{Fabric, NodeId, PathUse, PortId, Routes};
use incast_transport::{HostId, Packet, Routing, Time, flag};

/// A switch's decision for a packet.
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

/// What a flow's packets may have to themselves under a routing, for the ideal time of a flow.
pub fn path_use(routing: Routing) -> PathUse {
    match routing {
        Routing::Ecmp | Routing::SymmetricEcmp => PathUse::One,
        Routing::Spray | Routing::RoundRobin | Routing::SourcePath => PathUse::Each,
    }
}

/// Where and when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The switch.
    pub node: NodeId,
    /// Its port that leads back over the link by which the packet came.
    pub back: PortId,
    /// The time.
    pub at: Time,
}

/// Chooses the egress at switch `node` of a packet that arrives at `at` through the link whose
/// reverse is `back`. Depends on nothing that came before. `seed` is the run's. Panics if the
/// packet heads for a host that the fabric does not have.
#[inline]
pub fn choose(
    fabric: &Fabric,
    routes: &Routes,
    routing: Routing,
    seed: u64,
    arrival: Arrival,
    packet: &Packet,
) -> Choice {
    let Arrival { node, back, at } = arrival;
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
        Routing::SourcePath => {
            // The number's digits: the lowest for the first switch, the rest for those above.
            let from = if packet.has(flag::BOUNCED) { packet.dst } else { packet.src };
            let first = fabric.rack_of(from.0);
            let digit = match node == first {
                true => packet.path as u32,
                false => {
                    packet.path as u32 / routes.next(first, heading(packet).0).len().max(1) as u32
                }
            };
            (digit % ports.len() as u32) as usize
        }
        Routing::RoundRobin => return Choice::Turn,
    };
    Choice::Port(ports[index])
}

/// Whether under symmetric ECMP the ACKs of a flow come back by the links that its data takes,
/// no link having failed. `seed` is the run's.
pub fn reverse_path_is_equal(
    fabric: &Fabric,
    routes: &Routes,
    seed: u64,
    flow: u64,
    src: HostId,
    dst: HostId,
) -> bool {
    let hash = balance::symmetric_hash(src.0, dst.0, flow, seed);
    let path = |from: HostId, to: HostId| {
        fabric.path(routes, from.0, to.0, |ports| {
            pick(at_level(hash, fabric.port(ports[0]).level), ports.len())
        })
    };
    let (there, back) = (path(src, dst), path(dst, src));
    there.len() == back.len()
        && there.iter().zip(back.iter().rev()).all(|(out, home)| fabric.port(*out).reverse == *home)
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

#[cfg(test)]
mod tests {
    use super::*;
    use incast_fabric::{Graph, LinkDefaults, parse};
    use incast_transport::{Rate, Span};

    fn symmetric(fabric: &Fabric) -> usize {
        let routes = fabric.routes();
        let (first, last) = (HostId(0), HostId(fabric.hosts() - 1));
        let same = |flow: &u64| reverse_path_is_equal(fabric, &routes, 7, *flow, first, last);
        (0..100).filter(same).count()
    }

    #[test]
    fn our_shapes_are_symmetric_and_an_odd_graph_is_not() {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        for spec in ["star:3", "dumbbell:2x2", "leaf-spine:3x4x2", "fat-tree:4"] {
            let defaults = LinkDefaults { rate, propagation, loss: 0.0 };
            assert_eq!(symmetric(&parse(spec, defaults).unwrap()), 100, "{spec}");
        }
        // From the left two paths out, of which one has two paths on; from the right two paths
        // back.
        let mut graph = Graph::new();
        let [from, to] = [graph.add_host(), graph.add_host()];
        let [left, up, down, one, two, right] = [(); 6].map(|_| graph.add_switch());
        let links = [(from, left), (left, up), (left, down), (up, one), (up, two), (down, two)];
        for (a, b) in links.into_iter().chain([(one, right), (two, right), (right, to)]) {
            graph.link(a, b, rate, propagation, 0.0).unwrap();
        }
        let same = symmetric(&graph.build().unwrap());
        assert!((10..90).contains(&same), "{same} of 100 flows");
    }
}
