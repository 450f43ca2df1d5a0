//! One run in numbers: `summary.json`.

use crate::balance::{Balance, BalanceSummary};
use crate::collective::{self, CollectiveSummary};
use crate::fairness::{FairnessSummary, TransportShare, fairness};
use crate::flow_level::FlowLevel;
use crate::load::{LoadSummary, load};
use crate::parts::{AgePercentiles, PartMeans};
use crate::program::{self, ProgramSummary};
use crate::run::{LONG_FLOW_BYTES, Run};
use crate::server::Server;
use crate::statistics::{Distribution, jain, mean};
use crate::tiers::{TierSummary, Totals, tiers};
use incast_models::feedback;
use incast_transport::Histogram;
use incast_units::Time;
use serde::{Deserialize, Serialize};

/// One run in numbers. Times are in nanoseconds, rates in Gb/s; undefined values are null. Flows
/// of the warm-up are counted in `flows` and excluded from all other flow statistics; ports,
/// tiers, goodput and counters cover the run from the first start on. Equal for equal scenarios and
/// seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Label of the run.
    pub label: String,
    /// Its transports.
    pub transports: Vec<String>,
    /// Of a run at flow level, which has neither packets nor queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_level: Option<FlowLevel>,
    /// When the first flow started: means over time begin there. Null if none did.
    #[serde(default)]
    pub began_ns: Option<f64>,
    /// Simulated time at the end.
    pub ended_ns: f64,
    /// Whether the user stopped it before its end.
    pub interrupted: bool,
    /// How many flows.
    pub flows: FlowCounts,
    /// When arrivals and departures balance; null without arrivals over time, or of too few.
    pub balance: Option<BalanceSummary>,
    /// Offered and carried traffic.
    pub load: LoadSummary,
    /// Flows without an end, if some started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endless: Option<EndlessSummary>,
    /// All measured flows.
    pub all: Group,
    /// Measured flows by size: `short` and `long`, then the four bands.
    pub by_size: Vec<Group>,
    /// Measured flows by transport, if there are several.
    pub by_transport: Vec<Group>,
    /// Measured flows by class, if there are several.
    pub by_class: Vec<Group>,
    /// Jain's index over the throughput of measured long flows.
    pub jain_long: Option<f64>,
    /// Jain's index over the bytes delivered by the flows whose throughput was recorded.
    pub jain_series: Option<f64>,
    /// Shares, Jain's index over time and convergence, if there is something to compare.
    pub fairness: Option<FairnessSummary>,
    /// Sums over flows and ports.
    pub counters: Counters,
    /// Queues and links by tier and direction.
    pub tiers: Vec<TierSummary>,
    /// Requests, if flows belong together.
    pub requests: Option<RequestSummary>,
    /// Servers, where some have several NICs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// Collectives, if there are some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveSummary>,
    /// Programs, if there are some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramSummary>,
}

/// How many flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// In the scenario.
    pub total: usize,
    /// Of the warm-up.
    pub warmup: usize,
    /// Opened until the end of the run, warm-up included.
    pub started: usize,
    /// Completed until the end of the run, warm-up included.
    pub completed: usize,
}

/// Flows without an end: their goodput, each from its start until its application or the run ended it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndlessSummary {
    /// Flows of 1 TB or more that started.
    pub flows: usize,
    /// Mean of their goodputs.
    pub goodput_mean_gbps: Option<f64>,
    /// The smallest.
    pub goodput_min_gbps: Option<f64>,
    /// The largest.
    pub goodput_max_gbps: Option<f64>,
}

