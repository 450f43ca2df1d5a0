//! Programs on networks without other traffic: the times of collectives and of formulas, whatever threads run them, and
//! programs that cannot go on.

use incast_experiment::{Content, Contents, Monitor, Plan, Scenario, execute};
use incast_measure::{Run, summarise};
use incast_transport::{RunRecord, Span, Time};
use std::fmt::Write;
use std::sync::Arc;

/// A plan of a scenario in which files are these texts.
pub fn planned(text: &str, files: &[(&str, &str)]) -> Result<Plan, incast_experiment::Fault> {
    let files = files.iter().map(|(name, text)| (name.to_string(), Content::of(text.to_string())));
    let contents: Contents = files.collect();
    Plan::with_contents(Scenario::parse(text, "test", &[])?, Arc::new(contents))
}

pub fn run_with(plan: &Plan, threads: usize) -> Run {
    execute(plan, &plan.cases[0], vec![], threads, &Monitor::default()).unwrap().0
}

pub fn scenario(topology: &str, transport: &str, own: &str) -> String {
    format!(
        "[fabric]\ntopology = \"{topology}\"\nrate = \"100Gbps\"\n[transport]\nnames = [\"{transport}\"]\n\
         [[traffic]]\nkind = \"program\"\nfile = \"x.goal\"\n{own}\n"
    )
}

fn run(topology: &str, transport: &str, own: &str, program: &str) -> Run {
    let plan = planned(&scenario(topology, transport, own), &[("x.goal", program)]);
    run_with(&plan.unwrap_or_else(|fault| panic!("{fault}")), 1)
}

pub fn end(run: &Run) -> Time {
    assert!(run.record.complete, "{:?}", run.stuck());
    run.record.executions.iter().filter_map(|rank| rank.ended).max().expect("ranks")
}

/// An all-reduce in a ring: rank 3 computes for `late` nanoseconds before it sends anything.
fn ring(ranks: u32, size: u64, late: u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let late = if rank == 3 { late } else { 0 };
        writeln!(text, "rank {rank} {{\nc: calc {late}").unwrap();
        for step in 0..2 * (ranks - 1) {
            let bytes = size / u64::from(ranks);
            writeln!(text, "s{step}: send {bytes}b to {to} tag {step}").unwrap();
            writeln!(text, "r{step}: recv {bytes}b from {from} tag {step}").unwrap();
            writeln!(text, "s{step} requires c").unwrap();
            if step > 0 {
                writeln!(text, "s{step} requires r{}", step - 1).unwrap();
            }
        }
        text += "}\n";
    }
    text
}

/// Source, start, destination, size and end.
pub type Message = (u32, Option<Time>, u32, u64, Option<Time>);

/// When each message started and had arrived, in order.
pub fn times(run: &Run) -> Vec<Message> {
    let all = run.record.flows.iter().zip(&run.flows);
    let mut all: Vec<_> =
        all.map(|(own, of)| (of.src, own.started, of.dst, of.size_bytes, own.completed)).collect();
    all.sort();
    all
}

/// The same ring as traffic of kind `collective`.
pub fn collective(transport: &str, more: &str) -> Run {
    let own =
        "kind = \"collective\"\ncollective = \"all_reduce\"\nissue = \"free\"\nsize = \"800KB\"\n";
    let text = scenario("star:8", transport, more);
    let text = text.replace("kind = \"program\"\nfile = \"x.goal\"\n", own);
    run_with(&planned(&text, &[]).unwrap(), 1)
}

/// The ring of a program and that of traffic of kind `collective` are the same, message by message.
#[test]
fn a_ring_is_that_of_a_collective() {
    for transport in ["ndp", "dctcp", "trd", "uec", "homa", "dcqcn"] {
        let program = run("star:8", transport, "", &ring(8, 800_000, 0));
        let collective = collective(transport, "");
        assert_eq!(program.record.flows.len(), 8 * 14);
        assert_eq!(times(&program), times(&collective), "{transport}");
        let last = collective.collectives[0].end.unwrap();
        // A rank is done when it also knows that its last message has arrived.
        assert!(end(&program) > last && end(&program) < last + Span::from_us(20), "{transport}");
    }
}

