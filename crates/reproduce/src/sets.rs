//! Assumption sets: what a paper leaves open, filled in under a name.

use super::band::Word;
use super::verdict::{InSet, Judgement};
use incast_experiment::fault::expected;
use incast_experiment::fault::wrong;
use incast_experiment::scenario::Clock;
use incast_experiment::{Fault, World, nearest};
use serde::Deserialize;

/// Every baseline as its own authors published it: the scenario as it is.
pub const PUBLISHED: &str = "as_published";

/// What begins the names of sets of finite runs: `as_run/1000/as_published`.
pub const AS_RUN: &str = "as_run";
/// The set of what a paper's text suggests.
pub const COMPARED: &str = "as_compared";

/// Names of the sets of papers, and how pages call them. In all but the first the paper's own system
/// has our repairs, and in the first two the baselines are their authors'.
const TITLES: [(&str, &str); 6] = [
    ("as_written", "as written"),
    (PUBLISHED, "repaired"),
    ("as_described", "baselines as described"),
    (COMPARED, "as compared"),
    ("same_routing/ecmp", "one path each"),
    ("same_routing/spray", "all sprayed"),
];

/// The place of a set on pages: sensitivities are last.
pub fn place(name: &str) -> (usize, &str) {
    let place = TITLES.iter().position(|(own, _)| *own == name);
    (place.unwrap_or(TITLES.len()), name)
}

/// How pages call a set: a sensitivity by its own name.
pub fn title(name: &str) -> String {
    let known = TITLES.iter().find(|(own, _)| *own == name);
    let own = || name.trim_start_matches(SENSITIVITY).replace('_', " ");
    known.map_or_else(own, |(_, title)| title.to_string())
}

/// What begins the names of sets that change one assumption more.
pub const SENSITIVITY: &str = "sensitivity/";

/// Clocks that follow real time.
pub const REAL_TIME: [Clock; 3] = [Clock::Paced, Clock::Compensated, Clock::Tsc];

/// Assumptions under a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// `as_published`, `as_compared`, another of [`TITLES`], or `sensitivity/...`.
    pub name: String,
    /// In one clause: what it assumes.
    pub assumes: String,
    /// The set that it departs from; the scenario as it is if there is none.
    pub base: Option<String>,
    /// What differs from the scenario, or from its base.
    #[serde(default, rename = "departure", deserialize_with = "departures")]
    pub departures: Vec<Departure>,
    /// Transports that another one stands for.
    #[serde(default, rename = "replacement")]
    pub replacements: Vec<Replacement>,
    /// What its base departs in.
    #[serde(skip)]
    pub inherited: Vec<Departure>,
    /// Where its runs are.
    #[serde(skip)]
    pub world: World,
    /// The clock of runs in real time.
    #[serde(skip)]
    pub clock: Option<Clock>,
    /// Flows of finite runs from an empty network.
    #[serde(skip)]
    pub flows: Option<u64>,
}

/// Transports of a figure whose place another one takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Those of the figure.
    pub of: Vec<String>,
    /// The one that runs.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Where that is known from.
    pub source: String,
}

/// One key that differs.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The key of the scenario.
    pub key: String,
    /// Its value.
    pub value: toml::Value,
    /// Why.
    pub reason: String,
    /// Where that is known from.
    pub source: String,
}

/// A key, or several that differ alike.
#[derive(Deserialize)]
#[serde(untagged)]
enum Keys {
    One(String),
    Several(Vec<String>),
}

/// Keys with one value and one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alike {
    key: Keys,
    value: toml::Value,
    reason: String,
    source: String,
}

fn departures<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Departure>, D::Error> {
    let each = |Alike { key, value, reason, source }| {
        let keys = match key {
            Keys::One(key) => vec![key],
            Keys::Several(keys) => keys,
        };
        let one = move |key| {
            let (value, reason, source) = (value.clone(), reason.clone(), source.clone());
            Departure { key, value, reason, source }
        };
        keys.into_iter().map(one)
    };
    Ok(Vec::<Alike>::deserialize(from)?.into_iter().flat_map(each).collect())
}

