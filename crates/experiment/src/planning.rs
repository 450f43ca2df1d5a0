//! From a scenario to a plan: what is resolved and checked before anything runs.

use crate::buffers::{rules, storms};
use crate::cuts;
use crate::endless;
use crate::fault::{expected, wrong};
use crate::flow_level;
use crate::framing::{check_room, framing};
use crate::inputs::{Contents, Inputs};
use crate::mix::Mix;
use crate::network::{break_link, network};
use crate::plan::{Case, Plan, entry};
use crate::scenario::{Parameters, Scenario};
use crate::traffic::{AllFlows, flows, shape};
use crate::warnings::known;
use crate::warnings::of_packets;
use crate::{Fault, World, connections, nics, queues};
use incast_fabric::{Fabric, FixedPaths};
use incast_protocols::CATALOGUE;
use incast_transport::{HostId, Notice, PlbSettings, Routing, Setting, SizeQuantiles, Timers};
use incast_workload::{FlowSpec, Traffic};
use incast_world::{RunTransport, fabric_site, reverse_path_is_equal};
use std::sync::Arc;

impl Plan {
    /// Resolves a scenario.
    pub fn new(scenario: Scenario) -> Result<Plan, Fault> {
        Plan::read(scenario, Inputs::default())
    }

    /// Resolves a scenario whose input files are `contents`; no file is read.
    pub fn with_contents(scenario: Scenario, contents: Arc<Contents>) -> Result<Plan, Fault> {
        Plan::read(scenario, Inputs::of(contents))
    }

    /// Resolves a scenario with these input files.
    pub fn read(scenario: Scenario, mut inputs: Inputs) -> Result<Plan, Fault> {
        scenario.check_ranges()?;
        scenario.run.world.check(&scenario)?;
        let framing = framing(&scenario.fabric)?;
        let (mut fabric, imported) = network(&scenario.fabric, &mut inputs, scenario.run.seed)?;
        let mut warnings: Vec<Notice> =
            imported.as_ref().map_or(vec![], |imported| imported.notes.clone());
        let shape = shape(&fabric);
        let AllFlows { mut traffic, failures, jobs, collective_jobs, .. } =
            flows(&scenario, &framing, &shape, imported.as_ref(), &mut inputs, &fabric)?;
        nics::choose(&mut traffic, &fabric, scenario.fabric.nic, scenario.run.seed)?;
        for (file, failure) in &failures {
            break_link(&mut fabric, file, failure)?;
        }
        warnings.extend(traffic.warnings.iter().cloned());
        if let Some(numbers) = connections::hashed(&traffic.flows) {
            fabric.hash_flows_as(numbers);
        }
        storms(&scenario.fabric, &fabric)?;
        let rules = rules(&scenario.fabric, &fabric, framing)?;
        warnings.extend(rules.warnings);
        let sizes = quantiles(&traffic.flows);
        let mut site = fabric_site(&fabric, framing, rules.port, sizes, scenario.fabric.base_rtt.0);
        let set = Arc::make_mut(&mut site);
        set.acks = scenario.transport.acks.0;
        set.timers = Timers {
            jitter: scenario.transport.rto_jitter,
            granularity: scenario.transport.timer_granularity,
            key: scenario.run.seed,
        };
        let balance = scenario.transport.balance.clone().unwrap_or_default();
        set.plb = PlbSettings { rounds: balance.plb_rounds.0, share: balance.plb_share.0 };
        let paths = fixed_paths(&scenario, &fabric, &traffic, &mut inputs)?;
        let hosts = crate::hosts::hosts(&scenario, &mut inputs)?;
        let mut plan = Plan {
            paths,
            hosts,
            join: scenario.transport.join,
            inputs,
            shared: rules.shared,
            pfc: rules.pfc,
            fabric: Arc::new(fabric),
            site,
            traffic,
            jobs,
            collective_jobs,
            cases: vec![],
            warnings: known(&warnings),
            scenario,
        };
        plan.cases = plan.cases()?;
        match plan.scenario.run.world {
            World::Flow => plan.warnings.extend(flow_level::notices(&plan)),
            World::Sim | World::DataPlane => plan.warnings.extend(of_packets(&plan)),
        }
        plan.cases.iter().try_for_each(|case| queues::of_case(&plan, case).map(drop))?;
        endless::check_packets(&plan)?;
        endless::check(&plan)?;
        cuts::check(&plan)?;
        plan.check_symmetric()?;
        Ok(plan)
    }

