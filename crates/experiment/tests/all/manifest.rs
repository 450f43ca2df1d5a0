//! A manifest repeats its run to the byte, and the other world gives the same.

use incast_egress::port::Join;
use incast_experiment::scenario::{
    AllToAll, Assign, Auto, Buffer, Burst, ClosedLoop, Collective, Connections, Fabric, FlowFile,
    ForwardingName, Hosts, Incast, Issue, Link, LinkFailure, Long, ManyToMany, Output, Overhead,
    Permutation, Pfc, Poisson, Program, Requests, Run, Setting, SharedBuffer, Traffic, Transport,
    auto,
};
use incast_experiment::{Case, Monitor, Plan, Recorded, Scenario, World, execute, output};
use incast_protocols::CATALOGUE;
use incast_transport::{Acks, Bytes, Limit, Rate, Routing, Span};
use incast_workload::{Algorithm, CollectiveKind, FlowClass, SizeUnit};
use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Hosts that every network here has.
const HOSTS: u32 = 4;

/// Writes the files that some scenarios read, always the same ones, and returns their folder.
fn inputs() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("manifest-inputs");
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| {
        let place = folder.join(name);
        if !std::fs::read(&place).is_ok_and(|old| old == text.as_bytes()) {
            std::fs::write(place, text).expect("writable");
        }
    };
    let links = "0 4 10Gbps 1us 0\n1 4 10Gbps 1us 0\n2 4 25Gbps 1us 0\n3 4 10Gbps 2us 0.001\n";
    write("net", &format!("5 1 4\n4\n{links}"));
    write("flows.csv", "src,dst,size_bytes,start_ns,transport\n0,3,9000,0,\n1,2,4000,700,dctcp\n");
    let rank = |rank: u32, to: u32| {
        format!(
            "rank {rank} {{\na: calc {rank}500\nb: send 7000b to {to}\nb requires a\nrecv 7000b from -1\n}}\n"
        )
    };
    write("own.goal", &format!("num_ranks 3\n{}{}{}", rank(0, 1), rank(1, 2), rank(2, 0)));
    write("sizes.csv", "# bytes, cumulative share\n1000,0.4\n5000,0.9\n20000,1\n");
    folder
}

fn input(name: &str) -> String {
    inputs().join(name).display().to_string()
}

fn span(most_us: u64) -> impl Strategy<Value = Span> {
    (0..most_us * 1_000_000).prop_map(Span)
}

fn size() -> impl Strategy<Value = Bytes> {
    (1..30_000u64).prop_map(Bytes)
}

fn rate() -> impl Strategy<Value = Rate> {
    select(vec![10u64, 25, 40]).prop_map(Rate::from_gbps)
}

