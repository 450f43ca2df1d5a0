//! Known results of windows, sources and destinations.

use super::headers::{Ack, Complete, Data, Probe};
use super::*;
use incast_testkit::{Driver, MSS, fabric_site, flow, us};
use incast_transport::Span;
use incast_transport::{Bytes, Header, HostId, Rate, Transport};

const RTT: Span = Span::from_us(20);

/// Host 0 of four, with YAPS's windows: 12 packets, 15 at most; 45 us.
fn source(settings: &[(&str, &str)]) -> Driver {
    let mut all = vec![("set", "yaps")];
    all.extend(settings);
    Driver::of(&ENTRY, &all, &fabric_site(4, Rate::from_gbps(10), RTT), 0)
}

fn ack(flow: u32, packet: u32, cumulative: u32) -> Packet {
    let header = Ack { packet, cumulative, probe: false };
    Packet::header_only(ID, FlowId(flow), HostId(1), HostId(0), CONTROL, header)
}

/// Numbers, and what was left, of data.
fn sent(packets: &[Packet]) -> Vec<(u32, u32)> {
    let read = |packet: &Packet| {
        let Data { packet, remaining, .. } = Data::read(&packet.header).expect("data");
        (packet, remaining)
    };
    packets.iter().map(read).collect()
}

#[test]
fn a_window_grows_with_acks_and_falls_with_timeouts() {
    let mut window = Window::new(Law { first: 12, most: 15 }, 12);
    let grown = |window: &mut Window, acks: u32| {
        (0..acks).for_each(|_| window.advanced());
        window.packets()
    };
    assert_eq!([1, 1, 1, 1].map(|acks| grown(&mut window, acks)), [13, 14, 15, 15]);
    window.timed_out();
    assert_eq!(window.packets(), 1);
    // Slow start up to half of 15, rounded down, then a packet per window of ACKs.
    assert_eq!(grown(&mut window, 6), 7);
    assert_eq!([6, 1, 7, 1].map(|acks| grown(&mut window, acks)), [7, 8, 8, 9]);
    // The threshold is at least two.
    window.timed_out();
    window.timed_out();
    assert_eq!([1, 1, 1].map(|acks| grown(&mut window, acks)), [2, 2, 3]);
    // A flow with a first window of its own beyond the largest keeps it.
    assert_eq!(grown(&mut Window::new(Law { first: 12, most: 15 }, 40), 3), 40);
}

#[test]
fn windows_buffer_and_timeout_follow_from_the_fabric_or_a_set() {
    let values = |gbps: u64, rtt: u64, settings: &[(&str, &str)]| {
        let fabric = fabric_site(4, Rate::from_gbps(gbps), us(rtt));
        let site = incast_testkit::host_site(0, &fabric);
        let plan = incast_testkit::configured(&ENTRY, settings, &fabric);
        let resolved = plan.resolved();
        let of = |key: &str| resolved.iter().find(|(name, _)| *name == key).unwrap().1.clone();
        (plan.unsolicited(&site, 1_000), of("buffer (in force)"), of("rto (in force)"))
    };
    // BDPs of 17 and of 65 packets.
    let full = |packets: u64| Bytes(packets * 1_538).to_string();
    assert_eq!(values(10, 20, &[]), (17, full(34), us(60).to_string()));
    assert_eq!(values(100, 8, &[]), (66, full(132), us(24).to_string()));
    assert_eq!(values(10, 5, &[]), (5, full(24), us(15).to_string()));
    let yaps = (12, Bytes(36_864).to_string(), us(45).to_string());
    assert_eq!(values(40, 15, &[("set", "yaps")]), yaps);
    let law = |settings: &[(&str, &str)]| {
        let fabric = fabric_site(4, Rate::from_gbps(10), RTT);
        let params = Params::read(&incast_testkit::key_values(settings)).unwrap();
        params.law(&incast_testkit::host_site(0, &fabric))
    };
    assert_eq!(law(&[]), Law { first: 17, most: 22 });
    assert_eq!(law(&[("max_window", "9")]), Law { first: 9, most: 9 });
    assert_eq!(law(&[("initial_window", "40")]), Law { first: 40, most: 40 });
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let fabric = fabric_site(4, Rate::from_gbps(10), RTT);
    let refused = |settings: &[(&str, &str)]| {
        let pairs = incast_testkit::key_values(settings);
        ENTRY.configure(&pairs, fabric.clone()).err().expect("refused").to_string()
    };
    assert!(refused(&[("buffer", "1000B")]).contains("a full packet as links charge it"));
    assert!(refused(&[("rto", "0s")]).contains("at most 60s"));
    let windows = refused(&[("initial_window", "20"), ("max_window", "19")]);
    assert!(windows.contains("initial_window") && windows.contains("at most max_window, 19"));
    assert!(refused(&[("max_window", "0")]).contains("1 to 1000000 packets"));
}

