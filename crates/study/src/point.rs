//! One point of a study under one transport: what a worker needs to run it.

use crate::series::Series;
use incast_experiment::fault::wrong;
use incast_experiment::scenario::{Node, Value};
use incast_experiment::{Content, Contents, Fault, Scenario, VERSION, identity_of, sources};
use incast_measure::measured::Wanted;
use incast_measure::{Run, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One combination of values under one transport or variant, with one seed.
#[derive(Clone, Debug)]
pub struct Point {
    /// Hash of all that decides its result; the name of its row.
    pub hash: String,
    /// Index in [`Study::series`](crate::Study::series).
    pub series: usize,
    /// The name of the transport or variant.
    pub label: String,
    /// The transport.
    pub transport: String,
    /// The seed.
    pub seed: u64,
    /// Value of each of [`Study::keys`](crate::Study::keys), in order; a key that is not varied here
    /// has the scenario's own value, or none.
    pub values: Vec<Option<Node>>,
    /// Number of the combination of values. Points that differ in series and seed alone share it.
    pub combination: usize,
    /// The varied keys.
    pub(crate) keys: Arc<[String]>,
    /// The scenario with another seed.
    pub(crate) scenario: Arc<Scenario>,
    /// Its input files, among others.
    pub(crate) contents: Arc<Contents>,
    /// What is read from its run besides the numbers of a study.
    pub(crate) wanted: Arc<[Wanted]>,
    /// What is done with its run where it was made; then the run has no page of its own.
    pub(crate) done: Option<Done>,
}

/// What is done with a run.
#[derive(Clone)]
pub struct Done(Arc<dyn Fn(Run) -> Result<(), Fault> + Send + Sync>);

impl Done {
    /// This is done with it.
    pub fn new(done: impl Fn(Run) -> Result<(), Fault> + Send + Sync + 'static) -> Done {
        Done(Arc::new(done))
    }

    pub(crate) fn with(&self, run: Run) -> Result<(), Fault> {
        (self.0)(run)
    }
}

impl std::fmt::Debug for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Done")
    }
}

/// A point as it travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    /// Version of the program.
    incast: String,
    hash: String,
    /// What decides its results.
    identity: String,
    series: usize,
    label: String,
    transport: String,
    seed: u64,
    combination: usize,
    keys: Vec<String>,
    values: Vec<Option<Node>>,
    scenario: Node,
    /// Input files by name.
    files: BTreeMap<String, File>,
    wanted: Vec<Wanted>,
}

/// An input file as it travels: as text if it is some.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum File {
    Text(String),
    Bytes(Vec<u8>),
}

impl File {
    fn of(content: &Content) -> File {
        let text = std::str::from_utf8(&content.bytes);
        text.map_or_else(|_| File::Bytes(content.bytes.clone()), |text| File::Text(text.into()))
    }

    fn content(self) -> Content {
        match self {
            File::Text(text) => Content::of(text),
            File::Bytes(bytes) => Content::of(bytes),
        }
    }
}

impl Point {
    /// A point; its scenario has one transport, and its seed is replaced.
    pub(crate) fn new(
        series: (usize, &Series),
        seed: u64,
        (combination, keys, values): (usize, Arc<[String]>, Vec<Option<Node>>),
        scenario: Arc<Scenario>,
        contents: Arc<Contents>,
    ) -> Result<Point, Fault> {
        let (at, own) = series;
        let mut point = Point {
            hash: String::new(),
            series: at,
            label: own.label.clone(),
            transport: own.transport.clone(),
            seed,
            values,
            combination,
            keys,
            scenario,
            contents,
            wanted: Arc::default(),
            done: None,
        };
        point.hash = identity_of(&point.scenario(), &point.contents)?;
        Ok(point)
    }

    /// A run by itself, of a scenario of one transport, from which more is read than the numbers of a study. `label` is
    /// what messages call it, before its seed; `hash` names its row; `kind` is what it resembles
    /// ([`Task::kind`](crate::Task::kind)).
    pub fn alone(
        (label, hash): (String, String),
        kind: (usize, usize),
        (scenario, contents): (Scenario, Contents),
        wanted: Vec<Wanted>,
        done: Option<Done>,
    ) -> Point {
        Point {
            hash,
            series: kind.0,
            label,
            transport: scenario.transport.names[0].clone(),
            seed: scenario.run.seed,
            values: vec![],
            combination: kind.1,
            keys: Arc::default(),
            scenario: Arc::new(scenario),
            contents: Arc::new(contents),
            wanted: wanted.into(),
            done,
        }
    }

