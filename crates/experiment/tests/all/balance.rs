//! Load balancing over equal paths: what is known of each routing, in both worlds and with any number of
//! threads.

use incast_experiment::{Monitor, Plan, Scenario, execute};
use incast_measure::Run;
use incast_transport::{FlowRecord, PathsTaken, Reordering};

fn plan(text: &str, sets: &[&str]) -> Plan {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    Plan::new(Scenario::parse(text, "a test", &sets).expect("a scenario")).expect("a plan")
}

fn run(text: &str, sets: &[&str], threads: usize) -> Run {
    let plan = plan(text, sets);
    let (run, _) =
        execute(&plan, &plan.cases[0], vec![], threads, &Monitor::default()).expect("it runs");
    assert!(run.record.complete, "{sets:?}");
    run
}

/// Packets that a leaf sent to each spine, trimmed ones among them.
fn uplinks(run: &Run, leaf: u32) -> Vec<u32> {
    let begin = format!("leaf{leaf}->spine");
    let ports = run.ports.iter().zip(&run.record.ports);
    ports
        .filter(|(meta, _)| meta.name.starts_with(&begin))
        .map(|(_, port)| port.total.sent_packets)
        .collect()
}

/// Eight hosts of a leaf send to one each of another, over eight uplinks.
fn pairs(transport: &str, more: &str) -> String {
    format!(
        "[fabric]\ntopology = \"leaf-spine:2x8x8\"\nrate = \"10Gbps\"\n{more}\n[transport]\nnames = [{transport:?}]\n\
         [[traffic]]\nkind = \"long\"\nfrom = \"0-7\"\nto = \"8-15\"\nsize = \"2MB\"\n"
    )
}

/// The longest completion time over the ideal one.
fn worst(run: &Run) -> f64 {
    let flows = run.record.flows.iter().zip(&run.flows);
    let slowdown = |(record, meta): (&incast_transport::FlowRecord, &incast_measure::FlowMeta)| {
        let fct = record.completed.expect("complete").since(record.started.expect("started"));
        fct.0 as f64 / meta.ideal_fct.0 as f64
    };
    flows.map(slowdown).fold(0.0, f64::max)
}

#[test]
fn queues_keep_flows_apart_where_hashes_do_not() {
    let text = pairs("ndp", "");
    let of = |routing: &str| run(&text, &[&format!("transport.routing={routing}")], 1);
    // Eight flows over eight paths by hash: one path has two or more, and its flows take twice as long.
    let hashed = worst(&of("ecmp"));
    assert!(hashed > 1.8, "{hashed}");
    for routing in ["least-queue", "round-robin"] {
        let apart = of(routing);
        let (slowest, sent) = (worst(&apart), uplinks(&apart, 0));
        assert!(slowest < 1.1, "{routing}: {slowest}");
        let mean = sent.iter().sum::<u32>() as f64 / 8.0;
        assert!(
            sent.iter().all(|packets| (*packets as f64 - mean).abs() < 0.05 * mean),
            "{routing}: {sent:?}"
        );
    }
    // Two random choices are nearly as good, one is not.
    let (two, spray) = (worst(&of("drill")), worst(&of("spray")));
    assert!(two < 1.15 && two < spray, "drill {two}, spray {spray}");
}

/// Eight hosts send at the rate of eight uplinks, without control. By queues and by turns each packet finds an uplink free; at random
/// queues at a load of one have no bound: they grow with the root of the time.
#[test]
fn at_a_load_of_one_only_random_choices_make_queues() {
    let longest = |routing: &str, size: &str| {
        let text = pairs("none", "buffer = \"unlimited\"").replace("2MB", size);
        let run = run(&text, &[&format!("transport.routing={routing}")], 1);
        let ports = run.ports.iter().zip(&run.record.ports);
        let uplinks = ports.filter(|(meta, _)| meta.name.starts_with("leaf0->spine"));
        // Packets of 1,538 B that wait, on average over the uplinks.
        uplinks.map(|(_, port)| port.total.backlog_max as f64 / 1_538.0).sum::<f64>() / 8.0
    };
    for routing in ["least-queue", "round-robin"] {
        let queue = longest(routing, "2MB");
        assert!(queue <= 1.0, "{routing}: {queue}");
    }
    let (short, long) = (longest("spray", "1MB"), longest("spray", "16MB"));
    println!("{short}, {long}");
    assert!(short > 15.0 && long > 2.5 * short, "{short}, {long}");
}

