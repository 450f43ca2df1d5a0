//! Known results of the code, the port and the congestion control.

use super::code::{decode, encode, nibble, step};
use super::*;
use incast_endpoint::sender::{Ack, AckFields, Arriving, Control, Feedback, Loss, Progress};
use incast_testkit::{
    MarkerDriver, at, key_values, outbound, plain_ack, progress, segment, switch_port,
};
use incast_transport::TransportId;
use incast_transport::{
    Extension, FlowId, Header, Packet, PacketRef, Random, Rate, Span, Time, flag,
};

const MBPS: i64 = 1_000_000;
const PERIOD: Span = Span::from_us(100);

fn params(settings: &[(&str, &str)]) -> Params {
    let settings = key_values(settings);
    Params::read(&settings).unwrap()
}

// -- the code -------------------------------------------------------------------------------------

#[test]
fn codes_of_single_differences() {
    for (mbps, code) in [
        (0, 0x800),
        (-1, 0x7FF),
        (300, 0x92C),
        (400, 0x990),
        (100, 0x864),
        (-500, 0x60C),
        (5_000, 0xFFF),
        (-9_999, 0x000),
    ] {
        assert_eq!(encode(mbps * MBPS, MBPS), code, "{mbps}");
    }
    assert_eq!([0, 1, 2].map(|packet| nibble(0x92C, packet)), [0x9, 0x2, 0xC]);
    assert_eq!(encode(5_000 * MBPS, 8 * MBPS), 0xA71);
    assert_eq!(decode(0xA71, 8 * MBPS), 5_000 * MBPS);
}

#[test]
fn the_unit_is_the_smallest_that_fits_the_largest_rate() {
    for (gbps, mbps) in [(1, 1), (2, 1), (10, 8), (40, 32), (100, 64), (400, 256)] {
        assert_eq!(step(Unit::Scaled, Rate::from_gbps(gbps)), mbps * MBPS, "{gbps} Gb/s");
        assert_eq!(step(Unit::Paper, Rate::from_gbps(gbps)), MBPS);
    }
    assert_eq!(step(Unit::Scaled, Rate::from_mbps(2_047)), MBPS);
    assert_eq!(step(Unit::Scaled, Rate::from_mbps(2_048)), 2 * MBPS);
}

#[test]
fn every_difference_is_decoded_within_half_a_step() {
    let mut random = Random::new(1, 2, 3);
    for step in [MBPS, 8 * MBPS, 64 * MBPS] {
        for _ in 0..2_000 {
            let difference = random.below(2 * 2_047 * step as u64) as i64 - 2_047 * step;
            let back = decode(encode(difference, step), step);
            assert!((back - difference).abs() <= step / 2, "{difference} came back as {back}");
        }
    }
    for code in 0..=code::LARGEST {
        assert_eq!(encode(decode(code, MBPS), MBPS), code);
        let nibbles = [0, 1, 2].map(|packet| nibble(code, packet));
        let next = [0, 1, 2].map(|packet| nibble((code + 1).min(code::LARGEST), packet));
        assert!(nibbles <= next, "nibbles are ordered as differences");
    }
}

// -- the port -------------------------------------------------------------------------------------

const GBPS: u64 = 1_000_000_000;

type Port = MarkerDriver<DecnMarker>;

/// A port whose first period starts at 0.
fn port(gbps: u64, settings: &[(&str, &str)]) -> Port {
    let rate = Rate::from_gbps(gbps);
    let site = switch_port(rate, PERIOD);
    let marker = DecnMarker::starting(&params(settings), &site, Time::ZERO + PERIOD);
    MarkerDriver::new(marker, site.fabric.framing, rate).of(ID)
}

trait Units {
    /// A packet arrives and waits; returns the four bits and whether it was marked.
    fn arrive(&mut self, now: Time, packet: Packet) -> (PacketRef, u8, bool);

    fn leave(&mut self, now: Time, packet: PacketRef);

    /// `bytes` of a flow pass at `from`, in at least three packets unless they are too few.
    fn load(&mut self, from: Time, flow: u32, bytes: u32);

    /// A unit of a flow whose packets carry `bits`. Returns their bits at departure.
    fn unit(&mut self, now: Time, flow: u32, bits: [u8; 3]) -> [u8; 3];
}

