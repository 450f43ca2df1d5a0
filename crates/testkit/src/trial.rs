//! Transports in a fabric, run by the simulator.

use crate::{Outcome, configured, flow, random_flows};
use incast_egress::port::{Join, PolicyConflict};
use incast_fabric::{Dumbbell, Fabric, LinkDefaults, Star, ideal_fct};
use incast_sim::{Monitor, run_in_batches};
use incast_transport::{
    Bytes, Configured, FabricSite, Flow, Framing, Info, Limit, Random, Rate, Routing,
    SizeQuantiles, Span, Time, Transport, TransportId,
};
use incast_world::{
    Faults, FlowSetup, Options, RunTransport, Setup, SharedBuffer, assemble, fabric_site,
};
use std::sync::Arc;

/// What a user may set, as key and value.
pub type Settings<'a> = [(&'a str, &'a str)];

/// A transport and what is set of it.
pub type Entry<'a> = (&'a dyn Transport, Vec<(&'a str, &'a str)>);

/// Changes a transport before it is put into the fabric.
pub type Change<'a> = Box<dyn Fn(&Info, Arc<dyn Configured>) -> Arc<dyn Configured> + 'a>;

/// One or several transports in a fabric, and their flows. Each run is made from scratch, so a
/// trial can be run again, changed or not.
pub struct Trial<'a> {
    /// The transport of all flows; of every n-th if there are others.
    pub entry: &'a dyn Transport,
    /// Its settings.
    pub settings: Vec<(&'a str, &'a str)>,
    /// The others, see [`beside`](Trial::beside).
    pub others: Vec<Entry<'a>>,
    /// Where.
    pub fabric: Arc<Fabric>,
    /// What links charge.
    pub framing: Framing,
    /// What waits at each switch port at the most.
    pub buffer: Limit,
    /// One buffer per switch instead.
    pub shared: Option<SharedBuffer>,
    /// How the transports share ports.
    pub join: Join,
    /// Load balancing of all of them; each its own if not said.
    pub routing: Option<Routing>,
    /// Sizes of the run's flows, as a workload would give them.
    pub sizes: Option<Arc<SizeQuantiles>>,
    /// What is done to each transport first.
    pub change: Option<Change<'a>>,
    /// The flows, numbered from 0.
    pub flows: Vec<FlowSetup>,
    /// How to run.
    pub options: Options,
    /// Threads of the simulator.
    pub threads: usize,
    /// Hosts of a batch of the simulator; as many as it chooses if not said.
    pub batch: Option<u32>,
    /// The base RTT that transports are told; the fabric's if not said.
    pub told_rtt: Option<Span>,
}

