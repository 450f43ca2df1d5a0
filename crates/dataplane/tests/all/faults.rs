//! What befalls nodes of a real network, in memory: a link that goes down and comes up, a process that does not
//! run for 5 s, a clock that jumps, and frames of somebody hostile. Whoever is concerned fails once, in time;
//! messages of others go on, and tables stay bounded.

use bytes::Bytes;
use incast_dataplane::endpoint::{Endpoint, Event, Failure, Limits, MessageId, REMEMBERED, Tables};
use incast_dataplane::{Arrival, Buffer, Clock, Departure, Mem, PacketIo, SharedClock, Testbed};
use incast_fabric::{Fabric, LinkDefaults, parse};
use incast_transport::{HostId, Random, Rate, Span, Time};
use incast_world::for_messages;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// Links of which some carry nothing now: what is sent by their ports is lost, as at an interface that is down.
struct Links {
    mem: Mem,
    down: BTreeSet<u32>,
}

/// The links as a process sees them whose clock is ahead.
struct Wire {
    links: Rc<RefCell<Links>>,
    ahead: Rc<Cell<u64>>,
}

impl Wire {
    /// A time of the process by the clock of the links.
    fn theirs(&self, at: Time) -> Time {
        if at == Time::NEVER { at } else { Time(at.0.saturating_sub(self.ahead.get())) }
    }

    fn ours(&self, at: Time) -> Time {
        at.saturating_add(Span(self.ahead.get()))
    }
}

impl PacketIo for Wire {
    type Frame = Buffer;
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        let (had, now) = (into.len(), self.theirs(now));
        let count = self.links.borrow_mut().mem.rx_burst(port, now, most, into);
        for one in &mut into[had..] {
            (one.at, one.complete) = (self.ours(one.at), self.ours(one.complete));
        }
        count
    }
    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        self.links.borrow_mut().mem.alloc(length)
    }
    fn free(&mut self, frame: Buffer) {
        self.links.borrow_mut().mem.free(frame)
    }
    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        let Departure { start, release, complete } = departure;
        let [start, release, complete] = [start, release, complete].map(|at| self.theirs(at));
        let mut links = self.links.borrow_mut();
        if links.down.contains(&port) {
            links.mem.free(frame);
            return Ok(());
        }
        links.mem.stage(port, frame, Departure { start, release, complete })
    }
    fn flush(&mut self, port: u32) -> usize {
        self.links.borrow_mut().mem.flush(port)
    }
    fn room(&mut self, port: u32) -> usize {
        self.links.borrow_mut().mem.room(port)
    }
    fn due(&mut self, port: u32) -> Time {
        let due = self.links.borrow_mut().mem.due(port);
        self.ours(due)
    }
    fn held(&self) -> usize {
        self.links.borrow().mem.held()
    }
}

/// A clock that is ahead of the others' by what it has jumped.
struct Jumping {
    shared: SharedClock,
    ahead: Rc<Cell<u64>>,
}

impl Clock for Jumping {
    fn now(&mut self) -> Time {
        Time(self.shared.now().0 + self.ahead.get())
    }

    fn idle(&mut self, due: Time) {
        let due =
            if due == Time::NEVER { due } else { Time(due.0.saturating_sub(self.ahead.get())) };
        self.shared.idle(due);
    }
}

type Side = Endpoint<Wire, Jumping>;

/// Which of the clocks ticks.
const TICKS: usize = 4;

/// Three hosts and a switch.
struct Net {
    sides: Vec<Side>,
    /// Hosts whose processes do not run.
    stopped: BTreeSet<usize>,
    switch: Testbed<Wire, SharedClock>,
    clocks: Vec<SharedClock>,
    ahead: Vec<Rc<Cell<u64>>>,
    links: Rc<RefCell<Links>>,
    fabric: Arc<Fabric>,
    /// What has happened, by host.
    arrived: Vec<BTreeMap<Bytes, u32>>,
    failed: Vec<Vec<(MessageId, Failure)>>,
    sent: Vec<u32>,
}

