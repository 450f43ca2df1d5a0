//! A chart as a Plotly figure, for pages and for tools that open it.

use super::style::{FAMILY, colour, marker};
use super::{Axis, Chart, Line, Mark, Point, Scale, Strip};
use crate::number::escape;
use serde_json::{Value, json};

/// Height of a chart that is one picture, in pixels; of bars, without them, and of each.
const WHOLE: usize = 400;
const BESIDE_BARS: usize = 210;
const BAR: usize = 46;
/// Height of a row of small multiples in pixels, with its titles.
const ROW: usize = 330;
/// Height of the legend and the margins of small multiples.
const REST: usize = 90;
/// Longest title of an axis in one line.
const LINE: usize = 34;

impl Chart {
    /// The Plotly figure: an object with `data` and `layout`.
    pub fn plotly(&self) -> Value {
        let mut known: Vec<&str> = Vec::new();
        let mut traces = Vec::new();
        for line in &self.lines {
            let first = !known.contains(&line.name.as_str());
            known.push(&line.name);
            traces.push(self.trace(line, first));
        }
        let strips = self.strips.iter().enumerate();
        traces.extend(strips.map(|(row, strip)| spans(strip, row)));
        json!({ "data": traces, "layout": self.layout() })
    }

    fn bars(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.mark, Mark::Bar(..)))
    }

    /// Columns and rows of its small multiples.
    fn grid(&self) -> (usize, usize) {
        let count = self.panels.len();
        let columns = match count {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        (columns, count.div_ceil(columns))
    }

    /// Its height on a page in pixels.
    pub fn height(&self) -> usize {
        let bars = self.y.ticks.as_ref().map_or(0, Vec::len);
        match self.panels.len() {
            0 if self.bars() => BESIDE_BARS + BAR * bars,
            0 => WHOLE,
            _ => self.grid().1 * ROW + REST,
        }
    }

    fn layout(&self) -> Value {
        let mut layout = json!({
            "title": { "text": escape(&self.title) }, "font": { "family": FAMILY, "size": 14 },
            "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff", "hovermode": "closest",
            "showlegend": true, "height": self.height(), "annotations": [], "legend": {},
            "margin": { "l": 70, "r": 20, "t": 30, "b": 60 },
        });
        match self.panels.len() {
            0 => {
                layout["xaxis"] = axis(&self.x, &escape(&self.x.label()));
                layout["yaxis"] = axis(&self.y, &escape(&self.y.label()));
                if self.y.is_log() && self.y.ticks.is_none() {
                    plain_numbers(&mut layout["yaxis"]);
                }
            }
            _ => self.small_multiples(&mut layout),
        }
        if self.bars() {
            layout["barmode"] = "stack".into();
            layout["legend"]["traceorder"] = "normal".into();
        }
        self.uprights(&mut layout);
        self.under(&mut layout);
        self.menu(&mut layout);
        layout
    }

    /// Pictures side by side with the same axes, which the page arranges by its width.
    fn small_multiples(&self, layout: &mut Value) {
        let (columns, rows) = self.grid();
        let (x, y) = (escape(&self.x.label()), broken(&escape(&self.y.label())));
        let count = self.panels.len();
        layout["margin"]["t"] = 40.into();
        let above = 1.0 + 34.0 / (rows * ROW) as f64;
        layout["legend"] = json!({ "orientation": "h", "x": 0, "xanchor": "left", "y": above, "yanchor": "bottom" });
        // The page needs to know what they are.
        layout["meta"] = json!({ "facets": count, "x": x, "y": y, "row": ROW, "rest": REST });
        for (at, title) in self.panels.iter().enumerate() {
            let id = axis_id(at);
            let (column, row) = (at % columns, at / columns);
            let x_title = if at + columns >= count { x.as_str() } else { "" };
            let y_title = if column == 0 { y.as_str() } else { "" };
            let (mut across, mut up) = (axis(&self.x, x_title), axis(&self.y, y_title));
            across["domain"] = domain(column, columns, 0.07);
            up["domain"] = domain(rows - 1 - row, rows, 0.26 / rows as f64);
            (across["anchor"], up["anchor"]) = (format!("y{id}").into(), format!("x{id}").into());
            if self.y.is_log() && self.y.ticks.is_none() {
                plain_numbers(&mut up);
            }
            if at > 0 {
                (across["matches"], up["matches"]) = ("x".into(), "y".into());
            }
            layout[format!("xaxis{id}")] = across;
            layout[format!("yaxis{id}")] = up;
            if !title.is_empty() {
                add(
                    &mut layout["annotations"],
                    json!({
                        "text": escape(title), "showarrow": false, "font": { "size": 13 },
                        "xref": format!("x{id} domain"), "yref": format!("y{id} domain"),
                        "x": 0.5, "y": 1.0, "xanchor": "center", "yanchor": "bottom",
                    }),
                );
            }
        }
    }

    fn trace(&self, line: &Line, first: bool) -> Value {
        let name = escape(&line.name);
        let xs: Vec<f64> = line.points.iter().map(|point| point.x).collect();
        let ys: Vec<f64> = line.points.iter().map(|point| point.y).collect();
        if let Mark::Bar(colour, pattern) = line.mark {
            let ticks = self.y.ticks.as_deref().unwrap_or_default();
            let named =
                |y: &f64| ticks.iter().find(|(at, _)| at == y).map(|(_, name)| escape(name));
            return json!({
                "type": "bar", "orientation": "h", "name": name, "x": xs,
                "y": ys.iter().map(named).collect::<Vec<_>>(),
                "marker": { "color": colour, "pattern": {
                    "shape": pattern, "fillmode": "overlay", "fgopacity": 0.45, "size": 7.0,
                } },
                "hovertemplate": format!("%{{y}}<br>{name}: %{{x:.4g}} {}<extra></extra>", escape(&self.x.unit)),
            });
        }
        let id = axis_id(line.panel);
        let mut trace = json!({
            "type": "scatter", "name": name, "x": xs, "y": ys, "xaxis": format!("x{id}"), "yaxis": format!("y{id}"),
            "legendgroup": format!("line {}", line.look), "showlegend": first,
            "mode": match line.mark { Mark::Plain => "lines", Mark::Points => "markers", _ => "lines+markers" },
            "line": { "color": colour(line.look), "width": 2.2, "dash": dash(line.look) },
            "hovertemplate": format!("%{{y:.4g}}{} at %{{x:.5g}}{}", after(&self.y.unit), after(&self.x.unit)),
        });
        if line.mark != Mark::Plain {
            trace["marker"] = markers(line);
        }
        if line.points.iter().any(|point| point.between.is_some()) {
            trace["error_y"] = whiskers(line);
        }
        if line.points.iter().any(|point| !point.says.is_empty()) {
            let says = |point: &Point| escape(&point.says).replace('\n', "<br>");
            trace["text"] = line.points.iter().map(says).collect();
            trace["hovertemplate"] = "%{text}<extra></extra>".into();
        }
        trace
    }

    fn uprights(&self, layout: &mut Value) {
        for one in &self.uprights {
            let (colour, dash) =
                if one.repaired { ("#00573F", "dot") } else { ("#D52B00", "dash") };
            add(
                &mut layout["shapes"],
                json!({
                    "type": "line", "x0": one.x, "x1": one.x, "y0": 0, "y1": 1, "yref": "paper",
                    "line": { "color": colour, "width": 1.4, "dash": dash },
                }),
            );
            if !one.text.is_empty() {
                // The text is turned clockwise: its left is the page's upper side.
                let sign = if one.repaired { "\u{25c0}" } else { "\u{25b6}" };
                add(
                    &mut layout["annotations"],
                    json!({
                        "x": one.x, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top",
                        "textangle": 90, "showarrow": false, "font": { "size": 11, "color": colour },
                        "text": format!("{sign} {}", escape(&one.text)),
                    }),
                );
            }
        }
    }

    /// Room under the lines for the strips.
    fn under(&self, layout: &mut Value) {
        let count = self.strips.len();
        if count == 0 {
            return;
        }
        let strip = (0.05 * count as f64).min(0.3);
        let name = |strip: &Strip| escape(&strip.name);
        layout["yaxis"]["domain"] = json!([strip + 0.08, 1.0]);
        layout["yaxis2"] = json!({
            "domain": [0.0, strip], "range": [-0.6, count as f64 - 0.4], "automargin": true,
            "tickvals": (0..count).collect::<Vec<_>>(),
            "ticktext": self.strips.iter().map(name).collect::<Vec<_>>(),
            "tickfont": { "size": 11 }, "showgrid": false, "zeroline": false,
        });
        layout["xaxis"]["anchor"] = "y2".into();
    }

    /// The choice of what the lines show. In the figure this is a menu as Plotly draws it; pages make their own of it.
    fn menu(&self, layout: &mut Value) {
        if self.choices.is_empty() {
            return;
        }
        let which: Vec<usize> = (0..self.lines.len()).collect();
        let button = |one: &super::Choice| json!({ "label": escape(&one.name), "method": "restyle", "args": [{ "y": one.values }, which] });
        layout["updatemenus"] = json!([{
            "type": "dropdown", "buttons": self.choices.iter().map(button).collect::<Vec<_>>(), "x": 0,
            "xanchor": "left", "y": 1.02, "yanchor": "bottom", "bgcolor": "#ffffff",
            "font": { "family": FAMILY },
        }]);
    }
}

