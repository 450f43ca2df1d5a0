//! The engine against closed-form results, and with different numbers of threads.

use crate::common::{Plain, fabric};
use incast_fabric::NodeId;
use incast_sim::{Monitor, Turns, run, run_in_turns};
use incast_testkit::{Trial, flow, random_flows, us};
use incast_transport::*;
use incast_world::{FlowSetup, Gate, GateId, Setup, SharedBuffer};
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn a_lone_flow_takes_the_ideal_time_on_every_kind_of_path() {
    for (spec, pairs) in [
        ("star:4", vec![(0, 1), (3, 2)]),
        ("dumbbell:3x2", vec![(0, 1), (0, 3), (4, 2)]),
        ("leaf-spine:4x2x3", vec![(0, 1), (0, 11), (5, 8)]),
        ("fat-tree:4", vec![(0, 1), (0, 2), (0, 15)]),
    ] {
        for (src, dst) in pairs {
            for size in [1, 1460, 1461, 14_600, 100_001] {
                let flow = flow(0, src, dst, size, Time(12_345));
                let plain = Plain::default();
                let mut trial = Trial::new(&plain, fabric(spec), vec![flow.clone()]);
                trial.buffer = Limit::Unlimited;
                let record = trial.run();
                let ip = |seq| flow.payload(seq) as u32 + 40;
                let lengths: Vec<u32> = (0..flow.packets()).map(ip).collect();
                let ideal = incast_testkit::ideal(&trial.fabric, src, dst, &lengths);
                let got = record.fct(0);
                assert_eq!(got, ideal, "{spec} {src}->{dst} {size} B");
                assert_eq!(record.flows[0].parts.unwrap().total(), ideal.0);
                // A short last packet catches up with the full one before it and is queued.
                if size <= 1460 || size % 1460 == 0 {
                    assert_eq!(record.flows[0].parts.unwrap().queueing, [0; TIERS]);
                }
            }
        }
    }
}

fn mixed_flows(hosts: u32, count: u32) -> Vec<Flow> {
    random_flows(&mut Random::new(42, 0, 0), hosts, count, us(100), |random, _| {
        let scale = 8 + random.below(10);
        1 + random.below(1 << scale)
    })
}

/// Threads work together for so many windows, then one of them alone for as many.
struct InTurn(u64);

impl Turns for InTurn {
    fn alone(&mut self, windows: u64, _: u64) -> bool {
        (windows / self.0).is_multiple_of(2)
    }
}

/// A run of a trial in so many threads that work together by turns.
fn in_turns(trial: &Trial, threads: usize, turns: impl Turns + 'static) -> RunRecord {
    run_in_turns(trial.setup(), threads, &Monitor::default(), Box::new(turns)).0
}

/// Threads that work together from the second window to the last.
struct Together;

impl Turns for Together {
    fn alone(&mut self, _: u64, _: u64) -> bool {
        false
    }
}

/// A bug in a transport ends the run with its message, whichever thread meets it; no other waits.
#[test]
fn a_panic_in_one_thread_ends_the_run() {
    for (threads, breaks) in [(1, 5), (2, 5), (4, 599), (4, 5)] {
        let plain = Plain { breaks: Some(FlowId(breaks)), ..Plain::default() };
        let mut trial = Trial::new(&plain, fabric("leaf-spine:8x4x8"), mixed_flows(64, 600));
        trial.buffer = Limit::Unlimited;
        for ways in 0..3 {
            let run = || match ways {
                0 => in_turns(&trial, threads, Together),
                1 => in_turns(&trial, threads, InTurn(3)),
                _ => in_turns(&trial, threads, InTurn(u64::MAX)),
            };
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let said = panic.expect_err("a panic").downcast::<String>().expect("its message");
            assert!(said.contains("a bug in a transport"), "{said}");
        }
    }
}

#[test]
fn the_record_does_not_depend_on_threads_and_batches() {
    for (window, shared) in [
        (Some(20), None),
        (None, None),
        (Some(9), Some(SharedBuffer { pool: 4_000_000, alpha: 8.0 })),
    ] {
        let plain = Plain { window, ..Plain::default() };
        let mut trial = Trial::new(&plain, fabric("leaf-spine:8x4x8"), mixed_flows(64, 600));
        (trial.buffer, trial.shared) = (Limit::Unlimited, shared);
        trial.options.watch = vec![FlowId(3)];
        let mut of = |threads, batch| {
            (trial.threads, trial.batch) = (threads, batch);
            RunRecord { events: 0, ..trial.run().record }
        };
        let alone = of(1, None);
        assert!(alone.complete);
        assert!(alone.packet_hops > 10_000);
        assert!(alone.flows.iter().any(|f| f.parts.unwrap().queueing.iter().any(|q| *q > 0)));
        for threads in [2, 3, 4, 8] {
            assert!(of(threads, None) == alone, "{threads} threads differ");
        }
        for (threads, hosts) in [(1, 8), (1, 24), (2, 8), (3, 16)] {
            assert!(of(threads, Some(hosts)) == alone, "{threads} threads, {hosts} hosts a batch");
        }
        for threads in [2, 3, 4] {
            for windows in [1, 7, u64::MAX] {
                let record = in_turns(&trial, threads, InTurn(windows));
                let same = RunRecord { events: 0, ..record } == alone;
                assert!(same, "{threads} threads differ, in turns of {windows} windows");
            }
            let record = in_turns(&trial, threads, Together);
            assert!(
                RunRecord { events: 0, ..record } == alone,
                "{threads} threads together differ"
            );
        }
    }
}

