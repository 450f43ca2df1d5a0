//! The port: the load of the last interval, in four bits.

use super::ID;
use super::level::Levels;
use super::params::Params;
use incast_blocks::load::{LoadMeter, Metering};
use incast_transport::{Header, Marker, PacketPool, PacketRef, PortSite, Random, Span, Time, View};

/// The marker of one port.
pub struct MlcpMarker {
    meter: LoadMeter,
    levels: Levels,
}

impl MlcpMarker {
    /// A port that has seen nothing; its first interval ends at a random phase.
    pub fn new(params: &Params, site: &PortSite) -> MlcpMarker {
        MlcpMarker::starting(params, site, Time::NEVER)
    }

    /// The same, but the first interval ends at `first` if nobody lets it begin.
    pub fn starting(params: &Params, site: &PortSite, first: Time) -> MlcpMarker {
        let metering = Metering {
            capacity: params.target * site.rate.0 as f64 / 8.0,
            interval: params.period,
            sample: params.sample_span(),
            queue_weight: params.queue_weight,
            average_weight: params.average_weight,
        };
        MlcpMarker { meter: LoadMeter::new(metering, first), levels: Levels::new(params) }
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

impl Marker for MlcpMarker {
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
        // A level that is as large already stays, and with it the news of the hop before.
        let first = packets.stamps(packet).informed == 0;
        let content = &mut packets[packet];
        if content.transport != ID || !content.is_data() {
            return false;
        }
        let Header::Segment { nibble, .. } = &mut content.header else { return false };
        let own = self.levels.of(self.meter.load());
        let raised = own > *nibble;
        if raised || own == *nibble && first {
            *nibble = own;
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
