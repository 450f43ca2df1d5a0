//! Percentiles, means, confidence and fairness.

use serde::{Deserialize, Serialize};

/// The percentile in thousandths (`990` is the 99th) of values sorted in ascending order, by
/// nearest rank: the smallest value that at least that share of the values does not exceed.
/// Always one of the values, never an interpolation. `None` without values.
pub fn percentile(sorted: &[f64], thousandths: u32) -> Option<f64> {
    assert!(thousandths <= 1000, "a percentile of {thousandths} thousandths");
    let rank = (sorted.len() as u64 * thousandths as u64).div_ceil(1000).max(1);
    sorted.get(rank as usize - 1).copied()
}

/// Values in ascending order.
pub fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The 95 % confidence interval of a percentile in thousandths, by order statistics: two of the
/// values, sorted in ascending order, between which the percentile of independent values of any
/// distribution lies with a probability of at least 95 %, at most 2.5 % beyond either end (exact
/// binomial tails). `None` if there are too few values for one of the ends.
pub fn percentile_interval(sorted: &[f64], thousandths: u32) -> Option<(f64, f64)> {
    let (n, q) = (sorted.len(), thousandths as f64 / 1000.0);
    if n == 0 || !(0.0..1.0).contains(&q) || q == 0.0 {
        return None;
    }
    // How many values are below the percentile has this distribution; in logarithms, since single
    // probabilities are tiny.
    let mut log = n as f64 * (1.0 - q).ln();
    let (mut sum, mut low, mut high): (f64, Option<usize>, Option<usize>) = (0.0, None, None);
    for below in 0..n {
        sum += log.exp();
        if sum <= 0.025 {
            low = Some(below);
        }
        if sum >= 0.975 {
            high = Some(below);
            break;
        }
        log += ((n - below) as f64 / (below + 1) as f64 * q / (1.0 - q)).ln();
    }
    // The value with so many before it exceeds the percentile if at most that many are below that.
    Some((*sorted.get(low?)?, *sorted.get(high?)?))
}

/// Arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Jain's index of fairness, `(sum x)^2 / (n sum x^2)`: 1 when all are equal, `1/n` when one has
/// everything. `None` without values and for all zeros.
pub fn jain(values: &[f64]) -> Option<f64> {
    let (sum, squares) = values.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// A 95 % confidence interval of a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Mean of the samples.
    pub mean: f64,
    /// The interval reaches this far to either side.
    pub half_width: f64,
    /// Number of samples.
    pub samples: usize,
}

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
const STUDENT_T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Two-sided 95 % quantile of Student's t; between tabulated degrees the next lower one, which is
/// on the safe side.
fn student_t(degrees: usize) -> f64 {
    match degrees {
        0 => f64::INFINITY,
        1..=30 => STUDENT_T[degrees - 1],
        31..40 => 2.042,
        40..60 => 2.021,
        60..120 => 2.000,
        _ => 1.980,
    }
}

/// The 95 % confidence interval of the mean of independent samples, such as the results of
/// several seeds, by Student's t. `None` of fewer than two samples.
pub fn confidence(samples: &[f64]) -> Option<Confidence> {
    let (n, mean) = (samples.len(), mean(samples)?);
    if n < 2 {
        return None;
    }
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    let deviation = (squares / (n - 1) as f64).sqrt();
    let half_width = student_t(n - 1) * deviation / (n as f64).sqrt();
    Some(Confidence { mean, half_width, samples: n })
}

/// The 95 % confidence interval of the mean difference `a - b` of paired samples, such as two
/// transports on the arrivals of the same seeds: what the arrivals have in common cancels. `None` of
/// fewer than two pairs.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Confidence> {
    confidence(&pairs.iter().map(|(a, b)| a - b).collect::<Vec<f64>>())
}

/// Fewest samples after which repeating may stop: two can agree by chance, and an interval of one
/// degree of freedom says little.
pub const FEWEST_REPETITIONS: usize = 3;

