//! The egress port of a link, its markers, and switch hooks.

use crate::{Limit, PacketPool, PacketRef, Probe, Random, TransportId};
use incast_units::{Rate, Span, Time};

/// A set of service classes, one bit each; class 0 is control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Classes(pub u8);

impl Classes {
    /// Every class.
    pub const ALL: Classes = Classes(0xFF);
    /// The control class only.
    pub const CONTROL: Classes = Classes(1);

    /// Whether `class` is in the set.
    #[inline]
    pub fn has(self, class: u8) -> bool {
        self.0 & (1 << class) != 0
    }
}

/// Context of a call of a [`Port`].
pub struct PortEnv<'a> {
    /// The time of the call. A world may make a call late, but passes its true time; times never
    /// decrease.
    pub now: Time,
    /// The port's random stream.
    pub random: &'a mut Random,
    /// The packet pool.
    pub packets: &'a mut PacketPool,
}

/// The outcome of enqueueing a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is queued.
    Queued,
    /// Its payload was trimmed; the header is queued.
    Trimmed,
    /// Dropped; the world frees it.
    Dropped,
    /// The world returns it to its source, once. A NIC has no reverse path and drops it.
    Bounced,
}

/// The fates of an arriving packet and of the packet that it displaced, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The fate of the arriving packet.
    pub arriving: Fate,
    /// The displaced packet and its fate, which is never `Queued`.
    pub displaced: Option<(PacketRef, Fate)>,
}

impl Verdict {
    /// `fate` for the arriving packet; no packet is displaced.
    #[inline]
    pub fn only(fate: Fate) -> Verdict {
        Verdict { arriving: fate, displaced: None }
    }
}

/// The result of a dequeue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dequeue {
    /// This packet starts transmission now.
    Packet(PacketRef),
    /// A shaper holds the queued packets until this time.
    NotBefore(Time),
    /// No packet is queued in an open class.
    Empty,
}

/// The queue of a port, without the packet in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Charged bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

/// The egress of one link: classify, enqueue, dequeue, mark.
pub trait Port: Send {
    /// Enqueues, drops, trims or bounces a packet.
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict;

    /// The next packet of a class in `open`, to start transmission at `env.now`.
    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue;

    /// The queue over all classes.
    fn backlog(&self) -> Backlog;

    /// The queue over the data classes (all but control).
    fn data_backlog(&self) -> Backlog {
        self.backlog()
    }

    /// Number of packets marked so far, for the results.
    fn marks(&self) -> u64 {
        0
    }

    /// At a NIC: the classes of which it accepts a packet of `_transport` from its host now.
    /// Control is always accepted and policed by its queue limit. Data stays in the host until the
    /// NIC queue is empty, so that a shaped or paused class stops its source.
    fn wants(&self, _transport: TransportId) -> Classes {
        if self.backlog().packets == 0 { Classes::ALL } else { Classes::CONTROL }
    }

    /// Whether packets leave in arrival order and are only modified on arrival, so that a world can
    /// compute departure times on arrival. A world may then call [`accept`](Port::accept) instead
    /// of enqueue and dequeue, for the entire run.
    fn in_order(&self) -> bool {
        false
    }

    /// Whether an empty queue takes any packet and lets it go at once, so that a NIC may call
    /// [`pass`](Port::pass) instead of enqueue and dequeue when nothing waits.
    fn passes(&self) -> bool {
        false
    }

    /// Does what enqueue and dequeue do with a packet that finds nothing waiting. Returns the charged
    /// bytes that wait in between.
    fn pass(&mut self, _env: &mut PortEnv<'_>, _packet: PacketRef) -> u64 {
        unreachable!("only a port that passes packets on")
    }

    /// Marks a packet and returns whether it is admitted; the world drops it otherwise. `waiting`
    /// is the queue, which the world keeps, and `sent` the charged bytes transmitted so far.
    fn accept(
        &mut self,
        _env: &mut PortEnv<'_>,
        _packet: PacketRef,
        _waiting: Backlog,
        _sent: u64,
    ) -> bool {
        unreachable!("only a port that is in order accepts")
    }

    /// Whether the port ever has a deadline. Worlds skip the deadline check otherwise.
    fn timed(&self) -> bool {
        true
    }

