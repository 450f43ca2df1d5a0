//! A small world for tests of grant-clocked transports: hosts, links with two classes, paths
//! given by hand, chaos on chosen links. Slow and simple on purpose.

use incast_transport::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

/// What a link does to packets beside carrying them.
#[derive(Clone, Copy, Default)]
pub struct Chaos {
    pub loss: f64,
    pub duplicate: f64,
    /// Packets may arrive up to this much later.
    pub jitter: Span,
}

/// A packet that began transmission.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub at: Time,
    pub packet: Packet,
}

/// A packet that a host received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    pub packet: Packet,
}

type Filter = Box<dyn FnMut(&Packet) -> bool>;

pub struct Link {
    rate: Rate,
    delay: Span,
    nic: bool,
    queues: [VecDeque<(PacketRef, usize)>; 2],
    limits: [Limit; 2],
    bytes: [u64; 2],
    markers: Vec<Box<dyn Marker>>,
    busy_until: Time,
    ended: Option<Time>,
    asked: bool,
    chaos: Chaos,
    /// Packets for which it says yes are lost on this link.
    lose: Option<Filter>,
    pub log: Vec<Departure>,
    pub drops: Vec<Packet>,
    pub most_waiting: usize,
}

enum Event {
    Arrive { link: usize, packet: PacketRef, hop: usize },
    Open(Flow),
    Wake { host: usize },
    Send { link: usize },
}

pub struct World {
    pub now: Time,
    framing: Framing,
    pool: PacketPool,
    pub probe: Probe,
    random: Random,
    hosts: Vec<Box<dyn Host>>,
    clocks: Vec<HostClock>,
    wakes: Vec<Time>,
    pub links: Vec<Link>,
    paths: BTreeMap<(u32, u32), Vec<usize>>,
    heap: BinaryHeap<Reverse<(Time, u8, u64, usize)>>,
    events: Vec<Option<Event>>,
    free: Vec<usize>,
    count: u64,
    pub received: Vec<Received>,
    pub timer_wakes: u64,
}

impl World {
    pub fn new(framing: Framing, flows: usize, seed: u64) -> World {
        World {
            now: Time::ZERO,
            framing,
            pool: PacketPool::new(framing),
            probe: Probe::new(flows, true),
            random: Random::new(seed, 0, 99),
            hosts: vec![],
            clocks: vec![],
            wakes: vec![],
            links: vec![],
            paths: BTreeMap::new(),
            heap: BinaryHeap::new(),
            events: vec![],
            free: vec![],
            count: 0,
            received: vec![],
            timer_wakes: 0,
        }
    }

    /// Adds a host with its NIC; the NIC's link has the host's number. Hosts come before links.
    pub fn host(&mut self, what: &dyn Configured, site: &HostSite, delay: Span) -> u32 {
        assert_eq!(self.links.len(), self.hosts.len());
        self.hosts.push(what.host(site));
        self.clocks.push(HostClock::default());
        self.wakes.push(Time::NEVER);
        self.add(site.rate, delay, true, vec![], [Limit::Unlimited; 2]);
        self.hosts.len() as u32 - 1
    }

    /// Adds a switch's egress with the transport's policy.
    pub fn link(&mut self, what: &dyn Configured, site: &PortSite, delay: Span) -> usize {
        let policy = what.policy(site);
        let limits = [policy.classes[0].limit, policy.classes[1].limit];
        self.add(site.rate, delay, false, policy.markers, limits)
    }

    fn add(
        &mut self,
        rate: Rate,
        delay: Span,
        nic: bool,
        markers: Vec<Box<dyn Marker>>,
        limits: [Limit; 2],
    ) -> usize {
        self.links.push(Link {
            rate,
            delay,
            nic,
            queues: Default::default(),
            limits,
            bytes: [0; 2],
            markers,
            busy_until: Time::ZERO,
            ended: None,
            asked: false,
            chaos: Chaos::default(),
            lose: None,
            log: vec![],
            drops: vec![],
            most_waiting: 0,
        });
        self.links.len() - 1
    }

    /// Links behind the NIC from one host to another.
    pub fn path(&mut self, src: u32, dst: u32, links: &[usize]) {
        let path = std::iter::once(src as usize).chain(links.iter().copied()).collect();
        self.paths.insert((src, dst), path);
    }

