//! The event engine: drives [`Host`](incast_transport::Host)s and
//! [`Port`](incast_transport::Port)s through a fabric, in one thread or several, with the same
//! result.
//!
//! There is one event per packet-hop: the arrival at the next node. Backlogged ports and NICs have
//! no events of their own. Each is updated lazily: when an event accesses it, and at the latest
//! when a packet that it sent arrives at the other end. This is early enough, because its next
//! packet arrives later still. An update replays the port's decisions at their true times with the
//! state of those times, so lazy updates do not affect any result.

mod agenda;
mod ahead;
mod barrier;
mod batches;
mod buffer;
mod build;
mod egress;
mod fifo;
mod host;
mod mark;
mod network;
mod paged;
mod parallel;
mod partition;
mod pauses;
mod ports;
mod queue;
mod record;
mod steps;
mod switch;
mod transit;
mod turns;

pub use incast_world::{Captured, Monitor, Setup};
pub use parallel::{run, run_in_batches, run_in_turns};
pub use queue::{Event, Wheel};
pub use steps::{PortState, Steps};
pub use turns::Turns;
