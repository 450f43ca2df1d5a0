//! Flows whose ends come apart for good: found before the run where that is certain, else at the end of
//! a run that does not go on for nothing.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute};
use incast_measure::Run;
use incast_protocols::CATALOGUE;

/// Two flows on one switch; the link of the first one's source fails at `at`, for good.
fn plan(transport: &str, size: &str, at: &str, more: &str) -> Result<Plan, Fault> {
    let lines = format!(
        "[fabric]\ntopology = \"star:4\"\n[[fabric.failures]]\nat = \"{at}\"\na = \"host0\"\n\
         b = \"leaf0\"\n[transport]\nnames = [\"{transport}\"]\n[[traffic]]\nkind = \"long\"\n\
         from = \"0,2\"\nto = \"1,3\"\nsize = \"{size}\"\n{more}"
    );
    Plan::new(Scenario::parse(&lines, "test.toml", &[])?)
}

fn run(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

#[test]
fn a_flow_that_certainly_cannot_end_is_refused() {
    let refused = |fault: Result<Plan, Fault>| fault.err().expect("refused").to_string();
    let fault = refused(plan("dctcp", "2MB", "100us", ""));
    for part in [
        "fabric.failures: flow 0 (host0 to host1): link host0 - leaf0 failed at 100us for good",
        "2MB take 400us or more from 0s on: it cannot end: expected a repair",
        "`run.until`",
    ] {
        assert!(fault.contains(part), "{part}: {fault}");
    }
    // A failure of the source's own link before the flow starts.
    let early = plan("dctcp", "2MB", "0s", "");
    assert!(refused(early).contains("flow 0: host 1 cannot be reached from host 0"));
    plan("dctcp", "2MB", "400us", "").expect("it may just end");
    plan("dctcp", "2MB", "100us", "[run]\nuntil = \"1ms\"\n").expect("the run ends all the same");
    let repaired = |text: &str| {
        let lines = text.replace("b = \"leaf0\"", "b = \"leaf0\"\nrepair_after = \"1ms\"");
        Plan::new(Scenario::parse(&lines, "test.toml", &[]).unwrap())
    };
    let whole = plan("dctcp", "2MB", "400us", "").unwrap().scenario.to_toml();
    repaired(&whole.replace("400us", "100us")).expect("the link works again");
}

/// Whatever a transport does for a flow that has lost its other end, the run ends soon, and says why.
#[test]
fn a_run_ends_when_the_ends_of_all_open_flows_are_apart() {
    for name in CATALOGUE.iter().map(|entry| entry.info().name) {
        let plan = plan(name, "200KB", "41us", "").unwrap();
        let run = run(&plan, 1);
        let record = &run.record;
        assert!(
            record.flows[0].completed.is_none() && record.flows[1].completed.is_some(),
            "{name}"
        );
        assert!(record.stalled_since.is_some() || record.ended.as_secs_f64() < 1.0, "{name}");
        assert!(record.ended.as_secs_f64() < 1.0, "{name} ended at {}", record.ended);
        assert!(record.packet_hops < 1_000_000, "{name}: {} transmissions", record.packet_hops);
        let cut = ["flow 0 (host0 to host1): link host0 - leaf0 failed at 41us for good"];
        assert_eq!(run.manifest.cut_off, cut, "{name}");
    }
}

/// Host 0 sends and receives, in competition at both of its flows' other ends. Its link fails at `at` ns and works again 200 us later.
fn outage(transport: &str, at: u64) -> Plan {
    let lines = format!(
        "[fabric]\ntopology = \"star:5\"\n[[fabric.failures]]\nat = \"{at}ns\"\nrepair_after = \"200us\"\n\
         a = \"host0\"\nb = \"leaf0\"\n[transport]\nnames = [\"{transport}\"]\n[[traffic]]\nkind = \"long\"\n\
         from = \"0,2,2,3\"\nto = \"1,0,1,1\"\nsize = \"300KB\"\n"
    );
    Plan::new(Scenario::parse(&lines, "test.toml", &[]).unwrap()).unwrap()
}

/// A host dies and comes back while its flows are announced, matched, credited, sent or acknowledged: all flows finish, and those
/// of others without it.
#[test]
fn all_flows_finish_though_a_host_was_gone_for_a_while() {
    for name in CATALOGUE.iter().map(|entry| entry.info().name) {
        for at in [500, 1_500, 2_500, 4_000, 8_000, 20_000, 45_000, 90_000] {
            let plan = outage(name, at);
            let record = run(&plan, 1).record;
            assert!(record.complete, "{name}, at {at} ns");
        }
    }
}

/// The same in every part of each round of dcPIM's first matchings, with and without prompt channels. A round is 1.3 round trips of control
/// packets, 5.6 us here.
#[test]
fn a_host_may_die_in_any_round_of_a_matching() {
    for at in (0..48).map(|step| 1_000 * step + 300) {
        let record = run(&outage("dcpim", at), 1).record;
        assert!(record.complete, "at {at} ns");
        // The flow between others that are always there has its channels: 300 KB take 62 us, its receiver's link is shared by three.
        let taken = record.flows[3].completed.expect("complete");
        assert!(taken.as_secs_f64() < 400e-6, "at {at} ns: {taken}");
    }
}

/// The end is one of simulated time alone.
#[test]
fn the_end_of_a_run_without_progress_does_not_depend_on_threads() {
    let lines = |cut: &str, transport: &str| {
        format!(
            "[fabric]\ntopology = \"leaf-spine:4x1x2\"\n{cut}[transport]\nnames = [\"{transport}\"]\n\
             [[traffic]]\nkind = \"long\"\nfrom = \"0,1,4\"\nto = \"3,2,6\"\nsize = \"90KB\"\n"
        )
    };
    let apart = "[[fabric.failures]]\nat = \"20us\"\na = \"host3\"\nb = \"leaf1\"\n";
    let deaf = "[[fabric.links]]\na = \"host3\"\nb = \"leaf1\"\nloss = 0.9999999\n";
    for (cut, transports) in [(apart, &["dctcp", "ndp", "rcp", "phost"][..]), (deaf, &["dctcp"])] {
        for transport in transports {
            let plan =
                Scenario::parse(&lines(cut, transport), "test.toml", &[]).and_then(Plan::new);
            let plan = plan.unwrap();
            let ran = |threads| {
                let mut run = run(&plan, threads);
                (run.record.events, run.record.captures_cut) = (0, None);
                run.record
            };
            let one = ran(1);
            assert!(one.stalled_since.is_some(), "{transport}: {}", one.ended);
            assert!(one.packet_hops < 10_000_000, "{transport}: {}", one.packet_hops);
            for threads in [2, 4] {
                assert!(ran(threads) == one, "{transport} in {threads} threads");
            }
        }
    }
}

fn rounds(more: &str, threads: usize) -> Run {
    let lines = format!(
        "[fabric]\ntopology = \"leaf-spine:2x1x2\"\n[transport]\nnames = [\"dctcp\"]\n[[traffic]]\n\
         kind = \"requests\"\nto = \"0\"\nfrom = \"2,3\"\nsize = \"10KB\"\n{more}"
    );
    run(&Plan::new(Scenario::parse(&lines, "test.toml", &[]).unwrap()).unwrap(), threads)
}

/// Clients that wait two hours between rounds: to wait is no lack of progress, from whatever round on.
#[test]
fn a_pause_of_hours_is_waited_for() {
    for more in ["", "[run]\nworld = \"dataplane\"\n"] {
        let run = rounds(&format!("count = 4\nperiod = \"7200s\"\n{more}"), 2);
        assert!(run.record.complete && run.record.stalled_since.is_none());
        assert!(
            (run.record.ended.as_secs_f64() - 3.0 * 7_200.0).abs() < 1.0,
            "{}",
            run.record.ended
        );
    }
}

/// The second round is beyond the longest run, months after the last packet: the series still have a few thousand
/// intervals, which tables have rows for.
#[test]
fn series_of_a_run_that_ends_months_later_are_short() {
    for world in ["sim", "dataplane"] {
        let more = format!(
            "at = \"5000000s\"\ncount = 2\nperiod = \"5000000s\"\n[run]\nworld = \"{world}\"\n"
        );
        let run = rounds(&more, 1);
        assert_eq!(run.record.ended.as_secs_f64(), 8_640_000.0);
        assert!(!run.complete() && run.intervals() <= 4_097, "{}", run.intervals());
    }
}