/// Also with a rank that is late: what has gathered there shares its link.
#[test]
fn a_straggler_costs_what_it_costs_a_collective() {
    for transport in ["ndp", "dctcp"] {
        let program = run("star:8", transport, "", &ring(8, 800_000, 70_000));
        let late = collective(transport, "straggler = 3\nextra = \"70us\"");
        assert_eq!(times(&program), times(&late), "{transport}");
        assert!(end(&program) > Time(70_000_000), "{transport}");
    }
}

/// One forward and one backward in turn (see the tests of crate `program`): stages of 1 and 2 ms.
fn pipeline(stages: u32, batches: u32, bytes: u64) -> String {
    let mut text = format!("num_ranks {stages}\n");
    for stage in 0..stages {
        writeln!(text, "rank {stage} {{").unwrap();
        let ahead = (stages - stage).min(batches);
        let mut order: Vec<(bool, u32)> = (0..ahead).map(|batch| (true, batch)).collect();
        for batch in 0..batches {
            order.push((false, batch));
            order.extend((batch + ahead < batches).then_some((true, batch + ahead)));
        }
        let mut before = None;
        for (forward, batch) in order {
            let next = (stage + 1 < stages).then_some(stage + 1);
            let (from, to) = match forward {
                true => (stage.checked_sub(1), next),
                false => (next, stage.checked_sub(1)),
            };
            let (name, ms) = if forward { ("f", 1) } else { ("b", 2) };
            let tag = 2 * batch + u32::from(forward);
            writeln!(text, "{name}{batch}: calc {ms}000000").unwrap();
            if let Some(from) = from {
                writeln!(text, "r{name}{batch}: recv {bytes}b from {from} tag {tag}").unwrap();
                writeln!(text, "{name}{batch} requires r{name}{batch}").unwrap();
            }
            if let Some(to) = to {
                writeln!(text, "s{name}{batch}: send {bytes}b to {to} tag {tag}").unwrap();
                writeln!(text, "s{name}{batch} requires {name}{batch}").unwrap();
            }
            if let Some(before) = before.replace(format!("{name}{batch}")) {
                writeln!(text, "{name}{batch} requires {before}").unwrap();
            }
        }
        text += "}\n";
    }
    text
}

/// (u + p - 1)(forward + backward) + 2 c u, with c the time of a message, within a thousandth.
#[test]
fn a_pipeline_takes_its_known_time() {
    let run = run("star:4", "ndp", "", &pipeline(4, 8, 2_000_000));
    let message = run.fct(0).unwrap();
    let (compute, took) = (Span::from_us(33_000), end(&run).since(Time::ZERO));
    let formula = compute.0 + 16 * message.0;
    // Messages of both directions and their control packets share NICs now and then.
    assert!(took.0.abs_diff(formula) < formula / 1_000, "{took}, not {}", Span(formula));
    let summary = &summarise(&run).programs[0];
    assert_eq!((summary.ranks, summary.completed, summary.slowest_rank), (4, 4, Some(0)));
    assert_eq!(summary.compute_mean_ns, Some(24e6));
    assert_eq!(summary.messages, 48);
    let waiting: Vec<f64> = incast_measure::columns::RANKS.numbers(&run, "waiting_ps").unwrap();
    let own = |rank: &incast_transport::ExecutionRecord| {
        (rank.ended.unwrap().since(rank.begun.unwrap()).0 - rank.computing.0) as f64
    };
    assert_eq!(waiting, run.record.executions.iter().map(own).collect::<Vec<_>>());
}

