//! Servers with several NICs: results by server, and results as flows again.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::{Run, summarise};
use incast_workload::FlowClass;

/// Two servers with a NIC at each of two ToRs, and one with one; the ToRs meet in a spine. Switches come first in the
/// file, so that hosts have other numbers here.
const DUAL_TOR: &str = "6 3 7\n0 1 2\n3 0 100Gbps 1us 0\n3 1 50Gbps 1us 0\n4 1 100Gbps 1us 0\n4 0 100Gbps 1us 0\n\
                        5 0 25Gbps 1us 0\n0 2 400Gbps 1us 0\n1 2 400Gbps 1us 0\n";

fn plan(folder: &std::path::Path, traffic: &str) -> Plan {
    let topology = folder.join("dual.topo");
    std::fs::write(&topology, DUAL_TOR).unwrap();
    let lines = format!(
        "[fabric]\nfile = {:?}\nnic = \"round_robin\"\n[transport]\nnames = [\"dctcp\"]\n{traffic}",
        topology.display().to_string()
    );
    Plan::new(Scenario::parse(&lines, "test.toml", &[]).unwrap()).unwrap()
}

fn run(plan: &Plan) -> Run {
    execute(plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap().0
}

#[test]
fn results_are_by_server() {
    let folder = tempfile::tempdir().unwrap();
    let many = "[[traffic]]\nkind = \"all_to_all\"\nsize = \"30KB\"\n[[traffic]]\nkind = \"long\"\nfrom = \"2\"\nto = \"0\"\nsize = \"1MB\"\n";
    let run = run(&plan(folder.path(), many));
    let summary = summarise(&run);
    let nics: Vec<u32> = summary.servers.iter().map(|one| one.nics).collect();
    assert_eq!(nics, [2, 2, 1]);
    let flows = |one: usize| {
        let own = &summary.servers[one];
        (
            own.sent_flows,
            own.sent_bytes,
            own.received_flows,
            own.delivered_bytes,
            own.completed_flows,
        )
    };
    assert_eq!(flows(0), (2, 60_000, 3, 1_060_000, 3));
    assert_eq!(flows(2), (3, 1_060_000, 2, 60_000, 2));
    let fct = |at: usize| run.fct(at).unwrap().as_ns_f64();
    let to_first = (0..run.flows.len()).filter(|at| run.flows[*at].dst < 2);
    let mean = to_first.map(fct).sum::<f64>() / 3.0;
    assert!((summary.servers[0].fct_ns.unwrap().mean - mean).abs() < 1e-6);
    // Where each host is a server there is no such table.
    let star = "[fabric]\ntopology = \"star:3\"\n[transport]\nnames = [\"dctcp\"]\n[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let star = Plan::new(Scenario::parse(star, "test.toml", &[]).unwrap()).unwrap();
    let star = execute(&star, &star.cases[0], vec![], 1, &Monitor::default()).unwrap().0;
    assert!(star.servers.is_empty() && summarise(&star).servers.is_empty());
}

/// The flows of a run are those of another one, between the same NICs, whatever `nic` would choose, and of the hosts of
/// these numbers, whatever their numbers in the topology file.
#[test]
fn results_are_flows_between_the_same_nics() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(&plan(folder.path(), "[[traffic]]\nkind = \"all_to_all\"\nsize = \"30KB\"\n"));
    let csv = folder.path().join("flows.csv");
    incast_measure::columns::FLOWS.write_csv(&csv, &first).unwrap();
    let again = format!("[[traffic]]\nkind = \"file\"\nfile = {:?}\n", csv.display().to_string());
    let plan = plan(folder.path(), &again);
    let ends = |run: &Run| {
        run.flows.iter().map(|flow| (flow.src, flow.dst, flow.size_bytes)).collect::<Vec<_>>()
    };
    let second = run(&plan);
    assert_eq!(ends(&first), ends(&second));
    assert!(plan.traffic.flows.iter().all(|flow| flow.class == FlowClass::Background));
    let times = |run: &Run| (0..run.flows.len()).map(|at| run.fct(at)).collect::<Vec<_>>();
    assert_eq!(times(&first), times(&second));
}
