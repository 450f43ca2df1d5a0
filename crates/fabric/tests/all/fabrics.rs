//! Shapes, routes, partitions and path arithmetic against hand computation and invariants.

use incast_fabric::*;
use incast_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MTU: Bytes = Bytes(1538);
const REPLY: Bytes = Bytes(84);

fn defaults() -> LinkDefaults {
    LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 }
}

fn fabric(spec: &str) -> Fabric {
    parse(spec, defaults()).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// The fabrics of the papers and some odd ones.
const SPECS: &[&str] = &[
    "star:2",
    "star:17",
    "dumbbell:3x2",
    "dumbbell:16x16",
    "parking-lot:1",
    "parking-lot:4",
    "leaf-spine:8x8x48",
    "leaf-spine:24x4x10",
    "leaf-spine:3x1x2",
    "leaf-spine:1x2x3",
    "fat-tree:2",
    "fat-tree:4",
    "fat-tree:6",
    "clos:4x2x16x2x2",
    "clos:1x3x2x1x2",
    "torus:4x4x1",
    "torus:3x2x4",
    "torus:2x1x1",
    "dragonfly:5x4x2",
    "dragonfly:9x2x1",
    "dragonfly:1x3x2",
    "rail:2x8x4x4",
    "rail:1x2x1x1",
    "bcube:4x2",
    "bcube:2x4",
    "bcube:3x1",
];

/// A connected random graph: a random tree of switches, more links among them, hosts anywhere.
fn random_graph() -> impl Strategy<Value = Fabric> {
    (2usize..12, 2usize..20).prop_flat_map(|(switches, hosts)| {
        let parents = prop::collection::vec(any::<prop::sample::Index>(), switches - 1);
        let pair = (0..switches as u32, 0..switches as u32, 1u16..4);
        let extra = prop::collection::vec(pair, 0..20);
        let places = prop::collection::vec(0..switches as u32, hosts);
        (parents, extra, places, 1u64..100).prop_map(move |(parents, extra, places, gbps)| {
            let mut graph = Graph::new();
            for _ in 0..switches {
                graph.add_switch();
            }
            let rate = Rate::from_gbps(gbps);
            for (child, parent) in parents.iter().enumerate() {
                let parent = Vertex::Switch(parent.index(child + 1) as u32);
                let child = Vertex::Switch(child as u32 + 1);
                graph.link(child, parent, rate, Span::from_ns(gbps), 0.0).unwrap();
            }
            for (a, b, count) in extra {
                // Refused when already linked or to itself: as it should be.
                let (a, b) = (Vertex::Switch(a), Vertex::Switch(b));
                let _ = graph.bundle(a, b, count, rate, Span::from_ns(gbps * 3), 0.0);
            }
            for place in places {
                let host = graph.add_host();
                let rate = Rate::from_gbps(1 + place as u64 * 7);
                graph.link(host, Vertex::Switch(place), rate, Span::from_ns(500), 0.0).unwrap();
            }
            graph.build().unwrap()
        })
    })
}

/// Hops between all nodes by relaxation, as slow and plain as can be.
fn hops_to(fabric: &Fabric, dst: u32, dead: &BTreeSet<PortId>) -> Vec<u32> {
    let mut hops = vec![u32::MAX; fabric.nodes() as usize];
    hops[dst as usize] = 0;
    loop {
        let before = hops.clone();
        for (id, port) in fabric.ports().iter().enumerate() {
            let via = hops[port.peer.0 as usize];
            if via != u32::MAX && !dead.contains(&PortId(id as u32)) {
                let own = &mut hops[port.node.0 as usize];
                *own = (*own).min(via + 1);
            }
        }
        if before == hops {
            return hops;
        }
    }
}

/// Every group holds exactly the ports that lead one hop nearer, each once.
fn check_routes(fabric: &Fabric, routes: &Routes, dead: &[PortId]) {
    let mut gone: BTreeSet<PortId> = dead.iter().copied().collect();
    gone.extend(dead.iter().map(|port| fabric.port(*port).reverse));
    for dst in 0..fabric.hosts() {
        let hops = hops_to(fabric, dst, &gone);
        for switch in (fabric.hosts()..fabric.nodes()).map(NodeId) {
            let group = routes.next(switch, dst);
            let own = hops[switch.0 as usize];
            let nearer = |id: &PortId| {
                let peer = fabric.port(*id).peer.0 as usize;
                !gone.contains(id) && own != u32::MAX && hops[peer].saturating_add(1) == own
            };
            let expected: BTreeSet<PortId> =
                fabric.ports_of(switch).map(PortId).filter(nearer).collect();
            let actual: BTreeSet<PortId> = group.iter().copied().collect();
            assert_eq!(actual, expected, "{} at {switch:?} to {dst}", fabric.name());
            assert_eq!(actual.len(), group.len());
        }
    }
}

fn check_ports(fabric: &Fabric) {
    let mut next = 0;
    for node in (0..fabric.nodes()).map(NodeId) {
        let range = fabric.ports_of(node);
        assert_eq!(range.start, next);
        next = range.end;
        assert!(fabric.tier(node) != Tier::Host || range.len() == 1);
        assert_eq!(fabric.tier(node) == Tier::Host, node.0 < fabric.hosts());
        for id in range.map(PortId) {
            let port = fabric.port(id);
            let back = fabric.port(port.reverse);
            assert_eq!(port.node, node);
            assert_eq!((back.reverse, back.node, back.peer), (id, port.peer, port.node));
            assert_eq!((back.rate, back.loss, back.level), (port.rate, port.loss, port.level));
            assert!(!(port.upward && back.upward));
            assert_eq!(port.tier, fabric.tier(node));
            assert_eq!(port.upward, fabric.tier(port.peer) > port.tier);
        }
    }
    assert_eq!(next as usize, fabric.ports().len());
}

fn check_partitions(fabric: &Fabric) {
    let racks: BTreeSet<NodeId> = (0..fabric.hosts()).map(|h| fabric.rack_of(h)).collect();
    for n in 1..=9usize {
        let part = fabric.partitions(n, &vec![1; fabric.hosts() as usize]);
        let parts = n.min(racks.len());
        assert_eq!(part.len(), fabric.nodes() as usize);
        let used: BTreeSet<u32> = (0..fabric.hosts()).map(|h| part[h as usize]).collect();
        assert_eq!(used, (0..parts as u32).collect(), "{} for {n}", fabric.name());
        assert!(part.iter().all(|p| *p < parts as u32));
        for host in 0..fabric.hosts() {
            assert_eq!(part[host as usize], part[fabric.rack_of(host).0 as usize]);
        }
    }
}

#[test]
fn all_shapes_keep_the_invariants() {
    for spec in SPECS {
        let fabric = fabric(spec);
        assert_eq!(fabric.name(), *spec);
        let (nodes, links) = (fabric.nodes() as u64, fabric.ports().len() as u64 / 2);
        assert_eq!(size_of(spec), Ok(Size { nodes, links }), "{spec}");
        check_ports(&fabric);
        check_partitions(&fabric);
        if fabric.hosts() <= 100 {
            check_routes(&fabric, &fabric.routes(), &[]);
        }
    }
}

#[test]
fn the_papers_fabrics_have_their_counts() {
    let ren = fabric("leaf-spine:8x8x48");
    assert_eq!((ren.hosts(), ren.nodes(), ren.ports().len()), (384, 400, 2 * (384 + 64)));
    assert_eq!(ren.path_count(0, 383), 8);
    assert_eq!(ren.path_count(0, 1), 1);
    let uplinks = ren.uplinks().unwrap();
    assert_eq!(uplinks.capacity, Rate::from_gbps(640));
    assert_eq!(uplinks.hosts_per_rack, Some(48));
    assert!(uplinks.oversubscribed);
    assert_eq!(uplinks.oversubscription, 6.0);
    assert_eq!(uplinks.inter_rack, (384.0 - 48.0) / 383.0);
    assert_eq!(ren.oversubscription(), 6.0);
    assert_eq!(fabric("dumbbell:4x4").oversubscription(), 4.0);

    let tree = fabric("fat-tree:4");
    assert_eq!((tree.hosts(), tree.nodes()), (16, 36));
    assert_eq!(tree.path_count(0, 15), 4);
    assert_eq!(tree.path_count(0, 2), 2);
    assert!(!tree.uplinks().unwrap().oversubscribed);
    assert!(fabric("star:4").uplinks().is_none());
    assert_eq!((tree.oversubscription(), fabric("star:4").oversubscription()), (1.0, 1.0));
    assert_eq!(tree.tier(NodeId(16)), Tier::Edge);
    assert_eq!(tree.tier(NodeId(24)), Tier::Aggregation);
    assert_eq!(tree.tier(NodeId(32)), Tier::Core);
    assert_eq!(ren.tier(NodeId(399)), Tier::Core);
}

/// Three tiers at 2:1 with hosts of 25 Gb/s and uplinks of 100 Gb/s.
#[test]
fn a_clos_has_counts_and_rates_of_its_own() {
    let links = LinkDefaults { rate: Rate::from_gbps(25), ..defaults() };
    let options = Options { uplink_rate: Some(Rate::from_gbps(100)), ..Options::default() };
    let clos = parse_with("clos:4x2x16x2x2", links, &options).unwrap();
    assert_eq!((clos.hosts(), clos.nodes()), (128, 128 + 8 + 8 + 4));
    assert_eq!(clos.path_count(0, 127), 4);
    let uplinks = clos.uplinks().unwrap();
    assert_eq!((uplinks.oversubscription, uplinks.hosts_per_rack), (2.0, Some(16)));
    assert_eq!(clos.oversubscription(), 2.0);
    let slow = Options { core_rate: Some(Rate::from_gbps(25)), ..options.clone() };
    let slow = parse_with("clos:4x2x16x2x2", links, &slow).unwrap();
    assert_eq!(
        slow.oversubscription(),
        2.0 * 4.0,
        "twice below aggregation switches, four times above"
    );
    assert_eq!((clos.host_rate(0), clos.max_rate()), (Rate::from_gbps(25), Rate::from_gbps(100)));
    let ratio = Options { oversubscription: Some(4.0), ..Options::default() };
    let clos = parse_with("clos:4x2x16x2x2", links, &ratio).unwrap();
    assert_eq!(clos.max_rate(), Rate::from_gbps(50), "16 hosts share two uplinks at 4:1");
}

/// FastTune: ten hosts of 10 Gb/s under a leaf with four uplinks of 100 Gb/s.
/// Degrees and distances by hand.
#[test]
fn tori_dragonflies_and_rails_are_as_documented() {
    let hops = |fabric: &Fabric, a: u32, b: u32| {
        let routes = fabric.routes();
        let (mut node, mut hops) = (fabric.rack_of(a), 0);
        while node != NodeId(b) {
            node = fabric.port(routes.next(node, b)[0]).peer;
            hops += 1;
        }
        hops - 1
    };
    let torus = fabric("torus:4x3x2");
    assert_eq!(
        (torus.hosts(), torus.nodes(), torus.ports().len()),
        (24, 48, 2 * (24 + 24 + 24 + 12))
    );
    // Place (2, 1, 1) from (0, 0, 0): two along x, one along y, one along z; two ways round along x.
    assert_eq!(hops(&torus, 0, 2 + 4 + 12), 4);
    assert_eq!(hops(&torus, 0, 3 + 2 * 4), 2, "one back along x and y, over the edge");
    assert_eq!(torus.path_count(0, 2), 2);
    assert!(torus.ports_of(NodeId(24)).len() == 1 + 2 + 2 + 1);
    // Canonical: 5 groups of 4 switches, of which each has one global link.
    let dragonfly = fabric("dragonfly:5x4x2");
    assert_eq!((dragonfly.hosts(), dragonfly.nodes()), (40, 60));
    assert_eq!(dragonfly.ports().len(), 2 * (40 + 5 * 6 + 10));
    assert!((40..60).all(|switch| dragonfly.ports_of(NodeId(switch)).len() == 2 + 3 + 1));
    assert_eq!(hops(&dragonfly, 0, 7), 1, "within a group");
    let farthest = (8..40).map(|host| hops(&dragonfly, 0, host)).max();
    assert_eq!(farthest, Some(3), "a local, a global and a local link");
    // NIC 1 of all servers of a pod is at one switch.
    let rail = fabric("rail:2x3x4x2");
    assert_eq!((rail.hosts(), rail.nodes(), rail.ports().len()), (24, 34, 2 * (24 + 16)));
    assert_eq!(
        (rail.rack_of(1), rail.rack_of(5), rail.rack_of(13)),
        (NodeId(25), NodeId(25), NodeId(29))
    );
    assert_eq!((hops(&rail, 1, 5), hops(&rail, 1, 2), rail.path_count(1, 2)), (0, 2, 2));
    // BCube(4, 1) of the paper's Fig. 1: 16 servers, 8 switches of 4 ports, and a board for each server.
    let bcube = fabric("bcube:4x2");
    assert_eq!((bcube.hosts(), bcube.nodes(), bcube.ports().len()), (16, 40, 2 * (16 + 32)));
    assert!((16..32).all(|board| bcube.ports_of(NodeId(board)).len() == 1 + 2));
    assert!((32..40).all(|switch| bcube.ports_of(NodeId(switch)).len() == 4));
    assert_eq!(
        bcube.host_rate(0),
        Rate(2 * bcube.port(bcube.ports_of(NodeId(32)).map(PortId).next().unwrap()).rate.0)
    );
    // Server 13 is 31 to the base 4, server 5 is 11, server 12 is 30, server 0 is 00: one digit is a switch between two
    // boards; of two either may be changed first, by a server in between.
    assert_eq!((hops(&bcube, 13, 5), hops(&bcube, 13, 12), hops(&bcube, 13, 0)), (2, 2, 4));
    assert_eq!((bcube.path_count(13, 5), bcube.path_count(13, 0)), (1, 2));
}

/// Three tiers at 2:1 with hosts of 25 Gb/s, leaves of 100 and cores of 400.
#[test]
fn each_tier_of_a_clos_has_its_rate() {
    let gbps = Rate::from_gbps;
    let links = LinkDefaults { rate: gbps(25), ..defaults() };
    let rates =
        Options { uplink_rate: Some(gbps(100)), core_rate: Some(gbps(400)), ..Options::default() };
    let clos = parse_with("clos:2x2x16x2x1", links, &rates).unwrap();
    assert_eq!((clos.hosts(), clos.nodes()), (64, 64 + 4 + 4 + 2));
    let of = |tier: Tier, upward| {
        let own = clos.ports().iter().filter(|port| port.tier == tier && port.upward == upward);
        own.map(|port| port.rate)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Tier::Host, true), [gbps(25)]);
    assert_eq!(of(Tier::Edge, true), [gbps(100)]);
    assert_eq!(of(Tier::Aggregation, true), [gbps(400)]);
    let refused = parse_with("fat-tree:4", links, &rates).unwrap_err().to_string();
    assert!(refused.contains("core rate given"), "{refused}");
}

