//! `dragonfly`: groups of switches, every two linked.

use super::parts::{Size, checked, hosts, product, sum, switches};
use super::shape::{Count, Shape};
use crate::{Fabric, Graph, TopologyError};
use incast_units::{Rate, Span};

/// `dragonfly:5x4x2`.
pub(super) static SHAPE: Shape = Shape {
    name: "dragonfly",
    counts: &[
        Count { symbol: "GROUPS", what: "groups", least: 1 },
        Count { symbol: "SWITCHES", what: "switches per group", least: 1 },
        Count { symbol: "HOSTS", what: "hosts per switch", least: 1 },
    ],
    doc: "all SWITCHES of a group linked, a link between every two GROUPS, HOSTS per switch; shortest paths",
    example: "dragonfly:5x4x2",
    uplinks: true,
    size: |counts| {
        let [groups, switches, hosts] = [counts[0], counts[1], counts[2]];
        let all = product(&[groups, switches]);
        let pairs = |of: u64| product(&[of, of - 1]) / 2;
        Size {
            nodes: product(&[all, hosts.saturating_add(1)]),
            links: sum(&[
                product(&[all, hosts]),
                product(&[groups, pairs(switches)]),
                pairs(groups),
            ]),
        }
    },
    build: |spec| {
        let [groups, switches, hosts] = spec.counts();
        Dragonfly {
            groups,
            switches,
            hosts,
            host_rate: spec.links.rate,
            uplink_rate: spec.uplink_rate(hosts, (switches - 1).max(1)),
            host_propagation: spec.links.propagation,
            uplink_propagation: spec.uplink_propagation(),
            loss: spec.links.loss,
        }
        .build()
    },
};

/// Groups of switches with hosts. Within a group every two switches are linked; every two groups are linked
/// once, and a group's links to the others are dealt to its switches in turn, beginning with the next
/// group (Kim, Dally, Scott and Abts, ISCA 2008). Hosts and switches are numbered group by group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dragonfly {
    /// Number of groups, at least 1.
    pub groups: u32,
    /// Switches per group, at least 1.
    pub switches: u32,
    /// Hosts per switch, at least 1.
    pub hosts: u32,
    /// Rate of the host links.
    pub host_rate: Rate,
    /// Rate of the links between switches.
    pub uplink_rate: Rate,
    /// Propagation of the host links, one-way.
    pub host_propagation: Span,
    /// Propagation of the links between switches, one-way.
    pub uplink_propagation: Span,
    /// Loss probability of every link.
    pub loss: f64,
}

impl Dragonfly {
    /// The fabric `dragonfly:GxSxH`.
    pub fn build(self) -> Result<Fabric, TopologyError> {
        let Dragonfly { groups, switches: own, .. } = self;
        let counts =
            [("groups", groups), ("switches per group", own), ("hosts per switch", self.hosts)];
        checked("dragonfly", &counts, (SHAPE.size)(&[groups, own, self.hosts].map(u64::from)))?;
        let mut graph = Graph::new();
        let all = switches(&mut graph, groups * own, Span::ZERO);
        for switch in &all {
            for host in hosts(&mut graph, self.hosts) {
                graph.link(host, *switch, self.host_rate, self.host_propagation, self.loss)?;
            }
        }
        let mut link = |a: u32, b: u32| {
            let (rate, propagation) = (self.uplink_rate, self.uplink_propagation);
            graph.link(all[a as usize], all[b as usize], rate, propagation, self.loss)
        };
        for group in all.chunks(own as usize).zip(0..groups).map(|(_, group)| group * own) {
            for a in 0..own {
                (a + 1..own).try_for_each(|b| link(group + a, group + b))?;
            }
        }
        // The switch of group `from` whose link leads to group `to`.
        let at = |from: u32, to: u32| from * own + ((to + groups - from - 1) % groups) % own;
        for from in 0..groups {
            (from + 1..groups).try_for_each(|to| link(at(from, to), at(to, from)))?;
        }
        Ok(graph.build()?.named(format!("dragonfly:{groups}x{own}x{}", self.hosts)))
    }
}
