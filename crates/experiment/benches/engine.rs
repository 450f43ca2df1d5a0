//! The engine beside its yardstick: packet-hops per second of a bare event kernel and of small
//! networks with transports. `incast bench` has the large cases and the shares of the kernel.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use incast_experiment::{Plan, Scenario, bench::kernel, prepare};
use incast_sim::{Monitor, run};
use std::hint::black_box;

const KERNEL_HOPS: u64 = 300_000;

fn event_kernel(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("event kernel");
    group.sample_size(10).throughput(Throughput::Elements(KERNEL_HOPS));
    group.bench_function("1024 ports, 100000 packets", |timer| {
        timer.iter(|| black_box(kernel::run(black_box(KERNEL_HOPS))))
    });
    group.finish();
}

/// What `traffic` says, carried by one transport on 2 leaves, 2 spines and 8 hosts.
fn plan(transport: &str, traffic: &str) -> Plan {
    let text = format!(
        "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[transport]\nnames = [\"{transport}\"]\n\
         [[traffic]]\n{traffic}\n"
    );
    let scenario = Scenario::parse(&text, "benchmark", &[]).expect("a valid scenario");
    Plan::new(scenario).expect("a valid scenario")
}

fn networks(bench: &mut Criterion) {
    for (name, traffic) in [
        ("permutation", "kind = \"permutation\"\nsize = \"1MB\""),
        ("incast", "kind = \"incast\"\nreceiver = 0\nsize = \"300KB\""),
    ] {
        let mut group = bench.benchmark_group(name);
        group.sample_size(10);
        for transport in ["dctcp", "ren", "ndp"] {
            let plan = plan(transport, traffic);
            let setup = || prepare(&plan, &plan.cases[0], vec![]).expect("a valid scenario");
            let monitor = Monitor::default();
            let (record, _) = run(setup(), 1, &monitor);
            assert!(record.complete, "{transport} finishes its {name}");
            group.throughput(Throughput::Elements(record.packet_hops));
            group.bench_function(transport, |timer| {
                let one = |setup| black_box(run(setup, 1, &monitor));
                timer.iter_batched(setup, one, BatchSize::PerIteration)
            });
        }
        group.finish();
    }
}

criterion_group!(benches, event_kernel, networks);
criterion_main!(benches);
