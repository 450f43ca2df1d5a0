//! REN's switch as running code: a packet's way through the modules of the prototype's picture
//! (REN §5.1: Fig. 10).
//!
//! | module | in the paper | here |
//! |---|---|---|
//! | receiving | `rte_eth_rx_burst()` | [`PacketIo::rx_burst`] |
//! | | output port by the route table | `Switch::egress` |
//! | | logical queue with a threshold; `rte_pktmbuf_free()` beyond it | the port's queue; [`PacketIo::free`] |
//! | marking | queue length, interval of dequeueing, two ECN bits, `rte_ipv4_cksum()` | REN's marker; the frame's mark and checksum are rewritten in place |
//! | transmitting | to the transmit queue of the output port | [`PacketIo::stage`] |
//! | | `rte_eth_tx_burst()` | [`PacketIo::flush`] |
//!
//! Packets move by pointer in both: a frame's buffer is the same from the first module to the last.

use crate::common::{BothWorlds, of, trial};
use incast_dataplane::{Arrival, Buffer, Departure, Frame, Mem, PacketIo, Testbed, Virtual};
use incast_fabric::{NodeId, PortId};
use incast_testkit::{Trial, flow};
use incast_transport::*;
use incast_wire::{checksum, decode};
use std::collections::BTreeMap;

/// What a switch asks its backend to do with a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Receive,
    Free,
    Stage,
}

/// One of these steps.
struct Entry {
    step: Step,
    port: u32,
    at: Time,
    /// Where the frame's bytes are.
    buffer: usize,
    bytes: Vec<u8>,
}

/// Writes down what happens to frames.
struct Watched {
    io: Mem,
    log: Vec<Entry>,
    /// Where the frame in each buffer was received.
    received: BTreeMap<usize, u32>,
    /// Frames that are staged and not yet flushed, by port, and the most there were.
    staged: BTreeMap<u32, usize>,
    flushes: usize,
}

fn place(frame: &Buffer) -> usize {
    frame.bytes().as_ptr() as usize
}

impl Watched {
    fn note(&mut self, step: Step, port: u32, at: Time, frame: &Buffer) {
        let (buffer, bytes) = (place(frame), frame.bytes().to_vec());
        self.log.push(Entry { step, port, at, buffer, bytes });
    }
}

impl PacketIo for Watched {
    type Frame = Buffer;
    fn rx_burst(
        &mut self,
        port: u32,
        now: Time,
        most: usize,
        into: &mut Vec<Arrival<Buffer>>,
    ) -> usize {
        assert_eq!(self.staged.values().sum::<usize>(), 0, "frames were left behind by a pass");
        let before = into.len();
        let count = self.io.rx_burst(port, now, most, into);
        for arrival in &into[before..] {
            self.received.insert(place(&arrival.frame), port);
            self.note(Step::Receive, port, now, &arrival.frame);
        }
        count
    }
    fn alloc(&mut self, length: usize) -> Option<Buffer> {
        let frame = self.io.alloc(length)?;
        self.received.remove(&place(&frame));
        Some(frame)
    }
    fn free(&mut self, frame: Buffer) {
        if let Some(port) = self.received.remove(&place(&frame)) {
            self.note(Step::Free, port, Time::NEVER, &frame);
        }
        self.io.free(frame)
    }
    fn stage(&mut self, port: u32, frame: Buffer, departure: Departure) -> Result<(), Buffer> {
        self.note(Step::Stage, port, departure.start, &frame);
        *self.staged.entry(port).or_default() += 1;
        self.io.stage(port, frame, departure)
    }
    fn flush(&mut self, port: u32) -> usize {
        self.flushes += (self.staged.remove(&port).unwrap_or(0) > 0) as usize;
        self.io.flush(port)
    }
    fn room(&mut self, port: u32) -> usize {
        self.io.room(port)
    }
    fn due(&mut self, port: u32) -> Time {
        self.io.due(port)
    }
    fn held(&self) -> usize {
        self.io.held()
    }
    fn keeps_trails(&self) -> bool {
        true
    }
}

