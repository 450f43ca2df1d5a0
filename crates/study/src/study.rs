//! A study: a scenario with its `[study]`, expanded into points.

use crate::expand::{Combined, check, combine, count};
use crate::point::{Point, setting};
use crate::series::{Series, series};
use incast_experiment::fault::{expected, wrong};
use incast_experiment::scenario::study::{Seeds, Study as Section};
use incast_experiment::scenario::{Node, Value, title_of};
use incast_experiment::{Content, Contents, Draft, Fault, Plan, Scenario, gather};
use incast_measure::statistics::HalfWidth;
use incast_measure::{Number, key_unit};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The file that says what a folder is.
pub(crate) const LABEL: &str = "store.json";

/// Most points of a study that nobody has said yes to.
pub const MOST_POINTS: usize = 100_000;

/// When a combination has seeds enough.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// The number that is to be known.
    pub number: &'static Number,
    /// How well.
    pub half_width: HalfWidth,
    /// Seeds that every combination has.
    pub least: u32,
    /// Seeds that no combination exceeds.
    pub most: u32,
}

/// An input file of a study.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its name in the scenario.
    pub name: &'a str,
    /// What it contains.
    pub content: &'a Content,
}

/// A scenario at many points.
#[derive(Clone, Debug)]
pub struct Study {
    name: String,
    title: String,
    /// The scenario without the values that vary.
    draft: Draft,
    section: Section,
    series: Vec<Series>,
    keys: Arc<[String]>,
    seeds: Vec<u64>,
    repeat: Option<Repeat>,
    contents: Arc<Contents>,
    points: Vec<Arc<Point>>,
    /// The first point's scenario, before its values were set.
    base: Scenario,
}

impl Study {
    /// Reads a file; `sets` are `key=value` overrides.
    ///
    /// # Errors
    /// What is wrong with the file, its scenarios or its `[study]`, with place, key and value; more
    /// than [`MOST_POINTS`] points.
    pub fn load(path: &Path, sets: &[String]) -> Result<Study, Fault> {
        Study::load_up_to(path, sets, MOST_POINTS)
    }

    /// The same with at most so many points.
    pub fn load_up_to(path: &Path, sets: &[String], most: usize) -> Result<Study, Fault> {
        Study::load_with(path, sets, vec![], most)
    }

    /// The same with these keys of `[study]` in addition to those of the file.
    pub fn load_with(
        path: &Path,
        sets: &[String],
        section: Vec<(String, Node)>,
        most: usize,
    ) -> Result<Study, Fault> {
        let draft = with(Draft::load(path)?.sets(sets)?, section)?;
        let stem = path.file_stem().map_or("study".into(), |stem| stem.to_string_lossy());
        // The file of a study's folder is called as all of them; the folder has the name.
        let kept = |folder: &&Path| stem == "study" && folder.join(LABEL).is_file();
        let folder = path.parent().filter(kept).and_then(Path::file_name);
        let own =
            folder.map(|name| name.to_string_lossy().trim_start_matches("study-").to_string());
        let own = own.unwrap_or_else(|| stem.into_owned());
        Study::make(draft, &own, path.parent().unwrap_or(Path::new("")), most)
    }

    /// Reads a text; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`Study::load`].
    pub fn parse(text: &str, name: &str, sets: &[String]) -> Result<Study, Fault> {
        Study::of_draft(Draft::parse(text, name)?.sets(sets)?, vec![], MOST_POINTS)
    }

    /// The study of a draft, with these keys of `[study]` in addition to those it has, and at most so
    /// many points. File names are relative to the current directory.
    ///
    /// # Errors
    /// As [`Study::load`].
    pub fn of_draft(
        draft: Draft,
        section: Vec<(String, Node)>,
        most: usize,
    ) -> Result<Study, Fault> {
        Study::make(with(draft, section)?, "study", Path::new(""), most)
    }

