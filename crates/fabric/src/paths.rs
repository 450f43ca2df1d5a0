//! Paths through the fabric and what they cost.

use crate::clos::Clos;
use crate::fabric::Fabric;
use crate::ideal::{Hop, plus};
use crate::parts::{Forwarding, NodeId, PortId, Tier};
use crate::routes::Routes;
use crate::tables::{Switches, UNREACHED};
use incast_units::{Bytes, Rate, Span};

/// The two largest values, of different members.
#[derive(Clone, Copy, Default)]
struct Largest {
    first: Span,
    holder: u32,
    second: Option<Span>,
    any: bool,
}

impl Largest {
    fn add(&mut self, value: Span, holder: u32) {
        if !self.any || value > self.first {
            self.second = self.any.then_some(self.first);
            (self.first, self.holder, self.any) = (value, holder, true);
        } else {
            self.second = self.second.max(Some(value));
        }
    }

    /// The largest sum of one value here and one there, of different members.
    fn largest_sum(self, other: Largest) -> Option<Span> {
        if self.holder != other.holder {
            return Some(plus(self.first, other.first));
        }
        let mixed = [
            self.second.map(|second| plus(second, other.first)),
            other.second.map(|second| plus(self.first, second)),
        ];
        mixed.into_iter().flatten().max()
    }
}

impl Clos {
    /// Some racks such that every rack is like one of them, seen from the whole fabric, if the links of
    /// each tier are alike but for `changed` ones.
    pub fn typical_racks(&self, fabric: &Fabric, changed: &[PortId]) -> Vec<u32> {
        let (first_above, racks) = (fabric.hosts() + self.racks(), self.racks());
        let mut touched = vec![];
        let mut pods = vec![];
        for port in changed.iter().map(|port| fabric.port(*port)) {
            let low = if port.upward { port.node } else { port.peer };
            match fabric.tier(low) {
                Tier::Host => touched.push(fabric.rack_of(low.0).0 - fabric.hosts()),
                Tier::Edge => touched.push(low.0 - fabric.hosts()),
                _ => pods.push((low.0 - first_above) / self.aggregations),
            }
        }
        pods.extend(touched.iter().map(|rack| rack / self.edges));
        let plain_of = |pod: u32| {
            (pod * self.edges..(pod + 1) * self.edges).find(|rack| !touched.contains(rack))
        };
        let plain_pod = (0..self.pods).find(|pod| !pods.contains(pod));
        let plain: Vec<u32> = pods.iter().copied().chain(plain_pod).filter_map(plain_of).collect();
        let mut all: Vec<u32> = touched.iter().copied().chain(plain).collect();
        all.sort_unstable();
        all.dedup();
        debug_assert!(all.iter().all(|rack| *rack < racks));
        all
    }
}

impl Fabric {
    /// What one hop adds to an unloaded RTT: a packet of `mtu` out over `port`, a packet of
    /// `reply` back over its reverse, both stored and forwarded.
    pub(crate) fn hop_rtt(&self, port: PortId, mtu: Bytes, reply: Bytes) -> Span {
        let out = self.port(port);
        let back = self.port(out.reverse);
        let sent = plus(out.rate.tx_time(mtu), back.rate.tx_time(reply));
        plus(sent, plus(out.propagation, back.propagation))
    }

