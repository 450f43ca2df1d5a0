//! A flow alone on the network: its completion time is known exactly.

use super::network::{Network, framed, network};
use incast_fabric::{LinkOverride, Options as Shape, PortId};
use incast_protocols::CATALOGUE;
use incast_testkit::{configured, flow, setup_of};
use incast_transport::*;
use incast_world::{FlowSetup, host_site};
use std::collections::BTreeSet;

/// Time between two flows, long enough for all state of the first to expire.
const PAUSE: Span = Span::from_ms(50);

/// Networks in which all paths differ: every link between switches has its own delay.
fn networks() -> Vec<(Network, u64)> {
    let plain = [("star:3", 30), ("dumbbell:2x2", 30), ("parking-lot:2", 30)];
    let mixed = [("leaf-spine:3x2x2", 40, 30), ("leaf-spine:2x3x1", 4, 7), ("fat-tree:4", 10, 12)];
    let (rate, length) = (Rate::from_gbps(10), Span::from_us(1));
    let mut all = vec![];
    for (spec, most) in plain {
        all.push((network(spec, rate, length, &Shape::default(), Limit::Unlimited), most));
    }
    for (spec, gbps, most) in mixed {
        let mut shape = Shape { uplink_rate: Some(Rate::from_gbps(gbps)), ..Shape::default() };
        let bare = network(spec, rate, length, &shape, Limit::Unlimited).fabric;
        for (index, port) in bare.ports().iter().enumerate() {
            if port.node.0 >= bare.hosts() && port.peer.0 >= bare.hosts() && port.upward {
                shape.links.push(LinkOverride {
                    a: bare.node_name(port.node),
                    b: bare.node_name(port.peer),
                    rate: None,
                    propagation: Some(Span::from_ns(1_000 + 7 * index as u64)),
                    loss: None,
                });
            }
        }
        all.push((network(spec, rate, length, &shape, Limit::Unlimited), most));
    }
    all
}

/// One flow after the other, until every shortest path between any two hosts has been taken.
fn flows_on_every_path(network: &Network, entry: &dyn Transport, size: u64) -> Vec<FlowSetup> {
    let hosts = network.fabric.hosts();
    let mut flows: Vec<FlowSetup> = vec![];
    for (src, dst) in (0..hosts).flat_map(|src| (0..hosts).map(move |dst| (src, dst))) {
        let mut paths: BTreeSet<Vec<PortId>> = BTreeSet::new();
        let wanted = if src == dst { 0 } else { network.fabric.path_count(src, dst) as usize };
        let mut id = flows.len() as u32;
        while paths.len() < wanted {
            let mut next = setup_of(flow(id, src, dst, size, Time(777)), entry.info().id);
            if let Some(last) = flows.last() {
                (next.after, next.delay) = (vec![last.flow.id], PAUSE);
            }
            // The path of a flow depends on its id: flows on a path already taken are not
            // counted.
            paths.insert(network.path(entry, &next.flow, false));
            flows.push(next);
            id += 1;
        }
    }
    flows
}

#[test]
fn a_lone_flow_within_the_unsolicited_window_takes_the_ideal_time_on_every_path() {
    check_unsolicited(networks());
}

#[test]
fn a_lone_flow_takes_the_ideal_time_where_switches_cut_through() {
    let networks = networks().into_iter();
    check_unsolicited(networks.map(|(network, most)| (network.cutting_through(), most)).collect());
}

fn check_unsolicited(networks: Vec<(Network, u64)>) {
    for (network, most) in networks {
        for entry in CATALOGUE {
            let name = entry.info().name;
            let configured = configured(*entry, &[], &network.site);
            let site = host_site(&network.fabric, &network.site, 0, Routing::Ecmp);
            let own = configured.unsolicited(&site, most as u32).min(most as u32) as u64;
            // Packets queue before slower links, and classes may reorder a flow's own packets
            // (Homa): with full packets that has no effect.
            let slower = network.fabric.max_rate() == network.fabric.host_rate(0);
            let short = if slower && network.fabric.name().starts_with("leaf") { 0 } else { 9 };
            for size in BTreeSet::from([1, 1460, 2 * 1460 + 1, (own * 1460).saturating_sub(short)])
            {
                let packets = size.div_ceil(1460) as u32;
                if packets == 0 || configured.unsolicited(&site, packets) < packets {
                    continue;
                }
                let mut trial = network.trial(*entry, &[]);
                trial.flows = flows_on_every_path(&network, *entry, size);
                let record = trial.run();
                for (setup, seen) in trial.flows.iter().zip(&record.flows) {
                    let flow = &setup.flow;
                    let (start, end) = (seen.started.expect("opened"), seen.completed);
                    let end = end.expect("complete");
                    let spec = network.fabric.name();
                    let text =
                        format!("{name} on {spec}, {size} B {} -> {}", flow.src.0, flow.dst.0);
                    assert_eq!(end - start, network.ideal(*entry, flow), "{text}");
                }
            }
        }
    }
}

/// Completion time of a lone flow on a path of equal links, as in the transport's README.
type Formula = fn(&LoneFlow) -> Span;

