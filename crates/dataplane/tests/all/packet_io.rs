//! What nodes do when frames are bad, rings are short or the clock comes late.

use crate::common::{BothWorlds, of, trial};
use incast_dataplane::{Clock, Mem, Testbed, Virtual};
use incast_testkit::{Trial, at, flow};
use incast_transport::*;
use incast_wire::encode;

fn scenario(name: &'static str) -> Trial<'static> {
    let mut scenario = trial(&[name], "dumbbell:3x2", Span::from_us(8), Limit::Bytes(64 << 10));
    scenario.flows = vec![
        of(name, flow(0, 0, 3, 1_000_000, Time::ZERO)),
        of(name, flow(1, 1, 4, 100_000, at(200))),
    ];
    scenario.options.until = Time::ZERO + Span::from_ms(200);
    scenario
}

/// Invalid frames, made from a good one.
fn bad_frames(good: &Packet, extension: &Extension, at_host: bool) -> Vec<Vec<u8>> {
    let bytes = |packet: &Packet| {
        let mut bytes = vec![];
        encode(packet, extension, &mut bytes);
        bytes
    };
    let frame = bytes(good);
    let mut bad = vec![vec![], vec![0; 60], vec![0xFF; 2000], frame[..39].to_vec()];
    bad.push(frame[..frame.len() - 1].to_vec());
    // Each bit of both headers: their checksums cover all of it.
    for bit in 0..320 {
        let mut flipped = frame.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        bad.push(flipped);
    }
    // Well formed, but of a flow, hosts and a transport that do not exist here. Switches know no
    // flows.
    if at_host {
        bad.push(bytes(&Packet { flow: FlowId(77), ..*good }));
        bad.push(bytes(&Packet { flow: FlowId(u32::MAX), ..*good }));
    }
    bad.push(bytes(&Packet { src: good.dst, ..*good }));
    bad.push(bytes(&Packet { src: HostId(1 << 20), ..*good }));
    bad.push(bytes(&Packet { dst: HostId(5), ..*good }));
    bad.push(bytes(&Packet { transport: TransportId(good.transport.0 ^ 0x40), ..*good }));
    bad
}

#[test]
fn bad_frames_are_counted_and_change_nothing() {
    for entry in incast_protocols::CATALOGUE {
        let scenario = scenario(entry.info().name);
        let (clean, packets) = scenario.same_in_both_worlds();
        let good = packets.iter().find(|captured| captured.packet.is_data()).unwrap();
        let mut testbed = Testbed::new(scenario.setup());
        let mut injected = 0;
        for port in 0..scenario.fabric.ports().len() as u32 {
            let node = scenario.fabric.ports()[port as usize].node;
            let at_host = node.0 < scenario.fabric.hosts();
            let frames = bad_frames(&good.packet, &good.extension, at_host);
            for (index, frame) in frames.iter().enumerate() {
                injected +=
                    testbed.inject(port, Time(1_000 + 700_000 * index as u64), frame) as u64;
            }
        }
        let (mut record, received, _) = testbed.run();
        assert_eq!(record.malformed, injected, "{}", entry.info().name);
        assert!(injected > 3_000);
        (record.malformed, record.events) = (0, clean.events);
        assert!(record == clean, "{}: bad frames change the run", entry.info().name);
        assert!(received == packets, "{}: bad frames change packets", entry.info().name);
    }
}

/// A packet for another host is not this host's, well formed or not.
#[test]
fn a_host_does_not_take_what_is_meant_for_another() {
    let scenario = scenario("dctcp");
    let (clean, packets) = scenario.same_in_both_worlds();
    let good = packets.iter().map(|captured| captured.packet).find(Packet::is_data).unwrap();
    let mut frame = vec![];
    encode(&good, &Extension::None, &mut frame);
    let other = (0..5).find(|host| HostId(*host) != good.dst).unwrap();
    let mut testbed = Testbed::new(scenario.setup());
    testbed.inject(scenario.fabric.host_port(other).0, Time(5), &frame);
    let (record, ..) = testbed.run();
    assert_eq!(record.malformed, 1);
    assert_eq!(record.flows, clean.flows);
}

#[test]
fn a_short_ring_holds_packets_back_and_loses_none() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let scenario = scenario(name);
        let free = incast_dataplane::run_virtual(scenario.setup()).0;
        for capacity in [1, 3] {
            let io = Mem::with_capacity(&scenario.fabric, capacity);
            let (record, _, io) = Testbed::with(scenario.setup(), io, Virtual::new()).run();
            assert!(record.complete, "{name} does not finish over rings of {capacity}");
            assert_eq!(io.most_on_a_ring(), capacity, "{name}");
            assert_eq!((record.link_losses, record.malformed), (0, 0), "{name}");
            // Later, but for a transport whose first rates are too high: holding packets back corrects
            // them.
            let (held, free) = (record.flows[0].completed, free.flows[0].completed);
            assert!(if name == "rcp" { held != free } else { held > free }, "{name}");
        }
    }
}

/// A clock of which each reading is late by up to 2 us, as that of a thread that is not alone.
struct Late(Time);

impl Clock for Late {
    fn now(&mut self) -> Time {
        self.0
    }
    fn idle(&mut self, due: Time) {
        self.0 = self.0.max(Time(due.0.next_multiple_of(2_000_000)));
    }
}

/// Line-rate pacing is by the virtual schedule: a thread that comes late catches up, and the
/// bottleneck carries what it would have carried. A congestion control driven by RTTs reads 2 us
/// of noise into each of them, near its lower threshold here, and slows down for it. pHost's eight
/// tokens do not cover the longer round trip: its token clock then sleeps for 25 packet times again
/// and again, as in the authors' simulator.
#[test]
fn a_clock_that_comes_late_keeps_the_rate() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        let mut scenario = scenario(name);
        scenario.flows.truncate(1);
        scenario.flows[0].flow.size = 5_000_000;
        let exact = incast_dataplane::run_virtual(scenario.setup()).0;
        let io = Mem::new(&scenario.fabric, Framing::ETHERNET);
        let (record, ..) = Testbed::with(scenario.setup(), io, Late(Time::ZERO)).run();
        assert!(record.complete, "{name}");
        let took = |record: &RunRecord| record.flows[0].completed.unwrap().0;
        let slower = took(&record) as f64 / took(&exact) as f64;
        println!("{name}: {slower:.3}");
        let most = match name {
            "timely" | "theta_powertcp" => 2.0,
            "phost" => 4.5,
            // Packets that leave late leave together: the power of a moment's burst is high.
            "powertcp" => 1.3,
            _ => 1.25,
        };
        assert!((0.99..most).contains(&slower), "{name} takes {slower} times as long");
    }
}
