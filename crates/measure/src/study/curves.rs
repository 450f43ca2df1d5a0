//! Curves over a key with 95 % intervals, and differences from a baseline, as small multiples.

use super::StudyResults;
use super::facets::{Along, Estimate, Facet, Facets, Place};
use crate::figures::{Figure, style};
use crate::number::{display_unit, escape, significant};
use crate::numbers::Number;
use crate::statistics::paired_relative;
use serde_json::{Value, json};

/// Most small multiples of a figure.
pub(super) const MOST_FACETS: usize = 12;
/// Height of a row of small multiples in pixels, with its titles.
const ROW: usize = 330;
/// Height of the legend and the margins.
const REST: usize = 90;

/// A figure of one or more small multiples, before its traces are placed.
pub(super) struct Picture {
    pub name: String,
    pub title: String,
    pub caption: String,
    pub x: String,
    pub y: String,
    /// Titles of the small multiples.
    pub facets: Vec<String>,
    /// Traces with the number of their small multiple.
    pub traces: Vec<(usize, Value)>,
    /// What all horizontal axes have.
    pub x_axis: Value,
    /// What all vertical axes have.
    pub y_axis: Value,
}

impl Picture {
    /// The figure: all small multiples share their axes' ranges.
    pub fn figure(self) -> Figure {
        let count = self.facets.len();
        let columns = match count {
            1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let rows = count.div_ceil(columns);
        let height = rows * ROW + REST;
        let mut layout = json!({
            "title": { "text": self.title },
            "font": { "family": "system-ui, Segoe UI, Helvetica, Arial, sans-serif", "size": 14 },
            "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff",
            "margin": { "l": 70, "r": 20, "t": 40, "b": 60 },
            "hovermode": "closest", "showlegend": true, "height": height,
            "legend": { "orientation": "h", "x": 0, "xanchor": "left", "y": 1.0 + 34.0 / (rows * ROW) as f64, "yanchor": "bottom" },
            // The page arranges small multiples by its width; it needs to know what they are.
            "meta": { "facets": count, "x": self.x, "y": self.y, "row": ROW, "rest": REST },
        });
        let mut notes = Vec::new();
        for (at, title) in self.facets.iter().enumerate() {
            let id = axis_id(at);
            let (column, row) = (at % columns, at / columns);
            let (x, y) =
                (domain(column, columns, 0.07), domain(rows - 1 - row, rows, 0.26 / rows as f64));
            let x_title = if at + columns >= count { self.x.as_str() } else { "" };
            let y_title = if column == 0 { self.y.as_str() } else { "" };
            layout[format!("xaxis{id}")] = axis(&self.x_axis, x, x_title, "y", &id, at);
            layout[format!("yaxis{id}")] = axis(&self.y_axis, y, y_title, "x", &id, at);
            if !title.is_empty() {
                notes.push(json!({
                    "text": title, "showarrow": false, "font": { "size": 13 },
                    "xref": format!("x{id} domain"), "yref": format!("y{id} domain"),
                    "x": 0.5, "y": 1.0, "xanchor": "center", "yanchor": "bottom",
                }));
            }
        }
        layout["annotations"] = notes.into();
        let place = |(at, mut trace): (usize, Value)| {
            trace["xaxis"] = format!("x{}", axis_id(at)).into();
            trace["yaxis"] = format!("y{}", axis_id(at)).into();
            trace
        };
        let data: Vec<Value> = self.traces.into_iter().map(place).collect();
        let Picture { name, title, caption, .. } = self;
        Figure { name, title, caption, height, plot: json!({ "data": data, "layout": layout }) }
    }
}

/// Plotly's number of an axis: none for the first.
fn axis_id(at: usize) -> String {
    if at == 0 { String::new() } else { (at + 1).to_string() }
}

/// The share of the width or height of one of several beside each other.
fn domain(at: usize, of: usize, gap: f64) -> [f64; 2] {
    let each = (1.0 - gap * (of - 1) as f64) / of as f64;
    let from = at as f64 * (each + gap);
    [from, (from + each).min(1.0)]
}

fn axis(shared: &Value, domain: [f64; 2], title: &str, other: &str, id: &str, at: usize) -> Value {
    let mut axis = json!({
        "domain": domain, "anchor": format!("{other}{id}"), "showline": true, "zeroline": false,
        "linecolor": "#444444", "gridcolor": "#e4e4e4", "ticks": "outside", "automargin": true,
        "title": { "text": title, "standoff": 8 },
    });
    for (key, value) in shared.as_object().into_iter().flatten() {
        axis[key] = value.clone();
    }
    if at > 0 {
        axis["matches"] = (if other == "y" { "x" } else { "y" }).into();
    }
    axis
}

/// How a series is drawn: colour, dashes and marker differ, so that greyscale prints can be read.
pub(super) fn line(series: usize) -> Value {
    let dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
    json!({ "color": style::colour(series), "width": 2.2, "dash": dashes[series % dashes.len()] })
}

/// The marker of a series.
pub(super) fn marker(series: usize, size: usize, open: bool) -> Value {
    let mut symbol = serde_json::to_value(style::symbol(series)).expect("a name");
    if open {
        symbol = format!("{}-open", symbol.as_str().expect("a name")).into();
    }
    json!({ "color": style::colour(series), "symbol": symbol, "size": size })
}

/// Title, unit and the divisor of a metric for display, by its largest value.
pub struct Shown {
    /// What it is, without unit.
    pub title: String,
    /// The unit in which it reads best; empty if it has none.
    pub unit: &'static str,
    /// Values are divided by this.
    pub scale: f64,
}

/// Titles of the metrics that are drawn by themselves.
const TITLES: [(&str, &str); 17] = [
    ("slowdown_p99", "Slowdown, 99th percentile"),
    ("slowdown_p999", "Slowdown, 99.9th percentile"),
    ("slowdown_mean", "Slowdown, mean"),
    ("slowdown_median", "Slowdown, median"),
    ("short_slowdown_p99", "Slowdown of short flows (< 100 KB), 99th percentile"),
    ("long_slowdown_p99", "Slowdown of long flows (≥ 100 KB), 99th percentile"),
    ("long_slowdown_mean", "Slowdown of long flows (≥ 100 KB), mean"),
    ("fct_mean_ns", "Flow completion time, mean"),
    ("fct_p99_ns", "Flow completion time, 99th percentile"),
    ("goodput_gbps", "Goodput of all flows"),
    ("switch_backlog_max_bytes", "Largest queue of any switch port"),
    ("completed_share", "Share of flows that completed"),
    ("request_mean_ns", "Request completion time, mean"),
    ("busbw", "Bus bandwidth of collectives, mean"),
    ("iteration_ms", "Time of an iteration, mean"),
    ("exposed_ms", "Exposed communication, mean"),
    ("drops", "Packets dropped"),
];

impl Shown {
    /// A metric whose largest value is this.
    pub fn of(number: &Number, largest: f64) -> Shown {
        let known = TITLES.iter().find(|(name, _)| *name == number.name);
        let all = number.doc.trim_end_matches('.').trim_end_matches("; all measured flows");
        let title = known.map_or(all, |(_, title)| title).to_string();
        let (unit, scale) = display_unit(number.unit, largest);
        Shown { title, unit, scale }
    }

