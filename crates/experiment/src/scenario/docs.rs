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

fn tables(keys: &[Key]) -> String {
    let mut sections: Vec<&str> = vec![];
    for key in keys {
        if !sections.contains(&key.section) {
            sections.push(key.section);
        }
    }
    let mut text = String::new();
    for section in sections {
        let title = match section.strip_prefix("kind ") {
            Some(kind) => format!("[[traffic]] of kind {kind}"),
            None if section.starts_with('[') => format!("`{section}`"),
            None if section == Range::TITLE => "Ranges".into(),
            None => "All sections".into(),
        };
        let _ = writeln!(text, "\n### {title}\n");
        text += "| key | accepted values | default | meaning |\n|---|---|---|---|\n";
        keys.iter().filter(|key| key.section == section).for_each(|key| row(&mut text, key));
    }
    text
}

fn row(text: &mut String, key: &Key) {
    let name = key.path.rsplit('.').next().unwrap_or(&key.path);
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
        let commands = flag.commands.iter().map(|one| format!("{one:?}").to_lowercase());
        let commands: Vec<String> = commands.collect();
        let _ = write!(meaning, " `{}` of `{}`.", flag.name, commands.join("`, `"));
    }
    let _ = writeln!(text, "| `{name}` | {accepts} | {default} | {meaning} |");
}
