//! One flow at its source.

use super::arrived::{AckContent, Question};
use super::credit::Credit;
use super::law::{Cut, Departure, Law, Lost, News};
use super::paths::{Heard, Paths};
use super::plan::HostPlan;
use super::sent::Sent;
use super::sleek::{self, Sleek};
use super::views::{Ack, Nack};
use super::{CONTROL, DATA};
use incast_transport::{Extension, Flow, Observed, Random, Reason, Span, Time};

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
    /// The credit that it asks for.
    pub target: u32,
    /// What goes behind its header; `None`: padding.
    pub extension: Option<Extension>,
}

/// An ACK of a packet that took `path`.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Its header.
    pub ack: Ack,
    /// The path of the packet that it answers.
    pub path: u16,
    /// What it says has arrived.
    pub seen: AckContent,
    /// What came back behind the header.
    pub extension: &'a Extension,
    /// When its information was current.
    pub informed: Time,
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
    /// For what it was last said to wait.
    pub waits: Reason,
    /// Credit of its receiver, if it needs any.
    pub credit: Option<Credit>,
    /// When its timer looks at it.
    pub armed: Time,
    sleek: Option<Sleek>,
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
            waits: Reason::Ready,
            credit: plan.credits.map(Credit::new),
            armed: Time::NEVER,
            sleek: plan.sleek.map(Sleek::new),
            sent: Sent::default(),
            in_flight: 0,
            received: 0,
            next_probe: Time::ZERO,
            header: plan.header,
        }
    }

    /// What a trace shows of the flow.
    pub fn observe(&self) -> Observed {
        let window = Some(self.law.window()).filter(|window| *window < u64::MAX);
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

    /// Whether a packet of `bytes`, perhaps one sent `again`, may be in flight. With nothing in flight it
    /// may: the window is at least a packet.
    #[inline]
    fn admits(&self, bytes: u32, again: bool) -> bool {
        self.law.admits(self.flying(), bytes as u64)
            || !self.sent.flies()
            || again && self.sleek.is_some_and(|sleek| sleek.recovers())
    }

    /// What the next packet waits for: [`Reason::Ready`] if it may be sent now; `None` if there is none.
    #[inline]
    pub fn waits_for(&mut self, now: Time) -> Option<Reason> {
        let (_, bytes, again) = self.following()?;
        if !self.admits(bytes, again) {
            self.law.on_full(self.flying());
            return Some(Reason::Window);
        }
        Some(match &self.credit {
            Some(credit) if !credit.admits(bytes) => Reason::Credit,
            _ if self.law.opens() > now => Reason::Pacing,
            _ => Reason::Ready,
        })
    }

    /// Whether a packet may be sent now.
    #[inline]
    pub fn sendable(&mut self, now: Time) -> bool {
        self.waits_for(now) == Some(Reason::Ready)
    }

    /// The number of the credit that is asked for, while so many flows of the host send.
    fn target(&mut self, mtu: u32, flows: usize) -> u32 {
        let Some(credit) = &mut self.credit else { return 0 };
        let next = self.sent.next();
        let payload = if next < self.total { self.flow.size - self.flow.offset(next) } else { 0 };
        let fresh = payload + (self.total - next) as u64 * self.header as u64;
        let left = fresh + self.sent.repeat_bytes();
        credit.ask(left.min(self.law.window().saturating_add(mtu as u64)), flows)
    }

    /// Sends the next packet: the lowest of those to be sent again, else a new one.
    /// `flows` of the host send, in packets of up to `mtu` bytes.
    pub fn take(
        &mut self,
        now: Time,
        random: &mut Random,
        (mtu, flows): (u32, usize),
    ) -> Option<Leaving> {
        let (packet, bytes, again) = self.following()?;
        let waits = self.credit.is_some_and(|credit| !credit.admits(bytes));
        if !self.admits(bytes, again) || waits || self.law.opens() > now {
            return None;
        }
        let path = self.paths.take(random);
        match again {
            true => self.sent.repeat(packet, now, path),
            false => self.sent.push(now, bytes, path),
        }
        self.in_flight += bytes as i64;
        let full = self.flying() + bytes as u64 >= self.law.window();
        let mut asks = again || full || packet + 1 == self.total;
        if let Some(credit) = &mut self.credit {
            credit.spend(bytes);
            asks |= !credit.admits(bytes);
        }
        let target = self.target(mtu, flows);
        let (offset, payload) = (self.flow.offset(packet), self.flow.payload(packet));
        let in_flight = self.flying();
        let extension = self.law.on_send(&Departure { now, offset, payload, again, in_flight });
        Some(Leaving { packet, path, again, asks, target, extension })
    }

    /// An ACK.
    pub fn on_ack(&mut self, answer: &Answer<'_>, now: Time) {
        let Answer { ack, path, seen, extension, informed } = *answer;
        let AckContent { base, bits, received, beyond } = seen;
        let Ack { packet, cumulative, marked, again, probe } = ack;
        let rtt = match probe {
            true => None,
            false => self.sent.round_trip(packet, again, now),
        };
        let cleared = self.sent.clear(cumulative, base, bits);
        // Those to be sent again were taken off when they were taken for lost.
        let bytes = if L::STEERED {
            self.in_flight -= cleared.flying as i64;
            cleared.flying + cleared.waiting
        } else {
            let bytes = received.saturating_sub(self.received);
            self.received += bytes;
            self.in_flight += cleared.waiting as i64 - bytes as i64;
            bytes
        };
        self.paths.heard(now, path, if marked { Heard::Marked } else { Heard::Good });
        let recovering = self.sleek.as_ref().is_some_and(Sleek::recovers);
        let echo = match L::STEERED {
            true if packet < self.total => self.flow.offset(packet),
            _ => self.flow.size,
        };
        let in_flight = self.flying();
        self.law.on_ack(&News {
            now,
            bytes,
            in_flight,
            marked,
            rtt,
            path,
            echo,
            extension,
            informed,
            recovering,
        });
        self.is_heard();
        if let Some(sleek) = &mut self.sleek {
            let (window, all_sent) = (self.law.window(), self.sent.next() == self.total);
            let probe = probe.then_some(packet);
            let (beyond, widest) = match L::STEERED {
                true => (self.sent.beyond().min(u16::MAX as u32) as u16, in_flight),
                false => (beyond, 0),
            };
            let heard = sleek::Heard { now, probe, beyond, window, in_flight: widest, all_sent };
            let missing = sleek.heard(&heard, &mut self.sent);
            if missing > 0 && !recovering {
                self.law.on_gap(&Lost { now, bytes: missing, in_flight });
            }
            self.in_flight -= missing as i64;
        }
    }

    /// When the first packet that has not arrived is taken for lost.
    #[inline]
    pub fn expires(&self, timeout: Span) -> Time {
        self.sent.first_at().map_or(Time::NEVER, |at| self.law.due(at, timeout))
    }

    /// When an ACK is to be asked for, whatever is in flight.
    #[inline]
    pub fn asks_at(&self) -> Time {
        self.sleek.map_or(Time::NEVER, |sleek| sleek.due())
    }

    /// Asks for it, if it is time, behind the data that was sent.
    pub fn question(&mut self, now: Time, (mtu, flows): (u32, usize)) -> Option<Question> {
        let sleek = self.sleek.as_mut().filter(|sleek| sleek.due() <= now)?;
        let packet = self.sent.base();
        sleek.ask(packet, now);
        Some(Question { packet, class: DATA, target: self.target(mtu, flows) })
    }

    /// The receiver has answered.
    #[inline]
    pub fn is_heard(&mut self) {
        if let Some(credit) = &mut self.credit {
            credit.heard();
        }
    }

    /// A NACK of a packet that took `path`.
    pub fn on_nack(&mut self, nack: &Nack, path: u16, now: Time) {
        self.is_heard();
        let Nack { packet, marked, last_hop, .. } = *nack;
        let Some(entry) = self.sent.flying(packet) else { return };
        let bytes = entry.bytes;
        let rtt = self.sent.round_trip(packet, false, now);
        let (in_flight, controlled) = (self.flying(), last_hop && self.credit.is_some());
        self.law.on_nack(&Cut { now, bytes: bytes as u64, in_flight, rtt, controlled });
        self.in_flight -= bytes as i64;
        self.sent.fail(packet);
        // Every path ends at the last switch.
        self.paths.heard(
            now,
            path,
            match (last_hop, marked) {
                (true, true) => Heard::Marked,
                (true, false) => Heard::Good,
                (false, _) => Heard::Cut,
            },
        );
    }

    /// A flow that waits for credit with nothing in flight hears of none if the last pull was lost and no idle receiver gives any: it asks
    /// for it after each timeout. Returns when to look again, and the question, if it is time.
    fn ask_again(&mut self, now: Time, plan: &HostPlan, flows: usize) -> (Time, Option<Question>) {
        let asks = self.credit.is_some_and(|credit| credit.asks_again());
        let waits = asks && self.waits_for(now) == Some(Reason::Credit);
        let Some((packet, ..)) = self.following().filter(|_| waits) else {
            return (Time::NEVER, None);
        };
        if now < self.next_probe {
            return (self.next_probe, None);
        }
        self.next_probe = now + plan.timeout;
        let target = self.target(plan.mtu(), flows);
        (self.next_probe, Some(Question { packet, class: CONTROL, target }))
    }

    /// Takes packets for lost of which nothing was heard for the timeout of `plan`. Returns when to look
    /// again, whether there was one, and what to ask if it may not be sent now; `flows` of the host send.
    pub fn on_timer(
        &mut self,
        now: Time,
        plan: &HostPlan,
        flows: usize,
    ) -> (Time, bool, Option<Question>) {
        let (mut lost_until, mut probe) = (None, None);
        loop {
            let expired = lost_until.is_some();
            let Some((packet, at)) = self.sent.oldest() else {
                let (again, asks) = self.ask_again(now, plan, flows);
                return (again, expired, probe.or(asks));
            };
            let due = self.law.due(at, plan.timeout);
            if due > now && lost_until.is_none_or(|until| at > until) {
                return (due, expired, probe);
            }
            let Some(entry) = self.sent.flying(packet) else { unreachable!("it is on its way") };
            let (bytes, path, alone) = (entry.bytes, entry.path, !self.sent.repeats());
            let alone = (alone || self.credit.is_some()) && !L::STEERED;
            lost_until = lost_until.or(Some(self.law.lost_with(at)));
            self.paths.heard(now, path, Heard::Lost);
            self.law.on_timeout(&Lost { now, bytes: bytes as u64, in_flight: self.flying() });
            self.in_flight -= bytes as i64;
            self.sent.fail(packet);
            if alone && now >= self.next_probe && !self.sendable(now) {
                self.next_probe = now + plan.probe_every;
                let target = self.target(plan.mtu(), flows);
                probe = Some(Question { packet, class: CONTROL, target });
            }
        }
    }
}
