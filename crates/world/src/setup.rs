//! What a world is made from.

use crate::pfc::{Buffers, Pfc, SharedBuffer};
use crate::{Balance, CaptureStream, Executions, HostModel, PortMaker, Queues, Storm, TraceLog};
use incast_fabric::{Fabric, FixedPaths};
use incast_transport::{
    Bytes, Flow, FlowId, Framing, Host, Routing, Span, SwitchHook, Time, TransportId,
};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A flow, whose it is and when it starts.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// The flow; `start` counts when it does not wait ([`waits`](FlowSetup::waits)).
    pub flow: Flow,
    /// Which transport carries it.
    pub transport: TransportId,
    /// It opens `delay` after the last of these is complete and `gate` is open.
    pub after: Vec<FlowId>,
    /// See `after`.
    pub delay: Span,
    /// A gate that has to be open.
    pub gate: Option<GateId>,
    /// From when on its ends are apart for good; [`Time::NEVER`] if they never are.
    pub cut: Time,
}

impl FlowSetup {
    /// Whether it stands for a flow without an end, whose completion nobody waits for.
    pub fn is_endless(&self) -> bool {
        self.flow.size >= Bytes::ENDLESS.0
    }

    /// Whether it waits for other flows or for a gate.
    pub fn waits(&self) -> bool {
        !self.after.is_empty() || self.gate.is_some()
    }
}

/// The number of a [`Gate`]; in four bytes that a flow has to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateId(NonZeroU32);

impl GateId {
    /// The gate at this place of [`Setup::gates`].
    pub fn new(place: u32) -> GateId {
        GateId(NonZeroU32::MIN.saturating_add(place))
    }

    /// Its place.
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What several flows of a host wait for, such as a computation between what it receives and what it sends.
/// It opens `delay` after the last of: these flows are complete, an earlier gate is open, and it is `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Flows that have to be complete.
    pub after: Vec<FlowId>,
    /// A gate before it in [`Setup::gates`].
    pub gate: Option<GateId>,
    /// See above.
    pub from: Time,
    /// See above.
    pub delay: Span,
}

/// Faults injected where packets arrive at hosts, for tests of recovery. Probabilities.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Faults {
    /// The packet is lost.
    pub loss: f64,
    /// The packet arrives late, by up to `late`.
    pub reorder: f64,
    /// The packet arrives twice, the second time late.
    pub duplicate: f64,
    /// Longest lateness.
    pub late: Span,
}

/// How a run is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of every random stream and of ties.
    pub seed: u64,
    /// The run ends here even if flows are open.
    pub until: Time,
    /// How long the run goes on after the last flow is complete; at least the smallest
    /// propagation between switches times two.
    pub drain: Span,
    /// Length of the intervals of time series at first; doubled when a port has too many.
    pub interval: Span,
    /// Start of the first interval ([`series_start`](crate::series_start)).
    pub series_start: Time,
    /// Flows whose throughput is recorded over time.
    pub watch: Vec<FlowId>,
    /// Ports whose packets are captured as they begin transmission.
    pub capture: Vec<u32>,
    /// Most packets captured: the first ones of the run, by time and then port.
    pub capture_limit: usize,
    /// Flows whose packets are captured; empty: all flows, and pause frames.
    pub capture_flows: BTreeSet<u32>,
    /// Where captured packets go while the run goes on, instead of memory.
    pub capture_stream: Option<Arc<CaptureStream>>,
    /// Keep every delivered range, for tests.
    pub log_deliveries: bool,
    /// Injected faults.
    pub faults: Faults,
    /// What hosts take, if they are not ideal. In the simulator alone.
    pub hosts: Option<Arc<HostModel>>,
    /// Hosts whose NIC sends nothing from an instant on.
    pub silent: Vec<(u32, Time)>,
    /// NICs that pause their links; of one host one after the other.
    pub storms: Vec<Storm>,
    /// Flows that their applications end, and when; none of them is complete by then.
    pub stops: Vec<(FlowId, Time)>,
    /// Shortest wait of a flow that the loss of a control packet may explain, in the breakdown of
    /// its completion time; at least the longest propagation.
    pub patience: Span,
    /// Whose rule marks the ECN-capable packets (RFC 3168) of all transports, as a switch with one
    /// rule a queue does. If not said, each transport's own rule marks its own packets.
    pub marking: Option<TransportId>,
    /// Priority-based flow control, if switches have it. Ports then need no limit of their own.
    pub pfc: Option<Arc<Pfc>>,
    /// Several queues of data at every port, and which flow is in which; without them one.
    pub queues: Option<Queues>,
    /// Numbers of the routings that have some.
    pub balance: Balance,
    /// Paths of flows under [`Routing::Paths`].
    pub paths: Option<Arc<FixedPaths>>,
    /// Whether the record says which paths flows took.
    pub record_paths: bool,
    /// The trace; [`Setup::trace`] sets it.
    pub trace: Option<Arc<TraceLog>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 1,
            until: Time::NEVER,
            drain: Span::from_us(100),
            interval: Span::from_us(10),
            series_start: Time::ZERO,
            watch: vec![],
            capture: vec![],
            capture_limit: 1_000_000,
            capture_flows: BTreeSet::new(),
            capture_stream: None,
            log_deliveries: false,
            faults: Faults::default(),
            hosts: None,
            silent: vec![],
            storms: vec![],
            stops: vec![],
            patience: Span::ZERO,
            marking: None,
            balance: Balance::default(),
            pfc: None,
            queues: None,
            paths: None,
            record_paths: false,
            trace: None,
        }
    }
}

