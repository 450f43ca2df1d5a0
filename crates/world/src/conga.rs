//! CONGA (Alizadeh et al., SIGCOMM 2014): leaves send each flowlet by the uplink whose path to the other
//! leaf is congested least, as that leaf tells them.
//!
//! A packet carries through the fabric, in its path number, what the paper's overlay header has: the uplink
//! and the largest load on its way, and what the leaf has heard by one uplink of the other leaf. Hosts
//! see none of it. Each switch estimates the loads of its own links when packets are given to them.

use crate::balance::Balance;
use crate::route::{heading, origin};
use incast_fabric::balance::{at_switch, flow_hash, pick};
use incast_fabric::{Fabric, NodeId, PortId, Routes};
use incast_transport::{PacketPool, PacketRef, Random, Span, Time, flag};
use std::collections::HashMap;
use std::sync::Arc;

/// Uplinks that a leaf may have: their numbers have four bits.
pub const CONGA_UPLINKS: usize = 16;

/// The largest load: it has three bits.
const FULL: u8 = 7;

/// Entries of a leaf's table of flowlets, as of the routing `flowlet`.
const FLOWLETS: usize = 1 << 14;

/// What a packet carries, in sixteen bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tag {
    /// The uplink that it took at its first leaf.
    uplink: u8,
    /// The largest load of the links that it took.
    load: u8,
    /// An uplink of the leaf that it goes to, and the load that was heard by it.
    back: Option<(u8, u8)>,
}

impl Tag {
    const VALID: u16 = 1 << 15;
    const BACK: u16 = 1 << 7;

    fn of(path: u16) -> Option<Tag> {
        let bits = |shift: u32, mask: u16| (path >> shift & mask) as u8;
        let back = (path & Tag::BACK != 0).then_some((bits(3, 15), bits(0, 7)));
        (path & Tag::VALID != 0).then_some(Tag { uplink: bits(11, 15), load: bits(8, 7), back })
    }

    fn path(self) -> u16 {
        let own = Tag::VALID | (self.uplink as u16 & 15) << 11 | (self.load as u16 & 7) << 8;
        let back = |(uplink, load)| Tag::BACK | (uplink as u16 & 15) << 3 | load as u16 & 7;
        own | self.back.map_or(0, back)
    }
}

/// The load of one link: bytes given to it, of which a share is forgotten each period.
#[derive(Clone, Copy, Default)]
struct Estimator {
    bytes: f64,
    /// The period in which `bytes` is meant.
    period: u64,
}

impl Estimator {
    fn read(&mut self, now: Time, rules: &Balance) -> f64 {
        let period = now.0 / rules.conga_period.0;
        while self.period < period && self.bytes >= 1.0 {
            self.bytes *= 1.0 - rules.conga_decay;
            self.period += 1;
        }
        if self.period < period {
            (self.bytes, self.period) = (0.0, period);
        }
        self.bytes
    }
}

/// What the packets from another leaf carried, by its uplinks.
#[derive(Clone, Copy, Default)]
struct Heard {
    /// And when.
    loads: [Option<(u8, Time)>; CONGA_UPLINKS],
    /// The uplinks of which the leaf has not been told the load yet.
    news: u16,
    /// The uplink that is told next.
    next: u8,
}

impl Heard {
    fn hears(&mut self, uplink: u8, load: u8, now: Time) {
        let place = &mut self.loads[uplink as usize];
        if place.is_none_or(|(known, _)| known != load) {
            self.news |= 1 << uplink;
        }
        *place = Some((load, now));
    }

    /// What the leaf is told with the next packet: in turn, what has changed first; nothing that is
    /// older than `age`, so that a path which nobody takes is tried again (aging).
    fn tells(&mut self, now: Time, age: Span) -> Option<(u8, u8)> {
        let turn = (0..CONGA_UPLINKS as u8).map(|step| (self.next + step) % CONGA_UPLINKS as u8);
        let loads = self.loads;
        let load = |uplink: &u8| loads[*uplink as usize].filter(|(_, at)| now.since(*at) <= age);
        let known = turn.filter(|uplink| load(uplink).is_some());
        let is_new = |uplink: &u8| self.news >> uplink & 1 == 1;
        let uplink = known.clone().find(is_new).or_else(|| known.clone().next())?;
        self.news &= !(1 << uplink);
        self.next = (uplink + 1) % CONGA_UPLINKS as u8;
        Some((uplink, load(&uplink)?.0))
    }
}

/// The state of one switch.
pub(crate) struct Conga {
    rules: Balance,
    fabric: Arc<Fabric>,
    node: NodeId,
    /// Its ports to other switches.
    uplinks: Vec<PortId>,
    links: HashMap<u32, Estimator>,
    flowlets: HashMap<u32, (PortId, Time)>,
    /// By leaf: the loads of the paths to it by this switch's uplinks, and when it told of them.
    to: HashMap<u32, [(u8, Time); CONGA_UPLINKS]>,
    /// By leaf.
    from: HashMap<u32, Heard>,
}

