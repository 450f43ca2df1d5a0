//! The same packets in the same order at the same times in simulator and data plane.

use crate::common;
use crate::common::{BothWorlds, of, trial};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;
use incast_world::{Faults, Pfc, SharedBuffer, sufficient_headroom};
use std::sync::Arc;

fn names() -> Vec<&'static str> {
    incast_protocols::CATALOGUE.iter().map(|transport| transport.info().name).collect()
}

fn drops(record: &RunRecord) -> u32 {
    record.ports.iter().map(|port| port.total.drops).sum()
}

fn trims(record: &RunRecord) -> u32 {
    record.ports.iter().map(|port| port.total.trims).sum()
}

/// A transport whose ports were changed.
struct Changed {
    inner: Arc<dyn Configured>,
    id: TransportId,
    nic: Option<Vec<ClassPolicy>>,
    marker: Option<fn() -> Box<dyn Marker>>,
}

impl Configured for Changed {
    fn host(&self, site: &HostSite) -> Box<dyn Host> {
        self.inner.host(site)
    }
    fn policy(&self, site: &PortSite) -> Policy {
        let mut policy = match &self.nic {
            Some(nic) if site.nic => {
                Policy { transport: self.id, classes: nic.clone(), markers: vec![] }
            }
            _ => self.inner.policy(site),
        };
        policy.markers.extend(self.marker.map(|make| make()));
        policy
    }
    fn shapes_nic(&self) -> bool {
        true
    }
    fn hook(&self, site: &SwitchSite) -> Option<Box<dyn SwitchHook>> {
        self.inner.hook(site)
    }
    fn resolved(&self) -> Vec<(&'static str, String)> {
        self.inner.resolved()
    }
    fn unsolicited(&self, site: &HostSite, packets: u32) -> u32 {
        self.inner.unsolicited(site, packets)
    }
}

/// What is changed of ports.
#[derive(Clone, Default)]
struct Ports {
    /// The classes of every NIC, whose port then has a policy of its own.
    nic: Option<Vec<ClassPolicy>>,
    /// Only this transport's.
    only: Option<&'static str>,
    /// Every port, NICs included, has this marker too.
    marker: Option<fn() -> Box<dyn Marker>>,
}

/// Changes every port.
fn change(trial: &mut Trial<'static>, ports: Ports) {
    trial.change = Some(Box::new(move |info, inner| {
        if ports.only.is_some_and(|only| only != info.name) {
            return inner;
        }
        Arc::new(Changed { inner, id: info.id, nic: ports.nic.clone(), marker: ports.marker })
    }));
}