/// Threads that work together, and how many windows they had.
struct Counted(Rc<Cell<u64>>);

impl Turns for Counted {
    fn alone(&mut self, windows: u64, _: u64) -> bool {
        self.0.set(windows);
        false
    }
}

/// A flow that waits for one that ends at another host of its partition opens at the instant of its
/// completion, with any number of threads.
#[test]
fn flows_that_wait_for_others_open_when_these_are_complete() {
    let plain = Plain { window: Some(20), ..Plain::default() };
    let mut trial = Trial::new(&plain, fabric("leaf-spine:8x4x8"), mixed_flows(64, 600));
    trial.buffer = Limit::Unlimited;
    let mut last: [Option<FlowId>; 8] = [None; 8];
    for index in 0..trial.flows.len() {
        let Flow { id, src, dst, .. } = trial.flows[index].flow;
        if let Some(before) = last[src.0 as usize / 8].take() {
            let setup = &mut trial.flows[index];
            (setup.after, setup.flow.start) = (vec![before], Time::NEVER);
        }
        last[dst.0 as usize / 8] = Some(id);
    }
    let waiting: Vec<&FlowSetup> = trial.flows.iter().filter(|one| !one.after.is_empty()).collect();
    let elsewhere =
        |one: &&&FlowSetup| trial.flows[one.after[0].0 as usize].flow.dst != one.flow.src;
    assert!(waiting.iter().filter(elsewhere).count() > 100);
    let (alone, _) = run(trial.setup(), 1, &Monitor::default());
    for one in &waiting {
        let before = &alone.flows[one.after[0].0 as usize];
        assert_eq!(alone.flows[one.flow.id.0 as usize].started, before.completed);
    }
    for threads in [2, 3, 4, 8] {
        let windows = Rc::new(Cell::new(0));
        let record = in_turns(&trial, threads, Counted(windows.clone()));
        let alone = RunRecord { events: 0, ..alone.clone() };
        assert!(RunRecord { events: 0, ..record } == alone, "{threads} threads differ");
        assert!(windows.get() > 100, "there are several partitions");
    }
}

/// Gates at hosts, each of which opens a while after a flow that ends there and the gate before it: flows that wait
/// for one open with it, with any number of threads, and so do those that wait for a flow as well.
#[test]
fn flows_that_wait_for_gates_open_with_them() {
    let plain = Plain { window: Some(20), ..Plain::default() };
    let mut trial = Trial::new(&plain, fabric("leaf-spine:8x4x8"), mixed_flows(64, 600));
    trial.buffer = Limit::Unlimited;
    let mut gates: Vec<Gate> = vec![];
    let mut last: [(Option<GateId>, Option<FlowId>); 64] = [(None, None); 64];
    for index in 0..trial.flows.len() {
        let setup = &mut trial.flows[index];
        let Flow { id, src, dst, .. } = setup.flow;
        let (gate, before) = last[src.0 as usize];
        if gate.is_some() {
            // Every third one waits for the flow before the gate, too, which changes nothing.
            setup.after = before.filter(|_| index % 3 == 0).into_iter().collect();
            (setup.gate, setup.flow.start) = (gate, Time::NEVER);
        }
        let (before, _) = last[dst.0 as usize];
        let (from, delay) = (Time::ZERO + us(index as u64), Span::from_us(3));
        gates.push(Gate { after: vec![id], gate: before, from, delay });
        last[dst.0 as usize] = (Some(GateId::new(gates.len() as u32 - 1)), Some(id));
    }
    let setup = || Setup { gates: gates.clone(), ..trial.setup() };
    let (alone, _) = run(setup(), 1, &Monitor::default());
    let mut opened: Vec<Time> = vec![];
    for gate in &gates {
        let earlier = gate.gate.map(|gate| opened[gate.place()]);
        let ended = alone.flows[gate.after[0].0 as usize].completed.expect("all are complete");
        opened.push(ended.max(earlier.unwrap_or(gate.from)).max(gate.from) + gate.delay);
    }
    let waiting = trial.flows.iter().filter(|one| one.gate.is_some());
    assert!(waiting.clone().count() > 300);
    for one in waiting {
        let gate = one.gate.expect("filtered").place();
        assert_eq!(alone.flows[one.flow.id.0 as usize].started, Some(opened[gate]));
    }
    for threads in [2, 3, 4, 8] {
        let windows = Rc::new(Cell::new(0));
        let turns = Box::new(Counted(windows.clone()));
        let record = run_in_turns(setup(), threads, &Monitor::default(), turns).0;
        let alone = RunRecord { events: 0, ..alone.clone() };
        assert!(RunRecord { events: 0, ..record } == alone, "{threads} threads differ");
        assert!(windows.get() > 100, "there are several partitions");
    }
    // A gate for what ends in another rack keeps the run in one partition.
    gates[9].after = vec![FlowId(0), FlowId(1), FlowId(2), FlowId(3)];
    let setup = Setup { gates, ..trial.setup() };
    let windows = Rc::new(Cell::new(0));
    run_in_turns(setup, 4, &Monitor::default(), Box::new(Counted(windows.clone())));
    assert_eq!(windows.get(), 0);
}

