//! What a port's markers see, and when its link is free again.

use incast_transport::{
    Backlog, Bytes, Marker, PacketPool, PacketRef, PortEnv, PortSite, Rate, Span, Time,
    TransportId, TransportSet, View,
};
use smallvec::SmallVec;

/// A marker with what its port knows of it.
pub(crate) struct PlacedMarker {
    marker: Box<dyn Marker>,
    /// Other transports whose packets it may rewrite.
    others: Option<Box<TransportSet>>,
    /// The transport in whose policy it stands.
    transport: TransportId,
    enqueue: bool,
    dequeue: bool,
}

impl PlacedMarker {
    /// A marker that may rewrite packets of `transport` and of these others.
    pub fn new(
        marker: Box<dyn Marker>,
        transport: TransportId,
        others: Option<TransportSet>,
    ) -> PlacedMarker {
        let (enqueue, dequeue) = marker.sees();
        PlacedMarker { marker, others: others.map(Box::new), transport, enqueue, dequeue }
    }

    #[inline]
    fn owns(&self, packets: &PacketPool, packet: PacketRef) -> bool {
        let transport = packets[packet].transport;
        transport == self.transport
            || self.others.as_ref().is_some_and(|others| others.has(transport))
    }

    /// The queue of data that the marker looks at.
    fn queue(&self, own: Backlog, data: Backlog) -> Backlog {
        if self.marker.sets_ce() { own } else { data }
    }

    #[inline]
    fn enqueued(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &mut View) -> bool {
        view.own = self.owns(packets, packet);
        let marked = self.marker.on_enqueue(packets, packet, view);
        debug_assert!(view.own || !marked, "a marker marked a packet that is not its own");
        marked
    }

    #[inline]
    fn dequeued(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &mut View) -> bool {
        view.own = self.owns(packets, packet);
        let marked = self.marker.on_dequeue(packets, packet, view);
        debug_assert!(view.own || !marked, "a marker marked a packet that is not its own");
        marked
    }
}

/// Shows a packet to those of several markers that want to see it; whether one of them marked it.
#[inline(never)]
fn any_marks(
    markers: &mut [PlacedMarker],
    wants: impl Fn(&PlacedMarker) -> bool,
    mut show: impl FnMut(&mut PlacedMarker) -> bool,
) -> bool {
    let wanting = markers.iter_mut().filter(|seen| wants(seen));
    wanting.fold(false, |marked, seen| marked | show(seen))
}

/// The sending end of a link and the markers in front of it. What most packets touch comes first, in
/// one cache line and 8 bytes of the one before.
#[repr(C)]
pub(crate) struct Transmitter {
    sent: u64,
    enqueue: bool,
    dequeue: bool,
    timed: bool,
    /// Whether the markers have been given their random numbers.
    begun: bool,
    /// Picoseconds per charged byte, or 0 where that is not a whole number.
    byte_ps: u32,
    rate: Rate,
    /// When the last transmission ends; [`Time::NEVER`] before the first.
    ends: Time,
    markers: SmallVec<[PlacedMarker; 1]>,
    marks: u64,
    /// Charged bytes and time of the last packet without `byte_ps`, to save divisions.
    last: (u32, Span),
}

const _: () = assert!(std::mem::offset_of!(Transmitter, marks) <= 8 + 64);

impl Transmitter {
    pub fn new(markers: impl IntoIterator<Item = PlacedMarker>, site: &PortSite) -> Transmitter {
        let markers: SmallVec<[PlacedMarker; 1]> = markers.into_iter().collect();
        Transmitter {
            ends: Time::NEVER,
            sent: 0,
            marks: 0,
            rate: site.rate,
            byte_ps: site.rate.byte_ps(),
            last: (0, Span::ZERO),
            enqueue: markers.iter().any(|seen| seen.enqueue),
            dequeue: markers.iter().any(|seen| seen.dequeue),
            timed: markers.iter().any(|seen| seen.marker.timed()),
            begun: markers.is_empty(),
            markers,
        }
    }

    #[cold]
    fn begin(&mut self, env: &mut PortEnv<'_>) {
        self.begun = true;
        self.markers.iter_mut().for_each(|seen| seen.marker.begin(env.random));
    }

    /// A packet is about to wait behind `all`, of which `data` are in data classes. Left to itself
    /// the compiler makes this and `show` calls, 15 and 25 instructions per packet.
    #[inline(always)]
    pub fn accepted(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        data: Backlog,
        all: Backlog,
    ) {
        if !self.begun {
            self.begin(env);
        }
        if !self.enqueue {
            return;
        }
        let mut view = self.view(env.now, data, all, None);
        let marked = match &mut self.markers[..] {
            [only] => only.enqueued(env.packets, packet, &mut view),
            several => any_marks(
                several,
                |seen| seen.enqueue,
                |seen| seen.enqueued(env.packets, packet, &mut view),
            ),
        };
        debug_assert!(self.timed || self.deadline() == Time::NEVER, "a deadline, but not timed");
        self.marks += marked as u64;
    }

