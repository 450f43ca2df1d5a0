//! Congestion control and switch by direct calls.

use super::headers::{Data, Notice, bit};
use super::*;
use incast_endpoint::sender::{Ack, Control, Loss, Message, Outbound, Progress, stamp};
use incast_testkit::{
    ControlDriver, Harness, at, fabric_site, outbound, packet, plain_ack, progress, segment, us,
};
use incast_transport::{
    Backlog, Bytes, FabricSite, Header, Packet, PacketRef, PortView, Random, Rate, Span,
    SwitchHook, SwitchSite, Time, Transport,
};

const RATE: Rate = Rate::from_gbps(100);
const MSS: u64 = 1_452;
const MTU: u64 = 1_538;

fn site() -> Arc<FabricSite> {
    fabric_site(2, RATE, us(8))
}

fn rule(params: &Params) -> Arc<Rule> {
    Arc::new(Rule::new(params, RATE, &site()))
}

/// A flow with a largest window of 65 packets, 1 ms after the beginning.
fn bolt(params: &Params) -> ControlDriver<Bolt> {
    let mut driver = ControlDriver::new(Bolt::new(rule(params), Time::ZERO));
    (driver.now, driver.mss) = (at(1_000), MSS);
    driver
}

fn send(driver: &mut ControlDriver<Bolt>, offset: u64, size: u64) -> Outbound {
    let mut packet = outbound(offset, MSS as u16);
    let progress = Progress { size, ..progress(driver.now, None) };
    driver.control.on_send(&mut packet, &progress);
    packet
}

/// An ACK of a packet that took `rtt` and brought these bits.
fn ack(driver: &mut ControlDriver<Bolt>, bits: u8, rtt: Span) {
    let sent = stamp(Time(driver.now.0 - rtt.0));
    driver.ack_with(Ack { bytes: MSS, nibble: bits, ..plain_ack(&sent) });
}

/// A notice of a queue of so many full packets at a link of `rate`, `round` after the data left.
fn notice(driver: &mut ControlDriver<Bolt>, packets: u64, rate: Rate, round: Span) {
    let drain = (packets * MTU * 8_000_000_000 / rate.0) as u32;
    let header = Notice { drain, about: 0, rate: (rate.0 / 100_000_000) as u32 };
    let (packet, extension) = (packet(ID, header), stamp(Time(driver.now.0 - round.0)));
    let message = Message { packet: &packet, extension: &extension, informed: driver.now };
    driver.control.on_message(&message, &progress(driver.now, None));
}

// -- the congestion control -----------------------------------------------------------------------

#[test]
fn a_flow_starts_with_a_bdp() {
    let driver = bolt(&Params::default());
    // 8 us and the stamps of four ACKs at 100 Gb/s: 100,160 bytes, which are 66 packets.
    let packets = RATE.bytes_in(site().base_rtt_with(8)).0.div_ceil(MTU);
    assert_eq!(driver.control.bytes(), packets * MSS);
    assert_eq!((driver.control.window(), driver.control.pacing()), (packets * MSS, None));
}

#[test]
fn bits_say_where_the_flow_stands() {
    let mut driver = bolt(&Params::default());
    let window = driver.control.bytes();
    let size = 3 * window;
    // Before the first ACK: first, and one of them raises the window.
    assert_eq!(send(&mut driver, 0, size).nibble, bit::FIRST | bit::PROBE);
    assert_eq!(send(&mut driver, MSS, size).nibble, bit::FIRST);
    // A flow of one window sends nothing after it.
    assert_eq!(send(&mut driver, 0, window).nibble, bit::FIRST | bit::LAST);
    ack(&mut driver, bit::FIRST, us(8));
    assert_eq!(send(&mut driver, window, size).nibble, bit::MORE);
    assert_eq!(send(&mut driver, 2 * window - 1, size).nibble, bit::MORE);
    assert_eq!(send(&mut driver, 2 * window, size).nibble, bit::LAST);
    // The ACK of the raising packet lets the next one go; nothing else does, but a loss.
    ack(&mut driver, bit::PROBE, us(8));
    assert_eq!(send(&mut driver, window, size).nibble, bit::MORE | bit::PROBE);
    assert_eq!(send(&mut driver, window, size).nibble, bit::MORE);
    driver.lose(Loss::Fast);
    assert_eq!(send(&mut driver, window / 2, size).nibble & bit::PROBE, bit::PROBE);
    let mut driver = bolt(&Params { probe: false, ..Params::default() });
    assert_eq!(send(&mut driver, 0, size).nibble, bit::FIRST);
}

