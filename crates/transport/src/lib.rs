//! The contract between transports and the worlds that run them. Small; read this first.
//!
//! A transport is written once, as state machines without I/O: time comes in, packets go out. It
//! has no clock, socket, thread, global or log, and allocates nothing per packet. A world - the
//! simulator or the data plane - calls it and lends it an [`Env`] for the length of one call. This
//! is a whole transport, stop and wait; nothing repairs a loss:
//!
//! ```
//! use incast_transport::*;
//!
//! /// One packet, its ACK, the next packet.
//! #[derive(Default)]
//! struct StopAndWait {
//!     /// As source: each flow, its next packet, and whether it waits for an ACK.
//!     flows: Vec<(Flow, u32, bool)>,
//!     /// As destination: ACKs that wait for the NIC.
//!     acks: Vec<Packet>,
//! }
//!
//! impl Host for StopAndWait {
//!     fn open(&mut self, _env: &mut Env<'_>, flow: &Flow) {
//!         self.flows.push((flow.clone(), 0, false));
//!     }
//!
//!     fn receive(&mut self, env: &mut Env<'_>, packet: PacketRef) {
//!         let packet = env.packets[packet];
//!         if let Header::Data { seq, offset, flags, .. } = packet.header {
//!             env.probe.delivered(packet.flow, seq, offset as u64, packet.payload as u32);
//!             if flags & data_flag::LAST != 0 {
//!                 env.probe.completed(packet.flow);
//!             }
//!             let header = Header::Ack { seq, cumulative: seq + 1, number: 0, flags };
//!             let (src, dst) = (packet.dst, packet.src);
//!             self.acks.push(Packet { header, src, dst, payload: 0, ..packet });
//!         } else if let Some(entry) = self.flows.iter_mut().find(|(flow, ..)| flow.id == packet.flow) {
//!             (entry.1, entry.2) = (entry.1 + 1, false);
//!             self.flows.retain(|(flow, next, _)| *next < flow.packets());
//!         }
//!     }
//!
//!     fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
//!         if !open.has(1) {
//!             return None;
//!         }
//!         if let Some(ack) = self.acks.pop() {
//!             return Some(env.packets.create(ack));
//!         }
//!         let (flow, next, waits) = self.flows.iter_mut().find(|(.., waits)| !waits)?;
//!         *waits = true;
//!         env.probe.blocked(flow.id, Reason::Window);
//!         let flags = if *next + 1 == flow.packets() { data_flag::LAST } else { 0 };
//!         let header = Header::Data { seq: *next, offset: flow.offset(*next) as u32, tag: 0, flags };
//!         let &mut Flow { id, src, dst, .. } = flow;
//!         let (payload, transport) = (flow.payload(*next), TransportId(99));
//!         let packet = Packet { header, src, dst, flow: id, payload, path: 0, mark: 0, class: 1,
//!             transport, flags: 0, extension: 0 };
//!         Some(env.packets.create(packet))
//!     }
//!
//!     fn deadline(&self) -> Time {
//!         Time::NEVER
//!     }
//!
//!     fn wake(&mut self, _env: &mut Env<'_>) {}
//!
//!     fn open_flows(&self) -> usize {
//!         self.flows.len()
//!     }
//! }
//!
//! // A world in miniature: two hosts with a wire of no length between them.
//! let mut hosts = [StopAndWait::default(), StopAndWait::default()];
//! let mut random = Random::new(1, 0, 0);
//! let mut probe = Probe::new(1, false);
//! let mut packets = PacketPool::new(Framing::ETHERNET);
//! let mut env = Env {
//!     now: Time::ZERO,
//!     host: HostId(0),
//!     random: &mut random,
//!     probe: &mut probe,
//!     packets: &mut packets,
//! };
//! let (id, src, dst) = (FlowId(0), HostId(0), HostId(1));
//! let segments = Segments::Uniform(1_460);
//! let (size, start, burst, connection) = (4_000, Time::ZERO, None, None);
//! hosts[0].open(&mut env, &Flow { id, src, dst, size, start, segments, burst, connection });
//! let mut carried = 0;
//! while let Some(packet) = (0..2).find_map(|host| {
//!     env.host = HostId(host);
//!     hosts[host as usize].transmit(&mut env, Classes::ALL)
//! }) {
//!     env.host = env.packets[packet].dst;
//!     let content = env.packets[packet];
//!     env.probe.arriving(&content, env.packets.stamps(packet), env.packets.meta(packet));
//!     hosts[env.host.0 as usize].receive(&mut env, packet);
//!     env.packets.free(packet);
//!     carried += 1;
//! }
//! assert_eq!(carried, 6, "three packets, three ACKs");
//! assert_eq!((probe.bytes_delivered(id), hosts[0].open_flows()), (4_000, 0));
//! ```
//!
//! What a world knows of it is a [`Declaration`]: its facts, its parameters and how its parts are
//! made. The parameters, from the macro of that name, have a unit, a default, a range and a source:
//!
//! ```
//! # use incast_transport::*;
//! # #[derive(Default)]
//! # struct StopAndWait;
//! # impl Host for StopAndWait {
//! #     fn open(&mut self, _env: &mut Env<'_>, _flow: &Flow) {}
//! #     fn receive(&mut self, _env: &mut Env<'_>, _packet: PacketRef) {}
//! #     fn transmit(&mut self, _env: &mut Env<'_>, _open: Classes) -> Option<PacketRef> { None }
//! #     fn deadline(&self) -> Time { Time::NEVER }
//! #     fn wake(&mut self, _env: &mut Env<'_>) {}
//! #     fn open_flows(&self) -> usize { 0 }
//! # }
//! parameters! {
//!     /// Parameters of stop and wait.
//!     pub struct Params for "stop_and_wait" {
//!         /// What a port's queue holds; auto: its buffer.
//!         queue: Option<Bytes> = None, "auto, or 1500B and more" =>
//!             |v| v.is_none_or(|bytes| bytes.0 >= 1_500), "own choice";
//!     }
//! }
//!
//! pub static ENTRY: Declaration<Params> = Declaration {
//!     info: &Info {
//!         name: "stop_and_wait",
//!         id: TransportId(99),
//!         title: "Stop and wait",
//!         paper: "Bartlett, Scantlebury and Wilkinson, A note on reliable full-duplex transmission \
//!                 over half-duplex links, CACM 1969",
//!         kind: TransportKind::Window,
//!         switch_support: "none",
//!         routing: Routing::Ecmp,
//!         symmetric_paths: false,
//!         one_path: false,
//!         ecn: EcnUse::None,
//!         marks: false,
//!         made_for_pfc: false,
//!         feedback_bits: None,
//!         headers: &[],
//!         deviations: &[],
//!     },
//!     derive: |_, _| Ok(()),
//!     host: |_, _| Box::new(StopAndWait::default()),
//!     policy: |ready, site| {
//!         let queue = ready.params.queue.map_or(site.buffer, |bytes| Limit::Bytes(bytes.0));
//!         Policy::two_queues(TransportId(99), queue, queue, vec![])
//!     },
//!     unsolicited: |_, _, packets| packets.min(1),
//!     optional: Optional::NONE,
//! };
//!
//! assert_eq!(ENTRY.parameters()[0].default, "auto");
//! ```
//!
//! In the words of the field:
//!
//! * [`Host`] is the transport layer of one host: every sender and receiver of one transport
//!   there. Packets are pulled from it when the NIC is free, so there is no send queue below it.
//! * [`Port`] is an egress queue of a switch or NIC: it classifies, admits, schedules and drops. A
//!   transport does not write one. It describes one as a [`Policy`]: service classes with a
//!   discipline, a limit and a shaper each, and markers.
//! * [`Marker`] is active queue management without the dropping: it sees each packet with the
//!   queue at that instant and may set ECN bits or a field, or add telemetry, in packets of its own
//!   transport.
//! * [`SwitchHook`] is what a transport puts into the forwarding path of a whole switch, with state
//!   per flow if it must: it may edit, drop or emit packets.
//! * [`Transport`] is an entry of the catalogue; a [`Declaration`] is one. [`Configured`] is a
//!   transport with its parameters in force in one fabric: it makes hosts, policies and hooks.
//! * [`Probe`] is the instrumentation: transports report why a flow does not send (`blocked`), how
//!   old the feedback is that they act on (`decision`), and what arrived (`delivered`,
//!   `completed`); worlds report the rest.
//!
//! A congestion control over windows or rates does not write a `Host`: `incast-endpoint` has the
//! common sender, to which it is a `Control` of a few functions.