/// One slow uplink of one leaf makes no core oversubscribed, slow uplinks of all leaves do.
#[test]
fn oversubscription_is_that_of_all_edge_switches() {
    let slow = |leaf: u32| LinkOverride {
        a: format!("leaf{leaf}"),
        b: "spine0".into(),
        rate: Some(Rate::from_gbps(5)),
        propagation: None,
        loss: None,
    };
    for (leaves, ratio) in [(0..1, 1.0), (0..2, 4.0 / 3.5)] {
        let options = Options { links: leaves.map(slow).collect(), ..Options::default() };
        let fabric = parse_with("leaf-spine:2x4x4", defaults(), &options).unwrap();
        assert_eq!(fabric.oversubscription(), ratio);
    }
}

#[test]
fn mixed_rates_are_not_oversubscribed() {
    let options = Options { uplink_rate: Some(Rate::from_gbps(100)), ..Options::default() };
    let clos = parse_with("leaf-spine:24x4x10", defaults(), &options).unwrap();
    assert!(!clos.uplinks().unwrap().oversubscribed);
    assert_eq!(clos.max_rate(), Rate::from_gbps(100));
    assert_eq!(clos.host_rate(7), Rate::from_gbps(10));
}

#[test]
fn options_set_uplinks_links_and_failures() {
    let options = Options {
        oversubscription: Some(6.0),
        uplink_propagation: Some(Span::from_us(3)),
        links: vec![LinkOverride {
            a: "leaf1".into(),
            b: "spine2".into(),
            rate: Some(Rate::from_gbps(1)),
            propagation: None,
            loss: Some(0.25),
        }],
        failures: vec![
            (Time(9)..Time::NEVER, "spine0".into(), "tor0".into()),
            (Time(5)..Time::NEVER, "host3".into(), "leaf0".into()),
        ],
        ..Options::default()
    };
    let fabric = parse_with("leaf-spine:4x4x8", defaults(), &options).unwrap();
    let (leaf, spine) = (NodeId(32 + 1), NodeId(32 + 4 + 2));
    for port in [fabric.ports_between(leaf, spine)[0], fabric.ports_between(spine, leaf)[0]] {
        assert_eq!(fabric.port(port).rate, Rate::from_gbps(1));
        assert_eq!(fabric.port(port).loss, 0.25);
        assert_eq!(fabric.port(port).propagation, Span::from_us(3));
    }
    let other = fabric.port(fabric.ports_between(leaf, NodeId(36))[0]);
    assert_eq!(other.rate, Rate(10_000_000_000 * 8 / 24));
    let times: Vec<Time> = fabric.failures().iter().map(|failure| failure.at).collect();
    assert_eq!(times, [Time(5), Time(9)]);
    assert_eq!(fabric.dead_at(Time(4)).len(), 0);
    assert_eq!(fabric.dead_at(Time(5)).len(), 2);
    let routes = fabric.routes_without(&fabric.dead_at(Time(9)));
    check_routes(&fabric, &routes, &fabric.dead_at(Time(9)));
    assert!(routes.next(leaf, 3).is_empty());
    assert_eq!(routes.next(leaf, 0).len(), 3);
    assert_eq!(routes.next(leaf, 31).len(), 4);
    assert!(fabric.path(&routes, 9, 3, |_| 0).is_empty());
}

