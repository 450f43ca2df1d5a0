//! Nodes that look at the time late: clocks in coarse steps, and one that stalls.
//!
//! A node cannot answer before it looks, so each step of the clock lengthens every link by up to a step.
//! What that allows is what the same transport reaches on links that are longer by a step, with exact
//! clocks. It is told the base RTT of those, as a node that measures it is, and has queues that hold
//! what comes in a step.

use crate::common::{of, trial};
use crate::outside::Outside;
use incast_dataplane::{Clock, Mem, Testbed, run_virtual};
use incast_testkit::{Trial, fabric, flow};
use incast_transport::*;
use incast_world::{Faults, Monitor};

/// A clock that each look without work advances by `step`, and now and then by up to `stall` more.
struct Coarse {
    now: u64,
    step: u64,
    stall: u64,
    random: Random,
}

impl Coarse {
    fn new(step: Span, stall: Span) -> Coarse {
        Coarse { now: 0, step: step.0, stall: stall.0, random: Random::new(1, 1, 1) }
    }
}

impl Clock for Coarse {
    fn now(&mut self) -> Time {
        Time(self.now)
    }

    fn idle(&mut self, _due: Time) {
        self.now += self.step;
        if self.stall > 0 && self.random.chance(0.0005) {
            self.now += self.random.below(self.stall);
        }
    }
}

/// Propagation of a link.
const LINK: Span = Span::from_us(5);

/// Two flows of 300 KB through a link of 1 Gb/s that hosts receive 99 of 100 packets of.
fn pair(name: &'static str, propagation: Span, step: Span, seed: u64) -> Trial<'static> {
    let mut trial = trial(&[name], "dumbbell:2x2", propagation, Limit::Bytes(256 << 10));
    trial.fabric = fabric("dumbbell:2x2", Rate::from_gbps(1), propagation).into();
    let of = |id| of(name, flow(id, id, id + 2, 300_000, Time::ZERO));
    trial.flows = vec![of(0), of(1)];
    trial.options.until = Time::ZERO + Span::from_secs(10);
    trial.options.capture.clear();
    trial.options.faults = Faults { loss: 0.01, ..Faults::default() };
    trial.options.seed = seed;
    let queues = match name {
        "amrt" => ("data_packets", "170"),
        "ndp" => ("data_queue", "1MB"),
        "ccrp" | "expresspass" => ("credit_queue", "100"),
        "phost" if step >= Span::from_us(100) => ("token_life", "50"),
        // A look that comes late is a steep rise of the delay.
        "timely" => ("max_decrease", "0.5"),
        _ => return trial,
    };
    trial.settings.push(queues);
    if name == "phost" {
        trial.settings.push(("buffer", "auto"));
    }
    trial
}

/// When the last flow is complete, in picoseconds, and packet-hops.
fn sums(record: &RunRecord, what: &str) -> [f64; 2] {
    let ends = record
        .flows
        .iter()
        .map(|flow| flow.completed.unwrap_or_else(|| panic!("{what}: not complete")));
    let last = ends.max().expect("there are flows");
    [last.0 as f64, record.packet_hops as f64]
}

/// All transports keep half of what the clock allows, and send at most half more packets.
fn keeps_up(step: Span, stall: Span) {
    let all = incast_protocols::CATALOGUE.iter().map(|entry| (entry.info().name, None));
    let unordered = Some(("reliability", "unordered"));
    let unordered = ["swift", "dctcp", "hpcc"].map(|name| (name, unordered));
    for (name, setting) in all.chain(unordered) {
        let (mut exact, mut late) = ([0.0; 2], [0.0; 2]);
        for seed in 1..=5 {
            let mut far = pair(name, LINK + step, step, seed);
            far.settings.extend(setting);
            let (record, _) = run_virtual(far.setup());
            exact.iter_mut().zip(sums(&record, name)).for_each(|(sum, one)| *sum += one);
            let mut near = pair(name, LINK, step, seed);
            near.settings.extend(setting);
            near.told_rtt = Some(far.base_rtt());
            let io = Outside(Mem::new(&near.fabric, Framing::ETHERNET));
            let testbed = Testbed::with(near.setup(), io, Coarse::new(step, stall));
            let record = testbed.run_timed(&Monitor::default()).record;
            late.iter_mut().zip(sums(&record, name)).for_each(|(sum, one)| *sum += one);
        }
        let [time, packets] = [late[0] / exact[0], late[1] / exact[1]];
        println!("{name}: {time:.2} of the time, {packets:.2} of the packets");
        // Every stall halves TIMELY's rate, which then rises by a thousandth of the link per RTT.
        let most = if name == "timely" { 8.0 } else { 2.0 };
        assert!(time <= most, "{name}: {time:.2} of the time on links longer by a step");
        assert!(packets <= 1.5, "{name}: {packets:.2} of the packets");
    }
}

#[test]
fn every_transport_keeps_up_with_a_clock_in_steps_of_1_us() {
    keeps_up(Span::from_us(1), Span::ZERO);
}

#[test]
fn every_transport_keeps_up_with_a_clock_in_steps_of_10_us() {
    keeps_up(Span::from_us(10), Span::ZERO);
}

#[test]
fn every_transport_keeps_up_with_a_clock_in_steps_of_100_us() {
    keeps_up(Span::from_us(100), Span::ZERO);
}

#[test]
fn every_transport_keeps_up_with_a_clock_in_steps_of_500_us() {
    keeps_up(Span::from_us(500), Span::ZERO);
}

/// A fifth of the time is in stalls of up to 1 ms, 14 times the base RTT.
#[test]
fn every_transport_keeps_up_with_a_clock_that_stalls() {
    keeps_up(Span::from_us(1), Span::from_ms(1));
}
