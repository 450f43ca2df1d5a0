//! `incast export`: results as the files that other simulators write, for scripts that read those.

use crate::arguments::{Export, Form};
use crate::process::Ended;
use incast_experiment::fault::wrong;
use incast_experiment::{Fault, Plan, StoredResults, StoredRun};
use incast_fabric::{Fabric, PortId};
use incast_measure::folder::table_file;
use incast_measure::{StoredTable, write_atomic};
use incast_transport::Time;
use incast_workload::{FlowClass, FlowSpec, HostIds, Start, Traffic, export_hpcc, export_htsim};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// First port number of a source, as HPCC's simulator gives them.
const FIRST_PORT: u32 = 10_000;
/// Port numbers of a destination.
const BACKGROUND_PORT: u32 = 100;
const INCAST_PORT: u32 = 200;

pub fn export(options: Export) -> Result<Ended, Fault> {
    let stored = Stored::open(&options.results, options.transport.as_deref())?;
    let files = match options.form {
        Form::Hpcc => named(stored.hpcc()?),
        Form::Htsim => named(vec![("flows.cm", stored.matrix()?)]),
        Form::Goal => stored.programs()?,
    };
    let out =
        options.out.unwrap_or_else(|| Path::new(&stored.run.name()).join(options.form.name()));
    std::fs::create_dir_all(&out)
        .map_err(|error| Fault::unwritten(error).placed(out.display().to_string()))?;
    for (name, text) in files {
        let place = out.join(name);
        write_atomic(&place, text.as_bytes())?;
        say!("{}: {} lines", place.display(), text.lines().count());
    }
    Ok(Ended::Done)
}

fn named(files: Vec<(&str, String)>) -> Vec<(String, String)> {
    files.into_iter().map(|(name, text)| (name.to_string(), text)).collect()
}

/// One run of a results folder, and its network.
struct Stored {
    run: StoredRun,
    plan: Plan,
    /// The numbers of nodes in the topology file, if the scenario has one: hosts, then switches.
    ids: Option<(Vec<u32>, Vec<u32>)>,
    flows: StoredTable,
}

impl Stored {
    /// Opens a folder; in one of several runs `transport` says which.
    fn open(folder: &Path, transport: Option<&str>) -> Result<Stored, Fault> {
        let results = StoredResults::open(folder)?;
        let run = results.run(transport)?.clone();
        let mut inputs = results.recorded.inputs();
        let mut scenario = results.scenario;
        scenario.transport.names = vec![run.transport.clone()];
        let ids = match &scenario.fabric.file {
            Some(file) => {
                let text = inputs.read(file, "topology")?;
                let forward = scenario.fabric.hosts_forward;
                let read = incast_fabric::import::import_text_with(file, &text, forward);
                let read = read.map_err(Fault::new)?;
                Some((read.host_ids().to_vec(), read.switch_ids().to_vec()))
            }
            None => None,
        };
        let plan = Plan::read(scenario, inputs)?;
        let flows = run.table("flows")?;
        Ok(Stored { run, plan, ids, flows })
    }

    /// The number of a node in the topology file, or here.
    fn id(&self, node: u32) -> u32 {
        let hosts = self.plan.fabric.hosts();
        let server = || self.plan.fabric.server_of(node);
        let listed = self.ids.as_ref().and_then(|(host_ids, switch_ids)| match node < hosts {
            true => host_ids.get(server() as usize),
            false => switch_ids.get((node - hosts) as usize),
        });
        listed.copied().unwrap_or(node)
    }

    fn numbers(&self, column: &str) -> Result<Vec<f64>, Fault> {
        self.flows.numbers(column).map_err(|problem| self.fault("flows", problem))
    }

    fn fault(&self, table: &str, problem: String) -> Fault {
        Fault::new(problem).placed(self.run.place(&table_file(table)))
    }

