//! A small network: hosts whose NICs lead straight to each other, or over ports on given paths.
//! Slow and simple on purpose: it shares no line with the worlds, so that a fault of theirs is not
//! a fault of the tests.

mod steps;

use crate::{Impairment, Impairments, Probabilities, host_site, random_flows};
use incast_transport::{
    Bytes, Classes, Configured, Env, Extension, FabricSite, Flow, Framing, Host, HostClock, HostId,
    Packet, PacketPool, PacketRef, Port, Probe, Random, Rate, Span, Time,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flows that a network or a harness knows at the most: their numbers are below.
pub const FLOWS: usize = 1_024;

/// A packet that began transmission, and what its link will do to it.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Start of transmission.
    pub at: Time,
    /// Which link; the NIC of a host has the host's number.
    pub link: usize,
    /// The packet as it left.
    pub packet: Packet,
    /// Its extension.
    pub extension: Extension,
    /// What happens to it on the link.
    pub impairment: Impairment,
}

/// A packet that a host received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// When.
    pub at: Time,
    /// Who.
    pub host: u32,
    /// The packet as it came.
    pub packet: Packet,
}

/// A packet that a port dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// When.
    pub at: Time,
    /// The port's link.
    pub link: usize,
    /// The packet.
    pub packet: Packet,
}

struct Link {
    rate: Rate,
    delay: Span,
    /// What stands before it; none at a NIC, whose host hands packets over.
    port: Option<Box<dyn Port>>,
    /// What marks packets at a NIC.
    marking: Option<Box<dyn Port>>,
    random: Random,
    busy_until: Time,
    /// Whether something may have come that can be sent.
    polled: bool,
    /// A shaper lets nothing pass before.
    not_before: Time,
    /// Which of the network's impairments are its own.
    impairments: usize,
}

struct Nic {
    clock: HostClock,
    random: Random,
}

enum Event {
    /// At the end of a link, after this many ports.
    Arrive {
        packet: PacketRef,
        ports: usize,
    },
    /// Put into a port's queue by the test; it goes no further than its link.
    Inject {
        packet: PacketRef,
        link: usize,
    },
    Open(Flow),
}

/// Hosts, links and ports. At one instant packets arrive, then flows open, then timers run, then
/// everything that is free transmits, in the order of the links' numbers.
///
/// What a world has to assert about a host is asserted: timers lie ahead, waking twice is waking
/// once, an idle host sends nothing, only packets of open classes leave.
pub struct Network<H: Host + ?Sized = dyn Host> {
    /// The present.
    pub now: Time,
    /// Where packets live.
    pub packets: PacketPool,
    /// Where the time went.
    pub probe: Probe,
    /// The hosts, by number.
    pub hosts: Vec<Box<H>>,
    /// Classes that NICs may send.
    pub open: Classes,
    /// Every packet that began transmission on any link.
    pub sent: Vec<Sent>,
    /// Every packet that a host received.
    pub received: Vec<Received>,
    /// Every packet that a port dropped.
    pub dropped: Vec<Dropped>,
    /// How often hosts were woken because their deadline had come.
    pub wakes: u64,
    /// Most packets of data waiting at a port as another one began transmission, per link.
    pub most_waiting: Vec<u32>,
    nics: Vec<Nic>,
    links: Vec<Link>,
    /// The first are those of all links that have none of their own.
    impairments: Vec<Impairments>,
    paths: BTreeMap<(u32, u32), Vec<usize>>,
    /// By time, kind and number.
    events: BTreeMap<(Time, u8, u64), Event>,
    count: u64,
    flows: Vec<Flow>,
    seed: u64,
}

impl Network {
    /// The hosts of a transport whose NICs lead straight to each other, with delays such that a
    /// full packet and its header-only ACK take the fabric's base RTT.
    pub fn of(
        plan: &dyn Configured,
        fabric: &Arc<FabricSite>,
        probabilities: Probabilities,
        seed: u64,
    ) -> Network {
        let rate = fabric.host_rate;
        let tx = |charged: u32| rate.tx_time(Bytes(charged as u64));
        let framing = fabric.framing;
        let both = tx(framing.charged_mtu()) + tx(framing.charged_header());
        let mut network = Network::new(framing, seed);
        for host in 0..fabric.hosts {
            let host = plan.host(&host_site(host, fabric));
            network.add_host(host, rate, (fabric.base_rtt - both) / 2);
        }
        network.probe.set_patience(fabric.base_rtt.0);
        network.impair_all(Impairments::random(probabilities, seed));
        network
    }
}

