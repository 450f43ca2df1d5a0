//! Servers with several NICs: traffic names servers, and each flow gets a NIC of both.

use crate::Fault;
use crate::fault::wrong;
use crate::scenario::NicChoice;
use incast_fabric::Fabric;
use incast_measure::{Run, Server};
use incast_workload::{FlowSpec, Traffic, draw, fold_text};

/// Makes a flow between hosts one between their servers, which keeps its NICs.
pub fn keep(flow: &mut FlowSpec, fabric: &Fabric) {
    let hosts = [flow.src, flow.dst];
    [flow.src, flow.dst] = hosts.map(|host| fabric.server_of(host));
    flow.nics = Some(hosts.map(|host| host - fabric.nics_of(fabric.server_of(host)).start));
}

/// Replaces the servers of all flows by hosts, their NICs. Without servers of several NICs nothing changes.
///
/// # Errors
/// A choice is given and no server has several NICs, or the NICs chosen have no path to each other.
pub fn choose(
    traffic: &mut Traffic,
    fabric: &Fabric,
    choice: Option<NicChoice>,
    seed: u64,
) -> Result<(), Fault> {
    if !fabric.has_servers() {
        return match choice {
            None => Ok(()),
            Some(choice) => {
                let problem =
                    wrong("no server of this fabric has several NICs").expected("no such key");
                Err(Fault::value("fabric.nic", choice.name(), problem))
            }
        };
    }
    let choice = choice.unwrap_or(NicChoice::Hash);
    let key = fold_text(seed, "nic");
    // How many flows each server has sent and received.
    let mut turns = vec![[0u32; 2]; fabric.servers() as usize];
    let mut turn = |server: u32, end: usize| {
        let own = &mut turns[server as usize][end];
        *own += 1;
        *own - 1
    };
    for (flow, number) in traffic.flows.iter_mut().zip(0u64..) {
        let [from, to] = [flow.src, flow.dst].map(|server| fabric.nics_of(server));
        let [sources, sinks] = [&from, &to].map(|nics| nics.len() as u32);
        let (own, other) = match (flow.nics, choice) {
            (Some([own, other]), _) => (own, other),
            (None, NicChoice::Hash) => {
                let bits = draw(key, number);
                ((bits >> 32) as u32 % sources, bits as u32 % sinks)
            }
            (None, NicChoice::RoundRobin) => {
                (turn(flow.src, 0) % sources, turn(flow.dst, 1) % sinks)
            }
            (None, NicChoice::Plane) => {
                let plane = turn(flow.src, 0) % sources.min(sinks);
                (plane, plane)
            }
        };
        let (src, dst) = (from.start + own, to.start + other);
        if !fabric.is_reachable(src, dst) {
            let [a, b] = [src, dst].map(|host| fabric.node_name(incast_fabric::NodeId(host)));
            let path = format!("from {a} to {b}, and there is no path");
            if flow.nics.is_some() {
                let problem = wrong(format!("flow {number}: the results have it {path}"));
                return Err(Fault::at("traffic", problem.expected("results of this network")));
            }
            let problem = wrong(format!("flow {number} would go {path}"))
                .expected("`plane`, which keeps to NICs of one number");
            return Err(Fault::value("fabric.nic", choice.name(), problem));
        }
        (flow.src, flow.dst) = (src, dst);
    }
    let silent = std::mem::take(&mut traffic.silent_after_first_rtt);
    traffic.silent_after_first_rtt =
        silent.into_iter().flat_map(|server| fabric.nics_of(server)).collect();
    Ok(())
}

/// What each server sent and received, its NICs together; nothing where every host is a server.
pub fn results(fabric: &Fabric, run: &Run) -> Vec<Server> {
    if !fabric.has_servers() {
        return vec![];
    }
    let nics = (0..fabric.servers()).map(|server| fabric.nics_of(server).len() as u32);
    Server::of(run, &nics.collect::<Vec<_>>(), |host| fabric.server_of(host))
}
