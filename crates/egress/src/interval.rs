//! A port that finds out about its link interval by interval, from the packets offered to it, and
//! tells those that leave (XCP, RCP, VCP, MLCP).

use incast_transport::{Marker, PacketPool, PacketRef, Random, Span, Time, View};

/// What a port knows of its link. Times come in order.
pub trait Measure: Send {
    /// The interval that runs now.
    fn interval(&self) -> Span;

    /// The interval that runs now ends at `first` instead.
    fn restart(&mut self, first: Time);

    /// Ends all intervals that are over at `now`; since the last call `backlog` bytes waited.
    fn advance(&mut self, now: Time, backlog: u64);

    /// A packet of `charged` bytes was offered to the link, whether or not there was room for it.
    fn offered(&mut self, packets: &PacketPool, packet: PacketRef, charged: u32, view: &View);

    /// A packet of `charged` bytes leaves. Returns whether it was marked.
    fn leaves(
        &mut self,
        packets: &mut PacketPool,
        packet: PacketRef,
        charged: u32,
        view: &View,
    ) -> bool;
}

/// A random end of the first interval, after at least a picosecond: ports do not end their
/// intervals together.
pub fn random_phase(random: &mut Random, interval: Span) -> Time {
    Time::ZERO + Span(1 + random.below(interval.0))
}

/// The marker of one port. It needs no clock: intervals end when a packet shows that they are over.
pub struct IntervalMarker<M> {
    measure: M,
}

impl<M: Measure> IntervalMarker<M> {
    /// The first interval of `measure` ends at a random phase, or when it says if nobody lets the
    /// marker begin.
    pub fn new(measure: M) -> IntervalMarker<M> {
        IntervalMarker { measure }
    }

    /// What the port knows.
    pub fn measure(&self) -> &M {
        &self.measure
    }

    #[inline(always)]
    fn offered(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.measure.advance(view.now, view.all.bytes);
        self.measure.offered(packets, packet, packets.charged(packet), view);
    }
}

impl<M: Measure> Marker for IntervalMarker<M> {
    fn begin(&mut self, random: &mut Random) {
        self.measure.restart(random_phase(random, self.measure.interval()));
    }

    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        self.offered(packets, packet, view);
        false
    }

    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.offered(packets, packet, view);
    }

    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let charged = packets.charged(packet);
        self.measure.advance(view.now, view.all.bytes + charged as u64);
        self.measure.leaves(packets, packet, charged, view)
    }

    fn sees(&self) -> (bool, bool) {
        (true, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
