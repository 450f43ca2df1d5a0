//! Jobs: collectives and programs at hosts of their own, again and again, and messages within servers.

use crate::programs::{planned, run_with, times};
use incast_measure::{Run, summarise};
use incast_transport::{RunRecord, Span};

fn scenario(topology: &str, transport: &str, own: &str) -> String {
    format!(
        "[fabric]\ntopology = \"{topology}\"\nrate = \"100Gbps\"\n[transport]\nnames = [\"{transport}\"]\n{own}\n"
    )
}

fn run(topology: &str, transport: &str, own: &str, files: &[(&str, &str)]) -> Run {
    let plan = planned(&scenario(topology, transport, own), files);
    run_with(&plan.unwrap_or_else(|fault| panic!("{fault}")), 1)
}

fn same(record: &RunRecord) -> RunRecord {
    RunRecord { events: 0, ..record.clone() }
}

/// A job of a collective is the same as traffic of kind `collective` between the hosts where it is placed.
#[test]
fn a_job_is_the_collective_at_its_hosts() {
    let rest = "collective = \"all_reduce\"\nsize = \"400KB\"\niterations = 2\ncompute = \"30us\"\nstraggler = 1\n\
                extra = \"9us\"\nat = \"4us\"\n";
    let cases = [
        ("hosts = \"0,4,1,5\"", "0,4,1,5"),
        ("ranks = 4", "0-3"),
        ("ranks = 4\nplacement = \"strided:3\"", "0,3,6,1"),
        ("ranks = 6\nplacement = \"rail_aligned:2\"", "0,4,1,5,2,6"),
        ("placement_file = \"where\"", "7,2,5"),
    ];
    for (place, ranks) in cases {
        let files = [("where", "7 2\n# and\n5\n")];
        let job = run("leaf-spine:2x2x4", "ndp", &format!("[[job]]\n{rest}{place}"), &files);
        let traffic = format!("[[traffic]]\nkind = \"collective\"\n{rest}ranks = \"{ranks}\"");
        let traffic = run("leaf-spine:2x2x4", "ndp", &traffic, &[]);
        assert_eq!(times(&job), times(&traffic), "{place}");
        assert!(job.record.complete && job.collectives.len() == 2);
        let named = |run: &Run| run.collectives.iter().all(|one| one.job == "job0");
        assert!(named(&job) && !named(&traffic));
    }
}

/// Computations are scaled; what a straggler adds is not.
#[test]
fn computations_of_a_job_are_scaled() {
    let own = |more: &str| {
        let rest = "[[job]]\nname = \"a\"\ncollective = \"all_gather\"\nsize = \"80KB\"\ncompute = \"40us\"\n";
        let run = run("star:4", "dctcp", &format!("{rest}{more}"), &[]);
        (run.collectives[0].time().unwrap(), run.collectives[0].compute)
    };
    let (plain, _) = own("");
    let (slow, compute) = own("compute_scale = 2.5");
    assert_eq!((slow, compute), (plain + Span::from_us(60), Span::from_us(100)));
    let (_, late) = own("compute_scale = 0.5\nstraggler = 2\nextra = \"7us\"");
    assert_eq!(late, Span::from_us(27));
}

/// Each of two jobs alone has the uplink that both share: together they take twice as long, and results tell them
/// apart.
#[test]
fn two_jobs_share_an_uplink() {
    let fabric = "[fabric]\ntopology = \"leaf-spine:2x1x4\"\nrate = \"100Gbps\"\nuplink_rate = \"100Gbps\"\nmtu = 4096\n\
                  [transport]\nnames = [\"ndp\"]\n";
    let job = |name: &str, hosts: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\ncollective = \"all_reduce\"\nsize = \"8MB\"\nhosts = \"{hosts}\"\n\
             iterations = 3\n"
        )
    };
    let run = |jobs: &str| run_with(&planned(&format!("{fabric}{jobs}"), &[]).unwrap(), 1);
    let (a, b) = (job("a", "0,4"), job("b", "1,5"));
    let (alone, both) = (run(&a), run(&format!("{a}{b}")));
    let names: Vec<(u32, &str)> =
        both.collectives.iter().map(|one| (one.number, one.job.as_str())).collect();
    assert_eq!(names, [(0, "a"), (0, "a"), (0, "a"), (1, "b"), (1, "b"), (1, "b")]);
    let (alone, both) = (summarise(&alone).collectives, summarise(&both).collectives);
    let mean = |one: &incast_measure::CollectiveSummary| one.completion_ns.unwrap().mean;
    for (own, name) in both.iter().zip(["a", "b"]) {
        let ratio = mean(own) / mean(&alone[0]);
        assert!((1.9..2.1).contains(&ratio), "{name}: {ratio}");
        assert_eq!(own.job, name);
    }
}

