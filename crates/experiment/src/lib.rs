//! From a scenario to runs and a results folder; the only crate that joins transports with worlds.
//!
//! * [`Scenario`]: the TOML input. Unknown names are refused, with the nearest valid name.
//! * [`Plan`]: a scenario resolved: fabric, traffic, transports, ports.
//! * [`execute`]: runs a plan's cases on identical arrivals, in one of the [`World`]s.
//! * [`output`]: what a run leaves behind.

mod balance;
#[cfg(not(target_family = "wasm"))]
pub mod bench;
mod buffers;
mod capture;
mod chosen;
pub mod collectives;
mod connections;
pub mod custom;
mod cuts;
pub mod declared;
mod described;
mod endless;
pub mod fault;
mod files;
mod flow_level;
mod framing;
mod hosts;
mod identity;
mod inputs;
mod manifest;
pub mod memory;
mod mix;
mod network;
mod nics;
#[cfg(target_os = "linux")]
pub mod nodes;
pub mod output;
mod packets;
mod placement;
mod plan;
mod planning;
mod ports;
mod programs;
mod queues;
mod resolve;
mod run;
pub mod scenario;
mod setup;
mod steps;
mod stopwatch;
mod stored;
mod switch_cost;
mod testbed;
mod trace;
mod traffic;
pub mod warnings;
mod world;

pub use buffers::deadlock;
pub use fault::{Fault, nearest};
pub use files::text_of;
pub use identity::{VERSIONS, Versions, identity, identity_of, transport_version};
pub use incast_measure::InputFile;
pub use incast_world::{Captured, Monitor};
pub use inputs::{Content, Contents, Inputs, gather, sources};
pub use manifest::{Recorded, Unread, UnreadFile, VERSION, changed_since};
pub use network::Network;
pub use plan::{Case, Plan, entry, transport};
pub use ports::tier_name;
pub use run::{execute, execute_into};
pub use scenario::{Buffer, Draft, Scenario, World};
pub use setup::prepare;
pub use steps::Steps;
pub use stored::{Files, StoredResults, StoredRun};
pub use switch_cost::{SizeCost, switch_cost};