impl Units for Port {
    fn arrive(&mut self, now: Time, packet: Packet) -> (PacketRef, u8, bool) {
        let packet = self.create(packet);
        let marked = self.enqueue(now, packet, 0);
        let Header::Segment { nibble, .. } = self.packets[packet].header else { unreachable!() };
        (packet, nibble, marked)
    }

    fn leave(&mut self, now: Time, packet: PacketRef) {
        self.dequeue(now, packet, 0);
        self.packets.free(packet);
    }

    fn load(&mut self, from: Time, flow: u32, bytes: u32) {
        let count = if bytes < 3 * 84 { bytes.min(1) } else { bytes.div_ceil(1_500).max(3) };
        for index in 0..count {
            let charged = bytes / count + (index < bytes % count) as u32;
            let packet = segment(ID, flow, index * 2_000, charged as u16 - 78);
            let (handle, ..) = self.arrive(from, packet);
            self.leave(from, handle);
        }
    }

    fn unit(&mut self, now: Time, flow: u32, bits: [u8; 3]) -> [u8; 3] {
        let mut seq = 1_000_000;
        bits.map(|bits| {
            let first = if seq == 1_000_000 { FIRST_OF_UNIT } else { OTHERS };
            let (handle, bits, _) = self.arrive(now, member(flow, seq, first, bits));
            self.leave(now, handle);
            seq += 1_460;
            bits
        })
    }
}

fn member(flow: u32, seq: u32, mark: u8, nibble: u8) -> Packet {
    let packet = segment(ID, flow, seq, 1_460);
    let header = Header::Segment { seq, ack: 0, window: 0, nibble, flags: 0 };
    Packet { header, mark, ..packet }
}

/// A port of 1 Gb/s that has measured flow 7 at this much less than its share, from 100 us on.
fn hop(mbps: i64) -> Port {
    let mut rig = port(1, &[]);
    let bytes = (1_000 - mbps) * MBPS / 8 / 10_000;
    rig.load(Time::ZERO, 7, bytes as u32);
    rig.dequeue(Time::ZERO + PERIOD, PacketRef(0), 0);
    rig
}

fn value(bits: [u8; 3]) -> i64 {
    decode(bits.iter().fold(0, |code, bits| code << 4 | *bits as u16), MBPS)
}

#[test]
fn the_least_difference_of_a_path_arrives() {
    // DECN Fig. 7: +300, +400, +100.
    let bits = hop(300).unit(at(101), 7, [0xF; 3]);
    assert_eq!(bits, [0x9, 0x2, 0xC]);
    let bits = hop(400).unit(at(101), 7, bits);
    assert_eq!(bits, [0x9, 0x2, 0xC], "decided at the second packet, and left alone");
    let bits = hop(100).unit(at(101), 7, bits);
    assert_eq!(bits, [0x8, 0x6, 0x4]);
}

#[test]
fn the_least_of_any_number_of_hops_in_any_order() {
    let mut random = Random::new(9, 9, 9);
    for _ in 0..200 {
        let hops: Vec<i64> =
            (0..1 + random.below(5)).map(|_| random.below(2_400) as i64 - 1_500).collect();
        let hops: Vec<i64> = hops.into_iter().map(|mbps| mbps.min(950)).collect();
        let bits = hops.iter().fold([0xF; 3], |bits, &mbps| hop(mbps).unit(at(101), 7, bits));
        assert_eq!(value(bits), hops.iter().min().unwrap() * MBPS, "{hops:?}");
    }
}

#[test]
fn a_unit_keeps_one_difference_though_the_period_ends() {
    let mut rig = hop(300);
    let mut send = |now, seq, mark| {
        let (handle, bits, marked) = rig.arrive(now, member(7, seq, mark, 0xF));
        rig.leave(now, handle);
        (bits, marked)
    };
    assert_eq!(send(at(150), 0, FIRST_OF_UNIT), (0x9, true));
    // Two periods later the flow has been measured anew.
    assert_eq!(send(at(310), 1_460, OTHERS), (0x2, true));
    assert_eq!(send(at(420), 2_920, OTHERS), (0xC, true));
    assert_eq!(send(at(420), 4_380, OTHERS), (0xF, false), "the fourth packet is no longer its");
}

