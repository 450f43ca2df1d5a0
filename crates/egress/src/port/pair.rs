//! The port of transports whose switches cut payloads off: headers and data, by weight.

use super::fifo::Fifo;
use super::schedule::Fair;
use incast_transport::{
    Backlog, Classes, Dequeue, Discipline, Fate, Limit, PacketRef, Policy, Port, PortEnv, Schedule,
    Verdict, flag,
};

const HEADERS: usize = 0;
const DATA: usize = 1;

/// A [`Limit`] that is checked without a branch.
#[derive(Clone, Copy)]
struct Room {
    bytes: u64,
    packets: u32,
}

impl Room {
    fn of(limit: Limit) -> Room {
        let all = Room { bytes: u64::MAX, packets: u32::MAX };
        match limit {
            Limit::Packets(packets) => Room { packets, ..all },
            Limit::Bytes(bytes) => Room { bytes, ..all },
            Limit::Unlimited => all,
        }
    }

    #[inline]
    fn admits(self, waiting: Backlog, charged: u32) -> bool {
        (waiting.packets < self.packets) & (waiting.bytes + charged as u64 <= self.bytes)
    }
}

/// One transport's port of two weighted classes without shapers or markers: drop-tail headers, and
/// data whose payload is cut off when there is no room. Does exactly what
/// [`Classed`](super::Classed) would do, in two cache lines.
#[repr(C, align(64))]
pub struct Pair {
    queues: [Fifo; 2],
    fair: Fair<2>,
    room: [Room; 2],
    /// Probability that the queue's tail is trimmed instead of the arriving packet.
    tail: f64,
    /// Headers that find no room go back to their source.
    returns: bool,
}

const _: () = assert!(std::mem::size_of::<Pair>() == 128);

impl Pair {
    /// Whether a transport that is alone at a port needs a pair.
    pub fn suits(policy: &Policy) -> bool {
        let weighted = |class: usize| {
            let class = &policy.classes[class];
            matches!(class.schedule, Schedule::Weighted(_)) && class.shaper.is_none()
        };
        let headers = HEADERS as u8;
        policy.markers.is_empty()
            && policy.classes.len() == 2
            && (0..2).all(weighted)
            && policy.classes[HEADERS].discipline == Discipline::DropTail
            && matches!(policy.classes[DATA].discipline,
                Discipline::Trim { headers: class, .. } if class == headers)
    }

    /// The port of a policy that [`suits`](Pair::suits). Panics if it does not.
    pub(crate) fn new(policy: &Policy) -> Pair {
        let [headers, data] = &policy.classes[..] else { panic!("a pair has two classes") };
        let (Schedule::Weighted(first), Schedule::Weighted(second)) =
            (headers.schedule, data.schedule)
        else {
            panic!("a pair has weights")
        };
        let Discipline::Trim { tail, bounce, .. } = data.discipline else {
            panic!("a pair's data is trimmed")
        };
        Pair {
            queues: [Fifo::default(); 2],
            fair: Fair::new(&[(HEADERS as u8, first), (DATA as u8, second)]),
            room: [Room::of(headers.limit), Room::of(data.limit)],
            tail,
            returns: bounce,
        }
    }

    /// The fate of a packet for whose header there is no room.
    fn refused(&self, env: &PortEnv<'_>, packet: PacketRef) -> Fate {
        let packet = &env.packets[packet];
        let back = self.returns && packet.has(flag::TRIMMED) && !packet.has(flag::BOUNCED);
        if back { Fate::Bounced } else { Fate::Dropped }
    }

    /// There is no room for a data packet.
    fn trim(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        if !env.packets[packet].is_data() {
            return Verdict::only(Fate::Dropped);
        }
        if self.tail > 0.0
            && env.random.chance(self.tail)
            && let Some(victim) = self.queues[DATA].tail()
            && self.is_displaced(env, victim, packet)
        {
            self.queues[DATA].pop_tail(env.packets);
            let fate = self.behead(env, victim);
            self.queues[DATA].push(env.packets, packet);
            return Verdict { arriving: Fate::Queued, displaced: Some((victim, fate)) };
        }
        Verdict::only(self.behead(env, packet))
    }

    /// Whether the queue's last packet can be trimmed and makes enough room for the arriving one.
    fn is_displaced(&self, env: &PortEnv<'_>, victim: PacketRef, packet: PacketRef) -> bool {
        let mut waiting = self.queues[DATA].backlog();
        waiting.packets -= 1;
        waiting.bytes -= env.packets.charged(victim) as u64;
        let room = self.room[DATA].admits(waiting, env.packets.charged(packet));
        room && env.packets[victim].is_data()
    }

    /// Cuts a packet down to its header, which waits if there is room: `Trimmed`, or else.
    fn behead(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Fate {
        env.packets.trim(packet);
        env.packets[packet].class = HEADERS as u8;
        let waiting = self.queues[HEADERS].backlog();
        if !self.room[HEADERS].admits(waiting, env.packets.charged(packet)) {
            return self.refused(env, packet);
        }
        self.queues[HEADERS].push(env.packets, packet);
        Fate::Trimmed
    }

    /// The queue to serve when not all classes are open.
    #[cold]
    fn open_queue(&self, env: &PortEnv<'_>, open: Classes) -> Option<usize> {
        let may = |queue: usize| {
            self.queues[queue].head().is_some_and(|head| open.has(env.packets[head].class))
        };
        match (may(HEADERS), may(DATA)) {
            (true, true) => Some(self.choose()),
            (true, false) => Some(HEADERS),
            (false, true) => Some(DATA),
            (false, false) => None,
        }
    }

    /// The queue to serve when both may be.
    #[inline]
    fn choose(&self) -> usize {
        (self.fair.start(DATA) < self.fair.start(HEADERS)) as usize
    }
}

impl Port for Pair {
    #[inline]
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        let (content, meta) = env.packets.both_mut(packet);
        let queue = (content.class > 0) as usize;
        let charged = meta.charged as u32;
        if self.room[queue].admits(self.queues[queue].backlog(), charged) {
            self.queues[queue].push(env.packets, packet);
            return Verdict::only(Fate::Queued);
        }
        if queue == DATA {
            return self.trim(env, packet);
        }
        Verdict::only(self.refused(env, packet))
    }

    #[inline]
    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue {
        let [headers, data] = &self.queues;
        let queue = match (headers.head(), data.head()) {
            _ if open != Classes::ALL => match self.open_queue(env, open) {
                Some(queue) => queue,
                None => return Dequeue::Empty,
            },
            (Some(_), Some(_)) => self.choose(),
            (first, _) => first.is_none() as usize,
        };
        let Some(packet) = self.queues[queue].pop(env.packets) else { return Dequeue::Empty };
        self.fair.charge(queue, env.packets.charged(packet));
        Dequeue::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        let [headers, data] = [self.queues[HEADERS].backlog(), self.queues[DATA].backlog()];
        Backlog { bytes: headers.bytes + data.bytes, packets: headers.packets + data.packets }
    }

    fn data_backlog(&self) -> Backlog {
        self.queues[DATA].backlog()
    }

    fn timed(&self) -> bool {
        false
    }
}
