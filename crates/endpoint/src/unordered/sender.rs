//! One flow at its source.

use super::host::HostPlan;
use super::law::{Law, News};
use super::paths::{Heard, Paths};
use super::sent::Sent;
use super::views::{Ack, Nack};
use incast_transport::{Flow, Observed, Random, Time};

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Its number.
    pub packet: u32,
    /// Its path.
    pub path: u16,
    /// Whether it was sent before.
    pub again: bool,
    /// Whether it is to be answered at once.
    pub asks: bool,
}

/// The sending side of one flow.
pub struct Outbound<L> {
    /// What is sent.
    pub flow: Flow,
    /// Its packets.
    pub total: u32,
    /// Its paths.
    pub paths: Paths,
    /// How much may be in flight.
    pub law: L,
    /// Whether it is in the queue for the NIC.
    pub queued: bool,
    /// Whether it was last said to wait.
    pub waits: bool,
    /// When its timer looks at it.
    pub armed: Time,
    sent: Sent,
    /// Bytes sent that are neither known to have arrived nor taken for lost. Negative after an ACK that
    /// counts packets which are taken for lost and that it does not name.
    in_flight: i64,
    /// Most bytes that an ACK said had arrived.
    received: u64,
    /// From when on a probe may be sent.
    next_probe: Time,
    /// Bytes of the headers of a packet.
    header: u32,
}

impl<L: Law> Outbound<L> {
    /// A flow that sends as its host's plan says.
    pub fn new(flow: Flow, plan: &HostPlan, law: L) -> Outbound<L> {
        Outbound {
            total: flow.packets(),
            flow,
            paths: Paths::new(plan.strategy, plan.paths, plan.trims),
            law,
            queued: false,
            waits: false,
            armed: Time::NEVER,
            sent: Sent::default(),
            in_flight: 0,
            received: 0,
            next_probe: Time::ZERO,
            header: plan.header,
        }
    }

    /// What a trace shows of the flow.
    pub fn observe(&self) -> Observed {
        let window = Some(self.law.window());
        Observed { window, in_flight: Some(self.flying()), ..Observed::default() }
    }

    /// Bytes in flight.
    #[inline]
    fn flying(&self) -> u64 {
        self.in_flight.max(0) as u64
    }

    /// Whether everything has arrived.
    #[inline]
    pub fn finished(&self) -> bool {
        self.sent.base() == self.total
    }

    /// Whether a packet waits to be sent, now or later.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.sent.repeats() || self.sent.next() < self.total
    }

    /// The packet to send next, its bytes, and whether it was sent before.
    #[inline]
    fn following(&mut self) -> Option<(u32, u32, bool)> {
        if self.sent.repeats()
            && let Some((packet, bytes)) = self.sent.first_repeat()
        {
            return Some((packet, bytes, true));
        }
        let next = self.sent.next();
        (next < self.total).then(|| (next, self.flow.payload(next) as u32 + self.header, false))
    }

    /// Whether `bytes` more may be in flight. With nothing in flight they may: the window is at least
    /// a packet.
    #[inline]
    fn admits(&self, bytes: u32) -> bool {
        self.flying() + bytes as u64 <= self.law.window() || !self.sent.flies()
    }

    /// Whether a packet may be sent now.
    #[inline]
    pub fn sendable(&mut self) -> bool {
        self.following().is_some_and(|(_, bytes, _)| self.admits(bytes))
    }

    /// Sends the next packet: the lowest of those to be sent again, else a new one.
    pub fn take(&mut self, now: Time, random: &mut Random) -> Option<Leaving> {
        let (packet, bytes, again) = self.following()?;
        if !self.admits(bytes) {
            return None;
        }
        let path = self.paths.take(random);
        match again {
            true => self.sent.repeat(packet, now, path),
            false => self.sent.push(now, bytes, path),
        }
        self.in_flight += bytes as i64;
        let full = self.flying() + bytes as u64 >= self.law.window();
        let asks = again || full || packet + 1 == self.total;
        Some(Leaving { packet, path, again, asks })
    }

    /// An ACK of a packet that took `path`. `received` counts bytes, `bits` names packets from `base` on.
    pub fn on_ack(
        &mut self,
        ack: &Ack,
        path: u16,
        (base, bits, received): (u32, u64, u64),
        now: Time,
    ) {
        let Ack { packet, cumulative, marked, again, probe } = *ack;
        let bytes = received.saturating_sub(self.received);
        self.received += bytes;
        self.in_flight -= bytes as i64;
        let rtt = match probe {
            true => None,
            false => self.sent.round_trip(packet, again, now),
        };
        // Those to be sent again were taken off when they were taken for lost.
        self.in_flight += self.sent.clear(cumulative, base, bits) as i64;
        self.paths.heard(now, path, if marked { Heard::Marked } else { Heard::Good });
        self.law.on_ack(&News { now, bytes, in_flight: self.flying(), marked, rtt });
    }

    /// A NACK of a packet that took `path`.
    pub fn on_nack(&mut self, nack: &Nack, path: u16, now: Time) {
        let packet = nack.packet;
        let Some(entry) = self.sent.flying(packet) else { return };
        let bytes = entry.bytes;
        let rtt = self.sent.round_trip(packet, false, now);
        self.law.on_nack(now, bytes as u64, self.flying(), rtt);
        self.in_flight -= bytes as i64;
        self.sent.fail(packet);
        self.paths.heard(now, path, Heard::Cut);
    }

    /// Takes packets for lost of which nothing was heard for the timeout of `plan`. Returns when to look
    /// again, whether there was one, and the packet to ask about if the window does not let it go.
    pub fn on_timer(&mut self, now: Time, plan: &HostPlan) -> (Time, bool, Option<u32>) {
        let (mut expired, mut probe) = (false, None);
        loop {
            let Some((packet, at)) = self.sent.oldest() else {
                return (Time::NEVER, expired, probe);
            };
            if at + plan.timeout > now {
                return (at + plan.timeout, expired, probe);
            }
            let Some(entry) = self.sent.flying(packet) else { unreachable!("it is on its way") };
            let (bytes, path, alone) = (entry.bytes, entry.path, !self.sent.repeats());
            expired = true;
            self.paths.heard(now, path, Heard::Lost);
            self.in_flight -= bytes as i64;
            self.law.on_timeout(bytes as u64);
            self.sent.fail(packet);
            if alone && now >= self.next_probe && !self.sendable() {
                self.next_probe = now + plan.probe_every;
                probe = Some(packet);
            }
        }
    }
}