/// An uplink fails for 100 us. REPS loses what was on its way over it, about what the link holds in an RTT and its queue, and no flow waits for longer
/// than the timeout that tells of it.
#[test]
fn a_failed_uplink_costs_reps_a_window_and_a_timeout() {
    let failed = "mtu = 4150\nl2_overhead = 0\nmin_frame = 0\n[[fabric.failures]]\nat = \"60us\"\n\
                  repair_after = \"100us\"\na = \"leaf0\"\nb = \"spine3\"";
    let of = |more: &str| {
        let text = pairs("uec", more).replace("10Gbps", "100Gbps");
        let sets = ["path_choice=reps", "ack_bytes=1B"]
            .map(|set| format!("transport.parameters.uec.{set}"));
        run(&text, &[&sets[0], &sets[1], "transport.routing=entropy"], 1)
    };
    let (whole, run) = (of(&failed[..failed.find("[[").expect("a failure")]), of(failed));
    let ended = |run: &Run| {
        run.record.flows.iter().filter_map(|flow| flow.completed).max().expect("complete")
    };
    let again: u32 = run.record.flows.iter().map(|flow| flow.retransmits).sum();
    let cut: u32 = run.record.ports.iter().map(|port| port.total.trims).sum();
    println!("{again} again, {cut} of them cut, {} and {}", ended(&run), ended(&whole));
    // Seven uplinks are too few for eight hosts, so that some are cut as well. 42 packets are a window, 1.5 BDPs.
    assert!((1..42).contains(&(again - cut)), "{again} - {cut}");
    // The timeout is 15 us and six times what the queue takes.
    assert!(
        ended(&run).since(ended(&whole)).0 < 73_000_000,
        "{} and {}",
        ended(&run),
        ended(&whole)
    );
}

/// A flow takes two paths by turns, one of which is 10 us longer: 8.1 packets at the NIC's rate. So when a packet
/// arrives by that one, those that were sent up to seven later have come by the other; but for the
/// last one, if no packet follows it. On one path none overtakes another.
#[test]
fn packets_that_take_a_longer_path_arrive_behind_those_sent_later() {
    let text = "[fabric]\ntopology = \"leaf-spine:2x2x1\"\nrate = \"10Gbps\"\n\
                [[fabric.links]]\na = \"leaf0\"\nb = \"spine1\"\npropagation = \"11us\"\n\
                [transport]\nnames = [\"ndp\"]\n\
                [transport.parameters.ndp]\nfirst_window = 100\n\
                [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"146000B\"\n";
    for world in ["sim", "dataplane"] {
        let reordering = |routing: &str| {
            let routing = format!("transport.routing={routing}");
            let run = run(text, &[&routing, &format!("run.world={world}")], 1);
            run.record.flows[0].reordering.expect("the order is known")
        };
        let turns = reordering("source-round-robin");
        assert_eq!(turns.distance, 7);
        assert!([49, 50].contains(&turns.packets), "{turns:?}");
        assert_eq!(reordering("ecmp"), Reordering::default());
    }
}

/// Turns change the path with each packet, a hash never; in three tiers a path is both choices, of which a
/// fat tree of four ports has four.
#[test]
fn paths_are_counted_if_the_run_records_them() {
    let text = |topology: &str| {
        format!(
            "[fabric]\ntopology = {topology:?}\nrate = \"10Gbps\"\n[transport]\nnames = [\"ndp\"]\n\
             [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"15\"\nsize = \"146000B\"\n"
        )
    };
    for (topology, paths) in [("leaf-spine:2x5x8", 5), ("fat-tree:4", 4)] {
        for world in ["sim", "dataplane"] {
            let of = |routing: &str, more: &str| {
                let (routing, world) =
                    (format!("transport.routing={routing}"), format!("run.world={world}"));
                let run = run(&text(topology), &[&routing, &world, more], 1);
                run.record.flows[0].paths
            };
            let record = "output.paths=true";
            assert_eq!(of("ecmp", "output.paths=false"), None);
            assert_eq!(of("ecmp", record), Some(PathsTaken { used: 1, changes: 0 }));
            assert_eq!(
                of("source-round-robin", record),
                Some(PathsTaken { used: paths, changes: 99 }),
                "{topology} {world}"
            );
        }
    }
}

