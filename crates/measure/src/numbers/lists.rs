//! The numbers that a study keeps of a run and a comparison shows, each in one line: name, unit, how it is written, which values are
//! good, meaning, and how it is read.

use crate::collective::{CollectiveSummary, over};
use crate::program::ProgramSummary;
use crate::statistics::mean;
use crate::summary::{Group, Summary};
use crate::tiers::TierSummary;
use Better::{Higher, Lower, Neither};
use Written::{Count, Flag, Float};

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A whole number.
    Count,
    /// A float.
    Float,
    /// Yes (1) or no (0).
    Flag,
}

/// Which values are good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
    /// Neither: the number describes.
    Neither,
}

/// An entry of a list.
pub(crate) struct Entry<T> {
    pub name: &'static str,
    pub unit: &'static str,
    pub written: Written,
    pub better: Better,
    pub doc: &'static str,
    pub read: fn(&T) -> Option<f64>,
}

macro_rules! numbers {
    ($($name:literal, $unit:literal, $written:ident, $better:ident, $doc:literal => $read:expr;)*) => {
        &[$(Entry { name: $name, unit: $unit, written: $written, better: $better, doc: $doc, read: $read }),*]
    };
}

/// Of each group of flows.
pub(crate) const OF_GROUP: &[Entry<Group>] = numbers! {
    "flows", "", Count, Neither, "Number of flows" => |g| Some(g.flows as f64);
    "completed", "", Count, Higher, "Flows that completed" => |g| Some(g.completed as f64);
    "completed_share", "", Float, Higher, "Share of the flows with an end that completed" => |g| (g.flows > g.endless).then(|| g.completed as f64 / (g.flows - g.endless) as f64);
    "slowdown_mean", "", Float, Lower, "Slowdown (completion time over that of the flow alone), mean" => |g| Some(g.slowdown?.mean);
    "slowdown_median", "", Float, Lower, "Slowdown (completion time over that of the flow alone), median" => |g| Some(g.slowdown?.median);
    "slowdown_p95", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 95th percentile" => |g| Some(g.slowdown?.p95);
    "slowdown_p99", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 99th percentile" => |g| Some(g.slowdown?.p99);
    "slowdown_p999", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 99.9th percentile" => |g| Some(g.slowdown?.p999);
    "slowdown_max", "", Float, Lower, "Slowdown (completion time over that of the flow alone), largest" => |g| Some(g.slowdown?.max);
    "fct_mean_ns", "ns", Float, Lower, "Completion time of completed flows, mean" => |g| Some(g.fct_ns?.mean);
    "fct_median_ns", "ns", Float, Lower, "Completion time of completed flows, median" => |g| Some(g.fct_ns?.median);
    "fct_p95_ns", "ns", Float, Lower, "Completion time of completed flows, 95th percentile" => |g| Some(g.fct_ns?.p95);
    "fct_p99_ns", "ns", Float, Lower, "Completion time of completed flows, 99th percentile" => |g| Some(g.fct_ns?.p99);
    "fct_p999_ns", "ns", Float, Lower, "Completion time of completed flows, 99.9th percentile" => |g| Some(g.fct_ns?.p999);
    "fct_max_ns", "ns", Float, Lower, "Completion time of completed flows, largest" => |g| Some(g.fct_ns?.max);
    "throughput_mean_gbps", "Gb/s", Float, Higher, "Throughput of a flow, mean over flows" => |g| g.throughput_mean_gbps;
    "packets", "", Count, Neither, "Data packets sent, retransmissions included" => |g| Some(g.packets as f64);
    "retransmits", "", Count, Lower, "Retransmitted data packets" => |g| Some(g.retransmits as f64);
    "decision_age_mean_ns", "ns", Float, Neither, "Mean age of the information behind decisions" => |g| g.decision_age_mean_ns;
    "decisions_per_rtt", "", Float, Neither, "Decisions of a flow per base RTT of its life" => |g| g.decisions_per_rtt;
    "feedback_utility", "", Float, Neither, "Utility of feedback of the mean age" => |g| g.feedback_utility;
    "feedback_per_payload", "", Float, Neither, "Control packets and header extensions over payload" => |g| g.feedback_per_payload;
};

