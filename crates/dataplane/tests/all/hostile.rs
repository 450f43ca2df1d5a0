//! Frames that somebody makes up: well-formed or not, of flows that exist, at hosts and switches.

use incast_dataplane::{
    Arrival, Buffer, Departure, Frame, Mem, PacketIo, Payload, Testbed, Virtual,
};
use incast_testkit::{Trial, at, fabric, flow};
use incast_transport::*;
use incast_wire::{Explicit, INT_HOPS, IntRecord, PADDING_PAIRS, SACK_RANGES, checksum, encode};
use incast_world::Monitor;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Flows with a higher number are forged.
const HONEST: u32 = 4;
/// Picoseconds between two forged frames at a port.
const GAP: u64 = 2_000_000;
/// How long a run goes on after the last forged frame and the last byte of an honest flow: what
/// forged flows do to each other from then on is not of interest, and there is much of it.
const REST: Span = Span::from_us(200);

/// Values that are wrong in some way.
fn odd(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => 0,
        1 => u32::MAX - random.below(3) as u32,
        2 => 1 << random.below(32),
        3 => (1 << random.below(32)) - 1,
        4 => random.below(8) as u32,
        5 => random.below(2_000) as u32,
        6 => random.below(3_000_000) as u32,
        _ => random.below(1 << 32) as u32,
    }
}

fn any_extension(random: &mut Random) -> Extension {
    let mut ranges = [(0, 0); SACK_RANGES];
    ranges.fill_with(|| (odd(random), odd(random)));
    let mut records = [IntRecord::default(); INT_HOPS];
    records.fill_with(|| IntRecord {
        rate_code: random.below(16) as u8,
        timestamp: odd(random),
        sent: odd(random),
        queued: odd(random) as u16,
        ..IntRecord::default()
    });
    let (sacks, hops) = (random.below(4) as u8, random.below(1 + INT_HOPS as u64) as u8);
    let fields = match random.below(4) {
        0 => Explicit::Window {
            long: random.chance(0.5),
            rtt: odd(random),
            spacing: odd(random),
            feedback: odd(random) as i32,
            reverse: odd(random) as i32,
        },
        1 => Explicit::Rate { rtt: odd(random), forward: odd(random), reverse: odd(random) },
        2 => Explicit::Class { class: odd(random) as u8 },
        _ => Explicit::Stamp { sent: (odd(random) as u64) << 32 | odd(random) as u64 },
    };
    let extension = match random.below(7) {
        0 | 1 => Extension::None,
        2 => Extension::Sack { count: sacks, ranges },
        3 => Extension::Int { count: hops, records },
        4 => Extension::Padding { count: random.below(1 + PADDING_PAIRS as u64) as u8 },
        5 => Extension::Explicit { fields, count: sacks, ranges },
        _ => Extension::Arrivals {
            base: odd(random),
            bits: (odd(random) as u64) << 32 | odd(random) as u64,
            received: (odd(random) as u64) << 32 | odd(random) as u64,
            beyond: odd(random) as u16,
        },
    };
    extension.rounded()
}

/// Makes frames up.
struct Forger {
    random: Random,
    /// Packets that were seen in a run of the same flows.
    seen: Vec<(Packet, Extension)>,
    flows: Vec<Flow>,
}

impl Forger {
    /// A header of some kind; of those that were seen, most of its fields as they were. The first
    /// `kept` words stay.
    fn header(&mut self, seen: &Header, kept: usize) -> Header {
        let random = &mut self.random;
        let mut bytes = [0; 12];
        let mut header = *seen;
        if kept == 0 && random.chance(0.2) {
            let all = Header::samples(odd(random), random.below(256) as u8);
            header = all[random.below(all.len() as u64) as usize];
        }
        header.write(&mut bytes);
        for word in bytes.as_chunks_mut::<4>().0.iter_mut().skip(kept) {
            if random.chance(0.4) {
                *word = odd(random).to_be_bytes();
            }
        }
        Header::read(header.kind(), &bytes).unwrap()
    }

