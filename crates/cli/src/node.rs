//! `incast testbed node`: one switch or host of a scenario as a process.
//!
//! Alone it meets its neighbours and runs until its time is over. With `--managed` it is led by
//! lines on its standard input, each of which it answers on its standard output:
//!
//! | line | what it does | answer |
//! |---|---|---|
//! | | it has started, in its namespace | `here` |
//! | `open` | opens its interfaces, meets its neighbours | `met`, the base RTT in picoseconds and in words |
//! | `start NS` | runs from this instant of the monotonic clock on | `completed N`, now and then |
//! | `stop` | ends the run | `stopped` |
//! | `count` | counts the frames that are left | `record JSON` |
//!
//! The end of its input ends it at once, so no node outlives who leads it.

use crate::process::Ended;
use crate::session::{on_signal, tell_fidelity};
use clap::Args;
use incast_dataplane::{Meeting, Outside, system};
use incast_experiment::fault::expected;
use incast_experiment::nodes::{self, CorePart, Cores, Interface, NodeRecord, OverPorts};
use incast_experiment::scenario::Draft;
use incast_experiment::{Fault, Monitor, Plan};
use incast_fabric::{Fabric, PortId};
use incast_transport::Span;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Between two looks at the progress of a run.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Args)]
pub struct NodeArgs {
    /// Scenario file
    pub scenario: PathBuf,
    /// Node of the scenario: host0, leaf1, switch0
    #[arg(long, value_name = "NODE")]
    pub name: String,
    /// Interface of a port: PORT=if:INTERFACE, on an ordinary network PORT=if:INTERFACE,ip=ADDRESS/BITS,peer=ADDRESS, or
    /// device of DPDK: PORT=PCI-ADDRESS, PORT=net_DRIVER...; PORT is a port's number, or the node it leads to
    #[arg(long, value_name = "PORT=OUTLET")]
    pub port: Vec<String>,
    /// Start DPDK with these arguments of its EAL, instead of those that the devices need
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub eal: Option<String>,
    /// Cores for its ports, which are dealt out to them in turn, with a thread on each: 2,3 or 2-5
    #[arg(long, value_name = "CORES")]
    pub lcores: Option<String>,
    /// Never sleep: for cores on which nothing else runs
    #[arg(long)]
    pub poll: bool,
    /// File with the key of the network, 16 bytes or more: who does not have it can neither join nor end a flow
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Override a scenario key: run.seed=7
    #[arg(long, value_name = "KEY=VALUE", value_parser = crate::values::set)]
    pub set: Vec<String>,
    /// How long to wait for neighbours
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub patience: Span,
    /// How long to run, if not until Ctrl-C
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<Span>,
    /// Print the whole record at the end, as JSON
    #[arg(long)]
    pub json: bool,
    /// Be led by lines on standard input
    #[arg(long, hide = true)]
    pub managed: bool,
}

/// Reads a scenario for a testbed of processes.
pub fn planned(path: &Path, set: &[String]) -> Result<Plan, Fault> {
    let draft = Draft::load(path)?.sets(set)?;
    let plan = Plan::new(draft.scenario()?).map_err(|fault| draft.placed(fault))?;
    nodes::check(&plan).map_err(|fault| draft.placed(fault))?;
    Ok(plan)
}

pub fn node(options: NodeArgs) -> Result<Ended, Fault> {
    let plan = planned(&options.scenario, &options.set)?;
    let node = nodes::Node::new(&plan, &options.name, &options.port)?;
    let patience = Duration::from_nanos(options.patience.0 / 1_000);
    let monitor = Arc::new(Monitor::default());
    let mut cores = match &options.lcores {
        Some(list) => Cores::new(&plan, &node, list)?,
        None => Cores::default(),
    };
    cores.polls = options.poll;
    let key = options.key.as_deref().map(nodes::read_key).transpose()?;
    let (plan, node, eal) = (&plan, &node, options.eal.as_deref());
    if options.managed {
        // Leaders answer signals; a node ends when its leader says so, or is gone.
        on_signal(|| {});
        let lines = lines();
        system::disable_ipv6();
        say!("here");
        expect(&lines, "open")?;
        return nodes::over(plan, node, eal, key, Managed { plan, node, cores, patience, lines });
    }
    let stop = monitor.clone();
    on_signal(move || {
        if stop.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let (time, json) = (options.time, options.json);
    nodes::over(plan, node, eal, key, Alone { plan, node, cores, patience, time, json, monitor })
}

/// Tells of strangers on the links of a node that runs, once each.
pub fn watch_strangers(meeting: &Arc<Meeting>) {
    let meeting = Arc::downgrade(meeting);
    std::thread::spawn(move || {
        while let Some(meeting) = meeting.upgrade() {
            meeting.take_strangers().iter().for_each(|why| eprintln!("warning: {why}"));
            drop(meeting);
            std::thread::sleep(10 * LOOK);
        }
    });
}

/// A node that nobody leads.
struct Alone<'a> {
    plan: &'a Plan,
    node: &'a nodes::Node,
    cores: Cores,
    patience: Duration,
    time: Option<Span>,
    json: bool,
    monitor: Arc<Monitor>,
}

impl OverPorts for Alone<'_> {
    type Out = Ended;

    fn run<I>(self, mut io: I) -> Result<Ended, Fault>
    where
        I: Outside + Send,
        I::Frame: Send,
    {
        let Alone { plan, node, cores, patience, time, json, monitor } = self;
        let Some(met) = nodes::meet(plan, node, &mut io, patience, &monitor.stop)? else {
            return Ok(Ended::Interrupted);
        };
        let (own, told) = met.plan(plan)?;
        let plan = own.as_ref().unwrap_or(plan);
        say!("{}: all neighbours are here; {told}", node.name);
        watch_strangers(&met.meeting);
        let stop = monitor.clone();
        if let Some(time) = time {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_nanos(time.0 / 1_000));
                stop.stop.store(true, Ordering::Relaxed);
            });
        }
        let record = nodes::run(plan, node, io, &cores, system::monotonic(), &monitor, || {})?;
        if record.exhausted > 0 {
            let (name, count) = (&node.name, record.exhausted);
            eprintln!("warning: {name} had no packet memory for {count} packets: they are lost");
        }
        let fidelity = nodes::judge(plan, std::slice::from_ref(&record), &Monitor::default())?;
        match json {
            true => say!("{}", serde_json::to_string_pretty(&record).expect("a record is JSON")),
            false => summary(&plan.fabric, std::slice::from_ref(&record)),
        }
        if let Some(fidelity) = fidelity.filter(|_| !json) {
            tell_fidelity(&node.name, &fidelity);
        }
        Ok(Ended::Done)
    }
}

