//! NSCC as its simulator has it: constants, quadrants, adaptation; settings.

use super::{ENTRY, Nscc, Params, constants, data_queue, plan, red, sizes};
use incast_endpoint::unordered::{Cut, Law, Lost, News};
use incast_testkit::{fabric_site, key_values};
use incast_transport::{Extension, FabricSite, Framing, Rate, Ready, Span, Time, Transport};
use proptest::prelude::*;
use std::sync::Arc;

const RATE: Rate = Rate::from_gbps(100);
/// Sizes of the authors' simulator.
pub(super) const FRAMING: Framing = Framing { mtu: 4_150, ..Framing::NONE };

/// Links of a microsecond, `hops` on the longest path.
fn site(hops: u32) -> Arc<FabricSite> {
    let rtt =
        Span::from_us(2 * hops as u64) + RATE.tx_time(incast_transport::Bytes(4_190)) * hops as u64;
    let site = FabricSite {
        framing: FRAMING,
        hops,
        base_rtt: rtt,
        ..(*fabric_site(2, RATE, rtt)).clone()
    };
    Arc::new(site)
}

pub(super) fn ready(hops: u32) -> Ready<Params> {
    Ready { params: Params::default(), derived: (), fabric: site(hops) }
}

#[test]
fn constants_of_two_and_three_tiers() {
    for (hops, rtt, packets, marks, target, most, fair, eta, rto) in [
        (4, 9_348_480, 29, (24_900, 99_600), 7_011_360, 175_284, 15_915.8, 477, 72_768_000),
        (6, 14_022_720, 43, (37_350, 145_250), 10_517_040, 262_926, 23_873.7, 716, 100_656_000),
    ] {
        let uec = ready(hops);
        let of = constants(&uec, RATE);
        assert_eq!((of.base_rtt, of.target, of.eta), (rtt, target, eta));
        assert!((of.fair - fair).abs() < 0.1, "{}", of.fair);
        assert_eq!(of.most(of.base_rtt), most);
        let sizes = sizes(&uec.fabric, RATE);
        assert_eq!(sizes.bdp_packets(1), packets);
        assert_eq!(data_queue(&uec.params, sizes), packets * 4_150);
        let red = red(&uec.params, sizes);
        assert_eq!((red.min.0, red.max.0), marks);
        assert_eq!(plan(&uec, RATE).timeout, Span(rto));
        assert_eq!(plan(&uec, RATE).max_payload, 4_086);
    }
    // A flow within a rack.
    assert_eq!(constants(&ready(4), RATE).most(4_674_240), 87_642);
}

/// A window in two tiers, and the time.
struct Bench {
    law: Nscc,
    now: Time,
}

fn cut(now: Time, bytes: u64, in_flight: u64, rtt: Option<Span>, controlled: bool) -> Cut {
    Cut { now, bytes, in_flight, rtt, controlled }
}

fn news(now: Time, bytes: u64, in_flight: u64, marked: bool, rtt: Option<Span>) -> News<'static> {
    let extension = &Extension::None;
    let (path, echo, informed, recovering) = (0, 0, now, false);
    News { now, bytes, in_flight, marked, rtt, path, echo, extension, informed, recovering }
}

fn lost(bytes: u64) -> Lost {
    Lost { now: Time::ZERO, bytes, in_flight: bytes }
}

const BASE: u64 = 9_348_480;
const TARGET: u64 = 7_011_360;

impl Bench {
    fn new() -> Bench {
        Bench { law: Nscc::new(Arc::new(constants(&ready(4), RATE))), now: Time(1_000_000_000) }
    }

    /// The first ACK, which begins a period and an adjustment, with nothing gained.
    fn begun() -> Bench {
        let mut bench = Bench::new();
        bench.ack(0, true, 0);
        bench
    }

    fn ack(&mut self, bytes: u64, marked: bool, delay: u64) -> u64 {
        self.now += Span(1_000);
        let rtt = Some(Span(BASE + delay));
        self.law.on_ack(&news(self.now, bytes, 100_000, marked, rtt));
        self.law.window()
    }

    fn shrink(&mut self, window: u64) {
        self.law.on_timeout(&lost(self.law.window() - window));
    }
}

#[test]
fn equal_gains_above_the_target() {
    let mut bench = Bench::begun();
    bench.shrink(116_856);
    for _ in 0..8 {
        assert_eq!(bench.ack(4_150, false, TARGET), 116_856);
    }
    // 8 x 4150 is not more than eight packets; with the ninth 9 x 4150 x 15915.8 / 116856.
    assert_eq!(bench.ack(4_150, false, TARGET), 116_856 + 5_087);
}

#[test]
fn four_quadrants() {
    // Neither: gains in proportion, at the next adjustment.
    let mut bench = Bench::begun();
    bench.shrink(100_000);
    let half = bench.ack(40_000, false, TARGET / 2);
    let gain = 4.0 * 4_086.0 * 0.77904 * 0.58428 * 40_000.0 / 2.0 / 100_000.0;
    assert!((half as f64 - 100_000.0 - gain).abs() < 2.0, "{half}, {gain}");
    // Marked below the target: nothing.
    let mut bench = Bench::begun();
    bench.shrink(100_000);
    assert_eq!(bench.ack(40_000, true, TARGET / 2), 100_000);
    // Marked above: nothing until the average is above, too.
    assert_eq!(bench.ack(4_150, true, 2 * TARGET), 100_000);
}