#[test]
fn an_out_of_order_packet_ends_the_unit() {
    let mut rig = hop(300);
    let mut send = |seq, mark, bits| {
        let (handle, bits, marked) = rig.arrive(at(150), member(7, seq, mark, bits));
        rig.leave(at(150), handle);
        (bits, marked)
    };
    assert_eq!(send(0, FIRST_OF_UNIT, 0xF), (0x9, true));
    assert_eq!(send(2_920, OTHERS, 0xF), (0xF, false));
    assert_eq!(send(1_460, OTHERS, 0xF), (0xF, false), "dropped, not resumed");
    assert_eq!(send(9_000, OTHERS, 0x3), (0x3, false));
    // The next first packet starts a new unit.
    assert_eq!(send(20_000, FIRST_OF_UNIT, 0xF), (0x9, true));
}

#[test]
fn only_decn_data_is_measured() {
    let mut rig = hop(300);
    let ack = Packet { payload: 0, ..member(7, 0, FIRST_OF_UNIT, 0xF) };
    let foreign = Packet { transport: TransportId(1), ..member(8, 0, FIRST_OF_UNIT, 0xF) };
    for packet in [ack, foreign] {
        let (handle, bits, marked) = rig.arrive(at(150), packet);
        assert_eq!((bits, marked), (0xF, false));
        rig.leave(at(150), handle);
    }
    assert_eq!(rig.marker.shares().entries(), 1);
}

#[test]
fn two_flows_get_differences_of_half_a_link_up_and_down() {
    // One at the link's rate, one that has sent almost nothing.
    let mut rig = port(10, &[("epoch_packets", "1")]);
    rig.load(at(0), 1, 125_000);
    rig.load(at(0), 2, 84);
    let up = rig.unit(at(100), 2, [0xF; 3]);
    let down = rig.unit(at(100), 1, [0xF; 3]);
    assert_eq!(rig.marker.shares().share(), (2, 5 * GBPS));
    let step = 8 * MBPS;
    let of = |bits: [u8; 3]| value(bits) / MBPS * step;
    assert!((of(up) - 5_000 * MBPS).abs() <= 3 * step / 2, "{}", of(up));
    assert_eq!(of(down), -5_000 * MBPS);
}

#[test]
fn a_standing_queue_counts_as_rate() {
    // 10 Gb/s arrive in a period and 12.5 kB of them never leave: 1 Gb/s more.
    let mut rig = port(10, &[]);
    let waiting: Vec<PacketRef> =
        (0..10).map(|seq| rig.arrive(at(0), segment(ID, 1, seq * 2_000, 1_172)).0).collect();
    rig.load(at(100), 1, 125_000); // the first measurement ends: its least was none
    rig.load(at(200), 1, 125_000); // the second: 12.5 kB
    rig.dequeue(at(300), waiting[0], 0);
    assert_eq!(rig.marker.shares().of(FlowId(1)), (Some(11 * GBPS), 11_250));
    assert_eq!(rig.marker.shares().queued(), 11_250);
}

#[test]
fn spare_capacity_is_granted_to_new_flows_once() {
    // An unmeasured flow gets the spare capacity; the next one in the same period the rest.
    let mut rig = port(10, &[]);
    rig.load(at(0), 1, 75_000); // 6 Gb/s
    let step = 8 * MBPS;
    let mut assigned = |now, flow| value(rig.unit(now, flow, [0xF; 3])) / MBPS * step;
    assert_eq!(assigned(at(110), 2), 4_000 * MBPS);
    assert_eq!(assigned(at(120), 3), 0);
    assert_eq!(
        assigned(at(130), 1),
        4_000 * MBPS,
        "who is measured is assigned its share less its rate"
    );
    // An unused link: the fair share of the active flows.
    let mut idle = port(10, &[]);
    let mut assigned = |flow| value(idle.unit(at(450), flow, [0xF; 3])) / MBPS * step;
    assert_eq!([assigned(1), assigned(2), assigned(3)], [10_000 * MBPS, 0, 0]);
}

