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

impl Key {
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