impl Set {
    /// The scenario as it is.
    pub fn published() -> Set {
        Set {
            name: PUBLISHED.into(),
            assumes: "every baseline as its own authors published it".into(),
            base: None,
            departures: vec![],
            replacements: vec![],
            inherited: vec![],
            world: World::Sim,
            clock: None,
            flows: None,
        }
    }

    /// The same assumptions in the data plane, under another name.
    pub fn in_dataplane(&self) -> Set {
        let name = format!("dataplane/{}", self.name);
        Set { name, world: World::DataPlane, ..self.clone() }
    }

    /// The same assumptions in the data plane in real time, under another name.
    pub fn in_real_time(&self, clock: Clock) -> Set {
        let name = format!("real-time/{}/{}", clock.name(), self.name);
        Set { name, world: World::DataPlane, clock: Some(clock), ..self.clone() }
    }

    /// The same assumptions in a finite run of so many flows from an empty network, under another name.
    pub fn in_finite(&self, flows: u64) -> Set {
        let name = format!("{AS_RUN}/{flows}/{}", self.name);
        Set { name, flows: Some(flows), ..self.clone() }
    }

    /// The transport that runs where a figure names this one.
    pub fn in_place_of<'a>(&'a self, transport: &'a str) -> &'a str {
        let replaces = |one: &&Replacement| one.of.iter().any(|name| name == transport);
        self.replacements.iter().find(replaces).map_or(transport, |one| one.by.as_str())
    }

    /// The name of the same assumptions in long runs of the simulator.
    pub fn of_simulator(&self) -> &str {
        let parts = match (self.world, self.clock, self.flows) {
            (.., Some(_)) => 2,
            (World::Sim, ..) => 0,
            (_, None, _) => 1,
            (_, Some(_), _) => 2,
        };
        self.name.splitn(parts + 1, '/').last().unwrap_or(&self.name)
    }

    /// Overrides of the scenario.
    pub fn overrides(&self) -> Vec<String> {
        let departures = self.inherited.iter().chain(&self.departures);
        let own = departures.map(|one| format!("{}={}", one.key, one.value));
        let world = (self.world != World::Sim).then(|| format!("run.world={}", self.world.name()));
        let clock = self.clock.map(|clock| format!("dataplane.clock={}", clock.name()));
        own.chain(world).chain(clock).collect()
    }

    /// Overrides that come after those of the run.
    pub fn last_overrides(&self) -> Vec<String> {
        let length = |flows| vec![format!("traffic.0.flows={flows}"), "run.warmup=0".into()];
        self.flows.map_or(vec![], length)
    }

    /// Whether it asks what an assumption is worth, beside the sets of the paper.
    pub fn is_sensitivity(&self) -> bool {
        self.of_simulator().starts_with(SENSITIVITY)
    }

    /// In a sentence: `as compared`, or `with hosts' links loaded`.
    fn phrase(&self) -> String {
        match self.name.strip_prefix(SENSITIVITY) {
            Some(what) => format!("with `{what}`"),
            None => self.name.replace(['_', '/'], " "),
        }
    }

    /// Whether the name is one of those that are allowed.
    ///
    /// # Errors
    /// Another name, or a set without departures beside another.
    pub fn check(&self) -> Result<(), Fault> {
        let sensitivity = self.name.strip_prefix(SENSITIVITY);
        let known = TITLES.iter().any(|(name, _)| *name == self.name)
            || sensitivity.is_some_and(|what| !what.is_empty() && !what.contains('/'));
        if !known {
            let names = TITLES.map(|(name, _)| name).join(", ");
            let problem = expected(format!("one of {names}, or sensitivity/..."));
            return Err(Fault::new(problem.in_part(&format!("set `{}`", self.name))));
        }
        let none = self.departures.is_empty() && self.replacements.is_empty();
        if self.name != PUBLISHED && none {
            return Err(Fault::new(format!("set `{}` departs in nothing", self.name)));
        }
        let vague = |one: &&Departure| one.reason.is_empty() || one.source.is_empty();
        let unfounded = |one: &Replacement| one.reason.is_empty() || one.source.is_empty();
        if let Some(one) = self.replacements.iter().find(|one| unfounded(one)) {
            let problem = format!("set `{}`: {} needs reason and source", self.name, one.by);
            return Err(Fault::new(problem));
        }
        match self.departures.iter().find(vague) {
            None => Ok(()),
            Some(one) => {
                let problem = format!("set `{}`: {} needs reason and source", self.name, one.key);
                Err(Fault::new(problem))
            }
        }
    }
}

