//! A switch that replies to data itself and pads ACKs on their reverse path with the state of the
//! port by which the data leaves (FastTune, Algorithm 1).

use crate::*;
use std::collections::BTreeMap;

const MOST: usize = 4;

/// Flows whose ACKs have not passed yet get an ACK here. At most [`MOST`] flows are remembered.
#[derive(Default)]
struct SwitchAcks {
    stopped: BTreeMap<u32, bool>,
}

fn sample(now: Time, port: &PortView) -> IntRecord {
    let timestamp = (now.0 / 1000) as u32;
    let (sent, queued) = ((port.sent / 128) as u32, (port.data.bytes / 80) as u16);
    IntRecord { rate_code: port.port as u8, timestamp, sent, queued, ..IntRecord::default() }
}

/// Adds a record behind those that are there.
fn pad(packets: &mut PacketPool, packet: PacketRef, record: IntRecord) {
    let (mut count, mut records) = match *packets.extension(packet) {
        Extension::Int { count, records } => (count, records),
        _ => (0, [IntRecord::default(); 8]),
    };
    records[count as usize] = record;
    count += 1;
    packets.extend(packet, Extension::Int { count, records });
}

impl SwitchHook for SwitchAcks {
    fn transport(&self) -> TransportId {
        TransportId(99)
    }

    fn forward(&mut self, env: &mut SwitchEnv<'_>, packet: PacketRef) -> Decision {
        let content = env.packets[packet];
        let flow = content.flow.0;
        if !content.is_data() {
            pad(env.packets, packet, sample(env.now, &env.back));
            self.stopped.insert(flow, true);
            return Decision::default();
        }
        if self.stopped.len() == MOST && !self.stopped.contains_key(&flow) {
            self.stopped.pop_first();
        }
        if *self.stopped.entry(flow).or_default() {
            return Decision::default();
        }
        let seq = content.header.data_key();
        let header = Header::Ack { seq, cumulative: 0, number: 0, flags: 0 };
        let (src, dst) = (content.dst, content.src);
        let ack = Packet { header, src, dst, payload: 0, class: 0, ..content };
        let ack = env.packets.create(ack);
        pad(env.packets, ack, sample(env.now, &env.egress));
        Decision { reply: Some(ack), ..Decision::default() }
    }

    fn entries(&self) -> usize {
        self.stopped.len()
    }
}

fn view(port: u32, packets: u32) -> PortView {
    let data = Backlog { bytes: 1538 * packets as u64, packets };
    PortView { port, rate: Rate::from_gbps(10), data, all: data, sent: 0 }
}

/// Passes a packet through a switch whose port `towards` leads to the receiver.
fn pass(
    harness: &mut Harness,
    hook: &mut SwitchAcks,
    packet: PacketRef,
    towards: PortView,
) -> Option<PacketRef> {
    let other = view(15, 0);
    let data = harness.packets[packet].is_data();
    let (back, egress) = if data { (other, towards) } else { (towards, other) };
    let mut env = harness.switch_env(Time(7_000_000), back, egress);
    let decision = hook.forward(&mut env, packet);
    assert!(!decision.drop && decision.follow.is_none());
    decision.reply
}

#[test]
fn an_ack_of_the_second_switch_stops_the_first_and_gets_its_record() {
    let mut harness = Harness::new();
    let (mut first, mut second) = (SwitchAcks::default(), SwitchAcks::default());
    let packet = harness.packets.create(data(3, 0));
    let near = pass(&mut harness, &mut first, packet, view(1, 10)).expect("the first sends one");
    let far = pass(&mut harness, &mut second, packet, view(2, 20)).expect("so does the second");
    assert_eq!(harness.packets[packet].extension, 0, "data carries no telemetry");
    assert_eq!(harness.packets[far].dst, harness.packets[packet].src);
    assert_eq!((harness.packets.charged(near), harness.packets.charged(far)), (40 + 10 + 38, 88));
    assert!(pass(&mut harness, &mut first, far, view(1, 11)).is_none());
    // Farthest hop first; the records are of the ports by which the data leaves.
    let Extension::Int { count: 2, records } = *harness.packets.extension(far) else { panic!() };
    assert_eq!(records[0].rate_code, 2);
    assert_eq!((records[1].rate_code, records[1].queued), (1, (11 * 1538 / 80) as u16));
    assert_eq!(harness.packets.charged(far), 40 + 18 + 38);
    let next = harness.packets.create(data(4, 0));
    assert!(pass(&mut harness, &mut first, next, view(1, 10)).is_none(), "it sends no more");
    assert!(pass(&mut harness, &mut second, next, view(2, 20)).is_some(), "no ACK passed it yet");
}

#[test]
fn the_state_of_the_switch_is_bounded() {
    let (mut harness, mut hook) = (Harness::new(), SwitchAcks::default());
    for flow in 0..100 {
        let packet = harness.packets.create(Packet { flow: FlowId(flow), ..data(0, 0) });
        assert!(pass(&mut harness, &mut hook, packet, view(1, 0)).is_some());
        assert!(hook.entries() <= MOST);
    }
}
