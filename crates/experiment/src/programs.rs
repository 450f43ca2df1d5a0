//! Programs in a run: the host of each rank, the flows of its messages, and how it went.

use crate::Fault;
use crate::fault::{Problem, wrong};
use crate::plan::{Job, Plan};
use crate::scenario::Placement;
use incast_measure::{ProgramMeta, RankMeta};
use incast_program::{Execution, Op, Orders, Program};
use incast_transport::{Bytes, ExecutionRecord, FlowId, Time};
use incast_workload::{FlowClass, FlowSpec, MAX_FLOWS, Start, Stream, fold_text};
use incast_world::{Executions, Hosted};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Placement {
    /// The host of each rank, of these.
    ///
    /// # Errors
    /// Too few hosts, or a file that is not of these ranks and hosts: what is wrong.
    pub fn place(&self, ranks: usize, hosts: Vec<u32>, seed: u64) -> Result<Vec<u32>, Problem> {
        if ranks > hosts.len() {
            let has = hosts.len();
            return Err(wrong(format!("the program has {ranks} ranks and there are {has} hosts"))
                .expected("a host per rank"));
        }
        let mut placed = match self {
            Placement::Packed => hosts,
            Placement::Strided(stride) => {
                let from = 0..(*stride).min(hosts.len());
                from.flat_map(|from| hosts[from..].iter().step_by(*stride).copied()).collect()
            }
            Placement::Random => {
                let mut hosts = hosts;
                Stream::new(fold_text(seed, "placement")).shuffle(&mut hosts);
                hosts
            }
            Placement::File(_, text) => listed(text, ranks, &hosts)?,
        };
        placed.truncate(ranks);
        Ok(placed)
    }
}

/// The hosts that a file lists, one for each rank.
fn listed(text: &str, ranks: usize, hosts: &[u32]) -> Result<Vec<u32>, Problem> {
    let mut placed: BTreeMap<u32, usize> = BTreeMap::new();
    let mut all = vec![];
    for (line, text) in (1..).zip(text.lines()) {
        let words = text.split('#').next().unwrap_or("").split([' ', '\t', ',', '\r']);
        for word in words.filter(|word| !word.is_empty()) {
            let host = word.parse().ok().filter(|host| hosts.contains(host));
            let Some(host) = host else {
                let which = match hosts {
                    [first, .., last] if (last - first) as usize + 1 == hosts.len() => {
                        format!("from {first} to {last}")
                    }
                    _ => "of `hosts`".into(),
                };
                return Err(
                    wrong(format!("line {line}: `{word}`")).expected(format!("a host {which}"))
                );
            };
            if let Some(other) = placed.insert(host, all.len()) {
                let rank = all.len();
                return Err(wrong(format!(
                    "line {line}: host {host} for rank {rank}, which rank {other} has"
                ))
                .expected("each host once"));
            }
            all.push(host);
        }
    }
    match all.len() == ranks {
        true => Ok(all),
        false => Err(wrong(format!("lists {} hosts", all.len()))
            .expected(format!("{ranks}, one for each rank"))),
    }
}

/// Refuses programs that share a host.
pub fn check_hosts(jobs: &[Job]) -> Result<(), Fault> {
    let mut of: BTreeMap<u32, &Job> = BTreeMap::new();
    for job in jobs {
        for (host, rank) in job.hosts.iter().zip(0..) {
            let Some(other) = of.insert(*host, job) else { continue };
            let problem = wrong(format!(
                "rank {rank} is at host {host}, where a rank of traffic.{} is",
                other.entry
            ))
            .expected("hosts of its own");
            return Err(Fault::at(format!("traffic.{}.hosts", job.entry), problem));
        }
    }
    Ok(())
}

/// The flows of a program's messages, in its order.
///
/// # Errors
/// None, more than a run can have, or one that is too large.
pub fn flows(program: &Program, hosts: &[u32]) -> Result<Vec<FlowSpec>, Fault> {
    let count = program.messages().count() as u64;
    if count == 0 || count > MAX_FLOWS {
        let problem = wrong(format!("has {count} messages between ranks"))
            .expected(format!("1 to {MAX_FLOWS}"));
        return Err(Fault::new(problem).placed(program.file()));
    }
    let flow = |(rank, node, op): (u32, u32, Op)| {
        let Op::Send { to, bytes, .. } = op else { unreachable!("messages are sends") };
        if bytes >= Bytes::ENDLESS.0 {
            let problem =
                wrong(format!("sends {bytes} bytes")).expected("less than 1 TB in a message");
            return Err(program.wrong(rank, node, problem).into());
        }
        let (src, dst) = (hosts[rank as usize], hosts[to as usize]);
        Ok(FlowSpec::new(src, dst, bytes.max(1), Start::Told, FlowClass::Program))
    };
    program.messages().map(flow).collect()
}