#[test]
fn marked_delay_of_two_targets_passes_the_target_at_the_56th_ack() {
    let mut bench = Bench::begun();
    bench.now += Span::from_ms(1);
    let most = bench.law.window();
    let shrinks = (1..=200).find(|_| bench.ack(4_150, true, 2 * TARGET) < most);
    assert_eq!(shrinks, Some(56));
    let mut bench = Bench::begun();
    assert!((1..=500).all(|_| bench.ack(4_150, true, TARGET) == most));
}

#[test]
fn a_decrease_keeps_six_tenths_at_two_targets_and_never_less_than_half() {
    for (delay, kept) in [(2 * TARGET, 0.6), (8 * TARGET, 0.5)] {
        let mut bench = Bench::begun();
        // The average gets there while decreases are too early.
        for _ in 0..2_000 {
            bench.now = Time(bench.now.0 - 1_000);
            bench.ack(0, true, delay);
        }
        bench.now += Span(BASE + 1_000);
        let before = bench.law.window();
        // The adjustment of a new base RTT comes on top.
        let after = bench.ack(0, true, delay) - 477;
        assert!((after as f64 / before as f64 - kept).abs() < 1e-3, "{after} of {before}");
        // Once per base RTT.
        assert_eq!(bench.ack(0, true, delay), after + 477);
    }
}

#[test]
fn a_window_without_a_queue_lets_it_grow_fast() {
    let mut bench = Bench::begun();
    bench.shrink(20_000);
    let mut arrived = 0;
    while arrived + 4_150 <= 20_000 {
        arrived += 4_150;
        assert_eq!(bench.ack(4_150, false, 999_999), 20_000);
    }
    // A quarter, scaled with the BDP.
    let gain = (0.25 * 0.77904 * 4_150.0) as u64;
    assert_eq!(bench.ack(4_150, false, 999_999), 20_000 + gain);
    assert_eq!(bench.ack(4_150, false, 999_999), 20_000 + 2 * gain);
    // A queue ends it.
    assert_eq!(bench.ack(4_150, false, 1_000_000), 20_000 + 2 * gain);
    assert!(!bench.law.observes_fast());
}

#[test]
fn a_cut_packet_is_taken_off_and_adapts_at_the_end_of_the_period() {
    let mut bench = Bench::begun();
    bench.ack(12_450, true, 0);
    bench.law.on_nack(&cut(bench.now, 4_150, 100_000, None, false));
    assert_eq!(bench.law.window(), 175_284 - 4_150);
    bench.now += Span(BASE + TARGET);
    // Little has arrived in the period: the window is that, and marks of what is in flight say nothing.
    bench.law.on_nack(&cut(bench.now, 4_150, 100_000, None, false));
    assert_eq!(bench.law.window(), 12_450);
    for _ in 0..9 {
        assert_eq!(bench.ack(10_000, true, 9 * TARGET), 12_450);
    }
    assert!(bench.ack(10_000, false, 0) > 12_450, "an unmarked ACK counts");
    // An eighth of the largest window is enough not to adapt.
    let mut bench = Bench::begun();
    bench.ack(21_911, true, 0);
    bench.now += Span(BASE + TARGET);
    bench.law.on_nack(&cut(bench.now, 4_150, 100_000, None, false));
    assert_eq!(bench.law.window(), 175_284 - 4_150);
}

proptest! {
    /// Whatever is heard, a window is at least a packet, and at most its largest once the base RTT is known.
    #[test]
    fn a_window_keeps_its_bounds(
        events in prop::collection::vec((0..4u8, any::<u64>(), any::<bool>(), any::<u64>()), 1..200),
    ) {
        let mut bench = Bench::new();
        for (what, bytes, marked, time) in events {
            bench.now += Span(time % 30_000_000);
            let now = bench.now;
            let rtt = (time % 3 > 0).then_some(Span(time % 100_000_000));
            match what {
                0 => bench.law.on_nack(&cut(now, bytes % 4_150, bytes, rtt, bytes % 3 == 0)),
                1 => bench.law.on_timeout(&lost(bytes)),
                2 => bench.law.on_ack(&news(now, bytes, bytes, marked, rtt)),
                _ => {
                    let bytes = bytes % 17_000;
                    bench.law.on_ack(&news(now, bytes, bytes, marked, rtt));
                }
            }
            prop_assert!((4_150..=175_284).contains(&bench.law.window()), "{}", bench.law.window());
        }
    }
}

#[test]
fn acks_that_come_once_a_window_are_told() {
    for (gbps, warned) in [(10, true), (25, false), (100, false)] {
        let site = fabric_site(4, Rate::from_gbps(gbps), Span::from_us(10));
        let plan = incast_testkit::configured(&ENTRY, &[], &site);
        assert_eq!(plan.warnings().len() as u32, warned as u32, "{gbps} Gb/s");
    }
}

#[test]
fn wrong_settings_are_refused() {
    let set = |key: &str, value: &str| {
        ENTRY.configure(&key_values(&[(key, value)]), site(4)).err().map(|error| error.problem())
    };
    assert!(set("mode", "eqds").unwrap().contains("expected one of nscc"));
    assert_eq!(set("mode", "nscc_rccc"), None);
    assert!(set("entropies", "48").unwrap().contains("a power of two"));
    assert!(set("entropies", "0").unwrap().contains("a power of two"));
    assert!(set("data_queue", "8299B").unwrap().contains("two full packets"));
    assert!(set("mark_min", "1MB").unwrap().contains("mark_max"));
    assert_eq!(set("path_choice", "reps"), None);
}
