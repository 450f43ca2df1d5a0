//! The flows of a scenario.

use crate::fault::text_of;
use crate::scenario::{Scenario, TrafficSection};
use crate::{Fault, nearest};
use incast_fabric::{Fabric, Imported};
use incast_transport::{Rate, Span, Time};
use incast_workload::{
    Burst, Failure, HostIds, LongFlow, ManyToMany, PacketTable, REQUEST_BYTES, RequestResponse,
    Shape, SizeTable, Traffic, WireCost, WorkloadError, packet_table, table,
};
use std::path::Path;

const KINDS: [&str; 9] = [
    "poisson",
    "permutation",
    "all_to_all",
    "incast",
    "requests",
    "many_to_many",
    "long",
    "burst",
    "file",
];

/// What workloads may know of a fabric.
pub fn shape(fabric: &Fabric) -> Shape {
    let mut racks: Vec<_> = (0..fabric.hosts()).map(|host| fabric.rack_of(host)).collect();
    racks.sort_unstable();
    racks.dedup();
    let rack =
        |host| racks.binary_search(&fabric.rack_of(host)).expect("the list has every rack") as u32;
    let uplinks = fabric.uplinks().filter(|uplinks| uplinks.oversubscribed);
    Shape {
        hosts: fabric.hosts(),
        rack_of: (0..fabric.hosts()).map(rack).collect(),
        host_rate: (0..fabric.hosts()).map(|host| fabric.host_rate(host)).collect(),
        uplink_total: uplinks.map(|uplinks| uplinks.capacity),
    }
}

/// A size table by name, or from a file.
fn sizes(name: &str) -> Result<SizeTable, Wrong> {
    if let Ok(known) = table(name) {
        return Ok(known.clone());
    }
    match Path::new(name).is_file() {
        true => Ok(SizeTable::parse(&text_of(Path::new(name))?, name)?),
        false => Err(table(name).expect_err("looked up above").into()),
    }
}

/// Hosts as a person lists them: `0-7,9`.
pub fn hosts(text: &str, most: u32, key: &str) -> Result<Vec<u32>, Fault> {
    let fail = || Fault(format!("{key} = `{text}`: expected hosts below {most}, such as `0-7,9`"));
    let mut all = vec![];
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: u32 = from.trim().parse().map_err(|_| fail())?;
        let to: u32 = to.trim().parse().map_err(|_| fail())?;
        if from > to || to >= most {
            return Err(fail());
        }
        all.extend(from..=to);
    }
    Ok(all)
}

/// What is wrong with an entry: said already, or in the words of the workload's crate, which
/// knows neither the entry nor its keys.
enum Wrong {
    Told(Fault),
    Unplaced(WorkloadError),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Wrong {
        Wrong::Told(fault)
    }
}

impl From<WorkloadError> for Wrong {
    fn from(error: WorkloadError) -> Wrong {
        Wrong::Unplaced(error)
    }
}

struct Reader<'a> {
    scenario: &'a Scenario,
    section: &'a TrafficSection,
    index: usize,
    shape: &'a Shape,
}