    pub fn chaos(&mut self, link: usize, chaos: Chaos) {
        self.links[link].chaos = chaos;
    }

    pub fn lose(&mut self, link: usize, filter: impl FnMut(&Packet) -> bool + 'static) {
        self.links[link].lose = Some(Box::new(filter));
    }

    /// Opens a flow of `packets` full packets.
    pub fn flow(&mut self, id: u32, src: u32, dst: u32, packets: u32, start: Time) {
        let mss = self.framing.mss();
        self.open(id, src, dst, packets as u64 * mss as u64, start, Segments::Uniform(mss));
    }

    pub fn open(&mut self, id: u32, src: u32, dst: u32, size: u64, start: Time, cut: Segments) {
        let (id, src, dst) = (FlowId(id), HostId(src), HostId(dst));
        self.push(start, 1, Event::Open(Flow { id, src, dst, size, start, segments: cut }));
    }

    /// Puts a packet into a link's queue at an instant, from there on to its destination.
    pub fn inject(&mut self, link: usize, packet: Packet, at: Time) {
        let packet = self.pool.create(packet);
        self.push(at, 0, Event::Arrive { link, packet, hop: usize::MAX });
    }

    fn push(&mut self, at: Time, order: u8, event: Event) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() - 1
        });
        self.events[slot] = Some(event);
        self.count += 1;
        self.heap.push(Reverse((at, order, self.count, slot)));
    }

    /// Runs until `end`, which is not included, or until nothing is left to happen.
    pub fn run(&mut self, end: Time) {
        while let Some(&Reverse((at, _, _, slot))) = self.heap.peek() {
            if at >= end {
                break;
            }
            self.heap.pop();
            self.now = at;
            self.free.push(slot);
            match self.events[slot].take().expect("an event") {
                Event::Arrive { link, packet, hop } => self.arrive(link, packet, hop),
                Event::Open(flow) => self.opened(flow),
                Event::Wake { host } => self.wake(host),
                Event::Send { link } => self.send(link),
            }
        }
        self.now = end;
    }

    pub fn data_waiting(&self, link: usize) -> usize {
        self.links[link].queues[1].len()
    }

    pub fn open_flows(&self) -> usize {
        self.hosts.iter().map(|host| host.open_flows()).sum()
    }

    pub fn completed(&self, flow: u32) -> Option<Time> {
        let outcomes = self.probe.outcomes().iter();
        outcomes.filter(|o| o.flow.0 == flow).map(|o| Time(o.completed)).next()
    }

    fn call<T>(&mut self, host: usize, f: impl FnOnce(&mut dyn Host, &mut Env<'_>) -> T) -> T {
        self.probe.enter(self.now, self.clocks[host]);
        let mut env = Env {
            now: self.now,
            host: HostId(host as u32),
            random: &mut self.random,
            probe: &mut self.probe,
            packets: &mut self.pool,
        };
        f(self.hosts[host].as_mut(), &mut env)
    }

    fn after(&mut self, host: usize) {
        self.arm(host);
        self.ask(host);
    }

    fn arm(&mut self, host: usize) {
        let deadline = self.hosts[host].deadline();
        if deadline < self.wakes[host] || self.wakes[host] <= self.now {
            self.wakes[host] = deadline;
            if deadline != Time::NEVER {
                assert!(deadline >= self.now);
                self.push(deadline, 2, Event::Wake { host });
            }
        }
    }

    fn ask(&mut self, link: usize) {
        if !self.links[link].asked {
            self.links[link].asked = true;
            let at = self.links[link].busy_until.max(self.now);
            self.push(at, 3, Event::Send { link });
        }
    }

    fn opened(&mut self, flow: Flow) {
        let host = flow.src.0 as usize;
        self.probe.enter(self.now, self.clocks[host]);
        self.probe.opened(flow.id);
        self.call(host, |host, env| host.open(env, &flow));
        self.after(host);
    }

    fn wake(&mut self, host: usize) {
        if self.wakes[host] != self.now {
            return;
        }
        self.timer_wakes += 1;
        self.call(host, |host, env| host.wake(env));
        assert!(self.hosts[host].deadline() > self.now, "a timer in the past after wake");
        self.after(host);
    }

    fn arrive(&mut self, link: usize, packet: PacketRef, hop: usize) {
        if hop == usize::MAX {
            return self.enqueue(link, packet, hop);
        }
        let content = self.pool[packet];
        let path = &self.paths[&(content.src.0, content.dst.0)];
        if let Some(&next) = path.get(hop + 1) {
            return self.enqueue(next, packet, hop + 1);
        }
        let host = content.dst.0 as usize;
        self.received.push(Received { packet: content });
        self.probe.enter(self.now, self.clocks[host]);
        if content.is_data() {
            self.probe.arriving(self.pool.stamps(packet), self.pool.meta(packet));
        }
        self.call(host, |host, env| host.receive(env, packet));
        self.pool.free(packet);
        self.after(host);
    }

    fn enqueue(&mut self, link: usize, packet: PacketRef, hop: usize) {
        let (content, charged) = (self.pool[packet], self.pool.charged(packet));
        let class = content.class.min(1) as usize;
        let port = &mut self.links[link];
        let waiting = port.queues[class].len() as u32;
        if !port.limits[class].admits(waiting, port.bytes[class], charged) {
            port.drops.push(content);
            self.pool.free(packet);
            return;
        }
        port.bytes[class] += charged as u64;
        port.queues[class].push_back((packet, hop));
        self.ask(link);
    }

    fn send(&mut self, link: usize) {
        self.links[link].asked = false;
        let (packet, hop) = if self.links[link].nic {
            let Some(packet) = self.call(link, |host, env| host.transmit(env, Classes::ALL)) else {
                return;
            };
            self.arm(link);
            (packet, 0)
        } else {
            let port = &mut self.links[link];
            let class = if port.queues[0].is_empty() { 1 } else { 0 };
            let Some((packet, hop)) = port.queues[class].pop_front() else { return };
            port.bytes[class] -= self.pool.charged(packet) as u64;
            (packet, hop)
        };
        self.mark(link, packet);
        let charged = self.pool.charged(packet);
        let port = &mut self.links[link];
        let tx = port.rate.tx_time(Bytes(charged as u64));
        let (ends, waiting) = (self.now + tx, port.queues[1].len());
        port.busy_until = ends;
        port.ended = Some(ends);
        // The slot model's queue does not count a packet that can start at once.
        port.most_waiting = port.most_waiting.max(waiting);
        let content = self.pool[packet];
        port.log.push(Departure { at: self.now, packet: content });
        if port.nic {
            if content.is_data() {
                let again = content.has(flag::RETRANSMIT);
                self.probe.enter(self.now, self.clocks[link]);
                let stamps = self.pool.stamps_mut(packet);
                self.probe.departs(content.flow, tx.0, again, stamps);
            }
            self.clocks[link].busy += tx.0;
            self.clocks[link].busy_until = ends.0;
        }
        self.ask(link);
        self.fly(link, packet, hop, ends);
    }

    fn mark(&mut self, link: usize, packet: PacketRef) {
        let port = &mut self.links[link];
        let data = Backlog { bytes: port.bytes[1], packets: port.queues[1].len() as u32 };
        let all = Backlog {
            bytes: data.bytes + port.bytes[0],
            packets: data.packets + port.queues[0].len() as u32,
        };
        let idle = port.ended.map(|ended| self.now.since(ended));
        let view = View { now: self.now, data, all, idle, sent: 0, rate: port.rate };
        for marker in &mut port.markers {
            marker.on_dequeue(&mut self.pool, packet, &view);
        }
    }

    fn fly(&mut self, link: usize, packet: PacketRef, hop: usize, ends: Time) {
        if hop == usize::MAX {
            return self.pool.free(packet);
        }
        let content = self.pool[packet];
        let Link { chaos, delay, .. } = self.links[link];
        let lost = self.links[link].lose.as_mut().is_some_and(|lose| lose(&content));
        if lost || self.random.chance(chaos.loss) {
            return self.pool.free(packet);
        }
        if self.random.chance(chaos.duplicate) {
            let (content, meta, extension, stamps) = self.pool.take(packet);
            let first = self.pool.put(content, meta, extension, stamps);
            let copy = self.pool.put(content, meta, extension, stamps);
            assert_eq!(first, packet);
            let late = Span(self.random.below(chaos.jitter.0 + 1));
            self.push(ends + delay + late, 0, Event::Arrive { link, packet: copy, hop });
        }
        let late = Span(self.random.below(chaos.jitter.0 + 1));
        self.push(ends + delay + late, 0, Event::Arrive { link, packet, hop });
    }
}

