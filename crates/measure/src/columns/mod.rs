//! Every column that is written, with unit and meaning. One table writes the files and the
//! documentation, so a column cannot exist without its line here.

mod fairness;
mod flows;
mod ports;

pub use fairness::FAIRNESS_COLUMNS;
pub use flows::FLOW_COLUMNS;
pub use ports::PORT_COLUMNS;

use crate::Run;

/// A row of a file: of the flow `item`, or of the port or transport `item` in the interval
/// `interval`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number of the flow, port or transport.
    pub item: usize,
    /// Number of the interval; zero for flows.
    pub interval: usize,
}

/// How a cell is read off a run, and with which type it is written.
#[derive(Clone, Copy)]
pub enum Cell {
    /// A whole number (64 bits, unsigned).
    Integer(fn(&Run, Row) -> Option<u64>),
    /// A float (64 bits).
    Float(fn(&Run, Row) -> Option<f64>),
    /// Text.
    Text(for<'a> fn(&'a Run, Row) -> &'a str),
    /// Yes or no.
    Flag(fn(&Run, Row) -> bool),
}

/// One column.
#[derive(Clone, Copy)]
pub struct Column {
    /// Its name; ends in the unit where it has one.
    pub name: &'static str,
    /// Its unit; empty for names and counts.
    pub unit: &'static str,
    /// What it says, and when it is null.
    pub doc: &'static str,
    /// Its values.
    pub cell: Cell,
}

impl Column {
    /// Type of the column in words.
    pub fn type_name(&self) -> &'static str {
        match self.cell {
            Cell::Integer(_) => "uint64",
            Cell::Float(_) => "float64",
            Cell::Text(_) => "string",
            Cell::Flag(_) => "bool",
        }
    }
}

/// The documentation of all columns as Markdown tables, one a file.
pub fn columns_markdown() -> String {
    let mut text = String::new();
    for (file, rows, columns) in [
        ("flows.parquet", "One row a flow, in order of `flow_id`.", FLOW_COLUMNS),
        (
            "ports.parquet",
            "One row a port and interval, ordered by port, then time; every port has a row for \
             every interval until the end of the run.",
            PORT_COLUMNS,
        ),
        (
            "fairness.parquet",
            "One row a transport and interval, ordered by transport, then time. Jain's index is \
             over the flows that were recorded: `run.watch`, the first 8, or 128 if there are \
             several transports.",
            FAIRNESS_COLUMNS,
        ),
    ] {
        text += &format!("## {file}\n\n{rows}\n\n| column | type | unit | meaning |\n");
        text += "|---|---|---|---|\n";
        for column in columns {
            let Column { name, unit, doc, .. } = column;
            text += &format!("| `{name}` | {} | {unit} | {doc} |\n", column.type_name());
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
