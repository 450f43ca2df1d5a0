//! Sections of a scenario, each declared once: keys with type, default, accepted range, meaning
//! and flag. Reading, writing, checks, documentation and the command line follow from it.

use super::field::Field;
use super::key::Key;
use super::node::{Node, Value};
use crate::Fault;
use crate::fault::{Problem, expected, one_of, wrong};

/// A table of keys.
pub trait Section: Sized {
    /// The title in a file, such as `[fabric]`, or what else the keys belong to.
    const TITLE: &'static str;

    /// What it is, in a sentence.
    const ABOUT: &'static str;

    /// Its keys.
    const KEYS: &'static [&'static str];

    /// Reads the keys.
    fn of_table(table: &Table<'_>) -> Result<Self, Fault>;

    /// Writes the keys.
    fn entries(&self) -> Vec<(String, Node)>;

    /// Writes the keys that differ from their defaults, and those without default.
    fn brief_entries(&self) -> Vec<(String, Node)>;

    /// Checks the accepted ranges; `path` is where the section is.
    fn check_keys(&self, path: &str) -> Result<(), Fault>;

    /// Describes the keys.
    fn describe(path: &str) -> Vec<Key>;

    /// Every key at its default. Panics if a key is required: only a bug can bring that.
    fn defaults() -> Self {
        let table = Table { path: "", title: Self::TITLE, entries: &[] };
        Self::of_table(&table).expect("no key is required")
    }
}

/// Keys of a section that is being read.
pub struct Table<'a> {
    path: &'a str,
    title: &'static str,
    entries: &'a [(String, Node)],
}

/// A key within a section.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

