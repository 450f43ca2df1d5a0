//! The schedule of a partition: its clock, pending events, and the ports that transmit now.

use crate::queue::{Event, Wheel};
use incast_fabric::{PortId, order};
use incast_transport::{PacketRef, Time};

/// Event classes, in the upper bits of the key. At one instant arrivals are processed first, in a
/// random order per instant, then flow starts, then timers. Transmissions are last and have no
/// events: they are on the list of kicked ports.
pub(crate) mod class {
    pub const OPEN: u32 = 1 << 30;
    pub const TIMER: u32 = 2 << 30;
    pub const CONTROL: u32 = 3 << 30;
}
/// Bit of a timer's id: the timer belongs to a port, not a host.
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

    /// Schedules a packet's arrival at the other end of a link at `at`; `reverse` is the port of
    /// the reverse path there.
    #[inline]
    pub fn schedule_arrival(&mut self, at: u64, reverse: u32, packet: PacketRef) {
        let key = order::arrival_key(self.seed, Time(at), PortId(reverse));
        self.queue.push(Event::new(at, key, packet.0));
    }

    /// Schedules the start of a flow at `time`.
    pub fn schedule_open(&mut self, time: u64, flow: u32) {
        let key = class::OPEN | (flow & (class::OPEN - 1));
        self.queue.push(Event::new(time, key, flow));
    }

    /// Schedules a host's timers at `time`.
    #[inline]
    pub fn schedule_host(&mut self, time: u64, host: u32) {
        debug_assert!(
            time >= self.now,
            "host {host}: a timer at {time} ps, set at {} ps",
            self.now
        );
        self.queue.push(Event::new(time, class::TIMER | host, host));
    }

    /// Schedules a port's timer at `time`.
    #[inline]
    pub fn schedule_port(&mut self, time: u64, port: u32) {
        let key = class::TIMER | (port & (class::OPEN - 1));
        self.queue.push(Event::new(time, key, port | PORT_TIMER));
    }

    /// Schedules link failures at `time`.
    pub fn schedule_epoch(&mut self, time: u64, epoch: u32) {
        self.queue.push(Event::new(time, class::CONTROL, epoch));
    }
}