    pub(crate) fn cases(&self) -> Result<Vec<Case>, Fault> {
        let section = &self.scenario.transport;
        for name in section.parameters.keys() {
            entry(name, "transport.parameters")?;
        }
        for name in section.routings.keys() {
            entry(name, "transport.routings")?;
        }
        let every: Vec<String>;
        let names = match section.names.as_slice() {
            [one] if one == "all" => {
                every = CATALOGUE.iter().map(|entry| entry.info().name.to_string()).collect();
                &every
            }
            _ => &section.names,
        };
        if names.is_empty() {
            return Err(Fault::at("transport.names", "at least one transport is needed"));
        }
        if let Some(at) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            let problem = wrong(format!("`{}` twice", names[at])).expected("each once");
            return Err(Fault::at("transport.names", problem));
        }
        names.iter().map(|name| self.case(name)).collect()
    }

    fn case(&self, name: &str) -> Result<Case, Fault> {
        let mut transports = vec![self.run_transport(name, "transport.names")?];
        let mut index = |name: &str, key: &str| -> Result<u16, Fault> {
            if let Some(at) = transports.iter().position(|t| t.info.name == name) {
                return Ok(at as u16);
            }
            transports.push(self.run_transport(name, key)?);
            Ok(transports.len() as u16 - 1)
        };
        let mut rules = vec![];
        for (at, assign) in self.scenario.transport.assign.iter().enumerate() {
            let key = |key: &str| format!("transport.assign.{at}.{key}");
            let transport = index(&assign.name, &key("name"))?;
            let from = match &assign.hosts {
                Some(hosts) => Some(hosts.below(self.fabric.servers(), &key("hosts"))?),
                None => None,
            };
            rules.push((transport, from, assign.class));
        }
        let mut transport_of = Vec::with_capacity(self.traffic.flows.len());
        for flow in &self.traffic.flows {
            let ruled = rules.iter().find(|(_, from, class)| {
                from.as_ref().is_none_or(|from| from.contains(&self.fabric.server_of(flow.src)))
                    && class.is_none_or(|class| class == flow.class)
            });
            transport_of.push(match (&flow.transport, ruled) {
                (Some(own), _) => index(own, "transport of a flow")?,
                (None, Some((transport, ..))) => *transport,
                (None, None) => 0,
            });
        }
        self.check_bursts(&transports, &transport_of)?;
        self.connect(&mut transports, &transport_of)?;
        let mix = Mix {
            label: name,
            transports: &transports,
            fabric: &self.fabric,
            site: &self.site,
            join: self.join,
            queues: &queues::served(&self.scenario.fabric.queues),
        };
        mix.check()?;
        let marking = self.scenario.transport.marking.as_deref();
        let marking = marking.map(|wanted| mix.marking(wanted)).transpose()?;
        Ok(Case { label: name.to_string(), transports, transport_of, marking })
    }

    /// Refuses a first burst for flows of transports without one.
    fn check_bursts(&self, transports: &[RunTransport], transport_of: &[u16]) -> Result<(), Fault> {
        let takes = |name: &str| incast_protocols::find(name).is_some_and(|t| t.takes_burst());
        let takes: Vec<bool> = transports.iter().map(|t| takes(t.info.name)).collect();
        let refused = self.traffic.flows.iter().zip(transport_of).find_map(|(flow, transport)| {
            flow.burst.filter(|_| !takes[*transport as usize]).map(|burst| (burst, *transport))
        });
        let Some((burst, transport)) = refused else { return Ok(()) };
        let mut entries = self.scenario.traffic.iter();
        let entry = entries.position(|entry| entry.burst() == Some(burst));
        let job = || self.scenario.job.iter().position(|job| job.burst == Some(burst));
        let entry = match entry {
            Some(at) => format!("traffic.{at}"),
            None => format!("job.{}", job().unwrap_or(0)),
        };
        let name = transports[transport as usize].info.name;
        let known = CATALOGUE.iter().filter(|entry| entry.takes_burst());
        let known: Vec<&str> = known.map(|entry| entry.info().name).collect();
        let problem =
            wrong(format!("a flow of {name} cannot have a burst of its own")).expected(format!(
                "no `burst`, or one of the \
             transports {}",
                known.join(", ")
            ));
        Err(Fault::value(format!("{entry}.burst"), burst, problem))
    }

    fn run_transport(&self, name: &str, key: &str) -> Result<RunTransport, Fault> {
        let entry = entry(name, key)?;
        let section = &self.scenario.transport;
        let configured = entry.configure(&settings(&section.parameters, name), self.site.clone());
        let configured = configured.map_err(|fault| match fault.key() {
            Some(key) if key.starts_with("fabric.") => fault,
            _ => fault.below(&format!("transport.parameters.{name}")),
        })?;
        let own = section.routings.get(name).copied().or(section.routing.0);
        let routing = own.unwrap_or(entry.info().routing);
        if routing == Routing::Plb && !entry.moves_flows() {
            let known = CATALOGUE.iter().filter(|entry| entry.moves_flows());
            let known: Vec<&str> = known.map(|entry| entry.info().name).collect();
            let problem =
                format!("{name} does not move flows; those that do are {}", known.join(", "));
            return Err(Fault::value(self.routing_key(name), routing.name(), problem));
        }
        if routing == Routing::Conga
            && let Some(why) = incast_world::conga_objection(&self.fabric)
        {
            let problem = format!("needs leaves and spines, with at most 16 uplinks a leaf: {why}");
            return Err(Fault::value(self.routing_key(name), routing.name(), problem));
        }
        if routing == Routing::Drill {
            self.check_samples()?;
        }
        let own = RunTransport { info: entry.info(), configured, routing };
        check_room(&self.site.framing, &own)?;
        Ok(own)
    }

    /// The key that says which routing a transport has.
    fn routing_key(&self, name: &str) -> String {
        match self.scenario.transport.routings.contains_key(name) {
            true => format!("transport.routings.{name}"),
            false => "transport.routing".to_string(),
        }
    }

    /// Refuses asymmetric paths for transports that need ACKs on the reverse of the data path.
    fn check_symmetric(&self) -> Result<(), Fault> {
        let (routes, seed) = (self.fabric.routes(), self.scenario.run.seed);
        for case in &self.cases {
            let bound = |transport: &RunTransport| transport.info.symmetric_paths;
            for transport in case.transports.iter().filter(|transport| bound(transport)) {
                if !matches!(transport.routing.plain(), Routing::SymmetricEcmp | Routing::Paths) {
                    let problem = format!(
                        "{} needs symmetric-ecmp, because its ACKs must use the reverse of the \
                         data path",
                        transport.info.name
                    );
                    let key = self.routing_key(transport.info.name);
                    return Err(Fault::value(key, transport.routing.name(), problem));
                }
            }
            for (index, flow) in self.traffic.flows.iter().enumerate() {
                let transport = &case.transports[case.transport_of[index] as usize];
                let (src, dst) = (HostId(flow.src), HostId(flow.dst));
                let paths = self.paths.as_ref().filter(|_| transport.routing == Routing::Paths);
                let fixed = paths.is_some_and(|paths| paths.fixes(index as u32));
                let same =
                    || reverse_path_is_equal(&self.fabric, &routes, seed, index as u64, src, dst);
                if bound(transport) && !fixed && !same() {
                    let (src, dst, name) = (flow.src, flow.dst, transport.info.name);
                    let file = self.scenario.fabric.file.is_some();
                    let key = if file { "fabric.file" } else { "fabric.topology" };
                    let problem = format!(
                        "{} has no symmetric paths, and {name} needs them: flow {index} from host \
                         {src} to host {dst} has a different reverse path",
                        self.fabric.name()
                    );
                    return Err(Fault::at(key, problem));
                }
            }
        }
        Ok(())
    }
}

