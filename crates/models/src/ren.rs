//! REN §4: queue length and link utilisation per RTT.
//!
//! Queues are in packets, rates in any unit (the same in one call), rounds are RTTs.

use crate::poisson;
use incast_workload::{Stream, fold};

/// The senders: REN's, or those of a transport that sends one packet per packet received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// Marks remove and add tokens.
    Ren,
    /// The number of tokens is constant.
    Traditional,
}

/// Bandwidth-delay product in packets, `C x RTT / MSS` (REN §4.1), not rounded: `rate` in bit/s,
/// `rtt` in seconds, `mss` in bytes.
pub fn bdp_packets(rate: f64, rtt: f64, mss: f64) -> f64 {
    rate * rtt / (8.0 * mss)
}

/// REN §4.1, Eq. 1: queue in packets after the first round, in which `arriving` flows start at line
/// rate on an idle link; 0 when none does.
pub fn first_queue(arriving: u32, bdp: f64) -> f64 {
    arriving.saturating_sub(1) as f64 * bdp
}

/// REN §4.1, Eq. 2: packets per round that `leaving` of `active` flows release; 0 when none is
/// active.
pub fn released(leaving: u32, active: u32, bdp: f64) -> f64 {
    assert!(leaving <= active, "{leaving} of {active} flows leave");
    if active == 0 { 0.0 } else { leaving as f64 / active as f64 * bdp }
}

/// REN §4.1, Eq. 3 and 4: queue in packets one round later, at least 0, when `arriving` flows start
/// at line rate and `released` packets per round are released. REN's senders also remove one BDP.
pub fn next_queue(scheme: Scheme, queue: f64, arriving: u32, released: f64, bdp: f64) -> f64 {
    let taken = match scheme {
        Scheme::Ren => bdp,
        Scheme::Traditional => 0.0,
    };
    (queue + arriving as f64 * bdp - taken - released).max(0.0)
}

/// The queue in packets after each round, by Eq. 1 to 4. `rounds` gives the arriving and leaving
/// flows per round. A link without active flows serves one BDP per round under either scheme, as in
/// Eq. 1; the paper's Eq. 4 omits this. At most the active flows leave.
pub fn queue(scheme: Scheme, rounds: &[(u32, u32)], bdp: f64) -> Vec<f64> {
    let (mut queue, mut active) = (0.0, 0);
    let after = rounds.iter().map(|&(arriving, leaving)| {
        let leaving = leaving.min(active);
        queue = match active {
            0 => next_queue(Scheme::Ren, queue, arriving, 0.0, bdp),
            _ => next_queue(scheme, queue, arriving, released(leaving, active, bdp), bdp),
        };
        active = active - leaving + arriving;
        queue
    });
    after.collect()
}

/// REN §4.2, Eq. 5: rate of all flows of a link one round later, under REN.
pub fn next_rate(rate: f64, capacity: f64) -> f64 {
    if rate < capacity / 2.0 { 2.0 * rate } else { capacity }
}

/// REN §4.2, Eq. 6: rounds until `rate` reaches `capacity`; both above 0.
pub fn rounds_to_full(rate: f64, capacity: f64) -> u32 {
    assert!(rate > 0.0 && capacity > 0.0, "a rate of {rate} on a link of {capacity}");
    if rate >= capacity / 2.0 {
        return 1;
    }
    // The smallest n with 2^n >= C/2R: the logarithm rounded up, without floating-point errors.
    let mut doublings = 0;
    while rate * (1u64 << doublings) as f64 * 2.0 < capacity {
        doublings += 1;
    }
    doublings + 1
}

/// REN §4.2, Eq. 7: throughput of a full link whose `flows` share it, in the round in which
/// `leaving` leave.
pub fn first_throughput(capacity: f64, flows: u32, leaving: u32) -> f64 {
    capacity - capacity / flows as f64 * leaving as f64
}

/// REN §4.2, Eq. 8: REN's throughput in a round after one of `before`, when `leaving` of `active`
/// flows leave; 0 when none is active.
pub fn next_throughput(capacity: f64, before: f64, active: u32, leaving: u32) -> f64 {
    assert!(leaving <= active, "{leaving} of {active} flows leave");
    if active == 0 {
        return 0.0;
    }
    let reached = if before >= capacity / 2.0 { capacity } else { 2.0 * before };
    reached - reached / active as f64 * leaving as f64
}

/// REN §4.2, Eq. 9: throughput of the traditional transports when `left` of `flows` have left by
/// now.
pub fn traditional_throughput(capacity: f64, flows: u32, left: u32) -> f64 {
    assert!(left <= flows, "{left} of {flows} flows have left");
    capacity - capacity / flows as f64 * left as f64
}

