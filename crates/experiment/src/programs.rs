//! Programs in a run: the host of each rank, the flows of its messages, and how it went.

use crate::Fault;
use crate::fault::wrong;
use crate::plan::{Job, JobCollective, Plan};
use incast_measure::{Collective, ProgramMeta, RankMeta, StepMeta};
use incast_program::{ANY, Execution, Group, Op, Program, Server, Step, compute_alone};
use incast_transport::{Bytes, ExecutionRecord, FlowId, RunRecord, Span, StepRecord, Time};
use incast_workload::{FlowClass, FlowSpec, Lane, MAX_FLOWS, Start};
use incast_world::{Executions, Hosted};
use std::sync::Arc;

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
        let channel = u32::from(program.ranks()[rank as usize].nodes()[node as usize].nic);
        let flow = FlowSpec::new(src, dst, bytes.max(1), Start::Told, FlowClass::Program);
        Ok(FlowSpec { connection: Some(Lane { entry: 0, channel }), ..flow })
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

/// A server's ranks in a world; most often one.
struct Ranks {
    messages: Arc<Messages>,
    own: Server,
    sends: Vec<(u32, u32)>,
}

impl Ranks {
    fn open(&mut self, open: &mut Vec<FlowId>) {
        let messages = &self.messages;
        open.extend(self.sends.drain(..).map(|(rank, node)| messages.flow(rank, node)));
    }
}

impl incast_world::Execution for Ranks {
    fn begin(&mut self, now: Time, open: &mut Vec<FlowId>) {
        self.own.begin(now, &mut self.sends);
        self.open(open);
    }

    fn received(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>) {
        let (source, node) = self.messages.send(flow);
        self.own.received(now, source, node, &mut self.sends);
        self.open(open);
    }

    fn acknowledged(&mut self, now: Time, flow: FlowId, open: &mut Vec<FlowId>) {
        let (rank, node) = self.messages.send(flow);
        self.own.acknowledged(now, rank, node, &mut self.sends);
        self.open(open);
    }

    fn wake(&mut self, now: Time, open: &mut Vec<FlowId>) {
        self.own.wake(now, &mut self.sends);
        self.open(open);
    }

    fn deadline(&self) -> Time {
        self.own.deadline().unwrap_or(Time::NEVER)
    }

    fn is_over(&self) -> bool {
        self.own.is_over()
    }

    fn records(&self) -> Vec<ExecutionRecord> {
        let busy = self.own.deadline().is_some();
        self.own.ranks().map(|(_, rank)| record(rank, busy)).collect()
    }
}

/// What a rank has done; its server is `busy` if it will do something by itself.
fn record(rank: &Execution, busy: bool) -> ExecutionRecord {
    let times = rank.times();
    let known = |at: Time| Some(at).filter(|at| *at != Time::NEVER);
    let step = |step: &Step| StepRecord {
        begun: known(step.begun),
        ended: known(step.ended),
        after: step.after,
        message: step.message,
    };
    ExecutionRecord {
        begun: times.begun,
        ended: times.ended,
        computing: times.computing,
        left: rank.left() as u64,
        waits: rank.blocked().iter().take(WAITS).map(ToString::to_string).collect(),
        busy: busy || times.begun.is_none(),
        steps: rank.steps().iter().map(step).collect(),
    }
}

/// The ranks of a plan's programs, as a world has them: one execution for each server.
pub fn executions(plan: &Plan) -> Executions {
    if plan.jobs.is_empty() {
        return Executions::default();
    }
    let mut all = vec![];
    let mut ends = vec![[Executions::NONE; 2]; plan.traffic.flows.len()];
    for (job, flows) in plan.jobs.iter().zip(&plan.traffic.programs) {
        let first = all.len() as u32;
        let server = job.program.server();
        let messages = Arc::new(Messages::of(&job.program, flows));
        for ((rank, _, op), flow) in job.program.messages().zip(flows) {
            let Op::Send { to, .. } = op else { unreachable!("messages are sends") };
            ends[*flow as usize] = [first + rank / server, first + to / server];
        }
        for (hosts, number) in job.hosts.chunks(server as usize).zip(0u32..) {
            let own = Server::new(&job.program, number, job.issue, job.local);
            let ranks = Ranks { messages: messages.clone(), own, sends: vec![] };
            let host = plan.fabric.nics_of(hosts[0]).start;
            all.push(Hosted { host, at: job.at, execution: Box::new(ranks) });
        }
    }
    Executions { all, ends }
}

