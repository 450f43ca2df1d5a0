//! Switch ports: enqueue, lazily dequeue, account.

use crate::line::Line;
use crate::partition::{PORT_TIMER, Partition, class, mark};
use crate::queue::Event;
use incast_fabric::Fabric;
use incast_transport::{Bytes, Classes, Dequeue, Fate, PacketRef, PortEnv, Time, Verdict, flag};
use incast_world::{OWN, PortSeries};

/// An egress port: what most packets touch is one cache line each here, in its line and in its
/// series.
#[repr(C, align(64))]
pub(crate) struct Egress {
    /// End of the present or last transmission.
    pub busy_until: u64,
    /// Earliest start of the next transmission for other reasons.
    pub resume: u64,
    /// Earliest scheduled timer event.
    pub timer: u64,
    pub propagation: u64,
    /// Picoseconds per byte, or 0 when that is not a whole number.
    pub byte_ps: u32,
    pub peer: u32,
    /// Our identity at the peer, for ties.
    pub reverse: u32,
    /// The packet sent last.
    pub last: PacketRef,
    /// Packets wait here.
    pub waiting: bool,
    /// `last` will bring the port up to date.
    pub armed: bool,
    /// On the list of ports that transmit at this instant.
    pub kicked: bool,
    /// The peer is in another partition.
    pub cut: bool,
    pub dead: bool,
    pub lossy: bool,
    pub captured: bool,
    pub tier: u8,
    /// Open classes.
    pub open: u8,
    /// Evaluated at every transmission's end, because its switch shares a buffer or pauses links.
    pub eager: bool,
    /// A pause frame may have to leave.
    pub pausing: bool,
    /// Its markers may have deadlines.
    pub timed: bool,
    /// Decides everything about a packet when it comes.
    pub in_order: bool,
    /// What waits, if it is in order.
    pub line: Line,
    pub series: PortSeries,
}

impl Egress {
    /// When the next packet begins transmission, if one waits.
    #[inline]
    pub fn start(&self) -> u64 {
        self.busy_until.max(self.resume)
    }
}

const _: () = assert!(std::mem::offset_of!(Egress, line) == 64);

/// How long `charged` bytes take on a port's link, where a byte takes `byte_ps`.
#[inline]
pub(crate) fn tx_time(fabric: &Fabric, port: u32, byte_ps: u32, charged: u16) -> u64 {
    match byte_ps {
        0 => exact_tx(fabric, port, charged),
        per_byte => charged as u64 * per_byte as u64,
    }
}

/// Transmission time where a byte does not last a whole number of picoseconds; rounded up.
#[cold]
fn exact_tx(fabric: &Fabric, port: u32, charged: u16) -> u64 {
    fabric.ports()[port as usize].rate.tx_time(Bytes(charged as u64)).0
}

impl Partition {
    /// A packet wants to leave by `port`, now.
    #[inline]
    pub fn enqueue(&mut self, port: u32, packet: PacketRef) {
        let now = self.now;
        let index = port as usize;
        if self.egress[index].in_order {
            return self.line_up(port, packet);
        }
        self.advance_port(port, now);
        let egress = &self.egress[index];
        let meta = self.pool.meta_mut(packet);
        meta.arrived = Time(now);
        meta.tier = egress.tier;
        if egress.dead || !self.admit(port, packet) {
            self.series_drop(port, packet, now);
            self.lose(packet, now);
            return;
        }
        let handler = self.ports[index].as_mut().expect("a switch port has a handler");
        let series = &mut self.egress[index].series;
        if series.over(now) {
            series.set_marks(handler.marks());
        }
        let mut env = PortEnv {
            now: Time(now),
            random: &mut self.port_random[index],
            packets: &mut self.pool,
        };
        let verdict = handler.enqueue(&mut env, packet);
        let backlog = handler.backlog();
        self.egress[index].series.set_backlog(now, backlog.bytes);
        let egress = &mut self.egress[index];
        if !egress.waiting || egress.resume > now {
            egress.resume = now;
        }
        egress.waiting = backlog.packets > 0 || egress.pausing;
        self.rearm_port(port);
        if verdict.displaced.is_some() || verdict.arriving != Fate::Queued {
            self.settle(port, packet, verdict, now);
        }
    }

    /// What becomes of packets that did not simply join the queue.
    #[cold]
    pub fn settle(&mut self, port: u32, packet: PacketRef, verdict: Verdict, now: u64) {
        self.fate(port, packet, verdict.arriving, now);
        if let Some((displaced, fate)) = verdict.displaced {
            // It had waited until now.
            let meta = *self.pool.meta(displaced);
            if fate != Fate::Trimmed {
                let waited = &mut self.pool.stamps_mut(displaced).waited[meta.tier as usize];
                *waited += now - meta.arrived.0;
            }
            self.fate(port, displaced, fate, now);
        }
    }

    fn fate(&mut self, port: u32, packet: PacketRef, fate: Fate, now: u64) {
        // At a NIC a packet is still at its source: there is no way back.
        let fate = if fate == Fate::Bounced && self.is_nic(port) { Fate::Dropped } else { fate };
        match fate {
            Fate::Queued => {}
            Fate::Trimmed => {
                self.egress[port as usize].series.rare(now).trims += 1;
                self.note_loss(packet, now);
            }
            Fate::Dropped => {
                self.give_back(port, packet);
                self.series_drop(port, packet, now);
                self.lose(packet, now);
            }
            Fate::Bounced => {
                self.give_back(port, packet);
                if self.pool[packet].is_data() {
                    self.note_loss(packet, now);
                    self.pool.trim(packet);
                }
                assert!(!self.pool[packet].has(flag::BOUNCED), "a packet is bounced once");
                self.pool[packet].flags |= flag::BOUNCED;
                // It goes back where packets come from: no link may be paused for it.
                self.pool.stamps_mut(packet).ingress = OWN;
                let node = self.common.fabric.ports()[port as usize].node;
                self.route(node, port, packet);
            }
        }
    }

