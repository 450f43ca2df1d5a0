//! Running a plan's cases.

use crate::balance::path;
use crate::capture::PcapFile;
use crate::chosen::{self, check_flows};
use crate::collectives::{self, collectives};
use crate::mix::of_policies;
use crate::plan::{Case, Plan};
use crate::ports::{link_changes, port_metas};
use crate::stopwatch::Stopwatch;
use crate::testbed::{self, Ran};
use crate::{Fault, World, endless, flow_level, manifest::manifest, programs, queues, trace};
use incast_fabric::Packets;
use incast_measure::{Balance, Fidelity, FlowMeta, Manifest, Request, Run, StatedWarning};
use incast_transport::{Bytes, Flow, FlowId, HostId, RunRecord, Segments, Span, Time};
use incast_workload::{FlowClass, FlowSpec, Origin, Start};
use incast_world::{
    CaptureStream, Captured, FlowSetup, GateId, Monitor, Options, Setup, TraceLog, assemble,
    path_use,
};
use std::path::Path;
use std::sync::{Arc, atomic::Ordering};

/// When a flow starts if it waits for no other.
fn start(flow: &FlowSpec) -> Time {
    match flow.start {
        Start::At(at) => at,
        Start::After { .. } | Start::Told => Time::NEVER,
    }
}

/// The flows of one case, as a world has them.
pub(crate) fn setups<'a>(plan: &'a Plan, case: &'a Case) -> impl Iterator<Item = FlowSetup> + 'a {
    let flows = plan.traffic.flows.iter().zip(&case.transport_of).enumerate();
    flows.map(|(index, (flow, transport))| FlowSetup {
        flow: Flow {
            id: FlowId(index as u32),
            src: HostId(flow.src),
            dst: HostId(flow.dst),
            size: flow.size,
            start: start(flow),
            segments: segments(plan, flow),
            burst: flow.burst,
        },
        transport: case.transports[*transport as usize].info.id,
        after: match &flow.start {
            Start::After { flows, .. } => flows.iter().map(|f| FlowId(*f)).collect(),
            Start::At(_) | Start::Told => vec![],
        },
        delay: match flow.start {
            Start::After { delay, .. } => delay,
            Start::At(_) | Start::Told => Span::ZERO,
        },
        gate: flow.gate.map(GateId::new),
        cut: Time::NEVER,
    })
}

/// How a case is run. `capture` are ports whose packets are kept.
pub(crate) fn options(plan: &Plan, case: &Case, capture: Vec<u32>) -> Result<Options, Fault> {
    let run = &plan.scenario.run;
    let base_rtt = plan.site.base_rtt;
    let silent = plan.traffic.silent_after_first_rtt.iter().map(|host| {
        let own = plan.traffic.flows.iter().filter(|flow| flow.src == *host).map(start);
        (*host, own.min().unwrap_or(Time::ZERO).saturating_add(base_rtt))
    });
    let watch = run.watch.0.unwrap_or(case.watched()) as usize;
    Ok(Options {
        seed: run.seed,
        until: run.until.map_or(Time::NEVER, |until| Time(until.0)),
        drain: base_rtt.saturating_mul(4),
        interval: plan.interval(),
        series_start: plan.series_start(),
        watch: (0..plan.traffic.flows.len().min(watch) as u32).map(FlowId).collect(),
        capture,
        capture_limit: usize::try_from(plan.scenario.output.pcap_limit).unwrap_or(usize::MAX),
        capture_flows: plan.scenario.output.pcap_flows.iter().copied().collect(),
        silent: silent.collect(),
        storms: crate::buffers::storms(&plan.scenario.fabric, &plan.fabric)?,
        stops: endless::stops(plan),
        pfc: plan.pfc.clone(),
        queues: queues::of_case(plan, case)?,
        hosts: plan.hosts.clone(),
        paths: plan.paths.clone(),
        record_paths: plan.scenario.output.paths,
        marking: case.marking,
        balance: plan.balance(),
        ..Options::default()
    })
}

