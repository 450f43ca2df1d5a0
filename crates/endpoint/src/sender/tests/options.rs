//! Go-back-N, delayed ACKs, pacing, classes, several flows, requests and notifications.

use super::controls::*;
use crate::sender::views::{Data, Open};
use crate::sender::*;
use incast_transport::{
    Bytes, Classes, Ecn, Extension, Flow, FlowId, Header, Rate, Reason, Span, Time, tcp_flag,
};
use std::sync::{Arc, Mutex};

const END: Time = Time(100_000_000_000_000);

fn tcp() -> Options {
    Options::tcp(ID, Span::from_ms(10))
}

fn always() -> Script {
    Box::new(|_, _| Impairment::NONE)
}

fn segments(log: &[Sent]) -> Vec<u64> {
    let data = log.iter().filter(|s| s.packet.is_data());
    data.map(|s| s.packet.header.data_key() as u64 / MSS).collect()
}

#[test]
fn going_back_repeats_everything_and_is_requested_once() {
    let mut count = 0;
    let script: Script = Box::new(move |packet, _| {
        count += packet.is_data() as u32;
        if count == 3 && packet.is_data() { Impairment::LOST } else { Impairment::NONE }
    });
    let reliability = Reliability::GoBackN { again: Span::from_us(500) };
    let (mut network, events) = pair(20 * MSS, Options { reliability, ..tcp() }, script);
    let flow = flow(0, 0, 1, 12 * MSS, Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    let nacks = network.sent.iter().filter(|s| matches!(s.packet.header, Header::Nack { .. }));
    assert_eq!(nacks.count(), 1);
    let sent = segments(&network.sent);
    assert_eq!(sent[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(sent[12..], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let losses = events.lock().unwrap().iter().filter(|t| matches!(t, Event::Loss(_))).count();
    assert_eq!(losses, 1);
}

#[test]
fn a_request_to_go_back_is_repeated_after_its_interval() {
    // The copy is lost as well: what follows it requests it again, but not before 500 us.
    let mut copies = 0;
    let script: Script = Box::new(move |packet, _| {
        let hit = packet.is_data() && packet.header.data_key() as u64 == 2 * MSS;
        copies += hit as u32;
        if hit && copies <= 2 { Impairment::LOST } else { Impairment::NONE }
    });
    let reliability = Reliability::GoBackN { again: Span::from_us(500) };
    let (mut network, _) = pair(20 * MSS, Options { reliability, ..tcp() }, script);
    network.open(&flow(0, 0, 1, 12 * MSS, Time::ZERO));
    network.settle(END);
    let nacks: Vec<Time> = network
        .sent
        .iter()
        .filter(|s| matches!(s.packet.header, Header::Nack { .. }))
        .map(|s| s.at)
        .collect();
    assert!(nacks.windows(2).all(|pair| pair[1] - pair[0] >= Span::from_us(500)), "{nacks:?}");
    assert!(network.completed(0).is_some());
}

#[test]
fn delayed_acks_follow_changes_of_the_mark() {
    // RFC 8257 §3.2. Segments 0..10, marks on 3, 4 and 5.
    let script: Script = Box::new(|packet, _| match packet.header.data_key() as u64 / MSS {
        3..=5 if packet.is_data() => Impairment::MARKED,
        _ => Impairment::NONE,
    });
    let delayed_ack = Some(DelayedAck { count: 2, timeout: Span::from_us(300) });
    let (mut network, events) = pair(10 * MSS, Options { delayed_ack, ..tcp() }, script);
    let flow = flow(0, 0, 1, 10 * MSS, Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    let acks: Vec<(u64, bool)> = network
        .sent
        .iter()
        .filter(|s| !s.packet.is_data())
        .filter_map(|s| match s.packet.header {
            Header::Segment { ack, flags, .. } => {
                Some((ack as u64 / MSS, flags & tcp_flag::ECE != 0))
            }
            _ => None,
        })
        .collect();
    let expected = [
        (2, false), // 0, 1
        (3, false), // 2, when 3 changes the mark
        (5, true),  // 3, 4
        (6, true),  // 5, when 6 changes it back
        (8, false), // 6, 7
        (10, false),
    ];
    assert_eq!(acks, expected);
    // Marks echoed are marks received, to the byte.
    let events = events.lock().unwrap();
    let marked: u64 = events
        .iter()
        .map(|t| if let Event::Ack { bytes, ece: true, .. } = t { *bytes } else { 0 })
        .sum();
    assert_eq!(marked, 3 * MSS);
}

#[test]
fn a_delayed_ack_leaves_at_its_timeout() {
    let delayed_ack = Some(DelayedAck { count: 2, timeout: Span::from_us(300) });
    let (mut network, _) = pair(MSS, Options { delayed_ack, ..tcp() }, always());
    network.open(&flow(0, 0, 1, 3 * MSS, Time::ZERO));
    network.settle(END);
    let first = network.sent.iter().find(|s| !s.packet.is_data()).unwrap();
    let arrival = Rate::from_gbps(10).tx_time(Bytes(1_538)) + Span::from_us(5);
    assert_eq!(first.at, Time::ZERO + arrival + Span::from_us(300));
}

#[test]
fn each_mark_is_echoed_at_once_otherwise() {
    let script: Script = Box::new(|packet, n| match packet.is_data() && n % 3 == 0 {
        true => Impairment::MARKED,
        false => Impairment::NONE,
    });
    let (mut network, events) = pair(10 * MSS, tcp(), script);
    network.open(&flow(0, 0, 1, 50 * MSS, Time::ZERO));
    network.settle(END);
    let received = network.sent.iter().filter(|s| s.impairment == Impairment::MARKED).count();
    let events = events.lock().unwrap();
    let echoed = events.iter().filter(|t| matches!(t, Event::Ack { ece: true, .. })).count();
    assert!(received > 5);
    assert_eq!(received, echoed);
}

#[test]
fn pacing_spaces_packets() {
    let events = Arc::new(Mutex::new(vec![]));
    let factory = || Plainly {
        window: 100 * MSS,
        threshold: 0,
        rate: Some(Rate::from_gbps(2)),
        events: events.clone(),
    };
    let mut network = network(vec![factory(), factory()], tcp(), always());
    network.open(&flow(0, 0, 1, 20 * MSS, Time::ZERO));
    network.settle(END);
    let at: Vec<Time> = network.sent.iter().filter(|s| s.packet.is_data()).map(|s| s.at).collect();
    let gap = Rate::from_gbps(2).tx_time(Bytes(1_538));
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] == gap), "{at:?}");
    let trace = &network.probe.senders()[0];
    assert_eq!(trace.packets, 20);
}

/// Bursts of four packets at 2 Gb/s; decides with every second ACK, on what the receiver knew
/// as its ACK said.
struct Bursting {
    acks: u32,
}

impl Control for Bursting {
    fn on_send(&mut self, packet: &mut Outbound, progress: &Progress) {
        let end = packet.offset + packet.payload as u64;
        packet.more = !end.is_multiple_of(4 * MSS) && end < progress.size;
    }
    fn on_ack(&mut self, _ack: &Ack<'_>, _progress: &Progress) {
        self.acks += 1;
    }
    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}
    fn decided(&self) -> bool {
        self.acks.is_multiple_of(2)
    }
    fn window(&self) -> u64 {
        100 * MSS
    }
    fn pacing(&self) -> Option<Rate> {
        Some(Rate::from_gbps(2))
    }
}

struct Knowing;

impl Feedback for Knowing {
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        ack.informed = Some(data.now);
        None
    }
}

