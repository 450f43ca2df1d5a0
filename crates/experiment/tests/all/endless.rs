//! Flows without an end: they send until their application or the run ends them, and nobody waits for them.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute};
use incast_measure::{Run, Warning, summarise};
use incast_protocols::CATALOGUE;
use incast_transport::{Span, Time};

fn plan(transport: &str, traffic: &str) -> Result<Plan, Fault> {
    let lines = format!(
        "[fabric]\ntopology = \"leaf-spine:2x1x2\"\nrate = \"10Gbps\"\n[transport]\nnames = [\"{transport}\"]\n{traffic}"
    );
    Plan::new(Scenario::parse(&lines, "test.toml", &[])?)
}

fn run(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

fn long(from: &str, to: &str, more: &str) -> String {
    format!("[[traffic]]\nkind = \"long\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

/// An endless flow beside one of 2 MB in one link: the run ends four base RTTs after that is complete. What is
/// said of completion is of that one alone.
#[test]
fn nobody_waits_for_a_flow_without_an_end() {
    let traffic = long("0", "2", "") + &long("1", "2", "size = \"2MB\"");
    let plan = plan("dctcp", &traffic).unwrap();
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    let run = run(&plan, 1);
    let (endless, ending) = (&run.record.flows[0], &run.record.flows[1]);
    assert_eq!(endless.completed, None);
    let drain = plan.site.base_rtt.saturating_mul(4);
    assert_eq!(run.record.ended, ending.completed.unwrap() + drain);
    assert!(run.record.complete && run.complete());
    let warned = |warning: &Warning| matches!(warning, Warning::Incomplete { .. });
    assert!(!run.warnings().iter().any(warned));
    let summary = summarise(&run);
    assert_eq!((summary.all.flows, summary.all.completed, summary.all.endless), (2, 1, 1));
    assert_eq!(summary.load.offered_load, None, "two flows that start together are no load");
    let own = summary.endless.unwrap();
    let bits = endless.delivered as f64 * 8.0 / run.record.ended.as_ns_f64();
    assert!(own.flows == 1 && (own.goodput_mean_gbps.unwrap() - bits).abs() < 1e-9);
    // Half of the link, of which full packets leave 94.9 %, give or take what DCTCP is unfair.
    assert!((bits - 4.75).abs() < 0.5, "{bits}");
}

/// Two endless flows share a link for 2 ms, then one of them has it: whatever the transport, in both worlds and
/// any number of threads.
#[test]
fn a_flow_sends_until_its_application_ends_it() {
    for name in CATALOGUE.iter().map(|entry| entry.info().name) {
        let traffic = long("0", "2", "until = \"4ms\"") + &long("1", "3", "until = \"2ms\"");
        let cut = |world: &str| {
            plan(name, &format!("{traffic}[run]\nworld = \"{world}\"\ninterval = \"20us\"\n"))
                .unwrap()
        };
        let here = cut("sim");
        let first = run(&here, 1);
        let drain = here.site.base_rtt.saturating_mul(4);
        assert_eq!(first.record.ended, Time(4_000_000_000) + drain, "{name}");
        assert!(first.record.flows.iter().all(|flow| flow.completed.is_none()), "{name}");
        for (world, threads) in [("sim", 2), ("dataplane", 1)] {
            let mut other = run(&cut(world), threads).record;
            other.events = first.record.events;
            assert!(other == first.record, "{name}: {world}, {threads} threads");
        }
        // What arrived of the second flow after it was ended and the network was empty is nothing.
        let bytes = |flow: usize, from: u64, to: u64| -> u64 {
            let series =
                first.record.series.iter().find(|one| one.flow.0 as usize == flow).unwrap();
            let start = |at: usize| first.interval(at).0.0;
            let own = series.delivered.iter().enumerate();
            own.filter(|(at, _)| (from..to).contains(&start(*at))).map(|(_, bytes)| *bytes).sum()
        };
        const US: u64 = 1_000_000;
        assert_eq!(bytes(1, 2_500 * US, 5_000 * US), 0, "{name}");
        let alone = bytes(0, 3_000 * US, 4_000 * US) as f64 * 8e-6;
        // Those that add little per round trip, or whose switches know flows by their rate, take longer.
        // Grants of dcPIM that wait behind data miss their round at 10 Gb/s; its README says when.
        let slow = ["dcqcn", "decn", "timely", "uec"].contains(&name);
        let least = if slow {
            0.05
        } else if name == "dcpim" {
            7.0
        } else {
            8.0
        };
        assert!(alone > least, "{name}: {alone} Gb/s");
        let own = first.throughput_gbps(1).unwrap();
        let lived = Span::from_us(2_000).as_ns_f64();
        assert_eq!(own, first.record.flows[1].delivered as f64 * 8.0 / lived, "{name}");
    }
}

/// Flows with an end decide; a flow of a file that is written as 1 TB has none, which is said.
#[test]
fn runs_that_nothing_ends_are_refused() {
    let refused = |traffic: &str| plan("ndp", traffic).err().expect("refused").to_string();
    let fault = refused(&long("0", "2", ""));
    assert!(
        fault.contains("run.until: flow 0 has no end, and no flow of this run has one"),
        "{fault}"
    );
    let fault = refused(&long("0", "2", "size = \"1MB\"\nuntil = \"1ms\""));
    assert!(fault.contains("traffic.0.until = `1ms`: a flow with a `size` ends when"), "{fault}");
    let fault = refused(&long("0", "2", "at = \"1ms\"\njitter = \"1us\"\nuntil = \"1ms\""));
    assert!(fault.contains("traffic.0.until = `1ms`: the flows would not have started"), "{fault}");
    let apart = "[[fabric.failures]]\nat = \"1us\"\na = \"host3\"\nb = \"leaf1\"\n";
    let lines =
        format!("{apart}{}{}", long("0", "2", ""), long("1", "3", "at = \"1us\"\nsize = \"1KB\""));
    let fault = refused(&lines);
    assert!(fault.contains("cannot be reached") || fault.contains("run.until"), "{fault}");
    plan("ndp", &(long("0", "2", "") + "[run]\nuntil = \"1ms\"\n")).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.cm");
    let of = |text: &str| {
        std::fs::write(&file, text).unwrap();
        plan(
            "ndp",
            &format!("[[traffic]]\nkind = \"file\"\nfile = {:?}\n", file.display().to_string()),
        )
    };
    let both =
        of("Nodes 4\nConnections 2\n0->2 id 1 start 0 size 0\n1->3 id 2 start 0 size 2000\n")
            .unwrap();
    let said: Vec<String> = both.warnings.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|one| one.contains("the run ends when all others are complete")),
        "{said:?}"
    );
    assert!(run(&both, 1).record.complete);
    let waits = "Nodes 4\nConnections 2\nTriggers 1\n0->2 id 1 start 0 size 0 send_done_trigger 1\n\
                 1->3 id 2 trigger 1 size 2000\ntrigger id 1 oneshot\n";
    let fault = of(waits).err().expect("refused").to_string();
    assert!(
        fault.contains("a.cm:5: trigger = `1`: expected a trigger of connections that end"),
        "{fault}"
    );
}

/// 2^32 packets of 88 bytes are less than a terabyte: such a flow was a panic.
#[test]
fn a_flow_of_more_packets_than_have_numbers_is_refused() {
    let lines = "[fabric]\ntopology = \"star:2\"\nmtu = 128\n[transport]\nnames = [\"dctcp\"]\n[[traffic]]\nkind = \"long\"\n\
                 from = \"0\"\nto = \"1\"\n[run]\nuntil = \"10us\"\n";
    let scenario = Scenario::parse(lines, "test.toml", &[]).unwrap();
    let fault = Plan::new(scenario).err().expect("refused").to_string();
    assert!(
        fault.contains("fabric.mtu = `128`: flow 0 of 1000GB would be more packets of 88 B"),
        "{fault}"
    );
}

/// With the end of the run given, an endless flow sends until then, whatever is complete before.
#[test]
fn with_run_until_a_flow_without_an_end_sends_until_then() {
    let traffic =
        long("0", "2", "") + &long("1", "3", "size = \"10KB\"") + "[run]\nuntil = \"3ms\"\n";
    let run = run(&plan("dctcp", &traffic).unwrap(), 1);
    assert_eq!(run.record.ended, Time(3_000_000_000));
    assert!(run.throughput_gbps(0).unwrap() > 9.0);
}

/// 200 Poisson arrivals in the first part of a run that a long flow makes more than twenty times as long offer what they do.
#[test]
fn arrivals_offer_a_load_whatever_the_run_goes_on_for() {
    let poisson =
        "[[traffic]]\nkind = \"poisson\"\nworkload = \"ali_storage\"\nload = 0.3\nflows = 200\n";
    let alone = summarise(&run(&plan("dctcp", poisson).unwrap(), 1)).load.offered_load.unwrap();
    let beside = format!("{poisson}{}", long("0", "2", "at = \"1us\"\nsize = \"400MB\""));
    let beside = summarise(&run(&plan("dctcp", &beside).unwrap(), 1));
    assert!(beside.ended_ns > 3e8);
    assert!((beside.load.offered_load.unwrap() / alone - 1.0).abs() < 1e-9, "{:?}", beside.load);
}
