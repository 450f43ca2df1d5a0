//! The port: writes into each data packet, as it leaves, what it has sent and what waits behind it.

use incast_egress::telemetry::stamp;
use incast_transport::telemetry::Gauge;
use incast_transport::{Marker, PacketPool, PacketRef, PortSite, TransportId, View};

/// The marker of one port.
pub struct Stamper {
    transport: TransportId,
    gauge: Gauge,
}

impl Stamper {
    /// For the packets of one transport; with `exact` records are not cut to their fields.
    pub fn new(transport: TransportId, site: &PortSite, exact: bool) -> Stamper {
        Stamper { transport, gauge: Gauge::new(&site.fabric.rates, site.rate, exact) }
    }
}

impl Marker for Stamper {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let content = &packets[packet];
        if content.transport == self.transport && content.is_data() {
            // All classes count: what waits is in the way whatever it is (GetNBytesTotal).
            let record = self.gauge.record(view.now, view.sent, view.all.bytes);
            stamp(packets, packet, record, view.now);
        }
        false
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }

    fn timed(&self) -> bool {
        false
    }
}
