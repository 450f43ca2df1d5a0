//! Storms of pause frames, and the watchdogs that end them.

use incast_experiment::{Fault, Monitor, Plan, Scenario, execute};
use incast_measure::{Run, summarise};
use incast_protocols::CATALOGUE;
use incast_transport::{Bin, Time};

/// Two racks at 10 Gb/s: flow 0 goes to host 4, whose NIC pauses its link from 1 ms on; flow 1 to host 5 comes from
/// the same host over the same uplink.
fn plan(storm: &str, watchdog: &str, more: &str) -> Result<Plan, Fault> {
    let long = |to: u32| {
        format!("[[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"{to}\"\nuntil = \"10ms\"\n")
    };
    let lines = format!(
        "[fabric]\ntopology = \"leaf-spine:2x1x4\"\nrate = \"10Gbps\"\nbuffer = \"64KB\"\n\
         [fabric.pfc]\nclasses = [1]\n{watchdog}[[fabric.storms]]\n{storm}\n[transport]\nnames = [\"none\"]\n\
         [transport.parameters.none]\nrate = \"5Gbps\"\n{}{}[run]\ninterval = \"20us\"\n{more}",
        long(4),
        long(5),
    );
    Plan::new(Scenario::parse(&lines, "test.toml", &[])?)
}

