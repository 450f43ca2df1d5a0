//! Files that users bring: what is taken where a file does not say it is told before the run and
//! kept in the manifest.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute};

/// A plan of these lines, in a folder with these files; `FOLDER` in the lines is its name.
fn planned(files: &[(&str, &str)], lines: &str) -> Result<Plan, Fault> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    let lines = lines.replace("FOLDER", &folder.path().display().to_string());
    Plan::new(Scenario::parse(&lines, "test.toml", &[])?)
}

/// What is said before the run.
fn said(plan: &Plan) -> String {
    plan.warnings.iter().map(|warning| format!("{warning}\n")).collect()
}

const SIZES: &str = "5000 1 0\n5000 1 0.3\n40000 1 0.7\n2000000 1 1\n";

fn poisson(more: &str) -> String {
    format!(
        "[fabric]\ntopology = \"leaf-spine:2x2x4\"\n[transport]\nnames = [\"expresspass\"]\n\
         [[traffic]]\nkind = \"poisson\"\nworkload = \"FOLDER/sizes.tcl\"\nload = 0.3\nflows = 20\n\
         {more}"
    )
}

#[test]
fn the_unit_of_sizes_is_told_and_kept() {
    let files = [("sizes.tcl", SIZES)];
    let plan = planned(&files, &poisson("")).unwrap();
    for part in
        ["packets of 1460 B", "three columns", "462.09MB", "316.5KB", "size_unit = \"bytes\""]
    {
        assert!(said(&plan).contains(part), "{part}: {}", said(&plan));
    }
    let plan = planned(&files, &poisson("size_unit = \"bytes\"\n")).unwrap();
    assert!(!said(&plan).contains("sizes.tcl"), "{}", said(&plan));
    assert!(plan.traffic.load_definition.contains("mean size 316500.0"));
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
    assert_eq!(run.manifest.outline.scenario["traffic"][0]["size_unit"], "bytes");
    let fault =
        planned(&[], &poisson("size_unit = \"packets\"\n").replace("FOLDER/sizes.tcl", "hadoop"));
    let fault = fault.err().expect("a table of ours has bytes").to_string();
    assert!(fault.contains("traffic.0.size_unit = `packets`: expected bytes"), "{fault}");
}

const STAR: &str =
    "5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n";

/// The summary of an HPCC flow file on a star of four hosts, without the places in time.
fn summary(transport: &str, flows: &str) -> serde_json::Value {
    let lines = format!(
        "[fabric]\nfile = \"FOLDER/star.topo\"\n[transport]\nnames = [\"{transport}\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = \"FOLDER/flow.txt\"\n"
    );
    let plan = planned(&[("star.topo", STAR), ("flow.txt", flows)], &lines).unwrap();
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
    let mut summary = serde_json::json!(incast_measure::summarise(&run));
    for key in ["began_ns", "ended_ns"] {
        assert!(summary[key].take().is_number(), "{key}");
    }
    // What is measured by intervals depends on where in an interval the flows start.
    summary["fairness"].take();
    for tier in summary["tiers"].as_array_mut().unwrap() {
        tier["backlog_p99_bytes"].take();
    }
    summary
}

/// Simulators of RDMA start their flows at 2 s: the numbers are those of flows that start at 0.
#[test]
fn flows_that_start_late_have_the_numbers_of_flows_that_start_early() {
    let flows =
        |shift: &str| format!("2\n0 1 3 100 10000000 {shift}.0\n2 3 3 100 10000000 {shift}.0001\n");
    let early = summary("hpcc", &flows("0"));
    let close = |value: &serde_json::Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-3, "{value}, expected {expected}");
    };
    close(&early["load"]["goodput_gbps"], 157.8);
    close(&early["load"]["offered_load"], 4.0);
    let used = early["tiers"].as_array().unwrap().iter().map(|tier| &tier["utilisation_max"]);
    close(used.max_by(|a, b| a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap())).unwrap(), 0.837);
    close(&early["all"]["fct_ns"]["max"], 897_200.0);
    for transport in ["hpcc", "dctcp", "ndp", "ren"] {
        let early = summary(transport, &flows("0"));
        for shift in ["2", "7000"] {
            assert_eq!(summary(transport, &flows(shift)), early, "{transport} after {shift} s");
        }
    }
}