struct BurstFactory;

impl ControlFactory for BurstFactory {
    type Control = Bursting;
    type Feedback = Knowing;
    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Bursting {
        Bursting { acks: 0 }
    }
    fn feedback(&mut self) -> Knowing {
        Knowing
    }
}

#[test]
fn a_burst_leaves_at_once_and_its_gap_comes_after_it() {
    let mut network = network(vec![BurstFactory, BurstFactory], tcp(), always());
    let flow = flow(0, 0, 1, 10 * MSS, Time::ZERO);
    network.open(&flow);
    network.settle(END);
    network.assert_delivered_once(&flow);
    let at: Vec<Time> = network.sent.iter().filter(|s| s.packet.is_data()).map(|s| s.at).collect();
    let packet = Rate::from_gbps(10).tx_time(Bytes(1_538));
    let burst = Rate::from_gbps(2).tx_time(Bytes(4 * 1_538));
    let expected: Vec<Time> =
        (0..10).map(|n| Time::ZERO + burst * (n / 4) + packet * (n % 4)).collect();
    assert_eq!(at, expected);
}

#[test]
fn decisions_are_those_that_the_control_reports() {
    let mut network = network(vec![BurstFactory, BurstFactory], tcp(), always());
    network.open(&flow(0, 0, 1, 10 * MSS, Time::ZERO));
    network.settle(END);
    let trace = &network.probe.senders()[0];
    assert_eq!(trace.decisions, 5, "every second of ten ACKs");
    // The reverse path: an ACK of 84 B over one link of 5 us.
    let age = Rate::from_gbps(10).tx_time(Bytes(84)) + Span::from_us(5);
    assert_eq!(trace.decision_age, 5 * age.0);
}