    fn make(mut draft: Draft, name: &str, folder: &Path, most: usize) -> Result<Study, Fault> {
        let whole = draft.clone();
        let placed = |fault: Fault| whole.placed(fault);
        let Some(node) = draft.take("study") else {
            let problem = wrong("there is no [study]")
                .expected("keys to vary, variants or seeds, or `incast run` for a single scenario");
            return Err(placed(Fault::at("study", problem)));
        };
        let section = Section::of_node(&node).map_err(placed)?;
        let names = match draft.written("transport.names") {
            None if !section.variants.0.is_empty() => {
                draft.write("transport.names", Value::List(vec![]).into())?;
                vec![]
            }
            Some(Node { value: Value::List(list), .. }) => {
                list.iter().map(Node::to_string).collect()
            }
            // What is wrong with it is said when the scenario is read.
            _ => vec![],
        };
        let series = series(&names, &section).map_err(placed)?;
        check(&section, &series).map_err(placed)?;
        let repeat = repeat(&section).map_err(placed)?;
        let title = draft.written("title").map_or(String::new(), Node::to_string);
        let mut contents = copies(&section, folder).map_err(placed)?;
        let base = based(&draft, &section)?;
        let seeds = seeds(&section, repeat.as_ref(), base.run.seed);
        limited(&section, series.len() * seeds.len(), most).map_err(placed)?;
        let combined = combine(&section, &series);
        let mut scenarios = Vec::with_capacity(combined.len());
        for one in &combined {
            let scenario = scenario(&draft, &section, &series[one.series], &one.values)?;
            gather(&scenario, &mut contents).map_err(placed)?;
            scenarios.push(Arc::new(scenario));
        }
        let mut study = Study {
            name: name.into(),
            title,
            draft,
            keys: section.vary.0.iter().map(|(key, _)| key.clone()).collect(),
            section,
            series,
            seeds,
            repeat,
            contents: Arc::new(contents),
            points: vec![],
            base,
        };
        study.points = study.expanded(combined, &scenarios)?;
        Ok(study)
    }

    fn expanded(
        &self,
        combined: Vec<Combined>,
        scenarios: &[Arc<Scenario>],
    ) -> Result<Vec<Arc<Point>>, Fault> {
        let mut points = Vec::with_capacity(combined.len() * self.seeds.len());
        let values =
            |(one, scenario): (&Combined, &Arc<Scenario>)| self.own_values(&one.values, scenario);
        let own: Vec<Vec<Option<Node>>> = combined.iter().zip(scenarios).map(values).collect();
        for seed in &self.seeds {
            for ((one, scenario), values) in combined.iter().zip(scenarios).zip(&own) {
                let series = (one.series, &self.series[one.series]);
                let place = (one.combination, self.keys.clone(), values.clone());
                let contents = self.contents.clone();
                let point = Point::new(series, *seed, place, scenario.clone(), contents);
                points.push(Arc::new(point.map_err(|fault| self.draft.placed(fault))?));
            }
        }
        Ok(points)
    }

    /// The values of keys, those of the scenario where a key is not varied.
    fn own_values(&self, values: &[Option<Node>], scenario: &Scenario) -> Vec<Option<Node>> {
        let one = |(value, key): (&Option<Node>, &String)| match value {
            Some(value) => Some(value.clone().anywhere()),
            None => scenario.to_node().at(key).cloned().map(Node::anywhere),
        };
        values.iter().zip(self.keys.iter()).map(one).collect()
    }

    /// What its folder is called: the name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title, empty if it has none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The varied keys, in the order of the file.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The titles of the varied keys, in their order: no two alike.
    pub fn key_titles(&self) -> Vec<String> {
        let title = |key: &String| {
            let entry = key.strip_prefix("traffic.").and_then(|rest| rest.split_once('.'));
            let kind = entry.and_then(|(at, _)| self.draft.written(&format!("traffic.{at}.kind")));
            title_of(key, kind.map(Node::to_string).as_deref())
        };
        let all: Vec<String> = self.keys.iter().map(title).collect();
        let alone = |title: &String| all.iter().filter(|other| *other == title).count() == 1;
        let named = |(title, key): (&String, &String)| match alone(title) {
            true => title.clone(),
            false => format!("{title}: {key}"),
        };
        all.iter().zip(self.keys.iter()).map(named).collect()
    }

