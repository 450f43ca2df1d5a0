//! Execution traces of Chakra as programs: one file per rank.

use crate::programs::{collective, end, run_with, scenario, times};
use incast_experiment::{Contents, Plan, Scenario, gather, identity, identity_of};
use incast_transport::Span;
use std::path::Path;
use std::sync::Arc;

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A field with a number, or with bytes.
fn number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

fn bytes(field: u64, value: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend(value);
}

/// A node: id, type, what it waits for, duration in microseconds, and attributes as `int64`.
fn node(id: u64, kind: u64, deps: &[u64], us: u64, attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut out = vec![];
    number(1, id, &mut out);
    bytes(2, b"a name", &mut out);
    number(3, kind, &mut out);
    deps.iter().for_each(|before| number(5, *before, &mut out));
    number(7, us, &mut out);
    for (name, value) in attributes {
        let mut attribute = vec![];
        bytes(1, name.as_bytes(), &mut attribute);
        number(9, *value, &mut attribute);
        bytes(10, &attribute, &mut out);
    }
    out
}

/// A file: metadata without anything, then nodes.
fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0];
    for node in nodes {
        varint(node.len() as u64, &mut out);
        out.extend(node);
    }
    out
}

/// A step: computation, then an all-reduce.
fn step(us: u64, size: u64) -> Vec<u8> {
    file(&[node(0, 4, &[], us, &[]), node(1, 7, &[0], 0, &[("comm_type", 0), ("comm_size", size)])])
}

fn write(folder: &Path, ranks: u32, us: u64) -> String {
    let name = |rank: u32| folder.join(format!("trace.{rank}.et"));
    (0..ranks).for_each(|rank| std::fs::write(name(rank), step(us, 800_000)).unwrap());
    name(0).display().to_string()
}

fn planned(transport: &str, file: &str) -> Result<Plan, incast_experiment::Fault> {
    let text = scenario("star:8", transport, "").replace("x.goal", file);
    Plan::new(Scenario::parse(&text, "test", &[])?)
}

/// The all-reduce of a trace is that of traffic of kind `collective`, message by message; durations are microseconds.
#[test]
fn a_trace_is_that_of_a_collective() {
    let folder = tempfile::tempdir().unwrap();
    for transport in ["ndp", "dctcp"] {
        let first = write(folder.path(), 8, 0);
        let now = run_with(&planned(transport, &first).unwrap(), 1);
        assert_eq!(times(&now), times(&collective(transport, "")), "{transport}");
        write(folder.path(), 8, 70);
        let late = run_with(&planned(transport, &first).unwrap(), 1);
        assert_eq!(end(&late).since(end(&now)), Span::from_us(70), "{transport}");
    }
}

/// Each file of a trace is an input of the run: its copy is kept, its content is part of what the run is.
#[test]
fn all_files_of_a_trace_are_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(folder.path(), 3, 5);
    std::fs::write(folder.path().join("trace.json"), "{\"tp\": [0, 1]}").unwrap();
    let plan = planned("ndp", &first).unwrap();
    let names: Vec<&str> =
        plan.inputs.files.iter().map(|file| file.copy.as_deref().unwrap()).collect();
    assert_eq!(
        names,
        [
            "inputs/0-trace.0.et",
            "inputs/1-trace.1.et",
            "inputs/2-trace.2.et",
            "inputs/3-trace.json"
        ]
    );
    assert_eq!(plan.inputs.copies().count(), 4);
    let own = identity(&plan, &plan.cases[0]);
    let mut contents = Contents::new();
    gather(&plan.scenario, &mut contents).unwrap();
    assert_eq!(contents.len(), 4);
    assert_eq!(identity_of(&plan.scenario, &contents).unwrap(), own);
    let again = Plan::with_contents(plan.scenario.clone(), Arc::new(contents)).unwrap();
    assert_eq!(identity(&again, &again.cases[0]), own);
    assert_eq!(again.goal_files().unwrap(), plan.goal_files().unwrap());
    let copies = |plan: &Plan| {
        plan.inputs
            .copies()
            .map(|(name, bytes)| (name.to_string(), bytes.to_vec()))
            .collect::<Vec<_>>()
    };
    assert_eq!(copies(&again), copies(&plan), "as of results that are repeated");

    std::fs::write(folder.path().join("trace.2.et"), step(6, 800_000)).unwrap();
    let other = planned("ndp", &first).unwrap();
    assert_ne!(identity(&other, &other.cases[0]), own);
}

#[test]
fn what_is_wrong_is_refused_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(folder.path(), 3, 5);
    let fault = || planned("ndp", &first).err().expect("refused").to_string();
    let path = |name: &str| folder.path().join(name);
    let groups = path("trace.json");
    std::fs::write(&groups, "{\n\"tp\": [0, 7]}").unwrap();
    assert!(fault().contains("process group `tp` has rank 7"), "{}", fault());
    std::fs::write(&groups, "{\n\"tp\": 0}").unwrap();
    assert!(fault().contains("trace.json:2") && fault().contains("ranks by name"), "{}", fault());
    std::fs::remove_file(&groups).unwrap();
    std::fs::write(path("trace.1.et"), &step(5, 800_000)[..9]).unwrap();
    assert!(fault().contains("trace.1.et: node 0 of the file has"), "{}", fault());
    std::fs::remove_file(path("trace.1.et")).unwrap();
    assert!(
        fault().contains("trace.1.et: is not there, but") && fault().contains("trace.2.et"),
        "{}",
        fault()
    );
    std::fs::remove_file(path("trace.0.et")).unwrap();
    assert!(fault().contains("trace.0.et"), "{}", fault());
}
