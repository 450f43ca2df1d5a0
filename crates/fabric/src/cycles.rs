//! Whether pausing links can deadlock.

use crate::{Fabric, NodeId, PortId, Routes};

impl Fabric {
    /// A cycle of switch ports such that packets that leave by each may wait for the next, if
    /// shortest-path routes have one: where links are paused instead of packets dropped, all of a
    /// cycle's ports can wait for each other for ever (Dally and Seitz 1987; for PFC, Hu et al.,
    /// "Deadlocks in datacenter networks", HotNets 2016). Trees and leaf-spine fabrics without
    /// failures have none. The first of the cycle is the port of the smallest number.
    pub fn buffer_cycle(&self, routes: &Routes) -> Option<Vec<PortId>> {
        if routes.clos().is_some() {
            return None;
        }
        let waits = self.buffer_waits(routes);
        // Depth first; 1 is on the path from the root, 2 is done.
        let mut state = vec![0u8; waits.len()];
        for root in 0..waits.len() as u32 {
            let mut path: Vec<(u32, usize)> = vec![];
            if state[root as usize] == 0 {
                state[root as usize] = 1;
                path.push((root, 0));
            }
            while let Some((port, next)) = path.last_mut() {
                let Some(&after) = waits[*port as usize].get(*next) else {
                    state[*port as usize] = 2;
                    path.pop();
                    continue;
                };
                *next += 1;
                match state[after as usize] {
                    0 => {
                        state[after as usize] = 1;
                        path.push((after, 0));
                    }
                    1 => {
                        let from = path.iter().position(|(port, _)| *port == after);
                        let cycle = &path[from.expect("it is on the path")..];
                        let mut cycle: Vec<PortId> =
                            cycle.iter().map(|(port, _)| PortId(*port)).collect();
                        let first = (0..cycle.len()).min_by_key(|i| cycle[*i].0).unwrap_or(0);
                        cycle.rotate_left(first);
                        return Some(cycle);
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// For each port the ports by which packets go on that left by it.
    fn buffer_waits(&self, routes: &Routes) -> Vec<Vec<u32>> {
        let mut waits = vec![vec![]; self.ports().len()];
        for dst in 0..self.hosts() {
            let mut seen = vec![false; self.nodes() as usize];
            let mut todo: Vec<NodeId> =
                (0..self.hosts()).filter(|src| *src != dst).map(|src| self.rack_of(src)).collect();
            while let Some(switch) = todo.pop() {
                if std::mem::replace(&mut seen[switch.0 as usize], true) {
                    continue;
                }
                for port in routes.next(switch, dst) {
                    let peer = self.port(*port).peer;
                    if peer.0 < self.hosts() {
                        continue;
                    }
                    waits[port.0 as usize].extend(routes.next(peer, dst).iter().map(|p| p.0));
                    todo.push(peer);
                }
            }
        }
        for after in &mut waits {
            after.sort_unstable();
            after.dedup();
        }
        waits
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, LinkDefaults, parse};
    use incast_units::{Rate, Span};

    #[test]
    fn trees_have_no_cycle() {
        let defaults =
            LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 };
        for spec in ["star:5", "dumbbell:3x3", "parking-lot:3", "leaf-spine:4x3x2", "fat-tree:4"] {
            let fabric = parse(spec, defaults).expect("a valid topology");
            assert_eq!(fabric.buffer_cycle(&fabric.routes()), None, "{spec}");
        }
    }

    /// A ring of five switches: two hops in one direction, so each link waits for the next all
    /// around.
    #[test]
    fn a_ring_has_one() {
        let (rate, delay) = (Rate::from_gbps(10), Span::from_us(1));
        let mut graph = Graph::new();
        let hosts: Vec<_> = (0..5).map(|_| graph.add_host()).collect();
        let switches: Vec<_> = (0..5).map(|_| graph.add_switch()).collect();
        for i in 0..5 {
            graph.link(hosts[i], switches[i], rate, delay, 0.0).expect("a valid link");
            graph.link(switches[i], switches[(i + 1) % 5], rate, delay, 0.0).expect("a valid link");
        }
        let fabric = graph.build().expect("a valid graph");
        let cycle = fabric.buffer_cycle(&fabric.routes()).expect("a cycle");
        assert_eq!(cycle.len(), 5);
        for (port, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            assert_eq!(fabric.port(*port).peer, fabric.port(*next).node);
        }
    }
}