/// One of eight uplinks has half the rate. By turns it gets an eighth of all packets; by queues what it can
/// carry, a fifteenth.
#[test]
fn a_slow_uplink_gets_what_it_can_carry_by_queues_alone() {
    let links = "[[fabric.links]]\na = \"leaf0\"\nb = \"spine3\"\nrate = \"5Gbps\"";
    let text = pairs("ndp", links);
    let share = |routing: &str| {
        let sent = uplinks(&run(&text, &[&format!("transport.routing={routing}")], 1), 0);
        sent[3] as f64 / sent.iter().sum::<u32>() as f64
    };
    let (queues, turns, drill) = (share("least-queue"), share("round-robin"), share("drill"));
    assert!((queues - 1.0 / 15.0).abs() < 0.01, "{queues}");
    assert!((turns - 0.125).abs() < 0.005, "{turns}");
    assert!(queues < drill && drill < turns, "{drill}");
    // A window law hears of the slow uplink in every flow and settles all of them at half the rate.
    let text = pairs("dctcp", links);
    let slowest = |routing: &str| worst(&run(&text, &[&format!("transport.routing={routing}")], 1));
    let (queues, turns) = (slowest("least-queue"), slowest("round-robin"));
    assert!(queues < 1.25 && (1.9..2.3).contains(&turns), "{queues}, {turns}");
}

/// A link from a spine to the other leaf has half the rate, which no queue at the first leaf shows: by
/// hash or queues it gets a quarter of what comes, by CONGA what it can carry, a seventh.
#[test]
fn what_is_congested_beyond_the_first_leaf_is_heard_of() {
    let text = "[fabric]\ntopology = \"leaf-spine:2x4x8\"\nrate = \"10Gbps\"\n\
                [[fabric.links]]\na = \"leaf1\"\nb = \"spine3\"\nrate = \"5Gbps\"\n\
                [transport]\nnames = [\"dctcp\"]\n\
                [[traffic]]\nkind = \"poisson\"\nworkload = \"web_search\"\nload = 0.6\nflows = 1000\n";
    let of = |routing: &str| {
        let run = run(text, &[&format!("transport.routing={routing}")], 1);
        let sent = uplinks(&run, 0);
        let fct = |flow: &FlowRecord| flow.completed.unwrap().since(flow.started.unwrap()).0;
        let mean = run.record.flows.iter().map(fct).sum::<u64>() as f64 / 1e3;
        (sent[3] as f64 / sent.iter().sum::<u32>() as f64, mean)
    };
    let (by_hash, by_queue, heard) = (of("ecmp"), of("least-queue"), of("conga"));
    println!("{by_hash:?} {by_queue:?} {heard:?}");
    assert!(by_hash.0 > 0.2 && by_queue.0 > 0.24, "{by_hash:?} {by_queue:?}");
    assert!((heard.0 - 1.0 / 7.0).abs() < 0.02, "{heard:?}");
    assert!(heard.1 < 0.8 * by_hash.1 && heard.1 < 0.8 * by_queue.1, "{heard:?}");
}

