//! `incast testbed netns`: every node of a scenario in a network namespace of its own.
//!
//! The program starts itself again as root of a user namespace, which needs no privilege. There it
//! starts a process for each node in a new network namespace, joins them with veth pairs, and leads
//! them (see `node`). Namespaces and pairs end with the processes that are in them.

use crate::arguments::Told;
use crate::node::{planned, summary};
use crate::process::Ended;
use crate::session::{finish, on_signal, stoppable};
use clap::Args;
use incast_dataplane::system;
use incast_experiment::fault::expected;
use incast_experiment::nodes::{self, CorePart, Cores, Node, NodeRecord, Outlet};
use incast_experiment::{Fault, Monitor, Plan, output};
use incast_fabric::NodeId;
use incast_measure::ResultsFolder;
use incast_transport::Span;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Most nodes of a testbed of namespaces.
const NODES_MOST: u32 = 64;
/// Most time of a run.
const TIME_MOST: Span = Span::from_secs(600);
/// From the decision to start until the run begins: the line that says so reaches all nodes.
const AHEAD: Duration = Duration::from_millis(50);
/// How long the nodes go on after the last flow is complete.
const DRAIN: Duration = Duration::from_millis(100);
/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_secs(10);
/// How long nodes wait for each other. All of them are there; but a link carries nothing before the kernel has
/// seen that it is up, and where many namespaces come and go it takes seconds to look.
const MEETING: Duration = Duration::from_secs(45);

#[derive(Args)]
pub struct Netns {
    /// Scenario file
    pub scenario: PathBuf,
    /// File with the key of the network, 16 bytes or more: who does not have it can neither join nor end a flow
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Override a scenario key: run.seed=7
    #[arg(long, value_name = "KEY=VALUE", value_parser = crate::values::set)]
    pub set: Vec<String>,
    /// End the run after this time, complete or not; at most 600s
    #[arg(long = "for", value_name = "TIME", default_value = "60s")]
    pub time: Span,
    /// Use the interfaces through DPDK (net_af_packet) instead of packet sockets
    #[arg(long)]
    pub dpdk: bool,
    /// Cores for the ports of each switch, which are dealt out to them in turn: 0,1
    #[arg(long, value_name = "CORES")]
    pub lcores: Option<String>,
    #[command(flatten)]
    pub output: Told,
    /// Already in the user namespace
    #[arg(long, hide = true)]
    pub inside: bool,
}

pub fn netns(options: Netns) -> Result<Ended, Fault> {
    let plan = planned(&options.scenario, &options.set)?;
    let nodes = plan.fabric.nodes();
    if nodes > NODES_MOST {
        let problem = format!("{nodes} nodes: a testbed of namespaces has at most {NODES_MOST}");
        return Err(Fault::new(problem).placed("fabric.topology"));
    }
    if options.dpdk {
        Outlet::parse(&outlet(0, true)).map_err(|why| Fault::new(why).placed("--dpdk"))?;
    }
    if let Some(list) = &options.lcores {
        check_cores(&plan, list)?;
    }
    if let Some(key) = &options.key {
        nodes::read_key(key)?;
    }
    if options.time > TIME_MOST {
        let problem = expected(format!("at most {TIME_MOST}"));
        return Err(Fault::value("--for", options.time, problem));
    }
    if !options.inside {
        return start_inside();
    }
    run(plan, &options)
}

/// Whether every switch can spread its ports over the cores of a list.
fn check_cores(plan: &Plan, list: &str) -> Result<(), Fault> {
    for id in (plan.fabric.hosts()..plan.fabric.nodes()).map(NodeId) {
        let outlet = |port| (port, Outlet::Interface(interface(port)));
        let ports = plan.fabric.ports_of(id).map(outlet).collect();
        let name = plan.fabric.node_name(id);
        Cores::new(plan, &Node { id, name, ports, past_switch: false }, list)?;
    }
    Ok(())
}

