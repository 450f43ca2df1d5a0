//! The scenarios of `docs/validation`: ours beside what the authors' simulators gave for the same
//! input with the same sizes.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_testkit::check_part;
use std::path::Path;

/// Which completion of a run's flows.
#[derive(Clone, Copy)]
enum Take {
    /// The earliest or latest time at which a sender knows that its flow is complete.
    FirstAck,
    LastAck,
    /// The latest arrival of a flow's last byte.
    LastByte,
}

/// One line of the page.
struct Case {
    /// What is compared.
    what: &'static str,
    scenario: &'static str,
    sets: &'static [&'static str],
    take: Take,
    /// In nanoseconds.
    theirs: f64,
    /// Largest relative difference.
    within: f64,
    /// The note of the page that says where theirs is from.
    source: &'static str,
}

/// What the recorded outputs of simulators say.
const RECORDED: [Case; 7] = [
    Case {
        what: "a flow of 1 B over three links",
        scenario: "hpcc_lone",
        sets: &[],
        take: Take::FirstAck,
        theirs: 6_042.0,
        within: 0.0003,
        source: "H1",
    },
    Case {
        what: "another flow behind it",
        scenario: "hpcc_lone",
        sets: &[],
        take: Take::LastAck,
        theirs: 6_049.0,
        within: 0.0003,
        source: "H1",
    },
    Case {
        what: "1 MiB each way between two hosts",
        scenario: "hpcc_pairs",
        sets: &[],
        take: Take::LastAck,
        theirs: 418_909.0,
        within: 0.0005,
        source: "H2",
    },
    Case {
        what: "512 KiB each way",
        scenario: "hpcc_pairs",
        sets: &["traffic.0.size=524288B"],
        take: Take::LastAck,
        theirs: 211_374.0,
        within: 0.0005,
        source: "H2",
    },
    Case {
        what: "two flows of 200 MB to one host, the later",
        scenario: "hpcc_two",
        sets: &[],
        take: Take::LastAck,
        theirs: 36_696_193.0,
        within: 0.0005,
        source: "H3",
    },
    Case {
        what: "the earlier",
        scenario: "hpcc_two",
        sets: &[],
        take: Take::FirstAck,
        theirs: 32_575_805.0,
        within: 0.02,
        source: "H3",
    },
    Case {
        what: "a lone ExpressPass flow of 3000 B",
        scenario: "xpass_lone",
        sets: &[],
        take: Take::LastByte,
        theirs: 32_998.5,
        within: 0.01,
        source: "X1",
    },
];

/// What formulas in the simulators' code, or the capacity of a link, say.
const COMPUTED: [Case; 11] = [
    Case {
        what: "pHost, 6 packets within a rack",
        scenario: "phost_lone",
        sets: &[],
        take: Take::LastAck,
        theirs: 9_264.0,
        within: 0.0,
        source: "Y1",
    },
    Case {
        what: "pHost, 1 packet between racks",
        scenario: "phost_lone",
        sets: &["traffic.0.to=\"17\"", "traffic.0.size=1460B"],
        take: Take::LastAck,
        theirs: 4_696.0,
        within: 0.004,
        source: "Y1",
    },
    Case {
        what: "pHost, 6 packets between racks",
        scenario: "phost_lone",
        sets: &["traffic.0.to=\"17\""],
        take: Take::LastAck,
        theirs: 10_696.0,
        within: 0.002,
        source: "Y1",
    },
    Case {
        what: "pFabric at 40 Gb/s, 1 packet within a rack",
        scenario: "pfabric_lone",
        sets: &["traffic.0.size=1460B"],
        take: Take::LastAck,
        theirs: 1_416.0,
        within: 0.0,
        source: "Y1",
    },
    Case {
        what: "pFabric at 40 Gb/s, 1000 packets within a rack",
        scenario: "pfabric_lone",
        sets: &[],
        take: Take::LastAck,
        theirs: 301_116.0,
        within: 0.0,
        source: "Y1",
    },
    Case {
        what: "pFabric at 40 Gb/s, 1 packet between racks",
        scenario: "pfabric_lone",
        sets: &["traffic.0.to=\"17\"", "traffic.0.size=1460B"],
        take: Take::LastAck,
        theirs: 2_370.0,
        within: 0.0,
        source: "Y1",
    },
    Case {
        what: "dcPIM at 100 Gb/s, 1 packet within a rack",
        scenario: "dcpim_lone",
        sets: &[],
        take: Take::LastAck,
        theirs: 2_850.0,
        within: 0.0002,
        source: "D1",
    },
    Case {
        what: "dcPIM, 49 packets within a rack",
        scenario: "dcpim_lone",
        sets: &["traffic.0.size=71540B"],
        take: Take::LastAck,
        theirs: 8_610.0,
        within: 0.0002,
        source: "D1",
    },
    Case {
        what: "dcPIM, 1 packet between racks",
        scenario: "dcpim_lone",
        sets: &["traffic.0.to=\"17\""],
        take: Take::LastAck,
        theirs: 5_511.0,
        within: 0.0002,
        source: "D1",
    },
    Case {
        what: "NDP, 11 senders of 450 KB, the last flow",
        scenario: "ndp_incast",
        sets: &["traffic.0.senders=11"],
        take: Take::LastByte,
        theirs: 3_960_000.0,
        within: 0.02,
        source: "N1",
    },
    Case {
        what: "NDP, 101 senders of 450 KB, the last flow",
        scenario: "ndp_incast",
        sets: &[],
        take: Take::LastByte,
        theirs: 36_360_000.0,
        within: 0.002,
        source: "N1",
    },
];

