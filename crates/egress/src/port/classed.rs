//! The port that can do everything that a policy may need.

use super::fifo::Fifo;
use super::plan::{Plan, QUEUES, Rule, Rules};
use super::remaining::{first_of_least, left, most};
use super::schedule::Scheduler;
use super::shaper::TokenBucket;
use super::transmitter::Transmitter;
use incast_transport::{
    Backlog, Classes, Dequeue, Discipline, Fate, Header, Limit, Packet, PacketRef, Port, PortEnv,
    Time, TransportId, Verdict, data_flag, flag,
};
use std::sync::Arc;

/// An egress of up to eight queues for the packets of any number of transports. With `SPLIT` the data
/// of a transport is in several of them: a rule that sets CE then looks at the queue that a packet
/// joins, as switches do.
pub struct Classed<const SPLIT: bool = false> {
    /// Queues in which something waits.
    waiting: u8,
    /// Queues with a token bucket.
    shaped: u8,
    /// Queues that are not control.
    data: u8,
    /// Queues that send by what flows have left.
    ranked: u8,
    all: Backlog,
    data_backlog: Backlog,
    queues: [Fifo; QUEUES],
    rules: Arc<Rules>,
    scheduler: Scheduler,
    /// Of the shaped queues, in order.
    buckets: Box<[TokenBucket]>,
    transmitter: Transmitter,
}

impl<const SPLIT: bool> Classed<SPLIT> {
    pub(crate) fn new(plan: Plan, transmitter: Transmitter) -> Classed<SPLIT> {
        let shaped = |queue: &usize| plan.shapers[*queue].is_some();
        Classed {
            waiting: 0,
            shaped: (0..QUEUES).filter(shaped).fold(0, |set, queue| set | 1 << queue),
            data: !plan.control,
            ranked: plan.ranked,
            all: Backlog::default(),
            data_backlog: Backlog::default(),
            queues: [Fifo::default(); QUEUES],
            rules: plan.rules,
            scheduler: plan.scheduler,
            buckets: plan.shapers.into_iter().flatten().map(TokenBucket::new).collect(),
            transmitter,
        }
    }

    /// Which of the policies a packet is under.
    #[inline]
    fn policy(&self, packet: &Packet) -> usize {
        if self.rules.policies.len() == 1 {
            return 0;
        }
        self.rules.of_transport[packet.transport.0 as usize] as usize
    }

    /// The place in `buckets` of a shaped queue's.
    #[inline]
    fn bucket(&self, queue: usize) -> usize {
        (self.shaped & ((1 << queue) - 1)).count_ones() as usize
    }

    // -- queues and their counters -------------------------------------------------------------

    /// Lets a packet wait, which its markers see first.
    #[inline]
    fn accept(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, queue: u8, fate: Fate) -> Fate {
        if SPLIT {
            let own = self.queues[queue as usize].backlog();
            self.transmitter.accepted_in(env, packet, own, self.data_backlog, self.all);
        } else {
            self.transmitter.accepted(env, packet, self.data_backlog, self.all);
        }
        self.append(env, packet, queue);
        fate
    }

    #[inline]
    fn append(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, queue: u8) {
        let charged = self.queues[queue as usize].push(env.packets, packet);
        self.waiting |= 1 << queue;
        let data = self.is_data(queue);
        self.all.packets += 1;
        self.all.bytes += charged as u64;
        self.data_backlog.packets += data;
        self.data_backlog.bytes += (data * charged) as u64;
    }

    /// Notes that a packet of `charged` bytes is no longer in `queue`.
    #[inline]
    fn removed(&mut self, queue: u8, charged: u32) {
        if self.queues[queue as usize].head().is_none() {
            self.waiting &= !(1 << queue);
        }
        let data = self.is_data(queue);
        self.all.packets -= 1;
        self.all.bytes -= charged as u64;
        self.data_backlog.packets -= data;
        self.data_backlog.bytes -= (data * charged) as u64;
        debug_assert!(self.data_backlog.bytes <= self.all.bytes, "more data than packets");
        debug_assert_eq!(self.all.packets == 0, self.waiting == 0, "a queue is full or empty");
    }

    /// 1 for a queue of data, 0 for control: which it is cannot be predicted, so sums multiply.
    #[inline]
    fn is_data(&self, queue: u8) -> u32 {
        (self.data >> queue & 1) as u32
    }

