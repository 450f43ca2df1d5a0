//! Messages between applications on hosts.
//!
//! An [`Endpoint`] is a host with an application on it. [`send`](Endpoint::send) hands it a message
//! for another host, and [`poll`](Endpoint::poll) does what is due - receives, retransmits,
//! transmits - and returns what has happened. It never waits longer than its clock does when
//! nothing is due. Each message is a flow of the host's transport: what a transport does for flows
//! in a simulation it does for messages here.
//!
//! ```
//! use bytes::Bytes;
//! use incast_dataplane::endpoint::{Endpoint, Event, Purpose};
//! use incast_dataplane::{Mem, SharedClock, Testbed};
//! use incast_fabric::{LinkDefaults, parse};
//! use incast_transport::{HostId, Rate, Span};
//! use incast_world::for_messages;
//! use std::cell::RefCell;
//! use std::rc::Rc;
//! use std::sync::Arc;
//!
//! // Two hosts and a switch with links of 10 Gb/s, all in this thread and under a virtual clock.
//! let links = LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
//! let fabric = Arc::new(parse("star:2", links).unwrap());
//! let transport = incast_protocols::CATALOGUE[0];
//! let setup = || for_messages(&fabric, transport, &[]).unwrap();
//! let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup().framing)));
//! let mut clocks = SharedClock::of(3).into_iter();
//! let mut clock = || clocks.next().unwrap();
//! let mut client = Endpoint::new(wires.clone(), clock(), setup(), HostId(0));
//! let mut server = Endpoint::new(wires.clone(), clock(), setup(), HostId(1));
//! let mut switch = Testbed::part(setup(), wires.clone(), clock(), &[2]);
//!
//! // A request of 100 kB; the reply is its length.
//! let request = client.request(HostId(1), Bytes::from(vec![7; 100_000])).unwrap();
//! let reply = loop {
//!     switch.turn();
//!     if let Some(Event::Received(received)) = server.poll() {
//!         let length = received.body.len().to_string();
//!         server.reply(&received, length.into()).unwrap();
//!     }
//!     match client.poll() {
//!         Some(Event::Received(received)) => break received,
//!         Some(Event::Failed(message, why)) => panic!("{message:?}: {why}"),
//!         Some(Event::Sent(_)) | None => {}
//!     }
//! };
//! assert_eq!(reply.purpose, Purpose::Reply(request));
//! assert_eq!(&reply.body[..], b"100000");
//! // 66 full packets and the rest, with the propagation of four links.
//! assert!(client.now().0 > 66 * 1_230_400 + 4 * 1_000_000);
//! ```
//!
//! # What is promised
//!
//! * A message arrives whole, and once, or [`Event::Failed`] comes within [`Limits::stall`] of the
//!   last sign of it, and within [`Limits::silence`] of the last sign of its destination. A message
//!   that has failed may have arrived all the same: the word of it was lost.
//! * Messages may overtake each other.
//! * [`Sent`](Event::Sent) says that the destination's transport has the whole message.
//! * Nothing grows without bound: see [`Limits`].
//!
//! The head of a message, 16 bytes in front of it, says whether it is a request or a reply, and how
//! long it is. A flow's number on the wire is given by its source; see [`REMEMBERED`] for how
//! long a destination knows it.

mod messages;

pub use crate::names::REMEMBERED;

use crate::names::{Bounds, Lapsed};
use crate::{Clock, Fidelity, PacketIo, Setup, Testbed};
use bytes::Bytes;
use incast_transport::{Ended, FlowId, HostId, Time, TransportId};
use messages::{HEAD, Head, Kind, Messages, Outgoing, Window};
pub use messages::{Limits, MessageId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::fmt;

/// Turns of the testbed in one [`Endpoint::poll`], at most.
const TURNS: u32 = 64;

/// A request of another host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestId {
    /// Who requests.
    pub from: HostId,
    /// Its number there.
    number: u64,
}