    /// The title with its unit.
    pub fn label(&self) -> String {
        match self.unit {
            "" => self.title.clone(),
            unit => format!("{} ({unit})", self.title),
        }
    }

    /// The same as the title of an axis: a long one in two lines.
    fn axis(&self) -> String {
        let text = escape(&self.label());
        match text.rsplit_once(", ") {
            Some((first, second)) if text.chars().count() > 34 => format!("{first},<br>{second}"),
            _ => text,
        }
    }
}

/// The horizontal axis of a layout.
fn x_axis(facets: &Facets<'_>) -> Value {
    match &facets.along {
        Along::Numbers { .. } => {
            let all = || facets.all.iter().flat_map(|facet| &facet.places).map(|place| place.x);
            let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
            match low > 0.0 && high / low >= 30.0 {
                true => json!({ "type": "log" }),
                false => json!({ "type": "linear" }),
            }
        }
        Along::Names { names, .. } => json!({
            "tickvals": (0..names.len()).collect::<Vec<usize>>(),
            "ticktext": names.iter().map(|name| escape(name)).collect::<Vec<String>>(),
            "range": [-0.5, names.len() as f64 - 0.5],
        }),
        Along::Nothing => json!({ "tickvals": [], "range": [-1.0, 1.0] }),
    }
}

/// A title within a sentence: `Load` is "load", `ECN` stays.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().to_string() + letters.as_str()
        }
        _ => title.into(),
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
fn trace(
    results: &StudyResults,
    facets: &Facets<'_>,
    series: usize,
    points: &[Point<'_>],
    shown: &Shown,
    first: bool,
) -> Value {
    let name = escape(&results.series[series]);
    let value = |x: f64| x / shown.scale;
    // Categories side by side, so that intervals do not cover each other.
    let aside = match facets.along {
        Along::Numbers { .. } => 0.0,
        _ => ((series as f64 + 0.5) / results.series.len() as f64 - 0.5) * 0.6,
    };
    let text = |point: &Point<'_>| {
        let Estimate { mean, interval, seeds } = point.estimate;
        let width =
            interval.map_or(String::new(), |i| format!(" ± {}", significant(value(i.half_width))));
        let place = escape(&point.place.name);
        format!(
            "{name}<br>{place}: {}{width} {} ({seeds} seeds)",
            significant(value(mean)),
            shown.unit
        )
    };
    let widths: Vec<Option<f64>> =
        points.iter().map(|point| point.estimate.half_width().map(value)).collect();
    let lines = matches!(facets.along, Along::Numbers { .. });
    json!({
        "type": "scatter", "mode": if lines { "lines+markers" } else { "markers" },
        "name": name, "legendgroup": format!("series {series}"), "showlegend": first,
        "x": points.iter().map(|point| point.place.x + aside).collect::<Vec<f64>>(),
        "y": points.iter().map(|point| value(point.estimate.mean)).collect::<Vec<f64>>(),
        "error_y": {
            "type": "data", "array": widths, "visible": true, "thickness": 1.2, "width": 4,
            "color": style::colour(series),
        },
        "line": line(series), "marker": marker(series, 8, false),
        "text": points.iter().map(text).collect::<Vec<String>>(),
        "hovertemplate": "%{text}<extra></extra>",
    })
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

fn picture(
    results: &StudyResults,
    facets: &Facets<'_>,
    lines: &[(usize, usize, Vec<Point<'_>>)],
    shown: &Shown,
    name: String,
    title: String,
    caption: String,
) -> Picture {
    let mut known = Vec::new();
    let mut draw = |(at, series, points): &(usize, usize, Vec<Point<'_>>)| {
        let first = !known.contains(series);
        known.push(*series);
        (*at, trace(results, facets, *series, points, shown, first))
    };
    Picture {
        name,
        title,
        caption,
        x: escape(&facets.along.title(results)),
        y: shown.axis(),
        facets: facets.all.iter().take(MOST_FACETS).map(|facet| escape(&facet.title)).collect(),
        traces: lines.iter().map(&mut draw).collect(),
        x_axis: x_axis(facets),
        y_axis: json!({}),
    }
}

/// A metric over the first numeric key, with 95 % intervals. `None` if no row has it.
pub(super) fn metric(
    results: &StudyResults,
    facets: &Facets<'_>,
    number: &Number,
) -> Option<Figure> {
    let lines =
        curves(results, facets, |place, series| Estimate::of(&place.samples(series, &number.name)));
    let all = || lines.iter().flat_map(|(.., points)| points).map(|point| point.estimate);
    let low = all().map(|one| one.mean).reduce(f64::min)?;
    let high = all().map(|one| one.mean).reduce(f64::max)?;
    if low == 0.0 && high == 0.0 {
        return None;
    }
    let shown = Shown::of(number, high);
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
         over the seeds' values). Column {} of study.parquet.{key}{}",
        number.doc.trim_end_matches('.'),
        number.name,
        left_out(facets)
    );
    let title = escape(&format!("{}{over}", shown.title));
    let mut picture = picture(results, facets, &lines, &shown, number.name.clone(), title, caption);
    picture.y_axis = match low > 0.0 && high / low >= 8.0 {
        true => json!({ "type": "log", "dtick": "D2", "tickformat": "~g" }),
        false if low >= 0.0 => json!({ "rangemode": "tozero" }),
        false => json!({}),
    };
    Some(picture.figure())
}

/// Paired relative differences of a metric from the baseline, in percent. `None` with one series.
pub(super) fn differences(
    results: &StudyResults,
    facets: &Facets<'_>,
    number: &Number,
) -> Option<Figure> {
    let baseline = results.baseline();
    let estimate = |place: &Place<'_>, series: usize| {
        if series == baseline {
            return None;
        }
        let of = |series: usize| place.rows.iter().filter(move |row| row.series == series);
        let base = |seed| of(baseline).find(|row| row.seed == seed)?.number(&number.name);
        let pair = |row: &&&super::StudyRow| Some((row.number(&number.name)?, base(row.seed)?));
        let pairs: Vec<(f64, f64)> =
            of(series).filter_map(|row| pair(&row)).filter(|p| p.1 != 0.0).collect();
        let percent: Vec<f64> = pairs.iter().map(|(a, b)| 100.0 * (a / b - 1.0)).collect();
        let mut found = Estimate::of(&percent)?;
        found.interval = paired_relative(&pairs).map(|mut interval| {
            interval.mean *= 100.0;
            interval.half_width *= 100.0;
            interval
        });
        Some(found)
    };
    let lines = curves(results, facets, estimate);
    if lines.is_empty() {
        return None;
    }
    let seeds =
        seeds(lines.iter().flat_map(|(.., points)| points).map(|point| point.estimate.seeds));
    let base = &results.series[baseline];
    let what = Shown::of(number, 0.0).title;
    let shown = Shown { title: format!("difference from {base}"), unit: "%", scale: 1.0 };
    let caption = format!(
        "Relative difference from {base} on the same arrivals: formed seed by seed ({seeds}), then the \
         mean; whiskers: 95 % confidence interval of that mean (Student's t). Where they do not reach \
         0 the difference is significant. Below 0: less than {base}.{}",
        left_out(facets)
    );
    let title = escape(&format!("{what}: difference from {base}, paired by seed"));
    let name = format!("{}_difference", number.name);
    let mut picture = picture(results, facets, &lines, &shown, name, title, caption);
    picture.y_axis = json!({ "zeroline": true, "zerolinecolor": "#777777", "zerolinewidth": 1.5, "ticksuffix": " %" });
    Some(picture.figure())
}