impl<'a> Table<'a> {
    /// The table that a node is.
    pub fn new(node: &'a Node, path: &'a str, title: &'static str) -> Result<Table<'a>, Fault> {
        match &node.value {
            Value::Table(entries) => Ok(Table { path, title, entries }),
            _ => Err(Fault::value(path, node, expected(format!("the keys of {title}")))),
        }
    }

    /// Refuses keys that the section does not have; `other` says more of one.
    pub fn only(
        &self,
        known: &[&str],
        other: impl Fn(&str, Problem) -> Problem,
    ) -> Result<(), Fault> {
        let unknown = self.entries.iter().find(|(key, _)| !known.contains(&key.as_str()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let known = other(key, one_of(key, known.iter().copied()));
        let problem = known.in_part(&format!("no such key of {}", self.title));
        Err(Fault::at(join(self.path, key), problem))
    }

    /// The value of a key, or its default.
    pub fn get<T: Field>(
        &self,
        key: &str,
        range: Option<&str>,
        default: impl FnOnce() -> T,
    ) -> Result<T, Fault> {
        match self.entries.iter().find(|(name, _)| name == key) {
            Some((_, node)) => read(node, &join(self.path, key), range),
            None => Ok(default()),
        }
    }

    /// The value of a key that is required.
    pub fn need<T: Field>(&self, key: &str, range: Option<&str>) -> Result<T, Fault> {
        match self.entries.iter().find(|(name, _)| name == key) {
            Some((_, node)) => read(node, &join(self.path, key), range),
            None if self.path.is_empty() => {
                Err(Fault::new(wrong(format!("there is no `{key}`")).expected(T::expects())))
            }
            None => {
                let (title, expects) = (self.title, T::expects());
                Err(Fault::at(self.path, format!("{title} needs the key `{key}`: {expects}")))
            }
        }
    }
}

/// Where the parameters of a transport are, if a key is its name.
pub fn parameters_of(key: &str, problem: Problem) -> Problem {
    match incast_protocols::find(key) {
        Some(_) => problem.meant(&*format!("transport.parameters.{key}")),
        None => problem,
    }
}

/// Reads a value. A whole number beyond what its type holds is refused with the accepted range of
/// the key, if it has one.
pub fn read<T: Field>(node: &Node, path: &str, range: Option<&str>) -> Result<T, Fault> {
    // The text of a flag is a number, too.
    let whole = match &node.value {
        Value::Whole(number) => *number >= 0,
        Value::Text(text) => text.parse::<u128>().is_ok(),
        _ => false,
    };
    match (T::read(node, path), range) {
        (Err(_), Some(range)) if whole && T::expects() == u64::expects() => {
            Err(Fault::value(path, node, expected(range)))
        }
        (value, _) => value,
    }
}

/// Refuses a value outside the accepted range.
pub fn within<T: Field>(
    value: &T,
    path: &str,
    range: &str,
    valid: fn(&T::Item) -> bool,
) -> Result<(), Fault> {
    match value.items().into_iter().find(|item| !valid(item)) {
        Some(item) => Err(Fault::value(path, item, expected(range))),
        None => Ok(()),
    }
}

/// Reads a key with its default, or one that is required.
macro_rules! read_key {
    ($table:ident, $key:expr, $range:expr) => {
        $table.need($key, $range)?
    };
    ($table:ident, $key:expr, $range:expr, $default:expr) => {
        $table.get($key, $range, || $default)?
    };
}

/// Default of a key, from its declaration.
macro_rules! preset {
    ($ty:ty, , ) => {
        Preset::Required
    };
    ($ty:ty, $default:expr, ) => {
        match <$ty as Field>::write(&$default) {
            Some(node) => Preset::Value(node.to_string()),
            None => Preset::Nothing,
        }
    };
    ($ty:ty, $default:expr, $says:literal) => {
        Preset::Words($says)
    };
}

/// Writes a key unless it is as its default.
macro_rules! brief {
    ($own:expr, $ty:ty, ) => {
        Field::brief($own)
    };
    ($own:expr, $ty:ty, $default:expr) => {{
        let default: $ty = $default;
        let default = Field::brief(&default);
        Field::brief($own).filter(|own| default.as_ref() != Some(own))
    }};
}

/// The one literal of several that is there.
macro_rules! first {
    () => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
}

/// Declares a section:
///
/// ```text
/// section! {
///     /// What it is.
///     pub struct Name is "title" {
///         /// What the key means.
///         key: Type = default, says "the default in words", "accepted range" => |v| valid,
///             flag [Commands] "--name" "VALUE", switch [Commands] "--name" "value";
///     }
/// }
/// ```
///
/// A key without default is required. All else may be left out.
macro_rules! section {
    ($(#[doc = $about:literal])+ pub struct $name:ident is $title:literal {
        $(
            $(#[doc = $doc:literal])+
            $field:ident: $ty:ty
                $(= $default:expr)?
                $(, says $says:literal)?
                $(, $range:literal => $valid:expr)?
                $(, flag [$($on:ident)+] $flag:literal $unit:literal $($help:literal)?)*
                $(, switch [$($son:ident)+] $switch:literal $set:literal $($shelp:literal)?)*;
        )*
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl $crate::scenario::section::Section for $name {
            const TITLE: &'static str = $title;
            const ABOUT: &'static str = concat!($($about),+);
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn of_table(table: &Table<'_>) -> Result<Self, Fault> {
                Ok($name {
                    $($field: read_key!(
                        table, stringify!($field), first!($($range)?) $(, $default)?
                    ),)*
                })
            }

            fn entries(&self) -> Vec<(String, Node)> {
                let all = [$((stringify!($field), Field::write(&self.$field)),)*];
                let one = |(key, node): (&str, Option<Node>)| Some((key.to_string(), node?));
                all.into_iter().filter_map(one).collect()
            }

            fn brief_entries(&self) -> Vec<(String, Node)> {
                let all = [$((stringify!($field), brief!(&self.$field, $ty, $($default)?)),)*];
                let one = |(key, node): (&str, Option<Node>)| Some((key.to_string(), node?));
                all.into_iter().filter_map(one).collect()
            }

            fn check_keys(&self, path: &str) -> Result<(), Fault> {
                $(
                    let key = join(path, stringify!($field));
                    $(within(&self.$field, &key, $range, $valid)?;)?
                    Field::check(&self.$field, &key)?;
                )*
                Ok(())
            }

            fn describe(path: &str) -> Vec<Key> {
                let mut all = vec![];
                $(
                    let key = join(path, stringify!($field));
                    all.push(Key {
                        section: $title,
                        path: key.clone(),
                        kind: None,
                        meaning: [$($doc.trim()),+].join(" "),
                        expects: <$ty as Field>::expects(),
                        value: <$ty as Field>::KIND,
                        range: first!($($range)?),
                        default: preset!($ty, $($default)?, $($says)?),
                        form: <$ty as Field>::FORM,
                        flags: vec![
                            $(Flag {
                                commands: &[$(Command::$on),+],
                                name: $flag,
                                value: $unit,
                                switch: false,
                                help: first!($($help)?),
                            },)*
                            $(Flag {
                                commands: &[$(Command::$son),+],
                                name: $switch,
                                value: $set,
                                switch: true,
                                help: first!($($shelp)?),
                            },)*
                        ],
                        of_flag: |text| {
                            let node = <$ty as Field>::of_flag(text);
                            let range: Option<&str> = first!($($range)?);
                            let value: $ty = $crate::scenario::section::read(&node, "", range)?;
                            $(within(&value, "", $range, $valid)?;)?
                            Field::check(&value, "")?;
                            Ok(node)
                        },
                    });
                    all.extend(<$ty as Field>::keys(&key));
                )*
                all
            }
        }
    };
}

/// Sections that are the value of a key.
macro_rules! section_field {
    ($($name:ident),*) => {$(
        impl Field for $name {
            type Item = std::convert::Infallible;
            fn expects() -> String {
                format!("a section {}", <$name as Section>::TITLE)
            }
            fn read(node: &Node, path: &str) -> Result<$name, Fault> {
                let table = Table::new(node, path, <$name as Section>::TITLE)?;
                table.only(<$name as Section>::KEYS, $crate::scenario::section::parameters_of)?;
                <$name as Section>::of_table(&table)
            }
            fn write(&self) -> Option<Node> {
                Some(Value::Table(Section::entries(self)).into())
            }
            fn brief(&self) -> Option<Node> {
                Some(Value::Table(Section::brief_entries(self)).into())
            }
            fn items(&self) -> Vec<&Self::Item> {
                vec![]
            }
            fn check(&self, path: &str) -> Result<(), Fault> {
                Section::check_keys(self, path)
            }
            fn keys(path: &str) -> Vec<Key> {
                <$name as Section>::describe(path)
            }
        }
    )*};
}

pub(super) use {brief, first, preset, read_key, section, section_field};
