//! Load balancing: its numbers, what it does to transports and flows.

use crate::Fault;
use crate::fault::wrong;
use crate::plan::{Case, Plan};
use crate::scenario::{Auto, Balance};
use incast_fabric::{NodeId, Routes};
use incast_transport::{FlowRecord, Header, HostId, Packet, Routing};
use incast_world::{RunTransport, path_of};

impl Plan {
    /// The numbers of the routings that have some.
    pub(crate) fn balance(&self) -> incast_world::Balance {
        let own = self.scenario.transport.balance.clone().unwrap_or_default();
        let site = &self.site;
        let packet = site.framing.charged_packet(site.framing.mss(), 0);
        let packets = site.host_rate.tx_time(incast_transport::Bytes(10 * packet as u64));
        incast_world::Balance {
            entropies: own.entropies as u16,
            samples: own.samples as u8,
            memory: own.memory as u8,
            flowlet_gap: own.flowlet_gap.0.unwrap_or(site.base_rtt.max(packets)),
            quantum: own.quantum.0,
            stale: own.stale,
            data_only: own.data_only,
            conga_period: own.conga_period,
            conga_decay: own.conga_decay,
            conga_age: own.conga_age,
        }
    }

    /// Refuses more samples than any switch has equal ports towards a host; the default is never refused.
    ///
    /// # Errors
    /// With the key, the value and how many there are.
    pub(crate) fn check_samples(&self) -> Result<(), Fault> {
        let samples = self.balance().samples as usize;
        let least = Balance::default().samples as usize;
        if samples <= least {
            return Ok(());
        }
        let routes = self.fabric.routes();
        let switches = self.fabric.hosts()..self.fabric.nodes();
        let mut groups = switches.flat_map(|switch| {
            let routes = &routes;
            (0..self.fabric.hosts()).map(move |host| routes.next(NodeId(switch), host).len())
        });
        let mut most = least;
        if groups.any(|ports| {
            most = most.max(ports);
            ports >= samples
        }) {
            return Ok(());
        }
        let problem = wrong(format!("no switch has more than {most} equal ports to a host"))
            .expected(format!("1 to {most}"));
        Err(Fault::value("transport.balance.samples", samples, problem))
    }

    /// What a manifest says of them, if some transport has such a routing.
    pub(crate) fn resolved_balance(&self) -> Option<Balance> {
        let own = &self.scenario.transport.balance;
        let mut transports = self.cases.iter().flat_map(|case| &case.transports);
        let numbered = |routing: Routing| {
            matches!(routing, Routing::Entropy | Routing::Drill)
                || matches!(routing, Routing::LeastQueue | Routing::Flowlet)
                || matches!(routing, Routing::Conga | Routing::Plb)
        };
        if own.is_none() && !transports.any(|transport| numbered(transport.routing)) {
            return None;
        }
        let gap = Auto(Some(self.balance().flowlet_gap));
        Some(Balance { flowlet_gap: gap, ..own.clone().unwrap_or_default() })
    }
}

/// The nodes on the path of the packet that completed a flow, or of all its packets.
pub(crate) fn path(
    plan: &Plan,
    case: &Case,
    routes: &Routes,
    record: &FlowRecord,
    lane: usize,
) -> Box<str> {
    let flow = &plan.traffic.flows[record.flow.0 as usize];
    let RunTransport { info, routing, .. } = &case.transports[lane];
    let (src, dst) = (HostId(flow.src), HostId(flow.dst));
    let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
    let plain = Packet::header_only(info.id, record.flow, src, dst, 1, header);
    let own = record.last.map(|last| last.path);
    let known = own.is_some() || !routing.is_of_sources();
    let packet = Packet { path: own.unwrap_or(0), ..plain };
    let (fabric, fixed, seed) = (&plan.fabric, plan.paths.as_deref(), plan.scenario.run.seed);
    match path_of(fabric, routes, *routing, fixed, seed, &packet).filter(|_| known) {
        Some(ports) => {
            let ends = ports.iter().map(|port| fabric.port(*port).peer);
            let nodes = std::iter::once(NodeId(flow.src)).chain(ends);
            nodes.map(|node| fabric.node_name(node)).collect::<Vec<_>>().join(">").into()
        }
        None => "sprayed".into(),
    }
}
