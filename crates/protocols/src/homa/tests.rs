//! Known results and invariants of Homa: scripts of packets in and out, and an impaired network.

use super::terms::{Levels, Terms, levels};
use super::{ENTRY, LevelUse, Params};
use incast_egress::port::{Join, build_joined};
use incast_testkit::{
    Driver, FULL, MSS, Network, Probabilities, configured, fabric_site, flow, host_site,
    key_values, packet, port_site,
};
use incast_transport::{
    Bytes, Classes, Discipline, FabricSite, Flow, FlowId, Header, HostId, Limit, Packet, Random,
    Rate, Segments, SizeQuantiles, Span, Time, Transport, TransportId, data_flag, flag,
};
use std::sync::Arc;

/// 1 ms or 20 RTTs of eight packets, whichever is longer.
const INTERVAL: Span = Span::from_ms(1);
const BLIND: u8 = data_flag::UNSCHEDULED;
const OWN: u8 = BLIND | data_flag::OWN_BURST;
const OWN_END: u8 = OWN | data_flag::BURST_END;

pub(crate) const RATE: Rate = Rate::from_gbps(10);

pub(crate) fn slots(n: u64) -> Time {
    Time::ZERO + FULL * n
}

/// A fabric whose RTT is eight packets.
pub(crate) fn eight() -> Arc<FabricSite> {
    let fabric = fabric_site(4, RATE, FULL * 8);
    assert_eq!(fabric.bdp_packets(RATE), 8);
    fabric
}

/// Host 1 of them.
pub(crate) fn driver(transport: &dyn Transport, settings: &[(&str, &str)]) -> Driver {
    Driver::of(transport, settings, &eight(), 1)
}

fn bench(settings: &[(&str, &str)]) -> Driver {
    driver(&ENTRY, settings)
}

/// Homa's messages from other hosts; of host 2 if a call does not say.
pub(crate) trait Messages {
    fn from(&mut self, now: Time, src: u32, flow: u32, header: Header, payload: u16);

    /// Data of a message of so many packets; `flags` beside LAST.
    fn data(&mut self, now: Time, src: u32, flow: u32, seq: u32, packets: u32, flags: u8) {
        let last = if seq + 1 == packets { data_flag::LAST } else { 0 };
        let offset = seq * MSS as u32;
        let header = Header::Data { seq, offset, tag: packets, flags: flags | last };
        self.from(now, src, flow, header, MSS as u16);
    }

    fn grant(&mut self, now: Time, flow: u32, granted: u32, class: u32) {
        let header = Header::Grant { seq: granted, request: 0, tag: class, flags: 0 };
        self.from(now, 2, flow, header, 0);
    }

    fn resend(&mut self, now: Time, flow: u32, first: u32, packets: u32, class: u32) {
        self.from(now, 2, flow, Header::Resend { first, packets, class, flags: 0 }, 0);
    }

    fn finish(&mut self, now: Time, flow: u32) {
        let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
        self.from(now, 2, flow, header, 0);
    }

    /// The next packet as (flow, packet number, class), if it is data.
    fn sends(&mut self, now: Time) -> Option<(u32, u32, u8)>;

    /// The grants that leave at this instant: flow, packets granted, class.
    fn grants(&mut self, now: Time) -> Vec<(u32, u32, u32)>;
}

impl Messages for Driver {
    fn from(&mut self, now: Time, src: u32, flow: u32, header: Header, payload: u16) {
        let (src, dst, flow) = (HostId(src), HostId(1), FlowId(flow));
        self.receive(now, Packet { src, dst, flow, payload, ..packet(TransportId(0), header) });
    }

    fn sends(&mut self, now: Time) -> Option<(u32, u32, u8)> {
        let packet = self.transmit(now).filter(|packet| packet.is_data())?;
        Some((packet.flow.0, packet.header.data_key(), packet.class))
    }

    fn grants(&mut self, now: Time) -> Vec<(u32, u32, u32)> {
        grants(&self.drain(now))
    }
}

/// The grants among packets: flow, packets granted, class.
fn grants(packets: &[Packet]) -> Vec<(u32, u32, u32)> {
    let grant = |packet: &Packet| match packet.header {
        Header::Grant { seq, tag, .. } => Some((packet.flow.0, seq, tag)),
        _ => None,
    };
    packets.iter().filter_map(grant).collect()
}

/// The requests to send again among packets: flow, first packet, how many.
fn resends(packets: &[(Time, Packet)]) -> Vec<(Time, u32, u32, u32)> {
    let resend = |&(at, packet): &(Time, Packet)| match packet.header {
        Header::Resend { first, packets, .. } => Some((at, packet.flow.0, first, packets)),
        _ => None,
    };
    packets.iter().filter_map(resend).collect()
}

/// The first packet of a message, which announces it.
fn begin(b: &mut Driver, now: Time, src: u32, flow: u32, packets: u32) {
    b.data(now, src, flow, 0, packets, BLIND);
}

/// The blind packets of a message, a packet time apart from `now` on.
fn burst(b: &mut Driver, now: Time, src: u32, flow: u32, packets: u32) {
    for seq in 0..packets.min(8) {
        b.data(now + FULL * seq as u64, src, flow, seq, packets, BLIND);
    }
}

// -- sources -----------------------------------------------------------------------------------