impl Net {
    fn new(transport: &str) -> Net {
        let (rate, propagation) = (Rate::from_gbps(1), Span::from_us(5));
        let fabric =
            Arc::new(parse("star:3", LinkDefaults { rate, propagation, loss: 0.0 }).unwrap());
        let entry = incast_protocols::find(transport).unwrap();
        let setup = || for_messages(&fabric, entry, &[]).unwrap();
        let mem = Mem::new(&fabric, setup().framing);
        let links = Rc::new(RefCell::new(Links { mem, down: BTreeSet::new() }));
        let clocks = SharedClock::of(5);
        let ahead: Vec<Rc<Cell<u64>>> = (0..3).map(|_| Rc::default()).collect();
        let side = |host: usize| {
            let clock = Jumping { shared: clocks[host].clone(), ahead: ahead[host].clone() };
            let limits = Limits { arrivals: 1_000, arriving: 4 << 20, ..Limits::default() };
            let wire = Wire { links: links.clone(), ahead: ahead[host].clone() };
            Endpoint::within(limits, wire, clock, setup(), HostId(host as u32), 1)
        };
        let sides = (0..3).map(side).collect();
        let wire = Wire { links: links.clone(), ahead: Rc::default() };
        let switch = Testbed::part(setup(), wire, clocks[3].clone(), &[3]);
        Net {
            sides,
            stopped: BTreeSet::new(),
            switch,
            clocks,
            ahead,
            links,
            fabric,
            arrived: vec![BTreeMap::new(); 3],
            failed: vec![vec![]; 3],
            sent: vec![0; 3],
        }
    }

    fn now(&mut self) -> Time {
        self.clocks[TICKS].now()
    }

    fn turn(&mut self) {
        // Time passes though nothing is due.
        let now = self.clocks[TICKS].now();
        self.clocks[TICKS].idle(now + Span::from_us(500));
        self.switch.turn();
        for host in 0..3 {
            if self.stopped.contains(&host) {
                // Others see time pass.
                let now = self.clocks[host].now();
                self.clocks[host].idle(now + Span::from_ms(1));
                continue;
            }
            match self.sides[host].poll() {
                Some(Event::Received(received)) => {
                    *self.arrived[host].entry(received.body).or_default() += 1;
                }
                Some(Event::Failed(id, why)) => self.failed[host].push((id, why)),
                Some(Event::Sent(_)) => self.sent[host] += 1,
                None => {}
            }
        }
    }

    /// Turns until `until` says so.
    fn run(&mut self, what: &str, mut until: impl FnMut(&mut Net) -> bool) {
        for _ in 0..20_000_000 {
            if until(self) {
                return;
            }
            self.turn();
        }
        panic!("{what} does not happen");
    }

    fn run_for(&mut self, span: Span) {
        let end = self.now() + span;
        self.run("time", |net| net.now() >= end);
    }

    fn send(&mut self, from: usize, to: u32, body: &Bytes) -> MessageId {
        self.sides[from].send(HostId(to), body.clone()).unwrap()
    }

    /// A message from each host to each other one arrives, once.
    fn all_is_well(&mut self, tag: u8) {
        let before: Vec<usize> = self.arrived.iter().map(BTreeMap::len).collect();
        for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            self.send(from, to, &Bytes::from(vec![tag, from as u8, to as u8, 1]));
        }
        let has = |net: &Net, host: usize| net.arrived[host].len() == before[host] + 2;
        self.run("all is well", |net| (0..3).all(|host| has(net, host)));
        assert!(
            self.arrived.iter().flat_map(BTreeMap::values).all(|count| *count == 1),
            "each once"
        );
    }

    /// Nothing is left of what happened.
    fn nothing_is_left(&mut self) {
        self.run_for(REMEMBERED + REMEMBERED + Span::from_secs(11));
        // What is only remembered is looked through when the next message comes.
        self.all_is_well(255);
        self.run_for(Span::from_us(500));
        for side in &self.sides {
            let Tables { outgoing, arriving, names, probe, requests, transport } = side.tables();
            assert_eq!((outgoing, arriving, probe, requests), (0, 0, 0, 0));
            assert!(names <= 8 && transport <= 8, "{names} {transport}");
        }
    }
}