    /// The unloaded RTT of a packet of `mtu_charged` and its reply of `reply_charged` over
    /// the longest of all shortest routes between two hosts, the fabric's [`Forwarding`] at every
    /// switch included; the reply takes the same path back.
    ///
    /// Hosts under one edge switch differ only in their own link, so the work grows with the
    /// number of edge switches, not of host pairs.
    pub fn base_rtt(&self, mtu_charged: Bytes, reply_charged: Bytes) -> Span {
        if let Forwarding::CutThrough(read) = self.forwarding {
            return self.cut_through_rtt(mtu_charged, reply_charged, read);
        }
        let switches = Switches::new(self, &vec![false; self.ports.len()]);
        let ids = (0..self.ports.len() as u32).map(PortId);
        let costs: Vec<Span> =
            ids.map(|port| self.hop_rtt(port, mtu_charged, reply_charged)).collect();
        let hop = |port: PortId| costs[port.0 as usize];
        let mut up = vec![Largest::default(); switches.count()];
        let mut down = vec![Largest::default(); switches.count()];
        for host in 0..self.hosts {
            let port = self.host_port(host);
            let rack = (self.port(port).peer.0 - self.hosts) as usize;
            up[rack].add(hop(port), host);
            down[rack].add(hop(self.port(port).reverse), host);
        }
        let mut longest = Span::ZERO;
        let mut distance = vec![UNREACHED; switches.count()];
        let mut through = vec![Span::ZERO; switches.count()];
        for rack in self.typical_racks().into_iter().filter(|rack| up[*rack].any) {
            longest = longest.max(up[rack].largest_sum(down[rack]).unwrap_or(Span::ZERO));
            through[rack] = Span::ZERO;
            for switch in &switches.walk(rack as u32, &mut distance)[1..] {
                let nearer = distance[*switch as usize] - 1;
                let towards = switches.edges(*switch).iter();
                let towards = towards.filter(|(peer, _)| distance[*peer as usize] == nearer);
                let costs = towards.map(|(peer, port)| plus(hop(*port), through[*peer as usize]));
                let cost = costs.max().expect("a switch that was reached has a path");
                through[*switch as usize] = cost;
                if up[*switch as usize].any {
                    longest =
                        longest.max(plus(plus(up[*switch as usize].first, cost), down[rack].first));
                }
            }
        }
        longest
    }

    /// Switches, counted from the first, such that every path between hosts is, link by link, like one
    /// that ends below one of them.
    pub(crate) fn typical_racks(&self) -> Vec<usize> {
        match self.routes.clos() {
            Some(clos) => {
                let racks = clos.typical_racks(self, &self.changed);
                racks.into_iter().map(|rack| rack as usize).collect()
            }
            None => (0..(self.nodes() - self.hosts) as usize).collect(),
        }
    }

    /// Links on the longest of all shortest paths between two hosts, no link having failed.
    pub fn longest_path(&self) -> u32 {
        if let Some(clos) = self.routes.clos() {
            return clos.longest_path();
        }
        // One host of each edge switch stands for all.
        let racks = self.a_host_of_each_rack(0);
        let hops = |a: u32, b: u32| self.path(&self.routes, a, b, |_| 0).len() as u32;
        let pairs = racks.iter().flat_map(|a| racks.iter().map(move |b| (*a, *b)));
        let longest = pairs.filter(|(a, b)| a != b).map(|(a, b)| hops(a, b)).max();
        longest.unwrap_or(0).max(2)
    }

    /// Equal-cost paths between a host of the first edge switch and one elsewhere, at the most.
    pub fn most_paths(&self) -> u32 {
        if let Some(clos) = self.routes.clos() {
            return u32::try_from(clos.most_paths()).unwrap_or(u32::MAX);
        }
        let others = self.a_host_of_each_rack(1);
        others.into_iter().map(|host| self.path_count(0, host)).max().unwrap_or(1)
    }

    /// The first host of each edge switch, of those from `first` on.
    fn a_host_of_each_rack(&self, first: u32) -> Vec<u32> {
        let mut racks: Vec<(NodeId, u32)> =
            (first..self.hosts).map(|host| (self.rack_of(host), host)).collect();
        racks.sort_unstable();
        racks.dedup_by_key(|(rack, _)| *rack);
        racks.into_iter().map(|(_, host)| host).collect()
    }

    /// [`Fabric::base_rtt`] between two given hosts, with switches that store and forward; the
    /// longest of their equal-cost paths. Zero
    /// from a host to itself.
    pub fn base_rtt_between(&self, src: u32, dst: u32, mtu: Bytes, reply: Bytes) -> Span {
        let add = |sum: u64, port| sum.saturating_add(self.hop_rtt(port, mtu, reply).0);
        Span(self.over_paths(src, dst, 0, add, u64::max))
    }

