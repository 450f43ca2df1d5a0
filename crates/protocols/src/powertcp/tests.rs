//! Known results of the congestion control.

use super::*;
use crate::hpcc::tests::{Path, rates, site};
use incast_endpoint::sender::{Control, Loss, Progress};
use incast_testkit::{key_values, plain_ack, progress};
use incast_transport::{Extension, Rate, Span, Transport};

/// What 10 Gb/s carry in 16 us.
const RTT: Span = Span::from_us(16);
const BDP: f64 = 20_000.0;

/// Without an additive step, so that windows are the round figures of the equations.
pub(crate) const RULE: Rule = Rule {
    base_rtt: RTT,
    most: BDP,
    least: 200.0,
    additive: 0.0,
    gain: 0.9,
    target: 1.0,
    floor: 0.5,
    average: Average::Window,
};

fn control(rule: Rule) -> PowerTcp {
    PowerTcp::new(Arc::new(rule), Reader::new(rates()))
}

fn acknowledge(control: &mut PowerTcp, path: &Path, stack: &Extension, acked: u64, sent: u64) {
    let progress = Progress { acknowledged: acked, sent, ..progress(path.now, None) };
    control.on_ack(&plain_ack(stack), &progress);
}

/// Window, reference and power after an interval of `span` in which the first hop sent this share of
/// what it could and its queue, in bytes, went from one value to another.
fn after(rule: Rule, span: Span, share: f64, before: u64, behind: u64) -> (f64, f64, f64) {
    let (mut control, mut path) = (control(rule), Path::new(&[10]));
    let first = path.later(RTT, &[(1.0, before)]);
    acknowledge(&mut control, &path, &first, 1, 20_000);
    assert!(!control.decided(), "the first ACK has no predecessor");
    let second = path.later(span, &[(share, behind)]);
    acknowledge(&mut control, &path, &second, 2, 20_000);
    assert!(control.decided());
    control.state()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{a}, not {b}");
}

#[test]
fn a_flow_starts_with_one_rtt_at_line_rate() {
    let control = control(RULE);
    assert_eq!(control.state(), (BDP, BDP, 1.0));
    assert_eq!((control.window(), control.pacing()), (BDP as u64, None));
}

#[test]
fn power_is_the_rate_of_arrivals_times_queue_and_pipe() {
    // Arrivals x, queue y: x (1 + y).
    for (share, before, behind, power) in [
        (1.0, 0, 0, 1.0),
        (1.0, 0, 20_000, 2.0 * 2.0),
        (1.0, 20_000, 20_000, 2.0),
        (1.0, 40_000, 20_000, 0.5 * 2.0),
        (1.0, 20_000, 10_000, 0.5 * 1.5),
        (0.5, 0, 0, 0.5),
        (0.0, 0, 0, 0.5),
    ] {
        near(after(RULE, RTT, share, before, behind).2, power);
    }
    let free = Rule { floor: 0.0, ..RULE };
    near(after(free, RTT, 0.0, 0, 0).2, 0.0);
    near(after(free, RTT, 0.25, 0, 0).2, 0.25);
}

#[test]
fn two_at_line_rate_are_told_by_the_first_acks() {
    // A hundredth of an RTT after both have begun the queue is a hundredth of a BDP.
    let span = RTT / 100;
    let (window, _, power) = after(RULE, span, 1.0, 0, 200);
    near(power, 1.0 + 0.01 * (2.0 * 1.01 - 1.0));
    near(window, BDP * (0.9 / power + 0.1));
    // HPCC's utilisation is still 1 then: it takes the smaller queue and what was sent.
    // An RTT later a BDP waits: power 4, a quarter of the window, before averaging.
    let (window, _, power) = after(RULE, RTT, 1.0, 0, 20_000);
    near(power, 4.0);
    near(window, BDP * (0.9 / 4.0 + 0.1));
}

#[test]
fn the_first_window_for_twice_the_power() {
    let (window, ..) = after(RULE, RTT, 1.0, 20_000, 20_000);
    near(window, 0.55 * BDP);
    // As in the simulator the reference stands for both: the same while they are equal.
    let code = Rule { average: Average::Reference, ..RULE };
    near(after(code, RTT, 1.0, 20_000, 20_000).0, 0.55 * BDP);
    // A target below 1 asks for less; a step adds its share.
    let aimed = Rule { target: 0.95, additive: 100.0, ..RULE };
    near(after(aimed, RTT, 1.0, 20_000, 20_000).0, (0.9 * 0.475 + 0.1) * BDP + 90.0);
}

#[test]
fn a_window_comes_closer_by_the_same_share_with_each_ack() {
    let (mut control, mut path) = (control(RULE), Path::new(&[10]));
    let mut off = BDP / 2.0;
    let first = path.later(RTT, &[(1.0, 20_000)]);
    acknowledge(&mut control, &path, &first, 1, 20_000);
    for _ in 0..4 {
        let stack = path.later(RTT, &[(1.0, 20_000)]);
        acknowledge(&mut control, &path, &stack, 2, 20_000);
        let left = control.state().0 - BDP / 2.0;
        near(left / off, 0.1);
        off = left;
    }
    // With the reference for both it stays where the first one put it.
    let code = Rule { average: Average::Reference, ..RULE };
    let mut control = self::control(code);
    acknowledge(&mut control, &path, &first, 1, 20_000);
    for _ in 0..4 {
        let stack = path.later(RTT, &[(1.0, 20_000)]);
        acknowledge(&mut control, &path, &stack, 2, 20_000);
        near(control.state().0, 0.55 * BDP);
    }
}

