//! Traffic: flow sizes, packet sizes, arrivals, patterns, and the flow files of other tools.
//!
//! Traffic is a function of the user's settings and a seed. It does not depend on the transport, so
//! a comparison of transports uses identical arrivals. [`SizeTable`] and [`PacketTable`] are
//! distributions; [`poisson`] and the pattern functions generate [`Traffic`] from them;
//! [`read_flows`] reads files. All errors are [`Fault`]s.
//!
//! ```
//! use incast_units::{Rate, Time};
//! use incast_workload::{Incasts, Shape, WireCost, incasts, poisson, table};
//!
//! let shape = Shape::racks(64, 8, Rate::from_gbps(40), None);
//! let sizes = table("web_search")?;
//! let load = poisson(&shape, sizes, 0.6, 1000, 1, None, WireCost::ETHERNET)?;
//! let burst = incasts(&shape, &Incasts::once(0, vec![9, 17, 25], 30_000, Time(1_000_000)))?;
//! let traffic = load.merge(burst);
//! assert_eq!(traffic.flows.len(), 1003);
//! println!("{}", traffic.load_definition);
//! # Ok::<(), incast_workload::Fault>(())
//! ```

mod builtin;
mod closed_loop;
mod collective;
mod dialect;
mod error;
mod flow;
mod import;
mod incast;
mod lines;
mod matrix;
mod packet_table;
mod pattern;
mod poisson;
mod random;
mod request;
mod size_table;
mod traffic;
mod warning;
mod wire_cost;

pub use builtin::{TableInfo, packet_table, packet_tables, table, tables};
pub use closed_loop::{ClosedLoop, closed_loop};
pub use collective::{Algorithm, Collective, CollectiveGroup, CollectiveKind, Message, collective};
pub use dialect::SizeUnit;
pub use import::hpcc::{export_hpcc, read_hpcc};
pub use import::htsim::{Failure, HtsimTraffic, StartUnit, SwitchTier, export_htsim, read_htsim};
pub use import::native::{export_csv, named_transports, read_csv};
pub use import::yaps::read_yaps;
pub use import::{HostIds, Imported, WorkloadFormat, detect, read_flows};
pub use incast::{Extent, Incasts, Recurrence, Senders, incasts};
pub use incast_units::Fault;
pub use matrix::read_matrix;
pub use packet_table::{ACK_LIMIT, HEADER_BYTES, PacketTable, segment, uniform};
pub use pattern::{
    Burst, LongFlow, all_to_all, bursts, choose_senders, long_flows, permutation, uneven_all_to_all,
};
pub use poisson::poisson;
pub use random::{Stream, draw, fold, fold_text};
pub use request::{ManyToMany, REQUEST_BYTES, RequestResponse, many_to_many, requests};
pub use size_table::SizeTable;
pub use traffic::{
    FlowClass, FlowSpec, Gate, Lane, MAX_FLOW_BYTES, MAX_FLOWS, Origin, RequestGroup, Shape, Start,
    Traffic,
};
pub use warning::{ENDLESS_FLOWS, PRIORITY_GROUPS_ALIKE, WARNINGS};
pub use wire_cost::WireCost;
