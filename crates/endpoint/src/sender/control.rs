//! The part of a sender-driven transport of its own: congestion control, and what the receiver
//! echoes.

use crate::rto::RtoBounds;
use incast_transport::{
    Ecn, Extension, Flow, Header, Packet, PlbRule, Rate, Segments, Span, Time, TransportId,
};
use std::marker::PhantomData;

/// Makes the state of a transport for each flow.
pub trait ControlFactory: Send {
    /// The sending half's state.
    type Control: Control;
    /// The receiving half's state.
    type Feedback: Feedback;

    /// A flow starts here while `others` are being sent.
    fn control(&mut self, now: Time, flow: &Flow, others: usize) -> Self::Control;

    /// A flow's first packet arrived.
    fn feedback(&mut self) -> Self::Feedback;
}

/// A [`ControlFactory`] whose receiving halves are alike and keep nothing, and whose sending halves
/// `control` makes as [`ControlFactory::control`] does.
pub fn congestion_control<C, B, F>(feedback: B, control: F) -> FnFactory<C, B, F>
where
    C: Control,
    B: Feedback + Copy,
    F: FnMut(Time, &Flow, usize) -> C + Send,
{
    FnFactory { feedback, control, kind: PhantomData }
}

/// What [`congestion_control`] returns.
pub struct FnFactory<C, B, F> {
    feedback: B,
    control: F,
    kind: PhantomData<fn() -> C>,
}

impl<C, B, F> ControlFactory for FnFactory<C, B, F>
where
    C: Control,
    B: Feedback + Copy,
    F: FnMut(Time, &Flow, usize) -> C + Send,
{
    type Control = C;
    type Feedback = B;

    fn control(&mut self, now: Time, flow: &Flow, others: usize) -> C {
        (self.control)(now, flow, others)
    }

    fn feedback(&mut self) -> B {
        self.feedback
    }
}

/// A congestion control: how much of one flow may be in flight, and how fast it leaves.
///
/// Calls about one acknowledgement come in this order: `on_loss` (if it reveals a loss), then
/// `on_ack`. After each call the sender asks for `request`, `window` and `pacing` again.
pub trait Control: Send {
    /// Before the first packet: `packets` full ones may leave before the first ACK, instead of as
    /// many as the initial window lets. Only for transports that declare
    /// [`takes_burst`](incast_transport::Transport::takes_burst).
    fn start_with(&mut self, _packets: u32) {}

    /// A data packet leaves; the congestion control may fill its fields.
    #[inline]
    fn on_send(&mut self, _packet: &mut Outbound, _progress: &Progress) {}

    /// An ACK arrived, perhaps a duplicate or one during recovery.
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress);

    /// A loss was found: at most once per window for [`Loss::Fast`].
    fn on_loss(&mut self, loss: Loss, progress: &Progress);

    /// A packet that acknowledges nothing arrived: a notification, a reply of a switch, or the
    /// reply to a [`request`](Control::request).
    fn on_message(&mut self, _message: &Message<'_>, _progress: &Progress) {}

    /// The congestion control's own timer; [`Time::NEVER`] if it has none.
    #[inline]
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The timer of the congestion control expired. Afterwards `deadline` must be later.
    fn on_deadline(&mut self, _progress: &Progress) {}

    /// A header-only packet that the congestion control wants to send now; asked until `None`.
    #[inline]
    fn request(&mut self, _progress: &Progress) -> Option<Request> {
        None
    }

    /// Whether the last call about an ACK or a message took a decision, for the probe. Controls
    /// that decide by notifications only, or once per RTT, override it.
    #[inline]
    fn decided(&self) -> bool {
        true
    }

    /// Whether the last ACK, which echoed a mark or not, tells of congestion on the path (PLB).
    #[inline]
    fn congested(&self, marked: bool) -> bool {
        marked
    }

    /// The flow was received completely: a last header-only packet. It gets no reply.
    fn close(&mut self, _progress: &Progress) -> Option<Request> {
        None
    }

    /// Payload bytes that may be in flight; 0 stops the flow altogether.
    fn window(&self) -> u64;

    /// The rate, in charged bytes, at which packets are spaced; `None`: as fast as the NIC.
    #[inline]
    fn pacing(&self) -> Option<Rate> {
        None
    }
}

/// What the receiving half of a congestion control puts into ACKs.
pub trait Feedback: Send {
    /// Data arrived, which `ack` is about to acknowledge. May add a packet of its own.
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification>;

