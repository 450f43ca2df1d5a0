//! Sources and destinations of credits by direct calls.

use super::*;
use incast_testkit::{Driver, at, flow, packet};
use incast_transport::{FlowId, HostId, Packet, Segments, data_flag, flag};

const TERMS: Terms = Terms {
    transport: TransportId(99),
    mark: 0b10,
    credit: 84,
    jitter: 0.0,
    longer: 0,
    early_stop: true,
    request_again: Span::from_us(100),
    missing_again: Span::from_us(200),
    base_rtt: Span::from_us(10),
    burst: None,
};

/// One credit each ten microseconds; reports each call that decides.
struct Steady;

impl CreditControl for Steady {
    type Flow = Vec<(u64, u32, u32)>;

    fn begin(&self, request: &CreditRequest) -> Self::Flow {
        vec![(request.one_way.0, request.packets, 0)]
    }

    fn rate(&self, _flow: &Self::Flow) -> f64 {
        8.4e6
    }

    fn on_data(&self, flow: &mut Self::Flow, arrived: &Arrived, count: &CreditCount) -> bool {
        flow.push((arrived.rtt.0, count.used(), count.dropped()));
        arrived.marked
    }
}

/// One host, and the present.
struct Rig {
    driver: Driver<CreditHost<Steady>>,
    now: Time,
}

impl Rig {
    fn new(terms: Terms) -> Rig {
        Rig { driver: Driver::new(CreditHost::new(terms, Steady), 0), now: Time::ZERO }
    }

    /// Runs timers until `us` microseconds.
    fn at(&mut self, us: u64) -> &mut Rig {
        self.now = at(us);
        self.driver.pass(self.now);
        self
    }

    fn receive(&mut self, header: Header, payload: u16, mark: u8) -> &mut Rig {
        self.driver.receive(self.now, Packet { payload, mark, ..plain(header) });
        self
    }

    /// All that leaves now.
    fn sent(&mut self, open: Classes) -> Vec<Packet> {
        self.driver.drain_if(self.now, open)
    }

    fn headers(&mut self) -> Vec<Header> {
        self.sent(Classes::ALL).into_iter().map(|packet| packet.header).collect()
    }

    fn open(&mut self, packets: u64) -> &mut Rig {
        self.driver.open(self.now, &flow(0, 0, 1, packets * 1460, Time::ZERO));
        self
    }

    fn credit(&mut self, number: u32) -> &mut Rig {
        self.receive(Header::Credit { number, stamp: 7, spare: 0, flags: 0 }, 0, 0)
    }

    fn data(&mut self, seq: u32, number: u32, stamp: u32, last: bool) -> &mut Rig {
        let header = Header::Credited { seq, stamp, number, flags: last as u8 };
        self.receive(header, 1460, 0b10)
    }

    fn decided(&self) -> &[(u64, u32, u32)] {
        self.driver.host.receivers.state(FlowId(0)).expect("the flow is incomplete")
    }
}

fn plain(header: Header) -> Packet {
    let (src, dst, class) = (HostId(1), HostId(0), DATA);
    Packet { src, dst, class, ..packet(TERMS.transport, header) }
}

fn request(packets: u32, us: u32) -> Header {
    Header::Request { packets, stamp: us * 1_000, segment: 0, flags: 0 }
}

fn stop(packets: u32, us: u32) -> Header {
    Header::Request { packets, stamp: us * 1_000, segment: 0, flags: data_flag::LAST }
}

fn data(seq: u32, number: u32, flags: u8) -> Header {
    Header::Credited { seq, stamp: 7, number, flags }
}

fn credit(number: u32, us: u32) -> Header {
    Header::Credit { number, stamp: us * 1_000, spare: 0, flags: 0 }
}

fn missing(cumulative: u32) -> Header {
    Header::Nack { seq: 0, cumulative, number: 0, flags: 0 }
}

const FINISH: Header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };

#[test]
fn numbers_passed_over_are_dropped_until_they_come_after_all() {
    let mut count = CreditCount::from(5);
    assert!(count.comes(5, 100) && count.comes(8, 100));
    assert_eq!((count.used(), count.dropped(), count.total()), (2, 2, 4));
    assert!((count.loss() - 0.5).abs() < 1e-12);
    assert!(count.comes(6, 100));
    assert_eq!((count.used(), count.dropped()), (3, 1));
    // Each counts once, what was given up not at all, nor what was never sent.
    assert!(count.comes(7, 100) && !count.comes(7, 100) && !count.comes(4, 100));
    assert!(!count.comes(100, 100) && count.comes(99, 100));
    assert_eq!((count.used(), count.dropped()), (5, 90));
    count.begin_again();
    assert_eq!((count.total(), count.loss()), (0, 0.0));
    assert!(!count.comes(50, 101), "of an earlier period");
    assert!(count.comes(100, 101));
    // Only 24 bits travel.
    let mut count = CreditCount::from(0x00ff_fffe);
    for number in 0x00ff_fffe..0x0100_0010u32 {
        assert!(count.comes(number & 0xff_ffff, 0x0100_0010), "{number:#x}");
    }
    assert_eq!((count.used(), count.dropped()), (18, 0));
}

#[test]
fn a_source_requests_credits_uses_them_and_stops_them() {
    let mut rig = Rig::new(TERMS);
    rig.open(3);
    assert_eq!(rig.headers(), [request(3, 0)]);
    assert!(rig.at(50).credit(0).sent(Classes::CONTROL).is_empty());
    let sent = rig.sent(Classes::ALL);
    assert_eq!((sent[0].header, sent[0].payload, sent[0].mark), (data(0, 0, 0), 1460, 0b10));
    assert_eq!((sent.len(), sent[0].class, sent[0].dst), (1, DATA, HostId(1)));
    assert_eq!(rig.at(60).credit(2).headers(), [data(1, 2, 0)]);
    let last = [data(2, 3, data_flag::LAST), stop(0, 70)];
    assert_eq!(rig.at(70).credit(3).headers(), last);
    // Nothing is left: the credit is wasted.
    assert!(rig.at(80).credit(4).headers().is_empty());
    assert_eq!(rig.driver.harness.probe.senders()[0].wasted, 1);
    // Two RTTs of 50 us after the stop, and one more, it sends a
    // request to learn whether all has arrived;
    // then after one, two, four.
    assert!(rig.at(219).headers().is_empty());
    assert_eq!(rig.at(220).headers(), [stop(0, 220)]);
    assert!(rig.at(319).headers().is_empty());
    assert_eq!(rig.at(320).headers(), [stop(0, 320)]);
    assert_eq!(rig.at(520).headers(), [stop(0, 520)]);
    assert_eq!(rig.receive(FINISH, 0, 0).driver.host.open_flows(), 0);
    rig.credit(5);
    assert_eq!(rig.driver.harness.probe.senders()[0].wasted, 2);
    assert!(rig.at(10_000).headers().is_empty());
}

#[test]
fn a_source_without_credits_repeats_its_request_at_doubling_intervals() {
    let mut rig = Rig::new(TERMS);
    rig.open(3);
    let mut requests = vec![];
    for us in 0..20_000 {
        rig.at(us);
        requests.extend(rig.headers().iter().map(|_| us));
    }
    assert_eq!(requests, [0, 100, 300, 700, 1_500, 3_100, 6_300, 12_700, 19_100]);
    // A credit comes, and then nothing for long: it sends another request.
    assert_eq!(rig.at(20_000).credit(0).headers(), [data(0, 0, 0)]);
    assert_eq!(rig.at(20_399).headers(), []);
    assert_eq!(rig.at(20_400).headers(), [request(2, 20_400)]);
}

