//! Iterations of programs and jobs whose story is known.

use crate::run;
use incast_experiment::Monitor;
use incast_explain::{Answer, Iteration, Question, Results, Which};
use std::fmt::Write;
use tempfile::TempDir;

fn results(home: &TempDir) -> Results {
    Results::open(&home.path().join("out"), None).unwrap_or_else(|f| panic!("{f}"))
}

fn explained(home: &TempDir, which: Which, iteration: u32) -> Iteration {
    let all = Iteration::of(&results(home), &which, iteration).unwrap_or_else(|f| panic!("{f}"));
    let parts: u64 = all.parts.iter().map(|part| part.ps).sum();
    assert_eq!(parts, all.time() + all.ahead_ps);
    // The path goes on where a message has arrived, or where its sender was.
    for pair in all.path.windows(2) {
        assert!(pair[0].end_ps <= pair[1].start_ps);
        assert!(pair[0].to == pair[1].from || pair[0].from == pair[1].from, "{pair:?}");
    }
    all
}

fn part(all: &Iteration, name: &str) -> u64 {
    all.parts.iter().find(|part| part.name == name).map_or(0, |part| part.ps)
}

/// A scenario with a GOAL file beside it.
fn scenario(files: &TempDir, goal: &str, topology: &str, job: &str) -> String {
    let file = files.path().join("x.goal");
    std::fs::write(&file, goal).unwrap();
    format!(
        "[fabric]\ntopology = \"{topology}\"\nrate = \"100Gbps\"\n[transport]\nnames = [\"ndp\"]\n[[job]]\nname = \"j\"\n\
         program = \"{}\"\n{job}\n",
        file.display()
    )
}

/// Rank 0 computes, sends, and waits; rank 1 answers when it has computed.
const TURNS: &str = "num_ranks 2\nrank 0 {\na: calc 5000\nb: send 20000b to 1\nb requires a\nc: recv 100b from 1\n}\n\
                     rank 1 {\na: recv 20000b from 0\nb: calc 3000\nb requires a\nc: send 100b to 0\nc requires b\n}\n";

/// There, a computation, and back: then rank 1 has to learn that its answer has arrived.
#[test]
fn turns_are_their_messages_and_computations_one_after_the_other() {
    let files = tempfile::tempdir().unwrap();
    let home = run(&scenario(&files, TURNS, "star:3", "iterations = 3"));
    let each: Vec<Iteration> =
        (0..3).map(|iteration| explained(&home, Which::Job("j".into()), iteration)).collect();
    for all in &each {
        let ends: Vec<(u32, u32)> = all.path.iter().map(|leg| (leg.from, leg.to)).collect();
        assert_eq!(ends, [(0, 1), (1, 0)]);
        assert_eq!((all.compute_ps, part(all, "compute")), (8_000_000, 8_000_000));
        assert!(part(all, "known") > 0 && part(all, "local") == 0);
        let took = all.time() + all.ahead_ps;
        let messages: u64 = all.path.iter().map(|leg| leg.end_ps - leg.start_ps).sum();
        assert_eq!(took, messages + 8_000_000 + part(all, "known"));
        let [first, second] = all.by_rank.as_slice() else { panic!("two ranks") };
        assert_eq!((first.computing_ps, second.computing_ps), (5_000_000, 3_000_000));
        assert_eq!(
            (first.waited_for.map(|one| one.0), second.waited_for.map(|one| one.0)),
            (Some(1), Some(0))
        );
        assert_eq!((first.sending[0].after, second.sending[0].after), (None, None));
        let words = "2 messages, the first one from rank 0, the last one to rank 0, and 8.00 µs";
        assert!(all.verdict.iter().any(|says| says.contains(words)), "{:#?}", all.verdict);
    }
    assert_eq!(each[0].end_ps, each[1].begin_ps);
    assert!(each[1].what.starts_with("job j ("), "{}", each[1].what);
}

/// A rank that computes longer begins the path, and the others wait for it.
#[test]
fn a_straggler_begins_the_path() {
    let mut goal = String::from("num_ranks 4\n");
    for rank in 0..4 {
        writeln!(
            goal,
            "rank {rank} {{\nsend 9000b to {}\nrecv 9000b from {}\n}}",
            (rank + 1) % 4,
            (rank + 3) % 4
        )
        .unwrap();
    }
    let files = tempfile::tempdir().unwrap();
    let job = "compute = \"20us\"\nstraggler = 2\nextra = \"70us\"";
    let home = run(&scenario(&files, &goal, "star:4", job));
    let all = explained(&home, Which::First, 0);
    assert_eq!((part(&all, "compute"), all.compute_ps), (90_000_000, 90_000_000));
    assert_eq!((all.path[0].from, all.path.len()), (2, 1));
    let late = "Rank 2 computed 70.0 µs";
    assert!(all.verdict.iter().any(|says| says.contains(late)), "{:#?}", all.verdict);
    assert_eq!(all.by_rank[3].waited_for.unwrap().0, 2);
}

