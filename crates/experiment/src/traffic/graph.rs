//! The flows of a collective as a program: what each rank sends, and what it waits for.

use crate::Fault;
use incast_program::{Edge, Node, Op, Program, Rank};
use incast_workload::{FlowSpec, Message, Start, Traffic};

/// A rank as it is made.
#[derive(Clone, Default)]
struct Own {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Own {
    fn add(&mut self, op: Op) -> u32 {
        self.nodes.push(Node { op, cpu: 0, nic: 0 });
        self.nodes.len() as u32 - 1
    }

    fn wait(&mut self, after: u32, before: u32) {
        self.edges.push(Edge { before, after, at_start: false });
    }
}

/// What is known of the flows of an iteration.
struct Made<'a> {
    traffic: &'a Traffic,
    /// By flow.
    messages: Vec<Message>,
    /// The nodes of each flow: at its source and at its destination.
    nodes: Vec<[u32; 2]>,
    /// The node of each gate that has one, at the rank whose messages wait for it.
    gates: Vec<Option<u32>>,
    ranks: Vec<Own>,
}

/// The first iteration of a collective as a program: each flow is a message with its number as a tag. A message that waits
/// for flows that end at its source waits for their receives there, one that waits for what its rank sent for the end of that
/// send. What ranks compute is left out.
///
/// # Errors
/// What a program must keep, which collectives do.
pub(super) fn program(name: &str, traffic: &Traffic, ranks: u32) -> Result<Program, Fault> {
    let mut messages: Vec<Message> =
        traffic.collectives.iter().flat_map(|group| &group.messages).copied().collect();
    messages.sort_by_key(|message| message.flow);
    let mut made = Made {
        traffic,
        nodes: Vec::with_capacity(messages.len()),
        gates: vec![None; traffic.gates.len()],
        ranks: vec![Own::default(); ranks as usize],
        messages,
    };
    for (message, flow) in made.messages.clone().iter().zip(&traffic.flows) {
        let FlowSpec { size: bytes, .. } = *flow;
        let tag = message.flow;
        let send = Op::Send { to: message.to, bytes, tag };
        let take = Op::Recv { from: message.from, bytes, tag };
        let send = made.ranks[message.from as usize].add(send);
        made.nodes.push([send, made.ranks[message.to as usize].add(take)]);
    }
    for (message, flow) in made.messages.clone().iter().zip(&traffic.flows) {
        let Start::After { flows, .. } = &flow.start else { continue };
        let send = made.nodes[message.flow as usize][0];
        made.wait(message.from, send, flows, flow.gate);
    }
    let ranks = made.ranks.iter().map(|own| Rank::new(own.nodes.clone(), &own.edges)).collect();
    Program::new(name, ranks).map_err(Fault::from)
}

impl Made<'_> {
    /// A node of a rank waits for flows and a gate.
    fn wait(&mut self, rank: u32, node: u32, flows: &[u32], gate: Option<u32>) {
        for flow in flows {
            let (message, nodes) = (self.messages[*flow as usize], self.nodes[*flow as usize]);
            let before = if message.to == rank { nodes[1] } else { nodes[0] };
            debug_assert!(
                message.to == rank || message.from == rank,
                "flow {flow} is of rank {rank}"
            );
            self.ranks[rank as usize].wait(node, before);
        }
        // The gates of computations let all begin that the program's begin does.
        let of_ranks = |gate: &u32| {
            let groups = &self.traffic.collectives;
            groups.iter().any(|group| group.ready.contains(gate))
        };
        let Some(gate) = gate.filter(|gate| !of_ranks(gate)) else { return };
        let before = match self.gates[gate as usize] {
            Some(before) => before,
            None => {
                let before = self.ranks[rank as usize].add(Op::Calc { ns: 0 });
                self.gates[gate as usize] = Some(before);
                let own = &self.traffic.gates[gate as usize];
                self.wait(rank, before, &own.flows, own.gate);
                before
            }
        };
        self.ranks[rank as usize].wait(node, before);
    }
}
