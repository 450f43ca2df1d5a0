//! Known results of NDP: scripts of packets in and out, and flows through an impaired network.

use super::headers::DATA;
use super::receiver::{Receivers, Reply};
use super::sender::HostPlan;
use super::sender::{Sender, sent_again, sent_once};
use super::{CONTROL, ENTRY, ID};
use incast_testkit::{
    Driver, Harness, MSS, Network, Probabilities, configured, data, fabric_site, flow, host_site,
    port_site,
};
use incast_transport::{
    Classes, Discipline, FlowId, Header, HostId, Limit, Packet, Random, Rate, Schedule, Span, Time,
    Transport, data_flag, flag,
};

const RATE: Rate = Rate::from_gbps(10);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A flow of `packets` with a first window of `window` and timeouts of a millisecond.
fn sender(packets: u64, window: u32) -> Sender {
    let plan = HostPlan {
        first_window: window,
        spacing: SPACING,
        timeout_least: Span::from_ms(1),
        paths: 0,
    };
    Sender::new(flow(0, 0, 1, packets * MSS, Time::ZERO), &plan, Time::ZERO)
}

fn drain(sender: &mut Sender, now: Time) -> Vec<u32> {
    std::iter::from_fn(|| sender.take(now).map(|sent| sent.seq)).collect()
}

#[test]
fn only_the_first_window_leaves_at_once() {
    let mut s = sender(20, 15);
    assert_eq!(drain(&mut s, us(0)), (0..15).collect::<Vec<_>>());
    assert!(s.has_work() && !s.sendable());
    let mut short = sender(3, 15);
    assert_eq!(drain(&mut short, us(0)), [0, 1, 2]);
    assert!(!short.has_work());
}

#[test]
fn a_nack_that_pulls_triggers_a_packet() {
    let mut s = sender(20, 4);
    drain(&mut s, us(0));
    s.on_nack(2, 0, None, us(10));
    assert!(drain(&mut s, us(10)).is_empty());
    s.on_nack(1, 0, Some(1), us(11));
    // Repairs go before new packets, lowest first; one pull, one packet.
    let sent = s.take(us(11)).unwrap();
    assert_eq!((sent.seq, sent.again), (1, true));
    assert!(s.take(us(11)).is_none());
    s.on_pull(3, us(12));
    assert_eq!(drain(&mut s, us(12)), [2, 4]);
}

#[test]
fn a_nack_uses_a_pull_that_found_nothing_to_send() {
    let mut s = sender(4, 4);
    drain(&mut s, us(0));
    s.on_pull(1, us(10));
    assert!(drain(&mut s, us(10)).is_empty());
    s.on_nack(3, 0, None, us(11));
    assert_eq!(drain(&mut s, us(11)), [3]);
}

#[test]
fn pull_numbers_are_cumulative_and_old_ones_have_no_effect() {
    let mut s = sender(40, 4);
    drain(&mut s, us(0));
    s.on_pull(5, us(10));
    assert_eq!(drain(&mut s, us(10)), [4, 5, 6, 7, 8]);
    s.on_pull(3, us(11));
    assert!(drain(&mut s, us(11)).is_empty());
    // Number 6 was lost: 7 releases two.
    s.on_pull(7, us(12));
    assert_eq!(drain(&mut s, us(12)), [9, 10]);
}

#[test]
fn pull_numbers_in_acks_survive_their_24_bits() {
    let mut s = sender(40, 1);
    for number in [5, 0x7f_ffff, 0xff_fff0, 0x100_0003] {
        assert_eq!(s.widen(number & 0xff_ffff), number);
        s.on_pull(number, us(1));
    }
    assert_eq!(s.widen(0xff_fffe), 0xff_fffe);
}

#[test]
fn a_bounce_waits_while_pulls_are_expected() {
    let mut s = sender(8, 4);
    drain(&mut s, us(0));
    s.on_nack(0, 0, None, us(10));
    // One pull is under way for the NACK.
    s.on_bounce(1, us(11));
    assert!(drain(&mut s, us(11)).is_empty());
    s.on_pull(1, us(12));
    assert_eq!(drain(&mut s, us(12)), [0]);
}

