//! Figures of small multiples: pictures side by side with the same axes, which the page arranges by its width.

use super::{Figure, style};
use serde_json::{Value, json};

/// Height of a row of small multiples in pixels, with its titles.
const ROW: usize = 330;
/// Height of the legend and the margins.
const REST: usize = 90;

/// A figure of one or more small multiples, before its traces are placed.
pub(crate) struct Picture {
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
pub(crate) fn line(series: usize) -> Value {
    let dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
    json!({ "color": style::colour(series), "width": 2.2, "dash": dashes[series % dashes.len()] })
}

/// The marker of a series.
pub(crate) fn marker(series: usize, size: usize, open: bool) -> Value {
    let mut symbol = serde_json::to_value(style::symbol(series)).expect("a name");
    if open {
        symbol = format!("{}-open", symbol.as_str().expect("a name")).into();
    }
    json!({ "color": style::colour(series), "symbol": symbol, "size": size })
}
