//! Traffic of jobs: collectives and programs.

use super::{Context, Flows};
use crate::Fault;
use crate::fault::expected;
use crate::inputs::Inputs;
use crate::plan::Job;
use crate::programs;
use crate::scenario::Placement;
use crate::scenario::{Collective, Issue, Program};
use incast_transport::Time;
use incast_workload::Traffic;
use std::sync::Arc;

impl Context<'_> {
    pub(super) fn collective(
        &self,
        own: &Collective,
        inputs: &mut Inputs,
    ) -> Result<Traffic, Fault> {
        let straggler = match (own.straggler, own.extra) {
            (Some(rank), Some(extra)) => Some((rank, extra)),
            (None, None) => None,
            (given, _) => {
                let (has, lacks) = match given {
                    Some(_) => ("straggler", "extra"),
                    None => ("extra", "straggler"),
                };
                let problem =
                    format!("needs `{lacks}`: which rank computes longer, and by how much");
                return Err(Fault::at(self.key(has), problem));
            }
        };
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
        let hosts = match &own.hosts {
            Some(hosts) => self.hosts("hosts", hosts)?,
            None => (0..self.shape.hosts).collect(),
        };
        let placement = match &own.placement_file {
            None => Placement::of(&own.placement).expect("checked when it was read"),
            Some(file) if own.placement != "packed" => {
                let problem =
                    expected(format!("either `placement` or `placement_file` (`{file}`)"));
                return Err(Fault::value(self.key("placement"), &own.placement, problem));
            }
            Some(file) => {
                let text = inputs.read(file, "placement");
                Placement::File(
                    file.clone(),
                    text.map_err(|f| f.in_file(self.key("placement_file"), file))?,
                )
            }
        };
        let ranks = program.ranks().len();
        let hosts =
            placement.place(ranks, hosts, self.seed()).map_err(|problem| match &placement {
                Placement::File(file, _) => Fault::value(self.key("placement_file"), file, problem),
                _ => Fault::at(self.key("hosts"), problem),
            })?;
        let flows = programs::flows(&program, &hosts).map_err(located)?;
        let mut traffic = Traffic::from_flows(flows, vec![]).with_warnings(program.notices());
        traffic.programs = vec![(0..traffic.flows.len() as u32).collect()];
        let job = Job {
            entry: self.index,
            program: Arc::new(program),
            hosts,
            at: Time(own.at.0),
            issue: match own.issue {
                Issue::Free => incast_program::Issue::Free,
                Issue::Serial => incast_program::Issue::Serial,
            },
        };
        Ok(Flows { traffic, failures: vec![], job: Some(job) })
    }
}
