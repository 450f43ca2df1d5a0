//! Which egress a packet takes at a switch; the same in both worlds.

use incast_fabric::balance::{
    self, RoundRobin, at_level, at_switch, entropy_hash, first_turn, flow_hash, pick, spray_hash,
};
use incast_fabric::{Fabric, FixedPaths, NodeId, PathUse, PortId, Routes};
use incast_transport::{HostId, Packet, Routing, Time, flag};
use std::collections::BTreeMap;

/// A switch's decision for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// It leaves by this port.
    Port(PortId),
    /// It takes the next turn of its destination group, see [`Turns`].
    Turn,
    /// It takes the next turn of its source, see [`Turns`].
    SourceTurn,
    /// The switch looks at its queues, or remembers, see [`Balancer`](crate::Balancer).
    Ask(Ask),
    /// It takes the fixed path of its flow, or this port if the flow has none.
    Fixed(PortId),
    /// Its destination cannot be reached.
    Nowhere,
}

/// Where a packet is going: to its source once it has been sent back.
#[inline]
pub fn heading(packet: &Packet) -> HostId {
    if packet.has(flag::BOUNCED) { packet.src } else { packet.dst }
}

/// Where a packet comes from: from its destination once it has been sent back.
#[inline]
pub(crate) fn origin(packet: &Packet) -> HostId {
    if packet.has(flag::BOUNCED) { packet.dst } else { packet.src }
}

/// What a flow's packets may have to themselves under a routing, for the ideal time of a flow.
pub fn path_use(routing: Routing) -> PathUse {
    match routing {
        Routing::Ecmp
        | Routing::SymmetricEcmp
        | Routing::EcmpOfConnections
        | Routing::SymmetricEcmpOfConnections
        | Routing::Paths => PathUse::One,
        Routing::Spray
        | Routing::RoundRobin
        | Routing::SourceRoundRobin
        | Routing::SourcePath
        | Routing::Entropy
        | Routing::LeastQueue
        | Routing::Drill
        | Routing::Flowlet
        | Routing::Conga
        | Routing::Plb => PathUse::Each,
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
#[inline(always)]
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
        Routing::SymmetricEcmp | Routing::Paths => {
            let hash = balance::symmetric_hash(src, dst, flow, seed);
            pick(at_level(hash, fabric.port(ports[0]).level), ports.len())
        }
        Routing::EcmpOfConnections => {
            let flow = fabric.hashed(packet.flow.0) as u64;
            pick(at_switch(flow_hash(src, dst, flow, seed), node), ports.len())
        }
        Routing::SymmetricEcmpOfConnections => {
            let flow = fabric.hashed(packet.flow.0) as u64;
            let hash = balance::symmetric_hash(src, dst, flow, seed);
            pick(at_level(hash, fabric.port(ports[0]).level), ports.len())
        }
        Routing::SourcePath => {
            // The number's digits: the lowest for the first switch, the rest for those above.
            let first = fabric.rack_of(origin(packet).0);
            let digit = match node == first {
                true => packet.path as u32,
                false => {
                    packet.path as u32 / routes.next(first, heading(packet).0).len().max(1) as u32
                }
            };
            (digit % ports.len() as u32) as usize
        }
        Routing::Entropy | Routing::Plb => {
            pick(at_switch(entropy_hash(src, dst, flow, packet.path, seed), node), ports.len())
        }
        Routing::LeastQueue => return Choice::Ask(Ask::LeastQueue),
        Routing::Drill => return Choice::Ask(Ask::Drill),
        Routing::Flowlet => return Choice::Ask(Ask::Flowlet),
        Routing::Conga => return Choice::Ask(Ask::Conga),
        Routing::RoundRobin => return Choice::Turn,
        Routing::SourceRoundRobin => return Choice::SourceTurn,
    };
    match routing {
        Routing::Paths => Choice::Fixed(ports[index]),
        _ => Choice::Port(ports[index]),
    }
}

/// Like [`choose`], for a packet that has come to the switch: it is asked also where there is one port, if the
/// routing writes into packets.
#[inline(never)]
pub fn choose_here(
    fabric: &Fabric,
    routes: &Routes,
    routing: Routing,
    seed: u64,
    arrival: Arrival,
    packet: &Packet,
) -> Choice {
    match routing {
        Routing::Conga => Choice::Ask(Ask::Conga),
        _ => choose(fabric, routes, routing, seed, arrival, packet),
    }
}

