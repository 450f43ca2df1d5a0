//! The file of one rank.

use super::schema::{self, Metadata, Node, Value};
use super::stream::Stream;
use super::trace::{MOST_STEPS, Trace, chakra_groups_file};
use crate::build::{Collective, Exchange, Graph};
use crate::error::{Place, ProgramError};
use crate::graph::{self, Op, Rank};
use incast_units::fault::{Problem, wrong};
use std::io::Read;

/// Streams of a rank: computations of the CPU, of the GPU, memory, and what takes no time.
const CPU: u8 = 0;
const GPU: u8 = 1;
const MEMORY: u8 = 2;
const NO_TIME: u8 = 3;

/// Tags of collectives are above those of messages.
const FIRST_TAG: u32 = 1 << 31;

/// What a node does.
#[derive(Clone, Copy)]
enum What {
    One(graph::Node),
    Collective { group: usize, kind: Collective, bytes: u64 },
}

/// What is kept of a node.
struct Kept {
    id: u64,
    what: What,
    /// The first of the ids that it waits for, and their number.
    deps: (usize, usize),
}

struct Reader<'a> {
    trace: &'a mut Trace,
    file: &'a str,
    rank: u32,
    nodes: Vec<Kept>,
    deps: Vec<u64>,
}

impl Trace {
    /// Reads the file of the next rank, a node at a time.
    ///
    /// # Errors
    /// What is wrong in it, with the id of its node.
    pub fn add(&mut self, file: &str, source: impl Read) -> Result<(), ProgramError> {
        let rank = Reader::read(self, file, source)?;
        self.steps += rank.nodes().len();
        self.ranks.push(rank);
        Ok(())
    }
}

impl<'a> Reader<'a> {
    fn read(trace: &'a mut Trace, file: &'a str, source: impl Read) -> Result<Rank, ProgramError> {
        let rank = trace.ranks.len() as u32;
        let mut reader = Reader { trace, file, rank, nodes: vec![], deps: vec![] };
        let mut stream = Stream::new(source).or_else(|problem| reader.fail(problem))?;
        let head = stream.next::<Metadata>();
        match head.or_else(|problem| reader.fail(format!("its metadata {problem}")))? {
            Some(_) => {}
            None => return reader.fail(wrong("is empty").expected("metadata, then nodes")),
        }
        loop {
            let node = stream.next::<Node>();
            let count = reader.nodes.len();
            let node =
                node.or_else(|problem| reader.fail(format!("node {count} of the file {problem}")))?;
            let Some(node) = node else { break };
            reader.add(&node)?;
        }
        reader.graph()
    }

    fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        Err(ProgramError::new(self.file, Place::File, problem))
    }

    fn add(&mut self, node: &Node) -> Result<(), ProgramError> {
        if self.nodes.len() + self.trace.steps >= MOST_STEPS {
            return self.fail(
                wrong("too many nodes").expected(format!("at most {MOST_STEPS} of all ranks")),
            );
        }
        let what = self.what(node)?;
        let first = self.deps.len();
        self.deps.extend(&node.data_deps);
        let more = node.ctrl_deps.iter().filter(|id| !node.data_deps.contains(id));
        let before = self.deps.len();
        self.deps.extend(more);
        self.trace.ordered += u64::from(self.deps.len() > before);
        // Which one is named twice makes no difference.
        self.deps[first..].sort_unstable();
        let mut kept = self.deps.split_off(first);
        kept.dedup();
        self.deps.extend(kept);
        self.nodes.push(Kept { id: node.id, what, deps: (first, self.deps.len() - first) });
        Ok(())
    }

    fn what(&mut self, node: &Node) -> Result<What, ProgramError> {
        let attributes = Attributes { reader: self, node };
        let calc = |cpu| -> Result<What, ProgramError> {
            let Some(ns) = node.duration_us.checked_mul(1_000).filter(|ns| *ns < 1 << 53) else {
                return attributes.fail(
                    wrong(format!("duration of {} us", node.duration_us))
                        .expected("less than 104 days"),
                );
            };
            Ok(What::One(graph::Node { op: Op::Calc { ns }, cpu, nic: 0 }))
        };
        let message = |op| Ok(What::One(graph::Node { op, cpu: 0, nic: 0 }));
        match node.kind {
            schema::METADATA => {
                Ok(What::One(graph::Node { op: Op::Calc { ns: 0 }, cpu: NO_TIME, nic: 0 }))
            }
            schema::MEMORY_LOAD | schema::MEMORY_STORE => {
                let calc = calc(MEMORY)?;
                self.trace.memory += 1;
                Ok(calc)
            }
            schema::COMPUTE => calc(if attributes.truth("is_cpu_op")? { CPU } else { GPU }),
            schema::SEND => {
                let (to, bytes) = (attributes.peer("comm_dst")?, attributes.size()?);
                attributes.own("comm_src")?;
                message(Op::Send { to, bytes, tag: attributes.tag()? })
            }
            schema::RECEIVE => {
                let (from, bytes) = (attributes.peer("comm_src")?, attributes.size()?);
                attributes.own("comm_dst")?;
                message(Op::Recv { from, bytes, tag: attributes.tag()? })
            }
            schema::COLLECTIVE => {
                let collective = attributes.collective()?;
                self.trace.broadcasts += u64::from(matches!(
                    collective,
                    What::Collective { kind: Collective::Broadcast, .. }
                ));
                Ok(collective)
            }
            other => attributes.fail(wrong(format!("is of type {other}")).expected(
                "1 (metadata), 2 or 3 (memory), 4 (computation), 5 (send), 6 (receive) or 7 (collective)",
            )),
        }
    }

    /// Places of the nodes that a node waits for.
    fn waits(&self, node: &Kept) -> Result<Vec<usize>, ProgramError> {
        let (first, count) = node.deps;
        let place = |id: &u64| match self.nodes.binary_search_by_key(id, |one| one.id) {
            Ok(place) => Ok(place),
            Err(_) => self.fail(
                wrong(format!("node {} waits for node {id}", node.id))
                    .expected("a node of the same file"),
            ),
        };
        self.deps[first..first + count].iter().map(place).collect()
    }

    fn graph(mut self) -> Result<Rank, ProgramError> {
        self.nodes.sort_by_key(|node| node.id);
        if let Some(pair) = self.nodes.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return self
                .fail(wrong(format!("two nodes have the id {}", pair[0].id)).expected("one"));
        }
        let waits: Result<Vec<_>, _> = self.nodes.iter().map(|node| self.waits(node)).collect();
        let waits = waits?;
        if let Some(place) = circle(&waits) {
            let id = self.nodes[place].id;
            return self.fail(
                wrong(format!("node {id} waits for itself"))
                    .expected("dependencies without a circle"),
            );
        }
        let mut graph = Graph::default();
        let mut counts = vec![0u32; self.trace.groups.len()];
        // The first and the last step of each node.
        let mut ends = Vec::with_capacity(self.nodes.len());
        for place in 0..self.nodes.len() {
            let (id, what) = (self.nodes[place].id, self.nodes[place].what);
            // Errors of the whole program name nodes by these.
            let label = u32::try_from(id).ok().and_then(|id| id.checked_add(1)).unwrap_or(0);
            ends.push(match what {
                What::One(node) => {
                    let own = graph.add(node, &[], label);
                    (own, own)
                }
                What::Collective { group, kind, bytes } => {
                    let number = counts[group];
                    counts[group] += 1;
                    self.agree(id, (group, number), (kind, bytes))?;
                    self.exchange(&mut graph, (group, number), (kind, bytes), label)?
                }
            });
        }
        for (waits, own) in waits.iter().zip(&ends) {
            waits.iter().for_each(|before| graph.wait(own.0, ends[*before].1));
        }
        Ok(graph.rank())
    }

    /// The steps of a collective, between a first and a last one that take no time.
    fn exchange(
        &self,
        graph: &mut Graph,
        (group, number): (usize, u32),
        (kind, bytes): (Collective, u64),
        label: u32,
    ) -> Result<(u32, u32), ProgramError> {
        let members = self.trace.groups[group].1.as_slice();
        let tag = u64::from(number) * self.trace.groups.len() as u64 + group as u64;
        let Some(tag) = u32::try_from(tag).ok().filter(|tag| *tag < u32::MAX - FIRST_TAG) else {
            return self
                .fail(wrong("too many collectives").expected("less than 2^31 in all groups"));
        };
        let place = members.iter().position(|rank| *rank == self.rank).expect("checked") as u32;
        let first = graph.calc(0, NO_TIME, &[], label);
        let own =
            Exchange { kind, members, place, bytes, tag: FIRST_TAG + tag, nic: 0, line: label };
        let got = match members.len() > 1 && bytes > 0 {
            true => graph.exchange(&own, &[first]),
            false => vec![first],
        };
        Ok((first, graph.calc(0, NO_TIME, &got, label)))
    }

    /// All ranks of a group want the same of it.
    fn agree(
        &mut self,
        id: u64,
        (group, number): (usize, u32),
        (kind, bytes): (Collective, u64),
    ) -> Result<(), ProgramError> {
        let rank = self.rank;
        let known = *self.trace.collectives.entry((group, number)).or_insert((kind, bytes, rank));
        if (known.0, known.1) == (kind, bytes) {
            return Ok(());
        }
        let name = &self.trace.groups[group].0;
        let of =
            if name.is_empty() { "all ranks".into() } else { format!("process group `{name}`") };
        self.fail(
            wrong(format!("node {id}, collective {number} of {of}, is {kind:?} of {bytes} bytes"))
                .expected(format!(
                    "{:?} of {} bytes, as rank {} has it",
                    known.0, known.1, known.2
                )),
        )
    }
}

