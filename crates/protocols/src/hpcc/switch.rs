//! The port: writes its byte count and queue length into each departing data packet.

use incast_egress::telemetry::stamp;
use incast_transport::telemetry::Gauge;
use incast_transport::{Marker, PacketPool, PacketRef, PortSite, View};

/// The per-port marker.
pub struct Stamper {
    gauge: Gauge,
}

impl Stamper {
    /// With `exact` records are not cut to their fields.
    pub fn new(site: &PortSite, exact: bool) -> Stamper {
        Stamper { gauge: Gauge::new(&site.fabric.rates, site.rate, exact) }
    }
}

impl Marker for Stamper {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        if view.own && packets[packet].is_data() {
            // All classes count: all queued bytes delay the packet (GetNBytesTotal).
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
