//! A scenario resolved: fabric, traffic, transports and what they are told.

use crate::buffers::rules;
use crate::mix::check;
use crate::scenario::{Buffer, Scenario, parameters_from};
use crate::traffic::{Flows, flows, hosts, shape};
use crate::{Fault, nearest};
use incast_egress::port::Join;
use incast_fabric::{Fabric, Imported, LinkDefaults, LinkOverride, Tier, import};
use incast_protocols::CATALOGUE;
use incast_transport::{
    FabricSite, Framing, HostId, Limit, Rate, Routing, SizeQuantiles, Span, Time, Transport,
    TransportId,
};
use incast_workload::{Failure, FlowClass, FlowSpec, Start, SwitchTier, Traffic};
use incast_world::{Lane, Pfc, SharedBuffer, comes_back_the_same_way, fabric_site};
use std::path::Path;
use std::sync::Arc;

/// Rate of links if the scenario does not say (REN §6).
pub const RATE: Rate = Rate::from_gbps(40);
/// Propagation of a link if the scenario does not say.
pub const PROPAGATION: Span = Span::from_us(1);

/// One run of a scenario: which transport carries what is not assigned otherwise.
#[derive(Clone)]
pub struct Case {
    /// What it is called: the transport's name.
    pub label: String,
    /// Every transport that occurs, the main one first.
    pub lanes: Vec<Lane>,
    /// Lane of each flow.
    pub lane_of: Vec<u16>,
    /// Whose rule marks all ECN-capable packets.
    pub marking: Option<TransportId>,
}

/// A scenario resolved.
pub struct Plan {
    /// The scenario.
    pub scenario: Scenario,
    /// The network.
    pub fabric: Arc<Fabric>,
    /// What transports know of it.
    pub site: Arc<FabricSite>,
    /// The flows, the same for every case.
    pub traffic: Traffic,
    /// The runs.
    pub cases: Vec<Case>,
    /// How transports share ports.
    pub join: Join,
    /// One buffer per switch.
    pub shared: Option<SharedBuffer>,
    /// Links are paused instead of packets dropped.
    pub pfc: Option<Arc<Pfc>>,
    /// What a person should look at before trusting the results.
    pub warnings: Vec<String>,
}

/// A transport by name, or the nearest name.
pub fn transport(name: &str, key: &str) -> Result<&'static dyn Transport, Fault> {
    incast_protocols::find(name).ok_or_else(|| {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.info().name).collect();
        let hint = nearest(name, names.iter().copied());
        Fault(format!("{key} = `{name}`: expected one of {}{hint}", names.join(", ")))
    })
}

impl Plan {
    /// Resolves a scenario.
    pub fn new(scenario: Scenario) -> Result<Plan, Fault> {
        check_ranges(&scenario)?;
        let (mut fabric, imported) = fabric(&scenario)?;
        let mut warnings: Vec<String> =
            imported.as_ref().map_or(vec![], |imported| imported.notes.clone());
        let shape = shape(&fabric);
        let Flows { traffic, failures } = flows(&scenario, &shape, imported.as_ref())?;
        for (file, failure) in &failures {
            break_link(&mut fabric, file, failure)?;
        }
        warnings.extend(traffic.warnings.iter().cloned());
        let framing = match scenario.fabric.l2_overhead {
            Some(false) => Framing::NONE,
            _ => Framing::ETHERNET,
        };
        let rules = rules(&scenario, &fabric, framing)?;
        warnings.extend(rules.warnings);
        let base_rtt = scenario.fabric.base_rtt.map(|rtt| rtt.0);
        let sizes = quantiles(&traffic.flows);
        let site = fabric_site(&fabric, framing, rules.port, sizes, base_rtt);
        let mut plan = Plan {
            join: join(&scenario)?,
            shared: rules.shared,
            pfc: rules.pfc,
            fabric: Arc::new(fabric),
            site,
            traffic,
            cases: vec![],
            warnings,
            scenario,
        };
        plan.cases = plan.cases()?;
        for lane in plan.cases.iter().flat_map(|case| &case.lanes) {
            for warning in lane.configured.warnings() {
                if !plan.warnings.contains(&warning) {
                    plan.warnings.push(warning);
                }
            }
        }
        plan.check_reachable()?;
        plan.check_symmetric()?;
        Ok(plan)
    }

