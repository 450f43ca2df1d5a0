//! Buffers of switches: per port or shared, and priority-based flow control.

use crate::{Fault, scenario};
use incast_fabric::{Fabric, PortId};
use incast_transport::{Bytes, Classes, Framing, Limit, RunRecord};
use incast_world::{Pfc, SharedBuffer, sufficient_headroom};
use std::sync::Arc;

/// Buffer configuration of a scenario, with warnings.
pub struct Rules {
    /// Limit of each switch port.
    pub port: Limit,
    /// One buffer per switch.
    pub shared: Option<SharedBuffer>,
    /// Priority-based flow control.
    pub pfc: Option<Arc<Pfc>>,
    /// Warnings that affect how results may be interpreted.
    pub warnings: Vec<String>,
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
        let problem = format!("expected {} or more, a full packet as links charge it", Bytes(mtu));
        return Err(Fault::value("fabric.shared_buffer.pool", Bytes(pool), problem));
    }
    if let (None, Limit::Bytes(bytes)) = (shared, own)
        && bytes < mtu
    {
        let (bytes, least) = (Bytes(bytes), Bytes(mtu));
        let problem = format!("expected {least} or more, a full packet as links charge it");
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
    warnings: &mut Vec<String>,
) -> Result<Option<Pfc>, Fault> {
    let Some(section) = &section.pfc else { return Ok(None) };
    let mtu = framing.charged_mtu() as u64;
    let own = match own {
        Limit::Bytes(bytes) => bytes,
        Limit::Packets(packets) => packets as u64 * mtu,
        Limit::Unlimited => u64::MAX / 4,
    };
    let xoff = section.xoff.0.map_or(own, |xoff| xoff.0);
    let release = section.release.0.map_or(2 * mtu, |release| release.0);
    if xoff < mtu {
        let least = Bytes(mtu);
        let problem = format!("expected {least} or more");
        return Err(Fault::value("fabric.pfc.xoff", Bytes(xoff), problem));
    }
    if release > xoff {
        let (release, xoff) = (Bytes(release), Bytes(xoff));
        let problem = format!("expected at most xoff, {xoff}");
        return Err(Fault::value("fabric.pfc.release", release, problem));
    }
    let cyclic = cycle(fabric, section.allow_cycles, warnings)?;
    Ok(Some(Pfc {
        lossless: classes(&section.classes)?,
        xoff,
        release,
        headroom: headroom(section.headroom.0, fabric, framing)?,
        lossy: own,
        shared,
        cyclic,
    }))
}

fn classes(listed: &[u8]) -> Result<Classes, Fault> {
    if listed.is_empty() {
        return Err(Fault::at("fabric.pfc.classes", "expected at least one class of 0 to 7"));
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
        let problem = format!(
            "up to {} can still arrive on the link {from}->{to} after it is paused; expected at \
             least this much, or no such key",
            Bytes(*bytes)
        );
        return Err(Fault::value("fabric.pfc.headroom", requested, problem));
    }
    Ok(vec![requested.0; needed.len()])
}

/// Whether pauses can deadlock; rejected unless requested.
fn cycle(fabric: &Fabric, allowed: bool, warnings: &mut Vec<String>) -> Result<bool, Fault> {
    let mut found = fabric.buffer_cycle(&fabric.routes());
    for failure in fabric.failures() {
        let dead = fabric.dead_at(failure.at);
        found = found.or_else(|| fabric.buffer_cycle(&fabric.routes_without(&dead)));
    }
    let Some(cycle) = found else { return Ok(false) };
    let cycle = port_names(fabric, cycle.iter().copied());
    let text = format!("paused links can wait for each other in a cycle (PFC deadlock): {cycle}");
    if !allowed {
        let problem = format!("{text}; set `fabric.pfc.allow_cycles = true` to run anyway");
        return Err(Fault::at("fabric.pfc", problem));
    }
    warnings.push(format!("fabric.pfc: {text}"));
    Ok(true)
}

/// Names of ports for messages.
fn port_names(fabric: &Fabric, ports: impl Iterator<Item = PortId>) -> String {
    let name = |port: PortId| {
        let spec = fabric.port(port);
        format!("{}->{}", fabric.node_name(spec.node), fabric.node_name(spec.peer))
    };
    ports.map(name).collect::<Vec<_>>().join(", ")
}

/// The ports in a PFC deadlock, if any.
pub fn deadlock(fabric: &Fabric, record: &RunRecord) -> Option<String> {
    let ports = record.deadlock.iter().map(|(port, _)| PortId(*port));
    let (_, class) = record.deadlock.first()?;
    Some(format!("{} (class {class})", port_names(fabric, ports)))
}
