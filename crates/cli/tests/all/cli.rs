//! The command as a script sees it.

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

/// Invalid input: one message with these words, exit code 2, no results.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = incast(folder.path(), arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    words.iter().for_each(|word| assert!(said.contains(word), "`{word}` is not in: {said}"));
    assert!(!said.contains("panicked"), "{said}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("readable").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// `incast list | head`: a closed pipe is not an error.
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.current_dir(folder.path()).arg("list");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

const SMALL: [&str; 9] = [
    "compare",
    "--topology",
    "leaf-spine:2x2x2",
    "--flows",
    "40",
    "--workload",
    "web_server",
    "--load",
    "0.4",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn wrong_input_is_refused_in_one_message() {
    refused(&small(&["--transports", "rne"]), &["rne", "did you mean `ren`?"]);
    refused(&["compare", "--topology", "leaf-spine:0x8x8"], &["leaf-spine:0x8x8", "at least 1"]);
    refused(&["compare", "--topology", "leafspine:8x8x8"], &["leaf-spine"]);
    let figure = ["reproduce", "ren/fig3", "--quick"];
    refused(&[&figure[..], &["--runs", "zzz"]].concat(), &["--runs = `zzz`", "expected"]);
    let sets = ["--assuming = `zzz`", "as_published"];
    refused(&[&figure[..], &["--assuming", "zzz"]].concat(), &sets);
    let large = ["its 2002000000 ports take", "expected fewer hosts"];
    refused(&["compare", "--topology", "leaf-spine:1000x1000x1000000"], &large);
    let links = ["its 2000002000 ports take", "expected fewer hosts"];
    refused(&["compare", "--topology", "leaf-spine:1000x1000000x1"], &links);
    refused(&["compare", "--flows", "4194305"], &["flows", "4194305", "1 to 4194304"]);
    refused(&["compare", "--flows", "5000000000"], &["flows", "5000000000", "1 to 4194304"]);
    let flows = small(&["--set", "traffic.0.flows=99999999999"]);
    refused(&flows, &["traffic.0.flows", "99999999999", "1 to 4194304"]);
    let none = small(&["--transports", "dctcp", "--set", "dctcp.mark_threshold=0packets"]);
    refused(&none, &["mark_threshold", "0packets", "1 to 4294967295 packets"]);
    refused(&small(&["--rate", "40Gb"]), &["40Gb", "unknown unit", "Gbps"]);
    refused(&small(&["--rate", "-4Gbps"]), &["-4Gbps", "negative"]);
    refused(&small(&["--buffer", "99999999999999GB"]), &["too large"]);
    for (buffer, value) in [("1B", "`1B`"), ("1537B", "`1.537KB`")] {
        refused(&small(&["--buffer", buffer]), &["--buffer", value, "1.538KB or more"]);
    }
    refused(&small(&["--buffer", "0packets"]), &["0packets", "above 0"]);
    for loss in ["1", "1.5", "-0.1", "nan"] {
        let set = format!("fabric.loss={loss}");
        let value = loss.replace("nan", "NaN");
        refused(&small(&["--set", &set]), &["fabric.loss", &value, "0 to less than 1"]);
    }
    let link = "fabric.links=[{ a = \"host0\", b = \"leaf0\", loss = 1.0 }]";
    refused(&small(&["--set", link]), &["fabric.links.0.loss", "0 to less than 1"]);
    refused(&["compare", "--workload", "web_serch"], &["did you mean `web_search`?"]);
    refused(&["compare", "--load", "0"], &["load", "above 0"]);
    refused(&small(&["--set", "ren.rul=gap"]), &["rul", "did you mean `rule`?"]);
    refused(&small(&["--set", "ren.rule=gup"]), &["gup", "budget, gap"]);
    refused(&small(&["--set", "fabric.buffr=3KB"]), &["did you mean `buffer`?"]);
    refused(&small(&["--set", "run.seed"]), &["'run.seed' for '--set", "key=value"]);
    refused(&small(&["--set", "foo"]), &["'foo' for '--set", "key=value"]);
    let idle = small(&["--transports", "dctcp", "--set", "ren.rule=gap"]);
    refused(&idle, &["--set ren.rule=gap", "`ren` is not in this run", "one of dctcp"]);
    refused(&small(&["--transports", "REN"]), &["--transports = `REN`", "did you mean `ren`?"]);
    refused(&small(&["--rate", "40"]), &["'40' for '--rate", "Gbps"]);
    refused(&["compare", "--load", "NaN"], &["'NaN' for '--load", "above 0"]);
    refused(&["compare", "--load", "inf"], &["'inf' for '--load", "above 0"]);
    for option in ["--seed", "--flows", "--threads", "--incast"] {
        refused(&["compare", option, "-1"], &[&format!("'-1' for '{option}"), "negative"]);
    }
    refused(&["reproduce", "ren/fig3", "--seed", "-1"], &["'-1' for '--seed", "negative"]);
    refused(&["compare", "--seed", "x"], &["'x' for '--seed", "whole number"]);
    refused(&["compare", "--seed", "99999999999999999999"], &["--seed", "too large"]);
    let lone = ["compare", "--topology", "leaf-spine:1x1x2", "--oversubscription", "2"];
    refused(&lone, &["--topology: racks = `1`", "2 or more racks"]);
    refused(&small(&["--set", "fabric.rate=40Gbsp"]), &["--set fabric.rate=40Gbsp", "Gbps"]);
    refused(&small(&["--set", "run.warmup=7"]), &["run.warmup", "less than 1"]);
    refused(&small(&["--set", "run.until=0s"]), &["run.until", "more than 0"]);
    refused(&small(&["--set", "run.until=9000000s"]), &["run.until", "9000000s", "8640000s"]);
    refused(&small(&["--set", "fabric.base_rtt=0s"]), &["fabric.base_rtt", "more than 0"]);
    refused(&small(&["--transports", "ren,ndp,ren"]), &["--transports: `ren` twice"]);
    refused(&small(&["--threads", "0"]), &["'0' for '--threads", "1 or more"]);
    refused(&small(&["--world", "ns3"]), &["'ns3' for '--world", "sim, dataplane"]);
    let threads = ["--world", "dataplane", "--threads", "2"];
    refused(&small(&threads), &["--threads", "`2`", "the data plane runs in one thread"]);
    refused(&small(&["--lb", "ecpm"]), &["did you mean `ecmp`?"]);
    refused(&small(&["--pcap", "leaf9->spine0"]), &["leaf9->spine0"]);
    let pfc = |setting| small(&["--pfc", "--set", setting]);
    refused(&pfc("fabric.pfc.headroom=3KB"), &["fabric.pfc.headroom", "3KB", "expected"]);
    refused(&pfc("fabric.pfc.xof=3KB"), &["did you mean `xoff`?"]);
    refused(&pfc("fabric.pfc.xoff=1KB"), &["fabric.pfc.xoff", "1.538KB or more"]);
    refused(&pfc("fabric.pfc.classes=[9]"), &["fabric.pfc.classes", "0 to 7"]);
    refused(&["reproduce", "ren/fig33"], &["did you mean `ren/fig3`?"]);
    let clock = |figure, name| ["reproduce", figure, "--clock", name];
    refused(&clock("ren/fig3", "virtual"), &["--clock", "paced, compensated, tsc"]);
    refused(&clock("ren/fig16", "paced"), &["--clock", "ren/fig16", "amrt/fig9"]);
    refused(&["run", "nowhere.toml"], &["nowhere.toml"]);
    refused(&["bench", "--case", "nothing"], &["permutation/dctcp"]);
    refused(&["bench", "--runs", "0"], &["--runs 0", "1 or more"]);
}

#[test]
fn files_of_other_tools_run_and_are_checked_line_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("net", "4 1 3\n3\n0 3 10Gbps 1us 0\n1 3 10Gbps 1us 0\n2 3 10Gbps 1us 0\n");
    let run = |flows: &str| {
        write("flows", flows);
        incast(
            folder.path(),
            &["run", "--topology", "net", "--flows", "flows", "--transport", "ndp"],
        )
    };
    let done = run("2\n0 1 3 100 100000 0.0\n2 1 3 100 100000 0.0\n");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for (flows, words) in [
        ("2\n0 1 3 100 1000 0.0\n0 0 3 100 1000 0.1\n", "flows:3"),
        ("2\n0 1 3 100 1000 0.0\n0 7 3 100 1000 0.1\n", "flows:3"),
        ("3\n0 1 3 100 1000 0.0\n0 2 3 100 1000 0.1\n", "flows"),
    ] {
        let output = run(flows);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

/// `--topology` takes words and files, under `run` and under `compare`.
#[test]
fn a_topology_is_in_words_or_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("net", "4 1 3\n3\n0 3 10Gbps 1us 0\n1 3 10Gbps 1us 0\n2 3 10Gbps 1us 0\n");
    write("flows", "2\n0 1 3 100 100000 0.0\n2 1 3 100 100000 0.0\n");
    let said = |args: &[&str]| {
        let output = incast(folder.path(), args);
        (output.status.code(), text(&output.stderr))
    };
    let of = |command: &str, topology: &str, out: &str| {
        let more: &[&str] = match command {
            "run" => &["--flows", "flows", "--transport", "ndp"],
            _ => &["--flows", "20", "--transports", "ndp"],
        };
        said(&[&[command, "--topology", topology, "--out", out], more].concat())
    };
    for command in ["run", "compare"] {
        for (topology, name) in [("net", "net"), ("star:3", "star:3")] {
            let out = format!("{command}-{}", name.replace(':', ""));
            let (code, errors) = of(command, topology, &out);
            assert_eq!(code, Some(0), "{command} {topology}: {errors}");
            let manifest = std::fs::read_to_string(folder.path().join(&out).join("manifest.json"));
            assert!(
                manifest.expect("written").contains(&format!("\"topology\": \"{name}\"")),
                "{out}"
            );
        }
        let (code, errors) = of(command, "nowhere.topo", "none");
        assert_eq!(code, Some(2));
        assert!(errors.contains("nowhere.topo: could not read"), "{errors}");
        let (code, errors) = of(command, "stat:3", "none");
        assert_eq!(code, Some(2));
        assert!(
            errors.contains("--topology") && errors.contains("did you mean `star`"),
            "{errors}"
        );
    }
}

/// A program with the topology file of another tool; one that cannot go on leaves readable results and an error.
#[test]
fn programs_run_and_those_that_cannot_go_on_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("net", "4 1 3\n3\n0 3 10Gbps 1us 0\n1 3 10Gbps 1us 0\n2 3 10Gbps 1us 0\n");
    let run = |out: &str, program: &str| {
        write("own.goal", program);
        incast(folder.path(), &["run", "--topology", "net", "--program", "own.goal", "--out", out])
    };
    let good =
        "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: calc 40\n}\nrank 1 {\nrecv 9b from 0\n}\n";
    let done = run("good", good);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("own.goal: 2 ranks are done after"));
    let stuck = "num_ranks 2\nrank 0 {\na: recv 9b from 1\nb: send 9b to 1\nb requires a\n}\n\
                 rank 1 {\na: recv 9b from 0\nb: send 9b to 0\nb requires a\n}\n";
    let output = run("stuck", stuck);
    assert_ne!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    let waits = "rank 0, node 0 (line 3) waits for a message from rank 1 with tag 0";
    assert!(said.contains("own.goal cannot go on") && said.contains(waits), "{said}");
    for file in ["summary.json", "ranks.parquet", "flows.parquet", "report.html"] {
        assert!(folder.path().join("stuck").join(file).is_file(), "{file}");
    }
    let output = run("wrong", &good.replace("to 1", "to 2"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("own.goal:3: rank `2`"), "{}", text(&output.stderr));
}

/// Errors in a scenario are reported with file, entry and key.
#[test]
fn messages_about_a_scenario_name_file_and_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |file: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(file), bytes).expect("writable");
        let output = incast(folder.path(), &["run", "z.toml"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let traffic = |entries: &str| {
        format!("[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\"]\n{entries}")
    };
    let entry = |kind: &str, keys: &str| {
        let first = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
        let size = match kind {
            "poisson" => "packets = \"pkt_hadoop\"",
            "closed_loop" => "at = \"1us\"",
            _ => "size = \"1MB\"",
        };
        let text = format!("{first}[[traffic]]\nkind = \"{kind}\"\n{size}\n{keys}\n");
        said("z.toml", traffic(&text).as_bytes())
    };
    for (kind, keys, words) in [
        (
            "long",
            "from = \"0\"\nto = \"0\"",
            "z.toml:12: traffic.1.to = `0`: expected a host other",
        ),
        ("burst", "from = \"1,1\"\nreceiver = 0", "z.toml:11: traffic.1.from = `1`: expected each"),
        (
            "incast",
            "from = \"0-3\"\nreceiver = 2",
            "z.toml:11: traffic.1.from = `2`: expected hosts other",
        ),
        (
            "incast",
            "senders = 4\nreceiver = 2",
            "z.toml:11: traffic.1.senders = `4`: expected 1 to 3",
        ),
        (
            "requests",
            "from = \"1\"\nto = \"0\"\ncount = 0",
            "z.toml:13: traffic.1.count = `0`: expected 1 to",
        ),
        (
            "requests",
            "from = \"1\"\nto = \"1\"",
            "z.toml:12: traffic.1.to = `1`: expected a host that is not",
        ),
        (
            "closed_loop",
            "workload = \"web_search\"\nactive = 10\nflows = 9",
            "z.toml:12: traffic.1.active = `10`: expected 1 to 9",
        ),
        (
            "many_to_many",
            "from = \"0\"\nto = \"1\"\nto_second = \"2\"\nresponsive = 1.5",
            "z.toml:14: traffic.1.responsive = `1.5`: expected a number from 0 to 1",
        ),
        (
            "poisson",
            "workload = \"web_serch\"\nload = 0.5\nflows = 9",
            "z.toml:11: traffic.1.workload = ",
        ),
        (
            "poisson",
            "workload = \"web_search\"\nload = -1.0\nflows = 9",
            "z.toml:12: traffic.1.load = `-1`",
        ),
    ] {
        let message = entry(kind, keys);
        assert!(message.contains(words), "`{words}` is not in: {message}");
    }
    let none = "[[traffic]]\nkind = \"permutation\"\nsize = \"0B\"\n";
    let message = said("z.toml", traffic(none).as_bytes());
    assert!(message.contains("z.toml:7: traffic.0.size = `0`: expected 1 to"), "{message}");
    let message = said("z.toml", traffic("").as_bytes());
    let none =
        "z.toml: traffic: there is none, and no `job`: expected a section [[traffic]] or [[job]]";
    assert!(message.contains(none), "{message}");
    // Bytes that are no text, in the scenario and in each file that it names.
    assert!(said("z.toml", b"[fabric]\ntitle = \"\xff\"\n").contains("z.toml:2: the byte 0xff"));
    let flows = "[[traffic]]\nkind = \"file\"\nfile = \"flows\"\n";
    std::fs::write(folder.path().join("z.toml"), traffic(flows)).expect("writable");
    assert!(said("flows", b"1\n0 1 3 \xc3( 1000 0.0\n").contains("flows:2: the byte 0xc3"));
    let net = traffic(flows).replace("topology = \"star:4\"", "file = \"net\"");
    std::fs::write(folder.path().join("z.toml"), net).expect("writable");
    assert!(said("net", b"4 1 3\n3\n\xfe").contains("net:3: the byte 0xfe"));
}

/// A ring of five switches in which every host sends over two hops: paused links wait for each
/// other. Refused by default; with `allow_cycles` the run ends at the deadlock and reports it.
#[test]
fn a_cycle_of_paused_links_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut net = String::from("10 5 10\n5 6 7 8 9\n");
    let mut scenario = String::from(
        "[fabric]\nfile = \"ring\"\npfc = {}\n[transport]\nnames = [\"cubic\"]\n[run]\nuntil = \"50ms\"\n",
    );
    for i in 0..5 {
        net += &format!(
            "{i} {} 40Gbps 0.001ms 0\n{} {} 40Gbps 0.001ms 0\n",
            i + 5,
            i + 5,
            (i + 1) % 5 + 5
        );
        let to = (i + 2) % 5;
        scenario += &format!(
            "[[traffic]]\nkind = \"long\"\nfrom = \"{i}\"\nto = \"{to}\"\nsize = \"100MB\"\n"
        );
    }
    std::fs::write(folder.path().join("ring"), net).expect("writable");
    std::fs::write(folder.path().join("ring.toml"), scenario).expect("writable");
    let cycle = "leaf0->leaf1, leaf1->leaf2, leaf2->leaf3, leaf3->leaf4, leaf4->leaf0";
    let output = incast(folder.path(), &["run", "ring.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains(cycle) && said.contains("fabric.pfc.allow_cycles"), "{said}");
    let allow = ["run", "ring.toml", "--set", "fabric.pfc.allow_cycles=true", "--out", "out"];
    let output = incast(folder.path(), &allow);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("deadlock at") && said.contains(cycle), "{said}");
    let manifest = manifest(&folder.path().join("out"));
    assert_eq!(manifest["complete"], false);
    assert!(manifest["deadlock"].as_str().is_some_and(|ports| ports.contains(cycle)));
}

/// The only link to a receiver fails for good: timers continue, but the run ends, at the same time with any
/// number of threads, and reports why.
#[test]
fn a_run_without_progress_ends_and_reports_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = "[fabric]\ntopology = \"leaf-spine:2x1x2\"\n\
         [[fabric.failures]]\nat = \"20us\"\na = \"host3\"\nb = \"leaf1\"\n\
         [transport]\nnames = [\"dctcp\"]\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"0,1\"\nto = \"3,2\"\nsize = \"90KB\"\n";
    std::fs::write(folder.path().join("cut.toml"), scenario).expect("writable");
    let mut ends = vec![];
    for threads in ["1", "2"] {
        let run = ["run", "cut.toml", "--threads", threads, "--out", threads];
        let output = incast(folder.path(), &run);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let why =
            "dctcp: flow 0 (host0 to host3): link host3 - leaf1 failed at 20us for good; the run";
        assert!(said.contains(why), "{said}");
        let manifest = manifest(&folder.path().join(threads));
        assert_eq!(manifest["complete"], false);
        assert!(manifest["stalled_since"].is_string());
        assert!(folder.path().join(threads).join("report.html").exists());
        ends.push((manifest["simulated_ns"].clone(), manifest["stalled_since"].clone()));
    }
    assert_eq!(ends[0], ends[1]);
}