/// The largest value over ports of switches.
fn switches(summary: &Summary, value: fn(&TierSummary) -> Option<f64>) -> Option<f64> {
    let tiers = summary.tiers.iter().filter(|tier| tier.tier != "nic");
    tiers.filter_map(value).reduce(f64::max)
}

/// Iterations of all collectives; none without collectives.
fn iterations(summary: &Summary, count: fn(&CollectiveSummary) -> usize) -> Option<f64> {
    let all = &summary.collectives;
    (!all.is_empty()).then(|| all.iter().map(count).sum::<usize>() as f64)
}

/// A time of the ranks of all programs that are done, milliseconds.
fn over_ranks(summary: &Summary, ns: fn(&ProgramSummary) -> Option<f64>) -> Option<f64> {
    let each = |one: &ProgramSummary| Some((ns(one)? * one.completed as f64, one.completed));
    let all = summary.programs.iter().filter_map(each);
    let (sum, count) = all.fold((0.0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
    (count > 0).then(|| sum / count as f64 / 1e6)
}

/// Of the run.
pub(crate) const OF_RUN: &[Entry<Summary>] = numbers! {
    "decision_age_p99_ns", "ns", Float, Neither, "99th percentile of the age of information behind decisions, at most 1/16 too small." => |s| Some(s.all.decision_age_ns?.p99);
    "ended_ns", "ns", Float, Neither, "Simulated time at the end of the run." => |s| Some(s.ended_ns);
    "flows_total", "", Count, Neither, "Flows of the scenario, warm-up included." => |s| Some(s.flows.total as f64);
    "flows_warmup", "", Count, Neither, "Flows of the warm-up, which are left out of all other numbers of flows." => |s| Some(s.flows.warmup as f64);
    "flows_started", "", Count, Neither, "Flows opened until the end, warm-up included." => |s| Some(s.flows.started as f64);
    "flows_completed", "", Count, Higher, "Flows completed until the end, warm-up included." => |s| Some(s.flows.completed as f64);
    "offered_gbps", "Gb/s", Float, Neither, "Sizes of all flows over the time from the first to the last one's opening, without flows of 1 TB and more, which have no end; where all open within a twentieth of the run, of those alone that arrive at random or by a file, none if these are few." => |s| s.load.offered_gbps;
    "offered_load", "", Float, Neither, "`offered_gbps` over the rate of all NICs." => |s| s.load.offered_load;
    "goodput_gbps", "Gb/s", Float, Higher, "Payload delivered, from the first start to the end." => |s| s.load.goodput_gbps;
    "goodput_load", "", Float, Higher, "`goodput_gbps` over the rate of all NICs." => |s| s.load.goodput_load;
    "endless_flows", "", Count, Neither, "Flows of 1 TB and more, which have no end, that started; null without such." => |s| Some(s.endless?.flows as f64);
    "endless_goodput_mean_gbps", "Gb/s", Float, Higher, "Goodput of these, mean over flows, each from its start until its application or the run ended it." => |s| s.endless?.goodput_mean_gbps;
    "endless_goodput_min_gbps", "Gb/s", Float, Higher, "The smallest of these." => |s| s.endless?.goodput_min_gbps;
    "balance_reached", "", Flag, Neither, "Whether arrivals and departures balance; null if there are too few arrivals to tell." => |s| Some(f64::from(u8::from(s.balance?.reached)));
    "balance_from_ns", "ns", Float, Neither, "Start of the window in which they do; null if there is none." => |s| Some(s.balance.filter(|window| window.reached)?.from_ns);
    "balance_to_ns", "ns", Float, Neither, "End of that window." => |s| Some(s.balance.filter(|window| window.reached)?.to_ns);
    "jain_long", "", Float, Higher, "Jain's index over the throughput of measured long flows." => |s| s.jain_long;
    "jain_series", "", Float, Higher, "Jain's index over the bytes delivered by recorded flows (`run.watch`)." => |s| s.jain_series;
    "jain_mean", "", Float, Higher, "Jain's index of recorded flows, mean over windows of a fiftieth of the run." => |s| s.fairness.as_ref()?.jain_mean;
    "jain_min", "", Float, Higher, "The smallest of these." => |s| s.fairness.as_ref()?.jain_min;
    "convergence_ns", "ns", Float, Lower, "Time until the rates of recorded flows stay within 20 % of their mean; null if they never do." => |s| s.fairness.as_ref()?.convergence_ns;
    "total_packets", "", Count, Neither, "Data packets of all flows, warm-up and retransmissions included." => |s| Some(s.counters.packets as f64);
    "total_retransmits", "", Count, Lower, "Of these retransmitted." => |s| Some(s.counters.retransmits as f64);
    "total_retransmit_share", "", Float, Lower, "`total_retransmits` over `total_packets`." => |s| (s.counters.packets > 0).then(|| s.counters.retransmits as f64 / s.counters.packets as f64);
    "marks", "", Count, Neither, "Packets marked, all ports." => |s| Some(s.counters.marks as f64);
    "drops", "", Count, Lower, "Packets dropped at ports, without credits." => |s| Some(s.counters.drops as f64);
    "credit_drops", "", Count, Neither, "Credits dropped at ports." => |s| Some(s.counters.credit_drops as f64);
    "trims", "", Count, Neither, "Packets whose payload was cut off." => |s| Some(s.counters.trims as f64);
    "paused_ns", "ns", Float, Neither, "Port time during which some class was paused." => |s| Some(s.counters.paused_ns);
    "pause_frames", "", Count, Neither, "Pause frames that paused a class." => |s| Some(s.counters.pause_frames as f64);
    "resume_frames", "", Count, Neither, "Pause frames that released a class." => |s| Some(s.counters.resume_frames as f64);
    "link_losses", "", Count, Neither, "Packets lost on links." => |s| Some(s.counters.link_losses as f64);
    "malformed", "", Count, Neither, "Packets that a decoder refused." => |s| Some(s.counters.malformed as f64);
    "packet_hops", "", Count, Neither, "Packet transmissions started, summed over ports." => |s| Some(s.counters.packet_hops as f64);
    "imbalance_mean", "", Float, Lower, "How unevenly switches use their uplinks: the busiest uplink's bytes over the mean of its switch, by interval; mean over switches, of the tier where it is largest. Null if no switch has several." => |s| switches(s, |tier| tier.imbalance_mean);
    "imbalance_run", "", Float, Lower, "The same with the whole run as one interval." => |s| switches(s, |tier| tier.imbalance_run);
    "requests", "", Count, Neither, "Measured requests; null without requests." => |s| Some(s.requests?.total as f64);
    "requests_completed", "", Count, Higher, "Of these complete." => |s| Some(s.requests?.completed as f64);
    "request_mean_ns", "ns", Float, Lower, "Completion time of a request, mean." => |s| Some(s.requests?.completion_ns?.mean);
    "request_p99_ns", "ns", Float, Lower, "Completion time of a request, 99th percentile." => |s| Some(s.requests?.completion_ns?.p99);
    "collectives", "", Count, Neither, "Iterations of collectives; null without collectives." => |s| iterations(s, |one| one.iterations);
    "collectives_completed", "", Count, Higher, "Of these complete." => |s| iterations(s, |one| one.completed);
    "collective_mean_ns", "ns", Float, Lower, "Completion time of a collective, mean over iterations." => |s| over(&s.collectives, |one| Some(one.completion_ns?.mean));
    "collective_slowdown", "", Float, Lower, "Slowdown of a collective (completion time over that on a network that only NICs limit), mean over iterations." => |s| over(&s.collectives, |one| Some(one.slowdown?.mean));
    "algbw", "GB/s", Float, Higher, "Algorithm bandwidth of a collective: its size over its completion time, mean over iterations." => |s| over(&s.collectives, |one| one.algbw);
    "busbw", "GB/s", Float, Higher, "Bus bandwidth of a collective, as nccl-tests has it, mean over iterations." => |s| over(&s.collectives, |one| one.busbw);
    "iteration_ms", "ms", Float, Lower, "Time of an iteration of a collective, with the computation before it, mean." => |s| Some(over(&s.collectives, |one| Some(one.iteration_ns?.mean))? / 1e6);
    "exposed_ms", "ms", Float, Lower, "Exposed communication: what an iteration takes longer than its longest computation, mean." => |s| Some(over(&s.collectives, |one| one.exposed_mean_ns)? / 1e6);
    "program_ms", "ms", Float, Lower, "Time of a program: from its beginning to the end of its last rank, mean over programs; null if none is done." => |s| mean(&s.programs.iter().filter_map(|one| Some(one.completion_ns? / 1e6)).collect::<Vec<f64>>());
    "rank_compute_ms", "ms", Float, Neither, "How long a rank of a program computes, mean over ranks that are done." => |s| over_ranks(s, |one| one.compute_mean_ns);
    "rank_waiting_ms", "ms", Float, Lower, "For how long a rank of a program computes nothing until it is done, mean." => |s| over_ranks(s, |one| one.waiting_mean_ns);
    "switch_backlog_max_bytes", "bytes", Count, Lower, "Largest backlog of any switch port." => |s| switches(s, |t| Some(t.backlog_max_bytes as f64));
    "switch_backlog_p99_bytes", "bytes", Count, Lower, "99th percentile over time of the backlog of the switch port where it is largest; 1/16 too small at most." => |s| switches(s, |t| Some(t.backlog_p99_bytes as f64));
    "switch_utilisation_max", "", Float, Neither, "The busiest switch port's use of its link, 0 to 1." => |s| switches(s, |t| t.utilisation_max);
};

/// Of each tier and direction.
pub(crate) const OF_TIER: &[Entry<TierSummary>] = numbers! {
    "utilisation_mean", "", Float, Neither, "Mean over ports of the use of the link, 0 to 1" => |t| t.utilisation_mean;
    "backlog_mean_bytes", "bytes", Float, Lower, "Mean over ports and time of the backlog" => |t| t.backlog_mean_bytes;
    "backlog_p99_bytes", "bytes", Count, Lower, "99th percentile over time of the backlog of the port where it is largest" => |t| Some(t.backlog_p99_bytes as f64);
    "backlog_max_bytes", "bytes", Count, Lower, "Largest backlog of any port" => |t| Some(t.backlog_max_bytes as f64);
    "drops", "", Count, Lower, "Packets dropped, without credits" => |t| Some(t.drops as f64);
    "marks", "", Count, Neither, "Packets marked" => |t| Some(t.marks as f64);
};

/// The lines of a comparison, in order: number, title, unit that is shown, and how much of the number's unit that is.
pub(crate) const COMPARED: &[(&str, &str, &str, f64)] = &[
    ("flows", "measured flows", "", 1.0),
    ("completed_share", "completed", "%", 0.01),
    ("offered_load", "offered load", "% of NICs", 0.01),
    ("goodput_gbps", "goodput", "Gb/s", 1.0),
    ("endless_flows", "flows without an end", "", 1.0),
    ("endless_goodput_mean_gbps", "goodput of a flow without an end, mean", "Gb/s", 1.0),
    ("endless_goodput_min_gbps", "smallest of these", "", 1.0),
    ("fct_mean_ns", "FCT mean", "µs", 1e3),
    ("fct_p99_ns", "FCT p99", "µs", 1e3),
    ("short_fct_mean_ns", "FCT of short flows, mean", "µs", 1e3),
    ("short_fct_p99_ns", "FCT of short flows, p99", "µs", 1e3),
    ("long_fct_mean_ns", "FCT of long flows, mean", "µs", 1e3),
    ("slowdown_mean", "slowdown, mean", "", 1.0),
    ("slowdown_median", "slowdown, median", "", 1.0),
    ("slowdown_p95", "slowdown, p95", "", 1.0),
    ("slowdown_p99", "slowdown, p99", "", 1.0),
    ("slowdown_p999", "slowdown, p99.9", "", 1.0),
    ("slowdown_max", "slowdown, largest", "", 1.0),
    ("short_slowdown_p99", "slowdown of short flows, p99", "", 1.0),
    ("long_slowdown_p99", "slowdown of long flows, p99", "", 1.0),
    ("long_throughput_mean_gbps", "throughput of a long flow, mean", "Gb/s", 1.0),
    ("jain_long", "Jain's index of long flows", "", 1.0),
    ("jain_series", "Jain's index of recorded flows", "", 1.0),
    ("jain_mean", "Jain's index over time, mean", "", 1.0),
    ("convergence_ns", "convergence of recorded flows", "µs", 1e3),
    ("request_mean_ns", "request completion, mean", "µs", 1e3),
    ("request_p99_ns", "request completion, p99", "µs", 1e3),
    ("collective_mean_ns", "collective completion, mean", "µs", 1e3),
    ("collective_slowdown", "slowdown of collectives, mean", "", 1.0),
    ("program_ms", "time of a program", "ms", 1.0),
    ("algbw", "algorithm bandwidth", "GB/s", 1.0),
    ("busbw", "bus bandwidth", "GB/s", 1.0),
    ("iteration_ms", "iteration, mean", "ms", 1.0),
    ("exposed_ms", "exposed communication, mean", "ms", 1.0),
    ("switch_backlog_max_bytes", "largest switch queue", "KB", 1e3),
    ("switch_utilisation_max", "busiest switch port", "% used", 0.01),
    ("total_retransmit_share", "retransmitted packets", "%", 0.01),
    ("drops", "drops", "", 1.0),
    ("link_losses", "losses on links", "", 1.0),
    ("credit_drops", "credits dropped", "", 1.0),
    ("trims", "trims", "", 1.0),
    ("marks", "marks", "", 1.0),
    ("paused_ns", "paused port time", "µs", 1e3),
    ("pause_frames", "pause frames", "", 1.0),
    ("decision_age_mean_ns", "age of feedback, mean", "µs", 1e3),
    ("decision_age_p99_ns", "age of feedback, p99", "µs", 1e3),
    ("decisions_per_rtt", "decisions per RTT", "", 1.0),
    ("feedback_utility", "utility of feedback", "", 1.0),
    ("feedback_per_payload", "feedback", "% of payload", 0.01),
];

/// The numbers that decide, the weightiest first: a table of ten has those that are there and not zero in every run; of a line with
/// several the first that is there.
pub(crate) const DECIDE: &[&[&str]] = &[
    &["completed_share"],
    &["program_ms"],
    &["iteration_ms"],
    &["exposed_ms"],
    &["busbw"],
    &["request_mean_ns"],
    &["endless_goodput_mean_gbps"],
    &["fct_mean_ns"],
    &["slowdown_mean"],
    &["slowdown_p99", "slowdown_p95", "slowdown_max"],
    &["goodput_gbps"],
    &["short_slowdown_p99", "short_fct_mean_ns"],
    &["long_throughput_mean_gbps"],
    &["switch_backlog_max_bytes"],
    &["total_retransmit_share"],
    &["link_losses"],
    &["drops"],
    &["trims"],
    &["paused_ns"],
];

/// Titles of numbers that a page shows and a comparison does not.
pub(crate) const TITLED: &[(&str, &str)] = &[("fct_max_ns", "FCT of the slowest flow")];