/// The flows of a run's own tables are a flow list.
#[test]
fn results_are_inputs() {
    let file = |name: &str, flows: &std::path::Path| {
        let lines = format!(
            "[fabric]\nfile = \"FOLDER/star.topo\"\n[transport]\nnames = [\"dctcp\"]\n\
             [[traffic]]\nkind = \"file\"\nfile = \"{}\"\n",
            flows.join(name).display()
        );
        planned(&[("star.topo", STAR)], &lines)
    };
    let folder = tempfile::tempdir().unwrap();
    let early = "2\n0 1 3 100 10000000 0\n2 3 3 200 10000000 0.0001\n";
    std::fs::write(folder.path().join("early.txt"), early).unwrap();
    let plan = file("early.txt", folder.path()).unwrap();
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap();
    incast_experiment::output::write_run(folder.path(), &run, true).unwrap();
    for name in ["flows.csv", "flows.parquet"] {
        let again = file(name, folder.path()).unwrap();
        assert_eq!(again.traffic.flows, plan.traffic.flows, "{name}");
        assert!(said(&again).contains("the flows of a run's results"), "{name}: {}", said(&again));
    }
    let fault = file("ports.parquet", folder.path()).err().unwrap().to_string();
    assert!(fault.contains("ports.parquet: not the flows of a run: no column `src`"), "{fault}");
}

/// Flows without an end are told, and how the run ends.
#[test]
fn flows_without_an_end_are_told() {
    let lines = |more: &str| {
        format!(
            "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"dctcp\"]\n[[traffic]]\n\
             kind = \"file\"\nfile = \"FOLDER/w.cm\"\n{more}"
        )
    };
    let files = [("w.cm", "Nodes 4\nConnections 2\n0->1 start 0 size 0\n2->3 start 0 size 1000\n")];
    let told = |more: &str| said(&planned(&files, &lines(more)).unwrap());
    assert!(told("").contains("1 flow of 1 TB or more: taken as flows without an end"));
    assert!(told("").contains("the run ends when all others are complete"));
    assert!(told("[run]\nuntil = \"1ms\"\n").contains("the run ends at 1ms"));
}

/// Flows of a file name servers; each end of a flow gets a NIC.
#[test]
fn flows_of_servers_take_nics() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let place = folder.path().join(name);
        std::fs::write(&place, text).unwrap();
        place.display().to_string()
    };
    // Hosts 0, 1 and 4 of the file have a NIC at each of two ToRs, which meet in a spine or in none.
    let links = "0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n\
                 4 2 100Gbps 1us 0\n4 3 100Gbps 1us 0\n";
    let joined =
        write("joined", &format!("6 3 8\n2 3 5\n{links}2 5 400Gbps 1us 0\n3 5 400Gbps 1us 0\n"));
    let planes = write("planes", &format!("5 2 6\n2 3\n{links}"));
    let list: String = (0..40).map(|_| "4 0 3 100 5000 0\n").collect();
    let flows = write("flows", &format!("40\n{list}"));
    let plan = |file: &str, nic: &str| {
        let nic = if nic.is_empty() { String::new() } else { format!("nic = \"{nic}\"\n") };
        let text = format!(
            "[fabric]\nfile = \"{file}\"\n{nic}[transport]\nnames = [\"dctcp\"]\n\
             [[traffic]]\nkind = \"file\"\nfile = \"{flows}\"\n"
        );
        Plan::new(Scenario::parse(&text, "test", &[]).unwrap())
    };
    let pairs = |plan: &Plan| -> Vec<(u32, u32)> {
        plan.traffic.flows.iter().map(|flow| (flow.src, flow.dst)).collect()
    };
    // Server 2 is the file's host 4: its NICs are hosts 4 and 5.
    let turns = plan(&joined, "round_robin").unwrap();
    assert!(pairs(&turns).iter().zip([(4, 0), (5, 1)].iter().cycle()).all(|(a, b)| a == b));
    assert_eq!(pairs(&plan(&joined, "plane").unwrap()), pairs(&turns));
    let hashed = pairs(&plan(&joined, "").unwrap());
    assert_eq!(hashed, pairs(&plan(&joined, "hash").unwrap()));
    for pair in [(4, 0), (4, 1), (5, 0), (5, 1)] {
        let count = hashed.iter().filter(|own| **own == pair).count();
        assert!((3..20).contains(&count), "{pair:?}: {count}");
    }
    // Planes that only servers join have no path from NIC 0 to NIC 1.
    let fault = plan(&planes, "").err().expect("it is refused").to_string();
    assert!(
        fault.contains("fabric.nic = `hash`: flow") && fault.contains("expected `plane`"),
        "{fault}"
    );
    let apart = plan(&planes, "plane").unwrap();
    assert_eq!(pairs(&apart), pairs(&turns));
    let monitor = Monitor::default();
    let (run, _) = execute(&apart, &apart.cases[0], vec![], 1, &monitor).unwrap();
    assert!(
        run.complete() && run.flows[0].path.starts_with("server2/nic0>leaf0>server0/nic0"),
        "{}",
        run.flows[0].path
    );
    // Results name NICs, which are kept: NIC 1 of the first server and of the last one, or two without a path.
    let own = write("own", "flow_id,src,dst,class,size_bytes,start_ps\n0,1,5,background,1000,0\n");
    let text = format!(
        "[fabric]\nfile = \"{planes}\"\n[transport]\nnames = [\"ndp\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = \"{own}\"\n"
    );
    assert_eq!(pairs(&Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap()), [(1, 5)]);
    let own = write("own", "flow_id,src,dst,class,size_bytes,start_ps\n0,0,5,background,1000,0\n");
    let text = format!(
        "[fabric]\nfile = \"{planes}\"\nnic = \"plane\"\n[transport]\nnames = [\"ndp\"]\n\
         [[traffic]]\nkind = \"file\"\nfile = \"{own}\"\n"
    );
    let fault = Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).err().unwrap().to_string();
    assert!(
        fault.contains("flow 0: the results have it from server0/nic0 to server2/nic1"),
        "{fault}"
    );
    // Another kind of traffic is between servers, too: a permutation has a flow of each.
    let text = format!(
        "[fabric]\nfile = \"{planes}\"\nnic = \"plane\"\n[transport]\nnames = [\"ndp\"]\n\
         [[traffic]]\nkind = \"permutation\"\nsize = \"9KB\"\n"
    );
    let own = Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap();
    assert_eq!(own.traffic.flows.len(), 3);
    let text = "[fabric]\ntopology = \"star:3\"\nnic = \"plane\"\n[transport]\nnames = [\"ndp\"]\n\
                [[traffic]]\nkind = \"permutation\"\nsize = \"9KB\"\n";
    let fault = Plan::new(Scenario::parse(text, "test", &[]).unwrap()).err().unwrap().to_string();
    assert!(
        fault.contains("fabric.nic = `plane`: no server of this fabric has several NICs"),
        "{fault}"
    );
}

