use super::*;
use incast_fabric::{LinkDefaults, NodeId, ideal_fct_over_uniform, parse};
use incast_transport::Routing;
use incast_transport::{Bytes, Flow, HostId, Segments};

const ID: TransportId = TransportId(4);

fn fabric(spec: &str) -> Fabric {
    let (rate, propagation) = (Rate::from_gbps(100), Span::from_us(1));
    parse(spec, LinkDefaults { rate, propagation, loss: 0.0 }).unwrap()
}

fn flow(id: u32, src: u32, dst: u32, size: u64, start: u64) -> FlowSetup {
    let (segments, burst, connection) = (Segments::Uniform(1460), None, None);
    let (src, dst, start) = (HostId(src), HostId(dst), Time(start));
    FlowSetup {
        flow: Flow { id: FlowId(id), src, dst, size, start, segments, burst, connection },
        transport: ID,
        after: vec![],
        delay: Span::ZERO,
        gate: None,
        cut: Time::NEVER,
    }
}

fn load(fabric: Fabric, routing: Routing, flows: Vec<FlowSetup>) -> Load {
    let carriers = vec![Carrier { id: ID, routing, payload: 1460, most: None }];
    let (framing, options) = (Framing::ETHERNET, Options::default());
    Load { fabric: Arc::new(fabric), framing, carriers, flows, gates: vec![], options }
}

fn fct(record: &RunRecord, flow: usize) -> u64 {
    let own = &record.flows[flow];
    own.completed.unwrap().since(own.started.unwrap()).0
}

fn ran(load: Load) -> RunRecord {
    run(load, &Monitor::default())
}

const CHARGED: u64 = 1538;
/// A full packet at 100 Gb/s, and one way through two links without the bytes.
const PACKET: u64 = 123_040;

/// A lone flow takes the ideal time to the picosecond, whatever its size, one path or spread.
#[test]
fn a_lone_flow_takes_the_ideal_time() {
    for routing in [Routing::Ecmp, Routing::Spray] {
        for (packets, rest) in [(0, 1), (1, 0), (1, 700), (1_000, 0), (1_000, 1)] {
            let size = packets * 1460 + rest;
            let record =
                ran(load(fabric("leaf-spine:2x4x2"), routing, vec![flow(0, 0, 3, size, 5_000)]));
            let fabric = fabric("leaf-spine:2x4x2");
            let last = if rest > 0 { Framing::ETHERNET.charged_packet(rest as u16, 0) } else { 0 };
            let (full, last) = (Bytes(CHARGED), Bytes(u64::from(last)));
            let hops = fabric.hops(&fabric.routes(), 0, 3);
            let ideal = ideal_fct_over_uniform(&hops, path_use(routing), full, packets, last);
            assert_eq!(fct(&record, 0), ideal.0, "{routing:?} {size}");
            assert!(record.complete && record.ran_to_end());
        }
    }
}

/// Of two flows to one host the second starts when half of the first is sent; both then have half the link until
/// the first is over.
#[test]
fn a_flow_that_ends_frees_its_share() {
    let size = 1460 * 1_000;
    let half = 500 * PACKET;
    let flows = vec![flow(0, 0, 2, size, 0), flow(1, 1, 2, size, half)];
    let record = ran(load(fabric("star:3"), Routing::Ecmp, flows));
    let lag = 2 * 1_000_000 + PACKET;
    assert_eq!(fct(&record, 0), half + 2 * half + lag);
    assert_eq!(fct(&record, 1), 2 * half + half + lag);
    // The link to host 2 has carried both, and the other's sources one each.
    let sent: Vec<u64> = record.ports.iter().map(|port| port.total.sent_bytes).collect();
    let charged = 1_000 * CHARGED;
    assert_eq!(sent, [charged, charged, 0, 0, 0, 2 * charged]);
}

/// Every host of one rack sends to one of the other: with as many spines as hosts and spreading, at line rate.
#[test]
fn a_permutation_is_at_line_rate_where_flows_are_spread() {
    let size = 1460 * 10_000;
    let flows = |routing| {
        let flows = (0..16).map(|host| flow(host, host, (host + 8) % 16, size, 0)).collect();
        ran(load(fabric("leaf-spine:2x8x8"), routing, flows))
    };
    let spread = flows(Routing::Spray);
    let ideal = 10_000 * PACKET + 3 * PACKET + 4_000_000;
    assert!((0..16).all(|flow| fct(&spread, flow) == ideal));
    // All sixteen uplinks carry the same.
    let up = |port: &&PortRecord| port.total.sent_bytes > 0;
    let sent: Vec<u64> = spread.ports.iter().filter(up).map(|port| port.total.sent_bytes).collect();
    assert_eq!(sent.len(), 16 + 16 + 16 + 16);
    assert!(sent.iter().all(|bytes| *bytes == 10_000 * CHARGED));
    let hashed = flows(Routing::Ecmp);
    let slowest = (0..16).map(|flow| fct(&hashed, flow)).max().unwrap();
    assert!(slowest > 3 * ideal / 2, "hashes collide: {slowest}");
}

/// A chain over the same link: the third starts a given time after the second.
#[test]
fn flows_wait_for_others() {
    let mut flows: Vec<FlowSetup> =
        (0..3).map(|id| flow(id, id % 2, 1 - id % 2, 1460, 7)).collect();
    for (before, own) in flows[1..].iter_mut().enumerate() {
        (own.after, own.delay) = (vec![FlowId(before as u32)], Span(100));
    }
    let record = ran(load(fabric("star:2"), Routing::Ecmp, flows));
    let each = 2 * PACKET + 2_000_000;
    let started: Vec<u64> = record.flows.iter().map(|own| own.started.unwrap().0).collect();
    assert_eq!(started, [7, 7 + each + 100, 7 + 2 * (each + 100)]);
}

