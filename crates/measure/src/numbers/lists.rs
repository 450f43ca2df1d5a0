//! The numbers, each in one line.

use super::Kind::{self, Count, Flag, Float};
use crate::Better::{self, Higher, Lower, Neither};
use crate::summary::{Group, Summary, TierSummary};

/// An entry of a list: name, unit, meaning, how it is written, which values are good, and the value.
pub(super) type Entry<T> =
    (&'static str, &'static str, &'static str, Kind, Better, fn(&T) -> Option<f64>);

/// Of each group of flows.
pub(super) const OF_GROUP: [Entry<Group>; 22] = [
    ("flows", "", "Number of flows", Count, Neither, |g| Some(g.flows as f64)),
    ("completed", "", "Flows that completed", Count, Higher, |g| Some(g.completed as f64)),
    ("completed_share", "", "Share of the flows that completed", Float, Higher, |g| {
        (g.flows > 0).then(|| g.completed as f64 / g.flows as f64)
    }),
    (
        "slowdown_mean",
        "",
        "Slowdown (completion time over that of the flow alone), mean",
        Float,
        Lower,
        |g| Some(g.slowdown?.mean),
    ),
    (
        "slowdown_median",
        "",
        "Slowdown (completion time over that of the flow alone), median",
        Float,
        Lower,
        |g| Some(g.slowdown?.median),
    ),
    (
        "slowdown_p95",
        "",
        "Slowdown (completion time over that of the flow alone), 95th percentile",
        Float,
        Lower,
        |g| Some(g.slowdown?.p95),
    ),
    (
        "slowdown_p99",
        "",
        "Slowdown (completion time over that of the flow alone), 99th percentile",
        Float,
        Lower,
        |g| Some(g.slowdown?.p99),
    ),
    (
        "slowdown_p999",
        "",
        "Slowdown (completion time over that of the flow alone), 99.9th percentile",
        Float,
        Lower,
        |g| Some(g.slowdown?.p999),
    ),
    (
        "slowdown_max",
        "",
        "Slowdown (completion time over that of the flow alone), largest",
        Float,
        Lower,
        |g| Some(g.slowdown?.max),
    ),
    ("fct_mean_ns", "ns", "Completion time of completed flows, mean", Float, Lower, |g| {
        Some(g.fct_ns?.mean)
    }),
    ("fct_median_ns", "ns", "Completion time of completed flows, median", Float, Lower, |g| {
        Some(g.fct_ns?.median)
    }),
    (
        "fct_p95_ns",
        "ns",
        "Completion time of completed flows, 95th percentile",
        Float,
        Lower,
        |g| Some(g.fct_ns?.p95),
    ),
    (
        "fct_p99_ns",
        "ns",
        "Completion time of completed flows, 99th percentile",
        Float,
        Lower,
        |g| Some(g.fct_ns?.p99),
    ),
    (
        "fct_p999_ns",
        "ns",
        "Completion time of completed flows, 99.9th percentile",
        Float,
        Lower,
        |g| Some(g.fct_ns?.p999),
    ),
    ("fct_max_ns", "ns", "Completion time of completed flows, largest", Float, Lower, |g| {
        Some(g.fct_ns?.max)
    }),
    ("throughput_mean_gbps", "Gb/s", "Throughput of a flow, mean over flows", Float, Higher, |g| {
        g.throughput_mean_gbps
    }),
    ("packets", "", "Data packets sent, retransmissions included", Count, Neither, |g| {
        Some(g.packets as f64)
    }),
    ("retransmits", "", "Retransmitted data packets", Count, Lower, |g| Some(g.retransmits as f64)),
    (
        "decision_age_mean_ns",
        "ns",
        "Mean age of the information behind decisions",
        Float,
        Neither,
        |g| g.decision_age_mean_ns,
    ),
    (
        "decisions_per_rtt",
        "",
        "Decisions of a flow per base RTT of its life",
        Float,
        Neither,
        |g| g.decisions_per_rtt,
    ),
    ("feedback_utility", "", "Utility of feedback of the mean age", Float, Neither, |g| {
        g.feedback_utility
    }),
    (
        "feedback_per_payload",
        "",
        "Control packets and header extensions over payload",
        Float,
        Neither,
        |g| g.feedback_per_payload,
    ),
];

/// The largest value over ports of switches.
fn switches(summary: &Summary, value: fn(&TierSummary) -> Option<f64>) -> Option<f64> {
    let tiers = summary.tiers.iter().filter(|tier| tier.tier != "nic");
    tiers.filter_map(value).reduce(f64::max)
}

/// Of the run.
pub(super) const OF_RUN: [Entry<Summary>; 37] = [
    (
        "decision_age_p99_ns",
        "ns",
        "99th percentile of the age of information behind decisions, at most 1/16 too small.",
        Float,
        Neither,
        |s| Some(s.all.decision_age_ns?.p99),
    ),
    ("ended_ns", "ns", "Simulated time at the end of the run.", Float, Neither, |s| {
        Some(s.ended_ns)
    }),
    ("flows_total", "", "Flows of the scenario, warm-up included.", Count, Neither, |s| {
        Some(s.flows.total as f64)
    }),
    (
        "flows_warmup",
        "",
        "Flows of the warm-up, which are left out of all other numbers of flows.",
        Count,
        Neither,
        |s| Some(s.flows.warmup as f64),
    ),
    ("flows_started", "", "Flows opened until the end, warm-up included.", Count, Neither, |s| {
        Some(s.flows.started as f64)
    }),
    (
        "flows_completed",
        "",
        "Flows completed until the end, warm-up included.",
        Count,
        Higher,
        |s| Some(s.flows.completed as f64),
    ),
    (
        "offered_gbps",
        "Gb/s",
        "Sizes of all flows over the time from the first to the last one's opening, without flows of 1 TB and \
         more, which have no end; none if all open within a twentieth of the run.",
        Float,
        Neither,
        |s| s.load.offered_gbps,
    ),
    ("offered_load", "", "`offered_gbps` over the rate of all NICs.", Float, Neither, |s| {
        s.load.offered_load
    }),
    (
        "goodput_gbps",
        "Gb/s",
        "Payload delivered, from the first start to the end.",
        Float,
        Higher,
        |s| s.load.goodput_gbps,
    ),
    ("goodput_load", "", "`goodput_gbps` over the rate of all NICs.", Float, Higher, |s| {
        s.load.goodput_load
    }),
    (
        "balance_reached",
        "",
        "Whether arrivals and departures balance; null if there are too few arrivals to tell.",
        Flag,
        Neither,
        |s| Some(f64::from(u8::from(s.balance?.reached))),
    ),
    (
        "balance_from_ns",
        "ns",
        "Start of the window in which they do; null if there is none.",
        Float,
        Neither,
        |s| Some(s.balance.filter(|window| window.reached)?.from_ns),
    ),
    ("balance_to_ns", "ns", "End of that window.", Float, Neither, |s| {
        Some(s.balance.filter(|window| window.reached)?.to_ns)
    }),
    (
        "jain_long",
        "",
        "Jain's index over the throughput of measured long flows.",
        Float,
        Higher,
        |s| s.jain_long,
    ),
    (
        "jain_series",
        "",
        "Jain's index over the bytes delivered by recorded flows (`run.watch`).",
        Float,
        Higher,
        |s| s.jain_series,
    ),
    (
        "jain_mean",
        "",
        "Jain's index of recorded flows, mean over windows of a fiftieth of the run.",
        Float,
        Higher,
        |s| s.fairness.as_ref()?.jain_mean,
    ),
    ("jain_min", "", "The smallest of these.", Float, Higher, |s| s.fairness.as_ref()?.jain_min),
    (
        "convergence_ns",
        "ns",
        "Time until the rates of recorded flows stay within 20 % of their mean; null if they never do.",
        Float,
        Lower,
        |s| s.fairness.as_ref()?.convergence_ns,
    ),
    (
        "total_packets",
        "",
        "Data packets of all flows, warm-up and retransmissions included.",
        Count,
        Neither,
        |s| Some(s.counters.packets as f64),
    ),
    ("total_retransmits", "", "Of these retransmitted.", Count, Lower, |s| {
        Some(s.counters.retransmits as f64)
    }),
    ("marks", "", "Packets marked, all ports.", Count, Neither, |s| Some(s.counters.marks as f64)),
    ("drops", "", "Packets dropped at ports, without credits.", Count, Lower, |s| {
        Some(s.counters.drops as f64)
    }),
    ("credit_drops", "", "Credits dropped at ports.", Count, Neither, |s| {
        Some(s.counters.credit_drops as f64)
    }),
    ("trims", "", "Packets whose payload was cut off.", Count, Neither, |s| {
        Some(s.counters.trims as f64)
    }),
    ("paused_ns", "ns", "Port time during which some class was paused.", Float, Neither, |s| {
        Some(s.counters.paused_ns)
    }),
    ("pause_frames", "", "Pause frames that paused a class.", Count, Neither, |s| {
        Some(s.counters.pause_frames as f64)
    }),
    ("resume_frames", "", "Pause frames that released a class.", Count, Neither, |s| {
        Some(s.counters.resume_frames as f64)
    }),
    ("link_losses", "", "Packets lost on links.", Count, Neither, |s| {
        Some(s.counters.link_losses as f64)
    }),
    ("malformed", "", "Packets that a decoder refused.", Count, Neither, |s| {
        Some(s.counters.malformed as f64)
    }),
    ("packet_hops", "", "Packet transmissions started, summed over ports.", Count, Neither, |s| {
        Some(s.counters.packet_hops as f64)
    }),
    ("requests", "", "Measured requests; null without requests.", Count, Neither, |s| {
        Some(s.requests?.total as f64)
    }),
    ("requests_completed", "", "Of these complete.", Count, Higher, |s| {
        Some(s.requests?.completed as f64)
    }),
    ("request_mean_ns", "ns", "Completion time of a request, mean.", Float, Lower, |s| {
        Some(s.requests?.completion_ns?.mean)
    }),
    ("request_p99_ns", "ns", "Completion time of a request, 99th percentile.", Float, Lower, |s| {
        Some(s.requests?.completion_ns?.p99)
    }),
    (
        "switch_backlog_max_bytes",
        "bytes",
        "Largest backlog of any switch port.",
        Count,
        Lower,
        |s| switches(s, |t| Some(t.backlog_max_bytes as f64)),
    ),
    (
        "switch_backlog_p99_bytes",
        "bytes",
        "99th percentile over time of the backlog of the switch port where it is largest; 1/16 too small at most.",
        Count,
        Lower,
        |s| switches(s, |t| Some(t.backlog_p99_bytes as f64)),
    ),
    (
        "switch_utilisation_max",
        "",
        "The busiest switch port's use of its link, 0 to 1.",
        Float,
        Neither,
        |s| switches(s, |t| t.utilisation_max),
    ),
];

/// Of each tier and direction.
pub(super) const OF_TIER: [Entry<TierSummary>; 6] = [
    (
        "utilisation_mean",
        "",
        "Mean over ports of the use of the link, 0 to 1",
        Float,
        Neither,
        |t| t.utilisation_mean,
    ),
    ("backlog_mean_bytes", "bytes", "Mean over ports and time of the backlog", Float, Lower, |t| {
        t.backlog_mean_bytes
    }),
    (
        "backlog_p99_bytes",
        "bytes",
        "99th percentile over time of the backlog of the port where it is largest",
        Count,
        Lower,
        |t| Some(t.backlog_p99_bytes as f64),
    ),
    ("backlog_max_bytes", "bytes", "Largest backlog of any port", Count, Lower, |t| {
        Some(t.backlog_max_bytes as f64)
    }),
    ("drops", "", "Packets dropped, without credits", Count, Lower, |t| Some(t.drops as f64)),
    ("marks", "", "Packets marked", Count, Neither, |t| Some(t.marks as f64)),
];
