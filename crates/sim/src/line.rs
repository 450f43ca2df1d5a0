//! Ports that decide everything about a packet when it comes (`Port::in_order`): its departure is
//! known then, and one event takes it from one port to the next. What began transmission since is
//! accounted for when the port is looked at again.

use crate::partition::{Partition, exact_tx};
use incast_fabric::NodeId;
use incast_transport::{Backlog, PacketRef, Port, PortEnv, Time};
use incast_world::PortSeries;
use std::collections::VecDeque;

/// A packet that has been accepted and may not have left yet.
#[derive(Clone, Copy)]
struct Departure {
    start: u64,
    charged: u32,
}

/// The packets that wait at one port, without the packets.
pub(crate) struct Line {
    /// When the first of them begins transmission; `u64::MAX` when none waits.
    next: u64,
    waiting: VecDeque<Departure>,
    bytes: u64,
    left: Backlog,
}

impl Line {
    pub fn new() -> Line {
        let (waiting, left) = (VecDeque::new(), Backlog::default());
        Line { next: u64::MAX, waiting, bytes: 0, left }
    }

    /// Accounts for the transmissions that begin before `until`, and returns how many there were.
    #[inline]
    fn drain(&mut self, until: u64, handler: &dyn Port, series: &mut PortSeries) -> u64 {
        let before = self.left.packets;
        while self.next < until {
            let first = self.waiting.pop_front().expect("the first of those that wait");
            let Departure { start, charged } = first;
            self.next = self.waiting.front().map_or(u64::MAX, |next| next.start);
            self.bytes -= charged as u64;
            self.left.packets += 1;
            self.left.bytes += charged as u64;
            if series.over(start) {
                series.set_marks(handler.marks());
            }
            series.sent(start, charged, self.bytes);
        }
        (self.left.packets - before) as u64
    }
}

impl Partition {
    /// A packet wants to leave by `port`, which is in order, now.
    #[inline]
    pub fn line_up(&mut self, port: u32, packet: PacketRef) {
        let (now, index) = (self.now, port as usize);
        let line = &mut self.lines[index];
        let egress = &mut self.egress[index];
        let handler = self.ports[index].as_mut().expect("a switch port has a handler");
        let series = self.series[index].as_mut().expect("an own port has a series");
        self.hops += line.drain(now, &**handler, series);
        if series.over(now) {
            series.set_marks(handler.marks());
        }
        let mut env = PortEnv {
            now: Time(now),
            random: &mut self.port_random[index],
            packets: &mut self.pool,
        };
        if !handler.accept(&mut env, packet, std::mem::take(&mut line.left)) {
            let meta = self.pool.meta_mut(packet);
            (meta.arrived, meta.tier) = (Time(now), egress.tier);
            series.rare(now).drops += 1;
            return self.lose(packet, now);
        }
        let meta = self.pool.meta_mut(packet);
        let charged = meta.charged;
        line.bytes += charged as u64;
        series.set_backlog(now, line.bytes);
        let tx = match egress.byte_ps {
            0 => exact_tx(&self.common.fabric, port, charged),
            per_byte => charged as u64 * per_byte as u64,
        };
        let start = egress.busy_until.max(now);
        line.waiting.push_back(Departure { start, charged: charged as u32 });
        line.next = line.next.min(start);
        egress.busy_until = start + tx;
        let at = start + tx + egress.propagation;
        (meta.arrived, meta.tier, meta.link) = (Time(now), egress.tier, port);
        meta.next = PacketRef::NONE;
        meta.serialised = meta.serialised.saturating_add(tx.min(u32::MAX as u64) as u32);
        let (peer, reverse, tier) = (egress.peer, egress.reverse, egress.tier);
        // Only the stamps of data are read, but asking takes longer.
        self.pool.stamps_mut(packet).waited[tier as usize] += start - now;
        self.aim(NodeId(peer), reverse, packet, at);
        self.launch(port, packet, at);
    }

    /// Accounts for the transmissions that begin before `until`.
    #[inline]
    pub fn drain_line(&mut self, port: u32, until: u64) {
        let index = port as usize;
        if let (Some(handler), Some(series)) = (&self.ports[index], &mut self.series[index]) {
            self.hops += self.lines[index].drain(until, &**handler, series);
        }
    }
}
