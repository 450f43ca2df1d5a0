//! The congestion control by direct calls.

use super::*;
use incast_endpoint::sender::{Ack, Control, Progress};
use incast_testkit::{fabric_site, key_values, plain_ack, progress};
use incast_transport::telemetry::{Gauge, empty_stack};
use incast_transport::{Extension, Rate, Span, Time, Transport};

const RATE: Rate = Rate::from_gbps(10);
const RTT: Span = Span::from_us(16);
/// What 10 Gb/s carry in 16 us.
const BDP: f64 = 20_000.0;
/// (1 - 0.95) / 100 of it.
const STEP: f64 = 10.0;

pub(crate) fn rates() -> Arc<[Rate]> {
    Arc::new([RATE, Rate::from_gbps(100)])
}

pub(crate) fn site(rates: Arc<[Rate]>, hops: u32) -> Arc<FabricSite> {
    let max_rate = *rates.last().unwrap();
    Arc::new(FabricSite { max_rate, rates, hops, ..(*fabric_site(2, RATE, RTT)).clone() })
}

const WINDOWS: Windows = Windows {
    capped: true,
    target: 0.95,
    flows: 100,
    additive_rate: None,
    min_rate: Rate::from_mbps(100),
    base_rtt: None,
};

fn hpcc(max_stage: u32) -> Hpcc {
    let fabric = site(rates(), 4);
    let terms = Terms::new(&WINDOWS, RATE, &fabric);
    Hpcc::new(Arc::new(Rule { terms, max_stage, reserved: 0, paths: 1 }))
}

/// A network of ports as records describe it.
pub(crate) struct Path {
    gauges: Vec<Gauge>,
    pub(crate) now: Time,
    sent: Vec<u64>,
}

impl Path {
    pub(crate) fn new(gbps: &[u64]) -> Path {
        let gauge = |gbps: &u64| Gauge::new(&rates(), Rate::from_gbps(*gbps), true);
        let gauges: Vec<Gauge> = gbps.iter().map(gauge).collect();
        Path { sent: vec![0; gauges.len()], gauges, now: Time(1_000_000) }
    }

    /// `span` later each port has sent this share of what it could and holds these bytes.
    pub(crate) fn later(&mut self, span: Span, state: &[(f64, u64)]) -> Extension {
        self.now += span;
        let mut stack = empty_stack(0);
        let Extension::Int { count, records } = &mut stack else { unreachable!() };
        for (hop, (share, queued)) in state.iter().enumerate() {
            let rate = if self.gauges[hop].record(Time(0), 0, 0).rate_code == 1 { 10 } else { 100 };
            self.sent[hop] += (rate as f64 * share * span.0 as f64 / 8e3) as u64;
            records[hop] = self.gauges[hop].record(self.now, self.sent[hop], *queued);
            *count += 1;
        }
        stack
    }
}

/// Acknowledges everything below `acknowledged`, with everything below `sent` already sent.
fn acknowledge(control: &mut Hpcc, stack: &Extension, acknowledged: u64, sent: u64) {
    let progress = Progress { acknowledged, sent, ..progress(Time(0), None) };
    control.on_ack(&plain_ack(stack), &progress);
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{a}, not {b}");
}

#[test]
fn a_flow_starts_with_one_rtt_at_line_rate() {
    let control = hpcc(5);
    assert_eq!(control.state(), (BDP, BDP, 1.0));
    assert_eq!((control.window(), control.pacing()), (BDP as u64, None));
}

#[test]
fn the_first_ack_is_only_stored() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 90_000)]), 1_000, 20_000);
    assert_eq!(control.state(), (BDP, BDP, 1.0));
    assert!(!control.decided());
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 90_000)]), 2_000, 21_000);
    assert!(control.decided() && control.state().0 < BDP);
}

#[test]
fn alone_on_a_busy_link_it_leaves_five_percent() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 1_000, 20_000);
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 21_000, 40_000);
    let (window, reference, utilisation) = control.state();
    near(utilisation, 1.0);
    near(window, 0.95 * BDP + STEP);
    assert_eq!(window, reference);
    // R = W/T.
    near(control.pacing().unwrap().0 as f64, 0.9505 * RATE.0 as f64);
}

#[test]
fn two_at_line_rate_halve() {
    // The queue holds an RTT of bytes: u = (q + B T) / (B T) = 2.
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 20_000)]), 1_000, 20_000);
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 20_000)]), 21_000, 40_000);
    near(control.state().2, 2.0);
    near(control.state().0, 0.95 * BDP / 2.0 + STEP);
}

