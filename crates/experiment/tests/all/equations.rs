//! The papers' equations against the simulator, where both apply.

use incast_experiment::Monitor;
use incast_experiment::{Plan, Scenario, execute};
use incast_measure::{Run, summarise};
use incast_models::ren::{Scheme, queue, rounds_to_full};
use incast_models::{amrt, fasttune, ideal, ren};
use incast_transport::{Bin, Rate, Span};

/// The bottleneck of a dumbbell.
const BOTTLENECK: &str = "leaf0->leaf1";
/// Packets per RTT there.
const BDP: u32 = 43;

fn run(text: &str) -> Run {
    let plan = Plan::new(Scenario::parse(text, "equations", &[]).unwrap()).unwrap();
    assert_eq!(plan.site.bdp_packets(plan.site.host_rate), BDP);
    execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap().0
}

/// A dumbbell whose links have a delay of 8 us; each traffic is (sources, destinations, size).
/// Intervals are one RTT.
fn dumbbell(transport: &str, pairs: u32, burst: u32, traffic: &[(&str, &str, &str)]) -> Run {
    let mut text = format!(
        "[fabric]\ntopology = \"dumbbell:{pairs}x{pairs}\"\nrate = \"10Gbps\"\n\
         propagation = \"8us\"\nbuffer = \"unlimited\"\n\
         [transport]\nnames = [\"{transport}\"]\n\
         [transport.parameters.{transport}]\nburst = {burst}\n[run]\nuntil = \"4ms\"\n"
    );
    for (from, to, size) in traffic {
        text += &format!(
            "[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{size}\"\n"
        );
    }
    run(&text)
}

/// The bottleneck's intervals but the last, which the end of the run cuts short.
fn rounds(run: &Run) -> Vec<Bin> {
    let port = run.ports.iter().position(|port| port.name == BOTTLENECK).unwrap();
    (0..run.intervals() - 1).map(|at| run.bin(port, at)).collect()
}

fn sent(run: &Run) -> Vec<u32> {
    rounds(run).iter().map(|round| round.sent_packets).collect()
}

#[test]
fn rens_queue_by_equations_1_and_3() {
    let ends = [("0,1", "2,3"), ("0,1,2", "3,4,5"), ("0,1,2,3", "4,5,6,7")];
    for (flows, (from, to)) in (2u32..).zip(ends) {
        let seen = rounds(&dumbbell("ren", flows, BDP, &[(from, to, "20MB")]));
        let mut arrivals = vec![(0, 0); 8];
        arrivals[0] = (flows, 0);
        let model = queue(Scheme::Ren, &arrivals, BDP as f64);
        let backlog = |at: usize| seen[at].backlog_max as f64 / 1538.0;
        let peak = seen.iter().map(|round| round.backlog_max).max().unwrap() as f64 / 1538.0;
        let first = ren::first_queue(flows, BDP as f64);
        assert!((peak - first).abs() <= 2.0, "{flows} flows: {peak} for {first}");
        // What Eq. 3 takes off in round i is marked in the round after and gone one later. Rounds
        // begin with the first byte here, so a fifth of a BDP may fall into the next.
        for (at, known) in model.iter().enumerate().skip(1) {
            let seen = backlog(at + 2);
            let tolerance = BDP as f64 / 5.0;
            assert!((seen - known).abs() <= tolerance, "{flows}, round {at}: {seen} for {known}");
        }
        assert!(seen[1..].iter().all(|round| round.sent_packets >= BDP - 1), "idle");
    }
}

#[test]
fn rens_ramp_by_equations_5_and_6() {
    for burst in [2, 3, 4] {
        let seen = sent(&dumbbell("ren", 1, burst, &[("0", "1", "20MB")]));
        // The first round is sampled and the second marked.
        let (mut rate, mut at) = (burst as f64, 2);
        while rate < BDP as f64 {
            assert_eq!(seen[at], rate as u32, "burst {burst}, round {at}: {seen:?}");
            rate = ren::next_rate(rate, BDP as f64);
            at += 1;
        }
        assert_eq!(at, 2 + rounds_to_full(burst as f64, BDP as f64) as usize);
        // A full round's packets straddle two intervals once.
        assert!(seen[at + 1..].iter().all(|sent| *sent >= BDP - 1), "burst {burst}: {seen:?}");
    }
}