/// The messages of a program, by its sends and by flows.
struct Messages {
    /// Rank, node and flow, in order.
    sends: Vec<(u32, u32, u32)>,
    /// Flow, rank and node, in order.
    flows: Vec<(u32, u32, u32)>,
}

impl Messages {
    fn of(program: &Program, flows: &[u32]) -> Messages {
        let all = program.messages().zip(flows);
        let sends: Vec<_> = all.map(|((rank, node, _), flow)| (rank, node, *flow)).collect();
        let mut flows: Vec<_> = sends.iter().map(|one| (one.2, one.0, one.1)).collect();
        flows.sort_unstable();
        Messages { sends, flows }
    }

    fn flow(&self, rank: u32, node: u32) -> FlowId {
        let place = self.sends.binary_search_by_key(&(rank, node), |one| (one.0, one.1));
        FlowId(self.sends[place.expect("a send has a flow")].2)
    }

    /// The rank and node that send a flow.
    fn send(&self, flow: FlowId) -> (u32, u32) {
        let place = self.flows.binary_search_by_key(&flow.0, |one| one.0);
        let (_, rank, node) = self.flows[place.expect("a flow has a send")];
        (rank, node)
    }
}

/// As many of what a rank waits for are kept.
const WAITS: usize = 8;

/// A rank in a world.
struct Rank {
    rank: u32,
    messages: Arc<Messages>,
    own: Execution,
    orders: Orders,
}

impl Rank {
    fn open(&mut self, open: &mut Vec<FlowId>) {
        let (rank, messages) = (self.rank, &self.messages);
        open.extend(self.orders.sends.drain(..).map(|node| messages.flow(rank, node)));
    }
}

impl incast_world::Execution for Rank {
    fn begin(&mut self, now: Time, open: &mut Vec<FlowId>) {
        self.own.begin(now, &mut self.orders);
        self.open(open);
    }

    fn received(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>) {
        let (source, node) = self.messages.send(flow);
        self.own.received(now, source, node, &mut self.orders);
        self.open(open);
    }

    fn acknowledged(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>) {
        let (_, node) = self.messages.send(flow);
        self.own.acknowledged(now, node, &mut self.orders);
        self.open(open);
    }

    fn wake(&mut self, now: Time, open: &mut Vec<FlowId>) {
        self.own.wake(now, &mut self.orders);
        self.open(open);
    }

    fn deadline(&self) -> Time {
        self.own.deadline().unwrap_or(Time::NEVER)
    }

    fn is_over(&self) -> bool {
        self.own.times().ended.is_some()
    }

    fn record(&self) -> ExecutionRecord {
        let times = self.own.times();
        ExecutionRecord {
            begun: times.begun,
            ended: times.ended,
            computing: times.computing,
            left: self.own.left() as u64,
            waits: self.own.blocked().iter().take(WAITS).map(ToString::to_string).collect(),
            busy: self.own.deadline().is_some() || times.begun.is_none(),
        }
    }
}

/// The ranks of a plan's programs, as a world has them.
pub fn executions(plan: &Plan) -> Executions {
    if plan.jobs.is_empty() {
        return Executions::default();
    }
    let mut all = vec![];
    let mut ends = vec![[Executions::NONE; 2]; plan.traffic.flows.len()];
    for (job, flows) in plan.jobs.iter().zip(&plan.traffic.programs) {
        let first = all.len() as u32;
        let messages = Arc::new(Messages::of(&job.program, flows));
        for ((rank, _, op), flow) in job.program.messages().zip(flows) {
            let Op::Send { to, .. } = op else { unreachable!("messages are sends") };
            ends[*flow as usize] = [first + rank, first + to];
        }
        for (server, rank) in job.hosts.iter().zip(0u32..) {
            let own = Execution::new(job.program.clone(), rank, job.issue);
            let rank = Rank { rank, messages: messages.clone(), own, orders: Orders::default() };
            let host = plan.fabric.nics_of(*server).start;
            all.push(Hosted { host, at: job.at, execution: Box::new(rank) });
        }
    }
    Executions { all, ends }
}

/// What results say of programs and their ranks.
pub fn metas(plan: &Plan) -> (Vec<ProgramMeta>, Vec<RankMeta>) {
    let (mut programs, mut ranks) = (vec![], vec![]);
    for (job, number) in plan.jobs.iter().zip(0u32..) {
        programs.push(ProgramMeta { file: job.program.file().into(), at: job.at });
        for ((rank, own), host) in (0u32..).zip(job.program.ranks()).zip(&job.hosts) {
            let sizes = own.nodes().iter().filter_map(|node| match node.op {
                Op::Send { to, bytes, .. } if to != rank => Some(bytes),
                _ => None,
            });
            ranks.push(RankMeta {
                program: number,
                rank,
                host: *host,
                steps: own.nodes().len() as u64,
                messages: sizes.clone().count() as u64,
                bytes: sizes.sum(),
            });
        }
    }
    (programs, ranks)
}
