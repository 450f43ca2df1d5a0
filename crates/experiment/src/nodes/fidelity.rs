//! How faithful the nodes of a testbed of processes were to real time and to the virtual run.

use super::{Node, NodeRecord};
use crate::plan::Plan;
use crate::{Fault, prepare, testbed};
use incast_measure::Fidelity;
use incast_world::Monitor;

/// How faithful nodes were together. They are held against the run of the scenario under the virtual clock if
/// all flows with an end at them have been completed: there what is sent is known.
///
/// # Errors
/// The scenario cannot be run.
pub fn judge(
    plan: &Plan,
    nodes: &[NodeRecord],
    monitor: &Monitor,
) -> Result<Option<Fidelity>, Fault> {
    let mut all: Option<incast_dataplane::Fidelity> = None;
    for node in nodes {
        let Some(kept) = &node.kept else { continue };
        let own = kept.fidelity(node.packet_hops);
        match &mut all {
            Some(all) => all.join(&own),
            None => all = Some(own),
        }
    }
    let Some(mut all) = all else { return Ok(None) };
    if nodes.iter().any(NodeRecord::has_flows)
        && nodes.iter().all(NodeRecord::is_complete)
        && !monitor.stopped()
    {
        let (exact, _) = incast_dataplane::run(prepare(plan, &plan.cases[0], vec![])?, monitor);
        if !exact.interrupted && exact.complete {
            let ports = |node: &NodeRecord| node.interfaces.iter().map(|one| one.port).collect();
            let own: Vec<Vec<u32>> = nodes.iter().map(ports).collect();
            let here = |port: u32| own.iter().any(|ports| ports.contains(&port));
            let sent = exact.ports.iter().filter(|port| here(port.port));
            all.exact_packets = Some(sent.map(|port| port.total.sent_packets as u64).sum());
            let from_here = |flow: u32| {
                let source = plan.traffic.flows[flow as usize].src;
                nodes.iter().any(|node| node.id == Some(source))
            };
            let flows = exact.flows.iter().filter(|flow| from_here(flow.flow.0));
            all.exact_data = Some(testbed::data(flows));
        }
    }
    let mut told = testbed::over_wires(&plan.dataplane(), &all, plan.site.base_rtt);
    for node in nodes {
        let troubles = node.kept.iter().flat_map(|kept| &kept.troubles);
        told.doubts.extend(troubles.map(|one| format!("{}: {one}", node.name)));
    }
    Ok(Some(told))
}

impl Node {
    /// How faithful an application's host was; it has no virtual run.
    pub fn told(&self, plan: &Plan, fidelity: &incast_dataplane::Fidelity) -> Fidelity {
        testbed::over_wires(&plan.dataplane(), fidelity, plan.site.base_rtt)
    }
}
