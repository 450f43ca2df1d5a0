//! A scenario with all defaults filled in, as stored in manifests.

use crate::World;
use crate::plan::{Case, Plan, SHORTEST_INTERVAL, entry};
use crate::scenario::{Auto, Hosts, PROPAGATION, Parameters, RATE, Scenario, Traffic};
use incast_transport::{Bytes, Limit, Span, Time};
use incast_workload::Start;
use incast_world::{RunTransport, series_start};

impl Plan {
    /// The scenario of some cases of the plan, with all defaults filled in. Values that differ
    /// between cases or links stay `auto`.
    pub fn resolved(&self, cases: &[Case]) -> Scenario {
        let mut all = self.scenario.clone();
        self.resolve_fabric(&mut all);
        all.transport.names = cases.iter().map(|case| case.label.clone()).collect();
        let transports = || cases.iter().flat_map(|case| &case.transports);
        if let Some(routing) = same(transports().map(|transport| transport.routing)) {
            all.transport.routing = Auto(Some(routing));
        }
        all.transport.balance = self.resolved_balance();
        for transport in transports() {
            write_parameters(&mut all.transport.parameters, transport);
        }
        for entry in &mut all.traffic {
            self.resolve_traffic(entry);
        }
        let run = &mut all.run;
        run.interval = Auto(Some(self.interval()));
        all.dataplane = (run.world == World::DataPlane).then(|| self.dataplane());
        run.watch = Auto(run.watch.0.or_else(|| same(cases.iter().map(Case::watched))));
        all
    }

    /// Length of the intervals of time series at first.
    pub(crate) fn interval(&self) -> Span {
        self.scenario.run.interval.0.unwrap_or(self.site.base_rtt).max(SHORTEST_INTERVAL)
    }

    /// Where the time series of all cases begin.
    pub(crate) fn series_start(&self) -> Time {
        let starts = self.traffic.flows.iter().filter_map(|flow| match flow.start {
            Start::At(at) => Some(at),
            Start::After { .. } | Start::Told => None,
        });
        let starts = starts.chain(self.jobs.iter().map(|job| job.at));
        series_start(starts.min().unwrap_or(Time::ZERO), self.interval())
    }

    fn resolve_fabric(&self, all: &mut Scenario) {
        let fabric = &mut all.fabric;
        if fabric.topology.is_some() {
            let rate = *fabric.rate.0.get_or_insert(RATE);
            let propagation = *fabric.propagation.0.get_or_insert(PROPAGATION);
            // A single switch has no links to others.
            if self.fabric.nodes() > self.fabric.hosts() + 1 {
                fabric.uplink_propagation.0.get_or_insert(propagation);
                if fabric.oversubscription.is_none() {
                    fabric.uplink_rate.0.get_or_insert(rate);
                }
            }
        }
        fabric.base_rtt = Auto(Some(self.site.base_rtt));
        if let (Some(pfc), Some(own)) = (&mut fabric.pfc, &self.pfc) {
            if fabric.buffer.0 != Limit::Unlimited {
                pfc.xoff = Auto(Some(Bytes(own.xoff)));
            }
            pfc.release = Auto(Some(Bytes(own.release)));
            pfc.alpha = Auto(pfc.alpha.0.or(own.shared.map(|shared| shared.alpha)));
        }
    }

    fn resolve_traffic(&self, entry: &mut Traffic) {
        let Traffic::Incast(own) = entry else { return };
        let hosts = 0..self.fabric.servers();
        match own.receiver {
            Some(receiver)
                if own.from.is_none() && own.senders.is_none() && own.fan_in.is_none() =>
            {
                own.from = Some(Hosts::listed(hosts.filter(|host| *host != receiver)));
            }
            None if own.receivers.is_none() => own.receivers = Some(Hosts::listed(hosts)),
            _ => {}
        }
    }
}

/// The common value, if all are equal.
fn same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Adds the parameters of a transport that the scenario leaves out, by its set or default.
fn write_parameters(parameters: &mut Parameters, own: &RunTransport) {
    let name = own.info.name;
    let entry = entry(name, "transport.names").expect("it has been planned");
    let keys = entry.parameters();
    let written = parameters.entry(name.to_string()).or_default();
    for (key, value) in own.configured.resolved() {
        if keys.iter().any(|doc| doc.name == key) {
            written.entry(key.to_string()).or_insert(value.into());
        }
    }
}
