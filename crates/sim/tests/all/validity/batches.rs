//! Confidence intervals of simulated means, from batch means.

/// Number of batches. A batch must be longer than the correlation time.
pub const BATCHES: usize = 30;
/// Two-sided 99.9 % quantile of Student's t with `BATCHES - 1` degrees of freedom.
const T: f64 = 3.659;

/// A mean and its 99.9 % confidence interval.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub mean: f64,
    pub half: f64,
}

impl Interval {
    /// The interval of a sequence in time order; an incomplete batch at the end is ignored.
    pub fn of(values: &[f64]) -> Interval {
        let length = values.len() / BATCHES;
        assert!(length > 0);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let means: Vec<f64> = values.chunks_exact(length).take(BATCHES).map(mean).collect();
        let all = mean(&means);
        let squares: f64 = means.iter().map(|one| (one - all) * (one - all)).sum();
        let deviation = (squares / (BATCHES - 1) as f64).sqrt();
        Interval { mean: all, half: T * deviation / (BATCHES as f64).sqrt() }
    }

    pub fn contains(self, value: f64) -> bool {
        (value - self.mean).abs() <= self.half
    }

    /// Asserts that the half-width is at most `width` times `theory` and that the interval contains
    /// `theory`.
    pub fn check(self, what: &str, theory: f64, width: f64) {
        println!("{what}: {:.5} +- {:.5}, theory {theory:.5}", self.mean, self.half);
        assert!(self.half <= width * theory, "{what}: {self:?} is too wide");
        assert!(self.contains(theory), "{what}: {self:?}, theory {theory}");
    }
}