    /// The flows that have started, at the times at which they did.
    fn traffic(&self) -> Result<Traffic, Fault> {
        let [src, dst, size, start] =
            ["src", "dst", "size_bytes", "start_ps"].map(|column| self.numbers(column));
        let (src, dst, size, start) = (src?, dst?, size?, start?);
        let classes = self.flows.texts("class").map_err(|own| self.fault("flows", own))?;
        let flow = |row: usize| {
            let class = classes.names[classes.codes[row] as usize].parse();
            let class = class.unwrap_or(FlowClass::Background);
            let start = Start::At(Time(start[row] as u64));
            let server = |host: f64| self.plan.fabric.server_of(host as u32);
            FlowSpec::new(server(src[row]), server(dst[row]), size[row] as u64, start, class)
        };
        let started = (0..self.flows.rows()).filter(|row| !start[*row].is_nan());
        let flows: Vec<FlowSpec> = started.map(flow).collect();
        let left = self.flows.rows() - flows.len();
        if left > 0 {
            eprintln!("{left} flows did not start in the run and are left out");
        }
        Ok(Traffic::from_flows(flows, vec![]))
    }

    /// As a connection matrix of htsim.
    fn matrix(&self) -> Result<String, Fault> {
        export_htsim(&self.traffic()?, self.plan.fabric.servers())
    }

    /// What each collective and program does, as GOAL.
    fn programs(&self) -> Result<Vec<(String, String)>, Fault> {
        let files = self.plan.goal_files()?;
        if files.is_empty() {
            let problem = wrong("the run has no collectives and no programs").expected(
                "a scenario with `[[job]]`, or traffic of kind `collective` or `program`",
            );
            return Err(Fault::value("--as", Form::Goal.name(), problem));
        }
        Ok(files)
    }

    /// As files of HPCC's simulator.
    fn hpcc(&self) -> Result<Vec<(&'static str, String)>, Fault> {
        let fabric = &self.plan.fabric;
        let id = |server| u64::from(self.id(fabric.nics_of(server).start));
        let ids: Vec<u64> = (0..fabric.servers()).map(id).collect();
        let mut files = vec![
            ("flow.txt", export_hpcc(&self.traffic()?, &HostIds::listed(&ids))?),
            ("fct.txt", self.completions()?),
            ("qlen.txt", self.queues()?),
        ];
        match (self.plan.pfc.is_some(), self.run.has(&table_file("trace"))) {
            (true, true) => files.push(("pfc.txt", self.pauses()?)),
            (true, false) => eprintln!(
                "no pfc.txt: pauses are events of a trace; `incast run {} --set \
                 'output.trace={{limit=100000000}}'` makes one",
                self.run.name()
            ),
            (false, _) => {}
        }
        Ok(files)
    }

