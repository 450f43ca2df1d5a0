//! Wall-clock time, where there is a clock.

/// Started once.
pub struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch(
            #[cfg(not(target_family = "wasm"))]
            std::time::Instant::now(),
        )
    }

    /// Seconds since the start; `None` where the program has no clock.
    pub fn seconds(&self) -> Option<f64> {
        #[cfg(not(target_family = "wasm"))]
        return Some(self.0.elapsed().as_secs_f64());
        #[cfg(target_family = "wasm")]
        None
    }
}