#[test]
fn a_window_leaves_at_once_and_an_ack_releases_two_up_to_the_largest() {
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(7, 0, 1, 100 * MSS, Time::ZERO));
    let first = sent(&host.drain(Time::ZERO));
    assert_eq!(first, (0..12).map(|seq| (seq, 100)).collect::<Vec<_>>());
    host.receive(Time(1), ack(7, 0, 1));
    assert_eq!(sent(&host.drain(Time(1))), [(12, 99), (13, 99)]);
    for seq in 1..3 {
        host.receive(Time(2), ack(7, seq, seq + 1));
    }
    assert_eq!(sent(&host.drain(Time(2))).len(), 4);
    // 15 packets from here on.
    host.receive(Time(3), ack(7, 3, 4));
    assert_eq!(sent(&host.drain(Time(3))), [(18, 96)]);
}

#[test]
fn the_flow_with_the_least_left_sends_first_and_acks_before_it() {
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(0, 0, 1, 9 * MSS, Time::ZERO));
    host.open(Time::ZERO, &flow(1, 0, 1, 3 * MSS, Time::ZERO));
    let data = Data { packet: 0, offset: 0, remaining: 1, last: true };
    let payload = Packet {
        payload: 100,
        ..Packet::header_only(ID, FlowId(5), HostId(2), HostId(0), DATA, data)
    };
    host.receive(Time::ZERO, payload);
    let all = host.drain(Time::ZERO);
    assert_eq!(Complete::read(&all[0].header), Some(Complete {}));
    assert_eq!((all[0].dst, all[0].class), (HostId(2), CONTROL));
    let flows: Vec<u32> = all[1..].iter().map(|packet| packet.flow.0).collect();
    assert_eq!(flows, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // ACKed packets make a flow more urgent than another one.
    host.open(Time(1), &flow(2, 0, 1, 100 * MSS, Time(1)));
    host.open(Time(1), &flow(3, 0, 1, 95 * MSS, Time(1)));
    assert_eq!(sent(&host.drain(Time(1)))[0], (0, 95));
    (0..8).for_each(|seq| host.receive(Time(2), ack(2, seq, seq + 1)));
    host.receive(Time(2), ack(3, 0, 1));
    assert_eq!(sent(&host.drain(Time(2)))[0], (12, 92));
}

/// The first packet is lost: what was ACKed beyond it opens no window before the timer expires, and is not
/// sent again.
#[test]
fn a_timer_resends_what_is_missing_and_nothing_else() {
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(0, 0, 1, 100 * MSS, Time::ZERO));
    assert_eq!(host.drain(Time::ZERO).len(), 12);
    for seq in [1, 2, 4] {
        host.receive(Time(1_000), ack(0, seq, 0));
        assert!(host.transmit(Time(1_000)).is_none(), "a duplicate ACK");
    }
    let expiry = Time::ZERO + us(45);
    assert_eq!(host.host.deadline(), expiry);
    host.wake(expiry);
    // A window of one, widened by the three: 0 to 3, of which 0 and 3 are missing. 97 are left.
    let again = host.drain(expiry);
    assert_eq!(sent(&again), [(0, 97), (3, 97)]);
    assert!(again.iter().all(|packet| packet.has(incast_transport::flag::RETRANSMIT)));
    assert_eq!(host.host.deadline(), expiry + us(45), "it does not grow");
    host.receive(expiry + us(1), ack(0, 0, 3));
    assert_eq!(sent(&host.drain(expiry + us(1))), [(5, 96)]);
    assert_eq!(host.host.observe(FlowId(0), expiry).timer, Some(expiry + us(46)));
}