/// Three senders at line rate into 16 packets of buffer.
fn burst() -> Trial<'static> {
    let mut scenario = trial(&["ren"], "dumbbell:3x1", Span::from_us(8), Limit::Packets(16));
    scenario.flows = (0..3).map(|id| of("ren", flow(id, id, 3, 150_000, Time::ZERO))).collect();
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

/// The two ECN bits of an IPv4 packet.
fn mark(bytes: &[u8]) -> u8 {
    bytes[1] & 3
}

/// Without what marking may change: the ECN bits and the checksum of the IPv4 header.
fn unmarked(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes.to_vec();
    rest[1] &= !3;
    rest[10..12].fill(0);
    rest
}

#[test]
fn a_packet_walks_through_the_modules_of_the_papers_switch() {
    let scenario = burst();
    let (exact, _) = scenario.same_in_both_worlds();
    let io = Watched {
        io: Mem::new(&scenario.fabric, Framing::ETHERNET),
        log: vec![],
        received: BTreeMap::new(),
        staged: BTreeMap::new(),
        flushes: 0,
    };
    let (record, _, io) = Testbed::with(scenario.setup(), io, Virtual::new()).run();
    assert!(record == exact && record.complete, "being watched changes the run");
    let fabric = &scenario.fabric;
    let leaf = NodeId(fabric.hosts());
    let ports = fabric.ports_of(leaf);
    let uplink = ports.clone().find(|port| fabric.port(PortId(*port)).peer.0 > leaf.0).unwrap();
    let data = |entry: &&Entry| decode(&entry.bytes).expect("whole").0.is_data();
    let here = |entry: &&Entry| ports.contains(&entry.port) && data(entry);
    let of = |step: Step| io.log.iter().filter(here).filter(move |entry| entry.step == step);

    // Receiving: each frame goes to the output port of the route table, or beyond the threshold back
    // to the pool.
    let (received, sent) = (of(Step::Receive).count(), of(Step::Stage).count());
    let freed = of(Step::Free).count();
    let drops = record.ports[uplink as usize].total.drops as usize;
    assert_eq!((received, freed), (sent + freed, drops));
    assert!(drops > 20 && sent > 300, "{drops} dropped, {sent} sent");
    assert!(of(Step::Receive).all(|entry| entry.port != uplink));
    assert!(of(Step::Stage).all(|entry| entry.port == uplink));

    // The logical queue: first in, first out, by pointer; nothing is copied. What arrives by several
    // ports at one instant has an order of its own.
    let mut queue: Vec<&Entry> = vec![];
    let (mut longest, mut marks, mut waits) = (0, [[0; 3]; 3], 0);
    for entry in io.log.iter().filter(here) {
        if entry.step == Step::Receive {
            queue.push(entry);
            longest = longest.max(queue.len());
            continue;
        }
        let at = queue.iter().position(|one| one.buffer == entry.buffer);
        let at = at.expect("the frame was received, and not copied");
        let first = queue.remove(at);
        match entry.step {
            Step::Receive => unreachable!("seen above"),
            Step::Free => {
                assert!(queue[at..].iter().all(|one| one.at == first.at), "the tail is dropped");
                assert!(first.bytes == entry.bytes);
            }
            Step::Stage => {
                assert!(queue[..at].iter().all(|one| one.at == first.at), "it has overtaken");
                waits += (entry.at > first.at) as usize;
                // Marking: two bits and the checksum, nothing else; a mark is only raised.
                let (before, after) = (mark(&first.bytes), mark(&entry.bytes));
                assert_eq!((checksum(&first.bytes[..20]), checksum(&entry.bytes[..20])), (0, 0));
                assert!(unmarked(&first.bytes) == unmarked(&entry.bytes) && before <= after);
                marks[before as usize][after as usize] += 1;
            }
        }
    }
    assert!(queue.is_empty() && waits > 100);
    // 16 wait, and up to three have just arrived.
    assert!((16..=19).contains(&longest), "{longest} frames in the switch");
    // From room for more to full, and from both to over-utilised.
    let over: usize = marks.iter().map(|after| after[2]).sum();
    assert!(marks[0][1] > 100 && over > 10, "{marks:?}");

    // Transmitting: all that a pass staged left with it.
    assert!(io.flushes > sent / 2 && io.held() == 0);
}
