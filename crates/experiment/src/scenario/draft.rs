//! A scenario that is being put together: a file, then overrides and flags. Every value knows where
//! it was written, so that whatever is wrong with it is reported there.

use super::field::Field;
use super::key::{Flag, Key};
use super::node::{Node, Origin, Value};
use super::{Run, Scenario, Traffic};
use crate::Fault;
use crate::fault::{Problem, expected, wrong};
use crate::files::{bytes_of, text_of};
use incast_measure::InputFile;
use std::path::Path;

/// A `--set` option.
#[derive(Clone, Debug)]
pub struct Override {
    /// As it was written: `ren.rule=gap`.
    pub written: String,
    /// The key that it sets: `transport.parameters.ren.rule`.
    pub key: String,
}

/// A scenario that is being put together.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What messages call the file; empty if there is none.
    name: String,
    root: Node,
    sets: Vec<Override>,
    /// The file that it was read from.
    pub file: Option<InputFile>,
    /// What every message is to mention.
    pub note: Option<String>,
}

impl Draft {
    /// Reads a scenario file.
    pub fn load(path: &Path) -> Result<Draft, Fault> {
        let name = path.display().to_string();
        let bytes = bytes_of(&name)?;
        let file = Some(InputFile::of(&name, "scenario", &bytes));
        Ok(Draft { file, ..Draft::parse(&text_of(&name, &bytes)?, &name)? })
    }

    /// Reads a scenario; `name` is what messages call it.
    pub fn parse(text: &str, name: &str) -> Result<Draft, Fault> {
        Ok(Draft::of_node(Node::document(text, name)?, name))
    }

    /// Takes values that have been read already.
    pub fn of_node(root: Node, name: &str) -> Draft {
        Draft { name: name.into(), root, sets: vec![], file: None, note: None }
    }

    /// The presets of a command. Panics if they are no TOML: only a bug can bring that.
    pub fn preset(text: &str) -> Draft {
        let root = Node::document(text, "a preset").expect("presets are TOML");
        Draft::of_node(root.anywhere(), "")
    }

    /// Applies overrides: `a.b.c=value`, where numbers index lists.
    pub fn sets(mut self, sets: &[String]) -> Result<Draft, Fault> {
        for set in sets {
            self.set(set, set)?;
        }
        Ok(self)
    }

    /// Applies an override whose original text differs from `key=value`.
    pub fn set(&mut self, set: &str, written: &str) -> Result<(), Fault> {
        let fail = |why: Problem| Fault::new(why).placed(format!("--set {written}"));
        let (key, value) = set.split_once('=').ok_or_else(|| fail(expected("key=value")))?;
        if parts(key).any(|part| bare(part).is_empty()) {
            return Err(fail(wrong("an empty part in the key")));
        }
        let origin = Origin::Set(self.sets.len());
        self.sets.push(Override { written: written.into(), key: key.into() });
        self.put(key, Node::one(value, origin), origin).map_err(fail)
    }

    /// Sets a key by a flag.
    pub fn flag(&mut self, key: &Key, flag: &Flag, value: Node) {
        let path = match key.kind {
            Some(kind) => key.path.replacen("traffic", &format!("traffic.{}", self.entry(kind)), 1),
            None => key.path.clone(),
        };
        let origin = Origin::Flag(flag.name);
        let value = Node { origin, ..value };
        self.put(&path, value, origin).expect("a declared key leads through tables and lists");
    }

    /// Takes a key back, of any section but traffic: another one excludes it.
    pub fn remove(&mut self, key: &Key) {
        let mut place = &mut self.root;
        let mut parts = key.path.split('.').peekable();
        while let (Value::Table(entries), Some(part)) = (&mut place.value, parts.next()) {
            if parts.peek().is_none() {
                return entries.retain(|(name, _)| name != part);
            }
            let Some((_, next)) = entries.iter_mut().find(|(name, _)| name == part) else { return };
            place = next;
        }
    }

