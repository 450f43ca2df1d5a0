//! What is written is what was recorded, documented, and the same every time.

use crate::support;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use incast_measure::columns::{COLLECTIVES, Cell, FLOWS, PORTS, TABLES};
use incast_measure::*;
use incast_transport::{Pauses, PortRecord};
use incast_units::{Span, Time};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::path::Path;

fn read(path: &Path) -> Vec<RecordBatch> {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.map(Result::unwrap).collect()
}

fn integers(batch: &RecordBatch, name: &str) -> Vec<Option<u64>> {
    batch.column_by_name(name).expect(name).as_primitive::<UInt64Type>().iter().collect()
}

fn floats(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    batch.column_by_name(name).expect(name).as_primitive::<Float64Type>().iter().collect()
}

fn texts(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).expect(name);
    column.as_string::<i32>().iter().map(|text| text.unwrap().to_string()).collect()
}

/// 70,000 flows, so that there are several row groups; flow 3 never completes, flow 4 never starts.
fn run() -> Run {
    let mut run = support::made_up("x", 5, 70_000, 1.0);
    for (at, started) in [(3, true), (4, false)] {
        let flow = &mut run.record.flows[at];
        flow.completed = None;
        flow.parts = None;
        flow.started = flow.started.filter(|_| started);
        flow.decisions = 0;
    }
    run
}

#[test]
fn flows_survive_the_file() {
    let (folder, run) = (tempfile::tempdir().unwrap(), run());
    let path = folder.path().join("flows.parquet");
    FLOWS.write_parquet(&path, &run).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(builder.metadata().num_row_groups(), 2);
    let names = ["nic_own_ps", "nic_other_ps", "blocked_ready_ps", "blocked_grant_ps"];
    let more = ["blocked_credit_ps", "blocked_window_ps", "blocked_pacing_ps", "recovery_ps"];
    let rest = ["serialisation_ps", "propagation_ps", "queue_nic_ps", "queue_edge_ps"];
    let last = ["queue_aggregation_ps", "queue_core_ps"];
    let parts: Vec<&str> = [names, more, rest].concat().into_iter().chain(last).collect();
    let mut rows = 0;
    for batch in read(&path) {
        let (ids, sizes) = (integers(&batch, "flow_id"), integers(&batch, "size_bytes"));
        let (fct, fct_ns) = (integers(&batch, "fct_ps"), floats(&batch, "fct_ns"));
        let (ideal, slowdown) = (integers(&batch, "ideal_fct_ps"), floats(&batch, "slowdown"));
        let parts: Vec<_> = parts.iter().map(|name| integers(&batch, name)).collect();
        for at in 0..batch.num_rows() {
            let flow = ids[at].unwrap() as usize;
            assert_eq!(flow, rows);
            assert_eq!(sizes[at], Some(run.flows[flow].size_bytes));
            assert_eq!(fct[at], run.fct(flow).map(|span| span.0));
            // The parts add up to the completion time to the picosecond.
            let sum = parts.iter().map(|part| part[at]).sum::<Option<u64>>();
            assert_eq!(sum, fct[at], "flow {flow}");
            match fct[at] {
                Some(fct) => {
                    assert_eq!(fct_ns[at], Some(fct as f64 / 1e3));
                    assert_eq!(slowdown[at], Some(fct as f64 / ideal[at].unwrap() as f64));
                }
                None => assert_eq!((fct_ns[at], slowdown[at]), (None, None)),
            }
            rows += 1;
        }
    }
    assert_eq!(rows, 70_000);
    let first = &read(&path)[0];
    assert_eq!(integers(first, "start_ps")[3..5], [Some(12_000_000), None]);
    assert_eq!(floats(first, "start_ns")[3..5], [Some(12_000.0), None]);
    assert_eq!(floats(first, "decision_age_mean_ns")[2..4], [Some(9_000.0), None]);
    assert_eq!(texts(first, "transport")[0], "x");
    assert!(first.column_by_name("warmup").unwrap().as_boolean().value(0));
}

#[test]
fn parts_stand_under_their_own_names() {
    use incast_transport::Parts;
    let parts = Parts {
        nic_own: 1,
        nic_other: 2,
        blocked: [3, 4, 5, 6, 7],
        recovery: 8,
        serialisation: 9,
        propagation: 10,
        queueing: [11, 12, 13, 14],
    };
    let run = support::run_of("x", vec![support::flow(0, 1, 0, 1, parts)]);
    let batch = FLOWS.batch(&run);
    let start = batch.schema().index_of("nic_own_ps").unwrap();
    let expected = [
        "nic_own",
        "nic_other",
        "blocked_ready",
        "blocked_grant",
        "blocked_credit",
        "blocked_window",
        "blocked_pacing",
        "recovery",
        "serialisation",
        "propagation",
        "queue_nic",
        "queue_edge",
        "queue_aggregation",
        "queue_core",
    ];
    for (at, name) in expected.into_iter().enumerate() {
        assert_eq!(batch.schema().field(start + at).name(), &format!("{name}_ps"));
        assert_eq!(integers(&batch, &format!("{name}_ps")), [Some(at as u64 + 1)]);
    }
}

