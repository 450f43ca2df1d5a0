//! Curves over a key with 95 % intervals, and differences from a baseline, as small multiples.

use super::StudyResults;
use super::facets::{Along, Estimate, Facet, Facets, Place, lower};
use crate::chart::{self, Axis, Chart, Line, Mark, Scale};
use crate::number::{display_unit, significant};
use crate::numbers::Number;

/// Most small multiples of a figure.
pub(super) const MOST_FACETS: usize = 12;
/// Title, unit and the divisor of a metric for display, by its largest value.
pub struct Shown {
    /// What it is, without unit.
    pub title: String,
    /// The unit in which it reads best; empty if it has none.
    pub unit: &'static str,
    /// Values are divided by this.
    pub scale: f64,
}

impl Shown {
    /// A metric whose largest value is this.
    pub fn of(number: &Number, largest: f64) -> Shown {
        let (unit, scale) = display_unit(number.unit, largest);
        Shown { title: number.heading.clone(), unit, scale }
    }

    /// The title with its unit.
    pub fn label(&self) -> String {
        match self.unit {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }

    /// The axis of its values.
    fn axis(&self) -> Axis {
        Axis { unit: self.unit.into(), ..Axis::titled(&self.title) }
    }
}

/// The horizontal axis of a layout.
fn x_axis(results: &StudyResults, facets: &Facets<'_>) -> Axis {
    let axis = facets.along.axis(results);
    match &facets.along {
        Along::Numbers { .. } => {
            let all = || facets.all.iter().flat_map(|facet| &facet.places).map(|place| place.x);
            let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
            let log = low > 0.0 && high / low >= 30.0;
            axis.scaled(Scale::log(log))
        }
        Along::Names { names, .. } => {
            let ticks = names.iter().enumerate().map(|(at, name)| (at as f64, name.clone()));
            let range = Some((-0.5, names.len() as f64 - 0.5));
            Axis { range, ..axis.ticks(ticks.collect()) }
        }
        Along::Nothing => Axis { range: Some((-1.0, 1.0)), ..axis.ticks(vec![]) },
    }
}

/// How many seeds are behind the points: "3 seeds", "3 to 7 seeds".
fn seeds(counts: impl Iterator<Item = usize> + Clone) -> String {
    match (counts.clone().min(), counts.max()) {
        (Some(1), Some(1)) => "one seed, so no interval".into(),
        (Some(low), Some(high)) if low == high => format!("{low} seeds"),
        (Some(low), Some(high)) => format!("{low} to {high} seeds"),
        _ => "no seeds".into(),
    }
}

/// A point of a curve.
struct Point<'a> {
    place: &'a Place<'a>,
    estimate: Estimate,
}

/// The curve of a series in a small multiple.
fn curve(
    results: &StudyResults,
    facets: &Facets<'_>,
    (panel, series, points): &(usize, usize, Vec<Point<'_>>),
    shown: &Shown,
) -> Line {
    let name = &results.series[*series];
    let value = |x: f64| x / shown.scale;
    let numbers = matches!(facets.along, Along::Numbers { .. });
    // Categories side by side, so that intervals do not cover each other.
    let aside = match numbers {
        true => 0.0,
        false => ((*series as f64 + 0.5) / results.series.len() as f64 - 0.5) * 0.6,
    };
    let point = |Point { place, estimate }: &Point<'_>| {
        let between = estimate.between().map(|(low, high)| (value(low), value(high)));
        let ends = between.map_or(String::new(), |(low, high)| {
            format!(", 95 %: {} to {}", significant(low), significant(high))
        });
        let (mean, unit) = (significant(value(estimate.mean)), shown.unit);
        let says =
            format!("{name}\n{}: {mean} {unit}{ends} ({} seeds)", place.name, estimate.seeds);
        chart::Point { between, says, ..chart::Point::at(place.x + aside, value(estimate.mean)) }
    };
    Line {
        name: name.clone(),
        look: results.looks()[*series],
        panel: *panel,
        points: points.iter().map(point).collect(),
        mark: if numbers { Mark::Marked } else { Mark::Points },
        ..Line::default()
    }
}

