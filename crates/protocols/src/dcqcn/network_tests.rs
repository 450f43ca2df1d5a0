//! Known results in whole networks, without PFC.

use super::*;
use incast_fabric::Fabric;
use incast_testkit::*;
use incast_transport::{Flow, Rate, Span, Time};

const RATE: Rate = Rate::from_gbps(10);
/// CCRP §2.2: 5 us per link.
const LINK: Span = Span::from_us(5);

fn dcqcn(fabric: Fabric, buffer: u64, flows: Vec<Flow>) -> Trial<'static> {
    let mut trial = Trial::new(&ENTRY, fabric, flows);
    trial.buffer = Limit::Bytes(buffer);
    trial
}

/// CCRP's network.
fn two_flows(set: &'static str, until: Span, second: Span) -> Outcome {
    let flows =
        vec![flow(0, 0, 2, FOREVER, Time::ZERO), flow(1, 1, 3, FOREVER, Time::ZERO + second)];
    let mut trial =
        dcqcn(equal_dumbbell(2, RATE, LINK), 1_000_000, flows).until(until, Span::from_ms(1));
    trial.settings = vec![("set", set)];
    trial.run()
}

#[test]
fn two_flows_fill_the_link_and_keep_the_queue_between_the_thresholds() {
    for set in ["paper", "group_40_100", "group_200_500", "steps_5_50"] {
        two_flows_share(set);
    }
}

fn two_flows_share(set: &'static str) {
    let run = two_flows(set, Span::from_ms(400), Span::ZERO);
    let (from, to) = (Span::from_ms(200), Span::from_ms(400));
    let used = run.utilisation(RATE, from, to);
    let mean = run.mean_queue(from, to) * 1_538.0;
    assert!(used > 0.97, "{set}: {used}");
    // CCRP Fig. 5(g): below 170 KB.
    assert!((5e3..170e3).contains(&mean), "{mean} B wait");
    let drops = |bins: &[incast_transport::Bin]| bins.iter().map(|bin| bin.drops).sum::<u32>();
    assert_eq!(drops(run.bins(Span::from_ms(1), to)), 0);
    // Fair over 200 ms, and at most one CNP per 50 us.
    let share = |of: usize| run.received(of, from, to) as f64;
    let difference = (share(0) - share(1)).abs() / (share(0) + share(1));
    assert!(difference < 0.1, "{difference}");
    for flow in &run.record.flows {
        assert!(flow.decisions > 50 && flow.decisions <= 400_000 / 50 + 1, "{}", flow.decisions);
    }
}

#[test]
fn information_is_half_an_rtt_old() {
    let run = two_flows("paper", Span::from_ms(20), Span::ZERO);
    for flow in &run.record.flows {
        let mean = Span(flow.decision_age / flow.decisions as u64);
        // From the port: two links forward, three back, and one packet time per link.
        let (least, most) = (Span::from_us(25), Span::from_us(33));
        assert!((least..most).contains(&mean), "{mean}");
    }
}

#[test]
fn a_joining_flow_gets_a_share() {
    let run = two_flows("paper", Span::from_ms(300), Span::from_ms(100));
    let sum = |of: usize| run.received(of, Span::from_ms(250), Span::from_ms(300)) as f64;
    let share = sum(1) / (sum(0) + sum(1));
    assert!((0.35..0.65).contains(&share), "{share}");
}

/// Twenty flows of 100 packets at line rate into 100 KB without PFC, under a transport that `made` sets up:
/// selective repeat sends again what was dropped, and less than going back does.
pub(crate) fn an_incast_repeats_what_is_missing(made: impl Fn(Vec<Flow>) -> Trial<'static>) {
    let run = |settings: &[(&'static str, &'static str)]| {
        let start = |id: u32| Time::ZERO + Span::from_us(id as u64);
        let flows = (0..20).map(|id| flow(id, id, 20, 146_000, start(id))).collect();
        let mut trial = made(flows);
        trial.options.log_deliveries = true;
        trial.settings = settings.to_vec();
        let run = trial.run();
        assert!(run.record.complete);
        assert!(run.record.flows.iter().all(|flow| flow.delivered == 146_000));
        (run.drops(), run.retransmits())
    };
    let (_, back) = run(&[]);
    let (drops, selective) = run(&[("recovery", "sack")]);
    println!("{back} by going back, {selective} of {drops} dropped");
    assert!(drops > 0 && selective >= drops && selective < back);
    // IRN SIGCOMM 2018: what is sent again is what was lost; timeouts for the end of a flow are rare.
    assert!(f64::from(selective) < 1.1 * f64::from(drops), "{selective} of {drops}");
}

#[test]
fn an_incast_completes_through_losses_by_going_back_or_by_what_is_missing() {
    an_incast_repeats_what_is_missing(|flows| dcqcn(star(21, RATE, LINK), 100_000, flows));
}

#[test]
fn every_flow_completes_with_impaired_hosts() {
    let settings = [
        vec![],
        vec![("variant", "mlx")],
        vec![("window_limit", "true"), ("mark_min", "0B")],
        vec![("recovery", "sack")],
    ];
    for (seed, settings) in settings.iter().enumerate() {
        let mut trial = dcqcn(star(6, RATE, LINK), 300_000, ladder(at(3))).impaired(seed as u64);
        trial.settings = settings.clone();
        trial.delivers();
    }
}
