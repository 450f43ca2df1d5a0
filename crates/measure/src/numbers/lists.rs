//! The numbers of a run, each declared once: name, unit, how it is written, which values are good, meaning, how it is read, and then
//! what tables and pages need of it: columns, `repeat_until`, `search`, comparison, figures and laboratory follow.

use super::entry::Better::{Higher, Lower, Neither};
use super::entry::Written::{Count, Flag, Float};
use super::entry::{Claimed, Entry, Interval, Listing, Of, Read, line, titled};
use crate::Run;
use crate::collective::{CollectiveSummary, extreme, over};
use crate::measured::Chosen;
use crate::program::ProgramSummary;
use crate::statistics::mean;
use crate::summary::{Group, Summary};
use crate::tiers::TierSummary;

macro_rules! numbers {
    ($of:ty; $($name:literal, $unit:literal, $written:ident, $better:ident, $doc:literal => $read:expr $(, $option:ident($($with:expr),*))*;)*) => {
        &[$(Entry::<$of>::new(($name, $unit), $written, $better, $doc, $read)$(.$option($($with),*))*),*]
    };
}

macro_rules! claims {
    ($($name:literal, $unit:literal, $of:ident, $doc:literal => $read:expr $(, $option:ident($($with:expr),*))*;)*) => {
        &[$(Claimed::new($name, $unit, Of::$of, $read).doc($doc)$(.$option($($with),*))*),*]
    };
}