/// A header-only packet of no transport, for use with [`World::inject`].
pub fn stranger(bytes: u16) -> Packet {
    Packet {
        header: Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 },
        src: HostId(0),
        dst: HostId(0),
        flow: FlowId(0),
        payload: bytes - 40,
        path: 0,
        mark: 0,
        class: if bytes > 40 { 1 } else { 0 },
        transport: TransportId(77),
        flags: 0,
        extension: 0,
    }
}

/// One bottleneck in units of packets: every link sends a packet in 1us, `round` packets fill the
/// round trip exactly. Senders `0..pairs`, receivers `pairs..2 * pairs`, all over one link.
pub struct Dumbbell {
    pub world: World,
    pub pairs: u32,
    pub bottleneck: usize,
    pub round: Span,
}

/// A packet time in units of the slot model.
pub const SLOT: Span = Span::from_us(1);

pub fn slot_fabric(round: u32, buffer: Limit) -> Arc<FabricSite> {
    Arc::new(FabricSite {
        hosts: 2,
        framing: Framing::NONE,
        base_rtt: SLOT * round as u64,
        max_rate: Rate::from_gbps(12),
        rates: Arc::new([Rate::from_gbps(12)]),
        host_rate: Rate::from_gbps(12),
        buffer,
        hops: 3,
        paths: 1,
        sizes: None,
    })
}