impl Conga {
    pub fn new(rules: Balance, fabric: Arc<Fabric>, node: NodeId) -> Conga {
        let hosts = fabric.hosts();
        let ports = fabric.ports_of(node).map(PortId);
        let uplinks = ports.filter(|port| fabric.port(*port).peer.0 >= hosts).collect();
        let (links, flowlets) = (HashMap::new(), HashMap::new());
        Conga {
            rules,
            fabric,
            node,
            uplinks,
            links,
            flowlets,
            to: HashMap::new(),
            from: HashMap::new(),
        }
    }

    /// The egress of a packet that arrives `now`; `None` if its destination cannot be reached. Writes what
    /// the packet carries on.
    pub fn choose(
        &mut self,
        random: &mut Random,
        (routes, seed): (&Routes, u64),
        packets: &mut PacketPool,
        packet: PacketRef,
        now: Time,
    ) -> Option<PortId> {
        let (content, charged) = (packets[packet], packets.charged(packet));
        let dst = heading(&content).0;
        let (first, last) = (self.fabric.rack_of(origin(&content).0), self.fabric.rack_of(dst));
        let ports = routes.next(self.node, dst);
        let hash = flow_hash(content.src.0, content.dst.0, content.flow.0 as u64, seed);
        let hash = at_switch(hash, self.node);
        let hashed = *ports.get(pick(hash, ports.len()))?;
        // What turned back on its way, or a switch has made, was given no uplink by a leaf.
        if first == last || content.has(flag::BOUNCED) {
            return Some(hashed);
        }
        let tag = Tag::of(content.path);
        let (port, tag) = if self.node == last {
            if let Some(tag) = tag {
                self.hears(first, tag, now);
            }
            (hashed, None)
        } else if self.node == first {
            let by_hash = self.rules.data_only && !content.is_data() || ports.len() == 1;
            let port = match by_hash {
                true => hashed,
                false => self.flowlet(random, pick(hash, FLOWLETS) as u32, (ports, last), now),
            };
            let age = self.rules.conga_age;
            let back = self.from.get_mut(&last.0).and_then(|heard| heard.tells(now, age));
            let uplink = self.uplink(port) as u8;
            (port, Some(Tag { uplink, load: self.counts(port, charged, now), back }))
        } else {
            let load = self.counts(hashed, charged, now);
            (hashed, tag.map(|tag| Tag { load: tag.load.max(load), ..tag }))
        };
        let path = tag.map_or(0, Tag::path);
        if path != content.path {
            packets[packet].path = path;
        }
        Some(port)
    }

    /// The place of a port among the uplinks.
    fn uplink(&self, port: PortId) -> usize {
        self.uplinks.iter().position(|one| *one == port).unwrap_or(0) % CONGA_UPLINKS
    }

    fn hears(&mut self, leaf: NodeId, tag: Tag, now: Time) {
        self.from.entry(leaf.0).or_default().hears(tag.uplink, tag.load, now);
        if let Some((uplink, load)) = tag.back {
            self.to.entry(leaf.0).or_default()[uplink as usize] = (load, now);
        }
    }

    /// The load of a link, 0 to 7.
    fn load(&mut self, port: PortId, now: Time) -> u8 {
        let rules = self.rules;
        let bytes = self.links.entry(port.0).or_default().read(now, &rules);
        let rate = self.fabric.port(port).rate.0 as f64 / 8e12;
        let share = bytes * rules.conga_decay / (rate * rules.conga_period.0 as f64);
        ((share * (FULL + 1) as f64) as u64).min(FULL as u64) as u8
    }

    /// So many bytes are given to a link. Returns its load with them.
    fn counts(&mut self, port: PortId, bytes: u32, now: Time) -> u8 {
        self.load(port, now);
        self.links.entry(port.0).or_default().bytes += bytes as f64;
        self.load(port, now)
    }

    /// The port of a packet's flowlet; of a new one that whose path to `leaf` has the least load. Of equal
    /// ones the flow keeps its own.
    fn flowlet(
        &mut self,
        random: &mut Random,
        place: u32,
        (ports, leaf): (&[PortId], NodeId),
        now: Time,
    ) -> PortId {
        let known = self.flowlets.get(&place).copied().filter(|(port, _)| ports.contains(port));
        let port = match known {
            Some((port, last)) if now.since(last) <= self.rules.flowlet_gap => port,
            _ => self.least(random, (ports, leaf), known.map(|(port, _)| port), now),
        };
        self.flowlets.insert(place, (port, now));
        port
    }

