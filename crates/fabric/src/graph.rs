//! Building a fabric from nodes and links, and checking it.

use crate::clos::Clos;
use crate::fabric::{Fabric, link_objection};
use crate::parts::{NodeId, PortId, PortSpec, Tier};
use crate::{Forwarding, Problem, Routes, TopologyError};
use incast_units::fault::expected;
use incast_units::{Rate, Span};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// More links than this are refused: events number hosts and ports in 30 bits.
pub(crate) const MAX_LINKS: u64 = 1 << 29;
/// More nodes than this are refused.
pub(crate) const MAX_NODES: u64 = 1 << 29;
/// More entries (switches x racks, 8 bytes each) in a routing table than this are refused.
const MAX_ROUTE_ENTRIES: u64 = 1 << 27;

/// A node of a [`Graph`]. In the fabric, hosts come first and switches follow, each in the order
/// in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vertex {
    /// The n-th host.
    Host(u32),
    /// The n-th switch.
    Switch(u32),
}

#[derive(Clone, Debug)]
struct Link {
    a: Vertex,
    b: Vertex,
    rate: Rate,
    propagation: Span,
    loss: f64,
    parallel: u16,
}

/// Any network of hosts and switches, link by link.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    hosts: u32,
    switches: u32,
    links: Vec<Link>,
    /// How many links each linked pair has.
    pairs: HashMap<(Vertex, Vertex), u16>,
    linked_hosts: Vec<bool>,
    /// First host of each server.
    first_nic: Vec<u32>,
    /// What messages call the hosts and the switches: the numbers of an imported file.
    labels: Option<(Vec<u32>, Vec<u32>)>,
    /// Latency of each switch, in the order of the switches; added to the links towards it.
    latency: Vec<Span>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Adds a host.
    pub fn add_host(&mut self) -> Vertex {
        self.first_nic.push(self.hosts);
        self.add_nic()
    }

    /// Adds a host that is one more NIC of the server of the last one.
    pub fn add_nic(&mut self) -> Vertex {
        self.hosts += 1;
        self.linked_hosts.push(false);
        Vertex::Host(self.hosts - 1)
    }

    /// Adds a switch.
    pub fn add_switch(&mut self) -> Vertex {
        self.add_slow_switch(Span::ZERO)
    }

    /// Adds a switch that delays every packet by `latency` before it is queued. The delay is
    /// accounted as propagation on the links towards the switch.
    pub fn add_slow_switch(&mut self, latency: Span) -> Vertex {
        self.switches += 1;
        self.latency.push(latency);
        Vertex::Switch(self.switches - 1)
    }

    pub(crate) fn label(&mut self, hosts: Vec<u32>, switches: Vec<u32>) {
        self.labels = Some((hosts, switches));
    }

    /// Links two nodes in both directions. Errors when the rate is zero, the propagation above
    /// 1000 s, the loss not 0 to less than 1, a node does not exist or is linked to itself, the two
    /// are linked already, both are hosts, or a host gets a second link.
    pub fn link(
        &mut self,
        a: Vertex,
        b: Vertex,
        rate: Rate,
        propagation: Span,
        loss: f64,
    ) -> Result<(), TopologyError> {
        self.bundle(a, b, 1, rate, propagation, loss)
    }

    /// Links two switches by `count` parallel links; otherwise like [`Graph::link`].
    pub fn bundle(
        &mut self,
        a: Vertex,
        b: Vertex,
        count: u16,
        rate: Rate,
        propagation: Span,
        loss: f64,
    ) -> Result<(), TopologyError> {
        if let Some(problem) = self.objection(a, b, count, rate, propagation, loss) {
            return Err(TopologyError::new(problem));
        }
        if self.pairs.contains_key(&(a.min(b), a.max(b))) {
            let problem = Problem::DuplicateLink(self.name(a), self.name(b));
            return Err(TopologyError::new(problem));
        }
        self.add(a, b, count, rate, propagation, loss)
    }

    /// Links two switches beside the links that they have already, if they have any. Returns how many these
    /// are. Otherwise like [`Graph::link`].
    pub fn link_beside(
        &mut self,
        a: Vertex,
        b: Vertex,
        rate: Rate,
        propagation: Span,
        loss: f64,
    ) -> Result<u16, TopologyError> {
        if let Some(problem) = self.objection(a, b, 1, rate, propagation, loss) {
            return Err(TopologyError::new(problem));
        }
        let before = self.pairs.get(&(a.min(b), a.max(b))).copied().unwrap_or(0);
        self.add(a, b, 1, rate, propagation, loss).map(|()| before)
    }

    fn add(
        &mut self,
        a: Vertex,
        b: Vertex,
        count: u16,
        rate: Rate,
        propagation: Span,
        loss: f64,
    ) -> Result<(), TopologyError> {
        if self.links.len() as u64 + count as u64 > MAX_LINKS {
            let message = format!("more than {MAX_LINKS} links");
            return Err(TopologyError::new(Problem::TooLarge(message)));
        }
        let links = self.pairs.entry((a.min(b), a.max(b))).or_default();
        let first = *links;
        let Some(all) = first.checked_add(count) else {
            let message = format!("more than {} parallel links", u16::MAX);
            return Err(TopologyError::new(Problem::TooLarge(message)));
        };
        *links = all;
        for vertex in [a, b] {
            if let Vertex::Host(host) = vertex {
                self.linked_hosts[host as usize] = true;
            }
        }
        for parallel in first..all {
            self.links.push(Link { a, b, rate, propagation, loss, parallel });
        }
        Ok(())
    }

    fn objection(
        &self,
        a: Vertex,
        b: Vertex,
        count: u16,
        rate: Rate,
        propagation: Span,
        loss: f64,
    ) -> Option<Problem> {
        if let Some(absent) = [a, b].into_iter().find(|vertex| !self.exists(*vertex)) {
            let known = format!("one of {} hosts and {} switches", self.hosts, self.switches);
            return Some(Problem::UnknownNode(self.name(absent), Box::new(expected(known))));
        }
        if a == b {
            return Some(Problem::SelfLink(self.name(a)));
        }
        let names = || (self.name(a), self.name(b));
        if let Some(problem) = link_objection(names, rate, propagation, loss) {
            return Some(problem);
        }
        match (a, b) {
            (Vertex::Host(_), Vertex::Host(_)) => {
                let (a, b) = names();
                Some(Problem::HostToHost(a, b))
            }
            (Vertex::Switch(_), Vertex::Switch(_)) if count > 0 => None,
            (Vertex::Switch(_), Vertex::Switch(_)) => {
                let (a, b) = names();
                Some(Problem::Malformed(Box::new(format!("a bundle {a} - {b} of 0 links").into())))
            }
            (Vertex::Host(host), _) | (_, Vertex::Host(host)) => {
                let taken = count != 1 || self.linked_hosts[host as usize];
                taken.then(|| Problem::SecondHostLink(self.name(Vertex::Host(host))))
            }
        }
    }

    fn exists(&self, vertex: Vertex) -> bool {
        match vertex {
            Vertex::Host(host) => host < self.hosts,
            Vertex::Switch(switch) => switch < self.switches,
        }
    }

    fn name(&self, vertex: Vertex) -> String {
        match (vertex, &self.labels) {
            (Vertex::Host(host), Some((labels, _))) => format!("host {}", labels[host as usize]),
            (Vertex::Switch(switch), Some((_, labels))) => {
                format!("switch {}", labels[switch as usize])
            }
            (Vertex::Host(host), None) => format!("host{host}"),
            (Vertex::Switch(switch), None) => format!("switch{switch}"),
        }
    }

    fn node(&self, vertex: Vertex) -> usize {
        match vertex {
            Vertex::Host(host) => host as usize,
            Vertex::Switch(switch) => (self.hosts + switch) as usize,
        }
    }

    fn name_of_node(&self, node: u32) -> String {
        match node.checked_sub(self.hosts) {
            Some(switch) => self.name(Vertex::Switch(switch)),
            None => self.name(Vertex::Host(node)),
        }
    }

    /// Checks the graph and turns it into a fabric. Errors when there are fewer than two hosts, a
    /// host has no link, some node cannot be reached, or the entire is too large.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        self.build_as(None)
    }

    /// The same; the routes follow from these counts, if there are any.
    pub(crate) fn build_as(self, clos: Option<Clos>) -> Result<Fabric, TopologyError> {
        let nodes = self.hosts as u64 + self.switches as u64;
        let too_large = |what: String| Err(TopologyError::new(Problem::TooLarge(what)));
        if nodes > MAX_NODES {
            return too_large(format!("{nodes} hosts and switches; at most {MAX_NODES}"));
        }
        if self.hosts < 2 {
            return Err(TopologyError::new(Problem::TooFewHosts(self.hosts)));
        }
        if let Some(host) = self.linked_hosts.iter().position(|linked| !linked) {
            let name = self.name(Vertex::Host(host as u32));
            return Err(TopologyError::new(Problem::UnlinkedHost(name)));
        }
        let mut fabric = self.lay_out();
        let count_ports = |node: usize| fabric.first_port[node + 1] - fabric.first_port[node];
        if let Some(node) = (0..nodes as usize).find(|n| count_ports(*n) > u16::MAX as u32) {
            let name = self.name_of_node(node as u32);
            return too_large(format!("{name} has {} ports; at most 65535", count_ports(node)));
        }
        if let Some(unreached) = assign_tiers(&mut fabric) {
            let (a, b) = (self.name_of_node(0), self.name_of_node(unreached));
            return Err(TopologyError::new(Problem::Disconnected(a, b)));
        }
        fabric.routes = Arc::new(match clos {
            Some(clos) => Routes::closed(&fabric, clos),
            None => {
                fabric.check_tables()?;
                Routes::compute(&fabric, &vec![false; fabric.ports.len()])
            }
        });
        Ok(fabric)
    }

    /// Gives every directed link its port number. Tiers and routes are still empty.
    fn lay_out(&self) -> Fabric {
        let nodes = (self.hosts + self.switches) as usize;
        let mut first_port = vec![0u32; nodes + 1];
        for link in &self.links {
            first_port[self.node(link.a) + 1] += 1;
            first_port[self.node(link.b) + 1] += 1;
        }
        for node in 0..nodes {
            first_port[node + 1] += first_port[node];
        }
        let mut next = first_port.clone();
        let mut ports: Vec<Option<PortSpec>> = vec![None; 2 * self.links.len()];
        let mut parallel = vec![0u16; 2 * self.links.len()];
        for link in &self.links {
            let ends = [self.node(link.a), self.node(link.b)];
            let ids = ends.map(|node| {
                next[node] += 1;
                next[node] - 1
            });
            for side in 0..2 {
                let peer = ends[1 - side];
                let latency = peer.checked_sub(self.hosts as usize).map(|s| self.latency[s]);
                let propagation = link.propagation.0.saturating_add(latency.unwrap_or_default().0);
                parallel[ids[side] as usize] = link.parallel;
                ports[ids[side] as usize] = Some(PortSpec {
                    node: NodeId(ends[side] as u32),
                    peer: NodeId(peer as u32),
                    reverse: PortId(ids[1 - side]),
                    rate: link.rate,
                    propagation: Span(propagation),
                    loss: link.loss,
                    tier: Tier::Host,
                    upward: false,
                    level: Tier::Host,
                });
            }
        }
        let several = self.first_nic.len() < self.hosts as usize;
        let ends = self.first_nic.iter().copied().chain([self.hosts]);
        Fabric {
            first_nic: if several { ends.collect() } else { vec![] },
            name: format!("graph:{}x{}x{}", self.hosts, self.switches, self.links.len()),
            hosts: self.hosts,
            ports: ports.into_iter().map(|port| port.expect("every port was laid out")).collect(),
            first_port,
            parallel,
            tiers: vec![Tier::Host; nodes],
            tier_index: vec![0; nodes],
            routes: Arc::new(Routes::empty()),
            changed: Vec::new(),
            bursts: Vec::new(),
            hashed: None,
            failures: Vec::new(),
            forwarding: Forwarding::default(),
        }
    }
}