#[test]
fn a_fabric_without_leaves_and_spines_has_no_conga() {
    let told = |topology: &str| {
        let text = "[fabric]\ntopology = \"leaf-spine:2x2x2\"\n[transport]\nnames = [\"dctcp\"]\n\
                    [[traffic]]\nkind = \"long\"\nfrom = \"0\"\nto = \"1\"\nsize = \"1MB\"\n";
        let sets = [format!("fabric.topology={topology}"), "transport.routing=conga".to_string()];
        let scenario = Scenario::parse(text, "a test", &sets).expect("a scenario");
        Plan::new(scenario).map(|_| ()).map_err(|fault| fault.to_string())
    };
    assert_eq!(told("leaf-spine:2x16x2"), Ok(()));
    for (topology, why) in [
        ("fat-tree:4", "not all by one spine"),
        ("leaf-spine:2x17x2", "leaf0 has 17 uplinks; at most 16"),
    ] {
        let fault = told(topology).unwrap_err();
        assert!(fault.contains("transport.routing") && fault.contains(why), "{fault}");
    }
}

/// Four uplinks: at most four ports to draw among. The default of two fits any fabric, and other routings draw none.
#[test]
fn drill_draws_at_most_as_many_ports_as_a_switch_has() {
    let told = |topology: &str, samples: u32, routing: &str| {
        let sets = [
            format!("fabric.topology={topology}"),
            format!("transport.routing={routing}"),
            format!("transport.balance.samples={samples}"),
        ];
        let scenario = Scenario::parse(&pairs("ndp", ""), "a test", &sets).expect("a scenario");
        Plan::new(scenario).map(|_| ()).map_err(|fault| fault.to_string())
    };
    for (topology, samples, routing) in [
        ("leaf-spine:2x4x8", 4, "drill"),
        ("star:16", 2, "drill"),
        ("leaf-spine:2x4x8", 5, "spray"),
    ] {
        assert_eq!(told(topology, samples, routing), Ok(()), "{topology} {samples} {routing}");
    }
    for (topology, samples, range) in [
        ("leaf-spine:2x4x8", 5, "expected 1 to 4"),
        ("leaf-spine:2x2x8", 64, "expected 1 to 2"),
        ("star:16", 3, "expected 1 to 2"),
    ] {
        let fault = told(topology, samples, "drill").unwrap_err();
        let value = format!("transport.balance.samples = `{samples}`");
        assert!(fault.contains(&value) && fault.contains(range), "{fault}");
    }
}

#[test]
fn a_flow_keeps_its_path_until_it_pauses() {
    let text = pairs("dctcp", "");
    let used = |sets: &[&str]| {
        let one = ["traffic.0.from=\"0\"", "traffic.0.to=\"8\"", "output.paths=true"];
        let run = run(&text, &[&one, sets].concat(), 1);
        let paths = run.record.flows[0].paths.expect("they are recorded");
        let count = uplinks(&run, 0).iter().filter(|packets| **packets > 0).count();
        assert_eq!(paths.used as usize, count, "{sets:?}");
        assert_eq!(paths.changes == 0, count == 1, "{sets:?}");
        count
    };
    assert_eq!(used(&["transport.routing=flowlet"]), 1);
    assert_eq!(used(&["transport.routing=conga"]), 1);
    assert_eq!(used(&["transport.routing=flowlet", "transport.balance.flowlet_gap=0ns"]), 8);
    assert_eq!(used(&["transport.routing=entropy", "transport.balance.entropies=1"]), 1);
    assert_eq!(used(&["transport.routing=entropy"]), 8);
}

/// Flows that a hash puts on one uplink each have less than theirs; those that hear of it move on until
/// they are apart, others stay.
#[test]
fn flows_that_hear_of_congestion_move_until_they_are_apart() {
    for transport in ["dctcp", "swift"] {
        let text = pairs(transport, "");
        let large = "traffic.0.size=20MB";
        let of = |sets: &[&str]| {
            let run = run(&text, &[&[large, "transport.routing=plb"], sets].concat(), 1);
            let used = |packets: &&u32| **packets > 100;
            (worst(&run), uplinks(&run, 0).iter().filter(used).count())
        };
        // So patient that nobody moves: as with ECMP some paths have several flows, others none.
        let (still, few) = of(&["transport.balance.plb_rounds=1000"]);
        let (moving, all) = of(&[]);
        println!("{transport}: {still} on {few}, {moving} on {all}");
        assert!(still > 1.9 && few < 8, "{transport}: {still} on {few}");
        assert!(moving < 0.85 * still && all == 8, "{transport}: {moving} on {all}");
        // A flow that is alone stays where it is, and no packet of it is overtaken.
        let alone = ["transport.routing=plb", "traffic.0.from=\"0\"", "traffic.0.to=\"8\""];
        let run = run(&text, &alone, 1);
        assert_eq!(run.record.flows[0].reordering, Some(Reordering::default()));
        assert_eq!(uplinks(&run, 0).iter().filter(|packets| **packets > 0).count(), 1);
    }
}

