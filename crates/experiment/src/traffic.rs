//! The flows of a scenario.

use crate::fault::{Problem, expected, wrong};
use crate::framing::{check_table, wire_cost};
use crate::inputs::Inputs;
use crate::placement::Placed;
use crate::plan::Job;
use crate::scenario::{
    AllToAll, Burst, ClosedLoop, FlowFile, Incast, Long, ManyToMany, Poisson, Requests, Scenario,
    Traffic as Entry,
};
use crate::{Fault, nics};
use incast_fabric::{Fabric, Imported};
use incast_transport::{Bytes, Framing, Notice, Rate, Span, Time};
use incast_workload::{
    Extent, Failure, HostIds, Incasts, LongFlow, Origin, Recurrence, RequestResponse, Senders,
    Shape, SizeTable, SizeUnit, Traffic, incasts, packet_table, table,
};

mod all;
mod graph;
mod jobs;

pub use all::{AllFlows, flows};

/// Properties of a fabric that workloads depend on. Traffic is between servers; one with several NICs is in
/// the rack of the first and sends as fast as all.
pub fn shape(fabric: &Fabric) -> Shape {
    let servers = 0..fabric.servers();
    let place = |server: u32| fabric.rack_of(fabric.nics_of(server).start);
    let mut racks: Vec<_> = servers.clone().map(place).collect();
    racks.sort_unstable();
    racks.dedup();
    let rack =
        |server| racks.binary_search(&place(server)).expect("the list has every rack") as u32;
    let rate = |server| {
        let nics = fabric.nics_of(server).map(|nic| fabric.host_rate(nic).0);
        Rate(nics.fold(0, u64::saturating_add))
    };
    let uplinks = fabric.uplinks().filter(|uplinks| uplinks.oversubscribed);
    Shape {
        hosts: fabric.servers(),
        rack_of: servers.clone().map(rack).collect(),
        host_rate: servers.map(rate).collect(),
        uplink_total: uplinks.map(|uplinks| uplinks.capacity),
    }
}

/// Context of an entry that its flows depend on.
struct Context<'a> {
    scenario: &'a Scenario,
    framing: &'a Framing,
    /// Of which it is entry `index`: `traffic` or `job`.
    section: &'static str,
    index: usize,
    shape: &'a Shape,
    fabric: &'a Fabric,
}

/// Places of jobs among the seeds of entries.
const JOBS: u64 = 1 << 20;

/// How a run's results begin.
const RESULTS: &str = "flow_id,";

