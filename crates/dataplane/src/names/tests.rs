use super::*;
use incast_transport::HostId;

const BOUNDS: Bounds =
    Bounds { silence: Span::from_secs(2), stall: Span::from_secs(10), arriving: 3, bytes: 1_000 };
const DCTCP: TransportId = TransportId(1);

fn second(at: u64) -> u64 {
    at * 1_000_000_000_000
}

fn packet(src: u32, dst: u32, flow: FlowId) -> Packet {
    let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
    Packet::header_only(DCTCP, flow, HostId(src), HostId(dst), 0, header)
}

#[test]
fn both_ends_agree_whose_flow_it_is() {
    let [mut a, mut b] = [3, 8].map(|host| Names::new(host, 5, 7, BOUNDS));
    let (there, back) = (a.open(8, DCTCP, 0), b.open(3, DCTCP, 0));
    assert!(there.0 >= 5 && a.is_own(there) && !a.is_own(FlowId(4)));
    let (there_wire, back_wire) = (a.wire(there).unwrap(), b.wire(back).unwrap());
    assert_ne!(there_wire, back_wire);
    assert!(there_wire.0 & back_wire.0 & RUN_TIME != 0);
    // The data of one and the ACKs of the other have the same addresses.
    let Found::New(arriving) = b.arrive(&packet(3, 8, there_wire), 1) else { panic!() };
    assert_eq!(b.arrive(&packet(3, 8, back_wire), 2), Found::Known(back));
    assert_eq!(a.arrive(&packet(8, 3, there_wire), 3), Found::Known(there));
    assert_eq!((b.wire(arriving), b.peer(arriving)), (Some(there_wire), Some(3)));
    // The source forgets at once, the destination later.
    a.finish(there, 4);
    assert_eq!(a.arrive(&packet(8, 3, there_wire), 5), Found::Stale);
    b.finish(arriving, 4);
    assert_eq!(b.arrive(&packet(3, 8, there_wire), 5), Found::Known(arriving));
    assert_eq!(b.lapsed(second(2)), None);
    let Found::New(again) = b.arrive(&packet(3, 8, there_wire), second(2)) else { panic!() };
    assert_ne!(again, arriving, "numbers do not return");
    // Another transport's packet with that name is none of this flow.
    let other = Packet { transport: TransportId(9), ..packet(3, 8, there_wire) };
    assert_eq!(b.arrive(&other, second(2)), Found::Stale);
}

#[test]
fn silent_hosts_and_stalled_flows_are_given_up() {
    let mut names = Names::new(0, 0, 0, BOUNDS);
    let [one, two] = [1, 1].map(|to| names.open(to, DCTCP, second(1)));
    assert_eq!(names.deadline(), second(3));
    let wire = names.wire(two).unwrap();
    for at in [2, 3, 4, 5, 6, 7, 8, 9, 10] {
        names.arrive(&packet(1, 0, wire), second(at));
        assert_eq!(names.lapsed(second(at)), None);
    }
    // The host is alive, but says nothing of the first.
    let lapsed = Lapsed { flow: one, transport: DCTCP, mine: true, silent: false };
    assert_eq!(names.lapsed(second(11)), Some(lapsed));
    assert_eq!(names.lapsed(second(11)), None);
    let lapsed = Lapsed { flow: two, silent: true, ..lapsed };
    assert_eq!(names.lapsed(second(12)), Some(lapsed));
    assert_eq!((names.len(), names.deadline()), (0, u64::MAX));
}

#[test]
fn what_switches_make_is_no_sign_of_a_destination() {
    let mut names = Names::new(0, 0, 0, BOUNDS);
    let flow = names.open(1, DCTCP, 0);
    let sent_back = Header::Data { seq: 0, offset: 0, tag: 0, flags: 0 };
    let segment = |flags| Header::Segment { seq: 0, ack: 0, window: 0, nibble: 0, flags };
    let from = |header, flags| Packet {
        header,
        flags,
        ..packet(1, 0, FlowId(names.wire(flow).unwrap().0))
    };
    let bounced = from(sent_back, flag::BOUNCED | flag::TRIMMED);
    let (by_switch, ack) = (from(segment(0), 0), from(segment(tcp_flag::ACK), 0));
    for made in [bounced, by_switch] {
        assert_eq!(names.arrive(&made, second(1)), Found::Known(flow));
        assert_eq!(names.ends(&names.flows[&flow]), (second(2), second(10)));
    }
    names.arrive(&ack, second(1));
    assert_eq!(names.ends(&names.flows[&flow]), (second(3), second(11)));
}

#[test]
fn more_flows_than_there_is_room_for_are_refused() {
    let mut names = Names::new(0, 0, 0, BOUNDS);
    let wire = |number: u32| FlowId(RUN_TIME | number << 1 | 1);
    for number in 0..3 {
        assert!(matches!(names.arrive(&packet(1, 0, wire(number)), 0), Found::New(_)));
    }
    assert_eq!(names.arrive(&packet(1, 0, wire(3)), 0), Found::Refused);
    let Found::Known(first) = names.arrive(&packet(1, 0, wire(0)), 0) else { panic!() };
    names.finish(first, 0);
    assert!(matches!(names.arrive(&packet(1, 0, wire(3)), 0), Found::New(_)));
}