/// A message that takes 8 ms alone.
fn large(tag: u8) -> Bytes {
    Bytes::from(vec![tag; 1_000_000])
}

const TRANSPORTS: [&str; 4] = ["dctcp", "ren", "ndp", "homa"];

/// Down for 200 ms, which no timeout of messages notices: all arrives. Down for 3 s: the message that needs the link
/// fails after 2 s, once; and when it is up again, all is well.
#[test]
fn a_link_goes_down_and_up() {
    for name in TRANSPORTS {
        let mut net = Net::new(name);
        let port = net.fabric.host_port(2).0;
        let both = BTreeSet::from([port, net.fabric.ports()[port as usize].reverse.0]);
        for (down, arrives) in [(Span::from_ms(200), true), (Span::from_secs(3), false)] {
            let (hurt, other) = (large(1 + arrives as u8), large(3 + arrives as u8));
            let id = net.send(0, 2, &hurt);
            net.send(1, 0, &other);
            net.run_for(Span::from_ms(2));
            net.links.borrow_mut().down = both.clone();
            net.run_for(down);
            net.links.borrow_mut().down.clear();
            assert_eq!(net.arrived[0].get(&other), Some(&1), "{name}: others go on");
            net.run(name, |net| net.arrived[2].contains_key(&hurt) || !net.failed[0].is_empty());
            match arrives {
                true => assert_eq!(net.failed[0], [], "{name}"),
                false => assert_eq!(net.failed[0], [(id, Failure::Silent)], "{name}"),
            }
            net.all_is_well(arrives as u8);
        }
        net.nothing_is_left();
    }
}

/// A process that is stopped for 5 s, and whose clock is then 5 s on: what was under way to it fails after 2 s, and
/// so does what was under way from it, once each. Then all is well.
#[test]
fn a_process_does_not_run_for_5_s() {
    for name in TRANSPORTS {
        let mut net = Net::new(name);
        let (to, from, other) = (large(1), large(2), large(3));
        let sent = net.send(0, 2, &to);
        net.send(2, 1, &from);
        net.send(1, 0, &other);
        net.run_for(Span::from_ms(2));
        net.stopped.insert(2);
        net.run_for(Span::from_secs(5));
        assert_eq!(net.arrived[0].get(&other), Some(&1), "{name}: others go on");
        assert_eq!(net.failed[0], [(sent, Failure::Silent)], "{name}: in time");
        net.stopped.clear();
        net.run_for(Span::from_secs(12));
        let [(_, Failure::Silent | Failure::Stalled)] = net.failed[2][..] else {
            panic!("{name}: {:?}", net.failed[2])
        };
        assert_eq!(net.failed[0].len() + net.failed[1].len(), 1, "{name}: once");
        net.all_is_well(9);
        net.nothing_is_left();
    }
}

/// The clock of one host jumps ahead, by less and by more than messages wait. What fails does so once, what arrives
/// is whole, and then all is well.
#[test]
fn a_clock_jumps() {
    for name in TRANSPORTS {
        for jump in [Span::from_ms(50), Span::from_secs(1), Span::from_secs(60)] {
            let mut net = Net::new(name);
            let (to, from, other) = (large(1), large(2), large(3));
            net.send(0, 2, &to);
            net.send(2, 1, &from);
            net.send(1, 0, &other);
            net.run_for(Span::from_ms(2));
            net.ahead[2].set(jump.0);
            net.run_for(Span::from_secs(13));
            assert_eq!(net.arrived[0].get(&other), Some(&1), "{name} {jump}: others go on");
            for (source, sink, body) in [(0, 2, &to), (2, 1, &from)] {
                let (ended, whole) = (
                    net.failed[source].len() as u32 + net.sent[source],
                    net.arrived[sink].get(body),
                );
                assert_eq!(ended, 1, "{name} {jump}: host {source} is told once");
                assert!(
                    net.sent[source] == 0 || whole == Some(&1),
                    "{name} {jump}: what was sent is there"
                );
            }
            if jump < Limits::default().silence {
                assert!(net.failed.iter().all(Vec::is_empty), "{name} {jump}: {:?}", net.failed);
            }
            net.all_is_well(9);
            net.nothing_is_left();
        }
    }
}

