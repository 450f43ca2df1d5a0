//! htsim's `.topo` files and the failure lines of its connection matrices.

use super::imported::{Imported, TierQueues, check_size, error_at};
use super::warning::{RADIX_IGNORED, SWITCH_LATENCY_IN_LINKS};
use crate::parts::Tier;
use crate::shapes::{LeafSpine, ThreeTier};
use crate::{Fabric, TopologyError};
use incast_units::fault::{Problem, nearest, wrong};
use incast_units::{Bytes, Notice, Rate, Span, Time};

const HEADER_KEYS: [&str; 3] = ["nodes", "tiers", "podsize"];
const TIER_KEYS: [&str; 9] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "queue_up",
    "queue_down",
    "oversubscribed",
    "bundle",
    "switch_latency_ns",
    "downlink_latency_ns",
];

/// Whether a line begins with a key of a `.topo` file.
pub(super) fn known(line: &str) -> bool {
    let key = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    key == "tier" || HEADER_KEYS.iter().chain(&TIER_KEYS).any(|known| *known == key)
}

/// No value is larger, so that products of two fit 128 bits and most fit 64.
const MAX_VALUE: u64 = 1 << 31;

/// A number, and the line on which it is given.
#[derive(Clone, Copy)]
struct Given {
    value: u64,
    line: usize,
}

type Entry = Option<Given>;

struct Section {
    line: usize,
    entries: [Entry; TIER_KEYS.len()],
}

struct Topo<'a> {
    file: &'a str,
    header: [Entry; HEADER_KEYS.len()],
    sections: [Option<Section>; 3],
    last_line: usize,
}

/// Reads htsim's `.topo`: two or three tiers described by radixes. `file` is for messages and names
/// the fabric. Keys are taken in any case; `#` begins a comment. Everything must agree (radixes,
/// pod size, oversubscription, 1 unless stated). Switch latency is folded into the propagation of
/// the links towards the switch, which delays packets by the same time; a note says so.
pub fn import_htsim_topo(file: &str, text: &str) -> Result<Imported, TopologyError> {
    let topo = read(file, text)?;
    let nodes = topo.header("nodes")?;
    let tiers = topo.header("tiers")?;
    let pod = topo.header("podsize")?;
    let mut notes = Vec::new();
    let fabric = match tiers.value {
        2 => topo.leaf_spine(nodes, pod, &mut notes)?,
        3 => topo.three_tier(nodes, pod)?,
        other => {
            return Err(error_at(
                file,
                tiers.line,
                wrong(format!("Tiers {other}")).expected("2 or 3"),
            ));
        }
    };
    let mut latencies =
        (0..tiers.value as usize).filter_map(|tier| topo.optional(tier, "switch_latency_ns"));
    if latencies.any(|latency| latency.value > 0) {
        notes.push(SWITCH_LATENCY_IN_LINKS.notice(&[]));
    }
    let bytes = |tier, key| topo.optional(tier, key).map(|given| Bytes(given.value));
    let queues = (0..tiers.value as usize)
        .map(|tier| TierQueues { up: bytes(tier, "queue_up"), down: bytes(tier, "queue_down") })
        .collect();
    let host_ids = (0..fabric.hosts()).collect();
    let switch_ids = (fabric.hosts()..fabric.nodes()).collect();
    Ok(Imported { fabric: fabric.named(file), notes, queues, host_ids, switch_ids })
}

