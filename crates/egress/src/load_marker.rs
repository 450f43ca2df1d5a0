//! A port that writes the load of its link into packets, if it is the highest of the path (VCP §3.1).
//! What the load is called there, and where it is written, is the transport's own.

use crate::interval::{IntervalMarker, Measure};
use crate::load::{LoadMeter, Metering};
use incast_transport::{Packet, PacketPool, PacketRef, Span, Time, View};

/// How a transport writes a load.
pub trait LoadCode: Send {
    /// The code of a load, 1 being full: the fuller the larger.
    fn of(&self, load: f64) -> u8;

    /// Where the code stands in a packet; `None` for all that are not data.
    fn place(packet: &mut Packet) -> Option<&mut u8>;
}

/// The load of a port's link and how it is written.
pub struct Load<C> {
    meter: LoadMeter,
    code: C,
}

impl<C> Load<C> {
    /// The load of the last interval; 1 is full.
    pub fn load(&self) -> f64 {
        self.meter.load()
    }
}

/// The marker of one port.
pub type LoadMarker<C> = IntervalMarker<Load<C>>;

/// A port that has seen nothing. Its first interval ends at a random phase, or at `first` if nobody
/// lets it begin.
pub fn load_marker<C: LoadCode>(metering: Metering, code: C, first: Time) -> LoadMarker<C> {
    IntervalMarker::new(Load { meter: LoadMeter::new(metering, first), code })
}

impl<C: LoadCode> Measure for Load<C> {
    fn interval(&self) -> Span {
        self.meter.interval()
    }

    fn restart(&mut self, first: Time) {
        self.meter.restart(first);
    }

    #[inline]
    fn advance(&mut self, now: Time, backlog: u64) {
        self.meter.advance(now, backlog);
    }

    #[inline]
    fn offered(&mut self, _: &PacketPool, _: PacketRef, charged: u32, _: &View) {
        self.meter.arrives(charged);
    }

    #[inline]
    fn leaves(
        &mut self,
        packets: &mut PacketPool,
        packet: PacketRef,
        _charged: u32,
        view: &View,
    ) -> bool {
        if !view.own {
            return false;
        }
        // A code that is as large already stays, and with it the news of the hop before.
        let first = packets.stamps(packet).informed == 0;
        let Some(place) = C::place(&mut packets[packet]) else { return false };
        let own = self.code.of(self.meter.load());
        let raised = own > *place;
        if raised || own == *place && first {
            *place = own;
            packets.stamps_mut(packet).informed = self.meter.measured().0;
        }
        raised
    }
}
