//! Who carries which flow, and mixes that cannot be.

use incast_experiment::Monitor;
use incast_experiment::{Plan, Scenario, execute};

const NETWORK: &str = "[fabric]\ntopology = \"dumbbell:3x3\"\nrate = \"10Gbps\"\n";

fn plan(rest: &str) -> Result<Plan, String> {
    let text = format!("{NETWORK}{rest}");
    let scenario = Scenario::parse(&text, "mix.toml", &[]).map_err(|fault| fault.to_string())?;
    Plan::new(scenario).map_err(|fault| fault.to_string())
}

const FLOWS: &str = r#"
[[traffic]]
kind = "long"
from = "0,1,2"
to = "3,4,5"
size = "30KB"
[[traffic]]
kind = "burst"
from = "0,1"
receiver = 3
size = "2KB"
"#;

fn refused(rest: &str, words: &[&str]) {
    let said = plan(&format!("{rest}{FLOWS}")).err().expect("it is refused");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

fn names(name: &str, more: &str) -> String {
    format!("[transport]\nnames = [\"{name}\"]\n{more}\n")
}

fn assign(name: &str, to: &str) -> String {
    format!("[[transport.assign]]\nname = \"{name}\"\n{to}\n")
}

fn mix(first: &str, more: &str, second: &str) -> String {
    names(first, more) + &assign(second, "hosts = \"1\"")
}

/// Names of the transports by flow.
fn carriers(plan: &Plan) -> Vec<&'static str> {
    let case = &plan.cases[0];
    case.transport_of
        .iter()
        .map(|transport| case.transports[*transport as usize].info.name)
        .collect()
}

