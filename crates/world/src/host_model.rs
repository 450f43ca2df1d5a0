//! Hosts that are not ideal: what a NIC and its bus take each way, interrupts that wait for more packets,
//! and clocks of finite steps.

use crate::purpose;
use incast_transport::math::log;
use incast_transport::{Explicit, Extension, PacketPool, PacketRef, Random, Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// How long something takes, drawn for each packet.
#[derive(Clone, PartialEq, Debug)]
pub enum Delay {
    /// Always so long.
    Fixed(Span),
    /// All times between the two are as likely.
    Uniform(Span, Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
    /// Times and cumulative probabilities, both increasing, the last 1; between two, all times are as likely.
    Table(Arc<[(Span, f64)]>),
}

impl Delay {
    /// A time.
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Delay::Fixed(span) => span.0,
            Delay::Uniform(least, most) => least.0 + random.below(most.0 - least.0 + 1),
            Delay::Exponential(mean) => (mean.0 as f64 * -log(1.0 - random.unit())) as u64,
            Delay::Table(points) => {
                let share = random.unit();
                let place = points.partition_point(|(_, below)| *below <= share);
                let (to, above) = points[place.min(points.len() - 1)];
                let (from, below) = match place {
                    0 => return to.0,
                    _ => points[place - 1],
                };
                let within = (share - below) / (above - below);
                from.0 + ((to.0 - from.0) as f64 * within.clamp(0.0, 1.0)) as u64
            }
        }
    }
}

/// When a host is told of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coalescing {
    /// Once so many wait; 0: however many.
    pub packets: u32,
    /// Once the first has waited for so long.
    pub time: Span,
}

/// Where time stamps are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StampAt {
    /// In the host: what its NIC takes is measured, too.
    Host,
    /// In the NIC, as packets leave and arrive.
    Nic,
}