#[test]
fn hold_grants_counts_a_grant_until_a_measurement_shows_it() {
    // Flow 2 is given all that is free; 130 us later, an RTT being 100 us, no measurement can
    // show it yet. Flow 3 is given the same again, unless the grant is held; flow 4 is not, once
    // flow 2 sends by it.
    let assigned = |hold| {
        let mut rig = port(10, &[("hold_grants", hold)]);
        rig.load(at(0), 1, 75_000); // 6 Gb/s
        let mut assigned = |now, flow| value(rig.unit(now, flow, [0xF; 3])) / MBPS * 8 * MBPS;
        let first = assigned(at(110), 2);
        rig.load(at(150), 1, 75_000);
        let mut assigned = |now, flow| value(rig.unit(now, flow, [0xF; 3])) / MBPS * 8 * MBPS;
        let second = assigned(at(240), 3);
        for us in [250, 350, 450, 550] {
            rig.load(at(us), 1, 75_000);
            rig.load(at(us), 2, 45_000);
        }
        let mut assigned = |now, flow| value(rig.unit(now, flow, [0xF; 3])) / MBPS * 8 * MBPS;
        [first, second, assigned(at(640), 4)].map(|given| given / MBPS)
    };
    let twice = assigned("false");
    assert_eq!(twice[0], 4_000);
    assert!(twice[1] > 3_300 - 16, "a third of the link: {twice:?}");
    assert_eq!(twice[2], 400);
    let once = assigned("true");
    assert_eq!(once[0], 4_000);
    assert!(once[1] < 100, "nothing is left: {once:?}");
    assert_eq!(once[2], twice[2], "what shows is not held any more");
}

#[test]
fn flows_count_while_active_and_are_removed() {
    let mut rig = port(10, &[]);
    rig.load(at(0), 1, 9_000);
    let mut count = |us| {
        rig.load(at(us), 2, 9_000);
        (rig.marker.shares().share(), rig.marker.shares().entries())
    };
    assert_eq!(count(100), ((1, 10 * GBPS), 2));
    assert_eq!(count(200), ((2, 5 * GBPS), 2));
    assert_eq!(count(2_000), ((2, 5 * GBPS), 2), "twenty periods after the last packet");
    assert_eq!(count(4_500), ((0, 10 * GBPS), 2));
    assert_eq!(count(10_000), ((0, 10 * GBPS), 2));
    assert_eq!(count(10_100), ((1, 10 * GBPS), 1), "after 10 ms");
    let mut rig = port(10, &[]);
    rig.load(at(0), 1, 9_000);
    rig.load(at(50_000), 3, 0);
    rig.dequeue(at(50_000), PacketRef(0), 0);
    assert_eq!(rig.marker.shares().entries(), 0);
}

#[test]
fn an_unfinished_measurement_does_not_keep_a_flow_active() {
    // Two packets after a measurement are not enough for the next one; the flow is idle since.
    let mut rig = port(10, &[("active", "200us")]);
    rig.load(at(0), 1, 9_000);
    let (handle, ..) = rig.arrive(at(110), segment(ID, 1, 50_000, 1_460));
    rig.leave(at(111), handle);
    let mut count = |us| {
        rig.load(at(us), 2, 9_000);
        rig.marker.shares().share().0
    };
    assert_eq!(count(150), 1);
    assert_eq!(count(300), 2);
    assert_eq!(count(401), 1, "290 us after its last packet");
    // When it returns, the time between does not count in its rate.
    rig.load(at(450), 1, 62_500);
    rig.load(at(501), 2, 9_000);
    let rate = rig.marker.shares().of(FlowId(1)).0.unwrap();
    assert!(rate >= 10 * GBPS, "62500 bytes in 50 us: {rate}");
}

#[test]
fn a_returning_flow_is_new() {
    let mut rig = port(10, &[]);
    rig.load(at(0), 1, 125_000);
    rig.load(at(100), 1, 12_500);
    assert_eq!(rig.marker.shares().of(FlowId(1)).0, Some(10 * GBPS));
    rig.load(at(5_000), 1, 3_000);
    assert_eq!(rig.marker.shares().of(FlowId(1)).0, None);
}

#[test]
fn slow_flows_are_measured_over_several_periods() {
    // A packet of 1538 every 90 us: three packets in 270 us, not one or two per period.
    let mut rig = port(10, &[]);
    let mut known = vec![];
    for packet in 0..30u32 {
        let now = Time::ZERO + Span::from_us(90) * packet as u64;
        let (handle, ..) = rig.arrive(now, segment(ID, 1, packet * 1_460, 1_460));
        rig.leave(now, handle);
        known.extend(rig.marker.shares().of(FlowId(1)).0);
    }
    let true_rate = 1_538.0 * 8.0 / 90e-6;
    for rate in &known[6..] {
        let off = *rate as f64 / true_rate - 1.0;
        assert!(off.abs() < 0.36, "{off}");
    }
    // One measurement per period, as in the paper: one or two packets, or none.
    let mut rig = port(10, &[("epoch_packets", "0")]);
    let mut off = 0.0f64;
    for packet in 0..30u32 {
        let now = Time::ZERO + Span::from_us(90) * packet as u64;
        let (handle, ..) = rig.arrive(now, segment(ID, 1, packet * 1_460, 1_460));
        rig.leave(now, handle);
        if let (10.., Some(rate)) = (packet, rig.marker.shares().of(FlowId(1)).0) {
            off = off.max((rate as f64 / true_rate - 1.0).abs());
        }
    }
    assert!(off > 0.7, "{off}");
}

