//! A partition of the fabric with its own clock and event loop.

use crate::agenda::{Agenda, PORT_TIMER};
use crate::egress::Egress;
use crate::host::HostState;
use crate::mark;
use crate::network::Network;
use crate::queue::Event;
use crate::switch::{arrive, egress, is_eventful, settle};
use crate::transit::{Common, Transit};
use incast_fabric::PortId;
use incast_transport::{PacketRef, Time};
use incast_world::{Due, Ending, Gate, LinkState, Progress, Running, Switch};
use std::cmp::Reverse;

/// The flows that start in a partition.
pub(crate) struct Openings {
    /// Flows of each batch by start time, and those that are ended, latest first.
    timed: Vec<Vec<u32>>,
    pub progress: Progress,
    pub executions: Running,
    /// Facts of the probe that were taken note of.
    noted: usize,
}

/// The nodes of a partition and the network between them.
pub(crate) struct Partition {
    /// Hosts of this partition, by number.
    pub hosts: Vec<Option<HostState>>,
    /// Switches of this partition.
    pub switches: Switches,
    pub openings: Openings,
    pub events: u64,
    pub net: Network,
}

/// Switches by node number.
pub(crate) struct Switches {
    /// Number of the first one.
    pub hosts: u32,
    /// Those of this partition.
    pub all: Vec<Option<Switch>>,
}

impl Switches {
    fn is_own(&self, node: u32) -> bool {
        node >= self.hosts && self.all[(node - self.hosts) as usize].is_some()
    }

    fn own(&mut self, node: u32) -> &mut Switch {
        self.all[(node - self.hosts) as usize].as_mut().expect("an own switch")
    }
}

impl Openings {
    /// The flows and executions of this partition: `batch` is that of a host that is here, one of `batches`.
    pub fn new(
        common: &Common,
        (gates, executions): (&[Gate], Running),
        batches: usize,
        batch: impl Fn(u32) -> Option<usize>,
    ) -> Openings {
        let flows = &common.flows;
        let mut timed = vec![vec![]; batches];
        for setup in flows {
            let has_time = !setup.waits() && setup.flow.start != Time::NEVER;
            if let Some(batch) = batch(setup.flow.src.0).filter(|_| has_time) {
                timed[batch].push(setup.flow.id.0);
            }
        }
        for (ending, index) in common.endings.iter().zip(flows.len() as u32..) {
            if let Some(batch) = batch(ending.host) {
                timed[batch].push(index);
            }
        }
        for ((host, _), index) in common.begins.iter().zip(common.first_execution()..) {
            if let Some(batch) = batch(*host) {
                timed[batch].push(index);
            }
        }
        let latest_first = |index: &u32| Reverse((common.opens_at(*index), *index));
        timed.iter_mut().for_each(|flows| flows.sort_by_key(latest_first));
        Openings { timed, progress: Progress::new(flows, gates), executions, noted: 0 }
    }

    /// Schedules the next flow of the current batch with a given start time.
    pub fn schedule(&self, net: &mut Network) {
        if let Some(&index) = self.timed[net.transit.border.batches.current()].last() {
            let time = net.transit.common.opens_at(index);
            net.transit.agenda.schedule_open(time, index);
        }
    }

    /// Removes flow `index`, which starts now, and schedules the next one.
    fn open(&mut self, net: &mut Network, index: u32) {
        let timed = &mut self.timed[net.transit.border.batches.current()];
        if timed.last() == Some(&index) {
            timed.pop();
            self.schedule(net);
        }
    }

    /// Records completed flows and schedules the flows that waited for them.
    // It has two callers, and one of them is for every packet.
    #[inline(always)]
    fn note(&mut self, net: &mut Network) {
        let transit = &mut net.transit;
        if transit.probe.news() > self.noted {
            self.noted = transit.probe.news();
            let agenda = &mut transit.agenda;
            let open = |at, flow| agenda.schedule_open(at, flow);
            self.progress.note(transit.probe.outcomes(), &transit.common.flows, open);
            if !self.executions.is_empty() {
                self.tell(net);
            }
        }
    }