impl Fabric {
    /// Refuses routing tables that would be too large.
    pub(crate) fn check_tables(&self) -> Result<(), TopologyError> {
        let racks = self.tiers.iter().filter(|tier| **tier == Tier::Edge).count() as u64;
        let switches = (self.nodes() - self.hosts) as u64;
        if racks * switches <= MAX_ROUTE_ENTRIES {
            return Ok(());
        }
        Err(TopologyError::new(Problem::TooLarge(format!(
            "routing tables of {switches} switches x {racks} edge switches; the product is at most \
             {MAX_ROUTE_ENTRIES}. Leaf-spine and fat tree need none while no link fails"
        ))))
    }
}

/// Gives every node its tier by its distance from the hosts. Returns a node that host 0 cannot
/// reach, if there is one.
fn assign_tiers(fabric: &mut Fabric) -> Option<u32> {
    if let Some(unreached) = distances(fabric, fabric.nics_of(0)).iter().position(Option::is_none) {
        return Some(unreached as u32);
    }
    let levels = distances(fabric, 0..fabric.hosts);
    let highest = levels.iter().flatten().max().copied().unwrap_or(0);
    let mut counts = [0u32; 4];
    for (node, level) in levels.iter().flatten().enumerate() {
        let tier = match level {
            0 => Tier::Host,
            1 => Tier::Edge,
            2 if highest > 2 => Tier::Aggregation,
            _ => Tier::Core,
        };
        fabric.tiers[node] = tier;
        fabric.tier_index[node] = counts[tier as usize];
        counts[tier as usize] += 1;
    }
    for port in &mut fabric.ports {
        let (own, peer) = (fabric.tiers[port.node.0 as usize], fabric.tiers[port.peer.0 as usize]);
        port.tier = own;
        port.upward = peer > own;
        port.level = own.min(peer);
    }
    None
}

/// Hops from the nearest of `sources` to each node, through hosts too (a host has one link, so
/// nothing passes through it), and from each NIC of a server to the others.
fn distances(fabric: &Fabric, sources: std::ops::Range<u32>) -> Vec<Option<u32>> {
    let mut distance = vec![None; fabric.tiers.len()];
    let mut queue: VecDeque<u32> = sources.collect();
    for node in &queue {
        distance[*node as usize] = Some(0);
    }
    while let Some(node) = queue.pop_front() {
        let next = distance[node as usize].map(|hops: u32| hops + 1);
        let peers = fabric.ports_of(NodeId(node)).map(|port| fabric.ports[port as usize].peer.0);
        let nics = match fabric.has_servers() && node < fabric.hosts {
            true => fabric.nics_of(fabric.server_of(node)),
            false => 0..0,
        };
        for peer in peers.chain(nics) {
            if distance[peer as usize].is_none() {
                distance[peer as usize] = next;
                queue.push_back(peer);
            }
        }
    }
    distance
}