fn manifest(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn results_are_complete_numbered_and_never_overwritten_silently() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for number in ["0001-compare", "0002-compare"] {
        let output = incast(folder.path(), &small(&["--transports", "ren,dctcp", "--csv"]));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let place = at("results").join(number);
        assert_eq!(manifest(&place)["complete"], true);
        for file in ["flows.parquet", "ports.parquet", "summary.json", "flows.csv"] {
            assert!(place.join("ren").join(file).exists(), "{file}");
        }
        let page = std::fs::read_to_string(place.join("report.html")).expect("a report");
        assert!(page.contains("dctcp") && page.len() > 100_000);
    }
    let out = small(&["--transports", "ren", "--out", "here"]);
    assert_eq!(incast(folder.path(), &out).status.code(), Some(0));
    let again = incast(folder.path(), &out);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--force"));
    let forced = [out.as_slice(), &["--force"]].concat();
    assert_eq!(incast(folder.path(), &forced).status.code(), Some(0));
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    for threads in ["1", "2", "9999"] {
        let more = ["--transports", "ren", "--threads", threads, "--out", threads];
        let output = incast(folder.path(), &small(&more));
        assert_eq!(output.status.code(), Some(0));
        let told = text(&output.stderr).contains("warning: 9999 threads, and this process may use");
        assert_eq!(told, threads == "9999");
    }
    for file in ["flows.parquet", "ports.parquet", "summary.json"] {
        let read =
            |threads: &str| std::fs::read(folder.path().join(threads).join(file)).expect("there");
        assert!(["2", "9999"].iter().all(|more| read("1") == read(more)), "{file} differs");
    }
}

