//! Results folders in memory, runs in steps, and what is wrong with them, in words.

use bytes::Bytes;
use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::files_of;
use incast_web::{Folder, Lab, Trouble, TroubleKind, scenario};
use std::collections::BTreeMap;

const TOPOLOGY: &str = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n";
const REST: &str = "[transport]\nnames = [\"dctcp\"]\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\n\
                    senders = 5\nsize = \"200KB\"\n";

/// The files of a finished run.
fn files(toml: &str) -> BTreeMap<String, Bytes> {
    let mut lab = Lab::new(toml, None, &scenario::Files::new()).unwrap();
    while !lab.step(u64::MAX, u64::MAX) {}
    let files = files_of(&lab.finish().unwrap());
    files.into_iter().map(|(name, bytes)| (name, Bytes::from(bytes))).collect()
}

fn open(files: BTreeMap<String, Bytes>) -> Result<Folder, Trouble> {
    Folder::new(files.into_iter().collect())
}

fn replaced(files: &BTreeMap<String, Bytes>, from: &str, to: &str) -> BTreeMap<String, Bytes> {
    let text = String::from_utf8(files["manifest.json"].to_vec()).unwrap();
    assert!(text.contains(from), "{text}");
    let mut files = files.clone();
    files.insert("manifest.json".into(), text.replace(from, to).into());
    files
}

/// What is wrong: its kind and its message.
fn refused<T>(result: Result<T, Trouble>) -> (TroubleKind, String) {
    let trouble = result.err().expect("it is refused");
    (trouble.kind, trouble.to_string())
}

fn explain(folder: &Folder, flow: u32) -> Result<incast_explain::Repeated, Trouble> {
    folder.explain(0, &[flow], &mut |_, _, _, _| true)
}