/// One long flow, into which two senders burst at line rate; 10 Gb/s, 8 us per link, 64 KiB.
fn dumbbell(name: &'static str) -> Trial<'static> {
    let mut scenario = trial(&[name], "dumbbell:3x2", Span::from_us(8), Limit::Bytes(64 << 10));
    scenario.flows = vec![
        of(name, flow(0, 0, 3, 3_000_000, Time::ZERO)),
        of(name, flow(1, 1, 4, 200_000, at(1_000))),
        of(name, flow(2, 2, 4, 200_000, at(1_000))),
    ];
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

/// Seven senders start at once into 32 packets of buffer, beside flows across the spines.
fn incast(name: &'static str) -> Trial<'static> {
    let mut scenario = trial(&[name], "leaf-spine:3x2x4", Span::from_us(2), Limit::Packets(32));
    let pairs = (1..8).map(|src| (src, 0)).chain([(8, 4), (9, 1), (0, 10), (5, 11)]);
    scenario.flows = pairs
        .enumerate()
        .map(|(id, pair)| {
            of(name, flow(id as u32, pair.0, pair.1, 150_000 + 1_111 * id as u64, Time::ZERO))
        })
        .collect();
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

#[test]
fn dumbbell_with_burst() {
    for name in names() {
        let (record, packets) = dumbbell(name).same_in_both_worlds();
        assert!(record.complete, "{name} does not finish");
        assert!(packets.len() > 9_000, "{name}: {} packets", packets.len());
        assert_eq!(record.malformed, 0);
    }
}

#[test]
fn incast_with_losses_on_a_leaf_spine() {
    let mut lossy = 0;
    for name in names() {
        let (record, _) = incast(name).same_in_both_worlds();
        assert!(record.complete, "{name} does not finish");
        lossy += (drops(&record) + trims(&record) > 0) as u32;
    }
    assert!(lossy >= 3, "only {lossy} transports met a full buffer");
}

/// Window laws over packets that may come in any order, spread by their sources and by switches.
#[test]
fn packets_in_any_order_are_the_same() {
    for name in ["swift", "dctcp", "hpcc"] {
        for routing in [Routing::Entropy, Routing::SourcePath, Routing::Spray, Routing::RoundRobin]
        {
            for faults in [0.0, 0.01] {
                let mut scenario = incast(name);
                scenario.settings = vec![("reliability", "unordered")];
                scenario.routing = Some(routing);
                let late = Span::from_us(20);
                scenario.options.faults =
                    Faults { loss: faults, reorder: 2.0 * faults, duplicate: faults, late };
                let (record, _) = scenario.same_in_both_worlds();
                assert!(record.complete && record.malformed == 0, "{name}, {routing:?}");
            }
        }
    }
}

#[test]
fn a_first_round_without_credits_is_the_same() {
    let mut scenario = incast("expresspass");
    scenario.settings = vec![("first_rtt", "aeolus")];
    let (record, packets) = scenario.same_in_both_worlds();
    assert!(record.complete && drops(&record) > 0);
    let early = |seen: &&incast_world::Captured| {
        matches!(seen.packet.header, Header::Data { .. } | Header::Probe { .. })
    };
    assert!(packets.iter().filter(early).count() > 50);
}

#[test]
fn every_load_balancing_takes_the_same_ports() {
    for (_, routing) in Routing::NAMES {
        let mut scenario = incast("ndp");
        scenario.routing = Some(routing);
        scenario.same_in_both_worlds();
    }
}

#[test]
fn shared_buffers_admit_the_same_packets() {
    for name in ["dctcp", "ren"] {
        let mut scenario = incast(name);
        scenario.buffer = Limit::Unlimited;
        scenario.shared = Some(SharedBuffer { pool: 60_000, alpha: 1.3 });
        let (record, _) = scenario.same_in_both_worlds();
        assert!(drops(&record) > 0, "{name}: the shared buffer was never full");
    }
}

/// Jumbo frames, and sizes that links charge and frames do not have.
#[test]
fn other_sizes_of_packets_are_the_same() {
    let jumbo = Framing { mtu: 9_000, ..Framing::ETHERNET };
    let charged = Framing { mtu: 4_000, header: 0, control: 64, pad_last: true, ..Framing::NONE };
    for name in ["ndp", "dctcp", "homa", "xcp"] {
        for framing in [jumbo, charged] {
            let mut scenario = incast(name);
            scenario.framing = framing;
            for setup in &mut scenario.flows {
                setup.flow.segments = Segments::Uniform(framing.mss());
            }
            let (record, packets) = scenario.same_in_both_worlds();
            assert!(record.complete, "{name} does not finish");
            let largest = packets.iter().map(|seen| seen.packet.payload).max();
            assert!(largest.is_some_and(|payload| payload + 20 >= framing.mss()), "{name}");
        }
    }
}

/// Pause frames leave and arrive at the same instants, with and without a shared pool, on links of
/// different speeds, and nothing is dropped.
#[test]
fn paused_links_hold_back_the_same_packets() {
    for name in ["dctcp", "ren", "expresspass"] {
        for shared in [None, Some(SharedBuffer { pool: 60_000, alpha: 0.25 })] {
            let mut scenario = incast(name);
            scenario.buffer = Limit::Unlimited;
            scenario.shared = shared;
            scenario.options.pfc = Some(Arc::new(Pfc {
                lossless: Classes::ALL,
                xoff: 8_000,
                xoff_by_port: vec![],
                release: 2 * 1538,
                headroom: sufficient_headroom(&scenario.fabric, Framing::ETHERNET),
                lossy: 0,
                shared,
                alpha: vec![],
                reserve: 0,
                reserve_by_port: vec![],
                set_aside: vec![],
                cyclic: false,
                watchdog: None,
            }));
            let (record, _) = scenario.same_in_both_worlds();
            assert!(record.complete, "{name} does not finish");
            let paused: u64 = record.ports.iter().map(|port| port.total.paused).sum();
            // ExpressPass drops credits, so that data need not wait.
            if name != "expresspass" {
                assert_eq!(drops(&record), 0, "{name}");
                assert!(paused > 0, "{name} was never paused");
            }
        }
    }
}

/// A ring of five switches where everybody sends two hops on: the same instant, the same circle.
#[test]
fn both_worlds_find_the_same_deadlock() {
    for shared in [None, Some(SharedBuffer { pool: 100_000, alpha: 1.0 })] {
        let (rate, delay) = (Rate::from_gbps(40), Span::from_us(1));
        let mut graph = incast_fabric::Graph::new();
        let hosts: Vec<_> = (0..5).map(|_| graph.add_host()).collect();
        let switches: Vec<_> = (0..5).map(|_| graph.add_switch()).collect();
        for i in 0..5 {
            graph.link(hosts[i], switches[i], rate, delay, 0.0).unwrap();
            graph.link(switches[i], switches[(i + 1) % 5], rate, delay, 0.0).unwrap();
        }
        let mut scenario = Trial::new(common::transport("cubic"), graph.build().unwrap(), vec![]);
        scenario.buffer = Limit::Unlimited;
        scenario.options.capture = (0..scenario.fabric.ports().len() as u32).collect();
        scenario.shared = shared;
        let long = |id: u32| of("cubic", flow(id, id, (id + 2) % 5, 50_000_000, Time::ZERO));
        scenario.flows = (0..5).map(long).collect();
        scenario.options.until = Time::ZERO + Span::from_ms(200);
        scenario.options.pfc = Some(Arc::new(Pfc {
            lossless: Classes::ALL,
            xoff: if shared.is_some() { u64::MAX / 4 } else { 20_000 },
            xoff_by_port: vec![],
            release: 2 * 1538,
            headroom: sufficient_headroom(&scenario.fabric, Framing::ETHERNET),
            lossy: 0,
            shared,
            alpha: vec![],
            reserve: 0,
            reserve_by_port: vec![],
            set_aside: vec![],
            cyclic: true,
            watchdog: None,
        }));
        let (record, _) = scenario.same_in_both_worlds();
        assert_eq!(record.deadlock.len(), 5, "{shared:?}");
        assert!(record.ended < scenario.options.until);
    }
}

#[test]
fn lost_late_and_doubled_packets_are_the_same_ones() {
    for name in names() {
        let mut scenario = incast(name);
        scenario.options.faults =
            Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(20) };
        let (record, _) = scenario.same_in_both_worlds();
        assert!(record.link_losses > 0);
        let mut scenario = dumbbell(name);
        for index in 0..scenario.fabric.ports().len() as u32 {
            let spec = *scenario.fabric.port(incast_fabric::PortId(index));
            Arc::make_mut(&mut scenario.fabric)
                .change_link(spec.node, spec.peer, None, None, Some(0.002))
                .unwrap();
        }
        let (record, _) = scenario.same_in_both_worlds();
        assert!(record.link_losses > 0, "{name}: links lose nothing");
    }
}

#[test]
fn a_failing_link_takes_the_same_packets_along() {
    for name in ["dctcp", "ndp", "ren"] {
        let mut scenario = incast(name);
        let (leaf, spine) = (incast_fabric::NodeId(12), incast_fabric::NodeId(15));
        Arc::make_mut(&mut scenario.fabric)
            .fail_link(Time(300_000_000)..Time::NEVER, leaf, spine, 0)
            .unwrap();
        scenario.same_in_both_worlds();
    }
}

/// The simulator decides a transmission at the latest when the packet before it arrives, which may
/// lie beyond the end: the last moments of a run that is cut off are not compared.
#[test]
fn a_run_that_is_cut_off_has_the_same_past() {
    for name in names() {
        let mut scenario = incast(name);
        scenario.options.until = Time(400_000_123);
        let known = scenario.options.until - (Span::from_us(2) + Span(1_538 * 800));
        let (simulated, mut packets) = scenario.simulate();
        let (record, mut received) = incast_dataplane::run_virtual(scenario.setup());
        assert!(!record.complete, "{name} is done too early for this test");
        packets.retain(|captured| captured.at < known);
        received.retain(|captured| captured.at < known);
        assert!(packets == received && packets.len() > 2_000, "{name}");
        let completed = |record: &RunRecord| -> Vec<_> {
            record.flows.iter().map(|flow| (flow.completed, flow.delivered)).collect()
        };
        assert_eq!(completed(&simulated), completed(&record), "{name}");
        assert_eq!(simulated.ended, record.ended);
    }
}

#[test]
fn shapers_in_nics_hold_the_same_packets_back() {
    for name in ["ndp", "phost", "ren"] {
        let mut scenario = incast(name);
        let data = ClassPolicy::fifo(Limit::Unlimited);
        change(
            &mut scenario,
            Ports { nic: Some(vec![shaped(Rate::from_mbps(200), 300), data]), ..Ports::default() },
        );
        let (held, _) = scenario.same_in_both_worlds();
        scenario.change = None;
        let (free, _) = scenario.same_in_both_worlds();
        assert!(held.flows != free.flows, "{name}: the shaper does nothing");
    }
}

/// A class behind a token bucket.
fn shaped(rate: Rate, depth: u64) -> ClassPolicy {
    let shaper = Some(Shaper { rate, depth: Bytes(depth) });
    ClassPolicy { shaper, ..ClassPolicy::fifo(Limit::Unlimited) }
}

/// What a NIC's port holds back waits in the host: one packet of each data class at most is here.
#[test]
fn data_that_a_nic_holds_back_stays_in_its_host() {
    for name in ["dctcp", "ndp", "phost", "ren"] {
        let mut scenario = incast(name);
        let slow = shaped(Rate::from_gbps(2), 1_538);
        change(
            &mut scenario,
            Ports {
                nic: Some(vec![ClassPolicy::fifo(Limit::Unlimited), slow]),
                ..Ports::default()
            },
        );
        scenario.options.until = Time::ZERO + Span::from_ms(20);
        let (held, _) = scenario.same_in_both_worlds();
        let nics = scenario.fabric.hosts() as usize;
        let most = held.ports[..nics].iter().map(|port| port.total.backlog_max).max().unwrap();
        assert!((1_538..2 * 1_538).contains(&most), "{name}: {most}");
    }
}

/// A NIC that would send a packet back to its source has nowhere to send it: it is dropped there.
#[test]
fn a_packet_bounced_in_its_own_nic_is_dropped() {
    let mut scenario = incast("ndp");
    let trim = Discipline::Trim { headers: 2, tail: 0.5, bounce: true };
    let data = ClassPolicy { discipline: trim, ..ClassPolicy::fifo(Limit::Bytes(1_000)) };
    let headers = ClassPolicy { limit: Limit::Packets(1), ..shaped(Rate::from_mbps(10), 84) };
    change(
        &mut scenario,
        Ports {
            nic: Some(vec![ClassPolicy::fifo(Limit::Unlimited), data, headers]),
            ..Ports::default()
        },
    );
    scenario.options.until = Time::ZERO + Span::from_ms(5);
    let (record, _) = scenario.same_in_both_worlds();
    let of_nics = |count: fn(&Bin) -> u32| -> u32 {
        let nics = &record.ports[..scenario.fabric.hosts() as usize];
        nics.iter().map(|port| count(&port.total)).sum()
    };
    assert!(of_nics(|bin| bin.drops) > 10 && of_nics(|bin| bin.trims) > 10);
}

/// Marks all that leaves from three microseconds after the first packet on, for two; then it waits
/// for a packet again. The first deadline is set on a packet, and is over before the simulator
/// looks at the port again.
#[derive(Default)]
struct Alternating {
    deadline: Option<Time>,
    marking: bool,
}

impl Marker for Alternating {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        if self.deadline.is_none() {
            self.deadline = Some(view.now + Span::from_us(3));
        }
        if self.marking && packets[packet].is_data() {
            packets[packet].mark = Ecn::Ce as u8;
        }
        self.marking
    }
    fn sees(&self) -> (bool, bool) {
        (false, true)
    }
    fn deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::NEVER)
    }
    fn wake(&mut self, now: Time, _view: &View) {
        self.marking = !self.marking;
        self.deadline = self.marking.then_some(now + Span::from_us(2));
    }
}

