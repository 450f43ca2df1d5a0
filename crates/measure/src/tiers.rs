//! The ports of a run by tier and direction.

use crate::Run;
use crate::statistics::mean;
use crate::uplinks::Uplinks;
use incast_transport::PortRecord;
use serde::{Deserialize, Serialize};

/// The ports of one tier and direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierSummary {
    /// `nic`, `edge`, `aggregation` or `core`.
    pub tier: String,
    /// Whether they lead away from the receiving hosts.
    pub upward: bool,
    /// Number of ports.
    pub ports: usize,
    /// Mean over ports of the use of the link from the first start on, 0 to 1.
    pub utilisation_mean: Option<f64>,
    /// The busiest port's use of its link, 0 to 1.
    pub utilisation_max: Option<f64>,
    /// How unevenly switches use their uplinks: bytes of the uplink that carries most over the mean of the uplinks of its switch,
    /// by interval; the mean over switches and intervals, weighted by their bytes. Null if no switch has several.
    #[serde(default)]
    pub imbalance_mean: Option<f64>,
    /// The same with the whole run as one interval.
    #[serde(default)]
    pub imbalance_run: Option<f64>,
    /// Mean over ports and time of the backlog, from the first start on.
    pub backlog_mean_bytes: Option<f64>,
    /// 99th percentile over time of the backlog of the port where it is largest; 1/16 too small at
    /// most.
    pub backlog_p99_bytes: u64,
    /// Largest backlog of any port at any time.
    pub backlog_max_bytes: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets dropped, without credits.
    pub drops: u64,
    /// Credits dropped.
    pub credit_drops: u64,
    /// Packets whose payload was cut off.
    pub trims: u64,
    /// Port time during which some class was paused.
    pub paused_ns: f64,
    /// Pause frames sent that paused a class.
    pub pause_frames: u64,
    /// Pause frames sent that released a class; one can do both.
    pub resume_frames: u64,
    /// How often a watchdog declared a class of a port stuck.
    pub storms: u64,
}

/// Sums over ports, 64 bits wide.
#[derive(Default)]
pub(crate) struct Totals {
    pub marks: u64,
    pub drops: u64,
    pub credit_drops: u64,
    pub trims: u64,
    pub paused: u64,
    pub pause_frames: u64,
    pub resume_frames: u64,
    pub storms: u64,
    pub backlog_max: u64,
    pub backlog_area: u128,
}

impl Totals {
    pub fn of<'a>(ports: impl Iterator<Item = &'a PortRecord>) -> Totals {
        ports.fold(Totals::default(), |mut sum, port| {
            let (total, pauses) = (&port.total, &port.total_pauses);
            sum.marks += total.marks as u64;
            sum.drops += total.drops as u64;
            sum.credit_drops += total.credit_drops as u64;
            sum.trims += total.trims as u64;
            sum.paused += total.paused;
            sum.pause_frames += pauses.pause_frames as u64;
            sum.resume_frames += pauses.resume_frames as u64;
            sum.storms += pauses.storms as u64;
            sum.backlog_max = sum.backlog_max.max(total.backlog_max);
            sum.backlog_area += total.backlog_area;
            sum
        })
    }
}

/// Tiers in order of their first port.
pub(crate) fn tiers(run: &Run) -> Vec<TierSummary> {
    let mut kinds: Vec<(&str, bool)> = Vec::new();
    for port in &run.ports {
        if !kinds.contains(&(port.tier, port.upward)) {
            kinds.push((port.tier, port.upward));
        }
    }
    let uplinks = Uplinks::of(run);
    kinds.into_iter().map(|(tier, upward)| tier_summary(run, &uplinks, tier, upward)).collect()
}

fn tier_summary(run: &Run, uplinks: &Uplinks, tier: &str, upward: bool) -> TierSummary {
    let of_tier = |at: u32| {
        let port = &run.ports[at as usize];
        port.tier == tier && port.upward == upward
    };
    let ports: Vec<_> = run.record.ports.iter().filter(|port| of_tier(port.port)).collect();
    let lived = run.lived();
    let used: Vec<f64> = ports.iter().filter_map(|port| run.utilisation(port, lived)).collect();
    let total = Totals::of(ports.iter().copied());
    let port_time = lived.0 as f64 * ports.len() as f64;
    let upper = upward && tier != "nic";
    let whole = 0..run.intervals();
    TierSummary {
        tier: tier.to_string(),
        upward,
        ports: ports.len(),
        utilisation_mean: mean(&used),
        utilisation_max: used.iter().copied().reduce(f64::max),
        imbalance_mean: uplinks.imbalance(Some(tier), whole).filter(|_| upper),
        imbalance_run: uplinks.over_run(run, tier).filter(|_| upper),
        backlog_mean_bytes: (port_time > 0.0).then(|| total.backlog_area as f64 / port_time),
        backlog_p99_bytes: ports
            .iter()
            .filter_map(|port| port.backlogs.percentile(990))
            .max()
            .unwrap_or(0),
        backlog_max_bytes: total.backlog_max,
        marks: total.marks,
        drops: total.drops,
        credit_drops: total.credit_drops,
        trims: total.trims,
        paused_ns: total.paused as f64 / 1e3,
        pause_frames: total.pause_frames,
        resume_frames: total.resume_frames,
        storms: total.storms,
    }
}