    /// The value of a key, as it would be written.
    pub fn value(&self, key: &Key) -> Option<String> {
        let traffic = self.root.get("traffic").map(|list| &list.value);
        let (place, path) = match (key.kind, traffic) {
            (None, _) => (&self.root, key.path.as_str()),
            (Some(kind), Some(Value::List(list))) => {
                (list.iter().find(|one| one.is_kind(kind))?, key.path.strip_prefix("traffic.")?)
            }
            (Some(_), _) => return None,
        };
        let found = path.split('.').try_fold(place, |node, part| node.step(part));
        found.map(|node| match &node.value {
            Value::List(list) => list.iter().map(Node::to_string).collect::<Vec<_>>().join(","),
            _ => node.to_string(),
        })
    }

    /// The number of the first entry of this kind of traffic; it is added if there is none.
    fn entry(&mut self, kind: &str) -> usize {
        let traffic = self.root.step_mut("traffic", Origin::Unknown).expect("a table");
        if !matches!(traffic.value, Value::List(_)) {
            traffic.value = Value::List(vec![]);
        }
        let Value::List(list) = &mut traffic.value else { unreachable!("made a list above") };
        list.iter().position(|one| one.is_kind(kind)).unwrap_or_else(|| {
            list.push(Value::Table(vec![("kind".into(), Node::text(kind))]).into());
            list.len() - 1
        })
    }

    /// What messages call the file; empty if there is none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Removes a section, which is no part of the scenario.
    pub fn take(&mut self, section: &str) -> Option<Node> {
        let Value::Table(entries) = &mut self.root.value else { return None };
        let at = entries.iter().position(|(name, _)| name == section)?;
        Some(entries.remove(at).1)
    }

    /// The value at a place, such as `traffic.0.load`, if it is written.
    pub fn written(&self, path: &str) -> Option<&Node> {
        self.root.at(path)
    }

    /// Sets the value at a place, written where the node says.
    ///
    /// # Errors
    /// A path through a list beyond its end, or through a single value.
    pub fn write(&mut self, path: &str, value: Node) -> Result<(), Fault> {
        let origin = value.origin;
        self.put(path, value, origin).map_err(|why| {
            let fault = Fault::at(path, why);
            match origin {
                Origin::Line(line) => fault.on_line(self.name.as_str(), line),
                _ => self.placed(fault),
            }
        })
    }

    /// Adds an entry of traffic.
    pub fn add(&mut self, traffic: &Traffic) {
        let list = self.root.step_mut("traffic", Origin::Unknown).expect("a table");
        match &mut list.value {
            Value::List(list) => list.extend(traffic.write()),
            other => *other = Value::List(traffic.write().into_iter().collect()),
        }
    }

    /// Puts a value at a place. The error says where the path leads through neither a table nor an
    /// entry of a list.
    fn put(&mut self, path: &str, value: Node, origin: Origin) -> Result<(), Problem> {
        if let Some(quoted) = unquoted(path) {
            let problem = format!("no such key: a name with dots stands in quotes: `{quoted}`");
            return Err(wrong(problem));
        }
        let mut place = &mut self.root;
        let mut from = 0;
        for part in parts(path) {
            let parent = path[..from].trim_end_matches('.');
            let entries = match &place.value {
                Value::List(list) => Some(list.len()),
                _ => None,
            };
            place = place.step_mut(bare(part), origin).ok_or_else(|| match entries {
                Some(0) => wrong(format!("no such key: `{parent}` is empty")),
                Some(1) => wrong("no such key").expected(format!("{parent}.0")),
                Some(count) => {
                    wrong("no such key").expected(format!("{parent}.0 to {parent}.{}", count - 1))
                }
                None => wrong(format!("no such key: `{parent}` is a single value")),
            })?;
            from += part.len() + 1;
        }
        *place = value;
        Ok(())
    }

