//! What stands at a port: queue disciplines, shaper, marking by threshold and at random, load
//! meters, telemetry stamps. No transport is known here by name, and nothing of a host's.

pub mod cut;
pub mod interval;
pub mod load;
pub mod load_marker;
pub mod port;
pub mod red;
pub mod telemetry;
pub mod threshold;