    fn series_drop(&mut self, port: u32, packet: PacketRef, now: u64) {
        let header = &self.pool[packet].header;
        self.egress[port as usize].series.dropped(now, header);
    }

    /// Decides every transmission that begins before `until`.
    #[inline(always)]
    pub fn advance_port(&mut self, port: u32, until: u64) {
        let egress = &self.egress[port as usize];
        if egress.timed {
            self.advance_timed(port, until);
        } else if egress.waiting && egress.start() < until {
            self.advance_waiting(port, until);
        }
    }

    fn advance_waiting(&mut self, port: u32, until: u64) {
        loop {
            let egress = &self.egress[port as usize];
            if !egress.waiting || egress.start() >= until {
                return;
            }
            self.dequeue(port, egress.start());
        }
    }

    /// The same at a port with deadlines, which come in order with its transmissions. They need no
    /// events: what a marker does there shows only when something touches the port.
    fn advance_timed(&mut self, port: u32, until: u64) {
        let index = port as usize;
        loop {
            let egress = &self.egress[index];
            let start = if egress.waiting { egress.start() } else { u64::MAX };
            let handler = self.ports[index].as_mut().expect("a switch port has a handler");
            let deadline = handler.deadline().0;
            if start.min(deadline) >= until {
                return;
            }
            if start < deadline {
                self.dequeue(port, start);
                continue;
            }
            let random = &mut self.port_random[index];
            let now = Time(deadline);
            handler.wake(&mut PortEnv { now, random, packets: &mut self.pool });
            let next = handler.deadline().0;
            assert!(next > deadline, "port {port}: the deadline lies in the past after wake");
        }
    }

    fn dequeue(&mut self, port: u32, start: u64) {
        let index = port as usize;
        if self.egress[index].pausing
            && (self.send_pause(port, start) || !self.egress[index].waiting)
        {
            return;
        }
        let open = Classes(self.egress[index].open);
        let handler = self.ports[index].as_mut().expect("a switch port has a handler");
        let series = &mut self.egress[index].series;
        if series.over(start) {
            series.set_marks(handler.marks());
        }
        let mut env = PortEnv {
            now: Time(start),
            random: &mut self.port_random[index],
            packets: &mut self.pool,
        };
        match handler.dequeue(&mut env, open) {
            Dequeue::Packet(packet) => {
                let backlog = handler.backlog();
                self.egress[index].waiting = backlog.packets > 0;
                self.give_back(port, packet);
                self.send(port, packet, start, backlog.bytes);
            }
            Dequeue::NotBefore(at) => {
                assert!(at.0 > start, "a shaper may not name the present");
                self.egress[index].resume = at.0;
            }
            // Something waits, but in a closed class.
            Dequeue::Empty => self.egress[index].resume = u64::MAX,
        }
    }

    /// Makes sure that something brings a backlogged port up to date in time.
    #[inline]
    pub fn rearm_port(&mut self, port: u32) {
        let now = self.now;
        let egress = &mut self.egress[port as usize];
        if !egress.waiting || egress.kicked {
            return;
        }
        let start = egress.start();
        if start <= now {
            self.kick(port);
        } else if egress.eager || egress.resume > egress.busy_until {
            self.schedule_port(port, start);
        } else if !egress.cut && !egress.armed {
            egress.armed = true;
            let last = egress.last;
            self.pool.meta_mut(last).mark |= mark::SERVICE;
        }
    }

    /// A shaper's token has come, or an eager port is free.
    pub fn port_timer(&mut self, port: u32) {
        let now = self.now;
        let egress = &mut self.egress[port as usize];
        if egress.timer == now {
            egress.timer = u64::MAX;
        }
        self.advance_port(port, now);
        self.rearm_port(port);
    }

    /// Schedules a call of [`port_timer`](Self::port_timer), unless one comes earlier.
    pub fn schedule_port(&mut self, port: u32, time: u64) {
        let egress = &mut self.egress[port as usize];
        if time < egress.timer {
            egress.timer = time;
            let key = class::TIMER | (port & (class::OPEN - 1));
            self.queue.push(Event { time, key, id: port | PORT_TIMER });
        }
    }

    /// Whatever waits at a port whose link has failed is lost.
    pub fn kick_after_failure(&mut self, port: u32) {
        if self.is_nic(port) {
            return;
        }
        self.advance_port(port, self.now);
        let now = self.now;
        loop {
            let index = port as usize;
            let handler = self.ports[index].as_mut().expect("a switch port has a handler");
            let mut env = PortEnv {
                now: Time(now),
                random: &mut self.port_random[index],
                packets: &mut self.pool,
            };
            let Dequeue::Packet(packet) = handler.dequeue(&mut env, Classes::ALL) else { break };
            self.give_back(port, packet);
            self.series_drop(port, packet, now);
            self.lose(packet, now);
        }
        self.egress[port as usize].waiting = false;
        self.egress[port as usize].series.set_backlog(now, 0);
    }
}
