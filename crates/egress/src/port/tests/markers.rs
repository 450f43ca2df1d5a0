//! What markers see, and when.

use super::super::*;
use super::numbered::*;
use crate::threshold::{Threshold, ThresholdMarker};
use incast_transport::*;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Call {
    Begin(u64),
    Enqueue(u32, View2),
    Refused(u32, View2),
    Dequeue(u32, View2),
    Wake(View2),
}

/// The fields of a view that differ between calls.
#[derive(Clone, Copy, PartialEq, Debug)]
struct View2 {
    now: u64,
    data: (u32, u64),
    all: (u32, u64),
    idle: Option<u64>,
    sent: u64,
}

fn seen(view: &View) -> View2 {
    View2 {
        now: view.now.0,
        data: (view.data.packets, view.data.bytes),
        all: (view.all.packets, view.all.bytes),
        idle: view.idle.map(|idle| idle.0),
        sent: view.sent,
    }
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// Notes every call; marks packets 1 and above at both ends; lengthens at dequeue.
struct Note {
    calls: Calls,
    sees: (bool, bool),
    due: Time,
}

impl Note {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }
}

impl Marker for Note {
    fn begin(&mut self, random: &mut Random) {
        self.note(Call::Begin(random.next_u64()));
    }
    fn on_enqueue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let seq = packets[packet].header.data_key();
        self.note(Call::Enqueue(seq, seen(view)));
        seq > 0
    }
    fn on_refused(&mut self, packets: &PacketPool, packet: PacketRef, view: &View) {
        self.note(Call::Refused(packets[packet].header.data_key(), seen(view)));
    }
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        let seq = packets[packet].header.data_key();
        self.note(Call::Dequeue(seq, seen(view)));
        packets.extend(packet, Extension::Int { count: 1, records: [Default::default(); 8] });
        seq > 0
    }
    fn sees(&self) -> (bool, bool) {
        self.sees
    }
    fn deadline(&self) -> Time {
        self.due
    }
    fn wake(&mut self, now: Time, view: &View) {
        self.due = now + Span::from_us(1);
        self.note(Call::Wake(seen(view)));
    }
}

/// A strict and a classed port that behave alike.
fn variants(sees: (bool, bool)) -> Vec<(Box<dyn Port>, Calls)> {
    let weighted = [weighted(9, Limit::Packets(9)), weighted(1, Limit::Packets(2))];
    [[fifo(9), fifo(2)], weighted]
        .map(|classes| {
            let calls = Arc::new(Mutex::new(vec![]));
            let note = Note { calls: calls.clone(), sees, due: Time(5) };
            let mut policy = policy(1, &classes);
            policy.markers.push(Box::new(note));
            (build(vec![policy], &site()).unwrap(), calls)
        })
        .into()
}

#[test]
fn markers_see_the_port_without_the_packet_at_hand() {
    // 1538 B last 1 230 400 ps at 10 Gb/s; with ten bytes of telemetry 1 238 400 ps.
    for (mut port, calls) in variants((true, true)) {
        let mut harness = Harness::new();
        for (seq, class) in [(0, 1), (1, 1), (2, 1), (3, 0)] {
            let packet = harness.packet(1, class, seq, if class == 0 { 0 } else { 1460 });
            harness.enqueue(&mut *port, Time(100), packet);
        }
        for now in [200, 2_000_000, 2_000_000 + 1_238_400] {
            harness.dequeue(&mut *port, Time(now), Classes(0b10));
            harness.dequeue(&mut *port, Time(now), Classes(0));
        }
        let last = harness.dequeue(&mut *port, Time(9_000_000), Classes::ALL);
        assert!(matches!(last, Dequeue::Packet(_)));
        let view = |now, data, all, idle, sent| View2 { now, data, all, idle, sent };
        let (one, two) = ((1, 1538), (2, 3076));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.len(), 8);
        assert!(matches!(calls[0], Call::Begin(_)));
        assert_eq!(
            calls[1..],
            [
                Call::Enqueue(0, view(100, (0, 0), (0, 0), None, 0)),
                Call::Enqueue(1, view(100, one, one, None, 0)),
                Call::Refused(2, view(100, two, two, None, 0)),
                Call::Enqueue(3, view(100, two, two, None, 0)),
                Call::Dequeue(0, view(200, one, (2, 1622), None, 0)),
                Call::Dequeue(1, view(2_000_000, (0, 0), (1, 84), Some(761_400), 1548)),
                Call::Dequeue(3, view(9_000_000, (0, 0), (0, 0), Some(5_761_600), 3096)),
            ]
        );
        // Packets 1 and 3, at both ends.
        assert_eq!(port.marks(), 4);
        assert_eq!(port.backlog(), Backlog::default());
    }
}