/// A rank that computes after its last message ends then, and the run lasts as long.
#[test]
fn a_computation_at_the_end_counts() {
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\n}\nrank 1 {\na: recv 1000b from 0\nb: calc 50000000\n\
                b requires a\nc: calc 7 cpu 1\n}\n";
    let run = run("star:2", "dctcp", "at = \"3us\"", text);
    let arrived = run.record.flows[0].completed.unwrap();
    assert_eq!(run.record.flows[0].started, Some(Time::ZERO + Span::from_us(3)));
    assert_eq!(end(&run), arrived + Span::from_us(50_000));
    assert!(run.record.ended >= end(&run));
    assert_eq!(run.record.executions[1].computing, Span::from_us(50_000) + Span(7_000));
}

#[test]
fn serial_sends_start_when_the_one_before_is_known_to_have_arrived() {
    let text = "num_ranks 3\nrank 0 {\nsend 9000b to 1\nsend 9000b to 2\n}\nrank 1 {\nrecv 9000b from 0\n}\n\
                rank 2 {\nrecv 9000b from 0\n}\n";
    let starts = |issue: &str| {
        let run = run("star:3", "dctcp", &format!("issue = \"{issue}\""), text);
        let flows = &run.record.flows;
        (flows[0].acknowledged, flows[0].started, flows[1].started)
    };
    let (known, first, second) = starts("serial");
    assert!(second == known && first == Some(Time::ZERO));
    let (_, first, second) = starts("free");
    assert_eq!(first, second);
}

fn same(record: &RunRecord) -> RunRecord {
    RunRecord { events: 0, ..record.clone() }
}

/// Ranks at random over racks with other traffic: the records do not depend on threads, nor does the other traffic
/// keep anything from being done.
#[test]
fn records_do_not_depend_on_threads() {
    for (transport, issue) in [("dctcp", "free"), ("ndp", "serial"), ("homa", "free")] {
        let own = format!(
            "placement = \"random\"\nissue = \"{issue}\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"200KB\""
        );
        let text = scenario("leaf-spine:4x2x4", transport, &own);
        let plan = planned(&text, &[("x.goal", &ring(12, 600_000, 5_000))]).unwrap();
        let one = run_with(&plan, 1);
        assert!(one.record.complete && one.record.executions.len() == 12);
        for threads in [2, 4] {
            let several = run_with(&plan, threads);
            assert!(same(&several.record) == same(&one.record), "{transport}, {threads} threads");
        }
    }
}

/// Two programs, each at hosts of its own, on a switch that they do not crowd.
#[test]
fn two_programs_run_side_by_side() {
    let own = "hosts = \"0-3\"\n[[traffic]]\nkind = \"program\"\nfile = \"y.goal\"\nhosts = \"4-7\"\nat = \"9us\"\n\
               placement = \"strided:2\"";
    let (first, second) = (ring(4, 40_000, 0), ring(4, 80_000, 2_000));
    let plan = planned(&scenario("star:8", "ndp", own), &[("x.goal", &first), ("y.goal", &second)]);
    let run = run_with(&plan.unwrap(), 1);
    let hosts: Vec<(u32, u32)> = run.ranks.iter().map(|rank| (rank.program, rank.host)).collect();
    assert_eq!(hosts, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (1, 6), (1, 5), (1, 7)]);
    let alone = self::run("star:8", "ndp", "", &second);
    let programs = summarise(&run).programs;
    assert_eq!(programs[1].completion_ns, summarise(&alone).programs[0].completion_ns);
    assert_eq!(programs[1].file, "y.goal");
}