    fn take_tail(&mut self, env: &mut PortEnv<'_>, queue: u8) -> PacketRef {
        let packet = self.queues[queue as usize].pop_tail(env.packets).expect("it has a tail");
        self.removed(queue, env.packets.charged(packet));
        packet
    }

    /// What waits in a set of queues.
    #[inline]
    fn held(&self, mut set: u8) -> Backlog {
        let mut held = Backlog::default();
        while set != 0 {
            let backlog = self.queues[set.trailing_zeros() as usize].backlog();
            set &= set - 1;
            held.packets += backlog.packets;
            held.bytes += backlog.bytes;
        }
        held
    }

    /// Whether a packet of `charged` bytes fits within `limit` by this rule.
    #[inline]
    fn admits(&self, rule: &Rule, limit: Limit, charged: u32) -> bool {
        let held = self.held(rule.counted);
        limit.admits(held.packets, held.bytes, charged)
    }

    /// Whether it would fit if `victim`, which waits in a counted queue, were gone.
    fn admits_instead(
        &self,
        env: &PortEnv<'_>,
        rule: &Rule,
        victim: PacketRef,
        charged: u32,
    ) -> bool {
        let held = self.held(rule.counted);
        let freed = env.packets.charged(victim) as u64;
        rule.limit.admits(held.packets - 1, held.bytes - freed, charged)
    }

    // -- disciplines ---------------------------------------------------------------------------

    /// The fate of a packet for which there is no room.
    fn refused(rule: &Rule, packet: &Packet) -> Fate {
        if rule.returns && packet.has(flag::TRIMMED) && !packet.has(flag::BOUNCED) {
            return Fate::Bounced;
        }
        Fate::Dropped
    }

    fn drop_tail(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, rule: Rule) -> Verdict {
        if self.admits(&rule, rule.limit, env.packets.charged(packet)) {
            return Verdict::only(self.accept(env, packet, rule.queue, Fate::Queued));
        }
        Verdict::only(Self::refused(&rule, &env.packets[packet]))
    }

    fn selective(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        rule: Rule,
        threshold: Limit,
        alone: bool,
    ) -> Verdict {
        let charged = env.packets.charged(packet);
        let seen = if alone { Rule { counted: 1 << rule.queue, ..rule } } else { rule };
        if unscheduled(&env.packets[packet]) && !self.admits(&seen, threshold, charged) {
            return Verdict::only(Fate::Dropped);
        }
        self.drop_tail(env, packet, rule)
    }

    fn push_out(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, rule: Rule) -> Verdict {
        let charged = env.packets.charged(packet);
        let mut displaced = None;
        if !self.admits(&rule, rule.limit, charged) {
            let policy = self.policy(&env.packets[packet]);
            let Some(queue) = self.least_important(env, rule.counted & self.waiting, policy) else {
                return Verdict::only(Fate::Dropped);
            };
            let victim = self.queues[queue as usize].tail().expect("it waits");
            if queue <= rule.queue || !self.admits_instead(env, &rule, victim, charged) {
                return Verdict::only(Fate::Dropped);
            }
            displaced = Some((self.take_tail(env, queue), Fate::Dropped));
        }
        Verdict { arriving: self.accept(env, packet, rule.queue, Fate::Queued), displaced }
    }

    fn by_remaining(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, rule: Rule) -> Verdict {
        let charged = env.packets.charged(packet);
        let mut displaced = None;
        if !self.admits(&rule, rule.limit, charged) {
            let Some((queue, victim)) = self.displaceable(env, &rule, packet) else {
                return Verdict::only(Fate::Dropped);
            };
            self.take(env, queue, victim);
            displaced = Some((victim, Fate::Dropped));
        }
        Verdict { arriving: self.accept(env, packet, rule.queue, Fate::Queued), displaced }
    }

    /// The packet, and its queue, that is dropped to make room for an arriving one: it has more left.
    fn displaceable(
        &self,
        env: &PortEnv<'_>,
        rule: &Rule,
        arriving: PacketRef,
    ) -> Option<(u8, PacketRef)> {
        let (own, charged) = (env.packets[arriving].transport, env.packets.charged(arriving));
        let mut set = rule.counted & self.waiting;
        let mut found = None;
        let mut least = left(&env.packets[arriving]);
        while set != 0 {
            let queue = 7 - set.leading_zeros() as u8;
            set &= !(1 << queue);
            let may = |packet: PacketRef| {
                env.packets[packet].transport == own
                    && self.admits_instead(env, rule, packet, charged)
            };
            if let Some(victim) = most(&self.queues[queue as usize], env.packets, least, may) {
                least = left(&env.packets[victim]);
                found = Some((queue, victim));
            }
        }
        found
    }

