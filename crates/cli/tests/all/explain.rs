//! `incast explain` as a script sees it: what it answers, and what it refuses.

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

/// What it prints.
#[track_caller]
fn answer(folder: &Path, arguments: &[&str]) -> String {
    let output = incast(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// One message with these words, and the exit code of wrong input.
#[track_caller]
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let output = incast(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    words.iter().for_each(|word| assert!(said.contains(word), "`{word}` is not in: {said}"));
    assert!(!said.contains("panicked") && output.stdout.is_empty(), "{said}");
}

/// Twelve flows to host 0 under two transports, in `out`; the flows are read from a file.
fn results() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let flows: String = (1..13).map(|src| format!("{src},0,{}000,0\n", 20 + src)).collect();
    std::fs::write(
        folder.path().join("flows.csv"),
        format!("src,dst,size_bytes,start_ns\n{flows}"),
    )
    .expect("writable");
    let scenario = "[fabric]\ntopology = \"star:13\"\n[transport]\nnames = [\"dctcp\", \"ndp\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = \"flows.csv\"\n";
    std::fs::write(folder.path().join("many.toml"), scenario).expect("writable");
    answer(folder.path(), &["run", "many.toml", "--out", "out"]);
    folder
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut all: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut all);
    std::fs::write(path, all.to_string()).expect("writable");
}

