//! Slowdown by size of the flow, from histograms added over seeds.

use super::StudyResults;
use super::facets::{Facets, Place, lower};
use crate::SlowdownHistogram;
use crate::chart::style::size_ticks;
use crate::chart::{Axis, Chart, Line, Scale};
use crate::figures::{FEW, HOLLOW, PERCENTILES, by_size_point};

/// Most points that are drawn, each with two small multiples.
const MOST: usize = 3;

/// The median and the 99th percentile of the slowdown by size, two small multiples per point, at most three points spread
/// evenly. `None` if nothing completed.
pub(super) fn by_size(results: &StudyResults, facets: &Facets<'_>) -> Option<Chart> {
    let complete =
        |place: &&Place<'_>| place.rows.iter().any(|row| row.slowdown.percentile(500).is_some());
    let (mut chosen, mut count) = (Vec::new(), 0);
    // As many small multiples as there is room for, and of each the ends and what lies between.
    let each = MOST / spread(facets.all.len(), MOST).len().max(1);
    for at in spread(facets.all.len(), MOST) {
        let facet = &facets.all[at];
        let places: Vec<&Place<'_>> = facet.places.iter().filter(complete).collect();
        let own = spread(places.len(), each).into_iter().map(|place| places[place]);
        chosen.extend(own.map(|place| (title(results, facets, &facet.title, place), place)));
    }
    facets.all.iter().for_each(|facet| count += facet.places.iter().filter(complete).count());
    let mut lines = Vec::new();
    for (at, (_, place)) in chosen.iter().enumerate() {
        for series in 0..results.series.len() {
            let mut merged = SlowdownHistogram::default();
            let own = place.rows.iter().filter(|row| row.series == series);
            own.for_each(|row| merged.merge(&row.slowdown));
            if merged.sizes().next().is_none() {
                continue;
            }
            // A row of medians, and under it the 99th percentiles.
            lines.push(line(results, series, &merged, at, 0));
            lines.push(line(results, series, &merged, chosen.len() + at, 1));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let left = count - chosen.len();
    let more = if left == 0 {
        String::new()
    } else {
        format!(" {left} more points are in study.parquet.")
    };
    let caption = format!(
        "Completion time of a flow over its completion time alone on an empty network: 1 is perfect. Flows of \
         all seeds together, in bins of sizes drawn at their mean size; percentiles are within 1 %. Hollow: fewer \
         than {FEW} flows in the bin, so the 99th percentile is the slowest.{more}"
    );
    let panel = |what: &'static str| {
        chosen.iter().map(move |(title, _)| match title.as_str() {
            "" => what.to_string(),
            title => format!("{what}, {title}"),
        })
    };
    let sizes: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|one| one.x).collect();
    let x = Axis::titled("flow size (payload)").scaled(Scale::Log).ticks(size_ticks(&sizes));
    Some(Chart {
        name: "slowdown_by_size".into(),
        title: "Slowdown by flow size".into(),
        caption,
        x,
        y: Axis::titled("slowdown").scaled(Scale::Log),
        panels: PERCENTILES.into_iter().flat_map(panel).collect(),
        lines,
        hollow: HOLLOW,
        ..Chart::default()
    })
}

fn title(results: &StudyResults, facets: &Facets<'_>, facet: &str, place: &Place<'_>) -> String {
    let here =
        facets.along.key().map(|key| format!("{} {}", lower(results.title_of(key)), place.name));
    let parts = [here.unwrap_or_default(), facet.to_string()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// At most so many of these, the last among them, and the first if there are several.
fn spread(count: usize, most: usize) -> Vec<usize> {
    match (count, most) {
        (0, _) | (_, 0) => vec![],
        (_, 1) => vec![count - 1],
        _ if count <= most => (0..count).collect(),
        _ => (0..most).map(|at| at * (count - 1) / (most - 1)).collect(),
    }
}

/// The medians (0) or 99th percentiles (1) of a series in a small multiple.
fn line(
    results: &StudyResults,
    series: usize,
    all: &SlowdownHistogram,
    panel: usize,
    which: usize,
) -> Line {
    let name = &results.series[series];
    let point = |bin: &crate::SizeBin| {
        let (value, of) = (bin.percentile([500, 990][which])?, (bin.completed(), bin.mean_bytes()));
        Some(by_size_point((name, which), of, value, None))
    };
    let points = all.sizes().filter_map(|(_, bin)| point(bin)).collect();
    Line { name: name.clone(), look: results.looks()[series], panel, points, ..Line::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_all_drawn_and_many_from_end_to_end() {
        assert_eq!(spread(4, 6), [0, 1, 2, 3]);
        assert_eq!(spread(11, 6), [0, 2, 4, 6, 8, 10]);
        assert_eq!(spread(100, 6)[5], 99);
    }
}
