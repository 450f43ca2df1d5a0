//! Traffic of jobs: collectives and programs.

use super::{Context, Flows, graph};
use crate::Fault;
use crate::fault::{expected, wrong};
use crate::inputs::Inputs;
use crate::placement::Placed;
use crate::plan::{Job, JobCollective};
use crate::programs;
use crate::scenario::{self, Collective, Connections, Hosts, Issue, Placement, Program};
use incast_program::Local;
use incast_transport::{Rate, Span, Time};
use incast_workload::{Algorithm, CollectiveKind, MAX_FLOWS, Traffic};
use std::sync::Arc;

impl Context<'_> {
    pub(super) fn collective(
        &self,
        own: &Collective,
        inputs: &mut Inputs,
    ) -> Result<Traffic, Fault> {
        let straggler = self.straggler(own.straggler, own.extra)?;
        let ranks = match &own.ranks {
            Some(ranks) => self.hosts("ranks", ranks)?,
            None => (0..self.shape.hosts).collect(),
        };
        let shares = match (&own.shares, &own.shares_file) {
            (shares, None) => shares.clone().map(|row| vec![row]),
            (None, Some(file)) => Some(self.matrix("shares_file", file, ranks.len(), inputs)?),
            (Some(_), Some(file)) => {
                let problem = expected("either `shares` or `shares_file`");
                return Err(Fault::value(self.key("shares_file"), file, problem));
            }
        };
        let spec = incast_workload::Collective {
            kind: own.collective,
            algorithm: own.algorithm.unwrap_or(own.collective.algorithms()[0]),
            ranks,
            size: own.size.0,
            group: own.group,
            root: own.root,
            shares,
            channels: own.channels,
            chunks: own.chunks,
            in_turn: own.issue == Issue::Serial,
            iterations: own.iterations,
            compute: own.compute,
            straggler,
            at: Time(own.at.0),
        };
        incast_workload::collective(self.shape, &spec)
    }

    /// The messages of a program, each rank at a host.
    pub(super) fn program(&self, own: &Program, inputs: &mut Inputs) -> Result<Flows, Fault> {
        let located = |fault: Fault| fault.in_file(self.key("file"), &own.file);
        let program = inputs.read_program(&own.file).map_err(located)?;
        let notices = program.notices();
        let place =
            Place { hosts: &own.hosts, placement: &own.placement, file: &own.placement_file };
        let hosts = self.placed(Some(program.ranks().len()), &place, inputs)?;
        let job = Job {
            name: String::new(),
            collective: None,
            local: NO_SERVER,
            compute: Span::ZERO,
            program: Arc::new(program),
            hosts,
            at: Time(own.at.0),
            issue: issue(own.issue),
        };
        let flows = self.of_program(job, false).map_err(located)?;
        Ok(Flows { traffic: flows.traffic.with_warnings(notices), ..flows })
    }

    /// The hosts of so many ranks.
    fn placed(
        &self,
        ranks: Option<usize>,
        place: &Place,
        inputs: &mut Inputs,
    ) -> Result<Vec<u32>, Fault> {
        let hosts = match place.hosts {
            Some(hosts) => self.hosts("hosts", hosts)?,
            None => (0..self.shape.hosts).collect(),
        };
        let placement = match place.file {
            None => Placement::of(place.placement).expect("checked when it was read"),
            Some(file) if place.placement != "packed" => {
                let problem =
                    expected(format!("either `placement` or `placement_file` (`{file}`)"));
                return Err(Fault::value(self.key("placement"), place.placement, problem));
            }
            Some(file) => {
                let text = inputs.read(file, "placement");
                Placement::File(
                    file.clone(),
                    text.map_err(|f| f.in_file(self.key("placement_file"), file))?,
                )
            }
        };
        let placed = placement.place(ranks, hosts, &self.shape.rack_of, self.seed());
        placed.map_err(|problem| match &placement {
            Placement::File(file, _) => Fault::value(self.key("placement_file"), file, problem),
            _ => Fault::at(self.key("hosts"), problem),
        })
    }

    /// The flows of a program that runs.
    fn of_program(&self, job: Job, share: bool) -> Result<Flows, Fault> {
        let flows = programs::flows(&job.program, &job.hosts)?;
        let mut traffic = Traffic::from_flows(flows, vec![]);
        traffic.programs = vec![(0..traffic.flows.len() as u32).collect()];
        let placed = Placed { entry: self.entry(), hosts: job.hosts.clone(), share };
        Ok(Flows { traffic, failures: vec![], job: Some(job), placed: Some(placed) })
    }

    /// The flows of a job.
    pub(super) fn job(&self, own: &scenario::Job, inputs: &mut Inputs) -> Result<Flows, Fault> {
        self.check_job(own)?;
        let mut notices = vec![];
        let (program, collective) = match (&own.program, own.collective) {
            (Some(file), None) => {
                let located = |fault: Fault| fault.in_file(self.key("program"), file);
                let program = inputs.read_program(file).map_err(located)?;
                notices = program.notices();
                (program, None)
            }
            (None, Some(kind)) if own.server == 1 => {
                return self.job_of_flows(own, kind, inputs);
            }
            (None, Some(kind)) => self.job_of_servers(own, kind, inputs)?,
            (Some(_), Some(kind)) => {
                let problem = expected("either `program` or `collective`");
                return Err(Fault::value(self.key("collective"), kind.name(), problem));
            }
            (None, None) => {
                let problem = wrong("nothing to do").expected("`program` or `collective`");
                return Err(Fault::at(self.entry(), problem));
            }
        };
        let ranks = program.ranks().len();
        let hosts = self.placed(Some(ranks), &Place::of(own), inputs)?;
        let straggler = self.straggler(own.straggler, own.extra)?;
        if let Some((rank, _)) = straggler.filter(|one| one.0 as usize >= ranks) {
            let accepted = format!("a rank from 0 to {}", ranks - 1);
            return Err(Fault::value(self.key("straggler"), rank, expected(accepted)));
        }
        let compute = own.compute.0 as f64 * own.compute_scale;
        let compute: Vec<u64> = (0..ranks as u32)
            .map(|rank| {
                let extra = straggler.filter(|one| one.0 == rank).map_or(0, |one| one.1.0);
                ((compute + extra as f64) / 1e3).round() as u64
            })
            .collect();
        let messages = program.messages().count() as u64;
        let most = MAX_FLOWS / messages.max(1);
        if u64::from(own.iterations) > most.max(1) {
            let problem = expected(format!("1 to {most}: {messages} messages each"));
            return Err(Fault::value(self.key("iterations"), own.iterations, problem));
        }
        let longest = Span(compute.iter().max().copied().unwrap_or(0).saturating_mul(1_000));
        let program = program.scaled(own.compute_scale).repeated(own.iterations, &compute);
        let local =
            Local { rate: own.local_rate.unwrap_or(NO_SERVER.rate), latency: own.local_latency };
        let job = Job {
            name: self.job_name(own),
            collective,
            local,
            compute: longest,
            program: Arc::new(program.on_servers(own.server)),
            hosts,
            at: Time(own.at.0),
            // Of a collective it is in what messages wait for.
            issue: own.issue.filter(|_| collective.is_none()).map_or(Default::default(), issue),
        };
        let flows = self.of_program(job, own.share)?;
        Ok(Flows { traffic: flows.traffic.with_warnings(notices), ..flows })
    }

    /// Refuses keys that do not fit each other.
    fn check_job(&self, own: &scenario::Job) -> Result<(), Fault> {
        if let (Some(_), Some(key)) = (&own.program, own.key_of_collective()) {
            let problem =
                wrong("a key of a job with `collective`").expected("no such key beside `program`");
            return Err(Fault::at(self.key(key), problem));
        }
        if own.server > 1 && own.collective.is_some() && own.connection == Connections::PairChannel
        {
            let problem = wrong("channels of a job with `server` share their connections");
            let problem = problem.expected("`message` or `pair`");
            return Err(Fault::value(self.key("connection"), own.connection.name(), problem));
        }
        match (own.server, own.local_rate) {
            (2.., None) => {
                let problem = wrong("needs `local_rate`")
                    .expected("the rate within a server, such as `3600Gbps`");
                Err(Fault::value(self.key("server"), own.server, problem))
            }
            (1, Some(rate)) => {
                let problem = expected("`server`, the ranks of one, or no such key");
                Err(Fault::value(self.key("local_rate"), rate, problem))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn job_name(&self, own: &scenario::Job) -> String {
        match own.name.as_str() {
            "" => format!("job{}", self.index),
            name => name.to_string(),
        }
    }

    /// What a collective of a job is, at these hosts.
    fn spec(
        &self,
        own: &scenario::Job,
        kind: CollectiveKind,
        ranks: Vec<u32>,
    ) -> Result<incast_workload::Collective, Fault> {
        let Some(size) = own.size else {
            let problem = wrong("a collective needs `size`").expected("bytes such as `16MB`");
            return Err(Fault::at(self.entry(), problem));
        };
        let algorithm = own.algorithm.unwrap_or(kind.algorithms()[0]);
        let of_server =
            (algorithm == Algorithm::Hierarchical && own.server > 1).then_some(own.server);
        Ok(incast_workload::Collective {
            kind,
            algorithm,
            ranks,
            size: size.0,
            group: own.group.or(of_server),
            root: own.root,
            shares: own.shares.clone().map(|row| vec![row]),
            channels: own.channels,
            chunks: own.chunks,
            in_turn: own.issue.unwrap_or(if own.server > 1 { Issue::Free } else { Issue::Serial })
                == Issue::Serial,
            iterations: 1,
            compute: Span::ZERO,
            straggler: None,
            at: Time::ZERO,
        })
    }

    /// A job whose messages all take the network: flows that wait for flows.
    fn job_of_flows(
        &self,
        own: &scenario::Job,
        kind: CollectiveKind,
        inputs: &mut Inputs,
    ) -> Result<Flows, Fault> {
        let hosts = self.placed(own.ranks.map(|n| n as usize), &Place::of(own), inputs)?;
        let spec = incast_workload::Collective {
            iterations: own.iterations,
            compute: Span((own.compute.0 as f64 * own.compute_scale).round() as u64),
            straggler: self.straggler(own.straggler, own.extra)?,
            at: Time(own.at.0),
            ..self.spec(own, kind, hosts.clone())?
        };
        let traffic = incast_workload::collective(self.shape, &spec)?;
        let placed = Placed { entry: self.entry(), hosts, share: own.share };
        Ok(Flows { traffic, failures: vec![], job: None, placed: Some(placed) })
    }

    /// A job with messages that do not take the network: a program that does what the flows of an iteration do.
    fn job_of_servers(
        &self,
        own: &scenario::Job,
        kind: CollectiveKind,
        inputs: &mut Inputs,
    ) -> Result<(incast_program::Program, Option<JobCollective>), Fault> {
        let hosts = self.placed(own.ranks.map(|n| n as usize), &Place::of(own), inputs)?;
        let spec = self.spec(own, kind, hosts)?;
        let traffic = incast_workload::collective(self.shape, &spec)?;
        let name = format!("{} ({})", kind.name(), spec.algorithm.name());
        let program = graph::program(&name, &traffic, &traffic.collectives[0])?;
        let collective = JobCollective { kind, algorithm: spec.algorithm, bytes: spec.size };
        Ok((program, Some(collective)))
    }

    fn straggler(
        &self,
        rank: Option<u32>,
        extra: Option<Span>,
    ) -> Result<Option<(u32, Span)>, Fault> {
        match (rank, extra) {
            (Some(rank), Some(extra)) => Ok(Some((rank, extra))),
            (None, None) => Ok(None),
            (given, _) => {
                let (has, lacks) = match given {
                    Some(_) => ("straggler", "extra"),
                    None => ("extra", "straggler"),
                };
                let problem =
                    format!("needs `{lacks}`: which rank computes longer, and by how much");
                Err(Fault::at(self.key(has), problem))
            }
        }
    }
}

fn issue(own: Issue) -> incast_program::Issue {
    match own {
        Issue::Free => incast_program::Issue::Free,
        Issue::Serial => incast_program::Issue::Serial,
    }
}

/// Of ranks that are servers of their own: nothing travels within one.
const NO_SERVER: Local = Local { rate: Rate(1), latency: Span::ZERO };

/// How an entry says where its ranks are.
struct Place<'a> {
    hosts: &'a Option<Hosts>,
    placement: &'a str,
    file: &'a Option<String>,
}

impl Place<'_> {
    fn of(own: &scenario::Job) -> Place<'_> {
        Place { hosts: &own.hosts, placement: &own.placement, file: &own.placement_file }
    }
}