    /// Takes a packet out of a queue, wherever it is.
    fn take(&mut self, env: &mut PortEnv<'_>, queue: u8, packet: PacketRef) {
        self.queues[queue as usize].unlink(env.packets, packet);
        self.removed(queue, env.packets.charged(packet));
    }

    /// The least important queue of the set whose last packet is under `policy`.
    fn least_important(&self, env: &PortEnv<'_>, mut set: u8, policy: usize) -> Option<u8> {
        while set != 0 {
            let queue = 7 - set.leading_zeros() as u8;
            let tail = self.queues[queue as usize].tail().expect("a waiting queue has a tail");
            if self.policy(&env.packets[tail]) == policy {
                return Some(queue);
            }
            set &= !(1 << queue);
        }
        None
    }

    fn trim(
        &mut self,
        env: &mut PortEnv<'_>,
        packet: PacketRef,
        rule: Rule,
        headers: u8,
        tail: f64,
    ) -> Verdict {
        let charged = env.packets.charged(packet);
        if self.admits(&rule, rule.limit, charged) {
            return Verdict::only(self.accept(env, packet, rule.queue, Fate::Queued));
        }
        if !env.packets[packet].is_data() {
            return Verdict::only(Self::refused(&rule, &env.packets[packet]));
        }
        if tail > 0.0 && env.random.chance(tail) && self.tail_is_displaced(env, packet, rule) {
            let victim = self.take_tail(env, rule.queue);
            let fate = self.behead(env, victim, headers);
            if fate == Fate::Trimmed {
                let queue = self.header_rule(env, victim, headers).queue;
                self.append(env, victim, queue);
            }
            let arriving = self.accept(env, packet, rule.queue, Fate::Queued);
            return Verdict { arriving, displaced: Some((victim, fate)) };
        }
        let fate = self.behead(env, packet, headers);
        if fate == Fate::Trimmed {
            let queue = self.header_rule(env, packet, headers).queue;
            self.accept(env, packet, queue, fate);
        }
        Verdict::only(fate)
    }

    /// Whether the queue's last packet can be trimmed and makes enough room for the arriving one.
    fn tail_is_displaced(&self, env: &PortEnv<'_>, packet: PacketRef, rule: Rule) -> bool {
        let Some(tail) = self.queues[rule.queue as usize].tail() else { return false };
        let same = self.policy(&env.packets[tail]) == self.policy(&env.packets[packet]);
        let room = self.admits_instead(env, &rule, tail, env.packets.charged(packet));
        same && room && env.packets[tail].is_data()
    }

    fn header_rule(&self, env: &PortEnv<'_>, packet: PacketRef, headers: u8) -> Rule {
        let policy = self.policy(&env.packets[packet]);
        self.rules.policies[policy][headers as usize]
    }

    /// Cuts a packet down to its header and says whether that may wait: `Trimmed`, or else.
    fn behead(&mut self, env: &mut PortEnv<'_>, packet: PacketRef, headers: u8) -> Fate {
        env.packets.trim(packet);
        env.packets[packet].class = headers;
        let rule = self.header_rule(env, packet, headers);
        if self.admits(&rule, rule.limit, env.packets.charged(packet)) {
            return Fate::Trimmed;
        }
        Self::refused(&rule, &env.packets[packet])
    }

    // -- service -------------------------------------------------------------------------------

    /// Takes the packet out that leaves next from a queue that is ordered by what flows have left.
    #[inline(never)]
    fn next_ranked(&mut self, env: &mut PortEnv<'_>, queue: u8, open: Classes) -> PacketRef {
        let best = first_of_least(&self.queues[queue as usize], env.packets, open);
        let packet = best.expect("a ready queue waits");
        self.take(env, queue, packet);
        packet
    }

