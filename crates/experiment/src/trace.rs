//! What a scenario wants traced.

use crate::chosen::{check_flows, ports_of};
use crate::fault::expected;
use crate::{Fault, Plan};
use incast_transport::Time;
use incast_world::TraceFilter;

/// The events that `[output.trace]` selects, if there is one.
pub fn filter(plan: &Plan) -> Result<Option<TraceFilter>, Fault> {
    let Some(wanted) = &plan.scenario.output.trace else { return Ok(None) };
    check_flows(plan, "output.trace.flows", &wanted.flows)?;
    let ports = ports_of(plan, "output.trace.ports", &wanted.ports)?;
    let hosts = match &wanted.hosts {
        Some(hosts) => hosts.below(plan.fabric.hosts(), "output.trace.hosts")?,
        None => vec![],
    };
    let until = wanted.until.map_or(Time::NEVER, |until| Time(until.0));
    if until.0 <= wanted.from.0 {
        let problem = expected(format!("a time after output.trace.from = `{}`", wanted.from));
        return Err(Fault::value("output.trace.until", until, problem));
    }
    Ok(Some(TraceFilter {
        flows: wanted.flows.iter().copied().collect(),
        ports: ports.into_iter().collect(),
        hosts: hosts.into_iter().map(|host| plan.fabric.host_port(host).0).collect(),
        from: Time(wanted.from.0),
        until,
        limit: wanted.limit as usize,
    }))
}
