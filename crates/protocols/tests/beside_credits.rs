//! Reactive transports beside credits on one link: the motivation of CCRP (§2.2, Fig. 3 and 5).

use incast_egress::port::Join;
use incast_fabric::LinkDefaults;
use incast_sim::{Monitor, run};
use incast_transport::*;
use incast_world::{FlowSetup, Lane, Options, assemble, fabric_site};
use std::sync::Arc;

/// Shares of the link from 50 to 100 ms, of a reactive flow that begins at once and of one with
/// credits that begins 10 ms later: 10 Gb/s, 5 us a link, 1 MB of buffer.
fn shares(reactive: &str, credit: &str) -> (f64, f64) {
    let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(5));
    let defaults = LinkDefaults { rate, propagation, loss: 0.0 };
    let fabric = Arc::new(incast_fabric::parse("dumbbell:2x2", defaults).unwrap());
    let site = fabric_site(&fabric, Framing::ETHERNET, Limit::Bytes(1_000_000), None, None);
    let lanes = [reactive, credit].map(|name| {
        let entry = incast_protocols::find(name).expect("in the catalogue");
        let configured = entry.configure(&[], site.clone()).expect("defaults");
        Lane { info: entry.info(), configured, routing: entry.info().routing }
    });
    let flows = lanes.iter().enumerate().map(|(index, lane)| FlowSetup {
        flow: Flow {
            id: FlowId(index as u32),
            src: HostId(index as u32),
            dst: HostId(2 + index as u32),
            size: 1 << 40,
            start: Time::ZERO + Span::from_ms(10) * index as u64,
            segments: Segments::Uniform(1_460),
        },
        transport: lane.info.id,
        after: vec![],
        delay: Span::ZERO,
    });
    let options = Options {
        until: Time::ZERO + Span::from_ms(100),
        interval: Span::from_ms(1),
        watch: vec![FlowId(0), FlowId(1)],
        ..Options::default()
    };
    let flows = flows.collect();
    let setup = assemble(fabric.clone(), site, &lanes, Join::Shared, flows, None, options).unwrap();
    let record = run(setup, 1, &Monitor::default()).0;
    let share = |of: usize| {
        let bytes: u64 = record.series[of].delivered[50..].iter().sum();
        bytes as f64 / 0.05 / 1.25e9
    };
    (share(0), share(1))
}

#[test]
fn expresspass_starves_every_reactive_transport() {
    for reactive in ["cubic", "dcqcn", "dctcp", "timely"] {
        let (left, taken) = shares(reactive, "expresspass");
        // What credits do not take: with CUBIC some of their data is lost in a full buffer.
        assert!(left < 0.1 && taken > 6.0 * left, "{reactive}: {left} beside {taken}");
    }
}

#[test]
fn ccrp_leaves_a_share_to_those_that_answer_marks() {
    // Each transport's packets are marked by its own rule. DCTCP's is the stricter one: it gives
    // way. One rule for the whole queue (`transport.marking`) makes the two about equal.
    for (reactive, least) in [("dcqcn", 0.2), ("dctcp", 0.03)] {
        let (left, taken) = shares(reactive, "ccrp");
        assert!(left > least && left + taken > 0.9, "{reactive}: {left} beside {taken}");
    }
}