/// Utilisation of the link in each round, 0 to 1, by Eq. 7 to 9: `flows` share it evenly at first,
/// and `leaving` gives the leaving flows per round. At most the active flows leave.
pub fn utilisation(scheme: Scheme, flows: u32, leaving: &[u32]) -> Vec<f64> {
    assert!(flows > 0, "a link without flows");
    let (mut throughput, mut active) = (1.0, flows);
    let after = leaving.iter().map(|&leaving| {
        let leaving = leaving.min(active);
        throughput = match scheme {
            // In the first round the link was full, and Eq. 8 equals Eq. 7.
            Scheme::Ren => next_throughput(1.0, throughput, active, leaving),
            Scheme::Traditional => traditional_throughput(1.0, flows, flows - active + leaving),
        };
        active -= leaving;
        throughput
    });
    after.collect()
}

/// Number and length of the repetitions of [`mean_queue`] and [`mean_utilisation`].
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// Rounds of each repetition.
    pub rounds: u32,
    /// Repetitions.
    pub repeats: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// REN §4.3, Fig. 9 (a): mean over rounds and repetitions of the queue in packets, with Poisson
/// numbers of mean `arriving` and `leaving` flows per round.
pub fn mean_queue(scheme: Scheme, bdp: f64, arriving: f64, leaving: f64, play: Repeats) -> f64 {
    mean(play, |stream| {
        let round = |_| (poisson(arriving, stream), poisson(leaving, stream));
        let rounds: Vec<(u32, u32)> = (0..play.rounds).map(round).collect();
        queue(scheme, &rounds, bdp)
    })
}

/// REN §4.3, Fig. 9 (b): mean over rounds and repetitions of the utilisation, 0 to 1, with Poisson
/// numbers of mean `leaving` flows per round out of `flows`. Rounds after the last flow has left
/// count as 0.
pub fn mean_utilisation(scheme: Scheme, flows: u32, leaving: f64, play: Repeats) -> f64 {
    mean(play, |stream| {
        let rounds: Vec<u32> = (0..play.rounds).map(|_| poisson(leaving, stream)).collect();
        utilisation(scheme, flows, &rounds)
    })
}

