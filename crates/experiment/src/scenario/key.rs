//! What is known of a key of a scenario: for documentation, and for flags that set it.

use super::node::Node;
use crate::Fault;
use serde_json::{Value, json};

/// How a value is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any text.
    Text,
    /// Entries with commas between them.
    List,
    /// A number, a quantity, or a name.
    Other,
}

/// A command whose flags set keys of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `incast demo`.
    Demo,
    /// `incast run`.
    Run,
    /// `incast compare`.
    Compare,
    /// `incast reproduce`.
    Reproduce,
}

/// A flag that sets a key.
#[derive(Clone, Debug)]
pub struct Flag {
    /// Commands that have it.
    pub commands: &'static [Command],
    /// Its name with dashes: `--load`.
    pub name: &'static str,
    /// What stands for its value in help: `SHARE`; for a switch the value that it sets, as TOML.
    pub value: &'static str,
    /// Whether it takes no value.
    pub switch: bool,
    /// Its help, if it is not the key's meaning.
    pub help: Option<&'static str>,
}

/// Default of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The key is required.
    Required,
    /// No value.
    Nothing,
    /// This value, in TOML.
    Value(String),
    /// A description of the default.
    Words(&'static str),
}

/// A key of a scenario.
#[derive(Clone, Debug)]
pub struct Key {
    /// The title of its section, such as `[fabric]` or "kind `poisson`".
    pub section: &'static str,
    /// Path of the key, such as `fabric.rate` or `traffic.load`.
    pub path: String,
    /// The kind of traffic that it belongs to.
    pub kind: Option<&'static str>,
    /// Meaning.
    pub meaning: String,
    /// Accepted values.
    pub expects: String,
    /// What kind of value it is: `text`, `whole`, `number`, `flag`, `choice`, `rate`, `time`, `bytes`,
    /// `buffer`, `hosts`, `list`, `table` or `section`.
    pub value: &'static str,
    /// The accepted range, if it is narrower than the type.
    pub range: Option<&'static str>,
    /// Default value.
    pub default: Preset,
    /// How its value is written on the command line.
    pub form: Form,
    /// Flags that set it.
    pub flags: Vec<Flag>,
    /// What the text of a flag stands for, type and range checked.
    pub of_flag: fn(&str) -> Result<Node, Fault>,
}

/// Longest title in characters: what fits below a small chart.
const LONGEST_TITLE: usize = 44;

/// The last part of a path as words: `fabric.uplink_rate` is "Uplink rate".
pub(super) fn humanised(path: &str) -> String {
    let name = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

impl Key {
    /// Its title on axes and in headings: the first words of its meaning, or its name where they are
    /// long.
    pub fn title(&self) -> String {
        let ends = ['.', ',', ';', ':', '('];
        let first = self.meaning.split(ends).next().unwrap_or_default().trim();
        // A quantity has its unit with it.
        let bytes = self.value == "whole"
            && self.meaning[first.len()..].trim_start_matches(',').starts_with(" in bytes");
        match first.chars().count() > LONGEST_TITLE || first.contains('`') {
            true => humanised(&self.path),
            false if bytes => format!("{first} (bytes)"),
            false => first.into(),
        }
    }

    /// Whether `auto` is accepted, too.
    pub fn takes_auto(&self) -> bool {
        self.expects.ends_with(", or `auto`")
    }

    /// The names that are accepted, if it is a choice.
    pub fn choices(&self) -> Vec<&str> {
        if self.value != "choice" {
            return vec![];
        }
        let names = self.expects.strip_suffix(", or `auto`").unwrap_or(&self.expects);
        names.split(", ").map(|name| name.trim_matches('`')).collect()
    }

    /// All that is known of it, for programs that make forms, types or documentation.
    pub fn to_json(&self) -> Value {
        let default = match &self.default {
            Preset::Required => json!({ "required": true }),
            Preset::Nothing => json!({}),
            Preset::Value(value) => json!({ "value": value }),
            Preset::Words(words) => json!({ "words": words }),
        };
        let flags = self.flags.iter().map(|flag| {
            let commands = flag.commands.iter().map(|one| format!("{one:?}").to_lowercase());
            json!({
                "commands": commands.collect::<Vec<_>>(),
                "name": flag.name,
                "value": flag.value,
                "switch": flag.switch,
                "help": flag.help,
            })
        });
        json!({
            "section": self.section,
            "path": self.path,
            "kind": self.kind,
            "meaning": self.meaning,
            "expects": self.expects,
            "type": self.value,
            "choices": self.choices(),
            "auto": self.takes_auto(),
            "range": self.range,
            "default": default,
            "flags": flags.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scenario, title_of};

    #[test]
    fn titles_are_the_first_words_of_a_meaning_if_they_are_short() {
        for (path, kind, title) in [
            ("traffic.0.load", Some("poisson"), "Load"),
            ("traffic.1.size", Some("incast"), "Bytes of a flow"),
            ("traffic.0.size", Some("requests"), "Bytes that a client receives per round"),
            ("fabric.buffer", None, "Buffer of a switch port"),
            ("fabric.mtu", None, "Largest packet at the network layer (bytes)"),
            ("fabric.oversubscription", None, "Oversubscription"),
            ("traffic.0.workload", Some("poisson"), "Flow sizes"),
            ("fabric.pfc.reserve", None, "Reserve"),
            ("transport.parameters.ren.rto_min", None, "ren: rto min"),
            ("not.a.key_at_all", None, "Key at all"),
        ] {
            assert_eq!(title_of(path, kind), title, "{path}");
        }
        // None is empty, and none has the marks of code in it.
        for key in Scenario::all_keys() {
            let title = key.title();
            assert!(!title.is_empty() && !title.contains('`'), "{}: {title}", key.path);
        }
    }
}
