//! The keys of a scenario as the tables of docs/scenario.md.

use super::Scenario;
use super::key::{Key, Preset};
use super::range::Range;
use super::section::Section;
use super::study::Study;
use std::fmt::Write;

/// Every key with type, default, flags and meaning, one table per section.
pub fn keys_markdown() -> String {
    tables(&Scenario::all_keys())
}

/// Every key of `[study]`, in the same form, for docs/studies.md.
pub fn study_markdown() -> String {
    let mut keys = Study::all_keys();
    keys.extend(Range::describe("range"));
    tables(&keys)
}

/// Fewest kinds of traffic that share a row which is written once.
const SHARED: usize = 2;

fn tables(keys: &[Key]) -> String {
    let mut sections: Vec<&str> = vec![];
    for key in keys {
        if !sections.contains(&key.section) {
            sections.push(key.section);
        }
    }
    let of_kind = |key: &&Key| key.section.starts_with("kind ");
    let same = |one: &Key| keys.iter().filter(of_kind).filter(|key| row(key) == row(one)).count();
    let shared = |key: &Key| of_kind(&key) && same(key) >= SHARED;
    let mut text = String::new();
    for section in sections {
        let title = match section.strip_prefix("kind ") {
            Some(kind) => format!("[[traffic]] of kind {kind}"),
            None if section.starts_with('[') => format!("`{section}`"),
            None if section == Range::TITLE => "Ranges".into(),
            None => "All sections".into(),
        };
        let own = || keys.iter().filter(|key| key.section == section);
        text += &table(&title, own().filter(|key| !shared(key)).map(row));
        let more: Vec<String> =
            own().filter(|key| shared(key)).map(|key| format!("`{}`", name(key))).collect();
        if !more.is_empty() {
            let _ = writeln!(
                text,
                "\nAlso {} ([several kinds](#traffic-of-several-kinds)).",
                more.join(", ")
            );
        }
    }
    let mut rows: Vec<String> = vec![];
    for one in keys.iter().filter(|key| shared(key)).map(row) {
        if !rows.contains(&one) {
            rows.push(one);
        }
    }
    if !rows.is_empty() {
        text += &table("[[traffic]] of several kinds", rows.into_iter());
    }
    text
}

fn table(title: &str, rows: impl Iterator<Item = String>) -> String {
    let rows: String = rows.collect();
    format!(
        "\n### {title}\n\n| key | accepted values | default | meaning |\n|---|---|---|---|\n{rows}"
    )
}

/// The last part of its path.
fn name(key: &Key) -> &str {
    key.path.rsplit('.').next().unwrap_or(&key.path)
}

fn row(key: &Key) -> String {
    let accepts = match (key.range, key.takes_auto()) {
        (None, _) => key.expects.clone(),
        (Some(range), false) => range.to_string(),
        (Some(range), true) => format!("{range}, or `auto`"),
    };
    let default = match &key.default {
        Preset::Required => "required".into(),
        Preset::Nothing => "-".into(),
        Preset::Words(words) => words.to_string(),
        Preset::Value(value) => format!("`{value}`"),
    };
    let mut meaning = key.meaning.clone();
    for flag in &key.flags {
        let _ = write!(meaning, " `{}`.", flag.name);
    }
    format!("| `{}` | {accepts} | {default} | {meaning} |\n", name(key))
}