impl Dumbbell {
    pub fn new(
        entry: &dyn Transport,
        settings: &[(&str, &str)],
        pairs: u32,
        round: u32,
        buffer: Limit,
    ) -> Dumbbell {
        Dumbbell::with(entry, settings, pairs, slot_fabric(round, buffer), 0)
    }

    pub fn with(
        entry: &dyn Transport,
        settings: &[(&str, &str)],
        pairs: u32,
        fabric: Arc<FabricSite>,
        seed: u64,
    ) -> Dumbbell {
        let settings: Vec<(String, String)> =
            settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let what = entry.configure(&settings, fabric.clone()).expect("valid settings");
        let rate = fabric.host_rate;
        let mut world = World::new(fabric.framing, 4_096, seed);
        let host = |host| HostSite {
            host: HostId(host),
            rate,
            bdp_packets: fabric.bdp_packets(rate),
            fabric: fabric.clone(),
        };
        for number in 0..2 * pairs {
            world.host(what.as_ref(), &host(number), Span::ZERO);
        }
        let port = |port| PortSite {
            port,
            rate,
            nic: false,
            tier: 1,
            upward: false,
            buffer: fabric.buffer,
            fabric: fabric.clone(),
        };
        let grant = rate.tx_time(Bytes(fabric.framing.charged_header() as u64));
        let way_back = fabric.base_rtt.saturating_sub(fabric.mtu_time(rate) * 2 + grant * 2);
        // The bottleneck leads straight to the receivers: a second port would say its part, too.
        let bottleneck = world.link(what.as_ref(), &port(100), Span::ZERO);
        let back = world.link(what.as_ref(), &port(101), way_back);
        for pair in 0..pairs {
            world.path(pair, pairs + pair, &[bottleneck]);
            world.path(pairs + pair, pair, &[back]);
        }
        let round = fabric.base_rtt;
        Dumbbell { world, pairs, bottleneck, round }
    }

    /// A flow of one pair, with the pair's number.
    pub fn flow(&mut self, pair: u32, packets: u32, start: Time) {
        self.world.flow(pair, pair, self.pairs + pair, packets, start);
    }

    /// Makes the port's sampling period begin just before `at`.
    pub fn prime(&mut self, at: Time) {
        let header = Span::from_ns(27);
        self.world.inject(self.bottleneck, stranger(40), at - header);
    }