/// What results say of programs and their ranks.
pub fn metas(plan: &Plan) -> (Vec<ProgramMeta>, Vec<RankMeta>) {
    let (mut programs, mut ranks) = (vec![], vec![]);
    let jobs = plan.jobs.iter().zip(&plan.traffic.programs);
    for ((job, flows), number) in jobs.zip(0u32..) {
        let program = &job.program;
        let mut flows = flows.iter().copied();
        programs.push(ProgramMeta {
            file: program.file().into(),
            job: job.name.clone(),
            at: job.at,
            iterations: program.iterations(),
            alone: compute_alone(program),
            groups: match program.has_groups() {
                true => Group::ALL.map(Group::name).to_vec(),
                false => vec![],
            },
        });
        for ((rank, own), host) in (0u32..).zip(program.ranks()).zip(&job.hosts) {
            let sizes = |local: bool| {
                own.nodes().iter().filter_map(move |node| match node.op {
                    Op::Send { to, bytes, .. }
                        if to != rank && program.is_local(rank, to) == local =>
                    {
                        Some(bytes)
                    }
                    _ => None,
                })
            };
            ranks.push(RankMeta {
                program: number,
                rank,
                host: *host,
                steps: own.nodes().len() as u64,
                messages: sizes(false).count() as u64,
                bytes: sizes(false).sum(),
                local_bytes: sizes(true).sum(),
                what: own
                    .nodes()
                    .iter()
                    .zip(0u32..)
                    .map(|(node, place)| what(program, (rank, place), node.op, &mut flows))
                    .collect(),
            });
        }
    }
    (programs, ranks)
}

/// What a step of a rank is; its flow is the next one of these.
fn what(
    program: &Program,
    (rank, node): (u32, u32),
    op: Op,
    flows: &mut impl Iterator<Item = u32>,
) -> StepMeta {
    let known = |rank: u32| Some(rank).filter(|rank| *rank != ANY);
    let (kind, peer, bytes) = match op {
        Op::Send { to, bytes, .. } => ("send", Some(to), Some(bytes)),
        Op::Recv { from, bytes, .. } => ("recv", known(from), Some(bytes)),
        Op::Calc { .. } => ("calc", None, None),
    };
    let crosses = matches!(op, Op::Send { to, .. } if !program.is_local(rank, to));
    let flow = if crosses { flows.next() } else { None };
    StepMeta { kind, peer, bytes, flow, group: program.group_of(rank, node) }
}

/// The iterations of collectives whose ranks run programs.
pub fn collectives(plan: &Plan, record: &RunRecord) -> Vec<Collective> {
    let numbers = plan.collective_jobs.len() as u32..;
    let mut first = 0;
    let places = plan.jobs.iter().map(|job| {
        let ranks = &record.executions[first..first + job.hosts.len()];
        first += job.hosts.len();
        (job, ranks)
    });
    let jobs = places.filter_map(|(job, ranks)| Some((job, job.collective?, ranks)));
    jobs.zip(numbers)
        .flat_map(|((job, own, ranks), number)| iterations(job, own, ranks, number))
        .collect()
}

fn iterations(
    job: &Job,
    own: JobCollective,
    records: &[ExecutionRecord],
    number: u32,
) -> Vec<Collective> {
    let (program, count) = (&job.program, job.program.iterations());
    let ranks = job.hosts.len() as u32;
    let mut begin = Some(job.at);
    let each = |iteration: u32| {
        let (mut starts, mut ready, mut ends) = (vec![], vec![], vec![]);
        let mut messages = 0;
        for (rank, record) in program.ranks().iter().zip(records) {
            let each = rank.nodes().len() / count as usize;
            let first = each * iteration as usize;
            let steps = || rank.nodes()[first..].iter().zip(&record.steps[first..]).take(each);
            let mut last = Some(Time::ZERO);
            for (node, step) in steps() {
                match node.op {
                    Op::Send { .. } => {
                        messages += 1;
                        starts.extend(step.begun);
                    }
                    Op::Recv { .. } => last = last.zip(step.ended).map(|(last, own)| last.max(own)),
                    Op::Calc { .. } => {}
                }
            }
            ends.push(last);
            let computes = matches!(rank.nodes()[first].op, Op::Calc { .. });
            ready.push(if computes { record.steps[first].ended } else { begin });
        }
        let all: Option<Vec<Time>> = ends.iter().copied().collect();
        let end = all.as_ref().and_then(|all| all.iter().max().copied());
        let slowest = end.and_then(|end| ends.iter().position(|own| *own == Some(end)));
        // A root is sent nothing.
        let got = |all: &Vec<Time>| spread(all.iter().filter(|end| **end > Time::ZERO));
        let ready: Option<Vec<Time>> = ready.into_iter().collect();
        Collective {
            number,
            job: job.name.clone(),
            iteration,
            kind: own.kind.name(),
            algorithm: own.algorithm.name(),
            ranks,
            bytes: own.bytes,
            bus_factor: own.kind.bus_factor(ranks),
            messages,
            compute: job.compute,
            begin: std::mem::replace(&mut begin, end),
            start: starts.into_iter().min(),
            end,
            slowest_rank: slowest.map(|rank| rank as u32),
            skew_start: ready.as_ref().and_then(|all| spread(all.iter())),
            skew_end: all.as_ref().and_then(got),
            ideal: None,
            path: None,
        }
    };
    (0..count).map(each).collect()
}

/// From the first to the last of these.
fn spread<'a>(times: impl Iterator<Item = &'a Time> + Clone) -> Option<Span> {
    Some(times.clone().max()?.since(*times.min()?))
}