/// A link fails for a while: a flow over it waits if there is no other, and goes on; what has no other way for good
/// ends the run.
#[test]
fn links_fail_and_work_again() {
    let size = 1460 * 1_000;
    let lag = PACKET + 2_000_000;
    let with = |until: Time, at: u64| {
        let mut fabric = fabric("star:2");
        let (host, switch) = (NodeId(0), NodeId(2));
        fabric.fail_link(Time(at)..until, host, switch, 0).unwrap();
        ran(load(fabric, Routing::Ecmp, vec![flow(0, 0, 1, size, 0)]))
    };
    let down = 10 * PACKET;
    let repaired = with(Time(down + 77), down);
    assert_eq!(fct(&repaired, 0), 1_000 * PACKET + 77 + lag);
    let cut = with(Time::NEVER, down);
    assert!(cut.flows[0].completed.is_none() && !cut.ran_to_end());
    assert_eq!(cut.flows[0].delivered, 10 * 1460);
    // Of four spines one fails: what is spread goes by the others, and no longer at line rate.
    let mut fabric = fabric("leaf-spine:2x4x4");
    fabric.fail_link(Time(0)..Time::NEVER, NodeId(8), NodeId(10), 0).unwrap();
    let flows = (0..4).map(|host| flow(host, host, host + 4, size, 1)).collect();
    let record = ran(load(fabric, Routing::Spray, flows));
    let sending = 1_000 * PACKET * 4 / 3;
    assert!(
        (0..4).all(|flow| fct(&record, flow).abs_diff(sending + lag + 2 * PACKET + 2_000_000) <= 1)
    );
}

/// A flow without an end has what is fair until its application ends it; a fixed rate is none above the share.
#[test]
fn endless_flows_and_fixed_rates() {
    let size = 1460 * 1_000;
    let flows = vec![flow(0, 0, 2, Bytes::ENDLESS.0, 0), flow(1, 1, 2, size, 0)];
    let mut load = load(fabric("star:3"), Routing::Ecmp, flows);
    load.options.stops = vec![(FlowId(0), Time(500 * PACKET))];
    let record = ran(load);
    assert_eq!(fct(&record, 1), (500 + 750) * PACKET + 2_000_000 + PACKET);
    // What is under way when it is ended has not arrived.
    let under_way = (PACKET + 2_000_000) as f64 / 2.0 / PACKET as f64;
    let expected = (250.0 - under_way) * 1460.0;
    assert!((record.flows[0].delivered as f64 - expected).abs() <= 1.0);
    let mut slow = super::tests::load(
        fabric("star:3"),
        Routing::Ecmp,
        vec![flow(0, 0, 2, size, 0), flow(1, 1, 2, size, 0)],
    );
    slow.carriers[0].most = Some(Rate::from_gbps(20));
    let record = ran(slow);
    assert_eq!(fct(&record, 0), 5_000 * PACKET + 2_000_000 + PACKET);
    assert_eq!(fct(&record, 1), fct(&record, 0));
}

fn some_traffic(shift: u64) -> Vec<FlowSetup> {
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let one = |id: u32| {
        let src = draw(32) as u32;
        let dst = (src + 1 + draw(31) as u32) % 32;
        flow(id, src, dst, 1 + draw(3_000_000), shift + draw(2_000_000_000))
    };
    (0..400).map(one).collect()
}

/// Twice the same is the same, and a shift in time is one; every byte is carried once over each step of its path.
#[test]
fn runs_repeat_and_shift_and_conserve_bytes() {
    for routing in [Routing::Ecmp, Routing::Spray] {
        let once = |shift| ran(load(fabric("leaf-spine:4x4x8"), routing, some_traffic(shift)));
        let (first, again, later) = (once(0), once(0), once(1_000_000_007));
        assert!(first.complete && first == again);
        for (at, own) in first.flows.iter().enumerate() {
            assert_eq!(fct(&later, at), fct(&first, at));
            assert_eq!(own.delivered, some_traffic(0)[at].flow.size);
        }
        let charged: u64 = some_traffic(0)
            .iter()
            .map(|own| {
                let (full, rest) = (own.flow.size / 1460, own.flow.size % 1460);
                let rest =
                    if rest > 0 { Framing::ETHERNET.charged_packet(rest as u16, 0) } else { 0 };
                full * CHARGED + u64::from(rest)
            })
            .sum();
        let fabric = fabric("leaf-spine:4x4x8");
        let nics = (0..32).map(|host| fabric.host_port(host));
        let sent = |port: incast_fabric::PortId| first.ports[port.0 as usize].total.sent_bytes;
        let out: u64 = nics.clone().map(sent).sum();
        let back: u64 = nics.map(|port| sent(fabric.port(port).reverse)).sum();
        assert!(
            out.abs_diff(charged) <= 32 && back.abs_diff(charged) <= 32,
            "{out} {back} {charged}"
        );
        let lost: u64 = later
            .ports
            .iter()
            .zip(&first.ports)
            .map(|(a, b)| a.total.sent_bytes.abs_diff(b.total.sent_bytes))
            .max()
            .unwrap();
        assert!(lost <= 1);
    }
}