fn hosts(listed: &'static [u32]) -> impl Strategy<Value = Hosts> {
    (1..=listed.len()).prop_map(|count| Hosts::listed(listed[..count].iter().copied()))
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let sizes = select(vec!["web_server".to_string(), "hadoop".to_string(), input("sizes.csv")]);
    let packets = weighted(0.2, Just("pkt_hadoop".to_string()));
    // Most transports refuse it.
    let first = || weighted(0.1, 1..30u32);
    let unit = weighted(0.5, Just(SizeUnit::Bytes));
    let poisson = (sizes, unit, 0.1..0.9, 1..12u32, packets, first()).prop_map(
        |(workload, size_unit, load, flows, packets, burst)| Poisson {
            workload,
            size_unit,
            load,
            flows,
            packets,
            burst,
            priority: None,
        },
    );
    let senders = prop_oneof![
        Just((None, None)),
        (1..HOSTS).prop_map(|count| (None, Some(count))),
        hosts(&[1, 3, 2]).prop_map(|from| (Some(from), None)),
    ];
    let times = prop_oneof![
        Just((None, None, None)),
        (1..9u64, 1..3u32).prop_map(|(us, count)| (Some(Span::from_us(us)), None, Some(count))),
        (1..3u32).prop_map(|count| (None, Some(0.1), Some(count))),
    ];
    let more = (of(1..3u64), of(HOSTS..2 * HOSTS), any::<bool>(), times);
    let incast = (senders, size(), span(30), more).prop_map(
        |((from, senders), size, at, (request, fan_in, any, (period, load, count)))| Incast {
            receiver: (!any).then_some(0),
            receivers: None,
            from,
            senders,
            fan_in,
            size,
            request: request.map(Bytes::from_kb),
            at,
            period,
            rate: None,
            load,
            count,
            lasts: None,
            jitter: Span::ZERO,
            burst: None,
            priority: None,
        },
    );
    let requests = (hosts(&[0, 2]), hosts(&[3, 1]), size(), 1..3u32, span(9), span(9)).prop_map(
        |(to, from, size, count, period, at)| Requests {
            to,
            from,
            size,
            request: Bytes(100),
            count,
            period,
            at,
            jitter: Span::ZERO,
            burst: None,
            priority: None,
        },
    );
    let closed = (1..4u32, span(9), span(9)).prop_map(|(active, pause, at)| ClosedLoop {
        workload: "web_search".into(),
        size_unit: None,
        active,
        flows: 6,
        pause,
        at,
        jitter: Span::ZERO,
        burst: None,
        priority: None,
    });
    let many = (size(), 0.0..=1.0, span(9)).prop_map(|(size, responsive, at)| ManyToMany {
        from: Hosts(vec![(0, 1)]),
        to: Hosts(vec![(2, 2)]),
        to_second: Hosts(vec![(3, 3)]),
        size,
        responsive,
        at,
        jitter: Span::ZERO,
        burst: None,
        priority: None,
    });
    let long = (size(), span(30), span(9), first()).prop_map(|(size, at, jitter, burst)| Long {
        from: Hosts(vec![(0, 1)]),
        to: Hosts(vec![(3, 3), (2, 2)]),
        size: Some(size),
        at,
        until: None,
        jitter,
        burst,
        priority: None,
    });
    let length = prop_oneof![
        size().prop_map(|size| (Some(size), None)),
        span(9).prop_map(|lasts| (None, Some(lasts + Span::from_us(2)))),
    ];
    let burst = (hosts(&[1, 2]), length, span(9), 1..4u32, span(9)).prop_map(
        |(from, (size, lasts), at, count, period)| Burst {
            from,
            receiver: 3,
            size,
            lasts,
            at,
            count,
            period,
            jitter: Span::ZERO,
            burst: None,
            priority: None,
        },
    );
    let kind = prop_oneof![
        Just((CollectiveKind::AllReduce, Algorithm::Ring)),
        Just((CollectiveKind::AllGather, Algorithm::HalvingDoubling)),
        Just((CollectiveKind::AllToAll, Algorithm::Pairwise)),
    ];
    let late = weighted(0.3, (0..HOSTS, span(9)));
    let collective = (kind, (8..30_000u64).prop_map(Bytes), (1..3u32, 1..3u32), span(9), late)
        .prop_map(|((collective, algorithm), size, (channels, iterations), compute, late)| {
            Collective {
                collective,
                algorithm: Some(algorithm),
                ranks: Some(Hosts(vec![(1, 3), (0, 0)])),
                size,
                group: None,
                root: None,
                shares: None,
                shares_file: None,
                channels,
                chunks: 1,
                issue: if iterations == 1 { Issue::Free } else { Issue::Serial },
                connection: Connections::Message,
                iterations,
                compute,
                straggler: late.map(|(rank, _)| rank),
                extra: late.map(|(_, extra)| extra),
                at: Span::ZERO,
                burst: None,
                priority: None,
            }
        });
    let program = (select(vec!["packed", "strided:2", "random"]), any::<bool>(), span(9)).prop_map(
        |(placement, serial, at)| Program {
            file: input("own.goal"),
            hosts: None,
            placement: placement.into(),
            placement_file: None,
            issue: if serial { Issue::Serial } else { Issue::Free },
            connection: Connections::Message,
            at,
            burst: None,
            priority: None,
        },
    );
    prop_oneof![
        poisson.prop_map(Traffic::Poisson),
        closed.prop_map(Traffic::ClosedLoop),
        (size(), span(9)).prop_map(|(size, jitter)| {
            Traffic::Permutation(Permutation { size, jitter, burst: None, priority: None })
        }),
        size().prop_map(|size| Traffic::AllToAll(AllToAll {
            size,
            matrix: None,
            jitter: Span::ZERO,
            burst: None,
            priority: None
        })),
        incast.prop_map(Traffic::Incast),
        requests.prop_map(Traffic::Requests),
        many.prop_map(Traffic::ManyToMany),
        long.prop_map(Traffic::Long),
        burst.prop_map(Traffic::Burst),
        collective.prop_map(Traffic::Collective),
        program.prop_map(Traffic::Program),
        Just(Traffic::FlowFile(FlowFile {
            file: input("flows.csv"),
            start_unit: None,
            jitter: Span::ZERO,
            burst: None,
            priority: None,
        })),
    ]
}