    /// Tells executions what is new.
    #[cold]
    fn tell(&mut self, net: &mut Network) {
        let Transit { probe, agenda, common, .. } = &mut net.transit;
        let Openings { progress, executions, .. } = self;
        let (first, now) = (common.first_execution(), agenda.now);
        executions
            .note(probe.outcomes(), probe.known(), |due| order(due, progress, agenda, first, now));
    }

    /// It is the time at which an execution begins or wakes.
    fn wake(&mut self, net: &mut Network, number: u32) {
        let Transit { agenda, common, .. } = &mut net.transit;
        let Openings { progress, executions, .. } = self;
        let (first, now) = (common.first_execution(), agenda.now);
        executions.wake(number, now, |due| order(due, progress, agenda, first, now));
    }
}

/// Does what executions want; the number of the first of them follows those of flows and endings.
fn order(due: Due, progress: &mut Progress, agenda: &mut Agenda, first: u32, now: u64) {
    match due {
        Due::Open(flow) => {
            progress.opens = progress.opens.max(now);
            agenda.schedule_open(now, flow.0);
        }
        Due::Wake(at, number) => {
            progress.opens = progress.opens.max(at);
            agenda.schedule_open(at, first + number);
        }
        Due::Over => progress.over(now),
    }
}

pub(crate) fn own_host(hosts: &mut [Option<HostState>], host: u32) -> &mut HostState {
    hosts[host as usize].as_mut().expect("an own host")
}

impl Partition {
    /// Runs about `most` events before `end`, and stops when `goal` flows and executions are done. Returns
    /// whether events before `end` may be left.
    pub fn run_some(&mut self, end: u64, most: u64, goal: usize) -> bool {
        match self.net.transit.border.batches.count() {
            1 => self.run_batch(end, most, goal),
            _ => self.run_windows(end, most, goal),
        }
    }

    /// Runs windows of all batches.
    fn run_windows(&mut self, end: u64, most: u64, goal: usize) -> bool {
        let last = self.events.saturating_add(most);
        loop {
            let batches = &self.net.transit.border.batches;
            let start = batches.next();
            if start >= end {
                return false;
            }
            if self.events >= last || self.openings.progress.done >= goal {
                return true;
            }
            let limit = start.saturating_add(batches.window).min(end);
            for batch in 0..batches.count() {
                if self.net.transit.border.batches.is_due(batch, limit) {
                    self.enter(batch);
                    self.run_batch(limit, u64::MAX, usize::MAX);
                    self.leave(limit);
                }
            }
            self.exchange();
        }
    }

    /// Makes a batch the current one.
    pub fn enter(&mut self, batch: usize) {
        let Transit { border, agenda, .. } = &mut self.net.transit;
        border.batches.enter(batch, agenda);
    }

    /// The current batch has run up to `limit`.
    pub fn leave(&mut self, limit: u64) {
        let Transit { border, agenda, .. } = &mut self.net.transit;
        let due = agenda.queue.next_time(limit);
        border.batches.leave(agenda, due);
    }

    /// Runs the current batch: at most `most` events before `end`, and until `goal` flows and executions are done.
    fn run_batch(&mut self, end: u64, most: u64, goal: usize) -> bool {
        let last = self.events.saturating_add(most);
        loop {
            let agenda = &mut self.net.transit.agenda;
            if !agenda.kicks.is_empty() && !agenda.queue.has_at(agenda.now) {
                self.flush();
                continue;
            }
            let next = agenda.queue.next_time(end);
            if self.net.buffers.may_deadlock() && next > agenda.now && self.find_deadlock() {
                return false;
            }
            if next >= end {
                return false;
            }
            if self.events >= last || self.openings.progress.done >= goal {
                return true;
            }
            let agenda = &mut self.net.transit.agenda;
            agenda.now = next;
            let event = agenda.queue.pop();
            self.events += 1;
            self.prefetch_next();
            self.handle(event);
        }
    }

    #[cold]
    fn find_deadlock(&mut self) -> bool {
        let common = &self.net.transit.common;
        self.net.buffers.find_deadlock(&common.buffers, &common.fabric)
    }

    /// Performs every transmission that starts before `end`, after all events before `end`.
    pub fn settle_until(&mut self, end: u64) {
        self.net.settle_until(end);
        for host in self.hosts.iter_mut().flatten() {
            host.advance(&mut self.net, end);
        }
    }

