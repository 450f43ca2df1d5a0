//! Processes in network namespaces: the tier that needs user namespaces and `ip`.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Whether namespaces can be made here; says loudly if not.
fn tier() -> bool {
    let made = Command::new("unshare")
        .args(["-Urnm", "ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"])
        .output();
    let why = match made {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_string(),
        Err(error) => error.to_string(),
    };
    eprintln!(
        "\n*** THE TIER OF NAMESPACES DID NOT RUN: `unshare -Urnm ip link add ...`: {why}\n\
         *** It needs the packages util-linux and iproute2, and user namespaces\n\
         *** (`sysctl kernel.unprivileged_userns_clone`, `user.max_user_namespaces`).\n"
    );
    false
}

fn incast(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.args(arguments).current_dir(folder).output().expect("the program starts")
}

const SCENARIO: &str = "[fabric]\ntopology = \"dumbbell:3x2\"\nrate = \"100Mbps\"\n\
    propagation = \"50us\"\n[transport]\nnames = [\"dctcp\"]\n\
    [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"3\"\nsize = \"10MB\"\n";

/// Runs the scenario with a transport in seven namespaces: the flow's Mb/s, and the records of the
/// nodes.
fn run(transport: &str) -> (f64, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.toml"), SCENARIO).unwrap();
    let set = format!("transport.names=[\"{transport}\"]");
    let output = incast(
        folder.path(),
        &["testbed", "netns", "net.toml", "--set", &set, "--for", "120s", "--out", "out"],
    );
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{out}\n{err}");
    // The program itself holds frames sent against frames received and dropped, link by link.
    assert!(output.status.success(), "{transport}");
    for file in ["manifest.json", "flows.parquet", "ports.parquet", "report.html"] {
        assert!(folder.path().join("out").join(file).exists(), "{file}");
    }
    let nodes = std::fs::read(folder.path().join("out/nodes.json")).unwrap();
    let nodes: Vec<Value> = serde_json::from_slice(&nodes).unwrap();
    assert_eq!(nodes.len(), 7);
    let flow = |node: &Value| node["flows"].as_array().unwrap().first().cloned();
    let flows: Vec<Value> = nodes.iter().filter_map(flow).collect();
    assert_eq!(flows.len(), 2, "its source and its destination know the flow");
    let at = |key: &str| flows.iter().find_map(|flow| flow[key].as_u64()).expect("known");
    let rate = 10e6 * 8.0 / ((at("completed") - at("started")) as f64 * 1e-12) * 1e-6;
    println!("{transport}: {rate:.1} Mb/s");
    (rate, nodes)
}

/// The machine that runs the tests may be busy: the figures of a quiet one, 90 and 80 Mb/s and a
/// fifth of a core, are asserted with INCAST_QUIET set.
#[test]
fn seven_processes_carry_a_flow() {
    if !tier() {
        return;
    }
    let quiet = std::env::var_os("INCAST_QUIET").is_some();
    for (transport, goal) in [("dctcp", 90.0), ("ren", 80.0)] {
        let (rate, nodes) = run(transport);
        assert!(rate >= if quiet { goal } else { 1.0 } && rate <= 95.0, "{transport}: {rate} Mb/s");
        // Hosts 1, 2 and 4 have nothing to do.
        for node in [1, 2, 4].map(|host| &nodes[host]) {
            let share = node["cpu_s"].as_f64().unwrap() / node["wall_s"].as_f64().unwrap();
            println!("{} idles with {:.1} % of a core", node["name"], share * 100.0);
            assert!(share <= if quiet { 0.2 } else { 0.5 }, "{}: {share}", node["name"]);
        }
    }
}

/// What a person gets wrong is said in one line.
#[test]
fn mistakes_are_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.toml"), SCENARIO).unwrap();
    let message = |arguments: &[&str]| {
        let output = incast(folder.path(), arguments);
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).trim().to_string()
    };
    let node = ["testbed", "node", "net.toml", "--name"];
    let with = |more: &[&str]| message(&[&node[..], more].concat());
    let missing = with(&["host0"]);
    assert!(missing.contains("host0 has no interface at port 0 (to "), "{missing}");
    let unknown = with(&["hots0"]);
    assert!(unknown.contains("did you mean `host0`"), "{unknown}");
    let form = with(&["host0", "--port", "0=veth0"]);
    assert!(form.contains("expected PORT=if:INTERFACE"), "{form}");
    let other = with(&["host0", "--port", "7=if:veth0"]);
    assert!(other.contains("host0 has the ports 0 to 0"), "{other}");
    let twice = with(&["host0", "--port", "0=if:a", "--port", "0=if:b"]);
    assert!(twice.contains("port 0 is given twice"), "{twice}");
    let absent = with(&["host0", "--port", "0=if:nothere"]);
    assert!(absent.contains("there is no interface `nothere` here; there are: lo"), "{absent}");
    let long = message(&["testbed", "netns", "net.toml", "--for", "601s"]);
    assert!(long.contains("at most"), "{long}");
}