/// A link that flaps beside one that fails twice, overlapping: what is down between two changes, and
/// the routes are those of the beginning once all is repaired.
#[test]
fn repaired_links_give_the_routes_back() {
    let options = Options {
        failures: vec![
            (Time(10)..Time(20), "leaf0".into(), "spine1".into()),
            (Time(30)..Time(40), "leaf0".into(), "spine1".into()),
            (Time(15)..Time(30), "host3".into(), "leaf0".into()),
            (Time(25)..Time(35), "leaf0".into(), "host3".into()),
        ],
        ..Options::default()
    };
    let fabric = parse_with("leaf-spine:4x4x8", defaults(), &options).unwrap();
    assert_eq!(fabric.link_changes(), [10, 15, 20, 25, 30, 35, 40].map(Time));
    let down = |at| fabric.dead_at(Time(at)).len() / 2;
    assert_eq!(
        [9, 10, 15, 19, 20, 29, 30, 34, 35, 39, 40].map(down),
        [0, 1, 2, 2, 1, 1, 2, 2, 1, 1, 0]
    );
    let whole = fabric.routes();
    for at in [9, 40] {
        let routes = fabric.routes_without(&fabric.dead_at(Time(at)));
        for node in (32..fabric.nodes()).map(NodeId) {
            (0..32).for_each(|host| assert_eq!(routes.next(node, host), whole.next(node, host)));
        }
    }
    assert_eq!(fabric.routes_without(&fabric.dead_at(Time(10))).next(NodeId(32), 31).len(), 3);
}

