//! Numbers that claims and figures read from a run: which there are, what they are restricted to, how they are
//! spread, and their intervals.

mod chosen;
mod confidence;
mod each;
mod fairness;
mod kind;
mod marks;
mod measure;
mod seen;
mod spread;

pub use crate::numbers::{Kind, Of};
pub use chosen::{Chosen, Quantity};
pub use confidence::{BySeed, Estimate, difference, estimate, interval, quotient, width_against};
pub use each::{Apart, EQUAL, MOST, rounded};
pub use marks::Sent;
pub use measure::Measure;
pub use seen::{BALANCE, Measured, Seen, Wanted};
pub use spread::{Form, PARTS, STEPS};
