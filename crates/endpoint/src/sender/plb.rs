//! The path of a flow whose source changes it when congestion lasts (PLB, SIGCOMM 2022).

use super::Progress;
use incast_transport::{PlbRule, Random};

/// The path number of one flow, and what tells that it should be another.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathKeeper {
    rule: PlbRule,
    pub path: u16,
    /// Bytes sent when the present round began.
    round_end: u64,
    /// ACKs in this round, and those that told of congestion.
    acks: u32,
    congested: u32,
    /// Congested rounds in a row, and after how many the flow moves.
    rounds: u32,
    patience: u32,
}

impl PathKeeper {
    pub fn new(rule: PlbRule, random: &mut Random) -> PathKeeper {
        let patience = patience(&rule, random);
        let (path, round_end, acks, congested, rounds) = (0, 0, 0, 0, 0);
        PathKeeper { rule, path, round_end, acks, congested, rounds, patience }
    }

    /// An ACK arrived.
    pub fn heard(&mut self, congested: bool, progress: &Progress, random: &mut Random) {
        self.acks += 1;
        self.congested += congested as u32;
        if self.round_end == 0 {
            // What was sent before the first ACK is the first round.
            self.round_end = progress.sent;
        }
        if progress.acknowledged < self.round_end {
            return;
        }
        let full = f64::from(self.congested) >= self.rule.share * f64::from(self.acks);
        self.rounds = if full { self.rounds + 1 } else { 0 };
        (self.acks, self.congested) = (0, 0);
        self.round_end = progress.sent;
        if self.rounds >= self.patience {
            self.path = self.path.wrapping_add(1);
            self.rounds = 0;
            self.patience = patience(&self.rule, random);
        }
    }
}

fn patience(rule: &PlbRule, random: &mut Random) -> u32 {
    rule.rounds + random.below(u64::from(rule.spread) + 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Time;

    /// Paths after each of these rounds of ten ACKs, of which so many tell of congestion.
    fn paths(rule: PlbRule, rounds: &[u32]) -> Vec<u16> {
        let mut random = Random::new(1, 0, 0);
        let mut keeper = PathKeeper::new(rule, &mut random);
        let mut acknowledged = 0;
        let round = |congested: &u32| {
            for ack in 0..10 {
                acknowledged += 1_000;
                let sent = acknowledged + 10_000;
                let progress = Progress {
                    now: Time::ZERO,
                    acknowledged,
                    sent,
                    size: u64::MAX,
                    pipe: sent - acknowledged,
                    smoothed_rtt: None,
                    recovering: false,
                };
                keeper.heard(ack < *congested, &progress, &mut random);
            }
            keeper.path
        };
        rounds.iter().map(round).collect()
    }

    #[test]
    fn a_flow_moves_after_so_many_congested_rounds_in_a_row() {
        let rule = PlbRule { rounds: 3, spread: 0, share: 0.5 };
        // A round ends with the first ACK of the next ten.
        assert_eq!(paths(rule, &[10; 8]), [0, 0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(paths(rule, &[4; 8]), [0; 8]);
        assert_eq!(paths(rule, &[10, 10, 0, 10, 10, 0, 10, 10]), [0; 8]);
        let all = PlbRule { share: 1.0, ..rule };
        assert_eq!(paths(all, &[9; 8]), [0; 8]);
    }

    #[test]
    fn patience_is_drawn_anew_for_each_path() {
        let rule = PlbRule { rounds: 5, spread: 2, share: 1.0 };
        let moves = *paths(rule, &[10; 6_000]).last().unwrap();
        // Six rounds on average.
        assert!((990..1_010).contains(&moves), "{moves}");
    }
}
