//! What is known of a key of a scenario: for documentation, and for flags that set it.

use super::node::Node;
use crate::Fault;

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
