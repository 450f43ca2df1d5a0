//! What a world lends a host's transport for the length of one call.

use crate::{PacketPool, Probe, Random};
use incast_units::Time;
use incast_wire::HostId;

/// Lent to each call of a [`Host`](crate::Host). There is no clock, socket or global beside it.
pub struct Env<'a> {
    /// The instant of the call. Never earlier than that of any call before on this host.
    pub now: Time,
    /// The host that is called.
    pub host: HostId,
    /// This host's random stream.
    pub random: &'a mut Random,
    /// Where facts about flows are reported.
    pub probe: &'a mut Probe,
    /// Where packets live.
    pub packets: &'a mut PacketPool,
}