/// Both receive before they send: the run ends, and says what each waits for; what was sent before is in the results.
#[test]
fn a_program_that_cannot_go_on_ends_the_run() {
    let text = "num_ranks 3\nrank 0 {\na: recv 8b from 1 tag 5\nb: send 8b to 1\nb requires a\nsend 5000b to 2\n}\n\
                rank 1 {\na: recv 8b from 0\nb: send 8b to 0 tag 5\nb requires a\n}\nrank 2 {\nrecv 5000b from 0\n}\n";
    for transport in ["dctcp", "ndp", "trd", "hpcc", "expresspass", "homa"] {
        let run = run("star:3", transport, "", text);
        let stuck = run.stuck().unwrap_or_else(|| panic!("{transport}"));
        assert_eq!((stuck.ranks, stuck.file.as_str()), (2, "x.goal"));
        assert_eq!(
            stuck.waits,
            [
                "rank 0, node 0 (line 3) waits for a message from rank 1 with tag 5",
                "rank 1, node 0 (line 9) waits for a message from rank 0 with tag 0",
            ]
        );
        assert!(
            !run.record.complete
                && run.record.flows.iter().filter(|f| f.completed.is_some()).count() == 1
        );
        assert!(run.record.executions[2].ended.is_some());
        assert!(
            run.record.ended < Time::ZERO + Span::from_secs(1),
            "{transport}: {}",
            run.record.ended
        );
        let said: Vec<&str> = run.manifest.warnings.iter().map(|stated| stated.name()).collect();
        assert!(said.contains(&"program_stuck"), "{said:?}");
        assert_eq!(summarise(&run).programs[0].completion_ns, None);
    }
}

/// A run that ends while messages are on their way, or a rank computes, is not one that cannot go on.
#[test]
fn a_run_that_is_cut_off_is_not_stuck() {
    for until in ["5us", "40us"] {
        let text = format!("[run]\nuntil = \"{until}\"");
        let run = run("star:8", "ndp", &text, &ring(8, 800_000, 20_000));
        assert!(run.stuck().is_none() && !run.record.complete);
        assert!(
            run.record.executions.iter().all(|rank| rank.begun.is_some() && rank.ended.is_none())
        );
    }
}

#[test]
fn what_is_wrong_is_refused_with_its_key_or_line() {
    let good = ring(4, 4_000, 0);
    let says = |own: &str, program: &str, words: &str| {
        let files = [
            ("x.goal", program),
            ("twice", "0 1 2\n1"),
            ("few", "3, 2 # and more\n"),
            ("far", "0 9 1 2"),
        ];
        let said = planned(&scenario("star:5", "ndp", own), &files)
            .map(|_| ())
            .expect_err(words)
            .to_string();
        assert!(said.contains(words), "{said}, not {words}");
    };
    says(
        "",
        "num_ranks 1\nrank 0 {\nsend 1b to 1\n}\n",
        "traffic.0.file = `x.goal`: x.goal:3: rank `1`",
    );
    says(
        "",
        "num_ranks 1\nrank 0 {\ncalc 1\n}\n",
        "has 0 messages between ranks: expected 1 to 4194304",
    );
    says("hosts = \"0-2\"", &good, "traffic.0.hosts: there are 4 ranks and 3 hosts");
    says("", &ring(6, 600, 0), "there are 6 ranks and 5 hosts");
    says(
        "placement = \"strided:0\"",
        &good,
        "traffic.0.placement = `strided:0`: expected packed, random, strided:K",
    );
    says(
        "placement = \"random\"\nplacement_file = \"few\"",
        &good,
        "traffic.0.placement = `random`: expected either",
    );
    says("placement_file = \"twice\"", &good, "line 2: host 1 for rank 3, which rank 1 has");
    says("placement_file = \"few\"", &good, "lists 2 hosts: expected 4");
    says("placement_file = \"far\"", &good, "line 1: `9`: expected a host from 0 to 4");
    says("issue = \"slow\"", &good, "expected one of serial, free");
    says("[run]\nworld = \"flow\"", &good, "run.world = `flow`: programs");
    says("[run]\nworld = \"dataplane\"", &good, "run.world = `dataplane`: programs");
    let two = "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n";
    let other = "[[traffic]]\nkind = \"program\"\nfile = \"x.goal\"\nhosts = \"1-2\"";
    says(other, two, "traffic.1.hosts: rank 0 is at host 1, where a rank of traffic.0 is");
    let huge = two.replace("1b", "1000000000000b");
    says("", &huge, "x.goal:3: sends 1000000000000 bytes: expected less than 1 TB");
}