#[test]
fn a_short_message_leaves_blindly_in_classes_of_what_remains() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 8 * MSS, slots(0)));
    let sent = b.drain(slots(0));
    assert_eq!(sent.len(), 8);
    for (seq, packet) in sent.iter().enumerate() {
        let flags = BLIND | if seq == 7 { data_flag::LAST } else { 0 };
        let (seq, offset) = (seq as u32, seq as u32 * MSS as u32);
        assert_eq!(packet.header, Header::Data { seq, offset, tag: 8, flags });
    }
    // Thirds of RTTbytes: 3893 and 7786 bytes remain.
    let classes: Vec<_> = sent.iter().map(|packet| packet.class).collect();
    assert_eq!(classes, [3, 3, 3, 2, 2, 2, 1, 1]);
    let mut b = bench(&[("unscheduled", "size")]);
    b.open(slots(0), &flow(0, 1, 2, 8 * MSS, slots(0)));
    b.open(slots(0), &flow(1, 1, 2, 2 * MSS, slots(0)));
    let sent = b.drain(slots(0));
    assert!(sent.iter().all(|packet| packet.class == if packet.flow.0 == 0 { 3 } else { 1 }));
}

#[test]
fn a_grant_lets_packets_go_up_to_it_in_its_class() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    assert_eq!(b.drain(slots(0)).len(), 8);
    b.grant(slots(8), 0, 9, 7);
    assert_eq!(b.sends(slots(8)), Some((0, 8, 7)));
    assert_eq!(b.sends(slots(8)), None);
    // Out of order: the later one says it all, the earlier one nothing any more.
    b.grant(slots(9), 0, 11, 5);
    b.grant(slots(9), 0, 10, 6);
    b.grant(slots(9), 0, 11, 4);
    b.grant(slots(9), 0, 12, 6);
    let sent: Vec<_> = std::iter::from_fn(|| b.sends(slots(9))).collect();
    assert_eq!(sent, [(0, 9, 5), (0, 10, 5), (0, 11, 6)]);
    // Never more than there is; no class that is none of data's.
    b.grant(slots(10), 0, 99, 0);
    b.grant(slots(10), 0, 99, 99);
    let sent: Vec<_> = std::iter::from_fn(|| b.sends(slots(10))).collect();
    assert_eq!(sent, (12..20).map(|seq| (0, seq, 1)).collect::<Vec<_>>());
}

#[test]
fn fewest_bytes_left_first() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    assert_eq!(b.sends(slots(0)).unwrap().0, 0);
    b.open(slots(1), &flow(1, 1, 3, 3 * MSS, slots(1)));
    b.open(slots(1), &flow(2, 1, 3, 3 * MSS - 1, slots(1)));
    let order: Vec<_> = (0..7).map(|n| b.sends(slots(1 + n)).unwrap().0).collect();
    assert_eq!(order, [2, 2, 2, 1, 1, 1, 0]);
    // 12 packets are left of message 0 and 5 of message 3, which waits for grants.
    while b.sends(slots(8)).is_some() {}
    b.open(slots(20), &flow(3, 1, 3, 13 * MSS, slots(20)));
    while b.sends(slots(20)).is_some() {}
    b.grant(slots(21), 0, 9, 7);
    b.grant(slots(21), 3, 9, 7);
    assert_eq!(b.sends(slots(21)), Some((3, 8, 7)));
    assert_eq!(b.sends(slots(21)), Some((0, 8, 7)));
}

#[test]
fn only_open_classes_leave() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 30 * MSS, slots(0)));
    b.drain(slots(0));
    b.grant(slots(1), 0, 9, 7);
    b.open(slots(1), &flow(1, 1, 2, 40 * MSS, slots(1)));
    let open = Classes(!(1 << 7));
    // Message 0 would be first, but its class is closed.
    assert_eq!(b.transmit_if(slots(1), open).unwrap().flow.0, 1);
    assert_eq!(b.transmit_if(slots(1), Classes(0)), None);
    assert_eq!(b.transmit(slots(1)).unwrap().flow.0, 0);
}

#[test]
fn resend_repeats_what_was_sent_and_grants_the_rest() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    b.drain(slots(0));
    b.resend(slots(9), 0, 5, 2, 2);
    b.resend(slots(9), 0, 6, 1, 1); // again, in a better class
    let sent = b.drain(slots(9));
    let seen = |packet: &incast_transport::Packet| (packet.header.data_key(), packet.class);
    assert_eq!(sent.iter().map(seen).collect::<Vec<_>>(), [(5, 2), (6, 1)]);
    for packet in &sent {
        assert!(packet.has(flag::RETRANSMIT));
        assert!(matches!(packet.header, Header::Data { flags: 0, .. }));
    }
    // The grants up to 11 were lost.
    b.resend(slots(10), 0, 7, 4, 2);
    let sent = b.drain(slots(10));
    assert_eq!(sent.iter().map(seen).collect::<Vec<_>>(), [(7, 2), (8, 2), (9, 2), (10, 2)]);
    assert_eq!(sent.iter().filter(|packet| packet.has(flag::RETRANSMIT)).count(), 1);
    // Beyond the end there is nothing.
    b.resend(slots(11), 0, 40, 4, 2);
    assert_eq!(b.drain(slots(11)).len(), 9);
}

