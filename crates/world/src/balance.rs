//! Choices among equal routes for which a switch looks at its queues, or remembers what it chose; the
//! same in both worlds.

use crate::route::Ask;
use crate::{heading, purpose};
use incast_fabric::balance::{at_switch, flow_hash, pick};
use incast_fabric::{NodeId, PortId, Routes};
use incast_transport::{Packet, Random, Span, Time};
use std::collections::HashMap;

/// Entries of a switch's table of flowlets (LetFlow, NSDI 2017): flows whose hashes agree share one.
const FLOWLETS: usize = 1 << 14;

/// Numbers of the routings of a run that have some.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Balance {
    /// `entropy`: how many path numbers a source that chooses none draws from, for each data packet; 1
    /// for one per flow.
    pub entropies: u16,
    /// `drill`: ports drawn per packet.
    pub samples: u8,
    /// `drill`: ports remembered from the packet before.
    pub memory: u8,
    /// `flowlet`: a flow that paused for longer gets a new port.
    pub flowlet_gap: Span,
    /// `least-queue`, `drill`: bytes of which lengths of queues are known in multiples; 1 for exactly.
    pub quantum: u64,
    /// `least-queue`, `drill`: lengths of queues are read anew when they are so old; zero for each packet.
    pub stale: Span,
    /// Whether packets without payload take ECMP instead.
    pub data_only: bool,
    /// `conga`: after each period a link's load loses a share.
    pub conga_period: Span,
    /// `conga`: that share.
    pub conga_decay: f64,
    /// `conga`: what another leaf told of a path counts for so long.
    pub conga_age: Span,
}

impl Default for Balance {
    fn default() -> Balance {
        Balance {
            entropies: 64,
            samples: 2,
            memory: 1,
            flowlet_gap: Span::from_us(100),
            quantum: 1,
            stale: Span::ZERO,
            data_only: false,
            conga_period: Span::from_us(50),
            conga_decay: 0.2,
            conga_age: Span::from_us(500),
        }
    }
}

/// What a switch remembers of the equal routes to a group of destinations.
#[derive(Default)]
struct Group {
    /// `drill`: the best ports seen, best first.
    best: Vec<PortId>,
    /// Lengths of the queues and when they were read.
    read: Option<(Time, Vec<(PortId, u64)>)>,
}

/// The choices of one switch.
pub struct Balancer {
    rules: Balance,
    random: Random,
    groups: HashMap<u32, Group>,
    flowlets: HashMap<u32, (PortId, Time)>,
}