fn mean(play: Repeats, mut rounds: impl FnMut(&mut Stream) -> Vec<f64>) -> f64 {
    let one = |repeat| {
        let mut stream = Stream::new(fold(play.seed, repeat as u64));
        rounds(&mut stream).iter().sum::<f64>()
    };
    (0..play.repeats).map(one).sum::<f64>() / (play.repeats as f64 * play.rounds as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scheme::{Ren, Traditional};

    #[test]
    fn bdp_of_the_papers_networks() {
        assert_eq!(bdp_packets(10e9, 48e-6, 1500.0), 40.0);
        assert!((bdp_packets(40e9, 10e-6, 1500.0) - 33.333).abs() < 0.001);
    }

    #[test]
    fn flows_that_start_together_drain_one_bdp_per_round() {
        // Eq. 1, then Eq. 3 without arrivals: 3 flows of BDP 10.
        assert_eq!(queue(Ren, &[(3, 0), (0, 0), (0, 0), (0, 0)], 10.0), [20.0, 10.0, 0.0, 0.0]);
        // Eq. 4: nothing drains it.
        assert_eq!(queue(Traditional, &[(3, 0), (0, 0), (0, 0)], 10.0), [20.0, 20.0, 20.0]);
        assert_eq!(first_queue(0, 10.0), 0.0);
        assert_eq!(first_queue(4, 33.0), 99.0);
    }

    #[test]
    fn flows_that_leave_release_their_share() {
        assert_eq!(released(1, 4, 40.0), 10.0);
        assert_eq!(released(0, 0, 40.0), 0.0);
        // 4 flows queue 3 BDP; then one of 4 leaves (10 packets), then 2 of 3 (26.7), with one
        // arrival: 120 - 10 = 110; 110 + 40 - 26.7 = 123.3.
        let seen = queue(Traditional, &[(4, 0), (0, 1), (1, 2)], 40.0);
        assert_eq!(seen[..2], [120.0, 110.0]);
        assert!((seen[2] - 123.333).abs() < 0.001, "{seen:?}");
        // REN: 120 - 40 - 10 = 70; 70 + 40 - 40 - 26.7 = 43.3.
        let seen = queue(Ren, &[(4, 0), (0, 1), (1, 2)], 40.0);
        assert_eq!(seen[..2], [120.0, 70.0]);
        assert!((seen[2] - 43.333).abs() < 0.001, "{seen:?}");
    }

    #[test]
    fn an_idle_link_drains_under_either_scheme() {
        // Both flows leave; the queue drains one BDP per round, and a single new flow queues
        // nothing.
        let rounds = [(2, 0), (0, 2), (0, 0), (1, 0)];
        assert_eq!(queue(Traditional, &rounds, 10.0), [10.0, 0.0, 0.0, 0.0]);
        let rounds = [(4, 0), (0, 4), (0, 0), (1, 0), (1, 0)];
        assert_eq!(queue(Traditional, &rounds, 10.0), [30.0, 20.0, 10.0, 10.0, 20.0]);
    }

    #[test]
    fn rates_double_and_then_are_full() {
        let mut rates = vec![2.0];
        (0..4).for_each(|_| rates.push(next_rate(*rates.last().unwrap(), 16.0)));
        assert_eq!(rates, [2.0, 4.0, 8.0, 16.0, 16.0]);
        // C/2R = 4, 5/3, 1.5; at half and above one round; at a power of two and just below it.
        let known = [(2.0, 16.0, 3), (6.0, 10.0, 1), (3.0, 10.0, 2), (1.0, 2.0, 1), (1.0, 64.0, 6)];
        for (rate, capacity, rounds) in known {
            assert_eq!(rounds_to_full(rate, capacity), rounds, "{rate} of {capacity}");
        }
        assert_eq!(rounds_to_full(0.999, 64.0), 7);
    }

    #[test]
    fn eq_6_counts_the_steps_of_eq_5() {
        for percent in 1..=100 {
            let (mut rate, mut rounds) = (percent as f64 / 100.0, 0);
            while rate < 1.0 {
                rate = next_rate(rate, 1.0);
                rounds += 1;
            }
            let expected = if percent == 100 { 0 } else { rounds_to_full(percent as f64, 100.0) };
            assert_eq!(rounds, expected, "{percent} %");
        }
    }

    #[test]
    fn throughput_while_flows_leave() {
        assert_eq!(first_throughput(40.0, 20, 5), 30.0);
        // 20 flows, 5 leave, then none, then 3 of 15.
        assert_eq!(utilisation(Ren, 20, &[5, 0, 3]), [0.75, 1.0, 0.8]);
        let seen = utilisation(Traditional, 20, &[5, 0, 3]);
        assert_eq!(seen, [0.75, 0.75, 0.6]);
        // Below half the second case of Eq. 8: 16 of 20 leave, then 1 of 4: 2 x 0.2 x 3/4 = 0.3.
        let seen = utilisation(Ren, 20, &[16, 1, 0, 0, 0]);
        let known = [0.2, 0.3, 0.6, 1.0, 1.0];
        assert!(seen.iter().zip(known).all(|(a, b)| (a - b).abs() < 1e-12), "{seen:?}");
        // All flows have left.
        assert_eq!(utilisation(Ren, 2, &[2, 0]), [0.0, 0.0]);
        assert_eq!(utilisation(Traditional, 2, &[5, 0]), [0.0, 0.0]);
    }

    #[test]
    fn means_are_of_the_seed_and_between_the_extremes() {
        let play = Repeats { rounds: 100, repeats: 50, seed: 1 };
        let twice = || mean_queue(Ren, 33.3, 0.5, 0.5, play);
        assert_eq!(twice().to_bits(), twice().to_bits());
        assert_ne!(twice(), mean_queue(Ren, 33.3, 0.5, 0.5, Repeats { seed: 2, ..play }));
        assert_eq!(mean_queue(Ren, 33.3, 0.0, 0.5, play), 0.0);
        assert_eq!(mean_utilisation(Ren, 20, 0.0, play), 1.0);
        let one = mean_utilisation(Traditional, 20, 0.1, Repeats { rounds: 1, ..play });
        assert!(one > 0.98 && one < 1.0, "{one}");
    }

    /// Without departures Eq. 3 is q + m - 1 in units of a BDP, a server of one customer per round;
    /// with Poisson arrivals its mean queue is lambda^2 / (2 (1 - lambda)).
    #[test]
    fn rens_mean_queue_is_that_of_a_slotted_server() {
        let play = Repeats { rounds: 4000, repeats: 60, seed: 3 };
        for strength in [0.3, 0.6] {
            let seen = mean_queue(Ren, 1.0, strength, 0.0, play);
            let known = strength * strength / (2.0 * (1.0 - strength));
            assert!((seen / known - 1.0).abs() < 0.05, "{strength}: {seen} for {known}");
        }
    }
}
