//! The network of a scenario: a shape, or a file of another tool.

use crate::fault::{self, expected, wrong};
use crate::framing::framing;
use crate::inputs::{Contents, Inputs};
use crate::memory::check_topology;
use crate::scenario::{self, ForwardingName, PROPAGATION, RATE, Scenario, Traffic};
use crate::{Fault, Plan};
use incast_fabric::{
    Fabric, Forwarding, Imported, LinkDefaults, LinkOverride, LossBursts, Options, Problem, Tier,
    TopologyError, has_host_rate, import,
};
use incast_transport::{Bytes, Span, Time};
use incast_workload::{Failure, Stream, SwitchTier, fold, fold_text};
use std::ops::Range;
use std::sync::Arc;

/// The network of a scenario without its flows, for pages that draw it.
pub struct Network {
    /// Nodes and links, with the failures of links.
    pub fabric: Arc<Fabric>,
    /// The base round-trip time that transports are configured with.
    pub base_rtt: Span,
}

impl Network {
    /// Of a scenario whose input files are `contents`. Flows are not planned, unless a file of flows
    /// may list failures of links.
    ///
    /// # Errors
    /// The network is wrong, or an input file is missing.
    pub fn of(scenario: &Scenario, contents: Arc<Contents>) -> Result<Network, Fault> {
        if scenario.traffic.iter().any(|entry| matches!(entry, Traffic::FlowFile(_))) {
            let plan = Plan::with_contents(scenario.clone(), contents)?;
            return Ok(Network { fabric: plan.fabric.clone(), base_rtt: plan.site.base_rtt });
        }
        scenario.check_ranges()?;
        let framing = framing(&scenario.fabric)?;
        let (fabric, _) = network(&scenario.fabric, &mut Inputs::of(contents), scenario.run.seed)?;
        let (mtu, header) = (framing.charged_mtu() as u64, framing.charged_header() as u64);
        let own = scenario.fabric.base_rtt.0;
        let base_rtt = own.unwrap_or_else(|| fabric.base_rtt(Bytes(mtu), Bytes(header)));
        Ok(Network { fabric: Arc::new(fabric), base_rtt })
    }
}

/// Builds the network of a run with this seed. The imported file is returned with it.
pub fn network(
    section: &scenario::Fabric,
    inputs: &mut Inputs,
    seed: u64,
) -> Result<(Fabric, Option<Imported>), Fault> {
    let (mut fabric, imported) = links(section, inputs, seed)?;
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
    seed: u64,
) -> Result<(Fabric, Option<Imported>), Fault> {
    match (&section.topology, &section.file) {
        (Some(_), None) if section.hosts_forward => {
            let problem =
                wrong("only hosts of a `file` can have several links").expected("no such key");
            Err(Fault::value("fabric.hosts_forward", true, problem))
        }
        (Some(spec), None) => {
            check_topology(spec)?;
            if let Some(rate) = section.rate.0.filter(|_| has_host_rate(spec)) {
                let problem = wrong("`fabric.topology` says how fast links of hosts are")
                    .expected("one of both");
                return Err(Fault::value("fabric.rate", rate, problem));
            }
            let defaults = LinkDefaults {
                rate: section.rate.0.unwrap_or(RATE),
                propagation: section.propagation.0.unwrap_or(PROPAGATION),
                loss: section.loss,
            };
            let fabric = incast_fabric::parse_with(spec, defaults, &options(section, seed)?);
            Ok((fabric.map_err(|error| of_topology(error, section))?, None))
        }
        (None, Some(file)) => {
            check_file(section, file)?;
            let text = inputs.read(file, "topology").map_err(|fault| not_a_file(fault, file))?;
            let imported = import::import_text_with(file, &text, section.hosts_forward)?;
            let mut fabric = imported.fabric.clone();
            fabric
                .change_links(&options(section, seed)?)
                .map_err(|error| of_topology(error, section))?;
            Ok((fabric, Some(imported)))
        }
        (Some(_), Some(_)) => {
            Err(Fault::at("fabric.file", expected("either `topology` or `file`, not both")))
        }
        (None, None) => Err(Fault::at("fabric", expected("either `topology` or `file`"))),
    }
}