/// What a message is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A message of its own.
    Message,
    /// It wants a reply.
    Request(RequestId),
    /// It answers this request of ours.
    Reply(MessageId),
}

/// A message that has arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its source.
    pub from: HostId,
    /// What it is for.
    pub purpose: Purpose,
    /// Its bytes.
    pub body: Bytes,
}

/// What has happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message has arrived.
    Received(Received),
    /// A message, request or reply has been delivered.
    Sent(MessageId),
    /// A message has been given up; or a request that was delivered, without a reply.
    Failed(MessageId, Failure),
}

/// Why a message has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Nothing was heard of the destination for [`Limits::silence`].
    Silent,
    /// Nothing was heard of this message for [`Limits::stall`].
    Stalled,
    /// Its transport let no time pass: a defect of it. Other messages go on.
    Faulty,
    /// The request was delivered, and no reply came for [`Limits::reply`].
    NoReply,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Failure::Silent => "the destination is silent",
            Failure::Stalled => "the destination says nothing of this message",
            Failure::Faulty => "its transport lets no time pass",
            Failure::NoReply => "no reply in time",
        })
    }
}

/// Why a message is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// Too much is on its way: try again when something was sent.
    WouldBlock,
    /// Longer than [`Limits::message`].
    TooLong {
        /// The most that is taken.
        most: usize,
    },
    /// There is no such host, or it is this one.
    NoSuchHost,
    /// It answers no request.
    NotARequest,
    /// The endpoint is closed.
    Closed,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::WouldBlock => f.write_str("too much is on its way: try again later"),
            SendError::TooLong { most } => write!(f, "a message has at most {most} bytes"),
            SendError::NoSuchHost => f.write_str("there is no such host to send to"),
            SendError::NotARequest => f.write_str("what is answered is no request"),
            SendError::Closed => f.write_str("the endpoint is closed"),
        }
    }
}

impl std::error::Error for SendError {}

/// Sizes of an endpoint's tables, to watch that they stay bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    /// Messages on their way.
    pub outgoing: usize,
    /// Messages arriving.
    pub arriving: usize,
    /// Flows with a name, those included that are only remembered.
    pub names: usize,
    /// Flows with an entry in the probe.
    pub probe: usize,
    /// Requests that wait for their reply.
    pub requests: usize,
    /// Flows with state in the transport.
    pub transport: usize,
}

/// A host with an application on it.
pub struct Endpoint<I: PacketIo, C: Clock> {
    testbed: Testbed<I, C, Messages>,
    host: HostId,
    transport: TransportId,
    limits: Limits,
    next: u64,
    /// Requests that wait for their reply: those that were delivered, until when.
    requests: HashMap<u64, Option<u64>>,
    waits: BinaryHeap<Reverse<(u64, u64)>>,
    /// What has arrived of each other host lately.
    windows: HashMap<u32, Window>,
    /// What has happened and was not returned yet.
    events: VecDeque<Event>,
    closed: bool,
    ended: Vec<Ended>,
}

impl<I: PacketIo, C: Clock> Endpoint<I, C> {
    /// An endpoint on `host`, with the first transport of a setup, over a backend and a clock.
    pub fn new(io: I, clock: C, setup: Setup, host: HostId) -> Endpoint<I, C> {
        Endpoint::within(Limits::default(), io, clock, setup, host, 0)
    }