#[test]
fn a_source_stops_early_when_the_credits_on_their_way_suffice() {
    for early_stop in [true, false] {
        let mut rig = Rig::new(Terms { early_stop, ..TERMS });
        rig.open(13);
        rig.headers();
        // After an RTT of 50 us six credits have come, and seven packets are left; in the
        // next five credits come, and two are left.
        for number in 0..10 {
            rig.at(50 + 10 * number as u64).credit(number);
            assert_eq!(rig.headers(), [data(number, number, 0)]);
        }
        let mut expected = vec![data(10, 10, 0)];
        expected.extend(early_stop.then(|| stop(2, 150)));
        assert_eq!(rig.at(150).credit(10).headers(), expected);
        if early_stop {
            // Only one came: two RTTs later it repeats its request.
            assert_eq!(rig.at(160).credit(11).headers(), [data(11, 11, 0)]);
            assert_eq!(rig.at(249).headers(), []);
            assert_eq!(rig.at(250).headers(), [request(1, 250)]);
        }
    }
}

#[test]
fn a_source_goes_back_to_what_is_missing() {
    let mut rig = Rig::new(TERMS);
    rig.open(3);
    for number in 0..3 {
        rig.at(50 + number as u64).credit(number);
    }
    rig.headers();
    assert_eq!(rig.at(90).receive(missing(1), 0, 0).headers(), [request(2, 90)]);
    rig.receive(missing(2), 0, 0);
    assert_eq!(rig.headers(), [], "what is yet to be sent again cannot be missing");
    rig.at(150).credit(3);
    let sent = rig.sent(Classes::ALL);
    assert_eq!((sent[0].header, sent[0].flags), (data(1, 3, 0), flag::RETRANSMIT));
    rig.credit(4);
    assert_eq!(rig.headers(), [data(2, 4, data_flag::LAST), stop(0, 150)]);
}

#[test]
fn a_destination_paces_credits_and_counts_what_comes_back() {
    let mut rig = Rig::new(TERMS);
    rig.at(10).receive(request(5, 6), 0, 0);
    assert_eq!(rig.decided(), [(4_000_000, 5, 0)]);
    let sent = rig.sent(Classes::CONTROL);
    assert_eq!((sent[0].header, sent[0].class), (credit(0, 10), CREDIT));
    // Asking again changes nothing while credits flow.
    assert_eq!(rig.at(12).receive(request(5, 8), 0, 0).headers(), []);
    assert_eq!(rig.at(45).headers(), [credit(1, 20), credit(2, 30), credit(3, 40)]);
    rig.at(46).data(0, 0, 10_000, false).data(1, 2, 30_000, false);
    assert_eq!(rig.decided()[1..], [(36_000_000, 1, 0), (16_000_000, 2, 1)]);
    // A packet beyond a hole is not kept; the hole is requested at once and again.
    assert_eq!(rig.at(47).data(3, 3, 40_000, false).headers(), [missing(2)]);
    assert_eq!(rig.data(4, 3, 40_000, true).headers(), []);
    assert_eq!(rig.driver.harness.probe.bytes_delivered(FlowId(0)), 2 * 1460);
    let nacks = |rig: &mut Rig| rig.headers().iter().filter(|h| **h == missing(2)).count();
    assert_eq!((nacks(rig.at(246)), nacks(rig.at(247)), nacks(rig.at(447))), (0, 1, 1));
    let sent = rig.driver.host.receivers.deadline();
    assert_eq!(sent, Time::ZERO + Span::from_us(450));
    for seq in 2..4 {
        rig.data(seq, 5 + seq, 1, false).data(seq, 5 + seq, 1, false);
    }
    assert_eq!(nacks(rig.at(1_000)), 0, "filled");
    rig.data(4, 9, 1, true);
    assert_eq!((rig.driver.host.open_flows(), rig.driver.harness.probe.outcomes().len()), (0, 1));
    // Complete: no more credits; each further request gets a Finish.
    assert_eq!(rig.at(2_000).headers(), []);
    assert_eq!(rig.receive(stop(0, 990), 0, 0).headers(), [FINISH]);
    assert_eq!(rig.receive(request(1, 995), 0, 0).headers(), [FINISH]);
    assert_eq!(rig.data(3, 8, 1, false).headers(), []);
}