fn read<'a>(file: &'a str, text: &str) -> Result<Topo<'a>, TopologyError> {
    let mut topo = Topo { file, header: [None; 3], sections: [None, None, None], last_line: 1 };
    let mut current: Option<usize> = None;
    for (line, content) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        topo.last_line = line;
        let content = content.split('#').next().unwrap_or_default();
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        let refuse = |message: Problem| Err(error_at(file, line, message));
        let [_, value] = words[..] else {
            return refuse(wrong(format!("`{}`", content.trim())).expected("a key and one number"));
        };
        let Some(value) = value.parse::<u64>().ok().filter(|value| *value <= MAX_VALUE) else {
            return refuse(
                wrong(format!("{first} `{value}`"))
                    .expected(format!("a whole number to {MAX_VALUE}")),
            );
        };
        let key = first.to_ascii_lowercase();
        if key == "tier" {
            let Some(slot) = topo.sections.get_mut(value as usize) else {
                return refuse(wrong(format!("Tier {value}")).expected("0 to 2"));
            };
            if let Some(earlier) = slot {
                return refuse(wrong(format!(
                    "Tier {value} again, first on line {}",
                    earlier.line
                )));
            }
            *slot = Some(Section { line, entries: [None; TIER_KEYS.len()] });
            current = Some(value as usize);
            continue;
        }
        let in_header = HEADER_KEYS.iter().position(|known| *known == key);
        let in_tier = TIER_KEYS.iter().position(|known| *known == key);
        let section = current.and_then(|tier| topo.sections[tier].as_mut());
        let entry = match (in_header, in_tier, section) {
            (Some(_), _, Some(_)) => {
                return refuse(wrong(format!("{first} belongs before `Tier 0`")));
            }
            (Some(index), _, None) => &mut topo.header[index],
            (_, Some(index), Some(section)) => &mut section.entries[index],
            (_, Some(_), None) => {
                return refuse(wrong(format!("{first} belongs after a `Tier` line")));
            }
            (None, None, _) => {
                let known = HEADER_KEYS.iter().chain(&TIER_KEYS).copied();
                let problem = wrong(format!("unknown key `{first}`"));
                return refuse(problem.meant(nearest(&key, known)));
            }
        };
        if let Some(earlier) = entry {
            return refuse(wrong(format!("{first} again, first on line {}", earlier.line)));
        }
        *entry = Some(Given { value, line });
    }
    Ok(topo)
}

