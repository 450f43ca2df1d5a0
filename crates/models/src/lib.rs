//! The papers' equations as functions, each under its number.
//!
//! Rates, times and sizes are `f64` in the unit that the equation has: packets and round trips in
//! REN's and AMRT's, seconds, bytes and bits per second elsewhere. Outside of an equation's domain,
//! which each function names, only a bug can lead: those are assertions.

pub mod amrt;
pub mod credit;
pub mod decn;
pub mod fasttune;
pub mod feedback;
pub mod ideal;
mod poisson;
pub mod ren;

pub use poisson::poisson;