/// The ports by which a packet leaves, from its source's NIC on, no link having failed. `None` if
/// switches choose anew for each packet. `fixed` and `seed` are the run's.
pub fn path_of(
    fabric: &Fabric,
    routes: &Routes,
    routing: Routing,
    fixed: Option<&FixedPaths>,
    seed: u64,
    packet: &Packet,
) -> Option<Vec<PortId>> {
    let mut path = vec![fabric.host_port(packet.src.0)];
    loop {
        let link = fabric.port(*path.last()?);
        let (node, back) = (link.peer, link.reverse);
        if node == NodeId(packet.dst.0) {
            return Some(path);
        }
        let choices = routes.next(node, packet.dst.0).len();
        if choices > 1 && routing == Routing::Spray {
            return None;
        }
        let arrival = Arrival { node, back, at: Time::ZERO };
        match choose(fabric, routes, routing, seed, arrival, packet) {
            Choice::Port(port) => path.push(port),
            Choice::Fixed(other) => {
                let own = fixed.and_then(|all| all.port(packet.flow.0, node, packet.dst.0));
                path.push(own.unwrap_or(other));
            }
            Choice::Turn | Choice::SourceTurn | Choice::Ask(_) | Choice::Nowhere => return None,
        }
    }
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

/// The round-robin turns of one switch.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// By destination group.
    groups: Vec<(u32, RoundRobin)>,
    /// By source host: the number of its next packet.
    sources: BTreeMap<u32, u32>,
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

    /// The port of the next turn of the packet's source; `None` if its destination cannot be
    /// reached. The counter of a source counts its packets to all destinations.
    pub fn next_of_source(
        &mut self,
        routes: &Routes,
        seed: u64,
        node: NodeId,
        packet: &Packet,
    ) -> Option<PortId> {
        let ports = routes.next(node, heading(packet).0);
        let source = origin(packet).0;
        let turn = self.sources.entry(source).or_insert_with(|| first_turn(seed, node, source));
        let port = ports.get((*turn as usize).checked_rem(ports.len())?).copied();
        *turn = turn.wrapping_add(1);
        port
    }
}

/// What a switch is asked for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// The port with the shortest queue.
    LeastQueue,
    /// The port with the shortest queue of some drawn and remembered (DRILL, SIGCOMM 2017).
    Drill,
    /// The port of the flow's last packet, or after a pause any.
    Flowlet,
    /// The port of the flow's last packet, or after a pause that of the path with the least load; see
    /// [`Switch::tag`](crate::Switch::tag).
    Conga,
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_fabric::{Graph, LinkDefaults, parse};
    use incast_transport::{FlowId, Header, Rate, Span, TransportId};

    #[test]
    fn each_source_has_a_turn_of_its_own() {
        let defaults =
            LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
        let fabric = parse("leaf-spine:3x4x2", defaults).unwrap();
        let (routes, leaf) = (fabric.routes(), fabric.rack_of(0));
        let mut turns = Turns::default();
        let mut next = |src: u32, dst: u32| {
            let header = Header::Pull { cumulative: 0, number: 0, spare: 0, flags: 0 };
            let (src, dst) = (HostId(src), HostId(dst));
            let packet = Packet::header_only(TransportId(4), FlowId(0), src, dst, 0, header);
            turns.next_of_source(&routes, 7, leaf, &packet).unwrap().0
        };
        let ports = routes.next(leaf, 5).iter().map(|port| port.0).collect::<Vec<_>>();
        let place = |port: u32| ports.iter().position(|one| *one == port).unwrap();
        let (mut of_0, mut of_1) = (vec![], vec![]);
        for packet in 0..12 {
            // Host 0 sends to two racks; host 1 sends now and then.
            of_0.push(place(next(0, if packet % 3 == 0 { 2 } else { 5 })));
            if packet % 2 == 0 {
                of_1.push(place(next(1, 4)));
            }
        }
        for turns in [&of_0, &of_1] {
            assert!(turns.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{turns:?}");
        }
    }

    /// 64 path numbers of a flow over 8 links: binomial, 8 a link, with a standard deviation of 2.65. One
    /// path number is one link.
    #[test]
    fn path_numbers_are_spread_at_random() {
        let defaults =
            LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
        let fabric = parse("leaf-spine:2x8x2", defaults).unwrap();
        let (routes, node) = (fabric.routes(), fabric.rack_of(0));
        let header = Header::Pull { cumulative: 0, number: 0, spare: 0, flags: 0 };
        let arrival = Arrival { node, back: fabric.host_port(0), at: Time::ZERO };
        let link = |flow: u32, path: u16| {
            let (id, flow) = (TransportId(4), FlowId(flow));
            let plain = Packet::header_only(id, flow, HostId(0), HostId(2), 1, header);
            let packet = Packet { path, ..plain };
            match choose(&fabric, &routes, Routing::Entropy, 7, arrival, &packet) {
                Choice::Port(port) => port.0,
                other => panic!("{other:?}"),
            }
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        for flow in 0..500 {
            let links: Vec<u32> = (0..64).map(|path| link(flow, path)).collect();
            assert_eq!(link(flow, 9), links[9]);
            for port in routes.next(node, 2) {
                let count = links.iter().filter(|one| **one == port.0).count() as f64;
                (sum, squares) = (sum + count, squares + (count - 8.0) * (count - 8.0));
            }
        }
        let deviation = f64::sqrt(squares / 4_000.0);
        assert!(sum == 32_000.0 && (deviation - 2.65).abs() < 0.1, "{deviation}");
    }

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
