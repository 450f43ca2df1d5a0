//! Percentiles, fairness, confidence and summaries against numbers worked out by hand.

use crate::support;
use crate::support::{flow, run_of};
use incast_measure::statistics::{batch_confidence, confidence, jain, mean, percentile};
use incast_measure::{Comparison, PartMeans, Request, Run, summarise};
use incast_transport::{Bin, FlowId, FlowSeries, Parts, PortRecord};
use incast_units::{Rate, Span, Time};
use proptest::prelude::*;

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} != {expected}");
}

#[test]
fn percentile_is_by_nearest_rank() {
    let values = [15.0, 20.0, 35.0, 40.0, 50.0];
    // The textbook example: ranks 1, 2, 2, 3, 5.
    for (thousandths, expected) in [(50, 15.0), (300, 20.0), (400, 20.0), (500, 35.0)] {
        assert_eq!(percentile(&values, thousandths), Some(expected), "{thousandths}");
    }
    assert_eq!(percentile(&values, 1000), Some(50.0));
    assert_eq!(percentile(&values, 0), Some(15.0));
    assert_eq!(percentile(&[], 500), None);
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    assert_eq!(percentile(&hundred, 990), Some(99.0));
    assert_eq!(percentile(&hundred, 991), Some(100.0));
    // A thousand values: the 99.9th percentile is the last but one.
    let thousand: Vec<f64> = (1..=1000).map(f64::from).collect();
    assert_eq!(percentile(&thousand, 999), Some(999.0));
}

#[test]
fn jain_of_equal_of_one_and_of_two_to_one() {
    assert_eq!(jain(&[5.0; 4]), Some(1.0));
    near(jain(&[7.0, 0.0, 0.0, 0.0]).unwrap(), 0.25);
    near(jain(&[2.0, 1.0]).unwrap(), 0.9);
    assert_eq!(jain(&[]), None);
    assert_eq!(jain(&[0.0, 0.0]), None);
}

#[test]
fn confidence_uses_students_t() {
    // Mean 4, deviation 2, t(2) = 4.303: 4.303 * 2 / sqrt 3.
    let interval = confidence(&[2.0, 4.0, 6.0]).unwrap();
    near(interval.mean, 4.0);
    near(interval.half_width, 4.303 * 2.0 / 3f64.sqrt());
    assert_eq!(interval.samples, 3);
    assert_eq!(confidence(&[1.0]), None);
    // 31 to 39 degrees of freedom take the t of 30.
    let many: Vec<f64> = (0..36).map(|at| f64::from(at % 2)).collect();
    let deviation = (36.0 * 0.25 / 35f64).sqrt();
    near(confidence(&many).unwrap().half_width, 2.042 * deviation / 6.0);
}

#[test]
fn batches_are_consecutive_and_the_last_takes_the_rest() {
    // 10 batches of 2 (the last of 3): means 0, 1, .., 8, and 12 with the left-over value.
    let mut values: Vec<f64> = (0..20).map(|at| f64::from(at / 2)).collect();
    values.push(18.0);
    let samples: Vec<f64> = (0..9).map(f64::from).chain([12.0]).collect();
    let expected = confidence(&samples).unwrap().half_width;
    near(batch_confidence(&values, 2, mean).unwrap(), expected);
    assert_eq!(batch_confidence(&values, 3, mean), None);
}

fn parts(total_ps: u64) -> Parts {
    Parts { propagation: total_ps, ..Parts::default() }
}

/// Sizes 1 KB, 50 KB, 200 KB, 2 MB with slowdowns 2, 4, 1.5, 3; the last flow incomplete at will.
fn four(complete: bool) -> Run {
    let mut run = run_of(
        "x",
        vec![
            flow(0, 1_000, 0, 10_000, parts(20_000)),
            flow(1, 50_000, 1_000, 50_000, parts(200_000)),
            flow(2, 200_000, 2_000, 1_000_000, parts(1_500_000)),
            flow(3, 2_000_000, 3_000, 4_000_000, parts(12_000_000)),
        ],
    );
    if !complete {
        run.record.flows[3].completed = None;
        run.record.flows[3].parts = None;
        run.record.flows[3].delivered = 500_000;
        run.record.ended = Time(4_003_000);
        run.record.complete = false;
    }
    run
}