#[test]
fn a_sender_with_other_messages_first_is_busy() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 20 * MSS, slots(0)));
    b.drain(slots(0));
    b.grant(slots(1), 0, 9, 7);
    b.open(slots(1), &flow(1, 1, 3, 3 * MSS, slots(1)));
    b.resend(slots(1), 0, 8, 1, 3);
    let sent = b.drain(slots(1));
    assert!(matches!(sent[0].header, Header::Busy { first: 8, .. }), "{sent:?}");
    assert_eq!((sent[0].flow.0, sent[0].class), (0, 0));
    // Three of the other message, then the granted one, once.
    assert_eq!(sent[1..].iter().map(|packet| packet.flow.0).collect::<Vec<_>>(), [1, 1, 1, 0]);
    // If it is its turn anyway, it just sends.
    b.grant(slots(2), 0, 10, 7);
    b.resend(slots(2), 0, 9, 1, 3);
    assert_eq!(b.sends(slots(2)), Some((0, 9, 7)));
}

#[test]
fn an_unknown_message_gets_an_unknown_reply() {
    let mut b = bench(&[]);
    b.resend(slots(1), 5, 0, 1, 3);
    let sent = b.drain(slots(1));
    assert_eq!(sent.len(), 1);
    assert!(matches!(sent[0].header, Header::Unknown { .. }));
}

#[test]
fn an_unresponsive_receiver_gets_the_first_packet_again() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 3 * MSS, slots(0)));
    b.drain(slots(0));
    let sent = b.run(Time::ZERO + INTERVAL * 22);
    let times: Vec<_> = sent.iter().map(|&(at, _)| at).collect();
    // Three intervals, doubling.
    assert_eq!(times, [3, 9, 21].map(|n| Time::ZERO + INTERVAL * n));
    for (_, packet) in &sent {
        assert_eq!((packet.header.data_key(), packet.class), (0, 2));
        assert!(packet.has(flag::RETRANSMIT));
    }
    b.grant(Time::ZERO + INTERVAL * 22, 0, 3, 7);
    let sent = b.run(Time::ZERO + INTERVAL * 26);
    assert_eq!(sent.len(), 1, "what is heard begins the wait anew");
    b.finish(Time::ZERO + INTERVAL * 26, 0);
    assert_eq!(b.host.open_flows(), 0);
    assert!(b.run(Time::ZERO + INTERVAL * 1_000).is_empty());
}

#[test]
fn the_guard_does_not_run_while_the_message_waits_for_the_nic() {
    let mut b = bench(&[]);
    b.open(slots(0), &flow(0, 1, 2, 3 * MSS, slots(0)));
    assert_eq!(b.sends(slots(0)), Some((0, 0, 2)));
    while b.host.deadline() < Time::ZERO + INTERVAL * 20 {
        let now = b.host.deadline();
        b.wake(now);
    }
    let sent = b.drain(Time::ZERO + INTERVAL * 20);
    assert!(sent.len() == 2 && sent.iter().all(|packet| !packet.has(flag::RETRANSMIT)));
}

// -- destinations ------------------------------------------------------------------------------

#[test]
fn each_arrival_releases_one_grant_and_rtt_bytes_are_in_flight() {
    let mut b = bench(&[("boost_tail", "false")]);
    let mut granted = 8;
    for seq in 0..40u32 {
        let flags = if seq < 8 { BLIND } else { 0 };
        b.data(slots(seq as u64), 2, 0, seq, 40, flags);
        let now = b.grants(slots(seq as u64));
        if granted < 40 {
            granted += 1;
            assert_eq!(now, [(0, granted, 7)], "at {seq}");
        } else {
            assert!(now.is_empty());
        }
        assert!(granted <= 40 && granted - (seq + 1) <= 8);
    }
    assert_eq!(b.host.open_flows(), 0);
    b.drain(slots(40));
    assert!(b.run(slots(10_000)).is_empty());
    assert_eq!(b.host.deadline(), Time::NEVER);
}

#[test]
fn a_message_no_larger_than_rtt_bytes_needs_no_grant() {
    let mut b = bench(&[]);
    burst(&mut b, slots(0), 2, 0, 8);
    let sent = b.drain(slots(8));
    assert_eq!(sent.len(), 1);
    assert!(matches!(sent[0].header, Header::Finish { .. }));
    assert_eq!((sent[0].dst.0, sent[0].class), (2, 0));
    // Late data gets a reply again.
    b.data(slots(9), 2, 0, 3, 8, BLIND);
    assert!(
        matches!(b.drain(slots(9))[..], [packet] if matches!(packet.header, Header::Finish { .. }))
    );
    assert_eq!(b.host.open_flows(), 0);
}

#[test]
fn shorter_messages_are_granted_first_and_in_better_classes() {
    let mut b = bench(&[("boost_tail", "false")]);
    // One message: the lowest class. A shorter one gets the class above, the long one its own.
    begin(&mut b, slots(0), 2, 0, 100);
    assert_eq!(b.grants(slots(0)), [(0, 9, 7)]);
    begin(&mut b, slots(1), 3, 1, 50);
    assert_eq!(b.grants(slots(1)), [(1, 9, 6)]);
    b.data(slots(2), 2, 0, 1, 100, BLIND);
    assert_eq!(b.grants(slots(2)), [(0, 10, 7)]);
    // Four levels, four messages; the fifth waits.
    for (at, (id, packets)) in [(2, 70), (3, 60), (4, 30)].into_iter().enumerate() {
        begin(&mut b, slots(3 + at as u64), 2 + id, id, packets);
    }
    assert_eq!(grants(&b.drain(slots(5))), [(2, 9, 6), (3, 9, 5), (4, 9, 4)]);
    b.data(slots(6), 2, 0, 2, 100, BLIND);
    assert!(b.grants(slots(6)).is_empty(), "the longest one is the fifth");
    for (id, class) in [(1, 5), (2, 7), (3, 6), (4, 4)] {
        b.data(slots(10), 2 + id, id, 1, [0, 50, 70, 60, 30][id as usize], BLIND);
        assert_eq!(b.grants(slots(10)), [(id, 10, class)]);
    }
}