/// The curves of one estimate per place and series, as small multiples.
fn curves<'a>(
    results: &StudyResults,
    facets: &'a Facets<'a>,
    estimate: impl Fn(&Place<'a>, usize) -> Option<Estimate>,
) -> Vec<(usize, usize, Vec<Point<'a>>)> {
    let facet = |(at, facet): (usize, &'a Facet<'a>)| {
        let of = |series: usize| {
            let point =
                |place: &'a Place<'a>| Some(Point { place, estimate: estimate(place, series)? });
            (at, series, facet.places.iter().filter_map(point).collect::<Vec<Point<'a>>>())
        };
        (0..results.series.len())
            .map(of)
            .filter(|(.., points)| !points.is_empty())
            .collect::<Vec<_>>()
    };
    facets.all.iter().take(MOST_FACETS).enumerate().flat_map(facet).collect()
}

fn left_out(facets: &Facets<'_>) -> String {
    match facets.all.len().saturating_sub(MOST_FACETS) {
        0 => String::new(),
        more => format!(" {more} more combinations are in study.parquet."),
    }
}

fn drawn(
    results: &StudyResults,
    facets: &Facets<'_>,
    lines: &[(usize, usize, Vec<Point<'_>>)],
    shown: &Shown,
) -> Chart {
    Chart {
        x: x_axis(results, facets),
        y: shown.axis(),
        panels: facets.all.iter().take(MOST_FACETS).map(|facet| facet.title.clone()).collect(),
        lines: lines.iter().map(|line| curve(results, facets, line, shown)).collect(),
        ..Chart::default()
    }
}

/// Where the vertical axis ends: above the intervals, unless they are so wide that the means would be one line; and what the
/// caption says of that.
fn top(ends: impl Iterator<Item = f64>, high: f64) -> (f64, &'static str) {
    let widest = ends.fold(high, f64::max);
    match widest > 2.5 * high {
        true => {
            (2.5 * high, "; those that leave the picture are wider: more seeds make them narrow")
        }
        false => (1.05 * widest, ""),
    }
}

/// A metric over the first numeric key, with 95 % intervals. `None` if no row has it.
pub(super) fn metric(
    results: &StudyResults,
    facets: &Facets<'_>,
    number: &Number,
) -> Option<Chart> {
    let lines =
        curves(results, facets, |place, series| Estimate::of(&place.samples(series, &number.name)));
    let all = || lines.iter().flat_map(|(.., points)| points).map(|point| point.estimate);
    let low = all().map(|one| one.mean).reduce(f64::min)?;
    let high = all().map(|one| one.mean).reduce(f64::max)?;
    if low == 0.0 && high == 0.0 {
        return None;
    }
    let shown = Shown::of(number, high);
    let (top, cut) = top(all().filter_map(|one| Some(one.between()?.1)), high);
    let seeds = seeds(all().map(|one| one.seeds));
    let (over, key) = match facets.along.key() {
        Some(key) => {
            let title = results.title_of(key);
            let key = format!(" Horizontal: {}.", results.keys[key]);
            (format!(" over {}", lower(title)), key)
        }
        None => Default::default(),
    };
    let caption = format!(
        "{}. Mean over seeds ({seeds}); whiskers: 95 % confidence interval of the mean (Student's t \
         over the seeds' values){cut}. Column {} of study.parquet.{key}{}",
        number.doc.trim_end_matches('.'),
        number.name,
        left_out(facets)
    );
    let mut chart = drawn(results, facets, &lines, &shown);
    let (low, high, top) = (low / shown.scale, high / shown.scale, top / shown.scale);
    if low > 0.0 && high / low >= 8.0 {
        chart.y = Axis { range: Some((low / 1.5, top)), ..chart.y.scaled(Scale::Log) };
    } else if low >= 0.0 {
        chart.y.range = Some((0.0, top));
    }
    let title = format!("{}{over}", shown.title);
    Some(Chart { name: number.name.clone(), title, caption, ..chart })
}

/// Paired relative differences of a metric from the baseline, in percent. `None` with one series.
pub(super) fn differences(
    results: &StudyResults,
    facets: &Facets<'_>,
    number: &Number,
) -> Option<Chart> {
    let baseline = results.baseline();
    let estimate = |place: &Place<'_>, series: usize| {
        if series == baseline {
            return None;
        }
        let of = |series: usize| place.rows.iter().filter(move |row| row.series == series);
        let base = |seed| of(baseline).find(|row| row.seed == seed)?.number(&number.name);
        let pair = |row: &&&super::StudyRow| Some((row.number(&number.name)?, base(row.seed)?));
        Estimate::of_pairs(of(series).filter_map(|row| pair(&row)).collect())
    };
    let lines = curves(results, facets, estimate);
    if lines.is_empty() {
        return None;
    }
    let seeds =
        seeds(lines.iter().flat_map(|(.., points)| points).map(|point| point.estimate.seeds));
    let all = || lines.iter().flat_map(|(.., points)| points).map(|point| point.estimate);
    let high = all().map(|one| one.mean.abs()).fold(5.0, f64::max);
    let ends = all().filter_map(|one| one.between());
    let (top, cut) = top(ends.map(|(low, high)| low.abs().max(high.abs())), high);
    let base = &results.series[baseline];
    let what = Shown::of(number, 0.0).title;
    let shown = Shown { title: format!("difference from {base}"), unit: "%", scale: 1.0 };
    let caption = format!(
        "Relative difference from {base} on the same arrivals: formed seed by seed ({seeds}), then the \
         mean; whiskers: 95 % confidence interval of that mean (Student's t){cut}. Where they do not reach \
         0 the difference is significant. Below 0: less than {base}.{}",
        left_out(facets)
    );
    let title = format!("{what}: difference from {base}");
    let name = format!("{}_difference", number.name);
    let mut chart = drawn(results, facets, &lines, &shown);
    chart.y = Axis { range: Some((-top, top)), ..chart.y.scaled(Scale::AroundZero) };
    Some(Chart { name, title, caption, ..chart })
}
