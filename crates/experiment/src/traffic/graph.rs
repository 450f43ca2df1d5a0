//! The flows of a collective as a program: what each rank sends, and what it waits for.

use crate::Fault;
use crate::plan::Plan;
use incast_program::{Edge, Node, Op, Program, Rank, write_text};
use incast_workload::{CollectiveGroup, Message, Start, Traffic};

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
    group: &'a CollectiveGroup,
    /// By flow.
    messages: Vec<Message>,
    /// The nodes of each message: at its source and at its destination.
    nodes: Vec<[u32; 2]>,
    /// The node of each gate that has one, at the rank whose messages wait for it.
    gates: Vec<Option<u32>>,
    ranks: Vec<Own>,
}

/// The first iteration of a collective of the traffic as a program: each message has a tag of its own. A message that waits
/// for flows that end at its source waits for their receives there, one that waits for what its rank sent for the end of that
/// send. What ranks compute is left out.
///
/// # Errors
/// What a program must keep, which collectives do.
pub(super) fn program(
    name: &str,
    traffic: &Traffic,
    group: &CollectiveGroup,
) -> Result<Program, Fault> {
    let mut messages = group.messages.clone();
    messages.sort_by_key(|message| message.flow);
    let mut made = Made {
        traffic,
        group,
        nodes: Vec::with_capacity(messages.len()),
        gates: vec![None; traffic.gates.len()],
        ranks: vec![Own::default(); group.ranks as usize],
        messages,
    };
    for (place, message) in made.messages.clone().iter().enumerate() {
        let (bytes, tag) = (traffic.flows[message.flow as usize].size, place as u32);
        let send = Op::Send { to: message.to, bytes, tag };
        let take = Op::Recv { from: message.from, bytes, tag };
        let send = made.ranks[message.from as usize].add(send);
        made.nodes.push([send, made.ranks[message.to as usize].add(take)]);
    }
    for (place, message) in made.messages.clone().iter().enumerate() {
        let flow = &traffic.flows[message.flow as usize];
        let Start::After { flows, .. } = &flow.start else { continue };
        let send = made.nodes[place][0];
        made.wait(message.from, send, flows, flow.gate);
    }
    let ranks = made.ranks.iter().map(|own| Rank::new(own.nodes.clone(), &own.edges)).collect();
    Program::new(name, ranks).map_err(Fault::from)
}

impl Plan {
    /// What each collective and program does as a file of GOAL, with all of its iterations: name, which is that of its job,
    /// or `collective0`, `program0` and so on, and content. Where the ranks are is not in it.
    ///
    /// # Errors
    /// What a program must keep.
    pub fn goal_files(&self) -> Result<Vec<(String, String)>, Fault> {
        let plain = |letter: char| match letter {
            letter if letter.is_ascii_alphanumeric() || "_-.".contains(letter) => letter,
            _ => '_',
        };
        let file = |(name, program): (String, Program)| {
            (name.chars().map(plain).collect::<String>() + ".goal", write_text(&program))
        };
        Ok(self.as_programs()?.into_iter().map(file).collect())
    }

    fn as_programs(&self) -> Result<Vec<(String, Program)>, Fault> {
        let mut all = vec![];
        for groups in self.traffic.collectives.chunk_by(|a, b| a.number == b.number) {
            let first = &groups[0];
            let name = match self.job_of(first.number) {
                "" => format!("collective{}", first.number),
                job => job.to_string(),
            };
            let gates = &self.traffic.gates[first.ready.start as usize..first.ready.end as usize];
            let compute: Vec<u64> = gates.iter().map(|gate| gate.delay.0.div_ceil(1_000)).collect();
            let once = program(&name, &self.traffic, first)?;
            all.push((name, once.repeated(groups.len() as u32, &compute)));
        }
        for (job, number) in self.jobs.iter().zip(0..) {
            let name =
                if job.name.is_empty() { format!("program{number}") } else { job.name.clone() };
            all.push((name, Program::clone(&job.program)));
        }
        Ok(all)
    }
}

impl Made<'_> {
    /// A node of a rank waits for flows and a gate.
    fn wait(&mut self, rank: u32, node: u32, flows: &[u32], gate: Option<u32>) {
        for flow in flows {
            let place = self.messages.binary_search_by_key(flow, |message| message.flow);
            let place = place.expect("an iteration waits for its own messages");
            let (message, nodes) = (self.messages[place], self.nodes[place]);
            let before = if message.to == rank { nodes[1] } else { nodes[0] };
            debug_assert!(
                message.to == rank || message.from == rank,
                "flow {flow} is of rank {rank}"
            );
            self.ranks[rank as usize].wait(node, before);
        }
        // The gates of computations let all begin that the program's begin does.
        let Some(gate) = gate.filter(|gate| !self.group.ready.contains(gate)) else { return };
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
