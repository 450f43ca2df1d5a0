//! `incast doctor`, and what depends on what this program and machine have.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn incast(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.current_dir(folder).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn here(arguments: &[&str]) -> Output {
    incast(Path::new("."), arguments)
}

#[test]
fn the_exit_code_says_whether_the_tiers_work() {
    let output = here(&["doctor", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tiers = found["tiers"].as_array().expect("a list");
    let names: Vec<_> = tiers.iter().map(|tier| tier["name"].as_str().expect("text")).collect();
    let common = ["memory", "rings", "namespaces", "tshark"];
    assert_eq!(names[..4], common);
    assert_eq!(names[4..], ["interfaces", "nic", "real-time"]);
    let works = |name: &str| {
        let tier = tiers.iter().find(|tier| tier["name"] == name).expect("there is one");
        tier["works"].as_bool().expect("a bool")
    };
    assert!(works("memory"));
    assert!(cfg!(feature = "dpdk") || !works("rings"), "it was built without DPDK");
    let all = common.iter().all(|name| works(name));
    assert_eq!(output.status.code(), Some(if all { 0 } else { 1 }), "{found:#}");
    // The machine may be busier or less busy when it is asked again.
    for name in names.iter().filter(|name| !["namespaces", "real-time"].contains(name)) {
        let output = here(&["doctor", "--tier", name]);
        assert_eq!(output.status.code(), Some(if works(name) { 0 } else { 1 }), "{name}");
    }
    for check in found["checks"].as_array().expect("a list") {
        let name = check["name"].as_str().expect("text");
        assert_eq!(
            check["ok"] == true,
            check["fix"].is_null(),
            "{name}: what is wrong has a remedy"
        );
        assert!(check["found"].as_str().is_some_and(|found| !found.is_empty()), "{name}");
    }
}

#[test]
fn what_is_missing_is_named_with_what_mends_it() {
    let output = here(&["doctor"]);
    let said = text(&output.stdout);
    for name in [
        "library",
        "hugepages",
        "namespaces",
        "privileges",
        "tshark",
        "nic",
        "clock",
        "isolated",
        "stalls",
    ] {
        assert!(said.contains(name), "`{name}` is not in: {said}");
    }
    let tiers = said.split("\nMachine").next().expect("the tiers come first");
    let (failed, fixes) = (tiers.matches("  no   ").count(), tiers.matches("fix it: ").count());
    assert!(fixes >= failed && !tiers.contains("fix it: \n"), "{tiers}");
    let wrong = here(&["doctor", "--tier", "ring"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("rings"), "{}", text(&wrong.stderr));
}

const SMALL: [&str; 10] = [
    "compare",
    "--transports",
    "ren,ndp",
    "--topology",
    "dumbbell:3x2",
    "--flows",
    "30",
    "--workload",
    "web_server",
    "--force",
];

/// Rings carry what memory carries, to the byte; without DPDK they are refused by name.
#[test]
fn rings_leave_the_same_results_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |backend: &str| {
        let more = ["--world", "dataplane", "--backend", backend, "--out", backend];
        incast(folder.path(), &[&SMALL[..], &more[..]].concat())
    };
    let rings = run("rings");
    if !cfg!(feature = "dpdk") {
        let said = text(&rings.stderr);
        assert_eq!(rings.status.code(), Some(2), "{said}");
        assert!(said.contains("built without DPDK") && said.contains("incast doctor"), "{said}");
        return;
    }
    assert!(rings.status.success(), "{}", text(&rings.stderr));
    assert!(run("memory").status.success());
    for name in ["ren/flows.parquet", "ren/ports.parquet", "ndp/flows.parquet", "ndp/ports.parquet"]
    {
        let read =
            |backend: &str| std::fs::read(folder.path().join(backend).join(name)).expect("written");
        assert!(read("rings") == read("memory"), "{name} differs");
    }
}