    /// Brings every port and NIC of this partition to `now`, before which every event has been handled.
    pub fn bring_to(&mut self, now: u64) {
        let common = self.net.transit.common.clone();
        let several = self.net.transit.border.batches.count() > 1;
        let mut entered = None;
        for port in self.net.egress.numbers() {
            let batch = common.batch_of[self.net.node_of(port) as usize];
            if batch / common.batches != self.net.transit.border.index {
                continue;
            }
            if several && entered != Some(batch) {
                if entered.is_some() {
                    self.leave(now);
                }
                self.enter((batch % common.batches) as usize);
                entered = Some(batch);
            }
            if self.net.egress[port as usize].in_order {
                self.net.drain_fifo(port, now);
            } else {
                self.serve_until(port, now);
            }
        }
        if entered.is_some() {
            self.leave(now);
            self.exchange();
        }
    }

    /// Hands over what the batches have sent to each other in a window.
    fn exchange(&mut self) {
        let Transit { border, probe, .. } = &mut self.net.transit;
        border.batches.exchange();
        for (loss, stamps) in border.batches.losses.drain(..) {
            probe.record_loss(&loss, &stamps);
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        match event.key() >> 30 {
            0 => self.arrival(PacketRef(event.id())),
            1 => self.open(event.id()),
            2 if event.id() & PORT_TIMER != 0 => self.net.port_timer(event.id() & !PORT_TIMER),
            2 => self.host_timer(event.id()),
            _ => self.change_links(event.id() as usize),
        }
    }

    /// A host's timer, or packets that have waited in its NIC.
    #[inline]
    fn host_timer(&mut self, host: u32) {
        own_host(&mut self.hosts, host).timer(&mut self.net);
        if self.net.impaired {
            self.openings.note(&mut self.net);
        }
    }

    /// Handles a packet's arrival at the other end of its link.
    #[inline]
    fn arrival(&mut self, packet: PacketRef) {
        let meta = self.net.transit.packets.meta_mut(packet);
        let (port, marks, mut target) = (meta.link, meta.mark, meta.next.0);
        meta.mark = marks & mark::IMPAIRED;
        if marks & mark::SERVICE != 0 {
            self.net.egress[port as usize].armed = false;
            self.serve(port);
        }
        let net = &mut self.net;
        let down = net.transit.failing && net.is_cut_off(port, packet, marks);
        if marks & (mark::LOST | mark::HEAD) != 0 || down {
            if down || marks & mark::LOST != 0 {
                return net.transit.lose_on_link(packet);
            }
            match self.cuts_through(port, packet) {
                Some(egress) => target = egress,
                None => return,
            }
        }
        let net = &mut self.net;
        if net.buffers.pauses && self.apply_pause(port, packet) {
            // Pause frames are not forwarded.
        } else if target != PacketRef::NONE.0 && self.net.plain {
            self.enqueue(target, packet);
        } else {
            let egress = &self.net.egress[port as usize];
            let (peer, reverse) = (egress.peer, egress.reverse);
            if let Some(Some(host)) = self.hosts.get_mut(peer as usize) {
                host.arrive(&mut self.net, packet);
                self.openings.note(&mut self.net);
            } else {
                let switch = self.switches.own(peer);
                arrive(switch, &mut self.net, reverse, target, packet);
            }
        }
    }

    /// The first bytes of a packet have arrived over `link` at a switch: its egress if the packet
    /// leaves by it at once. Otherwise it arrives again with its last bit. A packet that cannot
    /// reach its destination has no egress.
    #[cold]
    fn cuts_through(&mut self, link: u32, packet: PacketRef) -> Option<u32> {
        let net = &mut self.net;
        let Egress { peer, reverse, .. } = net.egress[link as usize];
        let switch = self.switches.own(peer);
        if net.transit.packets.meta(packet).next == PacketRef::NONE {
            let egress = egress(switch, net, reverse, packet);
            let Some(egress) = egress else { return Some(PacketRef::NONE.0) };
            net.transit.packets.meta_mut(packet).next = PacketRef(egress.0);
        }
        let egress = net.transit.packets.meta(packet).next.0;
        let at_once = net.begins_at_once(link, egress, packet);
        let agenda = &mut net.transit.agenda;
        let meta = net.transit.packets.meta_mut(packet);
        let last_bit = meta.arrived.0;
        if at_once {
            // The links transmit it at the same time.
            meta.serialised = meta.serialised.saturating_sub((last_bit - agenda.now) as u32);
            return Some(egress);
        }
        agenda.schedule_arrival(last_bit, reverse, packet);
        None
    }

    /// Enqueues a packet at `port`.
    #[inline]
    fn enqueue(&mut self, port: u32, packet: PacketRef) {
        let verdict = self.net.enqueue(port, packet);
        if is_eventful(&verdict) {
            let node = self.net.node_of(port);
            let switch = self.switches.own(node);
            settle(switch, &mut self.net, port, packet, verdict);
        }
    }

    /// Performs all actions of a port or NIC of this partition before `until`.
    #[inline]
    pub fn advance(&mut self, port: u32, until: u64) {
        if self.net.is_nic(port) {
            let host = self.net.node_of(port);
            own_host(&mut self.hosts, host).advance(&mut self.net, until);
        } else {
            self.net.advance_port(port, until);
        }
    }

    /// Like [`advance`](Partition::advance), and schedules the next update.
    #[inline]
    fn serve_until(&mut self, port: u32, until: u64) {
        if self.net.is_nic(port) {
            let host = own_host(&mut self.hosts, self.net.node_of(port));
            host.advance(&mut self.net, until);
            host.rearm(&mut self.net);
        } else {
            self.net.advance_port(port, until);
            self.net.rearm_port(port);
        }
    }

    /// Performs all actions of a port or NIC of this partition before the current instant.
    #[inline]
    fn serve(&mut self, port: u32) {
        self.serve_until(port, self.net.now());
    }

    /// Runs the transmissions of this instant, after all its arrivals and timers.
    fn flush(&mut self) {
        let mut index = 0;
        while let Some(&port) = self.net.transit.agenda.kicks.get(index) {
            index += 1;
            self.net.egress[port as usize].kicked = false;
            self.serve_until(port, self.net.now() + 1);
        }
        self.net.transit.agenda.kicks.clear();
    }

    /// Starts a flow, or ends one, or lets an execution go on.
    fn open(&mut self, index: u32) {
        self.openings.open(&mut self.net, index);
        let common = self.net.transit.common.clone();
        match common.flows.get(index as usize) {
            Some(setup) => own_host(&mut self.hosts, setup.flow.src.0).open(&mut self.net, setup),
            None if index >= common.first_execution() => {
                self.openings.wake(&mut self.net, index - common.first_execution());
            }
            None => {
                let Ending { host, flow, .. } = common.endings[index as usize - common.flows.len()];
                let host = own_host(&mut self.hosts, host);
                match flow {
                    Some(flow) => {
                        host.abandon(&mut self.net, flow);
                        let dst = common.flows[flow.0 as usize].flow.dst;
                        if host.end.id() == dst {
                            self.net.ended.insert((dst.0, flow));
                        }
                    }
                    None => host.look(&mut self.net),
                }
            }
        }
    }

    /// Links fail or work again: from now on the epoch's routes are effective.
    fn change_links(&mut self, epoch: usize) {
        let common = self.net.transit.common.clone();
        let epoch = &common.epochs[epoch];
        self.net.transit.routes = epoch.routes.clone();
        for port in 0..self.net.egress.len() as u32 {
            let down = epoch.dead.binary_search(&PortId(port)).is_ok();
            let link = &mut self.net.transit.links[port as usize];
            let was_down = *link == LinkState::Down;
            *link = link.after(epoch.at, down);
            if down != was_down {
                self.change_link(port, down);
            }
        }
    }

    /// The link of `port`, perhaps of another partition, fails or works again.
    fn change_link(&mut self, port: u32, down: bool) {
        let node = self.net.node_of(port);
        if self.switches.is_own(node) {
            match down {
                true => self.net.fail_port(port),
                false => self.net.reconnect_port(port),
            }
        } else if self.hosts.get(node as usize).is_some_and(Option::is_some) && !down {
            self.reconnect_nic(port);
        }
        self.net.egress[port as usize].transmitter.dead = down;
    }
}