    /// A line per complete flow, in order of their ends: addresses, ports, bytes, start, completion time, and
    /// that alone, in nanoseconds.
    fn completions(&self) -> Result<String, Fault> {
        let [src, dst, size, start] =
            ["src", "dst", "size_bytes", "start_ns"].map(|column| self.numbers(column));
        let (src, dst, size, start) = (src?, dst?, size?, start?);
        let (fct, ideal) = (self.numbers("fct_ns")?, self.numbers("ideal_fct_ns")?);
        let classes = self.flows.texts("class").map_err(|own| self.fault("flows", own))?;
        let mut lines = vec![];
        let mut used: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for row in 0..self.flows.rows() {
            let pair = (self.id(src[row] as u32), self.id(dst[row] as u32));
            let port = used.entry(pair).or_insert(FIRST_PORT);
            let own = *port;
            *port += 1;
            if fct[row].is_nan() {
                continue;
            }
            let incast = classes.names[classes.codes[row] as usize] == FlowClass::Incast.name();
            let to = if incast { INCAST_PORT } else { BACKGROUND_PORT };
            let [start, fct, ideal] = [start[row], fct[row], ideal[row]];
            let (from, at) = (address(pair.0), address(pair.1));
            let line = format!(
                "{from:08x} {at:08x} {own} {to} {} {start:.0} {fct:.0} {ideal:.0}\n",
                size[row] as u64
            );
            lines.push((start + fct, line));
        }
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    /// How long each port of a switch had a queue of so many kilobytes: the intervals of ports.parquet by
    /// their mean backlog.
    fn queues(&self) -> Result<String, Fault> {
        let ports = self.run.table("ports")?;
        let numbers =
            |column: &str| ports.numbers(column).map_err(|problem| self.fault("ports", problem));
        let (port, backlog) = (numbers("port")?, numbers("backlog_mean_bytes")?);
        let (time, length) = (numbers("time_ns")?, numbers("interval_ns")?);
        let interval = length.iter().copied().fold(0.0, f64::max);
        let first = time.iter().copied().fold(f64::INFINITY, f64::min);
        let end = time.iter().zip(&length).map(|(time, length)| time + length).fold(0.0, f64::max);
        let all = if interval > 0.0 { ((end - first) / interval).round() as u64 } else { 0 };
        let mut counts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (port, backlog) in port.iter().zip(&backlog).filter(|(_, backlog)| !backlog.is_nan()) {
            let own = counts.entry(*port as u32).or_default();
            let kilobytes = (backlog / 1000.0) as usize;
            own.resize(own.len().max(kilobytes + 1), 0);
            own[kilobytes] += 1;
        }
        let fabric = &self.plan.fabric;
        let mut text = format!("time: {end:.0}\n");
        for node in fabric.hosts()..fabric.nodes() {
            for port in fabric.ports_of(incast_fabric::NodeId(node)) {
                let mut own = counts.remove(&port).unwrap_or_default();
                own.resize(own.len().max(1), 0);
                // Intervals in which nothing happened have no row.
                let known: u64 = own.iter().sum();
                own[0] += all.saturating_sub(known);
                let _ = write!(text, "{} {}", self.id(node), interface(fabric, port));
                own.iter().for_each(|count| {
                    let _ = write!(text, " {count}");
                });
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// When each port was paused (1) and resumed (0).
    fn pauses(&self) -> Result<String, Fault> {
        let trace = self.run.table("trace")?;
        let fault = |problem| self.fault("trace", problem);
        let times = trace.numbers("time_ps").map_err(fault)?;
        let (places, events) =
            (trace.texts("place").map_err(fault)?, trace.texts("event").map_err(fault)?);
        let fabric = &self.plan.fabric;
        let named = fabric.ports().iter().zip(0u32..);
        let named: BTreeMap<String, u32> =
            named.map(|(port, number)| (fabric.port_name(port), number)).collect();
        let mut text = String::new();
        for (row, time) in times.iter().enumerate() {
            let kind = match events.names[events.codes[row] as usize].as_str() {
                "paused" => 1,
                "resumed" => 0,
                _ => continue,
            };
            let Some(port) = named.get(&places.names[places.codes[row] as usize]) else { continue };
            let node = fabric.port(PortId(*port)).node.0;
            let (time, switch) = (time / 1e3, u32::from(node >= fabric.hosts()));
            let (id, interface) = (self.id(node), interface(fabric, *port));
            let _ = writeln!(text, "{time:.0} {id} {switch} {interface} {kind}");
        }
        Ok(text)
    }
}

/// The address of a node in HPCC's simulator.
fn address(id: u32) -> u32 {
    0x0b00_0001 + ((id / 256) << 16) + ((id % 256) << 8)
}

/// Which interface of its node a port is, from 1 on.
fn interface(fabric: &Fabric, port: u32) -> u32 {
    port - fabric.ports_of(fabric.port(PortId(port)).node).start + 1
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_are_those_of_hpcc() {
        assert_eq!(
            [0, 1, 255, 256, 319].map(address),
            [0x0b00_0001, 0x0b00_0101, 0x0b00_ff01, 0x0b01_0001, 0x0b01_3f01]
        );
    }
}