/// Of each group of flows.
pub(crate) const OF_GROUP: &[Entry<Group>] = numbers! { Group;
    "flows", "", Count, Neither, "Number of flows" => |g| Some(g.flows as f64),
        shown(line(10, "measured flows"));
    "completed", "", Count, Higher, "Flows that completed" => |g| Some(g.completed as f64);
    "completed_share", "", Float, Higher, "Share of the flows with an end that completed" => |g| (g.flows > g.endless).then(|| g.completed as f64 / (g.flows - g.endless) as f64),
        heading("Share of flows{} that completed"), shown(line(20, "completed").percent("%").decides(10)),
        claimed(Claimed::new("completed", "", Of::Other, Read::Run(Chosen::completed)).doc("Share of the flows that completed"));
    "slowdown_mean", "", Float, Lower, "Slowdown (completion time over that of the flow alone), mean" => |g| Some(g.slowdown?.mean),
        heading("Mean slowdown"), shown(line(130, "slowdown, mean").decides(90).laboratory(4)), long(Listing::NONE.drawn(3)),
        claimed(flows(("", ""), Run::slowdown, None, 0.01));
    "slowdown_median", "", Float, Lower, "Slowdown (completion time over that of the flow alone), median" => |g| Some(g.slowdown?.median),
        heading("Median slowdown"), shown(line(140, "slowdown, median"));
    "slowdown_p95", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 95th percentile" => |g| Some(g.slowdown?.p95),
        percentile(950), shown(line(150, "slowdown, p95").decides(101));
    "slowdown_p99", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 99th percentile" => |g| Some(g.slowdown?.p99),
        heading("99th percentile of the slowdown"), percentile(990), shown(line(160, "slowdown, p99").decides(100).drawn(1)),
        short(line(190, "slowdown of short flows, p99").decides(120).drawn(2)), long(line(200, "slowdown of long flows, p99")),
        claimed(flows(("", ""), Run::slowdown, Some(990), 0.01));
    "slowdown_p999", "", Float, Lower, "Slowdown (completion time over that of the flow alone), 99.9th percentile" => |g| Some(g.slowdown?.p999),
        heading("99.9th percentile of the slowdown"), percentile(999), shown(line(170, "slowdown, p99.9"));
    "slowdown_max", "", Float, Lower, "Slowdown (completion time over that of the flow alone), largest" => |g| Some(g.slowdown?.max),
        shown(line(180, "slowdown, largest").decides(102).laboratory(5));
    "fct_mean_ns", "ns", Float, Lower, "Completion time of completed flows, mean" => |g| Some(g.fct_ns?.mean),
        heading("Mean completion time of a flow{}"), shown(line(80, "FCT mean").decides(80).drawn(4).laboratory(2)),
        short(line(100, "FCT of short flows, mean").decides(121)), long(line(120, "FCT of long flows, mean")),
        claimed(flows(("fct_mean_us", "us"), fct_us, None, 1.0));
    "fct_median_ns", "ns", Float, Lower, "Completion time of completed flows, median" => |g| Some(g.fct_ns?.median);
    "fct_p95_ns", "ns", Float, Lower, "Completion time of completed flows, 95th percentile" => |g| Some(g.fct_ns?.p95),
        percentile(950);
    "fct_p99_ns", "ns", Float, Lower, "Completion time of completed flows, 99th percentile" => |g| Some(g.fct_ns?.p99),
        heading("99th percentile of the completion time of a flow{}"), percentile(990), shown(line(90, "FCT p99")),
        short(line(110, "FCT of short flows, p99")),
        claimed(flows(("fct_p99_us", "us"), fct_us, Some(990), 1.0));
    "fct_p999_ns", "ns", Float, Lower, "Completion time of completed flows, 99.9th percentile" => |g| Some(g.fct_ns?.p999),
        percentile(999),
        claimed(flows(("fct_p999_us", "us"), fct_us, Some(999), 1.0));
    "fct_max_ns", "ns", Float, Lower, "Completion time of completed flows, largest" => |g| Some(g.fct_ns?.max),
        shown(titled("FCT of the slowest flow").laboratory(3));
    "throughput_mean_gbps", "Gb/s", Float, Higher, "Throughput of a flow, mean over flows" => |g| g.throughput_mean_gbps,
        long(line(210, "throughput of a long flow, mean").decides(130)),
        claimed(flows(("", ""), gbps, None, 0.01).doc("Payload divided by completion time, mean over flows"));
    "packets", "", Count, Neither, "Data packets sent, retransmissions included" => |g| Some(g.packets as f64);
    "retransmits", "", Count, Lower, "Retransmitted data packets" => |g| Some(g.retransmits as f64);
    "decision_age_mean_ns", "ns", Float, Neither, "Mean age of the information behind decisions" => |g| g.decision_age_mean_ns,
        shown(line(450, "age of feedback, mean")),
        claimed(Claimed::new("feedback_age_us", "us", Of::Other, Read::Group(|g| Some(g.decision_age_mean_ns? / 1e3))).steady());
    "decisions_per_rtt", "", Float, Neither, "Decisions of a flow per base RTT of its life" => |g| g.decisions_per_rtt,
        shown(line(470, "decisions per RTT")),
        claimed(Claimed::new("decisions_per_rtt", "per base RTT", Of::Other, Read::Group(|g| g.decisions_per_rtt)));
    "feedback_utility", "", Float, Neither, "Utility of feedback of the mean age" => |g| g.feedback_utility,
        shown(line(480, "utility of feedback")),
        claimed(Claimed::new("", "", Of::Other, Read::Group(|g| g.feedback_utility)));
    "feedback_per_payload", "", Float, Neither, "Control packets and header extensions over payload" => |g| g.feedback_per_payload,
        shown(line(490, "feedback").percent("% of payload").of_packets()),
        claimed(Claimed::new("feedback_percent", "%", Of::Other, Read::Group(|g| Some(100.0 * g.feedback_per_payload?))));
};

/// A statistic of a value of each chosen flow that completed, as claims have it.
const fn flows(
    (name, unit): (&'static str, &'static str),
    value: fn(&Run, usize) -> Option<f64>,
    percentile: Option<u32>,
    least: f64,
) -> Claimed {
    Claimed::new(name, unit, Of::Flows, Read::Flows(value, percentile)).steady().least(least)
}

fn fct_us(run: &Run, flow: usize) -> Option<f64> {
    Some(run.fct(flow)?.as_ns_f64() / 1e3)
}

fn gbps(run: &Run, flow: usize) -> Option<f64> {
    Some(run.flows[flow].size_bytes as f64 * 8.0 / run.fct(flow)?.as_ns_f64())
}

fn request_mean_ms(run: &Run) -> Option<f64> {
    let measured = run.requests.iter().filter(|request| !request.warmup);
    let time = |r: &crate::Request| Some(r.end?.since(r.start).0 as f64 / 1e9);
    mean(&measured.filter_map(time).collect::<Vec<f64>>())
}

/// Charged bytes of a full packet of the run.
fn full_packet(run: &Run) -> Option<f64> {
    let bytes = run.manifest.fabric.charged_mtu_bytes;
    (bytes > 0).then(|| f64::from(bytes))
}

fn kilobytes(_: &Run) -> Option<f64> {
    Some(1e3)
}