/// Makes the world of one case. `capture` are ports whose packets are kept.
pub fn prepare(plan: &Plan, case: &Case, capture: Vec<u32>) -> Result<Setup, Fault> {
    crate::memory::check_flows(plan)?;
    let options = options(plan, case, capture)?;
    check_flows(plan, "output.pcap_flows", &plan.scenario.output.pcap_flows)?;
    let (fabric, site) = (plan.fabric.clone(), plan.site.clone());
    let flows = setups(plan, case).collect();
    let setup = assemble(fabric, site, &case.transports, plan.join, flows, plan.shared, options)
        .map_err(of_policies)?;
    let (gates, executions) = (collectives::gates(plan), programs::executions(plan));
    Ok(Setup { gates, executions, ..setup })
}

fn segments(plan: &Plan, flow: &FlowSpec) -> Segments {
    match &flow.segments {
        None => Segments::Uniform(plan.site.framing.mss()),
        Some(payloads) => {
            let ends = payloads.iter().scan(0u64, |end, payload| {
                *end += *payload as u64;
                Some(*end)
            });
            Segments::Table(ends.collect::<Vec<u64>>().into())
        }
    }
}

/// Makes the world of one case with the trace that the scenario wants, and tells its transports that
/// they begin.
pub(crate) fn begin(
    plan: &Plan,
    case: &Case,
    capture: Vec<u32>,
    monitor: &Monitor,
) -> Result<(Setup, Option<Arc<TraceLog>>), Fault> {
    let mut setup = prepare(plan, case, capture)?;
    let log = trace::filter(plan)?.map(|filter| setup.trace(filter));
    monitor.halt.store(false, Ordering::Relaxed);
    case.transports.iter().for_each(|transport| transport.configured.begin(&monitor.halt));
    Ok((setup, log))
}

/// Takes the trace of a world that is gone into its record.
///
/// # Errors
/// A transport that could not go on.
pub(crate) fn ended(
    case: &Case,
    mut record: RunRecord,
    log: Option<Arc<TraceLog>>,
) -> Result<RunRecord, Fault> {
    record.trace = log.map(|log| log.finish());
    match case.transports.iter().find_map(|one| one.configured.failure()) {
        Some(failure) => Err(Fault::new(failure)),
        None => Ok(record),
    }
}

/// Runs one case in the scenario's world, in at most `threads` threads. The packets of the ports
/// `capture` are kept in memory.
pub fn execute(
    plan: &Plan,
    case: &Case,
    capture: Vec<u32>,
    threads: usize,
    monitor: &Monitor,
) -> Result<(Run, Vec<Captured>), Fault> {
    if plan.scenario.run.world == World::Flow {
        return Ok((flow_level::run(plan, case, threads, monitor)?, vec![]));
    }
    work(plan, case, begin(plan, case, capture, monitor)?, threads, monitor)
}

/// The same; the packets of the ports of `output.pcap`, if any, go to a file in `folder` while the
/// run goes on.
pub fn execute_into(
    folder: &Path,
    plan: &Plan,
    case: &Case,
    threads: usize,
    monitor: &Monitor,
) -> Result<Run, Fault> {
    if plan.scenario.run.world == World::Flow {
        return flow_level::run(plan, case, threads, monitor);
    }
    let ports = chosen::ports(plan, &plan.scenario.output.pcap)?;
    let (mut setup, log) = begin(plan, case, ports.clone(), monitor)?;
    if !ports.is_empty() {
        let file = PcapFile::create(folder, plan, &ports)?;
        let limit = plan.scenario.output.pcap_limit;
        let stream = CaptureStream::new(Box::new(file), limit, monitor.halt.clone());
        setup.options.capture_stream = Some(Arc::new(stream));
    }
    Ok(work(plan, case, (setup, log), threads, monitor)?.0)
}

