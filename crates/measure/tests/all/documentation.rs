//! `docs/results.md` and `docs/studies.md` document every column and key, `experiments/README.md` every number of claims.

use incast_measure::measured::ClaimedNumber;
use incast_measure::{columns_markdown, study_columns_markdown, summarise};
use std::path::PathBuf;

use crate::support;
const BEGIN: &str = "--test all documentation:: renews them -->\n\n";
const END: &str = "\n<!-- end of columns -->";

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Compares the tables of a page with what the program says, or renews them.
fn documented(name: &str, tables: &str) {
    let text = std::fs::read_to_string(page(name)).expect("the page");
    let begin = text.find(BEGIN).expect("the marker before the tables") + BEGIN.len();
    let end = begin - 1 + text[begin - 1..].find(END).expect("the marker after the tables");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let renewed = format!("{}{tables}{}", &text[..begin], &text[end.max(begin)..]);
        std::fs::write(page(name), renewed).expect("writable");
        return;
    }
    for (number, (written, expected)) in text[begin..end].lines().zip(tables.lines()).enumerate() {
        assert_eq!(written, expected, "line {number} of the tables; UPDATE_DOCS=1 renews them");
    }
    assert_eq!(&text[begin..end], tables, "UPDATE_DOCS=1 renews the tables");
}

#[test]
fn every_column_is_in_the_page_with_its_unit_and_meaning() {
    documented("results.md", &columns_markdown());
    documented("studies.md", &study_columns_markdown());
    documented("../experiments/README.md", &ClaimedNumber::markdown());
}

/// All keys of a JSON value, however deep.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                found.push(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_the_summary_is_in_the_page() {
    let text = std::fs::read_to_string(page("results.md")).expect("docs/results.md");
    let part = &text[text.find("## summary.json").expect("its section")..];
    let mut run = support::made_up("a", 1, 2_000, 1.0);
    support::add_series(&mut run);
    run.collectives = crate::collectives::two_iterations();
    let summary = serde_json::to_value(summarise(&run)).expect("plain data");
    let mut found = vec![];
    keys(&summary, &mut found);
    assert!(found.len() > 50);
    found.retain(|key| !part.contains(&format!("`{key}`")));
    assert!(found.is_empty(), "not in docs/results.md: {found:?}");
}