#[test]
fn a_stopped_destination_sends_no_credits_until_the_next_request() {
    let mut rig = Rig::new(TERMS);
    rig.receive(request(3, 0), 0, 0).at(20).headers();
    rig.receive(stop(2, 15), 0, 0);
    assert_eq!(rig.at(500).headers(), [], "an early stop: what is missing may be on its way");
    // A request that was overtaken by the stop does not count.
    assert_eq!(rig.receive(request(3, 10), 0, 0).headers(), []);
    assert_eq!(rig.at(510).receive(request(2, 505), 0, 0).headers(), [credit(3, 510)]);
    assert_eq!(rig.decided(), [(5_000_000, 2, 0)], "it began anew");
    // Credits of before are not lost ones.
    rig.data(0, 3, 510_000, false);
    assert_eq!((rig.decided()[1].1, rig.decided()[1].2), (1, 0));
    // A final stop: what is missing is lost.
    assert_eq!(rig.receive(stop(0, 508), 0, 0).headers(), [missing(1)]);
    assert_eq!(rig.at(709).headers(), []);
    assert_eq!(rig.at(710).headers(), [missing(1)]);
    // A source that stopped early gets a Finish without a request.
    rig.data(1, 1, 0, false).data(2, 2, 0, true);
    assert_eq!(rig.headers(), [FINISH]);
}

#[test]
fn a_source_that_never_answers_is_credited_until_it_asks_again() {
    let mut rig = Rig::new(TERMS);
    rig.receive(request(100_000, 0), 0, 0);
    let mut credits = rig.headers().len();
    let ten = |rig: &mut Rig, from: u64, until: u64| {
        (from..until).step_by(10).map(|us| rig.at(us).headers().len()).sum::<usize>()
    };
    credits += ten(&mut rig, 10, 30_000);
    assert_eq!(credits, 3_000);
    // An answer: the count begins anew.
    rig.data(0, 2_999, 7, false);
    assert_eq!(ten(&mut rig, 30_000, 200_000), 4_096);
    assert_eq!(rig.driver.host.deadline(), Time::NEVER, "it is quiet");
    rig.at(200_000).receive(request(100_000, 200_000), 0, 0);
    assert_eq!(rig.headers().len() + ten(&mut rig, 200_010, 201_000), 100);
}

#[test]
fn a_source_takes_no_request_for_its_own_flow() {
    let mut rig = Rig::new(TERMS);
    rig.open(10);
    assert_eq!(rig.headers().len(), 1);
    rig.receive(request(10, 0), 0, 0);
    assert!(rig.at(50).headers().is_empty(), "no credits");
}

#[test]
fn marks_are_seen_and_a_decision_begins_the_count_again() {
    let mut rig = Rig::new(TERMS);
    rig.receive(request(9, 0), 0, 0).at(100).headers();
    for number in 0..4 {
        let header = Header::Credited { seq: number, stamp: 0, number, flags: 0 };
        rig.receive(header, 1460, if number == 1 { 0b11 } else { 0b10 });
    }
    let used: Vec<u32> = rig.decided()[1..].iter().map(|decided| decided.1).collect();
    assert_eq!(used, [1, 2, 1, 2]);
    assert_eq!(rig.driver.harness.probe.senders()[0].decisions, 1);
}