#[test]
fn a_window_grows_by_what_switches_and_the_probe_allow() {
    let mut driver = bolt(&Params::default());
    let most = driver.control.bytes();
    // Twenty packets less, to have room.
    for _ in 0..20 {
        driver.now = Time(driver.now.0 + us(100).0);
        notice(&mut driver, 10, RATE, us(4));
    }
    let start = most - 20 * MSS;
    assert_eq!(driver.control.bytes(), start);
    for (bits, packets) in [
        (0, 0),
        (bit::MORE, 1),
        (bit::MORE | bit::CONGESTED, 0),
        (bit::CONGESTED, 0),
        (bit::PROBE, 1),
        (bit::MORE | bit::PROBE, 2),
        (bit::PROBE | bit::CONGESTED, 1),
        (bit::FIRST, 0),
        (bit::LAST, 0),
    ] {
        let before = driver.control.bytes();
        ack(&mut driver, bits, us(8));
        assert_eq!(driver.control.bytes(), before + packets * MSS, "{bits:b}");
        assert_eq!(driver.control.decided(), bits & (bit::MORE | bit::CONGESTED) != 0);
    }
    (0..100).for_each(|_| ack(&mut driver, bit::MORE, us(8)));
    assert_eq!(driver.control.bytes(), most);
}

/// Ten packets wait, the flow has half of the link, and notices take 4 us: a packet less each 0.8 us,
/// so that in a round trip the flow takes back five, its share of the queue.
#[test]
fn notices_take_the_flows_share_of_the_queue_in_a_round_trip() {
    let mut driver = bolt(&Params::default());
    // A window of 65 packets (and a bit) in 15.1 us is half of 100 Gb/s.
    let rtt = Span((driver.control.bytes() as f64 * 8e12 / 50e9) as u64);
    ack(&mut driver, 0, rtt);
    let (start, from) = (driver.control.bytes(), driver.now);
    notice(&mut driver, 10, RATE, us(4));
    assert_eq!(driver.control.bytes(), start - MSS, "the last decrement was long ago");
    // 0.8 us and what the smaller window adds.
    for (after, packets) in
        [(Span::from_ns(790), 1), (Span::from_ns(830), 2), (Span::from_ns(1_600), 2)]
    {
        driver.now = from + after;
        notice(&mut driver, 10, RATE, us(4));
        assert_eq!(driver.control.bytes(), start - packets * MSS, "{after}");
    }
    // A notice with each packet time for a round trip: five packets and a bit.
    let mut driver = bolt(&Params::default());
    ack(&mut driver, 0, rtt);
    let (start, from) = (driver.control.bytes(), driver.now);
    for step in 0..33 {
        driver.now = from + Span(step * RATE.tx_time(Bytes(MTU)).0);
        notice(&mut driver, 10, RATE, us(4));
    }
    let taken = (start - driver.control.bytes()) / MSS;
    assert!((4..=6).contains(&taken), "{taken}");
}

#[test]
fn a_share_is_at_most_one_and_a_queue_at_its_target_is_left_alone() {
    let driver = bolt(&Params::default());
    // No RTT yet: the NIC's rate over that of the link, at most 1.
    let told = |packets: u64, gbps: u64| Notice {
        drain: (packets * MTU * 8 / gbps) as u32,
        about: 0,
        rate: 10 * gbps as u32,
    };
    let of = |driver: &ControlDriver<Bolt>, packets, gbps| {
        driver.control.interval(&told(packets, gbps), us(4)).map(|span| span.0 as f64 / 1e6)
    };
    assert!((of(&driver, 10, 100).unwrap() - 0.4).abs() < 1e-3);
    assert!((of(&driver, 10, 10).unwrap() - 0.4).abs() < 1e-3, "a slower link");
    assert!((of(&driver, 10, 400).unwrap() - 1.6).abs() < 1e-2, "a faster one");
    let target = bolt(&Params { target_queue: Bytes(5 * MTU), ..Params::default() });
    assert!((of(&target, 10, 100).unwrap() - 0.8).abs() < 1e-3);
    assert_eq!(of(&target, 5, 100), None);
    let mut target = target;
    let before = target.control.bytes();
    notice(&mut target, 4, RATE, us(4));
    assert_eq!(target.control.bytes(), before);
}

