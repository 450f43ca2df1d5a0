//! `results.parquet`: what the runs of a figure gave, a row per number of a run.

use super::table::{Address, KeptTable, Tables, is_number};
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{
    Array, ArrayRef, Float64Array, ListArray, RecordBatch, StringArray, UInt64Array,
};
use incast_experiment::Fault;
use incast_experiment::fault::{Problem, expected};
use incast_measure::measured::MeasuredValue;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::sync::Arc;

/// Its columns with their types and meanings. All rows of a run repeat what is said of the run.
pub(super) const COLUMNS: [(&str, &str, &str); 13] = [
    ("measure", "string", "name of the number: kind and selection; null: the run gave none"),
    ("run", "string", "name of the run in `claims.toml`"),
    ("transport", "string", "name of the transport"),
    ("seed", "uint64", "seed of the run"),
    ("set", "string", "assumption set; `dataplane/SET` and `real-time/CLOCK/SET` in other worlds"),
    ("value", "float64", "the number; null: the run has none"),
    (
        "list",
        "list of float64",
        "the number of each batch of flows, or the points of a series, trace or distribution",
    ),
    (
        "flows",
        "uint64",
        "hash of the flows that the number is of; 0 if it is not a statistic of flows",
    ),
    ("run_flows", "uint64", "flows of the scenario"),
    ("identity", "string", "hash of all that decides the results of the run"),
    ("version", "string", "version of the program that ran it"),
    ("error", "string", "why the run failed; null: it did not"),
    ("refused", "string", "why the run, in real time, is not judged; null: it is"),
];

/// A page is a whole column, so that equal runs of several sets take no space twice.
const PAGE: usize = 1 << 28;

/// One row.
struct Line<'a> {
    address: &'a Address,
    table: &'a KeptTable,
    measure: Option<&'a str>,
    seen: Option<&'a MeasuredValue>,
}

/// The rows in the order in which they take the least space: what is alike is together.
fn lines(tables: &Tables) -> Vec<Line<'_>> {
    let mut all = vec![];
    for (address, table) in tables {
        let line = |measure, seen| Line { address, table, measure, seen };
        let numbers = table.fidelity.iter().chain(&table.row);
        let before = all.len();
        all.extend(numbers.map(|(measure, seen)| line(Some(measure.as_str()), Some(seen))));
        if all.len() == before {
            all.push(line(None, None));
        }
    }
    all.sort_by_key(|line| {
        let Address { set, run, transport, seed, .. } = line.address;
        (line.measure, run, transport, *seed, set)
    });
    all
}

/// The file. Equal tables make equal bytes.
pub(super) fn encode(tables: &Tables) -> Vec<u8> {
    let lines = lines(tables);
    let mut lists = ListBuilder::new(Float64Builder::new());
    for line in &lines {
        lists.values().append_slice(line.seen.map_or(&[][..], |seen| &seen.list[..]));
        lists.append(true);
    }
    fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
        Arc::new(values.collect::<StringArray>())
    }
    fn wholes(values: impl Iterator<Item = u64>) -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(values))
    }
    let all = || lines.iter();
    let value = |line: &Line<'_>| line.seen.and_then(|seen| seen.value);
    let arrays: [ArrayRef; COLUMNS.len()] = [
        texts(all().map(|line| line.measure)),
        texts(all().map(|line| Some(&*line.address.run))),
        texts(all().map(|line| Some(&*line.address.transport))),
        wholes(all().map(|line| line.address.seed)),
        texts(all().map(|line| Some(&*line.address.set))),
        Arc::new(all().map(value).collect::<Float64Array>()),
        Arc::new(lists.finish()),
        wholes(all().map(|line| line.seen.map_or(0, |seen| seen.flows))),
        wholes(all().map(|line| line.table.flows as u64)),
        texts(all().map(|line| Some(&*line.table.identity))),
        texts(all().map(|line| Some(&*line.table.version))),
        texts(all().map(|line| line.table.error.as_deref())),
        texts(all().map(|line| line.table.refused.as_deref())),
    ];
    let named = COLUMNS.iter().zip(arrays).map(|((name, ..), array)| (*name, array));
    // Which of them have a null depends on the runs; the schema does not.
    let named = named.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(named).expect("columns of equal length");
    let written = write(&batch);
    written.expect("memory takes everything")
}

fn write(batch: &RecordBatch) -> Result<Vec<u8>, parquet::errors::ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(19)?))
        .set_data_page_size_limit(PAGE)
        .set_data_page_row_count_limit(usize::MAX)
        .set_dictionary_page_size_limit(PAGE)
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by("incast".into());
    for column in [vec!["value"], vec!["list", "list", "item"], vec!["flows"]] {
        let path = column.into_iter().map(String::from).collect::<Vec<_>>();
        properties = properties.set_column_dictionary_enabled(path.into(), false);
    }
    let options = ArrowWriterOptions::new().with_properties(properties.build());
    let options = options.with_skip_arrow_metadata(true);
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options)?;
    writer.write(batch)?;
    writer.close()?;
    Ok(bytes)
}

/// Reads the file of an experiment.
///
/// # Errors
/// What is no such file.
pub(super) fn decode(bytes: Vec<u8>, experiment: &str) -> Result<Tables, Fault> {
    let broken = |why: &dyn std::fmt::Display| Fault::new(format!("not a file of results: {why}"));
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let reader = reader.and_then(|reader| reader.with_batch_size(1 << 16).build());
    let mut tables = Tables::new();
    for batch in reader.map_err(|error| broken(&error))? {
        let batch = batch.map_err(|error| broken(&error))?;
        read(&batch, experiment, &mut tables).map_err(|why| broken(&why.sentence()))?;
    }
    Ok(tables)
}