/// What waits for the start of a computation does not wait for its end: the path passes it by.
#[test]
fn the_path_leaves_out_what_is_not_waited_for() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 90000\nb: send 500000b to 1\nb irequires a\n}\nrank 1 {\n\
                recv 500000b from 0\n}\n";
    let files = tempfile::tempdir().unwrap();
    let home = run(&scenario(&files, goal, "star:2", "at = \"3us\""));
    let long = explained(&home, Which::First, 0);
    // The computation ends last: it is all of the path.
    assert_eq!(
        (part(&long, "compute"), long.path.len(), long.begin_ps),
        (90_000_000, 0, 3_000_000)
    );
    let home = run(&scenario(&files, &goal.replace("90000", "9000"), "star:2", ""));
    let short = explained(&home, Which::First, 0);
    assert_eq!((part(&short, "compute"), short.path.len()), (0, 1));
}

/// Messages within servers are parts of the path as well.
#[test]
fn messages_within_servers_are_on_the_path() {
    let home = run(
        "[fabric]\ntopology = \"star:8\"\nrate = \"100Gbps\"\n[transport]\nnames = [\"ndp\"]\n[[job]]\nname = \"h\"\n\
         collective = \"all_reduce\"\nalgorithm = \"hierarchical\"\nsize = \"800KB\"\nserver = 4\nlocal_rate = \"800Gbps\"\n\
         local_latency = \"700ns\"\n[[job]]\nname = \"i\"\ncollective = \"all_reduce\"\nhosts = \"0-7\"\nsize = \"80KB\"\n"
            .replace("hosts = \"0-7\"", "hosts = \"0-7\"\nshare = true")
            .replace("server = 4", "share = true\nserver = 4")
            .as_str(),
    );
    let all = explained(&home, Which::Job("h".into()), 0);
    // Three steps within, one between, one between, three within; each within takes latency and bytes.
    let within = |leg: &&incast_explain::Leg| leg.flow.is_none();
    assert_eq!((all.path.iter().filter(within).count(), all.path.len()), (6, 8));
    assert_eq!(part(&all, "local"), 6 * (700_000 + 200_000 * 8 * 1_000 / 800));
    assert_eq!(explained(&home, Which::Job("i".into()), 0).job, "i");
    let unknown = Iteration::of(&results(&home), &Which::Job("hh".into()), 0).unwrap_err();
    assert!(unknown.to_string().contains("--job = `hh`"), "{unknown}");
    let beyond = Iteration::of(&results(&home), &Which::Job("h".into()), 4).unwrap_err();
    assert!(beyond.to_string().contains("--iteration = `4`: expected 0, the only one"), "{beyond}");
}

/// Text and page have the path, the ranks and a picture; a run that was cut off says what is not done.
#[test]
fn a_program_has_a_text_and_a_page() {
    let files = tempfile::tempdir().unwrap();
    let home = run(&scenario(&files, TURNS, "leaf-spine:2x1x1", "iterations = 2"));
    let question = Question {
        folder: Some(home.path().join("out")),
        iteration: Some((Which::First, 1)),
        ..Question::default()
    };
    let answer: Answer =
        question.answer(&Monitor::default()).unwrap_or_else(|f| panic!("{f}")).unwrap();
    let (text, page) = (answer.text(), answer.html());
    for what in [
        "Iteration 1 of job j",
        "Where the critical path goes",
        "rank 0 to rank 1",
        "What the ranks did",
    ] {
        assert!(text.contains(what), "{what}: {text}");
    }
    assert!(page.contains("</svg>") && page.matches("rank 0 computed").count() == 1, "{page}");
    let home = run(&scenario(&files, TURNS, "star:2", "iterations = 2\n[run]\nuntil = \"6us\""));
    let fault = Iteration::of(&results(&home), &Which::First, 0).unwrap_err().to_string();
    assert!(fault.contains("not complete") && fault.contains("steps are not done"), "{fault}");
}