    /// The units of the varied keys in tables, in their order; empty for plain numbers and texts.
    pub fn key_units(&self) -> Vec<&'static str> {
        let unit = |at: usize| {
            let value = |point: &Arc<Point>| setting(point.values.get(at).and_then(Option::as_ref));
            key_unit(&self.points.iter().map(value).collect::<Vec<_>>())
        };
        (0..self.keys.len()).map(unit).collect()
    }

    /// Transports, then variants.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Index of the series that paired differences are taken from.
    pub fn baseline(&self) -> usize {
        let named = self.section.baseline.as_deref();
        self.series.iter().position(|one| Some(one.label.as_str()) == named).unwrap_or(0)
    }

    /// The seeds; those that every combination has if there is a [`Study::repeat`].
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// When there are seeds enough.
    pub fn repeat(&self) -> Option<&Repeat> {
        self.repeat.as_ref()
    }

    /// Whether a report of every run is wanted.
    pub fn reports(&self) -> bool {
        self.section.reports
    }

    /// Its points with [`Study::seeds`], first all of the first seed.
    pub fn points(&self) -> &[Arc<Point>] {
        &self.points
    }

    /// Its input files.
    pub fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.contents.iter().map(|(name, content)| Input { name, content })
    }

    /// Another point of a series: these values of keys, and this seed.
    ///
    /// # Errors
    /// A key or value that does not fit.
    pub fn point(&self, at: usize, values: &[(String, Node)], seed: u64) -> Result<Point, Fault> {
        let mut draft = self.draft.clone();
        for (key, value) in values {
            draft.write(key, value.clone().anywhere())?;
        }
        let missing = self.section.vary.0.iter().map(|(key, all)| {
            let lacks = draft.written(key).is_none();
            lacks.then(|| all.0[0].clone())
        });
        let missing: Vec<Option<Node>> = missing.collect();
        let scenario = scenario(&draft, &self.section, &self.series[at], &missing)?;
        let mut contents = Contents::clone(&self.contents);
        gather(&scenario, &mut contents)?;
        let keys: Arc<[String]> = values.iter().map(|(key, _)| key.clone()).collect();
        let values = values.iter().map(|(_, value)| Some(value.clone())).collect();
        let place = (usize::MAX, keys, values);
        Point::new((at, &self.series[at]), seed, place, Arc::new(scenario), Arc::new(contents))
    }

    /// The same point with another seed.
    pub(crate) fn reseeded(&self, point: &Point, seed: u64) -> Result<Point, Fault> {
        let place = (point.combination, self.keys.clone(), point.values.clone());
        let series = (point.series, &self.series[point.series]);
        Point::new(series, seed, place, point.scenario.clone(), self.contents.clone())
    }

    /// The seed that follows so many.
    pub(crate) fn seed_after(&self, count: usize) -> u64 {
        self.seeds[0].wrapping_add(count as u64)
    }

    /// The scenario without what varies, what it compares and its seed, with defaults: what studies
    /// that are one and the same have in common.
    pub(crate) fn family(&self) -> Node {
        let mut brief = self.base.brief();
        for path in
            self.keys.iter().map(String::as_str).chain(["title", "output", "transport", "run"])
        {
            remove(&mut brief, path);
        }
        brief.anywhere()
    }

    /// The study as a file: every key of its scenario and of `[study]` written out, and `files` from
    /// names of input files to those of their copies. It reads back as the same study.
    pub fn resolved(&self, files: &BTreeMap<String, String>) -> String {
        let mut section = self.section.clone();
        section.files = files.clone();
        let mut all = self.base.to_node();
        if let Value::Table(entries) = &mut all.value {
            entries.push(("study".into(), section.to_node()));
        }
        toml::to_string(&all).expect("a study can be written")
    }

    /// What is wrong with a varied key is reported where its values are.
    fn placed(&self, fault: Fault) -> Fault {
        let varied = self.section.vary.0.iter().find(|(key, _)| fault.key() == Some(key));
        match varied.and_then(|(_, values)| values.0[0].origin.line()) {
            Some(line) => fault.on_line(self.draft.name(), line),
            None => self.draft.placed(fault),
        }
    }

    /// Plans one point per series, and one per value of each varied key, so that most of what is
    /// wrong with them is said before anything runs. It ends after a second, whatever is left.
    ///
    /// # Errors
    /// A scenario that cannot be planned.
    pub fn check(&self) -> Result<(), Fault> {
        let begin = std::time::Instant::now();
        let mut seen = std::collections::BTreeSet::new();
        for point in self.points.iter().take_while(|point| point.seed == self.seeds[0]) {
            let text = |(at, value): (usize, &Option<Node>)| {
                (at, value.as_ref().map_or(String::new(), Node::to_string))
            };
            let mut parts: Vec<(usize, String)> =
                point.values.iter().enumerate().map(text).collect();
            parts.push((usize::MAX, point.label.clone()));
            let new = parts.into_iter().filter(|part| seen.insert(part.clone())).count();
            if new > 0 {
                let plan = Plan::with_contents(point.scenario(), self.contents.clone());
                plan.map_err(|fault| self.placed(fault).noted(&point.name()))?;
            }
            if begin.elapsed().as_secs_f64() > 1.0 {
                break;
            }
        }
        Ok(())
    }
}