/// Starts this command again as root of a user namespace.
fn start_inside() -> Result<Ended, Fault> {
    // Ctrl-C is for the program inside, which this one waits for.
    on_signal(|| {});
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount", "--"])
        .args(crate::process::program())
        .args(crate::process::arguments())
        .arg("--inside")
        .status()
        .map_err(|error| missing("unshare", "util-linux", &error))?;
    match status.code() {
        Some(0) => Ok(Ended::Done),
        Some(130) => Ok(Ended::Interrupted),
        // The program itself has said why.
        Some(code @ (2 | 3)) => std::process::exit(code),
        _ => Ok(Ended::Failed),
    }
}

fn missing(program: &str, package: &str, error: &std::io::Error) -> Fault {
    Fault::new(format!("`{program}` does not start: {error}; it is in the package {package}"))
}

/// A node's process.
struct Process {
    name: String,
    child: Child,
    input: ChildStdin,
    completed: u64,
    stopped: bool,
    record: Option<NodeRecord>,
}

/// What a process has said; nothing more comes after `None`.
type Said = (usize, Option<String>);

/// All processes. They end with it.
struct Processes {
    all: Vec<Process>,
    said: Receiver<Said>,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.all {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

/// The name of the interface at a port.
fn interface(port: u32) -> String {
    format!("p{port}")
}

/// The outlet of a port.
fn outlet(port: u32, dpdk: bool) -> String {
    match dpdk {
        true => format!("net_af_packet{port},iface={}", interface(port)),
        false => format!("if:{}", interface(port)),
    }
}

impl Processes {
    /// Starts a process for each node.
    fn start(plan: &Plan, options: &Netns) -> Result<Processes, Fault> {
        let program = crate::process::program();
        let (sender, said) = channel();
        let mut processes = Processes { all: vec![], said };
        for node in 0..plan.fabric.nodes() {
            let name = plan.fabric.node_name(NodeId(node));
            let mut command = Command::new("unshare");
            command.args(["--net", "--"]).args(program).args(["testbed", "node"]);
            command.arg(&options.scenario).args(["--name", &name, "--managed"]);
            command.args(["--patience", &format!("{}s", MEETING.as_secs())]);
            if let Some(key) = &options.key {
                command.arg("--key").arg(key);
            }
            for set in &options.set {
                command.args(["--set", set]);
            }
            for port in plan.fabric.ports_of(NodeId(node)) {
                command.args(["--port", &format!("{port}={}", outlet(port, options.dpdk))]);
            }
            if let Some(lcores) = options.lcores.as_ref().filter(|_| node >= plan.fabric.hosts()) {
                command.args(["--lcores", lcores]);
            }
            let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let started = pipes.spawn().map_err(|error| missing("unshare", "util-linux", &error));
            let mut child = started?;
            let input = child.stdin.take().expect("it is a pipe");
            let output = child.stdout.take().expect("it is a pipe");
            listen(processes.all.len(), output, sender.clone());
            processes.all.push(Process {
                name,
                child,
                input,
                completed: 0,
                stopped: false,
                record: None,
            });
        }
        Ok(processes)
    }

    fn tell(&mut self, line: &str) -> Result<(), Fault> {
        for process in &mut self.all {
            let told = writeln!(process.input, "{line}").and_then(|()| process.input.flush());
            told.map_err(|_| Fault::new(format!("{} has ended; see its message", process.name)))?;
        }
        Ok(())
    }

    /// Takes in what is said until `until`; `line` returns whether it has heard enough.
    fn hear(
        &mut self,
        until: Instant,
        mut line: impl FnMut(&mut Process, &str) -> bool,
    ) -> Result<bool, Fault> {
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(wait) {
                Ok((place, Some(text))) => {
                    // A node may stop by itself, at `run.until`.
                    self.all[place].stopped |= text == "stopped";
                    if line(&mut self.all[place], &text) {
                        return Ok(true);
                    }
                }
                Ok((place, None)) if self.all[place].record.is_none() => {
                    let name = &self.all[place].name;
                    return Err(Fault::new(format!("{name} has ended early; see its message")));
                }
                Ok((_, None)) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(false);
                }
            }
        }
    }

