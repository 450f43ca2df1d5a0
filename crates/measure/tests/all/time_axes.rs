//! What time axes mark, which port the queues show, and what the report folds.

use crate::support;
use incast_measure::figures::figures;
use incast_measure::{LinkChange, Run, report_text};
use incast_units::{Span, Time};
use serde_json::{Value, json};

/// Two runs of 8 ms in intervals of 100 us; the ports of the second have another order.
fn runs() -> Vec<Run> {
    let mut runs =
        vec![support::made_up("first", 1, 2_000, 0.6), support::made_up("second", 2, 2_000, 2.0)];
    support::add_series(&mut runs[0]);
    runs[1].ports.reverse();
    runs[1].record.ports.reverse();
    for (at, port) in runs[1].record.ports.iter_mut().enumerate() {
        port.port = at as u32;
    }
    runs
}

/// A chart as the page draws it, and its caption.
struct Figure {
    plot: Value,
    caption: String,
}

fn figure(runs: &[Run], name: &str) -> Figure {
    let chart = figures(runs).into_iter().find(|chart| chart.name == name).expect(name);
    Figure { plot: chart.plotly(), caption: chart.caption }
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The page without its style and the charts' library.
fn body(page: &str) -> &str {
    page.split_once("</script>").unwrap().1
}

#[test]
fn failures_and_repairs_are_marked_on_every_time_axis() {
    const OVER_TIME: [&str; 3] =
        ["flow_throughput_over_time_1", "throughput_over_time", "queues_over_time"];
    let mut runs = runs();
    for name in OVER_TIME {
        assert!(figure(&runs, name).plot["layout"].get("shapes").is_none(), "{name}");
    }
    let after_the_end = runs[0].record.ended.max(runs[1].record.ended) + Span::from_us(1);
    let changes =
        [(Time(1_000_000_000), false), (Time(2_500_000_000), true), (after_the_end, false)];
    for run in &mut runs {
        let change = |(at, up)| LinkChange { at, link: "leaf0-<spine1>".into(), up };
        run.link_changes = changes.map(change).to_vec();
    }
    for name in OVER_TIME {
        let figure = figure(&runs, name);
        let shapes = figure.plot["layout"]["shapes"].as_array().expect(name);
        let places: Vec<f64> = shapes.iter().map(|shape| shape["x0"].as_f64().unwrap()).collect();
        assert_eq!(places, [1.0, 2.5], "{name}: in milliseconds, as the axis says");
        assert!(figure.plot["layout"]["xaxis"]["title"]["text"].as_str().unwrap().contains("(ms)"));
        // They differ without colour too.
        assert_ne!(shapes[0]["line"]["dash"], shapes[1]["line"]["dash"], "{name}");
        let texts = figure.plot["layout"]["annotations"].as_array().unwrap();
        let texts: Vec<&str> = texts.iter().map(|text| text["text"].as_str().unwrap()).collect();
        let (fails, works) = ("leaf0-&lt;spine1&gt; fails", "leaf0-&lt;spine1&gt; repaired");
        assert!(texts[0].ends_with(fails) && texts[1].ends_with(works), "{texts:?}");
        assert!(figure.caption.contains("(dashed, 1) and work again (dotted, 1)"), "{name}");
    }
    // Names of many changes would cover the lines.
    let flaps = (1..20)
        .map(|at| LinkChange { at: Time(at * 100_000_000), ..runs[0].link_changes[0].clone() });
    runs[0].link_changes = flaps.collect();
    let layout = &figure(&runs, "queues_over_time").plot["layout"];
    assert_eq!(layout["shapes"].as_array().unwrap().len(), 19);
    assert_eq!(layout["annotations"], json!([]));
}

#[test]
fn a_strip_shows_when_some_port_is_paused() {
    let mut runs = runs();
    assert!(figure(&runs, "queues_over_time").plot["layout"].get("yaxis2").is_none());
    // Ports 3 and 5 of the second run, which overlap in one stretch from 1.0 to 1.3 ms, and later 5.
    for (port, interval) in [(3, 10), (3, 11), (5, 11), (5, 12), (5, 40)] {
        let record = &mut runs[1].record.ports[port];
        record.bins[interval].paused = 7_000;
        record.total.paused += 7_000;
    }
    for name in ["throughput_over_time", "queues_over_time"] {
        let figure = figure(&runs, name);
        let data = figure.plot["data"].as_array().unwrap();
        let strips: Vec<&Value> = data.iter().filter(|trace| trace["yaxis"] == "y2").collect();
        assert_eq!(strips.len(), 1, "{name}: the first run was never paused");
        assert_eq!(strips[0]["name"], "second paused");
        // Which of the runs it is stands beside the strip, though only one has one.
        assert_eq!(figure.plot["layout"]["yaxis2"]["ticktext"], json!(["second paused"]));
        let ends: Vec<f64> =
            strips[0]["x"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let near = ends.iter().zip([1.0, 1.3, 4.0, 4.1]).all(|(at, due)| (at - due).abs() < 1e-9);
        assert!(ends.len() == 4 && near, "{name}: {ends:?}");
        assert_eq!(strips[0]["x"][2], Value::Null, "{name}: nothing joins two stretches");
        assert!(figure.caption.contains("when some port of the run was paused"), "{name}");
    }
    // A figure of the first run alone has no strip.
    let alone = figure(&runs, "flow_throughput_over_time_1");
    assert!(alone.plot["layout"].get("yaxis2").is_none());
}

#[test]
fn queues_are_those_of_the_same_port_in_every_run() {
    let mut runs = runs();
    // The largest queue of all is at a port that only the second run has.
    runs[1].ports[0].name = "elsewhere".into();
    runs[1].record.ports[0].total.backlog_max = 1_000_000_000;
    let figure = figure(&runs, "queues_over_time");
    let buttons = figure.plot["layout"]["updatemenus"][0]["buttons"].as_array().unwrap();
    assert!(buttons.len() > 1);
    let backlogs = |run: &Run, name: &str| -> Vec<f64> {
        let port = run.ports.iter().position(|port| port.name == name);
        let bins = port.map_or(&[][..], |port| &run.record.ports[port].bins);
        bins.iter().map(|bin| bin.backlog_max as f64 / 1e3).collect()
    };
    for button in buttons {
        let name = button["label"].as_str().unwrap().replace("&gt;", ">");
        let lines = button["args"][0]["y"].as_array().unwrap();
        assert_eq!((lines.len(), &button["args"][1]), (2, &json!([0, 1])));
        for (run, line) in runs.iter().zip(lines) {
            let (drawn, all) = (numbers(line), backlogs(run, &name));
            // A short last interval is left out.
            assert!(
                drawn.len() + 1 >= all.len() && all.starts_with(&drawn),
                "{}: {name}",
                run.label
            );
        }
    }
    assert_eq!(buttons[0]["label"], "elsewhere");
    for (at, label) in ["first", "second"].iter().enumerate() {
        let line = &figure.plot["data"][at];
        assert_eq!(line["name"], *label);
        assert_eq!(line["y"], buttons[0]["args"][0]["y"][at], "what is drawn is the first choice");
    }
    // The page offers the same ports, in a control that keys reach.
    let page = report_text("x", &runs);
    let (_, select) = page.split_once("<select id=\"choice-queues_over_time\">").unwrap();
    let select = select.split_once("</select>").unwrap().0;
    assert_eq!(select.matches("<option").count(), buttons.len());
    assert!(select.contains(">elsewhere</option>"));
    assert!(page.contains("Plotly.restyle(\"figure-queues_over_time\""));
}

#[test]
fn rows_and_columns_of_zeros_are_folded() {
    let part = |page: &str, from: &str| {
        let (_, rest) = body(page).split_once(from).expect(from);
        rest.split_once("<h2>").unwrap().0.to_string()
    };
    let mut runs = runs();
    let zeros = report_text("x", &runs);
    // The ten numbers that decide, then all in a fold.
    let of_all = |page: &str| -> (String, String) {
        let all = part(page, "<h2>Comparison</h2>");
        let (_, all) = all.split_once(" more numbers</summary>").expect("a fold");
        all.split_once("</table>")
            .map(|(table, fold)| (table.into(), fold.into()))
            .expect("a table")
    };
    let (table, fold) = of_all(&zeros);
    assert!(!table.contains(">trims<") && table.contains(">marks<"));
    assert!(fold.contains("zero in every run</summary>") && fold.contains("trims"));
    let tiers = part(&zeros, "<h2>Ports by tier</h2>");
    assert!(!tiers.contains(">trims</th>") && tiers.contains("columns are zero in every run"));
    // One value in one run brings the row and the column back.
    let port = &mut runs[1].record.ports[0];
    port.bins[0].trims = 3;
    port.total.trims = 3;
    let some = report_text("x", &runs);
    let (table, fold) = of_all(&some);
    assert!(table.contains(">trims<") && !fold.contains("trims"));
    assert!(part(&some, "<h2>Ports by tier</h2>").contains(">trims</th>"));
}
