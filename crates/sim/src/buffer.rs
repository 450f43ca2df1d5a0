//! What switches hold: the shared buffer, and priority-based flow control.

use crate::partition::Partition;
use incast_transport::{PacketRef, Stamps, Time};
use incast_world::{Books, Buffers, Standstill, heed, is_change};

impl Partition {
    /// Whether the switch has room for the packet; books it if so.
    #[inline]
    pub fn admit(&mut self, port: u32, packet: PacketRef) -> bool {
        !self.booked || self.book(port, packet)
    }

    fn book(&mut self, port: u32, packet: PacketRef) -> bool {
        let of = (self.pool[packet].class, self.pool.charged(packet));
        let fits =
            self.account(port, packet, |buffers, books, stamps| buffers.book(books, stamps, of));
        if fits && self.standstill.is_some() {
            self.note_wait(port, packet, Standstill::wait);
        }
        fits
    }

    /// Gives a packet's share of the buffers back.
    #[inline]
    pub fn give_back(&mut self, port: u32, packet: PacketRef) {
        if self.booked {
            self.release_booked(port, packet);
        }
    }

    fn release_booked(&mut self, port: u32, packet: PacketRef) {
        // At a NIC nothing is booked.
        if !self.is_nic(port) {
            if self.standstill.is_some() {
                self.note_wait(port, packet, Standstill::leave);
            }
            self.account(port, packet, |buffers, books, stamps| buffers.release(books, stamps));
        }
    }

    /// Keeps the books on who waits for whom.
    #[cold]
    fn note_wait(
        &mut self,
        port: u32,
        packet: PacketRef,
        note: impl FnOnce(&mut Standstill, u32, u32, (u8, u32)),
    ) {
        let stamps = self.pool.stamps(packet);
        if let (Some(of), Some(standstill)) =
            (self.common.buffers.guarded(stamps), &mut self.standstill)
        {
            note(standstill, stamps.ingress, port, of);
        }
    }

    /// At the end of an instant: whether links wait for each other for ever since then.
    #[cold]
    pub fn is_standing_still(&mut self) -> bool {
        if let (Some(standstill), Some(pfc)) = (&mut self.standstill, &self.common.buffers.pfc) {
            let below = |port: u32, class| self.ingress[port as usize].below(class);
            if let Some(circle) = standstill.find(&self.common.fabric, pfc, below) {
                self.deadlock = circle;
            }
        }
        !self.deadlock.is_empty()
    }

    /// Does something with the books that concern a packet at `port`, and announces what it
    /// changes.
    fn account<T>(
        &mut self,
        port: u32,
        packet: PacketRef,
        what: impl FnOnce(&Buffers, Books<'_>, &mut Stamps) -> T,
    ) -> T {
        let node = self.common.fabric.ports()[port as usize].node;
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        let stamps = self.pool.stamps_mut(packet);
        let ingress = stamps.ingress;
        let mut link = self.ingress.get_mut(ingress as usize);
        let before = link.as_ref().map(|link| link.paused);
        let queued = &mut self.queued_shared[port as usize];
        let books = Books { used: &mut state.used, queued, link: link.as_deref_mut() };
        let result = what(&self.common.buffers, books, stamps);
        if link.map(|link| link.paused) != before {
            self.announce(ingress);
        }
        result
    }

    /// A pause frame has to leave by `port` before anything else.
    fn announce(&mut self, port: u32) {
        let egress = &mut self.egress[port as usize];
        egress.pausing = true;
        if !egress.waiting || egress.resume > self.now {
            egress.resume = self.now;
        }
        egress.waiting = true;
        self.kick(port);
    }

    /// Sends the pause frame that says what has changed; false if nothing has, after all.
    #[cold]
    pub fn send_pause(&mut self, port: u32, start: u64) -> bool {
        let egress = &mut self.egress[port as usize];
        egress.pausing = false;
        let handler = self.ports[port as usize].as_ref().expect("a switch port has a handler");
        let backlog = handler.backlog();
        egress.waiting = backlog.packets > 0;
        let tier = egress.tier;
        let Some(frame) = self.ingress[port as usize].frame() else { return false };
        self.egress[port as usize].series.told(start, &frame.header);
        let packet = self.pool.create(frame);
        let meta = self.pool.meta_mut(packet);
        (meta.arrived, meta.tier) = (Time(start), tier);
        self.send(port, packet, start, backlog.bytes);
        true
    }

    /// If the packet that came over `link` is a pause frame: opens and closes classes of the way
    /// back, and ends the frame's life.
    pub fn heed_pause(&mut self, link: u32, packet: PacketRef) -> bool {
        let own = self.egress[link as usize].reverse;
        let before = self.egress[own as usize].open;
        let header = self.pool[packet].header;
        let Some(open) = heed(before, &header) else { return false };
        assert!(is_change(before, &header), "port {link} repeats itself: {header:?}");
        self.pool.free(packet);
        let now = self.now;
        let nic = self.is_nic(own);
        if nic {
            self.advance_host(self.host_of(own), now);
        } else {
            self.advance_port(own, now);
        }
        let egress = &mut self.egress[own as usize];
        egress.open = open;
        self.egress[own as usize].series.set_open(now, open);
        if let Some(standstill) = &mut self.standstill {
            standstill.open(own, open);
        }
        if open & !before == 0 {
            return true;
        }
        if nic {
            self.ask_again(self.host_of(own));
        } else if self.egress[own as usize].waiting {
            self.egress[own as usize].resume = now;
            self.rearm_port(own);
        }
        true
    }
}
