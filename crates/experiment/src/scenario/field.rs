//! Types that a key of a scenario can have: how each is read, written and described.

use super::delay::DelayText;
use super::key::{Form, Key};
use super::node::{Node, Value};
use crate::Fault;
use crate::fault::{self, expected};
use incast_transport::{Bytes, Limit, Rate, Setting, Span};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;

/// A type that a key can have.
pub trait Field: Sized {
    /// How a value is written on the command line.
    const FORM: Form = Form::Other;

    /// What kind of value it is, for forms; `section` is one with keys of its own.
    const KIND: &'static str = "section";

    /// The type that an accepted range applies to: the value, or the element of an option or list.
    type Item: fmt::Display;

    /// What may be written, such as "a time such as `8us`".
    fn expects() -> String;

    /// Reads a value; `path` is the key, for messages.
    fn read(node: &Node, path: &str) -> Result<Self, Fault>;

    /// Writes the value so that [`Field::read`] gives it back; `None` if the key is left out.
    fn write(&self) -> Option<Node>;

    /// Writes only what differs from the defaults of a section.
    fn brief(&self) -> Option<Node> {
        self.write()
    }

    /// The values that an accepted range is about.
    fn items(&self) -> Vec<&Self::Item>;

    /// What the text of a flag stands for.
    fn of_flag(text: &str) -> Node {
        Node::text(text)
    }

    /// Checks the accepted ranges of what is inside.
    fn check(&self, _path: &str) -> Result<(), Fault> {
        Ok(())
    }

    /// The keys inside.
    fn keys(_path: &str) -> Vec<Key> {
        vec![]
    }
}

/// Refuses a value of the wrong type.
pub(super) fn wrong<T: Field>(node: &Node, path: &str) -> Fault {
    Fault::value(path, node, expected(T::expects()))
}

/// Hosts that are written as a number or a list of numbers, as text.
fn numbers(value: &Value) -> Option<String> {
    let number = |value: &Value| match value {
        Value::Whole(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    let all: Option<Vec<u32>> = match value {
        Value::List(all) => all.iter().map(|one| number(&one.value)).collect(),
        one => number(one).map(|one| vec![one]),
    };
    all.filter(|all| !all.is_empty()).map(|all| Hosts::listed(all).to_string())
}

/// Types that are written as text: a quantity with its unit, or a name.
macro_rules! by_text {
    ($($ty:ty, $form:ident, $kind:literal, $expects:expr;)*) => {$(
        impl Field for $ty {
            const FORM: Form = Form::$form;
            const KIND: &'static str = $kind;
            type Item = $ty;
            fn expects() -> String {
                $expects.into()
            }
            fn read(node: &Node, path: &str) -> Result<$ty, Fault> {
                let text = match &node.value {
                    Value::Text(text) => text.clone(),
                    value if $kind == "hosts" => {
                        numbers(value).ok_or_else(|| wrong::<$ty>(node, path))?
                    }
                    _ => return Err(wrong::<$ty>(node, path)),
                };
                text.parse().map_err(|error| Fault::from(error).of(path))
            }
            fn write(&self) -> Option<Node> {
                Some(Node::text(self.to_string()))
            }
            fn items(&self) -> Vec<&$ty> {
                vec![self]
            }
        }
    )*};
}
by_text! {
    Span, Other, "time", "a time such as `8us`";
    Bytes, Other, "bytes", "a size such as `64KB`";
    Rate, Other, "rate", "a rate such as `40Gbps`";
    String, Text, "text", "text";
    Buffer, Other, "buffer", "a size such as `128KiB`, `<n>packets` or `unlimited`";
    Hosts, Other, "hosts", "hosts such as `0-7,9`";
    DelayText, Other, "text", DelayText::FORMS;
}

/// Whole numbers.
macro_rules! whole {
    ($($ty:ty),*) => {$(
        impl Field for $ty {
            const KIND: &'static str = "whole";
            type Item = $ty;
            fn expects() -> String {
                "a whole number".into()
            }
            fn read(node: &Node, path: &str) -> Result<$ty, Fault> {
                // A number beyond TOML's integers is written as text.
                let number = match &node.value {
                    Value::Whole(number) => Some(*number),
                    // Such as `1e3`; beyond 2^53 a float is not what was written.
                    Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                        Some(*number as i128)
                    }
                    Value::Text(text) => text.parse().ok(),
                    _ => None,
                };
                match number {
                    Some(number) => <$ty>::try_from(number).map_err(|_| {
                        let most = <$ty>::MAX;
                        let problem = match number < 0 {
                            true => fault::wrong("negative").expected("a whole number, 0 or more"),
                            false => fault::wrong("too large").expected(format!("at most {most}")),
                        };
                        Fault::value(path, node, problem)
                    }),
                    None => Err(Fault::value(path, node, expected("a whole number, 0 or more"))),
                }
            }
            fn write(&self) -> Option<Node> {
                Some(Value::Whole(*self as i128).into())
            }
            fn items(&self) -> Vec<&$ty> {
                vec![self]
            }
        }
    )*};
}
whole!(u8, u32, u64, usize);

impl Field for f64 {
    const KIND: &'static str = "number";
    type Item = f64;
    fn expects() -> String {
        "a number".into()
    }
    fn read(node: &Node, path: &str) -> Result<f64, Fault> {
        match node.value {
            Value::Number(number) => Ok(number),
            Value::Whole(number) => Ok(number as f64),
            _ => Err(wrong::<f64>(node, path)),
        }
    }
    fn write(&self) -> Option<Node> {
        Some(Value::Number(*self).into())
    }
    fn items(&self) -> Vec<&f64> {
        vec![self]
    }
    fn of_flag(text: &str) -> Node {
        text.parse().map_or_else(|_| Node::text(text), |number| Value::Number(number).into())
    }
}

impl Field for bool {
    const KIND: &'static str = "flag";
    type Item = bool;
    fn expects() -> String {
        "true or false".into()
    }
    fn read(node: &Node, path: &str) -> Result<bool, Fault> {
        match node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(wrong::<bool>(node, path)),
        }
    }
    fn write(&self) -> Option<Node> {
        Some(Value::Flag(*self).into())
    }
    fn items(&self) -> Vec<&bool> {
        vec![self]
    }
    fn of_flag(text: &str) -> Node {
        text.parse().map_or_else(|_| Node::text(text), |flag| Value::Flag(flag).into())
    }
}

