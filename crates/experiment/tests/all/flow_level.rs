//! Runs at flow level: known answers, every kind of traffic, what is refused and what is told.

use incast_experiment::{Monitor, Plan, Scenario, execute, output};
use incast_measure::{Run, summarise};

fn planned(text: &str, sets: &[&str]) -> Result<Plan, String> {
    let mut sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    sets.push("run.world=flow".into());
    let scenario = Scenario::parse(text, "test", &sets);
    scenario.and_then(Plan::new).map_err(|fault| fault.to_string())
}

fn plan(text: &str, sets: &[&str]) -> Plan {
    planned(text, sets).unwrap_or_else(|fault| panic!("{fault}"))
}

fn run_of(plan: &Plan) -> Run {
    execute(plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap().0
}

fn run(text: &str, sets: &[&str]) -> Run {
    run_of(&plan(text, sets))
}

const FABRIC: &str = "[fabric]\ntopology = \"leaf-spine:2x4x4\"\nrate = \"100Gbps\"\n";

/// A fabric, transports and some entries of traffic.
fn text(names: &str, traffic: &str) -> String {
    format!("{FABRIC}[transport]\nnames = [{names}]\n{traffic}")
}

fn fcts(run: &Run) -> Vec<u64> {
    (0..run.flows.len()).map(|flow| run.fct(flow).expect("it is complete").0).collect()
}

/// A lone flow takes the ideal time, to the picosecond, of every transport whose packets carry no extension, and of
/// no other takes it less or a tenth more.
#[test]
fn a_lone_flow_takes_the_ideal_time_of_every_transport() {
    for entry in incast_protocols::CATALOGUE {
        let name = entry.info().name;
        for size in ["1B", "1460B", "1MB"] {
            let traffic = format!(
                "[[traffic]]\nkind = \"long\"\nfrom = \"1\"\nto = \"6\"\nsize = \"{size}\"\n"
            );
            let plan = plan(&text(&format!("{name:?}"), &traffic), &[]);
            let extension = plan.cases[0].transports[0].configured.extension();
            let slowdown = run_of(&plan).slowdown(0).expect(name);
            match extension {
                0 => assert_eq!(slowdown, 1.0, "{name} {size}"),
                _ => assert!((1.0..1.1).contains(&slowdown), "{name} {size}: {slowdown}"),
            }
        }
    }
}

/// An unloaded ring all-reduce takes 2(n-1)(a + S/(nB)) within 1 %, over two switches as well.
#[test]
fn a_ring_takes_the_time_of_its_formula() {
    let traffic = "[[traffic]]\nkind = \"collective\"\ncollective = \"all_reduce\"\nalgorithm = \"ring\"\n\
                   size = \"64MB\"\niterations = 2\ncompute = \"100us\"\n";
    let run = run(&text("\"ndp\"", traffic), &[]);
    let n = 8.0;
    let goodput = 100e9 / 8.0 * 1460.0 / 1538.0;
    // Each step waits for a message of the longest way: four links, of which three store a packet.
    let a = 4e-6 + 3.0 * 1538.0 * 8.0 / 100e9;
    let expected = 2.0 * (n - 1.0) * (a + 64e6 / (n * goodput));
    assert_eq!(run.collectives.len(), 2);
    for one in &run.collectives {
        let time = one.completion().unwrap().as_ns_f64() / 1e9;
        assert!((time / expected - 1.0).abs() < 0.01, "{time} s instead of {expected} s");
        assert!((1.0..1.01).contains(&one.slowdown().unwrap()));
    }
    assert_eq!(summarise(&run).collectives.len(), 1);
}

const POISSON: &str =
    "[[traffic]]\nkind = \"poisson\"\nworkload = \"web_search\"\nload = 0.6\nflows = 300\n";

/// Every kind of traffic is run to its end; what waits for others starts after them.
#[test]
fn every_kind_of_traffic_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flows.csv");
    std::fs::write(&file, "src,dst,size_bytes,start_ns\n0,1,100000,0\n1,2,1000,5\n").unwrap();
    let kinds = [
        POISSON.to_string(),
        "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"60KB\"\nburst = 4\n".into(),
        "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n".into(),
        "[[traffic]]\nkind = \"all_to_all\"\nsize = \"10KB\"\n".into(),
        "[[traffic]]\nkind = \"collective\"\ncollective = \"all_reduce\"\nalgorithm = \"halving_doubling\"\n\
         size = \"1MB\"\n"
            .into(),
        "[[traffic]]\nkind = \"requests\"\nto = \"0-1\"\nfrom = \"4-7\"\nsize = \"1MB\"\ncount = 3\n".into(),
        format!("[[traffic]]\nkind = \"file\"\nfile = {:?}\n", file.display().to_string()),
        ["0", "1"].map(|from| format!("[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"4\"\nuntil = \"1ms\"\n"))
            .concat(),
    ];
    for kind in &kinds {
        let run = run(&text("\"ndp\"", kind), &[]);
        assert!(run.complete() && run.record.complete, "{kind}");
        let open = |flow: usize| run.flows[flow].is_endless();
        let done = (0..run.flows.len()).filter(|flow| run.fct(*flow).is_some() || open(*flow));
        assert_eq!(done.count(), run.flows.len(), "{kind}");
        assert!(run.record.ports.iter().any(|port| port.total.sent_bytes > 0), "{kind}");
    }
    let requests = run(&text("\"ndp\"", &kinds[5]), &[]);
    assert_eq!(requests.requests.len(), 6);
    let long = run(&text("\"ndp\"", &kinds[7]), &[]);
    let rates: Vec<f64> = (0..2).map(|flow| long.throughput_gbps(flow).unwrap()).collect();
    let fair = 50.0 * 1460.0 / 1538.0;
    assert!(rates.iter().all(|rate| (rate / fair - 1.0).abs() < 0.01), "{rates:?}");
}

