//! The columns of `fairness.parquet`.

use super::column::{Column, INTERVAL, Row, TIME, float, integer, text};
use super::table::Table;
use crate::fairness::{Window, throughput};

/// `fairness.parquet`.
pub static FAIRNESS: Table = Table {
    name: "fairness",
    doc: "One row per transport and interval, ordered by transport, then time. Jain's index is over \
          the flows that were recorded: `run.watch`, the first 8, or 128 if there are several \
          transports.",
    columns: COLUMNS,
    rows: |run| {
        let each = |item| (0..run.intervals()).map(move |interval| Row::of(item, interval));
        Box::new((0..run.transports.len()).flat_map(each))
    },
};

/// In order; a row's item is a transport.
const COLUMNS: &[Column] = &[
    text("transport", "Its name.", |run, row| &run.transports[row.item]),
    TIME,
    INTERVAL,
    integer(
        "delivered_bytes",
        "bytes",
        "Payload delivered by all flows of the transport; null if the run has one transport and not \
         every flow was recorded (`run.watch`).",
        |run, row| Window::interval(row.interval).delivered(run, row.item),
    ),
    float("throughput_gbps", "Gb/s", "`delivered_bytes` over the interval.", |run, row| {
        throughput(run, Window::interval(row.interval), row.item)
    }),
    float(
        "share",
        "",
        "`delivered_bytes` over those of all transports; null if nothing was delivered.",
        |run, row| Window::interval(row.interval).share(run, row.item),
    ),
    integer(
        "recorded_flows",
        "",
        "Recorded flows of the transport that were open during the whole interval.",
        |run, row| Some(Window::interval(row.interval).rates(run, Some(row.item)).len() as u64),
    ),
    float(
        "jain",
        "",
        "Jain's index over what `recorded_flows` delivered; null if there are none, or nothing.",
        |run, row| Window::interval(row.interval).jain(run, Some(row.item)),
    ),
    float("jain_all", "", "The same over the recorded flows of all transports.", |run, row| {
        Window::interval(row.interval).jain(run, None)
    }),
];