#[test]
fn deadlines_set_by_packets_come_in_time_at_nics_and_switches() {
    let mut scenario = dumbbell("dctcp");
    let (plain, _) = scenario.same_in_both_worlds();
    let marker: Option<fn() -> Box<dyn Marker>> = Some(|| Box::new(Alternating::default()));
    change(&mut scenario, Ports { marker, ..Ports::default() });
    let (record, _) = scenario.same_in_both_worlds();
    assert!(record.complete && record.flows != plain.flows);
    for (index, port) in record.ports.iter().enumerate().filter(|(_, p)| p.total.sent_packets > 99)
    {
        let (marks, sent) = (port.total.marks, port.total.sent_packets);
        assert!((sent / 20..sent).contains(&marks), "port {index}: {marks} of {sent} marked");
        assert!(port.bins.iter().filter(|bin| bin.marks > 0).count() > 3, "port {index}");
    }
    let nics = &record.ports[..scenario.fabric.hosts() as usize];
    assert!(nics.iter().any(|port| port.total.marks > 100));
}

/// A NIC that one transport shapes leaves the packets of the other alone.
#[test]
fn a_shaped_nic_passes_other_transports_on() {
    let mut scenario = trial(&["ren", "trd"], "star:3", Span::from_us(2), Limit::Bytes(64 << 10));
    let none = ClassPolicy::fifo(Limit::Packets(0));
    let nic = Some(vec![none; 2]);
    change(&mut scenario, Ports { nic, only: Some("ren"), marker: None });
    scenario.flows = vec![
        of("ren", flow(0, 0, 1, 50_000, Time::ZERO)),
        of("trd", flow(1, 0, 2, 50_000, Time::ZERO)),
    ];
    scenario.options.until = Time::ZERO + Span::from_ms(5);
    let (record, _) = scenario.same_in_both_worlds();
    assert_eq!((record.flows[0].delivered, record.flows[1].delivered), (0, 50_000));
}

