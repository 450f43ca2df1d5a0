//! Pause frames where they arrive, and what ends a pause that lasts too long.

use super::{Egress, Place, SwitchNode};
use crate::PacketIo;
use crate::arrival::Arrived;
use crate::medium::Medium;
use crate::trouble::Trouble;
use incast_transport::{Classes, PacketRef, Time};
use incast_world::{Drops, drop_packet, open_after};

impl<I: PacketIo> SwitchNode<I> {
    /// Whether the packet is a pause frame, which then takes effect.
    pub(super) fn takes_pause(&mut self, medium: &mut Medium<I>, one: &Arrived) -> bool {
        let header = self.packets.pool[one.packet].header;
        let Egress { line, handler, watchdog } = self.port(one.port);
        let Some(watchdog) = watchdog else {
            return line.apply_pause(medium, &header, || handler.marks()).is_some();
        };
        let Some(open) = open_after(watchdog.heard(), &header) else { return false };
        let open = watchdog.hear(medium.now, open);
        line.set_open(medium, open, handler.marks());
        true
    }

    /// Whether packets of this class are dropped at the port, because it is stuck.
    pub(super) fn is_stuck(&mut self, port: u32, packet: PacketRef) -> bool {
        let class = self.packets.pool[packet].class;
        let watchdog = self.port(port).watchdog.as_ref();
        watchdog.is_some_and(|watchdog| watchdog.drops() >> class & 1 != 0)
    }

    /// A deadline of a port has come.
    pub(super) fn wake(&mut self, medium: &mut Medium<I>, index: usize, at: u64) {
        let egress = &mut self.egress[index];
        if egress.line.transmitter.timed
            && egress.handler.deadline().0 <= at
            && !egress.split(&mut self.packets.pool).1.try_wake(at)
        {
            self.stand_still(medium, index);
        }
        if self.egress[index].watchdog.as_ref().is_some_and(|watchdog| watchdog.deadline() <= at) {
            self.watch(medium, index);
        }
    }

    /// A port lets no time pass: a defect of a marker, whose timers a node that lives on stops.
    #[cold]
    pub(super) fn stand_still(&mut self, medium: &mut Medium<I>, index: usize) {
        let why = format!("port {} lets no time pass", self.first + index as u32);
        assert!(medium.troubles.live, "{why} at {} ps", medium.now);
        let egress = &mut self.egress[index];
        (egress.line.transmitter.timed, egress.watchdog) = (false, None);
        medium.troubles.note(Trouble { at: Time(medium.now), flow: None, why });
    }

    /// The deadline of a port's watchdog has come.
    pub(super) fn watch(&mut self, medium: &mut Medium<I>, index: usize) {
        let (now, port) = (medium.now, self.first + index as u32);
        let Egress { line, handler, watchdog } = &mut self.egress[index];
        let Some(watchdog) = watchdog else { return };
        let stuck = watchdog.expire(now);
        let (open, drops) = (watchdog.open(), watchdog.drops());
        line.series.stuck(now, stuck.count_ones());
        if open != line.transmitter.open {
            line.set_open(medium, open, handler.marks());
        }
        self.strand(medium, index, Classes(stuck & drops));
        let (transmitter, parts) = self.egress[index].split(&mut self.packets.pool);
        transmitter.stranded(parts, now);
        self.make_ready(port, now);
    }

    /// Drops what waits of these classes at a port.
    pub(super) fn strand(&mut self, medium: &mut Medium<I>, index: usize, classes: Classes) {
        let (now, port) = (medium.now, self.first + index as u32);
        loop {
            let parts = self.egress[index].split(&mut self.packets.pool).1;
            let Some(packet) = { parts }.strand(now, classes) else { return };
            let mut place = Place { node: self, medium };
            place.give_back(port, packet);
            drop_packet(&mut place, port, packet, now);
        }
    }
}