/// A step of SimAI with one all-reduce after the computation of a layer.
fn simai(ranks: u32, size: u64, ns: u64) -> String {
    format!(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {ranks} ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: {ranks} \
         checkpoints: 0 checkpoint_initiates: 0\n1\nembedding_layer -1 {ns} ALLREDUCE {size} 0 NONE 0 0 NONE 0 0\n"
    )
}

/// The all-reduce of a workload of SimAI is that of traffic of kind `collective`, message by message.
#[test]
fn a_workload_of_simai_is_that_of_a_collective() {
    for transport in ["ndp", "dctcp"] {
        let workload = run("star:8", transport, "", &simai(8, 800_000, 0));
        assert_eq!(times(&workload), times(&collective(transport, "")), "{transport}");
        assert!(workload.record.executions.iter().all(|rank| rank.computing == Span::ZERO));
        let late = run("star:8", transport, "", &simai(8, 800_000, 5_000));
        assert_eq!(end(&late).since(end(&workload)), Span::from_us(5));
    }
}

/// Within a server a tensor-parallel group takes `local_rate`, and only data-parallel messages take the network.
#[test]
fn tensor_parallel_groups_stay_in_their_servers() {
    let workload = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8\n\
                    1\nlayer -1 1000 ALLGATHER 400000 1000 NONE 0 1000 ALLREDUCE 100000 0\n";
    let text = "[fabric]\ntopology = \"star:8\"\nrate = \"100Gbps\"\n[transport]\nnames = [\"ndp\"]\n[[job]]\n\
                program = \"x.txt\"\nserver = 4\nlocal_rate = \"800Gbps\"\n";
    let plan = planned(text, &[("x.txt", workload)]).unwrap_or_else(|fault| panic!("{fault}"));
    // Each of 8 ranks sends 2 messages to the one of its place in the other server.
    assert_eq!(plan.traffic.flows.len(), 16);
    assert!(plan.traffic.flows.iter().all(|flow| flow.src.abs_diff(flow.dst) == 4));
    let run = run_with(&plan, 1);
    // Three times 1 us, three messages of 1 us at 800 Gb/s, and what the all-reduce takes, for which all is the same.
    let all = end(&run).since(Time::ZERO);
    assert!(all > Span::from_us(6 + 8));
    let summary = &incast_measure::programs(&run)[0];
    let waits = &summary.waiting_by_group_ns;
    assert_eq!(waits.keys().collect::<Vec<_>>(), ["DP", "TP"]);
    assert_eq!(waits["TP"], 3_000.0);
    let time =
        run.record.executions.iter().map(|rank| rank.ended.unwrap().since(Time::ZERO).as_ns_f64());
    assert!((waits["DP"] - (time.sum::<f64>() / 8.0 - 6_000.0)).abs() < 1e-6, "{waits:?}");
    assert!(
        summary.to_string().contains("; of that for DP ")
            && summary.to_string().ends_with(", TP 0.003 ms"),
        "{summary}"
    );
}

/// A file that does not say all tells what was taken, and faults have its line.
#[test]
fn a_workload_of_simai_tells_what_it_takes() {
    let text = scenario("star:8", "ndp", "");
    let workload = simai(8, 800_000, 0).replace("ga: 1 ", "");
    let plan = planned(&text, &[("x.goal", &workload)]).unwrap();
    let told: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|one| one.contains("x.goal: read as `ga:` 1")), "{told:?}");
    let workload = simai(8, 800_000, 0).replace("ALLREDUCE", "ALLREDUSE");
    let fault = planned(&text, &[("x.goal", &workload)]).err().expect("refused").to_string();
    assert!(
        fault.contains("x.goal") && fault.contains("3") && fault.contains("ALLREDUCE"),
        "{fault}"
    );
}
