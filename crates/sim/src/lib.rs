//! The event engine: drives [`Host`](incast_transport::Host)s and
//! [`Port`](incast_transport::Port)s through a fabric, in one thread or several, with the same
//! result.
//!
//! One event a packet-hop: a packet's arrival at the next node. Ports and NICs have no events of
//! their own while they are backlogged. Each is brought up to date when something touches it, and
//! at the latest when a packet it sent arrives at the other end, which is early enough, because
//! what it sends next arrives later still. Decisions are made with the true instant and with
//! exactly the state of that instant, so lateness cannot be seen in any result.

mod agenda;
mod buffer;
mod build;
mod egress;
mod host;
mod line;
mod mark;
mod network;
mod parallel;
mod partition;
mod ports;
mod queue;
mod record;
mod switch;
mod transit;

pub use incast_world::{Captured, Monitor, Setup};
pub use parallel::run;
pub use queue::{Event, Wheel};