impl Reader<'_> {
    fn missing(&self, key: &str) -> Fault {
        let (index, kind) = (self.index, &self.section.kind);
        Fault(format!("traffic.{index}: kind `{kind}` needs the key `{key}`"))
    }

    fn at(&self) -> Time {
        Time(self.section.at.map_or(0, |at| at.0.0))
    }

    /// The flow size: given, or what a host sends in the time `lasts`.
    fn size(&self) -> Result<u64, Wrong> {
        if let Some(size) = self.section.size {
            return Ok(size.0.0);
        }
        let lasts = self.section.lasts.ok_or_else(|| self.missing("size"))?;
        let rate = self.shape.host_rate.first().copied().unwrap_or(Rate(0));
        // Payload of full packets at line rate.
        Ok(rate.bytes_in(lasts.0).0 * 1460 / 1538)
    }

    fn hosts(&self, key: &str, value: &Option<String>) -> Result<Vec<u32>, Wrong> {
        let text = value.as_ref().ok_or_else(|| self.missing(key))?;
        Ok(hosts(text, self.shape.hosts, &format!("traffic.{}.{key}", self.index))?)
    }

    fn receiver(&self) -> Result<u32, Wrong> {
        let receiver = self.section.receiver.ok_or_else(|| self.missing("receiver"))?;
        if receiver >= self.shape.hosts {
            let (index, hosts) = (self.index, self.shape.hosts);
            return Err(Wrong::Told(Fault(format!(
                "traffic.{index}.receiver = {receiver}: the fabric has hosts 0 to {}",
                hosts - 1
            ))));
        }
        Ok(receiver)
    }

    fn packets(&self) -> Result<Option<PacketTable>, Wrong> {
        let Some(name) = &self.section.packets else { return Ok(None) };
        Ok(Some(packet_table(name)?.clone()))
    }

    fn seed(&self) -> u64 {
        self.scenario.run.seed.wrapping_add(self.index as u64 * 0x9E37_79B9)
    }

    fn poisson(&self) -> Result<Traffic, Wrong> {
        let name = self.section.workload.as_ref().ok_or_else(|| self.missing("workload"))?;
        let load = self.section.load.ok_or_else(|| self.missing("load"))?;
        let flows = self.section.flows.ok_or_else(|| self.missing("flows"))?;
        let layer2 = self.scenario.fabric.l2_overhead.unwrap_or(true);
        let wire = if layer2 { WireCost::ETHERNET } else { WireCost::IP };
        let packets = self.packets()?;
        let (shape, seed) = (self.shape, self.seed());
        let sizes = sizes(name)?;
        Ok(incast_workload::poisson(shape, &sizes, load, flows, seed, packets.as_ref(), wire)?)
    }

    fn incast(&self) -> Result<Traffic, Wrong> {
        let receiver = self.receiver()?;
        let senders = match (&self.section.from, self.section.senders) {
            (Some(_), _) => self.hosts("from", &self.section.from)?,
            (None, Some(count)) => {
                incast_workload::choose_senders(self.shape, receiver, count, self.seed())?
            }
            (None, None) => (0..self.shape.hosts).filter(|host| *host != receiver).collect(),
        };
        Ok(incast_workload::incast(self.shape, receiver, &senders, self.size()?, self.at())?)
    }

    fn requests(&self) -> Result<Traffic, Wrong> {
        let ask = RequestResponse {
            clients: self.hosts("to", &self.section.to)?,
            servers: self.hosts("from", &self.section.from)?,
            total_bytes: self.size()?,
            request_bytes: self.section.request.map_or(REQUEST_BYTES, |request| request.0.0),
            rounds: self.section.count.unwrap_or(1),
            at: self.at(),
            pause: self.section.period.map_or(Span::ZERO, |period| period.0),
        };
        Ok(incast_workload::requests(self.shape, &ask)?)
    }

    fn many_to_many(&self) -> Result<Traffic, Wrong> {
        let many = ManyToMany {
            senders: self.hosts("from", &self.section.from)?,
            receivers: [
                self.hosts("to", &self.section.to)?,
                self.hosts("to_second", &self.section.to_second)?,
            ],
            size: self.size()?,
            at: self.at(),
            responsive_ratio: self.section.responsive.unwrap_or(1.0),
            seed: self.seed(),
        };
        Ok(incast_workload::many_to_many(self.shape, &many)?)
    }

    fn long(&self) -> Result<Traffic, Wrong> {
        let (from, to) =
            (self.hosts("from", &self.section.from)?, self.hosts("to", &self.section.to)?);
        if from.len() != to.len() {
            return Err(Wrong::Told(Fault(format!(
                "traffic.{}: `from` names {} hosts and `to` names {}; flow i goes from the i-th \
                 to the i-th",
                self.index,
                from.len(),
                to.len()
            ))));
        }
        let (size, at) = (self.size()?, self.at());
        let flow = |(src, dst): (&u32, &u32)| LongFlow { src: *src, dst: *dst, size, at };
        let list: Vec<LongFlow> = from.iter().zip(&to).map(flow).collect();
        Ok(incast_workload::long_flows(self.shape, &list)?)
    }

    fn burst(&self) -> Result<Traffic, Wrong> {
        let burst = Burst {
            senders: self.hosts("from", &self.section.from)?,
            receiver: self.receiver()?,
            size: self.size()?,
            at: self.at(),
            count: self.section.count.unwrap_or(1),
            period: self.section.period.map_or(Span::from_us(1), |period| period.0),
        };
        Ok(incast_workload::bursts(self.shape, &burst)?)
    }

    fn file(&self, imported: Option<&Imported>) -> Result<Flows, Wrong> {
        let name = self.section.file.as_ref().ok_or_else(|| self.missing("file"))?;
        let text = text_of(Path::new(name))?;
        let ids = match imported {
            Some(imported) => {
                let ids: Vec<u64> = imported.host_ids().iter().map(|id| *id as u64).collect();
                HostIds::listed(&ids)
            }
            None => HostIds::same(self.shape.hosts),
        };
        let read = incast_workload::read_flows(&text, name, &ids)?;
        let failures = read.failures.into_iter().map(|failure| (name.clone(), failure)).collect();
        Ok(Flows { traffic: read.traffic, failures })
    }

    /// The flows of this entry.
    fn read(&self, imported: Option<&Imported>) -> Result<Flows, Wrong> {
        let traffic = match self.section.kind.as_str() {
            "poisson" => self.poisson()?,
            "permutation" => {
                incast_workload::permutation(self.shape.hosts, self.size()?, self.seed())?
            }
            "all_to_all" => incast_workload::all_to_all(self.shape.hosts, self.size()?)?,
            "incast" => self.incast()?,
            "requests" => self.requests()?,
            "many_to_many" => self.many_to_many()?,
            "long" => self.long()?,
            "burst" => self.burst()?,
            "file" => return self.file(imported),
            other => {
                let hint = nearest(other, KINDS);
                return Err(Wrong::Told(Fault(format!(
                    "traffic.{index}.kind = `{other}`: expected one of {}{hint}",
                    KINDS.join(", "),
                    index = self.index
                ))));
            }
        };
        Ok(Flows { traffic, failures: vec![] })
    }

    /// The error with entry and key as the scenario writes them.
    fn place(&self, wrong: Wrong) -> Fault {
        let error = match wrong {
            Wrong::Told(fault) => return fault,
            Wrong::Unplaced(error) if error.file.is_some() => return Fault::new(error),
            Wrong::Unplaced(error) => error,
        };
        let chosen = self.section.kind == "incast" && self.section.from.is_none();
        let key = match error.key.as_str() {
            "src" | "servers" => "from",
            "senders" if !chosen => "from",
            "dst" if self.section.receiver.is_some() => "receiver",
            "dst" | "clients" | "receivers" => "to",
            "total_bytes" => "size",
            "request_bytes" => "request",
            "rounds" => "count",
            "responsive_ratio" => "responsive",
            "pkt_cdf" => "packets",
            "racks" | "hosts" => {
                let fabric = &self.scenario.fabric;
                let key = if fabric.topology.is_some() { "topology" } else { "file" };
                let (index, kind) = (self.index, &self.section.kind);
                return Fault(format!(
                    "fabric.{key}: {} = `{}`, but traffic.{index} (`{kind}`) needs {}",
                    error.key, error.value, error.accepted
                ));
            }
            own => own,
        };
        let key = format!("traffic.{}.{key}", self.index);
        Fault::new(WorkloadError { key, ..error })
    }
}

/// The flows of a scenario, and what files with flows say about links.
pub struct Flows {
    /// The flows.
    pub traffic: Traffic,
    /// Links that are broken from the start, with the file that says so.
    pub failures: Vec<(String, Failure)>,
}

/// All flows of a scenario.
pub fn flows(
    scenario: &Scenario,
    shape: &Shape,
    imported: Option<&Imported>,
) -> Result<Flows, Fault> {
    let mut all: Option<Traffic> = None;
    let mut failures = vec![];
    for (index, section) in scenario.traffic.iter().enumerate() {
        let reader = Reader { scenario, section, index, shape };
        let part = reader.read(imported).map_err(|wrong| reader.place(wrong))?;
        failures.extend(part.failures);
        let part = part.traffic;
        all = Some(match all {
            Some(before) => before.merge(part),
            None => part,
        });
    }
    let traffic = all.ok_or_else(|| Fault("traffic: the scenario has no flows".into()))?;
    traffic.validate(shape.hosts)?;
    Ok(Flows { traffic, failures })
}