fn largest_backlog(one: &Interval<'_>) -> f64 {
    one.bin.backlog_max as f64
}

fn mean_backlog(one: &Interval<'_>) -> f64 {
    one.bin.backlog_area as f64 / one.width
}

/// What claims read of chosen flows, ports and windows, and no study has.
pub(crate) const OF_CHOICE: &[Claimed] = claims! {
    "backlog_max_packets", "packets", Ports, "Largest backlog of `port`, in full packets of the fabric" => Read::Ports(Chosen::backlog_max, largest_backlog, full_packet), least(1.0), needs(&["port"]);
    "backlog_mean_packets", "packets", Ports, "Mean backlog of `port` over time, in full packets of the fabric" => Read::Ports(Chosen::backlog_mean, mean_backlog, full_packet), steady(), least(1.0), needs(&["port"]);
    "backlog_max_kb", "KB", Ports, "Largest backlog of `port`" => Read::Ports(Chosen::backlog_max, largest_backlog, kilobytes), least(1.5), needs(&["port"]);
    "backlog_mean_kb", "KB", Ports, "Mean backlog of `port` over time" => Read::Ports(Chosen::backlog_mean, mean_backlog, kilobytes), steady(), least(1.5), needs(&["port"]);
    "backlog_p50_kb", "KB", PortsOverRun, "Median over time of the backlog of `port`, over the run: no `from`, no `to`" => Read::Run(|m, run| m.backlog_percentile(run, 500)), steady(), needs(&["port"]);
    "backlog_p99_kb", "KB", PortsOverRun, "99th percentile of the same" => Read::Run(|m, run| m.backlog_percentile(run, 990)), steady(), needs(&["port"]);
    "utilisation", "", Ports, "Use of the link of `port`, 0 to 1" => Read::Ports(Chosen::utilisation, |one| one.carried * 8e12 / one.width / one.port.rate.0 as f64, |_| Some(1.0)), steady(), least(0.01), needs(&["port"]);
    "packets", "packets", Ports, "Packets that `port` started to send" => Read::Run(|m, run| m.counted(run, |bin| bin.sent_packets.into())), needs(&["port"]);
    "marks", "", Packet, "The two ECN bits of one data packet of `flow` (the first to leave from `from` on) as it leaves each `port` of a list, in order; needs a `trace`. Kept results have the packets of these ports in `ports.pcapng`" => Read::Run(|_, _| None), needs(&["port", "flow"]);
    "flow_gbps", "Gb/s", Flow, "Payload rate of `flow`" => Read::Run(Chosen::flow_gbps), least(0.01), needs(&["flow"]);
    "share", "", Transports, "Share of the delivered payload that the transport `carrier` delivered" => Read::Run(Chosen::share), needs(&["carrier"]);
    "rate_ratio", "", Transports, "Mean rate of a recorded flow of `carrier` divided by that of one of `against`" => Read::Run(Chosen::rate_ratio), needs(&["carrier", "against"]);
    "jain", "", Other, "Jain's index over recorded flows, of `carrier` or of all; with `window`, the mean over windows of that length" => Read::Run(Chosen::jain);
    "extension_per_packet", "B per packet", Other, "Extensions of data packets of the selected flows, divided by the packets" => Read::Group(|g| (g.packets > 0).then(|| g.extension_bytes as f64 / g.packets as f64));
};

/// What the mean of each part of the completion time is.
pub(crate) const PART: Entry<Group> = Entry::new(("", "ns"), Float, Neither, "", |_| None);

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

/// A time of iterations of collectives, mean over these; of programs where there are none. Milliseconds.
fn of_iterations(
    summary: &Summary,
    collective: impl Fn(&CollectiveSummary) -> Option<f64>,
    program: fn(&ProgramSummary) -> Option<f64>,
) -> Option<f64> {
    let programs = || mean(&summary.programs.iter().filter_map(program).collect::<Vec<f64>>());
    Some(over(&summary.collectives, collective).or_else(programs)? / 1e6)
}

