//! Whether several transports can share the ports of a fabric, and how.

use crate::plan::{Case, Plan};
use crate::{Fault, nearest};
use incast_transport::TransportId;
use incast_world::{Lane, check_ports, marks_ecn, shaped_share};

/// Checks the ports of a case that mixes transports, before it runs. Returns whose rule marks all
/// packets.
pub fn check(plan: &Plan, case: &Case) -> Result<Option<TransportId>, Fault> {
    if case.lanes.len() > 1 {
        check_ports(&plan.fabric, &plan.site, &case.lanes, plan.join)?;
        check_credits(plan, case)?;
    }
    let Some(wanted) = &plan.scenario.transport.marking else { return Ok(None) };
    let able: Vec<&Lane> =
        case.lanes.iter().filter(|lane| marks_ecn(&plan.fabric, &plan.site, lane)).collect();
    let found = able.iter().find(|lane| lane.info.name == wanted);
    found.map(|lane| Some(lane.info.id)).ok_or_else(|| {
        let names: Vec<&str> = able.iter().map(|lane| lane.info.name).collect();
        let hint = nearest(wanted, names.iter().copied());
        let expected = match names.as_slice() {
            [] => "none of the transports of this run marks by ECN; leave the key out".into(),
            names => format!("expected one of {}", names.join(", ")),
        };
        let label = &case.label;
        Fault(format!("transport.marking = `{wanted}` (run `{label}`): {expected}{hint}"))
    })
}

/// Refuses credits of several transports that together call for more data than a link carries.
fn check_credits(plan: &Plan, case: &Case) -> Result<(), Fault> {
    let framing = &plan.site.framing;
    let calls = framing.charged_mtu() as f64 / framing.charged_header() as f64;
    let shares = case.lanes.iter().map(|lane| {
        let share = shaped_share(&plan.fabric, &plan.site, lane);
        (lane.info.name, share * calls)
    });
    let shares: Vec<(&str, f64)> = shares.filter(|(_, share)| *share > 0.0).collect();
    let all: f64 = shares.iter().map(|(_, share)| share).sum();
    if shares.len() < 2 || all <= 1.0 {
        return Ok(());
    }
    let names: Vec<&str> = shares.iter().map(|(name, _)| *name).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let keys: Vec<String> =
        names.iter().map(|name| format!("transport.parameters.{name}.credit_share")).collect();
    let each = 1.0 / (calls * names.len() as f64);
    Err(Fault(format!(
        "the credits of {} together call for {all:.2} of a link (run `{}`): expected {} that add \
         up to at most {:.4}, such as {:.4} each",
        quoted.join(" and "),
        case.label,
        keys.join(" and "),
        1.0 / calls,
        each - 5e-5
    )))
}