impl<'a> Trial<'a> {
    /// With defaults, and a buffer of 200 packets.
    pub fn new(
        entry: &'a dyn Transport,
        fabric: impl Into<Arc<Fabric>>,
        flows: Vec<Flow>,
    ) -> Trial<'a> {
        let mut trial = Trial {
            entry,
            settings: vec![],
            others: vec![],
            fabric: fabric.into(),
            framing: Framing::ETHERNET,
            buffer: Limit::Packets(200),
            shared: None,
            join: Join::Shared,
            routing: None,
            sizes: None,
            change: None,
            flows: vec![],
            options: Options::default(),
            threads: 1,
            batch: None,
            told_rtt: None,
        };
        trial.set_flows(flows);
        trial
    }

    /// In a fabric of equal links of 10 Gb/s, with a buffer of 128 packets, logged deliveries, and
    /// flows to be given later.
    pub fn of(
        entry: &'a dyn Transport,
        settings: &Settings<'a>,
        spec: &str,
        propagation: Span,
    ) -> Trial<'a> {
        let mut trial = Trial::new(entry, fabric(spec, Rate::from_gbps(10), propagation), vec![]);
        trial.settings = settings.to_vec();
        trial.buffer = Limit::Packets(128);
        trial.options.log_deliveries = true;
        trial
    }

    /// One more transport. Flows are carried by all transports in turn.
    pub fn beside(mut self, entry: &'a dyn Transport, settings: &Settings<'a>) -> Trial<'a> {
        self.others.push((entry, settings.to_vec()));
        let flows = self.flows.drain(..).map(|setup| setup.flow).collect();
        self.set_flows(flows);
        self
    }

    /// Ends the run, and watches all flows in steps of `interval`.
    pub fn until(mut self, end: Span, interval: Span) -> Trial<'a> {
        self.options.until = Time::ZERO + end;
        self.options.interval = interval;
        self.options.watch = self.flows.iter().map(|setup| setup.flow.id).collect();
        self
    }

    /// One more setting of the first transport.
    pub fn set(mut self, key: &'a str, value: &'a str) -> Trial<'a> {
        self.settings.push((key, value));
        self
    }

    /// Packets are lost, late and duplicated where they arrive at hosts.
    pub fn impaired(mut self, seed: u64) -> Trial<'a> {
        self.options.seed = seed;
        self.options.log_deliveries = true;
        self.options.faults =
            Faults { loss: 0.01, reorder: 0.02, duplicate: 0.02, late: Span::from_us(50) };
        self
    }

    /// These flows instead, carried by all transports in turn.
    pub fn set_flows(&mut self, flows: Vec<Flow>) {
        self.flows = self.deal(flows);
    }

    fn deal(&self, flows: Vec<Flow>) -> Vec<FlowSetup> {
        let ids: Vec<TransportId> = self.entries().map(|(entry, _)| entry.info().id).collect();
        let flows = flows.into_iter().zip(ids.iter().cycle());
        flows.map(|(flow, id)| setup_of(flow, *id)).collect()
    }

    fn entries(&self) -> impl Iterator<Item = (&'a dyn Transport, &Settings<'a>)> {
        let first = (self.entry, &self.settings[..]);
        let others = self.others.iter().map(|(entry, settings)| (*entry, &settings[..]));
        std::iter::once(first).chain(others)
    }

    /// The transports' names.
    pub fn names(&self) -> Vec<&'static str> {
        self.entries().map(|(entry, _)| entry.info().name).collect()
    }

    /// What transports know about the fabric.
    pub fn site(&self) -> Arc<FabricSite> {
        fabric_site(&self.fabric, self.framing, self.buffer, self.sizes.clone(), self.told_rtt)
    }

    /// Rate of host 0's link.
    pub fn rate(&self) -> Rate {
        self.fabric.host_rate(0)
    }

    /// The fabric's.
    pub fn base_rtt(&self) -> Span {
        self.site().base_rtt
    }

    /// What a world runs.
    ///
    /// # Errors
    /// When no port can serve the transports together.
    pub fn try_setup(&self) -> Result<Setup, PolicyConflict> {
        self.setup_with(self.flows.clone())
    }

    fn setup_with(&self, flows: Vec<FlowSetup>) -> Result<Setup, PolicyConflict> {
        let site = self.site();
        let transport = |(entry, own): (&dyn Transport, &Settings)| {
            let info = entry.info();
            let mut made = configured(entry, own, &site);
            if let Some(change) = &self.change {
                made = change(info, made);
            }
            RunTransport { info, configured: made, routing: self.routing.unwrap_or(info.routing) }
        };
        let transports: Vec<RunTransport> = self.entries().map(transport).collect();
        let (fabric, options) = (self.fabric.clone(), self.options.clone());
        assemble(fabric, site, &transports, self.join, flows, self.shared, options)
    }

    /// What a world runs; every call makes the same.
    pub fn setup(&self) -> Setup {
        self.try_setup().unwrap_or_else(|conflict| panic!("{conflict}"))
    }

    /// Runs it.
    ///
    /// # Errors
    /// When no port can serve the transports together.
    pub fn try_run(&self) -> Result<Outcome, PolicyConflict> {
        Ok(self.outcome(self.try_setup()?))
    }

    fn outcome(&self, setup: Setup) -> Outcome {
        let (record, packets) =
            run_in_batches(setup, self.threads, self.batch, &Monitor::default());
        Outcome { record, packets, fabric: self.fabric.clone() }
    }

    /// Runs it.
    pub fn run(&self) -> Outcome {
        self.try_run().unwrap_or_else(|conflict| panic!("{conflict}"))
    }

    /// Runs it with these flows, carried by all transports in turn.
    pub fn carry(&self, flows: Vec<Flow>) -> Outcome {
        let setup = self.setup_with(self.deal(flows));
        self.outcome(setup.unwrap_or_else(|conflict| panic!("{conflict}")))
    }

    /// Runs 60 flows between random hosts while packets are lost, late and duplicated where they
    /// arrive, and asserts that every byte of every flow is delivered.
    pub fn survives_impairments(&mut self, seed: u64) {
        let late = Span::from_us(30);
        self.options.faults = Faults { loss: 0.01, reorder: 0.02, duplicate: 0.01, late };
        self.options.seed = seed;
        self.options.until = Time::ZERO + Span::from_secs(2);
        let (mut random, hosts) = (Random::new(seed, 0, 0), self.fabric.hosts());
        let size = |random: &mut Random, _| 1 + random.below(100_000);
        self.set_flows(random_flows(&mut random, hosts, 60, Span::from_us(300), size));
        self.delivers();
    }

    /// Runs it and asserts that every byte of each flow is delivered.
    pub fn delivers(&self) -> Outcome {
        let outcome = self.run();
        assert!(outcome.complete, "seed {}, {:?}", self.options.seed, self.settings);
        for (setup, seen) in self.flows.iter().zip(&outcome.flows) {
            assert_eq!(seen.delivered, setup.flow.size, "flow {}", setup.flow.id.0);
        }
        outcome
    }

    /// The time of a flow of full packets that is alone.
    pub fn ideal(&self, src: u32, dst: u32, packets: u64) -> Span {
        let links = self.fabric.links(&self.fabric.path(&self.fabric.routes(), src, dst, |_| 0));
        let full = Bytes(self.framing.charged_mtu() as u64);
        ideal_fct(&links, (0..packets).map(|_| full))
    }
}