/// However a run is cut into steps and looked at, its tables are those of the command, to the byte.
#[test]
fn steps_and_looks_move_nothing() {
    let toml = format!(
        "{TOPOLOGY}pfc = {{}}\nbuffer = \"32KiB\"\n{}",
        REST.replace("dctcp", "expresspass")
    );
    for toml in [format!("{TOPOLOGY}{REST}"), toml] {
        let plan = Plan::new(Scenario::parse(&toml, "test", &[]).unwrap()).unwrap();
        let (whole, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
        let mut lab = Lab::new(&toml, None, &scenario::Files::new()).unwrap();
        let mut at = 0;
        loop {
            at += 1_234_567;
            let over = lab.step(at, 100 + at % 97);
            let sums: u64 = lab.ports().iter().map(|port| port.total.sent_bytes).sum();
            if over {
                let all: u64 = whole.record.ports.iter().map(|port| port.total.sent_bytes).sum();
                assert_eq!(sums, all);
                break;
            }
        }
        let tables = |run| {
            let mut files = files_of(run);
            files.retain(|(name, _)| name != "manifest.json");
            files
        };
        assert!(tables(&whole) == tables(&lab.finish().unwrap()), "{toml}");
    }
}

#[test]
fn a_run_of_another_version_is_opened_with_a_note() {
    let files = files(&format!("{TOPOLOGY}{REST}"));
    let other = replaced(&files, incast_experiment::VERSION, "0.0.9");
    let info = open(other).unwrap().info();
    let note = info["notes"][0].as_str().unwrap();
    assert!(note.contains("version 0.0.9") && note.contains("incast explore"), "{note}");
    let lacking = replaced(&files, "\"series_start_ns\"", "\"begins_ns\"");
    let (_, text) = refused(open(replaced(&lacking, incast_experiment::VERSION, "0.1.0")));
    for part in
        ["manifest.json", "written by version 0.1.0", "`series_start_ns`", "incast run FOLDER"]
    {
        assert!(text.contains(part), "{text}");
    }
    let unknown = replaced(&files, "\"topology\": \"leaf", "\"newkey\": \"leaf");
    let unknown = replaced(&unknown, incast_experiment::VERSION, "9.0.0");
    let (_, text) = refused(open(unknown));
    assert!(text.contains("newkey") && text.contains("version 9.0.0"), "{text}");
}

#[test]
fn what_is_missing_or_damaged_is_said_with_what_to_do() {
    let files = files(&format!("{TOPOLOGY}{REST}"));
    let mut half = files.clone();
    half.insert("manifest.json".into(), files["manifest.json"].slice(..99));
    let (kind, text) = refused(open(half));
    assert!(kind == TroubleKind::Truncated && text.contains("copy the folder again"), "{text}");
    let mut cut = files.clone();
    cut.insert("flows.parquet".into(), files["flows.parquet"].slice(..999));
    let (kind, text) = refused(open(cut));
    assert!(kind == TroubleKind::Truncated && text.starts_with("flows.parquet: damaged"), "{text}");
    // The head is whole, a page is not: said when the column is read.
    let mut bad = files["flows.parquet"].to_vec();
    bad[4..2_000].fill(0xff);
    let mut hurt = files.clone();
    hurt.insert("flows.parquet".into(), bad.into());
    let hurt = open(hurt).unwrap();
    let columns = ["flow_id", "size_bytes", "fct_ns"];
    let found = columns.map(|name| hurt.run(0).unwrap().numbers("flows", name));
    let (kind, text) = refused(found.into_iter().find(Result::is_err).expect("one is hurt"));
    assert!(kind == TroubleKind::Truncated && text.contains("flows.parquet"), "{text}");
    let study = BTreeMap::from([("manifest.json".to_string(), Bytes::from("{}"))]);
    assert!(refused(open(study)).1.contains("not an incast manifest"));
    let whole = open(files).unwrap();
    assert_eq!(refused(explain(&whole, 5)).0, TroubleKind::NoSuchFlow);
    let (kind, text) = refused(whole.run(0).unwrap().numbers("trace", "time_ps"));
    assert!(kind == TroubleKind::Incomplete && text.contains("[output.trace]"), "{text}");
    let real = replaced(whole.files(), "\"interrupted\"", "\"processes\": 3, \"interrupted\"");
    let (kind, text) = refused(explain(&open(real).unwrap(), 1));
    assert!(kind == TroubleKind::NotRepeatable && text.contains("several processes"), "{text}");
}

/// The file of a topology is not in the folder: it can be given, as it was and not otherwise.
#[test]
fn input_files_are_given_by_hand() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("flows.csv");
    let written = "src,dst,size_bytes,start_ns\n0,1,90000,0\n2,1,90000,5\n";
    std::fs::write(&path, written).unwrap();
    let name = path.display().to_string();
    let toml = format!(
        "{TOPOLOGY}[transport]\nnames = [\"dctcp\"]\n[[traffic]]\nkind = \"file\"\nfile = {name:?}\n"
    );
    let plan = Plan::new(Scenario::parse(&toml, "test", &[]).unwrap()).unwrap();
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
    let files = files_of(&run).into_iter().map(|(name, bytes)| (name, Bytes::from(bytes)));
    let mut folder = Folder::new(files.collect()).unwrap();
    let info = folder.info();
    assert_eq!(
        (&info["inputs"][0]["role"], &info["inputs"][0]["given"]),
        (&"flows".into(), &false.into())
    );
    assert!(info["runs"][0]["not_repeatable"].as_str().unwrap().contains("choose it too"));
    let (kind, text) = refused(explain(&folder, 1));
    assert!(kind == TroubleKind::MissingFile && text.contains("flows.csv"), "{text}");
    let (kind, text) = refused(folder.add_input(&name, b"src,dst\n".to_vec()));
    assert!(kind == TroubleKind::ChangedFile && text.contains("--allow-changed-files"), "{text}");
    folder.add_input(&name, written.as_bytes().to_vec()).unwrap();
    let repeated = explain(&folder, 1).unwrap();
    assert_eq!(repeated.explanations[0].flow.size_bytes, 90_000);
    assert!(!repeated.explanations[0].notes.iter().any(|note| note.contains("differ")));
}

/// Five flows into one port: what they had in its queue adds up to the queue that the table has.
#[test]
fn a_filling_adds_up_to_the_queue() {
    let folder = open(files(&format!("{TOPOLOGY}{REST}"))).unwrap();
    let fabric = folder.fabric(0).unwrap();
    let ports = fabric["ports"].as_array().unwrap();
    let port = ports.iter().position(|port| port["name"] == "leaf0->host0").unwrap() as u32;
    let end = 60_000_000;
    let filling = folder.filling(0, port, 0, end, &mut |_, _, _, _| true).unwrap();
    assert!(!filling.cut && filling.flows.len() == 5, "{filling:?}");
    // The same from the engine, at the same instants.
    let mut lab = folder.lab(0).unwrap();
    let mut seen = 0;
    for (at, time) in filling.times_ps.iter().enumerate() {
        lab.step(*time, u64::MAX);
        let queue: u64 = filling.flows.iter().map(|flow| flow.queue_bytes[at]).sum();
        seen = seen.max(queue);
        assert_eq!(queue, lab.ports()[port as usize].backlog, "at {time} ps");
    }
    assert!(seen > 50_000, "{seen}");
}