/// Keys of incasts that contradict each other, or lack one another.
#[test]
fn incasts_say_when_they_begin_and_how_many_there_are() {
    let plan = |keys: &str| {
        let text = format!(
            "[fabric]\ntopology = \"star:8\"\n[transport]\nnames = [\"dctcp\"]\n\
             [[traffic]]\nkind = \"incast\"\nsize = \"10KB\"\n{keys}\n"
        );
        Plan::new(Scenario::parse(&text, "test", &[])?)
    };
    for (keys, words) in [
        ("count = 3", "traffic.0.count: needs one of `period`, `rate` and `load`"),
        ("lasts = \"1ms\"", "traffic.0.lasts: needs one of"),
        ("period = \"1us\"", "traffic.0.period: needs `count` or `lasts`"),
        ("load = 0.1\nperiod = \"1us\"\ncount = 2", "traffic.0.load: expected one of"),
        ("rate = 5\ncount = 2\nlasts = \"1ms\"", "traffic.0.count = `2`: expected either"),
        ("rate = 0\ncount = 2", "traffic.0.rate = `0`: expected a number above 0"),
        ("receiver = 1\nreceivers = \"1-3\"", "traffic.0.receivers = `1-3`: expected either"),
        ("receivers = \"1-9\"", "traffic.0.receivers = `1-9`: expected hosts below 8"),
        ("senders = 8", "traffic.0.senders = `8`: expected 1 to 7"),
        ("senders = 4\nfan_in = 3", "traffic.0.fan_in = `3`: expected 4 or more"),
        ("period = \"0s\"\ncount = 2", "traffic.0.period = `0s`: expected more than 0"),
        (
            "rate = 1\nlasts = \"1us\"",
            "traffic.0.lasts = `1us`: expected a time in which an incast",
        ),
        ("rate = 1e9\nlasts = \"1s\"", "traffic.0.lasts = `1s`: expected at most 4194304 flows"),
        ("request = \"0B\"", "traffic.0.request = `0`: expected 1 to"),
    ] {
        let message = plan(keys).err().map(|fault| fault.to_string()).unwrap_or_default();
        assert!(message.contains(words), "{keys}: `{words}` is not in: {message}");
    }
    // Without a receiver each incast has one of its own; the resolved scenario names them all.
    let own = plan("period = \"10us\"\ncount = 40\nsenders = 3\nrequest = \"64B\"").unwrap();
    assert_eq!((own.traffic.flows.len(), own.traffic.requests.len()), (240, 40));
    assert!(own.resolved(&own.cases).to_toml().contains("receivers = \"0-7\""));
}