    /// The number of equal-cost shortest paths between two hosts, at most `u32::MAX`; 1 from a
    /// host to itself, 0 where there is none.
    pub fn path_count(&self, src: u32, dst: u32) -> u32 {
        let count = self.over_paths(src, dst, 1, |count, _| count, u64::saturating_add);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Walks all shortest paths at once, hop by hop: `extend` a value over each port, `merge` the
    /// values that meet in a node.
    fn over_paths(
        &self,
        src: u32,
        dst: u32,
        start: u64,
        extend: impl Fn(u64, PortId) -> u64,
        merge: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        if src == dst {
            return start;
        }
        let first = self.host_port(src);
        let mut front = vec![(self.port(first).peer, extend(start, first))];
        // All shortest paths are of one length, so the entire front arrives at the same step.
        while front.first().is_some_and(|(node, _)| *node != NodeId(dst)) {
            let mut next: Vec<(NodeId, u64)> = Vec::new();
            for (node, value) in front {
                for port in self.routes.next(node, dst) {
                    next.push((self.port(*port).peer, extend(value, *port)));
                }
            }
            next.sort_by_key(|(node, _)| *node);
            next.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    kept.1 = merge(kept.1, later.1);
                }
                same
            });
            front = next;
        }
        front.first().map_or(0, |(_, value)| *value)
    }

    /// The ports a packet takes from `src` to `dst`, the host's own first; where several are equal
    /// `choose` says which, by its index in the group (taken modulo the group's size). Empty when
    /// the hosts are the same or no path exists.
    pub fn path(
        &self,
        routes: &Routes,
        src: u32,
        dst: u32,
        mut choose: impl FnMut(&[PortId]) -> usize,
    ) -> Vec<PortId> {
        let mut path = Vec::new();
        if src == dst {
            return path;
        }
        path.push(self.host_port(src));
        let mut node = self.rack_of(src);
        while node != NodeId(dst) {
            let group = routes.next(node, dst);
            let port = match group {
                [] => return Vec::new(),
                [only] => *only,
                several => several[choose(several) % several.len()],
            };
            path.push(port);
            node = self.port(port).peer;
            assert!(path.len() <= self.tiers.len(), "routes to host {dst} loop");
        }
        path
    }

    /// The steps of all shortest paths from `src` to `dst`, the host's own link first. Empty when
    /// the hosts are the same or no path exists.
    pub fn hops(&self, routes: &Routes, src: u32, dst: u32) -> Vec<Hop> {
        if src == dst {
            return vec![];
        }
        let of = |ports: &[PortId]| {
            let specs = || ports.iter().map(|port| self.port(*port));
            Hop {
                rate: specs().map(|spec| spec.rate).max().expect("a step has links"),
                slowest: specs().map(|spec| spec.rate).min().expect("as above"),
                propagation: specs().map(|spec| spec.propagation).min().expect("as above"),
                links: ports.len() as u32,
            }
        };
        let mut hops = vec![of(&[self.host_port(src)])];
        let mut front = vec![self.rack_of(src)];
        while front[0] != NodeId(dst) {
            let mut ports: Vec<PortId> = vec![];
            front.iter().for_each(|node| ports.extend(routes.next(*node, dst)));
            if ports.is_empty() {
                return vec![];
            }
            hops.push(of(&ports));
            front = ports.iter().map(|port| self.port(*port).peer).collect();
            front.sort_unstable();
            front.dedup();
            assert!(hops.len() <= self.tiers.len(), "routes to host {dst} loop");
        }
        hops
    }

    /// Rate and propagation of each link of a path, as [`crate::ideal_fct`] takes them.
    pub fn links(&self, path: &[PortId]) -> Vec<(Rate, Span)> {
        path.iter().map(|port| (self.port(*port).rate, self.port(*port).propagation)).collect()
    }
}
