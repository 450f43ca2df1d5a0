//! Iterations of collectives whose story is known.

use crate::run;
use incast_experiment::Monitor;
use incast_explain::{Answer, Iteration, Question, Results, Selection, Which};
use tempfile::TempDir;

fn explained(home: &TempDir, iteration: u32) -> Iteration {
    let results = Results::open(&home.path().join("out"), None).unwrap_or_else(|f| panic!("{f}"));
    let all = Iteration::of(&results, &Which::Collective(0), iteration)
        .unwrap_or_else(|fault| panic!("{fault}"));
    check(&all);
    all
}

/// What holds of every iteration.
fn check(all: &Iteration) {
    let parts: u64 = all.parts.iter().map(|part| part.ps).sum();
    assert_eq!(parts, all.time() + all.ahead_ps);
    // Each message starts when the one before has arrived, and the last one ends the iteration.
    for pair in all.path.windows(2) {
        assert_eq!(pair[0].end_ps, pair[1].start_ps);
        assert!(pair[0].to == pair[1].from || pair[0].from == pair[1].from, "{pair:?}");
    }
    assert_eq!(all.path.last().unwrap().end_ps, all.end_ps);
    assert_eq!(all.path[0].start_ps, all.begin_ps - all.ahead_ps + all.parts[0].ps);
    for one in &all.by_rank {
        assert!(one.sending_ps + one.waiting_ps <= all.end_ps - all.begin_ps + all.ahead_ps);
    }
}

fn says(all: &Iteration, what: &str) {
    assert!(all.verdict.iter().any(|one| one.contains(what)), "{what}: {:#?}", all.verdict);
}

fn ring(fabric: &str, more: &str) -> String {
    format!(
        "[fabric]\n{fabric}\n[transport]\nnames = [\"ndp\"]\n[[traffic]]\nkind = \"collective\"\ncollective = \
         \"all_reduce\"\nsize = \"400KB\"\niterations = 2\ncompute = \"100us\"\n{more}"
    )
}

#[test]
fn a_ring_of_equal_ranks_is_its_messages_one_after_the_other() {
    let home = run(&ring("topology = \"star:4\"", ""));
    for iteration in [0, 1] {
        let all = explained(&home, iteration);
        // 2 (n - 1) steps.
        assert_eq!((all.path.len(), all.by_rank.len()), (6, 4));
        assert_eq!((all.compute_ps, all.parts[0].ps), (100_000_000, 100_000_000));
        says(&all, "6 messages followed each other");
        assert!(!all.verdict.iter().any(|one| one.contains("longer than any other")));
    }
}

#[test]
fn a_rank_that_is_late_begins_the_path_and_its_neighbour_waits_for_it() {
    let home = run(&ring("topology = \"star:4\"", "straggler = 2\nextra = \"300us\""));
    let all = explained(&home, 0);
    assert_eq!((all.path[0].from, all.parts[0].ps), (2, 400_000_000));
    says(&all, "rank 2 computed 400 µs, then 6 messages");
    says(&all, "Rank 2 computed 300 µs");
    // The rank behind it has sent its own part and waits.
    let next = &all.by_rank[3];
    assert_eq!(next.waited_for.unwrap().0, 2);
    assert!(next.waiting_ps > 200_000_000, "{next:?}");
    assert_eq!(all.by_rank[2].computing, [(0, 400_000_000)]);
}

#[test]
fn a_port_that_another_flow_uses_costs_most() {
    let other =
        "ranks = \"0-3\"\n[[traffic]]\nkind = \"long\"\nfrom = \"4\"\nto = \"1\"\nsize = \"20MB\"";
    let home = run(&ring("topology = \"star:5\"", other).replace("ndp", "dctcp"));
    let all = explained(&home, 1);
    assert_eq!(all.ports[0].port, "leaf0->host1", "{:?}", all.ports);
    says(&all, "`leaf0->host1` costs most");
}

#[test]
fn what_does_not_exist_is_refused() {
    let home = run(&ring("topology = \"star:4\"", ""));
    let results = Results::open(&home.path().join("out"), None).unwrap_or_else(|f| panic!("{f}"));
    let refused = |collective, iteration| {
        Iteration::of(&results, &Which::Collective(collective), iteration)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(0, 7).contains("--iteration = `7`: expected 0 to 1"));
    assert!(refused(3, 0).contains("--collective = `3`: expected 0, the only one"));
    let flows = "[fabric]\ntopology = \"star:4\"\n[transport]\nnames = [\"ndp\"]\n[[traffic]]\nkind = \"permutation\"\n\
                 size = \"10KB\"";
    let home = run(flows);
    let results = Results::open(&home.path().join("out"), None).unwrap_or_else(|f| panic!("{f}"));
    let none = Iteration::of(&results, &Which::Collective(0), 0).expect_err("refused").to_string();
    assert!(none.contains("no collectives"), "{none}");
}

#[test]
fn a_run_that_was_cut_off_says_how_much_has_arrived() {
    let home = run(&format!("{}\n[run]\nuntil = \"200us\"", ring("topology = \"star:4\"", "")));
    let results = Results::open(&home.path().join("out"), None).unwrap_or_else(|f| panic!("{f}"));
    let fault = Iteration::of(&results, &Which::Collective(0), 0).expect_err("refused").to_string();
    assert!(fault.contains("of its 24 messages have arrived"), "{fault}");
}

#[test]
fn text_and_page_have_the_path_and_the_ranks() {
    let home = run(&ring("topology = \"leaf-spine:2x2x2\"", ""));
    let question = Question {
        folder: Some(home.path().join("out")),
        selection: Selection::default(),
        iteration: Some((Which::First, 1)),
        ..Question::default()
    };
    let answer: Answer =
        question.answer(&Monitor::default()).unwrap_or_else(|f| panic!("{f}")).unwrap();
    let (text, page) = (answer.text(), answer.html());
    for what in
        ["Where the critical path goes", "Messages of the critical path", "What the ranks did"]
    {
        assert!(text.contains(what), "{text}");
    }
    assert!(page.contains("</svg>") && page.contains("</html>") && !page.contains("http:"));
    assert_eq!(page.matches("(host ").count(), 4);
    let data: serde_json::Value = serde_json::from_str(&answer.json().unwrap()).unwrap();
    assert_eq!(data["by_rank"].as_array().unwrap().len(), 4);
}
