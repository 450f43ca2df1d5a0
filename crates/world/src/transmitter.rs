//! When a switch port sends next, and what it sends, as both worlds do it.

use crate::{Ingress, NEVER, PortSeries};
use incast_transport::{
    Classes, Dequeue, PacketPool, PacketRef, Port, PortEnv, Random, Stamps, Time, Verdict,
};

/// The sending side of a port. A world starts the next transmission at
/// [`next_start`](Transmitter::next_start) and sets `busy_until` to its end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Transmitter {
    /// End of the present or last transmission, picoseconds.
    pub busy_until: u64,
    /// Earliest start of the next transmission for other reasons, picoseconds.
    pub resume: u64,
    /// Packets wait here, or a pause frame.
    pub waiting: bool,
    /// A pause frame may have to leave before anything else.
    pub pausing: bool,
    /// Classes that the other end of the link lets it send, one bit each.
    pub open: u8,
    /// Its link has failed.
    pub dead: bool,
    /// Tier of the port, 0 for a NIC.
    pub tier: u8,
    /// Its handler may have deadlines.
    pub timed: bool,
}

/// What a port consists of beside its transmitter, borrowed for one call.
pub struct PortParts<'a> {
    /// Its queues and markers.
    pub handler: &'a mut dyn Port,
    /// Its random stream.
    pub random: &'a mut Random,
    /// Its record.
    pub series: &'a mut PortSeries,
    /// Packets.
    pub packets: &'a mut PacketPool,
}

impl PortParts<'_> {
    /// The interval of the series may end at `now`: the marks so far belong to it.
    #[inline]
    fn note_marks(&mut self, now: u64) {
        if self.series.over(now) {
            self.series.set_marks(self.handler.marks());
        }
    }

    #[inline]
    fn dequeue(&mut self, now: u64, open: Classes) -> Dequeue {
        let random = &mut *self.random;
        let mut env = PortEnv { now: Time(now), random, packets: self.packets };
        self.handler.dequeue(&mut env, open)
    }

    /// Calls the handler at its deadline `at`.
    pub fn wake(&mut self, port: u32, at: u64) {
        let woken = self.try_wake(at);
        let next = self.handler.deadline().0;
        assert!(woken, "port {port}: deadline {next} ps after wake at {at} ps");
    }

    /// The same; returns whether the next deadline lies in the future, as it must.
    pub fn try_wake(&mut self, at: u64) -> bool {
        let random = &mut *self.random;
        self.handler.wake(&mut PortEnv { now: Time(at), random, packets: self.packets });
        self.handler.deadline().0 > at
    }

    /// The next packet of these classes, of a port whose link has failed or where they are stuck, whatever
    /// is paused.
    pub fn strand(&mut self, now: u64, classes: Classes) -> Option<PacketRef> {
        self.note_marks(now);
        match self.dequeue(now, classes) {
            Dequeue::Packet(packet) => Some(packet),
            _ => None,
        }
    }
}

impl Transmitter {
    /// Nothing waits, and everything may be sent.
    pub fn new(tier: u8, timed: bool) -> Transmitter {
        Transmitter {
            busy_until: 0,
            resume: 0,
            waiting: false,
            pausing: false,
            open: u8::MAX,
            dead: false,
            tier,
            timed,
        }
    }

    /// When the next packet begins transmission, if one waits.
    #[inline]
    pub fn start(&self) -> u64 {
        self.busy_until.max(self.resume)
    }

    /// When the next packet begins transmission; [`NEVER`] if none waits.
    #[inline]
    pub fn next_start(&self) -> u64 {
        if self.waiting { self.start() } else { NEVER }
    }

    /// Whether a packet of `class` that joins the queue at `now` is sent at once, unless a shaper
    /// holds it.
    pub fn is_free(&self, now: u64, class: u8) -> bool {
        !self.waiting && self.busy_until <= now && self.open >> class & 1 != 0
    }

    /// There is something new to send from `now` on.
    #[inline]
    fn look_again(&mut self, now: u64) {
        if !self.waiting || self.resume > now {
            self.resume = now;
        }
    }

