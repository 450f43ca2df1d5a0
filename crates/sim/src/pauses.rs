//! Pause frames where they arrive.

use crate::partition::{Partition, own_host};
use incast_transport::PacketRef;
use incast_world::{is_change, open_after};

impl Partition {
    /// If the packet that arrived on `link` is a pause frame: opens and closes classes of the
    /// reverse port, frees the frame and returns true.
    pub fn apply_pause(&mut self, link: u32, packet: PacketRef) -> bool {
        let own = self.net.egress[link as usize].reverse;
        let watched = !self.net.is_nic(own);
        let mut heard = self.net.egress[own as usize].transmitter.open;
        let header = self.net.transit.packets[packet].header;
        if watched && let Some(watchdog) = self.net.buffers.watching(own) {
            heard = watchdog.heard();
        }
        let Some(mut open) = open_after(heard, &header) else { return false };
        assert!(is_change(heard, &header), "port {link} repeats itself: {header:?}");
        self.net.transit.packets.free(packet);
        let now = self.net.now();
        self.advance(own, now);
        if watched && let Some(watchdog) = self.net.buffers.watchdog(own) {
            open = watchdog.hear(now, open);
            self.net.watch_on(own);
        }
        let marks = match &self.net.bodies[own as usize].handler {
            Some(handler) => handler.marks(),
            None => own_host(&mut self.hosts, self.net.node_of(own)).end.marks().unwrap_or(0),
        };
        let egress = &mut self.net.egress[own as usize];
        let opened = egress.transmitter.set_open(&mut egress.series, marks, now, open);
        self.net.buffers.set_open(own, open);
        if opened && self.net.is_nic(own) {
            let host = self.net.node_of(own);
            own_host(&mut self.hosts, host).resume(&mut self.net);
        } else if opened {
            self.net.rearm_port(own);
        }
        true
    }

    /// The link of a NIC works again: nothing is paused.
    pub fn reconnect_nic(&mut self, port: u32) {
        let now = self.net.now();
        let host = own_host(&mut self.hosts, self.net.node_of(port));
        host.advance(&mut self.net, now);
        let marks = host.end.marks().unwrap_or(0);
        let egress = &mut self.net.egress[port as usize];
        if egress.transmitter.reconnect(&mut egress.series, marks, now) {
            self.net.buffers.set_open(port, u8::MAX);
            host.resume(&mut self.net);
        }
    }
}
