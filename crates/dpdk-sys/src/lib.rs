//! DPDK for Incast: a thin C shim (`shim.c`) and safe handles for what it returns.
//!
//! Without the feature `link` this crate is empty and needs nothing. With it, the build script asks pkg-config for
//! libdpdk (Debian: `apt-get install libdpdk-dev pkg-config build-essential`), compiles the shim with the system's C
//! compiler, and links dynamically with the six libraries that are used. If libdpdk is missing, the build
//! fails and says so.
//!
//! `Environment::start` comes first and once per process; all else needs what it returns. With
//! `EMBEDDED` it needs no privilege, hugepage or NIC.
//!
//! * `Mempool` is packet memory; its `Mbuf`s have a private area of the type that the pool names.
//! * `Ring` holds mbufs between two users; `Port::pair` makes the two ends of a link of two.
//! * `Port` is also a NIC or a veth interface, opened by its name, PCI address or device arguments.
//!
//! A handle frees what it stands for. A pool of which mbufs are still held elsewhere is not freed.
//! A thread other than the one that started DPDK calls `Environment::register_thread` before it
//! touches mempools, for a cache of its own.

#[cfg(feature = "link")]
mod device;
#[cfg(feature = "link")]
mod environment;
#[cfg(feature = "link")]
mod error;
#[cfg(feature = "link")]
mod mbuf;
#[cfg(feature = "link")]
mod pool;
#[cfg(feature = "link")]
mod port;
#[cfg(feature = "link")]
mod raw;
#[cfg(feature = "link")]
mod ring;

#[cfg(feature = "link")]
pub use environment::{EMBEDDED, Environment, Registered, WIRE, arguments_for, version};
#[cfg(feature = "link")]
pub use error::Error;
#[cfg(feature = "link")]
pub use mbuf::{HEADROOM, Mbuf};
#[cfg(feature = "link")]
pub use pool::Mempool;
#[cfg(feature = "link")]
pub use port::{Counts, Port, forward, most_ports};
#[cfg(feature = "link")]
pub use ring::Ring;