#[test]
fn the_last_bounce_of_an_unacknowledged_window_is_resent_at_once() {
    let mut s = sender(8, 3);
    drain(&mut s, us(0));
    s.on_bounce(0, us(10));
    s.on_bounce(1, us(11));
    assert!(drain(&mut s, us(11)).is_empty());
    s.on_bounce(2, us(12));
    // Nothing else is under way: one packet goes, lowest first.
    assert_eq!(drain(&mut s, us(12)), [0]);
}

/// Packet 0 is trimmed so many times, and sent again as often; 5 us each.
fn trimmed(s: &mut Sender, times: u32) {
    drain(s, us(0));
    for time in 1..=times {
        s.on_nack(0, 0, Some(time), us(5 * time as u64));
        assert_eq!(drain(s, us(5 * time as u64)), [0]);
    }
}

#[test]
fn many_retransmissions_are_not_taken_for_the_first_transmission() {
    let mut s = sender(8, 3);
    trimmed(&mut s, 65);
    // Nothing was heard of packets 1 and 2: the bounce of one is not the last of the window.
    s.on_bounce(1, us(330));
    assert!(drain(&mut s, us(330)).is_empty());
}

#[test]
fn the_timeout_counts_from_the_last_of_many_transmissions() {
    let mut s = sender(2, 1);
    trimmed(&mut s, 64);
    s.on_timer(us(1_000));
    assert!(drain(&mut s, us(1_000)).is_empty(), "it left at 320 us");
}

#[test]
fn the_count_of_retransmissions_stops_at_its_largest() {
    let mut state = !0b11_1111;
    assert!(!sent_once(sent_again(0)) && sent_once(0));
    for _ in 0..3 {
        state = sent_again(state);
        assert!(!sent_once(state));
    }
    assert_eq!(state, !0b1_1111);
}

#[test]
fn a_bounce_on_a_bad_path_is_resent_at_once() {
    let resent_after = |acks: u32| {
        let mut s = sender(40, 12);
        drain(&mut s, us(0));
        (0..acks).for_each(|seq| s.on_ack(seq, seq + 1, None, us(10)));
        s.on_bounce(11, us(11));
        drain(&mut s, us(11))
    };
    assert!(resent_after(2).is_empty());
    assert_eq!(resent_after(3), [11]);
}

#[test]
fn packets_are_resent_after_the_timeout() {
    let mut s = sender(2, 15);
    drain(&mut s, us(0));
    s.on_ack(0, 1, None, us(10));
    assert_eq!(s.first_deadline(us(0)), us(1_000));
    assert_eq!(s.on_timer(us(999)), us(1_000));
    assert!(drain(&mut s, us(999)).is_empty());
    assert!(s.on_timer(us(1_000)) > us(1_000));
    let sent = s.take(us(1_000)).unwrap();
    assert_eq!((sent.seq, sent.again), (1, true));
    s.on_ack(1, 2, None, us(1_010));
    assert!(s.finished());
}

#[test]
fn the_timeout_of_a_packet_counts_from_its_last_transmission() {
    let mut s = sender(3, 3);
    drain(&mut s, us(0));
    s.on_ack(0, 1, None, us(100));
    s.on_ack(2, 1, None, us(100));
    s.on_nack(1, 1, Some(1), us(600));
    assert_eq!(drain(&mut s, us(600)), [1]);
    let at = s.on_timer(us(1_000));
    assert!(drain(&mut s, us(1_000)).is_empty() && at >= us(1_600));
    s.on_timer(at);
    assert_eq!(drain(&mut s, at), [1]);
}

/// The packets that leave when the timer is asked at each of its deadlines until `end`.
fn resent_until(s: &mut Sender, end: Time) -> Vec<(u64, u32)> {
    let mut resent = vec![];
    let mut at = s.first_deadline(us(0));
    while at <= end {
        let next = s.on_timer(at);
        assert!(next > at);
        resent.extend(drain(s, at).into_iter().map(|seq| (at.0 / 1_000_000, seq)));
        at = next;
    }
    resent
}