/// Reads the fixed paths of flows, if the routing of the scenario is of these.
fn fixed_paths(
    scenario: &Scenario,
    fabric: &Fabric,
    traffic: &Traffic,
    inputs: &mut Inputs,
) -> Result<Option<Arc<FixedPaths>>, Fault> {
    let section = &scenario.transport;
    let mut routings = section.routings.values().copied().chain(section.routing.0);
    let wanted = routings.any(|routing| routing == Routing::Paths);
    match &section.paths {
        None if wanted => Err(Fault::at(
            "transport.paths",
            wrong("routing = \"paths\" needs a file of paths").expected("its name"),
        )),
        None => Ok(None),
        Some(file) if !wanted => Err(Fault::value(
            "transport.paths",
            file,
            "fixed paths need transport.routing = \"paths\", or that of a transport",
        )),
        Some(file) if !fabric.failures().is_empty() => Err(Fault::value(
            "transport.paths",
            file,
            expected("no link failures beside fixed paths: a fixed path cannot lead around them"),
        )),
        Some(file) => {
            let located = |fault: Fault| fault.in_file("transport.paths", file);
            let text = inputs.read(file, "paths").map_err(located)?;
            let ends: Vec<_> = traffic.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
            let read = FixedPaths::read(file, &text, fabric, &ends);
            Ok(Some(Arc::new(read.map_err(|fault| located(fault.into()))?)))
        }
    }
}

