//! When things happen: the clock, the events to come, and the ports that transmit at this instant.

use crate::queue::{Event, Wheel};
use incast_fabric::{PortId, order};
use incast_transport::{PacketRef, Time};

/// Classes of events, in the upper bits of the key: at one instant arrivals come first, in an
/// order drawn anew for each instant; then flows open, then timers run. Transmissions are last
/// and have no events: they are on the list of kicked ports.
pub(crate) mod class {
    pub const OPEN: u32 = 1 << 30;
    pub const TIMER: u32 = 2 << 30;
    pub const CONTROL: u32 = 3 << 30;
}
/// In a timer's id: a port, not a host.
pub(crate) const PORT_TIMER: u32 = 1 << 31;

pub(crate) struct Agenda {
    pub now: u64,
    pub queue: Wheel,
    /// Ports that transmit at the end of this instant.
    pub kicks: Vec<u32>,
    seed: u64,
}

impl Agenda {
    pub fn new(seed: u64) -> Agenda {
        Agenda { now: 0, queue: Wheel::new(), kicks: vec![], seed }
    }

    /// A packet arrives at `at` at the other end of a link; `reverse` is the reverse path there.
    #[inline]
    pub fn schedule_arrival(&mut self, at: u64, reverse: u32, packet: PacketRef) {
        let key = order::arrival_key(self.seed, Time(at), PortId(reverse));
        self.queue.push(Event { time: at, key, id: packet.0 });
    }

    /// A flow opens at `time`.
    pub fn schedule_open(&mut self, time: u64, flow: u32) {
        let key = class::OPEN | (flow & (class::OPEN - 1));
        self.queue.push(Event { time, key, id: flow });
    }

    /// A host's timers run at `time`.
    #[inline]
    pub fn schedule_host(&mut self, time: u64, host: u32) {
        self.queue.push(Event { time, key: class::TIMER | host, id: host });
    }

    /// A port is looked at at `time`.
    #[inline]
    pub fn schedule_port(&mut self, time: u64, port: u32) {
        let key = class::TIMER | (port & (class::OPEN - 1));
        self.queue.push(Event { time, key, id: port | PORT_TIMER });
    }

    /// Links fail at `time`.
    pub fn schedule_epoch(&mut self, time: u64, epoch: u32) {
        self.queue.push(Event { time, key: class::CONTROL, id: epoch });
    }
}