/// Everything a run needs.
pub struct Setup {
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// What links charge.
    pub framing: Framing,
    /// Per host, its transports.
    pub hosts: Vec<Vec<(TransportId, Box<dyn Host>)>>,
    /// Makes the handlers of ports.
    pub ports: Arc<PortMaker>,
    /// Per node of the fabric, hooks of switches.
    pub hooks: Vec<Vec<Box<dyn SwitchHook>>>,
    /// Load balancing of each transport that occurs.
    pub routing: Vec<(TransportId, Routing)>,
    /// Transports whose data packets draw the path number that their routing looks at.
    pub drawn_paths: Vec<TransportId>,
    /// Flows; `flows[i].flow.id == FlowId(i)`.
    pub flows: Vec<FlowSetup>,
    /// What several flows wait for.
    pub gates: Vec<Gate>,
    /// What opens flows while the run goes on: those have [`Time::NEVER`] as their start.
    pub executions: Executions,
    /// Most payload of a packet, of transports whose packets carry an extension.
    pub payloads: Vec<(TransportId, u16)>,
    /// One buffer per switch instead of one per port.
    pub shared: Option<SharedBuffer>,
    /// How to run.
    pub options: Options,
}

impl Setup {
    /// What rules the switches' memory, beyond the limits of ports.
    pub fn buffers(&self) -> Buffers {
        Buffers { pfc: self.options.pfc.clone(), shared: self.shared }
    }

    /// When hosts forget flows that their applications end: the source at once, the destination when what was on
    /// its way has come, after the drain of the options; and when storms of pause frames begin and end.
    pub fn endings(&self) -> Vec<Ending> {
        let both = self.options.stops.iter().flat_map(|(flow, at)| {
            let own = &self.flows[flow.0 as usize].flow;
            let ends = [(own.src, *at), (own.dst, at.saturating_add(self.options.drain))];
            ends.map(|(host, at)| Ending { at: at.0, host: host.0, flow: Some(*flow) })
        });
        let storms = self.options.storms.iter().flat_map(|storm| {
            let ends = [storm.from, storm.until].into_iter().filter(|at| *at != Time::NEVER);
            ends.map(|at| Ending { at: at.0, host: storm.host.0, flow: None })
        });
        both.chain(storms).collect()
    }
}

/// A host forgets a flow that has no end by itself, or looks what else is due at its NIC. Worlds give it the number that
/// follows those of all flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// When, picoseconds.
    pub at: u64,
    /// Which host.
    pub host: u32,
    /// Which flow, if one.
    pub flow: Option<FlowId>,
}