fn work(
    plan: &Plan,
    case: &Case,
    (setup, log): (Setup, Option<Arc<TraceLog>>),
    threads: usize,
    monitor: &Monitor,
) -> Result<(Run, Vec<Captured>), Fault> {
    let stream = setup.options.capture_stream.clone();
    let world = plan.scenario.run.world;
    let threads = world.threads(Some(threads));
    let watch = Stopwatch::start();
    let Ran { mut record, captured, fidelity } = world.run(plan, setup, threads, monitor)?;
    if let Some(stream) = stream {
        let file = |error| Fault::unwritten(format!("the capture could not be written: {error}"));
        record.captures_cut = stream.finish().map_err(file)?;
    }
    let record = ended(case, record, log)?;
    let wall = watch.seconds();
    let fidelity = match fidelity {
        Some(fidelity) => {
            let (settings, beside) = (plan.dataplane(), prepare(plan, case, vec![])?);
            Some(testbed::judge(&settings, fidelity, plan.site.base_rtt, beside, monitor))
        }
        None => None,
    };
    Ok((describe(plan, case, record, fidelity, threads, wall), captured))
}

/// A record with the metadata of the plan.
pub(crate) fn describe(
    plan: &Plan,
    case: &Case,
    record: RunRecord,
    fidelity: Option<Fidelity>,
    threads: usize,
    wall: Option<f64>,
) -> Run {
    let manifest =
        Manifest { fidelity: fidelity.clone(), ..manifest(plan, case, &record, threads, wall) };
    let flows = flow_metas(plan, case, &record);
    let (programs, ranks) = programs::metas(plan);
    let of_programs = programs::collectives(plan, &record);
    let mut run = Run {
        label: case.title(),
        transports: case.transports.iter().map(|t| t.info.name.to_string()).collect(),
        collectives: match plan.traffic.collectives.as_slice() {
            [] => of_programs,
            _ => {
                let setups = setups(plan, case).collect::<Vec<_>>();
                [collectives(plan, &setups, &flows, &record), of_programs].concat()
            }
        },
        flows,
        ports: port_metas(plan),
        link_changes: link_changes(plan),
        requests: requests(plan, &record),
        programs,
        ranks,
        servers: vec![],
        base_rtt: plan.site.base_rtt,
        manifest,
        notes: plan.warnings.clone(),
        world: plan.scenario.run.world.words(&plan.dataplane()),
        fidelity,
        flow_level: None,
        wall_seconds: wall,
        record,
    };
    if plan.scenario.run.warmup.0.is_none() {
        Balance::of(&run).judge(&mut run);
    }
    run.servers = crate::nics::results(&plan.fabric, &run);
    list_warnings(&mut run);
    run.manifest.outline.complete = run.complete();
    run
}

/// Writes the warnings about a run into its manifest.
pub(crate) fn list_warnings(run: &mut Run) {
    run.manifest.warnings = run.warnings().into_iter().map(StatedWarning::from).collect();
}

fn flow_metas(plan: &Plan, case: &Case, record: &RunRecord) -> Vec<FlowMeta> {
    let routes = plan.fabric.routes();
    let framing = plan.site.framing;
    let charged = |payload: u32| Bytes(framing.charged_packet(payload as u16, 0) as u64);
    let mss = framing.mss() as u64;
    let drawn = |flow: &&FlowSpec| flow.origin == Origin::Poisson;
    let all = plan.traffic.flows.iter().filter(drawn).count();
    // What is left out by balance is known only once the run is over.
    let warm = (all as f64 * plan.scenario.run.warmup.0.unwrap_or(0.0)) as usize;
    let mut seen = 0;
    let flows = plan.traffic.flows.iter().zip(&case.transport_of).zip(&record.flows);
    let metas = flows.map(|((flow, transport), record)| {
        let hops = plan.fabric.hops(&routes, flow.src, flow.dst);
        let path_use = path_use(case.transports[*transport as usize].routing);
        let rest = (flow.size % mss) as u32;
        let last = if rest > 0 { charged(rest) } else { Bytes(0) };
        let packets = match &flow.segments {
            Some(all) => Packets::Each(all.iter().map(|payload| charged(*payload)).collect()),
            None => Packets::Uniform { full: charged(mss as u32), count: flow.size / mss, last },
        };
        let drawn = drawn(&flow);
        seen += drawn as usize;
        FlowMeta {
            src: flow.src,
            dst: flow.dst,
            size_bytes: flow.size,
            transport: *transport,
            class: flow.class.name(),
            path: path(plan, case, &routes, record, *transport as usize),
            ideal_fct: packets.ideal(plan.fabric.forwarding(), &hops, path_use),
            arrival: drawn
                || flow.origin == Origin::File
                    && flow.class == FlowClass::Background
                    && matches!(flow.start, Start::At(_)),
            warmup: drawn && seen <= warm,
            stop: flow.stop,
            priority: flow.priority,
        }
    });
    metas.collect()
}