/// Rank 0 computes, sends, and rank 1 answers when it has computed.
const TURNS: &str = "num_ranks 2\nrank 0 {\na: calc 5000\nb: send 20000b to 1\nb requires a\nc: recv 100b from 1\n}\n\
                     rank 1 {\na: recv 20000b from 0\nb: calc 3000\nb requires a\nc: send 100b to 0\nc requires b\n}\n";

/// Iterations of a program follow each other when all of a rank's steps are done; each takes as long, and a straggler
/// is exposed exactly.
#[test]
fn iterations_of_a_program_take_the_same_time() {
    let own = |more: &str| {
        let job = format!("[[job]]\nname = \"t\"\nprogram = \"x.goal\"\niterations = 4\n{more}");
        let run = run("star:3", "ndp", &job, &[("x.goal", TURNS)]);
        assert!(run.record.complete);
        let ends = incast_measure::iteration_ends(&run, 0);
        let rounds: Vec<u64> = ends.windows(2).map(|two| two[1].since(two[0]).0).collect();
        assert!(rounds.windows(2).all(|two| two[0] == two[1]) && rounds.len() == 3, "{rounds:?}");
        (Span(rounds[0]), summarise(&run).programs[0].clone())
    };
    let (plain, summary) = own("");
    assert_eq!((summary.iterations, summary.job.as_str()), (4, "t"));
    // 8 us of computation follow each other; messages take the rest.
    let exposed = summary.exposed_mean_ns.unwrap();
    let took = summary.iteration_mean_ns.unwrap();
    assert!((took - exposed - 8_000.0).abs() < 1.0, "{took} {exposed}");
    // Rank 0 computes 10 us before it sends; rank 1 is ready long before.
    assert_eq!(own("compute = \"10us\"").0, plain + Span::from_us(10));
    assert_eq!(own("compute_scale = 2").0, plain + Span::from_us(8));
    assert_eq!(own("straggler = 0\nextra = \"6us\"").0, plain + Span::from_us(6));
}

/// What two iterations do, a file that says it twice does, too.
#[test]
fn a_program_once_is_that_of_traffic() {
    let job = run("star:3", "dctcp", "[[job]]\nprogram = \"x.goal\"", &[("x.goal", TURNS)]);
    let own = "[[traffic]]\nkind = \"program\"\nfile = \"x.goal\"";
    let traffic = run("star:3", "dctcp", own, &[("x.goal", TURNS)]);
    assert!(same(&job.record) == same(&traffic.record));
    assert_eq!((job.programs[0].job.as_str(), traffic.programs[0].job.as_str()), ("job0", ""));
}

/// Within servers of g, then between the m servers, then within them: 2(g-1)(a_v + S/(gV)) + 2(m-1)(a + S/(gmB)).
#[test]
fn a_hierarchical_all_reduce_takes_its_formula() {
    const S: f64 = 16e6;
    let (g, m) = (4.0, 2.0);
    let own = "[[job]]\ncollective = \"all_reduce\"\nalgorithm = \"hierarchical\"\nsize = \"16MB\"\nserver = 4\nissue = \"free\"\n\
               local_rate = \"800Gbps\"\nlocal_latency = \"700ns\"\nburst = 200";
    for transport in ["ndp", "trd"] {
        let fabric = "[fabric]\ntopology = \"star:8\"\nrate = \"100Gbps\"\npropagation = \"1us\"\nmtu = 9000\nbuffer = \"unlimited\"\n";
        let text = format!("{fabric}[transport]\nnames = [\"{transport}\"]\n{own}");
        let run = run_with(&planned(&text, &[]).unwrap(), 1);
        assert!(run.record.complete);
        let [one] = run.collectives.as_slice() else { panic!("{}", run.collectives.len()) };
        let took = one.completion().unwrap().as_ns_f64() / 1e3;
        let within = 2.0 * (g - 1.0) * (0.7 + S / g * 8.0 / 800e3);
        // Propagation, the last packet once more at the switch; headers; one control packet per packet of the other direction.
        let packet = 9_038.0 * 8.0 / 100e3;
        let bytes = S / (g * m) * 9_038.0 / 8_960.0 * 8.0 / 100e3;
        let expected = within + 2.0 * (m - 1.0) * (2.0 + packet + bytes);
        let ratio = took / expected;
        assert!((0.999..1.02).contains(&ratio), "{transport}: {took} us, {expected} expected");
        // What stays in a server is no flow: 8 ranks exchange between servers twice.
        assert_eq!(run.record.flows.len(), 16);
        let local: u64 = run.ranks.iter().map(|rank| rank.local_bytes).sum();
        assert_eq!(local, 2 * 8 * 3 * 4_000_000);
        assert_eq!(one.messages as u64, 16 + 2 * 8 * 3);
    }
}

