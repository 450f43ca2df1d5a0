//! Scenarios made of other tools' files.

use incast_experiment::Monitor;
use incast_experiment::{Plan, Scenario, execute};
use incast_measure::Run;
use std::path::Path;

/// Two leaves of two hosts under two spines.
const TOPO: &str = "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\n\
    Radix_Up 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 2\n\
    Downlink_Latency_ns 1000\n";

/// Four flows from the first leaf to the second, and the failures.
fn matrix(failures: &[&str]) -> String {
    let mut text = format!("Nodes 4\nConnections 4\nFailures {}\n", failures.len());
    for (at, pair) in ["0->2", "0->3", "1->2", "1->3"].into_iter().enumerate() {
        text += &format!("{pair} id {} start {} size 50000\n", at + 1, at * 1000);
    }
    failures.iter().for_each(|line| text += &format!("failure {line}\n"));
    text
}

fn plan(folder: &Path, flows: &str, more: &str) -> Result<Plan, String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("writable");
        path.display().to_string()
    };
    let (topo, flows) = (write("net.topo", TOPO), write("flows.cm", flows));
    let text = format!(
        "[fabric]\nfile = {topo:?}\n{more}\n[transport]\nnames = [\"ndp\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = {flows:?}\n"
    );
    let scenario = Scenario::parse(&text, "test", &[]).map_err(|fault| fault.to_string())?;
    Plan::new(scenario).map_err(|fault| fault.to_string())
}

fn run(plan: &Plan) -> Run {
    let (run, _) = execute(plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("runs");
    run
}

/// Packets that the port of this name sent.
fn sent(run: &Run, port: &str) -> u32 {
    let at = run.ports.iter().position(|meta| meta.name == port).expect(port);
    run.record.ports[at].total.sent_packets
}

#[test]
fn a_link_that_a_connection_matrix_breaks_carries_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = run(&plan(folder.path(), &matrix(&[]), "").expect("a plan"));
    assert!(sent(&whole, "leaf0->spine0") > 0 && sent(&whole, "leaf0->spine1") > 0);
    // The same link, named from either end.
    for line in ["switch_type TOR switch_id 0 link_id 0", "switch_type AGG switch_id 0 link_id 0"] {
        let broken = run(&plan(folder.path(), &matrix(&[line]), "").expect("a plan"));
        assert!(broken.record.complete, "{line}");
        assert_eq!(sent(&broken, "leaf0->spine0") + sent(&broken, "spine0->leaf0"), 0, "{line}");
        assert!(sent(&broken, "leaf0->spine1") > 0);
    }
}

#[test]
fn invalid_failures_are_reported_with_their_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let message =
        |failures: &[&str]| plan(folder.path(), &matrix(failures), "").err().expect("refused");
    let far = message(&["switch_type TOR switch_id 2 link_id 0"]);
    assert!(far.contains("flows.cm:8: failure: switch_id 2: Edge switches are 0 to 1"), "{far}");
    let far = message(&["switch_type CORE switch_id 0 link_id 9"]);
    assert!(far.contains("flows.cm:8: failure: link_id 9: this switch has links 0 to 1"), "{far}");
    let cut = message(&[
        "switch_type TOR switch_id 0 link_id 0",
        "switch_type TOR switch_id 0 link_id 1",
    ]);
    assert!(cut.contains("host 2 cannot be reached from host 0"), "{cut}");
    assert!(cut.contains("with the links that failed by 0s"), "{cut}");
}

#[test]
fn links_of_a_file_can_be_changed_and_fail_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let later = "failures = [{ at = \"10us\", a = \"leaf0\", b = \"spine0\" }]";
    let broken = run(&plan(folder.path(), &matrix(&[]), later).expect("a plan"));
    let whole = run(&plan(folder.path(), &matrix(&[]), "").expect("a plan"));
    assert!(broken.record.complete);
    assert!(sent(&broken, "leaf0->spine0") > 0);
    assert!(sent(&broken, "leaf0->spine0") < sent(&whole, "leaf0->spine0"));
    let refused = plan(folder.path(), &matrix(&[]), "uplink_rate = \"1Gbps\"").err().expect("no");
    assert!(refused.contains("fabric.uplink_rate") && refused.contains("net.topo"), "{refused}");
}