/// 10^5 frames of somebody hostile at every port of the network, whole ones that were seen and changed, and noise:
/// no table grows beyond its limit, and honest messages arrive, unless a forged frame says that it is one of theirs.
#[test]
fn a_hundred_thousand_hostile_frames() {
    for name in ["dctcp", "ndp"] {
        let mut net = Net::new(name);
        let mut random = Random::new(7, 7, 7);
        let ports = net.fabric.ports().len() as u64;
        let mut seen: Vec<Vec<u8>> = vec![];
        let body = |round: u32| Bytes::from([&round.to_be_bytes()[..], &[7; 40_000]].concat());
        for round in 0..100 {
            net.send(0, 1, &body(round));
            for _ in 0..1_000 {
                let port = random.below(ports) as u32;
                let mut frame = match seen.is_empty() || random.chance(0.2) {
                    true => vec![0; 1 + random.below(1_400) as usize],
                    false => seen[random.below(seen.len() as u64) as usize].clone(),
                };
                if seen.is_empty() {
                    frame.iter_mut().for_each(|byte| *byte = random.next_u64() as u8);
                }
                forge(&mut frame, &mut random);
                let due = net.now() + Span::from_us(1 + random.below(300));
                net.links.borrow_mut().mem.inject(port, due, &frame);
            }
            net.run_for(Span::from_ms(1));
            for side in &net.sides {
                let Tables { outgoing, arriving, names, probe, .. } = side.tables();
                assert!(
                    outgoing <= 100 && arriving <= 1_000 && names <= 5_000 && probe <= 5_000,
                    "{name}"
                );
            }
            if seen.len() < 200 {
                seen.extend(frames_of(name, round));
            }
        }
        net.run_for(Span::from_secs(12));
        let whole = (0..100).filter(|round| net.arrived[1].contains_key(&body(*round))).count();
        let told = net.failed[0].len() + net.sent[0] as usize;
        assert_eq!(told, 100, "{name}: each ends");
        assert!(whole >= 95, "{name}: {whole} of 100");
        net.all_is_well(9);
    }
}

/// Frames of an honest message between two hosts, as they cross a link.
fn frames_of(name: &str, round: u32) -> Vec<Vec<u8>> {
    let mut net = Net::new(name);
    net.send(0, 2, &Bytes::from(vec![round as u8; 20_000]));
    let port = net.fabric.ports()[net.fabric.host_port(2).0 as usize].reverse.0;
    let mut frames = vec![];
    // What the switch hands to the link of host 2, whose process does not run.
    net.stopped.insert(2);
    net.run_for(Span::from_ms(1));
    let mut arrived = vec![];
    let at = net.fabric.host_port(2).0;
    let _ = port;
    net.links.borrow_mut().mem.rx_burst(at, Time(u64::MAX), 32, &mut arrived);
    for one in arrived {
        frames.push(incast_dataplane::Frame::bytes(&one.frame).to_vec());
        net.links.borrow_mut().mem.free(one.frame);
    }
    frames
}

/// Changes a frame somewhere, and makes its checksums right again, mostly.
fn forge(frame: &mut [u8], random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        // Addresses, flow, transport, kind and its own fields.
        let at = match random.below(4) {
            0 => random.below(frame.len() as u64) as usize,
            _ => (12 + random.below(28) as usize).min(frame.len() - 1),
        };
        frame[at] = random.next_u64() as u8;
    }
    if frame.len() >= 40 && random.chance(0.9) {
        frame[10..12].fill(0);
        let sum = incast_wire::checksum(&frame[..20]);
        frame[10..12].copy_from_slice(&sum.to_be_bytes());
        frame[26..28].fill(0);
        let sum = incast_wire::checksum(&frame[20..40]);
        frame[26..28].copy_from_slice(&sum.to_be_bytes());
    }
}
