//! Each warning, with its data: when it is given, and when not.

use crate::support::{flow, run_of};
use incast_measure::*;
use incast_transport::Parts;

/// `short` flows of 1 KB and `long` ones of 1 MB, one every 10 us, each of 5 us.
fn run(short: u32, long: u32) -> Run {
    let one = |id: u32| {
        let size = if id < short { 1_000 } else { 1_000_000 };
        let parts = Parts { nic_own: 5_000_000, ..Parts::default() };
        flow(id, size, id as u64 * 10_000_000, 1, parts)
    };
    run_of("x", (0..short + long).map(one).collect())
}

#[test]
fn a_run_in_balance_has_no_warning_however_small_it_is() {
    assert_eq!(run(9_000, 1_000).warnings(), []);
    assert_eq!(run(20, 4).warnings(), []);
}

/// The numbers of a table that a person reads: without percentiles that are the accident of a few flows.
#[test]
fn a_percentile_needs_ten_flows_above_it() {
    assert_eq!([500, 900, 990, 999].map(values_needed), [20, 100, 1_000, 10_000]);
    let shown = |runs: &[Run]| -> Vec<String> {
        Comparison::of_runs(runs).metrics.iter().map(ToString::to_string).collect()
    };
    let has = |all: &[String], title: &str| all.iter().any(|one| one == title);
    let all = shown(&[run(9_000, 1_000)]);
    for title in ["slowdown, p99", "slowdown, p99.9", "slowdown of long flows, p99"] {
        assert!(has(&all, title), "{title}");
    }
    let few = shown(&[run(9_000, 999)]);
    assert!(has(&few, "slowdown, p99") && has(&few, "slowdown of short flows, p99"));
    assert!(!has(&few, "slowdown, p99.9") && !has(&few, "slowdown of long flows, p99"));
    // Flows of the warm-up do not count.
    let mut warm = run(9_000, 1_000);
    warm.flows[0].warmup = true;
    assert!(!has(&shown(&[warm]), "slowdown, p99.9"));
    // Those of repetitions do: they are shown as one.
    assert!(has(&shown(&[run(9_000, 999), run(9_000, 999)]), "slowdown, p99.9"));
}

#[test]
fn what_did_not_complete_is_told_and_a_run_without_results_is_not_complete() {
    let mut some = run(9_000, 2_000);
    (some.record.flows[5].completed, some.record.flows[5].parts) = (None, None);
    assert_eq!(some.warnings(), [Warning::Incomplete { open: 1, flows: 11_000 }]);
    assert!(some.complete());
    // One that never started is not left out of anything.
    (some.record.flows[6].completed, some.record.flows[6].parts) = (None, None);
    some.record.flows[6].started = None;
    assert_eq!(some.warnings(), [Warning::Incomplete { open: 1, flows: 10_999 }]);
    let mut none = run(20, 0);
    none.record.flows.iter_mut().for_each(|flow| (flow.completed, flow.parts) = (None, None));
    assert_eq!(none.warnings(), [Warning::NothingCompleted { flows: 20 }]);
    assert!(none.record.ran_to_end() && !none.complete());
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path(), &none, false).unwrap();
    let text = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["complete"], false);
    assert!(Run::default().complete(), "without flows nothing is missing");
}

#[test]
fn a_run_without_balance_says_how_many_flows_came_and_left() {
    let mut run = run(11_000, 1_000);
    for (at, record) in run.record.flows.iter_mut().enumerate() {
        let longer = incast_units::Span(at as u64 * 5_000_000);
        let parts = record.parts.as_mut().unwrap();
        parts.nic_own += longer.0;
        record.completed = record.completed.map(|end| end + longer);
    }
    run.record.ended = run.record.flows.iter().filter_map(|flow| flow.completed).max().unwrap();
    let warnings = run.warnings();
    let [Warning::NeverBalanced { arrivals, departures }] = warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(arrivals == 6_000 && (3_900..4_100).contains(&departures), "{departures}");
}

/// Flows that start together and mostly wait for timeouts; not if they start apart, are few, or do more.
#[test]
fn timeouts_in_step_are_told() {
    let told = |flows: u32, recovery: u64, apart: u64| {
        let one = |id: u32| {
            let parts = Parts { nic_own: 100, recovery, ..Parts::default() };
            flow(id, 1_000, id as u64 * apart, 1, parts)
        };
        let all = run_of("x", (0..flows).map(one).collect()).warnings();
        all.into_iter().find(|warning| matches!(warning, Warning::LockStep { .. }))
    };
    let warning = told(10, 300, 0).unwrap();
    assert_eq!(warning, Warning::LockStep { flows: 10, percent: 75 });
    let text = "10 flows start together with others, and 75 % of the time of all flows is their";
    assert!(warning.to_string().starts_with(text));
    assert_eq!([told(7, 300, 0), told(10, 90, 0), told(10, 300, 1)], [None, None, None]);
    // Ten of twenty flows recover together; the others take more time.
    let one = |id: u32| {
        let (start, recovery) = if id < 10 { (0, 300) } else { (id as u64, 0) };
        let parts =
            Parts { nic_own: if id < 10 { 100 } else { 500 }, recovery, ..Parts::default() };
        flow(id, 1_000, start, 1, parts)
    };
    let all = run_of("x", (0..20).map(one).collect()).warnings();
    assert!(!all.iter().any(|warning| matches!(warning, Warning::LockStep { .. })), "{all:?}");
}

