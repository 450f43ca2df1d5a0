//! Switch ports: enqueue, lazily dequeue, account.

use crate::partition::{PORT_TIMER, Partition, class, mark};
use crate::queue::Event;
use incast_transport::{Classes, Dequeue, Fate, PacketRef, PortEnv, Time, Verdict, flag};
use incast_world::OWN;

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
