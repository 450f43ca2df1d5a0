//! Flow-level runs: instead of packets, flows share the links of a fabric by max-min fairness.
//!
//! A flow takes the links that its transport's routing gives it, the same as in a run of packets; where each packet
//! may take another path it is spread evenly over all shortest ones. Its rate changes when flows come and go. It sends
//! what links charge for its packets, and its last bit arrives as much later as that of the same flow alone does, so
//! alone it takes the ideal time. There are no queues and no losses, and what goes back (ACKs, grants) takes nothing.

mod bins;
mod carried;
mod paths;
mod run;
mod shares;

pub use carried::Carrier;
pub use run::{Load, run};
pub use shares::{Handle, Shares, Use};
