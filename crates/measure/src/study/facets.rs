//! How the points of a study are laid out: one key along the axis, the others as small multiples.

use super::columns::key_values;
use super::{StudyResults, StudyRow};
use crate::chart::Axis;
use crate::frame::Values;
use crate::number::display_unit;
use crate::statistics::{Confidence, confidence, mean};

/// The horizontal axis.
pub(super) enum Along {
    /// A key with several numbers, and their unit.
    Numbers {
        /// Which key.
        key: usize,
        /// The unit in which they are shown; empty for plain numbers.
        unit: &'static str,
        /// Values are divided by this.
        scale: f64,
    },
    /// A key with several texts, in order of appearance.
    Names {
        /// Which key.
        key: usize,
        /// Its values.
        names: Vec<String>,
    },
    /// No key varies.
    Nothing,
}

/// The rows of one small multiple.
pub(super) struct Facet<'a> {
    /// The values of the keys that do not vary in it; empty if it is the only one.
    pub title: String,
    /// Its places along the axis, ascending.
    pub places: Vec<Place<'a>>,
}

/// The rows at one place: all series and seeds.
pub(super) struct Place<'a> {
    /// Where, on the axis.
    pub x: f64,
    /// Where, in words.
    pub name: String,
    /// Its rows, none of which failed.
    pub rows: Vec<&'a StudyRow>,
}

/// All small multiples of a study, over one axis.
pub(super) struct Facets<'a> {
    /// The horizontal axis.
    pub along: Along,
    /// The small multiples, in order of the study.
    pub all: Vec<Facet<'a>>,
}

/// A value over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Mean over seeds.
    pub mean: f64,
    /// Its 95 % confidence interval; `None` of one seed.
    pub interval: Option<Confidence>,
    /// What the interval cannot go below: 0 of what is never negative.
    pub floor: f64,
    /// Number of seeds.
    pub seeds: usize,
}

impl Estimate {
    /// The mean and interval of a value per seed; `None` without values.
    pub fn of(samples: &[f64]) -> Option<Estimate> {
        let negative = samples.iter().any(|value| *value < 0.0);
        let floor = if negative { f64::NEG_INFINITY } else { 0.0 };
        let (mean, interval) = (mean(samples)?, confidence(samples));
        Some(Estimate { mean, interval, floor, seeds: samples.len() })
    }

    /// The relative difference of paired values, in percent of the second of each; pairs whose second is 0 do not count.
    pub fn of_pairs(mut pairs: Vec<(f64, f64)>) -> Option<Estimate> {
        pairs.retain(|pair| pair.1 != 0.0);
        let percent: Vec<f64> = pairs.iter().map(|(a, b)| 100.0 * (a / b - 1.0)).collect();
        Some(Estimate { floor: f64::NEG_INFINITY, ..Estimate::of(&percent)? })
    }

    /// The ends of the interval. One that holds the mean in 95 of 100 cases still does without what is impossible.
    pub fn between(&self) -> Option<(f64, f64)> {
        let width = self.interval?.half_width;
        Some(((self.mean - width).max(self.floor), self.mean + width))
    }
}

/// The mean of a value per seed and the ends of its 95 % confidence interval, as charts of studies show them.
pub fn mean_within(samples: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
    Estimate::of(samples).map(|found| (found.mean, found.between()))
}

/// The same of the relative difference of paired values, in percent of the second of each.
pub fn difference_within(pairs: Vec<(f64, f64)>) -> Option<(f64, Option<(f64, f64)>)> {
    Estimate::of_pairs(pairs).map(|found| (found.mean, found.between()))
}

impl Place<'_> {
    /// The values of a number in the rows of a series, one per seed.
    pub fn samples(&self, series: usize, number: &str) -> Vec<f64> {
        let own = self.rows.iter().filter(|row| row.series == series);
        own.filter_map(|row| row.number(number)).collect()
    }
}

/// A title within a sentence: `Load` is "load", `ECN` stays.
pub(super) fn lower(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().to_string() + letters.as_str()
        }
        _ => title.into(),
    }
}

/// The values of a column of numbers.
fn numbers(values: Values) -> Option<Vec<Option<f64>>> {
    match values {
        Values::Integer(list) => Some(list.iter().map(|v| v.map(|v| v as f64)).collect()),
        Values::Float(list) => Some(list),
        _ => None,
    }
}