    /// With delayed ACKs: `ack` stands also for `earlier`, which will not be sent.
    fn join(&mut self, _earlier: &AckFields, _ack: &mut AckFields) {}

    /// A request arrived; `ack` goes back with SYN and ACK set.
    fn on_request(&mut self, _request: &Arriving<'_>, _ack: &mut AckFields) {}
}

/// How lost data is found and sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reliability {
    /// Selective acknowledgement (RFC 6675): ranges, behind what else an ACK carries if they
    /// have room there, and the echo of the packet acknowledged, which is known to have arrived in
    /// any case.
    Sack,
    /// Three duplicate ACKs and partial ones (RFC 6582); the receiver keeps what
    /// comes out of order but does not say what.
    NewReno,
    /// The receiver keeps only what is in order and asks, at most once per `again` for the same
    /// byte, to go back.
    GoBackN {
        /// Least time between two requests for the same byte.
        again: Span,
    },
}

incast_transport::choice! {
    /// How lost packets are sent again by transports that are made for a lossless fabric.
    pub enum Recovery {
        /// The receiver sends a request to go back to the first byte it misses.
        GoBackN = "go-back-n",
        /// Selective acknowledgement: a packet is lost once three later ACKs have overtaken it.
        Sack = "sack",
    }
}

impl Recovery {
    /// The same for the common sender, with the least time between two requests for the same byte: at
    /// least two base RTTs, before which what the first one asks for may still be under way.
    pub fn reliability(self, again: Span, base_rtt: Span) -> Reliability {
        match self {
            Recovery::GoBackN => Reliability::GoBackN { again: again.max(base_rtt * 2) },
            Recovery::Sack => Reliability::Sack,
        }
    }
}

incast_transport::choice! {
    /// What a window counts, and by what it grows.
    pub enum WindowUnit {
        /// Full segments, whatever the flow's packets carry (RFC 5681).
        Segment = "segment",
        /// The flow's own packets, whatever they carry (ns-2).
        Packet = "packet",
    }
}

impl WindowUnit {
    /// Payload bytes of one unit of `flow`, where full segments carry `segment`. Packets of
    /// different sizes count with their mean, rounded up.
    pub fn payload(self, flow: &Flow, segment: u64) -> u64 {
        let own = match &flow.segments {
            _ if self == WindowUnit::Segment => segment,
            Segments::Uniform(most) => flow.size.min(*most as u64),
            Segments::Table(ends) => flow.size.div_ceil(ends.len().max(1) as u64),
        };
        own.min(segment)
    }
}

/// When a packet fits the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// With its payload no more than the window is in flight (TCP).
    Fits,
    /// Before it less than the window was in flight (HPCC).
    Below,
}

/// One ACK per `count` packets (RFC 8257 §3.2 decides exceptions).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// Packets acknowledged together.
    pub count: u8,
    /// Longest wait for the next one.
    pub timeout: Span,
}

impl DelayedAck {
    /// One ACK for `packets` packets (at most 255), or none is delayed if that is 1.
    pub fn of(packets: u32, timeout: Span) -> Option<DelayedAck> {
        (packets > 1).then_some(DelayedAck { count: packets.min(255) as u8, timeout })
    }
}

/// What is fixed for a host.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whose packets they are.
    pub transport: TransportId,
    /// Class of data.
    pub data_class: u8,
    /// Class of ACKs.
    pub ack_class: u8,
    /// ECN bits of data as it leaves.
    pub data_mark: u8,
    /// How losses are repaired.
    pub reliability: Reliability,
    /// When a packet fits the window.
    pub admission: Admission,
    /// Bounds of the retransmission timer.
    pub rto: RtoBounds,
    /// `None`: each data packet is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Most payload of a data packet: less than the MTU allows where each carries an extension.
    pub max_payload: u16,
    /// When a flow takes another path; `None`: never.
    pub plb: Option<PlbRule>,
}

impl Options {
    /// TCP: SACK, data and ACKs in class 1, each packet acknowledged at once, ECT(0).
    pub fn tcp(transport: TransportId, min_rto: Span) -> Options {
        Options {
            transport,
            data_class: 1,
            ack_class: 1,
            data_mark: Ecn::Ect0 as u8,
            reliability: Reliability::Sack,
            admission: Admission::Fits,
            rto: RtoBounds::at_least(min_rto),
            delayed_ack: None,
            max_payload: u16::MAX,
            plb: None,
        }
    }
}