    /// A packet wants to leave here at `now`.
    #[inline]
    pub fn enqueue(&mut self, mut parts: PortParts<'_>, packet: PacketRef, now: u64) -> Verdict {
        parts.note_marks(now);
        let PortParts { handler, random, series, packets } = parts;
        let verdict = handler.enqueue(&mut PortEnv { now: Time(now), random, packets }, packet);
        let backlog = handler.backlog();
        series.set_backlog(now, backlog.bytes);
        self.look_again(now);
        self.waiting = backlog.packets > 0 || self.pausing;
        verdict
    }

    /// The link is free at `start`: the packet that begins transmission, and the charged bytes that
    /// it leaves behind.
    #[inline]
    pub fn dequeue(&mut self, mut parts: PortParts<'_>, start: u64) -> Option<(PacketRef, u64)> {
        parts.note_marks(start);
        match parts.dequeue(start, Classes(self.open)) {
            Dequeue::Packet(packet) => {
                let backlog = parts.handler.backlog();
                self.waiting = backlog.packets > 0;
                Some((packet, backlog.bytes))
            }
            Dequeue::NotBefore(at) => {
                assert!(at.0 > start, "a shaper may not name the present");
                self.resume = at.0;
                None
            }
            // Something waits, but in a closed class.
            Dequeue::Empty => {
                self.resume = NEVER;
                None
            }
        }
    }

    /// What was stranded is gone.
    pub fn stranded(&mut self, parts: PortParts<'_>, now: u64) {
        let backlog = parts.handler.backlog();
        parts.series.set_backlog(now, backlog.bytes);
        self.waiting = backlog.packets > 0 || self.pausing;
        self.resume = self.resume.min(now);
    }

    /// A pause frame has to leave before anything else.
    pub fn announce(&mut self, now: u64) {
        self.pausing = true;
        self.look_again(now);
        self.waiting = true;
    }

    /// The pause frame for the other end of the link that begins transmission at `start`, and the
    /// charged bytes that wait then, if there is still something to report. `link` is what the
    /// switch holds for that end.
    pub fn pause_frame(
        &mut self,
        mut parts: PortParts<'_>,
        link: &mut Ingress,
        start: u64,
    ) -> Option<(PacketRef, u64)> {
        self.pausing = false;
        parts.note_marks(start);
        let PortParts { handler, series, packets, .. } = parts;
        let backlog = handler.backlog();
        self.waiting = backlog.packets > 0;
        let frame = link.frame()?;
        series.pause_frame(start, &frame.header);
        let packet = packets.create(frame);
        *packets.stamps_mut(packet) = Stamps::default();
        let meta = packets.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(start), self.tier);
        Some((packet, backlog.bytes))
    }

    /// The other end of the link requests that these classes are open from `now` on. `marks` is how
    /// many packets the port has marked so far. Whether a class has opened.
    pub fn set_open(&mut self, series: &mut PortSeries, marks: u64, now: u64, open: u8) -> bool {
        let opened = open & !self.open != 0;
        self.open = open;
        if series.over(now) {
            series.set_marks(marks);
        }
        series.set_open(now, open);
        if opened && self.waiting {
            self.resume = now;
        }
        opened
    }

    /// Its link works again: nothing is paused. `marks` is how many packets the port has marked so
    /// far. Whether a class has opened.
    pub fn reconnect(&mut self, series: &mut PortSeries, marks: u64, now: u64) -> bool {
        (self.dead, self.pausing, self.waiting) = (false, false, false);
        self.open != u8::MAX && self.set_open(series, marks, now, u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::{Rate, Span};

    /// A pause that arrives after the end of an interval is not the time of the marks before it.
    #[test]
    fn marks_belong_to_the_interval_before_a_pause() {
        let mut series = PortSeries::new(Span(100), Rate::from_gbps(10));
        let mut transmitter = Transmitter::new(0, false);
        transmitter.set_open(&mut series, 0, 20, 0b1111_1011);
        transmitter.set_open(&mut series, 3, 150, u8::MAX);
        transmitter.set_open(&mut series, 5, 330, 0b1111_1011);
        series.set_marks(6);
        let width = series.width();
        let bins = series.finish(0, 390, width).bins;
        let marks: Vec<u32> = bins.iter().map(|bin| bin.marks).collect();
        assert_eq!(marks, [3, 2, 0, 1]);
    }
}