    /// Its scenario: one run of one transport.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = Scenario::clone(&self.scenario);
        scenario.run.seed = self.seed;
        scenario
    }

    /// What is read from its run besides the numbers of a study.
    pub fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// The contents of its input files.
    pub fn contents(&self) -> &Arc<Contents> {
        &self.contents
    }

    /// What it is called in messages: `traffic.0.load=0.2, ren, seed 1`.
    pub fn name(&self) -> String {
        let set =
            |(key, value): (&String, &Option<Node>)| Some(format!("{key}={}", value.as_ref()?));
        let mut parts: Vec<String> = self.keys.iter().zip(&self.values).filter_map(set).collect();
        parts.push(self.label.clone());
        parts.push(format!("seed {}", self.seed));
        parts.join(", ")
    }

    /// All that a worker needs, with the contents of input files, as JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        let scenario = self.scenario();
        let file = |(name, _)| {
            let content = self.contents.get(&name)?;
            Some((name, File::of(content)))
        };
        let sources = sources(&scenario, |name| self.contents.contains_key(name));
        let packed = Packed {
            incast: VERSION.into(),
            hash: self.hash.clone(),
            series: self.series,
            label: self.label.clone(),
            transport: self.transport.clone(),
            seed: self.seed,
            combination: self.combination,
            keys: self.keys.to_vec(),
            values: self.values.clone(),
            files: sources.into_iter().filter_map(file).collect(),
            scenario: scenario.brief(),
            identity: identity_of(&scenario, &self.contents).unwrap_or_default(),
            wanted: self.wanted.to_vec(),
        };
        serde_json::to_vec(&packed).expect("plain data becomes JSON")
    }

    /// Reads what [`Point::to_bytes`] wrote.
    ///
    /// # Errors
    /// Bytes that are no point; a point that has another hash here, because the versions of results
    /// differ: its row would not be what its name says.
    pub fn from_bytes(bytes: &[u8]) -> Result<Point, Fault> {
        let packed: Packed = serde_json::from_slice(bytes)
            .map_err(|error| Fault::new(format!("not a point of a study: {error}")))?;
        let text = serde_json::to_string(&packed.scenario).map_err(Fault::new)?;
        let scenario: Scenario = serde_json::from_str(&text)
            .map_err(|error| Fault::new(format!("not a scenario of this version: {error}")))?;
        let contents = packed.files.into_iter().map(|(name, file)| (name, file.content()));
        let contents: Contents = contents.collect();
        let own = identity_of(&scenario, &contents)?;
        let named = !packed.wanted.is_empty() || packed.hash == own;
        if own != packed.identity || !named {
            let problem = wrong(format!(
                "the point comes from a program with other results (version {}), and this is {VERSION}",
                packed.incast
            ));
            return Err(Fault::new(problem.expected("the same version of incast on every worker")));
        }
        Ok(Point {
            hash: packed.hash,
            series: packed.series,
            label: packed.label,
            transport: packed.transport,
            seed: packed.seed,
            values: packed.values,
            combination: packed.combination,
            keys: packed.keys.into(),
            scenario: Arc::new(scenario),
            contents: Arc::new(contents),
            wanted: packed.wanted.into(),
            done: None,
        })
    }
}

/// A value of a varied key, as tables have it.
pub(crate) fn setting(node: Option<&Node>) -> Setting {
    match node.map(|node| &node.value) {
        Some(Value::Whole(number)) => Setting::Number(*number as f64),
        Some(Value::Number(number)) => Setting::Number(*number),
        Some(Value::Flag(flag)) => Setting::Flag(*flag),
        Some(Value::Text(text)) => Setting::Text(text.clone()),
        Some(Value::List(_) | Value::Table(_)) => {
            Setting::Text(node.map_or(String::new(), Node::to_string))
        }
        None => Setting::Text(String::new()),
    }
}