#[test]
fn hosts_classes_and_flows_have_transports_of_their_own() {
    let by_host = names("ccrp", "") + &assign("dcqcn", "hosts = \"1-2\"") + FLOWS;
    let by_host = plan(&by_host).unwrap();
    assert_eq!(carriers(&by_host), ["ccrp", "dcqcn", "dcqcn", "ccrp", "dcqcn"]);
    let burst = assign("dctcp", "class = \"burst\"");
    let both = assign("dcqcn", "hosts = \"0\"\nclass = \"long\"");
    let by_class = plan(&(names("ccrp", "") + &burst + &both + FLOWS)).unwrap();
    assert_eq!(carriers(&by_class), ["dcqcn", "ccrp", "ccrp", "dctcp", "dctcp"]);
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("flows.csv");
    let text = "src,dst,size_bytes,start_ns,transport\n0,3,5000,0,\n1,4,5000,0,dcqcn\n";
    std::fs::write(&list, text).unwrap();
    let file = format!("[[traffic]]\nkind = \"file\"\nfile = \"{}\"\n", list.display());
    let by_flow = plan(&(names("ccrp", "") + &file)).unwrap();
    assert_eq!(carriers(&by_flow), ["ccrp", "dcqcn"]);
    for plan in [&by_host, &by_class, &by_flow] {
        let (run, _) = execute(plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
        assert!(run.record.complete);
        assert_eq!(run.record.shares.len(), run.transports.len());
        for (at, share) in run.record.shares.iter().enumerate() {
            let own = run.flows.iter().filter(|flow| flow.transport as usize == at);
            assert_eq!(share.iter().sum::<u64>(), own.map(|flow| flow.size_bytes).sum::<u64>());
        }
        assert!(incast_measure::summarise(&run).fairness.is_some());
    }
}

#[test]
fn one_rule_marks_all_if_the_scenario_names_it() {
    let marked = |marking: &str| {
        let text = mix("dctcp", marking, "dcqcn")
            + r#"
[transport.parameters.dctcp]
mark_threshold = "1packet"
[transport.parameters.dcqcn]
mark_min = "1MB"
mark_max = "1MB"
[[traffic]]
kind = "long"
from = "0,1"
to = "3,4"
size = "300KB"
"#;
        let plan = plan(&text).unwrap();
        let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
        assert!(run.record.complete);
        let marks: u32 = run.record.ports.iter().map(|port| port.total.marks).sum();
        // A decision of DCQCN's is a notification that came.
        (marks, run.record.flows[1].decisions)
    };
    let (own, unmarked) = marked("");
    let (all, notified) = marked("marking = \"dctcp\"");
    let (none, _) = marked("marking = \"dcqcn\"");
    assert!(own > 0 && all > own + 40, "{own} marks, {all} when DCQCN's packets count");
    assert!(unmarked == 0 && notified > 0, "{unmarked}, {notified} notifications");
    assert_eq!(none, 0, "DCQCN's rule marks nothing here");
}

#[test]
fn what_cannot_be_is_said_with_its_key() {
    // Two sets of eight classes.
    refused(
        &mix("homa", "join = \"separate\"", "aeolus"),
        &["transport.join", "`homa` and `aeolus`", "more than 8 queues"],
    );
    refused(&mix("homa", "join = \"shard\"", "ndp"), &["transport.join", "did you mean `shared`"]);
    refused(
        &mix("ccrp", "marking = \"timely\"", "dcqcn"),
        &["transport.marking = `timely`", "expected one of ccrp, dcqcn"],
    );
    refused(
        &mix("cubic", "marking = \"timely\"", "timely"),
        &["transport.marking", "no transport of this run uses ECN marking"],
    );
    refused(
        &mix("expresspass", "", "ccrp"),
        &["`expresspass` and `ccrp`", "transport.parameters.ccrp.credit_share", "1.90 times"],
    );
    let halves = "[transport.parameters.expresspass]\ncredit_share = 0.0273\n\
                  [transport.parameters.ccrp]\ncredit_share = 0.0273\n";
    assert!(plan(&(mix("expresspass", "", "ccrp") + halves + FLOWS)).is_ok());
    refused(&mix("ccrp", "", "dcqnc"), &["transport.assign.0.name", "did you mean `dcqcn`?"]);
    refused(
        &(names("ccrp", "") + &assign("dcqcn", "hosts = \"9\"")),
        &["transport.assign.0.hosts = `9`", "below 6"],
    );
    refused(
        &(names("ccrp", "") + &assign("dcqcn", "class = \"burts\"")),
        &["transport.assign.0.class = `burts`", "did you mean `burst`?"],
    );
}

#[test]
fn parameters_that_cannot_be_are_said_with_their_key() {
    let with = |name: &str, setting: &str| {
        names(name, "") + &format!("[transport.parameters.{name}]\n{setting}\n")
    };
    for name in ["expresspass", "ccrp"] {
        let key = format!("{name}.credit_share");
        refused(&with(name, "credit_share = 0.2"), &[&key, "0.0546", "1538 B"]);
    }
    let cutoffs = |list: &str| with("homa", &format!("cutoffs = \"{list}\""));
    refused(&cutoffs("10KB,1KB"), &["homa.cutoffs", "10KB,1KB", "ascending"]);
    refused(&cutoffs("1KB,banana"), &["homa.cutoffs", "banana"]);
    assert!(plan(&(cutoffs("1KB, 10KB") + FLOWS)).is_ok());
    // A list does as well, and is refused for the same reason.
    let list = |list: &str| with("homa", &format!("cutoffs = {list}"));
    assert!(plan(&(list("[\"1KB\", \"10KB\"]") + FLOWS)).is_ok());
    refused(&list("[\"10KB\", \"1KB\"]"), &["homa.cutoffs", "10KB,1KB", "ascending"]);
    // More sizes than classes to tell apart.
    refused(
        &with("homa", "priorities = 3\ncutoffs = \"1KB,5KB,6KB\""),
        &["homa.cutoffs = `1KB,5KB,6KB`", "at most 0 sizes", "3 priorities"],
    );
    refused(
        &with("homa", "scheduled = 5\ncutoffs = \"1KB,5KB\""),
        &["homa.cutoffs = `1KB,5KB`", "at most 1 sizes", "scheduled"],
    );
    refused(&with("homa", "priorities = 9"), &["homa.priorities", "2 to 8"]);
}

#[test]
fn lossless_links_need_headroom() {
    let pfc = |setting: &str| {
        let names = names("dcqcn", "");
        let text = format!("{NETWORK}pfc = {{ {setting} }}\n{names}{FLOWS}");
        let scenario =
            Scenario::parse(&text, "pfc.toml", &[]).map_err(|fault| fault.to_string())?;
        Plan::new(scenario).map(|_| ()).map_err(|fault| fault.to_string())
    };
    assert_eq!(pfc(""), Ok(()));
    let said = pfc("headroom = \"3KB\"").unwrap_err();
    assert!(said.contains("fabric.pfc.headroom = `3KB`") && said.contains("expected"), "{said}");
    let said = pfc("xoff = \"10KB\", release = \"20KB\"").unwrap_err();
    assert!(said.contains("fabric.pfc.release") && said.contains("10KB"), "{said}");
}