/// The draft with these keys of its `[study]`.
fn with(mut draft: Draft, section: Vec<(String, Node)>) -> Result<Draft, Fault> {
    for (key, node) in section {
        draft.write(&format!("study.{key}"), node)?;
    }
    Ok(draft)
}

/// Removes what is at a path, and entries of lists by emptying them.
fn remove(node: &mut Node, path: &str) {
    let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut place = node;
    for part in parent.split('.').filter(|part| !part.is_empty()) {
        let next = match &mut place.value {
            Value::List(list) => part.parse().ok().and_then(|at: usize| list.get_mut(at)),
            Value::Table(entries) => {
                entries.iter_mut().find(|(name, _)| name == part).map(|(_, node)| node)
            }
            _ => None,
        };
        let Some(next) = next else { return };
        place = next;
    }
    if let Value::Table(entries) = &mut place.value {
        entries.retain(|(name, _)| name != last);
    }
}

fn repeat(section: &Section) -> Result<Option<Repeat>, Fault> {
    let Some(own) = &section.repeat_until else { return Ok(None) };
    let key = |key: &str| format!("study.repeat_until.{key}");
    if section.seeds.is_some() {
        let problem = expected("either `seeds` or `repeat_until`, not both");
        return Err(Fault::at("study.seeds", problem));
    }
    let number = incast_measure::number(&own.metric)
        .map_err(|problem| Fault::value(key("metric"), &own.metric, problem))?;
    let half_width = own.half_width.parse();
    let half_width =
        half_width.map_err(|problem| Fault::value(key("half_width"), &own.half_width, problem))?;
    if own.most < own.least {
        let problem = expected(format!("`least`, {}, or more", own.least));
        return Err(Fault::value(key("most"), own.most, problem));
    }
    Ok(Some(Repeat { number, half_width, least: own.least, most: own.most }))
}

fn seeds(section: &Section, repeat: Option<&Repeat>, first: u64) -> Vec<u64> {
    let count = |count: u32| (0..u64::from(count)).map(|at| first.wrapping_add(at)).collect();
    match (&section.seeds, repeat) {
        (Some(Seeds::Listed(list)), _) => list.clone(),
        (Some(Seeds::Count(own)), _) => count(*own),
        (None, Some(repeat)) => count(repeat.least),
        (None, None) => count(1),
    }
}

/// Copies of input files that the study came with, by the names that the scenario has for them.
fn copies(section: &Section, folder: &Path) -> Result<Contents, Fault> {
    let mut contents = Contents::new();
    for (name, copy) in &section.files {
        let path = folder.join(copy);
        let bytes = std::fs::read(&path).map_err(|error| {
            let problem = format!("could not read {}: {error}", path.display());
            Fault::value(format!("study.files.{name}"), copy, problem)
        })?;
        contents.insert(name.clone(), Content::of(bytes));
    }
    Ok(contents)
}

fn limited(section: &Section, each: usize, most: usize) -> Result<(), Fault> {
    let points = count(section) * each as f64;
    if points > most as f64 {
        let problem = wrong(format!("{points} points"))
            .expected(format!("at most {most}; `--yes`, or `yes=True`, runs them all the same"));
        return Err(Fault::at("study.vary", problem));
    }
    Ok(())
}

/// The scenario without varied values; a key that it lacks has the first of its values.
fn based(draft: &Draft, section: &Section) -> Result<Scenario, Fault> {
    let mut draft = draft.clone();
    for (key, values) in &section.vary.0 {
        if draft.written(key).is_none() {
            draft.write(key, values.0[0].clone())?;
        }
    }
    draft.scenario()
}

/// The scenario of a series with these values of varied keys.
fn scenario(
    draft: &Draft,
    section: &Section,
    series: &Series,
    values: &[Option<Node>],
) -> Result<Scenario, Fault> {
    let mut draft = draft.clone();
    draft.write("transport.names", Value::List(vec![Node::text(&series.transport)]).into())?;
    for ((key, _), value) in section.vary.0.iter().zip(values) {
        if let Some(value) = value {
            draft.write(key, value.clone())?;
        }
    }
    for (key, value) in &series.changes {
        draft.write(key, value.clone())?;
    }
    draft.scenario()
}
