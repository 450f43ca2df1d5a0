//! What a packet hop costs at a port: one enqueue and one dequeue, with a steady backlog.

use criterion::{Criterion, criterion_group, criterion_main};
use incast_egress::port::build;
use incast_testkit::{Harness, data, switch_port};
use incast_transport::*;
use std::hint::black_box;

/// Marks above a backlog of 65 packets (DCTCP).
struct Threshold;

impl Marker for Threshold {
    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        if view.data.packets < 65 {
            return false;
        }
        packets[packet].mark = Ecn::Ce as u8;
        true
    }

    fn sees(&self) -> (bool, bool) {
        (true, false)
    }
}

fn site() -> PortSite {
    let site = switch_port(Rate::from_gbps(100), Span::from_us(10));
    PortSite { buffer: Limit::Packets(256), ..site }
}

fn hop(bench: &mut Criterion, name: &str, classes: Vec<ClassPolicy>, marker: bool) {
    let markers: Vec<Box<dyn Marker>> = if marker { vec![Box::new(Threshold)] } else { vec![] };
    let policy = Policy { transport: TransportId(1), classes, markers };
    let mut port = build(vec![policy], &site()).expect("a policy alone");
    let mut harness = Harness::new();
    let mut now = Time::ZERO;
    for seq in 0..32 {
        let packet = harness.packets.create(data(TransportId(1), seq, 0));
        harness.enqueue(&mut *port, now, packet);
    }
    bench.bench_function(name, |timer| {
        timer.iter(|| {
            now += Span::from_ns(124);
            let mut env = harness.port_env(now);
            let Dequeue::Packet(packet) = port.dequeue(&mut env, black_box(Classes::ALL)) else {
                unreachable!("there is a backlog")
            };
            black_box(port.enqueue(&mut env, packet))
        })
    });
}

fn hops(bench: &mut Criterion) {
    let fifo = ClassPolicy::fifo(Limit::Packets(256));
    let weighted = |weight| ClassPolicy { schedule: Schedule::Weighted(weight), ..fifo };
    let trim = Discipline::Trim { headers: 0, tail: 0.5, bounce: true };
    let trimming = ClassPolicy { discipline: trim, ..weighted(1) };
    hop(bench, "drop-tail", vec![fifo, fifo], false);
    hop(bench, "drop-tail, a marker", vec![fifo, fifo], true);
    hop(bench, "eight strict classes, a marker", vec![fifo; 8], true);
    hop(bench, "trimming, weighted", vec![weighted(10), trimming], false);
}

criterion_group!(benches, hops);
criterion_main!(benches);
