//! Flows in a network: sums that can be done by hand, and what must hold whatever is lost.

use super::ENTRY;
use super::tests::FRAMING;
use incast_testkit::{
    Driver, Network, Outcome, Probabilities, Trial, configured, fabric, fabric_site, flow,
};
use incast_transport::{
    Ecn, Flow, Header, Limit, Packet, Rate, Segments, Span, Time, data_flag, flag,
};

pub(super) const RATE: Rate = Rate::from_gbps(100);
pub(super) const MSS: u64 = 4_086;

pub(super) fn of(id: u32, src: u32, dst: u32, size: u64) -> Flow {
    Flow { segments: Segments::Uniform(MSS as u16), ..flow(id, src, dst, size, Time::ZERO) }
}

/// Links of 100 Gb/s and a microsecond with packets of the authors' simulator.
pub(super) fn trial<'a>(spec: &str, flows: Vec<Flow>) -> Trial<'a> {
    let mut trial = Trial::new(&ENTRY, fabric(spec, RATE, Span::from_us(1)), flows);
    trial.framing = FRAMING;
    trial.options.drain = Span::from_ms(1);
    trial
}

/// When each flow's sender knew that it was complete, in picoseconds, increasing.
pub(super) fn acknowledged(outcome: &Outcome) -> Vec<u64> {
    let at = |flow: &incast_transport::FlowRecord| flow.acknowledged.expect("acknowledged").0;
    let mut all: Vec<u64> = outcome.flows.iter().map(at).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_lone_flow_takes_the_sum_of_its_times() {
    for (spec, size, taken) in [
        ("leaf-spine:8x8x8", MSS, 9_348_480),
        ("leaf-spine:8x8x8", 2_000_000, 171_525_280),
        ("fat-tree:4", 2_000_000, 176_199_520),
    ] {
        let outcome = trial(spec, vec![of(0, 0, 15, size)]).run();
        assert_eq!(acknowledged(&outcome), [taken], "{spec}, {size} B");
        assert_eq!((outcome.trims(), outcome.retransmits()), (0, 0));
        // The first, one for each four packets, the last.
        let packets = size.div_ceil(MSS) as u32;
        let acks = if packets == 1 { 1 } else { 1 + (packets - 2) / 4 + 1 };
        assert_eq!(outcome.flows[0].control_packets, acks);
    }
}

#[test]
fn two_senders_keep_one_link_busy() {
    let both = |packets: u64| vec![of(0, 0, 63, packets * MSS), of(1, 1, 63, packets * MSS)];
    let outcome = trial("leaf-spine:8x8x8", both(20)).run();
    assert_eq!(outcome.trims(), 0);
    assert_eq!(acknowledged(&outcome), [21_964_480, 22_296_480]);
    // Exactly the first window of both: what is cut is there again before the link is idle.
    let outcome = trial("leaf-spine:8x8x8", both(42)).run();
    let trims = outcome.trims() as u64;
    assert!(trims > 0 && outcome.retransmits() as u64 == trims);
    let end = 3_996_000 + 84 * 332_000 + trims * 5_120 + 5_020_480;
    assert_eq!(acknowledged(&outcome)[1], end, "{trims} trims");
}

#[test]
fn an_incast_of_sixteen_takes_what_its_bytes_take() {
    let flows = (0..16).map(|id| of(id, id, 63, 2_000_000)).collect();
    let outcome = trial("leaf-spine:8x8x8", flows).run();
    let last = *acknowledged(&outcome).last().expect("sixteen flows");
    assert!((2_609_160_000..2_700_000_000).contains(&last), "{last}");
    // Without a timeout what is sent again is what was cut.
    assert_eq!(outcome.retransmits(), outcome.trims());
}

#[test]
fn every_choice_of_paths_fills_a_permutation() {
    for choice in ["oblivious", "bitmap", "reps", "mixed"] {
        let flows = (0..16).map(|id| of(id, id, (id + 4) % 16, 1_000_000)).collect();
        let outcome = trial("leaf-spine:4x4x4", flows).set("path_choice", choice).run();
        let last = *acknowledged(&outcome).last().expect("sixteen flows");
        // Alone 245 packets take 90 us.
        assert!(last < 180_000_000, "{choice}: {last}");
        assert_eq!(outcome.retransmits(), outcome.trims(), "{choice}");
    }
}

#[test]
fn every_flow_completes_in_an_impaired_network() {
    for seed in 0..40 {
        let fabric = fabric_site(4, Rate::from_gbps(10), Span::from_us(10 + 90 * (seed % 2)));
        let choice = ["oblivious", "bitmap", "reps", "mixed"][seed as usize % 4];
        let trimming = if seed % 3 == 0 { "false" } else { "true" };
        let sleek = if seed % 6 == 0 { "true" } else { "false" };
        let mode = ["nscc", "rccc", "nscc_rccc"][seed as usize / 2 % 3];
        let keys =
            [("path_choice", choice), ("trimming", trimming), ("mode", mode), ("sleek", sleek)];
        let plan = configured(&ENTRY, &keys, &fabric);
        let level = 0.01 * (1 + seed % 5) as f64;
        let some =
            Probabilities { trim: 5.0 * level, ..Probabilities::each(level, fabric.base_rtt * 4) };
        Network::of(&*plan, &fabric, some, seed).survives();
    }
}

#[test]
fn without_trimming_what_is_dropped_is_sent_again() {
    let flows = (0..8).map(|id| of(id, id, 15, 400_000)).collect();
    let mut trial = trial("leaf-spine:4x4x4", flows).set("trimming", "false");
    trial.buffer = Limit::Packets(200);
    let outcome = trial.delivers();
    assert!(outcome.drops() > 0 && outcome.trims() == 0);
}

#[test]
fn sleek_does_not_wait_for_a_timeout() {
    let last = |sleek: &str| {
        let flows = (0..8).map(|id| of(id, id, 15, 400_000)).collect();
        let mut trial =
            trial("leaf-spine:4x4x4", flows).set("trimming", "false").set("sleek", sleek);
        trial.buffer = Limit::Packets(200);
        let outcome = trial.delivers();
        assert!(outcome.drops() > 0);
        let last = *acknowledged(&outcome).last().expect("eight flows");
        (last, outcome.retransmits(), outcome.drops())
    };
    let (without, with) = (last("false"), last("true"));
    // 8 x 400 kB take 263 us of the last link.
    assert!(with.0 < 300_000_000 && with.0 > 263_000_000, "{with:?}");
    assert!(without.0 > 400_000_000, "{without:?}");
    // Nothing is sent twice for nothing.
    assert_eq!(with.1, with.2);
}

/// A receiver, packet by packet.
struct Bench {
    driver: Driver,
    now: Time,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            driver: Driver::of(&ENTRY, &[], &fabric_site(2, RATE, Span::from_us(10)), 1),
            now: Time::ZERO,
        }
    }

    /// What leaves when a packet arrives.
    fn arrive(&mut self, seq: u32, flags: u8, change: impl Fn(&mut Packet)) -> Vec<Header> {
        self.now += Span::from_us(1);
        let mut packet = incast_testkit::data(super::ID, seq, flags);
        (packet.src, packet.dst, packet.payload) =
            (incast_transport::HostId(0), incast_transport::HostId(1), 4_086);
        packet.mark = Ecn::Ect0 as u8;
        change(&mut packet);
        self.driver.receive(self.now, packet);
        self.driver.drain(self.now).into_iter().map(|packet| packet.header).collect()
    }

    fn plain(&mut self, seq: u32) -> Vec<Header> {
        self.arrive(seq, 0, |_| {})
    }
}

