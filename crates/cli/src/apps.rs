//! `incast testbed serve | send | perf`: applications on hosts of a testbed.

use crate::node::{planned, watch_strangers};
use crate::process::Ended;
use crate::session::{on_signal, tell_fidelity};
use crate::transfer::{Server, Transfer};
use bytes::Bytes;
use clap::Args;
use incast_dataplane::endpoint::{Endpoint, Event, Limits, Purpose};
use incast_dataplane::{
    Clock, Idle, Mem, Monotonic, Outside, PacketIo, RealTime, Rule, Testbed, system,
};
use incast_experiment::fault::{expected, wrong};
use incast_experiment::nodes::{self, OverPorts};
use incast_experiment::{Fault, Plan, transport};
use incast_fabric::{LinkDefaults, parse};
use incast_transport::{Histogram, HostId, Rate, Span};
use incast_world::for_messages;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A host of a scenario whose switches run as `incast testbed node`.
#[derive(Args)]
pub struct Place {
    /// Scenario file: its fabric and its transport
    pub scenario: PathBuf,
    /// Host of the scenario: host0
    #[arg(long, value_name = "HOST")]
    pub name: String,
    /// Interface of its port: PORT=if:INTERFACE, on an ordinary network PORT=if:INTERFACE,ip=ADDRESS/BITS,peer=ADDRESS, or
    /// device of DPDK: PORT=PCI-ADDRESS, PORT=net_DRIVER...
    #[arg(long, value_name = "PORT=OUTLET")]
    pub port: Vec<String>,
    /// Start DPDK with these arguments of its EAL, instead of those that the device needs
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub eal: Option<String>,
    /// File with the key of the network, 16 bytes or more: who does not have it can neither join nor end a flow
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Override a scenario key: transport.names=["ren"]
    #[arg(long, value_name = "KEY=VALUE", value_parser = crate::values::set)]
    pub set: Vec<String>,
    /// How long to wait for the neighbour
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub patience: Span,
}

#[derive(Args)]
pub struct Serve {
    #[command(flatten)]
    pub place: Place,
    /// Folder for files that are sent here
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

#[derive(Args)]
pub struct SendFile {
    /// File to send
    pub file: PathBuf,
    /// Host that runs `incast testbed serve`
    #[arg(long, value_name = "HOST")]
    pub to: String,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Args)]
pub struct Perf {
    /// Transport, for a network of two hosts within this process
    #[arg(long, value_name = "NAME", required_unless_present = "scenario")]
    pub transport: Option<String>,
    /// Rate of its links
    #[arg(long, value_name = "RATE", default_value = "1Gbps", conflicts_with = "scenario")]
    pub rate: Rate,
    /// Propagation of its links
    #[arg(long, value_name = "TIME", default_value = "5us", conflicts_with = "scenario")]
    pub delay: Span,
    /// Scenario file, to measure from one of its hosts to another instead
    #[arg(long, value_name = "FILE", requires_all = ["name", "to"], conflicts_with = "transport")]
    pub scenario: Option<PathBuf>,
    /// Host of the scenario
    #[arg(long, value_name = "HOST")]
    pub name: Option<String>,
    /// Interface of its port: PORT=if:INTERFACE, on an ordinary network PORT=if:INTERFACE,ip=ADDRESS/BITS,peer=ADDRESS, or
    /// device of DPDK: PORT=PCI-ADDRESS, PORT=net_DRIVER...
    #[arg(long, value_name = "PORT=OUTLET")]
    pub port: Vec<String>,
    /// Start DPDK with these arguments of its EAL, instead of those that the device needs
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    pub eal: Option<String>,
    /// File with the key of the network, 16 bytes or more: who does not have it can neither join nor end a flow
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Host that runs `incast testbed serve`
    #[arg(long, value_name = "HOST")]
    pub to: Option<String>,
    /// Bytes of a message
    #[arg(long, value_name = "BYTES", default_value_t = 100_000)]
    pub size: usize,
    /// Messages that are under way at a time
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub parallel: usize,
    /// How long to measure
    #[arg(long = "for", value_name = "TIME", default_value = "10s")]
    pub time: Span,
}

/// Set by Ctrl-C.
fn stopped() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let shared = stop.clone();
    on_signal(move || {
        if shared.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    stop
}

/// An application on a host of a scenario.
trait Application {
    /// Runs on an endpoint which has met its neighbour; `to` is the host of that name, if one is given.
    fn run<I: Outside>(
        self,
        endpoint: &mut Endpoint<I, RealTime>,
        to: Option<HostId>,
    ) -> Result<Ended, Fault>;
}

/// An application, and what its endpoint is made from.
struct Remote<'a, A> {
    plan: &'a Plan,
    node: &'a nodes::Node,
    patience: Duration,
    to: Option<HostId>,
    stop: Arc<AtomicBool>,
    application: A,
}

