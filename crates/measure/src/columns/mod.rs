//! Every column that is written, declared once: schema and metadata of the Parquet file, the head
//! of the CSV file and the table in `docs/results.md` follow from its line here.

use crate::Run;

mod collectives;
mod column;
mod fairness;
mod flows;
mod ports;
mod ranks;
mod servers;
mod steps;
mod table;
mod trace;

pub use collectives::COLLECTIVES;
pub use column::{Cell, Column, Row};
pub use fairness::FAIRNESS;
pub use flows::FLOWS;
pub use ports::PORTS;
pub use ranks::RANKS;
pub use servers::SERVERS;
pub use steps::STEPS;
pub use table::Table;
pub use trace::TRACE;
pub use trace::place;

/// The tables of every results folder.
pub static TABLES: [&Table; 3] = [&FLOWS, &PORTS, &FAIRNESS];

/// The tables of some results folders.
static OTHER_TABLES: [&Table; 5] = [&COLLECTIVES, &RANKS, &STEPS, &SERVERS, &TRACE];

/// All tables.
pub fn all_tables() -> impl Iterator<Item = &'static Table> {
    TABLES.into_iter().chain(OTHER_TABLES)
}

/// The tables of a run.
pub fn tables_of(run: &Run) -> impl Iterator<Item = &'static Table> {
    let collectives = (!run.collectives.is_empty()).then_some(&COLLECTIVES);
    let ranks = (!run.ranks.is_empty()).then_some(&RANKS);
    let steps = (!run.ranks.is_empty()).then_some(&STEPS);
    let servers = (!run.servers.is_empty()).then_some(&SERVERS);
    let trace = run.record.trace.is_some().then_some(&TRACE);
    TABLES.into_iter().chain(collectives).chain(ranks).chain(steps).chain(servers).chain(trace)
}

/// The documentation of all columns as Markdown tables, one per file.
pub fn columns_markdown() -> String {
    let mut text = String::new();
    for table in all_tables() {
        text += &format!("## {}.parquet\n\n{}\n\n", table.name, table.doc);
        text += "| column | type | unit | meaning |\n|---|---|---|---|\n";
        for column in table.columns {
            let Column { name, unit, doc, .. } = column;
            text += &format!("| `{name}` | {} | {unit} | {doc} |\n", column.type_name());
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