    /// A packet of a forged flow, in which little is right but its checksums.
    fn packet(&mut self) -> (Packet, Extension) {
        let place = self.random.below(self.seen.len() as u64) as usize;
        let (seen, extension) = self.seen[place];
        // Often it says where its payload belongs as the flow's own packets do.
        let true_place = seen.is_data() && self.random.chance(0.7);
        let kept = match seen.header {
            _ if !true_place => 0,
            Header::Data { .. } => 2,
            _ => 1,
        };
        let header = self.header(&seen.header, kept);
        let random = &mut self.random;
        let forged = self.flows.len() as u64 - HONEST as u64;
        let flow = &self.flows[(HONEST as u64 + random.below(forged)) as usize];
        let (src, dst) = (flow.src, flow.dst);
        let (src, dst) = if true_place || random.chance(0.5) { (src, dst) } else { (dst, src) };
        let extension = if random.chance(0.5) { extension } else { any_extension(random) };
        let flags =
            if true_place || random.chance(0.5) { seen.flags } else { random.below(8) as u8 };
        let payload = match random.below(4) {
            _ if flags & flag::TRIMMED != 0 => 0,
            _ if true_place => seen.payload,
            0 => odd(random) as u16 % 9_000,
            1 => 0,
            _ => seen.payload,
        };
        let packet = Packet {
            header,
            src,
            dst,
            flow: flow.id,
            payload,
            flags,
            path: odd(random) as u16,
            mark: random.below(4) as u8,
            class: random.below(8) as u8,
            extension: extension.bytes(),
            ..seen
        };
        (packet, extension)
    }

    fn frame(&mut self) -> Vec<u8> {
        let (packet, extension) = self.packet();
        let mut bytes = vec![];
        encode(&packet, &extension, &mut bytes);
        let random = &mut self.random;
        match random.below(10) {
            0 => {
                let length = random.below(2_000) as usize;
                bytes.clear();
                bytes.resize_with(length, || random.below(256) as u8);
            }
            1 => bytes.truncate(random.below(bytes.len() as u64) as usize),
            2 => {
                // Some bytes are wrong, and the checksum of the IPv4 header is right.
                for _ in 0..3 {
                    let at = random.below(40) as usize;
                    bytes[at] = random.below(256) as u8;
                }
                bytes[10..12].fill(0);
                let sum = checksum(&bytes[..20]);
                bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            3 => {
                let padding = bytes.len() + random.below(100) as usize;
                bytes.resize(padding, 0xA5);
            }
            _ => {}
        }
        bytes
    }
}

/// A link layer on which somebody else sends, too: a forged frame by each port in turn.
struct Hostile<'a> {
    inner: Mem,
    forger: Forger,
    /// When the next one comes, by port.
    next: Vec<Time>,
    left: u64,
    forged: u64,
    /// Bytes of honest flows that have not arrived.
    missing: &'a Cell<u64>,
    /// When all was there and sent.
    settled: Option<Time>,
    monitor: &'a Monitor,
}

impl Hostile<'_> {
    /// Ends the run a while after nothing is missing any more.
    fn look(&mut self, now: Time) {
        if self.settled.is_none() && self.left == 0 && self.missing.get() == 0 {
            self.settled = Some(now);
        }
        if self.settled.is_some_and(|at| now >= at + REST) {
            self.monitor.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl PacketIo for Hostile<'_> {
    type Frame = Buffer;

    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        self.look(now);
        let count = self.inner.rx_burst(port, now, most, into);
        let next = &mut self.next[port as usize];
        if *next > now {
            return count;
        }
        let due = std::mem::replace(next, Time(next.0 + GAP));
        self.left -= 1;
        if self.left == 0 {
            self.next.fill(Time::NEVER);
        }
        let bytes = self.forger.frame();
        let Some(mut frame) = self.inner.alloc(bytes.len()) else { return count };
        frame.bytes_mut().copy_from_slice(&bytes);
        into.push(Arrival { at: due, complete: due, frame });
        self.forged += 1;
        count + 1
    }

    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        self.inner.alloc(length)
    }

    fn free(&mut self, frame: Buffer) {
        self.inner.free(frame);
    }

    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        self.inner.stage(port, frame, departure)
    }

    fn flush(&mut self, port: u32) -> usize {
        self.inner.flush(port)
    }

    fn room(&mut self, port: u32) -> usize {
        self.inner.room(port)
    }

    fn due(&mut self, port: u32) -> Time {
        self.inner.due(port).min(self.next[port as usize])
    }

    fn held(&self) -> usize {
        self.inner.held()
    }
}

