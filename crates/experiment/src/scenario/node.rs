//! A value of a scenario before its type is known, and where it was written.

use crate::Fault;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere in particular: a preset, or a file without line numbers.
    #[default]
    Unknown,
    /// This line of the file.
    Line(usize),
    /// This `--set` option, counted from 0.
    Set(usize),
    /// This flag, such as `--load`.
    Flag(&'static str),
}

impl Origin {
    /// The line of the file, if it is in one.
    pub fn line(self) -> Option<usize> {
        match self {
            Origin::Line(line) => Some(line),
            _ => None,
        }
    }
}

/// A value without its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, or a quantity with its unit.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// Another number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// A table: keys and values.
    Table(Vec<(String, Node)>),
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What.
    pub value: Value,
    /// Where.
    pub origin: Origin,
}

impl From<Value> for Node {
    fn from(value: Value) -> Node {
        Node { value, origin: Origin::Unknown }
    }
}

impl Node {
    /// Some text.
    pub fn text(text: impl Into<String>) -> Node {
        Value::Text(text.into()).into()
    }

    /// A table without keys.
    pub fn table() -> Node {
        Value::Table(vec![]).into()
    }

    /// Reads TOML. Every value knows its line.
    pub fn document(text: &str, name: &str) -> Result<Node, Fault> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = line(text, error.span().map_or(0, |span| span.start));
            let written = text.lines().nth(line - 1).unwrap_or("").trim();
            Fault::new(format!("{written}: {}", error.message())).on_line(name, line)
        })?;
        let origin = |at: usize| Origin::Line(line(text, at));
        Ok(of_table(table.into_inner(), &origin, Origin::Line(1)))
    }

    /// The same without knowing where it was written.
    pub fn anywhere(self) -> Node {
        let value = match self.value {
            Value::List(list) => Value::List(list.into_iter().map(Node::anywhere).collect()),
            Value::Table(entries) => {
                let one = |(key, node): (String, Node)| (key, node.anywhere());
                Value::Table(entries.into_iter().map(one).collect())
            }
            other => other,
        };
        value.into()
    }

    /// Reads one TOML value; what is none is text.
    pub fn one(text: &str, origin: Origin) -> Node {
        match DeValue::parse(text) {
            Ok(value) => of_value(value.into_inner(), &|_| origin, origin),
            Err(_) => Node { origin, ..Node::text(text) },
        }
    }

    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// Whether this is traffic of a kind.
    pub fn is_kind(&self, kind: &str) -> bool {
        let is = |node: &Node| matches!(&node.value, Value::Text(text) if text == kind);
        self.get("kind").is_some_and(is)
    }

    /// The part below: the value of a key, or the entry of a list by its number.
    pub fn step(&self, part: &str) -> Option<&Node> {
        match &self.value {
            Value::List(list) => list.get(part.parse::<usize>().ok()?),
            _ => self.get(part),
        }
    }

    /// What is at a path such as `traffic.0.load`.
    pub fn at(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, part| node.step(part))
    }

    /// The part below that a path begins with, and the rest of the path. Keys of `[study]` have dots.
    pub fn along<'a>(&self, path: &'a str) -> Option<(&Node, &'a str)> {
        let rest = |name: &str| match path.strip_prefix(name)? {
            "" => Some(""),
            rest => rest.strip_prefix('.'),
        };
        match &self.value {
            Value::Table(entries) => {
                let fits = entries.iter().filter_map(|(name, node)| Some((node, rest(name)?)));
                fits.min_by_key(|(_, rest)| rest.len())
            }
            _ => {
                let (part, rest) = path.split_once('.').unwrap_or((path, ""));
                Some((self.step(part)?, rest))
            }
        }
    }

    /// The part below to be changed; a key that a table lacks is added as an empty table.
    pub fn step_mut(&mut self, part: &str, origin: Origin) -> Option<&mut Node> {
        match &mut self.value {
            Value::List(list) => list.get_mut(part.parse::<usize>().ok()?),
            Value::Table(entries) => {
                let at = entries.iter().position(|(name, _)| name == part).unwrap_or_else(|| {
                    entries.push((part.to_string(), Node { origin, ..Node::table() }));
                    entries.len() - 1
                });
                Some(&mut entries[at].1)
            }
            _ => None,
        }
    }
}

/// The line, counted from 1, of a byte of a text.
fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn of_table(table: DeTable<'_>, place: &dyn Fn(usize) -> Origin, origin: Origin) -> Node {
    let entry = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
        let own = place(key.span().start);
        let name: std::borrow::Cow<'_, str> = key.into_inner();
        (name.into_owned(), of_value(value.into_inner(), place, own))
    };
    Node { value: Value::Table(table.into_iter().map(entry).collect()), origin }
}

fn of_value(value: DeValue<'_>, place: &dyn Fn(usize) -> Origin, origin: Origin) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Whole(number),
            Err(_) => Value::Text(number.to_string()),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(number.to_string()),
        },
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        DeValue::Array(list) => {
            let one = |value: Spanned<DeValue<'_>>| {
                let own = place(value.span().start);
                of_value(value.into_inner(), place, own)
            };
            Value::List(list.into_iter().map(one).collect())
        }
        DeValue::Table(table) => return of_table(table, place, origin),
    };
    Node { value, origin }
}

/// The value in TOML syntax.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Text(text) => f.write_str(text),
            Value::Whole(number) => write!(f, "{number}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::List(list) => {
                let all: Vec<String> = list.iter().map(Node::to_string).collect();
                write!(f, "[{}]", all.join(", "))
            }
            Value::Table(entries) => {
                let one = |(key, node): &(String, Node)| format!("{key} = {node}");
                let all: Vec<String> = entries.iter().map(one).collect();
                write!(f, "{{{}}}", all.join(", "))
            }
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Text(text) => to.serialize_str(text),
            Value::Whole(number) => match i64::try_from(*number) {
                Ok(number) => to.serialize_i64(number),
                // Exceeds the range of TOML integers.
                Err(_) => to.serialize_str(&number.to_string()),
            },
            Value::Number(number) => to.serialize_f64(*number),
            Value::Flag(flag) => to.serialize_bool(*flag),
            Value::List(list) => to.collect_seq(list),
            Value::Table(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, node) in entries {
                    map.serialize_entry(key, node)?;
                }
                map.end()
            }
        }
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a scenario")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::text(text))
    }
    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Node, E> {
        Ok(Value::Flag(flag).into())
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Node, E> {
        Ok(Value::Whole(number.into()).into())
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Node, E> {
        Ok(Value::Whole(number.into()).into())
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Node, E> {
        Ok(Value::Number(number).into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut all = vec![];
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Value::List(all).into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut all = vec![];
        while let Some(entry) = map.next_entry()? {
            all.push(entry);
        }
        Ok(Value::Table(all).into())
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        from.deserialize_any(AnyValue)
    }
}
