//! A port that writes the load of its link into packets, if it is the highest of the path (VCP §3.1).
//! What the load is called there, and where it is written, is the transport's own.

use crate::load::{LoadMeter, Metering};
use incast_transport::{Marker, Packet, PacketPool, PacketRef, Random, Span, Time, View};

/// How a transport writes a load.
pub trait LoadCode: Send {
    /// The code of a load, 1 being full: the fuller the larger.
    fn of(&self, load: f64) -> u8;

    /// Where the code stands in a packet; `None` for all that are not data.
    fn place(packet: &mut Packet) -> Option<&mut u8>;
}

/// The marker of one port.
pub struct LoadMarker<C> {
    meter: LoadMeter,
    code: C,
}

impl<C: LoadCode> LoadMarker<C> {
    /// A port that has seen nothing. Its first interval ends at a random phase, or at `first` if
    /// nobody lets it begin.
    pub fn new(metering: Metering, code: C, first: Time) -> LoadMarker<C> {
        LoadMarker { meter: LoadMeter::new(metering, first), code }
    }

    /// The load of the last interval; 1 is full.
    pub fn load(&self) -> f64 {
        self.meter.load()
    }

    fn arrives(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.meter.advance(view.now, view.all.bytes);
        self.meter.arrives(packets.charged(packet));
    }
}

impl<C: LoadCode> Marker for LoadMarker<C> {
    fn begin(&mut self, random: &mut Random) {
        // Ports do not end their intervals together.
        let first = Span(1 + random.below(self.meter.interval().0));
        self.meter.restart(Time::ZERO + first);
    }

    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        self.arrives(packets, packet, view);
        false
    }

    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.arrives(packets, packet, view);
    }

    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let charged = packets.charged(packet) as u64;
        self.meter.advance(view.now, view.all.bytes + charged);
        // A code that is as large already stays, and with it the news of the hop before.
        let first = packets.stamps(packet).informed == 0;
        if !view.own {
            return false;
        }
        let Some(place) = C::place(&mut packets[packet]) else { return false };
        let own = self.code.of(self.meter.load());
        let raised = own > *place;
        if raised || own == *place && first {
            *place = own;
            packets.stamps_mut(packet).informed = self.meter.measured().0;
        }
        raised
    }

    fn sees(&self) -> (bool, bool) {
        (true, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