/// REN's testbed: 3 links of 8 us each way, 10 Gb/s: 48 us and 3 transmissions each way.
#[test]
fn base_rtt_of_the_dumbbell_by_hand() {
    let links = LinkDefaults { propagation: Span::from_us(8), ..defaults() };
    let dumbbell = parse("dumbbell:3x2", links).unwrap();
    let serialisation = Span::from_ps(3 * 1_230_400 + 3 * 67_200);
    assert_eq!(dumbbell.base_rtt(MTU, REPLY), Span::from_us(48) + serialisation);
    assert_eq!(dumbbell.base_rtt_between(0, 4, MTU, REPLY), Span::from_us(48) + serialisation);
    let near = Span::from_us(32) + Span::from_ps(2 * 1_230_400 + 2 * 67_200);
    assert_eq!(dumbbell.base_rtt_between(0, 1, MTU, REPLY), near);
    assert_eq!(dumbbell.base_rtt_between(1, 1, MTU, REPLY), Span::ZERO);
    assert_eq!(fabric("star:2").base_rtt(MTU, REPLY), Span::from_ps(4_000_000 + 2 * 1_297_600));
}

#[test]
fn bdp_rounds_up() {
    let rtt = Span::from_ps(1_230_400 * 10);
    assert_eq!(bdp_packets(Rate::from_gbps(10), rtt, MTU), 10);
    assert_eq!(bdp_packets(Rate::from_gbps(10), rtt + Span(1), MTU), 11);
    assert_eq!(bdp_packets(Rate::from_gbps(10), Span::ZERO, MTU), 0);
}

