//! Buffers of switches: per port or shared, and priority-based flow control.

use crate::fault::{Problem, expected, wrong};
use crate::warnings::PFC_CAN_DEADLOCK;
use crate::{Fault, scenario};
use incast_fabric::{Fabric, NodeId, PortId, PortSpec};
use incast_transport::{Bytes, Classes, Framing, HostId, Limit, Notice, Rate, RunRecord, Time};
use incast_world::{Pfc, SharedBuffer, Storm, WatchdogRules, epochs, sufficient_headroom};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The storms of pause frames.
///
/// # Errors
/// Without PFC, of a host that is not there, or of one host at a time.
pub fn storms(section: &scenario::Fabric, fabric: &Fabric) -> Result<Vec<Storm>, Fault> {
    let mut all: Vec<Storm> = vec![];
    for (index, own) in section.storms.iter().enumerate() {
        let key = |key: &str| format!("fabric.storms.{index}.{key}");
        let Some(pfc) = &section.pfc else {
            let problem = wrong("no link is ever paused")
                .expected("`fabric.pfc` beside it, such as `pfc = {}`");
            return Err(Fault::at(format!("fabric.storms.{index}"), problem));
        };
        if own.host >= fabric.hosts() {
            let problem = expected(format!("a host below {}", fabric.hosts()));
            return Err(Fault::value(key("host"), own.host, problem));
        }
        let until = own.lasts.map_or(Time::NEVER, |lasts| Time(own.at.0).saturating_add(lasts));
        let storm = Storm {
            host: HostId(own.host),
            from: Time(own.at.0),
            until,
            classes: classes(&pfc.classes)?,
        };
        let overlaps = |other: &&Storm| {
            other.host == storm.host && storm.from <= other.until && other.from <= storm.until
        };
        if let Some(other) = all.iter().find(overlaps) {
            let (host, from) = (own.host, other.from);
            let problem = wrong(format!("host {host} is in a storm from {from} on"))
                .expected("one at a time");
            return Err(Fault::value(key("at"), own.at, problem));
        }
        all.push(storm);
    }
    Ok(all)
}

/// Buffer configuration of a scenario, with warnings.
pub struct Rules {
    /// Limit of each switch port.
    pub port: Limit,
    /// One buffer per switch.
    pub shared: Option<SharedBuffer>,
    /// Priority-based flow control.
    pub pfc: Option<Arc<Pfc>>,
    /// Warnings that affect how results may be interpreted.
    pub warnings: Vec<Notice>,
}

/// Resolves `fabric.buffer`, `fabric.shared_buffer` and `fabric.pfc`.
pub fn rules(
    section: &scenario::Fabric,
    fabric: &Fabric,
    framing: Framing,
) -> Result<Rules, Fault> {
    let pool = |shared: scenario::SharedBuffer| (shared.pool.0, shared.alpha);
    let shared = section.shared_buffer.clone().map(pool);
    let shared = shared.map(|(pool, alpha)| SharedBuffer { pool, alpha });
    let own = section.buffer.0;
    let mtu = framing.charged_mtu() as u64;
    if let Some(SharedBuffer { pool, .. }) = shared
        && pool < mtu
    {
        let problem = expected(format!("{} or more, a full packet as links charge it", Bytes(mtu)));
        return Err(Fault::value("fabric.shared_buffer.pool", Bytes(pool), problem));
    }
    if let (None, Limit::Bytes(bytes)) = (shared, own)
        && bytes < mtu
    {
        let (bytes, least) = (Bytes(bytes), Bytes(mtu));
        let problem = expected(format!("{least} or more, a full packet as links charge it"));
        return Err(Fault::value("fabric.buffer", bytes, problem));
    }
    let mut warnings = vec![];
    let pfc = pfc(section, fabric, framing, own, shared, &mut warnings)?.map(Arc::new);
    let unlimited = shared.is_some() || pfc.is_some();
    let port = if unlimited { Limit::Unlimited } else { own };
    Ok(Rules { port, shared, pfc, warnings })
}

