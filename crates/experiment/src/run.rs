//! Running a plan's cases.

use crate::capture::PcapFile;
use crate::plan::{Case, Plan};
use crate::setup::begin;
use crate::{Fault, World, chosen, flow_level, packets};
use incast_measure::Run;
use incast_world::{CaptureStream, Captured, Monitor};
use std::path::Path;
use std::sync::Arc;

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
    packets::run(plan, case, begin(plan, case, capture, monitor)?, threads, monitor)
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
    Ok(packets::run(plan, case, (setup, log), threads, monitor)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use incast_measure::{Balance, FlowMeta, Warning};
    use incast_transport::Span;
    use incast_workload::Origin;

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