/// A value, or `auto`: derived from the rest of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto<T>(pub Option<T>);

/// Derived.
pub const fn auto<T>() -> Auto<T> {
    Auto(None)
}

impl<T: Field> Field for Auto<T> {
    const FORM: Form = T::FORM;
    const KIND: &'static str = T::KIND;
    type Item = T::Item;
    fn expects() -> String {
        format!("{}, or `auto`", T::expects())
    }
    fn read(node: &Node, path: &str) -> Result<Auto<T>, Fault> {
        match &node.value {
            Value::Text(text) if text == "auto" => Ok(Auto(None)),
            _ => T::read(node, path).map(|value| Auto(Some(value))),
        }
    }
    fn write(&self) -> Option<Node> {
        self.0.as_ref().map_or_else(|| Some(Node::text("auto")), T::write)
    }
    fn brief(&self) -> Option<Node> {
        self.0.as_ref().map_or_else(|| Some(Node::text("auto")), T::brief)
    }
    fn items(&self) -> Vec<&T::Item> {
        self.0.as_ref().map_or(vec![], T::items)
    }
    fn of_flag(text: &str) -> Node {
        T::of_flag(text)
    }
}

impl<T: Field> Field for Option<T> {
    const FORM: Form = T::FORM;
    const KIND: &'static str = T::KIND;
    type Item = T::Item;
    fn expects() -> String {
        T::expects()
    }
    fn read(node: &Node, path: &str) -> Result<Option<T>, Fault> {
        T::read(node, path).map(Some)
    }
    fn write(&self) -> Option<Node> {
        self.as_ref().and_then(T::write)
    }
    fn brief(&self) -> Option<Node> {
        self.as_ref().and_then(T::brief)
    }
    fn items(&self) -> Vec<&T::Item> {
        self.as_ref().map_or(vec![], T::items)
    }
    fn of_flag(text: &str) -> Node {
        T::of_flag(text)
    }
    fn check(&self, path: &str) -> Result<(), Fault> {
        self.as_ref().map_or(Ok(()), |value| value.check(path))
    }
    fn keys(path: &str) -> Vec<Key> {
        T::keys(path)
    }
}

impl<T: Field> Field for Vec<T> {
    const FORM: Form = Form::List;
    const KIND: &'static str = "list";
    type Item = T::Item;
    fn expects() -> String {
        format!("a list, each {}", T::expects())
    }
    fn read(node: &Node, path: &str) -> Result<Vec<T>, Fault> {
        let Value::List(list) = &node.value else { return Err(wrong::<Vec<T>>(node, path)) };
        let one = |(at, node): (usize, &Node)| T::read(node, &format!("{path}.{at}"));
        list.iter().enumerate().map(one).collect()
    }
    fn write(&self) -> Option<Node> {
        Some(Value::List(self.iter().filter_map(T::write).collect()).into())
    }
    fn brief(&self) -> Option<Node> {
        Some(Value::List(self.iter().filter_map(T::brief).collect()).into())
    }
    fn items(&self) -> Vec<&T::Item> {
        self.iter().flat_map(T::items).collect()
    }
    /// Entries with commas between them.
    fn of_flag(text: &str) -> Node {
        Value::List(text.split(',').map(|one| T::of_flag(one.trim())).collect()).into()
    }
    fn check(&self, path: &str) -> Result<(), Fault> {
        let mut all = self.iter().enumerate();
        all.try_for_each(|(at, value)| value.check(&format!("{path}.{at}")))
    }
    fn keys(path: &str) -> Vec<Key> {
        T::keys(path)
    }
}

