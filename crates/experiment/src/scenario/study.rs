//! `[study]`: one scenario at many points. It is no part of a [`Scenario`](super::Scenario), which
//! is one point.

use super::Field;
use super::key::{Form, Key, Preset};
use super::node::{Node, Value};
use super::range;
pub use super::range::Any;
use super::section::{Section, Table, join, within};
use super::section::{brief, first, preset, read_key, section, section_field};
use crate::Fault;
use crate::fault::{expected, wrong};
use std::collections::BTreeMap;
use std::convert::Infallible;

section! {
    /// One scenario at many points: every combination of values, under every transport, with every
    /// seed.
    pub struct Study is "[study]" {
        /// Number of seeds - `run.seed`, the next, and so on -, or a list of seeds. Not with
        /// `repeat_until`.
        seeds: Option<Seeds> = None, says "1";
        /// The transport or variant that paired differences are taken from.
        baseline: Option<String> = None, says "the first";
        /// Groups of varied keys that advance together, such as `[["fabric.rate",
        /// "fabric.buffer"]]`; keys of different groups are combined, each value with each.
        zip: Vec<Vec<String>> = vec![];
        /// Write report and tables of every run, in `reports/` below the study.
        reports: bool = false;
        /// Varied keys. The value of each is a list, or a range: `{ from = 0.1, to = 0.9, step = 0.1
        /// }`, `{ from = 1, to = 1000, factor = 10 }` or `{ from = "1us", to = "1ms", count = 7,
        /// scale = "log" }` (`scale` is `linear` or `log`), both ends included.
        vary: Ordered<Values> = Ordered(vec![]);
        /// Where a varied key is varied, as in `"fabric.buffer" = { transport = "dctcp",
        /// "traffic.0.load" = [0.8, 0.9] }`; elsewhere it keeps the value of the scenario. A
        /// condition is a varied key or `transport`, with one value or a list.
        when: Ordered<Ordered<Choice>> = Ordered(vec![]), says "everywhere";
        /// Variants of transports beside those of `transport.names`, as in `"ren: spend=any" = {
        /// transport = "ren", spend = "any" }`: a transport, its parameters, and if needed its
        /// `routing` or one of `fabric.buffer`, `fabric.shared_buffer` and `fabric.pfc`.
        variants: Ordered<Ordered<Any>> = Ordered(vec![]);
        /// Seeds are added to a combination of values until a number is known well enough, for
        /// every transport. Excludes `seeds`.
        repeat_until: Option<RepeatUntil> = None;
        /// Copies of input files, relative to this file, by the names that the scenario has for
        /// them. Written with a study, so that its folder can be handed over.
        files: BTreeMap<String, String> = BTreeMap::new(), says "read where the scenario says";
    }
}

section! {
    /// When there are seeds enough.
    pub struct RepeatUntil is "[study.repeat_until]" {
        /// A number of a run, such as `slowdown_p99`.
        metric: String;
        /// Largest half width of its 95 % confidence interval over seeds (Student's t): a share of
        /// its mean, such as `"5%"`, or a value in its unit, such as `"0.2"`.
        half_width: String;
        /// Seeds that every combination has.
        least: u32 = 3, "2 to 1000" => |count| (2..=1000).contains(count);
        /// Seeds that no combination exceeds.
        most: u32 = 40, "2 to 1000" => |count| (2..=1000).contains(count);
    }
}

section_field! { Study, RepeatUntil }

impl Study {
    /// Reads the section; `node` is the value of `study`.
    ///
    /// # Errors
    /// An unknown key, a value of another type or beyond its range.
    pub fn of_node(node: &Node) -> Result<Study, Fault> {
        let study = Study::read(node, "study")?;
        study.check_keys("study")?;
        Ok(study)
    }

    /// The section as it would be written.
    pub fn to_node(&self) -> Node {
        Value::Table(self.entries()).into()
    }

