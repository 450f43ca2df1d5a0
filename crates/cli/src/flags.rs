//! Flags that set keys of a scenario. They are declared with the keys.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use incast_experiment::fault::{expected, one_of};
use incast_experiment::scenario::{self, Draft, Flag, Form, Key, Node, Origin, Preset, Run, Value};
use incast_experiment::{Fault, Scenario};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::path::Path;

/// A command with flags.
pub trait Flagged {
    /// The command.
    const COMMAND: scenario::Command;
    /// Default scenario of the command, as TOML.
    const PRESETS: &'static str = "";
    /// Whether help shows the defaults of keys: true for commands without a scenario file.
    const SHOWS_DEFAULTS: bool = false;

    /// Dependencies between flags.
    fn relations(command: Command) -> Command {
        command
    }
}

/// The flags that were given to a command.
pub struct Flags<C>(Vec<(Key, Flag, Node)>, PhantomData<C>);

impl<C: Flagged> Flags<C> {
    /// Flags with their values, as `--name`; an unknown name is refused.
    pub fn given(flags: &[(String, Node)]) -> Result<Flags<C>, Fault> {
        let known = declared(C::COMMAND);
        let one = |(name, value): &(String, Node)| {
            let found = meant(&known, name, value);
            let (key, flag) = found.ok_or_else(|| {
                let names = known.iter().map(|(_, flag)| flag.name);
                Fault::at(name, one_of(name, names).in_part(&"no such flag"))
            })?;
            let value = value_of(key, flag, value).map_err(|fault| fault.called(flag.name))?;
            Ok(value.map(|value| (key.clone(), flag.clone(), value)))
        };
        let all: Result<Vec<_>, Fault> = flags.iter().map(one).collect();
        Ok(Flags(all?.into_iter().flatten().collect(), PhantomData))
    }

    /// Whether a flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(_, flag, _)| flag.name == name)
    }

    /// The presets of the command.
    pub fn presets() -> Draft {
        Draft::preset(C::PRESETS)
    }

    /// Sets the keys.
    pub fn apply(&self, draft: &mut Draft) {
        let known = declared(C::COMMAND);
        for (key, flag, value) in &self.0 {
            let others =
                known.iter().filter(|(other, own)| own.name == flag.name && other.path != key.path);
            others.for_each(|(other, _)| draft.remove(other));
            draft.flag(key, flag, value.clone());
        }
    }

    /// How to run, for commands without a scenario of their own.
    pub fn run(&self) -> Result<Run, Fault> {
        let mut draft = Self::presets();
        self.apply(&mut draft);
        draft.run()
    }
}

/// The flags of a command, each with its key.
fn declared(command: scenario::Command) -> Vec<(Key, Flag)> {
    let of_key = |key: Key| {
        let own = key.flags.iter().filter(|flag| flag.commands.contains(&command));
        own.map(|flag| (key.clone(), flag.clone())).collect::<Vec<_>>()
    };
    Scenario::all_keys().into_iter().flat_map(of_key).collect()
}

/// What a flag of this name sets. Where two keys have it, the second one has the names of files.
fn meant<'a>(known: &'a [(Key, Flag)], name: &str, value: &Node) -> Option<&'a (Key, Flag)> {
    let mut own = known.iter().filter(|(_, flag)| flag.name == name);
    let (first, second) = (own.next(), own.next());
    let is_file = matches!(&value.value, Value::Text(text) if names_a_file(text));
    second.filter(|_| is_file).or(first)
}

/// Whether a text is the name of a file rather than a topology in words, such as `clos:rate=2.5Gbps`.
fn names_a_file(text: &str) -> bool {
    let words = text.contains(':') || !text.contains('.');
    text.contains('/') || !words || Path::new(text).is_file()
}

/// The flags of a command, each once.
fn arguments(command: scenario::Command) -> Vec<(Key, Flag)> {
    let mut all = declared(command);
    let mut names = BTreeSet::new();
    all.retain(|(_, flag)| names.insert(flag.name));
    all
}

/// The name of a flag without dashes.
fn name(flag: &Flag) -> &'static str {
    flag.name.trim_start_matches('-')
}

fn argument<C: Flagged>(key: &Key, flag: &Flag) -> Arg {
    let arg = Arg::new(name(flag)).long(name(flag));
    let mut help = flag.help.map_or(key.meaning.trim_end_matches('.').to_string(), String::from);
    if flag.switch {
        return arg.help(help).action(ArgAction::SetTrue);
    }
    let own = match &key.default {
        Preset::Value(value) if C::SHOWS_DEFAULTS && value != "[]" => Some(value.clone()),
        Preset::Words(words) if C::SHOWS_DEFAULTS => Some(words.to_string()),
        _ => None,
    };
    if let Some(default) = Flags::<C>::presets().value(key).or(own) {
        help += &format!(" [default: {default}]");
    }
    let of_flag = key.of_flag;
    let read = move |text: &str| of_flag(text).map_err(|fault| Fault::new(fault.into_problem()));
    let action = if key.form == Form::List { ArgAction::Append } else { ArgAction::Set };
    arg.help(help)
        .value_name(flag.value)
        .action(action)
        .allow_hyphen_values(key.form == Form::Other)
        .value_parser(read)
}

impl<C: Flagged> Args for Flags<C> {
    fn augment_args(command: Command) -> Command {
        let all = arguments(C::COMMAND);
        C::relations(command.args(all.iter().map(|(key, flag)| argument::<C>(key, flag))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Flagged> FromArgMatches for Flags<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags<C>, clap::Error> {
        let known = declared(C::COMMAND);
        let given = |(_, flag): (Key, Flag)| {
            let value = match flag.switch {
                true => {
                    let set = matches.get_flag(name(&flag));
                    set.then(|| Node::one(flag.value, Origin::Unknown))?
                }
                false => together(matches.get_many::<Node>(name(&flag))?.cloned())?,
            };
            let (key, flag) = meant(&known, flag.name, &value).cloned()?;
            Some((key, flag, value))
        };
        Ok(Flags(arguments(C::COMMAND).into_iter().filter_map(given).collect(), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What the value of a flag that is no text of a command line stands for; `None` for a switch that is
/// off.
fn value_of(key: &Key, flag: &Flag, value: &Node) -> Result<Option<Node>, Fault> {
    match &value.value {
        Value::Flag(on) if flag.switch => {
            Ok(on.then(|| Node::one(flag.value, Origin::Unknown).value.into()))
        }
        _ if flag.switch => Err(Fault::value(flag.name, value, expected("true or false"))),
        Value::Text(text) => (key.of_flag)(text).map(Some),
        _ => Ok(Some(value.clone())),
    }
}

/// The value of a flag; lists that were given one by one are one list.
fn together(values: impl Iterator<Item = Node>) -> Option<Node> {
    values.reduce(|before, node| match (before.value, node.value) {
        (Value::List(mut all), Value::List(more)) => {
            all.extend(more);
            Value::List(all).into()
        }
        (_, last) => last.into(),
    })
}
