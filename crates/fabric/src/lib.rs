//! The fabric: which nodes there are, how they are linked, which ports lead where, and the
//! arithmetic both worlds share. Data and arithmetic only; nothing here knows about events or
//! transports.
//!
//! - **Building**: [`parse`] reads `leaf-spine:8x8x48`, [`SHAPES`] lists what it knows; [`LeafSpine`], [`Dumbbell`], [`FatTree`]
//!   and the other shapes are typed; [`Graph`] takes any links; [`import`] reads the files of
//!   ns-3 RDMA simulators and htsim.
//! - **Routing**: [`Fabric::routes`] holds, per switch and destination, every equal-cost port.
//! - **[`balance`]**: which of the equal-cost ports a packet takes.
//! - **[`buffer`]**: what a port or a shared pool admits, and PFC headroom.
//! - **[`order`]**: the order of simultaneous arrivals, and keys of random streams.
//! - **Path arithmetic**: base RTT, ideal flow completion time, load reference point.
//!
//! ```
//! use incast_fabric::{LinkDefaults, bdp_packets, parse};
//! use incast_units::{Bytes, Rate, Span};
//!
//! let (rate, propagation) = (Rate::from_gbps(40), Span::from_us(1));
//! let links = LinkDefaults { rate, propagation, loss: 0.0 };
//! let fabric = parse("leaf-spine:8x8x48", links)?;
//! let rtt = fabric.base_rtt(Bytes(1538), Bytes(84));
//! assert_eq!(rtt, Span::from_us(8) + (Span(307_600) + Span(16_800)) * 4);
//! assert_eq!(bdp_packets(fabric.max_rate(), rtt, Bytes(1538)), 31);
//! assert_eq!(fabric.routes().next(fabric.rack_of(0), 383).len(), 8);
//! # Ok::<(), incast_fabric::TopologyError>(())
//! ```

pub mod balance;
pub mod buffer;
mod clos;
mod cut_through;
mod cycles;
mod error;
mod fabric;
mod failure;
mod fixed;
mod graph;
mod ideal;
pub mod import;
mod named;
mod names;
mod options;
pub mod order;
mod packets;
mod partition;
mod parts;
mod paths;
mod routes;
mod servers;
mod shapes;
mod spec;
mod tables;
mod uplinks;

pub use cut_through::{cut_through_fct, cut_through_fct_over};
pub use error::{Problem, TopologyError};
pub use fabric::Fabric;
pub use fixed::FixedPaths;
pub use graph::{Graph, Vertex};
pub use ideal::{
    Hop, PathUse, bdp_packets, ideal_fct, ideal_fct_over, ideal_fct_over_uniform, ideal_fct_uniform,
};
pub use import::{Imported, import_hpcc_topology, import_htsim_topo};
pub use options::{LinkDefaults, LinkOverride, Options};
pub use packets::Packets;
pub use parts::{Failure, Forwarding, LossBursts, NodeId, PortId, PortSpec, Tier};
pub use routes::Routes;
pub use shapes::{
    BCube, Count, Dragonfly, Dumbbell, FatTree, LeafSpine, ParkingLot, Rail, SHAPES, Shape, Size,
    Star, ThreeTier, Torus,
};
pub use spec::{has_host_rate, parse, parse_with, size_of};
pub use uplinks::Uplinks;