#[test]
fn flows_of_a_host_take_turns() {
    let (mut network, _) = pair(5 * MSS, tcp(), always());
    for id in 0..3 {
        network.open(&flow(id, 0, 1, 5 * MSS, Time::ZERO));
    }
    network.settle(END);
    let data = network.sent.iter().filter(|s| s.packet.is_data());
    let order: Vec<u32> = data.map(|s| s.packet.flow.0).collect();
    // Flow 0 had sent its first and was waiting for its second turn before the others came.
    assert_eq!(order, [0, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 2]);
}

#[test]
fn closed_classes_stay_closed() {
    let options = Options { ack_class: 0, ..tcp() };
    let (mut network, _) = pair(5 * MSS, options, always());
    network.open = Classes::CONTROL;
    network.open(&flow(0, 0, 1, 5 * MSS, Time::ZERO));
    assert!(network.sent.is_empty());
    network.open = Classes::ALL;
    network.poll(0);
    network.run(network.now + Span::from_us(6));
    // Data is closed again: only ACKs leave.
    network.open = Classes::CONTROL;
    let before = segments(&network.sent).len();
    let timers = Time::ZERO + Span::from_ms(5);
    network.run(timers);
    assert_eq!(segments(&network.sent).len(), before);
    assert!(network.sent.iter().any(|s| !s.packet.is_data()));
}

#[test]
fn a_short_flow_is_not_reported_as_blocked() {
    let (mut network, _) = pair(5 * MSS, tcp(), always());
    network.open(&flow(0, 0, 1, 5 * MSS, Time::ZERO));
    network.settle(END);
    let parts = network.probe.outcomes()[0].parts;
    assert_eq!(parts.blocked, [0; 5]);
    let (mut network, _) = pair(MSS, tcp(), always());
    network.open(&flow(0, 0, 1, 2 * MSS, Time::ZERO));
    network.settle(END);
    let parts = network.probe.outcomes()[0].parts;
    assert!(parts.blocked[Reason::Window as usize] > 0);
}

/// Sends a request before data, and again without a reply; slows down after a notification.
struct Requesting {
    requested: Option<Time>,
    granted: Option<u16>,
    notifications: u32,
}