/// The run ends while the queue is full: what is still in it is named too.
#[test]
fn a_filling_names_flows_that_are_queued_at_the_end_of_the_run() {
    for transport in ["dctcp", "ndp"] {
        let rest = REST.replace("dctcp", transport);
        let toml = format!("{TOPOLOGY}buffer = \"48KiB\"\n{rest}[run]\nuntil = \"40us\"\n");
        let folder = open(files(&toml)).unwrap();
        let fabric = folder.fabric(0).unwrap();
        let ports = fabric["ports"].as_array().unwrap();
        let port = ports.iter().position(|port| port["name"] == "leaf0->host0").unwrap();
        let filling =
            folder.filling(0, port as u32, 0, 40_000_000, &mut |_, _, _, _| true).unwrap();
        let mut lab = folder.lab(0).unwrap();
        let mut last = 0;
        for (at, time) in filling.times_ps.iter().enumerate() {
            lab.step(*time, u64::MAX);
            last = lab.ports()[port].backlog;
            let queue: u64 = filling.flows.iter().map(|flow| flow.queue_bytes[at]).sum();
            // A packet that is trimmed while it waits has its whole size until then.
            assert_eq!(queue, last, "{transport} at {time} ps");
        }
        assert!(last > 0, "{transport} has an empty queue at the end");
    }
}

/// Drawing the network plans no flows: those of this manifest could not be planned.
#[test]
fn the_network_is_drawn_without_planning_flows() {
    let toml =
        format!("{TOPOLOGY}failures = [{{ a = \"leaf0\", b = \"spine0\", at = \"9us\" }}]\n{REST}");
    let files = files(&toml);
    let folder = open(files.clone()).unwrap();
    let drawn = folder.fabric(0).unwrap();
    assert_eq!(drawn, folder.lab(0).unwrap().fabric());
    assert_eq!(drawn["failures"].as_array().map(Vec::len), Some(1));
    let many = open(replaced(&files, "\"senders\": 5", "\"senders\": 5000")).unwrap();
    assert_eq!(many.fabric(0).unwrap(), drawn);
    assert!(refused(many.lab(0)).1.contains("5000"));
}

/// A warning comes with its name and what to do, before a run and in its results.
#[test]
fn warnings_have_names_meanings_and_remedies() {
    let toml = format!("{TOPOLOGY}{}", REST.replace("dctcp", "dcqcn"));
    let checked = scenario::check(&toml, &scenario::Files::new());
    let files = files(&toml);
    let stored = open(files.clone()).unwrap().info();
    for one in [&checked["warnings"][0], &stored["runs"][0]["warnings"][0]] {
        assert_eq!(one["name"], "without_pfc");
        assert!(
            one["text"].as_str().unwrap().starts_with("designed for lossless fabrics"),
            "{one}"
        );
        assert!(one["remedy"].as_str().unwrap().contains("`--pfc`"), "{one}");
    }
    // One of another version has its sentence alone.
    let strange = open(replaced(&files, "\"without_pfc\"", "\"of_tomorrow\"")).unwrap().info();
    let strange = &strange["runs"][0]["warnings"][0];
    assert_eq!((&strange["name"], &strange["means"]), (&"of_tomorrow".into(), &"".into()));
    assert_eq!(strange["text"], checked["warnings"][0]["text"]);
}

/// The laboratory's table has numbers of the program, with a title each.
#[test]
fn numbers_of_the_laboratory_have_titles() {
    let all = open(files(&format!("{TOPOLOGY}{REST}"))).unwrap().outcome(0).unwrap();
    let placed = all.as_array().unwrap().iter().filter(|one| one["place"].is_u64());
    let placed: Vec<&serde_json::Value> = placed.collect();
    assert!(placed.len() > 5 && placed.iter().any(|one| one["name"] == "goodput_gbps"));
    for found in placed {
        assert!(found["title"] != "" && found["value"].is_number(), "{found}");
    }
}