/// The parameters of a transport as `(key, value)` pairs.
fn settings(parameters: &Parameters, transport: &str) -> Vec<(String, Setting)> {
    let own = parameters.get(transport).into_iter().flatten();
    own.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Sizes of the run as 64 quantiles.
fn quantiles(flows: &[FlowSpec]) -> Option<Arc<SizeQuantiles>> {
    let mut sizes: Vec<u64> = flows.iter().map(|flow| flow.size).collect();
    sizes.sort_unstable();
    let last = sizes.len().checked_sub(1)?;
    let point = |i: usize| (sizes[last * i / 64] as f64, i as f64 / 64.0);
    Some(Arc::new(SizeQuantiles { points: (0..=64).map(point).collect() }))
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
    fn a_transport_has_a_routing_of_its_own() {
        let both = plan("names = [\"phost\", \"ndp\"]\nroutings.phost = \"ecmp\"").unwrap();
        let of = |case: &Case| case.transports[0].routing;
        assert_eq!(
            both.cases.iter().map(of).collect::<Vec<_>>(),
            [Routing::Ecmp, Routing::SourcePath]
        );
        let routings = "routing = \"round-robin\"\nroutings.phost = \"ecmp\"";
        let all = plan(&format!("names = [\"phost\", \"ndp\"]\n{routings}")).unwrap();
        assert_eq!(of(&all.cases[1]), Routing::RoundRobin);
        let fault = plan("names = [\"ndp\"]\nroutings.phots = \"ecmp\"").err().unwrap();
        assert!(fault.to_string().contains("did you mean `phost`?"), "{fault}");
    }

    #[test]
    fn acks_that_could_take_another_path_are_refused_before_the_run() {
        plan("names = [\"fasttune\", \"dctcp\"]").unwrap();
        plan("names = [\"fasttune\"]\nrouting = \"symmetric-ecmp\"").unwrap();
        plan("names = [\"dctcp\"]\nrouting = \"ecmp\"").unwrap();
        for routing in ["ecmp", "spray", "round-robin", "source-path"] {
            let fault = plan(&format!("names = [\"fasttune\"]\nrouting = \"{routing}\""));
            let text = fault.err().expect("it is refused").to_string();
            assert!(text.contains(&format!("transport.routing = `{routing}`: fasttune")), "{text}");
            assert!(text.contains("symmetric-ecmp"), "{text}");
        }
    }

    #[test]
    fn a_burst_is_refused_where_a_transport_has_none() {
        let text = |names: &str, burst: &str| {
            format!(
                "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [{names}]\n\
                 [[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n\
                 [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\nburst = {burst}\n"
            )
        };
        let plan = |names: &str, burst: &str| {
            Plan::new(Scenario::parse(&text(names, burst), "a test", &[])?)
        };
        let good = plan("\"ren\", \"phost\", \"homa\", \"aeolus\", \"dctcp\"", "4").unwrap();
        let bursts = |bytes: u64| good.traffic.flows.iter().filter(move |flow| flow.size == bytes);
        assert!(bursts(1_000).all(|flow| flow.burst.is_none()));
        assert!(bursts(100_000).all(|flow| flow.burst == Some(4)));
        for (names, burst, expected) in [
            (
                "\"ren\", \"dcqcn\"",
                "4",
                "traffic.1.burst = `4`: a flow of dcqcn cannot have a burst",
            ),
            ("\"hpcc\"", "7", "or one of the transports"),
            ("\"ren\"", "0", "traffic.1.burst = `0`: expected 1 to 1000000"),
        ] {
            let text = plan(names, burst).err().expect("it is refused").to_string();
            assert!(text.contains(expected), "{text}");
        }
    }
}