/// A ring on servers: only what crosses takes the network.
#[test]
fn a_ring_crosses_between_servers_only() {
    let own = "[[job]]\ncollective = \"all_reduce\"\nsize = \"800KB\"\nissue = \"free\"\n";
    let of_servers = format!("{own}server = 4\nlocal_rate = \"3200Gbps\"\n");
    let servers = run("star:8", "ndp", &of_servers, &[]);
    assert_eq!(servers.record.flows.len(), 2 * 14);
    let network = run("star:8", "ndp", own, &[]);
    assert_eq!(network.record.flows.len(), 8 * 14);
    let time = |run: &Run| run.collectives[0].completion().unwrap();
    assert!(time(&servers) < time(&network), "{} {}", time(&servers), time(&network));
    // The messages of both are as large.
    let crossing = |run: &Run| run.flows.iter().all(|flow| flow.size_bytes == 100_000);
    assert!(crossing(&servers) && crossing(&network));
}

/// Servers in a rack and servers over racks, two jobs, other traffic: the records do not depend on threads.
#[test]
fn records_of_servers_do_not_depend_on_threads() {
    for placement in ["packed", "rail_aligned:2"] {
        let own = format!(
            "[[job]]\ncollective = \"all_to_all\"\nsize = \"400KB\"\nserver = 2\nlocal_rate = \"800Gbps\"\nranks = 8\n\
             placement = \"{placement}\"\niterations = 2\ncompute = \"3us\"\n\
             [[job]]\nprogram = \"x.goal\"\nhosts = \"3,15\"\nat = \"2us\"\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\""
        );
        let own = own.replace(
            "ranks = 8",
            if placement == "packed" {
                "hosts = \"4-11\""
            } else {
                "hosts = \"0-2,4-6,8-10\"\nranks = 6"
            },
        );
        let plan =
            planned(&scenario("leaf-spine:4x2x4", "dctcp", &own), &[("x.goal", TURNS)]).unwrap();
        let one = run_with(&plan, 1);
        assert!(one.record.complete, "{placement}: {:?}", one.stuck());
        for threads in [2, 4] {
            let several = run_with(&plan, threads);
            assert!(same(&several.record) == same(&one.record), "{placement}, {threads} threads");
        }
    }
}

/// A collective that is written as a program and run as one sends the same messages at the same times.
#[test]
fn a_collective_written_as_goal_is_the_same() {
    let cases = [
        ("all_reduce", "ring"),
        ("all_reduce", "tree"),
        ("all_reduce", "double_tree"),
        ("all_reduce", "halving_doubling"),
        ("all_reduce", "direct"),
        ("all_gather", "pairwise"),
        ("all_to_all", "direct"),
        ("broadcast", "ring"),
        ("reduce_scatter", "hierarchical\"\ngroup = \"4"),
    ];
    for (kind, algorithm) in cases {
        let algorithm = format!("algorithm = \"{algorithm}\"\n").replace("\"4\"", "4");
        let own = format!(
            "[[job]]\nname = \"a/b\"\ncollective = \"{kind}\"\n{algorithm}size = \"400KB\"\nissue = \"free\"\n\
             compute = \"3us\"\nchannels = 2\n"
        );
        let plan = planned(&scenario("star:8", "ndp", &own), &[]).unwrap();
        let files = plan.goal_files().unwrap();
        let [(name, text)] = files.as_slice() else { panic!("{} files", files.len()) };
        assert_eq!(name, "a_b.goal");
        let program = run("star:8", "ndp", "[[job]]\nprogram = \"x.goal\"", &[("x.goal", text)]);
        assert_eq!(times(&program), times(&run_with(&plan, 1)), "{kind}, {algorithm}");
    }
}

