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
        let mut rows = Rows::default();
        for column in table.columns {
            rows.push(column.name, column.type_name(), column.unit, column.doc);
        }
        text += &rows.markdown();
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The columns of a file, as a page documents them.
#[derive(Default)]
pub(crate) struct Rows(Vec<[String; 3]>);

impl Rows {
    /// A column. One whose meaning differs from that of the column before in its last words alone, such as `mean` and
    /// `median`, is in its row.
    pub fn push(&mut self, name: &str, kind: &str, unit: &str, doc: &str) {
        let kind = if unit.is_empty() { kind.into() } else { format!("{kind}, {unit}") };
        let head = |doc: &str| doc.rsplit_once(", ").map(|(head, _)| format!("{head}, "));
        if let Some([names, before, said]) = self.0.last_mut()
            && *before == kind
            && let Some(own) = head(doc)
            && said.starts_with(&own)
        {
            *names += &format!(", `{name}`");
            *said = format!("{}, {}", said.trim_end_matches('.'), &doc[own.len()..]);
            return;
        }
        self.0.push([format!("`{name}`"), kind, doc.into()]);
    }

    /// As a table.
    pub fn markdown(&self) -> String {
        let row = |[names, kind, doc]: &[String; 3]| format!("| {names} | {kind} | {doc} |\n");
        let rows: String = self.0.iter().map(row).collect();
        format!("| column | type, unit | meaning |\n|---|---|---|\n{rows}")
    }
}