#[test]
fn the_world_does_not_change_a_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    for world in ["sim", "dataplane"] {
        let more = ["--transports", "homa", "--pcap", "leaf0->spine1", "--world", world];
        let more = [more.as_slice(), &["--out", world]].concat();
        assert_eq!(incast(folder.path(), &small(&more)).status.code(), Some(0));
        assert_eq!(manifest(&folder.path().join(world))["world"], world);
    }
    for file in ["flows.parquet", "ports.parquet", "summary.json", "ports.pcapng"] {
        let read = |world: &str| std::fs::read(folder.path().join(world).join(file));
        assert!(read("sim").expect("there") == read("dataplane").expect("there"), "{file} differs");
    }
}

fn interrupt(child: &std::process::Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
}

/// An interrupt while a large network is built ends the program without results.
#[test]
fn an_interrupt_before_the_run_starts_ends_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    let topology = ["--topology", "leaf-spine:80x80x80", "--flows", "20"];
    command.current_dir(folder.path()).arg("compare").args(topology);
    command.args(["--transports", "dctcp", "--out", "cut"]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let cut = folder.path().join("cut");
    while !cut.join("manifest.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("stopped before the run started"), "{said}");
    assert_eq!(manifest(&cut)["complete"], false);
    assert!(!cut.join("flows.parquet").exists());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    // A signal that comes while the network is built ends the program without results; on a busy
    // machine that takes longer.
    let kept = [300, 1_000, 4_000, 16_000].into_iter().any(|wait_ms| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
        let long = ["compare", "--transports", "dctcp,ndp", "--flows", "200000", "--out", "cut"];
        command.current_dir(folder.path()).args(long);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let cut = folder.path().join("cut");
        while !cut.join("manifest.json").exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(manifest(&cut)["complete"], false, "before anything is done");
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        interrupt(&child);
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
        assert_eq!(manifest(&cut)["complete"], false);
        let kept = cut.join("dctcp/flows.parquet").exists() && cut.join("report.html").exists();
        if kept {
            // What is not there is said, in the manifest and in the report.
            let warnings = manifest(&cut)["runs"][0]["warnings"].to_string();
            assert!(warnings.contains("interrupted before ndp: not run"), "{warnings}");
            let report = std::fs::read_to_string(cut.join("report.html")).expect("it is there");
            assert!(report.contains("interrupted before ndp: not run"));
        }
        kept
    });
    assert!(kept, "no interrupted run left its flows and report");
}