#[test]
fn times_and_lengths_vary_within_their_bounds() {
    let mut rig = Rig::new(Terms { jitter: 0.1, longer: 8, ..TERMS });
    rig.receive(request(1_000_000, 0), 0, 0);
    rig.at(100_000);
    let credits = rig.sent(Classes::CONTROL);
    let mut sizes = [0; 17];
    let mut stamps = vec![];
    for packet in &credits {
        sizes[(Framing::ETHERNET.charged(packet.ip_bytes()) - 84) as usize] += 1;
        let Header::Credit { stamp, .. } = packet.header else { panic!() };
        stamps.push(stamp);
    }
    assert!(sizes.iter().step_by(2).all(|&count| count > credits.len() / 18), "{sizes:?}");
    assert!(sizes.iter().skip(1).step_by(2).all(|&count| count == 0), "{sizes:?}");
    let gaps: Vec<u32> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Longer credits come less often: 92 B on average at 84 B in ten microseconds.
    assert!(gaps.iter().all(|gap| (9_856..=12_049).contains(gap)));
    assert!(gaps.iter().any(|&gap| gap < 10_076) && gaps.iter().any(|&gap| gap > 11_828));
    let mean = gaps.iter().map(|&gap| gap as u64).sum::<u64>() / gaps.len() as u64;
    assert!((10_932..10_972).contains(&mean), "{mean}");
}

#[test]
fn the_share_lets_data_fill_the_rest() {
    assert!((credit_share(&Framing::ETHERNET, 0) - 84.0 / 1622.0).abs() < 1e-15);
    // Of 84 to 100 B, 92 B on average.
    assert!((credit_share(&Framing::ETHERNET, 8) - 92.0 / 1630.0).abs() < 1e-15);
    let class = shaped(&Framing::ETHERNET, Rate::from_gbps(10), 84.0 / 1622.0, 8, 2);
    assert_eq!(class.limit, Limit::Bytes(672));
    let shaper = class.shaper.unwrap();
    assert_eq!((shaper.rate, shaper.depth), (Rate(517_879_161), Bytes(168)));
}

// -- a first round without credits -------------------------------------------------------------

/// Four packets before the first credit, on paths that keep order.
const STARTING: Terms = Terms {
    burst: Some(Burst {
        packets: 4,
        round: RoundTerms { in_order: true, grace: Span::ZERO, probe_again: Span::from_us(70) },
    }),
    ..TERMS
};

fn early(seq: u32, packets: u32) -> Header {
    let last = if seq + 1 == packets { data_flag::LAST } else { 0 };
    let flags = data_flag::UNSCHEDULED | last;
    Header::Data { seq, offset: seq * 1460, tag: packets, flags }
}

fn segment_request(packets: u32, us: u32) -> Header {
    Header::Request { packets, stamp: us * 1_000, segment: 1460, flags: 0 }
}

fn stops(packets: u32, us: u32) -> Header {
    Header::Request { packets, stamp: us * 1_000, segment: 1460, flags: data_flag::LAST }
}

fn probe(packets: u32, sent: u32) -> Header {
    Header::Probe { packets, sent, spare: 0, flags: 0 }
}

fn ack(seq: u32, cumulative: u32, flags: u8) -> Header {
    Header::Ack { seq, cumulative, number: 0, flags }
}

fn range(first: u32, end: u32) -> Header {
    Header::Nack { seq: end, cumulative: first, number: 0, flags: 0 }
}

const U: u8 = data_flag::UNSCHEDULED;
const PROBED: u8 = data_flag::LAST;

#[test]
fn a_burst_follows_the_request_and_a_probe_follows_the_burst() {
    let mut rig = Rig::new(STARTING);
    rig.open(9);
    let burst = (0..4).map(|seq| early(seq, 9));
    let expected: Vec<_> =
        [segment_request(9, 0)].into_iter().chain(burst).chain([probe(9, 4)]).collect();
    assert_eq!(rig.headers(), expected);
    // Credits let the rest go, in order; no second probe.
    for seq in 0..4 {
        rig.receive(ack(seq, seq + 1, U), 0, 0);
    }
    rig.receive(ack(4, 4, PROBED), 0, 0);
    assert_eq!(rig.credit(0).headers(), [data(4, 0, 0)]);
    assert_eq!(rig.credit(1).headers(), [data(5, 1, 0)]);
}

#[test]
fn the_first_credit_ends_a_burst() {
    let mut rig = Rig::new(STARTING);
    rig.open(9);
    let mut sent = vec![];
    for _ in 0..3 {
        sent.push(rig.driver.transmit(rig.now).unwrap().header);
    }
    assert_eq!(sent, [segment_request(9, 0), early(0, 9), early(1, 9)]);
    assert_eq!(rig.credit(0).headers(), [probe(9, 2), data(2, 0, 0)]);
}

