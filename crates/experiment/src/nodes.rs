//! One node of a scenario as a process of its own, over interfaces of this machine.

mod cores;
mod fidelity;
mod kept;
mod measured;
mod outlet;
mod record;
mod run;

pub use cores::Cores;
pub use fidelity::judge;
pub use kept::Kept;
pub use measured::{Met, with_base_rtt};
pub use outlet::{Outlet, OverPorts, over, read_key};
pub use record::{CorePart, FlowPart, Interface, NodeRecord, PortPart, gather};
pub use run::run;

use crate::fault::{Problem, expected, wrong};
use crate::plan::Plan;
use crate::{Fault, nearest, prepare};
use incast_dataplane::{Identity, Meeting, Neighbour, Obstacle, Outside, system};
use incast_fabric::NodeId;
use incast_wire::HEADER_BYTES;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two hellos.
const BETWEEN_HELLOS: Duration = Duration::from_millis(20);
/// Between two looks for hellos: as an idle node looks for frames, so that round trips are those of the run.
const NAP: Duration = Duration::from_micros(1);

/// A node of a scenario, and the outlet of each of its ports.
#[derive(Clone, Debug)]
pub struct Node {
    /// Which node.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Its ports.
    pub ports: Vec<(u32, Outlet)>,
    /// Whether its port leads to the other host: the switch between is the network's own, and no node.
    pub past_switch: bool,
}

impl Node {
    /// The node `name` of a scenario whose ports are given as `5=if:veth0` or `5=0000:3b:00.0`: the
    /// number of the port in the scenario, or the name of the node it leads to; and an
    /// [`Outlet`]. A host on an ordinary network may name the only other host: the switch between is then the network's.
    ///
    /// # Errors
    /// There is no such node or port, a port is missing or there twice, outlets are of two kinds, or
    /// one is of no kind that this program has.
    pub fn new(plan: &Plan, name: &str, ports: &[String]) -> Result<Node, Fault> {
        let fabric = &plan.fabric;
        let id = fabric.node_named(name).map_err(|error| Fault::new(error).placed("--name"))?;
        let mut node = Node { id, name: fabric.node_name(id), ports: vec![], past_switch: false };
        for text in ports {
            let (port, outlet, past_switch) = node.outlet(plan, text)?;
            node.past_switch |= past_switch;
            if node.ports.iter().any(|(known, _)| *known == port) {
                return Err(Fault::new(format!("port {port} is given twice")).placed("--port"));
            }
            if let Some((_, first)) = node.ports.first()
                && first.is_device() != outlet.is_device()
            {
                let problem = format!(
                    "`{first}` and `{outlet}` are of two kinds: all ports of a node are interfaces \
                     (if:NAME), or all are devices of DPDK"
                );
                return Err(Fault::new(problem).placed("--port"));
            }
            node.ports.push((port, outlet));
        }
        let missing = |port: &u32| !node.ports.iter().any(|(known, _)| known == port);
        let missing: Vec<String> = fabric
            .ports_of(id)
            .filter(missing)
            .map(|port| {
                format!("{port} (to {})", fabric.node_name(fabric.ports()[port as usize].peer))
            })
            .collect();
        if !missing.is_empty() {
            let problem = format!(
                "{} has no interface at port {}: give it as --port {}=if:NAME, or a device of DPDK",
                node.name,
                missing.join(", "),
                missing[0].split(' ').next().unwrap_or("N"),
            );
            return Err(Fault::new(problem));
        }
        node.ports.sort_by_key(|(port, _)| *port);
        Ok(node)
    }

    fn outlet(&self, plan: &Plan, text: &str) -> Result<(u32, Outlet, bool), Fault> {
        let fabric = &plan.fabric;
        let refuse = |problem: Problem| Fault::new(problem).placed(format!("--port {text}"));
        let Some((port, outlet)) = text.split_once('=') else {
            return Err(refuse(expected(format!("PORT=OUTLET, the outlet {}", Outlet::FORM))));
        };
        let all = fabric.ports_of(self.id);
        let peers: Vec<String> =
            all.clone().map(|p| fabric.node_name(fabric.ports()[p as usize].peer)).collect();
        let by_name =
            peers.iter().position(|name| name == port).map(|place| all.start + place as u32);
        let by_number = port.parse::<u32>().ok().filter(|port| all.contains(port));
        let past_switch =
            self.other_host(plan).is_some_and(|(other, _)| fabric.node_name(other) == port);
        let by_host = past_switch.then_some(all.start);
        let Some(port) = by_number.or(by_name).or(by_host) else {
            let hint = nearest(port, peers.iter().map(String::as_str));
            let (name, first, last) = (&self.name, all.start, all.end.saturating_sub(1));
            let problem =
                wrong(format!("{name} has the ports {first} to {last}, to {}", peers.join(", ")));
            return Err(refuse(problem.meant(hint)));
        };
        let outlet = Outlet::parse(outlet).map_err(refuse)?;
        if past_switch && !matches!(outlet, Outlet::Udp(..)) {
            let problem = wrong(
                "a host is reached past a switch that is no node by an ordinary network only",
            );
            return Err(refuse(problem.expected("if:INTERFACE,ip=ADDRESS/BITS,peer=ADDRESS")));
        }
        Ok((port, outlet, past_switch))
    }

