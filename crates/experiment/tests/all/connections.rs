//! Collectives, programs and jobs whose messages follow each other on connections.

use crate::collectives::{plan, refused, run, run_with};
use crate::programs::{end, planned, scenario as with_traffic};
use incast_endpoint::sender::views::Data;
use incast_experiment::{Plan, Scenario, World};
use incast_measure::{Collective, Run};
use incast_transport::{FlowId, Header, HostId, Packet, RunRecord, Span, TransportId};
use incast_world::path_of;
use std::collections::{BTreeMap, BTreeSet};

const RATE: f64 = 100.0;

fn star(transport: &str, ranks: u32, own: &str) -> String {
    format!(
        "[fabric]\ntopology = \"star:{ranks}\"\nrate = \"{RATE}Gbps\"\npropagation = \"1us\"\nmtu = 1500\n\
         buffer = \"unlimited\"\n[transport]\nnames = [\"{transport}\"]\n[[traffic]]\nkind = \"collective\"\n{own}\n"
    )
}

/// The last of the iterations.
fn last(run: &Run) -> &Collective {
    run.collectives.last().unwrap()
}

/// Bytes of a full packet on a link.
const CHARGED: f64 = 1_538.0;

/// Microseconds in a formula: so many one-way times of a message without its bytes, and so much payload on a link with
/// headers and the control packets of the other direction.
fn formula_us(run: &Run, latencies: f64, payload: f64) -> f64 {
    let sum = |value: fn(&incast_transport::FlowRecord) -> u64| -> f64 {
        run.record.flows.iter().map(value).sum::<u64>() as f64
    };
    let control = sum(|flow| flow.control_bytes) / (sum(|flow| flow.packets.into()) * CHARGED);
    let latency = 2.0 + CHARGED * 8.0 / RATE / 1e3;
    let charged = payload * CHARGED / 1_460.0;
    latencies * latency + charged * 8.0 / RATE / 1e3 * (1.0 + control)
}