    /// The same with other limits. `start` differs from one start of this host to its next, such as
    /// the time of day in seconds: by it others know that what comes is new.
    ///
    /// Panics if the setup has no such host, or the host no transport.
    pub fn within(
        limits: Limits,
        io: I,
        clock: C,
        setup: Setup,
        host: HostId,
        start: u32,
    ) -> Endpoint<I, C> {
        let (transport, _) = setup.hosts[host.0 as usize].first().expect("a transport");
        let transport = *transport;
        let mut testbed =
            Testbed::part(setup, io, clock, &[host.0]).carrying(Messages::new(limits));
        let Limits { silence, stall, arrivals, .. } = limits;
        let bytes = (limits.message + HEAD) as u64;
        testbed.accept(host, start, Bounds { silence, stall, arriving: arrivals, bytes });
        Endpoint {
            testbed,
            host,
            transport,
            limits,
            next: 0,
            requests: HashMap::new(),
            waits: BinaryHeap::new(),
            windows: HashMap::new(),
            events: VecDeque::new(),
            closed: false,
            ended: vec![],
        }
    }

    /// The host.
    pub fn host(&self) -> HostId {
        self.host
    }

    /// The time of the last turn.
    pub fn now(&self) -> Time {
        self.testbed.now()
    }

    /// How faithful it has been to real time; `None` under a clock that does not follow it. To be called once,
    /// at the end.
    pub fn fidelity(&mut self) -> Option<Fidelity> {
        self.testbed.fidelity()
    }

    /// Sizes of the tables.
    pub fn tables(&self) -> Tables {
        let (names, probe, transport) = self.testbed.tables(self.host);
        let messages = self.testbed.payload();
        Tables {
            outgoing: messages.outgoing.len(),
            arriving: messages.arriving().0,
            names,
            probe,
            requests: self.requests.len(),
            transport,
        }
    }

    /// Bytes on their way.
    pub fn queued(&self) -> usize {
        self.testbed.payload().queued
    }

    /// Hands over a message for another host.
    ///
    /// # Errors
    /// It is not taken; nothing has happened.
    pub fn send(&mut self, to: HostId, message: Bytes) -> Result<MessageId, SendError> {
        let number = self.next;
        self.start(to, Kind::Message, number, message)
    }

    /// The same for a message that wants a reply. One of a reply and [`Event::Failed`] comes.
    ///
    /// # Errors
    /// It is not taken; nothing has happened.
    pub fn request(&mut self, to: HostId, message: Bytes) -> Result<MessageId, SendError> {
        let number = self.next;
        let id = self.start(to, Kind::Request, number, message)?;
        self.requests.insert(number, None);
        Ok(id)
    }

    /// Answers a request.
    ///
    /// # Errors
    /// It is not taken; nothing has happened.
    pub fn reply(&mut self, to: &Received, message: Bytes) -> Result<MessageId, SendError> {
        let Purpose::Request(RequestId { from, number }) = to.purpose else {
            return Err(SendError::NotARequest);
        };
        self.start(from, Kind::Reply, number, message)
    }

    fn start(
        &mut self,
        to: HostId,
        kind: Kind,
        number: u64,
        body: Bytes,
    ) -> Result<MessageId, SendError> {
        let most = self.limits.message.min(u32::MAX as usize - HEAD);
        let messages = self.testbed.payload();
        let (waiting, queued) = (messages.outgoing.len() + self.requests.len(), messages.queued);
        if self.closed {
            return Err(SendError::Closed);
        } else if to == self.host || to.0 >= self.testbed.hosts() {
            return Err(SendError::NoSuchHost);
        } else if body.len() > most {
            return Err(SendError::TooLong { most });
        } else if waiting >= self.limits.messages
            || queued > 0 && queued + HEAD + body.len() > self.limits.queued
        {
            return Err(SendError::WouldBlock);
        }
        let id = MessageId(self.next);
        self.next += 1;
        let message = Outgoing::new(id, kind, number, body);
        let size = message.size() as u64;
        let enter = |messages: &mut Messages, flow| messages.add(flow, message);
        self.testbed.open(self.host, to, self.transport, size, enter);
        self.settle();
        Ok(id)
    }

    /// Does what is due and returns what has happened next, if anything.
    pub fn poll(&mut self) -> Option<Event> {
        for _ in 0..TURNS {
            if !self.events.is_empty() {
                break;
            }
            let busy = self.testbed.turn();
            self.settle();
            if !busy {
                break;
            }
        }
        self.events.pop_front()
    }

