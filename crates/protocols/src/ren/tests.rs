use super::*;
use crate::trd::world::{Dumbbell, SLOT};
use incast_transport::Time;

fn together(flows: u32, round: u32, settings: &[(&str, &str)]) -> (Vec<usize>, Vec<usize>) {
    let mut net = Dumbbell::new(&ENTRY, settings, flows, round, Limit::Unlimited);
    let start = Time::ZERO + net.round * 4;
    for pair in 0..flows {
        net.flow(pair, 100_000, start - SLOT);
    }
    net.prime(start);
    net.rounds(start, 8)
}

#[test]
fn explore() {
    for (m, b) in [(2, 10), (3, 10), (4, 33), (2, 2)] {
        println!("m={m} B={b}: {:?}", together(m, b, &[]));
    }
    println!("literal {:?}", together(2, 10, &[("feedback", "literal")]));
}