/// What an application is given: within its flow, each byte of an honest flow once and right.
struct Watched<'a> {
    /// Receivers forget a flow that its source does not know: it may begin anew, if it is forged.
    forgets: bool,
    flows: Vec<Vec<u8>>,
    arrived: Vec<Vec<bool>>,
    delivered: Vec<u64>,
    /// Bytes of honest flows that have not arrived.
    missing: &'a Cell<u64>,
}

impl Watched<'_> {
    fn new<'a>(flows: &[Flow], name: &str, missing: &'a Cell<u64>) -> Watched<'a> {
        let forgets = matches!(name, "homa" | "aeolus");
        let mut random = Random::new(9, 0, 0);
        let draw = |flow: &Flow| (0..flow.size).map(|_| random.below(256) as u8).collect();
        let arrived = flows.iter().map(|flow| vec![false; flow.size as usize]).collect();
        let delivered = vec![0; flows.len()];
        missing.set(flows[..HONEST as usize].iter().map(|flow| flow.size).sum());
        Watched { forgets, flows: flows.iter().map(draw).collect(), arrived, delivered, missing }
    }
}

impl Payload for Watched<'_> {
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8] {
        &self.flows[flow.0 as usize][offset as usize..offset as usize + length]
    }

    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]) {
        let index = flow.0 as usize;
        let place = offset as usize..offset as usize + bytes.len();
        self.delivered[index] += bytes.len() as u64;
        let arrived = &mut self.arrived[index][place.clone()];
        let anew = self.forgets && flow.0 >= HONEST;
        assert!(anew || !arrived.contains(&true), "flow {index}: bytes at {offset} come twice");
        arrived.fill(true);
        if flow.0 < HONEST {
            assert_eq!(bytes, &self.flows[index][place], "flow {index} at {offset}");
            self.missing.set(self.missing.get() - bytes.len() as u64);
        }
    }
}

