//! What a scenario wants traced.

use crate::{Fault, Plan, output};
use incast_transport::Time;
use incast_world::TraceFilter;

/// The events that `[output.trace]` selects, if there is one.
pub fn filter(plan: &Plan) -> Result<Option<TraceFilter>, Fault> {
    let Some(wanted) = &plan.scenario.output.trace else { return Ok(None) };
    let flows = plan.traffic.flows.len() as u32;
    if let Some(at) = wanted.flows.iter().position(|flow| *flow >= flows) {
        let problem = match flows {
            0 => "the scenario has no flows".to_string(),
            _ => format!("expected a flow from 0 to {}", flows - 1),
        };
        return Err(Fault::value(format!("output.trace.flows.{at}"), wanted.flows[at], problem));
    }
    let ports = output::ports_of(plan, "output.trace.ports", &wanted.ports)?;
    let hosts = match &wanted.hosts {
        Some(hosts) => hosts.below(plan.fabric.hosts(), "output.trace.hosts")?,
        None => vec![],
    };
    let until = wanted.until.map_or(Time::NEVER, |until| Time(until.0));
    if until.0 <= wanted.from.0 {
        let problem = format!("expected a time after output.trace.from = `{}`", wanted.from);
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
