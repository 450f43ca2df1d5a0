//! Measures the speed of the engine with a minimal transport: a permutation of window flows.

#[path = "../tests/all/common.rs"]
mod common;

use common::{Plain, fabric};
use incast_sim::{Monitor, run};
use incast_testkit::{Trial, flow};
use incast_transport::*;

fn main() {
    let threads = std::env::args().nth(1).map_or(1, |text| text.parse().expect("threads"));
    let flows = (0..384).map(|id| flow(id, id, (id + 173) % 384, 1 << 30, Time::ZERO)).collect();
    let plain = Plain { window: Some(40), ..Plain::default() };
    let mut trial = Trial::new(&plain, fabric("leaf-spine:8x8x48"), flows);
    trial.buffer = Limit::Unlimited;
    trial.options.until = Time(2_000_000_000);
    let setup = trial.setup();
    let start = std::time::Instant::now();
    let record = run(setup, threads, &Monitor::default()).0;
    let wall = start.elapsed().as_secs_f64();
    let mhops = record.packet_hops as f64 / wall / 1e6;
    println!(
        "{} hops {} events {wall:.3} s {mhops:.2} M hops/s",
        record.packet_hops, record.events
    );
}
