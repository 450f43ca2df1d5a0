//! The columns of `ports.parquet`.

use super::{Cell, Column, Row};
use crate::Run;
use crate::run::{gbps, share};
use incast_transport::Bin;

fn bin(run: &Run, row: Row) -> Bin {
    run.bin(row.item, row.interval)
}

const fn column(name: &'static str, unit: &'static str, doc: &'static str, cell: Cell) -> Column {
    Column { name, unit, doc, cell }
}

macro_rules! count {
    ($name:literal, $unit:literal, $doc:literal, $field:ident) => {
        column($name, $unit, $doc, Cell::Integer(|run, row| Some(bin(run, row).$field as u64)))
    };
}

macro_rules! paused_class {
    ($class:literal, $name:literal) => {
        column(
            $name,
            "ns",
            "Time during which this class was paused.",
            Cell::Float(|run, row| {
                let pauses = run.pauses(row.item, row.interval);
                Some(pauses.paused[$class] as f64 / 1e3)
            }),
        )
    };
}

macro_rules! frames {
    ($name:literal, $doc:literal, $field:ident) => {
        column(
            $name,
            "",
            $doc,
            Cell::Integer(|run, row| Some(run.pauses(row.item, row.interval).$field as u64)),
        )
    };
}

/// The columns of `ports.parquet`, in order.
pub const PORT_COLUMNS: &[Column] = &[
    column("port", "", "Number of the port.", Cell::Integer(|_, row| Some(row.item as u64))),
    column("name", "", "Name of the port.", Cell::Text(|run, row| &run.ports[row.item].name)),
    column(
        "tier",
        "",
        "`nic`, `edge`, `aggregation` or `core`.",
        Cell::Text(|run, row| run.ports[row.item].tier),
    ),
    column(
        "upward",
        "",
        "Whether it leads away from the receiving hosts.",
        Cell::Flag(|run, row| run.ports[row.item].upward),
    ),
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
        "throughput_gbps",
        "Gb/s",
        "Charged bytes (payload, headers, framing) of packets that began transmission, over the \
         interval.",
        Cell::Float(|run, row| gbps(bin(run, row).sent_bytes, run.interval(row.interval).1)),
    ),
    column(
        "utilisation",
        "",
        "`throughput_gbps` over the rate of the link. A packet counts where its transmission \
         begins, so a short interval can exceed 1 by a packet.",
        Cell::Float(|run, row| {
            let sent = bin(run, row).sent_bytes;
            share(sent, run.interval(row.interval).1, run.ports[row.item].rate)
        }),
    ),
    column(
        "backlog_mean_bytes",
        "bytes",
        "Charged bytes waiting, averaged over time; the packet in transmission not included.",
        Cell::Float(|run, row| {
            let length = run.interval(row.interval).1.0;
            (length > 0).then(|| bin(run, row).backlog_area as f64 / length as f64)
        }),
    ),
    count!("backlog_max_bytes", "bytes", "Largest backlog.", backlog_max),
    count!("marks", "", "Packets marked.", marks),
    count!("drops", "", "Packets dropped, without credits.", drops),
    count!(
        "credit_drops",
        "",
        "Credits dropped: they shape what comes the other way.",
        credit_drops
    ),
    count!("trims", "", "Packets whose payload was cut off.", trims),
    column(
        "paused_ns",
        "ns",
        "Time during which some class was paused by the other end of the link (802.1Qbb); zero \
         without `fabric.pfc`.",
        Cell::Float(|run, row| Some(bin(run, row).paused as f64 / 1e3)),
    ),
    paused_class!(0, "paused_class0_ns"),
    paused_class!(1, "paused_class1_ns"),
    paused_class!(2, "paused_class2_ns"),
    paused_class!(3, "paused_class3_ns"),
    paused_class!(4, "paused_class4_ns"),
    paused_class!(5, "paused_class5_ns"),
    paused_class!(6, "paused_class6_ns"),
    paused_class!(7, "paused_class7_ns"),
    frames!(
        "pause_frames",
        "Pause frames sent that paused a class of the other end.",
        pause_frames
    ),
    frames!(
        "resume_frames",
        "Pause frames sent that released a class of the other end; one can do both.",
        resume_frames
    ),
    count!("sent_bytes", "bytes", "Charged bytes that began transmission.", sent_bytes),
    count!("sent_packets", "", "Packets that began transmission.", sent_packets),
];
