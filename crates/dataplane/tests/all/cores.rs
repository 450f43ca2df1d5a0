//! A switch whose ports are spread over two cores against the same switch on one, under a virtual
//! clock. Equal: what every flow did and when, and every port's series. Links have different
//! delays: of frames that come at one instant, those of the other core come last.

use incast_dataplane::{Crossing, Mem, PacketIo, Ran, SharedClock, Testbed, run_virtual};
use incast_testkit::{Trial, flow};
use incast_transport::*;
use incast_world::Monitor;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Four hosts at a switch, and three flows that meet at host 3.
fn scenario(name: &str) -> Trial<'static> {
    let entry = incast_protocols::find(name).unwrap();
    let mut graph = incast_fabric::Graph::new();
    let switch = graph.add_switch();
    for place in 0..4u64 {
        let host = graph.add_host();
        let delay = Span::from_ns(5_000 + 137 * place);
        graph.link(host, switch, Rate::from_gbps(1), delay, 0.0).unwrap();
    }
    let fabric = Arc::new(graph.build().unwrap());
    let flows = (0..3).map(|host| flow(host, host, 3, 300_000, Time(u64::from(host) * 777_777)));
    let mut trial = Trial::new(entry, fabric, flows.collect());
    trial.options.until = Time::ZERO + Span::from_ms(200);
    trial
}

type Wires = Rc<RefCell<Mem>>;
type Part = Testbed<Wires, SharedClock>;

/// The wires, the hosts, and the switch on two cores with these ports.
fn spread(name: &str) -> (Wires, Part, Vec<Part>, [Vec<u32>; 2]) {
    let setup = || scenario(name).setup();
    let fabric = setup().fabric;
    let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup().framing)));
    let ports: Vec<u32> = fabric.ports_of(incast_fabric::NodeId(4)).collect();
    let groups = [vec![ports[0], ports[2]], vec![ports[1], ports[3]]];
    let mut clocks = SharedClock::of(3).into_iter();
    let mut clock = || clocks.next().unwrap();
    let hosts = Testbed::part(setup(), wires.clone(), clock(), &[0, 1, 2, 3]);
    let cores = Crossing::of(&groups, 64)
        .into_iter()
        .map(|crossing| Testbed::core(setup(), wires.clone(), clock(), 4, crossing))
        .collect();
    (wires, hosts, cores, groups)
}

/// Runs that end while frames are on their way from core to core: all are counted, and all go back.
#[test]
fn what_lies_between_cores_at_the_end_is_counted() {
    let mut most = 0;
    for more in 0..40 {
        let (wires, mut hosts, mut cores, _) = spread("dctcp");
        let mut turn = || {
            hosts.turn();
            // The second looks before the first hands something over.
            cores[1].turn();
            cores[0].turn();
            hosts.now()
        };
        while turn() < Time(4_000_000_000) {}
        (0..more).for_each(|_| _ = turn());
        let stop = Monitor::default();
        stop.stop.store(true, Ordering::Relaxed);
        hosts.run_timed(&stop);
        let mut ran: Vec<_> = cores.into_iter().map(|core| core.run_timed(&stop)).collect();
        let left: u64 = ran.iter_mut().map(Ran::drain_crossing).sum();
        let (crossed, taken) =
            ran.iter().fold((0, 0), |sum, core| (sum.0 + core.crossed, sum.1 + core.taken));
        assert_eq!(crossed, taken + left);
        assert_eq!((wires.borrow().held(), wires.borrow().lost()), (0, 0));
        most = most.max(left);
    }
    assert!(most > 0, "nothing was on its way");
}

#[test]
fn two_cores_do_what_one_does() {
    for name in ["dctcp", "ren", "ndp"] {
        let (one, _) = run_virtual(scenario(name).setup());
        assert!(one.complete, "{name}");
        let (_, mut hosts, mut cores, groups) = spread(name);
        while hosts.now() < one.ended {
            hosts.turn();
            cores.iter_mut().for_each(|core| {
                core.turn();
            });
        }
        let stop = Monitor::default();
        stop.stop.store(true, Ordering::Relaxed);
        let ends = hosts.run_timed(&stop).record;
        for (one, two) in one.flows.iter().zip(&ends.flows) {
            let of = |flow: &FlowRecord| {
                (flow.started, flow.completed, flow.delivered, flow.packets, flow.retransmits)
            };
            assert_eq!(of(one), of(two), "{name}");
        }
        let ran: Vec<_> = cores.into_iter().map(|core| core.run_timed(&stop)).collect();
        assert!(ran.iter().all(|core| core.crossed > 200), "{name}");
        for (core, own) in ran.iter().zip(&groups) {
            for port in own {
                let total = |record: &RunRecord| {
                    let port = record.ports.iter().find(|one| one.port == *port).unwrap();
                    let Bin { sent_packets, sent_bytes, marks, drops, trims, backlog_max, .. } =
                        port.total;
                    (sent_packets, sent_bytes, marks, drops, trims, backlog_max)
                };
                assert_eq!(total(&one), total(&core.record), "{name}, port {port}");
            }
        }
        let frames = |records: &[&RunRecord]| records.iter().map(|one| one.events).sum::<u64>();
        let all = [&ends, &ran[0].record, &ran[1].record];
        assert_eq!(frames(&[&one]), frames(&all), "{name}");
    }
}
