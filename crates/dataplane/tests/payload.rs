//! Real bytes through the data plane: what an application lends arrives, each byte once.

use incast_dataplane::{Mem, PacketIo, Payload, Testbed, Virtual};
use incast_fabric::{LinkDefaults, parse};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;

/// Random bytes of each flow, and what has arrived of them.
struct Carried {
    flows: Vec<Vec<u8>>,
    arrived: Vec<Vec<Option<u8>>>,
}

impl Carried {
    fn new(trial: &Trial<'_>) -> Carried {
        let mut random = Random::new(7, 0, 0);
        let sizes = trial.flows.iter().map(|setup| setup.flow.size as usize);
        let draw = |size| (0..size).map(|_| random.below(256) as u8).collect();
        let flows: Vec<Vec<u8>> = sizes.map(draw).collect();
        let arrived = flows.iter().map(|bytes| vec![None; bytes.len()]).collect();
        Carried { flows, arrived }
    }

    fn check(&self, what: &str) {
        for (id, (sent, arrived)) in self.flows.iter().zip(&self.arrived).enumerate() {
            let wrong = sent.iter().zip(arrived).position(|(sent, got)| Some(*sent) != *got);
            assert_eq!(wrong, None, "{what}: first wrong byte of flow {id}");
        }
    }
}

impl Payload for Carried {
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8] {
        &self.flows[flow.0 as usize][offset as usize..offset as usize + length]
    }

    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]) {
        let place = &mut self.arrived[flow.0 as usize][offset as usize..][..bytes.len()];
        for (place, byte) in place.iter_mut().zip(bytes) {
            assert_eq!(*place, None, "a byte of flow {} comes twice", flow.0);
            *place = Some(*byte);
        }
    }
}

/// Flows on links of 10 Gb/s that lose `loss` of all packets.
fn lossy(name: &'static str, spec: &str, loss: f64, flows: Vec<Flow>) -> Trial<'static> {
    let (rate, propagation) = (Rate::from_gbps(10), Span::from_us(4));
    let fabric = parse(spec, LinkDefaults { rate, propagation, loss }).unwrap();
    let mut trial = Trial::new(incast_protocols::find(name).unwrap(), fabric, flows);
    trial.options.until = Time::ZERO + Span::from_secs(20);
    trial
}

/// Runs it and compares what arrives with what was sent. No frame may be left.
fn carries(trial: &Trial<'static>) -> RunRecord {
    let what = trial.names()[0];
    let mut bytes = Carried::new(trial);
    let (record, _, io) = Testbed::new(trial.setup()).carrying(&mut bytes).run();
    assert!(record.complete, "{what} does not finish");
    assert_eq!((record.malformed, io.held(), io.lost()), (0, 0, 0), "{what}");
    bytes.check(what);
    record
}

#[test]
fn bytes_arrive_through_switches_that_lose_packets() {
    for name in ["dctcp", "ren"] {
        let flows = vec![flow(0, 0, 2, 3_000_000, Time::ZERO), flow(1, 1, 3, 999_999, at(100))];
        let record = carries(&lossy(name, "dumbbell:2x2", 0.01, flows));
        assert!(record.link_losses > 50, "{name}: {} losses", record.link_losses);
        assert!(record.flows[0].retransmits > 20, "{name}");
    }
}

#[test]
fn bytes_arrive_behind_trimmed_packets() {
    let flows = (0..6).map(|id| flow(id, id, 6, 700_000 + id as u64, Time::ZERO)).collect();
    let mut trial = lossy("ndp", "dumbbell:6x1", 0.0, flows);
    trial.buffer = Limit::Packets(8);
    let record = carries(&trial);
    let trims: u32 = record.ports.iter().map(|port| port.total.trims).sum();
    assert!(trims > 50, "{trims} packets were trimmed");
}

#[test]
fn bytes_arrive_behind_telemetry_that_grows() {
    for name in ["hpcc", "hpcc+"].into_iter().filter(|name| incast_protocols::find(name).is_some())
    {
        let flows = vec![flow(0, 0, 2, 3_000_000, Time::ZERO), flow(1, 1, 3, 500_001, at(50))];
        let record = carries(&lossy(name, "dumbbell:2x2", 0.001, flows));
        let grown = record.flows[0].extension_bytes / (3_000_000 / 1_460);
        assert!(grown >= 2 + 2 * 8, "{name}: {grown} bytes of telemetry per packet");
    }
}

#[test]
fn bytes_of_every_transport_arrive() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let senders = (0..4).map(|id| flow(id, id, 4, 60_001 + 7_777 * id as u64, Time::ZERO));
        let across = [flow(4, 4, 0, 100_000, at(20)), flow(5, 5, 1, 1, at(30))];
        let flows: Vec<Flow> = senders.chain(across).collect();
        for loss in [0.0, 0.01] {
            let mut trial = lossy(name, "dumbbell:4x2", loss, flows.clone());
            trial.buffer = Limit::Bytes(24 << 10);
            carries(&trial);
        }
    }
}