#[test]
fn only_sources_that_can_move_flows_do() {
    let text = pairs("homa", "");
    let sets = ["transport.routing=plb".to_string()];
    let scenario = Scenario::parse(&text, "a test", &sets).expect("a scenario");
    let fault = Plan::new(scenario).map(|_| ()).unwrap_err().to_string();
    assert!(fault.contains("homa does not move flows; those that do are dctcp, swift"), "{fault}");
}

fn agree(routing: &str, transport: &str, more: &str) {
    let text = pairs(transport, more);
    let stale = if routing == "drill" { "2us" } else { "0ns" };
    let record = |world: &str, threads: usize| {
        let sets = [
            format!("transport.routing={routing}"),
            format!("run.world={world}"),
            format!("transport.balance.stale={stale}"),
            "output.paths=true".to_string(),
            "traffic.0.size=200KB".to_string(),
        ];
        let sets: Vec<&str> = sets.iter().map(|set| set.as_str()).collect();
        let mut run = run(&text, &sets, threads);
        run.record.events = 0;
        run.record
    };
    let one = record("sim", 1);
    assert_eq!(one, record("sim", 3), "{routing} {transport}: threads");
    assert_eq!(one, record("dataplane", 1), "{routing} {transport}: worlds");
}

#[test]
fn worlds_and_threads_agree() {
    for routing in ["entropy", "least-queue", "drill", "flowlet", "conga"] {
        agree(routing, "dctcp", "[fabric.pfc]\nxoff = \"50KB\"");
        agree(routing, "ren", "");
        agree(routing, "ndp", "forwarding = \"cut_through\"");
    }
    agree("plb", "dctcp", "");
    agree("plb", "swift", "forwarding = \"cut_through\"");
}

/// Receivers that slow down behind an oversubscribed core draw when they look again.
#[test]
fn worlds_and_threads_agree_behind_an_oversubscribed_core() {
    let record = |world: &str, threads: usize, more: &[&str]| {
        let text = pairs("uec", "oversubscription = 4");
        let world = format!("run.world={world}");
        let sets = [&["transport.parameters.uec.mode=rccc", &world][..], more].concat();
        let mut run = run(&text, &sets, threads);
        (run.record.events, run.record.captures_cut) = (0, None);
        run.record
    };
    let one = record("sim", 1, &[]);
    assert!(one == record("sim", 3, &[]), "threads");
    let flows = |record: &incast_transport::RunRecord| record.flows.clone();
    assert_eq!(flows(&one), flows(&record("dataplane", 1, &[])), "worlds");
    let full = record("sim", 1, &["transport.parameters.uec.core_pace=false"]);
    assert_ne!(flows(&one), flows(&full), "it slows down here");
}

#[test]
fn a_routing_that_a_transport_was_not_made_for_is_told() {
    let told = |transport: &str, routing: &str| {
        let plan = plan(&pairs(transport, ""), &[&format!("transport.routing={routing}")]);
        let all: Vec<String> = plan.warnings.iter().map(|warning| warning.to_string()).collect();
        all.join("\n")
    };
    let text = told("dcqcn", "least-queue");
    assert!(text.contains("dcqcn goes back") && text.contains("routing least-queue"), "{text}");
    assert!(told("xcp", "entropy").contains("xcp reads the state of the path"));
    let text = told("hpcc", "drill");
    assert!(text.contains("goes back") && text.contains("state of the path"), "{text}");
    for (transport, routing) in [("dcqcn", "ecmp"), ("ndp", "least-queue"), ("dctcp", "flowlet")] {
        let text = told(transport, routing);
        assert!(!text.contains("goes back") && !text.contains("state of the path"), "{text}");
    }
}
