//! What a world lends, in the smallest form.

use incast_transport::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// A world without links or events.
pub struct Rig {
    pub packets: PacketPool,
    pub random: Random,
    pub probe: Probe,
}

impl Rig {
    pub fn new() -> Rig {
        Rig {
            packets: PacketPool::new(Framing::ETHERNET),
            random: Random::new(1, 2, 3),
            probe: Probe::new(8, false),
        }
    }

    pub fn env(&mut self, now: Time) -> Env<'_> {
        let Rig { packets, random, probe } = self;
        Env { now, host: HostId(0), random, probe, packets }
    }

    pub fn receive(&mut self, host: &mut dyn Host, now: Time, packet: PacketRef) {
        host.receive(&mut self.env(now), packet);
        self.packets.free(packet);
    }

    pub fn transmit(&mut self, host: &mut dyn Host, now: Time, open: Classes) -> Option<PacketRef> {
        host.transmit(&mut self.env(now), open)
    }

    pub fn enqueue(&mut self, port: &mut dyn Port, now: Time, packet: PacketRef) -> Verdict {
        let Rig { packets, random, .. } = self;
        port.enqueue(&mut PortEnv { now, random, packets }, packet)
    }

    pub fn dequeue(&mut self, port: &mut dyn Port, now: Time) -> Dequeue {
        let Rig { packets, random, .. } = self;
        port.dequeue(&mut PortEnv { now, random, packets }, Classes::ALL)
    }

    /// The next packet, which must be there.
    pub fn next(&mut self, port: &mut dyn Port, now: Time) -> PacketRef {
        match self.dequeue(port, now) {
            Dequeue::Packet(packet) => packet,
            other => panic!("{other:?}"),
        }
    }

    /// Everything that waits.
    pub fn drain(&mut self, port: &mut dyn Port, now: Time) -> Vec<PacketRef> {
        std::iter::from_fn(|| match self.dequeue(port, now) {
            Dequeue::Packet(packet) => Some(packet),
            _ => None,
        })
        .collect()
    }
}

/// A packet of the transport under test; 1460 B of payload are full.
pub fn packet(header: Header, class: u8, payload: u16) -> Packet {
    Packet {
        header,
        src: HostId(1),
        dst: HostId(2),
        flow: FlowId(0),
        payload,
        path: 0,
        mark: 0,
        class,
        transport: TransportId(99),
        flags: 0,
        extension: 0,
    }
}

/// Packet `seq` of a flow.
pub fn data(seq: u32, flags: u8) -> Packet {
    packet(Header::Data { seq, offset: seq * 1460, tag: 0, flags }, 1, 1460)
}

/// A port of 10 Gb/s.
pub fn site() -> PortSite {
    let rate = Rate::from_gbps(10);
    let buffer = Limit::Packets(128);
    let fabric = FabricSite {
        hosts: 2,
        framing: Framing::ETHERNET,
        base_rtt: Span::from_us(10),
        max_rate: rate,
        rates: Arc::new([rate]),
        host_rate: rate,
        buffer,
        hops: 2,
        paths: 1,
        sizes: None,
    };
    let fabric = Arc::new(fabric);
    PortSite { port: 0, rate, nic: false, tier: 1, upward: false, buffer, fabric }
}

pub fn fifo(packets: u32) -> ClassPolicy {
    ClassPolicy::fifo(Limit::Packets(packets))
}

/// A port of the transport under test.
pub fn port(classes: &[ClassPolicy], markers: Vec<Box<dyn Marker>>) -> Box<dyn Port> {
    let policy = Policy { transport: TransportId(99), classes: classes.to_vec(), markers };
    incast_egress::port::build(vec![policy], &site()).expect("a policy alone")
}

/// How long a full packet takes at the ports of the tests.
pub const FULL: Span = Span(1_230_400);

/// Packets that a host wants to send, in order within a class.
#[derive(Default)]
pub struct Outbox(VecDeque<Packet>);

impl Outbox {
    pub fn push(&mut self, packet: Packet) {
        self.0.push_back(packet);
    }

    pub fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
        let at = self.0.iter().position(|packet| open.has(packet.class))?;
        self.0.remove(at).map(|packet| env.packets.create(packet))
    }
}

/// Implements the methods of [`Host`] that most transports under test do not need.
#[macro_export]
macro_rules! quiet {
    () => {
        fn open(&mut self, _env: &mut Env<'_>, _flow: &Flow) {}
        fn deadline(&self) -> Time {
            Time::NEVER
        }
        fn wake(&mut self, _env: &mut Env<'_>) {}
        fn open_flows(&self) -> usize {
            1
        }
    };
}