/// The first node that waits, directly or not, for itself.
fn circle(waits: &[Vec<usize>]) -> Option<usize> {
    let mut left: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut followers = vec![vec![]; waits.len()];
    for (after, own) in waits.iter().enumerate() {
        own.iter().for_each(|before| followers[*before].push(after));
    }
    let mut ready: Vec<usize> = (0..waits.len()).filter(|node| left[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for after in &followers[node] {
            left[*after] -= 1;
            if left[*after] == 0 {
                ready.push(*after);
            }
        }
    }
    left.iter().position(|left| *left > 0)
}

/// The attributes of a node.
struct Attributes<'a, 'b> {
    reader: &'a Reader<'b>,
    node: &'a Node,
}

impl Attributes<'_, '_> {
    fn fail<T>(&self, problem: impl Into<Problem>) -> Result<T, ProgramError> {
        let mut problem = problem.into();
        problem = problem.in_part(&format!("node {}", self.node.id));
        self.reader.fail(problem)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.node.attributes.iter().find(|one| one.name == name)?.value.as_ref()
    }

    fn whole(&self, name: &str, most: u64) -> Result<Option<u64>, ProgramError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let whole = value.whole();
        match whole.and_then(|number| u64::try_from(number).ok()).filter(|number| *number <= most) {
            Some(number) => Ok(Some(number)),
            None => {
                let shown = whole.map_or("of another type".into(), |number| format!("`{number}`"));
                let range = format!("a whole number from 0 to {most}");
                self.fail(wrong(format!("{name} {shown}")).expected(range))
            }
        }
    }

    fn needed(&self, name: &str, most: u64) -> Result<u64, ProgramError> {
        match self.whole(name, most)? {
            Some(number) => Ok(number),
            None => self
                .fail(wrong(format!("has no {name}")).expected(format!("an attribute `{name}`"))),
        }
    }

    fn truth(&self, name: &str) -> Result<bool, ProgramError> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(value) if value.whole().is_some() => Ok(value.whole() != Some(0)),
            Some(_) => {
                self.fail(wrong(format!("{name} of another type")).expected("true or false"))
            }
        }
    }

    fn peer(&self, name: &str) -> Result<u32, ProgramError> {
        let most = u64::from(self.reader.trace.count.saturating_sub(1));
        Ok(self.needed(name, most)? as u32)
    }

    /// A message's end here is the rank of the file.
    fn own(&self, name: &str) -> Result<(), ProgramError> {
        let (own, file) = (self.whole(name, u32::MAX.into())?, u64::from(self.reader.rank));
        match own.filter(|rank| *rank != file) {
            None => Ok(()),
            Some(rank) => self.fail(
                wrong(format!("{name} {rank} in the file of rank {file}"))
                    .expected(format!("{file}")),
            ),
        }
    }

    fn size(&self) -> Result<u64, ProgramError> {
        self.needed("comm_size", u64::MAX)
    }

    fn tag(&self) -> Result<u32, ProgramError> {
        Ok(self.whole("comm_tag", u64::from(FIRST_TAG) - 1)?.unwrap_or(0) as u32)
    }

    fn group(&self) -> Result<usize, ProgramError> {
        let name = match self.value("pg_name") {
            None => String::new(),
            Some(Value::Text(name)) => name.clone(),
            Some(value) => value.whole().map_or(String::new(), |number| number.to_string()),
        };
        let groups = &self.reader.trace.groups;
        let Some(group) = groups.iter().position(|own| own.0 == name) else {
            let file = chakra_groups_file(&self.reader.trace.file);
            let file = file.unwrap_or_else(|| "the file of groups".into());
            let known: Vec<String> =
                groups.iter().skip(1).map(|own| format!("`{}`", own.0)).collect();
            let known = if known.is_empty() {
                format!("its ranks in `{file}`, such as {{\"{name}\": [0, 1]}}")
            } else {
                format!("one of {}, as `{file}` has them", known.join(", "))
            };
            return self.fail(wrong(format!("process group `{name}`")).expected(known));
        };
        if !groups[group].1.contains(&self.reader.rank) {
            let rank = self.reader.rank;
            return self.fail(
                wrong(format!("a collective of process group `{name}` in the file of rank {rank}"))
                    .expected("one of its ranks"),
            );
        }
        Ok(group)
    }

    fn collective(&self) -> Result<What, ProgramError> {
        let group = self.group()?;
        if let Some(Value::Bools(dimensions)) = self.value("involved_dim")
            && dimensions.values.iter().any(|involved| !involved)
        {
            let problem = wrong("involved_dim leaves dimensions out");
            return self
                .fail(problem.expected("process groups (`pg_name`): a fabric has no dimensions"));
        }
        let members = self.reader.trace.groups[group].1.len() as u64;
        let (kind, bytes) = match self.needed("comm_type", 255)? {
            0 => (Collective::AllReduce, self.size()?),
            2 => {
                // Of an all-gather it is what one rank has.
                let Some(bytes) = self.size()?.checked_mul(members) else {
                    return self
                        .fail(wrong("comm_size times ranks").expected("less than 2^64 bytes"));
                };
                (Collective::AllGather, bytes)
            }
            5 => (Collective::Broadcast, self.size()?),
            6 => (Collective::AllToAll, self.size()?),
            7 | 8 => (Collective::ReduceScatter, self.size()?),
            // A barrier is an all-reduce of a byte per rank.
            9 => (Collective::AllReduce, members),
            other => {
                return self.fail(wrong(format!("comm_type {other}")).expected(
                    "0 (all-reduce), 2 (all-gather), 5 (broadcast), 6 (all-to-all), 7 or 8 (reduce-scatter) or 9 (barrier)",
                ));
            }
        };
        Ok(What::Collective { group, kind, bytes })
    }
}
