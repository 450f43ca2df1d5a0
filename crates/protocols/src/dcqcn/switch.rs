//! The congestion point: RED marking by the queue length at dequeue.

use super::params::Params;
use incast_egress::red::{Moment, RedMarker};
use incast_transport::PortSite;

/// DCQCN §3.1, "CP algorithm": RED on the instantaneous queue at a packet's departure, as in
/// HPCC's simulator.
pub fn marker(params: &Params, site: &PortSite) -> RedMarker {
    RedMarker::new(params.red(site), Moment::Dequeue)
}
