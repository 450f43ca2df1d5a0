//! Queues of data at ports, and which flow is in which.

use crate::Fault;
use crate::fault::{expected, wrong};
use crate::plan::{Case, Plan};
use crate::scenario::{Queue, Scenario};
use incast_egress::port::check_queues;
use incast_protocols::CATALOGUE;
use incast_transport::Schedule;
use incast_workload::{FlowSpec, PRIORITY_GROUPS_ALIKE, Traffic};
use incast_world::{Queues, takes_queues};
use std::collections::BTreeSet;

/// Refuses queues that no port has, and priorities of entries without queues.
///
/// # Errors
/// With the key, and what would be right.
pub fn check_section(scenario: &Scenario) -> Result<(), Fault> {
    let queues = &scenario.fabric.queues;
    check_queues(&served(queues)).map_err(|(at, accepted)| {
        let value = queues.get(at).map_or(String::new(), Queue::to_string);
        Fault::value(format!("fabric.queues.{at}"), value, expected(accepted))
    })?;
    let entries = scenario.traffic.iter().enumerate();
    let given =
        entries.filter_map(|(at, entry)| Some((format!("traffic.{at}"), entry.priority()?)));
    let jobs = scenario.job.iter().enumerate();
    let of_jobs = jobs.filter_map(|(at, job)| Some((format!("job.{at}"), job.priority?)));
    for (entry, priority) in given.chain(of_jobs) {
        let key = || format!("{entry}.priority");
        if queues.is_empty() {
            let problem = wrong("there is one queue of data at a port").expected(
                "`fabric.queues` beside it, such as \
                           `queues = [\"strict\", 3, 1]`",
            );
            return Err(Fault::value(key(), priority, problem));
        }
        if priority as usize > queues.len() {
            let problem = expected(format!("1 to {}, the number of `fabric.queues`", queues.len()));
            return Err(Fault::value(key(), priority, problem));
        }
    }
    Ok(())
}

/// How the queues are served.
pub fn served(queues: &[Queue]) -> Vec<Schedule> {
    queues.iter().map(|queue| queue.0).collect()
}

/// Gives the flows of an entry its priority, or checks those that its file `file` has. Without queues priorities that
/// differ are told.
///
/// # Errors
/// A priority group of the file that has no queue.
pub fn of_entry(
    scenario: &Scenario,
    index: usize,
    file: Option<&str>,
    traffic: &mut Traffic,
) -> Result<(), Fault> {
    if let Some(priority) = scenario.traffic[index].priority() {
        traffic.flows.iter_mut().for_each(|flow| flow.priority = Some(priority));
        return Ok(());
    }
    let Some(file) = file else { return Ok(()) };
    let groups: BTreeSet<u8> = traffic.flows.iter().filter_map(|flow| flow.priority).collect();
    let queues = scenario.fabric.queues.len();
    if queues == 0 {
        if groups.len() > 1 {
            let groups: Vec<String> = groups.iter().map(u8::to_string).collect();
            let values = &[("file", &file as _), ("groups", &groups.join(", ") as _)];
            traffic.warnings.push(PRIORITY_GROUPS_ALIKE.notice(values));
        }
        return Ok(());
    }
    let outside = groups.iter().find(|group| **group == 0 || **group as usize > queues);
    outside.map_or(Ok(()), |group| {
        let problem =
            wrong(format!("{file} has flows of priority {group}, and there are {queues} queues"))
                .expected(format!(
                    "priorities from 1 to \
             {queues}, or `priority` in traffic.{index}, which is then that of all its flows"
                ));
        Err(Fault::at("fabric.queues", problem))
    })
}

/// The queues of a case, if there are several.
///
/// # Errors
/// A transport whose flows cannot be in several.
pub fn of_case(plan: &Plan, case: &Case) -> Result<Option<Queues>, Fault> {
    let queues = &plan.scenario.fabric.queues;
    if queues.is_empty() {
        return Ok(None);
    }
    let one = |transport: &&_| !takes_queues(&plan.fabric, &plan.site, transport);
    if let Some(transport) = case.transports.iter().find(one) {
        return Err(refused(plan, transport.info.name));
    }
    let last = queues.len() as u8;
    let class = |flow: &FlowSpec| flow.priority.unwrap_or(last);
    Ok(Some(Queues {
        served: served(queues).into(),
        class_of: plan.traffic.flows.iter().map(class).collect::<Vec<u8>>().into(),
    }))
}

/// Names the transport, and those that could be in its place.
fn refused(plan: &Plan, name: &str) -> Fault {
    let all = CATALOGUE.iter().filter(|entry| {
        let routing = entry.info().routing;
        entry.configure(&[], plan.site.clone()).is_ok_and(|configured| {
            let own = incast_world::RunTransport { info: entry.info(), configured, routing };
            takes_queues(&plan.fabric, &plan.site, &own)
        })
    });
    let all: Vec<&str> = all.map(|entry| entry.info().name).collect();
    let problem = wrong(format!(
        "the flows of {name} cannot be in several queues of data: it has queues of its own, or its \
         destinations pace all that comes to a host"
    ));
    let accepted = format!("no `queues`, or transports among {}", all.join(", "));
    let queues = plan.scenario.fabric.queues.iter().map(Queue::to_string);
    let value = queues.collect::<Vec<_>>().join(", ");
    Fault::value("fabric.queues", format!("[{value}]"), problem.expected(accepted))
}
