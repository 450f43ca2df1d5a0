//! The numbers of one run that a study keeps, each with name, unit and meaning: columns of
//! `study.parquet` and what `repeat_until` and `incast search` can name.

use crate::PartMeans;
use crate::summary::{Group, Summary};
use crate::tiers::TierSummary;
use incast_units::fault::{Fault, Problem, expected, nearest};
pub use lists::{Better, Written};
pub(crate) use lists::{COMPARED, DECIDE, OF_GROUP, OF_RUN};
use lists::{Entry, OF_TIER, TITLED};
use std::collections::BTreeMap;
use std::sync::LazyLock;

mod lists;

type Of = Box<dyn Fn(&Summary) -> Option<f64> + Send + Sync>;

/// One number of a run.
pub struct Number {
    /// Its name; ends in the unit where it has one: `short_fct_p99_ns`.
    pub name: String,
    /// What tables and pages call it, without unit; empty if none shows it.
    pub title: &'static str,
    /// Its unit; empty for counts, shares and ratios.
    pub unit: &'static str,
    /// Meaning, and when it does not exist.
    pub doc: String,
    /// How it is written.
    pub written: Written,
    /// Which values are good.
    pub better: Better,
    of: Of,
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Number").field("name", &self.name).field("unit", &self.unit).finish()
    }
}

impl Number {
    /// Its value in a run, if it has one.
    pub fn of(&self, summary: &Summary) -> Option<f64> {
        (self.of)(summary).filter(|value| value.is_finite())
    }
}

/// All numbers, in the order of the columns.
pub fn numbers() -> &'static [Number] {
    static ALL: LazyLock<Vec<Number>> = LazyLock::new(|| {
        let mut all = of_groups();
        all.extend(of_run());
        all.extend(of_tiers());
        let compared = COMPARED.iter().map(|(name, title, ..)| (*name, *title));
        let titles: BTreeMap<&str, &str> = compared.chain(TITLED.iter().copied()).collect();
        for number in &mut all {
            number.title = titles.get(number.name.as_str()).copied().unwrap_or_default();
        }
        all
    });
    &ALL
}

/// The number of this name.
///
/// # Errors
/// There is none: what is similar.
pub fn number(name: &str) -> Result<&'static Number, Fault> {
    static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Number>> =
        LazyLock::new(|| numbers().iter().map(|one| (one.name.as_str(), one)).collect());
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

/// The numbers that a run has, by name.
pub fn numbers_of(summary: &Summary) -> BTreeMap<String, f64> {
    let value = |number: &Number| Some((number.name.clone(), number.of(summary)?));
    numbers().iter().filter_map(value).collect()
}

/// Where the summary has a group of flows.
type OfSummary = fn(&Summary) -> &Group;

/// Groups: prefix, in words, and where the summary has it.
const GROUPS: [(&str, &str, OfSummary); 3] = [
    ("", "all measured flows", |s| &s.all),
    ("short_", "measured flows under 100 KB", Summary::short),
    ("long_", "measured flows of 100 KB and more", Summary::long),
];

/// The thousandths of a percentile of completed flows, and how many of them a run has; `None` of other numbers.
pub(crate) fn percentile_of(name: &str, summary: &Summary) -> Option<(u32, u64)> {
    let (group, rest) = match (name.strip_prefix("short_"), name.strip_prefix("long_")) {
        (Some(rest), _) => (summary.short(), rest),
        (_, Some(rest)) => (summary.long(), rest),
        _ => (&summary.all, name),
    };
    let which = rest.strip_prefix("slowdown_").or_else(|| rest.strip_prefix("fct_"))?;
    let thousandths = match which.trim_end_matches("_ns") {
        "p95" => 950,
        "p99" => 990,
        "p999" => 999,
        _ => return None,
    };
    Some((thousandths, group.completed as u64))
}

fn of_groups() -> Vec<Number> {
    GROUPS.into_iter().flat_map(|(prefix, words, group)| of_group(prefix, words, group)).collect()
}

fn of_group(prefix: &str, words: &str, group: OfSummary) -> Vec<Number> {
    let one = |entry: &'static Entry<Group>| Number {
        name: format!("{prefix}{}", entry.name),
        title: "",
        unit: entry.unit,
        doc: format!("{}; {words}.", entry.doc),
        written: entry.written,
        better: entry.better,
        of: Box::new(move |summary: &Summary| (entry.read)(group(summary))),
    };
    OF_GROUP.iter().map(one).chain(of_parts(prefix, words, group)).collect()
}

/// Where the time went.
fn of_parts(prefix: &str, words: &str, group: OfSummary) -> Vec<Number> {
    let names = PartMeans::default().named().map(|(name, _)| name);
    let part = |(at, name): (usize, &'static str)| Number {
        name: format!("{prefix}{name}_mean_ns"),
        title: "",
        unit: "ns",
        doc: format!("Part `{name}` of the completion time, as in `flows.parquet`, mean; {words}."),
        written: Written::Float,
        better: Better::Neither,
        of: Box::new(move |summary: &Summary| Some(group(summary).parts_mean_ns?.named()[at].1)),
    };
    names.into_iter().enumerate().map(part).collect()
}

fn of_run() -> impl Iterator<Item = Number> {
    OF_RUN.iter().map(|entry| Number {
        name: entry.name.into(),
        title: "",
        unit: entry.unit,
        doc: entry.doc.into(),
        written: entry.written,
        better: entry.better,
        of: Box::new(entry.read),
    })
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
        let own = move |summary: &TierSummary| summary.tier == tier && summary.upward == upward;
        Number {
            name: format!("{tier}_{direction}_{}", entry.name),
            title: "",
            unit: entry.unit,
            doc: format!("{}; tier `{tier}`, {words}. Null without such ports.", entry.doc),
            written: entry.written,
            better: entry.better,
            of: Box::new(move |summary: &Summary| {
                summary.tiers.iter().find(|tier| own(tier)).and_then(entry.read)
            }),
        }
    };
    let of = move |(tier, upward)| OF_TIER.iter().map(move |entry| one(tier, upward, entry));
    TIERS.into_iter().flat_map(of)
}
