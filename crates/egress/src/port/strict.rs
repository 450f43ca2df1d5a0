//! The port of most transports: control before data, both drop-tail.

use super::fifo::Fifo;
use super::transmitter::Transmitter;
use incast_transport::{
    Backlog, ClassPolicy, Classes, Dequeue, Discipline, Fate, Limit, PacketRef, Port, PortEnv,
    Schedule, Time, Verdict,
};

/// A [`Limit`] in eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Room(u64);

impl Room {
    const UNLIMITED: Room = Room(!1);

    fn of(limit: Limit) -> Room {
        match limit {
            Limit::Packets(packets) => Room((packets as u64) << 1 | 1),
            Limit::Bytes(bytes) => Room(bytes.min(u64::MAX >> 1) << 1),
            Limit::Unlimited => Room::UNLIMITED,
        }
    }

    #[inline]
    fn admits(self, waiting: Backlog, charged: u32) -> bool {
        let most = self.0 >> 1;
        match self.0 & 1 {
            0 => waiting.bytes + charged as u64 <= most,
            _ => (waiting.packets as u64) < most,
        }
    }
}

/// One transport's port of at most two strict drop-tail classes without shapers. Does exactly what
/// [`Classed`](super::Classed) would do. What an accepted packet touches is in the first two cache
/// lines.
#[repr(C, align(64))]
pub struct StrictPort {
    control: Fifo,
    data: Fifo,
    data_room: Room,
    /// Lowest packet class that goes into `data`.
    data_from: u8,
    /// Nothing happens to a packet after it was accepted.
    ordered: bool,
    /// Both queues take any packet.
    unlimited: bool,
    transmitter: Transmitter,
    control_room: Room,
}

const _: () = assert!(std::mem::offset_of!(StrictPort, transmitter) == 56);
const _: () = assert!(std::mem::size_of::<StrictPort>() == 192);

impl StrictPort {
    /// Whether these classes fit.
    pub fn suits(classes: &[ClassPolicy]) -> bool {
        let simple = |class: &ClassPolicy| {
            class.schedule == Schedule::Strict
                && class.discipline == Discipline::DropTail
                && class.shaper.is_none()
        };
        classes.len() <= 2 && classes.iter().all(simple)
    }

    pub(crate) fn new(classes: &[ClassPolicy], transmitter: Transmitter) -> StrictPort {
        let [control, data] = [&classes[0], classes.last().expect("a policy has a class")];
        let data_from = (classes.len() - 1) as u8;
        let none = control.limit == Limit::Packets(0);
        StrictPort {
            control: Fifo::default(),
            data: Fifo::default(),
            data_room: Room::of(data.limit),
            data_from,
            ordered: none && data_from == 1 && transmitter.in_order(),
            unlimited: [control.limit, data.limit] == [Limit::Unlimited; 2],
            transmitter,
            control_room: Room::of(control.limit),
        }
    }

    #[inline]
    fn all(&self) -> Backlog {
        let (control, data) = (self.control.backlog(), self.data.backlog());
        Backlog { bytes: control.bytes + data.bytes, packets: control.packets + data.packets }
    }

    /// The queue to serve when not all classes are open.
    #[cold]
    fn choose(&self, env: &PortEnv<'_>, open: Classes) -> Option<bool> {
        let may = |queue: &Fifo| queue.head().is_some_and(|p| open.has(env.packets[p].class));
        match (may(&self.control), may(&self.data)) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }
}

impl Port for StrictPort {
    fn in_order(&self) -> bool {
        self.ordered
    }

    fn passes(&self) -> bool {
        self.unlimited
    }

    #[inline]
    fn pass(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> u64 {
        debug_assert_eq!(self.all().packets, 0, "a packet passes others");
        let none = Backlog::default();
        self.transmitter.accepted(env, packet, none, none);
        let waited = env.packets.charged(packet) as u64;
        self.transmitter.begins(env, packet, none, none);
        waited
    }

    #[inline]
    fn accept(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        waiting: Backlog,
        sent: u64,
    ) -> bool {
        self.transmitter.has_sent(sent);
        let charged = env.packets.charged(packet);
        debug_assert!(env.packets[packet].class > 0, "a packet of a class that is unused");
        if !self.data_room.admits(waiting, charged) {
            self.transmitter.refused(env, packet, waiting, waiting);
            return false;
        }
        self.transmitter.accepted(env, packet, waiting, waiting);
        true
    }

    #[inline]
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        let (content, meta) = env.packets.both_mut(packet);
        let is_data = content.class >= self.data_from;
        let charged = meta.charged as u32;
        let fits = match is_data {
            true => self.data_room.admits(self.data.backlog(), charged),
            false => self.control_room.admits(self.control.backlog(), charged),
        };
        if !fits {
            let all = self.all();
            self.transmitter.refused(env, packet, self.data.backlog(), all);
            return Verdict::only(Fate::Dropped);
        }
        let all = self.all();
        self.transmitter.accepted(env, packet, self.data.backlog(), all);
        let queue = if is_data { &mut self.data } else { &mut self.control };
        queue.push(env.packets, packet);
        Verdict::only(Fate::Queued)
    }

    #[inline]
    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue {
        let from_data = if open == Classes::ALL {
            self.control.head().is_none()
        } else {
            match self.choose(env, open) {
                Some(from_data) => from_data,
                None => return Dequeue::Empty,
            }
        };
        let queue = if from_data { &mut self.data } else { &mut self.control };
        let Some(packet) = queue.pop(env.packets) else { return Dequeue::Empty };
        let all = self.all();
        self.transmitter.begins(env, packet, self.data.backlog(), all);
        Dequeue::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        self.all()
    }

    fn data_backlog(&self) -> Backlog {
        self.data.backlog()
    }

    fn marks(&self) -> u64 {
        self.transmitter.marks()
    }

    fn timed(&self) -> bool {
        self.transmitter.timed()
    }

    fn deadline(&self) -> Time {
        self.transmitter.deadline()
    }

    fn wake(&mut self, env: &mut PortEnv<'_>) {
        let all = self.all();
        self.transmitter.wake(env, self.data.backlog(), all);
    }
}