/// Of the run.
pub(crate) const OF_RUN: &[Entry<Summary>] = numbers! { Summary;
    "decision_age_p99_ns", "ns", Float, Neither, "99th percentile of the age of information behind decisions, at most 1/16 too small." => |s| Some(s.all.decision_age_ns?.p99),
        shown(line(460, "age of feedback, p99"));
    "ended_ns", "ns", Float, Neither, "Simulated time at the end of the run." => |s| Some(s.ended_ns);
    "flows_total", "", Count, Neither, "Flows of the scenario, warm-up included." => |s| Some(s.flows.total as f64);
    "flows_warmup", "", Count, Neither, "Flows of the warm-up, which are left out of all other numbers of flows." => |s| Some(s.flows.warmup as f64);
    "flows_started", "", Count, Neither, "Flows opened until the end, warm-up included." => |s| Some(s.flows.started as f64);
    "flows_completed", "", Count, Higher, "Flows completed until the end, warm-up included." => |s| Some(s.flows.completed as f64);
    "offered_gbps", "Gb/s", Float, Neither, "Sizes of all flows over the time from the first to the last one's opening, without flows of 1 TB and more, which have no end; where all open within a twentieth of the run, of those alone that arrive at random or by a file, none if these are few." => |s| s.load.offered_gbps;
    "offered_load", "", Float, Neither, "`offered_gbps` over the rate of all NICs." => |s| s.load.offered_load,
        shown(line(30, "offered load").percent("% of NICs"));
    "goodput_gbps", "Gb/s", Float, Higher, "Payload delivered, from the first start to the end." => |s| s.load.goodput_gbps,
        heading("Goodput of all flows"), shown(line(40, "goodput").decides(110).drawn(8).laboratory(1));
    "goodput_load", "", Float, Higher, "`goodput_gbps` over the rate of all NICs." => |s| s.load.goodput_load;
    "endless_flows", "", Count, Neither, "Flows of 1 TB and more, which have no end, that started; null without such." => |s| Some(s.endless?.flows as f64),
        shown(line(50, "flows without an end"));
    "endless_goodput_mean_gbps", "Gb/s", Float, Higher, "Goodput of these, mean over flows, each from its start until its application or the run ended it." => |s| s.endless?.goodput_mean_gbps,
        shown(line(60, "goodput of a flow without an end, mean").decides(70));
    "endless_goodput_min_gbps", "Gb/s", Float, Higher, "The smallest of these." => |s| s.endless?.goodput_min_gbps,
        shown(line(70, "smallest of these"));
    "balance_reached", "", Flag, Neither, "Whether arrivals and departures balance; null if there are too few arrivals to tell." => |s| Some(f64::from(u8::from(s.balance?.reached)));
    "balance_from_ns", "ns", Float, Neither, "Start of the window in which they do; null if there is none." => |s| Some(s.balance.filter(|window| window.reached)?.from_ns);
    "balance_to_ns", "ns", Float, Neither, "End of that window." => |s| Some(s.balance.filter(|window| window.reached)?.to_ns);
    "jain_long", "", Float, Higher, "Jain's index over the throughput of measured long flows." => |s| s.jain_long,
        shown(line(220, "Jain's index of long flows"));
    "jain_series", "", Float, Higher, "Jain's index over the bytes delivered by recorded flows (`run.watch`)." => |s| s.jain_series,
        shown(line(230, "Jain's index of recorded flows"));
    "jain_mean", "", Float, Higher, "Jain's index of recorded flows, mean over windows of a fiftieth of the run." => |s| s.fairness.as_ref()?.jain_mean,
        shown(line(240, "Jain's index over time, mean"));
    "jain_min", "", Float, Higher, "The smallest of these." => |s| s.fairness.as_ref()?.jain_min;
    "convergence_ns", "ns", Float, Lower, "Time until the rates of recorded flows stay within 20 % of their mean; null if they never do." => |s| s.fairness.as_ref()?.convergence_ns,
        shown(line(250, "convergence of recorded flows")),
        claimed(Claimed::new("convergence_ms", "ms", Of::Other, Read::Run(Chosen::convergence_ms)).needs(&["window"]).doc("from `from` to the end of the first `window` in which every recorded flow's rate (with `against`: each transport's mean rate) is within `tolerance` (default 0.2) of their mean; with `lasting = true`, the first window from which on all are. Infinite if there is none. For two flows: their rates differ by less than 20 % of their sum"));
    "total_packets", "", Count, Neither, "Data packets of all flows, warm-up and retransmissions included." => |s| Some(s.counters.packets as f64);
    "total_retransmits", "", Count, Lower, "Of these retransmitted." => |s| Some(s.counters.retransmits as f64);
    "total_retransmit_share", "", Float, Lower, "`total_retransmits` over `total_packets`." => |s| (s.counters.packets > 0).then(|| s.counters.retransmits as f64 / s.counters.packets as f64),
        shown(line(370, "retransmitted packets").percent("%").of_packets().decides(150));
    "marks", "", Count, Neither, "Packets marked, all ports." => |s| Some(s.counters.marks as f64),
        shown(line(420, "marks").of_packets().laboratory(9));
    "drops", "", Count, Lower, "Packets dropped at ports, without credits." => |s| Some(s.counters.drops as f64),
        heading("Packets dropped"), shown(line(380, "drops").of_packets().decides(170).drawn(10).laboratory(7)),
        claimed(Claimed::new("drops", "packets", Of::Fabric, Read::Run(|m, run| m.counted(run, |bin| bin.drops.into()))).doc("Packets dropped, without credits, at `port` or in the whole fabric"));
    "credit_drops", "", Count, Neither, "Credits dropped at ports." => |s| Some(s.counters.credit_drops as f64),
        shown(line(400, "credits dropped").rare()),
        claimed(Claimed::new("credit_drops", "packets", Of::Fabric, Read::Run(|m, run| m.counted(run, |bin| bin.credit_drops.into()))).doc("Credits dropped, at `port` or in the whole fabric"));
    "trims", "", Count, Neither, "Packets whose payload was cut off." => |s| Some(s.counters.trims as f64),
        shown(line(410, "trims").of_packets().decides(180).laboratory(8)),
        claimed(Claimed::new("trims", "packets", Of::Fabric, Read::Run(|m, run| m.counted(run, |bin| bin.trims.into()))).doc("Packets whose payload was cut off, at `port` or in the whole fabric"));
    "paused_ns", "ns", Float, Neither, "Port time during which some class was paused." => |s| Some(s.counters.paused_ns),
        shown(line(430, "paused port time").of_packets().decides(190).laboratory(10));
    "pause_frames", "", Count, Neither, "Pause frames that paused a class." => |s| Some(s.counters.pause_frames as f64),
        shown(line(440, "pause frames").of_packets());
    "resume_frames", "", Count, Neither, "Pause frames that released a class." => |s| Some(s.counters.resume_frames as f64);
    "link_losses", "", Count, Neither, "Packets lost on links." => |s| Some(s.counters.link_losses as f64),
        shown(line(390, "losses on links").rare().decides(160));
    "malformed", "", Count, Neither, "Packets that a decoder refused." => |s| Some(s.counters.malformed as f64);
    "packet_hops", "", Count, Neither, "Packet transmissions started, summed over ports." => |s| Some(s.counters.packet_hops as f64);
    "imbalance_mean", "", Float, Lower, "How unevenly switches use their uplinks: the busiest uplink's bytes over the mean of its switch, by interval; mean over switches, of the tier where it is largest. Null if no switch has several." => |s| switches(s, |tier| tier.imbalance_mean);
    "imbalance_run", "", Float, Lower, "The same with the whole run as one interval." => |s| switches(s, |tier| tier.imbalance_run);
    "requests", "", Count, Neither, "Measured requests; null without requests." => |s| Some(s.requests?.total as f64);
    "requests_completed", "", Count, Higher, "Of these complete." => |s| Some(s.requests?.completed as f64);
    "request_mean_ns", "ns", Float, Lower, "Completion time of a request, mean." => |s| Some(s.requests?.completion_ns?.mean),
        heading("Mean completion time of a request"), shown(line(260, "request completion, mean").decides(60).drawn(5)),
        claimed(Claimed::new("request_mean_ms", "ms", Of::Other, Read::Run(|_, run| request_mean_ms(run))));
    "request_p99_ns", "ns", Float, Lower, "Completion time of a request, 99th percentile." => |s| Some(s.requests?.completion_ns?.p99),
        shown(line(270, "request completion, p99"));
    "collectives", "", Count, Neither, "Iterations of collectives; null without collectives." => |s| iterations(s, |one| one.iterations);
    "collectives_completed", "", Count, Higher, "Of these complete." => |s| iterations(s, |one| one.completed);
    "collective_mean_ns", "ns", Float, Lower, "Completion time of a collective, mean over iterations." => |s| over(&s.collectives, |one| Some(one.completion_ns?.mean)),
        shown(line(280, "collective completion, mean"));
    "collective_slowdown", "", Float, Lower, "Slowdown of a collective (completion time over that on a network that only NICs limit), mean over iterations." => |s| over(&s.collectives, |one| Some(one.slowdown?.mean)),
        shown(line(290, "slowdown of collectives, mean"));
    "algbw", "GB/s", Float, Higher, "Algorithm bandwidth of a collective: its size over its completion time, mean over iterations." => |s| over(&s.collectives, |one| one.algbw),
        shown(line(310, "algorithm bandwidth"));
    "busbw", "GB/s", Float, Higher, "Bus bandwidth of a collective, as nccl-tests has it, mean over iterations." => |s| over(&s.collectives, |one| one.busbw),
        heading("Mean bus bandwidth of collectives"), shown(line(320, "bus bandwidth").decides(50).drawn(6));
    "iteration_ms", "ms", Float, Lower, "Time of an iteration of a collective, with the computation before it, or, without collectives, of a program, mean." => |s| of_iterations(s, |one| Some(one.iteration_ns?.mean), |one| one.iteration_mean_ns),
        heading("Mean time of an iteration"), shown(line(330, "iteration, mean").decides(30).drawn(7));
    "exposed_ms", "ms", Float, Lower, "Exposed communication: what an iteration takes longer than its longest computation, or that of a program than its computations alone, mean." => |s| of_iterations(s, |one| one.exposed_mean_ns, |one| one.exposed_mean_ns),
        heading("Mean exposed communication"), shown(line(340, "exposed communication, mean").decides(40));
    "busbw_min", "GB/s", Float, Higher, "Bus bandwidth of the collective or job that has least, mean over its iterations." => |s| extreme(&s.collectives, |one| one.busbw, f64::min);
    "iteration_max_ms", "ms", Float, Lower, "Time of an iteration of the collective or job that is slowest, mean over its iterations." => |s| Some(extreme(&s.collectives, |one| Some(one.iteration_ns?.mean), f64::max)? / 1e6);
    "program_ms", "ms", Float, Lower, "Time of a program: from its beginning to the end of its last rank, mean over programs; null if none is done." => |s| mean(&s.programs.iter().filter_map(|one| Some(one.completion_ns? / 1e6)).collect::<Vec<f64>>()),
        shown(line(300, "time of a program").decides(20));
    "rank_compute_ms", "ms", Float, Neither, "How long a rank of a program computes, mean over ranks that are done." => |s| over_ranks(s, |one| one.compute_mean_ns);
    "rank_waiting_ms", "ms", Float, Lower, "For how long a rank of a program computes nothing until it is done, mean." => |s| over_ranks(s, |one| one.waiting_mean_ns);
    "switch_backlog_max_bytes", "bytes", Count, Lower, "Largest backlog of any switch port." => |s| switches(s, |t| Some(t.backlog_max_bytes as f64)),
        heading("Largest queue of any switch port"),
        shown(line(350, "largest switch queue").of_packets().decides(140).drawn(9).laboratory(6));
    "switch_backlog_p99_bytes", "bytes", Count, Lower, "99th percentile over time of the backlog of the switch port where it is largest; 1/16 too small at most." => |s| switches(s, |t| Some(t.backlog_p99_bytes as f64));
    "switch_utilisation_max", "", Float, Neither, "The busiest switch port's use of its link, 0 to 1." => |s| switches(s, |t| t.utilisation_max),
        shown(line(360, "busiest switch port").percent("% used"));
};

/// Of each tier and direction.
pub(crate) const OF_TIER: &[Entry<TierSummary>] = numbers! { TierSummary;
    "utilisation_mean", "", Float, Neither, "Mean over ports of the use of the link, 0 to 1" => |t| t.utilisation_mean;
    "backlog_mean_bytes", "bytes", Float, Lower, "Mean over ports and time of the backlog" => |t| t.backlog_mean_bytes;
    "backlog_p99_bytes", "bytes", Count, Lower, "99th percentile over time of the backlog of the port where it is largest" => |t| Some(t.backlog_p99_bytes as f64);
    "backlog_max_bytes", "bytes", Count, Lower, "Largest backlog of any port" => |t| Some(t.backlog_max_bytes as f64);
    "drops", "", Count, Lower, "Packets dropped, without credits" => |t| Some(t.drops as f64);
    "marks", "", Count, Neither, "Packets marked" => |t| Some(t.marks as f64);
};