fn run(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

/// Mean rate of what a flow delivered between two instants, in Gb/s.
fn gbps(run: &Run, flow: usize, from_us: u64, to_us: u64) -> f64 {
    let series = run.record.series.iter().find(|one| one.flow.0 as usize == flow).unwrap();
    let inside =
        |at: usize| (from_us * 1_000_000..to_us * 1_000_000).contains(&run.interval(at).0.0);
    let own = series.delivered.iter().enumerate().filter(|(at, _)| inside(*at));
    own.map(|(_, bytes)| *bytes).sum::<u64>() as f64 * 8e-3 / (to_us - from_us) as f64
}

fn storms(run: &Run) -> u64 {
    summarise(run).counters.storms
}

const STORM: &str = "host = 4\nat = \"1ms\"";

/// Without a watchdog the storm stops the victim for good: the pause spreads over the uplink to the NIC of host 0, and
/// the flow to host 5 shares all three.
#[test]
fn a_storm_stops_flows_that_share_its_queues() {
    let run = run(&plan(STORM, "", "").unwrap(), 1);
    assert!(gbps(&run, 1, 0, 1_000) > 4.5);
    assert_eq!((gbps(&run, 0, 2_000, 10_000), gbps(&run, 1, 2_000, 10_000)), (0.0, 0.0));
    assert_eq!(storms(&run), 0);
    let drops: u32 = run.record.ports.iter().map(|port| port.total.drops).sum();
    assert_eq!(drops, 0);
}

/// With one the class is stuck at the port to host 4 after `detect`, which drops its packets, and the victim goes on at
/// once. No other port is paused for so long. Both worlds and two threads say the same.
#[test]
fn with_a_watchdog_victims_go_on_after_it_has_detected() {
    let watchdog = "watchdog = { detect = \"2ms\", restore = \"2ms\" }\n";
    let first = run(&plan(STORM, watchdog, "").unwrap(), 1);
    // The fourth 20 us after detection are beyond the round trips by which the pauses dissolve.
    assert_eq!(gbps(&first, 1, 2_000, 3_000), 0.0);
    assert!(gbps(&first, 1, 3_080, 10_000) > 4.5, "{}", gbps(&first, 1, 3_080, 10_000));
    assert_eq!(gbps(&first, 0, 2_000, 10_000), 0.0);
    assert_eq!(storms(&first), 1);
    let dropping: Vec<&Bin> =
        first.record.ports.iter().map(|port| &port.total).filter(|total| total.drops > 0).collect();
    assert_eq!(dropping.len(), 1);
    let twice = run(&plan(STORM, watchdog, "").unwrap(), 2).record;
    assert!(twice == first.record, "two threads");
    let mut other = run(&plan(STORM, watchdog, "world = \"dataplane\"\n").unwrap(), 1).record;
    other.events = first.record.events;
    assert!(other == first.record, "the data plane");
}

/// `forward` ignores the pause: the flow into the storm goes on as well.
#[test]
fn a_stuck_class_can_be_forwarded() {
    let watchdog = "watchdog = { detect = \"2ms\", action = \"forward\" }\n";
    let first = run(&plan(STORM, watchdog, "").unwrap(), 1);
    for flow in [0, 1] {
        assert_eq!(gbps(&first, flow, 2_000, 3_000), 0.0);
        assert!(gbps(&first, flow, 3_080, 10_000) > 4.5, "{}", gbps(&first, flow, 3_080, 10_000));
    }
    let drops: u32 = first.record.ports.iter().map(|port| port.total.drops).sum();
    assert_eq!((storms(&first), drops), (1, 0));
    let mut other = run(&plan(STORM, watchdog, "world = \"dataplane\"\n").unwrap(), 1).record;
    other.events = first.record.events;
    assert!(other == first.record, "the data plane");
}

/// A storm of 3 ms: the class recovers `restore` after it, and the flow with it. One that is over before `detect` is
/// none of the watchdog's business, and costs nothing.
#[test]
fn a_class_recovers_after_the_storm() {
    let long = "host = 4\nat = \"1ms\"\nlasts = \"3ms\"";
    let watchdog = "watchdog = { detect = \"2ms\", restore = \"1ms\" }\n";
    let run_long = run(&plan(long, watchdog, "").unwrap(), 1);
    assert_eq!(gbps(&run_long, 0, 2_000, 5_000), 0.0);
    assert!(gbps(&run_long, 0, 6_500, 10_000) > 4.0, "{}", gbps(&run_long, 0, 6_500, 10_000));
    let short = "host = 4\nat = \"1ms\"\nlasts = \"1ms\"";
    let run_short = run(&plan(short, watchdog, "").unwrap(), 1);
    assert_eq!(storms(&run_short), 0);
    let drops: u32 = run_short.record.ports.iter().map(|port| port.total.drops).sum();
    assert_eq!(drops, 0);
    assert!(gbps(&run_short, 0, 2_100, 10_000) > 4.5);
    assert_eq!(run_short.record.ended, run_long.record.ended);
    assert!(run_short.record.ended > Time(10_000_000_000));
}

/// What is held back by a storm until after the application has ended its flow is nothing at the destination, whatever
/// the transport: it opens no flow there.
#[test]
fn what_comes_after_the_end_of_a_flow_opens_none() {
    for name in CATALOGUE.iter().map(|entry| entry.info().name) {
        let long = |to: u32, until: u32| {
            format!(
                "[[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"{to}\"\nuntil = \"{until}ms\"\n"
            )
        };
        let lines = format!(
            "[fabric]\ntopology = \"leaf-spine:2x1x4\"\nrate = \"10Gbps\"\n[fabric.pfc]\n[[fabric.storms]]\n\
             host = 4\nat = \"1ms\"\nlasts = \"3ms\"\n[transport]\nnames = [\"{name}\"]\n{}{}[run]\n\
             interval = \"20us\"\n",
            long(4, 2),
            long(5, 6),
        );
        let plan = |more: &str| {
            let text = format!("{lines}{more}");
            Plan::new(Scenario::parse(&text, "test.toml", &[]).unwrap()).unwrap()
        };
        let first = run(&plan(""), 1);
        assert!(gbps(&first, 0, 0, 1_000) > 0.1, "{name}: {}", gbps(&first, 0, 0, 1_000));
        assert_eq!(gbps(&first, 0, 2_500, 7_000), 0.0, "{name}");
        let mut other = run(&plan("world = \"dataplane\"\n"), 1).record;
        other.events = first.record.events;
        assert!(other == first.record, "{name}: the data plane");
    }
}

#[test]
fn storms_that_cannot_be_are_refused() {
    let said = |storm: &str, watchdog: &str| plan(storm, watchdog, "").err().unwrap().to_string();
    assert!(
        said("host = 8\nat = \"1ms\"", "")
            .contains("fabric.storms.0.host = `8`: expected a host below 8")
    );
    let two = format!("{STORM}\n[[fabric.storms]]\nhost = 4\nat = \"2ms\"");
    let fault = said(&two, "");
    assert!(
        fault.contains("fabric.storms.1.at = `2ms`: host 4 is in a storm from 1ms on"),
        "{fault}"
    );
    let fault = said(STORM, "watchdog = { action = \"dorp\" }\n");
    assert!(fault.contains("did you mean `drop`?"), "{fault}");
    let fault = said(STORM, "watchdog = { detect = \"0s\" }\n");
    assert!(fault.contains("fabric.pfc.watchdog.detect = `0s`: expected more than 0"), "{fault}");
    let text = "[fabric]\ntopology = \"star:3\"\n[[fabric.storms]]\nhost = 1\nat = \"1us\"\n[transport]\n\
                names = [\"dctcp\"]\n[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let fault = Plan::new(Scenario::parse(text, "test.toml", &[]).unwrap()).err().unwrap();
    assert!(fault.to_string().contains("fabric.storms.0: no link is ever paused"), "{fault}");
}