#[test]
fn the_busiest_link_counts_and_only_its_lesser_queue() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[100, 10, 100]));
    acknowledge(&mut control, &path.later(RTT, &[(0.2, 0), (1.0, 10_000), (0.2, 0)]), 1, 20_000);
    // 100 Gb/s carry 200 KB per RTT; half of it waits there, twice as much a moment later.
    acknowledge(
        &mut control,
        &path.later(RTT, &[(0.2, 100_000), (0.5, 4_000), (0.2, 0)]),
        21_000,
        40_000,
    );
    near(control.state().2, 0.5 + 0.2);
    acknowledge(
        &mut control,
        &path.later(RTT, &[(0.4, 200_000), (0.5, 0), (0.2, 0)]),
        41_000,
        60_000,
    );
    near(control.state().2, 0.4 + 0.5);
}

#[test]
fn a_sample_over_part_of_an_rtt_has_that_weight() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 1, 20_000);
    acknowledge(&mut control, &path.later(RTT / 4, &[(0.4, 0)]), 2, 20_000);
    near(control.state().2, 0.75 + 0.25 * 0.4);
    // Longer than an RTT counts for all of it.
    acknowledge(&mut control, &path.later(RTT * 3, &[(0.5, 0)]), 3, 20_000);
    near(control.state().2, 0.5);
}

#[test]
fn the_reference_changes_once_per_rtt() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 1_000, 20_000);
    let mut changes = 0;
    for packet in 0..60u64 {
        let before = control.state();
        let stack = path.later(RTT / 14, &[(1.0, 20_000)]);
        // Strictly more than what was sent when it changed last.
        acknowledge(&mut control, &stack, 1_000 + packet * 1_000, 20_000 + packet * 1_000);
        let (window, reference, _) = control.state();
        if reference != before.1 {
            assert_eq!(window, reference);
            changes += 1;
        }
        assert!((200.0..=BDP).contains(&window));
    }
    // The first that acknowledges more than 20 000 is packet 20; from then on every 21st.
    assert_eq!(changes, 2);
}

#[test]
fn five_additive_steps_and_then_a_multiplication() {
    for (max_stage, additive) in [(5, 5), (0, 0), (2, 2)] {
        let (mut control, mut path) = (hpcc(max_stage), Path::new(&[10]));
        acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 1, 20_000);
        let mut sent = 20_000;
        // Down to a quarter first.
        acknowledge(&mut control, &path.later(RTT, &[(1.0, 60_000)]), sent + 1, sent + 20_000);
        acknowledge(&mut control, &path.later(RTT, &[(1.0, 60_000)]), sent + 20_001, sent + 40_000);
        sent += 40_000;
        for round in 0..3 * (additive + 1) {
            let (before, reference, _) = control.state();
            acknowledge(&mut control, &path.later(RTT, &[(0.9, 0)]), sent + 1, sent + 20_000);
            sent += 20_000;
            let after = control.state().0;
            if round % (additive + 1) < additive {
                near(after, before + STEP);
                assert_eq!(control.stage(), round % (additive + 1) + 1);
            } else {
                near(after, reference / (0.9 / 0.95) + STEP);
                assert_eq!(control.stage(), 0);
            }
        }
    }
}

#[test]
fn the_window_stays_within_its_bounds() {
    let (mut control, mut path) = (hpcc(0), Path::new(&[10]));
    let mut sent = 20_000;
    acknowledge(&mut control, &path.later(RTT, &[(1.0, 0)]), 1, sent);
    for (share, queued, bound) in [(1.0, 1_000_000, 200.0), (0.001, 0, BDP)] {
        for _ in 0..40 {
            acknowledge(
                &mut control,
                &path.later(RTT, &[(share, queued)]),
                sent + 1,
                sent + 20_000,
            );
            sent += 20_000;
            assert!((200.0..=BDP).contains(&control.state().0));
        }
        assert_eq!(control.state().0, bound);
    }
    assert_eq!(control.pacing(), None);
}

#[test]
fn another_path_is_only_remembered() {
    let mut control = hpcc(5);
    let (mut three, mut one) = (Path::new(&[10, 100, 10]), Path::new(&[10]));
    acknowledge(&mut control, &three.later(RTT, &[(1.0, 0); 3]), 1, 20_000);
    acknowledge(&mut control, &one.later(RTT, &[(1.0, 90_000)]), 21_000, 40_000);
    assert!(!control.decided() && control.state().0 == BDP);
    acknowledge(&mut control, &one.later(RTT, &[(1.0, 90_000)]), 41_000, 60_000);
    assert!(control.decided() && control.state().0 < BDP);
}