#[test]
fn a_window_of_a_packet_is_halved_once_per_round_and_spaces_packets() {
    let params = Params { window: Some(Bytes(MSS)), ..Params::default() };
    let mut driver = bolt(&params);
    ack(&mut driver, 0, us(10));
    for (step, bytes) in [(0, 726), (3, 726), (4, 363), (7, 363), (8, 181)] {
        driver.now = at(2_000 + step);
        notice(&mut driver, 10, RATE, us(4));
        assert_eq!(driver.control.bytes(), bytes, "{step}");
    }
    // One may be in flight; 181 of 1452 bytes in 10 us is a packet each 80.2 us.
    assert_eq!(driver.control.window(), MSS);
    let gap = driver.control.pacing().unwrap().tx_time(Bytes(MTU));
    assert!((gap.0 as f64 / 1e6 - 10.0 * 1_452.0 / 181.0).abs() < 0.01, "{gap}");
    for step in 0..20 {
        driver.now = at(3_000 + 10 * step);
        notice(&mut driver, 10, RATE, us(4));
    }
    assert_eq!(driver.control.bytes(), 15);
}

#[test]
fn a_loss_halves_the_window_once_per_rtt() {
    let mut driver = bolt(&Params::default());
    let start = driver.control.bytes();
    ack(&mut driver, 0, us(10));
    for (step, part) in [(0, 2), (9, 2), (10, 4), (19, 4), (20, 8)] {
        driver.now = at(2_000 + step);
        driver.lose(if step % 2 == 0 { Loss::Fast } else { Loss::Timeout });
        assert_eq!(driver.control.bytes(), start / part, "{step}");
    }
}

// -- the switch -----------------------------------------------------------------------------------

struct Rig {
    harness: Harness,
    hook: Reflector,
    now: Time,
    /// Charged bytes that the port has sent.
    sent: u64,
}

impl Rig {
    fn new(params: &Params) -> Rig {
        let hook = Reflector::new(params, &SwitchSite { node: 9, ports: 4, fabric: site() });
        Rig { harness: Harness::new(), hook, now: at(100), sent: 0 }
    }

    /// A data packet with these bits finds `queue` bytes. Returns the bits that are left, and the notice.
    fn pass(&mut self, bits: u8, queue: u64) -> (u8, Option<PacketRef>) {
        self.pass_at(1, bits, queue)
    }

    fn pass_at(&mut self, port: u32, bits: u8, queue: u64) -> (u8, Option<PacketRef>) {
        let header = Header::Segment { seq: 7_000, ack: 0, window: 0, nibble: bits, flags: 0 };
        let packet = Packet { header, ..segment(ID, 3, 0, MSS as u16) };
        let packet = self.harness.packets.create(packet);
        self.harness.packets.extend(packet, stamp(at(90)));
        let all = Backlog { bytes: queue, packets: queue.div_ceil(MTU) as u32 };
        let egress = PortView { port, rate: RATE, data: all, all, sent: self.sent };
        let mut env = self.harness.switch_env(self.now, PortView { port: 0, ..egress }, egress);
        let decision = self.hook.forward(&mut env, packet);
        assert!(!decision.drop && decision.follow.is_none());
        let left = Data::read(&self.harness.packets[packet].header).unwrap().bits;
        (left, decision.reply)
    }

    fn later(&mut self, span: Span) {
        self.now += span;
    }
}

#[test]
fn the_first_congested_switch_tells_the_source_and_the_others_are_silent() {
    let mut rig = Rig::new(&Params::default());
    assert_eq!(rig.pass(bit::MORE, 2 * MTU - 1), (bit::MORE, None), "below two packets");
    let (left, told) = rig.pass(bit::MORE, 10 * MTU);
    assert_eq!(left, bit::CONGESTED);
    let told = told.expect("a notice");
    let (packet, stamps) = (rig.harness.packets[told], *rig.harness.packets.stamps(told));
    let notice = Notice::read(&packet.header).unwrap();
    // 10 packets of 123.04 ns.
    assert_eq!(notice, Notice { drain: 1_230, about: 7_000, rate: 1_000 });
    assert_eq!((packet.class, packet.payload, packet.flow.0), (0, 0, 3));
    let data = segment(ID, 3, 0, 1);
    assert_eq!((packet.src, packet.dst), (data.dst, data.src));
    assert_eq!(*rig.harness.packets.extension(told), stamp(at(90)));
    assert_eq!(stamps.informed, rig.now.0);
    // The next congested switch finds the bit set.
    assert_eq!(rig.pass(bit::MORE | bit::CONGESTED, 10 * MTU), (bit::CONGESTED, None));
    // A switch without a queue leaves the bit.
    assert_eq!(rig.pass(bit::CONGESTED, 0), (bit::CONGESTED, None));
    let mut quiet = Rig::new(&Params { notices: false, ..Params::default() });
    assert_eq!(quiet.pass(bit::MORE, 10 * MTU), (bit::CONGESTED, None));
}

