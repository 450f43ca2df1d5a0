//! Packets in, packets out, at times.

use super::world::*;
use crate::sender::{Loss, Options, Reliability};
use incast_transport::*;

fn tcp() -> Options {
    Options::tcp(ID, Span::from_ms(10))
}

fn newreno() -> Options {
    Options { reliability: Reliability::NewReno, ..tcp() }
}

fn never() -> Hand {
    Box::new(|_, _| Way::Arrives)
}

/// Loses the first copies of these segments, and for each repetition in the list one more copy.
fn lose(segments: &[u64]) -> Hand {
    let mut left: Vec<u32> = segments.iter().map(|s| (s * MSS) as u32).collect();
    Box::new(move |packet, _| {
        let Header::Segment { seq, .. } = packet.header else { return Way::Arrives };
        let hit = left.iter().position(|&s| packet.is_data() && s == seq);
        hit.map_or(Way::Arrives, |at| {
            left.swap_remove(at);
            Way::Lost
        })
    })
}

/// Segments sent again, in order.
fn repeats<L: crate::sender::Law>(world: &World<L>) -> Vec<u64> {
    let again = world.log.iter().filter(|s| s.packet.has(flag::RETRANSMIT));
    again.map(|s| s.packet.header.data_key() as u64 / MSS).collect()
}

fn losses(told: &[Told]) -> Vec<Loss> {
    told.iter().filter_map(|t| if let Told::Loss(loss) = t { Some(*loss) } else { None }).collect()
}

const END: Time = Time(Span::from_secs(100).0);
/// One segment at 10 Gb/s, and its answer.
const TX: Span = Span::from_ns(1_230);
fn packet_time() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(1_538))
}
fn answer_time() -> Span {
    Rate::from_gbps(10).tx_time(Bytes(84))
}
fn round_trip() -> Span {
    packet_time() + answer_time() + Span::from_us(10)
}

#[test]
fn a_lone_window_takes_the_ideal_time() {
    let (mut world, told) = pair(10 * MSS, tcp(), never());
    let flow = flow(0, 10 * MSS);
    world.open(&flow);
    world.run(END);
    assert_eq!(world.completed(0), Some(Time::ZERO + packet_time() * 10 + Span::from_us(5)));
    world.assert_delivered_once(&flow);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 10);
    let first = Told::Ack {
        bytes: MSS,
        sacked: 0,
        ece: false,
        rtt: Some(round_trip()),
        limited: false,
        recovering: false,
    };
    assert_eq!(told[0], first);
    assert!(TX < packet_time());
}