#[test]
fn each_packet_of_a_burst_is_resent_at_its_own_timeout() {
    // Five packets leave 10 us apart, and nothing is heard of four of them.
    let mut s = sender(5, 5);
    for seq in 0..5 {
        assert_eq!(s.take(us(10 * seq)).map(|sent| sent.seq), Some(seq as u32));
    }
    s.on_ack(2, 0, None, us(60));
    let expected = [(1_000, 0), (1_010, 1), (1_030, 3), (1_040, 4)];
    assert_eq!(resent_until(&mut s, us(1_999)), expected);
    // The ACK came after all of them had left, so none of their timeouts has doubled. Since then
    // nothing was heard: each doubles once it expires again.
    let expected = [(2_000, 0), (2_010, 1), (2_030, 3), (2_040, 4)];
    assert_eq!(resent_until(&mut s, us(3_990)), expected);
    assert_eq!(resent_until(&mut s, us(4_100)), expected.map(|(at, seq)| (at + 2_000, seq)));
}

#[test]
fn a_flow_that_is_heard_of_again_waits_for_no_doubled_timeout() {
    let mut s = sender(4, 4);
    drain(&mut s, us(0));
    let at = |us| [0, 1, 2, 3].map(|seq| (us, seq));
    // Silence: 1, 2 and 4 ms; the next would be after 8.
    let all = [at(1_000), at(3_000), at(7_000)].concat();
    assert_eq!(resent_until(&mut s, us(7_500)), all);
    s.on_ack(0, 1, None, us(7_010));
    assert_eq!(resent_until(&mut s, us(8_000)), [1, 2, 3].map(|seq| (8_000, seq)));
}

#[test]
fn a_sender_whose_pulls_were_all_lost_requests_one() {
    let mut s = sender(5, 2);
    drain(&mut s, us(0));
    s.on_ack(0, 1, None, us(10));
    s.on_ack(1, 2, None, us(10));
    assert_eq!(s.on_timer(us(1_000)), us(1_010));
    s.on_timer(us(1_010));
    assert_eq!(drain(&mut s, us(1_010)), [2]);
}

/// A receiving host whose pacer has a spacing of 1230400 ps, a full packet at 10 Gb/s.
struct Bench {
    receivers: Receivers,
    harness: Harness,
}

const SPACING: Span = Span(1_230_400);

impl Bench {
    fn new() -> Bench {
        Bench { receivers: Receivers::new(SPACING), harness: Harness::new() }
    }

    fn arrive(&mut self, now: Time, id: u32, seq: u32, flags: u8, data_flags: u8) -> Vec<Reply> {
        let trimmed = flags & flag::TRIMMED != 0;
        let (src, dst, flow) = (HostId(10 + id), HostId(1), FlowId(id));
        let payload = if trimmed { 0 } else { MSS as u16 };
        let packet = Packet { src, dst, flow, payload, flags, ..data(ID, seq, data_flags) };
        let packet = self.harness.departed(now, packet);
        self.harness.arrives(now, packet);
        self.receivers.on_data(&mut self.harness.env(now, dst), packet);
        self.harness.packets.free(packet);
        self.replies()
    }

    fn replies(&mut self) -> Vec<Reply> {
        std::iter::from_fn(|| self.receivers.take()).collect()
    }
}

fn ack(seq: u32, cumulative: u32, number: u32, flags: u8) -> Header {
    Header::Ack { seq, cumulative, number, flags }
}

fn nack(seq: u32, cumulative: u32, number: u32, flags: u8) -> Header {
    Header::Nack { seq, cumulative, number, flags }
}

fn pull(cumulative: u32, number: u32) -> Header {
    Header::Pull { cumulative, number, spare: 0, flags: 0 }
}