    /// Every key of the section.
    pub fn all_keys() -> Vec<Key> {
        Study::describe("study")
    }
}

/// How many seeds, or which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// So many, from `run.seed` on.
    Count(u32),
    /// These.
    Listed(Vec<u64>),
}

impl Field for Seeds {
    type Item = Infallible;
    fn expects() -> String {
        "1 to 100000, or a list of different whole numbers".into()
    }
    fn read(node: &Node, path: &str) -> Result<Seeds, Fault> {
        let wrong = || Fault::value(path, node, expected(Seeds::expects()));
        match &node.value {
            Value::Whole(count @ 1..=100_000) => Ok(Seeds::Count(*count as u32)),
            Value::List(list) if !list.is_empty() => {
                let seeds = Vec::<u64>::read(node, path)?;
                let twice = (1..list.len()).find(|at| seeds[..*at].contains(&seeds[*at]));
                twice.map_or(Ok(Seeds::Listed(seeds)), |_| Err(wrong()))
            }
            _ => Err(wrong()),
        }
    }
    fn write(&self) -> Option<Node> {
        match self {
            Seeds::Count(count) => count.write(),
            Seeds::Listed(list) => list.write(),
        }
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

/// A table whose keys are in the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T: Field> Field for Ordered<T> {
    const FORM: Form = Form::Other;
    type Item = Infallible;
    fn expects() -> String {
        format!("a table, each value {}", T::expects())
    }
    fn read(node: &Node, path: &str) -> Result<Ordered<T>, Fault> {
        let Value::Table(entries) = &node.value else {
            return Err(Fault::value(path, node, expected(Self::expects())));
        };
        let mut entries: Vec<&(String, Node)> = entries.iter().collect();
        entries.sort_by_key(|(_, node)| node.origin.line());
        let one = |(key, node): &(String, Node)| {
            Ok((key.clone(), T::read(node, &format!("{path}.{key}"))?))
        };
        entries.into_iter().map(one).collect::<Result<_, Fault>>().map(Ordered)
    }
    fn write(&self) -> Option<Node> {
        let one = |(key, value): &(String, T)| Some((key.clone(), value.write()?));
        Some(Value::Table(self.0.iter().filter_map(one).collect()).into())
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

/// The values of a varied key: one or more, a range written out.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(pub Vec<Node>);

impl Field for Values {
    type Item = Infallible;
    fn expects() -> String {
        "a list of values, or a range such as `{ from = 0.1, to = 0.9, step = 0.1 }`".into()
    }
    fn read(node: &Node, path: &str) -> Result<Values, Fault> {
        let list = match &node.value {
            Value::List(list) => list.clone(),
            Value::Table(_) => range::values(node, path)?,
            _ => return Err(Fault::value(path, node, expected(Self::expects()))),
        };
        if list.is_empty() {
            return Err(Fault::at(path, wrong("no values").expected("one or more")));
        }
        let texts: Vec<String> = list.iter().map(Node::to_string).collect();
        match (1..texts.len()).find(|at| texts[..*at].contains(&texts[*at])) {
            Some(at) => {
                Err(Fault::value(path, &list[at], wrong("twice").expected("each value once")))
            }
            None => Ok(Values(list)),
        }
    }
    fn write(&self) -> Option<Node> {
        Some(Value::List(self.0.clone()).into())
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}

/// One value, or any of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice(pub Vec<Node>);

impl Field for Choice {
    type Item = Infallible;
    fn expects() -> String {
        "a value, or a list of values".into()
    }
    fn read(node: &Node, _path: &str) -> Result<Choice, Fault> {
        Ok(Choice(match &node.value {
            Value::List(list) => list.clone(),
            _ => vec![node.clone()],
        }))
    }
    fn write(&self) -> Option<Node> {
        Some(Value::List(self.0.clone()).into())
    }
    fn items(&self) -> Vec<&Infallible> {
        vec![]
    }
}
