//! Ports that decide everything about a packet when it comes (`Port::in_order`): its departure is
//! known then, and one event takes it from one port to the next. What began transmission since is
//! accounted for when the port is looked at again.

use crate::egress::{PortBody, tx_time};
use crate::network::Network;
use incast_transport::{Backlog, PacketRef, Port, PortEnv, Time};
use incast_world::PortSeries;
use std::collections::VecDeque;

/// The packets that wait at one port, without the packets: one cache line, and more only when
/// several wait. They leave without a gap, so their lengths tell when each does.
#[repr(C, align(64))]
pub(crate) struct Line {
    /// When the first of them begins transmission; `u64::MAX` when none waits.
    next: u64,
    /// Charged bytes accepted so far.
    accepted: u64,
    /// Charged bytes of packets that began transmission, as far as accounted for.
    sent: u64,
    packets: u32,
    /// Charged bytes of the first that waits.
    first: u16,
    /// Charged bytes of those behind it.
    behind: VecDeque<u16>,
}

const _: () = assert!(std::mem::size_of::<Line>() == 64);

impl Line {
    pub fn new() -> Line {
        let behind = VecDeque::new();
        Line { next: u64::MAX, accepted: 0, sent: 0, packets: 0, first: 0, behind }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { bytes: self.accepted - self.sent, packets: self.packets }
    }

    /// A packet waits that begins transmission at `start`, when all before it have left.
    #[inline]
    fn join(&mut self, start: u64, charged: u16) {
        self.accepted += charged as u64;
        if self.packets == 0 {
            (self.next, self.first) = (start, charged);
        } else {
            self.behind.push_back(charged);
        }
        self.packets += 1;
    }

    /// Accounts for the transmissions that begin before `until`, each of which takes `tx` of its
    /// charged bytes, and returns how many there were.
    #[inline]
    fn drain(
        &mut self,
        until: u64,
        tx: impl Fn(u16) -> u64,
        handler: &dyn Port,
        series: &mut PortSeries,
    ) -> u64 {
        let before = self.packets;
        while self.next < until {
            let (start, charged) = (self.next, self.first);
            self.packets -= 1;
            self.sent += charged as u64;
            self.next = match self.behind.pop_front() {
                Some(behind) => {
                    self.first = behind;
                    start + tx(charged)
                }
                None => u64::MAX,
            };
            if series.over(start) {
                series.set_marks(handler.marks());
            }
            series.sent(start, charged as u32, self.accepted - self.sent);
        }
        (before - self.packets) as u64
    }
}

impl Network {
    /// A packet wants to leave by `port`, which is in order, now.
    #[inline]
    pub fn line_up(&mut self, port: u32, packet: PacketRef) {
        let (now, index) = (self.now(), port as usize);
        let transit = &mut self.transit;
        let egress = &mut self.egress[index];
        let (byte_ps, fabric) = (egress.byte_ps, &transit.common.fabric);
        let tx = |charged| tx_time(fabric, port, byte_ps, charged);
        let (line, series) = (&mut egress.line, &mut egress.series);
        let PortBody { handler, random, .. } = &mut self.bodies[index];
        let handler = handler.as_mut().expect("a switch port has a handler");
        transit.hops += line.drain(now, tx, &**handler, series);
        if series.over(now) {
            series.set_marks(handler.marks());
        }
        let mut env = PortEnv { now: Time(now), random, packets: &mut transit.packets };
        if !handler.accept(&mut env, packet, line.backlog(), line.sent) {
            let meta = transit.packets.meta_mut(packet);
            (meta.arrived, meta.tier) = (Time(now), egress.transmitter.tier);
            series.rare(now).drops += 1;
            return transit.lose(packet);
        }
        let charged = transit.packets.charged(packet) as u16;
        let start = egress.transmitter.busy_until.max(now);
        line.join(start, charged);
        series.set_backlog(now, line.backlog().bytes);
        let tx = tx(charged);
        egress.transmitter.busy_until = start + tx;
        let at = start + tx + egress.propagation;
        let tier = egress.transmitter.tier;
        // Only the stamps of data are read, but asking takes longer.
        transit.packets.stamps_mut(packet).waited[tier as usize] += start - now;
        let next = transit.aim(egress.peer, egress.reverse, packet, at);
        let meta = transit.packets.meta_mut(packet);
        (meta.arrived, meta.tier, meta.link, meta.next) = (Time(now), tier, port, next);
        meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
        transit.hand_over(egress, packet, at);
    }

    /// Accounts for the transmissions that begin before `until`.
    #[inline]
    pub fn drain_line(&mut self, port: u32, until: u64) {
        let egress = &mut self.egress[port as usize];
        let (byte_ps, fabric) = (egress.byte_ps, &self.transit.common.fabric);
        let tx = |charged| tx_time(fabric, port, byte_ps, charged);
        if let Some(handler) = &self.bodies[port as usize].handler {
            self.transit.hops += egress.line.drain(until, tx, &**handler, &mut egress.series);
        }
    }
}
