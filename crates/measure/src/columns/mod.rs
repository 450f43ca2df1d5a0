//! Every column that is written, declared once: schema and metadata of the Parquet file, the head
//! of the CSV file and the table in `docs/results.md` follow from its line here.

mod column;
mod fairness;
mod flows;
mod ports;
mod table;
mod trace;

pub use column::{Cell, Column, Row};
pub use fairness::FAIRNESS;
pub use flows::FLOWS;
pub use ports::PORTS;
pub use table::Table;
pub use trace::TRACE;
pub use trace::place;

/// The tables of every results folder.
pub static TABLES: [&Table; 3] = [&FLOWS, &PORTS, &FAIRNESS];

/// The documentation of all columns as Markdown tables, one per file.
pub fn columns_markdown() -> String {
    let mut text = String::new();
    for table in TABLES.into_iter().chain([&TRACE]) {
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