/// An all-reduce on connections whose windows have grown takes the time of its formula within 1 %; each message as a flow
/// of its own starts up in each step.
#[test]
fn a_ring_on_connections_takes_its_formula() {
    const S: f64 = 16e6;
    let own = |connection: &str| {
        format!(
            "collective = \"all_reduce\"\nsize = \"16MB\"\niterations = 2\nconnection = \"{connection}\"\n"
        )
    };
    let mut wrong = vec![];
    for transport in ["dctcp", "cubic"] {
        let time = |run: &Run| last(run).time().unwrap().as_ns_f64() / 1e3;
        let [pair, message] =
            ["pair", "message"].map(|connection| run(&star(transport, 8, &own(connection))));
        let expected = formula_us(&pair, 14.0, S * 2.0 * 7.0 / 8.0);
        let first = |run: &Run| run.collectives[0].time().unwrap();
        if (time(&pair) / expected - 1.0).abs() > 0.01
            || time(&message) < time(&pair) * 1.02
            || first(&pair) >= first(&message)
        {
            wrong.push(format!(
                "{transport}: {expected} us expected, {} on connections, {} without; {} and {} at first",
                time(&pair),
                time(&message),
                first(&pair),
                first(&message)
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn leaves(transport: &str, connection: &str, more: &str) -> String {
    format!(
        "[fabric]\ntopology = \"leaf-spine:4x2x4\"\nrate = \"{RATE}Gbps\"\n[transport]\nnames = [\"{transport}\"]\n\
         [[traffic]]\nkind = \"collective\"\ncollective = \"all_reduce\"\nsize = \"4MB\"\niterations = 2\n\
         channels = 2\nchunks = 2\nissue = \"free\"\nconnection = \"{connection}\"\n{more}"
    )
}

/// The record without what depends on how it was made.
fn same(record: &RunRecord) -> RunRecord {
    RunRecord { events: 0, ..record.clone() }
}

/// Both worlds and any number of threads give the same times of the same messages, also where some are lost.
#[test]
fn runs_are_the_same_everywhere() {
    for transport in ["dctcp", "hpcc", "swift"] {
        for more in ["", "[[traffic]]\nkind = \"permutation\"\nsize = \"300KB\"\n"] {
            let text = leaves(transport, "pair", more);
            let plan = plan(&text);
            let one = run_with(&plan, 1);
            assert!(one.record.complete, "{transport}");
            for threads in [2, 3] {
                let other = run_with(&plan, threads);
                assert!(same(&other.record) == same(&one.record), "{transport}, {threads} threads");
            }
            let mut scenario = Scenario::parse(&text, "test", &[]).unwrap();
            scenario.run.world = World::DataPlane;
            let wire = run_with(&Plan::new(scenario).unwrap(), 1);
            assert!(same(&wire.record) == same(&one.record), "{transport}: the data plane");
        }
    }
}

/// The messages of a connection take one path; each message as a flow of its own takes one of its own.
#[test]
fn a_connection_takes_one_path() {
    let paths = |connection: &str| {
        let plan = plan(&leaves("dctcp", connection, "[output]\npaths = true\n"));
        let run = run_with(&plan, 1);
        let (routes, routing) = (plan.fabric.routes(), plan.cases[0].transports[0].routing);
        let mut all = BTreeMap::<_, BTreeSet<_>>::new();
        for (at, (flow, record)) in plan.traffic.flows.iter().zip(&run.record.flows).enumerate() {
            let taken = record.paths.expect("paths are recorded");
            assert_eq!((taken.used, taken.changes), (1, 0));
            let (src, dst) = (HostId(flow.src), HostId(flow.dst));
            let header = Header::from(Data { sequence: 0, window: 0, nibble: 0, last: false });
            let packet =
                Packet::header_only(TransportId(1), FlowId(at as u32), src, dst, 1, header);
            let path =
                path_of(&plan.fabric, &routes, routing, None, plan.scenario.run.seed, &packet);
            let channel = flow.connection.map_or(0, |lane| lane.channel);
            all.entry((flow.src, flow.dst, channel)).or_default().insert(path.unwrap());
        }
        all.values().map(|of_pair| of_pair.len()).max().unwrap()
    };
    assert_eq!((paths("pair"), paths("pair_channel")), (1, 1));
    assert!(paths("message") > 1);
}

/// A program and a job have connections as a collective has.
#[test]
fn programs_and_jobs_have_connections() {
    let goal = "num_ranks 2\nrank 0 {\na: send 200000b to 1 tag 1\nb: send 200000b to 1 tag 2\nb requires a\n}\n\
                rank 1 {\na: recv 200000b from 0 tag 1\nb: recv 200000b from 0 tag 2\n}\n";
    let time = |connection: &str| {
        let own = format!("connection = \"{connection}\"");
        let plan = planned(&with_traffic("star:2", "dctcp", &own), &[("x.goal", goal)]).unwrap();
        let run = run_with(&plan, 1);
        end(&run)
    };
    assert!(time("pair") < time("message"), "{} and {}", time("pair"), time("message"));
    let job = |connection: &str, more: &str| {
        let text = format!(
            "[fabric]\ntopology = \"star:8\"\n[transport]\nnames = [\"dctcp\"]\n[[job]]\ncollective = \"all_reduce\"\n\
             size = \"8MB\"\niterations = 2\nconnection = \"{connection}\"\n{more}"
        );
        last(&run(&text)).time().unwrap()
    };
    for more in ["", "server = 2\nlocal_rate = \"900Gbps\"\n"] {
        assert!(job("pair", more) < job("message", more), "{more}");
    }
}

/// The second iteration begins with the windows of the first one and takes the same time as the third.
#[test]
fn later_iterations_are_faster_than_the_first() {
    let own =
        "collective = \"all_gather\"\nsize = \"8MB\"\niterations = 3\nconnection = \"pair\"\n";
    let run = run(&star("cubic", 4, own));
    let times: Vec<Span> = run.collectives.iter().map(|one| one.time().unwrap()).collect();
    assert!(times[1] < times[0] && times[2] <= times[1], "{times:?}");
}

#[test]
fn what_is_wrong_is_refused_with_its_key() {
    let own = "collective = \"all_reduce\"\nsize = \"1MB\"\nconnection = \"pair\"\n";
    let text = refused(&star("ndp", 4, own));
    assert!(text.contains("traffic.0.connection = `pair`"), "{text}");
    assert!(text.contains("ndp cannot append a message") && text.contains("dctcp"), "{text}");
    let text = refused(
        &leaves("dctcp", "pair", "").replace("[[traffic]]", "routing = \"flowlet\"\n[[traffic]]"),
    );
    assert!(text.contains("traffic.0.connection") && text.contains("symmetric-ecmp"), "{text}");
    let text = refused(&format!("{}[run]\nworld = \"flow\"\n", star("dctcp", 4, own)));
    assert!(text.contains("traffic.0.connection"), "{text}");
    let text = refused(&star("dctcp", 4, &own.replace("pair", "pairs")));
    assert!(text.contains("pair_channel"), "{text}");
    let job = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"homa\"]\n[[job]]\ncollective = \"all_reduce\"\n\
               size = \"1MB\"\nconnection = \"pair_channel\"\n";
    let text = refused(job);
    assert!(text.contains("job.0.connection = `pair_channel`"), "{text}");
    let servers = job.replace("homa", "dctcp") + "server = 2\nlocal_rate = \"900Gbps\"\n";
    let text = refused(&servers);
    assert!(text.contains("job.0.connection") && text.contains("`pair`"), "{text}");
}