/// Thirty flows of growing sizes from hosts 0 to 3 to hosts 4 and 5, all from `start` on.
pub fn ladder(start: Time) -> Vec<Flow> {
    (0..30).map(|id| flow(id, id % 4, 4 + id % 2, 1 + 7_777 * id as u64, start)).collect()
}

/// A flow of this transport that opens at its start.
pub fn setup_of(flow: Flow, transport: TransportId) -> FlowSetup {
    FlowSetup { flow, transport, after: vec![], delay: Span::ZERO, gate: None, cut: Time::NEVER }
}

/// A fabric as scenarios write it, of equal links.
pub fn fabric(spec: &str, rate: Rate, propagation: Span) -> Fabric {
    let links = LinkDefaults { rate, propagation, loss: 0.0 };
    incast_fabric::parse(spec, links).expect("a valid topology")
}

/// Hosts around one switch; a round trip is four times `propagation` and a little.
pub fn star(hosts: u32, rate: Rate, propagation: Span) -> Fabric {
    Star { hosts, rate, propagation, loss: 0.0 }.build().expect("a valid star")
}

/// Pairs of hosts whose links are four times as fast as the one link between their switches, so
/// that no NIC limits anything; a round trip is `rtt` and a little.
pub fn dumbbell(pairs: u32, rate: Rate, rtt: Span) -> Fabric {
    let dumbbell = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: Rate(rate.0 * 4),
        bottleneck_rate: rate,
        host_propagation: rtt / 8,
        bottleneck_propagation: rtt / 4,
        loss: 0.0,
    };
    dumbbell.build().expect("a valid dumbbell")
}

/// Pairs of hosts with one link between their switches, all links alike (CCRP §2.2).
pub fn equal_dumbbell(pairs: u32, rate: Rate, propagation: Span) -> Fabric {
    fabric(&format!("dumbbell:{pairs}x{pairs}"), rate, propagation)
}

/// The time that packets of these IP lengths take alone from host to host of a fabric.
pub fn ideal(fabric: &Fabric, src: u32, dst: u32, ip_bytes: &[u32]) -> Span {
    let links = fabric.links(&fabric.path(&fabric.routes(), src, dst, |_| 0));
    let charged = |&ip: &u32| Bytes(Framing::ETHERNET.charged(ip) as u64);
    ideal_fct(&links, ip_bytes.iter().map(charged))
}
