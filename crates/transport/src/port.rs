//! The egress of a link, what may mark packets there, and the hook of a whole switch.

use crate::{PacketPool, PacketRef, Probe, Random, TransportId};
use incast_units::{Rate, Span, Time};

/// A set of service classes, one bit each; class 0 is control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Classes(pub u8);

impl Classes {
    /// Every class.
    pub const ALL: Classes = Classes(0xFF);
    /// Only control.
    pub const CONTROL: Classes = Classes(1);

    /// Whether `class` is in the set.
    #[inline]
    pub fn has(self, class: u8) -> bool {
        self.0 & (1 << class) != 0
    }
}

/// Lent to each call of a [`Port`].
pub struct PortEnv<'a> {
    /// The instant of the call. A world may make calls late, but gives each its true instant, and
    /// never goes back.
    pub now: Time,
    /// This port's random stream.
    pub random: &'a mut Random,
    /// Where packets live.
    pub packets: &'a mut PacketPool,
}

/// What became of a packet at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It waits.
    Queued,
    /// Its payload was cut off; the header waits.
    Trimmed,
    /// Dropped; the world frees it.
    Dropped,
    /// The world sends it back to its source, once. At a NIC it has no reverse path and is dropped.
    Bounced,
}

/// The fates of an arriving packet and of at most one packet that it displaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The arriving packet's.
    pub arriving: Fate,
    /// The displaced packet and its fate, which is never `Queued`.
    pub displaced: Option<(PacketRef, Fate)>,
}

impl Verdict {
    /// Nothing but `fate` for the arriving packet.
    #[inline]
    pub fn only(fate: Fate) -> Verdict {
        Verdict { arriving: fate, displaced: None }
    }
}

/// The answer to "what leaves next".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dequeue {
    /// This packet begins transmission now.
    Packet(PacketRef),
    /// Something waits, but must not leave before this instant (a shaper).
    NotBefore(Time),
    /// Nothing waits in an open class.
    Empty,
}

/// What waits at a port; a packet in transmission does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Charged bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

/// The egress of one link: classify, enqueue, dequeue, mark.
pub trait Port: Send {
    /// A packet wants to leave here.
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict;

    /// The link is free: which packet begins transmission at `env.now`?
    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue;

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// What waits in the data classes (all but control).
    fn data_backlog(&self) -> Backlog {
        self.backlog()
    }

    /// Packets marked so far by markers, for the results.
    fn marks(&self) -> u64 {
        0
    }

    /// At a NIC, which takes packets from its host one by one: the classes of which it takes a
    /// packet of `_transport` now. Control is always taken, for its limit polices it; data waits in
    /// the host and not here, so that whatever holds a class back holds its source back.
    fn wants(&self, _transport: TransportId) -> Classes {
        if self.backlog().packets == 0 { Classes::ALL } else { Classes::CONTROL }
    }

    /// Whether packets leave in the order in which they come and everything about them is decided
    /// when they come, so that a world can tell at once when each will leave. Such a port may be
    /// asked to [`accept`](Port::accept) instead of enqueue and dequeue, for its whole life.
    fn in_order(&self) -> bool {
        false
    }

    /// A packet wants to leave here, where `waiting` wait and `sent` charged bytes have begun
    /// transmission in all. Returns whether it may; if not, it is dropped. The port holds no packet.
    fn accept(
        &mut self,
        _env: &mut PortEnv<'_>,
        _packet: PacketRef,
        _waiting: Backlog,
        _sent: u64,
    ) -> bool {
        unreachable!("only a port that is in order accepts")
    }

    /// Whether it ever has a deadline. The clock of a port without is not looked at.
    fn timed(&self) -> bool {
        true
    }

