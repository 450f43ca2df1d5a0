//! The network of a scenario: a shape, or a file of another tool.

use crate::Fault;
use crate::inputs::Inputs;
use crate::scenario::{self, ForwardingName, PROPAGATION, RATE};
use incast_fabric::{
    Fabric, Forwarding, Imported, LinkDefaults, LinkOverride, Options, Problem, Tier,
    TopologyError, import,
};
use incast_transport::{Bytes, Time};
use incast_workload::{Failure, SwitchTier};

/// Builds the network. The imported file is returned with it.
pub fn network(
    section: &scenario::Fabric,
    inputs: &mut Inputs,
) -> Result<(Fabric, Option<Imported>), Fault> {
    let (mut fabric, imported) = links(section, inputs)?;
    fabric.add_delays(section.switch_delay, section.host_delay)?;
    let forwarding = match section.forwarding {
        ForwardingName::StoreAndForward => Forwarding::StoreAndForward,
        ForwardingName::CutThrough => {
            Forwarding::CutThrough(Bytes(section.cut_through_bytes as u64))
        }
    };
    Ok((fabric.with_forwarding(forwarding), imported))
}

/// Nodes and links.
fn links(
    section: &scenario::Fabric,
    inputs: &mut Inputs,
) -> Result<(Fabric, Option<Imported>), Fault> {
    match (&section.topology, &section.file) {
        (Some(spec), None) => {
            let defaults = LinkDefaults {
                rate: section.rate.0.unwrap_or(RATE),
                propagation: section.propagation.0.unwrap_or(PROPAGATION),
                loss: section.loss,
            };
            let fabric = incast_fabric::parse_with(spec, defaults, &options(section));
            Ok((fabric.map_err(of_topology)?, None))
        }
        (None, Some(file)) => {
            check_file(section, file)?;
            let text = inputs.read(file, "topology").map_err(|fault| not_a_file(fault, file))?;
            let imported = import::import_text(file, &text)?;
            let mut fabric = imported.fabric.clone();
            fabric.change_links(&options(section))?;
            Ok((fabric, Some(imported)))
        }
        (Some(_), Some(_)) => {
            Err(Fault::at("fabric.file", "expected either `topology` or `file`, not both"))
        }
        (None, None) => Err(Fault::at("fabric", "expected either `topology` or `file`")),
    }
}

/// The key of a topology that is wrong or too large. Links and failures name their ends.
fn of_topology(error: TopologyError) -> Fault {
    match error.problem {
        Problem::Malformed(_) | Problem::TooLarge(_) => Fault::at("fabric.topology", error),
        _ => error.into(),
    }
}

/// A file that cannot be read; says so if the name is that of a built-in topology.
fn not_a_file(fault: Fault, name: &str) -> Fault {
    let defaults = LinkDefaults { rate: RATE, propagation: PROPAGATION, loss: 0.0 };
    match incast_fabric::parse(name, defaults) {
        Ok(_) => fault.noted("a built-in topology is set by fabric.topology, not by a file name"),
        Err(_) => fault,
    }
}

/// Options of a topology in addition to its shape.
fn options(section: &scenario::Fabric) -> Options {
    let links = section.links.iter().map(|link| LinkOverride {
        a: link.a.clone(),
        b: link.b.clone(),
        rate: link.rate,
        propagation: link.propagation,
        loss: link.loss,
    });
    let failures = section.failures.iter();
    let failures = failures.map(|one| (Time(one.at.0), one.a.clone(), one.b.clone()));
    Options {
        uplink_rate: section.uplink_rate.0,
        uplink_propagation: section.uplink_propagation.0,
        oversubscription: section.oversubscription,
        links: links.collect(),
        failures: failures.collect(),
    }
}

/// Refuses keys whose value comes from the topology file.
fn check_file(section: &scenario::Fabric, file: &str) -> Result<(), Fault> {
    let given = [
        ("rate", section.rate.0.is_some()),
        ("propagation", section.propagation.0.is_some()),
        ("loss", section.loss != 0.0),
        ("uplink_rate", section.uplink_rate.0.is_some()),
        ("uplink_propagation", section.uplink_propagation.0.is_some()),
        ("oversubscription", section.oversubscription.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(Fault::at(
            format!("fabric.{key}"),
            format!(
                "{file} defines the links; remove this key, or override single links with fabric.links"
            ),
        )),
        None => Ok(()),
    }
}

/// Applies a link failure of an htsim connection matrix, from the start of the run as in htsim.
pub fn break_link(fabric: &mut Fabric, file: &str, failure: &Failure) -> Result<(), Fault> {
    let tier = match failure.tier {
        SwitchTier::Tor => Tier::Edge,
        SwitchTier::Agg => Tier::Aggregation,
        SwitchTier::Core => Tier::Core,
    };
    let link = import::HtsimFailure { tier, switch: failure.switch, link: failure.link };
    link.apply(fabric, Time::ZERO).map_err(|error| {
        let line = failure.line;
        Fault::new(format!("failure: {error}")).placed(format!("{file}:{line}"))
    })
}
