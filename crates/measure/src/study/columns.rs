//! `study.parquet` and `study-times.parquet`.

use super::{Setting, StudyResults, StudyRow};
use crate::columns::Rows;
use crate::frame::{Frame, Values};
use crate::numbers::{Number, Written, class_numbers, documented, number, numbers};
use incast_units::{Bytes, Rate, Span};

/// The values of a varied key as a column, and their unit. Quantities become floats in one unit if
/// all are of one kind: ns, Gb/s or bytes.
pub(super) fn key_values(rows: &[StudyRow], key: usize) -> (&'static str, Values) {
    column(&rows.iter().map(|row| row.values.get(key)).collect::<Vec<_>>())
}

/// The unit that a varied key with these values has in tables: `ns`, `Gb/s`, `bytes` or none.
pub fn key_unit(values: &[Setting]) -> &'static str {
    column(&values.iter().map(Some).collect::<Vec<_>>()).0
}

fn column(values: &[Option<&Setting>]) -> (&'static str, Values) {
    let all = || values.iter().copied();
    let each = |read: &dyn Fn(&Setting) -> Option<f64>| -> Option<Vec<Option<f64>>> {
        let absent = |value: &Setting| matches!(value, Setting::Text(text) if text.is_empty());
        let read = |value: Option<&Setting>| match value {
            Some(value) if !absent(value) => read(value).map(Some),
            _ => Some(None),
        };
        all().map(read).collect::<Option<Vec<_>>>().filter(|list| list.iter().any(Option::is_some))
    };
    let number = |value: &Setting| match value {
        Setting::Number(number) => Some(*number),
        _ => None,
    };
    if let Some(values) = each(&number) {
        let whole = |value: &f64| *value >= 0.0 && value.fract() == 0.0 && *value < 9e15;
        if values.iter().flatten().all(whole) {
            let values = values.into_iter().map(|value| value.map(|value| value as u64));
            return ("", Values::Integer(values.collect()));
        }
        return ("", Values::Float(values));
    }
    let flags: Option<Vec<Option<bool>>> = all()
        .map(|value| match value {
            Some(Setting::Flag(flag)) => Some(Some(*flag)),
            _ => None,
        })
        .collect();
    if let Some(flags) = flags.filter(|flags| !flags.is_empty()) {
        return ("", Values::Flag(flags));
    }
    for (unit, read) in QUANTITIES {
        let quantity = |value: &Setting| match value {
            Setting::Text(text) => read(text),
            _ => None,
        };
        if let Some(values) = each(&quantity) {
            return (unit, Values::Float(values));
        }
    }
    let text = |value: Option<&Setting>| value.map(Setting::to_string);
    ("", Values::Text(all().map(text).map(|text| text.filter(|text| !text.is_empty())).collect()))
}

type Quantity = (&'static str, fn(&str) -> Option<f64>);

/// Units of quantities and how they are read.
const QUANTITIES: [Quantity; 3] = [
    ("ns", |text| text.parse::<Span>().ok().map(|span| span.as_ns_f64())),
    ("Gb/s", |text| text.parse::<Rate>().ok().map(|rate| rate.as_gbps_f64())),
    ("bytes", |text| text.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64)),
];

/// The columns that say which point a row is.
fn identity(results: &StudyResults) -> Frame {
    let rows = &results.rows;
    let text = |get: &dyn Fn(&StudyRow) -> String| {
        Values::Text(rows.iter().map(|row| Some(get(row))).collect())
    };
    let mut frame = Frame::default();
    let doc = "What decides the result of the row, as SHA-256: names its file in the store.";
    frame.push("hash", "", doc, text(&|row| row.hash.clone()));
    let doc = "The transport, or the name of the variant.";
    frame.push("label", "", doc, text(&|row| results.series[row.series].clone()));
    frame.push("transport", "", "The transport.", text(&|row| row.transport.clone()));
    let seeds = rows.iter().map(|row| Some(row.seed)).collect();
    frame.push("seed", "", "`run.seed`: equal seeds have equal arrivals.", Values::Integer(seeds));
    for (at, key) in results.keys.iter().enumerate() {
        let (unit, values) = key_values(rows, at);
        frame.push(key, unit, &format!("Value of the varied key `{key}`."), values);
    }
    frame
}

/// `study.parquet`: one row per point and transport or variant, in the order of the study. It
/// depends on nothing but scenario and program.
pub fn study_frame(results: &StudyResults) -> Frame {
    let rows = &results.rows;
    let mut frame = identity(results);
    let status = |row: &StudyRow| Some(if row.error.is_some() { "failed" } else { "done" }.into());
    let status = Values::Text(rows.iter().map(status).collect());
    frame.push("status", "", "`done` or `failed`.", status);
    let errors = Values::Text(rows.iter().map(|row| row.error.clone()).collect());
    frame.push(
        "error",
        "",
        "Why it failed; null if it did not. Then all numbers are null.",
        errors,
    );
    let warned = |row: &StudyRow| (!row.warnings.is_empty()).then(|| row.warnings.join("\n"));
    let warnings = Values::Text(rows.iter().map(warned).collect());
    frame.push("warnings", "", "Its warnings, one per line; null without.", warnings);
    let known = |number: &&Number| rows.iter().any(|row| row.number(&number.name).is_some());
    for number in numbers().iter().chain(class_numbers().iter().filter(known)) {
        frame.push(&number.name, number.unit, &number.doc, values_of(number, rows));
    }
    histogram(&mut frame, rows);
    frame
}