/// Gives sets what their bases depart in. A base is `as_compared`, which has none itself.
///
/// # Errors
/// Another base, a base that is not declared, or a key that both change.
pub fn inherit(sets: &mut [Set]) -> Result<(), Fault> {
    let bases: Vec<Set> = sets.iter().filter(|set| set.base.is_none()).cloned().collect();
    for set in sets {
        let Some(name) = &set.base else { continue };
        let Some(base) = bases.iter().find(|one| one.name == *name) else {
            let names: Vec<&str> = bases.iter().map(|one| one.name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let problem = wrong(format!("set `{}`: base `{name}`", set.name));
            let accepted = format!("a set without a base: {}", names.join(", "));
            return Err(Fault::new(problem.expected(accepted).meant(near)));
        };
        let again = |own: &&Departure| base.departures.iter().any(|one| one.key == own.key);
        if let Some(own) = set.departures.iter().find(again) {
            let problem = format!("set `{}`: {} is that of its base `{name}`", set.name, own.key);
            return Err(Fault::new(problem));
        }
        set.inherited = base.departures.clone();
    }
    Ok(())
}

/// A set of some by its name, which stands in `key`.
///
/// # Errors
/// There is none of this name.
pub fn named<'a>(name: &str, of: &'a [Set], key: &str) -> Result<&'a Set, Fault> {
    of.iter().find(|set| set.name == name).ok_or_else(|| {
        let names: Vec<&str> = of.iter().map(|set| set.name.as_str()).collect();
        let near = nearest(name, names.iter().copied());
        let accepted = format!("one of the paper's sets.toml: {}", names.join(", "));
        Fault::value(key, name, expected(accepted).meant(near))
    })
}

/// The sets of a figure: the scenario as it is first, then those that it declares.
pub fn all(declared: &[Set]) -> Vec<Set> {
    let own = declared.iter().any(|set| set.name == PUBLISHED);
    let published = (!own).then(Set::published);
    published.into_iter().chain(declared.iter().cloned()).collect()
}

/// A set in every world: the simulator, the data plane, and that in real time by each clock.
#[cfg(test)]
pub fn in_worlds(set: &Set) -> Vec<Set> {
    let real = REAL_TIME.map(|clock| set.in_real_time(clock));
    [set.clone(), set.in_dataplane()].into_iter().chain(real).collect()
}

/// The verdict on a claim: one sentence over the sets that were asked for, of `declared` that there
/// are (0 of equations). `claimed` is what the paper prints; empty if it prints nothing. What was
/// measured is said of the paper's sets; the pages have a table of the sensitivities'. Of these the
/// sentence says only the word, and if it is by some of the seeds.
pub fn sentence(claimed: &str, judged: &[(Set, Judgement)], declared: usize) -> String {
    let claimed = if claimed.is_empty() { String::new() } else { format!("; paper: {claimed}") };
    if let (0 | 1, [(_, one)]) = (declared, judged) {
        let word = verb(one.word);
        let both = match (declared, one.word) {
            (0, _) => " (an equation)",
            (_, Word::NotRun) => "",
            _ => " (both sets are the same run)",
        };
        let measured = if one.word == Word::NotRun { String::new() } else { seen(one) };
        return format!("{}{measured}{claimed}{both}.", capital(word));
    }
    let (sensitivities, papers): (Vec<_>, Vec<_>) =
        judged.iter().partition(|(set, _)| set.is_sensitivity());
    let fails = |one: &Judgement| matches!(one.word, Word::SameOrder | Word::Differs);
    let none = judged.len() == declared && judged.iter().all(|(_, one)| fails(one));
    let text = match (papers.is_empty(), none) {
        (true, _) => format!("{}{claimed}.", by_word(&sensitivities, seen)),
        (_, true) => {
            format!("Holds in none of {declared} sets: {}{claimed}.", by_word(&papers, seen))
        }
        (_, false) if sensitivities.is_empty() => format!("{}{claimed}.", by_word(&papers, seen)),
        (_, false) => {
            let others = by_word(&sensitivities, |one| one.of_some_seeds().into());
            format!("{}{claimed}. Sensitivities: {others}.", by_word(&papers, seen))
        }
    };
    format!("{}{}", capital(&text), because(&papers, &sensitivities))
}