impl<H: Host + ?Sized> Network<H> {
    /// Nothing yet; `seed` is that of all random streams of hosts and ports.
    pub fn new(framing: Framing, seed: u64) -> Network<H> {
        Network {
            now: Time::ZERO,
            packets: PacketPool::new(framing),
            probe: Probe::new(FLOWS, true),
            hosts: vec![],
            open: Classes::ALL,
            sent: vec![],
            received: vec![],
            dropped: vec![],
            wakes: 0,
            most_waiting: vec![],
            nics: vec![],
            links: vec![],
            impairments: vec![Impairments::none()],
            paths: BTreeMap::new(),
            events: BTreeMap::new(),
            count: 0,
            flows: vec![],
            seed,
        }
    }

    /// Adds a host with its NIC, whose link has the host's number. Hosts come before ports.
    pub fn add_host(&mut self, host: Box<H>, rate: Rate, delay: Span) -> u32 {
        assert_eq!(self.links.len(), self.hosts.len(), "hosts come before ports");
        let number = self.hosts.len() as u32;
        self.hosts.push(host);
        let random = Random::new(self.seed, number, 1);
        self.nics.push(Nic { clock: HostClock::default(), random });
        self.add_link(None, rate, delay);
        number
    }

    /// Adds a link behind a port, and returns its number.
    pub fn add_port(&mut self, port: Box<dyn Port>, rate: Rate, delay: Span) -> usize {
        self.add_link(Some(port), rate, delay)
    }

    fn add_link(&mut self, port: Option<Box<dyn Port>>, rate: Rate, delay: Span) -> usize {
        let number = self.links.len();
        self.links.push(Link {
            rate,
            delay,
            port,
            marking: None,
            random: Random::new(self.seed, number as u32, 3),
            busy_until: Time::ZERO,
            polled: false,
            not_before: Time::ZERO,
            impairments: 0,
        });
        self.most_waiting.push(0);
        number
    }

    /// Lets a port that holds nothing back mark what leaves a host's NIC.
    pub fn mark_at(&mut self, host: u32, port: Box<dyn Port>) {
        self.links[host as usize].marking = Some(port);
    }

    /// The ports from one host's NIC to another host. Without a path the NIC's link leads there.
    pub fn path(&mut self, src: u32, dst: u32, ports: &[usize]) {
        assert!(ports.iter().all(|&link| self.links[link].port.is_some()), "only ports are on it");
        self.paths.insert((src, dst), ports.to_vec());
    }

    /// What all links do that have no impairments of their own; one script sees all their packets.
    pub fn impair_all(&mut self, impairments: Impairments) {
        self.impairments[0] = impairments;
    }

    /// What this link does.
    pub fn impair(&mut self, link: usize, impairments: Impairments) {
        self.links[link].impairments = self.impairments.len();
        self.impairments.push(impairments);
    }

    /// Links, those of NICs included.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// Propagation from host 0's NIC.
    pub fn delay(&self) -> Span {
        self.links[0].delay
    }

    /// Data packets waiting at a port.
    pub fn data_waiting(&self, link: usize) -> u32 {
        self.links[link].port.as_ref().expect("a port").data_backlog().packets
    }

    /// A flow that will open at its start.
    pub fn add(&mut self, flow: Flow) {
        assert!(flow.start >= self.now && (flow.id.0 as usize) < FLOWS);
        self.push(flow.start, 1, Event::Open(flow));
    }

    /// A flow opens now, and its NIC polls it at once.
    pub fn open(&mut self, flow: &Flow) {
        self.opened(flow.clone());
        self.poll(flow.src.0 as usize);
    }

