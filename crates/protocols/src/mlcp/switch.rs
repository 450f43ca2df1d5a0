//! The port: the load of the last interval, in four bits.

use super::headers::Data;
use super::level::Levels;
use super::params::Params;
use incast_egress::load::Metering;
use incast_egress::load_marker::{LoadCode, LoadMarker, load_marker};
use incast_transport::{Packet, PortSite, Time};

/// The per-port marker.
pub type MlcpMarker = LoadMarker<Levels>;

impl LoadCode for Levels {
    #[inline]
    fn of(&self, load: f64) -> u8 {
        self.level(load)
    }

    #[inline]
    fn place(packet: &mut Packet) -> Option<&mut u8> {
        if !packet.is_data() {
            return None;
        }
        Data::level_mut(&mut packet.header)
    }
}

/// An idle port; without a random phase its first interval ends at `first`.
pub fn marker(params: &Params, site: &PortSite, first: Time) -> MlcpMarker {
    let metering = Metering {
        capacity: params.target * site.rate.0 as f64 / 8.0,
        interval: params.period,
        sample: params.sample_span(),
        queue_weight: params.queue_weight,
        average_weight: params.average_weight,
    };
    load_marker(metering, Levels::new(params), first)
}