/// The key of a topology that is wrong or too large, or of the end of a link that is not there.
fn of_topology(error: TopologyError, section: &scenario::Fabric) -> Fault {
    let links = section.links.iter().map(|one| (&one.a, &one.b)).enumerate();
    let failures = section.failures.iter().map(|one| (&one.a, &one.b)).enumerate();
    let mut ends = (links.map(|(at, ends)| (format!("fabric.links.{at}"), ends)))
        .chain(failures.map(|(at, ends)| (format!("fabric.failures.{at}"), ends)));
    let key = match &error.problem {
        Problem::Malformed(_) | Problem::TooLarge(_) => Some("fabric.topology".into()),
        Problem::UnknownNode(name, _) => ends.find_map(|(entry, (a, b))| match name {
            name if name == a => Some(format!("{entry}.a")),
            name if name == b => Some(format!("{entry}.b")),
            _ => None,
        }),
        Problem::NoSuchLink(x, y) => {
            let found = ends.find(|(_, (a, b))| (*a, *b) == (x, y) || (*b, *a) == (x, y));
            found.map(|(entry, _)| format!("{entry}.b"))
        }
        _ => None,
    };
    match key {
        Some(key) => Fault::at(key, error),
        None => error.into(),
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
fn options(section: &scenario::Fabric, seed: u64) -> Result<Options, Fault> {
    let links = section.links.iter().map(|link| LinkOverride {
        a: link.a.clone(),
        b: link.b.clone(),
        rate: link.rate,
        propagation: link.propagation,
        loss: link.loss,
    });
    let mut failures = vec![];
    for (index, one) in section.failures.iter().enumerate() {
        let ends = |down| (down, one.a.clone(), one.b.clone());
        failures.extend(outages(one, index, seed)?.into_iter().map(ends));
    }
    Ok(Options {
        uplink_rate: section.uplink_rate.0,
        core_rate: section.core_rate,
        uplink_propagation: section.uplink_propagation.0,
        oversubscription: section.oversubscription,
        links: links.collect(),
        bursts: bursts(section)?,
        failures,
    })
}

/// The links that lose packets in bursts.
fn bursts(section: &scenario::Fabric) -> Result<Vec<(LossBursts, String, String)>, Fault> {
    let mut all = vec![];
    for (index, link) in section.links.iter().enumerate() {
        let lacks = |has: &str, lacks: &str, what: &str| {
            Err(Fault::at(
                format!("fabric.links.{index}.{has}"),
                format!("needs `{lacks}`: {what}"),
            ))
        };
        match (link.burst_every, link.burst_lasts) {
            (Some(every), Some(lasts)) => {
                let bursts = LossBursts { every, lasts, loss: link.burst_loss.unwrap_or(1.0) };
                all.push((bursts, link.a.clone(), link.b.clone()));
            }
            (Some(_), None) => return lacks("burst_every", "burst_lasts", "how long a burst is"),
            (None, Some(_)) => return lacks("burst_lasts", "burst_every", "how often bursts come"),
            (None, None) if link.burst_loss.is_some() => {
                return lacks("burst_loss", "burst_every", "how often bursts come");
            }
            (None, None) => {}
        }
    }
    Ok(all)
}

/// When a link is down.
fn outages(
    failure: &scenario::LinkFailure,
    index: usize,
    seed: u64,
) -> Result<Vec<Range<Time>>, Fault> {
    let refuse = |key: &str, problem: fault::Problem| {
        Err(Fault::at(format!("fabric.failures.{index}.{key}"), problem))
    };
    let first = Time(failure.at.0);
    let never = || wrong("the link is never repaired");
    let beside = "`repair_after` beside it";
    let Some(down) = failure.repair_after else {
        let once = wrong("a link that is never repaired fails once");
        return match (failure.random, failure.up_for, failure.times) {
            (true, ..) => refuse("random", never().expected(beside)),
            (_, None, 1) => Ok(vec![first..Time::NEVER]),
            (_, Some(_), _) => {
                refuse("up_for", never().expected(format!("{beside}, such as `1ms`")))
            }
            (_, None, _) => refuse("times", once.expected("1, or `repair_after` and `up_for`")),
        };
    };
    let up = match (failure.up_for, failure.times) {
        (None, 1) => Span::ZERO,
        (Some(up), 2..) => up,
        (Some(_), _) => {
            let once = wrong("the link fails once, so nothing follows its repair");
            return refuse("up_for", once.expected("`times` of 2 or more beside it"));
        }
        (None, times) => {
            let often = wrong(format!("the link fails {times} times"));
            return refuse("times", often.expected("`up_for` beside it, such as `1ms`"));
        }
    };
    let mut draws = Stream::new(fold(fold_text(seed, "failures"), index as u64));
    let mut lasts = |mean: Span| match failure.random {
        true => Span(((mean.0 as f64 * draws.exponential()) as u64).max(1)),
        false => mean,
    };
    let mut all: Vec<Range<Time>> = vec![];
    let mut at = Some(first.0);
    for _ in 0..failure.times {
        let until =
            at.and_then(|at| at.checked_add(lasts(down).0)).filter(|at| *at <= Time::HORIZON.0);
        let (Some(from), Some(until)) = (at, until) else {
            let key = if failure.times > 1 { "times" } else { "repair_after" };
            let horizon = Span(Time::HORIZON.0);
            let problem = wrong("the last repair is beyond the longest run")
                .expected(format!("{horizon} or less"));
            return refuse(key, problem);
        };
        all.push(Time(from)..Time(until));
        at = until.checked_add(lasts(up).0);
    }
    Ok(all)
}

/// Refuses keys whose value comes from the topology file.
fn check_file(section: &scenario::Fabric, file: &str) -> Result<(), Fault> {
    let given = [
        ("rate", section.rate.0.is_some()),
        ("propagation", section.propagation.0.is_some()),
        ("loss", section.loss != 0.0),
        ("uplink_rate", section.uplink_rate.0.is_some()),
        ("core_rate", section.core_rate.is_some()),
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
        Fault::new(format!("failure: {error}")).on_line(file, line)
    })
}