pub mod breakdown;
mod by_rate;
mod catalogue;
mod declare;
mod env;
mod event;
mod flow;
mod flow_losses;
mod histogram;
mod host;
mod limit;
mod losses;
mod observed;
pub mod parameter;
mod paths;
mod policy;
mod pool;
mod port;
mod probe;
mod random;
mod record;
mod recoveries;
mod room;
mod routing;
mod site;
mod spent;
mod timers;
mod trace;

pub use breakdown::{Loss, Parts};
pub use by_rate::ByRate;
pub use catalogue::{Configured, Deviation, EcnUse, Info, LentPorts, Transport, TransportKind};
pub use declare::{Declaration, Hook, Optional, Ready, Values};
pub use env::Env;
pub use event::{EventKind, Front, Place, Trace, TraceEvent, Traced, Why};
pub use flow::{Connection, Flow, Segments};
pub use histogram::Histogram;
pub use host::Host;
pub use limit::Limit;
pub use observed::Observed;
pub use parameter::{ParameterDoc, ParameterSet, Parameters, Setting};
pub use paths::PathsTaken;
pub use policy::{ClassPolicy, Discipline, Policy, Schedule, Shaper, TransportSet};
pub use pool::{EDITED, Meta, PacketPool, PacketRef, Stamps, WRITTEN, prefetch};
pub use port::{
    Backlog, Classes, Decision, Dequeue, Fate, Marker, Port, PortEnv, PortView, SwitchEnv,
    SwitchHook, Verdict, View,
};
pub use probe::Probe;
pub use random::Random;
pub use record::{
    Bin, CaptureCut, ExecutionRecord, FlowRecord, FlowSeries, Pauses, PortRecord, RunRecord,
    StepRecord,
};
pub use routing::Routing;
pub use site::{FabricSite, HostSite, PlbRule, PlbSettings, PortSite, SizeQuantiles, SwitchSite};
pub use spent::{Gap, Reason, Spent, TIERS};
pub use timers::{Acks, Timers};
pub use trace::{
    Ended, HostClock, Known, KnownArrivals, KnownFlows, LastPacket, Outcome, Reordering,
    SenderTrace,
};

pub use incast_units::{
    Bytes, Fault, Notice, Rate, Span, Time, WarningKind, fault, math, warnings,
};
pub use incast_wire::{
    ARRIVALS_BYTES, Ecn, Explicit, Extension, FlowId, Framing, HEADER_BYTES, Header, HeaderField,
    HeaderView, HostId, INT_HOPS, IntRecord, LAYOUTS, MarkCode, PADDING_PAIRS, Packet, SACK_RANGES,
    TransportId, data_flag, flag, header_view, tcp_flag, telemetry,
};