#[test]
fn a_packet_that_waits_for_the_nic_is_not_timed() {
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(0, 0, 1, 100 * MSS, Time::ZERO));
    assert_eq!(host.host.deadline(), Time::NEVER);
    let left = host.transmit(Time::ZERO + us(100));
    assert!(left.is_some());
    assert_eq!(host.host.deadline(), Time::ZERO + us(145));
}

#[test]
fn after_five_timeouts_probes_ask_until_an_ack_comes() {
    let mut host = source(&[("probe_after", "5")]);
    host.open(Time::ZERO, &flow(0, 0, 1, 100 * MSS, Time::ZERO));
    host.drain(Time::ZERO);
    let sent_then = host.run(Time::ZERO + us(45 * 7));
    let probes: Vec<_> = sent_then.iter().map(|(_, packet)| Probe::read(&packet.header)).collect();
    assert_eq!(probes[..4], [None; 4], "packet 0");
    assert_eq!(probes[4..], [Some(Probe { packet: 0, remaining: 100 }); 3]);
    assert!(sent_then[4..].iter().all(|(_, probe)| probe.payload == 0 && probe.class == DATA));
    let answer = Ack { packet: 0, cumulative: 0, probe: true };
    let answer = Packet::header_only(ID, FlowId(0), HostId(1), HostId(0), CONTROL, answer);
    let now = Time::ZERO + us(320);
    host.receive(now, answer);
    assert_eq!(sent(&host.drain(now)), [(0, 100)]);
    host.receive(now + us(1), ack(0, 0, 1));
    assert_eq!(sent(&host.drain(now + us(1))), [(1, 99), (2, 99)], "slow start");
    // YAPS sends data for ever.
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(0, 0, 1, 100 * MSS, Time::ZERO));
    host.drain(Time::ZERO);
    assert_eq!(
        sent(&host.run(Time::ZERO + us(450)).iter().map(|s| s.1).collect::<Vec<_>>()),
        [(0, 100); 10]
    );
}

#[test]
fn a_destination_answers_every_packet() {
    let mut host = source(&[]);
    let data = |seq: u32, last: bool| {
        let data = Data { packet: seq, offset: seq * 1_460, remaining: 9, last };
        let header = Packet::header_only(ID, FlowId(3), HostId(2), HostId(0), DATA, data);
        Packet { payload: 1_460, ..header }
    };
    let probe = Probe { packet: 0, remaining: 4 };
    let probe = Packet::header_only(ID, FlowId(3), HostId(2), HostId(0), DATA, probe);
    let mut answers = vec![];
    for packet in [probe, data(1, false), data(0, false), data(0, false), probe, data(2, true)] {
        host.receive(Time::ZERO, packet);
        answers.extend(host.drain(Time::ZERO).iter().map(|packet| packet.header));
    }
    let ack = |packet, cumulative, probe| -> Header { Ack { packet, cumulative, probe }.into() };
    let expected = [
        ack(0, 0, true),
        ack(1, 0, false),
        ack(0, 2, false),
        ack(0, 2, false),
        ack(0, 2, true),
        Complete {}.into(),
    ];
    assert_eq!(answers, expected);
    assert_eq!(host.host.open_flows(), 0);
    // Also when the flow is long complete, whatever comes.
    for packet in [data(1, false), probe] {
        host.receive(Time(9), packet);
        assert_eq!(host.transmit(Time(9)).unwrap().header, Complete {}.into());
    }
}

#[test]
fn acks_of_what_was_not_sent_are_ignored() {
    let mut host = source(&[]);
    host.open(Time::ZERO, &flow(0, 0, 1, 100 * MSS, Time::ZERO));
    host.drain(Time::ZERO);
    for forged in [ack(0, 12, 1), ack(0, 0, 13), ack(0, u32::MAX, u32::MAX), ack(1, 0, 1)] {
        host.receive(Time(1), forged);
    }
    let early = Packet::header_only(ID, FlowId(0), HostId(1), HostId(0), CONTROL, Complete {});
    host.receive(Time(1), early);
    assert_eq!(host.host.open_flows(), 1);
    assert!(host.transmit(Time(1)).is_none());
}