/// Where a flow stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The instant.
    pub now: Time,
    /// First byte not acknowledged (SND.UNA).
    pub acknowledged: u64,
    /// First byte never sent (SND.NXT).
    pub sent: u64,
    /// Bytes of the flow.
    pub size: u64,
    /// Payload bytes in flight: sent, not known to have arrived, not lost.
    pub pipe: u64,
    /// Smoothed RTT.
    pub smoothed_rtt: Option<Span>,
    /// In fast recovery: windows do not grow.
    pub recovering: bool,
}

/// A data packet as it leaves, for the congestion control to complete.
#[derive(Clone, Copy, Debug)]
pub struct Outbound {
    /// First payload byte.
    pub offset: u64,
    /// Payload bytes.
    pub payload: u16,
    /// Whether these bytes were sent before.
    pub retransmit: bool,
    /// ECN bits.
    pub mark: u8,
    /// Header field.
    pub nibble: u8,
    /// Header field.
    pub window: u16,
    /// Goes behind the header.
    pub extension: Extension,
    /// The next packet belongs to the same burst: pacing lets it follow at once.
    pub more: bool,
}

/// An ACK, as the sending half sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Payload bytes newly acknowledged cumulatively.
    pub bytes: u64,
    /// Payload bytes newly known to have arrived beyond a hole.
    pub sacked: u64,
    /// First byte of the data packet that is acknowledged (the last of several).
    pub echo: u64,
    /// ECN echo.
    pub ece: bool,
    /// A request to go back.
    pub nack: bool,
    /// ECN bits of the ACK.
    pub mark: u8,
    /// Header field.
    pub nibble: u8,
    /// Header field.
    pub window: u16,
    /// Round-trip time of the packet acknowledged, from the start of its transmission; `None` when
    /// it was sent more than once or has been acknowledged before (Karn).
    pub rtt: Option<Span>,
    /// The window held the flow back within the last window of data, so that it may grow
    /// (RFC 7661's concern; Linux's `is_cwnd_limited`).
    pub limited: bool,
    /// The extension behind the header.
    pub extension: &'a Extension,
    /// When the information it carries was current.
    pub informed: Time,
    /// The path number of the packet that it answers, where each packet has its own.
    pub path: u16,
}

/// How a loss was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// By ACKs to later packets, or a request to go back.
    Fast,
    /// By the retransmission timer.
    Timeout,
}

/// A packet that acknowledges nothing, as the sending half sees it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The extension behind its header.
    pub extension: &'a Extension,
    /// When the information it carries was current.
    pub informed: Time,
}

/// A header-only packet of the sending half. It leaves as [`Open`](super::views::Open), and
/// [`OpenAck`](super::views::OpenAck) comes back as a [`Message`].
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Header field.
    pub nibble: u8,
    /// Header field.
    pub window: u16,
    /// Class.
    pub class: u8,
    /// Goes behind the header.
    pub extension: Extension,
}

/// A packet as the receiving half sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arriving<'a> {
    /// The instant.
    pub now: Time,
    /// First payload byte.
    pub offset: u64,
    /// The packet.
    pub packet: &'a Packet,
    /// The extension behind its header.
    pub extension: &'a Extension,
    /// When the information it carries was current.
    pub informed: Time,
    /// Whether the payload is new.
    pub new: bool,
}

/// What an ACK carries for the congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckFields {
    /// ECN echo.
    pub ece: bool,
    /// ECN bits of the ACK itself.
    pub mark: u8,
    /// Header field.
    pub nibble: u8,
    /// Header field.
    pub window: u16,
    /// Goes behind the header; SACK ranges follow it if it has room for them.
    pub extension: Extension,
    /// When its information was current, if not when a switch wrote into the data packet.
    pub informed: Option<Time>,
}

/// A packet of the receiving half's own, without payload.
#[derive(Clone, Copy, Debug)]
pub struct Notification {
    /// Header. What is no [`Ack`](super::views::Ack), [`GoBack`](super::views::GoBack) or
    /// [`Open`](super::views::Open) arrives as a [`Message`].
    pub header: Header,
    /// Class.
    pub class: u8,
    /// ECN bits.
    pub mark: u8,
}

impl Notification {
    /// A notification that is not marked.
    pub fn new(class: u8, header: impl Into<Header>) -> Notification {
        Notification { header: header.into(), class, mark: 0 }
    }
}
