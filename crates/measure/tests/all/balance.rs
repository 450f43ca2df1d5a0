//! When arrivals and departures balance: known answers.

use crate::support::{Noise, flow, run_of};
use incast_measure::{Balance, BalancedWindow, FEWEST_ARRIVALS, Run, summarise};
use incast_transport::Parts;
use incast_units::Time;

/// One flow per microsecond; `fct` gives the completion time in microseconds from the number.
fn regular(count: u32, fct: impl Fn(u32) -> u64) -> Run {
    let one = |id: u32| {
        let parts = Parts { nic_own: fct(id) * 1_000_000, ..Parts::default() };
        flow(id, 1_000, id as u64 * 1_000_000, 1, parts)
    };
    run_of("x", (0..count).map(one).collect())
}

fn reached(run: &Run) -> BalancedWindow {
    match Balance::of(run) {
        Balance::Reached(window) => window,
        other => panic!("{other:?}"),
    }
}

/// Every flow takes 300 us, one arrives per microsecond: the number of open flows rises to 300 and
/// stays there from 300 us on; the borders lie 10 us apart.
#[test]
fn the_window_begins_when_the_first_flows_leave_and_ends_with_the_last_arrival() {
    let run = regular(1_001, |_| 300);
    let window = reached(&run);
    assert!((290..=310).contains(&(window.from.0 / 1_000_000)), "{window:?}");
    assert_eq!(window.to, Time(1_000_000_000));
    let summary = summarise(&run).balance.unwrap();
    assert!(summary.reached && summary.to_ns == 1e6);
    assert!(summary.arrivals.abs_diff(summary.departures) <= 10, "{summary:?}");
    assert!((690..=711).contains(&summary.arrivals), "{summary:?}");
}

#[test]
fn short_flows_are_in_balance_at_once() {
    // The first hundredth lacks what came before.
    assert_eq!(reached(&regular(1_001, |_| 2)).from, Time(10_000_000));
    assert_eq!(reached(&regular(101, |_| 0)).from, Time(0));
}

/// Completion times that grow with every flow: fewer leave than arrive, for as long as it lasts.
#[test]
fn an_overloaded_network_never_reaches_balance() {
    for growth in [10, 3, 1] {
        let run = regular(1_000, |id| 5 + id as u64 * growth / 10);
        assert_eq!(Balance::of(&run), Balance::Never, "{growth}");
        let summary = summarise(&run).balance.unwrap();
        assert!(!summary.reached && summary.from_ns >= 499_000.0);
        assert!(summary.departures * 10 < summary.arrivals * 10, "{summary:?}");
    }
}

/// Flows that outlast the arrivals, or most of them: nothing leaves before the last has come.
#[test]
fn flows_longer_than_the_run_leave_it_without_balance() {
    assert_eq!(Balance::of(&regular(1_000, |_| 5_000)), Balance::Never);
    assert_eq!(Balance::of(&regular(1_000, |_| 700)), Balance::Never);
    let mut run = regular(1_000, |_| 300);
    run.record.flows.iter_mut().for_each(|flow| (flow.completed, flow.parts) = (None, None));
    assert_eq!(Balance::of(&run), Balance::Never, "nothing completes");
}

#[test]
fn too_few_arrivals_and_patterns_have_no_window() {
    let few = FEWEST_ARRIVALS as u32 - 1;
    assert_eq!(Balance::of(&regular(few, |_| 10)), Balance::Unknown);
    assert_eq!(summarise(&regular(few, |_| 10)).balance, None);
    let mut pattern = regular(1_000, |_| 10);
    pattern.flows.iter_mut().for_each(|meta| meta.arrival = false);
    assert_eq!(Balance::of(&pattern), Balance::Unknown);
    let mut together = regular(1_000, |_| 10);
    for flow in &mut together.record.flows {
        flow.started = Some(Time(5));
        (flow.completed, flow.parts) = (None, None);
    }
    assert_eq!(Balance::of(&together), Balance::Unknown, "all at one instant");
}

/// Poisson arrivals at random, exponential stays of 200 us on average (M/M/inf): the level is that
/// of Little's law, and a window is found in every one of many runs that are long enough.
#[test]
fn random_arrivals_are_in_balance_after_a_few_mean_stays() {
    for seed in 0..40 {
        let mut noise = Noise(seed);
        let mut at = 0.0;
        let mut draw = |mean: f64| -(1.0 - noise.next()).ln() * mean;
        let flows = (0..8_000).map(|id| {
            at += draw(1e6);
            let parts = Parts { nic_own: draw(200e6) as u64, ..Parts::default() };
            flow(id, 1_000, at as u64, 1, parts)
        });
        let run = run_of("x", flows.collect());
        let window = reached(&run);
        let from = window.from.0 / 1_000_000;
        assert!((80..4_001).contains(&from), "seed {seed}: {from} us");
        let summary = summarise(&run).balance.unwrap();
        let off = summary.arrivals as f64 / summary.departures as f64 - 1.0;
        assert!(off.abs() < 0.03, "seed {seed}: {summary:?}");
    }
}

#[test]
fn only_flows_that_start_in_the_common_window_are_judged() {
    let (slow, fast) = (regular(1_001, |_| 300), regular(1_001, |_| 100));
    let common = Balance::common([&slow, &fast]);
    assert_eq!(common, Balance::of(&slow));
    let mut judged = fast.clone();
    common.judge(&mut judged);
    let from = reached(&slow).from;
    for (flow, meta) in judged.record.flows.iter().zip(&judged.flows) {
        assert_eq!(meta.warmup, flow.started.unwrap() < from);
    }
    assert_eq!(summarise(&judged).all.flows, summarise(&slow).balance.unwrap().arrivals);
    let never = regular(1_001, |_| 5_000);
    assert_eq!(Balance::common([&slow, &never]), Balance::Never);
    assert_eq!(Balance::common([]), Balance::Unknown);
    let mut second_half = never.clone();
    Balance::Never.judge(&mut second_half);
    assert_eq!(summarise(&second_half).all.flows, 501);
    // What does not arrive over time is judged in any case.
    let mut mixed = slow.clone();
    mixed.flows[0].arrival = false;
    Balance::of(&mixed).judge(&mut mixed);
    assert!(!mixed.flows[0].warmup && mixed.flows[1].warmup);
    let mut unknown = regular(20, |_| 10);
    unknown.flows[3].warmup = true;
    Balance::of(&unknown).judge(&mut unknown);
    assert_eq!(summarise(&unknown).all.flows, 20);
}