impl Topo<'_> {
    fn header(&self, key: &str) -> Result<Given, TopologyError> {
        let index = HEADER_KEYS.iter().position(|known| *known == key).expect("a header key");
        match self.header[index] {
            Some(Given { value: 0, line }) => {
                Err(error_at(self.file, line, wrong(format!("{key} 0")).expected("at least 1")))
            }
            Some(entry) => Ok(entry),
            None => Err(error_at(self.file, self.last_line, format!("{key} is missing"))),
        }
    }

    fn optional(&self, tier: usize, key: &str) -> Entry {
        let index = TIER_KEYS.iter().position(|known| *known == key).expect("a tier key");
        self.sections[tier].as_ref().and_then(|section| section.entries[index])
    }

    fn required(&self, tier: usize, key: &str) -> Result<Given, TopologyError> {
        if let Some(entry) = self.optional(tier, key) {
            return Ok(entry);
        }
        match &self.sections[tier] {
            None => Err(error_at(self.file, self.last_line, format!("`Tier {tier}` is missing"))),
            Some(section) => {
                Err(error_at(self.file, section.line, format!("Tier {tier} lacks {key}")))
            }
        }
    }

    /// A count of at least 1.
    fn count(&self, tier: usize, key: &str) -> Result<Given, TopologyError> {
        match self.required(tier, key)? {
            Given { value: 0, line } => {
                Err(error_at(self.file, line, wrong(format!("{key} 0")).expected("at least 1")))
            }
            given => Ok(given),
        }
    }

    fn rate(&self, tier: usize) -> Result<Rate, TopologyError> {
        let Given { value: gbps, line } = self.count(tier, "downlink_speed_gbps")?;
        if gbps > 1_000_000 {
            let message = wrong(format!("downlink_speed_gbps {gbps}")).expected("1 to 1000000");
            return Err(error_at(self.file, line, message));
        }
        Ok(Rate::from_gbps(gbps))
    }

    fn propagation(&self, tier: usize) -> Result<Span, TopologyError> {
        Ok(Span::from_ns(self.required(tier, "downlink_latency_ns")?.value))
    }

    fn latency(&self, tier: usize) -> Span {
        Span::from_ns(self.optional(tier, "switch_latency_ns").map_or(0, |given| given.value))
    }

    fn bundle(&self, tier: usize) -> Result<u64, TopologyError> {
        let Some(Given { value: bundle, line }) = self.optional(tier, "bundle") else {
            return Ok(1);
        };
        if bundle == 0 || bundle > u16::MAX as u64 {
            return Err(error_at(
                self.file,
                line,
                wrong(format!("bundle {bundle}")).expected("1 to 65535"),
            ));
        }
        if tier == 0 && bundle != 1 {
            let message = format!("bundle {bundle} in tier 0: a host has exactly one link");
            return Err(error_at(self.file, line, message));
        }
        Ok(bundle)
    }

    /// `given`, which the file calls `what`, over `divisor`, of which it must be a multiple.
    fn divide(
        &self,
        what: &str,
        given: Given,
        by: &str,
        divisor: u64,
    ) -> Result<u64, TopologyError> {
        if given.value.is_multiple_of(divisor) {
            return Ok(given.value / divisor);
        }
        let message = format!("{what} {} is not a multiple of {by} {divisor}", given.value);
        Err(error_at(self.file, given.line, message))
    }

    /// `radix_down` must be what the tiers below make it.
    fn radix_down(&self, tier: usize, below: u64, what: &str) -> Result<(), TopologyError> {
        let bundle = self.bundle(tier)?;
        let Given { value: radix, line } = self.count(tier, "radix_down")?;
        if radix == below * bundle {
            return Ok(());
        }
        let message = wrong(format!(
            "Tier {tier}: radix_down {radix}, but there are {below} {what} with {bundle} links to \
             each"
        ))
        .expected(below * bundle);
        Err(error_at(self.file, line, message))
    }

    /// The stated oversubscription must be that of the radixes and speeds.
    fn oversubscription(&self, tier: usize) -> Result<(), TopologyError> {
        let down = self.count(tier, "radix_down")?.value;
        let Given { value: up, line: up_line } = self.count(tier, "radix_up")?;
        let (below, above) = (self.rate(tier)?, self.rate(tier + 1)?);
        let unstated = Given { value: 1, line: up_line };
        let given = self.optional(tier, "oversubscribed").unwrap_or(unstated);
        let Given { value: stated, line } = given;
        let incoming = down as u128 * below.0 as u128;
        let outgoing = up as u128 * above.0 as u128;
        if stated as u128 * outgoing == incoming {
            return Ok(());
        }
        let message = format!(
            "Tier {tier}: {down} links of {below} down and {up} of {above} up are {:.3}:1 \
             oversubscribed, but `Oversubscribed` says {stated}",
            incoming as f64 / outgoing as f64
        );
        Err(error_at(self.file, line, message))
    }

    fn leaf_spine(
        &self,
        nodes: Given,
        pod: Given,
        notes: &mut Vec<Notice>,
    ) -> Result<Fabric, TopologyError> {
        if pod.value != nodes.value {
            let (pod_size, all) = (pod.value, nodes.value);
            let message = format!("Podsize {pod_size}: two tiers are one pod of {all} nodes");
            return Err(error_at(self.file, pod.line, message));
        }
        if let Some(radix) = self.optional(1, "radix_up").filter(|radix| radix.value > 0) {
            notes.push(RADIX_IGNORED.notice(&[("radix", &radix.value)]));
        }
        let per_leaf = self.count(0, "radix_down")?.value;
        let leaves = self.divide("Nodes", nodes, "Tier 0's radix_down", per_leaf)?;
        self.bundle(0)?;
        self.radix_down(1, leaves, "leaves")?;
        let up = self.count(0, "radix_up")?;
        let bundle = self.bundle(1)?;
        let spines = self.divide("radix_up", up, "Tier 1's bundle", bundle)?;
        self.oversubscription(0)?;
        let shape = LeafSpine {
            leaves: leaves as u32,
            spines: spines as u32,
            hosts_per_leaf: per_leaf as u32,
            bundle: bundle as u16,
            host_rate: self.rate(0)?,
            uplink_rate: self.rate(1)?,
            host_propagation: self.propagation(0)?,
            uplink_propagation: self.propagation(1)?,
            loss: 0.0,
        };
        check_size(shape.size()).map_err(|error| error.at(self.file, None))?;
        let built = shape.with_latencies(self.latency(0), self.latency(1));
        built.map_err(|error| error.at(self.file, None))
    }

    fn three_tier(&self, nodes: Given, pod: Given) -> Result<Fabric, TopologyError> {
        let pods = self.divide("Nodes", nodes, "Podsize", pod.value)?;
        let per_edge = self.count(0, "radix_down")?.value;
        let edges = self.divide("Podsize", pod, "Tier 0's radix_down", per_edge)?;
        self.bundle(0)?;
        self.radix_down(1, edges, "edge switches in a pod")?;
        self.radix_down(2, pods, "pods")?;
        let bundles = [self.bundle(1)?, self.bundle(2)?];
        let mut above = [0; 2];
        for tier in 0..2 {
            let up = self.count(tier, "radix_up")?;
            let by = "the bundle of the tier above,";
            above[tier] = self.divide("radix_up", up, by, bundles[tier])?;
            self.oversubscription(tier)?;
        }
        if let Some(radix) = self.optional(2, "radix_up").filter(|radix| radix.value > 0) {
            let message = format!("Radix_Up {}: the top tier has no links up", radix.value);
            return Err(error_at(self.file, radix.line, message));
        }
        let shape = ThreeTier {
            pods: pods as u32,
            edges_per_pod: edges as u32,
            hosts_per_edge: per_edge as u32,
            aggregations_per_pod: above[0] as u32,
            cores_per_aggregation: above[1] as u32,
            edge_bundle: bundles[0] as u16,
            core_bundle: bundles[1] as u16,
            rates: [self.rate(0)?, self.rate(1)?, self.rate(2)?],
            propagations: [self.propagation(0)?, self.propagation(1)?, self.propagation(2)?],
            latencies: [self.latency(0), self.latency(1), self.latency(2)],
            loss: 0.0,
        };
        check_size(shape.size()).map_err(|error| error.at(self.file, None))?;
        shape.build().map_err(|error| error.at(self.file, None))
    }
}

