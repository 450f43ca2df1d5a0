//! A column: its name, unit, meaning, type and how it is read off a run.

use crate::Run;

/// A row of a file: of the flow `item`, or of the port or transport `item` in the interval
/// `interval`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number of the flow, port or transport.
    pub item: usize,
    /// Number of the interval; zero for flows.
    pub interval: usize,
    /// Bytes that the port had on the wire in the interval ([`Run::wire_bytes`]); zero for others.
    pub wire_bytes: u64,
    /// These bytes over the mean of the uplinks of the port's switch, if it is one of several.
    pub uplink_ratio: Option<f64>,
}

impl Row {
    /// A row that is not of a port.
    pub fn of(item: usize, interval: usize) -> Row {
        Row { item, interval, wire_bytes: 0, uplink_ratio: None }
    }
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
    /// Meaning, and when it is null.
    pub doc: &'static str,
    /// Its values.
    pub cell: Cell,
}

/// The start of the row's interval.
pub(super) const TIME: Column = float("time_ns", "ns", "Start of the interval.", |run, row| {
    Some(run.interval(row.interval).0.as_ns_f64())
});

/// The length of the row's interval.
pub(super) const INTERVAL: Column = float(
    "interval_ns",
    "ns",
    "Length of the interval; the last one ends with the run.",
    |run, row| Some(run.interval(row.interval).1.as_ns_f64()),
);

/// A column of whole numbers.
pub(super) const fn integer(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    get: fn(&Run, Row) -> Option<u64>,
) -> Column {
    Column { name, unit, doc, cell: Cell::Integer(get) }
}

/// A column of floats.
pub(super) const fn float(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    get: fn(&Run, Row) -> Option<f64>,
) -> Column {
    Column { name, unit, doc, cell: Cell::Float(get) }
}

/// A column of names.
pub(super) const fn text(
    name: &'static str,
    doc: &'static str,
    get: for<'a> fn(&'a Run, Row) -> &'a str,
) -> Column {
    Column { name, unit: "", doc, cell: Cell::Text(get) }
}

/// A column of yes and no.
pub(super) const fn flag(
    name: &'static str,
    doc: &'static str,
    get: fn(&Run, Row) -> bool,
) -> Column {
    Column { name, unit: "", doc, cell: Cell::Flag(get) }
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