    /// The NIC of a host polls it now, whatever it returned before.
    pub fn poll(&mut self, host: usize) {
        self.links[host].polled = true;
        self.send_if_free(host);
    }

    /// Puts a packet into a port's queue at an instant. It goes no further than that link.
    pub fn inject(&mut self, link: usize, packet: Packet, at: Time) {
        let packet = self.packets.create(packet);
        self.push(at, 0, Event::Inject { packet, link });
    }

    /// Does everything that happens before `end`; then it is `end`.
    pub fn run(&mut self, end: Time) {
        loop {
            let next = self.next();
            if next >= end {
                break;
            }
            self.step(next);
        }
        self.now = end;
    }

    /// Does everything there is to do, which must be over before `end`.
    pub fn settle(&mut self, end: Time) {
        loop {
            let next = self.next();
            if next == Time::NEVER {
                break;
            }
            assert!(next < end, "not finished at {next}");
            self.step(next);
        }
    }

    /// Does everything there is to do, which must be over within `most`, and asserts that every
    /// flow is complete and nothing is left behind.
    pub fn complete(&mut self, most: Span) {
        self.settle(self.now + most);
        self.assert_complete();
    }

    /// Thirty flows between random hosts within half a millisecond, every fifth up to 400 KB long
    /// and the others up to 30 KB, all of which must be complete within five seconds.
    pub fn survives(&mut self) {
        let mut random = Random::new(self.seed, 9, 9);
        let size = |random: &mut Random, id: u32| {
            1 + random.below(if id.is_multiple_of(5) { 400_000 } else { 30_000 })
        };
        let hosts = self.hosts.len() as u32;
        let flows = random_flows(&mut random, hosts, 30, Span::from_us(500), size);
        flows.into_iter().for_each(|flow| self.add(flow));
        self.complete(Span::from_secs(5));
    }

    /// Calls a host.
    pub fn call<T>(&mut self, host: usize, f: impl FnOnce(&mut H, &mut Env<'_>) -> T) -> T {
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

    /// When a flow was complete, if it is.
    pub fn completed(&self, flow: u32) -> Option<Time> {
        let mut outcomes = self.probe.outcomes().iter();
        outcomes.find(|outcome| outcome.flow.0 == flow).map(|outcome| Time(outcome.completed))
    }

    /// What began transmission on a link.
    pub fn sent_on(&self, link: usize) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(move |sent| sent.link == link)
    }

    /// What the port before a link dropped.
    pub fn dropped_at(&self, link: usize) -> impl Iterator<Item = &Dropped> {
        self.dropped.iter().filter(move |dropped| dropped.link == link)
    }

    /// Flows about which hosts hold state.
    pub fn open_flows(&self) -> usize {
        self.hosts.iter().map(|host| host.open_flows()).sum()
    }

    /// Asserts that every byte of a flow was delivered once, and that it is complete.
    pub fn assert_delivered_once(&self, flow: &Flow) {
        let log = self.probe.deliveries().iter().filter(|delivery| delivery.0 == flow.id);
        let mut ranges: Vec<(u64, u64)> = log.map(|d| (d.1, d.1 + d.2 as u64)).collect();
        ranges.sort_unstable();
        let end = ranges.iter().fold(0, |end, &(from, to)| {
            assert_eq!(from, end, "flow {}: a gap or a byte delivered twice", flow.id.0);
            to
        });
        assert_eq!(end, flow.size, "flow {}: bytes delivered", flow.id.0);
        assert_eq!(self.probe.bytes_delivered(flow.id), flow.size);
        assert!(self.completed(flow.id.0).is_some(), "flow {} is not complete", flow.id.0);
    }

    /// Asserts that every flow is complete, each of its bytes delivered once, and that neither
    /// state nor a packet is left behind.
    pub fn assert_complete(&self) {
        self.flows.iter().for_each(|flow| self.assert_delivered_once(flow));
        assert_eq!(self.probe.outcomes().len(), self.flows.len(), "flows completed");
        assert_eq!(self.open_flows(), 0, "hosts hold state of flows that are complete");
        assert_eq!(self.packets.alive(), 0, "packets are left behind");
    }
}