#[test]
fn summary_by_hand() {
    let summary = summarise(&four(true));
    let all = summary.all.fct_ns.unwrap();
    near(all.mean, (20.0 + 200.0 + 1500.0 + 12000.0) / 4.0);
    assert_eq!((all.median, all.p99, all.max), (200.0, 12000.0, 12000.0));
    let slowdown = summary.all.slowdown.unwrap();
    near(slowdown.mean, (2.0 + 4.0 + 1.5 + 3.0) / 4.0);
    assert_eq!(slowdown.median, 2.0);
    assert_eq!(slowdown.mean_ci95, None);
    let flows: Vec<usize> = summary.by_size.iter().map(|group| group.flows).collect();
    assert_eq!(flows, [2, 2, 1, 1, 1, 1]);
    near(summary.short().slowdown.unwrap().mean, 3.0);
    near(summary.long().slowdown.unwrap().mean, 2.25);
    // 200 KB in 1.5 us and 2 MB in 12 us, in Gb/s.
    let rates = [200_000.0 * 8.0 / 1500.0, 2_000_000.0 * 8.0 / 12000.0];
    near(summary.long().throughput_mean_gbps.unwrap(), (rates[0] + rates[1]) / 2.0);
    near(summary.jain_long.unwrap(), jain(&rates).unwrap());
    assert!(summary.by_transport.is_empty() && summary.by_class.is_empty());
}

#[test]
fn bands_meet_at_their_lower_limits() {
    let sizes = [9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000];
    let flows = sizes.iter().zip(0..).map(|(size, id)| flow(id, *size, 0, 1, parts(1))).collect();
    let summary = summarise(&run_of("x", flows));
    let flows: Vec<usize> = summary.by_size.iter().map(|group| group.flows).collect();
    assert_eq!(flows, [3, 3, 1, 2, 2, 1]);
}

#[test]
fn incomplete_flows_count_by_what_they_delivered() {
    let summary = summarise(&four(false));
    assert_eq!((summary.all.flows, summary.all.completed), (4, 3));
    assert_eq!(summary.flows.completed, 3);
    assert_eq!(summary.all.fct_ns.unwrap().max, 1500.0);
    // 500 KB in the 4 us until the end.
    let rates = [200_000.0 * 8.0 / 1500.0, 500_000.0 * 8.0 / 4000.0];
    near(summary.long().throughput_mean_gbps.unwrap(), (rates[0] + rates[1]) / 2.0);
}

#[test]
fn warm_up_is_left_out() {
    let mut run = four(true);
    run.flows[3].warmup = true;
    let summary = summarise(&run);
    assert_eq!((summary.flows.total, summary.flows.warmup, summary.all.flows), (4, 1, 3));
    assert_eq!(summary.all.fct_ns.unwrap().max, 1500.0);
    assert_eq!(summary.jain_long, Some(1.0));
}

#[test]
fn part_means_add_up_to_the_mean() {
    let run = support::made_up("x", 7, 500, 1.0);
    let summary = summarise(&run);
    let sum: f64 = summary.all.parts_mean_ns.unwrap().named().iter().map(|(_, ns)| ns).sum();
    near(sum, summary.all.fct_ns.unwrap().mean);
    let one = Parts {
        nic_own: 1_000,
        nic_other: 2_000,
        blocked: [3_000, 4_000, 5_000, 6_000, 7_000],
        recovery: 8_000,
        serialisation: 9_000,
        propagation: 10_000,
        queueing: [11_000, 12_000, 13_000, 14_000],
    };
    // Every part under its own name, in order: none is swapped with another.
    let means = PartMeans::of([one, Parts::default()].iter()).unwrap().named();
    for (at, (name, value)) in means.into_iter().enumerate() {
        assert_eq!(value, (at + 1) as f64 / 2.0, "{name}");
    }
}

#[test]
#[should_panic(expected = "parts of flow 2 do not add up")]
fn parts_that_do_not_add_up_are_a_bug() {
    let mut run = four(true);
    run.record.flows[2].parts.as_mut().unwrap().nic_own += 1;
    summarise(&run);
}