/// Some flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Which: `all`, a band of sizes, a transport or a class.
    pub name: String,
    /// Number of flows.
    pub flows: usize,
    /// Of these completed; only they enter `fct_ns`, `slowdown` and `parts_mean_ns`.
    pub completed: usize,
    /// Of these without an end, which are not expected to complete.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub endless: usize,
    /// Flow completion time.
    pub fct_ns: Option<Distribution>,
    /// Flow completion time over that of the flow alone.
    pub slowdown: Option<Distribution>,
    /// Mean over flows of a flow's throughput: its size over its completion time, or what it had
    /// delivered until the end of the run.
    pub throughput_mean_gbps: Option<f64>,
    /// Where the time went, on average.
    pub parts_mean_ns: Option<PartMeans>,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Retransmitted data packets.
    pub retransmits: u64,
    /// Mean age of the information behind a decision of the congestion control.
    pub decision_age_mean_ns: Option<f64>,
    /// Percentiles of this age over all decisions, those of the warm-up included; only of all flows
    /// and of each transport.
    pub decision_age_ns: Option<AgePercentiles>,
    /// Decisions of a flow per base RTT of its life.
    pub decisions_per_rtt: Option<f64>,
    /// Utility of feedback of the mean age: 2 at age zero, 1 at an age of one base
    /// RTT.
    pub feedback_utility: Option<f64>,
    /// Charged bytes of packets without payload that hosts received.
    pub control_bytes: u64,
    /// Header extensions of received data packets, in bytes.
    pub extension_bytes: u64,
    /// Both over the delivered payload: overhead of feedback.
    pub feedback_per_payload: Option<f64>,
}

/// Sums over all flows and all ports, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Retransmitted data packets.
    pub retransmits: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets dropped at ports, without credits.
    pub drops: u64,
    /// Credits dropped at ports: how credit-based transports find their rate, not a loss.
    pub credit_drops: u64,
    /// Packets whose payload was cut off.
    pub trims: u64,
    /// Port time during which some class was paused.
    pub paused_ns: f64,
    /// Port time during which each class was paused, classes 0 to 7.
    pub paused_class_ns: [f64; 8],
    /// Pause frames that paused a class.
    pub pause_frames: u64,
    /// Pause frames that released a class; one can do both.
    pub resume_frames: u64,
    /// How often a watchdog declared a class of a port stuck.
    pub storms: u64,
    /// Packets lost on links.
    pub link_losses: u64,
    /// Packets that a decoder refused.
    pub malformed: u64,
    /// Packet transmissions started, summed over ports.
    pub packet_hops: u64,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Requests: flows that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Measured requests.
    pub total: usize,
    /// Of these complete.
    pub completed: usize,
    /// Time from the start of the first to the completion of the last flow of a request.
    pub completion_ns: Option<Distribution>,
}

/// Bands of sizes in bytes, lower limit included, upper excluded.
const BANDS: [(&str, u64, u64); 6] = [
    ("short (< 100 KB)", 0, LONG_FLOW_BYTES),
    ("long (>= 100 KB)", LONG_FLOW_BYTES, u64::MAX),
    ("< 10 KB", 0, 10_000),
    ("10-100 KB", 10_000, 100_000),
    ("100 KB-1 MB", 100_000, 1_000_000),
    (">= 1 MB", 1_000_000, u64::MAX),
];

impl Summary {
    /// Short flows, those under [`LONG_FLOW_BYTES`].
    pub fn short(&self) -> &Group {
        &self.by_size[0]
    }

    /// Payload that a transport of several delivered, from the first start to the end.
    pub fn goodput_gbps(&self, of: &TransportShare) -> Option<f64> {
        let time = self.ended_ns - self.began_ns?;
        (time > 0.0).then(|| of.delivered_bytes as f64 * 8.0 / time)
    }

    /// Long flows, those of at least [`LONG_FLOW_BYTES`].
    pub fn long(&self) -> &Group {
        &self.by_size[1]
    }
}

