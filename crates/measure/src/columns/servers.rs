//! The columns of `servers.parquet`.

use super::column::{Column, Row, float, integer};
use super::table::{Table, each};
use crate::{Run, Server};

/// `servers.parquet`.
pub static SERVERS: Table = Table {
    name: "servers",
    doc: "Only of networks whose servers have several NICs, each of which is a host. One row per server, in order of \
          `server`; its NICs are counted together.",
    columns: COLUMNS,
    rows: |run| each(run.servers.len()),
};

fn of(run: &Run, row: Row) -> &Server {
    &run.servers[row.item]
}

/// In order; a row's item is a server.
const COLUMNS: &[Column] = &[
    integer(
        "server",
        "",
        "Number of the server: its NICs are `server3/nic0` and so on.",
        |run, row| Some(of(run, row).server.into()),
    ),
    integer("nics", "", "Its NICs.", |run, row| Some(of(run, row).nics.into())),
    integer("sent_flows", "", "Flows that it sends.", |run, row| Some(of(run, row).sent_flows)),
    integer("sent_bytes", "bytes", "Their sizes.", |run, row| Some(of(run, row).sent_bytes)),
    integer("received_flows", "", "Flows that it receives.", |run, row| {
        Some(of(run, row).received_flows)
    }),
    integer(
        "delivered_bytes",
        "bytes",
        "Payload of these that was delivered, each byte once.",
        |run, row| Some(of(run, row).delivered_bytes),
    ),
    integer("completed_flows", "", "Flows that it receives that are complete.", |run, row| {
        Some(of(run, row).completed_flows)
    }),
    float("fct_mean_ns", "ns", "Mean completion time of these; null without any.", |run, row| {
        Some(of(run, row).fct_ns?.mean)
    }),
    float("fct_p99_ns", "ns", "99th percentile of it.", |run, row| Some(of(run, row).fct_ns?.p99)),
    float(
        "slowdown_mean",
        "",
        "Mean of their completion times over those of the flows alone.",
        |run, row| Some(of(run, row).slowdown?.mean),
    ),
];
