//! What is marked in figures over time: failures and repairs of links, pauses; and a choice of what
//! the lines show.

use super::figure::Figure;
use super::style;
use crate::Run;
use crate::number::escape;
use serde_json::{Value, json};

/// Most lines of link changes.
const CHANGES: usize = 400;
/// Most link changes that are named.
const NAMED: usize = 6;

/// Draws a line at each failure and repair of a link; `unit` is that of the time axis in nanoseconds.
/// All runs of a figure have the same.
pub(super) fn links(figure: &mut Figure, runs: &[&Run], unit: f64) {
    let Some(run) = runs.iter().find(|run| !run.link_changes.is_empty()) else { return };
    let within = |at: &f64| *at <= run.record.ended.as_ns_f64();
    let changes: Vec<_> = run
        .link_changes
        .iter()
        .map(|change| (change.at.as_ns_f64(), change))
        .filter(|(at, _)| within(at))
        .collect();
    let (mut shapes, mut texts) = (vec![], vec![]);
    for (at, change) in changes.iter().take(CHANGES) {
        let (colour, dash) = if change.up { ("#00573F", "dot") } else { ("#D52B00", "dash") };
        let x = at / unit;
        shapes.push(json!({
            "type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper",
            "line": { "color": colour, "width": 1.4, "dash": dash },
        }));
        if changes.len() <= NAMED {
            // The text is turned clockwise: its left is the page's upper side.
            let (sign, what) =
                if change.up { ("\u{25c0}", "repaired") } else { ("\u{25b6}", "fails") };
            texts.push(json!({
                "x": x, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top",
                "textangle": 90, "showarrow": false, "font": { "size": 11, "color": colour },
                "text": format!("{sign} {} {what}", escape(&change.link)),
            }));
        }
    }
    if shapes.is_empty() {
        return;
    }
    let repairs = changes.iter().filter(|(_, change)| change.up).count();
    figure.plot["layout"]["shapes"] = shapes.into();
    figure.plot["layout"]["annotations"] = texts.into();
    figure.caption += &format!(
        " Upright lines: links that fail (dashed, {}) and work again (dotted, {repairs}).",
        changes.len() - repairs
    );
    if changes.len() > CHANGES {
        figure.caption += &format!(" The first {CHANGES} are drawn.");
    }
}

/// Draws a strip under the lines: when some port of each run was paused. With `several` runs in the
/// figure each strip has the name of its own.
pub(super) fn pauses(
    figure: &mut Figure,
    runs: &[(&str, Vec<(f64, f64)>)],
    several: bool,
    unit: f64,
) {
    if runs.is_empty() {
        return;
    }
    for (at, (label, spans)) in runs.iter().enumerate() {
        let (mut x, mut y) = (vec![], vec![]);
        for (from, to) in spans {
            x.extend([json!(from / unit), json!(to / unit), Value::Null]);
            y.extend([json!(at), json!(at), Value::Null]);
        }
        let trace = json!({
            "type": "scatter", "mode": "lines", "x": x, "y": y, "yaxis": "y2", "connectgaps": false,
            "name": format!("{}: paused", escape(label)), "showlegend": false,
            "line": { "color": "#444444", "width": 7 },
            "hovertemplate": "some port is paused at %{x:.5g}",
        });
        figure.plot["data"].as_array_mut().expect("traces are a list").push(trace);
    }
    let strip = (0.05 * runs.len() as f64).min(0.3);
    let name = |(label, _): &(&str, Vec<(f64, f64)>)| match several {
        true => format!("{} paused", escape(label)),
        false => "paused".to_string(),
    };
    let layout = &mut figure.plot["layout"];
    layout["yaxis"]["domain"] = json!([strip + 0.08, 1.0]);
    layout["yaxis2"] = json!({
        "domain": [0.0, strip], "range": [-0.6, runs.len() as f64 - 0.4], "automargin": true,
        "tickvals": (0..runs.len()).collect::<Vec<_>>(),
        "ticktext": runs.iter().map(name).collect::<Vec<_>>(),
        "tickfont": { "size": 11 }, "showgrid": false, "zeroline": false,
    });
    layout["xaxis"]["anchor"] = "y2".into();
    figure.caption += " Strip below: when some port of the run was paused (PFC).";
}

/// Lets a reader choose what the first lines show: their values under each name, a list per line. In
/// the figure this is a menu as Plotly draws it; pages make their own of it.
pub(super) fn choices(
    figure: &mut Figure,
    names: &[String],
    values: impl Fn(&String) -> Vec<Vec<f64>>,
) {
    let button = |name: &String| {
        let lines = values(name);
        let which: Vec<usize> = (0..lines.len()).collect();
        json!({ "label": escape(name), "method": "restyle", "args": [{ "y": lines }, which] })
    };
    let buttons: Vec<Value> = names.iter().map(button).collect();
    figure.plot["layout"]["updatemenus"] = json!([{
        "type": "dropdown", "buttons": buttons, "x": 0, "xanchor": "left", "y": 1.02,
        "yanchor": "bottom", "bgcolor": "#ffffff", "font": { "family": style::FAMILY },
    }]);
}
