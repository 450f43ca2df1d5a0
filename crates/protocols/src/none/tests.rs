//! Known results.

use super::*;
use incast_testkit::{FOREVER, MSS, Trial, dumbbell, flow, ms, star, us};
use incast_transport::{Limit, Rate, Span, Time};

const CHARGED: u64 = 1538;

#[test]
fn a_lone_flow_is_paced_to_its_rate() {
    let fabric = star(2, Rate::from_gbps(10), us(1));
    let packets = 100;
    let flows = vec![flow(0, 0, 1, packets * MSS, Time::ZERO)];
    let run = Trial::new(&ENTRY, fabric, flows).set("rate", "1Gbps").until(ms(10), us(10)).run();
    let gap = Rate::from_gbps(1).tx_time(incast_transport::Bytes(CHARGED)).0;
    let hop = Rate::from_gbps(10).tx_time(incast_transport::Bytes(CHARGED)).0 + us(1).0;
    assert_eq!(run.flows[0].completed, Some(Time((packets - 1) * gap + 2 * hop)));
}

#[test]
fn neither_losses_nor_queues_change_the_rate() {
    let flows = (0..4).map(|one| flow(one, one, 4 + one, FOREVER, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, dumbbell(4, Rate::from_gbps(10), us(1)), flows);
    trial.buffer = Limit::Packets(100);
    let run = trial.set("rate", "10Gbps").until(ms(5), us(100)).run();
    let sent = |port: &&incast_transport::PortRecord| port.total.sent_bytes;
    let bottleneck = run.ports.iter().max_by_key(|port| port.total.drops).expect("ports");
    let could = 10_000_000_000 / 8 * 5 / 1000;
    assert!(sent(&bottleneck) > could * 99 / 100, "{} of {could} bytes", sent(&bottleneck));
    // Four times what the link carries arrives.
    let dropped = bottleneck.total.drops as u64 * CHARGED;
    let share = dropped as f64 / (dropped + sent(&bottleneck)) as f64;
    assert!((share - 0.75).abs() < 0.01, "{share}");
}

#[test]
fn what_is_lost_is_sent_again() {
    let flows = (0..4).map(|one| flow(one, one, 4 + one, 100 * MSS, Time::ZERO)).collect();
    let mut trial = Trial::new(&ENTRY, dumbbell(4, Rate::from_gbps(10), us(1)), flows);
    trial.buffer = Limit::Packets(20);
    let run = trial.set("rto_min", "1ms").until(Span::from_secs(10), us(100)).run();
    assert!(run.flows.iter().all(|flow| flow.completed.is_some()), "{:?}", run.flows);
    assert!(run.ports.iter().any(|port| port.total.drops > 0));
}

#[test]
fn wrong_settings_are_refused() {
    let wrong = Params::read(&[("rate".into(), "0bps".into())]).unwrap_err();
    assert!(wrong.to_string().starts_with("rate = `0bps`: expected auto, or more than 0"));
}