impl Balancer {
    /// That of switch `node` in the run of `seed`. Random draws are of a stream of its own, in the order
    /// in which packets arrive.
    pub fn new(rules: Balance, seed: u64, node: NodeId) -> Balancer {
        let random = Random::new(seed, node.0, purpose::BALANCE);
        Balancer { rules, random, groups: HashMap::new(), flowlets: HashMap::new() }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// The egress of a packet that arrives `now` at `node`; `None` if its destination cannot be reached.
    /// `queue` gives the bytes that wait or are being transmitted at a port, without this packet.
    pub fn choose(
        &mut self,
        ask: Ask,
        (routes, node, seed): (&Routes, NodeId, u64),
        packet: &Packet,
        now: Time,
        queue: &mut dyn FnMut(PortId) -> u64,
    ) -> Option<PortId> {
        let dst = heading(packet).0;
        let ports = match routes.next(node, dst) {
            [] => return None,
            [only] => return Some(*only),
            ports => ports,
        };
        let hash = flow_hash(packet.src.0, packet.dst.0, packet.flow.0 as u64, seed);
        if self.rules.data_only && !packet.is_data() {
            return Some(ports[pick(at_switch(hash, node), ports.len())]);
        }
        if ask == Ask::Flowlet {
            let place = pick(at_switch(hash, node), FLOWLETS) as u32;
            return Some(self.flowlet(place, ports, now));
        }
        let Balancer { rules, random, groups, .. } = self;
        let group = groups.entry(routes.group(node, dst)).or_default();
        let mut length = |port: PortId| {
            let bytes = match &mut group.read {
                _ if rules.stale == Span::ZERO => queue(port),
                Some((at, read)) if now.since(*at) < rules.stale && is_of(read, ports) => {
                    read.iter().find(|(one, _)| *one == port).map_or(0, |(_, bytes)| *bytes)
                }
                read => {
                    let all: Vec<_> = ports.iter().map(|port| (*port, queue(*port))).collect();
                    let own = all.iter().find(|(one, _)| *one == port);
                    let bytes = own.map_or(0, |(_, bytes)| *bytes);
                    *read = Some((now, all));
                    bytes
                }
            };
            bytes / rules.quantum
        };
        Some(match ask {
            Ask::Drill => {
                let draw = drawn(random, ports, rules.samples as usize);
                let best = group.best.iter().copied().filter(|port| ports.contains(port));
                let mut known: Vec<(u64, PortId)> = vec![];
                for port in best.chain(draw) {
                    if known.iter().all(|(_, other)| *other != port) {
                        known.push((length(port), port));
                    }
                }
                // Of equally long queues the one that is remembered stays.
                known.sort_by_key(|(bytes, _)| *bytes);
                let keep = known.iter().take(rules.memory as usize);
                group.best = keep.map(|(_, port)| *port).collect();
                known[0].1
            }
            _ => {
                let lengths: Vec<u64> = ports.iter().map(|port| length(*port)).collect();
                let least = *lengths.iter().min().expect("several ports");
                let equal = lengths.iter().filter(|one| **one == least).count();
                let which = random.below(equal as u64) as usize;
                let mut all = ports.iter().zip(&lengths).filter(|(_, bytes)| **bytes == least);
                *all.nth(which).expect("one of the equal ones").0
            }
        })
    }

    fn flowlet(&mut self, place: u32, ports: &[PortId], now: Time) -> PortId {
        let (gap, random) = (self.rules.flowlet_gap, &mut self.random);
        let known = self.flowlets.get(&place).copied();
        let lasts = |(port, last): &(PortId, Time)| now.since(*last) <= gap && ports.contains(port);
        let port = match known.filter(lasts) {
            Some((port, _)) => port,
            None => ports[random.below(ports.len() as u64) as usize],
        };
        self.flowlets.insert(place, (port, now));
        port
    }
}

/// Whether these lengths are those of the ports: links may have failed since.
fn is_of(read: &[(PortId, u64)], ports: &[PortId]) -> bool {
    read.iter().map(|(port, _)| port).eq(ports)
}

/// So many different ports at random; all if there are not more.
fn drawn(random: &mut Random, ports: &[PortId], count: usize) -> Vec<PortId> {
    let mut all = ports.to_vec();
    let count = count.min(all.len());
    for place in 0..count {
        let other = place + random.below((all.len() - place) as u64) as usize;
        all.swap(place, other);
    }
    all.truncate(count);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_fabric::{LinkDefaults, parse};
    use incast_transport::{FlowId, Header, HostId, Rate, TransportId};

    /// A leaf with four uplinks, and the choices that it makes for `count` packets a nanosecond apart.
    fn choices(
        ask: Ask,
        rules: Balance,
        count: u64,
        queue: impl Fn(usize, u64) -> u64,
    ) -> Vec<usize> {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        let fabric =
            parse("leaf-spine:2x4x2", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap();
        let (routes, node) = (fabric.routes(), fabric.rack_of(0));
        let header = Header::Pull { cumulative: 0, number: 0, spare: 0, flags: 0 };
        let (src, dst) = (HostId(0), HostId(2));
        let packet = Packet::header_only(TransportId(4), FlowId(0), src, dst, 1, header);
        let ports = routes.next(node, 2).to_vec();
        let place = |port: PortId| ports.iter().position(|one| *one == port).unwrap();
        let mut balancer = Balancer::new(rules, 7, node);
        let chosen = |at: u64| {
            let now = Time(at * 1_000);
            let mut queue = |port| queue(place(port), at);
            let chosen = balancer.choose(ask, (&routes, node, 7), &packet, now, &mut queue);
            place(chosen.unwrap())
        };
        (0..count).map(chosen).collect()
    }

    fn spread(chosen: &[usize]) -> [usize; 4] {
        [0, 1, 2, 3].map(|port| chosen.iter().filter(|one| **one == port).count())
    }

    #[test]
    fn the_shortest_queue_is_taken_and_ties_are_drawn() {
        let rules = Balance::default();
        let one = choices(Ask::LeastQueue, rules, 50, |port, _| if port == 2 { 10 } else { 11 });
        assert_eq!(spread(&one), [0, 0, 50, 0]);
        let ties = choices(Ask::LeastQueue, rules, 4_000, |port, _| (port == 1) as u64);
        let counts = spread(&ties);
        assert!(
            counts[1] == 0 && [0, 2, 3].iter().all(|one| counts[*one].abs_diff(1_333) < 120),
            "{counts:?}"
        );
        // Within a quantum all are equal.
        let rules = Balance { quantum: 100, ..rules };
        let coarse = spread(&choices(Ask::LeastQueue, rules, 4_000, |port, _| port as u64));
        assert!(coarse.iter().all(|count| count.abs_diff(1_000) < 120), "{coarse:?}");
    }

    #[test]
    fn stale_lengths_are_those_of_before() {
        let rules = Balance { stale: Span::from_ns(10), ..Balance::default() };
        // The shortest queue is another one each nanosecond.
        let chosen = choices(Ask::LeastQueue, rules, 40, |port, at| (port as u64 != at % 4) as u64);
        let expected: Vec<usize> = (0..40).map(|at| at / 10 * 10 % 4).collect();
        assert_eq!(chosen, expected);
    }

    /// DRILL(1, 1) keeps a port until the one it draws has a strictly shorter queue.
    #[test]
    fn drill_leaves_a_port_for_a_shorter_queue_only() {
        let rules = Balance { samples: 1, memory: 1, ..Balance::default() };
        let equal = choices(Ask::Drill, rules, 200, |_, _| 5);
        assert!(equal.iter().all(|port| *port == equal[0]), "{equal:?}");
        // Port 3 becomes the shortest at 100: it is taken once it is drawn, and kept.
        let later =
            choices(Ask::Drill, rules, 400, |port, at| if port == 3 && at >= 100 { 1 } else { 5 });
        let from = later.iter().position(|port| *port == 3);
        let from = if later[0] == 3 { 0 } else { from.unwrap() };
        assert!(from == 0 || from >= 100, "{from}");
        assert!(later[from.max(150)..].iter().all(|port| *port == 3));
        // Two of four are drawn each time: the longest is never taken.
        let rules = Balance::default();
        let chosen = spread(&choices(Ask::Drill, rules, 2_000, |port, at| (port as u64 + at) % 4));
        assert!(chosen.iter().all(|count| *count > 200), "{chosen:?}");
    }

    #[test]
    fn a_flowlet_ends_with_a_pause() {
        let rules = Balance { flowlet_gap: Span::from_ns(1), ..Balance::default() };
        let one = choices(Ask::Flowlet, rules, 500, |_, _| 0);
        assert!(one.iter().all(|port| *port == one[0]));
        let rules = Balance { flowlet_gap: Span::ZERO, ..Balance::default() };
        let each = spread(&choices(Ask::Flowlet, rules, 4_000, |_, _| 0));
        assert!(each.iter().all(|count| count.abs_diff(1_000) < 120), "{each:?}");
    }
}