impl<A: Application> OverPorts for Remote<'_, A> {
    type Out = Ended;

    fn run<I>(self, mut io: I) -> Result<Ended, Fault>
    where
        I: Outside + Send,
        I::Frame: Send,
    {
        let Remote { plan, node, patience, to, stop, application } = self;
        let Some(met) = nodes::meet(plan, node, &mut io, patience, &stop)? else {
            return Ok(Ended::Interrupted);
        };
        let (own, told) = met.plan(plan)?;
        let plan = own.as_ref().unwrap_or(plan);
        eprintln!("{}: {told}", node.name);
        watch_strangers(&met.meeting);
        let clock = RealTime::new(Rule::Tsc, Idle::Sleep(Span::from_us(1)));
        let setup = nodes::without_flows(plan)?;
        let start = (system::process_number() >> 32) as u32;
        let me = HostId(node.id.0);
        let mut endpoint = Endpoint::within(Limits::default(), io, clock, setup, me, start);
        let ended = application.run(&mut endpoint, to)?;
        if let Some(fidelity) = endpoint.fidelity() {
            tell_fidelity(&node.name, &node.told(plan, &fidelity));
        }
        Ok(ended)
    }
}

/// Runs an application on a host of a scenario.
fn remote(
    place: &Place,
    to: Option<&str>,
    stop: Arc<AtomicBool>,
    application: impl Application,
) -> Result<Ended, Fault> {
    let plan = planned(&place.scenario, &place.set)?;
    let node = nodes::Node::new(&plan, &place.name, &place.port)?;
    let host = |id: u32, name: &str, flag: &str| match id < plan.fabric.hosts() {
        true => Ok(HostId(id)),
        false => {
            Err(Fault::new(wrong(format!("{name} is a switch")).expected("a host")).placed(flag))
        }
    };
    host(node.id.0, &node.name, "--name")?;
    let to = to.map(|name| {
        let id = plan.fabric.node_named(name).map_err(|e| Fault::new(e).placed("--to"))?;
        host(id.0, name, "--to")
    });
    let to = to.transpose()?;
    let patience = Duration::from_nanos(place.patience.0 / 1_000);
    let remote = Remote { plan: &plan, node: &node, patience, to, stop, application };
    let key = place.key.as_deref().map(nodes::read_key).transpose()?;
    nodes::over(&plan, &node, place.eal.as_deref(), key, remote)
}

pub fn serve(options: Serve) -> Result<Ended, Fault> {
    let stop = stopped();
    check_folder(&options.folder)?;
    remote(&options.place, None, stop.clone(), Serving { options: &options, stop })
}

/// Files that arrive can be written here.
fn check_folder(folder: &Path) -> Result<(), Fault> {
    let trial = folder.join(format!(".incast-{}", std::process::id()));
    let tried = std::fs::write(&trial, []).and_then(|()| std::fs::remove_file(&trial));
    tried.map_err(|error| {
        let problem = expected(format!("a folder in which files can be written: {error}"));
        Fault::value("--folder", folder.display(), problem)
    })
}

struct Serving<'a> {
    options: &'a Serve,
    stop: Arc<AtomicBool>,
}

impl Application for Serving<'_> {
    fn run<I: Outside>(
        self,
        endpoint: &mut Endpoint<I, RealTime>,
        _to: Option<HostId>,
    ) -> Result<Ended, Fault> {
        let mut server = Server::new(&self.options.folder);
        say!("{} serves; Ctrl-C ends it", self.options.place.name);
        while !self.stop.load(Ordering::Relaxed) {
            if let Some(Event::Received(received)) = endpoint.poll()
                && let Some(line) = server.take(endpoint, &received)
            {
                say!("{line}");
            }
        }
        Ok(Ended::Done)
    }
}

pub fn send(options: SendFile) -> Result<Ended, Fault> {
    let stop = stopped();
    let Some(transfer) = Transfer::open(&options.file, &stop)? else {
        return Ok(Ended::Interrupted);
    };
    let sending = Sending { options: &options, transfer, stop: stop.clone() };
    remote(&options.place, Some(&options.to), stop, sending)
}

struct Sending<'a> {
    options: &'a SendFile,
    transfer: Transfer,
    stop: Arc<AtomicBool>,
}

impl Application for Sending<'_> {
    fn run<I: Outside>(
        self,
        endpoint: &mut Endpoint<I, RealTime>,
        to: Option<HostId>,
    ) -> Result<Ended, Fault> {
        let Sending { options, mut transfer, stop } = self;
        let to = to.expect("it was given");
        let begin = Instant::now();
        let place = options.file.display().to_string();
        loop {
            transfer.fill(endpoint, to)?;
            if let Some(event) = endpoint.poll()
                && let Some(outcome) = transfer.take(event)
            {
                let digest = outcome.map_err(|problem| Fault::new(problem).placed(&place))?;
                let (bytes, seconds) = (transfer.length(), begin.elapsed().as_secs_f64());
                let rate = bytes as f64 * 8e-6 / seconds;
                say!(
                    "{bytes} bytes in {seconds:.2} s, {rate:.1} Mb/s; SHA-256 {digest} at both ends"
                );
                return Ok(Ended::Done);
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(Ended::Interrupted);
            }
        }
    }
}