/// Networks with shared or static buffers, PFC, other links and failures.
fn fabric() -> impl Strategy<Value = Fabric> {
    let shapes = ["star:4", "dumbbell:2x2", "parking-lot:2", "leaf-spine:2x2x2", "fat-tree:4"];
    let shape = prop_oneof![5 => select(shapes.to_vec()).prop_map(Some), 1 => Just(None)];
    let links = (of(rate()), of(span(3)), of(rate()), of(1.0..3.0), weighted(0.3, 0.0..0.01));
    let buffer = prop_oneof![
        (4_000..90_000u64).prop_map(Limit::Bytes),
        (4..60u32).prop_map(Limit::Packets),
        Just(Limit::Unlimited)
    ];
    let shared = (90_000..300_000u64, 0.2..4.0)
        .prop_map(|(pool, alpha)| SharedBuffer { pool: Bytes(pool), alpha });
    let pfc = of((4_000..20_000u64).prop_map(Bytes)).prop_map(|xoff| Pfc {
        classes: (0..8).collect(),
        xoff: Auto(xoff),
        xoff_by_rate: std::collections::BTreeMap::new(),
        release: auto(),
        headroom: auto(),
        alpha: auto(),
        alpha_by_rate: std::collections::BTreeMap::new(),
        reserve: Bytes(1_000),
        reserve_by_rate: std::collections::BTreeMap::new(),
        headroom_in_pool: false,
        allow_cycles: true,
        watchdog: None,
    });
    let memory = (buffer, weighted(0.2, shared), weighted(0.3, pfc));
    let sizes = select(vec![
        (1_500, 40, 40, 38, false),
        (1_500, 40, 40, 0, false),
        (9_000, 64, 64, 38, true),
        (1_000, 0, 64, 0, false),
        (4_096, 48, 60, 24, false),
    ]);
    let forwarding = prop_oneof![
        3 => Just(ForwardingName::StoreAndForward),
        1 => Just(ForwardingName::CutThrough),
    ];
    let delay = || prop_oneof![3 => Just(Span::ZERO), 1 => span(2)];
    let switching = (forwarding, select(vec![64, 100, 1_000]), delay(), delay());
    let base_rtt = weighted(0.3, span(30).prop_map(|rtt| rtt + Span::from_us(3)));
    let other = weighted(0.3, rate());
    let failure = weighted(0.3, (span(60), weighted(0.5, (span(30), 1..4u32))));
    (shape, links, memory, sizes, switching, base_rtt, other, failure).prop_map(
        |(shape, links, memory, sizes, switching, base_rtt, other, failure)| {
            let (rate, propagation, uplink_rate, oversubscription, loss) = links;
            let (buffer, shared_buffer, pfc) = memory;
            let (forwarding, cut_through_bytes, switch_delay, host_delay) = switching;
            let (mtu, data_header, control_packet, overhead, pad_last) = sizes;
            let uplinks = shape.is_some_and(|shape| shape != "star:4");
            let redundant = shape.is_some_and(|shape| shape.starts_with("leaf-spine"));
            let other = other.map(|rate| Link {
                a: "host1".into(),
                b: if shape == Some("parking-lot:2") { "leaf1" } else { "leaf0" }.into(),
                rate: Some(rate),
                propagation: None,
                loss: Some(0.001),
                burst_every: Some(Span::from_us(300)),
                burst_lasts: Some(Span::from_us(5)),
                burst_loss: None,
            });
            let failure = failure.filter(|_| redundant).map(|(at, repaired)| LinkFailure {
                at,
                a: "leaf0".into(),
                b: "spine1".into(),
                repair_after: repaired.map(|(down, _)| down + Span::from_us(1)),
                up_for: repaired.filter(|(_, times)| *times > 1).map(|_| Span::from_us(9)),
                random: repaired.is_some(),
                times: repaired.map_or(1, |(_, times)| times),
            });
            Fabric {
                nic: None,
                hosts_forward: false,
                core_rate: None,
                topology: shape.map(String::from),
                file: shape.is_none().then(|| input("net")),
                rate: Auto(rate.filter(|_| shape.is_some())),
                propagation: Auto(propagation.filter(|_| shape.is_some())),
                uplink_rate: Auto(uplink_rate.filter(|_| uplinks && oversubscription.is_none())),
                uplink_propagation: auto(),
                oversubscription: oversubscription.filter(|_| uplinks),
                loss: loss.filter(|_| shape.is_some()).unwrap_or(0.0),
                buffer: Buffer(buffer),
                queues: vec![],
                shared_buffer,
                pfc,
                mtu,
                data_header,
                control_packet,
                l2_overhead: Overhead(overhead),
                min_frame: auto(),
                pad_last,
                forwarding,
                cut_through_bytes,
                switch_delay,
                host_delay,
                base_rtt: Auto(base_rtt),
                links: other.into_iter().filter(|_| redundant).collect(),
                failures: failure.into_iter().collect(),
                storms: vec![],
            }
        },
    )
}

