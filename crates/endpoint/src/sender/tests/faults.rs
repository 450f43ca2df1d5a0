//! Whatever the network does, every flow is delivered once and completes.

use super::controls::*;
use crate::sender::{Admission, DelayedAck, Options, Reliability};
use incast_transport::*;

fn survives(seed: u64, options: Options) {
    let mut random = Random::new(seed, 0, 9);
    let loss = [0.01, 0.02, 0.05, 0.2][seed as usize % 4];
    let (mut network, _) = pair(10 * MSS, options, chaos(seed, loss));
    let mut flows = vec![];
    for id in 0..12 {
        let size = 1 + random.below(120_000);
        let back = random.chance(0.5) as u32;
        let segments = match random.below(2) {
            0 => Segments::Uniform(MSS as u16),
            _ => {
                let mut ends = vec![];
                while ends.last() != Some(&size) {
                    let from = ends.last().copied().unwrap_or(0);
                    ends.push((from + 1 + random.below(1_460)).min(size));
                }
                Segments::Table(ends.into())
            }
        };
        let ends = Flow {
            src: HostId(back),
            dst: HostId(1 - back),
            segments,
            ..flow(id, 0, 1, size, Time::ZERO)
        };
        network.open(&ends);
        flows.push(ends);
        let until = network.now + Span::from_ns(random.below(20_000));
        network.run(until);
    }
    network.settle(Time::ZERO + Span::from_secs(3_000));
    network.assert_complete();
}

fn tcp() -> Options {
    Options::tcp(ID, Span::from_ms(1))
}

#[test]
fn sack_survives_faults() {
    (0..150).for_each(|seed| survives(seed, tcp()));
}

#[test]
fn newreno_survives_faults() {
    (0..100)
        .for_each(|seed| survives(seed, Options { reliability: Reliability::NewReno, ..tcp() }));
}

#[test]
fn going_back_survives_faults() {
    let reliability = Reliability::GoBackN { again: Span::from_us(500) };
    let admission = Admission::Below;
    (0..100).for_each(|seed| survives(seed, Options { reliability, admission, ..tcp() }));
}

#[test]
fn delayed_acks_survive_faults() {
    let delayed_ack = Some(DelayedAck { count: 2, timeout: Span::from_us(200) });
    (0..100).for_each(|seed| survives(seed, Options { delayed_ack, ..tcp() }));
}

#[test]
fn acks_in_the_control_class_survive_faults() {
    (0..40).for_each(|seed| survives(seed, Options { ack_class: 0, ..tcp() }));
}
