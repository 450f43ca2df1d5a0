//! Hosts that are in step, and what takes them out of it.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::{Run, Warning};
use incast_workload::Start;

/// Sixty hosts send to one at once, through a buffer that is too small for them.
fn incast(sets: &[&str]) -> Plan {
    let text = "[fabric]\ntopology = \"star:61\"\nrate = \"10Gbps\"\nbuffer = \"30KB\"\n[transport]\n\
                names = [\"dctcp\"]\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsize = \"30KB\"\n\
                at = \"5us\"\n";
    let sets: Vec<String> = sets.iter().map(|one| one.to_string()).collect();
    Plan::new(Scenario::parse(text, "test", &sets).unwrap()).unwrap()
}

fn run(plan: &Plan) -> Run {
    execute(plan, &plan.cases[0], vec![], 1, &Monitor::default()).unwrap().0
}

fn in_step(run: &Run) -> bool {
    run.warnings().iter().any(|warning| matches!(warning, Warning::LockStep { .. }))
}

#[test]
fn timeouts_in_step_are_told_and_jitter_ends_them() {
    let exact = run(&incast(&[]));
    assert!(in_step(&exact), "{:?}", exact.warnings());
    let apart = run(&incast(&["traffic.0.jitter=2ms"]));
    assert!(!in_step(&apart), "{:?}", apart.warnings());
    let ends = |run: &Run| run.record.flows.iter().map(|flow| flow.completed.unwrap()).max();
    let late = run(&incast(&["transport.rto_jitter=0.5"]));
    assert_ne!(ends(&late), ends(&exact));
    assert_ne!(ends(&run(&incast(&["transport.timer_granularity=4ms"]))), ends(&exact));
    assert_ne!(ends(&run(&incast(&["transport.rto_jitter=0.5", "run.seed=2"]))), ends(&late));
}

/// Timers that receivers keep are not those of the keys: that they stay exact is said.
#[test]
fn timers_of_receiver_driven_transports_stay_exact_and_this_is_told() {
    let names = "transport.names=[\"dctcp\", \"ndp\", \"ren\"]";
    for set in ["transport.rto_jitter=0.5", "transport.timer_granularity=4ms"] {
        let key = set.split('=').next().unwrap();
        let told = |sets: &[&str]| -> Vec<String> {
            let all = incast(sets).warnings;
            all.iter().map(ToString::to_string).filter(|text| text.contains(key)).collect()
        };
        let [one] = &told(&[names, set])[..] else { panic!("one warning of {key}") };
        assert!(one.contains("those of ndp, ren are kept by receivers"), "{one}");
        assert_eq!((told(&[set]).len(), told(&[names]).len()), (0, 0));
    }
}

/// Flows start between their time and `jitter` later, each at its own; other draws stay as they were.
#[test]
fn jitter_spreads_the_starts() {
    let starts = |plan: &Plan| -> Vec<u64> {
        let of = |start: &Start| match start {
            Start::At(at) => at.0,
            Start::After { .. } | Start::Told => panic!("an incast waits for nothing"),
        };
        plan.traffic.flows.iter().map(|flow| of(&flow.start)).collect()
    };
    let plan = incast(&["traffic.0.jitter=10us"]);
    let own = starts(&plan);
    assert!(own.iter().all(|at| (5_000_000..15_000_000).contains(at)), "{own:?}");
    assert!(own.is_sorted() && own.windows(2).all(|pair| pair[0] < pair[1]), "{own:?}");
    assert!(own[0] < 6_000_000 && own[59] > 14_000_000, "{own:?}");
    assert_eq!(starts(&incast(&["traffic.0.jitter=10us"])), own);
    assert_ne!(starts(&incast(&["traffic.0.jitter=10us", "run.seed=2"])), own);
    let mut senders: Vec<u32> = plan.traffic.flows.iter().map(|flow| flow.src).collect();
    senders.sort_unstable();
    assert_eq!(senders, (1..61).collect::<Vec<u32>>());
    let requests = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"dctcp\"]\n[[traffic]]\n\
                    kind = \"requests\"\nto = \"0\"\nfrom = \"1-3\"\nsize = \"9KB\"\njitter = \"5us\"\n";
    let plan = Plan::new(Scenario::parse(requests, "test", &[]).unwrap()).unwrap();
    let run = run(&plan);
    assert_eq!(run.requests.len(), 1);
    assert!(run.requests[0].end.is_some(), "requests and responses belong together still");
}