/// Packets that come late or twice where they arrive: no byte is delivered twice.
#[test]
fn late_and_doubled_packets_are_delivered_once() {
    for entry in incast_protocols::CATALOGUE {
        let flows = vec![flow(0, 0, 2, 200_000, Time::ZERO), flow(1, 1, 3, 100_001, at(10))];
        carries(&lossy(entry.info().name, "dumbbell:2x2", 0.0, flows).impaired(3));
    }
}

/// A pool of frames that is too small loses packets, which are counted, and nothing else.
#[test]
fn packets_without_a_frame_are_lost_and_sent_again() {
    let flows = vec![flow(0, 0, 2, 300_000, Time::ZERO), flow(1, 1, 3, 300_000, Time::ZERO)];
    let trial = lossy("dctcp", "dumbbell:2x2", 0.0, flows);
    let mut bytes = Carried::new(&trial);
    let io = Mem::new(&trial.fabric, Framing::ETHERNET).limited_to(12);
    let testbed = Testbed::with(trial.setup(), io, Virtual::new()).carrying(&mut bytes);
    let (record, _, io) = testbed.run();
    assert!(record.complete && record.link_losses > 0, "{} losses", record.link_losses);
    assert_eq!((io.made(), io.held(), io.lost()), (12, 0, 0));
    bytes.check("dctcp");
}

/// Bytes that need no memory: a number scrambled.
struct Scrambled {
    sum: u64,
    delivered: u64,
    buffer: Vec<u8>,
}

/// Byte `offset`.
fn scrambled(offset: u64) -> u8 {
    let mixed = (offset / 8).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29) >> (8 * (offset % 8))) as u8
}

impl Payload for Scrambled {
    fn lend(&mut self, _: FlowId, offset: u64, length: usize) -> &[u8] {
        self.buffer.clear();
        self.buffer.extend((offset..offset + length as u64).map(scrambled));
        &self.buffer
    }

    fn deliver(&mut self, _: FlowId, offset: u64, bytes: &[u8]) {
        assert!(bytes.iter().zip(offset..).all(|(byte, at)| *byte == scrambled(at)), "at {offset}");
        self.delivered += bytes.len() as u64;
        // The sum of all offsets: with their number, that each came once.
        let (from, count) = (offset, bytes.len() as u64);
        let sum = from.wrapping_mul(count).wrapping_add(count * (count - 1) / 2);
        self.sum = self.sum.wrapping_add(sum);
    }
}

/// 1 GiB with loss, with trimming and with telemetry.
#[test]
#[ignore = "takes minutes"]
fn a_gibibyte_arrives() {
    let size = 1 << 30;
    for (name, loss) in [("dctcp", 0.01), ("ren", 0.01), ("ndp", 0.01), ("hpcc", 0.0001)] {
        let mut flows = vec![flow(0, 0, 2, size, Time::ZERO)];
        flows.extend((name == "ndp").then(|| flow(1, 1, 2, size, Time::ZERO)));
        let count = flows.len() as u64;
        let mut trial = lossy(name, "dumbbell:2x2", loss, flows);
        trial.options.until = Time::ZERO + Span::from_secs(3_000);
        let mut bytes = Scrambled { sum: 0, delivered: 0, buffer: vec![] };
        let (record, ..) = Testbed::new(trial.setup()).carrying(&mut bytes).run();
        assert!(record.complete, "{name} does not finish");
        assert_eq!(bytes.delivered, count * size, "{name}");
        let once = (size as u128 * (size as u128 - 1) / 2) as u64;
        assert_eq!(bytes.sum, once.wrapping_mul(count), "{name}: each byte once");
    }
}