impl Written {
    /// The type of its column.
    fn column(self) -> &'static str {
        match self {
            Written::Count => Values::Integer(vec![]),
            Written::Float => Values::Float(vec![]),
            Written::Flag => Values::Flag(vec![]),
        }
        .type_name()
    }
}

fn values_of(number: &Number, rows: &[StudyRow]) -> Values {
    let all = rows.iter().map(|row| row.number(&number.name));
    match number.written {
        Written::Count => {
            Values::Integer(all.map(|value| value.map(|value| value as u64)).collect())
        }
        Written::Float => Values::Float(all.collect()),
        Written::Flag => Values::Flag(all.map(|value| value.map(|value| value != 0.0)).collect()),
    }
}

fn histogram(frame: &mut Frame, rows: &[StudyRow]) {
    let sizes = |get: &dyn Fn((u64, &crate::SizeBin)) -> u64| {
        Values::Integers(rows.iter().map(|row| row.slowdown.sizes().map(get).collect()).collect())
    };
    let cells = || rows.iter().map(|row| row.slowdown.cells());
    frame.push(
        "size_bin_from_bytes",
        "bytes",
        "Bins of sizes of measured flows: where each that has flows begins, inclusive. Limits are 0, \
         300 B, 1 KB, 3 KB, 10 KB, and so on to 3 GB.",
        sizes(&|(from, _)| from),
    );
    frame.push("size_bin_flows", "", "Measured flows of each.", sizes(&|(_, bin)| bin.flows));
    frame.push(
        "size_bin_payload_bytes",
        "bytes",
        "Payload of these flows; over `size_bin_flows` their mean size.",
        sizes(&|(_, bin)| bin.bytes),
    );
    frame.push(
        "histogram_size_bytes",
        "bytes",
        "Histogram of the slowdown by size: the bin of sizes of each cell with flows. Histograms of \
         several rows are added by adding the flows of equal cells.",
        Values::Integers(cells().map(|all| all.map(|cell| cell.size_bytes).collect()).collect()),
    );
    frame.push(
        "histogram_slowdown",
        "",
        "The slowdown of each cell: the middle of a bin of 1/64 of its power of two, so quantiles \
         (by nearest rank) are at most 1/128 off.",
        Values::Floats(cells().map(|all| all.map(|cell| cell.slowdown).collect()).collect()),
    );
    frame.push(
        "histogram_flows",
        "",
        "Completed flows in each cell.",
        Values::Integers(cells().map(|all| all.map(|cell| cell.flows).collect()).collect()),
    );
}

/// `study-times.parquet`: what each row took. In a file of its own, because it is never the same
/// twice.
pub fn times_frame(results: &StudyResults) -> Frame {
    let mut frame = identity(results);
    let rows = || results.rows.iter().map(|row| row.times);
    let wall = Values::Float(rows().map(|times| times.wall_seconds).collect());
    frame.push("wall_seconds", "s", "Wall-clock time of the run.", wall);
    let cpu = Values::Float(rows().map(|times| times.cpu_seconds).collect());
    frame.push("cpu_seconds", "s", "CPU time of the run; null if the system does not tell.", cpu);
    frame
}

/// The documentation of the columns as Markdown tables, one per file. Varied keys are columns of their own names; what every group of
/// flows and every tier has is there once.
pub fn study_columns_markdown() -> String {
    let results = StudyResults::default();
    let (mut rows, mut times) = (Rows::default(), Rows::default());
    let mut left = documented().into_iter();
    for column in &study_frame(&results).columns {
        let (known, kind) = (number(&column.name).is_ok(), column.values.type_name());
        if !known {
            rows.push(&column.name, kind, &column.unit, &column.doc);
        }
        // In the place of the first number all of them.
        let all = left.by_ref().take(if known { usize::MAX } else { 0 });
        all.for_each(|(name, unit, written, doc)| rows.push(&name, written.column(), unit, &doc));
        if column.name == "seed" {
            let doc = "One column per varied key, under the key's name: `traffic.0.load`.";
            rows.push("KEY", "by its values", "ns, Gb/s or bytes for quantities", doc);
        }
    }
    let same = identity(&results).columns.len();
    for column in &times_frame(&results).columns[same..] {
        times.push(&column.name, column.values.type_name(), &column.unit, &column.doc);
    }
    let [study, times] = [rows, times].map(|rows| rows.markdown());
    format!(
        "### study.parquet\n\n{study}\n### study-times.parquet\n\n`hash` to `KEY` as above, and\n\n{times}"
    )
}