/// Links use what flows put on them, at most what they carry, and the tables of a run say so.
#[test]
fn the_use_of_links_is_that_of_the_flows() {
    let run = run(&text("\"dctcp\"", POISSON), &["run.interval=5us"]);
    let intervals = run.intervals();
    let wire: u64 = (0..run.flows.len()).map(|flow| run.flows[flow].size_bytes).sum();
    let mut nics = 0;
    for (port, meta) in run.ports.iter().enumerate() {
        let most = run.record.interval.0 as f64 * meta.rate.0 as f64 / 8e12;
        for index in 0..intervals {
            assert!(run.bin(port, index).sent_bytes as f64 <= most + 2.0, "{}", meta.name);
        }
        if meta.tier == "nic" {
            nics += run.record.ports[port].total.sent_bytes;
        }
    }
    let ratio = nics as f64 / wire as f64;
    assert!((1538.0 / 1460.0..1.06).contains(&ratio), "{ratio}");
}

/// Results are the same at each call and at the shift of a start.
#[test]
fn runs_repeat_and_shift() {
    let both = format!("{POISSON}[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n");
    let once = || run(&text("\"dctcp\"", &both), &[]).record;
    assert_eq!(once(), once());
    let alone = |at: &str| {
        let traffic = format!(
            "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"60KB\"\nat = \"{at}\"\n"
        );
        fcts(&run(&text("\"dctcp\"", &traffic), &[]))
    };
    assert_eq!(alone("0us"), alone("777ms"));
}

/// A failed uplink is avoided while it is down; what nothing else connects waits for the repair.
#[test]
fn links_fail() {
    let failing = |repair: &str| {
        let failure =
            format!("[[fabric.failures]]\nat = \"10us\"\na = \"host0\"\nb = \"leaf0\"\n{repair}\n");
        let traffic = "[[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"4\"\nsize = \"1MB\"\n";
        text("\"ndp\"", traffic).replace("[transport]", &format!("{failure}[transport]"))
    };
    let whole = fcts(&run(&failing("").replace("10us", "10s"), &["run.until=1s"]))[0];
    let repaired = fcts(&run(&failing("repair_after = \"50us\""), &[]))[0];
    assert_eq!(repaired, whole + 50_000_000);
    let cut = run(&failing(""), &["run.until=1ms"]);
    assert!(cut.fct(0).is_none() && cut.record.flows[0].delivered > 0);
}

/// A sample of the flows is run in packets as well: where nothing queues, the packets' own cost is the difference, and
/// the results say how much it is.
#[test]
fn a_sample_is_held_against_packets() {
    let lone = "[[traffic]]\nkind = \"collective\"\ncollective = \"all_gather\"\nalgorithm = \"ring\"\nsize = \"8MB\"\n";
    for (traffic, most) in [(lone, 0.06), (POISSON, 0.5)] {
        let run = run(&text("\"ndp\"", traffic), &["run.against_packets=40"]);
        let summary = summarise(&run);
        let level = summary.flow_level.expect("it is one");
        let against = level.against_packets.expect("it was wanted");
        assert_eq!((against.sampled, against.flows), (40, 40));
        assert!(against.mean_error.abs() < most && against.each_error_mean < most, "{against:?}");
        assert!(against.each_error_worst.abs() >= against.each_error_mean);
        let told =
            run.warnings().iter().any(|one| one.to_string().contains("flow level against packets"));
        assert!(told);
    }
}