/// Two jobs at the same hosts, if both say so.
#[test]
fn jobs_share_hosts_if_both_say_so() {
    let job = |share: bool| {
        format!(
            "[[job]]\ncollective = \"all_reduce\"\nsize = \"400KB\"\nhosts = \"0-3\"\nshare = {share}\n"
        )
    };
    let both = run("star:4", "dctcp", &format!("{}{}", job(true), job(true)), &[]);
    assert!(both.record.complete && both.collectives.len() == 2);
    let text = scenario("star:4", "dctcp", &format!("{}{}", job(true), job(false)));
    let said = planned(&text, &[]).map(|_| ()).unwrap_err().to_string();
    let words = "job.1.hosts: rank 0 is at host 0, where a rank of job.0 is: expected hosts of its own, or `share = true` in both";
    assert!(said.contains(words), "{said}");
}

#[test]
fn what_is_wrong_is_refused_with_its_key() {
    let says = |own: &str, words: &str| {
        let files = [("x.goal", TURNS), ("few", "3 2"), ("twice", "0 1 0")];
        let planned =
            planned(&scenario("leaf-spine:2x2x4", "ndp", &format!("[[job]]\n{own}")), &files);
        let said = planned.map(|_| ()).expect_err(words).to_string();
        assert!(said.contains(words), "{said}, not {words}");
    };
    let reduce = |more: &str| format!("collective = \"all_reduce\"\nsize = \"1MB\"\n{more}");
    says("name = \"a\"", "job.0: nothing to do: expected `program` or `collective`");
    says("collective = \"all_reduce\"", "job.0: a collective needs `size`");
    says(
        &reduce("program = \"x.goal\"\nsize = \"1MB\"").replacen("size = \"1MB\"\n", "", 1),
        "job.0.size: a key of a job with `collective`",
    );
    says(
        "program = \"x.goal\"\ncollective = \"all_reduce\"",
        "job.0.collective = `all_reduce`: expected either `program`",
    );
    says("program = \"x.goal\"\nchannels = 2", "job.0.channels: a key of a job with `collective`");
    says("program = \"none.goal\"", "job.0.program = `none.goal`");
    says(&reduce("ranks = 9"), "job.0.hosts: there are 9 ranks and 8 hosts");
    says(&reduce("hosts = \"0-8\""), "job.0.hosts = `0-8`: expected hosts below 8");
    says(
        &reduce("ranks = 3\nplacement_file = \"few\""),
        "job.0.placement_file = `few`: lists 2 hosts: expected 3",
    );
    says(&reduce("placement_file = \"twice\""), "line 1: host 0 for rank 2, which rank 0 has");
    says(
        &reduce("placement = \"rail_aligned:3\""),
        "job.0.hosts: a server of 3 needs as many rails: expected 1 to 2",
    );
    says(
        &reduce("placement = \"rail\""),
        "job.0.placement = `rail`: expected packed, random, strided:K",
    );
    says(
        &reduce("straggler = 8\nextra = \"1us\""),
        "job.0.straggler = `8`: expected a rank from 0 to 7",
    );
    says(
        "program = \"x.goal\"\nstraggler = 2\nextra = \"1us\"",
        "job.0.straggler = `2`: expected a rank from 0 to 1",
    );
    says(&reduce("straggler = 2"), "job.0.straggler: needs `extra`");
    says(&reduce("server = 4"), "job.0.server = `4`: needs `local_rate`");
    says(&reduce("local_rate = \"1Gbps\""), "job.0.local_rate = `1Gbps`: expected `server`");
    says(&reduce("compute_scale = -1"), "job.0.compute_scale = `-1`: expected 0 to 1000000");
    says(&reduce("iterations = 4194304"), "job.0.iterations = `4194304`: expected 1 to");
    says(
        "program = \"x.goal\"\niterations = 4194304",
        "job.0.iterations = `4194304`: expected 1 to 2097152",
    );
    says(&reduce("server = 8\nlocal_rate = \"1Gbps\""), "has 0 messages between ranks");
    says(&reduce("priority = 2"), "job.0.priority = `2`: there is one queue of data");
    says(&reduce("[[job]]\nname = \"job\"\n[[job]]\nname = \"job\""), "job.1");
    says(
        &reduce(
            "name = \"a\"\nranks = 2\n[[job]]\nname = \"a\"\ncollective = \"all_reduce\"\nsize = \"1MB\"\nhosts = \"4-5\"",
        ),
        "job.1.name = `a`: another job is called so",
    );
    says(&reduce("algorithm = \"pairwise\""), "job.0.algorithm = `pairwise`: expected one of");
    says("progam = \"x.goal\"", "did you mean `program`?");
    for world in ["flow", "dataplane"] {
        says(
            &format!("program = \"x.goal\"\n[run]\nworld = \"{world}\""),
            &format!("run.world = `{world}`: programs"),
        );
    }
}
