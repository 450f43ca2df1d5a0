//! What a trace keeps: events of packets, of congestion controls and of ports, the same from every
//! world. The crate `measure` turns them into columns.

use crate::Host;
use crate::observed::Observed;
use incast_units::Time;
use incast_wire::{FlowId, Header, Packet};

/// Where something happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The port; at a host its NIC.
    pub port: u32,
    /// It happened in the host of this NIC, not at the port.
    pub host: bool,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EventKind {
    /// A flow opened at its source.
    Opened,
    /// A transport handed a packet to its NIC, which transmits it at once unless it has queues.
    Sent,
    /// A packet joined the queue of a port.
    Queued,
    /// A packet began transmission at a port.
    Started,
    /// Part of the wait of the packet that began transmission: what the port did meanwhile.
    Waited,
    /// A port marked a packet.
    Marked,
    /// A port dropped a packet.
    Dropped,
    /// A port cut off the payload of a packet.
    Trimmed,
    /// A port sent a packet back to its source.
    Bounced,
    /// A link lost a packet, or a switch without a route or hook discarded it.
    Lost,
    /// A packet arrived at a host, and its transport has seen it.
    Delivered,
    /// The flow's last byte arrived.
    Completed,
    /// Its sender learned that everything had arrived.
    Acknowledged,
    /// The congestion control took a decision.
    Decision,
    /// A retransmission timer expired.
    Timeout,
    /// The other end of the link paused a class of a port.
    Paused,
    /// It resumed the class.
    Resumed,
}

impl EventKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Opened => "opened",
            EventKind::Sent => "sent",
            EventKind::Queued => "queued",
            EventKind::Started => "started",
            EventKind::Waited => "waited",
            EventKind::Marked => "marked",
            EventKind::Dropped => "dropped",
            EventKind::Trimmed => "trimmed",
            EventKind::Bounced => "bounced",
            EventKind::Lost => "lost",
            EventKind::Delivered => "delivered",
            EventKind::Completed => "completed",
            EventKind::Acknowledged => "acknowledged",
            EventKind::Decision => "decision",
            EventKind::Timeout => "timeout",
            EventKind::Paused => "paused",
            EventKind::Resumed => "resumed",
        }
    }
}

/// Why a packet waited, or when it was marked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// Waited: a packet was in transmission when it arrived.
    Transmitting,
    /// Waited: packets that had arrived earlier were transmitted.
    Ahead,
    /// Waited: packets that arrived later were transmitted first.
    Overtaken,
    /// Waited: its class was paused by the other end of the link, whatever was transmitted.
    Paused,
    /// Waited: a shaper held its class.
    Shaped,
    /// Waited: the port sent pause frames, or did not send for another reason.
    Other,
    /// Marked as it joined the queue.
    OnArrival,
    /// Marked as it began transmission.
    OnDeparture,
}

impl Why {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Why::Transmitting => "transmitting",
            Why::Ahead => "ahead",
            Why::Overtaken => "overtaken",
            Why::Paused => "paused",
            Why::Shaped => "shaped",
            Why::Other => "other",
            Why::OnArrival => "on arrival",
            Why::OnDeparture => "on departure",
        }
    }
}

/// The packet of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced {
    /// The kind of its header on the wire.
    pub kind: u8,
    /// Of data, the number of its first byte or its packet number, as its transport counts; else the
    /// header's first number (what an ACK acknowledges, the number of a grant).
    pub number: u32,
    /// Bytes that links charge.
    pub bytes: u32,
    /// Payload bytes.
    pub payload: u16,
    /// Class.
    pub class: u8,
    /// ECN bits.
    pub mark: u8,
    /// Bits of [`flag`](incast_wire::flag).
    pub flags: u8,
    /// Of data: when it left its source, picoseconds.
    pub departed: Option<u64>,
}

impl Traced {
    /// A packet that links charge `bytes` for and that left its source at `departed`.
    pub fn of(packet: &Packet, bytes: u32, departed: u64) -> Traced {
        Traced {
            kind: packet.header.kind(),
            number: number(&packet.header),
            bytes,
            payload: packet.payload,
            class: packet.class,
            mark: packet.mark,
            flags: packet.flags,
            departed: packet.is_data().then_some(departed),
        }
    }
}

/// See [`Traced::number`].
fn number(header: &Header) -> u32 {
    match *header {
        Header::Segment { seq, ack, flags, .. } => {
            if flags & incast_wire::tcp_flag::ACK != 0 {
                ack
            } else {
                seq
            }
        }
        Header::Grant { seq, .. } | Header::Ack { seq, .. } | Header::Nack { seq, .. } => seq,
        Header::Token { seq, .. } => seq,
        Header::Credit { number, .. } | Header::Pull { number, .. } => number,
        _ => header.data_key(),
    }
}

/// What was in front of a packet, as part of its wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Front {
    /// The flow whose packets were transmitted meanwhile; `None` if none were.
    pub flow: Option<FlowId>,
    /// Charged bytes of these packets, those in part too.
    pub bytes: u64,
    /// Their class.
    pub class: u8,
}

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceEvent {
    /// When.
    pub at: Time,
    /// Where.
    pub place: Place,
    /// Number among the events of its place.
    pub serial: u32,
    /// What.
    pub kind: EventKind,
    /// Why.
    pub why: Option<Why>,
    /// Of which flow.
    pub flow: Option<FlowId>,
    /// Of which packet.
    pub packet: Option<Traced>,
    /// The port's queue without the packet, in charged bytes: what it found, or left behind.
    pub queue: Option<u64>,
    /// How long a packet waited in picoseconds; with `front`, what of it is due to that.
    pub waited: Option<u64>,
    /// What was in front.
    pub front: Option<Front>,
    /// The class that was paused or resumed.
    pub class: Option<u8>,
    /// Age of the information behind a decision, picoseconds.
    pub age: Option<u64>,
    /// What the transport knew then.
    pub observed: Observed,
}

impl TraceEvent {
    /// An event without particulars.
    pub fn new(at: Time, place: Place, kind: EventKind, flow: Option<FlowId>) -> TraceEvent {
        TraceEvent {
            at,
            place,
            serial: 0,
            kind,
            why: None,
            flow,
            packet: None,
            queue: None,
            waited: None,
            front: None,
            class: None,
            age: None,
            observed: Observed::default(),
        }
    }

    /// With what a transport says of a flow.
    pub fn observed(mut self, host: &dyn Host, flow: FlowId) -> TraceEvent {
        self.observed = host.observe(flow, self.at);
        self
    }
}

/// The trace of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The events in order of time, then place, then serial number.
    pub events: Vec<TraceEvent>,
    /// The limit on their number if there were more: these are the first ones.
    pub cut_at: Option<u64>,
}