#[test]
fn classes_follow_remaining_packets() {
    // Invariant 5, in a random order of arrivals; also: scheduled classes lie above unscheduled
    // ones, and no message has more than RTTbytes in flight.
    let mut random = Random::new(11, 0, 0);
    let mut b = bench(&[("boost_tail", "false")]);
    let sizes: Vec<u32> = (0..30).map(|_| 10 + random.below(200) as u32).collect();
    let mut next = [0u32; 30];
    let mut granted = [8u32; 30];
    let (mut now, mut seen) = (slots(0), 0);
    while next.iter().zip(&sizes).any(|(next, size)| next < size) {
        now += FULL;
        let id = random.below(30) as usize;
        if next[id] == granted[id].min(sizes[id]) {
            continue;
        }
        let flags = if next[id] < 8 { BLIND } else { 0 };
        b.data(now, 2 + id as u32 % 7, id as u32, next[id], sizes[id], flags);
        next[id] += 1;
        let mut found = b.grants(now);
        found.sort_by_key(|&(id, _, _)| sizes[id as usize] - next[id as usize]);
        assert!(found.windows(2).all(|pair| pair[0].2 <= pair[1].2), "{found:?}");
        for (id, to, class) in found {
            assert!((4..=7).contains(&class));
            assert_eq!(to, granted[id as usize] + 1);
            granted[id as usize] = to;
            assert!(to - next[id as usize] <= 8);
            seen += 1;
        }
        let scheduled = |id: usize| granted[id].saturating_sub(next[id].max(8)) as u64;
        assert!((0..30).map(scheduled).sum::<u64>() <= 4 * 8);
    }
    assert_eq!(seen, sizes.iter().map(|size| size - 8).sum::<u32>());
    assert_eq!(b.host.open_flows(), 0);
}

#[test]
fn overcommitment_beyond_the_levels_shares_the_lowest() {
    let settings = [("overcommitment", "6"), ("scheduled", "2"), ("boost_tail", "false")];
    let mut b = bench(&settings);
    for id in 0..7 {
        begin(&mut b, slots(id as u64), 2 + id, id, 100 - 10 * id);
    }
    b.drain(slots(7));
    let mut classes = vec![];
    for id in (0..7).rev() {
        b.data(slots(10), 2 + id, id, 1, 100 - 10 * id, BLIND);
        classes.extend(b.grants(slots(10)).iter().map(|&(flow, _, class)| (flow, class)));
    }
    assert_eq!(classes, [(6, 6), (5, 7), (4, 7), (3, 7), (2, 7), (1, 7)]);
}

#[test]
fn the_best_message_can_have_the_highest_level_always() {
    let mut b = bench(&[("levels", "fixed"), ("boost_tail", "false")]);
    begin(&mut b, slots(0), 2, 0, 100);
    assert_eq!(b.grants(slots(0)), [(0, 9, 4)]);
    begin(&mut b, slots(1), 3, 1, 50);
    b.data(slots(1), 2, 0, 1, 100, BLIND);
    assert_eq!(b.grants(slots(1)), [(1, 9, 4), (0, 10, 5)]);
    let levels =
        |used, scheduled| Levels { lowest: 7, unscheduled: 7 - scheduled, scheduled, used };
    let classes = |levels: Levels, active| {
        (0..active).map(|rank| levels.scheduled_class(rank, active)).collect::<Vec<_>>()
    };
    assert_eq!(classes(levels(LevelUse::Lowest, 6), 3), [5, 6, 7]);
    assert_eq!(classes(levels(LevelUse::Fixed, 6), 3), [2, 3, 4]);
    assert_eq!(classes(levels(LevelUse::Fixed, 2), 3), [6, 7, 7]);
    assert_eq!(classes(levels(LevelUse::Lowest, 1), 2), [7, 7]);
}

#[test]
fn one_message_per_sender_at_a_time_by_default() {
    for (setting, expected) in [("true", 1), ("false", 2)] {
        let mut b = bench(&[("one_per_sender", setting)]);
        begin(&mut b, slots(0), 2, 0, 30);
        begin(&mut b, slots(0), 2, 1, 40);
        assert_eq!(b.grants(slots(0)).len(), expected);
        // When the first has all its grants, the second gets some.
        let mut seen = vec![];
        for seq in 1..30 {
            b.data(slots(seq as u64), 2, 0, seq, 30, if seq < 8 { BLIND } else { 0 });
            seen.extend(b.grants(slots(seq as u64)).into_iter().map(|grant| grant.0));
        }
        assert_eq!(seen.contains(&1), expected == 1, "{seen:?}");
    }
}