impl<T: Field> Field for BTreeMap<String, T> {
    const KIND: &'static str = "table";
    type Item = Infallible;
    fn expects() -> String {
        format!("a table, each value {}", T::expects())
    }
    fn read(node: &Node, path: &str) -> Result<BTreeMap<String, T>, Fault> {
        let Value::Table(entries) = &node.value else { return Err(wrong::<Self>(node, path)) };
        let one = |(key, node): &(String, Node)| {
            Ok((key.clone(), T::read(node, &format!("{path}.{key}"))?))
        };
        entries.iter().map(one).collect()
    }
    fn write(&self) -> Option<Node> {
        let one = |(key, value): (&String, &T)| Some((key.clone(), value.write()?));
        Some(Value::Table(self.iter().filter_map(one).collect()).into())
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

/// A parameter of a transport, which reads it by its type.
impl Field for Setting {
    const KIND: &'static str = "text";
    type Item = Infallible;
    fn expects() -> String {
        "text, a number, true, false, a list, or a table".into()
    }
    fn read(node: &Node, _path: &str) -> Result<Setting, Fault> {
        fn setting(node: &Node) -> Setting {
            match &node.value {
                Value::Text(text) => Setting::Text(text.clone()),
                Value::Whole(number) => Setting::Whole(*number),
                Value::Number(number) => Setting::Number(*number),
                Value::Flag(flag) => Setting::Flag(*flag),
                Value::List(list) => Setting::List(list.iter().map(setting).collect()),
                Value::Table(entries) => {
                    let one = |(key, node): &(String, Node)| (key.clone(), setting(node));
                    Setting::Table(entries.iter().map(one).collect())
                }
            }
        }
        Ok(setting(node))
    }
    fn write(&self) -> Option<Node> {
        Some(Node::text(self.to_string()))
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

/// Bytes that a link charges beyond the network layer: a number, or whether there are Ethernet's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead(pub u32);

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for Overhead {
    const KIND: &'static str = "whole";
    type Item = Overhead;
    fn expects() -> String {
        "a whole number, true or false".into()
    }
    fn read(node: &Node, path: &str) -> Result<Overhead, Fault> {
        match node.value {
            Value::Flag(true) => Ok(Overhead(38)),
            Value::Flag(false) => Ok(Overhead(0)),
            Value::Whole(_) => u32::read(node, path).map(Overhead),
            _ => Err(wrong::<Overhead>(node, path)),
        }
    }
    fn write(&self) -> Option<Node> {
        self.0.write()
    }
    fn items(&self) -> Vec<&Overhead> {
        vec![self]
    }
    fn of_flag(text: &str) -> Node {
        bool::of_flag(text)
    }
}

/// A port's buffer: `"128KiB"`, `"128packets"` or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer(pub Limit);

impl std::str::FromStr for Buffer {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Buffer, Fault> {
        let trimmed = text.trim();
        if let Some(count) = trimmed.strip_suffix("packets").or(trimmed.strip_suffix("packet")) {
            return match count.trim().parse::<u32>() {
                Ok(count) if count > 0 => Ok(Buffer(Limit::Packets(count))),
                _ => Err(Fault::text(text, expected("a whole number of packets above 0"))),
            };
        }
        if trimmed == "unlimited" {
            return Ok(Buffer(Limit::Unlimited));
        }
        match trimmed.parse::<Bytes>() {
            Ok(Bytes(0)) => Err(Fault::text(text, "a buffer cannot be empty")),
            Ok(bytes) => Ok(Buffer(Limit::Bytes(bytes.0))),
            Err(fault) => Err(fault.or("`<n>packets` or `unlimited`")),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Limit::Packets(count) => write!(f, "{count}packets"),
            Limit::Bytes(bytes) => write!(f, "{}", Bytes(bytes)),
            Limit::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// Hosts in an order, as ranges with both ends: `0-7,9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(pub Vec<(u32, u32)>);

impl Hosts {
    /// Each host of a list, neighbours as ranges.
    pub fn listed(hosts: impl IntoIterator<Item = u32>) -> Hosts {
        let mut ranges: Vec<(u32, u32)> = vec![];
        for host in hosts {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(host) => *last = host,
                _ => ranges.push((host, host)),
            }
        }
        Hosts(ranges)
    }

    /// The hosts one by one; refused unless all are below `most`. `key` is for messages.
    pub fn below(&self, most: u32, key: &str) -> Result<Vec<u32>, Fault> {
        if self.0.iter().any(|(_, last)| *last >= most) {
            let problem = expected(format!("hosts below {most}, such as `0-7,9`"));
            return Err(Fault::value(key, self, problem));
        }
        Ok(self.0.iter().flat_map(|(first, last)| *first..=*last).collect())
    }
}

impl std::str::FromStr for Hosts {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Hosts, Fault> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        let ranges: Option<Vec<(u32, u32)>> = text.split(',').map(range).collect();
        ranges.map(Hosts).ok_or_else(|| Fault::text(text, expected("hosts such as `0-7,9`")))
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}