    /// The same where data has several queues, of which the packet joins one that holds `own`: a
    /// rule that sets CE looks at that one alone.
    pub fn accepted_in(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        own: Backlog,
        data: Backlog,
        all: Backlog,
    ) {
        if !self.begun {
            self.begin(env);
        }
        let mut view = self.view(env.now, data, all, None);
        let marked = any_marks(
            &mut self.markers,
            |seen| seen.enqueue,
            |seen| {
                view.data = seen.queue(own, data);
                seen.enqueued(env.packets, packet, &mut view)
            },
        );
        self.marks += marked as u64;
    }

    /// A packet found no room.
    #[cold]
    pub fn refused(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        data: Backlog,
        all: Backlog,
    ) {
        if !self.begun {
            self.begin(env);
        }
        let mut view = self.view(env.now, data, all, None);
        for seen in self.markers.iter_mut().filter(|seen| seen.enqueue) {
            view.own = seen.owns(env.packets, packet);
            seen.marker.on_refused(env.packets, packet, &view);
        }
    }

    #[inline]
    fn view(&self, now: Time, data: Backlog, all: Backlog, idle: Option<Span>) -> View {
        View { now, data, all, idle, sent: self.sent, rate: self.rate, own: false }
    }

    /// A packet begins transmission and leaves `all` behind. Returns its charged bytes, which its
    /// markers may have changed.
    #[inline]
    pub fn begins(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        data: Backlog,
        all: Backlog,
    ) -> u32 {
        if self.dequeue {
            self.show(env, packet, data, all);
        }
        self.leaves(env, packet)
    }

    /// The same for a packet of one of several queues of data, which leaves `own` behind there.
    pub fn begins_in(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        own: Backlog,
        data: Backlog,
        all: Backlog,
    ) -> u32 {
        let idle = (self.ends != Time::NEVER).then(|| env.now.since(self.ends));
        let mut view = self.view(env.now, data, all, idle);
        let marked = any_marks(
            &mut self.markers,
            |seen| seen.dequeue,
            |seen| {
                view.data = seen.queue(own, data);
                seen.dequeued(env.packets, packet, &mut view)
            },
        );
        self.marks += marked as u64;
        self.leaves(env, packet)
    }

    /// A packet occupies the link. Returns its charged bytes.
    #[inline(always)]
    fn leaves(&mut self, env: &PortEnv<'_>, packet: PacketRef) -> u32 {
        let charged = env.packets.charged(packet);
        self.ends = env.now + self.time(charged);
        self.sent += charged as u64;
        charged
    }

    #[inline(always)]
    fn show(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, data: Backlog, all: Backlog) {
        let idle = (self.ends != Time::NEVER).then(|| env.now.since(self.ends));
        let mut view = self.view(env.now, data, all, idle);
        let marked = match &mut self.markers[..] {
            [only] => only.dequeued(env.packets, packet, &mut view),
            several => any_marks(
                several,
                |seen| seen.dequeue,
                |seen| seen.dequeued(env.packets, packet, &mut view),
            ),
        };
        debug_assert!(self.timed || self.deadline() == Time::NEVER, "a deadline, but not timed");
        self.marks += marked as u64;
    }

    /// Whether nothing happens to a packet, and nothing is measured, after it was accepted.
    pub fn in_order(&self) -> bool {
        !self.dequeue && !self.timed
    }

    /// Packets of `bytes` charged bytes in all have begun transmission.
    #[inline]
    pub fn has_sent(&mut self, bytes: u64) {
        self.sent = bytes;
    }

    #[inline]
    fn time(&mut self, charged: u32) -> Span {
        match self.byte_ps {
            0 => self.divided(charged),
            per_byte => Span(charged as u64 * per_byte as u64),
        }
    }

    #[cold]
    fn divided(&mut self, charged: u32) -> Span {
        if charged != self.last.0 {
            self.last = (charged, self.rate.tx_time(Bytes(charged as u64)));
        }
        self.last.1
    }

    pub fn marks(&self) -> u64 {
        self.marks
    }

    pub fn timed(&self) -> bool {
        self.timed
    }

    pub fn deadline(&self) -> Time {
        self.markers.iter().map(|seen| seen.marker.deadline()).min().unwrap_or(Time::NEVER)
    }

    pub fn wake(&mut self, env: &mut PortEnv<'_>, data: Backlog, all: Backlog) {
        if !self.begun {
            self.begin(env);
        }
        let view = self.view(env.now, data, all, None);
        for seen in &mut self.markers {
            if seen.marker.deadline() <= env.now {
                seen.marker.wake(env.now, &view);
            }
        }
    }
}
