//! Losses on a link that come in bursts.

use incast_fabric::LossBursts;
use incast_transport::Random;
use incast_transport::math::exp;

/// A direction of a link whose packets are lost in bursts. Its state is drawn for each packet, by the time since
/// the one before: what it was in between does not matter, as the states have no memory.
#[derive(Clone, Copy, Debug)]
pub struct BurstLoss {
    bursts: LossBursts,
    /// When the state was drawn last, picoseconds, and whether it was the bad one.
    last: Option<(u64, bool)>,
}

impl BurstLoss {
    /// Before the first packet.
    pub fn new(bursts: LossBursts) -> BurstLoss {
        BurstLoss { bursts, last: None }
    }

    /// Whether a packet is lost that begins transmission at `at`, no earlier than the one before; `loss` is the
    /// probability in the good state.
    pub fn loses(&mut self, random: &mut Random, at: u64, loss: f64) -> bool {
        let share = self.bursts.share();
        let bad = match self.last {
            None => share,
            Some((before, bad)) => {
                let rates = 1.0 / self.bursts.every.0 as f64 + 1.0 / self.bursts.lasts.0 as f64;
                share + (f64::from(u8::from(bad)) - share) * exp(-rates * (at - before) as f64)
            }
        };
        let bad = random.chance(bad);
        self.last = Some((at, bad));
        random.chance(if bad { self.bursts.loss } else { loss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::Span;

    /// A packet per microsecond for a second; the bad state is there a tenth of the time, for 100 us on average.
    /// Shares and lengths are those given, within what so many bursts allow (about 1,000: 3 % each).
    #[test]
    fn shares_and_lengths_of_bursts_are_those_given() {
        let bursts = LossBursts { every: Span::from_us(900), lasts: Span::from_us(100), loss: 1.0 };
        let (mut link, mut random) = (BurstLoss::new(bursts), Random::new(1, 2, 3));
        let lost: Vec<bool> =
            (0..1_000_000).map(|us| link.loses(&mut random, us * 1_000_000, 0.0)).collect();
        let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
        assert!((share - 0.1).abs() < 0.01, "{share}");
        let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]);
        let lengths: Vec<usize> = runs.map(<[bool]>::len).collect();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
        assert!((mean - 100.5).abs() < 10.0, "{mean} of {}", lengths.len());
        // Packets that are far apart find either state, as if they were the first.
        let far =
            (0..100_000u64).map(|n| link.loses(&mut random, (1 + n) * 1_000_000_000_000, 0.0));
        let share = far.filter(|lost| *lost).count() as f64 / 1e5;
        assert!((share - 0.1).abs() < 0.004, "{share}");
    }

    #[test]
    fn each_state_has_its_own_loss() {
        let bursts = LossBursts { every: Span::from_us(500), lasts: Span::from_us(500), loss: 0.5 };
        let (mut link, mut random) = (BurstLoss::new(bursts), Random::new(1, 2, 3));
        let lost =
            (0..1_000_000u64).filter(|us| link.loses(&mut random, us * 1_000_000, 0.1)).count();
        assert!((lost as f64 / 1e6 - 0.3).abs() < 0.02, "{lost}");
    }
}