impl Context<'_> {
    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.entry())
    }

    fn entry(&self) -> String {
        format!("{}.{}", self.section, self.index)
    }

    fn hosts(&self, key: &str, listed: &crate::scenario::Hosts) -> Result<Vec<u32>, Fault> {
        listed.below(self.shape.hosts, &self.key(key))
    }

    fn receiver(&self, receiver: u32) -> Result<u32, Fault> {
        if receiver < self.shape.hosts {
            return Ok(receiver);
        }
        let last = self.shape.hosts - 1;
        let problem = format!("the fabric has hosts 0 to {last}");
        Err(Fault::value(self.key("receiver"), receiver, problem))
    }

    fn seed(&self) -> u64 {
        let section = if self.section == "job" { JOBS } else { 0 };
        self.scenario.run.seed.wrapping_add((self.index as u64 + section) * 0x9E37_79B9)
    }

    /// A size table by name, or from a file, whose sizes count `unit`; and what is to be said of it.
    fn sizes(
        &self,
        name: &str,
        unit: Option<SizeUnit>,
        inputs: &mut Inputs,
    ) -> Result<(SizeTable, Vec<Notice>), Fault> {
        let key = self.key("workload");
        match (table(name), unit) {
            (Ok(_), Some(SizeUnit::Packets)) => {
                let problem = expected(format!("bytes, which the sizes of {name} count"));
                return Err(Fault::value(self.key("size_unit"), "packets", problem));
            }
            (Ok(known), _) => return Ok((known.clone(), vec![])),
            (Err(unknown), _) if !inputs.has(name) && !name.contains(['/', '.']) => {
                return Err(unknown);
            }
            _ => {}
        }
        let text = inputs.read(name, "workload").map_err(|fault| fault.in_file(key, name))?;
        SizeTable::read(&text, name, unit)
    }

    /// A number for each pair of `count` hosts or ranks.
    fn matrix(
        &self,
        key: &str,
        file: &str,
        count: usize,
        inputs: &mut Inputs,
    ) -> Result<Vec<Vec<f64>>, Fault> {
        let located = |fault: Fault| fault.in_file(self.key(key), file);
        let text = inputs.read(file, "matrix").map_err(located)?;
        incast_workload::read_matrix(&text, file, count)
    }

    fn all_to_all(&self, own: &AllToAll, inputs: &mut Inputs) -> Result<Traffic, Fault> {
        let (hosts, size) = (self.shape.hosts, own.size.0);
        Ok(match &own.matrix {
            None => incast_workload::all_to_all(hosts, size)?,
            Some(file) => {
                let matrix = self.matrix("matrix", file, hosts as usize, inputs)?;
                incast_workload::uneven_all_to_all(hosts, size, &matrix)?
            }
        })
    }

    fn poisson(&self, own: &Poisson, inputs: &mut Inputs) -> Result<Traffic, Fault> {
        let wire = wire_cost(self.framing);
        let packets = match &own.packets {
            Some(name) => Some(packet_table(name)?.clone()),
            None => None,
        };
        if let Some(table) = &packets {
            check_table(self.framing, &self.key("packets"), table)?;
        }
        let (shape, seed) = (self.shape, self.seed());
        let (sizes, notices) = self.sizes(&own.workload, own.size_unit, inputs)?;
        let (packets, load) = (packets.as_ref(), own.load);
        let flows = incast_workload::poisson(shape, &sizes, load, own.flows, seed, packets, wire)?;
        Ok(flows.with_warnings(notices))
    }

    fn closed_loop(&self, own: &ClosedLoop, inputs: &mut Inputs) -> Result<Traffic, Fault> {
        let (sizes, notices) = self.sizes(&own.workload, own.size_unit, inputs)?;
        let spec = incast_workload::ClosedLoop {
            sizes: &sizes,
            active: own.active,
            flows: own.flows,
            at: Time(own.at.0),
            pause: own.pause,
            seed: self.seed(),
        };
        Ok(incast_workload::closed_loop(self.shape, &spec)?.with_warnings(notices))
    }

    fn incast(&self, own: &Incast) -> Result<Traffic, Fault> {
        let receivers = match (own.receiver, &own.receivers) {
            (Some(receiver), None) => vec![self.receiver(receiver)?],
            (None, Some(listed)) => self.hosts("receivers", listed)?,
            (None, None) => (0..self.shape.hosts).collect(),
            (Some(_), Some(listed)) => {
                let problem = expected("either `receiver` or `receivers`");
                return Err(Fault::value(self.key("receivers"), listed, problem));
            }
        };
        let senders = match (&own.from, own.senders) {
            (Some(from), None) => Senders::Listed(self.hosts("from", from)?),
            (None, Some(count)) => Senders::Random(count),
            (None, None) => Senders::Others,
            (Some(_), Some(count)) => {
                let problem = expected("either `from` or `senders`");
                return Err(Fault::value(self.key("senders"), count, problem));
            }
        };
        let (recurrence, extent) = self.recurrence(own)?;
        let spec = Incasts {
            receivers,
            senders,
            fan_in: own.fan_in,
            size: own.size.0,
            request: own.request.map(|request| request.0),
            at: Time(own.at.0),
            recurrence,
            extent,
            seed: self.seed(),
            wire: wire_cost(self.framing),
        };
        incasts(self.shape, &spec)
    }

    /// When the incasts of an entry begin, and how many there are.
    fn recurrence(&self, own: &Incast) -> Result<(Recurrence, Extent), Fault> {
        let extent = match (own.count, own.lasts) {
            (count, None) => Extent::Count(count.unwrap_or(1)),
            (None, Some(lasts)) => Extent::Lasts(lasts),
            (Some(count), Some(_)) => {
                let problem = expected("either `count` or `lasts`");
                return Err(Fault::value(self.key("count"), count, problem));
            }
        };
        let given = [
            ("period", own.period.map(Recurrence::Period)),
            ("rate", own.rate.map(Recurrence::Rate)),
            ("load", own.load.map(Recurrence::Load)),
        ];
        let given: Vec<_> = given.iter().filter_map(|(key, own)| Some((*key, (*own)?))).collect();
        let counted = own.count.is_some() || own.lasts.is_some();
        let fail = |key: &str, problem: Problem| Err(Fault::at(self.key(key), problem));
        match given.as_slice() {
            [] if extent == Extent::Count(1) => Ok((Recurrence::Period(Span::ZERO), extent)),
            [] => {
                let key = if own.lasts.is_some() { "lasts" } else { "count" };
                fail(key, wrong("needs one of `period`, `rate` and `load`: when incasts begin"))
            }
            [(key, _)] if !counted => {
                fail(key, wrong("needs `count` or `lasts`: how many incasts there are"))
            }
            [(_, recurrence)] => Ok((*recurrence, extent)),
            [.., (key, _)] => fail(key, expected("one of `period`, `rate` and `load`")),
        }
    }

    fn requests(&self, own: &Requests) -> Result<Traffic, Fault> {
        let wanted = RequestResponse {
            clients: self.hosts("to", &own.to)?,
            servers: self.hosts("from", &own.from)?,
            total_bytes: own.size.0,
            request_bytes: own.request.0,
            rounds: own.count,
            at: Time(own.at.0),
            pause: own.period,
        };
        incast_workload::requests(self.shape, &wanted)
    }

    fn many_to_many(&self, own: &ManyToMany) -> Result<Traffic, Fault> {
        let many = incast_workload::ManyToMany {
            senders: self.hosts("from", &own.from)?,
            receivers: [self.hosts("to", &own.to)?, self.hosts("to_second", &own.to_second)?],
            size: own.size.0,
            at: Time(own.at.0),
            responsive_ratio: own.responsive,
            seed: self.seed(),
        };
        incast_workload::many_to_many(self.shape, &many)
    }

    fn long(&self, own: &Long) -> Result<Traffic, Fault> {
        let (from, to) = (self.hosts("from", &own.from)?, self.hosts("to", &own.to)?);
        if from.len() != to.len() {
            let (from, to) = (from.len(), to.len());
            return Err(Fault::at(
                format!("traffic.{}", self.index),
                format!(
                    "`from` names {from} hosts and `to` names {to}; flow i goes from the i-th to \
                     the i-th"
                ),
            ));
        }
        let (size, at) = (own.size.unwrap_or(Bytes::ENDLESS).0, Time(own.at.0));
        let stop = own.until.map(|until| Time(until.0));
        if let (Some(until), Some(_)) = (own.until, own.size) {
            let problem =
                wrong("a flow with a `size` ends when it is complete").expected("one of both");
            return Err(Fault::value(self.key("until"), until, problem));
        }
        if let Some(until) = own.until.filter(|until| until.0 <= at.0.saturating_add(own.jitter.0))
        {
            let problem = wrong("the flows would not have started")
                .expected("more than `at` and `jitter` together");
            return Err(Fault::value(self.key("until"), until, problem));
        }
        let flow = |(src, dst): (&u32, &u32)| LongFlow { src: *src, dst: *dst, size, at, stop };
        let list: Vec<LongFlow> = from.iter().zip(&to).map(flow).collect();
        incast_workload::long_flows(self.shape, &list)
    }

    /// The size of a burst: given, or what a host sends in the time `lasts`.
    fn burst_size(&self, own: &Burst) -> Result<Bytes, Fault> {
        match (own.size, own.lasts) {
            (Some(size), None) => Ok(size),
            (None, Some(lasts)) => {
                let rate = self.shape.host_rate.first().copied().unwrap_or(Rate(0));
                // Payload of full packets at line rate.
                let (mss, charged) = (self.framing.mss() as u64, self.framing.charged_mtu() as u64);
                Ok(Bytes(rate.bytes_in(lasts).0 * mss / charged))
            }
            _ => {
                let problem = "kind `burst` needs one of the keys `size` and `lasts`";
                Err(Fault::at(format!("traffic.{}", self.index), problem))
            }
        }
    }

    fn burst(&self, own: &Burst) -> Result<Traffic, Fault> {
        let burst = incast_workload::Burst {
            senders: self.hosts("from", &own.from)?,
            receiver: self.receiver(own.receiver)?,
            size: self.burst_size(own)?.0,
            at: Time(own.at.0),
            count: own.count,
            period: own.period,
        };
        incast_workload::bursts(self.shape, &burst)
    }

    fn file(
        &self,
        FlowFile { file, start_unit, .. }: &FlowFile,
        imported: Option<&Imported>,
        inputs: &mut Inputs,
    ) -> Result<Flows, Fault> {
        let located = |fault: Fault| fault.in_file(self.key("file"), file);
        let text = inputs.read(file, "flows").map_err(located)?;
        let results = text.trim_start().starts_with(RESULTS);
        let ids = match imported {
            // A run's results name hosts by their numbers here, which are NICs of servers.
            _ if results => HostIds::same(self.fabric.hosts()),
            Some(imported) => {
                let ids: Vec<u64> = imported.host_ids().iter().map(|id| *id as u64).collect();
                HostIds::listed(&ids)
            }
            None => HostIds::same(self.shape.hosts),
        };
        let read = incast_workload::read_flows(&text, file, &ids, *start_unit)?;
        let failures = read.failures.into_iter().map(|failure| (file.clone(), failure)).collect();
        let mut traffic = read.traffic;
        traffic.flows.iter_mut().for_each(|flow| flow.origin = Origin::File);
        if results && self.fabric.has_servers() {
            traffic.flows.iter_mut().for_each(|flow| nics::keep(flow, self.fabric));
        }
        Ok(Flows { traffic, failures, job: None, placed: None })
    }

    /// The flows of an entry.
    fn read(
        &self,
        entry: &Entry,
        imported: Option<&Imported>,
        inputs: &mut Inputs,
    ) -> Result<Flows, Fault> {
        let hosts = self.shape.hosts;
        let traffic = match entry {
            Entry::Poisson(own) => self.poisson(own, inputs)?,
            Entry::ClosedLoop(own) => self.closed_loop(own, inputs)?,
            Entry::Permutation(own) => {
                incast_workload::permutation(hosts, own.size.0, self.seed())?
            }
            Entry::AllToAll(own) => self.all_to_all(own, inputs)?,
            Entry::Incast(own) => self.incast(own)?,
            Entry::Requests(own) => self.requests(own)?,
            Entry::ManyToMany(own) => self.many_to_many(own)?,
            Entry::Long(own) => self.long(own)?,
            Entry::Burst(own) => self.burst(own)?,
            Entry::Collective(own) => self.collective(own, inputs)?,
            Entry::Program(own) => return self.program(own, inputs),
            Entry::FlowFile(own) => return self.file(own, imported, inputs),
        };
        Ok(Flows { traffic, failures: vec![], job: None, placed: None })
    }

    /// The same of a job.
    fn placed_in_job(&self, fault: Fault) -> Fault {
        let unplaced = fault.key().filter(|key| fault.file().is_empty() && !key.contains('.'));
        match unplaced.map(|key| self.key(key)) {
            Some(key) => fault.called(key),
            None => fault,
        }
    }

    /// The fault with entry and key as the scenario writes them: those of the workload crate lack the
    /// entry, and call keys by names of their own. What is wrong in a file stays there.
    fn place(&self, entry: &Entry, fault: Fault) -> Fault {
        let unplaced = fault.key().filter(|key| fault.file().is_empty() && !key.contains('.'));
        let Some(key) = unplaced else { return fault };
        let chosen = matches!(entry, Entry::Incast(own) if own.from.is_none());
        let key = match key {
            "src" | "servers" => "from",
            "senders" if !chosen => "from",
            "dst" if matches!(entry, Entry::Incast(_) | Entry::Burst(_)) => "receiver",
            "receivers" if matches!(entry, Entry::Incast(_)) => "receivers",
            "dst" | "clients" | "receivers" => "to",
            "total_bytes" => "size",
            "request_bytes" => "request",
            "rounds" => "count",
            "responsive_ratio" => "responsive",
            "pkt_cdf" => "packets",
            "racks" | "hosts" => {
                let fabric = &self.scenario.fabric;
                let of_fabric = if fabric.topology.is_some() { "topology" } else { "file" };
                let problem = wrong(format!(
                    "{key} = `{}`, but traffic.{} is of kind `{}`",
                    fault.written().unwrap_or_default(),
                    self.index,
                    entry.kind(),
                ));
                let accepted = fault.accepted().unwrap_or_default();
                return Fault::at(format!("fabric.{of_fabric}"), problem.expected(accepted));
            }
            own => own,
        };
        let key = self.key(key);
        fault.called(key)
    }
}

/// The flows of an entry, and what else its file gives.
struct Flows {
    traffic: Traffic,
    /// Links that fail at the start, with the file that lists them.
    failures: Vec<(String, Failure)>,
    /// Of a program.
    job: Option<Job>,
    /// The hosts of ranks, of a program or a job.
    placed: Option<Placed>,
}
