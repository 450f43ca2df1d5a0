//! Window laws whose packets may come in any order: the same law as with packets in order, over paths that
//! each packet chooses.

use incast_protocols::find;
use incast_testkit::{Outcome, Settings, Trial, at, fabric, flow, random_flows, us};
use incast_transport::*;
use incast_world::Faults;

const UNORDERED: (&str, &str) = ("reliability", "unordered");
const NAMES: [&str; 3] = ["swift", "dctcp", "hpcc"];
const SPREAD: [Routing; 4] =
    [Routing::Entropy, Routing::SourcePath, Routing::Spray, Routing::RoundRobin];

/// Over which paths a transport is as fast as in order: telemetry is of the path that the source chose.
fn spread(name: &str) -> &'static [Routing] {
    if name == "hpcc" { &SPREAD[..2] } else { &SPREAD }
}

/// A transport over packets in any order, with further settings.
fn trial<'a>(name: &str, more: &Settings<'a>, spec: &str, flows: Vec<Flow>) -> Trial<'a> {
    let entry = find(name).expect("in the catalogue");
    let mut trial = Trial::new(entry, fabric(spec, Rate::from_gbps(100), us(1)), flows);
    trial.settings = [&[UNORDERED], more].concat();
    trial.buffer = Limit::Bytes(4_000_000);
    trial.options.until = Time::ZERO + Span::from_secs(2);
    trial
}

/// With one path number telemetry is compared as in order.
const ONE: (&str, &str) = ("entropies", "1");

/// The same law, packet by packet: a flow that is alone takes the time that it takes in order, to the
/// picosecond.
#[test]
fn on_one_path_both_deliveries_are_one() {
    for name in NAMES {
        for spec in ["star:4", "leaf-spine:2x2x2", "fat-tree:4"] {
            for size in [1, 1_452, 1_461, 100_000, 3_000_000] {
                let flows = vec![flow(0, 0, 3, size, Time::ZERO)];
                let unordered = trial(name, &[ONE], spec, flows.clone()).run();
                let mut ordered = trial(name, &[], spec, flows);
                ordered.settings.clear();
                let ordered = ordered.run();
                assert_eq!(unordered.fct(0), ordered.fct(0), "{name}, {spec}, {size} B");
                assert_eq!(unordered.flows[0].packets, ordered.flows[0].packets, "{name}");
            }
        }
    }
}

/// Links are of one rate, so no packet overtakes another, and no path is shorter.
#[test]
fn a_lone_flow_that_is_spread_takes_the_time_of_its_packets() {
    for name in NAMES {
        for &routing in spread(name) {
            let of = |routing, settings: &[(&'static str, &'static str)]| {
                let flows = vec![flow(0, 0, 15, 1_000_000, Time::ZERO)];
                let mut trial = trial(name, &[], "leaf-spine:4x4x4", flows);
                trial.settings = settings.to_vec();
                trial.routing = Some(routing);
                let run = trial.run();
                assert_eq!(run.retransmits(), 0, "{name}, {routing:?}");
                run.fct(0)
            };
            let (spread, one) = (of(routing, &[UNORDERED]), of(Routing::Ecmp, &[]));
            match name {
                // Its telemetry is older: that of the packet before on the same path.
                "hpcc" => assert!(spread.0.abs_diff(one.0) * 100 < one.0, "{spread}, {one}"),
                _ => assert_eq!(spread, one, "{name}, {routing:?}"),
            }
        }
    }
}

fn permutation(name: &'static str, routing: Routing, choice: &'static str) -> Outcome {
    let flows = (0..16).map(|id| flow(id, id, (id + 4) % 16, 4_000_000, Time::ZERO)).collect();
    let mut trial = trial(name, &[("path_choice", choice)], "leaf-spine:4x4x4", flows);
    trial.routing = Some(routing);
    trial.run()
}

/// Without a loss nothing is sent again, however packets overtake each other, and links are busy.
#[test]
fn a_permutation_is_spread_without_retransmissions_near_line_rate() {
    for name in NAMES {
        for &routing in spread(name) {
            let run = permutation(name, routing, "oblivious");
            let what = format!("{name}, {routing:?}");
            assert!(run.complete, "{what}");
            assert_eq!((run.drops(), run.retransmits()), (0, 0), "{what}");
            let behind: u32 = run
                .flows
                .iter()
                .map(|flow| flow.reordering.map_or(0, |reordering| reordering.packets))
                .sum();
            let turns = routing == Routing::RoundRobin;
            assert!(behind > 0 || turns, "{what}: packets overtake each other");
            // Alone the flow takes 340 us.
            let last = (0..16).map(|id| run.fct(id)).max().expect("sixteen flows");
            println!("{what}: {} us, {behind} behind", last.0 / 1_000_000);
            assert!(last < us(500), "{what}: {} us", last.0 / 1_000_000);
        }
    }
}

#[test]
fn every_choice_of_paths_fills_a_permutation() {
    for choice in ["oblivious", "bitmap", "reps", "mixed"] {
        let run = permutation("swift", Routing::Entropy, choice);
        assert!(run.complete && run.retransmits() == 0, "{choice}");
    }
}