/// A column of a batch.
fn column<'a, A: 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, Problem> {
    let found = batch.column_by_name(name).and_then(|found| found.as_any().downcast_ref::<A>());
    let kind = COLUMNS.iter().find(|own| own.0 == name).map_or("", |own| own.1);
    found.ok_or_else(|| expected(format!("a column `{name}` of {kind}")))
}

fn read(batch: &RecordBatch, experiment: &str, tables: &mut Tables) -> Result<(), Problem> {
    let texts = |name| column::<StringArray>(batch, name);
    let wholes = |name| column::<UInt64Array>(batch, name);
    let (measure, run, transport, set) =
        (texts("measure")?, texts("run")?, texts("transport")?, texts("set")?);
    let (identity, version) = (texts("identity")?, texts("version")?);
    let (error, refused) = (texts("error")?, texts("refused")?);
    let (seed, flows, run_flows) = (wholes("seed")?, wholes("flows")?, wholes("run_flows")?);
    let value = column::<Float64Array>(batch, "value")?;
    let list = column::<ListArray>(batch, "list")?;
    let maybe =
        |texts: &StringArray, at: usize| texts.is_valid(at).then(|| texts.value(at).to_string());
    for at in 0..batch.num_rows() {
        let address = Address {
            experiment: experiment.into(),
            set: set.value(at).into(),
            run: run.value(at).into(),
            transport: transport.value(at).into(),
            seed: seed.value(at),
        };
        let table = tables.entry(address).or_insert_with(|| KeptTable {
            identity: identity.value(at).into(),
            version: version.value(at).into(),
            flows: run_flows.value(at) as usize,
            error: maybe(error, at),
            refused: maybe(refused, at),
            fidelity: Default::default(),
            row: Default::default(),
        });
        let Some(id) = maybe(measure, at) else { continue };
        let points = list.value(at);
        let points = points.as_any().downcast_ref::<Float64Array>();
        let points = points.ok_or(expected("a column `list` of lists of float64"))?;
        let seen = MeasuredValue {
            value: value.is_valid(at).then(|| value.value(at)),
            flows: flows.value(at),
            list: points.values().to_vec(),
        };
        let of = if is_number(&id) { &mut table.fidelity } else { &mut table.row };
        of.insert(id, seen);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen() -> impl Strategy<Value = MeasuredValue> {
        let number = || prop_oneof![any::<f64>(), Just(f64::INFINITY), Just(-0.0), Just(0.1 + 0.2)];
        (proptest::option::of(number()), any::<u64>(), proptest::collection::vec(number(), 0..5))
            .prop_map(|(value, flows, list)| MeasuredValue { value, flows, list })
    }

    fn table() -> impl Strategy<Value = KeptTable> {
        let text = || "[ -~]{0,12}";
        let row = |begin: &'static str| {
            proptest::collection::btree_map(
                text().prop_map(move |end| format!("{begin}{end}")),
                seen(),
                0..4,
            )
        };
        let said = || proptest::option::of(text());
        let parts = (text(), text(), 0..1usize << 40, said(), said(), row("fidelity "), row("of "));
        parts.prop_map(|(identity, version, flows, error, refused, fidelity, row)| KeptTable {
            identity,
            version,
            flows,
            error,
            refused,
            fidelity,
            row,
        })
    }

    fn address() -> impl Strategy<Value = Address> {
        let set = prop_oneof![Just("as_published"), Just("real-time/paced/sensitivity/a")];
        (set, "[a-c.-]{1,3}", "[a-c_]{1,3}", any::<u64>()).prop_map(
            |(set, run, transport, seed)| {
                let (experiment, set) = ("ren/fig16".into(), set.into());
                Address { experiment, set, run, transport, seed }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Numbers read back to the last bit, also what is none; a run without numbers reads back, too;
        /// and the bytes are those of the tables alone.
        #[test]
        fn tables_read_back_to_the_bit(
            tables in proptest::collection::btree_map(address(), table(), 0..6),
        ) {
            let bytes = encode(&tables);
            let read = decode(bytes.clone(), "ren/fig16").unwrap();
            // What is no number is equal here.
            prop_assert_eq!(format!("{:?}", read), format!("{:?}", tables));
            prop_assert_eq!(encode(&read), bytes);
        }
    }

    #[test]
    fn columns_are_described() {
        let row =
            |(name, kind, doc): &(&str, &str, &str)| format!("| `{name}` | {kind} | {doc} |\n");
        let rows: String = COLUMNS.iter().map(row).collect();
        let made = format!("\n| column | type | meaning |\n|---|---|---|\n{rows}\n");
        incast_testkit::check_part("experiments/README.md", "columns", &made);
    }

    #[test]
    fn what_is_no_file_of_results_is_refused() {
        let said = |bytes| decode(bytes, "ren/fig16").unwrap_err().to_string();
        assert!(said(b"measure,value\n".to_vec()).starts_with("not a file of results: "));
        let seeds: ArrayRef = Arc::new(UInt64Array::from(vec![1]));
        let other = RecordBatch::try_from_iter([("seed", seeds)]).unwrap();
        let why = said(write(&other).unwrap());
        assert_eq!(why, "not a file of results: expected a column `measure` of string");
    }
}