#[test]
fn acks_pull_when_the_pacer_is_free_and_queue_pulls_when_not() {
    let mut b = Bench::new();
    let t = us(5);
    assert_eq!(b.arrive(t, 0, 0, 0, 0)[0].header, ack(0, 1, 1, data_flag::PULL));
    // Too early for another pull: the reply goes without, the pull waits.
    let early = t + Span(1_000);
    assert_eq!(b.arrive(early, 0, 2, flag::TRIMMED, 0)[0].header, nack(2, 1, 1, 0));
    assert_eq!(b.receivers.deadline(), t + SPACING);
    b.receivers.on_timer(t + SPACING);
    assert_eq!(b.replies()[0].header, pull(1, 2));
    assert_eq!(b.receivers.deadline(), Time::NEVER);
    // Idle for at least one spacing: implicit again.
    let later = t + SPACING * 2;
    assert_eq!(b.arrive(later, 0, 1, 0, 0)[0].header, ack(1, 2, 3, data_flag::PULL));
}

#[test]
fn flows_share_one_pacer_in_turn() {
    let mut b = Bench::new();
    let t = us(5);
    b.arrive(t, 0, 0, 0, 0);
    for seq in 1..4 {
        b.arrive(t, 0, seq, 0, 0);
        b.arrive(t, 1, seq, flag::TRIMMED, 0);
    }
    let mut pulls = vec![];
    while b.receivers.deadline() != Time::NEVER {
        let at = b.receivers.deadline();
        b.receivers.on_timer(at);
        pulls.extend(b.replies().into_iter().map(|reply| (at, reply.flow.0)));
    }
    let expected: Vec<_> = (0..6).map(|n| (t + SPACING * (n + 1), (n % 2) as u32)).collect();
    assert_eq!(pulls, expected);
}

#[test]
fn the_last_packet_drops_the_pulls_of_its_flow() {
    let mut b = Bench::new();
    let t = us(5);
    b.arrive(t, 0, 0, 0, 0);
    b.arrive(t, 0, 1, 0, 0);
    b.arrive(t, 1, 0, flag::TRIMMED, 0);
    let last = b.arrive(t, 0, 2, 0, data_flag::LAST);
    assert_eq!(last[0].header, ack(2, 3, 0, data_flag::LAST));
    b.receivers.on_timer(b.receivers.deadline());
    assert_eq!(b.replies()[0].flow, FlowId(1));
    assert_eq!(b.receivers.deadline(), Time::NEVER);
    assert_eq!(b.receivers.open_flows(), 1);
    // Late copies are replied to without new state.
    assert_eq!(b.arrive(t, 0, 1, 0, 0)[0].header, ack(1, 2, 0, data_flag::LAST));
    assert_eq!(b.receivers.open_flows(), 1);
}

#[test]
fn duplicates_are_acknowledged_again_but_delivered_once() {
    let mut b = Bench::new();
    b.arrive(us(5), 0, 0, 0, 0);
    assert!(matches!(b.arrive(us(9), 0, 0, 0, 0)[0].header, Header::Ack { seq: 0, .. }));
    // The header of a copy whose first transmission arrived is not missing.
    let trimmed = b.arrive(us(12), 0, 0, flag::TRIMMED, 0);
    assert!(matches!(trimmed[0].header, Header::Ack { seq: 0, .. }));
    assert_eq!(b.harness.probe.deliveries().len(), 1);
}

/// Whoever has cut its payload off: nothing of it has arrived.
#[test]
fn a_header_that_is_not_flagged_as_trimmed_is_one() {
    let mut b = Bench::new();
    let packet = Packet { payload: 0, src: HostId(10), dst: HostId(1), ..data(ID, 0, 0) };
    let packet = b.harness.departed(us(5), packet);
    b.harness.arrives(us(5), packet);
    b.receivers.on_data(&mut b.harness.env(us(5), HostId(1)), packet);
    assert!(matches!(b.replies()[0].header, Header::Nack { seq: 0, .. }));
    assert_eq!(b.harness.probe.deliveries().len(), 0);
}