/// The last flow of a test of uet-htsim, which fails beyond a limit.
const fn limit(
    what: &'static str,
    scenario: &'static str,
    sets: &'static [&'static str],
    us: f64,
) -> Case {
    Case { what, scenario, sets, take: Take::LastAck, theirs: us * 1e3, within: 0.0, source: "U1" }
}

/// What a simulator's own tests allow at most.
const LIMITS: [Case; 6] = [
    limit(
        "UEC, NSCC: a lone flow of 2 MB in three tiers",
        "uec_permutation",
        &["traffic=[{ kind = \"long\", from = \"0\", to = \"15\", size = \"2MB\" }]"],
        180.0,
    ),
    limit("UEC, NSCC: a permutation of 16 hosts", "uec_permutation", &[], 210.0),
    limit("UEC, RCCC: the same", "uec_permutation", &["transport.parameters.uec.mode=rccc"], 210.0),
    limit(
        "UEC, both: the same",
        "uec_permutation",
        &["transport.parameters.uec.mode=nscc_rccc"],
        210.0,
    ),
    limit(
        "UEC, NSCC, one path per flow: the same",
        "uec_permutation",
        &["transport.parameters.uec.entropies=1"],
        1_300.0,
    ),
    limit("UEC, RCCC: a permutation of 1024 hosts at 4:1", "uec_oversubscribed", &[], 880.0),
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation")
}

/// Runs a case; in nanoseconds.
fn ours(case: &Case) -> f64 {
    let path = folder().join(format!("{}.toml", case.scenario));
    let name = path.display().to_string();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let sets: Vec<String> = case.sets.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse(&text, &name, &sets).unwrap_or_else(|fault| panic!("{fault}"));
    let plan = Plan::new(scenario).unwrap_or_else(|fault| panic!("{fault}"));
    let (run, _) = execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("it runs");
    let flows = 0..run.flows.len();
    let acks = || flows.clone().map(|flow| run.sender_fct(flow).expect("acknowledged"));
    let bytes = flows.clone().map(|flow| run.fct(flow).expect("complete"));
    let taken = match case.take {
        Take::FirstAck => acks().min(),
        Take::LastAck => acks().max(),
        Take::LastByte => bytes.max(),
    };
    taken.expect("a flow").as_ns_f64()
}

/// Whole nanoseconds in groups of three digits, and a part of one if there is.
fn shown(ns: f64) -> String {
    let tenths = (ns * 10.0).round() as u64;
    let digits = (tenths / 10).to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
    let part = if tenths.is_multiple_of(10) { String::new() } else { format!(".{}", tenths % 10) };
    groups.join(",") + &part
}

/// What theirs is called where ours only has to be shorter.
const LIMIT: &str = "limit";

fn table(cases: &[Case], theirs: &str) -> String {
    let mut out = format!(
        "| what | ours, ns | {theirs}, ns | difference | source | command: `incast run docs/validation/` |\n\
         |---|---|---|---|---|---|\n"
    );
    for case in cases {
        let ours = ours(case);
        let share = ours / case.theirs - 1.0;
        let what = case.what;
        let holds = if theirs == LIMIT { share <= 0.0 } else { share.abs() <= case.within };
        assert!(holds, "{what}: {ours} against {} ns", case.theirs);
        let sets: String = case.sets.iter().map(|set| format!(" --set '{set}'")).collect();
        let (ours, other) = (shown(ours), shown(case.theirs));
        out += &format!(
            "| {what} | {ours} | {other} | {:+.3} % | {} | `{}.toml{sets}` |\n",
            100.0 * share,
            case.source,
            case.scenario
        );
    }
    out
}

#[test]
fn our_times_are_those_that_simulators_recorded() {
    check_part("docs/validation.md", "recorded", &table(&RECORDED, "theirs"));
}

#[test]
fn our_times_are_those_of_formulas() {
    check_part("docs/validation.md", "computed", &table(&COMPUTED, "formula"));
}

#[test]
fn our_times_are_within_the_limits_of_a_simulators_tests() {
    check_part("docs/validation.md", "limits", &table(&LIMITS, LIMIT));
}

/// No scenario of the folder goes without a line of the page.
#[test]
fn every_scenario_is_used() {
    let all = RECORDED.iter().chain(&COMPUTED).chain(&LIMITS);
    let used: Vec<&str> = all.map(|case| case.scenario).collect();
    for entry in std::fs::read_dir(folder()).expect("docs/validation") {
        let path = entry.expect("readable").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(used.contains(&stem.as_str()), "{} is not used", path.display());
    }
}