#[test]
fn a_credit_goes_to_what_is_lost_then_new_then_uncertain() {
    let mut rig = Rig::new(STARTING);
    rig.open(6);
    rig.headers();
    // 2 came, so 1 is lost; nothing is known of 3.
    rig.receive(ack(0, 1, U), 0, 0).receive(ack(2, 1, U), 0, 0);
    let mut order = vec![];
    for number in 0..4 {
        let sent = rig.credit(number).sent(Classes::ALL);
        for packet in sent {
            if let Header::Credited { seq, .. } = packet.header {
                order.push((seq, packet.has(flag::RETRANSMIT)));
            } else {
                assert_eq!(number, 3, "no stop before the fate of all is known: {packet:?}");
            }
        }
    }
    assert_eq!(order, [(1, true), (4, false), (5, false), (3, true)]);
    assert_eq!(rig.credit(4).headers(), []);
    assert_eq!(rig.driver.harness.probe.senders()[0].wasted, 1);
}

#[test]
fn a_stop_waits_for_the_burst_to_be_acknowledged() {
    let mut rig = Rig::new(STARTING);
    rig.open(5);
    rig.headers();
    rig.receive(ack(0, 1, U), 0, 0);
    // Without its ACKs all of the burst is sent again before the source stops.
    for (number, seq) in [(0, 4), (1, 1), (2, 2)] {
        let flags = if seq == 4 { data_flag::LAST } else { 0 };
        assert_eq!(rig.credit(number).headers(), [data(seq, number, flags)]);
    }
    assert_eq!(rig.credit(3).headers(), [data(3, 3, 0), stops(0, 0)]);
    // With them it stops behind the last new packet.
    let mut rig = Rig::new(STARTING);
    rig.open(5);
    rig.headers();
    for seq in 0..4 {
        rig.receive(ack(seq, seq + 1, U), 0, 0);
    }
    assert_eq!(rig.credit(0).headers(), [data(4, 0, data_flag::LAST), stops(0, 0)]);
}

#[test]
fn a_credit_that_finds_the_last_acknowledged_stops_them() {
    let mut rig = Rig::new(STARTING);
    rig.open(5);
    rig.headers();
    rig.receive(ack(0, 1, U), 0, 0);
    assert_eq!(rig.credit(0).headers(), [data(4, 0, data_flag::LAST)]);
    (1..4).for_each(|seq| {
        rig.receive(ack(seq, seq + 1, U), 0, 0);
    });
    assert_eq!(rig.credit(1).headers(), [stops(0, 0)]);
    assert_eq!(rig.driver.harness.probe.senders()[0].wasted, 1);
}

#[test]
fn a_lost_probe_comes_again_and_in_the_end_all_counts_as_lost() {
    let mut rig = Rig::new(STARTING);
    rig.open(4);
    rig.headers();
    assert_eq!(rig.at(70).headers(), [probe(4, 4)]);
    assert_eq!(rig.at(141).headers(), [segment_request(4, 100), probe(4, 4)]);
    rig.at(211).headers();
    let lost: Vec<_> = (0..4).flat_map(|number| rig.credit(number).headers()).collect();
    let expected: Vec<_> = (0..3).map(|seq| data(seq, seq, 0)).collect();
    assert_eq!(lost[..3], expected);
}

