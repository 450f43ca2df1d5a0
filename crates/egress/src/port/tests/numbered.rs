//! Packets by number, and policies.

pub use incast_testkit::Harness;
use incast_testkit::{data, switch_port};
use incast_transport::*;

/// Packets by number.
pub trait Numbered {
    /// A packet of `payload` bytes numbered `seq`, in a flow of that number.
    fn packet(&mut self, transport: u8, class: u8, seq: u32, payload: u16) -> PacketRef;

    /// The number of a packet.
    fn seq(&self, packet: PacketRef) -> u32;

    /// Takes everything out at one instant, as numbers.
    fn numbers(&mut self, port: &mut dyn Port, now: Time) -> Vec<u32>;
}

impl Numbered for Harness {
    fn packet(&mut self, transport: u8, class: u8, seq: u32, payload: u16) -> PacketRef {
        let flow = FlowId(seq);
        let numbered = data(TransportId(transport), seq, 0);
        self.packets.create(Packet { class, flow, payload, ..numbered })
    }

    fn seq(&self, packet: PacketRef) -> u32 {
        self.packets[packet].header.data_key()
    }

    fn numbers(&mut self, port: &mut dyn Port, now: Time) -> Vec<u32> {
        let packets = self.drain(port, now);
        packets.into_iter().map(|packet| self.seq(packet)).collect()
    }
}

/// A 10 Gb/s switch port with a buffer of 256 packets.
pub fn site() -> PortSite {
    let site = switch_port(Rate::from_gbps(10), Span::from_us(10));
    PortSite { buffer: Limit::Packets(256), ..site }
}

/// A policy without markers.
pub fn policy(transport: u8, classes: &[ClassPolicy]) -> Policy {
    Policy { transport: TransportId(transport), classes: classes.to_vec(), markers: vec![] }
}

pub fn fifo(packets: u32) -> ClassPolicy {
    ClassPolicy::fifo(Limit::Packets(packets))
}

/// A weighted drop-tail class.
pub fn weighted(weight: u32, limit: Limit) -> ClassPolicy {
    ClassPolicy { schedule: Schedule::Weighted(weight), ..ClassPolicy::fifo(limit) }
}

/// NDP's two classes (NDP §3.1): eight full packets, as many bytes of headers, 10:1.
pub fn trimming(tail: f64, headers: u32) -> [ClassPolicy; 2] {
    let discipline = Discipline::Trim { headers: 0, tail, bounce: true };
    [
        weighted(10, Limit::Packets(headers)),
        ClassPolicy { discipline, ..weighted(1, Limit::Packets(8)) },
    ]
}