#[test]
fn grants_are_a_packet_time_apart() {
    // Eight packets of a message arrive at once: their grants do not leave at once.
    let mut b = bench(&[]);
    for seq in 0..8 {
        b.data(slots(100), 2, 0, seq, 60, BLIND);
    }
    assert_eq!(b.grants(slots(100)).len(), 1);
    let times: Vec<_> = b.run(slots(200)).iter().map(|&(at, _)| at).collect();
    assert_eq!(times, (101..108).map(slots).collect::<Vec<_>>());
}

#[test]
fn a_freed_place_is_filled_at_line_rate() {
    // The short message finishes; the long one, held at its blind packets, ramps up a packet a
    // packet time until RTTbytes are in flight.
    let mut b = bench(&[("overcommitment", "1"), ("boost_tail", "false")]);
    burst(&mut b, slots(0), 2, 0, 9);
    begin(&mut b, slots(7), 3, 1, 500);
    for seq in 1..8 {
        b.data(slots(7), 3, 1, seq, 500, BLIND);
    }
    let sent = b.drain(slots(7));
    assert_eq!(grants(&sent), [(0, 9, 7), (1, 9, 7)]);
    // One scheduled packet of message 0 is still under way: 7 more of message 1, one a slot.
    let times: Vec<_> = b.run(slots(60)).iter().map(|&(at, _)| at).collect();
    assert_eq!(times, (8..14).map(slots).collect::<Vec<_>>());
    b.data(slots(60), 2, 0, 8, 9, 0);
    assert_eq!(b.grants(slots(60)), [(1, 16, 7)]);
}

#[test]
fn scheduled_packets_under_way_are_limited() {
    // Invariant 2: forty messages that lack one packet each do not get it at once.
    let mut b = bench(&[("overcommitment", "2")]);
    for id in 0..40 {
        for seq in 0..8 {
            b.data(slots(0), 2 + id, id, seq, 9, BLIND);
        }
    }
    assert_eq!(b.grants(slots(0)).len(), 16);
    b.data(slots(1), 2, 0, 8, 9, 0);
    assert_eq!(b.grants(slots(1)).len(), 1);
    let mut b = bench(&[("overcommitment", "2"), ("max_incoming", "5000B")]);
    for id in 0..40 {
        for seq in 0..8 {
            b.data(slots(0), 2 + id, id, seq, 9, BLIND);
        }
    }
    assert_eq!(b.grants(slots(0)).len(), 4);
}

#[test]
fn the_last_packets_of_a_message_may_use_an_unscheduled_class() {
    for (setting, expected) in
        [("true", [3, 3, 3, 2, 2, 2, 1, 1]), ("false", [7, 7, 7, 7, 7, 7, 7, 7])]
    {
        let mut b = bench(&[("boost_tail", setting)]);
        burst(&mut b, slots(0), 2, 0, 16);
        let grants = b.drain(slots(8));
        let classes: Vec<_> = self::grants(&grants).iter().map(|grant| grant.2).collect();
        assert_eq!(classes, expected);
    }
}

// -- loss --------------------------------------------------------------------------------------

#[test]
fn missing_packets_of_a_stalled_message_are_requested() {
    for (setting, all) in [("all", true), ("first", false)] {
        let mut b = bench(&[("resend", setting)]);
        for seq in [0, 1, 4, 6] {
            b.data(slots(seq as u64), 2, 0, seq, 40, BLIND);
        }
        // Four of eight have arrived: four grants have left. 12 are granted.
        assert_eq!(b.drain(slots(6)).len(), 4);
        let sent = b.run(slots(6) + INTERVAL);
        let at = slots(6) + INTERVAL;
        let expected = [(at, 0, 2, 2), (at, 0, 5, 1), (at, 0, 7, 5)];
        let most = if all { 3 } else { 1 };
        assert_eq!(resends(&sent), expected[..most]);
        // In the best class of its unscheduled packets, 33 packets from the end.
        assert!(
            sent.iter().all(|(_, packet)| matches!(packet.header, Header::Resend { class: 3, .. }))
        );
        assert!(sent.iter().all(|(_, packet)| packet.class == 0));
    }
    let mut b = bench(&[]);
    burst(&mut b, slots(0), 2, 0, 8);
    let mut b2 = bench(&[]);
    for seq in [0, 1, 2, 3, 4, 5, 7] {
        b2.data(slots(seq as u64), 2, 0, seq, 8, BLIND);
    }
    let sent = b2.run(slots(10) + INTERVAL);
    assert_eq!(resends(&sent), [(slots(7) + INTERVAL, 0, 6, 1)]);
    assert!(matches!(sent[0].1.header, Header::Resend { class: 1, .. }));
}

#[test]
fn a_burst_of_its_own_is_marked_and_ends_with_a_marked_packet() {
    let mut source = bench(&[]);
    let whole = flow(0, 1, 2, 20 * MSS, slots(0));
    source.open(slots(0), &Flow { burst: Some(3), ..whole });
    let flags = source.drain(slots(0)).into_iter().map(|packet| match packet.header {
        Header::Data { flags, .. } => flags,
        other => panic!("{other:?}"),
    });
    assert_eq!(flags.collect::<Vec<_>>(), [OWN, OWN, OWN_END]);
}