/// The sets by their verdict, each with what `shown` says of it.
fn by_word(judged: &[&(Set, Judgement)], shown: impl Fn(&Judgement) -> String) -> String {
    let words = [Word::Matches, Word::SameOrder, Word::Differs, Word::CannotBeJudged, Word::NotRun];
    let part = |word: Word| {
        let of = judged.iter().filter(|(_, one)| one.word == word).enumerate();
        let named = of.map(|(at, (set, one))| {
            let phrase = set.phrase();
            let name = if at == 0 { &phrase } else { phrase.trim_start_matches("with ") };
            if word == Word::NotRun { name.into() } else { format!("{name}{}", shown(one)) }
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("{} {}", verb(word), named.join(", ")))
    };
    words.into_iter().filter_map(part).collect::<Vec<_>>().join("; ")
}

/// What the data plane says beside the simulator, where the runs of both are there: nothing, one
/// sentence, or one per set in which it differs.
pub fn beside(sets: &[InSet]) -> String {
    let both: Vec<_> = sets.iter().filter_map(|one| Some((one, one.dataplane.as_ref()?))).collect();
    if both.iter().all(|(_, dataplane)| dataplane.equal) {
        return if both.is_empty() {
            String::new()
        } else {
            " The data plane gives the same.".into()
        };
    }
    let other = both.iter().filter(|(_, dataplane)| !dataplane.equal).map(|(one, dataplane)| {
        let name = one.set.replace('_', " ");
        format!(" In the data plane, {name} {} ({}).", verb(dataplane.verdict), dataplane.measured)
    });
    other.collect()
}

/// Why sets disagree: what a set of the paper assumes that the first does not; and what those
/// sensitivities assume that say the opposite of every set of the paper that says anything, or in
/// which alone a claim is known to hold.
fn because(papers: &[&(Set, Judgement)], sensitivities: &[&(Set, Judgement)]) -> String {
    let decided = |one: &Judgement| one.word != Word::NotRun && one.word != Word::CannotBeJudged;
    let holds = |one: &Judgement| one.word == Word::Matches;
    let others = papers.split_first().into_iter().flat_map(|((_, first), others)| {
        let other = |one: &Judgement| decided(one) && decided(first) && one.word != first.word;
        others.iter().filter(move |(_, one)| other(one))
    });
    let said = || papers.iter().filter(|(_, one)| decided(one));
    let opposite = |one: &Judgement| {
        let alone = said().all(|(_, paper)| holds(paper) != holds(one));
        alone && decided(one) && (holds(one) || said().count() > 0)
    };
    let meant: Vec<String> = others
        .chain(sensitivities.iter().filter(|(_, one)| opposite(one)))
        .map(|(set, _)| format!("{} means {}", capital(&set.phrase()), set.assumes))
        .collect();
    match meant.is_empty() {
        true => String::new(),
        false => format!(" {}.", meant.join("; ")),
    }
}

fn seen(judgement: &Judgement) -> String {
    format!(" ({})", judgement.measured)
}

pub(super) fn verb(word: Word) -> &'static str {
    match word {
        Word::Matches => "holds",
        Word::SameOrder => "same order, other size",
        Word::Differs => "does not hold",
        Word::CannotBeJudged => "cannot be judged",
        Word::NotRun => "not run",
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests;
