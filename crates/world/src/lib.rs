//! What both worlds are made from. The simulator and the data plane get the same [`Setup`]: the
//! same transports, ports and hooks, made here from configured transports and a fabric.
//!
//! They run the same rules, too: a host ([`EndHost`]), the sending side of a switch port
//! ([`Transmitter`]), a switch ([`Switch`]) and its memory ([`SwitchBuffer`]), what becomes of
//! packets that a port does not keep ([`Drops`]), which flows wait for others ([`Progress`]) and
//! when a run is over ([`End`]). Each world keeps its clock and its links.

mod arbiter;
mod assembly;
mod balance;
mod buffer;
mod capture_stream;
mod captures;
mod conga;
mod deadlock;
mod deliveries;
mod epoch;
mod execution;
mod fates;
mod host;
mod host_model;
mod loss;
mod maker;
mod path_recorder;
mod pfc;
mod progress;
mod queues;
mod record;
mod route;
mod series;
mod setup;
mod switch;
mod trace;
mod transmitter;
mod watchdog;

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
    /// A switch's choices among equal routes.
    pub const BALANCE: u32 = 5;
    /// Path numbers that a host draws.
    pub const PATHS: u32 = 6;
    /// What a NIC takes to send.
    pub const HOST_SEND: u32 = 7;
    /// What it takes to receive.
    pub const HOST_RECEIVE: u32 = 8;
}

pub use assembly::{
    assemble, check_ports, fabric_site, for_messages, host_site, marks_ecn, most_payload,
    shaped_share, takes_queues, trims,
};
pub use balance::{Balance, Balancer};
pub use buffer::SwitchBuffer;
pub use capture_stream::{CaptureStream, Captured, PacketSink};
pub use captures::Captures;
pub use conga::{CONGA_UPLINKS, conga_objection};
pub use deadlock::DeadlockDetector;
pub use deliveries::Deliveries;
pub use epoch::{Epoch, LinkState, cut_for_good, epochs, last_repair};
pub use execution::{Due, Execution, Executions, Hosted, Running};
pub use fates::{Drops, drop_or_trim, drop_packet, lose, turn_back, with_displaced};
pub use host::{
    EndHost, HostIo, Impaired, MOST_CALLS, NEVER, NicParts, Records, Standing, Still, copied,
};
pub use host_model::{Coalescing, Delay, HostModel, Inward, Outward, StampAt};
pub use loss::BurstLoss;
pub use maker::{PortMaker, RunTransport, port_site};
pub use path_recorder::PathRecorder;
pub use pfc::{
    Buffers, Charge, Ingress, OWN, Pfc, SharedBuffer, Stuck, WatchdogRules, is_change, open_after,
    sufficient_headroom,
};
pub use progress::{End, Monitor, Progress, Work};
pub use queues::Queues;
pub use record::{add_flows, all_complete, common_width, empty_record, new_deliveries, new_probe};
pub use route::{
    Arrival, Ask, Choice, Turns, choose, choose_here, heading, path_of, path_use,
    reverse_path_is_equal,
};
pub use series::{FlowBytes, PortSeries, series_start};
pub use setup::{Ending, Faults, FlowSetup, Gate, GateId, Options, Setup};
pub use switch::{Decisions, Switch, Views};
pub use trace::{LossLog, TraceFilter, TraceLog};
pub use transmitter::{PortParts, Transmitter};
pub use watchdog::{Storm, Watchdog};
