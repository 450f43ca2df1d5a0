//! The context of a call of a host's transport.

use crate::{PacketPool, Probe, Random};
use incast_units::Time;
use incast_wire::HostId;

/// Context of a call of a [`Host`](crate::Host). Transports use no clock, socket or global state.
pub struct Env<'a> {
    /// The time of the call. It never decreases on one host.
    pub now: Time,
    /// The host.
    pub host: HostId,
    /// The host's random stream.
    pub random: &'a mut Random,
    /// The recorder of flow statistics.
    pub probe: &'a mut Probe,
    /// The packet pool.
    pub packets: &'a mut PacketPool,
}
