//! The numbers of one run, each with name, unit and meaning: columns of `study.parquet`, lines of a comparison, figures, and what
//! `repeat_until` and `incast search` can name. [`lists`] declares them.

use crate::summary::{Group, Summary};
use crate::tiers::TierSummary;
use crate::{LONG_FLOW_BYTES, PartMeans};
pub use entry::{Better, ClaimedNumber, Listing, Number, Of, Written};
pub(crate) use entry::{Claimed, Interval, OfInterval, Read};
use entry::{Entry, Get, OfSummary, Source};
use incast_units::fault::{Fault, Problem, expected, nearest};
use lists::{OF_CHOICE, OF_GROUP, OF_RUN, OF_TIER, PART};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

mod entry;
mod lists;

/// All numbers that every run can have, in the order of the columns.
pub fn numbers() -> &'static [Number] {
    static ALL: LazyLock<Vec<Number>> =
        LazyLock::new(|| of_groups(&*SIZES).chain(of_run()).chain(of_tiers()).collect());
    &ALL
}

/// Classes of flows, as results name them.
pub const CLASSES: [&str; 8] =
    ["background", "long", "request", "response", "incast", "burst", "collective", "program"];

/// Those of the flows of one class, which runs with several classes have.
pub fn class_numbers() -> &'static [Number] {
    static ALL: LazyLock<Vec<Number>> = LazyLock::new(|| {
        let group = |class: &&'static str| Flows {
            prefix: format!("class_{class}_"),
            words: format!("measured flows of class {class}"),
            which: format!(" of class {class}"),
            class,
            sizes: 0..u64::MAX,
            of: |summary, class| summary.by_class.iter().find(|group| group.name == class),
        };
        of_groups(&CLASSES.iter().map(group).collect::<Vec<Flows>>()).collect()
    });
    &ALL
}

/// A number as a page documents it, once for all groups of flows and all tiers: name, unit, how it is written, meaning.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn documented() -> Vec<(String, &'static str, Written, String)> {
    let parts = PartMeans::default().named().map(|(name, _)| format!("`{name}`")).join(", ");
    let group = OF_GROUP
        .iter()
        .map(|one| (one.name.to_string(), one.unit, one.written, format!("{}.", one.doc)));
    let doc = format!("Mean of a part of the completion time, as in `flows.parquet`: {parts}.");
    let part = ("PART_mean_ns".to_string(), PART.unit, PART.written, doc);
    let run =
        OF_RUN.iter().map(|one| (one.name.to_string(), one.unit, one.written, one.doc.to_string()));
    let tier = OF_TIER.iter().map(|one| {
        (format!("TIER_{}", one.name), one.unit, one.written, format!("{}, of a tier.", one.doc))
    });
    group.chain([part]).chain(run).chain(tier).collect()
}

/// Those that have a place somewhere, in the order of these.
pub(crate) fn listed<T: Ord>(place: impl Fn(&Listing) -> Option<T>) -> Vec<&'static Number> {
    let own = |number: &'static Number| Some((place(&number.listing)?, number));
    let mut all: Vec<(T, &Number)> = numbers().iter().filter_map(own).collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all.into_iter().map(|(_, number)| number).collect()
}

/// Those that claims have in a form of their own.
pub(crate) fn claimed() -> impl Iterator<Item = &'static Claimed> + Clone {
    let groups = OF_GROUP.iter().filter_map(|entry| entry.claimed.as_ref());
    let runs = OF_RUN.iter().filter_map(|entry| entry.claimed.as_ref());
    OF_CHOICE.iter().chain(groups).chain(runs)
}

/// The number of this name.
///
/// # Errors
/// There is none: what is similar.
pub fn number(name: &str) -> Result<&'static Number, Fault> {
    static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Number>> =
        LazyLock::new(|| every().map(|one| (one.name.as_str(), one)).collect());
    BY_NAME.get(name).copied().ok_or_else(|| {
        let known = similar(name, BY_NAME.keys().copied());
        Fault::text(name, known.in_part(&"there is no such metric"))
    })
}

/// Which of many names are similar: those that share words, and the nearest.
pub(crate) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Problem {
    let words = |text: &str| text.split('_').map(str::to_string).collect::<Vec<String>>();
    let wanted = words(name);
    let common = |known: &str| {
        let shared = words(known).iter().filter(|word| wanted.contains(word)).count();
        // Among equals, the shortest.
        (shared, std::cmp::Reverse(known.len()))
    };
    let meant = nearest(name, known.clone());
    let mut near: Vec<&str> = known.filter(|known| common(known).0 > 0).collect();
    near.sort_by_key(|known| std::cmp::Reverse(common(known)));
    near.truncate(5);
    let accepted = match near.as_slice() {
        [] => "such as slowdown_p99, fct_mean_ns or goodput_gbps".to_string(),
        near => format!("such as {}", near.join(", ")),
    };
    expected(accepted).meant(meant)
}