/// Summarises a run. Panics if its record and metadata do not belong together ([`Run::check`]).
pub fn summarise(run: &Run) -> Summary {
    run.check();
    let order = order_of_time(run);
    let measured = |at: &usize| !run.flows[*at].warmup;
    let chosen = |name: &str, keep: &dyn Fn(usize) -> bool| {
        let some: Vec<usize> =
            order.iter().copied().filter(|at| measured(at) && keep(*at)).collect();
        group(run, name, &some)
    };
    let by_size = BANDS
        .iter()
        .map(|&(name, low, high)| {
            chosen(name, &|at| (low..high).contains(&run.flows[at].size_bytes))
        })
        .collect();
    let long = |at: &usize| measured(at) && run.flows[*at].size_bytes >= LONG_FLOW_BYTES;
    let long: Vec<f64> =
        order.iter().copied().filter(long).filter_map(|at| run.throughput_gbps(at)).collect();
    let series: Vec<f64> = run
        .record
        .series
        .iter()
        .map(|series| series.delivered.iter().sum::<u64>() as f64)
        .collect();
    let ages = &run.record.decision_ages;
    let mut all = chosen("all", &|_| true);
    let mut together = Histogram::new();
    ages.iter().for_each(|ages| together.join(ages));
    all.decision_age_ns = AgePercentiles::of(&together);
    Summary {
        label: run.label.clone(),
        transports: run.transports.clone(),
        flow_level: run.flow_level.clone(),
        began_ns: counts(run).started.gt(&0).then(|| run.began().as_ns_f64()),
        ended_ns: run.record.ended.as_ns_f64(),
        interrupted: run.record.interrupted,
        flows: counts(run),
        balance: Balance::of(run).summary(run),
        load: load(run),
        endless: endless(run),
        all,
        by_size,
        by_transport: several(
            (0..run.transports.len())
                .map(|index| {
                    let name = run.transports[index].as_str();
                    let mut own = chosen(name, &|at| run.flows[at].transport as usize == index);
                    own.decision_age_ns = ages.get(index).and_then(AgePercentiles::of);
                    own
                })
                .collect(),
        ),
        by_class: several(
            classes(run)
                .into_iter()
                .map(|class| chosen(class, &|at| run.flows[at].class == class))
                .collect(),
        ),
        jain_long: jain(&long),
        jain_series: jain(&series),
        fairness: fairness(run),
        counters: counters(run),
        tiers: tiers(run),
        requests: requests(run),
        servers: run.servers.clone(),
        collectives: collective::collectives(run),
        programs: program::programs(run),
    }
}

/// Flows in the order of their start; flows that did not start are last.
fn order_of_time(run: &Run) -> Vec<usize> {
    let mut order: Vec<usize> = (0..run.flows.len()).collect();
    order.sort_by_key(|at| run.record.flows[*at].started.unwrap_or(Time::NEVER));
    order
}

/// Groups with flows, if there are at least two.
fn several(groups: Vec<Group>) -> Vec<Group> {
    let groups: Vec<Group> = groups.into_iter().filter(|group| group.flows > 0).collect();
    if groups.len() > 1 { groups } else { Vec::new() }
}

/// Classes in alphabetical order.
fn classes(run: &Run) -> Vec<&'static str> {
    let names: std::collections::BTreeSet<_> = run.flows.iter().map(|flow| flow.class).collect();
    names.into_iter().collect()
}

