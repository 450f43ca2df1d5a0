//! A flow: source, destination, size and start.

use incast_units::fault::{Fault, one_of};
use incast_units::{Bytes, Span, Time};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The purpose of a flow. Results contain its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FlowClass {
    /// Part of the offered load.
    Background = 0,
    /// A long flow.
    Long = 1,
    /// A request that triggers a response.
    Request = 2,
    /// The response to a request.
    Response = 3,
    /// One of many simultaneous flows to one receiver.
    Incast = 4,
    /// Part of a burst.
    Burst = 5,
    /// A message of a collective.
    Collective = 6,
    /// A message of a program.
    Program = 7,
}

impl FlowClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [FlowClass; 8] = [
        FlowClass::Background,
        FlowClass::Long,
        FlowClass::Request,
        FlowClass::Response,
        FlowClass::Incast,
        FlowClass::Burst,
        FlowClass::Collective,
        FlowClass::Program,
    ];

    /// The name in files and results.
    pub const fn name(self) -> &'static str {
        match self {
            FlowClass::Background => "background",
            FlowClass::Long => "long",
            FlowClass::Request => "request",
            FlowClass::Response => "response",
            FlowClass::Incast => "incast",
            FlowClass::Burst => "burst",
            FlowClass::Collective => "collective",
            FlowClass::Program => "program",
        }
    }
}

impl fmt::Display for FlowClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FlowClass {
    type Err = Fault;
    fn from_str(text: &str) -> Result<FlowClass, Fault> {
        FlowClass::ALL.into_iter().find(|class| class.name() == text).ok_or_else(|| {
            let names = one_of(text, FlowClass::ALL.iter().map(|class| class.name()));
            Fault::value("class", text, names)
        })
    }
}

/// When a flow starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(Time),
    /// `delay` after the last of `flows` has completed and the flow's gate, if it has one, is open.
    After {
        /// Indices in [`Traffic::flows`](crate::Traffic::flows); all of them have to be complete.
        flows: Vec<u32>,
        /// Time from the last completion to the start.
        delay: Span,
    },
    /// When the program of its source sends it, which is decided while the run goes on.
    Told,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Sending host, counted from 0.
    pub src: u32,
    /// Receiving host, counted from 0; not `src`.
    pub dst: u32,
    /// Payload in bytes, at least 1.
    pub size: u64,
    /// When it starts.
    pub start: Start,
    /// Purpose.
    pub class: FlowClass,
    /// Payload of each packet in order, if drawn from a packet table; sums to `size`.
    pub segments: Option<Arc<[u32]>>,
    /// The transport, if the workload names one.
    pub transport: Option<String>,
    /// Packets that it may send before its source hears from its destination; `None`: as many as the
    /// transport lets it.
    pub burst: Option<u32>,
    /// The queue of data that it is in, counted from 1; the priority group of a file.
    pub priority: Option<u8>,
    /// A gate that has to be open, the index in [`Traffic::gates`](crate::Traffic::gates); only of one that starts after others.
    pub gate: Option<u32>,
    /// What decided when it starts.
    pub origin: Origin,
    /// When its application ends it; only of one [without an end](FlowSpec::is_endless).
    pub stop: Option<Time>,
    /// Which NICs of its servers it takes, counted from 0, where that is given.
    pub nics: Option<[u32; 2]>,
    /// The connection on which it is a message, with the others of its ends that say the same. Generators of
    /// collectives give each message its channel.
    pub connection: Option<Lane>,
}

/// One of the connections between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    /// The entry of the scenario whose it is, counted over all.
    pub entry: u32,
    /// Of those of an entry, which one: the channel of a collective, the NIC of a program's send.
    pub channel: u32,
}

/// What decides when a flow starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Origin {
    /// A pattern, such as a permutation or an incast.
    #[default]
    Pattern,
    /// A file that lists flows.
    File,
    /// A Poisson process.
    Poisson,
}

impl FlowSpec {
    /// A flow without prescribed packets or transport.
    pub fn new(src: u32, dst: u32, size: u64, start: Start, class: FlowClass) -> FlowSpec {
        let origin = Origin::Pattern;
        let (segments, transport, burst, gate) = (None, None, None, None);
        let (stop, nics, priority, connection) = (None, None, None, None);
        FlowSpec {
            src,
            dst,
            size,
            start,
            class,
            segments,
            transport,
            burst,
            priority,
            gate,
            origin,
            stop,
            nics,
            connection,
        }
    }

    /// Whether it stands for a flow without an end: it is no load, and is not expected to complete.
    pub fn is_endless(&self) -> bool {
        self.size >= Bytes::ENDLESS.0
    }
}