    fn cases(&self) -> Result<Vec<Case>, Fault> {
        let section = &self.scenario.transport;
        for name in section.parameters.keys() {
            transport(name, "transport.parameters")?;
        }
        if section.names.is_empty() {
            return Err(Fault("transport.names: at least one transport is needed".into()));
        }
        section.names.iter().map(|name| self.case(name)).collect()
    }

    fn case(&self, name: &str) -> Result<Case, Fault> {
        let mut lanes = vec![self.lane(name, "transport.names")?];
        let mut index = |name: &str, key: &str| -> Result<u16, Fault> {
            if let Some(at) = lanes.iter().position(|lane| lane.info.name == name) {
                return Ok(at as u16);
            }
            lanes.push(self.lane(name, key)?);
            Ok(lanes.len() as u16 - 1)
        };
        let mut rules = vec![];
        for assign in &self.scenario.transport.assign {
            let lane = index(&assign.name, "transport.assign.name")?;
            let from = match &assign.hosts {
                Some(text) => Some(hosts(text, self.fabric.hosts(), "transport.assign.hosts")?),
                None => None,
            };
            check_class(assign.class.as_deref())?;
            rules.push((lane, from, assign.class.clone()));
        }
        let mut lane_of = Vec::with_capacity(self.traffic.flows.len());
        for flow in &self.traffic.flows {
            let ruled = rules.iter().find(|(_, from, class)| {
                from.as_ref().is_none_or(|hosts| hosts.contains(&flow.src))
                    && class.as_ref().is_none_or(|class| class == flow.class.name())
            });
            lane_of.push(match (&flow.transport, ruled) {
                (Some(own), _) => index(own, "transport of a flow")?,
                (None, Some((lane, ..))) => *lane,
                (None, None) => 0,
            });
        }
        let mut case = Case { label: name.to_string(), lanes, lane_of, marking: None };
        case.marking = check(self, &case)?;
        Ok(case)
    }

    fn lane(&self, name: &str, key: &str) -> Result<Lane, Fault> {
        let entry = transport(name, key)?;
        let section = &self.scenario.transport;
        let settings = section.parameters.get(name).map_or(vec![], parameters_from);
        let configured = entry.configure(&settings, self.site.clone())?;
        let routing = match &section.routing {
            None => entry.info().routing,
            Some(text) => {
                let found = Routing::NAMES.iter().find(|(name, _)| name == text);
                let names: Vec<&str> = Routing::NAMES.iter().map(|(name, _)| *name).collect();
                let hint = nearest(text, names.iter().copied());
                found.map(|(_, routing)| *routing).ok_or_else(|| {
                    let all = names.join(", ");
                    Fault(format!("transport.routing = `{text}`: expected one of {all}{hint}"))
                })?
            }
        };
        Ok(Lane { info: entry.info(), configured, routing })
    }