/// One port: two recorded intervals of 10 ns in a run of 35 ns.
fn small_ports() -> Run {
    let mut run = support::run_of("x", Vec::new());
    run.record.interval = Span::from_ns(10);
    run.record.ended = Time(35_000);
    let bin = incast_transport::Bin {
        sent_bytes: 100,
        sent_packets: 2,
        marks: 1,
        drops: 3,
        credit_drops: 9,
        trims: 4,
        backlog_max: 500,
        backlog_area: 2_500_000,
        paused: 1_500,
    };
    let total = bin;
    let bins = vec![Default::default(), bin];
    let mut one = Pauses { pause_frames: 7, resume_frames: 6, ..Pauses::default() };
    one.paused[4] = 1_250;
    let pauses = vec![Pauses::default(), one];
    // Nothing in 6 of 10 samples; 512 bytes begin a bin.
    let mut backlogs = incast_transport::Histogram::new();
    backlogs.add_many(0, 6);
    backlogs.add_many(512, 4);
    let record = PortRecord { port: 0, total, bins, total_pauses: one, pauses, backlogs };
    run.record.ports = vec![record];
    let rate = incast_units::Rate::from_gbps(160);
    let (name, tier) = ("leaf0->spine1".into(), "edge");
    run.ports = vec![PortMeta { name, tier, rate, upward: true, node: 0 }];
    run
}

/// 200 B fill an interval: of 230 B that began in one, 30 were sent in the next, and so on; the run's
/// end cuts off the rest. An interval in which nothing began has a row for what it still carried.
#[test]
fn bytes_count_where_the_link_carried_them() {
    let mut run = small_ports();
    let bin = |sent_bytes| incast_transport::Bin { sent_bytes, ..Default::default() };
    for (began, carried, cut) in [
        (vec![230, 190, 0], vec![200, 200, 20], 0),
        (vec![230], vec![200, 30], 0),
        (vec![0, 100], vec![0, 100], 0),
        (vec![0, 0, 150, 150], vec![0, 0, 150, 100], 50),
    ] {
        run.record.ports[0].pauses = vec![];
        run.record.ports[0].bins = began.iter().copied().map(bin).collect();
        let wire = run.wire_bytes(0, run.intervals());
        assert_eq!(wire, carried, "{began:?}");
        assert_eq!(wire.iter().sum::<u64>() + cut, began.iter().sum::<u64>());
    }
    run.record.ports[0].bins = vec![bin(230)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ports.parquet");
    PORTS.write_parquet(&path, &run).unwrap();
    let batch = &read(&path)[0];
    assert_eq!(floats(batch, "utilisation"), [Some(1.0), Some(0.15)]);
    assert_eq!(integers(batch, "sent_bytes"), [Some(230), Some(0)]);
}

#[test]
fn ports_have_a_row_for_every_interval_in_which_something_happened() {
    let (folder, mut run) = (tempfile::tempdir().unwrap(), small_ports());
    // A port that never did anything, and one with an interval in which it was only paused.
    let mut idle = run.record.ports[0].clone();
    (idle.port, idle.bins, idle.pauses) = (1, vec![Default::default(); 4], vec![]);
    let mut paused = run.record.ports[0].clone();
    (paused.port, paused.bins) = (2, vec![]);
    run.record.ports.extend([idle, paused]);
    run.ports = vec![run.ports[0].clone(); 3];
    let path = folder.path().join("ports.parquet");
    PORTS.write_parquet(&path, &run).unwrap();
    let batch = &read(&path)[0];
    assert_eq!(integers(batch, "port"), [Some(0), Some(2)]);
    let some = |values: [f64; 2]| values.map(Some).to_vec();
    assert_eq!(floats(batch, "time_ns"), some([10.0, 10.0]));
    assert_eq!(floats(batch, "interval_ns"), some([10.0, 10.0]));
    // 800 bits in 10 ns.
    assert_eq!(floats(batch, "throughput_gbps"), some([80.0, 0.0]));
    assert_eq!(floats(batch, "utilisation"), some([0.5, 0.0]));
    assert_eq!(floats(batch, "backlog_mean_bytes"), some([250.0, 0.0]));
    assert_eq!(floats(batch, "paused_ns"), some([1.5, 0.0]));
    assert_eq!(floats(batch, "paused_class4_ns"), some([1.25, 1.25]));
    assert_eq!(floats(batch, "paused_class5_ns"), some([0.0; 2]));
    assert_eq!(integers(batch, "pause_frames"), [Some(7), Some(7)]);
    assert_eq!(integers(batch, "resume_frames"), [Some(6), Some(6)]);
    for (name, value) in
        [("backlog_max_bytes", 500), ("marks", 1), ("drops", 3), ("credit_drops", 9), ("trims", 4)]
    {
        assert_eq!(integers(batch, name), [Some(value), Some(0)], "{name}");
    }
    assert_eq!(texts(batch, "name")[1], "leaf0->spine1");
    // Of the port over the run, in each of its rows.
    assert_eq!(integers(batch, "backlog_p50_bytes"), [Some(0); 2]);
    assert_eq!(integers(batch, "backlog_p99_bytes"), [Some(512); 2]);
}

#[test]
fn nothing_recorded_makes_files_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run { label: "empty".into(), ..Run::default() };
    write_run(folder.path(), &run, true).unwrap();
    for name in ["flows", "ports"] {
        assert!(read(&folder.path().join(format!("{name}.parquet"))).is_empty());
        let csv = std::fs::read_to_string(folder.path().join(format!("{name}.csv"))).unwrap();
        assert_eq!(csv.lines().count(), 1);
    }
}