    /// Waiting queues whose first packet is of an open class.
    #[cold]
    fn open_queues(&self, env: &PortEnv<'_>, open: Classes) -> u8 {
        let mut rest = self.waiting;
        let mut ready = 0;
        while rest != 0 {
            let queue = rest.trailing_zeros();
            rest &= rest - 1;
            let waiting = &self.queues[queue as usize];
            let next = match self.ranked >> queue & 1 {
                0 => waiting.head().filter(|head| open.has(env.packets[*head].class)),
                _ => first_of_least(waiting, env.packets, open),
            };
            ready |= (next.is_some() as u8) << queue;
        }
        ready
    }

    /// Of the ready queues, those that have the tokens; and when else the first one has them.
    fn within_tokens(&mut self, env: &PortEnv<'_>, mut ready: u8) -> (u8, Time) {
        let mut earliest = Time::NEVER;
        let mut rest = ready & self.shaped;
        while rest != 0 {
            let queue = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let head = self.queues[queue].head().expect("a waiting queue has a head");
            let at = self.buckets[self.bucket(queue)].ready(env.now, env.packets.charged(head));
            if at > env.now {
                ready &= !(1 << queue);
                earliest = earliest.min(at);
            }
        }
        (ready, earliest)
    }
}

/// Whether the packet was sent without a grant, credit or pull.
fn unscheduled(packet: &Packet) -> bool {
    matches!(packet.header, Header::Data { flags, .. } if flags & data_flag::UNSCHEDULED != 0)
}

impl<const SPLIT: bool> Port for Classed<SPLIT> {
    fn enqueue(&mut self, env: &mut PortEnv<'_>, packet: PacketRef) -> Verdict {
        let content = &env.packets[packet];
        let rule = self.rules.policies[self.policy(content)][content.class as usize & (QUEUES - 1)];
        let verdict = match rule.discipline {
            Discipline::DropTail | Discipline::SharedTail => self.drop_tail(env, packet, rule),
            Discipline::PushOut => self.push_out(env, packet, rule),
            Discipline::Remaining => self.by_remaining(env, packet, rule),
            Discipline::Trim { headers, tail, .. } => self.trim(env, packet, rule, headers, tail),
            Discipline::Selective { threshold, alone } => {
                self.selective(env, packet, rule, threshold, alone)
            }
        };
        if matches!(verdict.arriving, Fate::Dropped | Fate::Bounced) {
            self.transmitter.refused(env, packet, self.data_backlog, self.all);
        }
        verdict
    }

    fn dequeue(&mut self, env: &mut PortEnv<'_>, open: Classes) -> Dequeue {
        let mut ready = self.waiting;
        if open != Classes::ALL {
            ready = self.open_queues(env, open);
        }
        let mut earliest = Time::NEVER;
        if ready & self.shaped != 0 {
            (ready, earliest) = self.within_tokens(env, ready);
        }
        if ready == 0 {
            return match earliest {
                Time::NEVER => Dequeue::Empty,
                at => Dequeue::NotBefore(at),
            };
        }
        let queue = self.scheduler.pick(ready);
        let packet = if self.ranked & 1 << queue != 0 {
            self.next_ranked(env, queue, open)
        } else {
            let packet = self.queues[queue as usize].pop(env.packets).expect("a ready queue waits");
            self.removed(queue, env.packets.charged(packet));
            packet
        };
        let charged = if SPLIT {
            let own = self.queues[queue as usize].backlog();
            self.transmitter.begins_in(env, packet, own, self.data_backlog, self.all)
        } else {
            self.transmitter.begins(env, packet, self.data_backlog, self.all)
        };
        self.scheduler.charge(queue, charged);
        if self.shaped & 1 << queue != 0 {
            self.buckets[self.bucket(queue as usize)].take(charged);
        }
        Dequeue::Packet(packet)
    }

    fn backlog(&self) -> Backlog {
        self.all
    }

    fn data_backlog(&self) -> Backlog {
        self.data_backlog
    }

    fn wants(&self, transport: TransportId) -> Classes {
        let index = self.rules.of_transport[transport.0 as usize];
        let rules = &self.rules.policies[index as usize];
        // Data is taken for empty queues only, control always.
        let closed = self.waiting & self.data;
        if closed == 0 {
            return Classes::ALL;
        }
        let open = |class: usize| ((closed & 1 << rules[class].queue == 0) as u8) << class;
        Classes((0..QUEUES).map(open).sum())
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
        self.transmitter.wake(env, self.data_backlog, self.all);
    }
}