/// Some flows of a run, by their places, in a group of this name. Percentiles of the age of
/// information are those of a transport and not here.
pub fn group(run: &Run, name: &str, flows: &[usize]) -> Group {
    let fct: Vec<f64> =
        flows.iter().filter_map(|at| run.fct(*at)).map(|span| span.as_ns_f64()).collect();
    let slowdown: Vec<f64> = flows.iter().filter_map(|at| run.slowdown(*at)).collect();
    let throughput: Vec<f64> = flows.iter().filter_map(|at| run.throughput_gbps(*at)).collect();
    let records = || flows.iter().map(|at| &run.record.flows[*at]);
    let decisions: u64 = records().map(|flow| flow.decisions as u64).sum();
    let age: u128 = records().map(|flow| flow.decision_age as u128).sum();
    let age = (decisions > 0).then(|| age as f64 / 1e3 / decisions as f64);
    let control: u64 = records().map(|flow| flow.control_bytes).sum();
    let extension: u64 = records().map(|flow| flow.extension_bytes).sum();
    let delivered: u64 = records().map(|flow| flow.delivered).sum();
    let rtt = run.base_rtt.as_ns_f64();
    Group {
        name: name.to_string(),
        flows: flows.len(),
        completed: fct.len(),
        endless: flows.iter().filter(|at| run.flows[**at].is_endless()).count(),
        fct_ns: Distribution::of(&fct),
        slowdown: Distribution::of(&slowdown),
        throughput_mean_gbps: mean(&throughput),
        parts_mean_ns: PartMeans::of(records().filter_map(|flow| flow.parts.as_ref())),
        packets: records().map(|flow| flow.packets as u64).sum(),
        retransmits: records().map(|flow| flow.retransmits as u64).sum(),
        decision_age_mean_ns: age,
        decision_age_ns: None,
        decisions_per_rtt: run.decisions_per_rtt(flows.iter().copied()),
        feedback_utility: age.filter(|_| rtt > 0.0).map(|age| feedback::utility(age, rtt)),
        control_bytes: control,
        extension_bytes: extension,
        feedback_per_payload: (delivered > 0)
            .then(|| (control + extension) as f64 / delivered as f64),
    }
}

fn counts(run: &Run) -> FlowCounts {
    FlowCounts {
        total: run.flows.len(),
        warmup: run.flows.iter().filter(|flow| flow.warmup).count(),
        started: run.record.flows.iter().filter(|flow| flow.started.is_some()).count(),
        completed: run.record.flows.iter().filter(|flow| flow.completed.is_some()).count(),
    }
}

fn endless(run: &Run) -> Option<EndlessSummary> {
    let own = (0..run.flows.len()).filter(|at| run.flows[*at].is_endless());
    let own: Vec<usize> = own.filter(|at| run.record.flows[*at].started.is_some()).collect();
    let rates: Vec<f64> = own.iter().filter_map(|at| run.throughput_gbps(*at)).collect();
    (!own.is_empty()).then(|| EndlessSummary {
        flows: own.len(),
        goodput_mean_gbps: mean(&rates),
        goodput_min_gbps: rates.iter().copied().reduce(f64::min),
        goodput_max_gbps: rates.iter().copied().reduce(f64::max),
    })
}

fn counters(run: &Run) -> Counters {
    let total = Totals::of(run.record.ports.iter());
    let of_class = |class: usize| {
        let paused = run.record.ports.iter().map(|port| port.total_pauses.paused[class]);
        paused.sum::<u64>() as f64 / 1e3
    };
    Counters {
        packets: run.record.flows.iter().map(|flow| flow.packets as u64).sum(),
        retransmits: run.record.flows.iter().map(|flow| flow.retransmits as u64).sum(),
        marks: total.marks,
        drops: total.drops,
        credit_drops: total.credit_drops,
        trims: total.trims,
        paused_ns: total.paused as f64 / 1e3,
        paused_class_ns: std::array::from_fn(of_class),
        pause_frames: total.pause_frames,
        resume_frames: total.resume_frames,
        storms: total.storms,
        link_losses: run.record.link_losses,
        malformed: run.record.malformed,
        packet_hops: run.record.packet_hops,
    }
}

fn requests(run: &Run) -> Option<RequestSummary> {
    let measured: Vec<_> = run.requests.iter().filter(|request| !request.warmup).collect();
    let times: Vec<f64> = measured
        .iter()
        .filter_map(|request| Some(request.end?.since(request.start).as_ns_f64()))
        .collect();
    (!measured.is_empty()).then(|| RequestSummary {
        total: measured.len(),
        completed: times.len(),
        completion_ns: Distribution::of(&times),
    })
}