#[test]
fn equal_runs_make_equal_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut a, mut b) = (run(), run());
    (a.wall_seconds, b.wall_seconds) = (Some(1.0), Some(2.0));
    b.record.events += 77;
    write_run(one.path(), &a, true).unwrap();
    write_run(two.path(), &b, true).unwrap();
    for name in ["flows.parquet", "ports.parquet", "summary.json", "flows.csv", "ports.csv"] {
        let bytes = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(bytes(one.path()) == bytes(two.path()), "{name} differs");
    }
}

#[test]
fn csv_leaves_null_empty_and_quotes_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = run();
    run.transports[0] = "a, \"b\"".into();
    let path = folder.path().join("flows.csv");
    FLOWS.write_csv(&path, &run).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(names, FLOWS.columns.iter().map(|column| column.name).collect::<Vec<_>>());
    let line = lines.nth(4).unwrap();
    assert!(line.starts_with("4,4,7,\"a, \"\"b\"\"\",background,true,"), "{line}");
    // start_ps, start_ns, fct_ps, fct_ns of a flow that never started.
    let size = run.flows[4].size_bytes;
    assert!(line.contains(&format!(",{size},,,,,")), "{line}");
}

#[test]
fn every_written_column_is_documented_with_its_unit() {
    let markdown = columns_markdown();
    let run = small_ports();
    for table in TABLES.into_iter().chain([&COLLECTIVES]) {
        let (batch, columns) = (table.batch(&run), table.columns);
        assert_eq!(batch.num_columns(), columns.len());
        for (field, column) in batch.schema().fields().iter().zip(columns) {
            let name = field.name();
            assert_eq!(name, column.name);
            assert!(column.doc.ends_with('.') && !column.doc.contains('|'), "{name}");
            let unit = if column.unit.is_empty() { "" } else { ", " };
            let row = format!("| `{name}` | {}{unit}{} |", column.type_name(), column.unit);
            assert!(markdown.contains(&row), "{name}");
            let notes = field.metadata();
            assert_eq!(notes.get("unit").map(|unit| unit.as_str()), Some(column.unit), "{name}");
            assert_eq!(notes.get("description").map(|doc| doc.as_str()), Some(column.doc));
            let units = [
                ("_ps", "ps"),
                ("_ns", "ns"),
                ("_bytes", "bytes"),
                ("_gbps", "Gb/s"),
                ("bw", "GB/s"),
            ];
            let unit = units.iter().find(|(ending, _)| name.ends_with(ending));
            assert_eq!(unit.map_or("", |(_, unit)| unit), column.unit, "{name}");
            // Exact times are whole picoseconds, others floats.
            let float = matches!(column.cell, Cell::Float(_));
            assert!(!name.ends_with("_ps") || !float, "{name}");
            assert!(!name.ends_with("_ns") || float, "{name}");
        }
    }
    for name in [
        "flow_id",
        "src",
        "dst",
        "transport",
        "size_bytes",
        "start_ns",
        "fct_ns",
        "ideal_fct_ns",
        "slowdown",
        "retransmits",
    ] {
        assert!(FLOWS.columns.iter().any(|column| column.name == name), "{name}");
    }
}

#[test]
fn the_manifest_of_an_interrupted_run_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = small_ports();
    run.manifest.seed = 7;
    let complete = |run: &Run| {
        write_run(folder.path(), run, false).unwrap();
        let text = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["seed"], 7);
        value["complete"].clone()
    };
    assert_eq!(complete(&run), true);
    run.record.interrupted = true;
    assert_eq!(complete(&run), false);
}
