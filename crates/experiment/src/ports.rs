//! What a run's metadata say of ports and links.

use crate::Plan;
use incast_fabric::{PortId, Tier};
use incast_measure::{LinkChange, PortMeta};
use std::collections::BTreeSet;

/// Links that fail and work again, each change once.
pub(crate) fn link_changes(plan: &Plan) -> Vec<LinkChange> {
    let fabric = &plan.fabric;
    let mut down = BTreeSet::new();
    let mut all = vec![];
    for at in fabric.link_changes() {
        // Of the two ports of a link the first one.
        let first = |port: &PortId| *port < fabric.port(*port).reverse;
        let now: BTreeSet<PortId> = fabric.dead_at(at).into_iter().filter(first).collect();
        for port in now.symmetric_difference(&down) {
            let spec = fabric.port(*port);
            let (a, b) = (fabric.node_name(spec.node), fabric.node_name(spec.peer));
            all.push(LinkChange { at, link: format!("{a}-{b}"), up: !now.contains(port) });
        }
        down = now;
    }
    all
}

/// The name of the tier of a port in tables.
pub fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Host => "nic",
        Tier::Edge => "edge",
        Tier::Aggregation => "aggregation",
        Tier::Core => "core",
    }
}

/// What is known of the ports.
pub(crate) fn port_metas(plan: &Plan) -> Vec<PortMeta> {
    let fabric = &plan.fabric;
    let metas = fabric.ports().iter().map(|port| PortMeta {
        name: fabric.port_name(port),
        tier: tier_name(port.tier),
        rate: port.rate,
        upward: port.upward,
        node: port.node.0,
    });
    metas.collect()
}