    /// The scenario, every value read as its type and in its accepted range.
    pub fn scenario(&self) -> Result<Scenario, Fault> {
        if self.root.get("study").is_some() {
            let problem = wrong("the file describes a study of many runs")
                .expected("`incast study FILE`, or the scenario without [study]");
            return Err(self.placed(Fault::at("study", problem)));
        }
        let read = Scenario::read(&self.root, "").and_then(|scenario| {
            scenario.check_ranges()?;
            Ok(scenario)
        });
        read.map_err(|fault| self.placed(fault))
    }

    /// How to run, without the rest.
    pub fn run(&self) -> Result<Run, Fault> {
        let none = Node::table();
        let run = Run::read(self.root.get("run").unwrap_or(&none), "run");
        run.map_err(|fault| self.placed(fault))
    }

    /// Every `--set` option so far.
    pub fn overrides(&self) -> &[Override] {
        &self.sets
    }

    /// The first key of a section that a flag or a `--set` option gives.
    pub fn overridden(&self, section: &str) -> Option<String> {
        let Value::Table(entries) = &self.root.get(section)?.value else { return None };
        let given = |node: &Node| matches!(node.origin, Origin::Flag(_) | Origin::Set(_));
        let found = entries.iter().find(|(_, node)| given(node));
        found.map(|(key, _)| format!("{section}.{key}"))
    }

    /// What is wrong, reported where the value was written.
    pub fn placed(&self, fault: Fault) -> Fault {
        let fault = match &self.note {
            Some(note) => fault.noted(note),
            None => fault,
        };
        let (origin, exact) = fault.key().map_or((Origin::Unknown, false), |key| self.origin(key));
        match origin {
            Origin::Unknown => fault.placed(self.name.as_str()),
            Origin::Line(line) => fault.on_line(self.name.as_str(), line),
            Origin::Flag(flag) if exact => fault.called(flag),
            Origin::Flag(flag) => fault.placed(flag),
            Origin::Set(at) => {
                let set = &self.sets[at].written;
                let value = set.split_once('=').map_or("", |(_, value)| value);
                let said =
                    exact && fault.written().is_none_or(|own| own == value.trim_matches('"'));
                let bare = if said { fault.bare() } else { fault };
                bare.placed(format!("--set {set}"))
            }
        }
    }

    /// Where a key was written, and whether that is the key itself and not what it lies in.
    fn origin(&self, key: &str) -> (Origin, bool) {
        let (mut node, mut rest, mut found) = (&self.root, key, (Origin::Unknown, false));
        while let Some((next, left)) = node.along(rest) {
            found = (next.origin, left.is_empty());
            (node, rest) = (next, left);
        }
        found
    }
}

/// Parts of a key as they are written. Dots in quotes are part of a name, as in TOML:
/// `study.vary."traffic.0.load"`.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    path.split(move |c| {
        quoted ^= c == '"';
        c == '.' && !quoted
    })
}

/// A varied key with dots that is written without quotes, as it would be with them.
fn unquoted(path: &str) -> Option<String> {
    let key = path.strip_prefix("study.vary.").filter(|key| !key.starts_with('"'))?;
    let (start, last) = key.rsplit_once('.')?;
    // An end or a step of a range.
    Some(match ["from", "to", "step", "factor", "count", "scale"].contains(&last) {
        true => format!("study.vary.\"{start}\".{last}"),
        false => format!("study.vary.\"{key}\""),
    })
}

/// A part of a key without its quotes.
fn bare(part: &str) -> &str {
    part.strip_prefix('"').and_then(|part| part.strip_suffix('"')).unwrap_or(part)
}

impl Scenario {
    /// Reads a scenario file; `sets` are `key=value` overrides.
    pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, Fault> {
        Draft::load(path)?.sets(sets)?.scenario()
    }

    /// Reads a scenario; `name` is what messages call it.
    pub fn parse(text: &str, name: &str, sets: &[String]) -> Result<Scenario, Fault> {
        Draft::parse(text, name)?.sets(sets)?.scenario()
    }
}