#[test]
fn a_host_that_stops_sending_stops_in_both_worlds() {
    for name in names() {
        let mut scenario = incast(name);
        scenario.options.silent = vec![(1, Time(100_000_000)), (0, Time(5_000_000_000))];
        scenario.options.until = Time::ZERO + Span::from_ms(20);
        scenario.same_in_both_worlds();
    }
}

#[test]
fn two_transports_share_hosts_and_bottleneck() {
    for other in ["ren", "ndp", "expresspass", "ccrp"] {
        let mut scenario =
            trial(&["dctcp", other], "dumbbell:3x2", Span::from_us(8), Limit::Bytes(64 << 10));
        scenario.flows = vec![
            of("dctcp", flow(0, 0, 3, 1_500_000, Time::ZERO)),
            of(other, flow(1, 0, 3, 1_500_000, at(100))),
            of(other, flow(2, 1, 4, 400_000, at(300))),
            of("dctcp", flow(3, 2, 4, 400_000, at(300))),
        ];
        scenario.options.until = Time::ZERO + Span::from_ms(200);
        let (record, _) = scenario.same_in_both_worlds();
        assert!(record.complete, "dctcp beside {other} does not finish");
    }
}

#[test]
fn flows_that_wait_for_flows_open_at_the_same_time() {
    let mut scenario = dumbbell("dctcp");
    scenario.flows[1].after = vec![FlowId(0)];
    scenario.flows[2].after = vec![FlowId(0), FlowId(1)];
    scenario.flows[2].delay = Span::from_us(3);
    scenario.options.watch = vec![FlowId(0), FlowId(2)];
    let (record, _) = scenario.same_in_both_worlds();
    assert!(record.complete);
    let of =
        |flow: usize| (record.flows[flow].started.unwrap(), record.flows[flow].completed.unwrap());
    assert_eq!(of(1).0, of(0).1);
    assert_eq!(of(2).0, of(1).1 + Span::from_us(3));
}