/// One or two transports, alone or with a third beside them, some with a parameter of their own.
fn transport() -> impl Strategy<Value = Transport> {
    let names = || CATALOGUE.iter().map(|entry| entry.info().name.to_string());
    let compared = prop_oneof![
        3 => select(names().collect::<Vec<_>>()).prop_map(|name| vec![name]),
        1 => Just(vec!["ren".to_string(), "dctcp".to_string()]),
    ];
    let class = weighted(0.5, select(FlowClass::ALL.to_vec()));
    let beside = select(vec!["cubic", "dctcp", "dcqcn"]);
    let assign = weighted(0.3, (beside, class)).prop_map(|assigned| {
        assigned.map(|(name, class)| Assign {
            name: name.into(),
            hosts: Some(Hosts(vec![(1, 2)])),
            class,
        })
    });
    let routings = vec![Routing::Ecmp, Routing::Spray, Routing::SourceRoundRobin];
    let routing = weighted(0.2, select(routings));
    let acks = weighted(0.2, select(Acks::NAMES.map(|(_, acks)| acks).to_vec()));
    let join = select(vec![Join::Shared, Join::Separate]);
    let setting = select(vec![
        ("ren", "rule", "gap"),
        ("dctcp", "initial_window", "4"),
        ("amrt", "recovery", "paper"),
    ]);
    let timers = (weighted(0.2, 0.0..0.5), weighted(0.2, span(9)));
    (compared, (routing, acks), timers, join, assign, vec(setting, 0..2)).prop_map(
        |(names, (routing, acks), (late, tick), join, assign, settings)| {
            let mut parameters = incast_experiment::scenario::Parameters::new();
            for (name, key, value) in settings {
                let own = parameters.entry(name.into()).or_default();
                own.insert(key.into(), Setting::Text(value.into()));
            }
            Transport {
                names,
                routing: Auto(routing),
                routings: Default::default(),
                balance: None,
                paths: None,
                acks: Auto(acks),
                rto_jitter: late.unwrap_or(0.0),
                timer_granularity: tick.unwrap_or(Span::ZERO),
                join,
                marking: None,
                assign: assign.into_iter().collect(),
                parameters,
            }
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let interval = weighted(0.3, span(20)).prop_map(|own| own.filter(|own| *own > Span::ZERO));
    let world = select(vec![(World::Sim, 1), (World::Sim, 2), (World::DataPlane, 1)]);
    let run = (any::<u64>(), world, 20..4_000u64, interval, of(0.0..0.9), of(0..9u32)).prop_map(
        |(seed, (world, threads), until, interval, warmup, watch)| Run {
            seed,
            world,
            against_packets: None,
            threads: Auto(Some(threads)),
            until: Some(Span::from_us(until)),
            interval: Auto(interval),
            warmup: Auto(warmup),
            watch: Auto(watch),
        },
    );
    (fabric(), transport(), vec(traffic(), 1..4), run).prop_map(
        |(fabric, transport, traffic, run)| Scenario {
            title: "drawn".into(),
            fabric,
            transport,
            traffic,
            job: vec![],
            host: None,
            run,
            dataplane: None,
            output: Output {
                csv: false,
                pcap: vec![],
                pcap_flows: vec![],
                pcap_snap: 0,
                pcap_limit: 1_000_000,
                paths: false,
                trace: None,
            },
        },
    )
}

/// Runs a case into a folder of its own.
fn run_into(folder: &Path, plan: &Plan, case: &Case) -> PathBuf {
    let threads = plan.scenario.run.threads.0.unwrap_or(1);
    let (run, _) = execute(plan, case, vec![], threads, &Monitor::default()).expect("runs");
    let place = folder.join(&case.label);
    std::fs::create_dir_all(&place).expect("a folder");
    output::write_run(&place, &run, false).expect("writable");
    place
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_manifest_repeats_its_run_to_the_byte(scenario in scenario()) {
        let plan = Plan::new(scenario);
        // Some transports and networks do not go together.
        prop_assume!(plan.is_ok(), "{}", plan.err().expect("refused"));
        let plan = plan.expect("planned");
        let folder = tempfile::tempdir().expect("a folder");
        for case in &plan.cases {
            let first = run_into(&folder.path().join("first"), &plan, case);
            let manifest = Recorded::load(&first).expect("readable").expect("a manifest");
            prop_assert_eq!(manifest.warning(), None);
            prop_assert!(manifest.changed_files().is_empty());
            let again = manifest.draft.scenario().expect("a scenario");
            let again = Plan::new(again).expect("planned as before");
            prop_assert_eq!(again.cases.len(), 1);
            let second = run_into(&folder.path().join("second"), &again, &again.cases[0]);
            for file in ["flows.parquet", "ports.parquet"] {
                let read = |place: &Path| std::fs::read(place.join(file)).expect("there");
                prop_assert!(read(&first) == read(&second), "{} differs", file);
            }
            // What is written out once is complete.
            prop_assert_eq!(&again.scenario, &again.resolved(&again.cases));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn both_worlds_leave_the_same_tables(scenario in scenario()) {
        let different = differences(&scenario);
        prop_assume!(different.is_some(), "refused");
        prop_assert_eq!(different.expect("planned"), Vec::<String>::new());
    }
}

/// The files in which the runs of a scenario differ between the two worlds; `None` if it is refused.
fn differences(scenario: &Scenario) -> Option<Vec<String>> {
    let of = |world: World| {
        let run = Run { world, threads: auto(), ..scenario.run.clone() };
        Plan::new(Scenario { run, ..scenario.clone() })
    };
    // They run in the simulator alone.
    if scenario.traffic.iter().any(|entry| matches!(entry, Traffic::Program(_))) {
        return None;
    }
    let sim = of(World::Sim).ok()?;
    let data_plane = of(World::DataPlane).expect("planned as well");
    let folder = tempfile::tempdir().expect("a folder");
    let mut different = vec![];
    for (case, other) in sim.cases.iter().zip(&data_plane.cases) {
        let one = run_into(&folder.path().join("sim"), &sim, case);
        let other = run_into(&folder.path().join("dataplane"), &data_plane, other);
        for file in ["flows.parquet", "ports.parquet", "summary.json"] {
            let read = |place: &Path| std::fs::read(place.join(file)).expect("there");
            if read(&one) != read(&other) {
                different.push(format!("{}: {file}", case.label));
            }
        }
    }
    Some(different)
}

/// A port becomes idle at the instant at which another one of its switch gives back what lets it send
/// a pause frame: which of the two is first decides what leaves.
#[test]
fn ports_that_share_a_buffer_transmit_in_one_order_in_both_worlds() {
    let text = "[fabric]\ntopology = \"fat-tree:4\"\nbuffer = \"4000B\"\n\
                [fabric.pfc]\nclasses = [0, 1, 2, 3, 4, 5, 6, 7]\nreserve = \"1KB\"\nallow_cycles = true\n\
                [transport]\nnames = [\"cubic\"]\n\
                [[traffic]]\nkind = \"all_to_all\"\nsize = \"8058B\"\n\
                [run]\nseed = 11798438806301608474\nuntil = \"20us\"\n";
    let scenario = Scenario::parse(text, "a test", &[]).expect("a scenario");
    assert_eq!(differences(&scenario), Some(vec![]));
}

/// A link loses packets at random as they leave in one world and as they arrive in the other: those
/// on their way when a run ends are not lost in either.
#[test]
fn losses_on_their_way_at_the_end_are_counted_in_no_world() {
    let text = "[fabric]\ntopology = \"parking-lot:2\"\nloss = 0.05\n[transport]\nnames = [\"phost\"]\n\
                [[traffic]]\nkind = \"permutation\"\nsize = \"10MB\"\n";
    let losses = |world: &str, until: u64| {
        let set = [format!("run.world={world}"), format!("run.until={until}us")];
        let plan = Scenario::parse(text, "a test", &set).and_then(Plan::new).expect("planned");
        let (run, _) =
            execute(&plan, &plan.cases[0], vec![], 1, &Monitor::default()).expect("runs");
        run.record.link_losses
    };
    let of = |world: &str| -> Vec<u64> { (100..140).map(|at| losses(world, at)).collect() };
    let sim = of("sim");
    assert_eq!(sim, of("dataplane"));
    assert!(sim[39] > sim[0] && sim[0] > 0, "{sim:?}");
}

/// The property above is about many runs of every kind.
#[test]
fn most_drawn_scenarios_can_be_run() {
    let mut runner = TestRunner::deterministic();
    let (mut planned, mut kinds, mut fabrics) = (0, BTreeSet::new(), BTreeSet::new());
    let drawn = 100;
    for _ in 0..drawn {
        let scenario = scenario().new_tree(&mut runner).expect("drawn").current();
        if Plan::new(scenario.clone()).is_ok() {
            planned += 1;
            kinds.extend(scenario.traffic.iter().map(Traffic::kind));
            fabrics.insert(scenario.fabric.topology);
        }
    }
    assert!(2 * planned > drawn, "{planned} of {drawn}");
    assert_eq!(kinds.len(), Traffic::KINDS.len(), "{kinds:?}");
    assert_eq!(fabrics.len(), 6, "{fabrics:?}");
}

/// Defaults and values of sets that are written out are those that hold when they are not.
#[test]
fn parameters_written_out_are_those_in_force() {
    let sets = |entry: &dyn incast_transport::Transport| -> Vec<&str> {
        [""].into_iter().chain(entry.sets().iter().map(|set| set.name)).collect()
    };
    for (entry, set) in
        CATALOGUE.iter().flat_map(|own| sets(*own).into_iter().map(move |set| (own, set)))
    {
        let name = entry.info().name;
        let chosen = match set {
            "" => String::new(),
            _ => format!("[transport.parameters.{name}]\nset = \"{set}\"\n"),
        };
        let text = format!(
            "[fabric]\ntopology = \"leaf-spine:2x2x2\"\n[transport]\nnames = [\"{name}\"]\n\
             {chosen}[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n"
        );
        let plan = Scenario::parse(&text, name, &[]).and_then(Plan::new).expect(name);
        let written = plan.resolved(&plan.cases);
        let count = written.transport.parameters[name].len();
        assert_eq!(count, entry.parameters().len(), "{name}");
        let again = Plan::new(written).expect(name);
        let in_force = |plan: &Plan| plan.cases[0].transports[0].configured.resolved();
        assert_eq!(in_force(&again), in_force(&plan), "{name}");
    }
}

#[test]
fn hashes_are_those_of_sha256() {
    let file = incast_experiment::InputFile::of("x", "flows", b"abc");
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(file.sha256, known, "FIPS 180-2, appendix B.1");
}
