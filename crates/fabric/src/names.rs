//! Names of nodes in files and flags: `host12`, `leaf3`, `spine0`.

use crate::{Fabric, NodeId, PortSpec, Problem, Tier, TopologyError};
use incast_units::fault::{self, expected, nearest, wrong};

/// What a name may begin with. The first of a tier is how a node is printed.
const PREFIXES: &[(&str, Option<Tier>)] = &[
    ("host", Some(Tier::Host)),
    ("leaf", Some(Tier::Edge)),
    ("agg", Some(Tier::Aggregation)),
    ("spine", Some(Tier::Core)),
    ("tor", Some(Tier::Edge)),
    ("edge", Some(Tier::Edge)),
    ("aggregation", Some(Tier::Aggregation)),
    ("core", Some(Tier::Core)),
    ("switch", None),
    ("node", None),
];

impl Fabric {
    /// The name of a node: `host12`, `leaf3`, `agg1`, `spine0`, numbered within its tier; where servers have
    /// several NICs, `server3/nic1`.
    pub fn node_name(&self, node: NodeId) -> String {
        let Some(tier) = self.tiers.get(node.0 as usize) else { return format!("node{}", node.0) };
        if self.has_servers() && node.0 < self.hosts {
            return self.nic_name(node.0);
        }
        let of_tier = |(_, named): &&(&str, Option<Tier>)| *named == Some(*tier);
        let (prefix, _) = PREFIXES.iter().find(of_tier).expect("every tier has a prefix");
        format!("{prefix}{}", self.tier_index[node.0 as usize])
    }

    /// What a port is called: `leaf0->spine1`.
    pub fn port_name(&self, port: &PortSpec) -> String {
        format!("{}->{}", self.node_name(port.node), self.node_name(port.peer))
    }

    /// The node of that name. Leaf, tor and edge mean the same, so do spine and core, agg and
    /// aggregation; `switch3` is the fourth switch of any tier, `node3` the node with id 3.
    pub fn node_named(&self, name: &str) -> Result<NodeId, TopologyError> {
        let split = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (prefix, digits) = (name[..split].to_ascii_lowercase(), &name[split..]);
        let unknown = |known: fault::Problem| {
            TopologyError::new(Problem::UnknownNode(name.into(), Box::new(known)))
        };
        if let Some(nic) = self.nic_named(&name.to_ascii_lowercase()) {
            return nic.map(NodeId).map_err(unknown);
        }
        let Some((_, tier)) = PREFIXES.iter().find(|(known, _)| *known == prefix) else {
            let nearest = nearest(&prefix, PREFIXES.iter().map(|(known, _)| *known));
            let number = if digits.is_empty() { "0" } else { digits };
            let near = nearest.map(|near| format!("{near}{number}"));
            let known = expected("a name such as host0, leaf0, agg0 or spine0");
            return Err(unknown(known.meant(near.as_deref())));
        };
        let in_tier = |node: &u32| tier.is_none_or(|tier| self.tiers[*node as usize] == tier);
        let start = if prefix == "switch" { self.hosts } else { 0 };
        let mut candidates = (start..self.nodes()).filter(in_tier);
        let count = candidates.clone().count();
        let index = digits.parse::<usize>().ok().filter(|index| *index < count);
        match index.and_then(|index| candidates.nth(index)) {
            Some(node) => Ok(NodeId(node)),
            None if count == 0 => {
                Err(unknown(wrong(format!("`{}` has no {prefix} nodes", self.name))))
            }
            None => Err(unknown(expected(format!("{prefix}0 to {prefix}{}", count - 1)))),
        }
    }
}