    /// Waits until every process has stopped.
    fn all_stop(&mut self) -> Result<(), Fault> {
        let until = Instant::now() + ANSWER;
        while let Some(running) = self.all.iter().find(|process| !process.stopped) {
            if Instant::now() >= until {
                return Err(Fault::new(format!("{} does not stop", running.name)));
            }
            self.hear(Instant::now() + Duration::from_millis(20), |_, line| line == "stopped")?;
        }
        Ok(())
    }

    /// Waits until every process has said `word`; what the last one said behind it.
    fn all_say(&mut self, word: &str, wait: Duration) -> Result<String, Fault> {
        let count = self.all.len();
        let (mut said, mut last) = (0, String::new());
        let heard = self.hear(Instant::now() + wait, |_, line| {
            if let Some(behind) = line.strip_prefix(word) {
                (said, last) = (said + 1, behind.trim().to_string());
            }
            said == count
        })?;
        match heard {
            true => Ok(last),
            false => {
                Err(Fault::new(format!("{} of {count} nodes do not say `{word}`", count - said)))
            }
        }
    }
}

/// Hands on what a process says, line by line.
fn listen(place: usize, output: std::process::ChildStdout, sender: Sender<Said>) {
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send((place, Some(line))).is_err() {
                return;
            }
        }
        let _ = sender.send((place, None));
    });
}

/// Joins the namespaces of the processes with veth pairs, one per link.
fn join(plan: &Plan, processes: &Processes) -> Result<(), Fault> {
    let mut batch = String::new();
    let ports = plan.fabric.ports().iter().enumerate();
    for (port, spec) in ports.filter(|(port, spec)| (*port as u32) < spec.reverse.0) {
        let ends = [(port as u32, spec.node), (spec.reverse.0, spec.peer)];
        let [a, b] = ends.map(|(port, _)| interface(port));
        batch += &format!("link add {a} mtu 9000 type veth peer name {b} mtu 9000\n");
        for (port, node) in ends {
            let process = processes.all[node.0 as usize].child.id();
            batch += &format!("link set {} netns {process}\n", interface(port));
        }
    }
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| missing("ip", "iproute2", &error))?;
    let mut input = ip.stdin.take().expect("it is a pipe");
    input.write_all(batch.as_bytes()).map_err(Fault::new)?;
    drop(input);
    match ip.wait().map_err(Fault::new)?.success() {
        true => Ok(()),
        false => Err(Fault::new("`ip` could not make the links; see its message")),
    }
}

fn run(plan: Plan, options: &Netns) -> Result<Ended, Fault> {
    let monitor = stoppable();
    let label = options.scenario.file_stem().map_or("netns".into(), |s| s.to_string_lossy());
    let out = options.output.folder.out.as_deref();
    let folder =
        ResultsFolder::create(out, options.output.folder.force, Path::new("results"), &label)?;
    let mut processes = Processes::start(&plan, options)?;
    processes.all_say("here", ANSWER)?;
    join(&plan, &processes)?;
    processes.tell("open")?;
    let told = processes.all_say("met", MEETING + ANSWER)?;
    say!("{} nodes in {0} network namespaces have met", processes.all.len());
    let plan = measured(plan, &told)?;
    monitor.begun.store(true, Ordering::Relaxed);
    let begin = Instant::now() + AHEAD;
    let epoch = system::monotonic() + AHEAD.as_nanos() as u64;
    processes.tell(&format!("start {epoch}"))?;
    let time = Duration::from_nanos(options.time.0 / 1_000);
    let complete =
        wait_for_flows(&mut processes, plan.traffic.flows.len() as u64, begin + time, &monitor)?;
    if complete {
        std::thread::sleep(DRAIN);
    }
    let wall = begin.elapsed().as_secs_f64();
    processes.tell("stop")?;
    processes.all_stop()?;
    processes.tell("count")?;
    let records = records(&mut processes)?;
    drop(processes);
    let interrupted = monitor.stopped();
    let world = format!(
        "data plane, {} processes in network namespaces, over veth pairs{}{}, clock tsc",
        records.len(),
        if options.dpdk { " by DPDK (net_af_packet)" } else { "" },
        options.lcores.as_ref().map_or(String::new(), |list| format!(", switches on cores {list}")),
    );
    let fidelity = nodes::judge(&plan, &records, &monitor)?;
    let run = output::fill_from(&folder, &plan, &records, &world, fidelity, wall)?;
    summary(&plan.fabric, &records);
    let bytes: u64 = records.iter().map(NodeRecord::delivered).sum();
    say!("{} flows, {bytes} bytes delivered", plan.traffic.flows.len());
    let balanced = check_frames(&plan, &records);
    let ended = finish(&plan, folder, &[run], interrupted, options.output.all)?;
    if let Err(problem) = balanced {
        eprintln!("error: {problem}");
        return Ok(Ended::Failed);
    }
    if !complete && !interrupted {
        eprintln!("error: not every flow was complete after {}", options.time);
        return Ok(Ended::Failed);
    }
    Ok(ended)
}