/// Packets without payload, and those of no flow, pass.
#[test]
fn acks_and_notices_pass() {
    let mut rig = Rig::new(&Params::default());
    let header = Notice { drain: 1, about: 2, rate: 3 };
    let passing = rig.harness.packets.create(packet(ID, header));
    let all = Backlog { bytes: 1_000_000, packets: 700 };
    let port = PortView { port: 1, rate: RATE, data: all, all, sent: 0 };
    let mut env = rig.harness.switch_env(rig.now, port, port);
    assert!(rig.hook.forward(&mut env, passing).reply.is_none());
    assert_eq!(rig.hook.entries(), 0);
}

/// However long a link was idle, one packet more is let in at once.
#[test]
fn an_idle_link_keeps_room_for_one_packet() {
    let mut rig = Rig::new(&Params::default());
    rig.later(us(1_000));
    assert_eq!(rig.pass(bit::MORE, 0).0, bit::MORE);
    rig.sent += MTU;
    // A packet takes its own time; what is left over of two packet times is room for one.
    let packet = RATE.tx_time(Bytes(MTU));
    for (gap, left) in
        [(1, 0), (2, bit::MORE), (1, 0), (9, bit::MORE), (1, 0), (1, 0), (2, bit::MORE)]
    {
        rig.later(packet * gap);
        assert_eq!(rig.pass(bit::MORE, 0).0, left, "{gap}");
        rig.sent += MTU;
    }
}

/// At utilisation u the link has (1 - u) of its capacity for packets more.
#[test]
fn spare_capacity_is_given_out_once() {
    for percent in [50u64, 80, 90, 95, 99] {
        let mut rig = Rig::new(&Params::default());
        let gap = Span((RATE.tx_time(Bytes(MTU)).0 * 100).div_ceil(percent));
        let packets = 100_000;
        let mut more = 0;
        for _ in 0..packets {
            more += (rig.pass(bit::MORE, 0).0 & bit::MORE != 0) as u64;
            rig.sent += MTU;
            rig.later(gap);
        }
        let expected = packets as f64 * (100 - percent) as f64 / percent as f64;
        let bound = expected.min(packets as f64);
        assert!(
            (more as f64 - bound).abs() < 3.0 + bound * 0.002,
            "{percent} %: {more} of {bound}"
        );
    }
    let mut rig = Rig::new(&Params { spare: false, ..Params::default() });
    rig.later(us(1_000));
    assert_eq!(rig.pass(bit::MORE, 0).0, 0);
}

/// What a queue works off is not spare; what was dropped was never carried.
#[test]
fn a_queue_is_paid_back_and_drops_are_not() {
    let mut rig = Rig::new(&Params::default());
    // Twenty packets at one instant.
    for packet in 0..20 {
        rig.pass(0, packet * MTU);
    }
    assert_eq!(rig.hook.tokens(1), (0, -18 * MTU as i64), "the first one found a packet's room");
    // 20 packet times later all are sent.
    rig.later(RATE.tx_time(Bytes(MTU)) * 20);
    rig.sent = 20 * MTU;
    rig.pass(0, 0);
    assert_eq!(rig.hook.tokens(1).1, MTU as i64);
    // Two more join, and a hundred are dropped: the port knows of none of these.
    rig.pass(0, MTU);
    rig.pass(0, 2 * MTU);
    assert_eq!(rig.hook.tokens(1).1, -(MTU as i64));
    (0..100).for_each(|_| assert!(rig.pass(0, 3 * MTU).1.is_some()));
    rig.later(RATE.tx_time(Bytes(MTU)) * 3);
    rig.sent += 3 * MTU;
    rig.pass(0, 0);
    assert_eq!(rig.hook.tokens(1).1, MTU as i64);
}