#[test]
fn idle_periods_can_be_skipped() {
    let mut patient = hop(300);
    let mut advanced = hop(300);
    for us in (110..30_000).step_by(70) {
        let none = PacketRef(0);
        advanced.packets[none].transport = ID;
        advanced.packets[none].payload = 1;
        advanced.packets[none].flow = FlowId(99);
        advanced.dequeue(at(us), none, 0);
    }
    let seen = |rig: &mut Port| (rig.unit(at(30_000), 7, [0xF; 3]), rig.marker.shares().entries());
    assert_eq!(seen(&mut patient), seen(&mut advanced));
}

#[test]
fn a_refused_packet_counts_and_ends_its_unit() {
    let mut rig = port(1, &[]);
    rig.load(at(0), 7, 6_250);
    let handle = rig.packets.create(member(7, 0, FIRST_OF_UNIT, 0xF));
    rig.refuse(at(10), handle, 0);
    let (_, bits, marked) = rig.arrive(at(20), member(7, 1_460, OTHERS, 0xF));
    assert_eq!((bits, marked), (0xF, false));
    rig.load(at(100), 8, 3_000);
    let bytes = 6_250 + 2 * 1_538;
    assert_eq!(rig.marker.shares().of(FlowId(7)).0, Some(bytes * 8 * 10_000));
    assert_eq!(rig.marker.shares().of(FlowId(7)).1, 1_538, "refused packets do not wait");
}

#[test]
fn packets_record_when_the_difference_was_measured() {
    let mut rig = hop(300);
    let informed = |rig: &mut Port, now, seq, mark, bits| {
        let (handle, ..) = rig.arrive(now, member(7, seq, mark, bits));
        Time(rig.packets.stamps(handle).informed)
    };
    assert_eq!(informed(&mut rig, at(150), 0, FIRST_OF_UNIT, 0xF), at(100));
    assert_eq!(informed(&mut rig, at(250), 1_460, OTHERS, 0xF), at(100));
    assert_eq!(informed(&mut rig, at(250), 2_920, OTHERS, 0xF), at(100), "the same for all three");
    assert_eq!(informed(&mut rig, at(260), 9_000, FIRST_OF_UNIT, 0x0), Time::ZERO, "not its own");
}

// -- the congestion control -----------------------------------------------------------------------

fn rule(gbps: u64, settings: &[(&str, &str)]) -> Rule {
    let site = switch_port(Rate::from_gbps(gbps), PERIOD);
    Rule::new(&params(settings), Rate::from_gbps(gbps), &site.fabric)
}

/// Units follow one another here without the packets between them that a rate would send.
fn control(gbps: u64, settings: &[(&str, &str)]) -> Decn {
    Decn::new(rule(gbps, &[&[("from_sent", "false")], settings].concat()), 1_000_000)
}

fn moment(us: u64) -> Progress {
    progress(at(us), Some(PERIOD))
}

/// The next packet, number `index`: its mark and nibble.
fn send(control: &mut Decn, us: u64, index: u64) -> (u8, u8) {
    let mut packet = outbound(index * 1_460, 1_460);
    control.on_send(&mut packet, &moment(us));
    (packet.mark, packet.nibble)
}

fn acknowledge(control: &mut Decn, us: u64, index: u64, nibble: u8) -> bool {
    let ack = Ack { echo: index * 1_460, nibble, ..plain_ack(&Extension::None) };
    control.on_ack(&ack, &moment(us));
    control.decided()
}

/// Sends a unit from packet `index` on and acknowledges it with this difference.
fn notify(control: &mut Decn, us: u64, index: u64, mbps: i64, step: i64) {
    assert_eq!(send(control, us, index), (FIRST_OF_UNIT, UNDECIDED));
    send(control, us, index + 1);
    send(control, us, index + 2);
    let code = encode(mbps * MBPS, step);
    for packet in 0..3 {
        let decided = acknowledge(control, us + 50, index + packet, nibble(code, packet as u8));
        assert_eq!(decided, packet == 2);
    }
}