/// Prints what each node took of a core, its frames, and what was refused.
pub fn summary(fabric: &Fabric, records: &[NodeRecord]) {
    say!("{:<10} {:>7} {:>11} {:>11} {:>9}", "node", "core", "frames out", "frames in", "dropped");
    for record in records {
        let sum = |of: fn(&Interface) -> u64| record.interfaces.iter().map(of).sum::<u64>();
        let (sent, received) = (sum(|i| i.sent), sum(|i| i.received));
        let (share, dropped) = (record.cpu_share() * 100.0, sum(|i| i.dropped + i.refused));
        let name = &record.name;
        say!("{name:<10} {share:>6.1}% {sent:>11} {received:>11} {dropped:>9}");
        for CorePart { core, ports, packets, crossed, cpu_s, .. } in &record.cores {
            let share = cpu_s / record.wall_s.max(1e-9) * 100.0;
            say!(
                "  core {core:<3} {share:>6.1}% {packets:>11} packets sent by ports {ports:?}, {crossed} handed over"
            );
        }
        for one in record.interfaces.iter().filter(|one| one.foreign > 0) {
            let peer = fabric.node_name(fabric.port(PortId(one.port)).peer);
            say!("  port {} to {peer}: {} frames of other programs", one.port, one.foreign);
        }
        if record.malformed > 0 {
            say!("  {} frames refused: no packet of this scenario", record.malformed);
        }
    }
}

/// Lines of the standard input. Its end ends the process.
fn lines() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                return;
            }
        }
        std::process::exit(1);
    });
    receiver
}

fn expect(lines: &Receiver<String>, what: &str) -> Result<String, Fault> {
    let line = lines.recv().map_err(|_| Fault::new("the leader is gone"))?;
    match line.strip_prefix(what) {
        Some(rest) => Ok(rest.trim().to_string()),
        None => Err(Fault::new(expected(format!("`{what}`, the leader says `{line}`")))),
    }
}

/// A node that is led by lines.
struct Managed<'a> {
    plan: &'a Plan,
    node: &'a nodes::Node,
    cores: Cores,
    patience: Duration,
    lines: Receiver<String>,
}

impl OverPorts for Managed<'_> {
    type Out = Ended;

    fn run<I>(self, mut io: I) -> Result<Ended, Fault>
    where
        I: Outside + Send,
        I::Frame: Send,
    {
        let Managed { plan, node, cores, patience, lines } = self;
        // A leader that wants no more of it closes the standard input.
        let met = nodes::meet(plan, node, &mut io, patience, &AtomicBool::new(false))?;
        let met = met.ok_or_else(|| Fault::new("nobody stops a meeting that is led"))?;
        let (own, told) = met.plan(plan)?;
        let plan = own.as_ref().unwrap_or(plan);
        say!("met {} {told}", plan.site.base_rtt.0);
        watch_strangers(&met.meeting);
        let epoch = expect(&lines, "start")?;
        let epoch = epoch.parse().map_err(|_| Fault::new(format!("`{epoch}` is no instant")))?;
        let monitor = Arc::new(Monitor::default());
        let led = monitor.clone();
        let leader = std::thread::spawn(move || tell_and_wait(&led, lines));
        let mut lines = None;
        let record = nodes::run(plan, node, io, &cores, epoch, &monitor, || {
            say!("stopped");
            lines = leader.join().ok();
            if let Some(lines) = &lines {
                // Either `count`, or the leader is gone and so is this process.
                let _ = lines.recv();
            }
        })?;
        say!("record {}", serde_json::to_string(&record).expect("a record is JSON"));
        Ok(Ended::Done)
    }
}

/// Tells the leader how many flows are complete, until it says stop.
fn tell_and_wait(led: &Monitor, lines: Receiver<String>) -> Receiver<String> {
    let mut told = 0;
    loop {
        let completed = led.completed.load(Ordering::Relaxed);
        if completed != told {
            told = completed;
            say!("completed {told}");
        }
        if lines.recv_timeout(LOOK).is_ok() {
            led.stop.store(true, Ordering::Relaxed);
            return lines;
        }
    }
}
