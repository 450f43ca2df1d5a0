//! Ports by direct calls: packets in, packets out.

use incast_transport::*;
use std::sync::Arc;

/// A port's surroundings.
pub struct World {
    pub packets: PacketPool,
    pub random: Random,
}

impl World {
    pub fn new() -> World {
        World { packets: PacketPool::new(Framing::ETHERNET), random: Random::new(1, 2, 3) }
    }

    /// A data packet of `payload` bytes numbered `seq`.
    pub fn packet(&mut self, transport: u8, class: u8, seq: u32, payload: u16) -> PacketRef {
        self.packets.create(Packet {
            header: Header::Data { seq, offset: 0, tag: 0, flags: 0 },
            src: HostId(1),
            dst: HostId(2),
            flow: FlowId(seq),
            payload,
            path: 0,
            mark: 0,
            class,
            transport: TransportId(transport),
            flags: 0,
            extension: 0,
        })
    }

    pub fn enqueue(&mut self, port: &mut dyn Port, now: u64, packet: PacketRef) -> Verdict {
        let World { packets, random } = self;
        port.enqueue(&mut PortEnv { now: Time(now), random, packets }, packet)
    }

    pub fn dequeue(&mut self, port: &mut dyn Port, now: u64, open: Classes) -> Dequeue {
        let World { packets, random } = self;
        port.dequeue(&mut PortEnv { now: Time(now), random, packets }, open)
    }

    pub fn wake(&mut self, port: &mut dyn Port, now: u64) {
        let World { packets, random } = self;
        port.wake(&mut PortEnv { now: Time(now), random, packets });
    }

    /// The sequence number of a packet.
    pub fn seq(&self, packet: PacketRef) -> u32 {
        self.packets[packet].header.data_key()
    }

    /// Takes everything out at one instant, as sequence numbers.
    pub fn drain(&mut self, port: &mut dyn Port, now: u64) -> Vec<u32> {
        let mut out = vec![];
        while let Dequeue::Packet(packet) = self.dequeue(port, now, Classes::ALL) {
            out.push(self.seq(packet));
        }
        out
    }
}

/// A 10 Gb/s switch port.
pub fn site() -> PortSite {
    let rate = Rate::from_gbps(10);
    let fabric = FabricSite {
        hosts: 4,
        framing: Framing::ETHERNET,
        base_rtt: Span::from_us(10),
        max_rate: rate,
        rates: Arc::new([rate]),
        host_rate: rate,
        buffer: Limit::Packets(256),
        hops: 2,
        paths: 1,
        sizes: None,
    };
    PortSite {
        port: 0,
        rate,
        nic: false,
        tier: 1,
        upward: false,
        buffer: Limit::Packets(256),
        fabric: Arc::new(fabric),
    }
}

/// A policy without markers.
pub fn policy(transport: u8, classes: &[ClassPolicy]) -> Policy {
    Policy { transport: TransportId(transport), classes: classes.to_vec(), markers: vec![] }
}

/// A weighted drop-tail class.
pub fn weighted(weight: u32, limit: Limit) -> ClassPolicy {
    ClassPolicy { schedule: Schedule::Weighted(weight), ..ClassPolicy::fifo(limit) }
}

/// NDP's two classes (NDP §4): eight full packets, as many bytes of headers, 10:1.
pub fn trimming(tail: f64, headers: u32) -> [ClassPolicy; 2] {
    let discipline = Discipline::Trim { headers: 0, tail, bounce: true };
    [
        weighted(10, Limit::Packets(headers)),
        ClassPolicy { discipline, ..weighted(1, Limit::Packets(8)) },
    ]
}