#[test]
fn tiers_loads_and_requests_by_hand() {
    let mut run = four(true);
    run.record.ended = Time(20_000_000);
    for (port, tier, upward, sent) in
        [(0, "nic", true, 50_000), (1, "edge", false, 100_000), (2, "edge", false, 25_000)]
    {
        let total = Bin {
            sent_bytes: sent,
            sent_packets: 1,
            marks: 2,
            drops: 3,
            credit_drops: 5,
            trims: 4,
            backlog_max: sent / 10,
            backlog_area: 20_000_000 * sent as u128 / 100,
            paused: 5_000,
        };
        let mut record = PortRecord { port, total, ..PortRecord::default() };
        record.total_pauses.paused[3] = 4_000;
        (record.total_pauses.pause_frames, record.total_pauses.resume_frames) = (3, 2);
        run.record.ports.push(record);
        let (name, rate) = (format!("p{port}"), Rate::from_gbps(100));
        run.ports.push(incast_measure::PortMeta { name, tier, rate, upward, node: 0 });
    }
    let request = |end| Request { start: Time(1_000), end, flows: 2, warmup: false };
    run.requests = vec![request(Some(Time(5_000))), request(Some(Time(11_000))), request(None)];
    run.record.series =
        [30, 10].map(|sent| FlowSeries { flow: FlowId(0), delivered: vec![sent, sent] }).into();
    let summary = summarise(&run);
    let [nic, edge] = summary.tiers.as_slice() else { panic!("two tiers") };
    // 100 Gb/s over 20 us carry 250 KB.
    near(nic.utilisation_mean.unwrap(), 0.2);
    near(edge.utilisation_mean.unwrap(), 0.25);
    near(edge.utilisation_max.unwrap(), 0.4);
    near(edge.backlog_mean_bytes.unwrap(), 625.0);
    assert_eq!((edge.ports, edge.backlog_max_bytes, edge.drops), (2, 10_000, 6));
    assert_eq!((edge.credit_drops, summary.counters.credit_drops), (10, 15));
    assert_eq!(summary.counters.trims, 12);
    near(summary.counters.paused_ns, 15.0);
    near(summary.counters.paused_class_ns[3], 12.0);
    assert_eq!((summary.counters.pause_frames, summary.counters.resume_frames), (9, 6));
    assert_eq!((edge.pause_frames, edge.resume_frames), (6, 4));
    let requests = summary.requests.unwrap();
    assert_eq!((requests.total, requests.completed), (3, 2));
    near(requests.completion_ns.unwrap().mean, 7.0);
    near(summary.jain_series.unwrap(), 0.8);
    // 2.251 MB delivered within 20 us. They were offered within 3 ns: flows that start together are no
    // load, unless the run is over soon after.
    assert_eq!(summary.load.offered_gbps, None);
    run.record.ended = Time(60_000);
    near(summarise(&run).load.offered_gbps.unwrap(), 2_251_000.0 * 8.0 / 3.0);
    near(summary.load.goodput_gbps.unwrap(), 2_251_000.0 * 8.0 / 20_000.0);
    near(summary.load.goodput_load.unwrap(), 2_251_000.0 * 8.0 / 20_000.0 / 100.0);
}

/// The same run, so much later.
fn later(run: &Run, by: Span) -> Run {
    let mut run = run.clone();
    for flow in &mut run.record.flows {
        for time in [&mut flow.started, &mut flow.completed, &mut flow.acknowledged] {
            *time = time.map(|time| time + by);
        }
    }
    for request in &mut run.requests {
        request.start += by;
        request.end = request.end.map(|end| end + by);
    }
    run.record.ended += by;
    run.record.series_start += by;
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Nothing is divided by the time before the first flow.
    #[test]
    fn a_shift_in_time_changes_no_number(
        seed: u64,
        flows in 4..400u32,
        pressure in 0.1..3.0,
        by in 0..4_000_000_000_000u64,
    ) {
        let mut run = support::made_up("x", seed, flows, pressure);
        support::add_series(&mut run);
        let places = |summary: &mut incast_measure::Summary| {
            (summary.began_ns, summary.ended_ns) = (None, 0.0);
            if let Some(balance) = &mut summary.balance {
                (balance.from_ns, balance.to_ns) = (0.0, 0.0);
            }
        };
        let (mut early, mut late) = (summarise(&run), summarise(&later(&run, Span(by))));
        prop_assert!(early.load.goodput_gbps.is_some());
        prop_assert!(early.tiers.iter().all(|tier| tier.backlog_mean_bytes.is_some()));
        prop_assert_eq!(late.began_ns, early.began_ns.map(|_| by as f64 / 1e3));
        places(&mut early);
        places(&mut late);
        prop_assert_eq!(early, late);
    }
}