    /// Transports whose answers must come back by the links that data takes have such links.
    fn check_symmetric(&self) -> Result<(), Fault> {
        let (routes, seed) = (self.fabric.routes(), self.scenario.run.seed);
        for case in &self.cases {
            let bound = |lane: &Lane| lane.info.symmetric_paths;
            for lane in case.lanes.iter().filter(|lane| bound(lane)) {
                if lane.routing != Routing::SymmetricEcmp {
                    let text = self.scenario.transport.routing.as_deref().unwrap_or("auto");
                    return Err(Fault(format!(
                        "transport.routing = `{text}`: {} needs symmetric-ecmp, because its answers \
                         must come back by the links that data takes",
                        lane.info.name
                    )));
                }
            }
            for (index, flow) in self.traffic.flows.iter().enumerate() {
                let lane = &case.lanes[case.lane_of[index] as usize];
                let ends = [HostId(flow.src), HostId(flow.dst)];
                let same =
                    || comes_back_the_same_way(&self.fabric, &routes, seed, index as u64, ends);
                if bound(lane) && !same() {
                    let (src, dst, name) = (flow.src, flow.dst, lane.info.name);
                    let file = self.scenario.fabric.file.is_some();
                    let key = if file { "fabric.file" } else { "fabric.topology" };
                    return Err(Fault(format!(
                        "{key}: {} has no symmetric paths, and {name} needs them: flow {index} \
                         from host {src} to host {dst} does not come back by the same links",
                        self.fabric.name()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Every destination has a way from its source when the flow starts; of a flow that waits for
    /// others, at the start of the run.
    fn check_reachable(&self) -> Result<(), Fault> {
        let mut times: Vec<Time> = self.fabric.failures().iter().map(|one| one.at).collect();
        times.dedup();
        let whole = (Time::ZERO, self.fabric.routes());
        let broken = times.into_iter().map(|at| {
            let dead = self.fabric.dead_at(at);
            (at, self.fabric.routes_without(&dead))
        });
        let epochs: Vec<_> = std::iter::once(whole).chain(broken).collect();
        for (index, flow) in self.traffic.flows.iter().enumerate() {
            let start = match flow.start {
                Start::At(at) => at,
                Start::After { .. } => Time::ZERO,
            };
            let current = epochs.partition_point(|(at, _)| *at <= start).max(1) - 1;
            let (since, routes) = &epochs[current];
            if self.fabric.path(routes, flow.src, flow.dst, |_| 0).is_empty() {
                let (src, dst, name) = (flow.src, flow.dst, self.fabric.name());
                let why = match current {
                    0 => String::new(),
                    _ => format!(", with the links that have failed by {since}"),
                };
                return Err(Fault(format!(
                    "flow {index}: host {dst} cannot be reached from host {src} in {name}{why}"
                )));
            }
        }
        Ok(())
    }
}

fn check_class(class: Option<&str>) -> Result<(), Fault> {
    let Some(text) = class else { return Ok(()) };
    let known = FlowClass::ALL.map(|class| class.name());
    if known.contains(&text) {
        return Ok(());
    }
    let hint = nearest(text, known);
    let known = known.join(", ");
    Err(Fault(format!("transport.assign.class = `{text}`: expected one of {known}{hint}")))
}

/// What the types of the keys alone do not keep in range.
fn check_ranges(scenario: &Scenario) -> Result<(), Fault> {
    let run = &scenario.run;
    if !(0.0..1.0).contains(&run.warmup) {
        let value = run.warmup;
        return Err(Fault(format!("run.warmup = `{value}`: expected 0 to less than 1")));
    }
    for (key, span) in [
        ("run.until", run.until),
        ("run.interval", run.interval),
        ("fabric.base_rtt", scenario.fabric.base_rtt),
    ] {
        if span.is_some_and(|span| span.0 == Span::ZERO) {
            return Err(Fault(format!("{key} = `0s`: expected more than 0, such as `10us`")));
        }
    }
    for (key, span) in [("run.until", run.until), ("run.interval", run.interval)] {
        if let Some(span) = span.filter(|span| span.0.0 > Time::HORIZON.0) {
            let most = Time::HORIZON;
            return Err(Fault(format!("{key} = `{}`: expected at most {most}", span.0)));
        }
    }
    let links = scenario.fabric.links.iter().enumerate();
    let own = links.filter_map(|(at, link)| Some((format!("fabric.links.{at}.loss"), link.loss?)));
    for (key, loss) in [("fabric.loss".to_string(), scenario.fabric.loss)].into_iter().chain(own) {
        if !(0.0..1.0).contains(&loss) {
            return Err(Fault(format!("{key} = `{loss}`: expected 0 to less than 1")));
        }
    }
    let names = &scenario.transport.names;
    match (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        Some(at) => {
            Err(Fault(format!("transport.names: `{}` twice; expected each once", names[at])))
        }
        None => Ok(()),
    }
}

fn join(scenario: &Scenario) -> Result<Join, Fault> {
    let Some(text) = &scenario.transport.join else { return Ok(Join::Shared) };
    let found = Join::NAMES.iter().find(|(name, _)| name == text);
    found.map(|(_, join)| *join).ok_or_else(|| {
        let hint = nearest(text, Join::NAMES.iter().map(|(name, _)| *name));
        Fault(format!("transport.join = `{text}`: expected shared or separate{hint}"))
    })
}

fn fabric(scenario: &Scenario) -> Result<(Fabric, Option<Imported>), Fault> {
    let section = &scenario.fabric;
    let at = |span: Span| Time(span.0);
    let options = incast_fabric::Options {
        uplink_rate: section.uplink_rate.map(|rate| rate.0),
        uplink_propagation: section.uplink_propagation.map(|span| span.0),
        oversubscription: section.oversubscription,
        links: section
            .links
            .iter()
            .map(|link| LinkOverride {
                a: link.a.clone(),
                b: link.b.clone(),
                rate: link.rate.map(|rate| rate.0),
                propagation: link.propagation.map(|span| span.0),
                loss: link.loss,
            })
            .collect(),
        failures: section
            .failures
            .iter()
            .map(|failure| (at(failure.at.0), failure.a.clone(), failure.b.clone()))
            .collect(),
    };
    match (&section.topology, &section.file) {
        (Some(spec), None) => {
            let defaults = LinkDefaults {
                rate: section.rate.map_or(RATE, |rate| rate.0),
                propagation: section.propagation.map_or(PROPAGATION, |span| span.0),
                loss: section.loss,
            };
            let fabric = incast_fabric::parse_with(spec, defaults, &options)?;
            Ok((fabric, None))
        }
        (None, Some(file)) => {
            let given = [
                ("rate", section.rate.is_some()),
                ("propagation", section.propagation.is_some()),
                ("loss", section.loss != 0.0),
                ("uplink_rate", section.uplink_rate.is_some()),
                ("uplink_propagation", section.uplink_propagation.is_some()),
                ("oversubscription", section.oversubscription.is_some()),
            ];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                return Err(Fault(format!(
                    "fabric.{key}: {file} says how links are; leave it out, or change single \
                     links with fabric.links"
                )));
            }
            let imported = import::import_file(Path::new(file))?;
            let mut fabric = imported.fabric.clone();
            fabric.change_links(&options)?;
            Ok((fabric, Some(imported)))
        }
        _ => Err(Fault("fabric: expected either `topology` or `file`".into())),
    }
}

/// A link that a connection matrix of htsim says is broken, as it is there: from the start.
fn break_link(fabric: &mut Fabric, file: &str, failure: &Failure) -> Result<(), Fault> {
    let tier = match failure.tier {
        SwitchTier::Tor => Tier::Edge,
        SwitchTier::Agg => Tier::Aggregation,
        SwitchTier::Core => Tier::Core,
    };
    let link = import::HtsimFailure { tier, switch: failure.switch, link: failure.link };
    link.apply(fabric, Time::ZERO).map_err(|error| {
        let line = failure.line;
        Fault(format!("{file}:{line}: failure: {error}"))
    })
}

/// Sizes of the run as 64 quantiles.
fn quantiles(flows: &[FlowSpec]) -> Option<Arc<SizeQuantiles>> {
    let mut sizes: Vec<u64> = flows.iter().map(|flow| flow.size).collect();
    sizes.sort_unstable();
    let last = sizes.len().checked_sub(1)?;
    let point = |i: usize| (sizes[last * i / 64] as f64, i as f64 / 64.0);
    Some(Arc::new(SizeQuantiles { points: (0..=64).map(point).collect() }))
}

/// A port's buffer as it is printed.
pub fn buffer_text(limit: Limit) -> String {
    Buffer(limit).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(transport: &str) -> Result<Plan, Fault> {
        let text = format!(
            "[fabric]\ntopology = \"leaf-spine:3x2x2\"\n[transport]\n{transport}\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n"
        );
        Plan::new(Scenario::parse(&text, "a test", &[])?)
    }

    #[test]
    fn answers_that_could_come_back_another_way_are_refused_before_the_run() {
        plan("names = [\"fasttune\", \"dctcp\"]").unwrap();
        plan("names = [\"fasttune\"]\nrouting = \"symmetric-ecmp\"").unwrap();
        plan("names = [\"dctcp\"]\nrouting = \"ecmp\"").unwrap();
        for routing in ["ecmp", "spray", "round-robin", "source-path"] {
            let fault = plan(&format!("names = [\"fasttune\"]\nrouting = \"{routing}\""));
            let text = fault.err().expect("it is refused").0;
            assert!(text.contains(&format!("transport.routing = `{routing}`: fasttune")), "{text}");
            assert!(text.contains("symmetric-ecmp"), "{text}");
        }
    }
}
