//! Reference for the benchmark: a bare event kernel without protocols. The ratio to its speed is
//! comparable between machines, packet-hops per second are not.
//!
//! 100,000 packets circulate through 1,024 FIFO ports at 40 Gb/s with 1 us links. One event per
//! hop: the departure is known on arrival. Coarse wheel: buckets of 2^19 ps are appended to and
//! sorted on entry; events for the current bucket go to a small heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const PORTS: u64 = 1_024;
const PACKETS: u32 = 100_000;
const PROPAGATION: u64 = 1_000_000;
const BYTE_PS: u64 = 200;
const BYTES: u64 = 1_500;
const MARK_BACKLOG: u64 = 65 * BYTES * BYTE_PS;
const WIDTH: u32 = 19;
const BUCKETS: u64 = 1 << 13;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Packet {
    flow: u32,
    port: u32,
    hop: u32,
    marked: u32,
}

#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Port {
    busy_until: u64,
    bytes: u64,
    packets: u64,
    marks: u64,
}

type Event = (u64, u32);

struct Wheel {
    buckets: Vec<Vec<Event>>,
    current: Vec<Event>,
    position: usize,
    slot: u64,
    side: BinaryHeap<Reverse<Event>>,
}

impl Wheel {
    #[inline]
    fn push(&mut self, event: Event) {
        let slot = event.0 >> WIDTH;
        assert!(slot < self.slot + BUCKETS, "beyond the horizon");
        if slot <= self.slot {
            self.side.push(Reverse(event));
        } else {
            self.buckets[(slot % BUCKETS) as usize].push(event);
        }
    }

    #[inline]
    fn pop(&mut self) -> Event {
        loop {
            if let Some(event) = self.current.get(self.position) {
                if let Some(side) = self.side.peek()
                    && side.0 < *event
                {
                    return self.side.pop().expect("peeked").0;
                }
                self.position += 1;
                return *event;
            }
            if let Some(event) = self.side.pop() {
                return event.0;
            }
            self.refill();
        }
    }

    #[inline(never)]
    fn refill(&mut self) {
        loop {
            self.slot += 1;
            let bucket = &mut self.buckets[(self.slot % BUCKETS) as usize];
            if !bucket.is_empty() {
                self.current.clear();
                std::mem::swap(&mut self.current, bucket);
                self.position = 0;
                self.current.sort_unstable();
                return;
            }
        }
    }
}

#[inline]
fn hash(mut x: u64) -> u32 {
    x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 29;
    (x.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as u32
}

#[inline]
fn next_port(packet: &Packet) -> u32 {
    let key = (packet.flow as u64) << 32 | (packet.hop as u64);
    ((hash(key) as u64 * PORTS) >> 32) as u32
}

/// Runs `hops` packet-hops and returns a checksum, so that nothing is optimised away.
pub fn run(hops: u64) -> u64 {
    let mut packets: Vec<Packet> = (0..PACKETS)
        .map(|id| Packet { flow: hash(id as u64), port: 0, hop: 0, marked: 0 })
        .collect();
    let mut ports = vec![Port::default(); PORTS as usize];
    let mut wheel = Wheel {
        buckets: vec![Vec::new(); BUCKETS as usize],
        current: vec![],
        position: 0,
        slot: 0,
        side: BinaryHeap::new(),
    };
    for id in 0..PACKETS {
        packets[id as usize].port = next_port(&packets[id as usize]);
        wheel.push((1 + hash(id as u64 ^ 77) as u64 % (2 * PROPAGATION), id));
    }
    let mut check = 0;
    for _ in 0..hops {
        let (now, id) = wheel.pop();
        if let Some((_, ahead)) = wheel.current.get(wheel.position + 6) {
            touch(&packets[*ahead as usize]);
        }
        let packet = &mut packets[id as usize];
        let port = &mut ports[packet.port as usize];
        if port.busy_until.saturating_sub(now) > MARK_BACKLOG {
            packet.marked = 1;
            port.marks += 1;
        }
        port.busy_until = port.busy_until.max(now) + BYTES * BYTE_PS;
        port.bytes += BYTES;
        port.packets += 1;
        check ^= port.busy_until;
        packet.hop += 1;
        let arrival = port.busy_until + PROPAGATION;
        packet.port = next_port(packet);
        wheel.push((arrival, id));
    }
    check ^ ports[0].packets
}

#[inline]
fn touch(packet: &Packet) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(packet as *const Packet as *const i8, _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = packet;
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_run_is_the_same() {
        assert_eq!(super::run(300_000), super::run(300_000));
        assert_ne!(super::run(300_000), super::run(300_001));
    }
}
