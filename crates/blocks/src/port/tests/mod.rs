//! Known answers and properties of ports.

mod known;
mod world;
