//! Known results and properties of ports.

mod join;
mod known;
mod markers;
mod numbered;
mod properties;
mod remaining;
mod split;