/// Timeouts far above the RTT that make the tail are told, with the key that decides them.
#[test]
fn a_tail_of_timeouts_is_told() {
    const MS: u64 = 1_000_000_000;
    // Two hundred flows apart in time, the last of which recover for so long.
    let told = |waiting: u32, recovery: u64, timeout: &str| {
        let one = |id: u32| {
            let recovery = if id >= 200 - waiting { recovery } else { 0 };
            let parts = Parts { nic_own: 1_000_000, recovery, ..Parts::default() };
            flow(id, 1_000, id as u64 * 1_000_000, 1, parts)
        };
        let mut run = run_of("x", (0..200).map(one).collect());
        run.base_rtt = incast_units::Span::from_us(10);
        let parameters = [("rto_min".to_string(), timeout.to_string())];
        run.manifest.parameters = [(run.transports[0].clone(), parameters.into())].into();
        let all = run.warnings();
        all.into_iter().find(|warning| matches!(warning, Warning::TimeoutTail { .. }))
    };
    let name = run_of("x", vec![flow(0, 1_000, 0, 1, Parts { nic_own: 1, ..Parts::default() })])
        .transports[0]
        .clone();
    let warning = told(2, 10 * MS, "10ms").unwrap();
    let key = format!("transport.parameters.{name}.rto_min");
    assert_eq!(
        warning.to_string(),
        format!(
            "2 of 200 flows spend most of their time on recovery that lasts a retransmission timeout or more, most of \
             the slowest 1 % among them: {key} = 10ms, 1000 base RTTs"
        )
    );
    // One of the two slowest alone; shorter than a timeout; a timeout that fits the fabric.
    assert_eq!(
        [told(1, 10 * MS, "10ms"), told(2, 9 * MS, "10ms"), told(2, 2 * MS, "1990us")],
        [None, None, None]
    );
    assert!(told(3, 2 * MS, "2ms").is_some());
}

const CUT: incast_transport::CaptureCut =
    incast_transport::CaptureCut { packets: 7, until: incast_units::Time(12_999) };

#[test]
fn an_interruption_and_cut_captures_are_told_behind_what_was_known_before() {
    let mut run = run(9_000, 1_000);
    run.notes = vec![Warning::Configuration { name: "y".into(), about: "x".into() }];
    (run.record.interrupted, run.record.captures_cut) = (true, Some(CUT));
    let cut = Warning::CapturesCut { packets: 7, until_ns: 12 };
    let expected = [run.notes[0].clone(), Warning::Interrupted, cut];
    assert_eq!(run.warnings(), expected);
    assert!(!run.complete());
}

#[test]
fn a_warning_of_several_runs_is_given_once_with_their_names() {
    let (mut one, mut other) = (run(9_000, 999), run(9_000, 999));
    (one.label, other.label) = ("one".into(), "other".into());
    other.record.captures_cut = Some(CUT);
    (one.record.interrupted, other.record.interrupted) = (true, true);
    let expected = [
        ("one, other".to_string(), Warning::Interrupted),
        ("other".to_string(), Warning::CapturesCut { packets: 7, until_ns: 12 }),
    ];
    assert_eq!(grouped(&[one, other], warnings_of), expected);
}

#[test]
fn a_warning_with_other_numbers_in_each_run_is_given_once() {
    let labelled = |label: &str| Run { label: label.into(), ..run(1, 0) };
    let runs = ["dctcp", "ndp", "ren"].map(labelled);
    let of = |run: &Run| {
        let departures = if run.label == "ndp" { 70 } else { 90 };
        vec![
            Warning::NeverBalanced { arrivals: 100, departures },
            Warning::NothingCompleted { flows: 9 },
        ]
    };
    let expected = [
        (
            "dctcp, ndp, ren (numbers of ndp)",
            Warning::NeverBalanced { arrivals: 100, departures: 70 },
        ),
        ("dctcp, ndp, ren", Warning::NothingCompleted { flows: 9 }),
    ];
    assert_eq!(grouped(&runs, of), expected.map(|(labels, warning)| (labels.to_string(), warning)));
}

#[test]
fn a_manifest_has_kind_data_and_text() {
    let stated =
        |warning: &Warning| serde_json::to_value(StatedWarning::from(warning.clone())).unwrap();
    let json = stated(&Warning::Incomplete { open: 1, flows: 2 });
    assert_eq!(
        (&json["kind"], &json["open"], &json["flows"]),
        (&"incomplete".into(), &1.into(), &2.into())
    );
    assert!(json["text"].as_str().unwrap().starts_with("1 of 2 measured flows"));
    let pfc = Warning::WithoutPfc { transports: vec!["hpcc".into()] };
    let back: StatedWarning = serde_json::from_value(stated(&pfc)).unwrap();
    assert_eq!(back, StatedWarning::from(pfc.clone()));
    assert_eq!(back.name(), pfc.name());
    assert!(pfc.to_string().contains("fabric.pfc"));
}