    /// Takes no more messages: [`poll`](Endpoint::poll) goes on until the endpoint
    /// [is idle](Endpoint::is_idle).
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether every message has been sent or has failed, every request has its reply or has
    /// failed, and everything that has happened was returned.
    pub fn is_idle(&self) -> bool {
        let outgoing = self.testbed.payload().outgoing.is_empty();
        outgoing && self.requests.is_empty() && self.events.is_empty()
    }

    /// Gives the backend back, with every frame.
    pub fn into_io(self) -> I {
        self.testbed.into_io()
    }

    /// Turns what has become of flows into events.
    fn settle(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        self.testbed.take_ended(&mut ended);
        for Ended { flow, received, .. } in ended.drain(..) {
            match received {
                true => self.arrived(flow),
                false => self.delivered(flow),
            }
            self.testbed.finish(self.host, flow);
        }
        self.ended = ended;
        while let Some(flow) = self.testbed.payload_mut().refused.pop() {
            self.testbed.payload_mut().discard(flow);
            self.testbed.abandon(self.host, flow);
        }
        for trouble in self.testbed.take_troubles() {
            if let Some(flow) = trouble.flow {
                self.given_up(flow, Failure::Faulty);
            }
        }
        while let Some(Lapsed { flow, silent, .. }) = self.testbed.lapsed(self.host) {
            self.given_up(flow, if silent { Failure::Silent } else { Failure::Stalled });
        }
        let now = self.now().0;
        while let Some(Reverse((at, number))) = self.waits.peek().copied().filter(|w| w.0.0 <= now)
        {
            self.waits.pop();
            if self.requests.get(&number) == Some(&Some(at)) {
                self.requests.remove(&number);
                self.events.push_back(Event::Failed(MessageId(number), Failure::NoReply));
            }
        }
        let alarm = self.waits.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        self.testbed.set_alarm(self.host, alarm);
    }

    /// A message has arrived.
    fn arrived(&mut self, flow: FlowId) {
        let Some((from, number)) = self.testbed.origin(self.host, flow) else { return };
        let Some((head, body)) = self.testbed.payload_mut().complete(flow) else { return };
        let mut new = true;
        let window = self.windows.entry(from.0).and_modify(|window| new = window.insert(number));
        window.or_insert_with(|| Window::new(number));
        if !new {
            return;
        }
        let Head { kind, number, .. } = head;
        let purpose = match kind {
            Kind::Message => Purpose::Message,
            Kind::Request => Purpose::Request(RequestId { from, number }),
            Kind::Reply if self.requests.remove(&number).is_some() => {
                Purpose::Reply(MessageId(number))
            }
            Kind::Reply => return,
        };
        self.events.push_back(Event::Received(Received { from, purpose, body }));
    }

    /// A message has been delivered.
    fn delivered(&mut self, flow: FlowId) {
        let Some(Outgoing { id, kind, .. }) = self.testbed.payload_mut().take(flow) else { return };
        self.events.push_back(Event::Sent(id));
        let until = self.now().saturating_add(self.limits.reply).0;
        if kind == Kind::Request
            && let Some(wait) = self.requests.get_mut(&id.0)
        {
            *wait = Some(until);
            self.waits.push(Reverse((until, id.0)));
        }
    }

    /// A flow is given up.
    fn given_up(&mut self, flow: FlowId, why: Failure) {
        self.testbed.abandon(self.host, flow);
        let Some(Outgoing { id, kind, .. }) = self.testbed.payload_mut().take(flow) else {
            self.testbed.payload_mut().discard(flow);
            return;
        };
        // The reply may have come before the word that the request has arrived.
        if kind != Kind::Request || self.requests.remove(&id.0).is_some() {
            self.events.push_back(Event::Failed(id, why));
        }
    }
}