#[test]
fn it_answers_in_words_as_data_and_as_a_page() {
    let home = results();
    let folder = home.path();
    let base = ["explain", "out", "--transport", "dctcp"];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    let words = answer(folder, &with(&["--flow", "7"]));
    assert!(words.contains("Flow 7 (28 KB, dctcp, host 8 to host 0)"), "{words}");
    for part in ["Where the time went (adds up to", "leaf0->host0"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // The same as data: what is printed adds up to the stored completion time.
    let data = answer(folder, &with(&["--flow", "7", "--json"]));
    let data: Value = serde_json::from_str(&data).expect("JSON");
    let one = &data[0];
    let parts = one["parts"].as_array().expect("a list");
    let sum: u64 = parts.iter().map(|part| part["ps"].as_u64().expect("a number")).sum();
    assert!(one["flow"]["fct_ps"] == sum && one["flow"]["id"] == 7 && sum > 0);
    // The slowest first, several of them, and only of a size.
    let data = answer(folder, &with(&["--slowest", "3", "--size", "21KB-26KB", "--json"]));
    let all: Vec<Value> = serde_json::from_str(&data).expect("JSON");
    let slowdowns: Vec<f64> =
        all.iter().map(|one| one["flow"]["slowdown"].as_f64().expect("a number")).collect();
    assert!(slowdowns.len() == 3 && slowdowns.is_sorted_by(|a, b| a >= b), "{slowdowns:?}");
    assert!(all.iter().all(|one| one["flow"]["size_bytes"].as_u64() <= Some(26_000)));
    // A page that needs no other file.
    answer(folder, &with(&["--flow", "7", "--html", "why.html"]));
    let page = std::fs::read_to_string(folder.join("why.html")).expect("a page");
    assert!(page.contains("Why flow 7 took as long") && page.ends_with("</html>\n"));
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"));
    // Two transports, part by part: the differences add up.
    let between = ["explain", "out", "--flow", "7", "--between", "dctcp", "ndp"];
    let words = answer(folder, &between);
    assert!(words.contains("difference") && words.contains("-- ndp --"), "{words}");
    let data: Value =
        serde_json::from_str(&answer(folder, &[&between[..], &["--json"]].concat())).expect("JSON");
    let more = data["parts"].as_array().expect("a list").iter();
    let more: i64 = more.map(|part| part["more_ps"].as_i64().expect("a number")).sum();
    let fct = |side: &str| data[side]["flow"]["fct_ps"].as_i64().expect("a number");
    assert_eq!(more, fct("b") - fct("a"));
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let home = results();
    let folder = home.path();
    let own = |more: &[&'static str]| [&["explain", "out"][..], more].concat();
    std::fs::create_dir(folder.join("empty")).expect("a folder");
    refused(folder, &["explain", "empty"], &["empty", "not a results folder", "no manifest.json"]);
    refused(folder, &["explain", "nowhere"], &["nowhere"]);
    refused(folder, &own(&[]), &["choose one with --transport: dctcp, ndp", "--between"]);
    refused(folder, &own(&["--transport", "dctpc"]), &["--transport", "dctpc", "dctcp"]);
    let flow = own(&["--transport", "ndp", "--flow", "12"]);
    refused(folder, &flow, &["--flow", "12", "expected 0 to 11"]);
    let size = own(&["--transport", "ndp", "--size", "1MB-2MB"]);
    refused(folder, &size, &["no completed flow", "21000 to 32000 bytes"]);
    refused(folder, &own(&["--between", "dctcp", "homa"]), &["homa"]);
    refused(folder, &own(&["--transport", "ndp", "--size", "9KB-1KB"]), &["smaller size first"]);
    refused(
        folder,
        &own(&["--transport", "ndp", "--slowest", "0"]),
        &["--slowest = `0`", "1 or more"],
    );
    // An input file that changed since the run: its copy stands for it, and without one it is refused.
    let flows = folder.join("flows.csv");
    let before = std::fs::read_to_string(&flows).expect("readable");
    std::fs::write(&flows, before.replace("28000", "29000")).expect("writable");
    let flow = own(&["--transport", "ndp", "--flow", "7"]);
    answer(folder, &flow);
    let copy = folder.join("out/inputs/0-flows.csv");
    assert_eq!(std::fs::read_to_string(&copy).expect("a copy"), before);
    std::fs::remove_file(copy).expect("it was there");
    refused(folder, &flow, &["flows.csv", "restore it", "--allow-changed-files"]);
    std::fs::write(&flows, before).expect("writable");
    // A truncated table, and none: the run ended before its results were written.
    let table = folder.join("out/ndp/flows.parquet");
    let whole = std::fs::read(&table).expect("readable");
    std::fs::write(&table, &whole[..whole.len() / 2]).expect("writable");
    refused(folder, &flow, &["flows.parquet", "repeat the run"]);
    std::fs::remove_file(&table).expect("there");
    refused(folder, &flow, &["no flows.parquet", "the run ended before"]);
    // A run of several processes in real time.
    edit(&folder.join("out/manifest.json"), |manifest| manifest["processes"] = 3.into());
    refused(folder, &own(&["--transport", "dctcp"]), &["several processes", "cannot be repeated"]);
}

/// What is uncertain is said with the answer: another version, a run that was cut short.
#[test]
fn what_is_uncertain_is_noted() {
    let home = results();
    let folder = home.path();
    let flow = ["explain", "out", "--transport", "ndp", "--flow", "7"];
    assert!(!answer(folder, &flow).contains("note:"));
    edit(&folder.join("out/manifest.json"), |manifest| manifest["version"] = "0.0.7".into());
    edit(&folder.join("out/ndp/manifest.json"), |manifest| manifest["complete"] = false.into());
    let words = answer(folder, &flow);
    assert!(words.contains("0.0.7") && words.contains("is not complete"), "{words}");
}

#[test]
fn a_run_in_real_time_cannot_be_explained() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path();
    let sets = ["--world", "dataplane", "--clock", "tsc"];
    let small = ["compare", "--topology", "star:3", "--transports", "dctcp", "--flows", "4"];
    let run = incast(folder, &[&small[..], &sets[..], &["--out", "out"]].concat());
    assert!(folder.join("out/flows.parquet").exists(), "{}", text(&run.stderr));
    refused(folder, &["explain", "out"], &["real time", "cannot be repeated", "virtual clock"]);
}

/// Results as files of HPCC's simulator and of htsim, with the numbers that the topology file gives its nodes.
#[test]
fn results_go_out_as_files_of_other_simulators() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("writable");
    write("net", "4 1 3\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n3 2 10Gbps 1us 0\n");
    write("flows", "2\n0 3 3 100 1000 0\n1 0 3 200 1000 0.001\n");
    let scenario = "[fabric]\nfile = \"net\"\npfc = {}\n[transport]\nnames = [\"dcqcn\"]\n\
                    [[traffic]]\nkind = \"file\"\nfile = \"flows\"\n[output]\ntrace = {}\n";
    write("z.toml", scenario);
    answer(folder, &["run", "z.toml", "--out", "out"]);
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("written");
    answer(folder, &["export", "out", "--as", "hpcc"]);
    // Two links of 862.4 ns for 1,078 bytes, and 2 us of propagation: alone, as ideal.
    let fct = "0b000001 0b000301 10000 100 1000 0 3725 3725\n\
               0b000101 0b000001 10000 200 1000 1000000 3725 3725\n";
    assert_eq!(read("out/hpcc/fct.txt"), fct);
    assert_eq!(read("out/hpcc/flow.txt"), "2\n0 3 3 100 1000 0\n1 0 3 200 1000 0.001\n");
    assert_eq!(read("out/hpcc/pfc.txt"), "", "no pause");
    let qlen = read("out/hpcc/qlen.txt");
    let lines: Vec<Vec<&str>> = qlen.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines[0][0], "time:");
    let ports: Vec<[&str; 2]> = lines[1..].iter().map(|line| [line[0], line[1]]).collect();
    assert_eq!(ports, [["2", "1"], ["2", "2"], ["2", "3"]]);
    let samples: Vec<u64> = lines[1..]
        .iter()
        .map(|line| line[2..].iter().map(|n| n.parse::<u64>().expect("a count")).sum())
        .collect();
    assert!(samples[0] > 100 && samples.iter().all(|all| *all == samples[0]), "{samples:?}");
    answer(folder, &["export", "out", "--as", "htsim", "--out", "matrix"]);
    let matrix = "Nodes 3\nConnections 2\n0->2 id 1 start 0 size 1000\n1->0 id 2 start 1000000000 size 1000\n";
    assert_eq!(read("matrix/flows.cm"), matrix);
    let back = "[fabric]\ntopology = \"star:3\"\n[transport]\nnames = [\"ndp\"]\n\
                [[traffic]]\nkind = \"file\"\nfile = \"matrix/flows.cm\"\n";
    write("back.toml", back);
    assert!(answer(folder, &["check", "back.toml"]).contains("flows.cm"));
    // Pauses: three hosts fill one link, whose switch pauses them.
    let many = "[fabric]\ntopology = \"star:4\"\npfc = { xoff = \"10KB\" }\n[transport]\nnames = [\"hpcc\"]\n\
                [[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"100KB\"\n[output]\ntrace = {}\n";
    write("many.toml", many);
    answer(folder, &["run", "many.toml", "--out", "many"]);
    answer(folder, &["export", "many", "--as", "hpcc"]);
    let pauses = read("many/hpcc/pfc.txt");
    let rows: Vec<Vec<u64>> = pauses
        .lines()
        .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect())
        .collect();
    // Hosts 1 to 3 have one interface, which is paused and resumed alike.
    assert!(
        rows.iter().all(|row| (1..4).contains(&row[1]) && row[2] == 0 && row[3] == 1),
        "{pauses}"
    );
    let of = |kind: u64| rows.iter().filter(|row| row[4] == kind).count();
    assert!(of(1) > 0 && of(1) == of(0), "{pauses}");
    refused(folder, &["export", "out", "--as", "ns2"], &["ns2", "hpcc", "htsim"]);
    refused(folder, &["export", "nowhere", "--as", "hpcc"], &["nowhere"]);
    refused(
        folder,
        &["export", "out", "--as", "hpcc", "--transport", "dcqcm"],
        &["dcqcm", "did you mean"],
    );
}
