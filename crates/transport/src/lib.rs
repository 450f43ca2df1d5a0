//! THE CONTRACT between transports and the worlds that run them. Small; read this first.
//!
//! A transport is written once, as state machines without I/O: time comes in, packets go out. It
//! has no clock, socket, thread, global or log, and allocates nothing per packet. A world - the
//! simulator or the data plane - calls it and lends it an [`Env`] for the length of one call.
//!
//! * [`Host`]: the transport of one host, all its senders and receivers.
//! * [`Port`]: an egress: classify, enqueue, dequeue. Most are a [`Policy`], which is data, plus
//!   [`Marker`]s, which see every packet and rewrite their own transport's.
//! * [`SwitchHook`]: sees a packet between ingress and egress of one switch.
//! * [`Transport`]: the catalogue entry that makes all of these from parameters and a site.
//! * [`Probe`]: where the time went; filled by transports (`blocked`, `decision`, `delivered`,
//!   `completed`) and by the world.

mod ages;
mod catalogue;
mod declare;
mod env;
mod flow;
mod host;
mod losses;
pub mod parameter;
mod policy;
mod pool;
mod port;
mod probe;
mod random;
mod record;
mod site;

pub use ages::Ages;
pub use catalogue::{Configured, Deviation, EcnUse, Info, Kind, Routing, Transport};
pub use declare::{Declaration, Hook, Optional, Ready, Values};
pub use env::Env;
pub use flow::{Flow, Segments};
pub use host::Host;
pub use parameter::{ParameterDoc, ParameterError, Parameters};
pub use policy::{ClassPolicy, Discipline, Limit, Policy, Schedule, Shaper, TransportSet};
pub use pool::{Meta, PacketPool, PacketRef, Stamps, prefetch};
pub use port::{
    Backlog, Classes, Decision, Dequeue, Fate, Marker, Port, PortEnv, PortView, SwitchEnv,
    SwitchHook, Verdict, View,
};
pub use probe::{HostClock, Loss, Outcome, Parts, Probe, Reason, SenderTrace, TIERS};
pub use random::Random;
pub use record::{Bin, FlowRecord, FlowSeries, Pauses, PortRecord, RunRecord};
pub use site::{FabricSite, HostSite, PortSite, SizeQuantiles, SwitchSite};

pub use incast_units::{Bytes, ParseError, Rate, Span, Time, math};
pub use incast_wire::{
    Ecn, Explicit, Extension, FlowId, Framing, HEADER_BYTES, Header, HeaderField, HeaderView,
    HostId, INT_HOPS, IntRecord, MarkCode, PADDING_PAIRS, Packet, SACK_RANGES, TransportId,
    data_flag, flag, header_view, tcp_flag, telemetry,
};
