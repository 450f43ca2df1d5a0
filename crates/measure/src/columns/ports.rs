//! The columns of `ports.parquet`.

use super::column::{Column, INTERVAL, Row, TIME, flag, float, integer, text};
use super::table::Table;
use crate::Run;
use crate::run::{gbps, share};
use crate::uplinks::Uplinks;
use incast_transport::{Bin, Pauses};
use std::rc::Rc;

/// `ports.parquet`.
pub static PORTS: Table = Table {
    name: "ports",
    doc: "One row per port and interval in which something happened, ordered by port, then time. \
          An interval without a row was idle: nothing was queued, sent, dropped or paused, and every \
          number would be zero.",
    columns: COLUMNS,
    rows: |run| {
        let (intervals, uplinks) = (run.intervals(), Rc::new(Uplinks::of(run)));
        Box::new((0..run.ports.len()).flat_map(move |port| busy(run, port, intervals, &uplinks)))
    },
};

/// The intervals of a port in which something happened.
fn busy<'a>(
    run: &'a Run,
    port: usize,
    intervals: usize,
    uplinks: &Rc<Uplinks>,
) -> impl Iterator<Item = Row> + use<'a> {
    let wire = run.wire_bytes(port, intervals);
    let record = &run.record.ports[port];
    let intervals = wire.len().max(record.pauses.len());
    let uplinks = Rc::clone(uplinks);
    let row = move |interval: usize| {
        let wire_bytes = wire.get(interval).copied().unwrap_or(0);
        let uplink_ratio = uplinks.ratio(port, interval, wire_bytes);
        Row { item: port, interval, wire_bytes, uplink_ratio }
    };
    (0..intervals).map(row).filter(move |row| {
        row.wire_bytes > 0
            || bin(run, *row) != Bin::default()
            || pauses(run, *row) != Pauses::default()
    })
}

fn bin(run: &Run, row: Row) -> Bin {
    run.bin(row.item, row.interval)
}

fn pauses(run: &Run, row: Row) -> Pauses {
    run.pauses(row.item, row.interval)
}

fn paused_ns(picoseconds: u64) -> f64 {
    picoseconds as f64 / 1e3
}

const fn paused_class(name: &'static str, get: fn(&Run, Row) -> Option<f64>) -> Column {
    float(name, "ns", "Time during which this class was paused.", get)
}

/// In order.
const COLUMNS: &[Column] = &[
    integer("port", "", "Number of the port.", |_, row| Some(row.item as u64)),
    text("name", "Name of the port.", |run, row| &run.ports[row.item].name),
    text("tier", "`nic`, `edge`, `aggregation` or `core`.", |run, row| run.ports[row.item].tier),
    flag("upward", "Whether it leads away from the receiving hosts.", |run, row| {
        run.ports[row.item].upward
    }),
    TIME,
    INTERVAL,
    float(
        "throughput_gbps",
        "Gb/s",
        "Charged bytes (payload, headers, framing) on the wire, over the interval. Bytes of packets that \
         began transmission (`sent_bytes`), as far as the link can have carried them before the \
         interval ended; the rest counts in the next one.",
        |run, row| gbps(row.wire_bytes, run.interval(row.interval).1),
    ),
    float(
        "utilisation",
        "",
        "`throughput_gbps` over the rate of the link: at most 1.",
        |run, row| share(row.wire_bytes, run.interval(row.interval).1, run.ports[row.item].rate),
    ),
    float(
        "uplink_ratio",
        "",
        "`throughput_gbps` over the mean of the uplinks of its switch: 1 if all carry the same, their number \
         if only this one carries anything; null if it is no uplink (`upward`, of a switch), or the only one.",
        |_, row| row.uplink_ratio,
    ),
    float(
        "backlog_mean_bytes",
        "bytes",
        "Charged bytes waiting, averaged over time; the packet in transmission not included.",
        |run, row| {
            let length = run.interval(row.interval).1.0;
            (length > 0).then(|| bin(run, row).backlog_area as f64 / length as f64)
        },
    ),
    integer("backlog_max_bytes", "bytes", "Largest backlog.", |run, row| {
        Some(bin(run, row).backlog_max)
    }),
    integer(
        "backlog_p50_bytes",
        "bytes",
        "Median over time of the port's backlog during the entire run, the same in each of its rows. \
        From samples at random instants, one in the time of 16 full packets each, in bins of a \
        sixteenth of their value, rounded down.",
        |run, row| run.record.ports[row.item].backlogs.percentile(500),
    ),
    integer("backlog_p99_bytes", "bytes", "99th percentile over time, likewise.", |run, row| {
        run.record.ports[row.item].backlogs.percentile(990)
    }),
    integer("marks", "", "Packets marked.", |run, row| Some(bin(run, row).marks.into())),
    integer("drops", "", "Packets dropped, without credits.", |run, row| {
        Some(bin(run, row).drops.into())
    }),
    integer(
        "credit_drops",
        "",
        "Credits dropped; their rate limits the data in the opposite direction.",
        |run, row| Some(bin(run, row).credit_drops.into()),
    ),
    integer("trims", "", "Packets whose payload was cut off.", |run, row| {
        Some(bin(run, row).trims.into())
    }),
    float(
        "paused_ns",
        "ns",
        "Time during which some class was paused by the other end of the link (802.1Qbb); zero \
         without `fabric.pfc`.",
        |run, row| Some(paused_ns(bin(run, row).paused)),
    ),
    paused_class("paused_class0_ns", |run, row| Some(paused_ns(pauses(run, row).paused[0]))),
    paused_class("paused_class1_ns", |run, row| Some(paused_ns(pauses(run, row).paused[1]))),
    paused_class("paused_class2_ns", |run, row| Some(paused_ns(pauses(run, row).paused[2]))),
    paused_class("paused_class3_ns", |run, row| Some(paused_ns(pauses(run, row).paused[3]))),
    paused_class("paused_class4_ns", |run, row| Some(paused_ns(pauses(run, row).paused[4]))),
    paused_class("paused_class5_ns", |run, row| Some(paused_ns(pauses(run, row).paused[5]))),
    paused_class("paused_class6_ns", |run, row| Some(paused_ns(pauses(run, row).paused[6]))),
    paused_class("paused_class7_ns", |run, row| Some(paused_ns(pauses(run, row).paused[7]))),
    integer(
        "pause_frames",
        "",
        "Pause frames sent that paused a class of the other end.",
        |run, row| Some(pauses(run, row).pause_frames.into()),
    ),
    integer(
        "resume_frames",
        "",
        "Pause frames sent that released a class of the other end; one can do both.",
        |run, row| Some(pauses(run, row).resume_frames.into()),
    ),
    integer(
        "storms",
        "",
        "How often the watchdog (`fabric.pfc.watchdog`) declared a class of the port stuck.",
        |run, row| Some(pauses(run, row).storms.into()),
    ),
    integer("sent_bytes", "bytes", "Charged bytes whose transmission started.", |run, row| {
        Some(bin(run, row).sent_bytes)
    }),
    integer("sent_packets", "", "Packets whose transmission started.", |run, row| {
        Some(bin(run, row).sent_packets.into())
    }),
];