/// Measures over ports of this machine.
struct Measuring<'a> {
    options: &'a Perf,
    stop: Arc<AtomicBool>,
}

impl Application for Measuring<'_> {
    fn run<I: Outside>(
        self,
        endpoint: &mut Endpoint<I, RealTime>,
        to: Option<HostId>,
    ) -> Result<Ended, Fault> {
        let to = to.expect("required with --scenario");
        measure(endpoint, to, self.options, &self.stop, || {})
    }
}

pub fn perf(options: Perf) -> Result<Ended, Fault> {
    let stop = stopped();
    if let (Some(scenario), Some(name)) = (&options.scenario, &options.name) {
        let (set, patience) = (vec![], Span::from_secs(10));
        let (name, port, eal) = (name.clone(), options.port.clone(), options.eal.clone());
        let (scenario, key) = (scenario.clone(), options.key.clone());
        let place = Place { scenario, name, port, eal, key, set, patience };
        let measuring = Measuring { options: &options, stop: stop.clone() };
        return remote(&place, options.to.as_deref(), stop, measuring);
    }
    let name = options.transport.as_deref().expect("required without --scenario");
    let entry = transport(name, "--transport")?;
    let links = LinkDefaults { rate: options.rate, propagation: options.delay, loss: 0.0 };
    let fabric = Arc::new(parse("star:2", links).map_err(Fault::new)?);
    let setup = || for_messages(&fabric, entry, &[]).map_err(Fault::new);
    let wires = Rc::new(RefCell::new(Mem::new(&fabric, setup()?.framing)));
    let begin = Instant::now();
    let clock = || RealTime::on(Monotonic::since(begin), Rule::Tsc, Idle::Poll);
    let mut client = Endpoint::new(wires.clone(), clock(), setup()?, HostId(0));
    let mut server = Endpoint::new(wires.clone(), clock(), setup()?, HostId(1));
    let mut switch = Testbed::part(setup()?, wires.clone(), clock(), &[2]);
    let mut answers = Server::new(&std::env::temp_dir());
    say!("{name}: two hosts and a switch in this process, links of {}", options.rate);
    measure(&mut client, HostId(1), &options, &stop, || {
        switch.turn();
        if let Some(Event::Received(received)) = server.poll() {
            answers.take(&mut server, &received);
        }
    })
}

/// Keeps messages under way to a host, shows what came of them each second, and percentiles of how
/// long they took from `send` to the reply.
fn measure<I: PacketIo, C: Clock>(
    endpoint: &mut Endpoint<I, C>,
    to: HostId,
    options: &Perf,
    stop: &AtomicBool,
    mut others: impl FnMut(),
) -> Result<Ended, Fault> {
    let message = Bytes::from(vec![crate::transfer::MEASURE; options.size.max(1)]);
    let time = Duration::from_nanos(options.time.0 / 1_000);
    let mut open = std::collections::HashMap::new();
    let mut took = Histogram::new();
    let (mut bytes, mut failed, mut shown) = (0u64, 0u64, (0u64, 0u64));
    let begin = Instant::now();
    let mut second = 1;
    while begin.elapsed() < time && !stop.load(Ordering::Relaxed) {
        while open.len() < options.parallel.max(1) {
            match endpoint.request(to, message.clone()) {
                Ok(id) => open.insert(id, Instant::now()),
                Err(incast_dataplane::endpoint::SendError::WouldBlock) => break,
                Err(error) => return Err(Fault::new(error)),
            };
        }
        others();
        match endpoint.poll() {
            Some(Event::Received(received)) => {
                if let Purpose::Reply(id) = received.purpose
                    && let Some(since) = open.remove(&id)
                {
                    took.add(since.elapsed().as_nanos() as u64);
                    bytes += options.size as u64;
                }
            }
            Some(Event::Failed(id, why)) => {
                open.remove(&id);
                failed += 1;
                say!("a message has failed: {why}");
            }
            Some(Event::Sent(_)) | None => {}
        }
        if begin.elapsed() >= Duration::from_secs(second) {
            let (more, count) = (bytes - shown.0, took.count() - shown.1);
            say!("{second:>4} s {:>10.2} Mb/s {count:>8} messages", more as f64 * 8e-6);
            shown = (bytes, took.count());
            second += 1;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    say!(
        "{:.2} Mb/s in {seconds:.1} s, {} messages of {} bytes, {failed} failed",
        bytes as f64 * 8e-6 / seconds,
        took.count(),
        options.size
    );
    let at = |thousandths| took.percentile(thousandths).map(|ns| ns as f64 * 1e-3);
    match (at(500), at(990), at(999)) {
        (Some(p50), Some(p99), Some(p999)) => {
            say!("from send to reply: p50 {p50:.1} us, p99 {p99:.1} us, p99.9 {p999:.1} us");
        }
        _ => say!("no reply came: there is no time from send to reply"),
    }
    Ok(if took.count() > 0 && failed == 0 { Ended::Done } else { Ended::Failed })
}
