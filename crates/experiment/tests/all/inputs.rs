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
    assert_eq!(run.manifest["scenario"]["traffic"][0]["size_unit"], "bytes");
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
    assert!(told("").contains("without `run.until` the run goes on"));
    assert!(told("[run]\nuntil = \"1ms\"\n").contains("the run ends at 1ms"));
}
