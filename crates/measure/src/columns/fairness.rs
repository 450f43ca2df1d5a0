//! The columns of `fairness.parquet`.

use super::{Cell, Column};
use crate::fairness::{Window, throughput};

const fn column(name: &'static str, unit: &'static str, doc: &'static str, cell: Cell) -> Column {
    Column { name, unit, doc, cell }
}

/// The columns of `fairness.parquet`, in order; a row's item is a transport.
pub const FAIRNESS_COLUMNS: &[Column] = &[
    column("transport", "", "Its name.", Cell::Text(|run, row| &run.transports[row.item])),
    column(
        "time_ns",
        "ns",
        "Start of the interval.",
        Cell::Float(|run, row| Some(run.interval(row.interval).0.as_ns_f64())),
    ),
    column(
        "interval_ns",
        "ns",
        "Length of the interval; the last one ends with the run.",
        Cell::Float(|run, row| Some(run.interval(row.interval).1.as_ns_f64())),
    ),
    column(
        "delivered_bytes",
        "bytes",
        "Payload delivered by all flows of the transport; null if the run has one transport and not \
         every flow was recorded (`run.watch`).",
        Cell::Integer(|run, row| Window::interval(row.interval).delivered(run, row.item)),
    ),
    column(
        "throughput_gbps",
        "Gb/s",
        "`delivered_bytes` over the interval.",
        Cell::Float(|run, row| throughput(run, Window::interval(row.interval), row.item)),
    ),
    column(
        "share",
        "",
        "`delivered_bytes` over those of all transports; null if nothing was delivered.",
        Cell::Float(|run, row| Window::interval(row.interval).share(run, row.item)),
    ),
    column(
        "recorded_flows",
        "",
        "Recorded flows of the transport that were open during the whole interval.",
        Cell::Integer(|run, row| {
            Some(Window::interval(row.interval).rates(run, Some(row.item)).len() as u64)
        }),
    ),
    column(
        "jain",
        "",
        "Jain's index over what `recorded_flows` delivered; null if there are none, or nothing.",
        Cell::Float(|run, row| Window::interval(row.interval).jain(run, Some(row.item))),
    ),
    column(
        "jain_all",
        "",
        "The same over the recorded flows of all transports.",
        Cell::Float(|run, row| Window::interval(row.interval).jain(run, None)),
    ),
];
