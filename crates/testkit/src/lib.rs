//! What tests of several crates need, written once. Nothing depends on this crate except as a
//! dev-dependency.
//!
//! * [`flow`], [`packet`], [`data`], [`segment`], [`fabric_site`], [`host_site`], [`port_site`]:
//!   values with every field filled in; a test changes those it is about.
//! * [`Harness`]: what a world lends to the part under test, and calls of ports and hooks.
//! * [`Driver`]: one host, call by call. [`MarkerDriver`]: one marker. `ControlDriver`: one
//!   control of the common sender.
//! * [`Network`]: hosts joined by links and ports. Links impair packets ([`Impairments`]) by a
//!   script or at random by a seed; everything sent, received and dropped is logged.
//! * [`check_part`]: a generated part of a page of `docs`.
//! * `Trial`: transports in a fabric, run by the simulator. `SlotNetwork`: one bottleneck in
//!   units of packet times.
//!
//! # Features
//! The core depends on `transport` alone, so that unit tests of every crate above the contract can
//! use it: a crate whose unit tests used a testkit that exposed that crate's own types would see
//! two versions of them. What exposes such types is behind a feature, which only crates above
//! switch on: `endpoint` (`ControlDriver`) and `simulator` (`Trial`, `SlotNetwork`).
//! Unit tests inside `units`, `wire` and `transport` themselves cannot use this crate.

#[cfg(feature = "endpoint")]
mod control;
mod driver;
mod harness;
mod impairment;
mod marker;
mod network;
#[cfg(feature = "simulator")]
mod outcome;
mod packets;
mod page;
mod sites;
#[cfg(feature = "simulator")]
mod slots;
#[cfg(feature = "simulator")]
mod trial;

#[cfg(feature = "endpoint")]
pub use control::{ControlDriver, arriving, outbound, plain_ack, progress};
pub use driver::Driver;
pub use harness::Harness;
pub use impairment::{Impairment, Impairments, Probabilities, Script};
pub use marker::{MarkerDriver, view};
pub use network::{Dropped, FLOWS, Network, Received, Sent};
#[cfg(feature = "simulator")]
pub use outcome::Outcome;
pub use packets::{FOREVER, FULL, MSS, at, data, flow, ms, packet, random_flows, segment, us};
pub use page::check_part;
pub use sites::{configured, fabric_site, host_site, key_values, port_site, switch_port};
#[cfg(feature = "simulator")]
pub use slots::{SLOT, SlotNetwork, impaired_flows, slot_fabric};
#[cfg(feature = "simulator")]
pub use trial::{
    Change, Entry, Settings, Trial, dumbbell, equal_dumbbell, fabric, ideal, ladder, setup_of, star,
};