#[test]
fn a_flow_starts_with_a_unit_per_period() {
    let control = control(10, &[]);
    assert_eq!(control.rate(), 3 * 1_538 * 8 * 10_000);
    assert_eq!(control.pacing(), Some(Rate(control.rate())));
    let slow = Decn::new(rule(10, &[("initial_packets", "1000")]), 5);
    assert_eq!(slow.rate(), 10 * GBPS, "no faster than the link");
}

#[test]
fn a_unit_has_three_packets_and_the_next_one_waits_for_the_guard() {
    let mut control = control(10, &[]);
    assert_eq!(send(&mut control, 0, 0), (FIRST_OF_UNIT, 0xF));
    assert_eq!(send(&mut control, 33, 1), (OTHERS, 0xF));
    assert_eq!(send(&mut control, 66, 2), (OTHERS, 0xF));
    assert_eq!(send(&mut control, 100, 3), (OTHERS, 0), "one at a time");
    let code = encode(5_000 * MBPS, 8 * MBPS);
    assert!(!acknowledge(&mut control, 110, 0, nibble(code, 0)));
    assert!(!acknowledge(&mut control, 140, 1, nibble(code, 1)));
    assert_eq!(control.rate(), 369_120_000, "not before the third ACK");
    assert!(acknowledge(&mut control, 170, 2, nibble(code, 2)));
    assert_eq!(control.rate(), 5_369_120_000);
    assert_eq!(send(&mut control, 469, 4), (OTHERS, 0));
    assert_eq!(send(&mut control, 470, 5), (FIRST_OF_UNIT, 0xF), "three periods later");
}

#[test]
fn a_decision_keeps_half_of_the_rate_within_the_bounds() {
    let mut control = control(10, &[]);
    notify(&mut control, 0, 0, 20_000, 8 * MBPS);
    assert_eq!(control.rate(), 10 * GBPS);
    notify(&mut control, 1_000, 10, -9_000, 8 * MBPS);
    assert_eq!(control.rate(), 5 * GBPS);
    notify(&mut control, 2_000, 20, -500, 8 * MBPS);
    assert!((control.rate() as i64 - 4_500 * MBPS).abs() <= 4 * MBPS);
    for round in 0..40 {
        notify(&mut control, 3_000 + round * 1_000, 30 + round * 10, -16_000, 8 * MBPS);
    }
    assert_eq!(control.rate(), 12_304_000, "a packet a millisecond");
}

#[test]
fn a_difference_is_added_to_the_used_rate() {
    // Of 10 Gb/s that the flow may send since its first unit was acknowledged after 50 us, a NIC that
    // others use as well lets out 160 packets in 750 us, and a packet more or less is not known.
    let after = |settings: &[(&str, &str)], gap_ns: usize, mbps| {
        let mut control = Decn::new(rule(10, settings), 1_000_000);
        notify(&mut control, 0, 0, 20_000, 8 * MBPS);
        assert_eq!(control.rate(), 10 * GBPS);
        for (index, ns) in (3..).zip((400_000..800_000).step_by(gap_ns)) {
            let mut packet = outbound(index * 1_460, 1_460);
            control.on_send(&mut packet, &progress(Time::ZERO + Span::from_ns(ns), Some(PERIOD)));
        }
        let code = encode(mbps * MBPS, 8 * MBPS);
        (0..3).for_each(|k| _ = acknowledge(&mut control, 800, 3 + k, nibble(code, k as u8)));
        control.rate() / MBPS as u64
    };
    let sent = 161 * 1_538 * 8 / 750;
    assert_eq!(after(&[], 2_500, 0), sent);
    assert_eq!(after(&[], 2_500, 800), sent + 800);
    assert_eq!(after(&[("from_sent", "false")], 2_500, 800), 10_000);
    assert_eq!(after(&[("from_sent", "false")], 2_500, -800), 9_200);
}

#[test]
fn with_the_papers_unit_ten_gigabits_take_five_units() {
    let mut control = control(10, &[("unit", "paper"), ("initial_packets", "1")]);
    for unit in 0..5 {
        assert!(control.rate() < 10 * GBPS, "after {unit}");
        notify(&mut control, unit * 1_000, unit * 10, 10_000, MBPS);
    }
    assert_eq!(control.rate(), 10 * GBPS);
}