/// How narrow a 95 % confidence interval has to be: `"5%"` of the mean, or `"0.2"` in the unit of
/// the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HalfWidth {
    /// At most this share of the mean's absolute value.
    Share(f64),
    /// At most this much.
    Absolute(f64),
}

impl HalfWidth {
    /// Whether the interval of these samples is narrow enough: there are at least
    /// [`FEWEST_REPETITIONS`], and the half width by Student's t is at most this. Samples that are all
    /// equal meet it, also a mean of zero.
    ///
    /// Stopping at the first sample that meets the rule makes the interval cover the true mean a
    /// little less often than in 95 % of all cases.
    pub fn met(self, samples: &[f64]) -> bool {
        let Some(interval) = confidence(samples) else { return false };
        let most = match self {
            HalfWidth::Share(share) => share * interval.mean.abs(),
            HalfWidth::Absolute(most) => most,
        };
        samples.len() >= FEWEST_REPETITIONS && interval.half_width <= most
    }
}

impl std::str::FromStr for HalfWidth {
    type Err = String;

    /// Reads `5%` (more than 0 %) or a positive number.
    fn from_str(text: &str) -> Result<HalfWidth, String> {
        let (number, percent) = match text.trim().strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (text.trim(), false),
        };
        let value: Option<f64> = number.parse().ok().filter(|v: &f64| v.is_finite() && *v > 0.0);
        match value {
            Some(value) if percent => Ok(HalfWidth::Share(value / 100.0)),
            Some(value) => Ok(HalfWidth::Absolute(value)),
            None => Err(format!(
                "`{text}` is no half width; write a positive number, or a share such as \"5%\""
            )),
        }
    }
}

impl std::fmt::Display for HalfWidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HalfWidth::Share(share) => write!(f, "{}%", share * 100.0),
            HalfWidth::Absolute(most) => write!(f, "{most}"),
        }
    }
}

/// Number of [`batches`].
pub const BATCHES: usize = 10;

/// A statistic of each of [`BATCHES`] equal batches of one run's values in order of time; what is
/// left over joins the last. `None` if a batch would have fewer than `smallest` values.
pub fn batches(
    values: &[f64],
    smallest: usize,
    statistic: impl Fn(&[f64]) -> Option<f64>,
) -> Option<Vec<f64>> {
    let size = values.len() / BATCHES;
    if size < smallest.max(1) {
        return None;
    }
    let batch = |at: usize| {
        let end = if at + 1 == BATCHES { values.len() } else { (at + 1) * size };
        statistic(&values[at * size..end])
    };
    (0..BATCHES).map(batch).collect()
}

/// Half width of the 95 % confidence interval of a statistic of one run by batch means: what
/// [`batches`] gives is treated as samples. `None` if a batch would have fewer than `smallest`
/// values.
pub fn batch_confidence(
    values: &[f64],
    smallest: usize,
    statistic: impl Fn(&[f64]) -> Option<f64>,
) -> Option<f64> {
    let samples = batches(values, smallest, statistic)?;
    confidence(&samples).map(|interval| interval.half_width)
}

/// Some values in a few numbers. Percentiles are by nearest rank ([`percentile`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Half width of the 95 % confidence interval of the mean, by batch means over time; `None`
    /// with fewer than 100 values.
    pub mean_ci95: Option<f64>,
    /// 50th percentile.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Half width of the 95 % confidence interval of the 99th percentile, by batches; `None` with
    /// fewer than 1000 values.
    pub p99_ci95: Option<f64>,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest value.
    pub max: f64,
}

impl Distribution {
    /// The distribution of values in order of time; `None` without values.
    pub fn of(values: &[f64]) -> Option<Distribution> {
        let sorted = ascending(values);
        Some(Distribution {
            count: sorted.len(),
            mean: mean(values)?,
            mean_ci95: batch_confidence(values, 10, mean),
            median: percentile(&sorted, 500)?,
            p95: percentile(&sorted, 950)?,
            p99: percentile(&sorted, 990)?,
            p99_ci95: batch_confidence(values, 100, |batch| percentile(&ascending(batch), 990)),
            p999: percentile(&sorted, 999)?,
            max: *sorted.last()?,
        })
    }
}
