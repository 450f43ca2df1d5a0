//! Sixteen levels of load (reconstructed; the paper's result is that eight suffice for increase): 0 to
//! 7 multiply, 8 and 9 add, 10 to 15 cut.

use super::params::{OVERLOADS, Params};

/// Levels of multiplicative increase.
pub const INCREASES: u8 = 8;
/// The first level of overload.
pub const OVERLOAD: u8 = 10;
/// The highest level.
pub const HIGHEST: u8 = OVERLOAD + OVERLOADS as u8 - 1;

/// Where levels begin.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    high_load: f64,
    overload_step: f64,
}

impl Levels {
    /// As the parameters say.
    pub fn new(params: &Params) -> Levels {
        Levels { high_load: params.high_load, overload_step: params.overload_step }
    }

    /// The level of a load; 1 is full.
    #[inline]
    pub fn level(&self, load: f64) -> u8 {
        let step = |part: f64, most: u8| (part as u64).min(most as u64 - 1) as u8;
        if load < self.high_load {
            step(load / self.high_load * INCREASES as f64, INCREASES)
        } else if load < 1.0 {
            let part = (load - self.high_load) / (1.0 - self.high_load);
            INCREASES + step(part * (OVERLOAD - INCREASES) as f64, OVERLOAD - INCREASES)
        } else {
            // A billionth covers that 0.04 is not a sum of powers of two.
            OVERLOAD + step((load - 1.0) / self.overload_step + 1e-9, OVERLOADS as u8)
        }
    }

    /// The load that a level of increase stands for: its upper edge.
    pub fn load(&self, level: u8) -> f64 {
        self.high_load * (level + 1) as f64 / INCREASES as f64
    }
}