#[test]
fn pulls_never_exceed_one_per_spacing() {
    let mut b = Bench::new();
    let mut random = Random::new(3, 0, 0);
    let (mut now, mut pulls) = (us(1), vec![]);
    for seq in 0..2_000 {
        now += Span(random.below(2 * SPACING.0));
        while b.receivers.deadline() <= now {
            let at = b.receivers.deadline();
            b.receivers.on_timer(at);
            pulls.extend(b.replies().iter().map(|_| at));
        }
        let reply = b.arrive(now, seq % 3, seq, flag::TRIMMED * (seq as u8 & 1), 0)[0].header;
        if let Header::Ack { flags, .. } | Header::Nack { flags, .. } = reply
            && flags & data_flag::PULL != 0
        {
            pulls.push(now);
        }
    }
    assert!(pulls.len() > 1_500);
    assert!(pulls.windows(2).all(|pair| pair[1] - pair[0] >= SPACING));
}

#[test]
fn its_policy_for_ports() {
    let fabric = fabric_site(2, RATE, Span::from_us(10));
    let site = port_site(&fabric);
    let policy = configured(&ENTRY, &[], &fabric).policy(&site);
    let [control, data] = &policy.classes[..] else { panic!("two classes") };
    assert_eq!(control.limit, Limit::Bytes(24_000));
    assert_eq!(data.limit, Limit::Packets(8));
    let trim = Discipline::Trim { headers: CONTROL, tail: 0.5, bounce: true };
    assert_eq!(data.discipline, trim);
    let (Schedule::Weighted(headers), Schedule::Weighted(whole)) =
        (control.schedule, data.schedule)
    else {
        panic!("weighted")
    };
    let per_packet = headers as f64 / 84.0 / (whole as f64 / 1538.0);
    assert!((per_packet - 10.0).abs() < 0.01, "{per_packet}");
    let off = configured(&ENTRY, &[("return_to_sender", "false")], &fabric).policy(&site);
    assert!(matches!(off.classes[1].discipline, Discipline::Trim { bounce: false, .. }));
}

#[test]
fn queues_and_priority_are_the_users() {
    let fabric = fabric_site(2, RATE, Span::from_us(10));
    let site = port_site(&fabric);
    let classes = |settings: &[(&str, &str)]| {
        let policy = configured(&ENTRY, settings, &fabric).policy(&site);
        let [control, data] = policy.classes[..] else { panic!("two classes") };
        (control, data)
    };
    // The header queue does not follow the data queue.
    for (queue, limit) in [
        ("32", Limit::Packets(32)),
        ("2 packets", Limit::Packets(2)),
        ("72KB", Limit::Bytes(72_000)),
    ] {
        let (control, data) = classes(&[("data_queue", queue)]);
        assert_eq!((control.limit, data.limit), (Limit::Bytes(24_000), limit));
    }
    let (control, data) = classes(&[("header_queue", "1000 packets")]);
    assert_eq!((control.limit, data.limit), (Limit::Packets(1_000), Limit::Packets(8)));
    let (control, data) = classes(&[("header_priority", "strict")]);
    assert_eq!((control.schedule, data.schedule), (Schedule::Strict, Schedule::Strict));
}

#[test]
fn wrong_settings_are_refused() {
    let fabric = fabric_site(2, RATE, Span::from_us(10));
    let set = |key: &str, value: &str| {
        ENTRY.configure(&[(key.to_string(), value.into())], fabric.clone()).err()
    };
    assert!(set("data_queue", "0").unwrap().problem().contains("1 to"));
    assert!(set("data_queue", "1537B").unwrap().problem().contains("a full packet (1538B"));
    assert!(set("data_queue", "1538B").is_none());
    assert!(set("header_queue", "83B").unwrap().problem().contains("a header (84B"));
    assert!(set("header_queue", "lots").unwrap().problem().contains("`8 packets`"));
    assert!(set("header_priority", "first").unwrap().problem().contains("weighted, strict"));
    assert!(set("first_windows", "3").unwrap().problem().contains("first_window"));
    assert!(set("first_window", "auto").is_none());
}

#[test]
fn the_first_window_is_one_rtt_and_at_least_15() {
    let window = |rtt: u64| {
        let fabric = fabric_site(2, RATE, Span::from_us(rtt));
        configured(&ENTRY, &[], &fabric).unsolicited(&host_site(0, &fabric), 1_000)
    };
    assert_eq!(window(10), 15);
    assert_eq!(window(100), 82);
}

