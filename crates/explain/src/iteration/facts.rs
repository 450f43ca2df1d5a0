//! What is stored of the messages of a collective.

use super::found::Leg;
use crate::explanation::PART_NAMES;
use crate::repeat::Results;
use incast_experiment::Fault;
use incast_experiment::collectives::{Chain, Times};
use incast_measure::StoredFlows;
use incast_transport::Time;
use incast_workload::CollectiveGroup;

/// The flows of a run, and when they started and ended.
pub(super) struct Stored<'a> {
    flows: &'a StoredFlows,
    pub times: Times,
}

impl<'a> Stored<'a> {
    /// Of results whose scenario has `count` flows.
    pub fn of(results: &'a Results, count: usize) -> Result<Stored<'a>, Fault> {
        let flows = &results.stored;
        if flows.len() != count {
            let problem = format!(
                "flows.parquet has {} flows, and the scenario makes {count}: another version wrote it; \
                 repeat the run",
                flows.len()
            );
            return Err(Fault::new(problem));
        }
        let started = flows.integers("start_ps");
        let took = flows.integers("fct_ps");
        let ended = started.iter().zip(took).map(|(start, took)| Some(Time((*start)? + took?)));
        let ended = ended.collect();
        let started = started.into_iter().map(|start| Some(Time(start?))).collect();
        Ok(Stored { flows, times: Times { started, ended } })
    }

    /// A part of a flow's completion time.
    pub fn part(&self, name: &str, flow: u32) -> u64 {
        self.flows.integer(&format!("{name}_ps"), flow as usize).unwrap_or(0)
    }

    /// What is stored of the message of a critical path that a flow is.
    pub fn describe(&self, flow: u32, leg: &mut Leg) {
        let at = flow as usize;
        let largest = PART_NAMES.iter().max_by_key(|(name, _)| self.part(name, flow));
        leg.ideal_ps = self.flows.integer("ideal_fct_ps", at).unwrap_or(0);
        leg.port = self.flows.text("worst_port", at).unwrap_or("").to_string();
        leg.part = largest.map_or("", |one| one.0);
    }

    /// The messages of a critical path, the first one first.
    pub fn legs(&self, group: &CollectiveGroup, chain: &Chain) -> Vec<Leg> {
        let leg = |flow: &u32| {
            let message = group.messages.iter().find(|one| one.flow == *flow)?;
            let at = *flow as usize;
            let mut leg = Leg {
                flow: Some(*flow),
                from: message.from,
                to: message.to,
                size_bytes: self.flows.integer("size_bytes", at)?,
                start_ps: self.times.started[at]?.0,
                end_ps: self.times.ended[at]?.0,
                ideal_ps: 0,
                port: String::new(),
                part: "",
            };
            self.describe(*flow, &mut leg);
            Some(leg)
        };
        chain.flows.iter().rev().filter_map(leg).collect()
    }
}
