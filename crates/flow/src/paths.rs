//! Which links a flow uses, and what part of its rate each carries.

use crate::Use;
use incast_fabric::{Fabric, FixedPaths, NodeId, PathUse, PortId, Routes};
use incast_transport::{Flow, Header, Packet, Routing, TransportId};
use incast_world::{path_of, path_use};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What does not change during a run.
pub struct Ways {
    /// The fabric.
    pub fabric: Arc<Fabric>,
    /// Paths of flows under [`Routing::Paths`].
    pub fixed: Option<Arc<FixedPaths>>,
    /// The run's seed, of which the hashes of ECMP are.
    pub seed: u64,
}

/// The routes that hold now, and the ways of spread flows that are known.
pub struct Paths {
    routes: Arc<Routes>,
    /// Ports whose link is down, ascending.
    dead: Vec<PortId>,
    /// The links between the first and the last switch, by these.
    spread: BTreeMap<(NodeId, NodeId), Option<Rc<[Use]>>>,
    /// For each link the first of those that all spread flows use as this one: one stands for all.
    alike: Vec<u32>,
}

impl Paths {
    /// Paths by these routes, without the ports that are down.
    pub fn new(routes: Arc<Routes>, dead: Vec<PortId>) -> Paths {
        Paths { routes, dead, spread: BTreeMap::new(), alike: vec![] }
    }

    /// Lets one link stand for all that are used alike by flows that are spread, if all flows are, between these
    /// hosts.
    pub fn join_links(&mut self, ways: &Ways, ends: impl Iterator<Item = (u32, u32)>) {
        let fabric = &ways.fabric;
        let mut pairs: Vec<_> =
            ends.map(|(src, dst)| (fabric.rack_of(src), fabric.rack_of(dst), dst)).collect();
        pairs.sort_unstable();
        pairs.dedup_by_key(|(from, to, _)| (*from, *to));
        let mut classes = Classes::new(fabric);
        for (from, to, dst) in pairs {
            if let Some(middle) = self.middle(ways, from, to, dst) {
                classes.split(&middle);
            }
        }
        self.alike = classes.first();
    }

    /// The link that stands for this one.
    pub fn stands_for(&self, link: u32) -> u32 {
        self.alike.get(link as usize).copied().unwrap_or(link)
    }

    /// The links of a flow; `None` if its ends are apart.
    pub fn of(
        &mut self,
        ways: &Ways,
        flow: &Flow,
        (transport, routing): (TransportId, Routing),
    ) -> Option<Vec<Use>> {
        let own = ways.fabric.host_port(flow.src.0);
        if self.dead.binary_search(&own).is_ok() {
            return None;
        }
        let whole = |port: PortId| Use { link: port.0, part: 1.0 };
        if path_use(routing) == PathUse::One {
            let header = Header::Finish { packets: 0, spare: 0, spare_high: 0, flags: 0 };
            let packet = Packet::header_only(transport, flow.id, flow.src, flow.dst, 1, header);
            let (fabric, fixed) = (&ways.fabric, ways.fixed.as_deref());
            let path = path_of(fabric, &self.routes, routing, fixed, ways.seed, &packet)?;
            return Some(path.into_iter().map(whole).collect());
        }
        let (src, dst) = (flow.src.0, flow.dst.0);
        let (from, to) = (ways.fabric.rack_of(src), ways.fabric.rack_of(dst));
        let [last] = self.routes.next(to, dst) else { return None };
        let last = *last;
        let known = match self.spread.get(&(from, to)) {
            Some(known) => known.clone(),
            None => {
                let stands = |one: &Use| self.stands_for(one.link) == one.link;
                let middle = self.middle(ways, from, to, dst);
                let middle = middle.map(|all| all.into_iter().filter(stands).collect());
                self.spread.insert((from, to), middle.clone());
                middle
            }
        };
        let middle = known?;
        let ends = [whole(own)].into_iter();
        Some(ends.chain(middle.iter().copied()).chain([whole(last)]).collect())
    }

    /// The links between two edge switches if each switch spreads evenly over its ports towards a host; `None` if
    /// none lead there.
    fn middle(&self, ways: &Ways, from: NodeId, to: NodeId, dst: u32) -> Option<Vec<Use>> {
        let mut uses = vec![];
        let mut front = BTreeMap::from([(from, 1.0)]);
        while front.keys().any(|node| *node != to) {
            let mut next = BTreeMap::new();
            for (node, part) in front {
                let ports = self.routes.next(node, dst);
                if ports.is_empty() {
                    return None;
                }
                let part = part / ports.len() as f64;
                for port in ports {
                    uses.push(Use { link: port.0, part });
                    *next.entry(ways.fabric.port(*port).peer).or_insert(0.0) += part;
                }
            }
            front = next;
        }
        Some(uses)
    }
}

/// Links in classes of those that are used alike: of one rate, and for every pair of switches with equal parts.
struct Classes {
    class: Vec<u32>,
    /// Links of each class.
    counts: Vec<u32>,
}

impl Classes {
    /// By rate alone; each link of a host is one by itself.
    fn new(fabric: &Fabric) -> Classes {
        let mut classes = Classes { class: vec![], counts: vec![] };
        let mut known = BTreeMap::new();
        for (index, port) in fabric.ports().iter().enumerate() {
            let of_host = port.node.0.min(port.peer.0) < fabric.hosts();
            let class = *known.entry((port.rate, of_host.then_some(index))).or_insert_with(|| {
                classes.counts.push(0);
                classes.counts.len() as u32 - 1
            });
            classes.class.push(class);
            classes.counts[class as usize] += 1;
        }
        classes
    }

    /// Splits the classes by what one pair of switches uses of each link.
    fn split(&mut self, uses: &[Use]) {
        let key = |one: &Use| (self.class[one.link as usize], one.part.to_bits());
        let mut sorted: Vec<((u32, u64), u32)> =
            uses.iter().map(|one| (key(one), one.link)).collect();
        sorted.sort_unstable();
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let class = group[0].0.0 as usize;
            if (group.len() as u32) < self.counts[class] {
                self.counts[class] -= group.len() as u32;
                group.iter().for_each(|(_, link)| {
                    self.class[*link as usize] = self.counts.len() as u32;
                });
                self.counts.push(group.len() as u32);
            }
        }
    }

    /// For each link the first of its class.
    fn first(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.counts.len()];
        let of = |(link, class): (u32, &u32)| {
            let first = &mut first[*class as usize];
            *first = (*first).min(link);
            *first
        };
        (0..).zip(&self.class).map(of).collect()
    }
}
