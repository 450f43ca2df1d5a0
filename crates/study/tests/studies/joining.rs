//! Folders of one study become one; its table and page.

use crate::support::{run, study};
use incast_study::{Row, Store, gather, join};
use std::path::Path;

fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const LOADS: &str = "[study.vary]\n\"traffic.0.load\" = ";

#[test]
fn folders_of_several_machines_give_the_table_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let part =
        |seeds: &str, loads: &str| study(&format!("[study]\nseeds = {seeds}\n{LOADS}{loads}\n"));
    run(&part("[1, 2]", "[0.2, 0.4]"), &place("a"), 2);
    run(&part("[2, 3]", "[0.2, 0.4, 0.6]"), &place("b"), 2);
    run(&part("[1]", "[0.6]"), &place("c"), 2);
    run(&part("[1, 2, 3]", "[0.2, 0.4, 0.6]"), &place("whole"), 2);
    // What is missing in all: seed 3 is in b alone, so every point is somewhere.
    let all = [place("a"), place("b"), place("c")];
    let joined = join(&all, Some(&place("d"))).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!((joined.study.points().len(), joined.added, joined.same), (18, 18, 4));
    assert_eq!(bytes(&place("d"), "study.parquet"), bytes(&place("whole"), "study.parquet"));
    // Without --out the first takes the others in.
    join(&all, None).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(bytes(&place("a"), "study.parquet"), bytes(&place("whole"), "study.parquet"));
    for name in ["study.html", "study-times.parquet", "figures/slowdown_p99.json"] {
        assert!(!bytes(&place("d"), name).is_empty());
    }
    // A joined folder is a study: it is continued, and nothing is left to run.
    let again = std::sync::Arc::new(joined.store.study().unwrap());
    assert_eq!(run(&again, &place("d"), 1).progress.kept, 18);
}

#[test]
fn folders_that_cannot_be_one_are_refused_and_nothing_is_joined() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let own = study(&format!("[study]\n{LOADS}[0.2]\n"));
    run(&own, &place("a"), 1);
    run(&own, &place("b"), 1);
    run(&study(&format!("[run]\nuntil = \"7ms\"\n[study]\n{LOADS}[0.2]\n")), &place("other"), 1);
    let refused = |name: &str| {
        let said = join(&[place("a"), place(name)], Some(&place("d"))).unwrap_err().to_string();
        assert!(!place("d").exists(), "nothing was written");
        said
    };
    let said = refused("other");
    assert!(said.contains("run.until"), "{said}");
    // One row with another number.
    let store = Store::read(&place("b")).unwrap();
    let mut row: Row = store.rows().unwrap().into_values().next().unwrap();
    row.summary.as_mut().unwrap().counters.drops += 1;
    store.add(&row).unwrap();
    let said = refused("b");
    assert!(said.contains("differs") && said.contains(&row.hash), "{said}");
    // Another version.
    let path = place("b").join("store.json");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"engine\": ", "\"engine\": 9");
    std::fs::write(&path, text).unwrap();
    let said = refused("b");
    assert!(said.contains("expected folders of one version"), "{said}");
    assert!(join(&[place("a")], None).is_err());
}

#[test]
fn a_table_that_is_up_to_date_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let own = study(&format!("[study]\n{LOADS}[0.2]\n"));
    run(&own, folder.path(), 1);
    let store = Store::read(folder.path()).unwrap();
    gather(&own, &store, false).unwrap();
    let before = bytes(folder.path(), "study.parquet");
    std::fs::write(folder.path().join("study.parquet"), "mine").unwrap();
    gather(&own, &store, false).unwrap();
    assert_eq!(bytes(folder.path(), "study.parquet"), b"mine");
    gather(&own, &store, true).unwrap();
    assert_eq!(bytes(folder.path(), "study.parquet"), before);
    // A row more, or a file less, and it is.
    std::fs::remove_file(folder.path().join("study.html")).unwrap();
    gather(&own, &store, false).unwrap();
    assert!(!bytes(folder.path(), "study.html").is_empty());
}
