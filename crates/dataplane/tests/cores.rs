//! A switch whose ports are spread over two cores against the same switch on one, under a virtual
//! clock. Equal: what every flow did and when, and every port's series. Links have different
//! delays: of frames that come at one instant, those of the other core come last.

use incast_dataplane::{Crossing, Mem, SharedClock, Testbed, run_virtual};
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

#[test]
fn two_cores_do_what_one_does() {
    for name in ["dctcp", "ren", "ndp"] {
        let (one, _) = run_virtual(scenario(name).setup());
        assert!(one.complete, "{name}");
        let setup = || scenario(name).setup();
        let fabric = setup().fabric;
        let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup().framing)));
        let ports: Vec<u32> = fabric.ports_of(incast_fabric::NodeId(4)).collect();
        let groups = [vec![ports[0], ports[2]], vec![ports[1], ports[3]]];
        let mut clocks = SharedClock::of(3).into_iter();
        let mut clock = || clocks.next().unwrap();
        let mut hosts = Testbed::part(setup(), wires.clone(), clock(), &[0, 1, 2, 3]);
        let mut cores: Vec<_> = Crossing::of(&groups, 64)
            .into_iter()
            .map(|crossing| Testbed::core(setup(), wires.clone(), clock(), 4, crossing))
            .collect();
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