/// Flows that stand for flows without an end deliver, but are no offered load.
#[test]
fn flows_without_an_end_are_no_offered_load() {
    let mut run = four(true);
    run.record.ended = Time(60_000);
    let offered = summarise(&run).load.offered_gbps.unwrap();
    let (mut record, mut meta) = (run.record.flows[0], run.flows[0].clone());
    record.flow = FlowId(4);
    (record.completed, record.parts, record.delivered) = (None, None, 500);
    meta.size_bytes = 1_000_000_000_000;
    run.record.flows.push(record);
    run.flows.push(meta);
    assert_eq!(summarise(&run).load.offered_gbps, Some(offered));
    run.flows.iter_mut().for_each(|flow| flow.size_bytes = 1_000_000_000_000);
    assert_eq!(summarise(&run).load.offered_gbps, None);
}

#[test]
fn several_transports_and_classes_get_groups() {
    let mut run = four(true);
    run.transports = vec!["first".into(), "second".into(), "unused".into()];
    run.flows[1].transport = 1;
    run.flows[2].class = "incast";
    let summary = summarise(&run);
    let names = |groups: &[incast_measure::Group]| -> Vec<(String, usize)> {
        groups.iter().map(|group| (group.name.clone(), group.flows)).collect()
    };
    assert_eq!(names(&summary.by_transport), [("first".into(), 3), ("second".into(), 1)]);
    assert_eq!(names(&summary.by_class), [("background".into(), 3), ("incast".into(), 1)]);
}

#[test]
fn an_empty_run_has_a_summary_of_nulls() {
    let run = Run { label: "empty".into(), ..Run::default() };
    let summary = summarise(&run);
    assert_eq!(summary.all.fct_ns, None);
    assert_eq!(summary.load.goodput_gbps, None);
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<incast_measure::Summary>(&text).unwrap(), summary);
}

#[test]
fn a_summary_read_back_is_the_same() {
    let summary = summarise(&support::made_up("x", 3, 3_000, 1.0));
    assert!(summary.all.slowdown.unwrap().p99_ci95.is_some());
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<incast_measure::Summary>(&text).unwrap(), summary);
}

#[test]
fn equal_labels_are_repetitions() {
    let run = |label: &str, slow: u64| {
        run_of(label, vec![flow(0, 1_000, 0, 1_000_000, parts(slow * 1_000_000))])
    };
    let table = Comparison::of_runs(&[run("a", 2), run("b", 9), run("a", 4), run("a", 6)]);
    assert_eq!(
        (table.labels.as_slice(), table.repetitions.as_slice()),
        (["a".to_string(), "b".to_string()].as_slice(), [3, 1].as_slice())
    );
    let line = table.metrics.iter().position(|name| *name == "slowdown, mean").unwrap();
    let a = table.values[line][0].unwrap();
    near(a.mean, 4.0);
    near(a.interval.unwrap().half_width, 4.303 * 2.0 / 3f64.sqrt());
    assert_eq!(table.values[line][1].unwrap().interval, None);
    assert_eq!(table.best[line], [true, false]);
    // Both complete everything: neither is better.
    let line = table.metrics.iter().position(|name| *name == "completed").unwrap();
    assert_eq!(table.best[line], [false, false]);
}