fn scenario(entry: &'static dyn Transport) -> Trial<'static> {
    let fabric = fabric("dumbbell:3x3", Rate::from_gbps(10), Span::from_us(2));
    let pairs = [(0, 3), (1, 4), (4, 0), (2, 3), (0, 4), (1, 3), (3, 1), (2, 5), (5, 2), (0, 3)];
    let flows = pairs.iter().enumerate().map(|(id, (src, dst))| {
        flow(id as u32, *src, *dst, 150_000 + 12_345 * id as u64, at(10 * id as u64))
    });
    let mut trial = Trial::new(entry, fabric, flows.collect());
    trial.buffer = Limit::Packets(64);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    // TIMELY is slow to recover, forged frames or not.
    let until = if entry.info().name == "timely" { 1_000 } else { 50 };
    trial.options.until = Time::ZERO + Span::from_ms(until);
    trial
}

/// Lets `frames` forged frames loose on a transport.
fn survives(entry: &'static dyn Transport, frames: u64, seed: u64) {
    survives_in(scenario(entry), frames, seed);
}

/// The same with its settings and routing.
fn survives_in(mut trial: Trial<'static>, frames: u64, seed: u64) {
    let name = trial.entry.info().name;
    let (clean, captured) = incast_dataplane::run_virtual(trial.setup());
    assert!(clean.complete, "{name}");
    trial.options.capture.clear();
    let seen = captured.iter().map(|one| (one.packet, one.extension)).collect();
    let flows: Vec<Flow> = trial.flows.iter().map(|setup| setup.flow.clone()).collect();
    let ports = trial.fabric.ports().len();
    let (missing, monitor) = (Cell::new(0), Monitor::default());
    let mut watched = Watched::new(&flows, name, &missing);
    let io = Hostile {
        inner: Mem::new(&trial.fabric, Framing::ETHERNET),
        forger: Forger { random: Random::new(seed, 1, 0), seen, flows },
        next: (0..ports).map(|port| Time(1_000 + 100_000 * port as u64)).collect(),
        left: frames,
        forged: 0,
        missing: &missing,
        settled: None,
        monitor: &monitor,
    };
    let (record, _, io) = Testbed::with(trial.setup(), io, Virtual::new())
        .carrying(&mut watched)
        .run_watched(&monitor);
    let Hostile { inner, forged, .. } = io;
    println!("{name}: {forged} forged, {} malformed", record.malformed);
    assert_eq!(forged, frames, "{name}");
    let malformed = record.malformed;
    assert!(malformed * 10 > forged && malformed < forged, "{name}: {malformed} malformed");
    assert_eq!((inner.held(), inner.lost()), (0, 0), "{name}: frames leak");
    assert!(inner.made() < 20_000, "{name}: {} frames at a time", inner.made());
    for (setup, seen) in trial.flows.iter().zip(&record.flows) {
        let (id, size) = (seen.flow.0, setup.flow.size);
        let delivered = watched.delivered[id as usize];
        assert!(seen.delivered <= size, "{name}: {} bytes of flow {id} of {size}", seen.delivered);
        if id < HONEST {
            assert_eq!(delivered, size, "{name}: flow {id}");
            assert!(seen.completed.is_some(), "{name}: flow {id} does not finish");
        }
    }
}

/// Every fourth transport of the catalogue: the parts run side by side.
fn part_survives(part: usize) {
    for entry in incast_protocols::CATALOGUE.iter().skip(part).step_by(4) {
        survives(*entry, 100_000 / incast_protocols::CATALOGUE.len() as u64 + 1, 1);
    }
}

macro_rules! in_parts {
    ($($name:ident: $part:literal),*) => {$(
        #[test]
        fn $name() {
            part_survives($part);
        }
    )*};
}
in_parts! {
    forged_frames_are_counted_and_harm_only_their_flows_1_of_4: 0,
    forged_frames_are_counted_and_harm_only_their_flows_2_of_4: 1,
    forged_frames_are_counted_and_harm_only_their_flows_3_of_4: 2,
    forged_frames_are_counted_and_harm_only_their_flows_4_of_4: 3
}

/// ACKs of packets that were never sent, and data of any number, where packets may come in any order.
#[test]
fn forged_frames_harm_no_flow_whose_packets_come_in_any_order() {
    for name in ["swift", "dctcp", "hpcc"] {
        for routing in [Routing::Entropy, Routing::Spray] {
            let mut trial = scenario(incast_protocols::find(name).unwrap());
            trial.settings = vec![("reliability", "unordered"), ("path_choice", "mixed")];
            trial.routing = Some(routing);
            survives_in(trial, 3_000, 1);
        }
    }
}

/// Requests for credits in the name of sources that have no such flow: the credits fill the ports
/// behind their destination, but not for ever.
#[test]
fn credits_that_nobody_asked_for_starve_nobody_for_long() {
    for name in ["expresspass", "ccrp"] {
        let mut trial = scenario(incast_protocols::find(name).unwrap());
        trial.options.capture.clear();
        let never = |id, src, dst| flow(id, src, dst, 150_000, Time::NEVER);
        let forged = [(1, 3), (2, 3), (1, 5), (2, 5)].iter().zip(1..);
        let forged = forged.map(|((src, dst), id)| never(id, *src, *dst));
        trial.flows = std::iter::once(flow(0, 0, 3, 150_000, at(100)))
            .chain(forged)
            .map(|flow| incast_testkit::setup_of(flow, trial.entry.info().id))
            .collect();
        let mut testbed = Testbed::new(trial.setup());
        for setup in &trial.flows[1..] {
            let Flow { id, src, dst, .. } = setup.flow;
            let back = trial.fabric.host_port(dst.0).0;
            let header = Header::Request { packets: 1_000, stamp: 0, segment: 0, flags: 0 };
            let request = Packet::header_only(setup.transport, id, src, dst, 1, header);
            let mut bytes = vec![];
            encode(&request, &Extension::None, &mut bytes);
            assert!(testbed.inject(back, Time(10_000 + id.0 as u64), &bytes));
        }
        let (record, ..) = testbed.run();
        assert_eq!(record.malformed, 0, "{name}");
        let completed = record.flows[0].completed.unwrap_or_else(|| panic!("{name}: starved"));
        assert!(completed < at(20_000), "{name}: {completed}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn ten_million_forged_frames() {
    let mut failed = vec![];
    for seed in 2..102 {
        for entry in incast_protocols::CATALOGUE {
            let frames = 100_000 / incast_protocols::CATALOGUE.len() as u64 + 1;
            // All that fail are listed, each with what repeats it.
            if catch_unwind(AssertUnwindSafe(|| survives(*entry, frames, seed))).is_err() {
                failed.push((entry.info().name, seed));
            }
        }
    }
    assert!(failed.is_empty(), "transports and seeds: {failed:?}");
}
