//! Collectives on networks without other traffic: times that can be calculated, and whatever threads and worlds run
//! them.

use incast_experiment::{Monitor, Plan, Scenario, World, execute};
use incast_measure::{Collective, Run, summarise};
use incast_transport::{RunRecord, Span};

const RATE: f64 = 100.0;
/// One-way propagation over two links of the star.
const PROPAGATION_US: f64 = 2.0;

pub(crate) fn plan(text: &str) -> Plan {
    Plan::new(Scenario::parse(text, "test", &[]).unwrap_or_else(|fault| panic!("{fault}"))).unwrap()
}

pub(crate) fn refused(text: &str) -> String {
    let scenario = Scenario::parse(text, "test", &[]);
    scenario.and_then(Plan::new).map(|_| ()).expect_err(text).to_string()
}

pub(crate) fn run_with(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

pub(crate) fn run(text: &str) -> Run {
    run_with(&plan(text), 1)
}

/// A collective of so many ranks on one switch, with packets of 9 KB and initial windows of several
/// bandwidth-delay products.
fn star(transport: &str, ranks: u32, own: &str) -> String {
    format!(
        "[fabric]\ntopology = \"star:{ranks}\"\nrate = \"{RATE}Gbps\"\npropagation = \"1us\"\nmtu = 9000\n\
         buffer = \"unlimited\"\n[transport]\nnames = [\"{transport}\"]\n[[traffic]]\nkind = \"collective\"\n{own}\n"
    )
}

fn only(run: &Run) -> &Collective {
    let [one] = run.collectives.as_slice() else { panic!("{} iterations", run.collectives.len()) };
    one
}

/// Microseconds that links need for so much payload, with headers and, if hosts send and receive at the same time, with
/// what the control packets of the other direction take.
fn bytes_us(run: &Run, payload: f64, both: bool) -> f64 {
    let sum = |value: fn(&incast_transport::FlowRecord) -> u64| -> f64 {
        run.record.flows.iter().map(value).sum::<u64>() as f64
    };
    let (packets, control) = (sum(|flow| flow.packets.into()), sum(|flow| flow.control_bytes));
    let charged = payload * 9_038.0 / 8_960.0;
    let control = if both { control / (packets * 9_038.0) } else { 0.0 };
    charged * 8.0 / RATE / 1e3 * (1.0 + control)
}

/// Microseconds of a message without its bytes: propagation, and the last packet once more at the switch.
fn latency_us() -> f64 {
    PROPAGATION_US + 9_038.0 * 8.0 / RATE / 1e3
}

/// Completion times of collectives without other traffic are those of their formulas within 1 %, S being the size, n the
/// ranks, a a message's latency and B the goodput of a NIC. Both transports are receiver-driven and send at line
/// rate from the start.
#[test]
fn completion_times_are_those_of_the_formulas() {
    const S: f64 = 16e6;
    let a = latency_us();
    // Name, ranks, more keys, latencies, sizes in S over the rate.
    let n = 8.0;
    let share = (n - 1.0) / n;
    let cases: &[(&str, u32, &str, f64, f64)] = &[
        ("all_reduce/ring", 8, "", 14.0, 2.0 * share),
        ("all_reduce/halving_doubling", 8, "", 6.0, 2.0 * share),
        ("all_reduce/direct", 8, "", 2.0, 2.0 * share),
        // Two levels: two children share their parent's link, and it sends to both.
        ("all_reduce/tree", 7, "", 4.0, 8.0),
        ("all_reduce/hierarchical", 8, "group = 4\n", 8.0, 2.0 * share),
        ("reduce_scatter/ring", 8, "", 7.0, share),
        ("all_gather/ring", 8, "", 7.0, share),
        ("reduce_scatter/halving_doubling", 8, "", 3.0, share),
        ("all_gather/pairwise", 8, "", 7.0, share),
        ("all_to_all/direct", 8, "", 1.0, share),
        ("all_to_all/pairwise", 8, "", 7.0, share),
        ("broadcast/ring", 4, "", 3.0, 3.0),
        ("broadcast/tree", 7, "", 2.0, 4.0),
        ("broadcast/direct", 5, "", 1.0, 4.0),
    ];
    let mut wrong = vec![];
    for transport in ["ndp", "trd"] {
        for (name, ranks, more, latencies, sizes) in cases {
            let (kind, algorithm) = name.split_once('/').unwrap();
            let own = format!(
                "collective = \"{kind}\"\nalgorithm = \"{algorithm}\"\nsize = \"16MB\"\nburst = 200\n{more}"
            );
            let run = run(&star(transport, *ranks, &own));
            let found = only(&run);
            let time = found.completion().unwrap().as_ns_f64() / 1e3;
            let both = algorithm != "tree" && kind != "broadcast";
            let expected = latencies * a + sizes * bytes_us(&run, S, both);
            let (ratio, slowdown) = (time / expected, found.slowdown().unwrap());
            // Control packets are not in the ideal time; a short last packet can be faster.
            if (ratio - 1.0).abs() > 0.01 || !(0.9999..1.02).contains(&slowdown) {
                wrong.push(format!(
                    "{transport}, {name}: {time} us, {expected} expected, slowdown {slowdown}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two times that differ by the two control packets of 84 B at the most that one message met and another not.
fn assert_close(one: Option<Span>, other: Option<Span>) {
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.0.abs_diff(other.0) <= 2 * 84 * 80, "{one} and {other}");
}

/// Whoever computes longer makes an iteration longer by as much.
#[test]
fn a_straggler_is_exposed_exactly() {
    // The straggler is late by several steps.
    for kind in ["all_reduce", "all_gather", "reduce_scatter"] {
        let own =
            format!("collective = \"{kind}\"\nsize = \"8MB\"\ncompute = \"40us\"\nburst = 200\n");
        let without = run(&star("ndp", 8, &own));
        let late = run(&star("ndp", 8, &format!("{own}straggler = 3\nextra = \"500us\"\n")));
        let (without, late) = (only(&without), only(&late));
        let extra = Span::from_us(500);
        assert_close(late.time(), without.time().map(|time| time + extra));
        assert_close(late.completion(), without.completion().map(|time| time + extra));
        assert_eq!((without.skew_start, late.skew_start), (Some(Span::ZERO), Some(extra)));
        // What the straggler takes is computation.
        assert_close(late.exposed(), without.exposed());
        assert_eq!(late.path.unwrap().compute, Span::from_us(540));
        assert_eq!(late.ideal, without.ideal.map(|ideal| ideal + extra));
    }
}

/// Ranks that are in step compute and exchange in turn: each iteration takes as long as the first one.
#[test]
fn iterations_follow_each_other() {
    let own = "collective = \"all_reduce\"\nsize = \"1MB\"\niterations = 3\ncompute = \"50us\"\nat = \"9us\"\n\
               burst = 200\n";
    let run = run(&star("ndp", 4, own));
    let mut end = Span::from_us(9).0;
    let first = run.collectives[0].time();
    for one in &run.collectives {
        assert_eq!((one.begin.unwrap().0, one.time()), (end, first));
        assert_eq!(one.start.unwrap().0, end + Span::from_us(50).0);
        assert_eq!(one.exposed(), one.completion());
        let path = one.path.unwrap();
        assert_eq!((path.messages, path.compute, path.ahead), (6, Span::from_us(50), Span::ZERO));
        end = one.end.unwrap().0;
    }
    let summary = summarise(&run);
    let [found] = summary.collectives.as_slice() else { panic!("one collective") };
    assert_eq!((found.iterations, found.completed), (3, 3));
    let time = run.collectives[0].completion().unwrap().as_ns_f64();
    assert!((found.algbw.unwrap() - 1e6 / time).abs() < 1e-9);
    assert!((found.busbw.unwrap() - 1.5 * 1e6 / time).abs() < 1e-9, "2 x 3 / 4 of it");
    assert_eq!(found.iteration_ns.as_ref().unwrap().mean, first.unwrap().as_ns_f64());
}

/// Every collective on a fabric with too few uplinks, beside an incast: losses, ranks that drift apart.
fn crowded(issue: &str, (kind, algorithm, more): (&str, &str, &str)) -> String {
    format!(
        "[fabric]\ntopology = \"leaf-spine:4x2x4\"\nrate = \"40Gbps\"\nuplink_rate = \"20Gbps\"\n\
         [transport]\nnames = [\"ndp\"]\n[[traffic]]\nkind = \"collective\"\ncollective = \"{kind}\"\n\
         algorithm = \"{algorithm}\"\nranks = \"0,4,8,12,1,5,9,13\"\nsize = \"500KB\"\niterations = 3\n\
         compute = \"10us\"\nstraggler = 2\nextra = \"30us\"\nissue = \"{issue}\"\n{more}\n\
         [[traffic]]\nkind = \"incast\"\nreceiver = 4\nsenders = 6\nsize = \"200KB\"\n"
    )
}

const ALL: [(&str, &str, &str); 14] = [
    ("all_reduce", "ring", "channels = 2"),
    ("all_reduce", "tree", "chunks = 3"),
    ("all_reduce", "double_tree", ""),
    ("all_reduce", "halving_doubling", ""),
    ("all_reduce", "direct", ""),
    ("all_reduce", "hierarchical", "group = 4"),
    ("reduce_scatter", "pairwise", ""),
    ("all_gather", "hierarchical", "group = 2"),
    ("all_to_all", "direct", "shares = [0.5, 0.25, 0.0, 0.05, 0.05, 0.05, 0.05, 0.05]"),
    ("all_to_all", "pairwise", ""),
    ("all_to_all", "hierarchical", "group = 4"),
    ("broadcast", "ring", "root = 3"),
    ("broadcast", "double_tree", "root = 7"),
    ("broadcast", "direct", ""),
];

fn same(record: &RunRecord) -> RunRecord {
    RunRecord { events: 0, ..record.clone() }
}

/// The records are the same with several threads and as packets on the wire; the parts of the critical path add
/// up to the iteration, to the picosecond.
#[test]
fn paths_add_up_and_runs_are_the_same_everywhere() {
    for (at, (kind, algorithm, more)) in ALL.into_iter().enumerate() {
        let text = crowded(["free", "serial"][at % 2], (kind, algorithm, more));
        let own = plan(&text);
        let run = run_with(&own, 1);
        assert!(run.record.complete, "{kind}, {algorithm}");
        assert_eq!(run.collectives.len(), 3);
        for one in &run.collectives {
            let path = one.path.unwrap_or_else(|| panic!("{kind}, {algorithm}: no path"));
            let sum = path.parts.total() + path.compute.0;
            let (begin, end) = (one.begin.unwrap(), one.end.unwrap());
            assert_eq!(sum, end.since(begin).0 + path.ahead.0, "{kind}, {algorithm}");
            assert!(one.slowest_rank.is_some() && one.skew_end.is_some());
            assert!(one.slowdown().unwrap() > 0.95, "{kind}, {algorithm}: {one:?}");
        }
        let threads = run_with(&own, 3);
        assert!(same(&threads.record) == same(&run.record), "{kind}, {algorithm}: threads");
        let mut scenario = Scenario::parse(&text, "test", &[]).unwrap();
        scenario.run.world = World::DataPlane;
        let wire = run_with(&Plan::new(scenario).unwrap(), 1);
        assert!(same(&wire.record) == same(&run.record), "{kind}, {algorithm}: the data plane");
        assert_eq!(wire.collectives, run.collectives);
    }
}

/// A run that ends early has what is known of the iterations it did not finish.
#[test]
fn iterations_that_did_not_end_have_no_times() {
    let own = "collective = \"all_reduce\"\nsize = \"1MB\"\niterations = 3\n";
    let run = run(&format!("{}[run]\nuntil = \"200us\"\n", star("dctcp", 4, own)));
    let ends: Vec<bool> = run.collectives.iter().map(|one| one.end.is_some()).collect();
    assert_eq!(ends, [true, false, false]);
    let last = &run.collectives[2];
    assert_eq!((last.start, last.begin, last.path, last.time()), (None, None, None, None));
    assert_eq!(summarise(&run).collectives[0].completed, 1);
}

#[test]
fn what_is_wrong_is_refused_with_its_key() {
    let says = |own: &str, text: &str| {
        let message = refused(&star("ndp", 8, own));
        assert!(message.contains(text), "{message}, not {text}");
    };
    let reduce = "collective = \"all_reduce\"\nsize = \"1MB\"\n";
    let with = |more: &str| format!("{reduce}{more}\n");
    says("size = \"1MB\"", "kind `collective` needs the key `collective`: `all_reduce`");
    says("collective = \"allreduce\"\nsize = \"1MB\"", "did you mean `all_reduce`?");
    says(&with("algorithm = \"rings\""), "did you mean `ring`?");
    says(&with("algorithm = \"pairwise\""), "traffic.0.algorithm");
    says(&with("ranks = \"0-8\""), "traffic.0.ranks = `0-8`: expected hosts below 8");
    says(&with("ranks = \"5\""), "traffic.0.ranks = `1`: expected 2 or more");
    says(&with("ranks = \"0-5\"\nalgorithm = \"halving_doubling\""), "a power of two");
    says("collective = \"all_reduce\"\nsize = \"0B\"", "traffic.0.size = `0`: expected 1 to");
    says(&with("iterations = 0"), "traffic.0.iterations = `0`: expected 1 to 4194304");
    says(
        &with("straggler = 8\nextra = \"1us\""),
        "traffic.0.straggler = `8`: expected a rank from 0 to 7",
    );
    says(&with("straggler = 2"), "needs `extra`");
    says(&with("extra = \"2us\""), "needs `straggler`");
    says(&with("algorithm = \"hierarchical\""), "traffic.0.group is missing");
    says(&with("shares = [0.5, 0.5]"), "only an all_to_all has shares");
    let shares =
        "collective = \"all_to_all\"\nsize = \"1MB\"\nranks = \"0-1\"\nshares = [0.5, 0.6]";
    says(shares, "expected numbers that sum to 1");
    says(&with("jitter = \"1us\""), "no such key");
}