impl Along {
    fn of(results: &StudyResults) -> Along {
        let several = |key: usize| {
            let first = results.rows.first().map(|row| row.setting(key));
            results.rows.iter().any(|row| Some(row.setting(key)) != first)
        };
        let varied: Vec<usize> = (0..results.keys.len()).filter(|key| several(*key)).collect();
        for key in &varied {
            let (unit, values) = key_values(&results.rows, *key);
            if let Some(values) = numbers(values) {
                let largest = values.into_iter().flatten().fold(0.0, f64::max);
                let (unit, scale) = display_unit(unit, largest);
                return Along::Numbers { key: *key, unit, scale };
            }
        }
        let Some(key) = varied.first().copied() else { return Along::Nothing };
        let mut names = Vec::new();
        for row in &results.rows {
            let name = row.setting(key);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Along::Names { key, names }
    }

    /// The key along the axis.
    pub fn key(&self) -> Option<usize> {
        match self {
            Along::Numbers { key, .. } | Along::Names { key, .. } => Some(*key),
            Along::Nothing => None,
        }
    }

    /// The axis, without scale and ticks.
    pub fn axis(&self, results: &StudyResults) -> Axis {
        let unit = match self {
            Along::Numbers { unit, .. } => unit.to_string(),
            _ => String::new(),
        };
        let title = self.key().map_or("", |key| results.title_of(key));
        Axis { unit, ..Axis::titled(title) }
    }
}

impl<'a> Facets<'a> {
    /// All places, in the order of the study.
    pub fn places(&self) -> impl Iterator<Item = &Place<'a>> {
        self.all.iter().flat_map(|facet| &facet.places)
    }

    /// The last place, where the axis ends, and where that is in words: `load 0.8, buffer: 1MB`; empty if nothing varies.
    pub fn last(&self, results: &StudyResults) -> Option<(&Place<'a>, String)> {
        let facet = self.all.last()?;
        let place = facet.places.last()?;
        let key = self.along.key();
        let at = key.map(|key| format!("{} {}", lower(results.title_of(key)), place.name));
        let parts = at.into_iter().chain([lower(&facet.title)]).filter(|part| !part.is_empty());
        Some((place, parts.collect::<Vec<String>>().join(", ")))
    }

    /// Lays out the rows that did not fail.
    pub fn of(results: &'a StudyResults) -> Facets<'a> {
        let along = Along::of(results);
        let numbers: Vec<Option<f64>> = match &along {
            Along::Numbers { key, scale, .. } => {
                let values = numbers(key_values(&results.rows, *key).1);
                let shown = |value: Option<f64>| value.map(|value| value / scale);
                values.expect("they are numbers").into_iter().map(shown).collect()
            }
            Along::Names { key, names } => {
                let at = |row: &StudyRow| names.iter().position(|name| *name == row.setting(*key));
                results.rows.iter().map(|row| at(row).map(|at| at as f64)).collect()
            }
            Along::Nothing => vec![Some(0.0); results.rows.len()],
        };
        let mut all: Vec<Facet<'a>> = Vec::new();
        for (row, x) in results.rows.iter().zip(numbers) {
            let (Some(x), None) = (x, &row.error) else { continue };
            let others = (0..results.keys.len()).filter(|key| Some(*key) != along.key());
            let title: Vec<String> = others
                .map(|key| format!("{}: {}", results.title_of(key), row.setting(key)))
                .collect();
            let title = title.join(", ");
            let facet = match all.iter().position(|facet| facet.title == title) {
                Some(at) => &mut all[at],
                None => {
                    all.push(Facet { title, places: Vec::new() });
                    all.last_mut().expect("one was added")
                }
            };
            match facet.places.iter_mut().find(|place| place.x == x) {
                Some(place) => place.rows.push(row),
                None => {
                    let name = along.key().map_or(String::new(), |key| row.setting(key));
                    facet.places.push(Place { x, name, rows: vec![row] });
                }
            }
        }
        for facet in &mut all {
            facet.places.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        if let [only] = all.as_mut_slice() {
            // What does not differ needs no title.
            only.title.clear();
        }
        Facets { along, all }
    }
}