    /// Of a host, the only other one of the scenario and its port, if one switch is between them.
    fn other_host(&self, plan: &Plan) -> Option<(NodeId, u32)> {
        let fabric = &plan.fabric;
        let only = fabric.hosts() == 2 && fabric.nodes() == 3 && self.id.0 < 2;
        let other = only.then(|| NodeId(1 - self.id.0))?;
        Some((other, fabric.ports_of(other).start))
    }

    /// Which port is at the other end of a port of this node.
    fn peer(&self, plan: &Plan, port: u32) -> u32 {
        match self.other_host(plan).filter(|_| self.past_switch) {
            Some((_, peer)) => peer,
            None => plan.fabric.ports()[port as usize].reverse.0,
        }
    }

    /// The ends of its links.
    fn neighbours(&self, plan: &Plan) -> Vec<Neighbour> {
        let ports = self.ports.iter().map(|(port, _)| {
            let peer = self.peer(plan, *port);
            let name = plan.fabric.node_name(plan.fabric.ports()[peer as usize].node);
            Neighbour { port: *port, name, peer }
        });
        ports.collect()
    }
}

/// Bytes of the longest packets of a scenario as they are sent: those of a full one, whose headers here may be longer
/// or shorter than the scenario's.
fn packet_bytes(plan: &Plan) -> usize {
    let framing = &plan.site.framing;
    framing.mss() as usize + HEADER_BYTES as usize
}

/// Meets the neighbours of a node, for at most `patience`, and measures the round trips of links. Nothing
/// once `stop` is set.
///
/// # Errors
/// A neighbour does not come, or is another than the scenario says.
pub fn meet(
    plan: &Plan,
    node: &Node,
    io: &mut impl Outside,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<Option<Met>, Fault> {
    let text = plan.resolved(&plan.cases).to_toml();
    let digest = Sha256::digest(text.as_bytes());
    let scenario = u64::from_be_bytes(digest[..8].try_into().expect("eight bytes"));
    let me = Identity {
        name: node.name.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        scenario,
        process: system::process_number(),
    };
    let links = if node.past_switch { 1 } else { plan.fabric.ports().len() / 2 };
    let meeting = Meeting::new(me, node.neighbours(plan)).measuring(links);
    let mut meeting = meeting.needing(packet_bytes(plan));
    let begin = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        meeting.say(io);
        let said = Instant::now();
        while said.elapsed() < BETWEEN_HELLOS {
            meeting.hear(io).map_err(Fault::new)?;
            sleep(NAP);
        }
        if meeting.is_over() {
            // The last hello of all: that the neighbours are heard.
            (0..3).for_each(|_| meeting.say(io));
            let meeting = Arc::new(meeting);
            io.end_hellos(meeting.clone());
            return Ok(Some(Met::of(plan, node, meeting)));
        }
        let obstacles =
            node.ports.iter().filter_map(|(port, _)| Some((*port, io.obstacle(*port)?)));
        let obstacles: Vec<(u32, Obstacle)> = obstacles.collect();
        if let Some((port, found)) = obstacles.iter().find(|(_, found)| found.ends) {
            return Err(Fault::new(format!("port {port} of {}: {}", node.name, found.says)));
        }
        if let Some(missing) = meeting.missing().filter(|_| begin.elapsed() >= patience) {
            let waited = patience.as_secs_f64();
            let unkeyed: u64 = node.ports.iter().map(|(port, _)| io.unkeyed(*port)).sum();
            let stranger = match unkeyed {
                0 => String::new(),
                count => format!("; {count} frames came without the key of this network"),
            };
            let found = |(port, found): &(u32, Obstacle)| format!("; port {port}: {}", found.says);
            let found: String = obstacles.iter().map(found).collect();
            let name = &node.name;
            return Err(Fault::new(format!("{name}: after {waited} s {missing}{found}{stranger}")));
        }
    }
    Ok(None)
}

/// Refuses scenarios that need to know in one process what happens in others.
pub fn check(plan: &Plan) -> Result<(), Fault> {
    if plan.cases.len() != 1 {
        let names: Vec<&str> = plan.cases.iter().map(|case| case.label.as_str()).collect();
        let problem = wrong("a testbed of processes runs one transport")
            .expected(format!("one of {}", names.join(", ")));
        return Err(Fault::value("transport.names", names.join(", "), problem));
    }
    no_host_model(plan)?;
    let waits =
        |flow: &incast_workload::FlowSpec| !matches!(flow.start, incast_workload::Start::At(_));
    if plan.traffic.flows.iter().any(waits) {
        let problem = "flows that start after others are not for a testbed of processes: no process \
                       knows what is complete elsewhere";
        return Err(Fault::new(problem).placed("traffic"));
    }
    Ok(())
}

/// Refuses a model of hosts where there are real ones.
fn no_host_model(plan: &Plan) -> Result<(), Fault> {
    if plan.scenario.host.is_none() {
        return Ok(());
    }
    let problem = wrong("hosts of processes take what they take, and are not slowed down");
    Err(Fault::at("host", problem.expected("no such section")))
}

/// The world of a scenario's only case without its flows, for hosts that open flows as their
/// applications want.
///
/// # Errors
/// The scenario's ports cannot be made.
pub fn without_flows(plan: &Plan) -> Result<incast_world::Setup, Fault> {
    no_host_model(plan)?;
    let mut setup = prepare(plan, &plan.cases[0], vec![])?;
    setup.flows.clear();
    setup.options.watch.clear();
    Ok(setup)
}