#[test]
fn a_lone_flow_takes_the_ideal_time_and_no_pull() {
    let fabric = fabric_site(2, RATE, Span::from_us(20));
    let plan = configured(&ENTRY, &[], &fabric);
    let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
    network.add(flow(0, 0, 1, 17 * MSS, Time::ZERO));
    network.complete(Span::from_ms(10));
    let tx = RATE.tx_time(incast_transport::Bytes(1538));
    assert_eq!(network.completed(0), Some(Time::ZERO + tx * 17 + network.delay()));
    let pulls = network.sent.iter().filter(|s| matches!(s.packet.header, Header::Pull { .. }));
    assert!(pulls.count() <= 16);
    assert!(network.sent.iter().all(|s| !s.packet.has(flag::RETRANSMIT)));
}

#[test]
fn a_long_lone_flow_keeps_its_link_busy() {
    let fabric = fabric_site(2, RATE, Span::from_us(20));
    let plan = configured(&ENTRY, &[], &fabric);
    let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
    network.add(flow(0, 0, 1, 2_000 * MSS, Time::ZERO));
    network.complete(Span::from_ms(10));
    let tx = RATE.tx_time(incast_transport::Bytes(1538));
    let ideal = tx * 2_000 + network.delay();
    let taken = network.completed(0).expect("complete").since(Time::ZERO);
    assert!(taken.0 <= ideal.0 + ideal.0 / 1000, "{taken} instead of {ideal}");
}

/// Sent packets stay below first window + pulls + packets sent again without a pull.
fn assert_pull_clocked(network: &Network, flow: u32, window: u64) {
    let of_flow = || network.sent.iter().map(|s| s.packet).filter(|p| p.flow.0 == flow);
    let data = of_flow().filter(|p| p.is_data()).count() as u64;
    let pulls = of_flow().filter(|p| match p.header {
        Header::Pull { .. } => true,
        Header::Ack { flags, .. } | Header::Nack { flags, .. } => flags & data_flag::PULL != 0,
        _ => false,
    });
    assert!(data <= window + pulls.count() as u64);
}

#[test]
fn trims_alone_never_need_a_timeout() {
    for seed in 0..20 {
        let fabric = fabric_site(2, RATE, Span::from_us(20));
        let plan = configured(&ENTRY, &[], &fabric);
        let some = Probabilities { trim: 0.3, ..Probabilities::default() };
        let mut network = Network::of(&*plan, &fabric, some, seed);
        network.add(flow(0, 0, 1, 300 * MSS, Time::ZERO));
        network.complete(Span::from_ms(10));
        assert_pull_clocked(&network, 0, 17);
        // A timeout would have cost a millisecond.
        assert!(
            network.completed(0).expect("complete") < us(900),
            "seed {seed}: {}",
            network.completed(0).expect("complete")
        );
    }
}

#[test]
fn every_flow_completes_in_an_impaired_network() {
    for seed in 0..60 {
        let fabric = fabric_site(4, RATE, Span::from_us(10 + 90 * (seed % 2)));
        let bounce = if seed % 3 == 0 { "false" } else { "true" };
        let plan = configured(&ENTRY, &[("return_to_sender", bounce), ("paths", "8")], &fabric);
        let level = 0.01 * (1 + seed % 5) as f64;
        let some = Probabilities {
            trim: 5.0 * level,
            bounce: if seed % 3 == 0 { 0.0 } else { 0.3 },
            ..Probabilities::each(level, fabric.base_rtt * 4)
        };
        Network::of(&*plan, &fabric, some, seed).survives();
    }
}

#[test]
fn the_nic_sends_only_open_classes() {
    let fabric = fabric_site(2, RATE, Span::from_us(20));
    let mut driver = Driver::of(&ENTRY, &[], &fabric, 0);
    driver.open(us(1), &flow(0, 0, 1, 5 * MSS, us(1)));
    assert!(driver.transmit_if(us(1), Classes::CONTROL).is_none());
    let packet = driver.transmit(us(1)).expect("the first window");
    assert_eq!((packet.class, packet.payload), (DATA, 1460));
    assert_eq!(driver.host.open_flows(), 1);
}
