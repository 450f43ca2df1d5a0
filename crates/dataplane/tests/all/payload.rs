//! Real bytes through the data plane: what an application lends arrives, each byte once.

use incast_dataplane::{Mem, PacketIo, Payload, Ran, Testbed, Virtual};
use incast_fabric::{LinkDefaults, parse};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;
use incast_world::Monitor;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Instant;

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
    for name in ["hpcc", "hpcc_plus"] {
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
    let Ran { record, io, exhausted, .. } = testbed.run_timed(&Monitor::default());
    assert!(record.complete && record.link_losses > 0, "{} losses", record.link_losses);
    assert_eq!(exhausted, record.link_losses, "none is lost for another reason");
    assert_eq!((io.made(), io.held(), io.lost()), (12, 0, 0));
    bytes.check("dctcp");
}

/// Random bytes of a flow; any of them can be drawn without those before.
fn draw(flow: FlowId, offset: u64, length: usize, into: &mut Vec<u8>) {
    into.clear();
    let (skip, end) = ((offset % 8) as usize, offset + length as u64);
    for word in offset / 8..end.div_ceil(8) {
        let random = Random::new(7, u32::try_from(word).unwrap(), flow.0).next_u64();
        into.extend_from_slice(&random.to_le_bytes());
    }
    into.drain(..skip);
    into.truncate(length);
}

/// SHA-256 of all that a flow sends.
fn digest_of(flow: FlowId, size: u64) -> String {
    let (mut digest, mut block) = (Sha256::new(), vec![]);
    for from in (0..size).step_by(1 << 16) {
        draw(flow, from, (size - from).min(1 << 16) as usize, &mut block);
        digest.update(&block);
    }
    format!("{:x}", digest.finalize())
}

/// What has arrived of a flow: the digest of its beginning, and what came before its turn.
#[derive(Default)]
struct Arriving {
    digest: Sha256,
    next: u64,
    early: BTreeMap<u64, Vec<u8>>,
    held: usize,
    held_most: usize,
}

/// Flows of any length in little memory.
struct Streamed {
    lent: Vec<u8>,
    flows: Vec<Arriving>,
}

impl Payload for Streamed {
    fn lend(&mut self, flow: FlowId, offset: u64, length: usize) -> &[u8] {
        draw(flow, offset, length, &mut self.lent);
        &self.lent
    }

    fn deliver(&mut self, flow: FlowId, offset: u64, bytes: &[u8]) {
        let flow = &mut self.flows[flow.0 as usize];
        assert!(offset >= flow.next, "byte {offset} comes twice");
        flow.held += bytes.len();
        flow.held_most = flow.held_most.max(flow.held);
        let again = flow.early.insert(offset, bytes.into());
        assert!(again.is_none(), "byte {offset} comes twice");
        while let Some(bytes) = flow.early.remove(&flow.next) {
            flow.digest.update(&bytes);
            flow.next += bytes.len() as u64;
            flow.held -= bytes.len();
        }
    }
}

/// Sends `size` random bytes per flow through two switches whose links lose 1 % of all packets: plain
/// packets, packets that are trimmed, and packets to which telemetry is added. SHA-256 is the same at
/// both ends.
fn arrive_with_their_digest(size: u64) {
    for name in ["dctcp", "ren", "ndp", "hpcc"] {
        // Two flows into one link, so that its port trims.
        let count = if name == "ndp" { 2 } else { 1 };
        let flows = (0..count).map(|id| flow(id, id, 2, size, Time::ZERO)).collect();
        let mut trial = lossy(name, "dumbbell:2x2", 0.01, flows);
        trial.options.until = Time::ZERO + Span::from_secs(3_000);
        let begin = Instant::now();
        let arriving = (0..count).map(|_| Arriving::default()).collect();
        let mut bytes = Streamed { lent: vec![], flows: arriving };
        let (record, _, io) = Testbed::new(trial.setup()).carrying(&mut bytes).run();
        assert!(record.complete, "{name} does not finish");
        assert_eq!((record.malformed, io.held(), io.lost()), (0, 0, 0), "{name}");
        let least = size / 1_460 / 50;
        assert!(record.link_losses > least, "{name}: {} losses", record.link_losses);
        let trims: u32 = record.ports.iter().map(|port| port.total.trims).sum();
        assert_eq!(trims as u64 > least, name == "ndp", "{name}: {trims} trimmed");
        let grown = record.flows[0].extension_bytes;
        assert_eq!(grown > size / 1_460 * 10, name == "hpcc", "{name}: {grown} bytes added");
        let held = bytes.flows.iter().map(|flow| flow.held_most).max().unwrap_or(0);
        for (id, flow) in bytes.flows.into_iter().enumerate() {
            assert_eq!((flow.next, flow.held), (size, 0), "{name}: flow {id}");
            // A packet that is lost twice waits for timeouts of 10 ms or more; at 10 Gb/s 12.5 MB pass in each.
            assert!(flow.held_most < 128 << 20, "{name}: {} bytes ahead", flow.held_most);
            let digest = format!("{:x}", flow.digest.finalize());
            assert_eq!(digest, digest_of(FlowId(id as u32), size), "{name}: flow {id}");
        }
        println!(
            "{name}: {size} bytes by {count} flows in {:.1} s, {} of the run; {} losses, {trims} \
             trimmed, {grown} bytes added, at most {held} bytes ahead",
            begin.elapsed().as_secs_f64(),
            record.ended,
            record.link_losses,
        );
    }
}

#[test]
fn random_bytes_arrive_with_their_digest() {
    arrive_with_their_digest(4 << 20);
}

#[test]
#[ignore = "takes minutes"]
fn a_gibibyte_arrives_with_its_digest() {
    arrive_with_their_digest(1 << 30);
}