#[test]
fn after_a_long_pause_an_ack_is_only_stored() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    let at = |path: &Path| Progress { acknowledged: 21_000, ..progress(path.now, None) };
    let stacks = [RTT, Span::from_ms(17), RTT].map(|span| {
        let stack = path.later(span, &[(0.1, 90_000)]);
        (stack, at(&path))
    });
    let mut decided = vec![];
    for (stack, progress) in &stacks {
        control.on_ack(&plain_ack(stack), progress);
        decided.push(control.decided());
    }
    // 17 ms look like 0.2 ms in 24 bits.
    assert_eq!(decided, [false, false, true]);
}

#[test]
fn an_ack_without_new_telemetry_changes_nothing() {
    let (mut control, mut path) = (hpcc(5), Path::new(&[10]));
    let first = path.later(RTT, &[(1.0, 0)]);
    acknowledge(&mut control, &first, 1, 20_000);
    for stack in [first, Extension::None, empty_stack(0), empty_stack(5)] {
        acknowledge(&mut control, &stack, 21_000, 40_000);
        assert!(!control.decided() && control.state() == (BDP, BDP, 1.0));
    }
    // A request to go back carries records like any ACK (HandleAckHp).
    let stack = path.later(RTT, &[(1.0, 20_000)]);
    let ack = Ack { nack: true, bytes: 0, ..plain_ack(&stack) };
    control.on_ack(&ack, &Progress { acknowledged: 1, ..progress(Time(0), None) });
    assert!(control.decided());
}

#[test]
fn steps_and_least_rate_follow_their_parameters() {
    // HPCC §5.1: 80 B at 100 Gb/s and 13 us.
    let fast = Rate::from_gbps(100);
    let base = Windows { base_rtt: Some(Span::from_us(13)), ..WINDOWS };
    let terms = |windows: Windows| Terms::new(&windows, fast, &site(rates(), 4));
    let forty = Some(Rate::from_mbps(40));
    let (plain, rate) = (terms(base), terms(Windows { additive_rate: forty, ..base }));
    near(plain.additive, 81.25);
    near(plain.most, 162_500.0);
    near(plain.least, 162.5);
    // Its simulator: 10 Mb/s for each 25 Gb/s.
    near(rate.additive, 65.0);
    near(terms(Windows { target: 0.9, flows: 50, ..base }).additive, 325.0);
    // The bound is the simulator's, not the listing's.
    let most = |cap: &str| {
        let windows = Params::read(&key_values(&[("cap_window", cap)])).unwrap().windows();
        terms(Windows { base_rtt: base.base_rtt, ..windows }).bounded(1e6)
    };
    assert_eq!([most("true"), most("false")], [162_500.0, 1e6]);
}

// -- invalid input --------------------------------------------------------------

fn configure(settings: &[(&str, &str)], fabric: Arc<FabricSite>) -> Result<(), Fault> {
    let settings = key_values(settings);
    ENTRY.configure(&settings, fabric).map(|_| ())
}

#[test]
fn a_path_deeper_than_the_stack_is_refused() {
    for (hops, settings, expected) in [
        (4, vec![], None),
        (9, vec![], None),
        (10, vec![], Some("int_hops = `auto`: the longest path has 9 switches")),
        (6, vec![("int_hops", "5")], None),
        (7, vec![("int_hops", "5")], Some("expected 6 to 8")),
        (10, vec![("int_hops", "8")], Some("room for 8")),
        (4, vec![("int_hops", "9")], Some("1 to 8")),
        (4, vec![("int_hops", "0")], Some("1 to 8")),
    ] {
        let result = configure(&settings, site(rates(), hops)).map_err(|error| error.to_string());
        match expected {
            None => result.unwrap(),
            Some(part) => {
                let text = result.unwrap_err();
                assert!(text.contains(part) && text.contains("int_hops"), "{text}");
            }
        }
    }
}

#[test]
fn more_rates_than_records_can_tell_apart_are_refused() {
    let of = |count| (1..=count).map(Rate::from_gbps).collect::<Vec<_>>().into();
    configure(&[], site(of(15), 4)).unwrap();
    let text = configure(&[], site(of(16), 4)).unwrap_err().to_string();
    assert!(text.contains("16 different rates") && text.contains("at most 15"), "{text}");
}
