//! Numbers that claims and figures read from a run: which there are, what they are restricted to, how they are
//! spread, and their intervals.

mod chosen;
mod claimed;
mod confidence;
mod each;
mod fairness;
mod marks;
mod measure;
mod spread;
mod wanted;

pub use crate::numbers::{ClaimedNumber, Of};
pub use chosen::{Chosen, Quantity};
pub use confidence::{BySeed, Estimate, difference, estimate, interval, quotient, width_against};
pub use each::{Apart, EQUAL, MOST, rounded};
pub use marks::Sent;
pub use measure::Measure;
pub use spread::{Form, PARTS, STEPS};
pub use wanted::{BALANCE, Measured, MeasuredValue, Wanted};