#[test]
fn only_what_a_marker_asks_for_reaches_it() {
    for sees in [(false, false), (true, false), (false, true)] {
        for (mut port, calls) in variants(sees) {
            let mut harness = Harness::new();
            for seq in 0..3 {
                let packet = harness.packet(1, 1, seq, 1460);
                harness.enqueue(&mut *port, Time::ZERO, packet);
            }
            harness.dequeue(&mut *port, Time::ZERO, Classes::ALL);
            let calls = calls.lock().unwrap();
            let count = |which: fn(&Call) -> bool| calls.iter().filter(|call| which(call)).count();
            assert_eq!(count(|c| matches!(c, Call::Enqueue(..))), 2 * sees.0 as usize);
            assert_eq!(count(|c| matches!(c, Call::Refused(..))), sees.0 as usize);
            assert_eq!(count(|c| matches!(c, Call::Dequeue(..))), sees.1 as usize);
        }
    }
}

#[test]
fn control_intervals_are_kept_and_early_calls_harmless() {
    for (mut port, calls) in variants((true, true)) {
        let mut harness = Harness::new();
        assert_eq!(port.deadline(), Time(5));
        port.wake(&mut harness.port_env(Time(4)));
        assert_eq!(port.deadline(), Time(5));
        port.wake(&mut harness.port_env(Time(5)));
        assert_eq!(port.deadline(), Time(1_000_005));
        port.wake(&mut harness.port_env(Time(5)));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.len(), 2, "{calls:?}");
        assert!(matches!(calls[1], Call::Wake(View2 { now: 5, .. })));
    }
}

/// Marks what finds a packet waiting.
fn from_one() -> Box<dyn Marker> {
    Box::new(ThresholdMarker::new(Threshold::Packets(1), &site()))
}

/// The code in the ECN bits with which a second packet of each of these transports leaves.
fn marks_of(port: &mut dyn Port, transports: &[u8]) -> Vec<u8> {
    let mut harness = Harness::new();
    let first = harness.packet(transports[0], 1, 0, 1460);
    harness.enqueue(port, Time::ZERO, first);
    let arriving = transports.iter().map(|&transport| {
        let packet = harness.packet(transport, 1, 1, 1460);
        harness.packets[packet].mark = Ecn::Ect0 as u8;
        assert_eq!(harness.enqueue(port, Time::ZERO, packet).arriving, Fate::Queued);
        harness.packets[packet].mark
    });
    arriving.collect()
}

const CE: u8 = Ecn::Ce as u8;
const ECT: u8 = Ecn::Ect0 as u8;

/// Transport 77 is in no catalogue: that its policy names a marker is enough.
#[test]
fn a_marker_is_of_the_transport_in_whose_policy_it_stands() {
    for classes in [[fifo(9), fifo(9)], [weighted(1, Limit::Packets(9)); 2]] {
        let mut named = policy(77, &classes);
        named.markers.push(from_one());
        let mut port = build(vec![named], &site()).unwrap();
        assert_eq!(marks_of(&mut *port, &[77, 1, 77]), [CE, ECT, CE]);
        assert_eq!(port.marks(), 2);
    }
}

#[test]
fn at_a_joined_port_each_marker_judges_its_own_unless_one_rule_is_for_all() {
    let policies = || -> Vec<Policy> {
        let plain = policy(3, &[fifo(9), fifo(9)]);
        let mut own = policy(1, &[fifo(9), fifo(9)]);
        own.markers.push(from_one());
        let mut patient = policy(2, &[fifo(9), fifo(9)]);
        let far = ThresholdMarker::new(Threshold::Packets(100), &site());
        patient.markers.push(Box::new(far));
        vec![own, patient, plain]
    };
    let mut port = build(policies(), &site()).unwrap();
    assert_eq!(marks_of(&mut *port, &[1, 2, 3, 4]), [CE, ECT, ECT, ECT]);
    let over = TransportSet::of(&[1, 2, 3].map(TransportId));
    for (rule, mark) in [(1, CE), (2, ECT), (3, ECT)] {
        let rule = Marking { rule: TransportId(rule), over };
        let mut builder = Builder::new(Join::Shared).marking(Some(rule));
        let mut port = builder.build(policies(), &site()).unwrap();
        assert_eq!(marks_of(&mut *port, &[1, 2, 3, 4]), [mark, mark, mark, ECT]);
        // A NIC marks as its policies say.
        let nic = PortSite { nic: true, ..site() };
        let mut port = builder.build(policies(), &nic).unwrap();
        assert_eq!(marks_of(&mut *port, &[1, 2, 3, 4]), [CE, ECT, ECT, ECT]);
    }
}