#[test]
fn a_unit_with_a_hole_changes_nothing() {
    let bits = [0x0, 0x0, 0x0]; // "much slower"
    let order = |order: &[u64]| {
        let mut control = control(10, &[]);
        (0..3).for_each(|index| _ = send(&mut control, 0, index));
        let decided =
            order.iter().any(|&index| acknowledge(&mut control, 50, index, bits[index as usize]));
        assert_eq!(control.rate() != 369_120_000, decided);
        decided
    };
    assert!(order(&[0, 1, 2]));
    for wrong in [&[1, 0, 2][..], &[0, 2, 1], &[2, 1, 0], &[0, 1, 1, 2], &[0, 0, 1, 2], &[1, 2]] {
        assert!(!order(wrong), "{wrong:?}");
    }
    // A packet of the unit is retransmitted.
    let mut control = control(10, &[]);
    (0..3).for_each(|index| _ = send(&mut control, 0, index));
    let mut copy = outbound(1_460, 1_460);
    copy.retransmit = true;
    control.on_send(&mut copy, &moment(40));
    assert_eq!((copy.mark, copy.nibble), (OTHERS, 0), "copies ask nothing");
    assert!(!(0..3).any(|index| acknowledge(&mut control, 50, index, 0)));
    assert_eq!(send(&mut control, 100, 3), (FIRST_OF_UNIT, 0xF), "the next one need not wait long");
}

#[test]
fn a_unit_without_acks_expires() {
    let mut control = control(10, &[]);
    (0..3).for_each(|index| _ = send(&mut control, 0, index));
    // 2 x 100 us + 4 x 100 us + 6 packets at 369 Mb/s (200 us).
    assert_eq!(send(&mut control, 799, 3), (OTHERS, 0));
    assert_eq!(send(&mut control, 801, 4), (FIRST_OF_UNIT, 0xF));
    assert!(!(0..3).any(|index| acknowledge(&mut control, 802, index, 0)), "too late");
}

#[test]
fn the_last_packets_of_a_flow_start_no_unit() {
    let mut control = Decn::new(rule(10, &[]), 2);
    assert_eq!(send(&mut control, 0, 0), (OTHERS, 0));
    assert_eq!(send(&mut control, 100, 1), (OTHERS, 0));
    let mut control = Decn::new(rule(10, &[]), 3);
    assert_eq!(send(&mut control, 0, 0), (FIRST_OF_UNIT, 0xF));
    assert_eq!(send(&mut control, 33, 1), (OTHERS, 0xF));
    assert_eq!(send(&mut control, 66, 2), (OTHERS, 0xF));
}

#[test]
fn losses_halve_once_per_rtt_and_timeouts_reset_the_rate() {
    let mut control = control(10, &[]);
    notify(&mut control, 0, 0, 20_000, 8 * MBPS);
    control.on_loss(Loss::Fast, &moment(1_000));
    control.on_loss(Loss::Fast, &moment(1_050));
    assert_eq!(control.rate(), 5 * GBPS);
    control.on_loss(Loss::Fast, &moment(1_100));
    assert_eq!(control.rate(), 5 * GBPS / 2);
    assert_eq!(send(&mut control, 1_399, 10), (OTHERS, 0), "a loss is a change, too");
    assert_eq!(send(&mut control, 1_400, 11), (FIRST_OF_UNIT, 0xF));
    control.on_loss(Loss::Timeout, &moment(2_000));
    assert_eq!((control.rate(), control.units()), (369_120_000, 0));
    control.on_loss(Loss::Timeout, &moment(3_000));
    assert_eq!(control.rate(), 184_560_000);
    (0..20).for_each(|_| control.on_loss(Loss::Timeout, &moment(3_000)));
    assert_eq!(control.rate(), 12_304_000);
    let mut unchanged = self::control(10, &[("halve_on_loss", "false")]);
    notify(&mut unchanged, 0, 0, 20_000, 8 * MBPS);
    unchanged.on_loss(Loss::Fast, &moment(1_000));
    unchanged.on_loss(Loss::Timeout, &moment(2_000));
    assert_eq!(unchanged.rate(), 10 * GBPS);
}