/// What cannot be printed or written is said, and is not the user's mistake: exit code 1.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_fails() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    let output = command.arg("list").stdout(full).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: the output could not be written: No space left"), "{said}");
    std::fs::write(folder.path().join("file"), "").expect("it is written");
    let output = incast(folder.path(), &small(&["--transports", "dctcp", "--out", "file/results"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("could not create"), "{said}");
}

/// A file size limit below the size of the report: the folder is not marked complete.
#[test]
fn a_folder_without_its_report_is_not_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = "trap '' XFSZ; ulimit -f 180; exec \"$@\"";
    let arguments = small(&["--transports", "dctcp", "--out", "out"]);
    let output = Command::new("sh")
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_incast")])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("sh");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("report.html"), "{}", text(&output.stderr));
    let out = folder.path().join("out");
    assert!(out.join("summary.json").exists() && !out.join("report.html").exists());
    assert_eq!(manifest(&out)["complete"], false);
}

/// docs/results.md lists every file of a run and every key of its manifest.
#[test]
fn what_a_run_leaves_is_documented() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = ["--transports", "dctcp,ndp", "--pfc", "--csv", "--pcap", "0", "--out", "out"];
    let done = incast(folder.path(), &small(&more));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = std::fs::read_to_string(page).expect("docs/results.md");
    let out = folder.path().join("out");
    let mut names = vec![];
    for folder in [&out, &out.join("ndp")] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            names.push(entry.expect("readable").file_name().into_string().expect("text"));
        }
    }
    for key in ["manifest.json", "flows.csv", "ports.csv", "ports.pcapng", "report.html"] {
        assert!(names.iter().any(|name| name == key), "{key} is not in {names:?}");
    }
    names.retain(|name| name != "ndp" && name != "dctcp");
    fn keys(value: &Value, names: &mut Vec<String>) {
        for (key, value) in value.as_object().into_iter().flatten() {
            names.push(key.clone());
            // Parameters are in `incast list`, keys of a scenario in docs/scenario.md.
            if !["parameters", "scenario"].contains(&key.as_str()) {
                keys(value, names);
            }
        }
    }
    keys(&manifest(&out), &mut names);
    keys(&manifest(&out.join("ndp")), &mut names);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not in docs/results.md");
    }
}

