//! Connections that carry the messages of collectives, programs and jobs one behind the other.

use crate::Fault;
use crate::fault::wrong;
use crate::plan::{Plan, entry};
use crate::scenario::{Connections, Scenario};
use incast_protocols::CATALOGUE;
use incast_transport::{Connection, Routing};
use incast_workload::{FlowSpec, Lane, Traffic};
use incast_world::RunTransport;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Puts the messages of an entry, which is this one of all traffic and jobs, on the connections that it says.
pub fn put(traffic: &mut Traffic, how: Connections, entry: usize) {
    for flow in &mut traffic.flows {
        let channel = flow.connection.map_or(0, |lane| lane.channel);
        let lane = |channel| Some(Lane { entry: entry as u32, channel });
        flow.connection = match how {
            Connections::Message => None,
            Connections::Pair => lane(0),
            Connections::PairChannel => lane(channel),
        };
    }
}

/// The connection of each flow that is on one, numbered in the order of their first flows, and the number of
/// that flow.
pub fn of(flows: &[FlowSpec]) -> impl Iterator<Item = Option<(Connection, u32)>> + '_ {
    let mut known = BTreeMap::new();
    flows.iter().zip(0u32..).map(move |(flow, number)| {
        let ends = (flow.connection?, flow.src, flow.dst);
        let place = known.len() as u32;
        Some(*known.entry(ends).or_insert((Connection::new(place), number)))
    })
}

/// As which flow each flow is hashed; none without connections.
pub fn hashed(flows: &[FlowSpec]) -> Option<Arc<[u32]>> {
    flows.iter().any(|flow| flow.connection.is_some()).then(|| {
        let first =
            |(own, number): (Option<(Connection, u32)>, u32)| own.map_or(number, |one| one.1);
        of(flows).zip(0u32..).map(first).collect()
    })
}

/// What says of an entry on which connections its messages are: its key and value.
fn key(scenario: &Scenario, entry: usize) -> (String, Connections) {
    match (scenario.traffic.get(entry), entry.checked_sub(scenario.traffic.len())) {
        (Some(own), _) => (format!("traffic.{entry}.connection"), own.connection()),
        (None, job) => {
            let job = job.unwrap_or(0);
            (format!("job.{job}.connection"), scenario.job[job].connection)
        }
    }
}

impl Plan {
    /// Gives the transports of flows on connections the routings that they need; refuses those transports and routings
    /// that cannot have them.
    pub(crate) fn connect(
        &self,
        transports: &mut [RunTransport],
        transport_of: &[u16],
    ) -> Result<(), Fault> {
        let flows = self.traffic.flows.iter().zip(transport_of);
        let mut done = vec![false; transports.len()];
        for (lane, place) in flows.filter_map(|(flow, at)| Some((flow.connection?, *at as usize))) {
            if std::mem::replace(&mut done[place], true) {
                continue;
            }
            let (key, value) = key(&self.scenario, lane.entry as usize);
            let own = &mut transports[place];
            let name = own.info.name;
            if !entry(name, &key)?.keeps_connections() {
                let keeps = CATALOGUE.iter().filter(|entry| entry.keeps_connections());
                let known: Vec<&str> = keeps.map(|entry| entry.info().name).collect();
                let problem = wrong(format!("{name} cannot append a message to what it sends"));
                let accepted = format!("`message`, or one of the transports {}", known.join(", "));
                return Err(Fault::value(key, value.name(), problem.expected(accepted)));
            }
            let Some(routing) = own.routing.of_connections() else {
                let problem = wrong(format!(
                    "`{}` takes a path for each message, and those of a connection take one",
                    own.routing.name()
                ));
                let all = Routing::NAMES.iter().filter(|one| one.1.of_connections().is_some());
                let names: Vec<&str> = all.map(|one| one.0).collect();
                let accepted = format!("`message`, or one of the routings {}", names.join(", "));
                return Err(Fault::value(key, value.name(), problem.expected(accepted)));
            };
            own.routing = routing;
        }
        Ok(())
    }
}