#[test]
fn text_table_is_aligned_and_wraps_by_label() {
    let run = |label: &str, slow: u64| run_of(label, vec![flow(0, 1_000, 0, 1_000, parts(slow))]);
    let runs = [run("one", 1_020), run("two", 2_345_678), run("three", 30_000)];
    let table = Comparison::of_runs(&runs);
    let wide = table.text(200, &table.deciding());
    let lines: Vec<&str> = wide.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["one", "two", "three"]);
    // The units are one column, and the points of a label's numbers another.
    let units =
        lines.iter().filter_map(|line| ["µs", "%"].iter().find_map(|unit| line.split_once(unit)));
    let places: Vec<usize> = units.map(|(before, _)| before.chars().count()).collect();
    assert!(places.len() > 1 && places.iter().all(|place| *place == places[0]), "{wide}");
    let mean = lines.iter().find(|line| line.starts_with("slowdown, mean")).expect("a line");
    assert_eq!(mean.split_whitespace().skip(2).collect::<Vec<_>>(), ["1.02", "2346", "30"]);
    let all = table.lines();
    let narrow = table.text(40, &all);
    assert!(narrow.contains("\n\n") && narrow.contains("three"), "{narrow}");
    assert!(all.len() > table.deciding().len());
}

#[test]
fn ten_numbers_decide() {
    let runs = [support::made_up("a", 1, 3_000, 1.0), support::made_up("b", 2, 3_000, 2.0)];
    let table = Comparison::of_runs(&runs);
    let deciding = table.deciding();
    assert!(deciding.len() <= 10 && deciding.is_sorted(), "{deciding:?}");
    let titles: Vec<&str> = deciding.iter().map(|line| table.metrics[*line].as_ref()).collect();
    assert!(titles.contains(&"completed") && titles.contains(&"slowdown, p99"), "{titles:?}");
    // Of few flows the largest stands where the percentile would.
    let few = Comparison::of_runs(&[support::made_up("a", 1, 30, 1.0)]);
    let titles: Vec<&str> = few.deciding().iter().map(|line| few.metrics[*line].as_ref()).collect();
    assert!(
        titles.contains(&"slowdown, largest") && !titles.contains(&"slowdown, p99"),
        "{titles:?}"
    );
}

/// The sentences on top, from flows whose times are known.
#[test]
fn a_headline_says_who_is_best_and_what_the_tail_is() {
    let said = |runs: &[Run]| {
        let summaries: Vec<_> = runs.iter().map(summarise).collect();
        incast_measure::headline_of_runs(runs, &summaries).text()
    };
    // 24 flows alone take 1 us; the last one waits for what `slow` says.
    let run = |label: &str, slow: Parts| {
        let alone = Parts { nic_own: 1_000, ..Parts::default() };
        let one = |id: u32| {
            flow(id, 1_000, u64::from(id) * 1_000_000, 1_000, if id == 23 { slow } else { alone })
        };
        run_of(label, (0..24).map(one).collect())
    };
    let timeout =
        Parts { nic_own: 1_000, recovery: 45_000, queueing: [0, 4_000, 0, 0], ..Parts::default() };
    let queued = Parts { nic_own: 1_000, queueing: [0, 1_000, 0, 0], ..Parts::default() };
    let (ndp, dctcp) = (run("ndp", queued), run("dctcp", timeout));
    assert_eq!(
        said(&[dctcp.clone(), ndp.clone()]),
        "The slowest flow of ndp takes 2 times as long as alone, that of dctcp 50 times. The tail of dctcp is recovery from loss, 90 %; that \
         of ndp queues at the edge, 50 %."
    );
    assert_eq!(
        said(std::slice::from_ref(&dctcp)),
        "Half of the flows take at most 1 times as long as alone, the slowest 50 times; 90 % of its time is recovery \
         from loss."
    );
    assert_eq!(
        said(&[ndp.clone(), run("other", queued)]),
        "All have nearly the same largest slowdown: 2 to 2."
    );
    // What did not complete all its flows is not ranked.
    let mut open = dctcp;
    (open.record.flows[23].completed, open.record.flows[23].parts) = (None, None);
    let text = said(&[open, ndp]);
    assert!(text.starts_with("Half of the flows of ndp take at most 1 times"), "{text}");
    assert!(text.ends_with("dctcp is left out: 1 of its 24 flows did not complete."), "{text}");
    assert_eq!(said(&[]), "");
}