    fn least(
        &mut self,
        random: &mut Random,
        (ports, leaf): (&[PortId], NodeId),
        own: Option<PortId>,
        now: Time,
    ) -> PortId {
        let told = self.to.get(&leaf.0).copied().unwrap_or_default();
        let age = self.rules.conga_age;
        let of_path = |(load, at): (u8, Time)| if now.since(at) <= age { load } else { 0 };
        let of = |conga: &mut Conga, port: PortId| {
            conga.load(port, now).max(of_path(told[conga.uplink(port)]))
        };
        let loads: Vec<u8> = ports.iter().map(|port| of(self, *port)).collect();
        let least = *loads.iter().min().expect("several ports");
        let equal = ports.iter().zip(&loads).filter(|(_, load)| **load == least);
        let equal: Vec<PortId> = equal.map(|(port, _)| *port).collect();
        match own.filter(|port| equal.contains(port)) {
            Some(port) => port,
            None => equal[random.below(equal.len() as u64) as usize],
        }
    }
}

/// Why a leaf and the routes from it are not those of CONGA, if they are not: two tiers, so that what a leaf
/// is told of an uplink is one path.
pub fn conga_objection(fabric: &Fabric) -> Option<String> {
    let (routes, hosts) = (fabric.routes(), fabric.hosts());
    let mut racks: Vec<(NodeId, u32)> = vec![];
    for host in 0..hosts {
        let rack = fabric.rack_of(host);
        if racks.last().is_none_or(|(last, _)| *last != rack) {
            racks.push((rack, host));
        }
    }
    let name = |node: NodeId| fabric.node_name(node);
    for (leaf, _) in &racks {
        let ports = fabric.ports_of(*leaf).map(PortId);
        let uplinks = ports.filter(|port| fabric.port(*port).peer.0 >= hosts).count();
        if uplinks > CONGA_UPLINKS {
            return Some(format!("{} has {uplinks} uplinks; at most 16", name(*leaf)));
        }
        for (other, host) in racks.iter().filter(|(other, _)| other != leaf) {
            let spine = |port: &PortId| fabric.port(*port).peer;
            let is_one = |spine: NodeId| {
                spine != *other
                    && routes
                        .next(spine, *host)
                        .iter()
                        .all(|port| fabric.port(*port).peer == *other)
            };
            if !routes.next(*leaf, *host).iter().map(spine).all(is_one) {
                return Some(format!(
                    "the ways from {} to {} are not all by one spine",
                    name(*leaf),
                    name(*other)
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_fabric::{LinkDefaults, parse};
    use incast_transport::{FlowId, Framing, Header, HostId, Packet, Rate, TransportId};

    fn fabric(spec: &str) -> Arc<Fabric> {
        let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(1));
        Arc::new(parse(spec, LinkDefaults { rate, propagation, loss: 0.0 }).unwrap())
    }

    #[test]
    fn a_tag_has_sixteen_bits() {
        assert_eq!(Tag::of(0), None);
        for back in [None, Some((15, 7)), Some((3, 0))] {
            for (uplink, load) in [(0, 0), (15, 7), (9, 4)] {
                let tag = Tag { uplink, load, back };
                assert_eq!(Tag::of(tag.path()), Some(tag));
            }
        }
    }

    /// Bytes that come at a steady rate add up to the rate times the period over the share that is forgotten:
    /// the load is the link's utilisation in eighths.
    #[test]
    fn a_steady_rate_is_its_share_of_the_link() {
        let fabric = fabric("leaf-spine:2x4x1");
        for (eighths, bytes) in [(1, 1), (3, 3), (5, 5), (7, 9)] {
            let mut conga = Conga::new(Balance::default(), fabric.clone(), fabric.rack_of(0));
            let port = conga.uplinks[1];
            // 10 Gb/s are 1250 bytes a microsecond, of which 160 are an eighth and a bit.
            for us in 0..2_000 {
                conga.counts(port, 160 * bytes, Time(us * 1_000_000));
            }
            assert_eq!(conga.load(port, Time(1_999_000_000)), eighths, "{bytes}");
            assert_eq!(conga.load(conga.uplinks[0], Time(1_999_000_000)), 0);
            // After 20 idle periods a hundredth is left.
            assert_eq!(conga.load(port, Time(3_000_000_000)), 0);
        }
    }

    struct Leaves {
        fabric: Arc<Fabric>,
        packets: PacketPool,
        random: Random,
        all: HashMap<u32, Conga>,
    }

    impl Leaves {
        fn new(rules: Balance) -> Leaves {
            let (fabric, random) = (fabric("leaf-spine:2x4x2"), Random::new(7, 0, 0));
            Leaves {
                fabric,
                random,
                packets: PacketPool::new(Framing::ETHERNET),
                all: HashMap::new(),
            }
            .with(rules)
        }

        fn with(mut self, rules: Balance) -> Leaves {
            for node in self.fabric.hosts()..self.fabric.nodes() {
                self.all.insert(node, Conga::new(rules, self.fabric.clone(), NodeId(node)));
            }
            self
        }

        /// A packet goes from host to host at one instant. Returns the uplink that it took.
        fn goes(&mut self, flow: u32, src: u32, dst: u32, now: Time) -> usize {
            let header = Header::Pull { cumulative: 0, number: 0, spare: 0, flags: 0 };
            let (id, flow) = (TransportId(4), FlowId(flow));
            let packet = Packet::header_only(id, flow, HostId(src), HostId(dst), 1, header);
            let packet = self.packets.create(packet);
            let routes = self.fabric.routes();
            let (mut node, mut uplink) = (self.fabric.rack_of(src), None);
            while node != NodeId(dst) {
                let conga = self.all.get_mut(&node.0).unwrap();
                let from = (&*routes, 7);
                let port =
                    conga.choose(&mut self.random, from, &mut self.packets, packet, now).unwrap();
                uplink = uplink.or(Some(conga.uplink(port)));
                node = self.fabric.port(port).peer;
            }
            assert_eq!(self.packets[packet].path, 0, "hosts see no tag");
            self.packets.free(packet);
            uplink.unwrap()
        }
    }

    /// A spine's link to the other leaf is busy, which no queue at the first leaf shows: after one packet
    /// by it and one back, new flowlets take the other three.
    #[test]
    fn a_leaf_hears_of_links_beyond_its_own() {
        let mut leaves = Leaves::new(Balance::default());
        let (now, routes) = (Time(100_000_000), leaves.fabric.routes());
        let ports = routes.next(leaves.fabric.rack_of(0), 2).to_vec();
        let spine = leaves.fabric.port(ports[2]).peer;
        let down = routes.next(spine, 2)[0];
        leaves.all.get_mut(&spine.0).unwrap().counts(down, 1_000_000, now);
        let by = |leaves: &mut Leaves, from: u32, now: Time| {
            let mut counts = [0; 4];
            (from..from + 400).for_each(|flow| counts[leaves.goes(flow, 0, 2, now)] += 1);
            counts
        };
        // Nothing has come back: all four are equal.
        let before = by(&mut leaves, 0, now);
        assert!(before.iter().all(|count| (60..140).contains(count)), "{before:?}");
        // Each packet back tells of one uplink.
        (0..4).for_each(|flow| {
            leaves.goes(1_000 + flow, 2, 0, now);
        });
        // All flowlets of before have ended.
        let then = Time(now.0 + Span::from_us(150).0);
        assert_eq!(by(&mut leaves, 2_000, then)[2], 0);
        // What was told long ago is forgotten, and so is the load; the other leaf tells nothing old.
        let later = Time(now.0 + 2 * Balance::default().conga_age.0);
        (0..4).for_each(|flow| {
            leaves.goes(3_000 + flow, 2, 0, later);
        });
        let counts = (0..400).filter(|flow| leaves.goes(4_000 + flow, 0, 2, later) == 2).count();
        assert!((60..140).contains(&counts), "{counts}");
    }

    /// A flow without a pause stays even where its path is the worst; after a pause it moves, but only for
    /// a path that is better.
    #[test]
    fn a_flow_moves_after_a_pause_and_for_a_better_path_only() {
        let rules = Balance { flowlet_gap: Span::from_us(10), ..Balance::default() };
        let mut leaves = Leaves::new(rules);
        let mut now = Time(100_000_000);
        let own = leaves.goes(0, 0, 2, now);
        for _ in 0..20 {
            now = Time(now.0 + Span::from_us(20).0);
            assert_eq!(leaves.goes(0, 0, 2, now), own, "all are equal");
        }
        let leaf = leaves.fabric.rack_of(0);
        let conga = leaves.all.get_mut(&leaf.0).unwrap();
        let port = conga.uplinks[own];
        conga.counts(port, 1_000_000, now);
        now = Time(now.0 + Span::from_us(10).0);
        assert_eq!(leaves.goes(0, 0, 2, now), own, "no pause");
        now = Time(now.0 + Span::from_us(11).0);
        assert_ne!(leaves.goes(0, 0, 2, now), own);
    }

    #[test]
    fn two_tiers_are_taken_and_others_are_not() {
        for spec in ["leaf-spine:2x4x2", "leaf-spine:9x16x3", "star:4"] {
            assert_eq!(conga_objection(&fabric(spec)), None, "{spec}");
        }
        for (spec, why) in [
            ("fat-tree:4", "not all by one spine"),
            ("dumbbell:2x2", "not all by one spine"),
            ("leaf-spine:2x17x2", "leaf0 has 17 uplinks; at most 16"),
        ] {
            let told = conga_objection(&fabric(spec)).expect(spec);
            assert!(told.contains(why), "{spec}: {told}");
        }
    }
}
