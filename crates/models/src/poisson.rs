//! Numbers of flows that arrive or leave per round.

use incast_units::math;
use incast_workload::Stream;

/// Largest mean that [`poisson`] accepts.
const MOST: f64 = 30.0;

/// A Poisson variate of the given mean, 0 to 30: the number of uniform factors until the product
/// falls below e^-mean (Knuth, The Art of Computer Programming 2, 3.4.1).
pub fn poisson(mean: f64, stream: &mut Stream) -> u32 {
    assert!((0.0..=MOST).contains(&mean), "a Poisson mean of {mean}");
    let limit = math::exp(-mean);
    let mut product = stream.unit();
    let mut count = 0;
    while product > limit {
        product *= stream.unit();
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_variance_and_the_share_of_zeros() {
        for mean in [0.1, 1.0, 4.0] {
            let (mut stream, n) = (Stream::new(5), 100_000);
            let drawn: Vec<f64> = (0..n).map(|_| poisson(mean, &mut stream) as f64).collect();
            let average = drawn.iter().sum::<f64>() / n as f64;
            let variance = drawn.iter().map(|x| (x - average) * (x - average)).sum::<f64>();
            let zeros = drawn.iter().filter(|x| **x == 0.0).count() as f64 / n as f64;
            let tolerance = 5.0 * (mean / n as f64).sqrt();
            assert!((average - mean).abs() < tolerance, "{mean}: {average}");
            assert!((variance / n as f64 / mean - 1.0).abs() < 0.05, "{mean}: {variance}");
            assert!((zeros - math::exp(-mean)).abs() < 0.01, "{mean}: {zeros}");
        }
    }

    #[test]
    fn a_mean_of_zero_gives_zero() {
        let mut stream = Stream::new(1);
        assert!((0..1000).all(|_| poisson(0.0, &mut stream) == 0));
    }
}