/// The plan with the base RTT that nodes have told of, in picoseconds and in words.
fn measured(plan: Plan, told: &str) -> Result<Plan, Fault> {
    let (base_rtt, words) = told.split_once(' ').unwrap_or((told, ""));
    say!("{words}");
    match base_rtt.parse().map(Span) {
        Ok(own) if own != plan.site.base_rtt => nodes::with_base_rtt(&plan, own),
        _ => Ok(plan),
    }
}

/// Waits until all flows are complete. Returns whether they are.
fn wait_for_flows(
    processes: &mut Processes,
    flows: u64,
    until: Instant,
    monitor: &Arc<Monitor>,
) -> Result<bool, Fault> {
    let mut total = 0;
    while Instant::now() < until && !monitor.stopped() {
        let look = (Instant::now() + Duration::from_millis(100)).min(until);
        let over = processes.hear(look, |process, line| {
            if let Some(count) = line.strip_prefix("completed ").and_then(|n| n.parse().ok()) {
                total += count - process.completed;
                process.completed = count;
            }
            total >= flows
        })?;
        if over {
            return Ok(true);
        }
    }
    Ok(false)
}

fn records(processes: &mut Processes) -> Result<Vec<NodeRecord>, Fault> {
    let mut missing = processes.all.len();
    let mut wrong = None;
    processes.hear(Instant::now() + ANSWER, |process, line| {
        if let Some(json) = line.strip_prefix("record ") {
            match serde_json::from_str(json) {
                Ok(record) => process.record = Some(record),
                Err(error) => wrong = Some(format!("{}: {error}", process.name)),
            }
            missing -= 1;
        }
        missing == 0
    })?;
    let records: Vec<NodeRecord> =
        processes.all.iter_mut().filter_map(|process| process.record.take()).collect();
    match wrong {
        Some(problem) => Err(Fault::new(problem)),
        None if records.len() < processes.all.len() => Err(Fault::new("a node left no record")),
        None => Ok(records),
    }
}

/// On every link, what one end sent the other has received, or its kernel has dropped; and what one
/// core of a switch handed over another has taken, or it was still on its way.
fn check_frames(plan: &Plan, records: &[NodeRecord]) -> Result<(), String> {
    let all: Vec<_> = records.iter().flat_map(|record| &record.interfaces).collect();
    for one in &all {
        let reverse = plan.fabric.ports()[one.port as usize].reverse.0;
        let Some(other) = all.iter().find(|other| other.port == reverse) else {
            return Err(format!("no count of port {reverse}"));
        };
        if one.sent != other.received + other.dropped {
            return Err(format!(
                "port {} sent {} frames; port {reverse} received {} and dropped {}",
                one.port, one.sent, other.received, other.dropped
            ));
        }
    }
    for NodeRecord { name, cores, exhausted, .. } in records {
        if *exhausted > 0 {
            return Err(format!("{name} had no packet memory for {exhausted} packets"));
        }
        let sum = |of: fn(&CorePart) -> u64| cores.iter().map(of).sum::<u64>();
        let (crossed, taken, unread) = (sum(|c| c.crossed), sum(|c| c.taken), sum(|c| c.unread));
        if crossed != taken + unread {
            return Err(format!(
                "cores of {name} handed over {crossed} frames; others took {taken}, and {unread} were left"
            ));
        }
    }
    Ok(())
}
