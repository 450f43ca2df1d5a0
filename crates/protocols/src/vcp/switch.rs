//! The port (VCP §3.1): the load of the last interval, in two bits.

use super::params::Params;
use super::{HIGH, ID, LOW, OVERLOAD};
use incast_blocks::load::{LoadMeter, Metering};
use incast_transport::{Marker, PacketPool, PacketRef, PortSite, Random, Span, Time, View};

/// The marker of one port.
pub struct VcpMarker {
    meter: LoadMeter,
    high_load: f64,
}

/// The code of a load.
#[inline]
pub fn code(load: f64, high_load: f64) -> u8 {
    if load >= 1.0 {
        OVERLOAD
    } else if load >= high_load {
        HIGH
    } else {
        LOW
    }
}

impl VcpMarker {
    /// A port that has seen nothing; its first interval ends at a random phase.
    pub fn new(params: &Params, site: &PortSite) -> VcpMarker {
        VcpMarker::starting(params, site, Time::NEVER)
    }

    /// The same, but the first interval ends at `first` if nobody lets it begin.
    pub fn starting(params: &Params, site: &PortSite, first: Time) -> VcpMarker {
        let metering = Metering {
            capacity: params.target * site.rate.0 as f64 / 8.0,
            interval: params.interval_on(&site.fabric),
            sample: params.sample_on(&site.fabric),
            queue_weight: params.queue_weight,
            average_weight: params.average_weight,
        };
        VcpMarker { meter: LoadMeter::new(metering, first), high_load: params.high_load }
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

impl Marker for VcpMarker {
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
        let content = &mut packets[packet];
        if content.transport != ID || !content.is_data() {
            return false;
        }
        let own = code(self.meter.load(), self.high_load);
        let raised = own > content.mark;
        if raised || own == content.mark && first {
            content.mark = own;
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