/// The tail of all flows would be that of the incast, of which there are few: each class is ranked by itself.
#[test]
fn classes_of_flows_are_not_mixed_in_a_verdict() {
    let alone = Parts { nic_own: 1_000, ..Parts::default() };
    let queued = Parts { nic_own: 1_000, queueing: [0, 1_000, 0, 0], ..Parts::default() };
    let timeout = Parts { nic_own: 1_000, recovery: 49_000, ..Parts::default() };
    let run = |label: &str, background: Parts, incast: Parts| {
        let one = |id: u32| {
            let slow = if id == 23 { background } else { incast };
            let parts = if id % 24 == 23 { slow } else { alone };
            let (record, mut meta) = flow(id, 1_000, u64::from(id) * 1_000_000, 1_000, parts);
            meta.class = if id < 24 { "background" } else { "incast" };
            (record, meta)
        };
        run_of(label, (0..48).map(one).collect())
    };
    let runs = [run("one", queued, timeout), run("two", timeout, queued)];
    let summaries: Vec<_> = runs.iter().map(summarise).collect();
    assert_eq!(
        incast_measure::headline_of_runs(&runs, &summaries).text(),
        "Of flows of class background, the slowest flow of one takes 2 times as long as alone, that of two 50 times. The tail of two is \
         recovery from loss, 98 %; that of one queues at the edge, 50 %. Of flows of class incast, the slowest flow of two takes 2 times as \
         long as alone, that of one 50 times. The tail of one is recovery from loss, 98 %; that of two queues at the edge, 50 %."
    );
    // 23 flows of 1 ns and one of 2 or 50.
    let plain = Comparison::of(&summaries);
    let table = plain.clone().with_classes(&summaries);
    let line = |title: &str| table.metrics.iter().position(|one| one == title).expect("a line");
    let means = |title: &str| {
        table.values[line(title)].iter().map(|value| value.map(|one| one.mean)).collect::<Vec<_>>()
    };
    let (short, long) = (Some(25.0 / 24e3), Some(73.0 / 24e3));
    assert_eq!(means("FCT, mean, class background"), [short, long]);
    assert_eq!(means("FCT, mean, class incast"), [long, short]);
    assert_eq!(
        table.metrics.len(),
        plain.metrics.len() + 2,
        "of 24 flows there is no 99th percentile"
    );
    assert!(table.deciding().contains(&line("FCT, mean, class incast")));
    // Of one class nothing is added.
    let one = [support::made_up("a", 1, 3_000, 1.0)].map(|run| summarise(&run));
    assert_eq!(Comparison::of(&one).with_classes(&one), Comparison::of(&one));
}

/// Who has the shorter tail can have the longer mean.
#[test]
fn a_headline_says_if_the_mean_has_another_winner() {
    let parts = |queue| Parts { nic_own: 1_000, queueing: [0, queue, 0, 0], ..Parts::default() };
    let run = |label: &str, most: u64, last: u64| {
        let one = |id: u32| {
            flow(
                id,
                1_000,
                u64::from(id) * 1_000_000,
                1_000,
                parts(if id == 23 { last } else { most }),
            )
        };
        run_of(label, (0..24).map(one).collect())
    };
    let runs = [run("even", 2_000, 2_000), run("uneven", 0, 9_000)];
    let summaries: Vec<_> = runs.iter().map(summarise).collect();
    let said = incast_measure::headline_of_runs(&runs, &summaries).text();
    // 3 ns, and (23 x 1 + 10) / 24 = 1.375 ns, which rounds to an even digit.
    let end =
        "By mean completion time uneven is best, 0.00137 \u{b5}s; that of even is 118 % longer.";
    assert!(
        said.starts_with("The slowest flow of even takes 3 times") && said.ends_with(end),
        "{said}"
    );
}

#[test]
fn throughput_needs_time() {
    let mut run = four(true);
    run.record.flows[0].started = None;
    run.record.flows[0].completed = None;
    run.record.flows[0].parts = None;
    assert_eq!(run.throughput_gbps(0), None);
    assert_eq!(run.fct(1), Some(Span(200_000)));
}

