//! Servers with several NICs: traffic names servers, and each flow gets a NIC of both.

use crate::Fault;
use crate::scenario::NicChoice;
use incast_fabric::Fabric;
use incast_measure::Run;
use incast_workload::{Traffic, draw, fold_text};
use std::fmt::Write;

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
                let problem = "no server of this fabric has several NICs: expected no such key";
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
        let (own, other) = match choice {
            NicChoice::Hash => {
                let bits = draw(key, number);
                ((bits >> 32) as u32 % sources, bits as u32 % sinks)
            }
            NicChoice::RoundRobin => (turn(flow.src, 0) % sources, turn(flow.dst, 1) % sinks),
            NicChoice::Plane => {
                let plane = turn(flow.src, 0) % sources.min(sinks);
                (plane, plane)
            }
        };
        let (src, dst) = (from.start + own, to.start + other);
        if !fabric.is_reachable(src, dst) {
            let [a, b] = [src, dst].map(|host| fabric.node_name(incast_fabric::NodeId(host)));
            let problem = format!(
                "flow {number} would go from {a} to {b}, and there is no path; expected `plane`, which keeps \
                 to NICs of one number"
            );
            return Err(Fault::value("fabric.nic", choice.name(), problem));
        }
        (flow.src, flow.dst) = (src, dst);
    }
    let silent = std::mem::take(&mut traffic.silent_after_first_rtt);
    traffic.silent_after_first_rtt =
        silent.into_iter().flat_map(|server| fabric.nics_of(server)).collect();
    Ok(())
}

/// What each server sent and received, its NICs together, as CSV; nothing where every host is a server.
pub fn table(fabric: &Fabric, run: &Run) -> Option<String> {
    #[derive(Clone, Default)]
    struct Server {
        sent: (u64, u64),
        received: (u64, u64),
        completed: u64,
        fct_ps: u128,
    }
    fabric.has_servers().then(|| {
        let mut all = vec![Server::default(); fabric.servers() as usize];
        for (at, flow) in run.flows.iter().enumerate() {
            let [from, to] = [flow.src, flow.dst].map(|host| fabric.server_of(host) as usize);
            all[from].sent.0 += 1;
            all[from].sent.1 += flow.size_bytes;
            let own = &mut all[to];
            own.received.0 += 1;
            own.received.1 += run.record.flows[at].delivered;
            if let Some(fct) = run.fct(at) {
                own.completed += 1;
                own.fct_ps += u128::from(fct.0);
            }
        }
        let mut text = "server,nics,sent_flows,sent_bytes,received_flows,delivered_bytes,completed_flows,\
                        fct_mean_ns\n"
            .to_string();
        for (server, own) in (0u32..).zip(&all) {
            let nics = fabric.nics_of(server).len();
            let Server { sent, received, completed, fct_ps } = own;
            let mean = match completed {
                0 => String::new(),
                several => format!("{:.3}", *fct_ps as f64 / 1e3 / *several as f64),
            };
            let (sent_flows, sent_bytes) = sent;
            let (received_flows, delivered) = received;
            let _ = writeln!(
                text,
                "{server},{nics},{sent_flows},{sent_bytes},{received_flows},{delivered},{completed},{mean}"
            );
        }
        text
    })
}
