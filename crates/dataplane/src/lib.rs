//! The second world: the same hosts and ports as in the simulator, exchanging encoded bytes over
//! packet I/O.
//!
//! A *node* is a host (one NIC and its transports) or a software switch (ports, hooks, routes). It
//! sees its ports by number only and gets frames in and out through [`PacketIo`]; what it knows of
//! a packet it has read from the frame's bytes. Time comes from a [`Clock`]. [`Testbed`] polls the
//! nodes of a process in one thread:
//!
//! ```text
//! rx burst -> receive -> flows open -> due timers -> transmit while the NIC has room -> egress
//! ```
//!
//! Under the [`Virtual`] clock and the [`Mem`] backend a run is exact: the same [`Setup`] gives the
//! same packets in the same order at the same picoseconds and the same records as the simulator,
//! which `tests/all/same_packets.rs` holds for every transport of the catalogue. What makes it so: the same
//! order within an instant ([`incast_fabric::order`]), the same random streams, the same route
//! choice, hosts, ports and buffers (`incast_world`), and the same schedule of each link.
//!
//! # Pacing
//!
//! Every line keeps a virtual schedule: a packet starts at the later of *the line is free* and
//! *something waits*, occupies it for charged bytes / rate, and is released to the peer at its end
//! plus the propagation. Ports and markers are given that start, not the moment at which the
//! polling thread came round to it. A thread that was descheduled thus catches up at the next pass
//! and the long-run rate stays exact; a marker measures packet gaps and not the scheduler.
//!
//! # What differs from the simulator
//!
//! Only bytes cross a link. What the simulator stamps on packets for the records - a flow's time in
//! parts, the age of information - is no part of them. A backend that emulates links within the
//! process hands it over beside the bytes ([`Trail`]), and the records are the same; over a real
//! wire it is missing ([`FlowRecord::parts`](incast_transport::FlowRecord) is `None`, `decisions`
//! and their ages are 0). Frames that do not decode, or that name hosts, flows or transports
//! which do not exist, are counted (`malformed`) and dropped.
//!
//! A backend with bounded rings may have no room. A node checks before it takes a packet from a
//! transport or port: the packet stays where it is, under that queue's own rules, and nothing is
//! lost between queue and ring.
//!
//! # Frames
//!
//! A [`Frame`] belongs to its holder. A switch decodes the headers of what it receives, keeps the
//! frame beside the packet, and sends the same buffer on: its payload is neither copied nor read.
//! What has changed on the way is written: a mark or other fields of the headers with their
//! checksums updated incrementally (RFC 1624), a longer or shorter extension in front of the payload
//! (telemetry grows into the headroom), and a packet that was trimmed is cut. Packets that hosts,
//! hooks and pause frames begin with get a frame of their own; a packet for which there is none is
//! lost as on a link. A dropped packet's frame is free at once.
//!
//! # Payload
//!
//! An application lends the bytes that a flow sends and is given those that arrive ([`Payload`]):
//! one copy at the sender, none in switches, none at the receiver. Without one, packets carry zeros.
//! Checksums cover the headers only. What claims to be a part of a flow that the flow does not have
//! is malformed.
//!
//! # Backends
//!
//! | backend | links | needs |
//! |---|---|---|
//! | [`Mem`] | in memory | nothing |
//! | `dpdk::Rings` | rings of DPDK: `net_ring` ports, or bare rings beyond 16 links | the feature `dpdk` |
//! | [`PacketSockets`] | network interfaces of Linux | the right to open packet sockets |
//! | `dpdk::Wire` | network interfaces (veth), NICs | the feature `dpdk`, privilege |
//!
//! Over DPDK a frame is an mbuf; [`PacketIo::flush`] is one `rte_eth_tx_burst` for each port and pass.
//! Over rings there is no wire: a frame is handed over no earlier than its release, which lies in
//! the mbuf's private area with its trail. Over a real wire the backend writes and removes the
//! Ethernet header, ignores frames of others, and says that its ports are fed from outside
//! ([`PacketIo::is_external`]): then each pass polls their nodes.
//!
//! On ordinary networks a port is a [`Station`]: its packets go in UDP datagrams between configured addresses.
//! With a key of the network ([`Keyed`], around any backend) frames and hellos are authenticated.
//!
//! # Clocks
//!
//! | clock | time | for |
//! |---|---|---|
//! | [`Virtual`] | jumps to what is due next | exact runs, the default |
//! | [`Rule::Paced`] | the same schedule, no earlier than real time | exact runs to watch or to feed |
//! | [`Rule::Compensated`] | real time without the gaps in which the thread did not run | all nodes in one thread on shared cores |
//! | [`Rule::Tsc`] | real time | isolated cores, several processes |
//!
//! Under the last two a pass makes up, in order of time, for what was due before the present. Its
//! *lateness*, the present less the due time of a frame, is recorded of every frame; [`Fidelity`]
//! has it beside the share of stalled time and the lag of the run behind real time, and says for
//! which [`Bounds`] the run is refused. A run ends by the clock too, and a pass in which nothing
//! happened is followed by [`Clock::idle`].

mod arrival;
mod clock;
pub mod cost;
mod counter;
#[cfg(feature = "dpdk")]
pub mod dpdk;
pub mod endpoint;
mod frames;
mod gate;
mod hello;
mod host;
mod io;
mod keyed;
mod line;
mod live;
mod medium;
mod mem;
mod names;
mod node;
mod outside;
mod pace;
#[cfg(target_os = "linux")]
mod packet_socket;
mod payload;
mod record;
mod run_time;
mod schedule;
mod shared;
mod switch;
#[cfg(target_os = "linux")]
pub mod system;
mod testbed;
mod trouble;
mod udp;

pub use clock::{Clock, Pace, Virtual};
pub use counter::{Counter, Monotonic};
pub use gate::{Bounds, Data, Fidelity, Refusal};
pub use hello::{HELLO, Identity, LINKS_MOST, LinkRtt, Meeting, Neighbour};
pub use incast_world::{Captured, Setup};
pub use io::{Arrival, Departure, Frame, HEADROOM, PacketIo, Trail};
pub use keyed::{KEY_LEAST, Key, Keyed, TRAILER};
pub use mem::{Buffer, Mem};
pub use outside::{Obstacle, Outside, PortCount};
pub use pace::{CREDIT, Idle, RealTime, Rule, STALL};
#[cfg(target_os = "linux")]
pub use packet_socket::PacketSockets;
pub use payload::{Payload, Zeros};
pub use shared::SharedClock;
pub use switch::{Crossing, one_core_only};
pub use testbed::{Ran, Testbed, run, run_virtual};
pub use trouble::Trouble;
pub use udp::{Addresses, Came, ENCAPSULATION, Station, UDP_PORT};