impl StampAt {
    /// Both, by name.
    pub const NAMES: [(&'static str, StampAt); 2] =
        [("host", StampAt::Host), ("nic", StampAt::Nic)];
}

/// What hosts of a run take.
#[derive(Clone, PartialEq, Debug)]
pub struct HostModel {
    /// From the transport to the link.
    pub send: Delay,
    /// From the link to the transport.
    pub receive: Delay,
    /// Interrupts.
    pub coalescing: Option<Coalescing>,
    /// Step of the clock of time stamps; zero: exact.
    pub resolution: Span,
    /// Where they are taken.
    pub stamp_at: StampAt,
}

impl Default for HostModel {
    /// Hosts that take no time.
    fn default() -> HostModel {
        let none = || Delay::Fixed(Span::ZERO);
        HostModel {
            send: none(),
            receive: none(),
            coalescing: None,
            resolution: Span::ZERO,
            stamp_at: StampAt::Host,
        }
    }
}

impl HostModel {
    /// The time of the clock.
    fn read(&self, at: u64) -> u64 {
        at - at.checked_rem(self.resolution.0).unwrap_or(0)
    }
}

/// The sending side of a NIC: packets leave in the order in which they were taken.
pub struct Outward {
    model: Arc<HostModel>,
    random: Random,
    /// When the last bit of the packet before has left.
    free: Time,
}

impl Outward {
    /// That of `host`.
    pub fn new(model: &Arc<HostModel>, seed: u64, host: u32) -> Outward {
        let random = Random::new(seed, host, purpose::HOST_SEND);
        Outward { model: model.clone(), random, free: Time::ZERO }
    }

    /// How much later a packet leaves, whose last bit would have left at `ends` after `tx`.
    pub fn delays(&mut self, ends: Time, tx: Span) -> Span {
        let delayed = ends.saturating_add(Span(self.model.send.draw(&mut self.random)));
        self.free = delayed.max(self.free.saturating_add(tx));
        self.free.since(ends)
    }

    /// The time stamp of data that leaves `later` than its transport knows.
    pub fn stamp(&self, packets: &mut PacketPool, packet: PacketRef, later: Span) {
        if self.model.stamp_at == StampAt::Nic && packets[packet].is_data() {
            restamp(packets, packet, |sent| sent.wrapping_add(later.0));
        }
    }
}

/// A packet that waits in a NIC.
struct Held {
    arrived: Time,
    due: Time,
    packet: PacketRef,
}

/// The receiving side of a NIC: packets come to the transport in the order in which they arrived.
pub struct Inward {
    model: Arc<HostModel>,
    random: Random,
    /// Packets of which the host was told, with when they come to it.
    told: VecDeque<Held>,
    /// Packets of which it was not told yet.
    waiting: VecDeque<(Time, PacketRef)>,
    /// When the last of `told` comes.
    last: Time,
    /// When the host is looked at next for this.
    pub armed: Time,
}

impl Inward {
    /// That of `host`.
    pub fn new(model: &Arc<HostModel>, seed: u64, host: u32) -> Inward {
        Inward {
            model: model.clone(),
            random: Random::new(seed, host, purpose::HOST_RECEIVE),
            told: VecDeque::new(),
            waiting: VecDeque::new(),
            last: Time::ZERO,
            armed: Time::NEVER,
        }
    }

    /// A packet arrives.
    pub fn arrive(&mut self, now: Time, packet: PacketRef) {
        self.waiting.push_back((now, packet));
        self.tell(now);
    }

    /// When the host is told of what waits, if nothing else comes.
    fn interrupts(&self) -> Time {
        let Some((first, _)) = self.waiting.front() else { return Time::NEVER };
        self.model.coalescing.map_or(*first, |own| first.saturating_add(own.time))
    }

    /// Tells the host of what waits, if it is time.
    fn tell(&mut self, now: Time) {
        let enough =
            |own: Coalescing| own.packets > 0 && self.waiting.len() >= own.packets as usize;
        if self.interrupts() > now && !self.model.coalescing.is_some_and(enough) {
            return;
        }
        while let Some((arrived, packet)) = self.waiting.pop_front() {
            let delay = Span(self.model.receive.draw(&mut self.random));
            self.last = now.saturating_add(delay).max(self.last);
            self.told.push_back(Held { arrived, due: self.last, packet });
        }
    }

    /// The next packet that comes to the transport by `now`, and when it arrived.
    pub fn next(&mut self, now: Time) -> Option<(Time, PacketRef)> {
        self.tell(now);
        let due = self.told.front().is_some_and(|held| held.due <= now);
        let held = if due { self.told.pop_front() } else { None };
        held.map(|Held { arrived, packet, .. }| (arrived, packet))
    }

    /// When to ask for it.
    pub fn due(&self) -> Time {
        let told = self.told.front().map_or(Time::NEVER, |held| held.due);
        told.min(self.interrupts())
    }

    /// A stamp that has come back: how long ago the packet left is what the clock says, at the place where it
    /// is read.
    pub fn read(&self, packets: &mut PacketPool, packet: PacketRef, arrived: Time, now: Time) {
        if packets[packet].is_data() {
            return;
        }
        let (at, now) =
            (if self.model.stamp_at == StampAt::Nic { arrived.0 } else { now.0 }, now.0);
        let model = &self.model;
        restamp(packets, packet, |sent| {
            // Of the age alone: the stamp has 56 bits.
            let age = at.wrapping_sub(sent) & Explicit::STAMP_MAX;
            let left = at.wrapping_sub(age);
            now.wrapping_sub(model.read(at).wrapping_sub(model.read(left)))
        });
    }
}

/// Changes the time stamp behind a header, if there is one.
fn restamp(packets: &mut PacketPool, packet: PacketRef, change: impl Fn(u64) -> u64) {
    let Extension::Explicit { fields: Explicit::Stamp { .. }, .. } = packets.extension(packet)
    else {
        return;
    };
    if let Some(Extension::Explicit { fields: Explicit::Stamp { sent }, .. }) =
        packets.extension_mut(packet)
    {
        *sent = change(*sent) & Explicit::STAMP_MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_transport::{FlowId, Framing, Header, HostId, TransportId};

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    /// Smallest, mean and largest of many draws, in picoseconds.
    fn drawn(delay: &Delay) -> (u64, f64, u64) {
        let mut random = Random::new(1, 2, 3);
        let all: Vec<u64> = (0..200_000).map(|_| delay.draw(&mut random)).collect();
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        (*all.iter().min().unwrap(), mean, *all.iter().max().unwrap())
    }

    #[test]
    fn draws_have_their_means_and_bounds() {
        assert_eq!(drawn(&Delay::Fixed(us(2))), (2_000_000, 2e6, 2_000_000));
        assert_eq!(drawn(&Delay::Uniform(us(2), us(2))), (2_000_000, 2e6, 2_000_000));
        let (least, mean, most) = drawn(&Delay::Uniform(us(1), us(3)));
        assert!(least >= 1_000_000 && most <= 3_000_000 && (mean / 2e6 - 1.0).abs() < 0.01);
        let (_, mean, most) = drawn(&Delay::Exponential(us(2)));
        assert!((mean / 2e6 - 1.0).abs() < 0.01 && most > 10_000_000, "{mean} {most}");
        // Half are 1 us, the others between 1 and 5 us: the mean is 0.5 + 1.5.
        let table = Delay::Table([(us(1), 0.5), (us(5), 1.0)].into());
        let (least, mean, most) = drawn(&table);
        assert!(least == 1_000_000 && most <= 5_000_000, "{least} {most}");
        assert!((mean / 2e6 - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(drawn(&Delay::Table([(us(4), 1.0)].into())).0, 4_000_000);
    }

    #[test]
    fn packets_leave_in_their_order_and_not_faster_than_the_link() {
        let send = Delay::Uniform(Span::ZERO, us(9));
        let mut outward = Outward::new(&Arc::new(HostModel { send, ..HostModel::default() }), 1, 0);
        let mut last = 0;
        for packet in 1..1_000 {
            let ends = packet * 1_000_000;
            let leaves = ends + outward.delays(Time(ends), Span(1_000_000)).0;
            assert!(leaves >= last + 1_000_000 && leaves - ends <= 9_000_000 || packet == 1);
            last = leaves;
        }
    }

    #[test]
    fn interrupts_wait_for_packets_or_time() {
        let coalescing = Some(Coalescing { packets: 3, time: us(10) });
        let mut inward =
            Inward::new(&Arc::new(HostModel { coalescing, ..HostModel::default() }), 1, 0);
        let at = |us: u64| Time(us * 1_000_000);
        for packet in 0..2 {
            inward.arrive(at(packet), PacketRef(packet as u32));
            assert_eq!(inward.next(at(packet)), None);
        }
        assert_eq!(inward.due(), at(10));
        inward.arrive(at(7), PacketRef(2));
        let all: Vec<_> = std::iter::from_fn(|| inward.next(at(7))).collect();
        assert_eq!(all, [(at(0), PacketRef(0)), (at(1), PacketRef(1)), (at(7), PacketRef(2))]);
        assert_eq!(inward.due(), Time::NEVER);
        inward.arrive(at(20), PacketRef(3));
        assert_eq!((inward.next(at(29)), inward.due()), (None, at(30)));
        assert_eq!(inward.next(at(30)), Some((at(20), PacketRef(3))));
    }

    /// An ACK whose packet left at 1.3 us arrives at 5.2 us and is seen at 5.7 us: the age that its transport
    /// finds.
    fn age(resolution: Span, stamp_at: StampAt) -> u64 {
        let mut packets = PacketPool::new(Framing::ETHERNET);
        let header = Header::Ack { seq: 0, cumulative: 0, number: 0, flags: 0 };
        let ack = incast_transport::Packet::header_only(
            TransportId(1),
            FlowId(0),
            HostId(0),
            HostId(1),
            1,
            header,
        );
        let ack = packets.create(ack);
        packets.extend(ack, Extension::explicit(Explicit::Stamp { sent: 1_300_000 }));
        let inward = Inward::new(
            &Arc::new(HostModel { resolution, stamp_at, ..HostModel::default() }),
            1,
            0,
        );
        inward.read(&mut packets, ack, Time(5_200_000), Time(5_700_000));
        let Extension::Explicit { fields: Explicit::Stamp { sent }, .. } = packets.extension(ack)
        else {
            panic!("the stamp is gone")
        };
        5_700_000 - sent
    }

    #[test]
    fn an_age_is_what_the_clock_says_where_it_is_read() {
        assert_eq!(age(Span::ZERO, StampAt::Host), 4_400_000);
        assert_eq!(age(Span::ZERO, StampAt::Nic), 3_900_000);
        assert_eq!(age(us(1), StampAt::Host), 4_000_000);
        assert_eq!(age(Span::from_ns(500), StampAt::Host), 4_500_000);
        assert_eq!(age(Span::from_ns(500), StampAt::Nic), 4_000_000);
    }
}