    /// When to call [`wake`](Port::wake) next (a marker's control interval). Any call may set it.
    /// A world may make the call late, as all others, but in its order among them.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline has come. Early and repeated calls must be harmless. What was held back before
    /// is still held back after it.
    fn wake(&mut self, _env: &mut PortEnv<'_>) {}
}

/// A port as its markers see it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The instant: of the enqueue, or of the start of transmission.
    pub now: Time,
    /// Waiting packets and charged bytes of the data classes, the packet at hand not included.
    pub data: Backlog,
    /// The same over all classes.
    pub all: Backlog,
    /// At dequeue: how long the transmitter has been idle before this packet. `None` for the
    /// first packet of the port.
    pub idle: Option<Span>,
    /// Charged bytes sent before this packet.
    pub sent: u64,
    /// The link's rate.
    pub rate: Rate,
    /// Whether the packet at hand is one that the marker may rewrite: of the transport in whose
    /// [`Policy`](crate::Policy) it stands, or of one that it judges too. False where there is no
    /// packet.
    pub own: bool,
}

/// The part of a port that most transports change: it sees every packet and may rewrite the
/// fields of its own, but never holds one. It does not know whose marker it is: its port does,
/// from the [`Policy`](crate::Policy) in which it stands, and says so with [`View::own`].
pub trait Marker: Send {
    /// Called once, before anything else: the port's random stream. A marker that draws takes a
    /// seed from it for a stream of its own; all others leave it alone.
    fn begin(&mut self, _random: &mut Random) {}

    /// A packet was accepted and is about to wait. Returns whether it marked the packet.
    fn on_enqueue(&mut self, _packets: &mut PacketPool, _packet: PacketRef, _view: &View) -> bool {
        false
    }

    /// A packet found no room: it is dropped, or sent back. For those that measure the load
    /// offered to a link. Called if [`sees`](Marker::sees) asks for enqueues.
    fn on_refused(&mut self, _packets: &PacketPool, _packet: PacketRef, _view: &View) {}

    /// A packet begins transmission. Returns whether it marked the packet. May add telemetry.
    fn on_dequeue(&mut self, _packets: &mut PacketPool, _packet: PacketRef, _view: &View) -> bool {
        false
    }

    /// Whether [`on_enqueue`](Marker::on_enqueue) and [`on_dequeue`](Marker::on_dequeue) want to
    /// be called at all.
    fn sees(&self) -> (bool, bool);

    /// Whether setting CE on ECN-capable packets (RFC 3168) is all it does, so that its rule can
    /// be that of other transports too.
    fn sets_ce(&self) -> bool {
        false
    }

    /// Whether it ever has a deadline. A marker that never has saves its port time by saying so.
    fn timed(&self) -> bool {
        true
    }

    /// When to call [`wake`](Marker::wake) next.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The control interval is over.
    fn wake(&mut self, _now: Time, _view: &View) {}
}

/// A port as a switch-level hook sees it, brought up to the present.
#[derive(Clone, Copy, Debug)]
pub struct PortView {
    /// Number of the port over the whole fabric.
    pub port: u32,
    /// The link's rate.
    pub rate: Rate,
    /// Waiting in the data classes.
    pub data: Backlog,
    /// Charged bytes sent.
    pub sent: u64,
}

/// Lent to a [`SwitchHook`].
pub struct SwitchEnv<'a> {
    /// The instant of the arrival.
    pub now: Time,
    /// The switch's random stream.
    pub random: &'a mut Random,
    /// Where packets live.
    pub packets: &'a mut PacketPool,
    /// Where facts about flows are reported.
    pub probe: &'a mut Probe,
    /// The egress of the link by which the packet came (the reverse path to its sender).
    pub back: PortView,
    /// The port it will leave by.
    pub egress: PortView,
}

/// What a hook decides about a packet, and what it emits: at most two packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decision {
    /// The packet goes no further; the world frees it.
    pub drop: bool,
    /// Packets to send back by the port the packet came from.
    pub reply: Option<PacketRef>,
    /// A packet to send by the same egress, behind this one.
    pub follow: Option<PacketRef>,
}

/// Sees each packet of one transport between arrival and egress of a switch; may edit it, drop it
/// and emit packets, and keeps bounded state.
pub trait SwitchHook: Send {
    /// Whose packets it wants to see.
    fn transport(&self) -> TransportId;

    /// A packet is about to be enqueued at its egress.
    fn forward(&mut self, env: &mut SwitchEnv<'_>, packet: PacketRef) -> Decision;

    /// Entries of state held now, for tests that it is bounded.
    fn entries(&self) -> usize;
}
