//! Grant-clocked transports retransmit lost packets, not late ones. With many flows per host,
//! granted packets wait in the sender's NIC, often for much longer than a base RTT: that must not
//! count as a loss.

use incast_fabric::{LinkDefaults, parse};
use incast_protocols::find;
use incast_testkit::{Settings, Trial, flow};
use incast_transport::*;

/// AMRT's own queues never fill.
const UNLIMITED: (&str, &str) = ("data_packets", "1000000");

/// Heavy-tailed sizes between random pairs of sixteen hosts, one flow every 7 us on average.
fn flows(seed: u64) -> Vec<Flow> {
    let mut random = Random::new(seed, 3, 3);
    let mut start = Time::ZERO;
    let make = |id| {
        let src = random.below(16) as u32;
        let dst = (src + 1 + random.below(15) as u32) % 16;
        let scale = if id % 5 == 0 { 4_000_000 } else { 100_000 };
        let size = 1 + random.below(scale);
        start += Span::from_ns(random.below(14_000));
        flow(id, src, dst, size, start)
    };
    (0..400).map(make).collect()
}

/// Losses and retransmissions of a run.
#[derive(Debug)]
struct Outcome {
    packets: u64,
    again: u64,
    /// Data and control packets, at ports and on links.
    lost: u64,
}

/// 16 hosts of 40 Gb/s, all flows at a load of 0.8 and more.
fn outcome(name: &str, settings: &Settings, buffer: Limit, loss: f64, seed: u64) -> Outcome {
    let links = LinkDefaults { rate: Rate::from_gbps(40), propagation: Span::from_us(1), loss };
    let fabric = parse("leaf-spine:4x4x4", links).expect("a valid topology");
    let entry = find(name).expect("in the catalogue");
    let mut trial = Trial::new(entry, fabric, flows(seed));
    trial.settings = settings.to_vec();
    trial.buffer = buffer;
    trial.routing = Some(Routing::Ecmp);
    (trial.options.seed, trial.options.until) = (seed, Time(2_000_000_000_000));
    let record = trial.run();
    assert!(record.flows.iter().all(|flow| flow.completed.is_some()), "{name}: all complete");
    let result = Outcome {
        packets: record.flows.iter().map(|flow| flow.packets as u64).sum(),
        again: record.retransmits() as u64,
        lost: record.drops() as u64 + record.link_losses,
    };
    println!("{name} {settings:?} {buffer:?}, loss {loss}, seed {seed}: {result:?}");
    result
}

#[test]
fn nothing_is_retransmitted_without_loss() {
    for seed in 1..4 {
        for (name, settings) in [("amrt", &[UNLIMITED][..]), ("trd", &[]), ("ren", &[])] {
            let result = outcome(name, settings, Limit::Unlimited, 0.0, seed);
            assert_eq!((result.again, result.lost), (0, 0), "{name}, seed {seed}");
        }
    }
}

#[test]
fn full_queues_cost_one_retransmission_for_each_drop() {
    for seed in 1..3 {
        for name in ["amrt", "trd", "ren"] {
            let result = outcome(name, &[], Limit::Bytes(128 << 10), 0.0, seed);
            assert!(result.again >= result.lost, "{name}, seed {seed}: {result:?}");
            // Where a packet that is sent again is delayed more than any so far, it may be requested
            // for once more.
            assert!(
                result.again * 100 <= result.lost * 105 + 500,
                "{name}, seed {seed}: {result:?}"
            );
        }
    }
}

#[test]
fn random_loss_costs_no_more_retransmissions_than_packets() {
    for name in ["amrt", "trd", "ren"] {
        let result =
            outcome(name, &[UNLIMITED][..(name == "amrt") as usize], Limit::Unlimited, 0.01, 1);
        assert!(result.lost > 5_000, "{name}: {result:?}");
        // About half of the lost packets are grants, which are not sent again.
        assert!(result.again * 10 <= result.lost * 7, "{name}: {result:?}");
    }
}

#[test]
fn the_timer_that_starts_at_the_grant_takes_late_for_lost() {
    let of = |at_nics| {
        let settings = [UNLIMITED, ("recovery", "paper"), ("at_nics", at_nics)];
        let result = outcome("amrt", &settings, Limit::Unlimited, 0.0, 1);
        assert_eq!(result.lost, 0);
        result
    };
    // Where NICs do not mark, tokens grow beyond what they send in an RTT.
    let grown = of("false");
    assert!(grown.again * 50 > grown.packets, "{grown:?}");
    assert_eq!(of("true").again, 0);
}