/// Adds to a list, which may not be there yet.
fn add(list: &mut Value, one: Value) {
    match list.as_array_mut() {
        Some(list) => list.push(one),
        None => *list = json!([one]),
    }
}

/// A unit behind a number.
fn after(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {}", escape(unit)) }
}

/// A long title in two lines.
fn broken(title: &str) -> String {
    match title.rsplit_once(" of ") {
        Some((first, second)) if title.chars().count() > LINE => format!("{first}<br>of {second}"),
        _ => title.to_string(),
    }
}

/// Plotly's number of an axis: none for the first.
fn axis_id(at: usize) -> String {
    if at == 0 { String::new() } else { (at + 1).to_string() }
}

/// The share of the width or height of one of several beside each other.
fn domain(at: usize, of: usize, gap: f64) -> Value {
    let each = (1.0 - gap * (of - 1) as f64) / of as f64;
    let from = at as f64 * (each + gap);
    json!([from, (from + each).min(1.0)])
}

/// A logarithmic axis with plain numbers: 1, 2, 5, 10.
fn plain_numbers(axis: &mut Value) {
    (axis["dtick"], axis["tickformat"]) = ("D2".into(), "~g".into());
}

fn axis(of: &Axis, title: &str) -> Value {
    let mut axis = json!({
        "title": { "text": title, "standoff": 8 }, "showline": true, "linecolor": "#444444",
        "gridcolor": "#e4e4e4", "zeroline": of.scale == Scale::AroundZero, "ticks": "outside", "automargin": true,
    });
    match of.scale {
        Scale::Linear => {}
        Scale::FromZero => axis["rangemode"] = "tozero".into(),
        Scale::AroundZero => {
            (axis["zerolinecolor"], axis["zerolinewidth"]) = ("#777777".into(), 1.5.into());
        }
        Scale::Log => axis["type"] = "log".into(),
    }
    if let Some(ticks) = &of.ticks {
        axis["tickvals"] = ticks.iter().map(|(at, _)| *at).collect();
        axis["ticktext"] = ticks.iter().map(|(_, text)| escape(text)).collect();
    }
    if let Some((low, high)) = of.range {
        axis["range"] =
            if of.is_log() { json!([low.log10(), high.log10()]) } else { json!([low, high]) };
    }
    axis
}

