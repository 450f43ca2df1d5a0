//! The module under Node makes the records of the native program. `tests/wasm` builds the module and
//! runs this.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::files_of;
use incast_protocols::CATALOGUE;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Name, `[fabric]` and `[[traffic]]` of the cases: mixed rates and losses; pauses; cut-through around
/// a shared buffer.
const CASES: [(&str, &str, &str); 3] = [
    (
        "lossy leaf-spine",
        "topology = \"leaf-spine:3x2x3\"\nrate = \"10Gbps\"\nuplink_rate = \"20Gbps\"\nloss = 0.001\n\
         buffer = \"64KiB\"\n",
        "kind = \"poisson\"\nworkload = \"web_search\"\nload = 0.7\nflows = 10\n",
    ),
    (
        "paused fat-tree",
        "topology = \"fat-tree:4\"\nrate = \"25Gbps\"\nbuffer = \"64KiB\"\npfc = { allow_cycles = true }\n",
        "kind = \"incast\"\nreceiver = 0\nsenders = 6\nsize = \"40KB\"\n",
    ),
    (
        "shared buffer, cut-through",
        "topology = \"leaf-spine:2x2x4\"\nforwarding = \"cut_through\"\nswitch_delay = \"300ns\"\n\
         shared_buffer = { pool = \"300KB\" }\n",
        "kind = \"permutation\"\nsize = \"60KB\"\n",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What `engine.mjs` answers to a request.
fn node(request: &Value) -> Value {
    let package = root().join("explorer/pkg");
    assert!(
        package.join("incast_web_bg.wasm").is_file(),
        "there is no module: run ./explorer/build-wasm, or ./tests/wasm"
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine.mjs");
    let mut node = Command::new("node")
        .args([script, package])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node runs");
    let mut input = node.stdin.take().expect("it is piped");
    input.write_all(request.to_string().as_bytes()).expect("Node reads");
    drop(input);
    let output = node.wait_with_output().expect("Node ends");
    assert!(output.status.success(), "engine.mjs failed, see above");
    serde_json::from_slice(&output.stdout).expect("it answers in JSON")
}

/// The hash of all files of a native run but the manifest, which says where it ran.
fn native(toml: &str, threads: usize) -> String {
    let scenario = Scenario::parse(toml, "test", &[]).unwrap_or_else(|f| panic!("{f}\n{toml}"));
    let plan = Plan::new(scenario).unwrap_or_else(|fault| panic!("{fault}\n{toml}"));
    let ran = execute(&plan, &plan.cases[0], vec![], threads, &Monitor::default());
    let (run, _) = ran.unwrap_or_else(|fault| panic!("{fault}"));
    assert!(run.record.flows.iter().any(|flow| flow.completed.is_some()), "no flow is complete");
    let mut files = files_of(&run);
    files.retain(|(name, _)| name != "manifest.json");
    files.sort();
    let mut hash = Sha256::new();
    files.iter().for_each(|(_, bytes)| hash.update(bytes));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The module runs the text; the command runs what the module exports of it. The module's run is cut
/// into steps, with a look at ports and flows after each: neither moves a record.
#[test]
fn every_transport_has_the_same_records_as_the_native_program() {
    let mut cases = vec![];
    for entry in CATALOGUE {
        let transport = entry.info().name;
        for (case, fabric, traffic) in CASES {
            let toml = format!(
                "[fabric]\n{fabric}[transport]\nnames = [\"{transport}\"]\n[[traffic]]\n{traffic}\
                 [run]\nseed = 3\nuntil = \"8ms\"\n"
            );
            cases.push(json!({ "name": format!("{transport}, {case}"), "toml": toml }));
        }
    }
    let answers = node(&json!({ "task": "records", "cases": cases }));
    let answers = answers.as_array().expect("a list");
    assert_eq!(answers.len(), CATALOGUE.len() * CASES.len());
    let different = answers.iter().enumerate().filter_map(|(at, answer)| {
        let text = |key: &str| answer[key].as_str().expect("a text");
        let own = native(text("exported"), 1 + at % 2);
        (own != text("hash")).then(|| text("name").to_string())
    });
    let different: Vec<String> = different.collect();
    assert!(different.is_empty(), "native and wasm differ: {different:?}");
}

/// What `engine.mjs` asserts of the module: faults, panics, memory, two runs on one clock, results.
#[test]
fn the_module_behaves_as_it_is_declared() {
    let declared = root().join("explorer/src/incast-web.d.ts");
    let declared = std::fs::read_to_string(declared).expect("the declaration is there");
    let answer = node(&json!({ "task": "behaviour", "declared": declared }));
    assert_eq!(answer, json!("good"));
}
