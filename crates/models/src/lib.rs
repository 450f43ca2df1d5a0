//! The papers' equations as functions, each under its number.
//!
//! Rates, times and sizes are `f64` in the unit that the equation has: packets and RTTs in
//! REN's and AMRT's, seconds, bytes and bits per second elsewhere. Each function states
//! the domain of its equation and asserts it.

pub mod amrt;
pub mod credit;
pub mod decn;
pub mod fasttune;
pub mod feedback;
pub mod ideal;
mod poisson;
pub mod ren;

pub use poisson::poisson;