#[test]
fn parking_lot_is_as_documented() {
    let lot = fabric("parking-lot:3");
    assert_eq!((lot.hosts(), lot.nodes()), (8, 12));
    let routes = lot.routes();
    assert_eq!(lot.path(&routes, 0, 1, |_| 0).len(), 5);
    for bottleneck in 0..3 {
        let path = lot.path(&routes, 2 + 2 * bottleneck, 3 + 2 * bottleneck, |_| 0);
        let ends = (lot.port(path[1]).node, lot.port(path[1]).peer);
        assert_eq!(ends, (NodeId(8 + bottleneck), NodeId(9 + bottleneck)));
        assert_eq!(path.len(), 3);
    }
}

#[test]
fn a_pod_stays_in_one_partition() {
    let tree = fabric("fat-tree:4");
    let part = tree.partitions(4, &[1; 16]);
    for pod in 0..4u32 {
        for switch in [16 + 2 * pod, 17 + 2 * pod, 24 + 2 * pod, 25 + 2 * pod] {
            assert_eq!(part[switch as usize], pod);
        }
    }
    assert_eq!(part[32..], [0, 1, 2, 3]);
    let leaf_spine = fabric("leaf-spine:8x8x48").partitions(2, &[1; 384]);
    assert_eq!(leaf_spine[384..], [0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

/// Threads share what there is to do, not the racks: of 16 busy hosts in two racks of eight each
/// thread has a rack, and an idle host weighs nothing beside a busy one.
#[test]
fn racks_are_dealt_by_their_work() {
    let fabric = fabric("leaf-spine:8x4x8");
    let mut work = vec![0; 64];
    work[16..32].fill(1_000_000);
    let part = fabric.partitions(2, &work);
    let of = |host: usize| part[host];
    assert!((0..24).all(|host| of(host) == 0) && (24..64).all(|host| of(host) == 1), "{part:?}");
    // Sums of work beyond 64 bits are no matter.
    assert_eq!(fabric.partitions(2, &[u64::MAX; 64]), fabric.partitions(2, &[1; 64]));
}

/// Flows of all host pairs use every path about equally: chi-square against uniform.
#[test]
fn ecmp_spreads_evenly_over_all_paths() {
    for (spec, src, dst) in [("leaf-spine:2x8x2", 0, 3), ("fat-tree:8", 0, 127)] {
        let fabric = fabric(spec);
        let routes = fabric.routes();
        for symmetric in [false, true] {
            let mut counts = std::collections::BTreeMap::new();
            let flows = 16_000;
            for flow in 0..flows {
                let path = walk(&fabric, &routes, src, dst, flow, symmetric);
                *counts.entry(path).or_insert(0u32) += 1;
            }
            let paths = fabric.path_count(src, dst);
            assert_eq!(counts.len(), paths as usize, "{spec} uses all paths");
            let expected = flows as f64 / paths as f64;
            let chi: f64 = counts.values().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
            let freedom = paths as f64 - 1.0;
            assert!(chi < freedom + 4.0 * (2.0 * freedom).sqrt() + 4.0, "{spec}: {chi}");
        }
    }
}

fn walk(
    f: &Fabric,
    routes: &Routes,
    src: u32,
    dst: u32,
    flow: u64,
    symmetric: bool,
) -> Vec<PortId> {
    use incast_fabric::balance::*;
    f.path(routes, src, dst, |group| {
        let first = f.port(group[0]);
        let hash = match symmetric {
            true => at_level(symmetric_hash(src, dst, flow, 42), first.level),
            false => at_switch(flow_hash(src, dst, flow, 42), first.node),
        };
        pick(hash, group.len())
    })
}

/// The reverse path is the forward path, with and without bundles and failures.
#[test]
fn symmetric_ecmp_is_symmetric() {
    let bundled = LeafSpine {
        leaves: 3,
        spines: 4,
        hosts_per_leaf: 3,
        bundle: 3,
        host_rate: Rate::from_gbps(10),
        uplink_rate: Rate::from_gbps(10),
        host_propagation: Span::from_us(1),
        uplink_propagation: Span::from_us(1),
        loss: 0.0,
    };
    let three_tier = ThreeTier {
        pods: 3,
        edges_per_pod: 2,
        hosts_per_edge: 2,
        aggregations_per_pod: 2,
        cores_per_aggregation: 3,
        edge_bundle: 2,
        core_bundle: 3,
        rates: [Rate::from_gbps(10); 3],
        propagations: [Span::from_us(1); 3],
        latencies: [Span::ZERO; 3],
        loss: 0.0,
    };
    let whole = [
        fabric("leaf-spine:4x6x3"),
        fabric("fat-tree:6"),
        bundled.build().unwrap(),
        three_tier.build().unwrap(),
    ];
    let mut broken = fabric("leaf-spine:4x6x3");
    broken.fail_link(Time(0)..Time::NEVER, NodeId(12), NodeId(16), 0).unwrap();
    for fabric in whole.iter().chain([&broken]) {
        let routes = fabric.routes_without(&fabric.dead_at(Time(0)));
        for (a, b) in (0..fabric.hosts()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            for flow in 0..4 {
                let there = walk(fabric, &routes, a, b, flow, true);
                let back = walk(fabric, &routes, b, a, flow, true);
                let reversed: Vec<PortId> =
                    back.iter().rev().map(|port| fabric.port(*port).reverse).collect();
                assert_eq!(there, reversed, "{} {a} {b}", fabric.name());
            }
        }
    }
}

#[test]
fn groups_number_state_per_switch_and_destination() {
    let fabric = fabric("leaf-spine:4x6x3");
    let routes = fabric.routes();
    let mut seen = std::collections::BTreeMap::new();
    for switch in (fabric.hosts()..fabric.nodes()).map(NodeId) {
        for dst in 0..fabric.hosts() {
            let group = routes.group(switch, dst);
            assert!(group < routes.group_bound());
            let ports = routes.next(switch, dst).to_vec();
            let known = seen.entry(group).or_insert((switch, ports.clone()));
            assert_eq!(*known, (switch, ports));
        }
    }
    // 4 leaves with 3 host ports and one group up, 6 spines with 4 ports down.
    assert_eq!(seen.len(), 4 * (3 + 1) + 6 * 4);
}

proptest! {
    #[test]
    fn routes_of_any_graph_are_all_shortest_paths(
        fabric in random_graph(),
        dead in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        check_ports(&fabric);
        check_partitions(&fabric);
        check_routes(&fabric, &fabric.routes(), &[]);
        let ports = fabric.ports().len();
        let dead: Vec<PortId> = dead.iter().map(|i| PortId(i.index(ports) as u32)).collect();
        check_routes(&fabric, &fabric.routes_without(&dead), &dead);
    }

    #[test]
    fn any_choice_of_ports_arrives_without_a_loop(fabric in random_graph(), seed: u64) {
        let routes = fabric.routes();
        for (src, dst) in (0..fabric.hosts()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let mut step = 0;
            let path = fabric.path(&routes, src, dst, |_| {
                step += 1;
                order::draw(seed, step) as usize % 7919
            });
            prop_assert_eq!(fabric.port(path[0]).node, NodeId(src));
            prop_assert_eq!(fabric.port(*path.last().unwrap()).peer, NodeId(dst));
            for pair in path.windows(2) {
                prop_assert_eq!(fabric.port(pair[0]).peer, fabric.port(pair[1]).node);
            }
            let visited: BTreeSet<NodeId> = path.iter().map(|p| fabric.port(*p).node).collect();
            prop_assert_eq!(visited.len(), path.len());
        }
    }

    /// With cut-through, every path of every pair counted one by one.
    #[test]
    fn base_rtt_with_cut_through_is_the_largest_over_pairs_and_paths(fabric in random_graph()) {
        let read = Bytes(64);
        let mut largest = Span::ZERO;
        for (src, dst) in (0..fabric.hosts()).flat_map(|a| (0..fabric.hosts()).map(move |b| (a, b))) {
            if src == dst {
                continue;
            }
            let mut stack = vec![vec![fabric.host_port(src)]];
            while let Some(path) = stack.pop() {
                let node = fabric.port(*path.last().unwrap()).peer;
                if node != NodeId(dst) {
                    for port in fabric.routes().next(node, dst) {
                        stack.push(path.iter().copied().chain([*port]).collect());
                    }
                    continue;
                }
                let back: Vec<PortId> =
                    path.iter().rev().map(|port| fabric.port(*port).reverse).collect();
                let one = |path: &[PortId], size: Bytes| {
                    cut_through_fct(&fabric.links(path), read, [size].into_iter())
                };
                largest = largest.max(one(&path, MTU) + one(&back, REPLY));
            }
        }
        let cutting = fabric.with_forwarding(Forwarding::CutThrough(read));
        prop_assert_eq!(cutting.base_rtt(MTU, REPLY), largest);
    }

    /// A flow is no faster than the bound, whichever paths its packets take, and no slower than
    /// where switches store.
    #[test]
    fn cut_through_is_between_its_bound_and_store_and_forward(
        gbps in prop::collection::vec(prop::sample::select(vec![1u64, 4, 10, 40]), 2..5),
        sizes in prop::collection::vec(84..1_538u64, 1..12),
        read in 1..400u64,
    ) {
        let hop = |gbps: &u64| (Rate::from_gbps(*gbps), Span::from_ns(100 * gbps));
        let path: Vec<_> = gbps.iter().map(hop).collect();
        let sizes = || sizes.iter().copied().map(Bytes);
        let cut = cut_through_fct(&path, Bytes(read), sizes());
        let stored = ideal_fct(&path, sizes());
        prop_assert!(cut <= stored, "{} and {}", cut, stored);
        prop_assert_eq!(cut_through_fct(&path, Bytes(1_538), sizes()), stored);
        let hops: Vec<Hop> = path.iter().enumerate().map(|(at, (rate, propagation))| Hop {
            rate: *rate, slowest: *rate, propagation: *propagation,
            links: 1 + (at > 0 && at + 1 < path.len()) as u32,
        }).collect();
        let bound = cut_through_fct_over(&hops, PathUse::Each, Bytes(read), sizes());
        prop_assert!(bound <= cut, "{} and {}", bound, cut);
    }

    #[test]
    fn base_rtt_is_the_largest_over_pairs_and_paths(fabric in random_graph()) {
        let routes = fabric.routes();
        let mut largest = Span::ZERO;
        for (src, dst) in (0..fabric.hosts()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let there = fabric.base_rtt_between(src, dst, MTU, REPLY);
            largest = largest.max(there).max(fabric.base_rtt_between(dst, src, MTU, REPLY));
            // Every single path is at most that, and counting them one by one agrees.
            let mut stack = vec![(fabric.port(fabric.host_port(src)).peer, Span::ZERO)];
            let hop = |port: PortId| {
                let port = fabric.port(port);
                port.rate.tx_time(MTU) + port.rate.tx_time(REPLY) + port.propagation * 2
            };
            stack[0].1 = hop(fabric.host_port(src));
            let (mut count, mut longest) = (0, Span::ZERO);
            while let Some((node, sum)) = stack.pop() {
                if node == NodeId(dst) {
                    count += 1;
                    longest = longest.max(sum);
                } else {
                    let group = routes.next(node, dst).iter();
                    stack.extend(group.map(|p| (fabric.port(*p).peer, sum + hop(*p))));
                }
            }
            prop_assert_eq!(longest, there);
            prop_assert_eq!(count, fabric.path_count(src, dst));
        }
        prop_assert_eq!(largest, fabric.base_rtt(MTU, REPLY));
    }

    #[test]
    fn the_fast_ideal_equals_the_exact_one(
        path in prop::collection::vec((1u64..400_000, 0u64..10_000_000), 1..7),
        full in 1u64..10_000,
        count in 0u64..200,
        last in 0u64..10_000,
    ) {
        // Odd rates, so that every transmission is rounded.
        let path: Vec<(Rate, Span)> =
            path.into_iter().map(|(mbps, ps)| (Rate(mbps * 1_000_003), Span(ps))).collect();
        let sizes = std::iter::repeat_n(full, count as usize).chain((last > 0).then_some(last));
        let exact = ideal_fct(&path, sizes.map(Bytes));
        prop_assert_eq!(exact, ideal_fct_uniform(&path, Bytes(full), count, Bytes(last)));
    }
}

proptest! {
    #[test]
    fn the_fast_bound_equals_the_exact_one(
        hops in prop::collection::vec((1u64..4_000, 0u64..10_000_000, 1u32..3), 1..7),
        full in 1u64..10_000,
        count in 0u64..60,
        last in 0u64..10_000,
    ) {
        let (first, rest) = hops.split_first().unwrap();
        let hop = |&(mbps, ps, links): &(u64, u64, u32)| {
            Hop { rate: Rate(mbps * 1_000_003), slowest: Rate(mbps * 1_000_003), propagation: Span(ps), links }
        };
        let nic = Hop { links: 1, ..hop(first) };
        let hops: Vec<Hop> = std::iter::once(nic).chain(rest.iter().map(hop)).collect();
        let sizes = || std::iter::repeat_n(full, count as usize).chain((last > 0).then_some(last));
        let in_order: Vec<_> = hops.iter().map(|hop| (hop.rate, hop.propagation)).collect();
        let one = ideal_fct(&in_order, sizes().map(Bytes));
        for path_use in [PathUse::One, PathUse::Each] {
            let exact = ideal_fct_over(&hops, path_use, sizes().map(Bytes));
            let fast = ideal_fct_over_uniform(&hops, path_use, Bytes(full), count, Bytes(last));
            prop_assert_eq!(exact, fast, "{:?}", path_use);
            prop_assert!(path_use == PathUse::Each || exact == one);
        }
    }
}

/// One full packet and a short one over 10, 1 (two links) and 10 Gb/s: the short one takes the
/// other link and is there first.
#[test]
fn a_short_packet_overtakes_on_another_path() {
    let hop = |gbps, us, links| Hop {
        rate: Rate::from_gbps(gbps),
        slowest: Rate::from_gbps(gbps),
        propagation: Span::from_us(us),
        links,
    };
    let hops = [hop(10, 1, 1), hop(1, 2, 2), hop(10, 3, 1)];
    let packets = || [1500, 100].map(Bytes).into_iter();
    // In order: the full one is there after 1.2 + 1 + 12 + 2 + 1.2 us, the short one follows it in
    // 0.08 us, and 3 us.
    assert_eq!(ideal_fct_over(&hops, PathUse::One, packets()), Span::from_ns(20_480));
    // The short one is at the last hop at 1.28 + 1 + 0.8 + 2, the full one at 16.2 us, 1.2 + 3
    // more.
    assert_eq!(ideal_fct_over(&hops, PathUse::Each, packets()), Span::from_ns(20_400));
    // Twice the full one: the second does not wait for the first between switches.
    let packets = || [1500, 1500].map(Bytes).into_iter();
    assert_eq!(ideal_fct_over(&hops, PathUse::One, packets()), Span::from_ns(32_400));
    assert_eq!(ideal_fct_over(&hops, PathUse::Each, packets()), Span::from_ns(21_600));
}

#[test]
fn hops_of_all_paths() {
    let links =
        LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
    let options = Options {
        links: vec![LinkOverride {
            a: "leaf0".into(),
            b: "spine1".into(),
            rate: Some(Rate::from_gbps(40)),
            propagation: Some(Span::from_us(3)),
            loss: None,
        }],
        ..Options::default()
    };
    let fabric = parse_with("leaf-spine:2x3x2", links, &options).unwrap();
    let hop = |gbps, links| Hop {
        rate: Rate::from_gbps(gbps),
        slowest: Rate::from_gbps(gbps),
        propagation: Span::from_us(1),
        links,
    };
    let routes = fabric.routes();
    let mixed = Hop { slowest: Rate::from_gbps(10), ..hop(40, 3) };
    assert_eq!(fabric.hops(&routes, 0, 2), [hop(10, 1), mixed, hop(10, 3), hop(10, 1)]);
    assert_eq!(fabric.hops(&routes, 0, 1), [hop(10, 1), hop(10, 1)]);
    assert_eq!(fabric.hops(&routes, 1, 1), []);
    let tree = parse("fat-tree:4", links).unwrap();
    let steps: Vec<u32> = tree.hops(&tree.routes(), 0, 15).iter().map(|hop| hop.links).collect();
    assert_eq!(steps, [1, 2, 4, 4, 2, 1]);
}

/// Two hops of 10 and 1 Gb/s, by hand: the slow link sets the pace.
#[test]
fn ideal_fct_by_hand() {
    let path = [(Rate::from_gbps(10), Span::from_us(5)), (Rate::from_gbps(1), Span::from_us(7))];
    let packets = [1500, 1500, 500].map(Bytes);
    // First packet stored at 1.2 us + 5 us, then 12 + 12 + 4 us on the slow link, and 7 us.
    let expected = Span::from_ns(1_200 + 5_000 + 12_000 + 12_000 + 4_000 + 7_000);
    assert_eq!(ideal_fct(&path, packets.into_iter()), expected);
    assert_eq!(ideal_fct_uniform(&path, Bytes(1500), 2, Bytes(500)), expected);
    assert_eq!(ideal_fct(&path, std::iter::empty()), Span::ZERO);
}

/// Counts by name, with rates, in one line: as the counts in order with the rates beside them.
#[test]
fn counts_may_have_names_and_rates() {
    let links = |gbps| LinkDefaults {
        rate: Rate::from_gbps(gbps),
        propagation: Span::from_us(1),
        loss: 0.0,
    };
    let options = Options {
        uplink_rate: Some(Rate::from_gbps(100)),
        core_rate: Some(Rate::from_gbps(400)),
        ..Options::default()
    };
    let named = "clos:hosts=25Gbps*16, cores=400Gbps*2,pods=4,leaves=2,aggregations=100Gbps*2";
    let clos = parse(named, links(40)).unwrap();
    let in_order = parse_with("clos:4x2x16x2x2", links(25), &options).unwrap();
    assert_eq!((clos.name(), clos.hosts()), (in_order.name(), in_order.hosts()));
    assert_eq!(clos.ports(), in_order.ports());
    let plain = parse("leaf-spine:spines=2,leaves=3,hosts=4", links(10)).unwrap();
    assert_eq!(plain.ports(), parse("leaf-spine:3x2x4", links(10)).unwrap().ports());
    assert!(has_host_rate(named) && !has_host_rate("leaf-spine:3x2x4") && !has_host_rate("x"));
    assert_eq!(size_of("star:hosts=10Gbps*8"), size_of("star:8"));
    let says = |spec: &str| parse_with(spec, links(10), &options).expect_err(spec).to_string();
    for (spec, said) in [
        (
            "leaf-spine:leafs=2,spines=2,hosts=2",
            "no count `leafs`: did you mean `leaves`? Expected leaf-spine:leaves=<count>,spines=<count>,hosts=<count>",
        ),
        ("leaf-spine:leaves=2,spines=2", "no `hosts`: expected leaf-spine:leaves=<count>,"),
        ("leaf-spine:leaves=2,leaves=2", "`leaves` twice"),
        ("leaf-spine:leaves=10Gbps*2,spines=2,hosts=2", "leaves have no rate"),
        ("leaf-spine:leaves=2,spines=2,hosts=10*2", "hosts `10`: "),
        ("leaf-spine:leaves=2,spines=2,hosts=0Gbps*2", "a rate above 0"),
        ("leaf-spine:leaves=2,spines=0,hosts=2", "not 0"),
        (
            "leaf-spine:leaves=2,spines=1Gbps*2,hosts=2",
            "says how fast uplinks are, and an option does",
        ),
        ("clos:pods=1,leaves=2,hosts=2,aggregations=1,cores=1Gbps*1", "links of core switches are"),
    ] {
        assert!(says(spec).contains(said), "{}", says(spec));
    }
}
