//! A search keeps its points in the store, and says what it found.

use crate::support::study;
use incast_experiment::Monitor;
use incast_study::{Answer, Found, Search, Store, Study, run_local};
use std::path::Path;
use std::sync::Arc;

/// Answers, and how many points were run.
fn search(study: &Arc<Study>, dir: &Path, until: &str) -> (Vec<Answer>, usize) {
    let search = Search::new(study, "traffic.0.load", "0.1", "0.9", until, Some("0.1"));
    let search = search.unwrap_or_else(|fault| panic!("{fault}"));
    let store = Arc::new(Store::open(dir, study).unwrap());
    let mut ran = 0;
    let answers = search.answer(study, &store, &mut |mut driver| {
        run_local(&mut driver, 2, &Arc::new(Monitor::default()), &mut |_| ())?;
        let outcome = driver.outcome();
        ran += outcome.progress.done - outcome.progress.kept;
        Ok(outcome)
    });
    (answers.unwrap().expect("nothing interrupts it"), ran)
}

#[test]
fn a_search_finds_a_load_for_every_transport_and_runs_nothing_twice() {
    let study = study("[study]\nseeds = 3\n");
    let folder = tempfile::tempdir().unwrap();
    let (answers, ran) = search(&study, folder.path(), "slowdown_p99 < 1.9");
    assert_eq!(answers.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["ren", "dctcp"]);
    assert!(matches!(answers[0].found, Found::UpTo { .. }), "{answers:?}");
    for answer in &answers {
        // What was tried agrees with what was found.
        let Found::UpTo { value, low, high } = answer.found else { continue };
        let mean =
            |at: f64| answer.tried.iter().find(|one| one.value == at).unwrap().values[0].unwrap().0;
        assert!(mean(value) < 1.9 && low.is_none_or(|low| low <= value), "{answer:?}");
        assert!(high.is_none_or(|high| high > value), "{answer:?}");
        assert!(answer.tried.len() >= 4 && answer.tried.iter().all(|one| one.seeds == 3));
    }
    assert_eq!(ran, answers.iter().flat_map(|one| &one.tried).map(|one| one.seeds).sum::<usize>());
    let (again, ran) = search(&study, folder.path(), "slowdown_p99 < 1.9");
    assert_eq!(ran, 0);
    assert_eq!(format!("{again:?}"), format!("{answers:?}"));
    // Another limit needs few more points, and a metric that always holds says so.
    let (all, _) = search(&study, folder.path(), "slowdown_p99 < 1e9 and completed_share > 0");
    assert!(all.iter().all(|one| one.found == Found::Everywhere));
}

#[test]
fn what_is_wrong_with_a_search_is_said() {
    let study = study("[study]\n");
    let new = |key: &str, from: &str, until: &str| {
        Search::new(&study, key, from, "0.9", until, None).unwrap_err().to_string()
    };
    let cases = [
        (new("traffic.0.laod", "0.1", "slowdown_p99 < 5"), "did you mean `load`?"),
        (new("traffic.0.load", "-1", "slowdown_p99 < 5"), "traffic.0.load"),
        (new("traffic.0.load", "x", "slowdown_p99 < 5"), "expected a number"),
        (new("traffic.0.load", "0.95", "slowdown_p99 < 5"), "expected more than `from`"),
        (new("traffic.0.load", "0.1", "slowdown_p98 < 5"), "slowdown_p99"),
        (new("traffic.0.load", "0.1", "slowdown_p99 = 5"), "one of < <= > >="),
    ];
    for (said, expected) in cases {
        assert!(said.contains(expected), "{said}");
    }
}