#[test]
fn amrts_fill_time_by_equations_4_and_5() {
    // A lone flow's packets stay together, so the vacant places are consecutive.
    for burst in [2, 10] {
        let seen = sent(&dumbbell("amrt", 1, burst, &[("0", "1", "20MB")]));
        let full = seen.iter().position(|sent| *sent >= BDP - 1).unwrap() as u32;
        let known = amrt::fill_rounds_consecutive(BDP - burst);
        assert!(full.abs_diff(known) <= 1, "burst {burst}: {full} for {known}: {seen:?}");
    }
    // Of two flows one leaves: its places lie among the other's, spread but not evenly.
    let pair = [("0", "2", "20MB"), ("1", "3", "500KB")];
    let seen = sent(&dumbbell("amrt", 2, BDP / 2, &pair));
    let left = 1 + seen.windows(2).position(|pair| pair[1] + 5 < pair[0]).expect("a departure");
    let again = seen[left..].iter().position(|sent| *sent >= BDP - 1).unwrap() as u32;
    let vacant = BDP - BDP / 2;
    let (least, most) =
        (amrt::fill_rounds_spread(BDP, vacant), amrt::fill_rounds_consecutive(vacant));
    // The round of the departure is counted in part.
    assert!((least..=most + 1).contains(&again), "{again} of {least} to {most}: {seen:?}");
    assert!(again < most / 2, "{again} rounds, as if the places were consecutive: {seen:?}");
}

#[test]
fn the_traditional_throughput_by_equation_9() {
    // Four flows of 10 packets per RTT, three of which leave together.
    let four = [("0", "4", "20MB"), ("1,2,3", "5,6,7", "500KB")];
    let seen = sent(&dumbbell("trd", 4, 10, &four));
    let known = ren::traditional_throughput(40.0, 4, 3);
    let last = seen[seen.len() - 10..].iter().sum::<u32>() as f64 / 10.0;
    assert!(seen[5] >= 39, "{seen:?}");
    assert!((last - known).abs() <= 0.5, "{last} for {known}: {seen:?}");
}

/// A lone flow's feedback: its age in nanoseconds against a model's mean delay over two switches.
fn feedback(transport: &str, delay: fn(u32, u32, f64) -> f64, known: f64) -> Run {
    let text = format!(
        "[fabric]\ntopology = \"dumbbell:1x1\"\nrate = \"10Gbps\"\npropagation = \"8us\"\n\
         [transport]\nnames = [\"{transport}\"]\n[run]\nuntil = \"4ms\"\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"2MB\"\n"
    );
    let run = run(&text);
    let all = summarise(&run).all;
    let mean = (delay(1, 2, 1.0) + delay(2, 2, 1.0)) / 2.0 * run.base_rtt.as_ns_f64();
    let age = all.decision_age_mean_ns.unwrap();
    // The equations count links; packets also need their time on each.
    assert!((age / mean - 1.0).abs() < 0.1, "{transport}: {age} ns for {mean} ns");
    let utility = all.feedback_utility.unwrap();
    assert!((utility - known).abs() < 0.05, "{transport}: {utility} for {known}");
    let ages = all.decision_age_ns.unwrap();
    assert!(ages.p99 >= ages.median && ages.median > 0.9 * age, "{transport}: {ages:?}");
    run
}

#[test]
fn hpccs_feedback_by_equations_7_and_9_and_what_it_costs() {
    let run = feedback("hpcc", fasttune::hpcc_delay, fasttune::hpcc_utility(2));
    // Two records behind every data packet and in every ACK.
    let flow = &run.record.flows[0];
    assert_eq!(flow.extension_bytes, 18 * flow.packets as u64);
    assert_eq!(flow.control_packets, flow.packets);
    assert_eq!(flow.control_bytes, (40 + 18 + 38) * flow.packets as u64);
    // One ACK per packet: as many decisions per RTT as packets in the window.
    let decisions = summarise(&run).all.decisions_per_rtt.unwrap();
    assert!((0.8 * BDP as f64..BDP as f64).contains(&decisions), "{decisions}");
}

#[test]
fn fasttunes_feedback_by_equations_8_and_10_and_what_it_costs() {
    let run = feedback("fasttune", fasttune::fasttune_delay, fasttune::fasttune_utility(2, 2));
    // Data carry nothing; each ACK of the receiver has two records, those of switches fewer.
    let flow = &run.record.flows[0];
    assert_eq!(flow.extension_bytes, 0);
    assert!(flow.control_packets > flow.packets, "no ACKs of switches");
    assert!(flow.control_bytes <= (40 + 18 + 38) * flow.control_packets as u64);
    assert!(flow.control_bytes > (40 + 18 + 38) * flow.packets as u64);
}

#[test]
fn a_lone_flow_takes_the_ideal_time() {
    let run = dumbbell("trd", 1, BDP, &[("0", "1", "14600B")]);
    let link = (Rate::from_gbps(10), Span::from_us(8));
    let known = ideal::ideal_fct(&[link; 3], 10, 1538.0);
    let seen = run.fct(0).unwrap();
    assert!((seen.as_secs_f64() - known).abs() < 1e-10, "{seen} for {known}");
    assert_eq!(seen, run.flows[0].ideal_fct);
}
