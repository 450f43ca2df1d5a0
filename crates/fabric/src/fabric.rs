//! A finished fabric: nodes, ports and their properties.

use crate::error::{Problem, TopologyError};
use crate::parts::{Failure, Forwarding, LossBursts, NodeId, PortId, PortSpec, Tier};
use crate::routes::Routes;
use incast_units::{Rate, Span};
use std::sync::Arc;

/// Longer propagation is refused: sums over a path must stay far from the end of time.
const MAX_PROPAGATION: Span = Span::from_secs(1000);

/// A fabric: immutable but for link changes and failures, and checked when built.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) name: String,
    pub(crate) hosts: u32,
    pub(crate) ports: Vec<PortSpec>,
    /// First host of each server, and the number of hosts at the end; empty if every host is one.
    pub(crate) first_nic: Vec<u32>,
    /// First port of each node, and the number of ports at the end.
    pub(crate) first_port: Vec<u32>,
    /// Number of a port among the parallel links to the same peer; the same at both ends.
    pub(crate) parallel: Vec<u16>,
    pub(crate) tiers: Vec<Tier>,
    /// Number of a node within its tier.
    pub(crate) tier_index: Vec<u32>,
    pub(crate) routes: Arc<Routes>,
    /// Links of which rate, propagation or loss were changed, one direction of each.
    pub(crate) changed: Vec<PortId>,
    pub(crate) failures: Vec<Failure>,
    /// Ports whose links lose packets in bursts, in order of their numbers.
    pub(crate) bursts: Vec<(PortId, LossBursts)>,
    pub(crate) forwarding: Forwarding,
    /// By which number each flow is hashed, if some share one.
    pub(crate) hashed: Option<Arc<[u32]>>,
}

/// Why the two cannot have a link of these properties.
pub(crate) fn link_objection(
    names: impl FnOnce() -> (String, String),
    rate: Rate,
    propagation: Span,
    loss: f64,
) -> Option<Problem> {
    if rate == Rate(0) {
        let (a, b) = names();
        return Some(Problem::ZeroRate(a, b));
    }
    if propagation > MAX_PROPAGATION {
        let (a, b) = names();
        let message = format!("propagation {propagation} of {a} - {b}; at most {MAX_PROPAGATION}");
        return Some(Problem::TooLarge(message));
    }
    (!(0.0..1.0).contains(&loss)).then(|| Problem::BadLoss(loss.to_string()))
}

impl Fabric {
    /// Number of hosts.
    #[inline]
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Number of nodes: hosts and switches.
    #[inline]
    pub fn nodes(&self) -> u32 {
        self.tiers.len() as u32
    }

    /// What the fabric was built from, such as `leaf-spine:8x8x48`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same fabric under another name.
    pub fn named(mut self, name: impl Into<String>) -> Fabric {
        self.name = name.into();
        self
    }

    /// When switches begin to forward a packet.
    #[inline]
    pub fn forwarding(&self) -> Forwarding {
        self.forwarding
    }

    /// The same fabric with switches that forward in this way.
    pub fn with_forwarding(mut self, forwarding: Forwarding) -> Fabric {
        self.forwarding = forwarding;
        self
    }

    /// Adds the time that a switch needs to process a packet before its egress can send it, and
    /// that a host needs before its transport has it. Both count as propagation of the link by
    /// which the packet arrives, in every record and derived time. Errors when a sum is beyond the
    /// longest propagation.
    pub fn add_delays(&mut self, switch: Span, host: Span) -> Result<(), TopologyError> {
        for index in 0..self.ports.len() {
            let port = self.ports[index];
            let delay = if port.peer.0 < self.hosts { host } else { switch };
            let propagation = Span(port.propagation.0.saturating_add(delay.0));
            let names = || (self.node_name(port.node), self.node_name(port.peer));
            if let Some(problem) = link_objection(names, port.rate, propagation, port.loss) {
                return Err(TopologyError::new(problem));
            }
            self.ports[index].propagation = propagation;
        }
        Ok(())
    }

    /// All ports, indexed by [`PortId`].
    #[inline]
    pub fn ports(&self) -> &[PortSpec] {
        &self.ports
    }

    /// One port. Panics when there is no such port.
    #[inline]
    pub fn port(&self, port: PortId) -> &PortSpec {
        &self.ports[port.0 as usize]
    }

    /// The ports of a node, as a range of [`PortId`]s. A host has exactly one.
    #[inline]
    pub fn ports_of(&self, node: NodeId) -> std::ops::Range<u32> {
        self.first_port[node.0 as usize]..self.first_port[node.0 as usize + 1]
    }

