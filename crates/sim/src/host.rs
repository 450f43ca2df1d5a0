//! Hosts: their transports, their NIC and their timers, each brought up to date when needed.

use crate::egress::tx_time;
use crate::partition::{Partition, class, mark};
use crate::queue::Event;
use incast_transport::{
    Classes, Dequeue, Env, FlowId, Host, HostClock, HostId, PacketRef, Port, PortEnv, Random, Time,
    TransportId, flag,
};
use smallvec::SmallVec;

/// Never.
const NEVER: u64 = u64::MAX;
/// More calls than this at one instant mean that a transport does not let time pass.
const MOST_CALLS: u32 = 1_000_000;

/// What every packet touches comes first.
#[repr(C, align(64))]
pub(crate) struct HostState {
    pub clock: HostClock,
    /// Since when the NIC should ask for a packet; never if it has been told there is none.
    pub wanted: u64,
    /// Earliest deadline of the transports and of the NIC's port.
    pub deadline: u64,
    /// The two earliest scheduled timer events, in order: a pacer's soon, a time-out's late. So the
    /// late one is not scheduled anew each time the early one has fired.
    pub timers: [u64; 2],
    /// The NIC falls silent here.
    pub silent_from: u64,
    pub port: u32,
    /// The transport that is asked first.
    pub turn: u32,
    pub transports: SmallVec<[(TransportId, Box<dyn Host>); 1]>,
    pub nic: Option<Box<dyn Port>>,
    pub random: Random,
    pub faults: Random,
}

const _: () = assert!(std::mem::size_of::<Option<HostState>>() == 192);

impl HostState {
    #[inline]
    pub fn refresh_deadline(&mut self) {
        self.deadline = match &self.transports[..] {
            [(_, only)] => only.deadline().0,
            all => all.iter().map(|(_, host)| host.deadline().0).min().unwrap_or(NEVER),
        };
        if let Some(nic) = &self.nic {
            self.deadline = self.deadline.min(nic.deadline().0);
        }
    }
}

/// Lends a host to its transports.
macro_rules! env {
    ($part:ident, $state:ident, $host:expr, $now:expr) => {
        Env {
            now: Time($now),
            host: HostId($host),
            random: &mut $state.random,
            probe: &mut $part.probe,
            packets: &mut $part.pool,
        }
    };
}

impl Partition {
    /// A flow opens.
    pub fn open(&mut self, index: u32) {
        if self.opens.last() == Some(&index) {
            self.opens.pop();
            self.schedule_open();
        }
        let now = self.now;
        let common = self.common.clone();
        let setup = &common.flows[index as usize];
        let host = setup.flow.src.0;
        self.advance_host(host, now);
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        self.probe.enter(Time(now), state.clock);
        self.probe.opened(FlowId(index));
        let mut flow = setup.flow.clone();
        flow.start = Time(now);
        let handler = state.transports.iter_mut().find(|(id, _)| *id == setup.transport);
        let (_, handler) = handler.expect("the flow's transport is on its source");
        handler.open(&mut env!(self, state, host, now), &flow);
        self.after_call(host);
    }

    /// Schedules the next of the flows that start at given times.
    pub fn schedule_open(&mut self) {
        if let Some(&index) = self.opens.last() {
            let time = self.common.flows[index as usize].flow.start.0;
            let key = class::OPEN | (index & (class::OPEN - 1));
            self.queue.push(Event { time, key, id: index });
        }
    }

    /// A packet arrives at a host.
    #[inline]
    pub fn host_arrival(&mut self, host: u32, packet: PacketRef) {
        let now = self.now;
        if self.faulty && self.inject_fault(host, packet) {
            return;
        }
        self.advance_host(host, now);
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        self.probe.enter(Time(now), state.clock);
        let content = &self.pool[packet];
        let (transport, flow, data) = (content.transport, content.flow, content.is_data());
        self.probe.received(content, self.pool.charged(packet));
        if data {
            if self.probe.wants_way(flow, content.payload as u32) {
                self.probe.arriving(self.pool.stamps(packet), self.pool.meta(packet));
            } else {
                self.probe.passing();
            }
        }
        let recorded = self.deliveries.record(flow);
        let before = if recorded { self.probe.bytes_delivered(flow) } else { 0 };
        let outcomes = self.probe.outcomes().len();
        let handler = match &mut state.transports[..] {
            [(id, only)] if *id == transport => only,
            all => {
                let found = all.iter_mut().find(|(id, _)| *id == transport);
                &mut found.expect("the packet's transport is on its destination").1
            }
        };
        handler.receive(&mut env!(self, state, host, now), packet);
        self.pool.free(packet);
        if data && self.probe.outcomes().len() > outcomes {
            self.note_completions(outcomes);
        }
        if recorded {
            let bytes = self.probe.bytes_delivered(flow) - before;
            self.deliveries.add(flow, transport, now, bytes);
        }
        self.after_call(host);
    }

