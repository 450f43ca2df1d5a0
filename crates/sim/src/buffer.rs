//! What switches hold: the shared buffer, and priority-based flow control.

use crate::partition::Partition;
use incast_transport::{PacketRef, Time};
use incast_world::heed;

/// In `Stamps::ingress`: the packet came by no link, the switch made it.
pub(crate) const OWN: u32 = u32::MAX;
/// In `Stamps::admitted`: where the class begins under which a packet was booked.
const CLASS_SHIFT: u32 = 24;

impl Partition {
    /// Whether the switch has room for the packet; books it if so.
    #[inline]
    pub fn admit(&mut self, port: u32, packet: PacketRef) -> bool {
        !self.booked || self.book(port, packet)
    }

    fn book(&mut self, port: u32, packet: PacketRef) -> bool {
        let node = self.common.fabric.ports()[port as usize].node;
        let (class, charged) = (self.pool[packet].class, self.pool.charged(packet));
        let stamps = self.pool.stamps_mut(packet);
        let ingress = stamps.ingress;
        stamps.admitted = 0;
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        let queued = &mut self.queued_shared[port as usize];
        let fits = match (&self.common.pfc, self.common.shared) {
            (Some(pfc), _) if pfc.guards(class) => {
                // What the switch itself made has no link to be held back by.
                if ingress == OWN {
                    return true;
                }
                let link = &mut self.ingress[ingress as usize];
                let before = link.paused;
                let fits = pfc.book(link, &mut state.used, ingress, (class, charged));
                if link.paused != before {
                    self.announce(ingress);
                }
                fits
            }
            (pfc, shared) => {
                let fits = match (shared, pfc) {
                    (Some(shared), _) => shared.admits(state.used, *queued, charged),
                    (None, Some(pfc)) => *queued + charged as u64 <= pfc.lossy,
                    (None, None) => true,
                };
                if fits {
                    *queued += charged as u64;
                    state.used += charged as u64;
                }
                fits
            }
        };
        if fits {
            self.pool.stamps_mut(packet).admitted = charged | (class as u32) << CLASS_SHIFT;
        }
        fits
    }

    /// Gives a packet's share of the buffers back.
    #[inline]
    pub fn give_back(&mut self, port: u32, packet: PacketRef) {
        if self.booked {
            self.unbook(port, packet);
        }
    }

    fn unbook(&mut self, port: u32, packet: PacketRef) {
        let node = self.common.fabric.ports()[port as usize].node;
        let stamps = self.pool.stamps_mut(packet);
        let (admitted, ingress) = (std::mem::take(&mut stamps.admitted), stamps.ingress);
        let charged = admitted & ((1 << CLASS_SHIFT) - 1);
        let class = (admitted >> CLASS_SHIFT) as u8;
        if charged == 0 {
            return;
        }
        let state = self.switches[node.0 as usize].as_mut().expect("an own switch");
        match &self.common.pfc {
            Some(pfc) if pfc.guards(class) => {
                let link = &mut self.ingress[ingress as usize];
                let before = link.paused;
                pfc.release(link, &mut state.used, (class, charged));
                if link.paused != before {
                    self.announce(ingress);
                }
            }
            _ => {
                state.used -= charged as u64;
                self.queued_shared[port as usize] -= charged as u64;
            }
        }
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
        let Some(open) = heed(before, &self.pool[packet].header) else { return false };
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
        if let Some(series) = &mut self.series[own as usize] {
            series.set_paused(now, open != u8::MAX);
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