#[test]
fn flows_that_end_leave_room_for_others() {
    let mut rig = Rig::new(&Params { spare: false, ..Params::default() });
    // A flow of one window leaves nothing: it would have sent nothing else anyway.
    (0..10).for_each(|_| assert_eq!(rig.pass(bit::FIRST | bit::LAST, 0).0, bit::FIRST | bit::LAST));
    assert_eq!(rig.hook.tokens(1).0, 0);
    // The last window of another: as many packets.
    (0..7).for_each(|_| assert_eq!(rig.pass(bit::LAST, 0).0, bit::LAST));
    let more = (0..10).filter(|_| rig.pass(bit::MORE, 0).0 == bit::MORE).count();
    assert_eq!((more, rig.hook.tokens(1).0), (7, 0));
    // With a queue they leave nothing, and other ports have their own.
    rig.pass(bit::LAST, 5 * MTU);
    rig.pass_at(2, bit::LAST, 0);
    assert_eq!((rig.hook.tokens(1).0, rig.hook.tokens(2).0), (0, 1));
    (0..1_000).for_each(|_| assert_eq!(rig.pass(bit::LAST, 0).1, None));
    assert_eq!(rig.hook.tokens(1).0, 256);
    let mut rig = Rig::new(&Params { endings: false, spare: false, ..Params::default() });
    rig.pass(bit::LAST, 0);
    assert_eq!(rig.pass(bit::MORE, 0).0, 0);
}

/// For any arrivals: each packet more is one of an ending flow or a full packet of spare bytes, tokens stay
/// within their bounds, and a packet makes at most one notice.
#[test]
fn every_packet_more_was_paid_for() {
    let mut random = Random::new(7, 0, 0);
    for _ in 0..50 {
        let mut rig = Rig::new(&Params { ending_limit: 5, ..Params::default() });
        let (mut queue, start) = (0u64, rig.now);
        let (mut more, mut endings) = (0u64, 0u64);
        let packet = RATE.tx_time(Bytes(MTU)).0;
        for _ in 0..2_000 {
            let most = 2 * packet + 1 + random.below(packet);
            let gap = random.below(most);
            rig.later(Span(gap));
            let carried = (RATE.0 as u128 * gap as u128 / 8_000_000_000_000) as u64;
            let sent = carried.min(queue);
            (queue, rig.sent) = (queue - sent, rig.sent + sent);
            let bits = [bit::MORE, bit::LAST, bit::FIRST | bit::LAST, 0][random.below(4) as usize];
            let (left, told) = rig.pass(bits, queue);
            assert_eq!(told.is_some(), left & bit::CONGESTED != 0);
            assert!(left & !bit::CONGESTED & !bits == 0, "only congestion is added");
            more += (left & bit::MORE != 0) as u64;
            endings += (bits == bit::LAST && queue < 2 * MTU) as u64;
            // One of ten is dropped.
            if !random.chance(0.1) {
                queue += MTU;
            }
            let (ending, spare) = rig.hook.tokens(1);
            assert!(ending <= 5 && spare <= MTU as i64);
        }
        let capacity = RATE.0 as u128 * rig.now.since(start).0 as u128 / 8_000_000_000_000;
        let unused = (capacity as u64 + MTU).saturating_sub(rig.sent);
        assert!(more <= endings + unused / MTU + 1, "{more} of {endings} and {unused}");
    }
}

#[test]
fn bounds_are_told_with_their_values() {
    let told = |settings: &[(&str, &str)]| {
        let settings = incast_testkit::key_values(settings);
        ENTRY.configure(&settings, site()).map(|_| ()).map_err(|fault| fault.to_string())
    };
    assert_eq!(told(&[]), Ok(()));
    let fault = told(&[("min_window", "1MB")]).unwrap_err();
    assert!(fault.contains("min_window") && fault.contains("window = "), "{fault}");
    for (key, value) in [
        ("decrease", "1"),
        ("min_window", "0B"),
        ("threshold", "0B"),
        ("ending_limit", "2000000"),
        ("control_limit", "10B"),
        ("rto_min", "0us"),
    ] {
        assert!(told(&[(key, value)]).unwrap_err().contains(key), "{key}");
    }
}