fn requests(plan: &Plan, record: &RunRecord) -> Vec<Request> {
    let groups = plan.traffic.requests.iter().filter_map(|group| {
        let flows = group.requests.iter().chain(&group.responses).map(|f| *f as usize);
        let started = flows.clone().filter_map(|flow| record.flows[flow].started).min()?;
        let ends: Option<Vec<Time>> = flows.map(|flow| record.flows[flow].completed).collect();
        Some(Request {
            start: started,
            end: ends.and_then(|ends| ends.into_iter().max()),
            flows: (group.requests.len() + group.responses.len()) as u32,
            warmup: false,
        })
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use incast_measure::Warning;

    fn plan(warmup: &str, more: &str) -> Plan {
        let text = format!(
            "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[transport]\nnames = [\"trd\", \"dctcp\"]\n\
             [[traffic]]\nkind = \"poisson\"\nworkload = \"ali_storage\"\nload = 0.5\nflows = 400\n\
             {more}[run]\nwarmup = {warmup}\n"
        );
        Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap()
    }

    fn ran(plan: &Plan, case: usize) -> Run {
        execute(plan, &plan.cases[case], vec![], 1, &Monitor::default()).unwrap().0
    }

    /// `run.warmup` is a share of the `poisson` flows, the first of them, and of nothing else:
    /// neither of a permutation, which starts before them, nor of the flows of a file.
    #[test]
    fn the_warm_up_is_of_poisson_flows_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flows.csv");
        std::fs::write(&file, "src,dst,size_bytes,start_ns\n0,1,1000,0\n1,2,1000,5\n").unwrap();
        let more = format!(
            "[[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n\
             [[traffic]]\nkind = \"file\"\nfile = {:?}\n",
            file.display().to_string()
        );
        let plan = plan("0.25", &more);
        let run = ran(&plan, 0);
        let of = |origin: Origin| {
            let flows = plan.traffic.flows.iter().zip(&run.flows);
            let own = flows.filter(|(flow, _)| flow.origin == origin).map(|(_, meta)| meta);
            own.map(|meta| (meta.warmup, meta.arrival)).collect::<Vec<_>>()
        };
        let drawn = of(Origin::Poisson);
        assert_eq!(drawn.len(), 400);
        assert!(drawn[..100].iter().all(|(warmup, arrival)| *warmup && *arrival));
        assert!(drawn[100..].iter().all(|(warmup, arrival)| !warmup && *arrival));
        assert_eq!(of(Origin::Pattern), [(false, false); 8]);
        assert_eq!(of(Origin::File), [(false, true); 2]);
        assert_eq!(incast_measure::summarise(&run).flows.warmup, 100);
    }

    /// `auto`: the run's own window; in a comparison the one that its runs have in common.
    #[test]
    fn with_auto_the_flows_that_start_in_balance_are_measured() {
        let plan = plan("\"auto\"", "");
        let mut runs = [ran(&plan, 0), ran(&plan, 1)];
        for run in &runs {
            let Balance::Reached(window) = Balance::of(run) else { panic!("{}", run.label) };
            for (flow, meta) in run.record.flows.iter().zip(&run.flows) {
                assert_eq!(meta.warmup, !window.contains(flow.started.unwrap()));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("out");
        let folder =
            incast_measure::ResultsFolder::create(Some(&place), false, &place, "x").unwrap();
        let alone = |_: &str, work: &mut dyn FnMut()| work();
        let filled = crate::output::fill(&folder, &plan, 1, &Monitor::default(), alone).unwrap();
        let common = Balance::common(&runs);
        runs.iter_mut().for_each(|run| common.judge(run));
        assert_eq!(filled.runs[0].flows, runs[0].flows);
        assert_eq!(
            filled.runs[1].flows,
            runs[0]
                .flows
                .iter()
                .zip(&runs[1].flows)
                .map(|(a, b)| { FlowMeta { warmup: a.warmup, ..b.clone() } })
                .collect::<Vec<_>>(),
            "the same flows in both"
        );
    }

    fn plan_of(text: &str) -> Plan {
        Plan::new(Scenario::parse(text, "test", &[]).unwrap()).unwrap()
    }

    /// A flow of one packet over two links of 10 Gb/s and 1 us: the sender knows when the packet with
    /// which the receiver answers, at least 84 B, has come back over both. Every transport's sender
    /// learns of the end.
    #[test]
    fn the_sender_knows_one_answer_later_than_the_receiver() {
        for entry in incast_protocols::CATALOGUE {
            let name = entry.info().name;
            let plan = plan_of(&format!(
                "[fabric]\ntopology = \"star:2\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"{name}\"]\n\
                 [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"1460B\"\n"
            ));
            let run = ran(&plan, 0);
            let (fct, known) = (run.fct(0).expect(name), run.sender_fct(0).expect(name));
            let answer = known - fct;
            assert!(answer >= Span(2_134_400), "{name}: {answer}");
            assert!(answer <= Span(2_134_400) + Span::from_us(1), "{name}: {answer}");
            if name == "dctcp" {
                assert_eq!(answer, Span(2_134_400));
            }
        }
    }

    /// Under congestion every flow's sender learns, and never before the receiver is done.
    #[test]
    fn no_sender_knows_before_its_receiver_is_done() {
        for entry in incast_protocols::CATALOGUE {
            let name = entry.info().name;
            let plan = plan_of(&format!(
                "[fabric]\ntopology = \"star:9\"\nbuffer = \"32KiB\"\n[transport]\nnames = [\"{name}\"]\n\
                 [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"60KB\"\n"
            ));
            let run = ran(&plan, 0);
            for flow in 0..8 {
                let known = run.sender_fct(flow).unwrap_or_else(|| panic!("{name} {flow}"));
                assert!(known > run.fct(flow).expect(name), "{name} {flow}");
            }
        }
    }

    const INCAST: &str = "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"60KB\"\n";

    #[test]
    fn transports_designed_for_pfc_are_named_where_switches_drop() {
        let warnings = |fabric: &str| {
            let text = format!(
                "[fabric]\ntopology = \"star:4\"\n{fabric}[transport]\n\
                 names = [\"timely\", \"dctcp\", \"hpcc\"]\n{INCAST}"
            );
            plan_of(&text).warnings
        };
        let transports = vec!["hpcc".to_string(), "timely".to_string()];
        assert_eq!(warnings(""), [Warning::WithoutPfc { transports }]);
        assert_eq!(warnings("pfc = {}\n"), []);
        assert_eq!(warnings("buffer = \"unlimited\"\n"), []);
    }

    #[test]
    fn a_run_of_several_transports_is_labelled_as_mixed() {
        let label = |assign: &str| {
            let text = format!(
                "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"trd\"]\n{assign}{INCAST}"
            );
            let plan = plan_of(&text);
            assert_eq!(plan.cases[0].label, "trd", "folders and claims know it by its name");
            plan.cases[0].title()
        };
        assert_eq!(label(""), "trd");
        let some = "[[transport.assign]]\nname = \"dctcp\"\nhosts = \"1\"\n";
        assert_eq!(label(some), "trd + dctcp (mixed)");
        // Whoever carries no flow is not in the mix.
        let all = "[[transport.assign]]\nname = \"dctcp\"\nclass = \"incast\"\n";
        assert_eq!(label(all), "trd");
    }

    /// Warnings are in the manifest with their data, and a run without a completed flow is not
    /// complete, though it ended as asked.
    #[test]
    fn the_manifest_has_the_warnings() {
        let plan = plan_of(&format!(
            "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"hpcc\"]\n{INCAST}[run]\nuntil = \"5us\"\n"
        ));
        let run = ran(&plan, 0);
        let kinds: Vec<&str> = run.manifest.warnings.iter().map(|stated| stated.name()).collect();
        assert_eq!(kinds, ["without_pfc", "nothing_completed"]);
        assert!(!run.manifest.outline.complete);
    }
}