fn ack(seq: u32, cumulative: u32, flags: u8) -> Header {
    Header::Ack { seq, cumulative, number: 0, flags }
}

#[test]
fn acks_are_sent_for_the_first_packet_marks_requests_copies_and_four_packets() {
    let mut b = Bench::new();
    assert_eq!(b.plain(0), [ack(0, 1, 0)]);
    assert_eq!([b.plain(1), b.plain(2), b.plain(3)].concat(), []);
    assert_eq!(b.plain(4), [ack(4, 5, 0)]);
    assert_eq!(b.plain(4), [ack(4, 5, 0)]);
    let marked = b.arrive(5, 0, |packet| packet.mark = Ecn::Ce as u8);
    assert_eq!(marked, [ack(5, 6, data_flag::UNSCHEDULED)]);
    // A request beyond a gap is answered, and again when the gap closes.
    assert_eq!(b.arrive(8, data_flag::REQUEST, |_| {}), [ack(8, 6, 0)]);
    assert_eq!(b.plain(6), []);
    assert_eq!(
        b.arrive(7, 0, |packet| packet.flags = flag::RETRANSMIT),
        [ack(7, 9, data_flag::TAGGED)]
    );
    // A header alone is asked for, of a known packet acknowledged.
    let header = |packet: &mut Packet| (packet.payload, packet.flags) = (0, flag::TRIMMED);
    assert_eq!(
        b.arrive(9, 0, header),
        [Header::Nack { seq: 9, cumulative: 9, number: 0, flags: data_flag::BURST_END }]
    );
    // One that was cut off before the last switch.
    assert_eq!(
        b.arrive(9, data_flag::BURST_END, header),
        [Header::Nack { seq: 9, cumulative: 9, number: 0, flags: 0 }]
    );
    assert_eq!(b.arrive(3, 0, header), [ack(3, 9, 0)]);
    // The last one.
    assert_eq!(b.arrive(9, data_flag::LAST, |_| {}), [ack(9, 10, data_flag::LAST)]);
    assert_eq!(b.driver.host.open_flows(), 0);
    assert_eq!(b.plain(2), [ack(2, 3, data_flag::LAST)]);
}

#[test]
fn a_silent_network_repeats_the_oldest_packet_and_asks_once_a_round_trip() {
    let fabric = fabric_site(2, RATE, Span::from_us(10));
    let mut driver = Driver::of(&ENTRY, &[("rto", "100us")], &fabric, 0);
    // More than a window.
    driver.open(Time::ZERO, &flow(0, 0, 1, 1_000_000, Time::ZERO));
    let first = driver.drain(Time::ZERO);
    assert!(first.len() > 50 && first.iter().all(|packet| packet.is_data()));
    let requests = |packets: &[Packet]| {
        let flags = packets.iter().map(|packet| match packet.header {
            Header::Data { flags, .. } => flags & data_flag::REQUEST != 0,
            _ => false,
        });
        flags.filter(|asks| *asks).count()
    };
    assert_eq!(requests(&first), 1, "the one that fills the window");
    // All have been sent at once, so all expire at once: one request for an answer, and all again.
    let again = driver.run(Time::ZERO + Span::from_us(100));
    let probes = again.iter().filter(|(_, packet)| !packet.is_data()).count();
    assert!(probes <= 1);
    assert!(again.iter().filter(|(_, packet)| packet.is_data()).all(|(at, packet)| {
        *at == Time::ZERO + Span::from_us(100) && packet.has(flag::RETRANSMIT)
    }));
    assert_eq!(
        again.iter().find(|(_, packet)| packet.is_data()).map(|(_, one)| one.header.data_key()),
        Some(0)
    );
}
