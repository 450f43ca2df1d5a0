//! Which points a study has: with `repeat_until`, seeds are added to a combination of values until
//! every series is known well enough. The rule looks at rows alone, not at when they came, so that
//! a resumed study has the same points as one that was never interrupted.

use crate::point::Point;
use crate::row::Row;
use crate::store::Store;
use crate::study::Study;
use incast_experiment::Fault;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the rule needs to know of rows, by hash: the value of the metric. None for a failed row, or
/// one that has no such number.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<String, Option<f64>>);

impl Known {
    /// Takes note of a row.
    pub fn note(&mut self, study: &Study, row: &Row) {
        if let Some(repeat) = study.repeat() {
            let value = row.summary.as_ref().and_then(|summary| repeat.number.of(summary));
            self.0.insert(row.hash.clone(), value);
        }
    }
}

/// The points of one combination, as far as they are known to be needed.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Points of each seed so far, in order of seeds.
    pub points: Vec<Vec<Arc<Point>>>,
    over: bool,
}

impl Rounds {
    /// The rounds of each combination with the first seeds.
    pub fn of(study: &Study) -> Vec<Rounds> {
        let mut all: BTreeMap<usize, Vec<Vec<Arc<Point>>>> = BTreeMap::new();
        for point in study.points() {
            let rounds = all.entry(point.combination).or_default();
            match rounds.last_mut().filter(|last| last[0].seed == point.seed) {
                Some(last) => last.push(point.clone()),
                None => rounds.push(vec![point.clone()]),
            }
        }
        all.into_values().map(|points| Rounds { points, over: study.repeat().is_none() }).collect()
    }

    /// Adds the next seed if all of the last are known and some series needs it; returns its points.
    pub fn advance(&mut self, study: &Study, known: &Known) -> Result<Vec<Arc<Point>>, Fault> {
        let Some(repeat) = study.repeat().filter(|_| !self.over) else { return Ok(vec![]) };
        let value = |point: &Arc<Point>| known.0.get(&point.hash);
        if !self.points.iter().flatten().all(|point| value(point).is_some()) {
            return Ok(vec![]);
        }
        let met = |series: usize| {
            let values: Option<Vec<f64>> =
                self.points.iter().map(|round| value(&round[series]).copied().flatten()).collect();
            // More seeds do not help a series with failures.
            values.is_none_or(|values| repeat.half_width.met(&values))
        };
        let width = self.points[0].len();
        if self.points.len() >= repeat.most as usize || (0..width).all(met) {
            self.over = true;
            return Ok(vec![]);
        }
        let seed = study.seed_after(self.points.len());
        let next = self.points[0].iter().map(|point| study.reseeded(point, seed).map(Arc::new));
        self.points.push(next.collect::<Result<_, Fault>>()?);
        Ok(self.points.last().expect("was pushed").clone())
    }
}

impl Study {
    /// Its points in the order of a table - combination, series, seed - with the seeds that the rows
    /// of a store have called for.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn points_in(&self, store: &Store) -> Result<Vec<Arc<Point>>, Fault> {
        let mut known = Known::default();
        if self.repeat().is_some() {
            store.rows()?.values().for_each(|row| known.note(self, row));
        }
        let mut all = vec![];
        for mut rounds in Rounds::of(self) {
            while !rounds.advance(self, &known)?.is_empty() {}
            all.extend(rounds.points.into_iter().flatten());
        }
        all.sort_by_key(|point| (point.combination, point.series));
        Ok(all)
    }
}
