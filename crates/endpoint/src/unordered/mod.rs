//! Transports whose packets may come in any order: a sender that knows of each packet in flight where it
//! is, a receiver that says in ACKs which ones have arrived, a choice of paths for each packet, and
//! a [`Law`] that says how much may be in flight. [`host_of`] runs a control of the common sender so.

mod arrived;
mod core_pace;
mod credit;
mod host;
mod law;
mod paths;
mod plan;
mod sender;
mod sent;
mod sizes;
mod sleek;
mod steered;
mod views;

pub use core_pace::{Arrived, CorePace, CorePlan};
pub use credit::{Credit, CreditPlan, Demand, Grant, Puller, QUANTUM, Rules};
pub use host::UnorderedHost;
pub use law::{Cut, Departure, Law, Laws, Lost, News, Unbounded};
pub use paths::{Heard, Paths, Permutation, Strategy};
pub use plan::HostPlan;
pub use sizes::{Sizes, at_least};
pub use sleek::SleekPlan;
pub use steered::{Delivery, Spray, Steered, Steering, UNORDERED, host_of};
pub use views::{
    Ack, Complete, Data, Nack, Probe, Pull, SPRAYED_ACK, SPRAYED_COMPLETE, SPRAYED_DATA,
};

use incast_transport::ARRIVALS_BYTES;

/// Class of headers, ACKs, NACKs and probes.
pub const CONTROL: u8 = 0;
/// Class of data.
pub const DATA: u8 = 1;
/// Bytes between header and payload of every packet: ACKs say there what has arrived, others are as long.
pub const EXTENSION: u16 = ARRIVALS_BYTES as u16;
/// Pairs of padding bytes in a packet that is no ACK.
const PADDING: u8 = (ARRIVALS_BYTES - 2) / 2;
