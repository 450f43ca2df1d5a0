//! Statistics of the hashes, permutations and keys that decide ties and paths.

use incast_fabric::balance::*;
use incast_fabric::order::*;
use incast_fabric::{NodeId, PortId, Tier};
use incast_units::Time;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Chi-square of counts against equal shares, as standard deviations from its mean.
fn surprise(counts: &[u32]) -> f64 {
    let expected = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    let chi: f64 = counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn pick_covers_the_range_and_no_more() {
    assert_eq!(pick(0, 7), 0);
    assert_eq!(pick(u32::MAX, 7), 6);
    assert_eq!(pick(u32::MAX, 1), 0);
    assert_eq!(pick(u32::MAX, 0), 0);
}

#[test]
fn hashes_spread_over_any_number_of_ports() {
    for ports in [2usize, 3, 7, 8, 48] {
        let mut by = vec![vec![0u32; ports]; 6];
        for i in 0..40_000u32 {
            by[0][pick(flow_hash(i % 200, i / 200, 1, 9), ports)] += 1;
            by[1][pick(flow_hash(1, 2, i as u64, 9), ports)] += 1;
            by[2][pick(symmetric_hash(i % 200, 1000 + i / 200, 1, 9), ports)] += 1;
            let hash = flow_hash(1, 2, i as u64, 9);
            by[3][pick(at_switch(hash, NodeId(7)), ports)] += 1;
            by[4][pick(at_level(hash, Tier::Edge), ports)] += 1;
            // Arrivals at line rate: equal steps of time.
            let at = Time(i as u64 * 1_230_400);
            by[5][pick(spray_hash(9, NodeId(3), at, PortId(5)), ports)] += 1;
        }
        for counts in by {
            assert!(surprise(&counts) < 5.0, "{ports}: {counts:?}");
        }
    }
}

/// What one switch chose says nothing about what the next will choose.
#[test]
fn switches_and_levels_choose_independently() {
    let mut counts = vec![vec![0u32; 64]; 2];
    for flow in 0..64_000 {
        let hash = flow_hash(3, 4, flow, 1);
        let pair = |a, b| pick(a, 8) * 8 + pick(b, 8);
        counts[0][pair(at_switch(hash, NodeId(10)), at_switch(hash, NodeId(11)))] += 1;
        let levels = (at_level(hash, Tier::Edge), at_level(hash, Tier::Aggregation));
        counts[1][pair(levels.0, levels.1)] += 1;
    }
    for counts in counts {
        assert!(surprise(&counts) < 5.0, "{counts:?}");
    }
}

/// Eight flows over eight paths by hash: how many of them share the busiest path has a mean of 2.597 (8 balls in 8 bins, exactly), so the
/// slowest flow has 39 % of its rate on average.
#[test]
fn eight_flows_by_hash_put_two_or_three_on_one_of_eight_paths() {
    let busiest = |seed: u64| {
        let mut flows = [0u32; 8];
        for flow in 0..8 {
            flows[pick(at_switch(flow_hash(flow, 8 + flow, flow as u64, seed), NodeId(16)), 8)] +=
                1;
        }
        flows.into_iter().max().expect("eight")
    };
    let seeds = 20_000;
    let all: Vec<u32> = (0..seeds).map(busiest).collect();
    let mean = all.iter().sum::<u32>() as f64 / seeds as f64;
    // The standard deviation of one is 0.68, that of the mean 0.005.
    assert!((mean - 2.597).abs() < 0.02, "{mean}");
    let rate = all.iter().map(|most| 1.0 / *most as f64).sum::<f64>() / seeds as f64;
    assert!((rate - 0.41).abs() < 0.03, "{rate}");
}

#[test]
fn symmetric_hash_forgets_the_direction_and_flow_hash_does_not() {
    let mut same = 0;
    for i in 0..1000 {
        assert_eq!(symmetric_hash(i, 2 * i + 1, 5, 6), symmetric_hash(2 * i + 1, i, 5, 6));
        same += (flow_hash(i, 2 * i + 1, 5, 6) == flow_hash(2 * i + 1, i, 5, 6)) as u32;
    }
    assert!(same <= 1);
}

#[test]
fn round_robin_uses_each_port_once_a_cycle_in_changing_order() {
    let mut turns = RoundRobin::new(1, NodeId(2), 3, 8);
    let cycles: Vec<Vec<usize>> =
        (0..2000).map(|_| (0..8).map(|_| turns.turn()).collect()).collect();
    for cycle in &cycles {
        assert_eq!(cycle.iter().copied().collect::<BTreeSet<_>>(), (0..8).collect());
    }
    assert!(cycles.iter().collect::<BTreeSet<_>>().len() > 1900);
    let mut first = [0u32; 8];
    cycles.iter().for_each(|cycle| first[cycle[0]] += 1);
    assert!(surprise(&first) < 5.0, "{first:?}");
    let mut again = RoundRobin::new(1, NodeId(2), 3, 8);
    let mut other = RoundRobin::new(1, NodeId(2), 4, 8);
    let same: Vec<usize> = (0..8).map(|_| again.turn()).collect();
    assert_eq!(same, cycles[0]);
    let different: Vec<usize> = (0..80).map(|_| other.turn()).collect();
    assert_ne!(different, cycles[..10].concat());
    assert_eq!(RoundRobin::new(1, NodeId(2), 3, 1).turn(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Ports that differ in any 16 of the 30 bits never collide.
    #[test]
    fn arrival_key_is_a_bijection_of_the_port(seed: u64, at: u64, base: u32, shift in 0u32..=14) {
        let port = |i: u32| PortId((base & !(0xffff << shift) & 0x3fff_ffff) | i << shift);
        let mut keys: Vec<u32> =
            (0..65_536).map(|i| arrival_key(seed, Time(at), port(i))).collect();
        prop_assert!(keys.iter().all(|key| *key < 1 << 30));
        keys.sort_unstable();
        keys.dedup();
        prop_assert_eq!(keys.len(), 65_536);
    }
}

/// Of simultaneous arrivals every port wins equally often, whatever the spacing of times and
/// numbers; and who won last says nothing about who wins next.
#[test]
fn ties_are_fair() {
    for ports in
        [vec![0u32, 1], vec![4, 5, 6, 7], vec![0, 1 << 10, 1 << 20, 1 << 29], vec![9, 10, 900]]
    {
        for step in [1u64, 307_600, 1_230_400, 1 << 20] {
            let n = ports.len();
            let (mut wins, mut pairs) = (vec![0u32; n], vec![0u32; n * n]);
            let mut last = 0;
            for i in 0..20_000u64 {
                let key = |port: &usize| arrival_key(3, Time(i * step), PortId(ports[*port]));
                let winner = (0..n).min_by_key(key).unwrap();
                wins[winner] += 1;
                pairs[last * n + winner] += 1;
                last = winner;
            }
            assert!(surprise(&wins) < 5.0, "{ports:?} {step}: {wins:?}");
            assert!(surprise(&pairs) < 5.0, "{ports:?} {step}: {pairs:?}");
        }
    }
}

/// Values of one stream are uniform, and streams of neighbouring keys are independent.
#[test]
fn streams_are_uniform_and_independent() {
    let keys = [random_key(1, 0, 0), random_key(1, 0, 1), random_key(1, 1, 0), random_key(2, 0, 0)];
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 4);
    for (i, a) in keys.iter().enumerate() {
        for b in &keys[..=i] {
            for shift in 0..4u64 {
                let mut counts = vec![0u32; 256];
                let mut bits = 0u64;
                for counter in 0..20_000u64 {
                    let (x, y) = (draw(*a, counter), draw(*b, counter + shift));
                    counts[((x >> 60) << 4 | (y >> 60)) as usize] += 1;
                    bits += (x ^ y).count_ones() as u64;
                }
                if a == b && shift == 0 {
                    assert_eq!(bits, 0);
                    continue;
                }
                assert!(surprise(&counts) < 5.0, "{i} {shift}");
                // Mean 32 bits, standard deviation 4 / sqrt(20000).
                assert!((bits as f64 / 20_000.0 - 32.0).abs() < 0.15);
            }
        }
    }
}

/// Known values, so that a change of the generators is never an accident: results would change.
#[test]
fn generators_are_pinned() {
    let pinned = [
        mix(1),
        random_key(1, 2, 3),
        draw(random_key(1, 2, 3), 4),
        arrival_key(1, Time(2), PortId(3)) as u64,
        flow_hash(1, 2, 3, 4) as u64,
        spray_hash(1, NodeId(2), Time(3), PortId(4)) as u64,
    ];
    let expected = [
        6_238_072_747_940_578_789,
        5_930_757_881_531_073_747,
        12_351_514_269_037_055_120,
        875_392_099,
        2_532_679_139,
        805_242_787,
    ];
    assert_eq!(pinned, expected);
}
