//! One small transport per mechanism of the catalogue, driven by direct calls: what the contract
//! must admit, without a network. `docs/decisions/0001-transport-contract.md` says
//! which transport needs which.

mod credit;
mod interval;
mod nibble;
mod pause;
mod push_out;
mod selective;
mod stall;
mod switch_ack;
mod telemetry;
mod trimming;

use incast_testkit::{Harness, switch_port};
use incast_transport::*;
use std::collections::VecDeque;

/// The transport under test.
const ID: TransportId = TransportId(99);
/// How long a full packet takes at the ports of the tests.
const FULL: Span = incast_testkit::FULL;

/// A packet of the transport under test.
fn packet(header: Header, class: u8, payload: u16) -> Packet {
    Packet { class, payload, ..incast_testkit::packet(ID, header) }
}

/// Packet `seq` of its flow.
fn data(seq: u32, flags: u8) -> Packet {
    incast_testkit::data(ID, seq, flags)
}

fn fifo(packets: u32) -> ClassPolicy {
    ClassPolicy::fifo(Limit::Packets(packets))
}

/// A port of 10 Gb/s of the transport under test.
fn port(classes: &[ClassPolicy], markers: Vec<Box<dyn Marker>>) -> Box<dyn Port> {
    let policy = Policy { transport: ID, classes: classes.to_vec(), markers };
    let site = switch_port(Rate::from_gbps(10), Span::from_us(10));
    incast_egress::port::build(vec![policy], &site).expect("a policy alone")
}

/// Packets that a host wants to send, in order within a class.
#[derive(Default)]
struct Outbox(VecDeque<Packet>);

impl Outbox {
    fn push(&mut self, packet: Packet) {
        self.0.push_back(packet);
    }

    fn transmit(&mut self, env: &mut Env<'_>, open: Classes) -> Option<PacketRef> {
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
