//! Known results of the traditional scheme: its clock only ever turns one packet into one grant.

use super::*;
use incast_testkit::{SLOT, SlotNetwork, impaired_flows};
use incast_transport::Time;

#[test]
fn the_queue_of_two_bursts_stays() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 2, 10, Limit::Unlimited);
    let start = Time::ZERO + net.round * 4;
    (0..2).for_each(|pair| net.flow(pair, 100_000, start - SLOT));
    let (sent, queue) = net.rounds(start, 20);
    assert!(queue.iter().all(|packets| packets.abs_diff(10) <= 1), "{queue:?}");
    assert_eq!(sent[1..], [10; 19]);
}

#[test]
fn freed_slots_stay_empty() {
    let mut net = SlotNetwork::new(&ENTRY, &[("burst", "1")], 5, 5, Limit::Unlimited);
    let start = Time::ZERO + net.round * 4;
    for pair in 0..5 {
        let packets = if pair < 2 { 20 } else { 100_000 };
        net.flow(pair, packets, start + SLOT * pair as u64 - SLOT);
    }
    let (sent, _) = net.rounds(start, 40);
    assert_eq!(sent[2..18], [5; 16]);
    assert_eq!(sent[25..40], [3; 15], "REN figure 2: three of five slots are used");
}

#[test]
fn a_lone_flow_within_its_burst_takes_the_ideal_time() {
    let mut net = SlotNetwork::new(&ENTRY, &[], 1, 10, Limit::Unlimited);
    net.flow(0, 10, Time::ZERO + SLOT);
    net.network.run(Time::ZERO + SLOT * 100);
    // Ten packets over two links of a slot each, one after another.
    assert_eq!(net.network.completed(0), Some(Time::ZERO + SLOT * 12));
}

#[test]
fn lost_duplicated_and_late_packets_do_no_harm() {
    (0..30).for_each(|seed| impaired_flows(&ENTRY, seed, &[], 1));
}