    /// Loses, delays or doubles the packet; true if it does not arrive now.
    #[cold]
    fn inject_fault(&mut self, host: u32, packet: PacketRef) -> bool {
        let meta = self.pool.meta_mut(packet);
        let done = std::mem::replace(&mut meta.mark, 0) & mark::FAULTED != 0;
        let link = meta.link;
        if done {
            return false;
        }
        let faults = self.common.faults;
        let random = &mut self.hosts[host as usize].as_mut().expect("an own host").faults;
        let (loss, reorder) = (random.chance(faults.loss), random.chance(faults.reorder));
        let duplicate = random.chance(faults.duplicate);
        let late = 1 + random.below(faults.late.0.max(1));
        let again = 1 + random.below(faults.late.0.max(1));
        if loss {
            self.link_losses += 1;
            self.lose(packet, self.now);
            return true;
        }
        let reverse = self.egress[link as usize].reverse;
        if duplicate {
            let (content, meta) = (self.pool[packet], *self.pool.meta(packet));
            let (ext, stamps) = (*self.pool.extension(packet), *self.pool.stamps(packet));
            let copy = self.pool.put(content, meta, ext, stamps);
            self.pool.meta_mut(copy).mark = mark::FAULTED;
            self.schedule_arrival(self.now + again, reverse, copy);
        }
        if reorder {
            self.pool.meta_mut(packet).mark = mark::FAULTED;
            self.schedule_arrival(self.now + late, reverse, packet);
        }
        reorder
    }

    /// A host's timer has come.
    pub fn host_timer(&mut self, host: u32) {
        let now = self.now;
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        if state.timers[0] == now {
            state.timers = [state.timers[1], NEVER];
        }
        self.advance_host(host, now);
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        if state.deadline <= now {
            self.wake(host, now);
            self.want(host, now);
        }
        self.rearm_host(host);
    }

    /// After `open` or `receive`: the deadline may have moved, and there may be something to send.
    #[inline]
    fn after_call(&mut self, host: u32) {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        state.refresh_deadline();
        self.want(host, self.now);
        self.rearm_host(host);
    }

    /// The NIC should ask from `at` on.
    #[inline]
    fn want(&mut self, host: u32, at: u64) {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        state.wanted = state.wanted.min(at);
    }

    /// A class is open again: the NIC should ask.
    pub fn ask_again(&mut self, host: u32) {
        self.want(host, self.now);
        self.rearm_host(host);
    }

    /// Runs a host's own timers and transmissions that come before `until`.
    #[inline]
    pub fn advance_host(&mut self, host: u32, until: u64) {
        let mut calls = 0;
        loop {
            let state = self.hosts[host as usize].as_ref().expect("an own host");
            let start = match state.wanted {
                NEVER => NEVER,
                wanted => wanted.max(state.clock.busy_until),
            };
            let next = start.min(state.deadline);
            if next >= until {
                return;
            }
            calls += 1;
            assert!(calls < MOST_CALLS, "host {host} does not let time pass at {next} ps");
            if state.deadline <= start {
                let at = state.deadline;
                self.wake(host, at);
                self.want(host, at);
            } else {
                self.transmit(host, start);
            }
        }
    }

    fn wake(&mut self, host: u32, at: u64) {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        self.probe.enter(Time(at), state.clock);
        for (_, handler) in &mut state.transports {
            if handler.deadline().0 <= at {
                handler.wake(&mut env!(self, state, host, at));
                let next = handler.deadline().0;
                assert!(
                    next > at,
                    "host {host}: the deadline {next} ps lies in the past after wake"
                );
            }
        }
        let port = state.port as usize;
        if let Some(nic) = &mut state.nic
            && nic.deadline().0 <= at
        {
            let random = &mut self.port_random[port];
            nic.wake(&mut PortEnv { now: Time(at), random, packets: &mut self.pool });
            let next = nic.deadline().0;
            assert!(next > at, "port {port}: the deadline lies in the past after wake");
        }
        state.refresh_deadline();
    }

    /// The NIC is free at `start`: asks for a packet and sends it.
    #[inline]
    fn transmit(&mut self, host: u32, start: u64) {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        if start >= state.silent_from {
            state.wanted = NEVER;
            return;
        }
        let port = state.port;
        let open = Classes(self.egress[port as usize].open);
        if state.nic.is_some() {
            return self.transmit_shaped(host, start, open);
        }
        self.probe.enter(Time(start), state.clock);
        let mut env = env!(self, state, host, start);
        let pulled = incast_world::pull(&mut state.transports, &mut state.turn, &mut env, |_| open);
        state.refresh_deadline();
        let Some(packet) = pulled else {
            state.wanted = NEVER;
            return;
        };
        let tx = self.tx(port, packet);
        self.pool.meta_mut(packet).arrived = Time(start);
        self.depart(packet, tx);
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        state.clock.busy += tx;
        state.clock.busy_until = start + tx;
        if state.transports.iter().all(|(_, host)| host.idle()) {
            state.wanted = NEVER;
        }
        self.send(port, packet, start, 0);
    }