/// Two transports with files of their own: the folder repeats the comparison, and each subfolder its
/// run, from another scenario's directory or not.
#[test]
fn results_repeat_their_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("sizes", "1000,0.5\n20000,1\n");
    let more = ["--transports", "ren,dctcp", "--workload", "sizes", "--incast", "3", "--seed", "9"];
    let compare = ["compare", "--topology", "leaf-spine:2x2x2", "--flows", "40", "--out", "first"];
    let first = incast(folder.path(), &[&compare, &more[..], &["--set", "ren.rule=gap"]].concat());
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let repeat = |from: &str, to: &str| {
        let done = incast(folder.path(), &["run", from, "--out", to]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    };
    repeat("first", "again");
    repeat("first/ren/manifest.json", "ren");
    repeat("again/dctcp", "dctcp");
    for (one, two) in [("again/ren", "first/ren"), ("ren", "first/ren"), ("dctcp", "first/dctcp")] {
        for file in ["flows.parquet", "ports.parquet", "summary.json"] {
            let read = |place: &str| std::fs::read(folder.path().join(place).join(file));
            assert!(read(one).expect("there") == read(two).expect("there"), "{one}/{file}");
        }
    }
    let all = manifest(&folder.path().join("first"));
    let scenario = &all["scenario"];
    for (key, value) in [("propagation", "1us"), ("rate", "40Gbps"), ("buffer", "128KiB")] {
        assert_eq!(scenario["fabric"][key], value, "{key}");
    }
    assert_eq!(scenario["fabric"]["loss"], 0.0);
    assert_eq!(scenario["run"]["warmup"], 0.1);
    assert_eq!(scenario["traffic"][0]["workload"], "sizes");
    assert_eq!(scenario["traffic"][1]["senders"], 3);
    assert_eq!(scenario["transport"]["parameters"]["ren"]["rule"], "gap");
    assert!(scenario["transport"]["parameters"]["dctcp"]["initial_window"].is_string());
    assert_eq!(all["files"][0]["name"], "sizes");
    assert_eq!(all["files"][0]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn manifests_that_cannot_be_repeated_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("flows.csv", "src,dst,size_bytes,start_ns\n0,1,5000,0\n");
    write(
        "z.toml",
        "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = \"flows.csv\"\n",
    );
    let first = incast(folder.path(), &["run", "z.toml", "--out", "first"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let whole = std::fs::read_to_string(folder.path().join("first/manifest.json")).expect("text");
    let said = |name: &str, content: &str| {
        write(name, content);
        let output = incast(folder.path(), &["run", name]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let lines = whole.lines().count();
    let cut = said("cut.json", &whole[..whole.len() - 20]);
    assert!(
        cut.contains("cut.json:") && cut.contains("truncated: copy the folder again"),
        "{lines} lines: {cut}"
    );
    assert!(said("cut.json", "").contains("cut.json:1: truncated"));
    assert!(said("none.json", "[1, 2]").contains("none.json: not an incast manifest"));
    assert!(said("none.json", "{\"a\": 1}").contains("the key `version` is missing"));
    assert!(said("none", "{\"a\": 1}").contains("none: not an incast manifest"));
    assert!(said("none.json", "{]").contains("none.json:1: not JSON"));
    let old = said("old.json", "{\"version\": \"0.0.1\"}");
    assert!(old.contains("written by version 0.0.1, which did not keep the scenario"), "{old}");
    let figure = said("figure.json", "{\"experiment\": \"ren/fig3\"}");
    assert!(figure.contains("incast reproduce ren/fig3"), "{figure}");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let empty = text(&incast(folder.path(), &["run", "empty"]).stderr);
    assert!(empty.contains("empty: not a results folder"), "{empty}");

    // Another version: it runs with a warning, or the message names both versions.
    let own = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(whole.contains(&own));
    write("other.json", &whole.replace(&own, "\"version\": \"9.9.9\""));
    let output = incast(folder.path(), &["run", "other.json", "--out", "other"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert!(
        told.contains("warning: other.json was written by version 9.9.9, and this is"),
        "{told}"
    );
    let unknown =
        whole.replace(&own, "\"version\": \"9.9.9\"").replace("\"seed\": 1", "\"sed\": 1");
    let unknown = said("unknown.json", &unknown);
    for word in ["unknown.json: run.sed: no such key", "did you mean `seed`?", "version 9.9.9"] {
        assert!(unknown.contains(word), "{unknown}");
    }

    // A file that changed, and one that is gone: the folder has a copy, also where it was moved to.
    write("flows.csv", "src,dst,size_bytes,start_ns\n0,1,6000,0\n");
    let output = incast(folder.path(), &["run", "first", "--out", "copied"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert!(told.contains("warning: flows.csv has changed since the run: its copy in"), "{told}");
    let away = tempfile::tempdir().expect("a folder");
    std::fs::rename(folder.path().join("copied"), away.path().join("moved")).expect("movable");
    for arguments in
        [&["explain", "moved"][..], &["check", "moved"], &["run", "moved", "--out", "twice"]]
    {
        let output = incast(away.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let flows =
        |place: std::path::PathBuf| std::fs::read(place.join("flows.parquet")).expect("there");
    assert!(flows(away.path().join("twice")) == flows(folder.path().join("first")));
    // Without a copy the file has to be as it was.
    std::fs::remove_dir_all(folder.path().join("first/inputs")).expect("it was there");
    let output = incast(folder.path(), &["run", "first", "--out", "second"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let hash = manifest(&folder.path().join("first"))["files"][0]["sha256"].clone();
    assert!(told.contains("flows.csv: changed since first/manifest.json was written"), "{told}");
    assert!(told.contains(hash.as_str().expect("text")) && told.contains(", found "), "{told}");
    let allowed = ["run", "first", "--out", "second", "--allow-changed-files"];
    let output = incast(folder.path(), &allowed);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("warning: flows.csv: changed since"));
    std::fs::remove_file(folder.path().join("flows.csv")).expect("it was there");
    let output = text(&incast(folder.path(), &["run", "first"]).stderr);
    assert!(output.contains("flows.csv: could not read"), "{output}");
    assert!(output.contains("the original run was started in"), "{output}");
}

#[test]
fn a_check_prints_the_complete_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write(
        "z.toml",
        "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ren\"]\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 1\nsize = \"1KB\"\n",
    );
    let check = |name: &str| incast(folder.path(), &["check", name]);
    let first = check("z.toml");
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let printed = text(&first.stdout);
    for line in ["propagation = \"1us\"", "loss = 0.0", "warmup = 0.1", "from = \"0,2-3\""] {
        assert!(printed.lines().any(|own| own == line), "{line} is not in: {printed}");
    }
    // The printed scenario is unchanged by another check.
    write("again.toml", &printed);
    assert_eq!(text(&check("again.toml").stdout), printed);
    write("wrong.toml", &printed.replace("warmup = 0.1", "warmup = 1.0"));
    let wrong = check("wrong.toml");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("run.warmup = `1`: expected 0 to less than 1"));
    let left = std::fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(left, 3, "a check writes no results");
}

#[test]
fn the_list_has_names_for_scripts() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = incast(folder.path(), &["list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let has = |kind: &str, name: &str| {
        let entries = list[kind].as_array().unwrap_or_else(|| panic!("{kind} is an array"));
        assert!(entries.iter().any(|entry| entry["name"] == name), "{name} is not in {kind}");
    };
    for name in ["ren", "amrt", "ndp", "phost", "trd", "dctcp"] {
        has("transports", name);
    }
    for transport in list["transports"].as_array().expect("an array") {
        for one in transport["parameters"].as_array().expect("an array") {
            let accepts = one["accepts"].as_str().expect("text");
            assert!(!accepts.is_empty(), "{}.{}", transport["name"], one["name"]);
        }
    }
    has("workloads", "web_search");
    has("topologies", "leaf-spine");
    has("experiments", "ren/fig3");
}

#[test]
fn one_transport_is_shown_in_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = text(&incast(folder.path(), &["list", "ren"]).stdout);
    for line in [
        "ren - REN: receiver-driven transport based on explicit notification",
        "  ECN bits of data: own-code",
        "  period = auto",
        "      accepted: auto, or more than 0; source: REN §3.2.3, §6.4",
        "      Effect: Literally 10, 10, 10, 0, 0 packets per round.",
        "  Grant (incast.ren.grant) - Lets packets of a flow go",
        "      acked (bytes 0-3, packets): The packet that it acknowledges; of a grant that no packet caused, the lowest one missing",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "`{line}` is not in\n{shown}");
    }
    let output = incast(folder.path(), &["list", "ren", "--json"]);
    let ren: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(ren["deviations"][1]["section"], "REN §3.2.1");
    assert_eq!(ren["marks"], true);
    let list = incast(folder.path(), &["list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    let mut all = list["transports"].as_array().expect("an array").iter();
    let short = all.find(|one| one["name"] == "ren").expect("in the list");
    let short = short.as_object().expect("an object");
    assert!(short.iter().all(|(key, value)| ren[key] == *value), "the list differs");
    let wrong = incast(folder.path(), &["list", "rem"]);
    assert!(!wrong.status.success());
    let said = text(&wrong.stderr);
    assert!(said.contains("NAME = `rem`: did you mean `ren`? Expected one of"), "{said}");
}

#[test]
fn reproduce_reports_verdicts_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = incast(folder.path(), &["reproduce", "amrt/fig9", "--quick", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let verdicts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdicts = verdicts.as_array().expect("an array");
    assert!(verdicts.len() >= 3);
    for verdict in verdicts {
        for key in ["experiment", "claim", "quote", "paper", "accepted", "sentence", "deviation"] {
            assert!(verdict[key].is_string(), "{key}");
        }
        let set = &verdict["sets"][0];
        assert_eq!(set["set"], "as_published", "a smoke test runs the first set");
        assert!(set["measured"].is_string() && verdict["sets"].as_array().unwrap().len() == 1);
        let word = set["verdict"].as_str().expect("a string");
        let words = ["matches", "same order, other size", "differs", "cannot be judged"];
        assert!(words.contains(&word), "{word}");
    }
}

/// A run in real time that is not accepted ends the command with status 3 and its reason; what was
/// accepted is judged. Which of the two a run is depends on the machine, so its table says it here.
#[test]
fn a_refused_run_in_real_time_ends_reproduce_with_status_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["reproduce", "amrt/fig9", "--keep", "kept", "--clock", "compensated"];
    let made = incast(folder.path(), &arguments);
    assert!([Some(0), Some(3)].contains(&made.status.code()), "{}", text(&made.stderr));
    assert!(folder.path().join("kept/amrt/fig9/results.parquet").is_file());
    let store = incast_reproduce::Store::at(&folder.path().join("kept"));
    let tables = store.tables("amrt/fig9").expect("they were kept");
    for (refused, status) in [(None, 0), (Some("12 packets, and 10"), 3)] {
        for (address, table) in tables.iter().filter(|one| one.0.set.starts_with("real-time/")) {
            let refused = refused.map(String::from);
            let own = incast_reproduce::KeptTable { refused, ..table.clone() };
            store.keep(address, &own).expect("written");
        }
        let read = incast(folder.path(), &arguments);
        let said = text(&read.stdout);
        assert_eq!(read.status.code(), Some(status), "{said}{}", text(&read.stderr));
        assert_eq!(said.contains("12 packets, and 10"), refused.is_some(), "{said}");
        assert!(said.contains("In real time, compensated: "), "{said}");
    }
    // Judged by tables alone, nothing was asked to run.
    let from_kept = ["reproduce", "amrt/fig9", "--keep", "kept", "--from-kept"];
    assert_eq!(incast(folder.path(), &from_kept).status.code(), Some(0));
}

/// Kept results are those of the clone that the command is called in. Elsewhere it says what is missing.
#[test]
fn kept_results_are_found_in_the_clone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let judged = |place: &Path, more: &[&str]| {
        let arguments = ["reproduce", "ren/fig1", "--from-kept", "--json"];
        incast(place, &[&arguments[..], more].concat())
    };
    let inside = judged(&root.join("docs/howto"), &[]);
    assert_eq!(inside.status.code(), Some(0), "{}", text(&inside.stderr));
    let folder = tempfile::tempdir().expect("a folder");
    let named = root.join("experiments");
    let named = judged(folder.path(), &["--kept", named.to_str().expect("plain names")]);
    assert_eq!((named.status.code(), named.stdout), (Some(0), inside.stdout));
    let outside = judged(folder.path(), &[]);
    assert_eq!(outside.status.code(), Some(2));
    let said = text(&outside.stderr);
    let place = folder.path().display().to_string();
    for part in ["--from-kept", "`experiments`", &place, "clone of the repository", "--keep"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// A reproduction that is killed: the verdicts so far are there, the folder says that it is not
/// complete, and it can be replaced.
#[test]
fn a_reproduction_that_is_killed_leaves_its_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, verdicts) = (folder.path().join("x"), folder.path().join("x/verdicts.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.current_dir(folder.path()).args(["reproduce", "ren", "--out", "x", "--threads", "1"]);
    command.stdout(std::process::Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // The first experiment is a drawing, the next runs for hours.
    while !verdicts.is_file() && child.try_wait().expect("our child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().expect("it still runs");
    child.wait().expect("our child");
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
    };
    assert_eq!(read(&verdicts)[0]["experiment"], "ren/fig1");
    assert_eq!(read(&out.join("manifest.json"))["complete"], false);
    let output = incast(folder.path(), &["reproduce", "ren/fig1", "--out", "x", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(read(&out.join("manifest.json"))["complete"], true);
}

/// The same by Ctrl-C: an exit code that says so, and with `--json` what there is.
#[test]
fn an_interrupted_reproduction_prints_its_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, verdicts) = (folder.path().join("x"), folder.path().join("x/verdicts.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    let arguments = ["reproduce", "ren", "--out", "x", "--threads", "1", "--json"];
    command.current_dir(folder.path()).args(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    while !verdicts.is_file() && child.try_wait().expect("our child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stderr).contains("verdicts so far are in x"), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told[0]["experiment"], "ren/fig1");
    let written = std::fs::read(&verdicts).expect("verdicts");
    assert_eq!(told, serde_json::from_slice::<Value>(&written).expect("JSON"));
    assert_eq!(manifest(&out)["complete"], false);
    // Its tables are there, and a call that goes on makes none of them again.
    assert!(text(&output.stderr).contains("--keep x/tables` goes on"), "{}", text(&output.stderr));
    let output = incast(folder.path(), &["reproduce", "ren/fig1", "--keep", "x/tables", "--json"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again[0], told[0]);
}

#[test]
fn an_interrupted_bench_reports_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_incast"));
    command.current_dir(folder.path()).args(["bench", "--case", "web_search_pfc"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut first = [0];
    let stdout = child.stdout.as_mut().expect("it is piped");
    std::io::Read::read_exact(stdout, &mut first).expect("the table's head");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output.stderr).contains("stopped after 0 cases"), "{}", text(&output.stderr));
}

/// The papers' drawings, packet by packet: claims with a trace or with the drawing's queue.
#[test]
fn drawings_are_reproduced_packet_by_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    // REN's queue is gone two rounds later than Figure 5 draws it, as its equations say, and one
    // later than Figure 7 has it; by the budget of its text Figure 7's marks are others.
    let cases = [
        ("ren/fig1", 0),
        ("ren/fig2", 0),
        ("ren/fig5", 1),
        ("ren/fig6", 0),
        ("ren/fig7", 2),
        ("amrt/fig5", 0),
    ];
    for (name, differing) in cases {
        let output = incast(folder.path(), &["reproduce", name, "--quick", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let verdicts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let drawn = |verdict: &&Value| {
            let claim = verdict["claim"].as_str().expect("a string");
            claim.starts_with("Packet by packet") || claim.starts_with("n = 6")
        };
        let drawn: Vec<&Value> =
            verdicts.as_array().expect("an array").iter().filter(drawn).collect();
        let differ =
            drawn.iter().filter(|verdict| verdict["sets"][0]["verdict"] != "matches").count();
        assert!(!drawn.is_empty() && differ == differing, "{name}: {drawn:#?}");
    }
}

/// A small incast with losses, at a rate at which real time takes milliseconds.
const TESTBED: &str = r#"
[fabric]
topology = "dumbbell:4x1"
rate = "1Gbps"
propagation = "8us"
buffer = "32KiB"
[transport]
names = ["ndp", "ren"]
[[traffic]]
kind = "incast"
receiver = 4
size = "60KB"
at = "0s"
[output]
pcap = ["0"]
"#;

/// The tables and captures of each case of a results folder.
fn tables(folder: &Path) -> Vec<Vec<u8>> {
    let files = ["flows.parquet", "ports.parquet", "summary.json", "ports.pcapng"];
    let all = ["ndp", "ren"].iter().flat_map(|case| files.map(|file| folder.join(case).join(file)));
    all.map(|path| std::fs::read(&path).unwrap_or_else(|_| panic!("{}", path.display()))).collect()
}

#[test]
fn a_testbed_leaves_the_folder_of_the_simulator() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.toml"), TESTBED).expect("written");
    let run = |out: &str, arguments: &[&str]| {
        let arguments = [arguments, &["--out", out]].concat();
        let output = incast(folder.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let manifest = std::fs::read(folder.path().join(out).join("ndp/manifest.json"));
        let manifest: Value = serde_json::from_slice(&manifest.expect("read")).expect("JSON");
        let report = std::fs::read_to_string(folder.path().join(out).join("report.html"));
        (tables(&folder.path().join(out)), manifest, text(&output.stdout), report.expect("read"))
    };
    let (simulated, manifest, _, report) = run("sim", &["run", "s.toml"]);
    assert_eq!(manifest["world"], "sim");
    assert!(manifest["scenario"].get("dataplane").is_none() && manifest["fidelity"].is_null());
    assert!(report.contains(" in the simulator") && !report.contains("Real time"));
    let (exact, manifest, said, report) = run("virtual", &["testbed", "run", "s.toml"]);
    assert!(exact == simulated, "the data plane's tables differ");
    assert!(said.contains("the data plane, memory backend, virtual clock"), "{said}");
    assert!(report.contains("memory backend, virtual clock") && !report.contains("Real time"));
    let dataplane = &manifest["scenario"]["dataplane"];
    assert_eq!((&dataplane["backend"], &dataplane["clock"]), (&"memory".into(), &"virtual".into()));
    // A manifest keeps world and clock; other options change them.
    let (again, manifest, ..) = run("again", &["run", "virtual"]);
    assert!(again == exact && manifest["world"] == "dataplane");
    let (other, manifest, ..) = run("other", &["run", "virtual", "--world", "sim"]);
    assert!(other == exact && manifest["scenario"].get("dataplane").is_none());
    // In real time, and the same packets at any pace of this machine.
    let (paced, manifest, said, report) =
        run("paced", &["run", "s.toml", "--world", "dataplane", "--clock", "paced"]);
    assert!(paced == exact, "the paced clock changes the tables");
    let fidelity = &manifest["fidelity"];
    assert_eq!(fidelity["packets"], fidelity["virtual_packets"]);
    assert_eq!(
        (&fidelity["lateness_p999_ns"], &fidelity["refused"]),
        (&0.0.into(), &Value::Array(vec![]))
    );
    assert!(fidelity["wall_ns"].as_f64() >= fidelity["run_ns"].as_f64());
    for words in
        ["ndp: real time: ", "ndp: stalled: ", "lateness of packets, p99.9: 0", "(+0.000 %)"]
    {
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
    assert!(report.contains("<h2>Real time</h2>") && report.contains("paced clock"));
}

/// No clock of real time is never late: with a bound of 0 its run is refused, and its results are
/// there to be looked at.
#[test]
fn a_run_in_real_time_is_refused_beyond_its_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.toml"), TESTBED).expect("written");
    let more = ["--clock", "compensated", "--max-lateness", "0", "--out", "out"];
    let output = incast(folder.path(), &[&["testbed", "run", "s.toml"], &more[..]].concat());
    let (said, failed) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{failed}");
    assert!(
        failed.contains("error: ndp: refused: the 99.9th percentile of the lateness"),
        "{failed}"
    );
    assert!(failed.contains("at most 0.0 % are accepted"), "{failed}");
    assert!(said.contains("the compensated clock is real time"), "{said}");
    let manifest = std::fs::read(folder.path().join("out/ndp/manifest.json")).expect("read");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert!(!manifest["fidelity"]["refused"].as_array().expect("a list").is_empty());
    let kinds = manifest["warnings"].as_array().expect("a list").iter().map(|one| &one["kind"]);
    assert!(kinds.filter(|kind| *kind == "refused").count() == 1, "{}", manifest["warnings"]);
}

#[test]
fn options_of_the_data_plane_are_refused_with_a_reason() {
    let alone = &["no effect in the simulator", "--world dataplane"];
    refused(&small(&["--clock", "paced"]), &[&["--clock"], &alone[..]].concat());
    refused(&small(&["--set", "dataplane.max_lateness=0.1"]), alone);
    let world = ["--world", "dataplane"];
    let refused = |more: &[&str], words: &[&str]| refused(&small(&[&world, more].concat()), words);
    refused(&["--clock", "real"], &["'real' for '--clock", "virtual, paced, compensated, tsc"]);
    refused(&["--backend", "ring"], &["'ring' for '--backend", "did you mean `rings`?"]);
    refused(&["--max-lateness", "5"], &["'5' for '--max-lateness", "0 to 1"]);
    refused(&["--max-packet-difference", "-1"], &["--max-packet-difference", "0 to 1"]);
    refused(&["--set", "dataplane.clok=paced"], &["did you mean `clock`?"]);
}

/// A study says at its end what it found: a table over what varies and one of the last point, for each class of flows, and who is best.
#[test]
fn a_study_prints_what_it_found_and_what_to_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[transport]\nnames = [\"dctcp\", \"ndp\"]\n\
                 [[traffic]]\nkind = \"poisson\"\nworkload = \"web_server\"\nload = 0.3\nflows = 100\n\
                 [[traffic]]\nkind = \"incast\"\nreceiver = 0\nfan_in = 6\nsize = \"64KB\"\n\
                 [study]\nseeds = 2\n[study.vary]\n\"traffic.0.load\" = [0.3, 0.6]\n";
    std::fs::write(folder.path().join("two.toml"), study).expect("written");
    let run = |more: &[&str]| {
        let output =
            incast(folder.path(), &[&["study", "two.toml", "--out", "out"], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let said = run(&[]);
    for part in [
        "99th percentile of the slowdown of flows of class background. Mean of 2 seeds ± half of the 95 % confidence \
         interval:\n\ntraffic.0.load",
        "99th percentile of the slowdown of flows of class incast. Mean of 2 seeds",
        "\nAt load 0.6:\n\n",
        "\nFCT, mean, class incast ",
        " has the lowest 99th percentile of the slowdown of flows of class incast, ",
        "\n8 of 8 points, 8 of them run now: out\nreport with the curves: out/study.html\nnext: `incast study out \
         --set study.seeds=4`",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    // The same without a run, and with the seeds that it proposes.
    let tables = |said: &str| {
        said[said.find("99th").expect("a table")..said.find(" of 8 points, ").expect("the end")]
            .to_string()
    };
    assert_eq!(tables(&run(&[])), tables(&said));
    assert!(run(&["--set", "study.seeds=3"]).contains("12 of 12 points, 4 of them run now"));
}

/// Incasts that recur go on as long as other flows start, each to a host at random.
#[test]
fn a_comparison_takes_recurring_incasts() {
    let folder = tempfile::tempdir().expect("a folder");
    let more =
        ["--transports", "ndp", "--incast", "3", "--incast-period", "20us", "--incast-size", "3KB"];
    let output = incast(folder.path(), &small(&[&more[..], &["--out", "out"]].concat()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let checked = text(&incast(folder.path(), &["check", "out"]).stdout);
    let incasts = &checked[checked.find("kind = \"incast\"").expect("incasts")..];
    for key in ["senders = 3", "size = \"3KB\"", "period = \"20us\"", "at = \"100us\"", "lasts = "]
    {
        assert!(incasts.contains(key), "{key}: {incasts}");
    }
    assert!(!incasts.contains("receiver = "), "{incasts}");
    let manifest = manifest(&folder.path().join("out"));
    let title = manifest["title"].as_str().unwrap_or_default();
    assert!(title.contains("and incasts of 3 flows"), "{title}");
    // The background starts for longer than one period, so that there are several; a number of them can be given.
    let flows = |out: &str| {
        let summary =
            std::fs::read_to_string(folder.path().join(out).join("summary.json")).expect("numbers");
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        summary["flows"]["total"].as_u64().expect("a number") - 40
    };
    let recurring = flows("out");
    assert!(recurring >= 6 && recurring % 3 == 0, "{recurring}");
    let set = ["--set", "traffic.1.count=3", "--out", "three"];
    let output = incast(folder.path(), &small(&[&more[..], &set].concat()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(flows("three"), 9);
    refused(&small(&["--incast-period", "20us"]), &["--incast"]);
    refused(&small(&["--incast", "3", "--incast-period", "20"]), &["--incast-period", "20"]);
}

/// Transports whose ports hold another queue than the stated buffer are named; a shared buffer decides for all.
#[test]
fn queues_that_a_transport_decides_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |more: &[&str]| {
        let output =
            incast(folder.path(), &small(&[&["--transports", "dctcp,ndp"], more].concat()));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let line = "\nqueues that the transport decides, whatever the buffer: ndp 8 packets\n";
    assert!(said(&[]).contains(line), "{}", said(&[]));
    assert!(said(&["--buffer", "1MB"]).contains(line));
    assert!(!said(&["--shared-buffer", "1MB"]).contains("queues that"));
}