#[test]
fn feedback_by_its_age_its_bytes_and_how_often() {
    use incast_transport::Histogram;
    let mut flows = vec![];
    for (id, packets) in [(0, 10u32), (1, 30)] {
        let parts = Parts { propagation: 40_000_000, ..Parts::default() };
        let (mut record, meta) = flow(id, 10_000, 0, 40_000_000, parts);
        record.decisions = packets;
        record.decision_age = packets as u64 * 5_000_000;
        record.control_bytes = packets as u64 * 84;
        record.extension_bytes = packets as u64 * 16;
        flows.push((record, meta));
    }
    let mut run = run_of("x", flows);
    let without = summarise(&run).all;
    assert_eq!((without.feedback_utility, without.decisions_per_rtt), (None, None));
    assert_eq!(without.decision_age_ns, None);
    run.base_rtt = Span(20_000_000);
    let mut ages = Histogram::new();
    (0..40).for_each(|_| ages.add(5_000_000));
    run.record.decision_ages = vec![ages];
    let all = summarise(&run).all;
    // 40 decisions in two lives of two RTTs; a quarter of one RTT old.
    assert_eq!(all.decisions_per_rtt, Some(10.0));
    assert_eq!(all.feedback_utility, Some(1.75));
    assert_eq!(all.decision_age_mean_ns, Some(5_000.0));
    let p99 = all.decision_age_ns.unwrap().p99;
    assert!((4_687.5..=5_000.0).contains(&p99), "{p99}");
    // 40 x 100 bytes for 20,000.
    assert_eq!((all.control_bytes, all.extension_bytes), (3_360, 640));
    assert_eq!(all.feedback_per_payload, Some(0.2));
    // A flow that is not complete has lived until the run's end; one that never began, not at all.
    run.record.flows[0].completed = None;
    run.record.flows[0].parts = None;
    run.record.ended = Time(80_000_000);
    assert_eq!(run.decisions_per_rtt(0..1), Some(2.5));
    run.record.flows[0].started = None;
    assert_eq!(run.decisions_per_rtt(0..1), None);
}

#[test]
fn imbalance_of_uplinks_by_hand() {
    let mut run = four(true);
    run.record.ended = Time(20_000_000);
    run.record.interval = Span(10_000_000);
    // Two leaves with two uplinks, a third with one, a NIC; 100 Gb/s carry 125 KB in an interval.
    let ports = [
        ("nic", 9, [90_000, 90_000]),
        ("edge", 10, [60_000, 0]),
        ("edge", 10, [20_000, 0]),
        ("edge", 11, [30_000, 10_000]),
        ("edge", 11, [10_000, 50_000]),
        ("edge", 12, [70_000, 0]),
    ];
    for (port, (tier, node, sent)) in ports.into_iter().enumerate() {
        let mut record = PortRecord { port: port as u32, ..PortRecord::default() };
        for sent_bytes in sent {
            let bin = Bin { sent_bytes, sent_packets: 1, ..Bin::default() };
            record.total.join(&bin);
            record.bins.push(bin);
        }
        run.record.ports.push(record);
        let (name, rate) = (format!("p{port}"), Rate::from_gbps(100));
        run.ports.push(incast_measure::PortMeta { name, tier, rate, upward: true, node });
    }
    let summary = summarise(&run);
    let [nic, edge] = summary.tiers.as_slice() else { panic!("two tiers") };
    assert_eq!((nic.imbalance_mean, nic.imbalance_run), (None, None));
    // Twice the largest by interval (60, 30 and 50 KB) over what all carried (180 KB).
    near(edge.imbalance_mean.unwrap(), 280.0 / 180.0);
    // Over the run: 60 KB of the first leaf's 80, and 60 of the second one's 100.
    near(edge.imbalance_run.unwrap(), 240.0 / 180.0);
    let ratios = incast_measure::columns::PORTS.numbers(&run, "uplink_ratio").unwrap();
    let known: Vec<f64> = ratios.into_iter().filter(|ratio| !ratio.is_nan()).collect();
    for (known, ratio) in known.iter().zip([1.5, 0.5, 1.5, 1.0 / 3.0, 0.5, 5.0 / 3.0]) {
        near(*known, ratio);
    }
    assert_eq!(known.len(), 6);
}