impl Control for Requesting {
    fn on_send(&mut self, packet: &mut Outbound, _progress: &Progress) {
        packet.nibble = 9;
    }
    fn on_ack(&mut self, ack: &Ack<'_>, _progress: &Progress) {
        assert_eq!(ack.nibble, 9, "the ack carries what the feedback put there");
        assert_eq!(ack.window, 77);
    }
    fn on_loss(&mut self, _loss: Loss, _progress: &Progress) {}
    fn on_message(&mut self, message: &Message<'_>, _progress: &Progress) {
        let Header::Segment { window, nibble, flags, .. } = message.packet.header else { panic!() };
        if flags & tcp_flag::SYN != 0 {
            self.granted = Some(window);
        } else {
            assert_eq!(nibble, 5);
            self.notifications += 1;
        }
    }
    fn deadline(&self) -> Time {
        match (self.granted, self.requested) {
            (None, Some(at)) => at + Span::from_us(100),
            _ => Time::NEVER,
        }
    }
    fn on_deadline(&mut self, _progress: &Progress) {
        self.requested = None;
    }
    fn request(&mut self, progress: &Progress) -> Option<Request> {
        if self.requested.is_some() {
            return None;
        }
        self.requested = Some(progress.now);
        Some(Request { nibble: 3, window: 0, class: 1, extension: Extension::None })
    }
    fn window(&self) -> u64 {
        self.granted.map_or(0, |window| window as u64 * MSS)
    }
}

struct WindowReply;

impl Feedback for WindowReply {
    fn on_data(&mut self, data: &Arriving<'_>, ack: &mut AckFields) -> Option<Notification> {
        let nibble = Data::read(&data.packet.header).unwrap().nibble;
        *ack = AckFields { nibble, window: 77, ..AckFields::default() };
        let header = Header::Segment { seq: 0, ack: 0, window: 0, nibble: 5, flags: 0 };
        (data.packet.mark == Ecn::Ce as u8).then(|| Notification::new(0, header))
    }
    fn on_request(&mut self, request: &Arriving<'_>, ack: &mut AckFields) {
        let Open { window, nibble, .. } = Open::read(&request.packet.header).unwrap();
        assert_eq!((window, nibble), (0, 3));
        ack.window = 12;
    }
}

struct AskingFactory;

impl ControlFactory for AskingFactory {
    type Control = Requesting;
    type Feedback = WindowReply;
    fn control(&mut self, _now: Time, _flow: &Flow, _others: usize) -> Requesting {
        Requesting { requested: None, granted: None, notifications: 0 }
    }
    fn feedback(&mut self) -> WindowReply {
        WindowReply
    }
}

#[test]
fn a_control_may_send_a_request_and_a_receiver_may_notify() {
    let script: Script = Box::new(|packet, n| match n {
        0 => Impairment::LOST,
        _ if packet.is_data() && packet.header.data_key() as u64 == 2 * MSS => Impairment::MARKED,
        _ => Impairment::NONE,
    });
    let mut network = network(vec![AskingFactory, AskingFactory], tcp(), script);
    let flow = flow(0, 0, 1, 6 * MSS, Time::ZERO);
    network.open(&flow);
    assert_eq!(network.sent.len(), 1);
    network.run(Time::ZERO + Span::from_us(120));
    assert_eq!(network.hosts[0].control(FlowId(0)).unwrap().granted, Some(12));
    assert_eq!(network.sent[1].at, Time::ZERO + Span::from_us(100), "the request is repeated");
    network.run(Time::ZERO + Span::from_us(125));
    assert_eq!(network.hosts[0].control(FlowId(0)).unwrap().notifications, 1);
    network.settle(END);
    network.assert_delivered_once(&flow);
    // One RTT for the request, then the window at once.
    let header = Rate::from_gbps(10).tx_time(Bytes(84));
    let start = Time::ZERO + Span::from_us(100) + header * 2 + Span::from_us(10);
    assert_eq!(network.sent.iter().find(|s| s.packet.is_data()).unwrap().at, start);
}