fn pfc(
    section: &scenario::Fabric,
    fabric: &Fabric,
    framing: Framing,
    own: Limit,
    shared: Option<SharedBuffer>,
    warnings: &mut Vec<Notice>,
) -> Result<Option<Pfc>, Fault> {
    let Some(section) = &section.pfc else { return Ok(None) };
    let mtu = framing.charged_mtu() as u64;
    let own = match own {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => packets as u64 * mtu,
        Limit::Unlimited => u64::MAX / 4,
    };
    let Thresholds { xoff, xoff_by_rate, release } = thresholds(section, own, mtu, fabric)?;
    let reserve_by_rate = by_rate("reserve_by_rate", &section.reserve_by_rate, fabric, |_| Ok(()))?;
    let bytes = |by_port: Vec<Bytes>| by_port.into_iter().map(|bytes| bytes.0).collect();
    let cyclic = cycle(fabric, section.allow_cycles, warnings)?;
    let mut pfc = Pfc {
        lossless: classes(&section.classes)?,
        xoff,
        xoff_by_port: bytes(by_port(&xoff_by_rate, Bytes(xoff), fabric)),
        release,
        headroom: headroom(section.headroom.0, fabric, framing)?,
        lossy: own,
        shared,
        alpha: alpha(section, fabric, shared)?,
        reserve: section.reserve.0,
        reserve_by_port: bytes(by_port(&reserve_by_rate, section.reserve, fabric)),
        set_aside: vec![],
        cyclic,
        watchdog: section.watchdog.as_ref().map(|own| WatchdogRules {
            detect: own.detect,
            restore: own.restore,
            action: own.action,
        }),
    };
    if section.headroom_in_pool {
        pfc.set_aside = set_aside(&pfc, fabric)?;
    }
    Ok(Some(pfc))
}

/// When links are paused and resumed, in bytes.
struct Thresholds {
    xoff: u64,
    xoff_by_rate: BTreeMap<Rate, Bytes>,
    release: u64,
}

/// Thresholds of a packet or more, and no less than `release`. That for all links counts where a
/// rate has none of its own.
fn thresholds(
    section: &scenario::Pfc,
    own: u64,
    mtu: u64,
    fabric: &Fabric,
) -> Result<Thresholds, Fault> {
    let xoff = section.xoff.0.map_or(own, |xoff| xoff.0);
    let given = section.release.0;
    let release = given.map_or(2 * mtu, |release| release.0);
    let enough = |xoff: Bytes| match (xoff.0 < mtu, given) {
        (true, _) => Err(expected(format!("{} or more", Bytes(mtu)))),
        (_, None) if xoff.0 < release => Err(expected(format!(
            "{} or more, two packets, after which a link resumes, or a `fabric.pfc.release` of at most {xoff}",
            Bytes(release)
        ))),
        _ => Ok(()),
    };
    let xoff_by_rate = by_rate("xoff_by_rate", &section.xoff_by_rate, fabric, enough)?;
    let general = fabric.ports().iter().any(|port| !xoff_by_rate.contains_key(&port.rate));
    if general {
        enough(Bytes(xoff)).map_err(|text| Fault::value("fabric.pfc.xoff", Bytes(xoff), text))?;
    }
    let all = xoff_by_rate.values().map(|xoff| xoff.0).chain(general.then_some(xoff));
    let least = all.min().unwrap_or(xoff);
    if release > least {
        let problem = expected(format!("at most xoff, {}", Bytes(least)));
        return Err(Fault::value("fabric.pfc.release", Bytes(release), problem));
    }
    Ok(Thresholds { xoff, xoff_by_rate, release })
}

