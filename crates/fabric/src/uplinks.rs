//! The reference point of offered load.

use crate::fabric::Fabric;
use crate::parts::{NodeId, PortId, Tier};
use incast_units::Rate;

/// What a load generator needs to know of the links above the edge switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uplinks {
    /// Capacity of all links from edge switches to other switches, one direction.
    pub capacity: Rate,
    /// Capacity of all host links, one direction.
    pub host_capacity: Rate,
    /// Hosts under each edge switch, if all have the same number.
    pub hosts_per_rack: Option<u32>,
    /// Whether the hosts under some edge switch together send faster than its uplinks carry.
    pub oversubscribed: bool,
    /// The largest ratio of host capacity to uplink capacity of an edge switch: 6 for "6:1".
    pub oversubscription: f64,
    /// Probability that a source and another destination, both uniform, are in different racks.
    pub inter_rack: f64,
}

impl Fabric {
    /// The links above the edge switches, or `None` when there is only one switch with hosts and
    /// none above. For an oversubscribed fabric load `rho` means flows at a rate of
    /// `rho x capacity / (8 x mean size x wire overhead x inter_rack)`; otherwise load refers to
    /// the host links. In a chain of edge switches the capacity counts links that also carry
    /// transit traffic, so the definition is meant for leaf-spine and fat-tree fabrics.
    pub fn uplinks(&self) -> Option<Uplinks> {
        let mut capacity = Rate(0);
        let mut host_capacity = Rate(0);
        let mut sizes = Vec::new();
        let mut oversubscription: f64 = 0.0;
        for node in self.hosts..self.nodes() {
            if self.tier(NodeId(node)) != Tier::Edge {
                continue;
            }
            let (mut down, mut up, mut hosts) = (Rate(0), Rate(0), 0u32);
            for port in self.ports_of(NodeId(node)).map(|port| self.port(PortId(port))) {
                if port.peer.0 < self.hosts {
                    down += port.rate;
                    hosts += 1;
                } else {
                    up += port.rate;
                }
            }
            capacity += up;
            host_capacity += down;
            sizes.push(hosts);
            if up > Rate(0) {
                oversubscription = oversubscription.max(down.0 as f64 / up.0 as f64);
            }
        }
        let all = self.hosts as f64;
        let apart: f64 = sizes.iter().map(|rack| *rack as f64 * (all - *rack as f64)).sum();
        (capacity > Rate(0)).then(|| Uplinks {
            capacity,
            host_capacity,
            hosts_per_rack: sizes.iter().all(|rack| *rack == sizes[0]).then_some(sizes[0]),
            oversubscribed: oversubscription > 1.0,
            oversubscription,
            inter_rack: apart / (all * (all - 1.0)),
        })
    }

    /// How much faster hosts may send than the links above them carry: the ratio that every edge switch has at least, times that of every
    /// aggregation switch; 1 for a tier with a switch whose links carry all. So it is a matter of the fabric as a whole, and no
    /// single link that is slow.
    pub fn oversubscription(&self) -> f64 {
        let of_tier = |tier: Tier| {
            let switches = (self.hosts..self.nodes()).map(NodeId);
            let ratios = switches.filter(|switch| self.tier(*switch) == tier);
            let least = ratios.filter_map(|switch| self.down_over_up(switch)).reduce(f64::min);
            least.unwrap_or(1.0).max(1.0)
        };
        of_tier(Tier::Edge) * of_tier(Tier::Aggregation)
    }

    /// Capacity of a switch's links towards its hosts over that of its other ones, if it has both.
    fn down_over_up(&self, switch: NodeId) -> Option<f64> {
        let edge = self.tier(switch) == Tier::Edge;
        let (mut down, mut up) = (0, 0);
        for port in self.ports_of(switch).map(|port| self.port(PortId(port))) {
            let lower = if edge { port.peer.0 < self.hosts } else { !port.upward };
            *if lower { &mut down } else { &mut up } += port.rate.0;
        }
        (down > 0 && up > 0).then(|| down as f64 / up as f64)
    }
}
