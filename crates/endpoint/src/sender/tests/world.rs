//! Hosts joined by direct links with a NIC each, and a hand that interferes with packets.

use crate::sender::{Ack, Control, EchoMark, Law, Loss, Options, Progress, SenderDriven};
use incast_transport::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

pub const ID: TransportId = TransportId(1);
pub const MSS: u64 = 1_460;

/// What happens to a packet on its way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    Arrives,
    Lost,
    Marked,
    Late(Span),
    Twice(Span),
}

/// What a control law was told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Told {
    Ack { bytes: u64, sacked: u64, ece: bool, rtt: Option<Span>, limited: bool, recovering: bool },
    Loss(Loss),
}

/// A window that grows by what is acknowledged if it may, is halved by a loss, and one segment
/// after a timeout.
pub struct Plain {
    pub window: u64,
    pub threshold: u64,
    pub rate: Option<Rate>,
    pub told: Arc<Mutex<Vec<Told>>>,
}

impl Control for Plain {
    fn on_ack(&mut self, ack: &Ack<'_>, progress: &Progress) {
        self.told.lock().unwrap().push(Told::Ack {
            bytes: ack.bytes,
            sacked: ack.sacked,
            ece: ack.ece,
            rtt: ack.rtt,
            limited: ack.limited,
            recovering: progress.recovering,
        });
        if !progress.recovering && ack.limited {
            self.window += match self.window < self.threshold {
                true => ack.bytes,
                false => MSS * ack.bytes / self.window,
            };
        }
    }

    fn on_loss(&mut self, loss: Loss, progress: &Progress) {
        self.told.lock().unwrap().push(Told::Loss(loss));
        self.threshold = (progress.pipe.max(self.window) / 2).max(2 * MSS);
        self.window = if loss == Loss::Fast { self.threshold } else { MSS };
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing(&self) -> Option<Rate> {
        self.rate
    }
}

/// Makes [`Plain`] laws.
pub struct Plainly {
    pub window: u64,
    pub threshold: u64,
    pub rate: Option<Rate>,
    pub told: Arc<Mutex<Vec<Told>>>,
}

impl Law for Plainly {
    type Control = Plain;
    type Feedback = EchoMark;

    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Plain {
        let Plainly { window, threshold, rate, .. } = *self;
        Plain { window, threshold, rate, told: self.told.clone() }
    }

    fn feedback(&mut self) -> EchoMark {
        EchoMark
    }
}

/// A packet as it began to leave.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub packet: Packet,
    pub extension: Extension,
    pub way: Way,
}

struct Nic {
    free: Time,
    clock: HostClock,
    random: Random,
}

/// The hand: sees the packet and how many packets were sent before it.
pub type Hand = Box<dyn FnMut(&Packet, usize) -> Way>;

pub struct World<L: Law> {
    pub hosts: Vec<SenderDriven<L>>,
    nics: Vec<Nic>,
    flights: BinaryHeap<Reverse<(Time, u64, u32)>>,
    count: u64,
    pub packets: PacketPool,
    pub probe: Probe,
    pub now: Time,
    pub rate: Rate,
    pub delay: Span,
    pub hand: Hand,
    pub log: Vec<Sent>,
    pub open: Classes,
}

impl<L: Law> World<L> {
    pub fn new(laws: Vec<L>, flows: usize, options: Options, hand: Hand) -> World<L> {
        let nic = |host| Nic {
            free: Time::ZERO,
            clock: HostClock::default(),
            random: Random::new(1, host, 0),
        };
        World {
            nics: (0..laws.len() as u32).map(nic).collect(),
            hosts: laws.into_iter().map(|law| SenderDriven::new(law, options)).collect(),
            flights: BinaryHeap::new(),
            count: 0,
            packets: PacketPool::new(Framing::ETHERNET),
            probe: Probe::new(flows, true),
            now: Time::ZERO,
            rate: Rate::from_gbps(10),
            delay: Span::from_us(5),
            hand,
            log: vec![],
            open: Classes::ALL,
        }
    }