#[test]
fn free_capacity_doubles_a_window_in_an_rtt() {
    let rule = Rule { most: 10.0 * BDP, ..RULE };
    let (mut control, mut path) = (control(rule), Path::new(&[10]));
    for round in 0..3 {
        let stack = path.later(RTT, &[(0.5, 0)]);
        acknowledge(&mut control, &path, &stack, 1 + round, 20_000);
    }
    // 2 W with nine tenths, twice: 1.99.
    near(control.state().0, 10.0 * BDP);
    let mut flow = Power::new(&rule);
    flow.smooth(&rule, 4.0, RTT);
    (0..9).for_each(|_| flow.follow(&rule));
    flow.renew();
    let before = flow.state().0;
    flow.smooth(&rule, 0.5, RTT);
    flow.follow(&rule);
    flow.follow(&rule);
    near(flow.state().0 / before, 1.99);
}

#[test]
fn at_power_one_a_window_grows_by_its_step() {
    let rule = Rule { additive: 50.0, ..RULE };
    let mut flow = Power::new(&rule);
    flow.lose(&rule, Loss::Timeout);
    let mut before = flow.state().0;
    near(before, BDP / 2.0);
    for _ in 0..5 {
        flow.smooth(&rule, 1.0, RTT * 3);
        flow.follow(&rule);
        flow.renew();
        near(flow.state().0 - before, 45.0);
        before = flow.state().0;
    }
    flow.lose(&rule, Loss::Fast);
    assert_eq!(flow.state().0, before);
    (0..20).for_each(|_| flow.lose(&rule, Loss::Timeout));
    assert_eq!(flow.state().0, 200.0);
}

#[test]
fn the_worst_hop_counts() {
    let (mut control, mut path) = (control(RULE), Path::new(&[100, 10, 100]));
    let stack = path.later(RTT, &[(0.2, 0), (1.0, 0), (0.2, 0)]);
    acknowledge(&mut control, &path, &stack, 1, 20_000);
    let stack = path.later(RTT, &[(0.2, 0), (1.0, 10_000), (1.0, 0)]);
    acknowledge(&mut control, &path, &stack, 2, 20_000);
    near(control.state().2, 1.5 * 1.5);
    // 100 Gb/s carry 200 KB per RTT.
    let stack = path.later(RTT, &[(1.0, 200_000), (1.0, 10_000), (1.0, 0)]);
    acknowledge(&mut control, &path, &stack, 3, 20_000);
    near(control.state().2, 2.0 * 2.0);
}

#[test]
fn the_reference_changes_once_per_rtt() {
    let rule = Rule { additive: 100.0, ..RULE };
    let (mut control, mut path) = (control(rule), Path::new(&[10]));
    let stack = path.later(RTT, &[(1.0, 0)]);
    acknowledge(&mut control, &path, &stack, 1_000, 20_000);
    let mut changes = 0;
    for packet in 0..60u64 {
        let before = control.state().1;
        let stack = path.later(RTT / 14, &[(1.0, 20_000)]);
        acknowledge(&mut control, &path, &stack, 1_000 + packet * 1_000, 20_000 + packet * 1_000);
        let (window, reference, power) = control.state();
        if reference != before {
            assert_eq!(window, reference);
            changes += 1;
        }
        assert!((200.0..=BDP).contains(&window) && power > 0.0);
    }
    // The first that acknowledges more than 20 000 is packet 20; from then on every 21st.
    assert_eq!(changes, 2);
}

#[test]
fn another_path_or_nothing_new_is_only_remembered() {
    let mut control = control(RULE);
    let (mut three, mut one) = (Path::new(&[10, 100, 10]), Path::new(&[10]));
    let first = three.later(RTT, &[(1.0, 0); 3]);
    acknowledge(&mut control, &three, &first, 1, 20_000);
    let other = one.later(RTT, &[(1.0, 90_000)]);
    for stack in [&other, &other, &Extension::None] {
        acknowledge(&mut control, &one, stack, 2, 20_000);
        assert!(!control.decided() && control.state().0 == BDP);
    }
    let next = one.later(RTT, &[(1.0, 90_000)]);
    acknowledge(&mut control, &one, &next, 3, 20_000);
    assert!(control.decided() && control.state().0 < BDP);
}

// -- parameters ---------------------------------------------------------------------------------

#[test]
fn settings_follow_link_and_fabric() {
    let site = site(rates(), 4);
    let fast = Rate::from_gbps(100);
    let rule = |params: &Params| params.rule(fast, &site, 26);
    let paper = rule(&Params { base_rtt: Some(RTT), ..Params::default() });
    assert_eq!((paper.most, paper.additive, paper.least), (200_000.0, 20_000.0, 200.0));
    assert_eq!((paper.target, paper.gain), (1.0, 0.9));
    let base = rule(&Params::default()).base_rtt;
    assert!(base > site.base_rtt && base < site.base_rtt + Span::from_ns(200), "{base}");
    // 150 Mb/s of 100 Gb/s.
    let set = params::SETS.iter().find(|set| set.name == "code").unwrap();
    let code = rule(&Params::read(&key_values(set.values)).unwrap());
    near(code.additive / code.most, 0.0015);
    assert_eq!((code.target, code.average), (0.95, Average::Reference));
}

#[test]
fn wrong_settings_are_refused() {
    for (key, value) in [
        ("gain", "0"),
        ("target_power", "1.1"),
        ("power_floor", "2"),
        ("average", "both"),
        ("flows", "0"),
        ("min_rate", "0bps"),
        ("int_hops", "2"),
        ("set", "theta"),
    ] {
        let error = ENTRY.configure(&key_values(&[(key, value)]), site(rates(), 4)).map(|_| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("{key} = `{value}`")), "{error}");
    }
}