    /// Data packets of each round that begin transmission at the bottleneck, and the data queue
    /// at the ends of rounds; rounds begin at `from`.
    pub fn rounds(&mut self, from: Time, count: u32) -> (Vec<usize>, Vec<usize>) {
        let mut queue = vec![];
        for round in 1..=count as u64 {
            self.world.run(from + self.round * round);
            queue.push(self.world.data_waiting(self.bottleneck));
        }
        let log = &self.world.links[self.bottleneck].log;
        let mut sent = vec![0; count as usize];
        for departure in log.iter().filter(|d| d.packet.is_data() && d.at >= from) {
            let round = departure.at.since(from).0 / self.round.0;
            sent[round as usize] += (round < count as u64) as usize;
        }
        (sent, queue)
    }
}

/// Thirty flows over a dumbbell whose links lose, duplicate and delay packets.
pub fn fuzz(entry: &dyn Transport, seed: u64, settings: &[(&str, &str)]) -> World {
    let mut random = Random::new(seed, 1, 1);
    let pairs = 4;
    let fabric = slot_fabric(10 + random.below(30) as u32, Limit::Packets(60));
    let mut net = Dumbbell::with(entry, settings, pairs, fabric, seed);
    let mut percent = || random.below(5) as f64 / 100.0 + 0.01;
    for link in 0..net.world.links.len() {
        let (loss, duplicate) = (percent(), percent());
        net.world.chaos(link, Chaos { loss, duplicate, jitter: SLOT * (seed % 20) });
    }
    for flow in 0..30 {
        let (src, dst) = (random.below(4) as u32, random.below(4) as u32 + pairs);
        let path: Vec<usize> = vec![net.bottleneck];
        net.world.path(src, dst, &path);
        net.world.path(dst, src, &[net.bottleneck + 1]);
        let packets = 1 + if flow % 3 == 0 { random.below(400) } else { random.below(30) };
        let size = packets * 1_460 - random.below(1_460);
        let start = Time::ZERO + SLOT * random.below(2_000);
        net.world.open(flow, src, dst, size, start, Segments::Uniform(1_460));
    }
    net.world.run(Time::ZERO + Span::from_secs(1));
    net.world
}

/// Everything arrived, each byte once; nothing is left; and the clock of grants was kept.
pub fn check_fuzz(world: &World, most_per_grant: u32) {
    assert_eq!(world.probe.outcomes().len(), 30, "all flows complete");
    assert_eq!(world.open_flows(), 0, "and no state is left");
    let mut ranges: Vec<_> = world.probe.deliveries().to_vec();
    ranges.sort_unstable();
    let mut ends = [0; 30];
    for (flow, offset, payload) in ranges {
        assert_eq!(offset, ends[flow.0 as usize], "each byte once");
        ends[flow.0 as usize] += payload as u64;
    }
    for (flow, end) in ends.iter().enumerate() {
        assert_eq!(*end, world.probe.bytes_delivered(FlowId(flow as u32)));
    }
    let sent = || world.links.iter().filter(|link| link.nic).flat_map(|link| &link.log);
    let count = |what: &dyn Fn(&Packet) -> bool| sent().filter(|d| what(&d.packet)).count() as u64;
    let data = count(&|p| p.is_data());
    let answers = count(&|p| !p.is_data());
    let received = |data: bool| world.received.iter().filter(move |r| r.packet.is_data() == data);
    let taken = received(true).count() as u64;
    assert!(answers >= taken, "every data packet is answered");
    assert!(answers <= taken + world.timer_wakes * 30, "other grants come from timers");
    let unscheduled = count(&|p| match p.header {
        Header::Data { flags, .. } => flags & data_flag::UNSCHEDULED != 0,
        _ => false,
    });
    let grants = received(false).filter(|r| matches!(r.packet.header, Header::Grant { .. }));
    let granted = grants.count() as u64 * most_per_grant as u64;
    assert!(data <= unscheduled + granted + world.timer_wakes * 30);
    let again = count(&|p| p.is_data() && p.has(flag::RETRANSMIT));
    let distinct: u64 = {
        let mut seen: Vec<_> = sent()
            .filter(|d| d.packet.is_data())
            .map(|d| (d.packet.flow, d.packet.header.data_key()))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len() as u64
    };
    assert_eq!(data - again, distinct, "every transmission but the first is flagged");
}