    pub fn call<T>(
        &mut self,
        host: usize,
        f: impl FnOnce(&mut SenderDriven<L>, &mut Env<'_>) -> T,
    ) -> T {
        let nic = &mut self.nics[host];
        self.probe.enter(self.now, nic.clock);
        let mut env = Env {
            now: self.now,
            host: HostId(host as u32),
            random: &mut nic.random,
            probe: &mut self.probe,
            packets: &mut self.packets,
        };
        f(&mut self.hosts[host], &mut env)
    }

    pub fn open(&mut self, flow: &Flow) {
        let source = flow.src.0 as usize;
        self.probe.enter(self.now, self.nics[source].clock);
        self.probe.opened(flow.id);
        self.call(source, |host, env| host.open(env, flow));
        self.transmit(source);
    }

    /// The NIC asks.
    pub fn start(&mut self, host: usize) {
        self.transmit(host);
    }

    fn transmit(&mut self, host: usize) {
        if self.nics[host].free > self.now {
            return;
        }
        let open = self.open;
        let Some(handle) = self.call(host, |host, env| host.transmit(env, open)) else { return };
        let packet = self.packets[handle];
        assert!(open.has(packet.class));
        let tx = self.rate.tx_time(Bytes(self.packets.charged(handle) as u64));
        if packet.is_data() {
            let stamps = self.packets.stamps_mut(handle);
            self.probe.departs(packet.flow, tx.0, packet.has(flag::RETRANSMIT), stamps);
        }
        self.packets.meta_mut(handle).serialised = tx.0 as u32;
        let nic = &mut self.nics[host];
        nic.free = self.now + tx;
        nic.clock.busy += tx.0;
        nic.clock.busy_until = nic.free.0;
        let way = (self.hand)(&packet, self.log.len());
        let extension = *self.packets.extension(handle);
        self.log.push(Sent { at: self.now, packet, extension, way });
        let arrival = self.now + tx + self.delay;
        match way {
            Way::Lost => {
                if packet.is_data() {
                    let (stamps, meta) = (self.packets.stamps(handle), self.packets.meta(handle));
                    let key = packet.header.data_key();
                    let at = self.now.0 + tx.0;
                    let loss = incast_transport::Loss::of(packet.flow, key, stamps, meta, at);
                    self.probe.record_loss(loss);
                }
                self.packets.free(handle);
            }
            Way::Late(by) => self.fly(arrival + by, handle),
            Way::Twice(by) => {
                let stamps = *self.packets.stamps(handle);
                let copy = self.packets.create(Packet { extension: 0, ..packet });
                if extension != Extension::None {
                    self.packets.extend(copy, extension);
                }
                *self.packets.stamps_mut(copy) = stamps;
                *self.packets.meta_mut(copy) = *self.packets.meta(handle);
                self.fly(arrival, handle);
                self.fly(arrival + by, copy);
            }
            Way::Marked => {
                self.packets[handle].mark = Ecn::Ce as u8;
                self.packets.stamps_mut(handle).informed = self.now.0;
                self.fly(arrival, handle);
            }
            Way::Arrives => self.fly(arrival, handle),
        }
    }

    fn fly(&mut self, arrival: Time, handle: PacketRef) {
        self.count += 1;
        self.flights.push(Reverse((arrival, self.count, handle.0)));
    }

    /// Runs until nothing is left to do or `until`.
    pub fn run(&mut self, until: Time) {
        loop {
            let arrival = self.flights.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
            let deadline = self.hosts.iter().map(|h| h.deadline()).min().unwrap();
            let now = self.now;
            let free = self.nics.iter().map(|n| n.free).filter(|&free| free > now).min();
            let next = arrival.min(deadline).min(free.unwrap_or(Time::NEVER));
            if next == Time::NEVER || next > until {
                return;
            }
            assert!(next >= self.now);
            self.now = next;
            while let Some(&Reverse((at, _, handle))) = self.flights.peek() {
                if at > self.now {
                    break;
                }
                self.flights.pop();
                let handle = PacketRef(handle);
                let packet = self.packets[handle];
                if packet.is_data() {
                    let (stamps, meta) = (self.packets.stamps(handle), self.packets.meta(handle));
                    self.probe.arriving(stamps, meta);
                }
                self.call(packet.dst.0 as usize, |host, env| host.receive(env, handle));
                self.packets.free(handle);
            }
            for host in 0..self.hosts.len() {
                if self.hosts[host].deadline() <= self.now {
                    self.call(host, |host, env| host.wake(env));
                    assert!(self.hosts[host].deadline() > self.now, "a timer in the past");
                    self.call(host, |host, env| host.wake(env));
                }
                self.transmit(host);
            }
        }
    }

    /// When a flow was completed.
    pub fn completed(&self, flow: u32) -> Option<Time> {
        let mut outcomes = self.probe.outcomes().iter();
        outcomes.find(|o| o.flow == FlowId(flow)).map(|o| Time(o.completed))
    }

    /// Every byte of the flow was delivered exactly once.
    pub fn assert_delivered_once(&self, flow: &Flow) {
        let log = self.probe.deliveries().iter().filter(|d| d.0 == flow.id);
        let mut ranges: Vec<(u64, u64)> = log.map(|d| (d.1, d.1 + d.2 as u64)).collect();
        ranges.sort_unstable();
        let mut next = 0;
        for (from, to) in ranges {
            assert_eq!(from, next, "flow {} has a gap or a repetition", flow.id.0);
            next = to;
        }
        assert_eq!(next, flow.size);
        assert!(self.completed(flow.id.0).is_some());
    }
}

/// A flow of whole segments and some bytes more, from host 0 to host 1.
pub fn flow(id: u32, size: u64) -> Flow {
    Flow {
        id: FlowId(id),
        src: HostId(0),
        dst: HostId(1),
        size,
        start: Time::ZERO,
        segments: Segments::Uniform(MSS as u16),
    }
}

/// Two hosts with the plain law, and what it was told.
pub fn pair(window: u64, options: Options, hand: Hand) -> (World<Plainly>, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::new(Mutex::new(vec![]));
    let law = || Plainly { window, threshold: u64::MAX, rate: None, told: told.clone() };
    (World::new(vec![law(), law()], 64, options, hand), told)
}
