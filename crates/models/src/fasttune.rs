//! FastTune §II-B and §IV-A: flows that end before feedback, and the utility of feedback.
//!
//! Delays and RTTs share a unit; utilities have none. `switches` is N, the number on
//! the path; switch 1 is the sender's neighbour.

use crate::feedback;
use incast_workload::SizeTable;

/// FastTune §II-B, Table I: share of a table's flows that are sent within one RTT,
/// P(size <= C x RTT): `rate` in bit/s, `rtt` in seconds.
pub fn first_rtt_share(sizes: &SizeTable, rate: f64, rtt: f64) -> f64 {
    sizes.cdf((rate * rtt / 8.0).round() as u64)
}

/// FastTune §IV-A, Eq. 6: utility of an ACK with feedback of these ages; at least one.
pub fn utility(delays: impl IntoIterator<Item = f64>, rtt: f64) -> f64 {
    let (sum, count) = delays
        .into_iter()
        .fold((0.0, 0u32), |(sum, count), delay| (sum + feedback::utility(delay, rtt), count + 1));
    assert!(count > 0, "an acknowledgement without feedback");
    sum / count as f64
}

fn check(switch: u32, switches: u32) {
    assert!((1..=switches).contains(&switch), "switch {switch} of {switches}");
}

/// FastTune §IV-A, Eq. 7: age of switch `switch`'s feedback when HPCC's sender has it, without
/// queues.
pub fn hpcc_delay(switch: u32, switches: u32, rtt: f64) -> f64 {
    check(switch, switches);
    (1.0 - switch as f64 / (2.0 * (switches as f64 + 1.0))) * rtt
}

/// FastTune §IV-A, Eq. 8: age of switch `switch`'s feedback when FastTune's sender has it, without
/// queues.
pub fn fasttune_delay(switch: u32, switches: u32, rtt: f64) -> f64 {
    check(switch, switches);
    switch as f64 / (2.0 * (switches as f64 + 1.0)) * rtt
}

/// FastTune §IV-A, Eq. 9: utility of HPCC's ACKs by Eq. 6 and 7; the paper gives 1.25 for any
/// number of switches.
pub fn hpcc_utility(switches: u32) -> f64 {
    utility((1..=switches).map(|switch| hpcc_delay(switch, switches, 1.0)), 1.0)
}

/// FastTune §IV-A, Eq. 10: utility of FastTune's ACKs that passed `passed` of the path's switches,
/// by Eq. 6 and 8; the paper gives 2 - (n + 1) / (4 (N + 1)).
pub fn fasttune_utility(passed: u32, switches: u32) -> f64 {
    check(passed, switches);
    utility((1..=passed).map(|switch| fasttune_delay(switch, switches, 1.0)), 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_workload::table;

    #[test]
    fn delays_on_three_switches() {
        // 16 us over 3 switches: HPCC 14, 12, 10 us; FastTune 2, 4, 6 us.
        let hpcc: Vec<f64> = (1..=3).map(|i| hpcc_delay(i, 3, 16.0)).collect();
        let fasttune: Vec<f64> = (1..=3).map(|i| fasttune_delay(i, 3, 16.0)).collect();
        assert_eq!(hpcc, [14.0, 12.0, 10.0]);
        assert_eq!(fasttune, [2.0, 4.0, 6.0]);
    }

    #[test]
    fn sums_agree_with_the_closed_forms() {
        for switches in 1..=12 {
            assert!((hpcc_utility(switches) - 1.25).abs() < 1e-12, "{switches}");
            for passed in 1..=switches {
                let closed = 2.0 - (passed as f64 + 1.0) / (4.0 * (switches as f64 + 1.0));
                let seen = fasttune_utility(passed, switches);
                assert!((seen - closed).abs() < 1e-12, "{passed} of {switches}: {seen}");
            }
        }
        assert_eq!(fasttune_utility(3, 3), 1.75);
        assert_eq!(fasttune_utility(1, 3), 1.875);
    }

    #[test]
    fn utility_is_one_for_an_rtt_and_two_at_once() {
        assert_eq!(feedback::utility(8.0, 8.0), 1.0);
        assert_eq!(feedback::utility(0.0, 8.0), 2.0);
        assert_eq!(utility([0.0, 8.0], 8.0), 1.5);
    }

    #[test]
    fn shares_of_table_1() {
        let known = [
            ("cache_follower", 0.40, 0.54),
            ("web_search", 0.02, 0.56),
            ("web_server", 0.33, 0.81),
        ];
        for (name, slow, fast) in known {
            let sizes = table(name).unwrap();
            assert!((first_rtt_share(sizes, 1e9, 10e-6) - slow).abs() < 0.01, "{name}");
            assert!((first_rtt_share(sizes, 100e9, 10e-6) - fast).abs() < 0.01, "{name}");
        }
    }
}