#[test]
fn nothing_is_granted_before_a_burst_of_its_own_is_known() {
    // Shorter and longer than the eight of all messages; of the eight alone none would be granted.
    for (packets, own) in [(8, 3), (20, 3), (20, 8), (20, 12), (20, 1)] {
        let mut b = bench(&[]);
        for seq in 0..own {
            let end = seq + 1 == own;
            b.data(slots(seq as u64), 2, 0, seq, packets, if end { OWN_END } else { OWN });
            let granted: Vec<u32> = b.grants(slots(seq as u64)).iter().map(|g| g.1).collect();
            assert_eq!(granted, if end { vec![own + 1] } else { vec![] }, "{packets} {own} {seq}");
        }
        // A source that hears this sends what was granted, not the rest of RTTbytes.
        let mut source = bench(&[]);
        let whole = flow(0, 1, 2, packets as u64 * MSS, slots(0));
        source.open(slots(0), &Flow { burst: Some(own), ..whole });
        source.drain(slots(0));
        source.grant(slots(9), 0, own + 1, 7);
        assert_eq!(source.sends(slots(9)), Some((0, own, 7)));
        assert_eq!(source.sends(slots(9)), None);
    }
}

#[test]
fn a_burst_of_its_own_whose_end_is_lost_is_taken_for_the_usual_one() {
    let at = slots(1) + INTERVAL;
    let mut b = bench(&[]);
    b.data(slots(0), 2, 0, 0, 20, OWN);
    b.data(slots(1), 2, 0, 1, 20, OWN);
    let sent = b.run(at);
    assert_eq!(resends(&sent), [(at, 0, 2, 6)]);
    let granted = |sent: &[(Time, Packet)]| -> Vec<_> {
        sent.iter().flat_map(|(_, packet)| grants(&[*packet])).map(|grant| grant.1).collect()
    };
    assert_eq!(granted(&sent), [9]);
    // Of a longer one the ten that have come are; its source has sent the next two, too, and they
    // are requested when what follows them has come.
    let mut b = bench(&[]);
    (0..10).for_each(|seq| b.data(slots(1), 2, 0, seq, 20, OWN));
    let sent = b.run(at + FULL * 2);
    assert!(resends(&sent).is_empty());
    assert_eq!(granted(&sent), [11, 12, 13]);
    b.data(at + FULL * 9, 2, 0, 12, 20, 0);
    let sent = b.run(at + FULL * 9 + INTERVAL);
    assert_eq!(resends(&sent)[0], (at + FULL * 9 + INTERVAL, 0, 10, 2));
}

#[test]
fn what_was_not_granted_is_not_requested() {
    // Message 1 waits behind message 0, which is granted first; all it was let send has arrived.
    let mut b = bench(&[("overcommitment", "1")]);
    begin(&mut b, slots(0), 2, 0, 20);
    burst(&mut b, slots(0), 3, 1, 100);
    let sent = b.run(slots(8) + INTERVAL);
    assert!(resends(&sent).iter().all(|&(_, flow, ..)| flow == 0), "{sent:?}");
}

#[test]
fn a_message_whose_sender_does_not_reply_is_set_aside() {
    let mut b = bench(&[("overcommitment", "1"), ("boost_tail", "false")]);
    begin(&mut b, slots(0), 2, 0, 20);
    burst(&mut b, slots(1), 3, 1, 100);
    assert_eq!(b.grants(slots(8)), [(0, 9, 7)]);
    let sent = b.run(slots(8) + INTERVAL * 10);
    let resent: Vec<_> = resends(&sent).iter().map(|&(at, flow, ..)| (at, flow)).collect();
    assert_eq!(resent[..5], [1, 2, 3, 4, 5].map(|n| (slots(0) + INTERVAL * n, 0)));
    assert!(resent[5..].iter().all(|&(_, flow)| flow == 1));
    // Then the other one is granted.
    let first = sent
        .iter()
        .find(|(_, packet)| packet.flow.0 == 1 && matches!(packet.header, Header::Grant { .. }));
    assert_eq!(first.unwrap().0, slots(0) + INTERVAL * 6);
    assert!(b.host.open_flows() == 2 && b.host.deadline() < Time::NEVER);
    // Its data brings it back, and all of it is still there.
    let later = slots(8) + INTERVAL * 20;
    b.run(later);
    b.data(later, 2, 0, 1, 20, BLIND);
    assert_eq!(b.grants(later)[0].0, 0);
    for seq in 2..20 {
        b.data(later + FULL * seq as u64, 2, 0, seq, 20, if seq < 8 { BLIND } else { 0 });
    }
    assert_eq!(b.harness.probe.outcomes().len(), 1);
}

#[test]
fn busy_restarts_the_timeout_and_unknown_ends_it() {
    let mut b = bench(&[]);
    begin(&mut b, slots(0), 2, 0, 8);
    let mut heard = slots(0);
    for _ in 1..20 {
        assert_eq!(resends(&b.run(heard + INTERVAL)), [(heard + INTERVAL, 0, 1, 7)]);
        heard += INTERVAL + FULL;
        let header = Header::Busy { first: 1, spare: 0, spare_high: 0, flags: 0 };
        b.from(heard, 2, 0, header, 0);
    }
    let header = Header::Unknown { spare_low: 0, spare: 0, spare_high: 0, flags: 0 };
    b.from(slots(1_000_000), 2, 0, header, 0);
    assert_eq!(b.host.open_flows(), 0);
    b.from(slots(1_000_000), 2, 0, header, 0);
    assert!(b.run(slots(2_000_000)).is_empty());
}

