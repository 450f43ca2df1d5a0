//! What a study found of its metric: who is best where its axis ends, and whether its seeds tell that.

use super::StudyResults;
use super::curves::Shown;
use super::facets::{Estimate, Facets, Place, lower};
use crate::PartMeans;
use crate::figures::largest;
use crate::numbers::{Better, Number};
use crate::statistics::{mean, paired};
use std::collections::BTreeMap;

/// What it found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// Where: `At load 0.8`; empty if nothing varies.
    pub place: String,
    /// The metric, within a sentence.
    pub what: String,
    /// Its unit.
    pub unit: &'static str,
    /// The series with their means in that unit, the best first.
    pub ranked: Vec<(String, f64)>,
    /// The share of flows that completed, of each series of which some did not: what it has is of those alone.
    pub unfinished: BTreeMap<String, f64>,
    /// Which series is best at most points, at how many, and of how many; if there are several points.
    pub wins: Option<(String, usize, usize)>,
    /// How many seeds both of the best have.
    pub seeds: usize,
    /// Whether the paired difference of the best two is significant.
    pub told: bool,
    /// The class of its flows; empty if they are of any.
    pub class: &'static str,
    /// The largest part of the mean completion time of the worst, and its share.
    pub cause: Option<(&'static str, f64)>,
}

impl Finding {
    /// Of a metric; `None` without one that can be good or bad, and of a single series.
    pub(super) fn of(
        results: &StudyResults,
        facets: &Facets<'_>,
        number: &Number,
    ) -> Option<Finding> {
        let (place, at) = facets.last(results)?;
        let ranked = ranked(results, place, number);
        let (best, worst) = (ranked.first()?, ranked.last()?);
        let second = ranked.get(1)?;
        let shown = Shown::of(number, ranked.iter().map(|one| one.1).fold(0.0, f64::max));
        let pairs = pairs(place, [best.0, second.0], &number.name);
        let told =
            paired(&pairs).is_some_and(|difference| difference.mean.abs() > difference.half_width);
        let title =
            |(series, value): &(usize, f64)| (results.series[*series].clone(), value / shown.scale);
        Some(Finding {
            place: if at.is_empty() { at } else { format!("At {at}") },
            what: lower(&shown.title),
            unit: shown.unit,
            wins: wins(results, facets, number),
            seeds: pairs.len(),
            told,
            class: number.class(),
            cause: cause(place, worst.0, number.class()),
            unfinished: unfinished(results, place, number.class()),
            ranked: ranked.iter().map(title).collect(),
        })
    }
}

/// The series at a place with their means, the best first.
fn ranked(results: &StudyResults, place: &Place<'_>, number: &Number) -> Vec<(usize, f64)> {
    let of = |series| Some((series, Estimate::of(&place.samples(series, &number.name))?.mean));
    let mut all: Vec<(usize, f64)> = (0..results.series.len()).filter_map(of).collect();
    match number.better {
        Better::Lower => all.sort_by(|a, b| a.1.total_cmp(&b.1)),
        Better::Higher => all.sort_by(|a, b| b.1.total_cmp(&a.1)),
        Better::Neither => all.clear(),
    }
    all
}

/// The values of two series at the seeds that both have.
fn pairs(place: &Place<'_>, [a, b]: [usize; 2], number: &str) -> Vec<(f64, f64)> {
    let of = |series: usize| place.rows.iter().filter(move |row| row.series == series);
    let other = |seed: u64| of(b).find(|row| row.seed == seed)?.number(number);
    of(a).filter_map(|row| Some((row.number(number)?, other(row.seed)?))).collect()
}

/// Which series is best at most places.
fn wins(
    results: &StudyResults,
    facets: &Facets<'_>,
    number: &Number,
) -> Option<(String, usize, usize)> {
    let places = facets.places();
    let best = |place| ranked(results, place, number).first().map(|one| one.0);
    let all: Vec<usize> = places.filter_map(best).collect();
    let count = |series: &usize| all.iter().filter(|one| *one == series).count();
    let most = (0..results.series.len()).rev().max_by_key(count)?;
    // Of few of them nothing follows.
    let many = all.len() > 1 && 2 * count(&most) > all.len();
    many.then(|| (results.series[most].clone(), count(&most), all.len()))
}

/// The share of flows that completed at a place, of a class if one is named, of each series of which some did not.
fn unfinished(results: &StudyResults, place: &Place<'_>, class: &str) -> BTreeMap<String, f64> {
    let number = of_class(class, "completed_share");
    let share = |(at, name): (usize, &String)| {
        let share = mean(&place.samples(at, &number))?;
        (share < 1.0).then(|| (name.clone(), share))
    };
    results.series.iter().enumerate().filter_map(share).collect()
}

/// The name of a number of the flows of a class, if one is named.
fn of_class(class: &str, number: &str) -> String {
    if class.is_empty() { number.into() } else { format!("class_{class}_{number}") }
}

/// The largest part of the mean completion time of a series at a place, of the flows of a class if one is named.
fn cause(place: &Place<'_>, series: usize, class: &str) -> Option<(&'static str, f64)> {
    let names = PartMeans::default().named();
    let names = names.map(|(name, _)| of_class(class, &format!("{name}_mean_ns")));
    let part = |name: &String| mean(&place.samples(series, name)).unwrap_or(0.0);
    largest(&names.each_ref().map(part))
}