/// The values of a key by the rate of a link; each is a rate of a port that satisfies `check`.
fn by_rate<T: Copy + std::fmt::Display>(
    key: &str,
    given: &BTreeMap<String, T>,
    fabric: &Fabric,
    check: impl Fn(T) -> Result<(), Problem>,
) -> Result<BTreeMap<Rate, T>, Fault> {
    let key = |name: &str| format!("fabric.pfc.{key}.{name}");
    let mut rates: Vec<Rate> = fabric.ports().iter().map(|port| port.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let mut all = BTreeMap::new();
    for (name, value) in given {
        let rate: Rate = name.parse().map_err(|fault: Fault| fault.of(key(name)))?;
        if !rates.contains(&rate) {
            let there: Vec<String> = rates.iter().map(Rate::to_string).collect();
            let problem = wrong(format!("no port has {rate}"))
                .expected(format!("rates of {}", there.join(", ")));
            return Err(Fault::value(key(name), value, problem));
        }
        check(*value).map_err(|problem| Fault::value(key(name), value, problem))?;
        all.insert(rate, *value);
    }
    Ok(all)
}

/// The values by port; none if there are none by rate.
fn by_port<T: Copy>(by_rate: &BTreeMap<Rate, T>, general: T, fabric: &Fabric) -> Vec<T> {
    let of = |port: &PortSpec| by_rate.get(&port.rate).copied().unwrap_or(general);
    if by_rate.is_empty() { vec![] } else { fabric.ports().iter().map(of).collect() }
}

/// Factors of the dynamic threshold by port; none if all are the shared buffer's.
fn alpha(
    section: &scenario::Pfc,
    fabric: &Fabric,
    shared: Option<SharedBuffer>,
) -> Result<Vec<f64>, Fault> {
    let positive = |alpha: f64| match alpha.is_finite() && alpha > 0.0 {
        true => Ok(()),
        false => Err(expected("a number above 0")),
    };
    let by_rate = by_rate("alpha_by_rate", &section.alpha_by_rate, fabric, positive)?;
    if by_rate.is_empty() && section.alpha.0.is_none() {
        return Ok(vec![]);
    }
    let Some(shared) = shared else {
        let given = if by_rate.is_empty() { "alpha" } else { "alpha_by_rate" };
        let problem = wrong("applies to a shared buffer").expected("`fabric.shared_buffer` too");
        return Err(Fault::at(format!("fabric.pfc.{given}"), problem));
    };
    let general = section.alpha.0.unwrap_or(shared.alpha);
    match by_rate.is_empty() {
        true => Ok(vec![general; fabric.ports().len()]),
        false => Ok(by_port(&by_rate, general, fabric)),
    }
}

/// What headroom and reserves take from the pool of the switch of each port.
fn set_aside(pfc: &Pfc, fabric: &Fabric) -> Result<Vec<u64>, Fault> {
    let key = "fabric.pfc.headroom_in_pool";
    let Some(shared) = pfc.shared else {
        return Err(Fault::at(
            key,
            wrong("applies to a shared buffer").expected("`fabric.shared_buffer` too"),
        ));
    };
    let classes = pfc.lossless.0.count_ones() as u64;
    let mut taken: BTreeMap<NodeId, u64> = BTreeMap::new();
    for ((port, headroom), at) in fabric.ports().iter().zip(&pfc.headroom).zip(0..) {
        let own = classes.saturating_mul(headroom.saturating_add(pfc.reserve_of(at)));
        let all = taken.entry(port.node).or_default();
        *all = all.saturating_add(own);
    }
    let switches = taken.iter().filter(|(node, _)| node.0 >= fabric.hosts());
    if let Some((node, most)) = switches.max_by_key(|(_, bytes)| **bytes)
        && *most >= shared.pool
    {
        let problem = wrong(format!(
            "headroom and reserves of {} take {} for {classes} classes",
            fabric.node_name(*node),
            Bytes(*most)
        ))
        .expected("a `fabric.shared_buffer.pool` above that, or fewer `fabric.pfc.classes`");
        return Err(Fault::value("fabric.shared_buffer.pool", Bytes(shared.pool), problem));
    }
    Ok(fabric.ports().iter().map(|port| taken[&port.node]).collect())
}

fn classes(listed: &[u8]) -> Result<Classes, Fault> {
    if listed.is_empty() {
        return Err(Fault::at("fabric.pfc.classes", expected("at least one class of 0 to 7")));
    }
    Ok(Classes(listed.iter().fold(0, |set, class| set | 1 << class)))
}

/// The headroom per ingress link. A value too small for a lossless link is refused.
fn headroom(
    requested: Option<Bytes>,
    fabric: &Fabric,
    framing: Framing,
) -> Result<Vec<u64>, Fault> {
    let needed = sufficient_headroom(fabric, framing);
    let Some(requested) = requested else { return Ok(needed) };
    let most = needed.iter().enumerate().max_by_key(|(_, bytes)| **bytes);
    if let Some((port, bytes)) = most
        && requested.0 < *bytes
    {
        let spec = fabric.port(PortId(port as u32));
        let (from, to) = (fabric.node_name(spec.peer), fabric.node_name(spec.node));
        let problem = wrong(format!(
            "up to {} can still arrive on the link {from}->{to} after it is paused",
            Bytes(*bytes)
        ))
        .expected("at least this much, or no such key");
        return Err(Fault::value("fabric.pfc.headroom", requested, problem));
    }
    Ok(vec![requested.0; needed.len()])
}

/// Whether pauses can deadlock; rejected unless requested.
fn cycle(fabric: &Fabric, allowed: bool, warnings: &mut Vec<Notice>) -> Result<bool, Fault> {
    let mut found = fabric.buffer_cycle(&fabric.routes());
    for epoch in epochs(fabric) {
        found = found.or_else(|| fabric.buffer_cycle(&epoch.routes));
    }
    let Some(cycle) = found else { return Ok(false) };
    let cycle = port_names(fabric, cycle.iter().copied());
    if !allowed {
        let problem = format!(
            "paused links can wait for each other in a cycle (PFC deadlock): {cycle}; set \
             `fabric.pfc.allow_cycles = true` to run anyway"
        );
        return Err(Fault::at("fabric.pfc", problem));
    }
    warnings.push(PFC_CAN_DEADLOCK.notice(&[("ports", &cycle)]));
    Ok(true)
}

/// Names of ports for messages.
fn port_names(fabric: &Fabric, ports: impl Iterator<Item = PortId>) -> String {
    ports.map(|port| fabric.port_name(fabric.port(port))).collect::<Vec<_>>().join(", ")
}

/// The ports in a PFC deadlock, if any.
pub fn deadlock(fabric: &Fabric, record: &RunRecord) -> Option<String> {
    let ports = record.deadlock.iter().map(|(port, _)| PortId(*port));
    let (_, class) = record.deadlock.first()?;
    Some(format!("{} (class {class})", port_names(fabric, ports)))
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Scenario};

    fn plan(fabric: &str) -> Result<Plan, String> {
        let text = format!(
            "[fabric]\ntopology = \"leaf-spine:2x2x2\"\nrate = \"10Gbps\"\nuplink_rate = \"40Gbps\"\n\
             {fabric}\n[transport]\nnames = [\"dcqcn\"]\n[[traffic]]\nkind = \"permutation\"\n\
             size = \"1MB\"\n"
        );
        let plan = Scenario::parse(&text, "a test", &[]).and_then(Plan::new);
        plan.map_err(|fault| fault.to_string())
    }

    /// Alpha by rate, and what headroom and reserves take from a pool: four ports of a leaf, of
    /// each switch all its own.
    #[test]
    fn pauses_follow_the_rate_of_a_link_and_the_pool_of_its_switch() {
        let pfc = "pfc = { classes = [1], alpha = 0.125, alpha_by_rate = { \"40Gbps\" = 0.5 }, \
                   reserve = \"4KB\", headroom_in_pool = true }\nshared_buffer = { pool = \"2MB\" }";
        let plan = plan(pfc).unwrap_or_else(|error| panic!("{error}"));
        let pfc = plan.pfc.expect("configured");
        for (index, port) in plan.fabric.ports().iter().enumerate() {
            let alpha = if port.rate.0 == 40_000_000_000 { 0.5 } else { 0.125 };
            assert_eq!(pfc.alpha[index], alpha);
            let same = plan.fabric.ports().iter().zip(&pfc.headroom);
            let own = same.filter(|(other, _)| other.node == port.node);
            let all: u64 = own.map(|(_, headroom)| headroom + 4_000).sum();
            assert_eq!(pfc.set_aside[index], all);
        }
        let plain = plan_of_default();
        assert!(plain.alpha.is_empty() && plain.set_aside.is_empty() && plain.reserve == 0);
    }

    /// Thresholds and reserves of their own for uplinks; what a pool sets aside counts them.
    #[test]
    fn thresholds_and_reserves_may_be_those_of_a_rate() {
        let pfc = "pfc = { classes = [1], xoff = \"20KB\", xoff_by_rate = { \"40Gbps\" = \"60KB\" }, \
                   reserve_by_rate = { \"40Gbps\" = \"8KB\" }, headroom_in_pool = true }\n\
                   shared_buffer = { pool = \"2MB\" }";
        let plan = plan(pfc).unwrap_or_else(|error| panic!("{error}"));
        let pfc = plan.pfc.expect("configured");
        let faster = |port: &incast_fabric::PortSpec| port.rate.0 == 40_000_000_000;
        for (index, port) in plan.fabric.ports().iter().enumerate() {
            assert_eq!(pfc.xoff_by_port[index], if faster(port) { 60_000 } else { 20_000 });
            assert_eq!(pfc.reserve_by_port[index], if faster(port) { 8_000 } else { 0 });
            let same = plan.fabric.ports().iter().zip(&pfc.headroom);
            let own = same.filter(|(other, _)| other.node == port.node);
            let all = own.map(|(other, room)| room + if faster(other) { 8_000 } else { 0 });
            assert_eq!(pfc.set_aside[index], all.sum::<u64>());
        }
        assert_eq!(pfc.xoff_range(), (20_000, 60_000));
        let plain = plan_of_default();
        assert!(plain.xoff_by_port.is_empty() && plain.reserve_by_port.is_empty());
        assert_eq!(plain.xoff_range(), (plain.xoff, plain.xoff));
    }

    /// The threshold for all counts for no link then, and may be smaller than a packet.
    #[test]
    fn the_general_threshold_may_be_any_if_each_rate_has_its_own() {
        let own = "\"10Gbps\" = \"20KB\", \"40Gbps\" = \"60KB\"";
        let with =
            |xoff: &str| plan(&format!("pfc = {{ xoff = \"1KB\", xoff_by_rate = {{ {xoff} }} }}"));
        let pfc = with(own).unwrap_or_else(|error| panic!("{error}")).pfc.expect("configured");
        assert_eq!(pfc.xoff_range(), (20_000, 60_000));
        assert!(with("\"10Gbps\" = \"20KB\"").is_err_and(|text| text.contains("fabric.pfc.xoff")));
    }

    fn plan_of_default() -> std::sync::Arc<incast_world::Pfc> {
        let plan = plan("pfc = {}\nshared_buffer = { pool = \"2MB\" }");
        plan.unwrap_or_else(|error| panic!("{error}")).pfc.expect("configured")
    }

    #[test]
    fn what_does_not_fit_is_refused_with_key_and_range() {
        let pool = "shared_buffer = { pool = \"2MB\" }";
        let small = "shared_buffer = { pool = \"20KB\" }";
        for (pfc, shared, parts) in [
            (
                "alpha_by_rate = { \"25Gbps\" = 0.5 }",
                pool,
                ["fabric.pfc.alpha_by_rate.25Gbps", "no port has 25Gbps", "10Gbps, 40Gbps"],
            ),
            ("alpha_by_rate = { fast = 0.5 }", pool, ["alpha_by_rate.fast", "expected", "Gbps"]),
            ("alpha_by_rate = { \"10Gbps\" = 0 }", pool, ["alpha_by_rate.10Gbps", "0", "above 0"]),
            (
                "xoff_by_rate = { \"25Gbps\" = \"20KB\" }",
                "",
                ["fabric.pfc.xoff_by_rate.25Gbps", "no port has 25Gbps", "10Gbps, 40Gbps"],
            ),
            (
                "xoff_by_rate = { \"40Gbps\" = \"1KB\" }",
                "",
                ["fabric.pfc.xoff_by_rate.40Gbps", "1KB", "1.538KB or more"],
            ),
            (
                "xoff_by_rate = { \"40Gbps\" = \"2KB\" }",
                "",
                ["fabric.pfc.xoff_by_rate.40Gbps", "3.076KB or more", "release` of at most 2KB"],
            ),
            (
                "xoff = \"2KB\"",
                "",
                ["fabric.pfc.xoff", "3.076KB or more", "release` of at most 2KB"],
            ),
            (
                "release = \"9KB\", xoff_by_rate = { \"40Gbps\" = \"8KB\" }",
                "",
                ["fabric.pfc.release", "9KB", "at most xoff, 8KB"],
            ),
            (
                "reserve_by_rate = { \"1Gbps\" = \"2KB\" }",
                pool,
                ["fabric.pfc.reserve_by_rate.1Gbps", "no port has 1Gbps", "10Gbps, 40Gbps"],
            ),
            ("alpha = 0.5", "", ["fabric.pfc.alpha", "expected", "fabric.shared_buffer"]),
            (
                "headroom_in_pool = true",
                "",
                ["headroom_in_pool", "expected", "fabric.shared_buffer"],
            ),
            ("headroom_in_pool = true", small, ["shared_buffer.pool", "20KB", "8 classes"]),
        ] {
            let text = plan(&format!("pfc = {{ {pfc} }}\n{shared}")).err().expect("refused");
            for part in parts {
                assert!(text.contains(part), "{pfc}: {text}");
            }
        }
    }
}