/// A limit on captured packets keeps the first ones of the run, with any number of threads.
#[test]
fn the_same_packets_are_captured_with_any_number_of_threads() {
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric("leaf-spine:8x4x8"), mixed_flows(64, 300));
    trial.buffer = Limit::Packets(9);
    trial.options.capture = (0..trial.fabric.ports().len() as u32).collect();
    let mut captured = |limit: usize, threads: usize| {
        (trial.options.capture_limit, trial.threads) = (limit, threads);
        let run = trial.run();
        assert_eq!(run.record.captures_cut.is_some(), limit < usize::MAX, "{limit}");
        run.packets
    };
    let all = captured(usize::MAX, 1);
    assert!(all.len() > 10_000, "{}", all.len());
    for limit in [0, 100, 5_000] {
        for threads in [1, 2, 3] {
            assert!(captured(limit, threads) == all[..limit], "{limit}, {threads} threads");
        }
    }
}

#[test]
fn lost_packets_are_counted_once_and_the_run_ends_when_idle() {
    let flows = (0..3).map(|id| flow(id, id, 3, 300_000, Time::ZERO)).collect();
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric("star:4"), flows);
    trial.buffer = Limit::Packets(10);
    let record = trial.run();
    assert!(!record.complete);
    let sent: u32 = record.flows.iter().map(|flow| flow.packets).sum();
    let drops = record.drops();
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered).sum();
    assert_eq!(sent, 3 * 300_000u32.div_ceil(1460));
    assert!(drops > 100, "{drops}");
    assert!(delivered < 900_000 && delivered > 300_000);
    assert!(record.ended < Time(1_000_000_000));
}

/// The longest simulated time ends a run whose last flow would start after it.
#[test]
fn runs_end_at_the_longest_simulated_time() {
    let late = Time::HORIZON + Span(1);
    let flows = vec![flow(0, 0, 1, 5_000, Time::ZERO), flow(1, 2, 3, 5_000, late)];
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric("leaf-spine:2x2x2"), flows);
    trial.buffer = Limit::Unlimited;
    for threads in [1, 2] {
        trial.threads = threads;
        let record = trial.run();
        assert_eq!(record.ended, Time::HORIZON);
        assert!(record.flows[0].completed.is_some() && record.flows[1].started.is_none());
        assert!(!record.ran_to_end() && record.stalled_since.is_none());
    }
}

/// Simultaneous arrivals are fair: two senders at line rate into one port have equal losses.
#[test]
fn symmetric_senders_split_losses_evenly() {
    let size = 1460 * 1_100_000;
    let flows = vec![flow(0, 0, 2, size, Time::ZERO), flow(1, 1, 2, size, Time::ZERO)];
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric("star:3"), flows);
    trial.buffer = Limit::Packets(20);
    let record = trial.run();
    let lost: Vec<f64> =
        record.flows.iter().map(|flow| 1_100_000.0 - flow.delivered as f64 / 1460.0).collect();
    let total = lost[0] + lost[1];
    assert!(total >= 1_000_000.0, "{total} losses");
    assert!((lost[0] / total - 0.5).abs() < 0.005, "{lost:?}");
}

#[test]
fn a_failed_link_loses_its_packets_and_is_routed_around() {
    let mut fabric = fabric("leaf-spine:2x2x1");
    let (leaf, spine) = (NodeId(2), NodeId(4));
    fabric.fail_link(Time(50_000_000)..Time::NEVER, leaf, spine, 0).unwrap();
    let flows = (0..8).map(|id| flow(id, 0, 1, 146_000, Time::ZERO)).collect();
    let plain = Plain::default();
    let mut trial = Trial::new(&plain, fabric, flows);
    trial.buffer = Limit::Unlimited;
    let record = trial.run();
    assert!(record.link_losses > 0);
    let sent: u32 = record.flows.iter().map(|flow| flow.packets).sum();
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered).sum();
    let drops = record.drops();
    assert_eq!(delivered / 1460 + record.link_losses + drops as u64, sent as u64);
    assert!(delivered > 8 * 146_000 / 2);
}