#[test]
fn all_flows_finish_under_loss_reordering_and_duplication() {
    for name in NAMES {
        for (seed, routing) in SPREAD.into_iter().chain([Routing::Ecmp, Routing::Plb]).enumerate() {
            let mut random = Random::new(seed as u64, 7, 7);
            let size = |random: &mut Random, _| 1 + random.below(200_000);
            let flows = random_flows(&mut random, 16, 80, us(100), size);
            let mut trial = trial(name, &[("rto_min", "1ms")], "leaf-spine:4x2x4", flows);
            trial.routing = Some(routing);
            trial.buffer = Limit::Packets(30);
            trial.options.seed = seed as u64;
            let late = us(30);
            trial.options.faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late };
            let one = trial.delivers();
            assert!(one.retransmits() > 0, "{name}, {routing:?}");
            trial.threads = 3;
            let same = RunRecord { events: 0, ..trial.run().record };
            assert!(same == RunRecord { events: 0, ..one.record }, "{name}, {routing:?}");
        }
    }
}

/// An incast overflows the last port: what is dropped is found by what has arrived behind it, and is sent
/// again once.
#[test]
fn drops_are_found_by_what_came_behind_them() {
    for name in NAMES {
        let flows = (0..8).map(|id| flow(id, id, 15, 2_000_000, Time::ZERO)).collect();
        let mut trial = trial(name, &[], "leaf-spine:4x4x4", flows);
        trial.routing = Some(Routing::Spray);
        trial.buffer = Limit::Packets(30);
        let run = trial.delivers();
        println!("{name}: {} drops, {} again", run.drops(), run.retransmits());
        assert!(run.drops() > 0, "{name}");
        assert!(run.retransmits() <= run.drops() * 2, "{name}: {}", run.retransmits());
    }
}

/// Windows of two flows and their marks are the same as in order where their packets come in order.
#[test]
fn a_shared_link_is_shared_as_in_order() {
    for name in NAMES {
        let of = |settings: &[(&'static str, &'static str)]| {
            let flows = (0..4).map(|id| flow(id, id, 4, 6_000_000, at(7 * id as u64))).collect();
            let mut trial = trial(name, &[], "star:5", flows);
            trial.settings = settings.to_vec();
            trial.buffer = Limit::Unlimited;
            let run = trial.run();
            (0..4).map(|id| run.fct(id)).collect::<Vec<_>>()
        };
        let (unordered, ordered) = (of(&[UNORDERED, ONE]), of(&[]));
        assert_eq!(unordered, ordered, "{name}");
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let site = incast_testkit::fabric_site(4, Rate::from_gbps(100), us(8));
    let refused = |name: &str, key: &str, value: &str| {
        let settings = [UNORDERED, (key, value)].map(|(key, value)| (key.into(), value.into()));
        let made = find(name).expect("in the catalogue").configure(&settings, site.clone());
        made.err().unwrap_or_else(|| panic!("{name}.{key} = {value}")).to_string()
    };
    for (name, key, value, accepted) in [
        ("dctcp", "delayed_ack", "2", "1 with reliability = unordered"),
        ("dctcp", "recovery", "newreno", "sack with reliability = unordered"),
        ("hpcc", "recovery", "sack", "its default with reliability = unordered"),
        ("swift", "entropies", "0", "a power of two, 1 to 32768"),
        ("swift", "entropies", "63", "a power of two, 1 to 32768"),
        ("hpcc", "entropies", "65536", "a power of two, 1 to 32768"),
        ("dctcp", "path_choice", "repps", "reps"),
        ("swift", "reliability", "unorderd", "unordered"),
    ] {
        let text = refused(name, key, value);
        let named = text.contains(key) || value == "unorderd";
        assert!(text.contains(accepted) && named, "{name}: {text}");
    }
}

/// With every ACK of the first window lost in a full port nothing is known to be missing: after one
/// timeout all is sent again, not a packet a timeout.
#[test]
fn a_first_window_of_lost_acks_costs_one_timeout() {
    let pairs = (1..8).map(|src| (src, 0)).chain([(8, 4), (9, 1), (0, 10), (5, 11)]);
    let size = |id| 150_000 + 1_111 * id as u64;
    let flows = pairs.enumerate();
    let flows = flows.map(|(id, (src, dst))| flow(id as u32, src, dst, size(id), Time::ZERO));
    let fabric = fabric("leaf-spine:3x2x4", Rate::from_gbps(10), us(2));
    let mut trial = Trial::new(find("dctcp").expect("there"), fabric, flows.collect());
    trial.settings = vec![UNORDERED];
    trial.routing = Some(Routing::Spray);
    trial.buffer = Limit::Packets(32);
    trial.options.until = Time::ZERO + Span::from_secs(1);
    let run = trial.delivers();
    let last = (0..11).map(|id| run.fct(id)).max().expect("eleven flows");
    assert!(last > Span::from_ms(10) && last < Span::from_ms(12), "{last}");
}