/// The dashes of a line: they tell lines apart in grey.
fn dash(look: usize) -> &'static str {
    let dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
    dashes[look % dashes.len()]
}

/// The markers of a line: one for all, or one a point if some are hollow.
fn markers(line: &Line) -> Value {
    let symbols = ["circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "x"];
    let own = symbols[marker(line.look)];
    let symbol = |hollow: bool| if hollow { format!("{own}-open") } else { own.to_string() };
    let symbols = match line.points.iter().any(|point| point.hollow) {
        true => line.points.iter().map(|point| symbol(point.hollow)).collect(),
        false => Value::from(own),
    };
    json!({ "color": colour(line.look), "symbol": symbols, "size": 8 })
}

fn whiskers(line: &Line) -> Value {
    let ends = |end: fn(f64, (f64, f64)) -> f64| -> Vec<Option<f64>> {
        line.points.iter().map(|point| Some(end(point.y, point.between?))).collect()
    };
    json!({
        "type": "data", "symmetric": false, "visible": true, "thickness": 1.2, "width": 4,
        "array": ends(|value, (_, high)| high - value), "arrayminus": ends(|value, (low, _)| value - low),
        "color": colour(line.look),
    })
}

/// The spans of a strip, which nothing joins.
fn spans(strip: &Strip, row: usize) -> Value {
    let (mut x, mut y) = (vec![], vec![]);
    for (from, to) in &strip.spans {
        x.extend([json!(from), json!(to), Value::Null]);
        y.extend([json!(row), json!(row), Value::Null]);
    }
    json!({
        "type": "scatter", "mode": "lines", "x": x, "y": y, "yaxis": "y2", "connectgaps": false,
        "name": escape(&strip.name), "showlegend": false, "line": { "color": "#444444", "width": 7 },
        "hovertemplate": format!("{} at %{{x:.5g}}", escape(&strip.says)),
    })
}
