//! What both worlds are made from. The simulator and the data plane get the same [`Setup`]: the
//! same hosts, ports and hooks, made here from configured transports and a fabric.

mod arbiter;
mod assembly;
mod captures;
mod deliveries;
mod pfc;
mod route;
mod series;
mod setup;
mod standstill;

/// Purposes of the random streams of a run; an entity and a purpose name a stream.
pub mod purpose {
    /// A host's transports.
    pub const HOST: u32 = 1;
    /// A port.
    pub const PORT: u32 = 2;
    /// A switch's hooks.
    pub const SWITCH: u32 = 3;
    /// Injected faults at a host.
    pub const FAULTS: u32 = 4;
}

pub use arbiter::pull;
pub use assembly::{
    Lane, assemble, check_ports, fabric_site, host_site, marks_ecn, port_site, shaped_share,
};
pub use captures::Captures;
pub use deliveries::Deliveries;
pub use pfc::{Books, Buffers, Ingress, OWN, Pfc, heed, is_change, sufficient_headroom};
pub use route::{Choice, Turns, choose, comes_back_the_same_way, heading, ways};
pub use series::{FlowBytes, PortSeries};
pub use setup::{Captured, Faults, FlowSetup, Options, Setup, SharedBuffer};
pub use standstill::Standstill;
