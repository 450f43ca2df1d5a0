//! Slowdown by size of the flow, from histograms added over seeds.

use super::StudyResults;
use super::curves::lower;
use super::facets::{Facets, Place};
use crate::SlowdownHistogram;
use crate::figures::Figure;
use crate::figures::multiples::{self, Picture, line};
use crate::number::{escape, significant, size};
use serde_json::{Value, json};

/// Most points that are drawn, each with two small multiples.
const MOST: usize = 3;

/// The median and the 99th percentile of the slowdown by size, two small multiples per point, at most three points spread
/// evenly. `None` if nothing completed.
pub(super) fn by_size(results: &StudyResults, facets: &Facets<'_>) -> Option<Figure> {
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
    let mut traces = Vec::new();
    let mut known = Vec::new();
    for (at, (_, place)) in chosen.iter().enumerate() {
        for series in 0..results.series.len() {
            let mut merged = SlowdownHistogram::default();
            let own = place.rows.iter().filter(|row| row.series == series);
            own.for_each(|row| merged.merge(&row.slowdown));
            if merged.sizes().next().is_none() {
                continue;
            }
            let first = !known.contains(&series);
            known.push(series);
            // A row of medians, and under it the 99th percentiles.
            traces.push((at, trace(results, series, &merged, 500, first)));
            traces.push((chosen.len() + at, trace(results, series, &merged, 990, false)));
        }
    }
    if traces.is_empty() {
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
    let picture = Picture {
        name: "slowdown_by_size".into(),
        title: "Slowdown by flow size".into(),
        caption,
        x: "flow size (payload)".into(),
        y: "slowdown".into(),
        facets: ["median", "99th percentile"]
            .iter()
            .flat_map(|what| {
                chosen.iter().map(|(title, _)| {
                    let parts = [*what, title].into_iter().filter(|part| !part.is_empty());
                    escape(&parts.collect::<Vec<&str>>().join(", "))
                })
            })
            .collect(),
        traces,
        x_axis: json!({ "type": "log", "tickvals": TICKS.to_vec(), "ticktext": TICKS.map(size).to_vec() }),
        y_axis: json!({ "type": "log", "dtick": "D2", "tickformat": "~g" }),
    };
    Some(picture.figure())
}

/// Flows of a bin below which its 99th percentile is the slowest.
const FEW: u64 = 100;

/// Sizes with a tick.
const TICKS: [f64; 8] = [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

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

fn trace(
    results: &StudyResults,
    series: usize,
    all: &SlowdownHistogram,
    thousandths: u32,
    first: bool,
) -> Value {
    let (name, look) = (escape(&results.series[series]), results.looks()[series]);
    let tail = thousandths == 990;
    let bins = || all.sizes().filter_map(|(_, bin)| Some((bin, bin.percentile(thousandths)?)));
    let text = |(bin, value): (&crate::SizeBin, f64)| {
        let what = if tail { "99th percentile" } else { "median" };
        let (mean, value) = (size(bin.mean_bytes()), significant(value));
        format!("{name}<br>{what} of {} flows of {mean}: {value}", bin.completed())
    };
    let mut marker = multiples::marker(look, 8, false);
    if tail {
        let symbol = |(bin, _): (&crate::SizeBin, f64)| {
            multiples::marker(look, 8, bin.completed() < FEW)["symbol"].clone()
        };
        marker["symbol"] = bins().map(symbol).collect();
    }
    json!({
        "type": "scatter", "mode": "lines+markers", "name": name,
        "legendgroup": format!("series {series}"), "showlegend": first,
        "x": bins().map(|(bin, _)| bin.mean_bytes()).collect::<Vec<f64>>(),
        "y": bins().map(|(_, value)| value).collect::<Vec<f64>>(),
        "line": line(look), "marker": marker,
        "text": bins().map(text).collect::<Vec<String>>(),
        "hovertemplate": "%{text}<extra></extra>",
    })
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