/// Those of all flows and of each class.
fn every() -> impl Iterator<Item = &'static Number> {
    numbers().iter().chain(class_numbers())
}

/// The numbers that a run has, by name.
pub fn numbers_of(summary: &Summary) -> BTreeMap<String, f64> {
    let value = |number: &Number| Some((number.name.clone(), number.of(summary)?));
    every().filter_map(value).collect()
}

/// A group of flows.
struct Flows {
    prefix: String,
    words: String,
    /// Which flows, in the heading of a figure.
    which: String,
    class: &'static str,
    sizes: Range<u64>,
    of: OfSummary,
}

/// All flows, and those of a range of sizes.
static SIZES: LazyLock<[Flows; 3]> = LazyLock::new(|| {
    let group = |prefix: &str, words: &str, which: &str, sizes, of| Flows {
        prefix: prefix.into(),
        words: words.into(),
        which: which.into(),
        class: "",
        sizes,
        of,
    };
    [
        group("", "all measured flows", "", 0..u64::MAX, |s, _| Some(&s.all)),
        group(
            "short_",
            "measured flows under 100 KB",
            " under 100 KB",
            0..LONG_FLOW_BYTES,
            |s, _| Some(s.short()),
        ),
        group(
            "long_",
            "measured flows of 100 KB and more",
            " from 100 KB on",
            LONG_FLOW_BYTES..u64::MAX,
            |s, _| Some(s.long()),
        ),
    ]
});

fn of_groups(all: &[Flows]) -> impl Iterator<Item = Number> {
    let of = |(at, flows)| {
        OF_GROUP.iter().map(move |one| of_group(at, flows, one)).chain(of_parts(flows))
    };
    all.iter().enumerate().flat_map(of)
}

fn of_group(at: usize, flows: &Flows, entry: &'static Entry<Group>) -> Number {
    let which = &flows.which;
    let doc = format!("{}; {}.", entry.doc, flows.words);
    let source = flows.source(Box::new(entry.read));
    let mut number = Number::new(entry, format!("{}{}", flows.prefix, entry.name), doc, source);
    if flows.class.is_empty() {
        number.listing = entry.listings[at];
    }
    if entry.heading.contains("{}") {
        number.heading = entry.heading.replace("{}", which);
    } else if !which.is_empty() && !entry.heading.is_empty() {
        number.heading += &format!(" of flows{which}");
    }
    number
}

impl Flows {
    fn source(&self, read: Get<Group>) -> Source {
        Source::Flows { of: self.of, class: self.class, sizes: self.sizes.clone(), read }
    }
}

/// Where the time went.
fn of_parts(flows: &Flows) -> impl Iterator<Item = Number> {
    let names = PartMeans::default().named().map(|(name, _)| name);
    names.into_iter().enumerate().map(move |(at, name)| {
        let words = &flows.words;
        let doc =
            format!("Part `{name}` of the completion time, as in `flows.parquet`, mean; {words}.");
        let read = move |group: &Group| Some(group.parts_mean_ns?.named()[at].1);
        let name = format!("{}{name}_mean_ns", flows.prefix);
        Number::new(&PART, name, doc, flows.source(Box::new(read)))
    })
}

fn of_run() -> impl Iterator<Item = Number> {
    let one = |entry: &'static Entry<Summary>| {
        Number::new(entry, entry.name.into(), entry.doc.into(), Source::Run(Box::new(entry.read)))
    };
    OF_RUN.iter().map(one)
}

/// Tiers and directions, away from the receiving hosts (`up`) or towards them (`down`).
const TIERS: [(&str, bool); 7] = [
    ("nic", true),
    ("edge", true),
    ("edge", false),
    ("aggregation", true),
    ("aggregation", false),
    ("core", true),
    ("core", false),
];

fn of_tiers() -> impl Iterator<Item = Number> {
    let one = |tier: &'static str, upward: bool, entry: &'static Entry<TierSummary>| {
        let (direction, words) = match upward {
            true => ("up", "ports upwards"),
            false => ("down", "ports towards hosts"),
        };
        let own = move |one: &&TierSummary| one.tier == tier && one.upward == upward;
        let doc = format!("{}; tier `{tier}`, {words}. Null without such ports.", entry.doc);
        let read = move |summary: &Summary| (entry.read)(summary.tiers.iter().find(own)?);
        Number::new(
            entry,
            format!("{tier}_{direction}_{}", entry.name),
            doc,
            Source::Run(Box::new(read)),
        )
    };
    let of = move |(tier, upward)| OF_TIER.iter().map(move |entry| one(tier, upward, entry));
    TIERS.into_iter().flat_map(of)
}