    /// When to call [`wake`](Port::wake) next (a marker's control interval). Any call may change
    /// it. A world may make the call late, but keeps the order of calls.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Runs the expired deadline. Early and repeated calls must be harmless. It must not release a
    /// shaped packet.
    fn wake(&mut self, _env: &mut PortEnv<'_>) {}
}

/// The state of a port that its markers read.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Time of the enqueue, or of the start of transmission.
    pub now: Time,
    /// The queue of the data classes, without the current packet.
    pub data: Backlog,
    /// The queue of all classes, without the current packet.
    pub all: Backlog,
    /// At dequeue: idle time of the transmitter before this packet. `None` for the first packet of
    /// the port.
    pub idle: Option<Span>,
    /// Charged bytes sent before this packet.
    pub sent: u64,
    /// The link's rate.
    pub rate: Rate,
    /// Whether the marker may rewrite the current packet: it belongs to the transport of the
    /// marker's [`Policy`](crate::Policy), or to one that shares the marking rule. False without a
    /// packet.
    pub own: bool,
}

/// A marking rule of a port. It observes every packet, may rewrite fields of its own transport's
/// packets, and never queues any. It does not know its transport: the port does, from the
/// [`Policy`](crate::Policy), and sets [`View::own`].
pub trait Marker: Send {
    /// Called once, first, with the port's random stream. A marker that needs randomness draws a
    /// seed for its own stream; others must not draw.
    fn begin(&mut self, _random: &mut Random) {}

    /// Called when a packet is queued. Returns whether it marked the packet.
    fn on_enqueue(&mut self, _packets: &mut PacketPool, _packet: PacketRef, _view: &View) -> bool {
        false
    }

    /// Called when a packet is dropped or bounced, for markers that measure the offered load of a
    /// link. Called if [`sees`](Marker::sees) requests enqueues.
    fn on_refused(&mut self, _packets: &PacketPool, _packet: PacketRef, _view: &View) {}

    /// Called when a packet starts transmission. Returns whether it marked the packet. May add
    /// telemetry.
    fn on_dequeue(&mut self, _packets: &mut PacketPool, _packet: PacketRef, _view: &View) -> bool {
        false
    }

    /// Whether to call [`on_enqueue`](Marker::on_enqueue) and [`on_dequeue`](Marker::on_dequeue).
    fn sees(&self) -> (bool, bool);

    /// Whether it only sets CE on ECN-capable packets (RFC 3168), so that other transports can
    /// share its rule.
    fn sets_ce(&self) -> bool {
        false
    }

    /// The shortest queue of data that a packet must find to be marked, in packets or charged
    /// bytes; `None` if a queue alone does not decide.
    fn marks_from(&self) -> Option<Limit> {
        None
    }

    /// Whether it ever has a deadline. Ports skip the deadline check otherwise.
    fn timed(&self) -> bool {
        true
    }

    /// When to call [`wake`](Marker::wake) next.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Bytes of memory that it keeps at a port, also what it has allocated.
    fn state_bytes(&self) -> usize {
        std::mem::size_of_val(self)
    }

    /// Ends a control interval.
    fn wake(&mut self, _now: Time, _view: &View) {}
}

/// The state of a port that a switch hook reads, up to date.
#[derive(Clone, Copy, Debug)]
pub struct PortView {
    /// Number of the port in the fabric.
    pub port: u32,
    /// The link's rate.
    pub rate: Rate,
    /// The queue of the data classes.
    pub data: Backlog,
    /// That of all classes.
    pub all: Backlog,
    /// Charged bytes sent.
    pub sent: u64,
}

/// Context of a call of a [`SwitchHook`].
pub struct SwitchEnv<'a> {
    /// The arrival time.
    pub now: Time,
    /// The switch's random stream.
    pub random: &'a mut Random,
    /// The packet pool.
    pub packets: &'a mut PacketPool,
    /// The recorder of flow statistics.
    pub probe: &'a mut Probe,
    /// The egress port of the reverse path, towards the packet's sender.
    pub back: PortView,
    /// The packet's egress port.
    pub egress: PortView,
}

/// The decision of a hook about a packet, and the packets that it emits: at most two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decision {
    /// Drop the packet; the world frees it.
    pub drop: bool,
    /// A packet to send on the reverse path.
    pub reply: Option<PacketRef>,
    /// A packet to send on the same egress port, after this one.
    pub follow: Option<PacketRef>,
}

/// Per-switch processing of the packets of one transport, between arrival and egress. It may edit
/// or drop packets and emit new ones; its state is bounded.
pub trait SwitchHook: Send {
    /// The transport whose packets it processes.
    fn transport(&self) -> TransportId;

    /// Processes a packet before it is enqueued at its egress port.
    fn forward(&mut self, env: &mut SwitchEnv<'_>, packet: PacketRef) -> Decision;

    /// Current number of state entries, for tests that it is bounded.
    fn entries(&self) -> usize;
}