/// A failed link as a line of htsim's connection matrix names it:
/// `failure switch_type AGG switch_id 0 link_id 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtsimFailure {
    /// `TOR`, `AGG` or `CORE`.
    pub tier: Tier,
    /// Number of the switch within its tier.
    pub switch: u32,
    /// Number of the link among the switch's upward links (a core switch's links down).
    pub link: u32,
}

impl HtsimFailure {
    /// Reads one line. Errors name the accepted form.
    pub fn parse(text: &str) -> Result<HtsimFailure, TopologyError> {
        let refuse = || {
            TopologyError::malformed(
                wrong(format!("`{}`", text.trim()))
                    .expected("`failure switch_type TOR|AGG|CORE switch_id <n> link_id <n>`"),
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["failure", "switch_type", tier, "switch_id", switch, "link_id", link] = words[..]
        else {
            return Err(refuse());
        };
        let tier = match tier {
            "TOR" => Tier::Edge,
            "AGG" => Tier::Aggregation,
            "CORE" => Tier::Core,
            _ => return Err(refuse()),
        };
        let number = |word: &str| word.parse::<u32>().map_err(|_| refuse());
        Ok(HtsimFailure { tier, switch: number(switch)?, link: number(link)? })
    }

    /// Lets the link fail at `at`; htsim fails links before the run starts. In a fabric of two
    /// tiers `AGG` means the spines. Errors name the accepted range.
    pub fn apply(self, fabric: &mut Fabric, at: Time) -> Result<(), TopologyError> {
        let three_tiers = fabric.tiers.contains(&Tier::Aggregation);
        let tier = match self.tier {
            Tier::Aggregation if !three_tiers => Tier::Core,
            tier => tier,
        };
        let port = fabric.switch_link(tier, self.switch, self.link)?;
        fabric.fail_port(at..Time::NEVER, port)
    }
}