#[test]
fn an_idle_downlink_grants_one_message_more_if_configured() {
    let settings = [("overcommitment", "1"), ("link_check", "15380B"), ("boost_tail", "false")];
    let mut b = bench(&settings);
    for seq in 0..8 {
        for id in 0..3 {
            b.data(slots(seq as u64), 2 + id, id, seq, 50 + id, BLIND);
        }
    }
    assert_eq!(b.grants(slots(7)).len(), 8);
    let sent = b.run(slots(40));
    // Message 0 fills its RTTbytes; ten packet times of silence later message 1 begins.
    let first = |id: u32| sent.iter().find(|(_, packet)| packet.flow.0 == id).map(|sent| sent.0);
    assert_eq!(first(1), Some(slots(17)));
    assert_eq!(first(2), Some(slots(27)));
    // One message that ends takes one place away again.
    for seq in 8..50 {
        b.data(slots(40), 2, 0, seq, 50, 0);
    }
    assert_eq!(b.harness.probe.outcomes().len(), 1);
    b.drain(slots(40));
    burst(&mut b, slots(41), 8, 3, 20);
    let later = b.run(slots(50)).iter().map(|(_, packet)| packet.flow.0).collect::<Vec<_>>();
    assert!(!later.contains(&2), "{later:?}");
}

#[test]
fn data_that_no_sender_sends_is_ignored() {
    let mut b = bench(&[]);
    b.data(slots(0), 2, 0, 0, 0, BLIND); // no packets
    b.data(slots(0), 2, 0, 9, 5, BLIND); // beyond the end
    assert_eq!(b.host.open_flows(), 0);
    begin(&mut b, slots(0), 2, 0, 5);
    b.data(slots(0), 2, 0, 2, 3, BLIND); // another end
    let header = Header::Data { seq: 1, offset: 1_460, tag: 5, flags: 0 };
    b.from(slots(0), 2, 0, header, 0); // only a header
    assert_eq!(b.harness.probe.deliveries().len(), 1);
}

#[test]
fn a_length_that_does_not_fit_its_field_is_given_by_the_last_packet() {
    let size = MSS * (1 << 24);
    let long = Flow { segments: Segments::Uniform(1460), ..flow(0, 1, 2, size, slots(0)) };
    let mut b = bench(&[]);
    b.open(slots(0), &long);
    let packet = b.transmit(slots(0)).unwrap();
    assert!(matches!(packet.header, Header::Data { tag: 0xff_ffff, .. }));
    // As a receiver: a shorter message that says so is complete with its last packet.
    let mut b = bench(&[]);
    for seq in 0..12u32 {
        let flags = if seq == 11 { data_flag::LAST } else { 0 };
        let header = Header::Data { seq, offset: seq * 1_460, tag: 0xff_ffff, flags };
        b.from(slots(seq as u64), 2, 0, header, 1_460);
    }
    assert_eq!((b.harness.probe.outcomes().len(), b.host.open_flows()), (1, 0));
    // One that ends within the first RTT leaves nothing under way either.
    for seq in [1, 3, 0, 2] {
        let flags = if seq == 3 { data_flag::LAST } else { 0 };
        let header = Header::Data { seq, offset: seq * 1_460, tag: 0xff_ffff, flags };
        b.from(slots(20 + seq as u64), 3, 1, header, 1_460);
    }
    assert_eq!((b.harness.probe.outcomes().len(), b.host.open_flows()), (2, 0));
}

// -- policy and settings -----------------------------------------------------------------------

#[test]
fn its_policy_for_ports() {
    let fabric = eight();
    let site = port_site(&fabric);
    let policy = |settings: &[(&str, &str)]| configured(&ENTRY, settings, &fabric).policy(&site);
    let own = policy(&[]);
    assert_eq!(own.classes.len(), 8);
    assert_eq!(own.classes[0].discipline, Discipline::DropTail);
    assert!(own.classes[1..].iter().all(|class| class.discipline == Discipline::SharedTail));
    assert!(own.classes.iter().all(|class| class.limit == Limit::Packets(128)));
    let other = policy(&[("buffer", "64KiB"), ("priorities", "2")]);
    assert_eq!(other.classes.len(), 2);
    assert!(other.classes.iter().all(|class| class.limit == Limit::Bytes(65_536)));
}

#[test]
fn with_fewer_priorities_it_has_queues_apart_from_others() {
    let fabric = eight();
    let site = port_site(&fabric);
    let join = |priorities| {
        let own = configured(&ENTRY, &[("priorities", priorities)], &fabric).policy(&site);
        let other = configured(&crate::ndp::ENTRY, &[], &fabric).policy(&site);
        build_joined(vec![own, other], Join::Separate, &site).map(|_| ())
    };
    assert!(join("8").unwrap_err().to_string().contains("more than 8 queues"));
    assert!(join("5").is_ok());
}

