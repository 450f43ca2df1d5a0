//! The congestion point: random marks by the queue that a packet leaves behind.

use super::params::Params;
use incast_egress::red::{Moment, RedMarker};
use incast_transport::PortSite;

/// DCQCN §3.1, "CP algorithm": RED on the instantaneous queue, looked at when a packet leaves, as
/// in HPCC's simulator.
pub fn marker(params: &Params, site: &PortSite) -> RedMarker {
    RedMarker::new(params.red(site), Moment::Dequeue)
}
