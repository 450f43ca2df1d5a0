//! The port of most transports: control before data, both drop-tail.

use super::fifo::Fifo;
use super::transmitter::Transmitter;
use incast_transport::{
    Backlog, ClassPolicy, Classes, Dequeue, Discipline, Fate, Limit, PacketRef, Port, PortEnv,
    Schedule, Time, Verdict,
};

/// One transport's port of at most two strict drop-tail classes without shapers. Does exactly what
/// [`Classed`](super::Classed) would do. What an accepted packet touches is in the first two cache
/// lines.
#[repr(C, align(64))]
pub struct StrictPort {
    limits: [Limit; 2],
    /// Lowest packet class that goes into `data`.
    data_from: u8,
    /// Nothing happens to a packet after it was accepted.
    ordered: bool,
    transmitter: Transmitter,
    control: Fifo,
    data: Fifo,
}

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
        let limits = [classes[0].limit, classes.last().expect("a policy has a class").limit];
        let data_from = (classes.len() - 1) as u8;
        StrictPort {
            control: Fifo::default(),
            data: Fifo::default(),
            limits,
            data_from,
            ordered: limits[0] == Limit::Packets(0) && data_from == 1 && transmitter.in_order(),
            transmitter,
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
        self.limits == [Limit::Unlimited; 2]
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
        if !self.limits[1].admits(waiting.packets, waiting.bytes, charged) {
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
        let waiting = if is_data { self.data.backlog() } else { self.control.backlog() };
        if !self.limits[is_data as usize].admits(waiting.packets, waiting.bytes, charged) {
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