#[test]
fn levels_follow_the_sizes_of_the_run() {
    let with = |points: &[(f64, f64)], settings: &[(&str, &str)]| {
        let mut fabric = (*eight()).clone();
        if !points.is_empty() {
            fabric.sizes = Some(Arc::new(SizeQuantiles { points: points.to_vec() }));
        }
        let own = key_values(settings);
        let params = Params::read(&own).unwrap();
        levels(&params, &fabric).map(|levels| (levels.unscheduled, levels.scheduled))
    };
    assert_eq!(with(&[], &[]).unwrap(), (3, 4), "the Linux module's");
    // RTTbytes are 11680: all unscheduled, a half, nearly nothing.
    assert_eq!(with(&[(10.0, 0.0), (10_000.0, 1.0)], &[]).unwrap(), (6, 1));
    assert_eq!(with(&[(23_360.0, 1.0)], &[]).unwrap(), (4, 3));
    assert_eq!(with(&[(1e7, 1.0)], &[]).unwrap(), (1, 6));
    assert_eq!(with(&[(1e7, 1.0)], &[("scheduled", "2")]).unwrap(), (5, 2));
    assert_eq!(with(&[(1e7, 1.0)], &[("priorities", "4")]).unwrap(), (1, 2));
    // One class for data: both kinds use it.
    assert_eq!(with(&[], &[("priorities", "2")]).unwrap(), (1, 1));
    assert_eq!(with(&[], &[("priorities", "2"), ("scheduled", "1")]).unwrap(), (1, 1));
    let error = with(&[], &[("priorities", "5"), ("scheduled", "4")]).unwrap_err();
    assert!(error.to_string().starts_with("scheduled = `4`: expected 1 to 3"), "{error}");
}

#[test]
fn rtt_bytes_and_waits_come_from_the_fabric() {
    let terms = |settings: &[(&str, &str)], rtt: Span| {
        let own = key_values(settings);
        let params = Params::read(&own).unwrap();
        let fabric = fabric_site(2, RATE, rtt);
        let levels = levels(&params, &fabric).unwrap();
        Terms::new(&params, levels, &host_site(0, &fabric))
    };
    let own = terms(&[], FULL * 8);
    assert_eq!((own.blind, own.window, own.overcommitment), (8, 8, 4));
    assert_eq!((own.resend_interval, own.slot), (Span::from_ms(1), FULL));
    let far = terms(&[], Span::from_us(100));
    assert_eq!((far.blind, far.resend_interval), (82, Span::from_ms(2)));
    // 9.7 KB are whole packets; the same window for grants.
    let paper = terms(&[("rtt_bytes", "9700B"), ("resend_interval", "30us")], Span::from_us(100));
    assert_eq!((paper.blind, paper.window), (7, 7));
    assert_eq!(paper.resend_interval, Span::from_us(30));
    assert_eq!(terms(&[("link_check", "1538B")], FULL * 8).idle_check, Some(FULL));
    // A faster host fills its own RTT with grants.
    let mut fabric = (*eight()).clone();
    fabric.max_rate = incast_transport::Rate::from_gbps(40);
    let fabric = Arc::new(fabric);
    let mut site = host_site(0, &fabric);
    (site.rate, site.bdp_packets) = (fabric.max_rate, 32);
    let params = Params::default();
    let fast = Terms::new(&params, levels(&params, &fabric).unwrap(), &site);
    assert_eq!((fast.blind, fast.window), (8, 32));
    assert_eq!(fast.slot, fast.slot.max(fabric.max_rate.tx_time(Bytes(1_538))));
}

#[test]
fn wrong_settings_are_refused() {
    let set =
        |key: &str, value: &str| ENTRY.configure(&[(key.to_string(), value.into())], eight()).err();
    assert!(set("overcommitment", "0").unwrap().problem().contains("1 to 64"));
    assert!(set("priorities", "9").unwrap().problem().contains("2 to 8"));
    assert!(set("unscheduled", "none").unwrap().problem().contains("graduated, size"));
    assert!(set("rtt", "3").unwrap().problem().contains("rtt_bytes"));
    assert!(set("resend", "first").is_none());
}

// -- small networks ----------------------------------------------------------------------------

fn count(network: &Network, kind: impl Fn(&Header) -> bool) -> usize {
    network.sent.iter().filter(|sent| kind(&sent.packet.header)).count()
}

#[test]
fn a_message_without_loss_uses_exactly_its_grants() {
    for packets in [1, 8, 9, 500] {
        let fabric = eight();
        let plan = configured(&ENTRY, &[], &fabric);
        let mut network = Network::of(&*plan, &fabric, Probabilities::default(), 1);
        network.add(flow(0, 0, 1, packets * MSS, Time::ZERO));
        network.complete(Span::from_ms(10));
        // At line rate from the first packet on.
        assert_eq!(network.completed(0), Some(slots(packets) + network.delay()));
        let granted = count(&network, |header| matches!(header, Header::Grant { .. })) as u64;
        assert_eq!(granted, packets.saturating_sub(8));
        assert_eq!(count(&network, |header| matches!(header, Header::Resend { .. })), 0);
        assert_eq!(count(&network, |header| matches!(header, Header::Data { .. })) as u64, packets);
    }
}

#[test]
fn every_message_completes_in_an_impaired_network() {
    for seed in 0..60 {
        let fabric = fabric_site(4, RATE, Span::from_us(10 + 90 * (seed % 3)));
        let settings: &[(&str, &str)] = match seed % 4 {
            0 => &[],
            1 => &[("overcommitment", "1"), ("resend", "first"), ("resend_interval", "200us")],
            2 => &[("one_per_sender", "false"), ("link_check", "20KB"), ("unscheduled", "size")],
            _ => &[("rtt_bytes", "3KB"), ("give_up", "1"), ("levels", "fixed")],
        };
        let plan = configured(&ENTRY, settings, &fabric);
        let some = Probabilities::each(0.01 * (1 + seed % 5) as f64, fabric.base_rtt * 4);
        Network::of(&*plan, &fabric, some, seed).survives();
    }
}