/// A flow and its path.
struct LoneFlow {
    ideal: Span,
    /// Number of packets.
    count: u64,
    /// Time of a full packet on a link.
    packet: Span,
    /// Time from a packet's departure to the arrival of its ACK or grant at the source.
    round: Span,
    /// One-way delay of a header, from the source's NIC to the destination.
    header: Span,
}

/// Receiver-driven: the first grant arrives before the burst ends, and every packet returns one.
fn always_busy(lone: &LoneFlow) -> Span {
    lone.ideal
}

/// Slow start from ten segments: in round i, which lasts an RTT, 2^i x 10 packets leave back
/// to back; once they fill the RTT, the NIC is always busy.
fn slow_start(lone: &LoneFlow) -> Span {
    let (mut idle, mut window, mut sent) = (Span::ZERO, 10, 10);
    while sent < lone.count && lone.packet * window < lone.round {
        idle += lone.round - lone.packet * window;
        window *= 2;
        sent += window;
    }
    lone.ideal + idle
}

/// One RTT for the announcement and the first token; then one packet per packet time.
fn announced(lone: &LoneFlow) -> Span {
    lone.header * 2 + lone.ideal
}

const FORMULAS: [(&str, Formula); 8] = [
    ("amrt", always_busy),
    ("cubic", slow_start),
    ("dcqcn", always_busy),
    ("dctcp", slow_start),
    ("ndp", always_busy),
    ("phost", announced),
    ("ren", always_busy),
    ("trd", always_busy),
];

#[test]
fn a_long_lone_flow_takes_the_time_of_its_readme() {
    let shapes = [
        ("star:2", 0, 1, 5_000),
        ("dumbbell:1x1", 0, 1, 5_000),
        ("leaf-spine:2x2x1", 0, 1, 1_000),
        ("leaf-spine:2x2x1", 0, 1, 30_000),
        ("fat-tree:4", 0, 15, 10_000),
    ];
    for (spec, src, dst, ns) in shapes {
        check_long_flows(spec, (src, dst), Span::from_ns(ns), Framing::ETHERNET);
    }
}

/// Other sizes of packets: the same formulas hold.
#[test]
fn a_long_lone_flow_takes_the_time_of_its_readme_with_other_sizes() {
    let of = |mtu: u16, header: u16, control: u16, overhead: u16, minimum: u16| Framing {
        overhead,
        minimum,
        mtu,
        header,
        control,
        pad_last: false,
    };
    let sizes = [
        of(576, 40, 40, 38, 84),
        of(1_000, 40, 64, 0, 0),
        of(4_096, 48, 84, 38, 84),
        of(9_000, 0, 64, 0, 0),
        of(9_000, 40, 40, 38, 84),
        Framing { pad_last: true, ..of(1_500, 40, 40, 38, 84) },
    ];
    for framing in sizes {
        for (spec, ns) in [("star:2", 5_000), ("dumbbell:1x1", 30_000)] {
            check_long_flows(spec, (0, 1), Span::from_ns(ns), framing);
        }
    }
}

/// Checks flows from the first host to the second against [`FORMULAS`].
fn check_long_flows(spec: &str, (src, dst): (u32, u32), length: Span, framing: Framing) {
    let rate = Rate::from_gbps(10);
    let mut network = framed(spec, (rate, length), &Shape::default(), Limit::Unlimited, framing);
    network.options.drain = Span::from_ms(20);
    let mss = framing.mss() as u64;
    for (name, formula) in FORMULAS {
        let entry = incast_protocols::find(name).expect("in the catalogue");
        let configured = configured(entry, &[], &network.site);
        let site = host_site(&network.fabric, &network.site, src, Routing::Ecmp);
        for size in [60 * mss, 137 * mss, 300_001, 301 * mss - 9, 1_000_000, 5_000 * mss] {
            let count = u64::div_ceil(size, mss);
            let segments = Segments::Uniform(framing.mss());
            let flow = Flow { segments, ..flow(0, src, dst, size, Time(999)) };
            let record = network.trial(entry, &[]).carry(vec![flow.clone()]);
            let seen = &record.flows[0];
            let links = network.fabric.links(&network.path(entry, &flow, false));
            let one_way = |bytes: Bytes| {
                links.iter().map(|(rate, length)| (rate.tx_time(bytes) + *length).0).sum()
            };
            let (full, header) = (network.charged(framing.mss()), network.charged(0));
            let header = Span(one_way(header));
            let lone = LoneFlow {
                ideal: network.ideal(entry, &flow),
                count,
                packet: rate.tx_time(full),
                round: Span(one_way(full)) + header,
                header,
            };
            let took = seen.completed.expect("complete") - seen.started.expect("opened");
            let unsolicited = configured.unsolicited(&site, count as u32) as u64 >= count;
            let expected = if unsolicited { lone.ideal } else { formula(&lone) };
            assert_eq!(took, expected, "{name} on {spec}, {length} a link, {size} B, {framing:?}");
            assert_eq!(seen.retransmits, 0);
        }
    }
}
