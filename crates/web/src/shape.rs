//! A fabric as JSON: `Fabric` in `incast-web.d.ts`.

use incast_experiment::tier_name;
use incast_fabric::{Fabric, NodeId, PortSpec};
use incast_transport::Span;
use serde_json::{Value, json};

pub fn fabric(fabric: &Fabric, base_rtt: Span) -> Value {
    let node = |node: u32| {
        json!({
            "name": fabric.node_name(NodeId(node)),
            "host": node < fabric.hosts(),
            "tier": fabric.tier(NodeId(node)) as u8,
        })
    };
    let port = |port: &PortSpec| {
        json!({
            "name": fabric.port_name(port),
            "node": port.node.0,
            "peer": port.peer.0,
            "reverse": port.reverse.0,
            "tier": tier_name(port.tier),
            "upward": port.upward,
            "rate_bps": port.rate.0,
            "propagation_ps": port.propagation.0,
            "loss": port.loss,
        })
    };
    let name = |node: NodeId| fabric.node_name(node);
    let failures = fabric.failures().iter().map(|failure| {
        let link = fabric.port(failure.port);
        json!({ "at_ps": failure.at.0, "a": name(link.node), "b": name(link.peer) })
    });
    json!({
        "name": fabric.name(),
        "base_rtt_ps": base_rtt.0,
        "nodes": (0..fabric.nodes()).map(node).collect::<Vec<_>>(),
        "ports": fabric.ports().iter().map(port).collect::<Vec<_>>(),
        "failures": failures.collect::<Vec<_>>(),
    })
}