    /// The same at a NIC with a port of its own.
    fn transmit_shaped(&mut self, host: u32, start: u64, open: Classes) {
        let packet = self.pull_shaped(host, start, open);
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        state.refresh_deadline();
        let packet = match packet {
            Ok(packet) => packet,
            Err(again) => {
                state.wanted = again;
                return;
            }
        };
        let port = state.port;
        let backlog = state.nic.as_ref().map_or(0, |nic| nic.backlog().bytes);
        let tx = self.tx(port, packet);
        if self.pool[packet].is_data() {
            self.probe.occupies(self.pool[packet].flow, tx);
        }
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        state.clock.busy += tx;
        state.clock.busy_until = start + tx;
        self.send(port, packet, start, backlog);
    }

    #[inline]
    fn tx(&self, port: u32, packet: PacketRef) -> u64 {
        let charged = self.pool.charged(packet);
        let byte_ps = self.egress[port as usize].byte_ps;
        tx_time(&self.common.fabric, port, byte_ps, charged as u16)
    }

    /// Writes the snapshot of a data packet that was just pulled.
    #[inline]
    fn depart(&mut self, packet: PacketRef, tx: u64) {
        let content = &self.pool[packet];
        if content.is_data() {
            let flow = content.flow;
            let again = content.has(flag::RETRANSMIT);
            self.probe.departs(flow, tx, again, self.pool.stamps_mut(packet));
        }
    }

    /// Asks the transports for what the NIC's port wants.
    fn pull(&mut self, host: u32, start: u64, open: Classes) -> Option<PacketRef> {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        self.probe.enter(Time(start), state.clock);
        let nic = state.nic.as_ref().expect("a shaped NIC");
        let mut env = env!(self, state, host, start);
        let wanted = |transport| Classes(open.0 & nic.wants(transport).0);
        incast_world::pull(&mut state.transports, &mut state.turn, &mut env, wanted)
    }

    /// A NIC with a port of its own: packets go through it, and it may hold some classes back. The
    /// error is when to ask again.
    fn pull_shaped(&mut self, host: u32, start: u64, open: Classes) -> Result<PacketRef, u64> {
        let state = self.hosts[host as usize].as_ref().expect("an own host");
        let port = state.port as usize;
        let series = &mut self.egress[port].series;
        if let Some(nic) = &state.nic
            && series.over(start)
        {
            series.set_marks(nic.marks());
        }
        let control = Classes(open.0 & Classes::CONTROL.0);
        for _ in 0..MOST_CALLS {
            // What control there is by now waits in the port before the port chooses.
            let packet = match self.pull(host, start, control) {
                Some(packet) => packet,
                None => match self.nic_chooses(host, start, open) {
                    Dequeue::Packet(packet) => return Ok(packet),
                    Dequeue::NotBefore(Time(again)) => self.pull(host, start, open).ok_or(again)?,
                    Dequeue::Empty => self.pull(host, start, open).ok_or(NEVER)?,
                },
            };
            self.depart(packet, 0);
            let meta = self.pool.meta_mut(packet);
            (meta.arrived, meta.tier) = (Time(start), 0);
            let state = self.hosts[host as usize].as_mut().expect("an own host");
            let nic = state.nic.as_mut().expect("a shaped NIC");
            let mut env = PortEnv {
                now: Time(start),
                random: &mut self.port_random[port],
                packets: &mut self.pool,
            };
            let verdict = nic.enqueue(&mut env, packet);
            self.egress[port].series.set_backlog(start, nic.backlog().bytes);
            self.settle(port as u32, packet, verdict, start);
        }
        panic!("host {host} fills its NIC without end");
    }

    fn nic_chooses(&mut self, host: u32, start: u64, open: Classes) -> Dequeue {
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        let mut env = PortEnv {
            now: Time(start),
            random: &mut self.port_random[state.port as usize],
            packets: &mut self.pool,
        };
        state.nic.as_mut().expect("a shaped NIC").dequeue(&mut env, open)
    }

    /// Makes sure that something brings the host up to date in time.
    #[inline(always)]
    pub fn rearm_host(&mut self, host: u32) {
        let now = self.now;
        let state = self.hosts[host as usize].as_mut().expect("an own host");
        let (port, wanted) = (state.port, state.wanted);
        let asks_later = wanted != NEVER && wanted > state.clock.busy_until && wanted > now;
        let deadline = if asks_later { state.deadline.min(wanted) } else { state.deadline };
        if deadline < state.timers[0] {
            state.timers = [deadline, state.timers[0]];
            self.queue.push(Event { time: deadline, key: class::TIMER | host, id: host });
        }
        if wanted == NEVER || asks_later {
            return;
        }
        let egress = &mut self.egress[port as usize];
        if state.clock.busy_until <= now {
            self.kick(port);
        } else if !egress.armed {
            egress.armed = true;
            let last = egress.last;
            self.pool.meta_mut(last).mark |= mark::SERVICE;
        }
    }
}
