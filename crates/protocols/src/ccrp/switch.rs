//! The marker of the data queue.

use super::params::Params;
use incast_egress::red::{Moment, Red, RedMarker};
use incast_transport::PortSite;

/// CCRP §3.4, "Marking at CP": RED on the instantaneous queue at a packet's arrival, data of
/// other transports included.
pub fn marker(params: &Params, site: &PortSite) -> RedMarker {
    let red =
        Red { min: params.mark_min, max: params.mark_max, probability: params.mark_probability };
    let red = params.mark_by_rate.at(site.rate).copied().unwrap_or(red);
    RedMarker::new(red, Moment::Enqueue)
}
