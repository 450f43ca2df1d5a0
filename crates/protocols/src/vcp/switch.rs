//! The port (VCP §3.1): the load of the last interval, in two bits.

use super::params::Params;
use super::{HIGH, LOW, OVERLOAD};
use incast_egress::load::Metering;
use incast_egress::load_marker::{LoadCode, LoadMarker, load_marker};
use incast_transport::{Packet, PortSite, Time};

/// The per-port marker.
pub type VcpMarker = LoadMarker<Codes>;

/// The two bits, from a load of this on the middle one.
pub struct Codes {
    high_load: f64,
}

impl LoadCode for Codes {
    #[inline]
    fn of(&self, load: f64) -> u8 {
        code(load, self.high_load)
    }

    #[inline]
    fn place(packet: &mut Packet) -> Option<&mut u8> {
        packet.is_data().then_some(&mut packet.mark)
    }
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

/// An idle port; without a random phase its first interval ends at `first`.
pub fn marker(params: &Params, site: &PortSite, first: Time) -> VcpMarker {
    let metering = Metering {
        capacity: params.target * site.rate.0 as f64 / 8.0,
        interval: params.interval_on(&site.fabric),
        sample: params.sample_on(&site.fabric),
        queue_weight: params.queue_weight,
        average_weight: params.average_weight,
    };
    load_marker(metering, Codes { high_load: params.high_load }, first)
}