#[test]
fn a_destination_keeps_what_comes_out_of_order_and_acknowledges_the_burst() {
    let mut rig = Rig::new(STARTING);
    // Before the request it comes in vain.
    rig.receive(early(0, 7), 1460, 0);
    assert_eq!(rig.headers(), []);
    rig.receive(segment_request(7, 0), 0, 0).at(30).headers();
    for (seq, cumulative) in [(0, 1), (2, 1), (3, 1), (3, 1)] {
        rig.receive(early(seq, 7), 1460, 0);
        assert_eq!(rig.headers(), [ack(seq, cumulative, U)]);
    }
    rig.receive(probe(7, 4), 0, 0);
    assert_eq!(rig.headers(), [ack(4, 1, PROBED)]);
    // Its credits count only what had one.
    assert_eq!(rig.decided().len(), 1);
    rig.data(1, 0, 0, false).data(4, 1, 0, false).data(6, 2, 0, true);
    assert_eq!(rig.decided().len(), 4);
    assert!(!rig.headers().iter().any(|header| matches!(header, Header::Nack { .. })));
    // All is sent: what is missing is requested, range by range.
    rig.receive(stops(0, 9), 0, 0);
    assert_eq!(rig.headers(), [range(5, 6)]);
    rig.data(5, 3, 0, false);
    assert_eq!(rig.headers(), [FINISH]);
    let ranges: Vec<_> =
        rig.driver.harness.probe.deliveries().iter().map(|&(_, at, _)| at / 1460).collect();
    assert_eq!(ranges, [0, 2, 3, 1, 4, 6, 5]);
    // It is also the reply to late packets.
    rig.receive(early(2, 7), 1460, 0).receive(probe(7, 4), 0, 0);
    assert_eq!(rig.headers(), [FINISH, FINISH]);
}

#[test]
fn missing_ranges_are_sent_again_without_what_is_between() {
    let mut rig = Rig::new(STARTING);
    rig.open(9);
    rig.headers();
    for seq in 0..4 {
        rig.receive(ack(seq, seq + 1, U), 0, 0);
    }
    for number in 0..5 {
        rig.credit(number);
    }
    rig.headers();
    rig.receive(range(4, 6), 0, 0).receive(range(7, u32::MAX), 0, 0).receive(range(4, 5), 0, 0);
    let again = rig.headers();
    assert_eq!(again, [segment_request(2, 0)], "it requests credits again");
    let order: Vec<_> = (5..9)
        .flat_map(|number| rig.credit(number).sent(Classes::ALL))
        .filter(|packet| packet.is_data())
        .map(|packet| (packet.header.data_key(), packet.has(flag::RETRANSMIT)))
        .collect();
    assert_eq!(order, [(4, true), (5, true), (7, true), (8, true)]);
}

#[test]
fn bursts_of_a_host_take_turns() {
    let mut rig = Rig::new(STARTING);
    for id in 0..2 {
        rig.driver.open(rig.now, &flow(id, 0, 1, 3 * 1460, Time::ZERO));
    }
    let sent = rig.sent(Classes::ALL);
    let order: Vec<_> =
        sent.iter().filter(|packet| packet.is_data()).map(|packet| packet.flow.0).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1]);
    assert!(rig.sent(Classes::CONTROL).is_empty());
}

#[test]
fn flows_whose_segments_are_prescribed_wait_for_credits_and_go_back() {
    let mut rig = Rig::new(STARTING);
    let segments = Segments::Table([100, 1_000, 1_500, 2_000].into());
    rig.driver.open(rig.now, &Flow { segments, ..flow(0, 0, 1, 2_000, Time::ZERO) });
    assert_eq!(rig.headers(), [request(4, 0)]);
    (0..3).for_each(|number| assert_eq!(rig.credit(number).headers()[0], data(number, number, 0)));
    assert_eq!(rig.receive(missing(1), 0, 0).headers(), [request(3, 0)]);
    assert_eq!(rig.credit(3).headers()[0], data(1, 3, 0));
    assert_eq!(rig.credit(4).headers()[0], data(2, 4, 0));
    // And destinations keep nothing out of order for them.
    let mut rig = Rig::new(STARTING);
    rig.receive(request(3, 0), 0, 0).at(30).headers();
    rig.receive(early(1, 3), 1460, 0).data(2, 0, 0, true);
    assert_eq!(rig.headers(), [missing(0)]);
    assert!(rig.driver.harness.probe.deliveries().is_empty());
}