#[test]
fn without_a_guard_units_follow_one_another() {
    let mut control = control(10, &[("cadence", "paper")]);
    for unit in 0..3u64 {
        assert_eq!(send(&mut control, unit * 100, unit * 10), (FIRST_OF_UNIT, 0xF));
        assert_eq!(send(&mut control, unit * 100 + 99, unit * 10 + 1), (OTHERS, 0xF));
        assert_eq!(send(&mut control, unit * 100 + 99, unit * 10 + 2), (OTHERS, 0xF));
        assert_eq!(send(&mut control, unit * 100 + 99, unit * 10 + 3), (OTHERS, 0));
    }
    assert_eq!(control.units(), 3);
    // All carry the same difference, all of it is applied, down to the least rate.
    let rate = control.rate();
    let code = encode(1_000 * MBPS, 8 * MBPS);
    for unit in [0, 2] {
        (0..3)
            .for_each(|k| _ = acknowledge(&mut control, 350, unit * 10 + k, nibble(code, k as u8)));
    }
    assert_eq!(control.rate(), rate + 2 * 1_000 * MBPS as u64);
    assert_eq!(control.units(), 0, "the one between has lost its ACKs");
    notify(&mut control, 400, 50, -9_000, 8 * MBPS);
    assert_eq!(control.rate(), 12_304_000, "no floor");
    // A part of it: t_p / (RTT + 2 t_p) = 1/3.
    let mut control = self::control(10, &[("cadence", "gain")]);
    notify(&mut control, 0, 0, 3_000, 8 * MBPS);
    assert_eq!(control.rate(), rate + 1_000 * MBPS as u64);
}

#[test]
fn the_window_is_twice_rate_times_rtt() {
    let mut control = control(10, &[]);
    notify(&mut control, 0, 0, 20_000, 8 * MBPS);
    // 2 x 10 Gb/s x 100 us = 250 kB of links, 162.5 packets.
    let packets = Control::window(&control) as f64 / 1_460.0;
    assert!((packets - 165.5).abs() < 0.1, "{packets}");
}

#[test]
fn acks_copy_mark_and_bits() {
    let packet = member(7, 0, FIRST_OF_UNIT, 0xA);
    let mut ack = AckFields::default();
    let arriving = Arriving {
        now: at(1),
        offset: 0,
        packet: &packet,
        extension: &Extension::None,
        informed: Time::ZERO,
        new: true,
    };
    assert!(Copying.on_data(&arriving, &mut ack).is_none());
    assert_eq!((ack.mark, ack.nibble), (FIRST_OF_UNIT, 0xA));
    assert_eq!(ack.extension, Extension::None, "not a byte longer");
    assert_eq!(packet.flags & flag::RETRANSMIT, 0);
}

// -- parameters -----------------------------------------------------------------------------------

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    for (key, value) in [
        ("period", "0s"),
        ("guard", "0us"),
        ("active", "0ps"),
        ("forget", "0s"),
        ("gap_max", "0s"),
        ("rto_min", "0s"),
        ("rto_initial", "0s"),
        ("decrease_floor", "1.5"),
        ("epoch_periods", "0"),
        ("initial_packets", "0"),
        ("cadence", "fast"),
        ("unit", "2"),
        ("t_p", "1ms"),
    ] {
        let error = read(key, value).unwrap_err();
        assert_eq!(error.key(), Some(key));
    }
    assert!(read("period", "0s").unwrap_err().problem().contains("more than 0"));
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}

#[test]
fn an_unsuitable_unit_is_warned_about() {
    let warned = |gbps, settings: &[(&str, &str)]| {
        params(settings).warnings(&switch_port(Rate::from_gbps(gbps), PERIOD).fabric)
    };
    assert!(warned(10, &[]).is_empty());
    assert!(warned(1, &[("unit", "paper")]).is_empty());
    let [warning] = &warned(10, &[("unit", "paper")])[..] else { panic!("one warning") };
    assert!(
        warning.text.contains("decn.unit = paper") && warning.text.contains("2.047Gbps"),
        "{warning}"
    );
    assert_eq!(warned(1, &[("cadence", "gain"), ("period", "30us")]).len(), 1);
    assert!(warned(1, &[("cadence", "gain")]).is_empty());
    // The same for links with a rate of a few steps.
    let fabric = switch_port(Rate::from_mbps(10), PERIOD).fabric;
    let [warning] = &params(&[]).warnings(&fabric)[..] else { panic!("one warning") };
    assert!(warning.text.contains("1Mbps") && warning.text.contains("10Mbps"), "{warning}");
}
