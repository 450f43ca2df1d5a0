//! Ports and flows that a scenario names for captures and traces.

use crate::Fault;
use crate::fault::{expected, wrong};
use crate::plan::Plan;

/// Port numbers for the requested names: `leaf0->spine1`, a number, or `all`.
pub fn ports(plan: &Plan, names: &[String]) -> Result<Vec<u32>, Fault> {
    ports_of(plan, "output.pcap", names)
}

/// The same for names that are the value of `key`.
pub(crate) fn ports_of(plan: &Plan, key: &str, names: &[String]) -> Result<Vec<u32>, Fault> {
    if names.is_empty() {
        return Ok(vec![]);
    }
    let fabric = &plan.fabric;
    let known: Vec<String> = fabric.ports().iter().map(|port| fabric.port_name(port)).collect();
    let mut all = vec![];
    for text in names {
        if text == "all" {
            return Ok((0..known.len() as u32).collect());
        }
        let by_number = text.parse::<u32>().ok().filter(|port| (*port as usize) < known.len());
        let by_name = known.iter().position(|name| name == text).map(|port| port as u32);
        all.push(by_number.or(by_name).ok_or_else(|| {
            let hint = crate::nearest(text, known.iter().map(String::as_str));
            let (first, last) = (&known[0], known.len() - 1);
            let problem = expected(format!("a port such as `{first}`, or 0 to {last}")).meant(hint);
            Fault::value(key, text, problem)
        })?);
    }
    Ok(all)
}

/// Refuses numbers that no flow has.
pub(crate) fn check_flows(plan: &Plan, key: &str, wanted: &[u32]) -> Result<(), Fault> {
    let flows = plan.traffic.flows.len() as u32;
    let Some(at) = wanted.iter().position(|flow| *flow >= flows) else { return Ok(()) };
    let problem = match flows {
        0 => wrong("the scenario has no flows"),
        _ => expected(format!("a flow from 0 to {}", flows - 1)),
    };
    Err(Fault::value(format!("{key}.{at}"), wanted[at], problem))
}