#[test]
fn no_flow_is_longer_than_a_message_may_be() {
    let names = Names::new(0, 0, 0, BOUNDS);
    let admits = |header: Header, payload: u16| {
        names.admits(&Packet { header, payload, ..packet(1, 0, FlowId(0)) }, 200)
    };
    let segment = |seq: u32| Header::Segment { seq, ack: 0, window: 0, nibble: 0, flags: 0 };
    assert!(admits(segment(900), 100) && !admits(segment(901), 100));
    assert!(!admits(segment(u32::MAX), 1) && admits(segment(u32::MAX), 0));
    let data = |seq: u32| Header::Data { seq, offset: 0, tag: 0, flags: 0 };
    assert!(admits(data(10), 200) && !admits(data(11), 200) && !admits(data(u32::MAX), 1));
    assert!(!admits(packet(1, 0, FlowId(0)).header, 1), "it carries nothing");
}

/// A packet that is sent back comes by its source's address: a host that took one for a flow that
/// arrives would answer itself.
#[test]
fn only_headers_of_own_data_are_sent_back() {
    let mut names = Names::new(3, 0, 0, BOUNDS);
    let header = Header::Data { seq: 0, offset: 0, tag: 0, flags: 0 };
    let back = |flow, header, flags| {
        let flags = flags | flag::BOUNCED;
        Packet { header, flags, ..packet(3, 8, flow) }
    };
    let mine = names.open(8, DCTCP, 0);
    let wire = names.wire(mine).unwrap();
    let bounced = back(wire, header, flag::TRIMMED);
    assert!(names.admits(&bounced, 200));
    assert_eq!(names.arrive(&bounced, 1), Found::Known(mine));
    // Of the other host's flows, known here or not, nothing returns to this one.
    let other = FlowId(RUN_TIME | 5 << 1 | 1);
    assert_eq!(names.arrive(&back(other, header, flag::TRIMMED), 2), Found::Stale);
    assert!(matches!(names.arrive(&packet(8, 3, other), 3), Found::New(_)));
    assert_eq!(names.arrive(&back(other, header, flag::TRIMMED), 4), Found::Stale);
    // A request for credits was never trimmed, nor was a whole packet.
    let request = packet(3, 8, wire).header;
    assert!(!names.admits(&back(wire, request, flag::TRIMMED), 200));
    assert!(!names.admits(&back(wire, header, 0), 200));
}

#[test]
fn a_million_flows_leave_what_the_last_second_had() {
    let [mut a, mut b] = [0, 1].map(|host| Names::new(host, 0, u32::MAX - 9, BOUNDS));
    let mut most = 0;
    for round in 0..1_000_000 {
        let now = round * 20_000_000;
        let flow = a.open(1, DCTCP, now);
        let name = a.wire(flow).unwrap();
        let Found::New(there) = b.arrive(&packet(0, 1, name), now) else { panic!() };
        b.finish(there, now);
        a.finish(flow, now);
        assert_eq!((a.lapsed(now), b.lapsed(now)), (None, None));
        most = most.max(a.len()).max(b.len());
    }
    // 50,000 a second.
    assert!((50_000..=50_002).contains(&most), "{most}");
    assert!(b.here.len() == b.flows.len() && b.finished.len() == b.flows.len());
    assert!(a.watch.len() <= 100_001 && b.watch.len() <= 100_001, "{}", a.watch.len());
}

/// What comes of a flow that was given up here is ignored while it comes, and for [`Bounds::stall`] after; as many
/// as there may be take a bounded amount of memory.
#[test]
fn what_comes_of_a_flow_that_was_given_up_is_ignored() {
    let [mut a, mut b] = [3, 8].map(|host| Names::new(host, 0, 7, BOUNDS));
    let flow = a.open(8, DCTCP, 0);
    let there = packet(3, 8, a.wire(flow).unwrap());
    let Found::New(arriving) = b.arrive(&there, second(1)) else { panic!() };
    b.bar(arriving, second(1));
    assert_eq!((b.len(), b.arriving), (0, 0));
    for at in [2, 9, 18, 27] {
        assert_eq!(b.arrive(&there, second(at)), Found::Stale, "{at}");
    }
    assert!(matches!(b.arrive(&there, second(38)), Found::New(_)), "its name returns");
    assert_eq!(b.barred.len(), 0);
    for number in 0..3 * BARRED_MOST as u32 {
        let wire = FlowId(RUN_TIME | number << 1);
        if let Found::New(flow) = b.arrive(&packet(3, 8, wire), second(40)) {
            b.bar(flow, second(40));
        }
    }
    assert_eq!((b.barred.len(), b.len()), (BARRED_MOST, 1));
}
