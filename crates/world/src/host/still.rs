//! Hosts at which no time passes: a transport or the NIC's port is at fault.

use super::{EndHost, HostIo, NEVER};
use incast_transport::{FlowId, HostId};
use std::fmt;

/// A host at which no time passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Still {
    /// The host.
    pub host: HostId,
    /// When, picoseconds.
    pub at: u64,
    /// What does it.
    pub what: Standing,
    /// The flow that does it, if that is known.
    pub flow: Option<FlowId>,
}

/// What lets no time pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// More calls than a world allows at one instant.
    Calls,
    /// After a wake the next deadline is this one, and not in the future.
    Deadline(u64),
    /// The same of the NIC's own port.
    NicDeadline(u64),
    /// The transports fill the NIC's own port, and none of it leaves.
    Fills,
}

impl fmt::Display for Still {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Still { host: HostId(host), at, what, .. } = self;
        match what {
            Standing::Calls => write!(f, "host {host} does not let time pass at {at} ps"),
            Standing::Deadline(next) => {
                write!(f, "host {host}: deadline {next} ps after wake at {at} ps")
            }
            Standing::NicDeadline(next) => {
                write!(f, "NIC of host {host}: deadline {next} ps after wake at {at} ps")
            }
            Standing::Fills => write!(f, "host {host} fills its NIC without end"),
        }
    }
}

impl EndHost {
    /// Timers are looked at again at `now`, after what kept time from passing may be gone.
    pub fn look_again<W: HostIo>(&mut self, world: &mut W, now: u64) {
        self.refresh_deadline();
        self.want(now);
        self.run_timers(world, now);
    }

    /// No time passes: nobody is called before the next packet, flow or end of one.
    #[cold]
    pub(super) fn stand_still<W: HostIo>(
        &mut self,
        world: &mut W,
        at: u64,
        what: Standing,
        flow: Option<FlowId>,
    ) {
        (self.wanted, self.deadline) = (NEVER, NEVER);
        world.stand_still(Still { host: self.host, at, what, flow });
    }
}