#[test]
fn it_is_said_and_what_does_nothing_is_named() {
    let said = |sets: &[&str]| -> Vec<String> {
        let plan = plan(&text("\"dctcp\", \"cubic\"", POISSON), sets);
        plan.warnings.iter().map(|one| one.to_string()).collect()
    };
    let level = "flow level: rates are max-min fair; no packets, queues or losses";
    assert_eq!(said(&[]), [level]);
    let sets = [
        "fabric.buffer=1MB",
        "fabric.pfc.xoff=100KB",
        "transport.acks=control",
        "transport.parameters.dctcp.gain=0.1",
        "transport.parameters.none.rate=10Gbps",
        "traffic.0.burst=3",
        "fabric.links=[{a = \"host0\", b = \"leaf0\", loss = 0.1}]",
    ];
    let all = said(&sets);
    assert_eq!(all.len(), 2, "{all:?}");
    let keys = "fabric.buffer, fabric.pfc.xoff, fabric.links.0.loss, transport.acks, transport.parameters.dctcp.gain, \
                traffic.0.burst";
    assert_eq!(all[1], format!("flow level: without packets these keys do nothing: {keys}"));
    let run = run(&text("\"dctcp\"", POISSON), &[]);
    assert_eq!(
        (&run.manifest.world[..], run.manifest.flow_level.as_deref()),
        ("flow", Some(level))
    );
    let summary = serde_json::to_value(summarise(&run)).unwrap();
    assert_eq!(summary["flow_level"]["says"], level);
    assert!(incast_measure::report_text("x", &[run]).contains(level));
}

#[test]
fn what_would_be_another_result_is_refused_with_its_key() {
    for (set, expected) in [
        ("output.pcap=[\"all\"]", "output.pcap: there are no packets"),
        ("output.pcap_flows=[1]", "output.pcap_flows: there are no packets"),
        ("output.trace={}", "output.trace: there are no packets"),
        ("fabric.queues=[\"strict\", 1]", "fabric.queues: at flow level"),
        ("fabric.storms=[{host = 1, at = \"1us\"}]", "fabric.storms: there are no pause frames"),
        ("run.threads=2", "run.threads = `2`: flow level runs in one thread"),
    ] {
        let refused = planned(&text("\"dctcp\"", POISSON), &[set]).map(|_| ()).expect_err(set);
        assert!(refused.contains(expected), "{refused}");
        let remedy =
            refused.contains("expected run.world = `sim`") || refused.contains("expected 1 or");
        assert!(remedy, "{refused}");
    }
    let sets = ["run.against_packets=9".to_string()];
    let refused = Scenario::parse(&text("\"dctcp\"", POISSON), "test", &sets).and_then(Plan::new);
    let refused = refused.map(|_| ()).expect_err("packets are run").to_string();
    assert!(refused.contains("run.against_packets = `9`: this world runs packets"), "{refused}");
}

/// Of a comparison each case has its paths: hashes collide, and spread flows do not.
#[test]
fn transports_differ_by_their_paths() {
    let traffic = "[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n";
    let plan = plan(&text("\"dctcp\", \"ndp\"", traffic), &[]);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("out");
    let results = incast_measure::ResultsFolder::create(Some(&place), false, &place, "x").unwrap();
    let alone = |_: &str, work: &mut dyn FnMut()| work();
    let filled = output::fill(&results, &plan, 1, &Monitor::default(), alone).unwrap();
    let slowest = |run: &Run| fcts(run).into_iter().max().unwrap();
    let [dctcp, ndp] = filled.runs.as_slice() else { panic!("two runs") };
    assert!(slowest(dctcp) > 3 * slowest(ndp) / 2);
    assert!((0..8).all(|flow| ndp.slowdown(flow).unwrap() < 1.001));
    for file in ["dctcp/flows.parquet", "ndp/ports.parquet", "ndp/summary.json", "report.html"] {
        assert!(place.join(file).is_file(), "{file}");
    }
}