    /// A host's only port. Panics when `host` is not one.
    #[inline]
    pub fn host_port(&self, host: u32) -> PortId {
        assert!(host < self.hosts, "node {host} is not a host; there are {} hosts", self.hosts);
        PortId(self.first_port[host as usize])
    }

    /// The tier of a node.
    #[inline]
    pub fn tier(&self, node: NodeId) -> Tier {
        self.tiers[node.0 as usize]
    }

    /// The edge switch of a host.
    #[inline]
    pub fn rack_of(&self, host: u32) -> NodeId {
        self.port(self.host_port(host)).peer
    }

    /// The rate of a host's link.
    pub fn host_rate(&self, host: u32) -> Rate {
        self.port(self.host_port(host)).rate
    }

    /// The largest rate of any link.
    pub fn max_rate(&self) -> Rate {
        self.ports.iter().map(|port| port.rate).max().unwrap_or(Rate(0))
    }

    /// Shortest paths by hop count, from every switch to every host, with no link failed.
    pub fn routes(&self) -> Arc<Routes> {
        self.routes.clone()
    }

    /// Flow `i` of the run that comes is hashed as flow `numbers[i]` is, where its routing is that of connections.
    pub fn hash_flows_as(&mut self, numbers: Arc<[u32]>) {
        self.hashed = Some(numbers);
    }

    /// The flow as which this one is hashed.
    pub fn hashed(&self, flow: u32) -> u32 {
        let numbers = self.hashed.as_ref();
        numbers.and_then(|numbers| numbers.get(flow as usize).copied()).unwrap_or(flow)
    }

    /// Every port from `a` to `b`, in the order of their parallel numbers.
    pub fn ports_between(&self, a: NodeId, b: NodeId) -> Vec<PortId> {
        self.ports_of(a).map(PortId).filter(|port| self.port(*port).peer == b).collect()
    }

    /// Changes the links between `a` and `b` (all of a bundle, both directions); `None` keeps a
    /// value. Errors when there is no such link or [`crate::Graph::link`] would refuse the values.
    pub fn change_link(
        &mut self,
        a: NodeId,
        b: NodeId,
        rate: Option<Rate>,
        propagation: Option<Span>,
        loss: Option<f64>,
    ) -> Result<(), TopologyError> {
        let (name_a, name_b) = (self.node_name(a), self.node_name(b));
        let forth = self.ports_between(a, b);
        let Some(now) = forth.first().map(|port| *self.port(*port)) else {
            return Err(TopologyError::new(Problem::NoSuchLink(name_a, name_b)));
        };
        let new_rate = rate.unwrap_or(now.rate);
        let new_propagation = propagation.unwrap_or(now.propagation);
        let new_loss = loss.unwrap_or(now.loss);
        let names = || (name_a, name_b);
        if let Some(problem) = link_objection(names, new_rate, new_propagation, new_loss) {
            return Err(TopologyError::new(problem));
        }
        self.changed.extend(forth.first());
        for port in forth {
            let back = self.port(port).reverse;
            for end in [port, back] {
                let spec = &mut self.ports[end.0 as usize];
                spec.rate = rate.unwrap_or(spec.rate);
                spec.propagation = propagation.unwrap_or(spec.propagation);
                spec.loss = loss.unwrap_or(spec.loss);
            }
        }
        Ok(())
    }

    /// Lets the links between `a` and `b` (all of a bundle, both directions) lose packets in bursts. Errors when
    /// there is no such link. Panics when the loss probability is none.
    pub fn lose_in_bursts(
        &mut self,
        a: NodeId,
        b: NodeId,
        bursts: LossBursts,
    ) -> Result<(), TopologyError> {
        assert!((0.0..=1.0).contains(&bursts.loss), "a probability");
        let forth = self.ports_between(a, b);
        if forth.is_empty() {
            let (a, b) = (self.node_name(a), self.node_name(b));
            return Err(TopologyError::new(Problem::NoSuchLink(a, b)));
        }
        for end in
            forth.iter().flat_map(|port| [*port, self.port(*port).reverse]).collect::<Vec<_>>()
        {
            match self.bursts.binary_search_by_key(&end, |(port, _)| *port) {
                Ok(place) => self.bursts[place].1 = bursts,
                Err(place) => self.bursts.insert(place, (end, bursts)),
            }
        }
        Ok(())
    }

    /// The ports whose links lose packets in bursts, in order of their numbers.
    pub fn bursts(&self) -> &[(PortId, LossBursts)] {
        &self.bursts
    }

    /// The bursts in which the link of a port loses packets, if it does.
    pub fn bursts_of(&self, port: PortId) -> Option<LossBursts> {
        let place = self.bursts.binary_search_by_key(&port, |(port, _)| *port);
        place.ok().map(|place| self.bursts[place].1)
    }
}
