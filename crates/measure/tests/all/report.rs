//! The report is one self-contained page, and labels are escaped.

use crate::support;
use incast_measure::chart::looks;
use incast_measure::figures::{figures, summary};
use incast_measure::{Run, Warning, report_html, report_text, summarise};
use std::io::Read as _;

const HOSTILE: &str = "</script><script>alert(\"1\")</script>&'";

fn runs() -> Vec<Run> {
    let mut runs =
        vec![support::made_up("first", 1, 2_000, 0.6), support::made_up("second", 2, 2_000, 2.0)];
    support::add_series(&mut runs[0]);
    runs
}

/// The page without the charts' library.
fn own(page: &str) -> String {
    let start = page.find("<script>").unwrap();
    let end = start + page[start..].find("</script>").unwrap();
    format!("{}{}", &page[..start], &page[end..])
}

#[test]
fn the_page_loads_no_other_file() {
    let page = report_text("Report", &runs());
    // Scripts and styles are inside, and a policy forbids every request.
    assert!(page.contains("default-src 'none'"));
    let packed = page.split_once("atob(\"").unwrap().1.split_once('"').unwrap().0;
    let packed = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, packed).unwrap();
    let mut library = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut library).unwrap();
    assert!(library.contains("plotly.js v"));
    assert!(page.len() < 3_000_000, "{}", page.len());
    let own = own(&page);
    for reference in ["src=", "href=", "http://", "https://", "@import", "url(", "<link"] {
        assert!(!own.contains(reference), "{reference}");
    }
    assert_eq!(page.matches("<script").count(), own.matches("<script").count() + 1);
}

#[test]
fn the_page_shows_what_the_runs_are_about() {
    let runs = runs();
    let page = own(&report_text("A title", &runs));
    for text in [
        "<h1>A title</h1>",
        "<h2>Comparison</h2>",
        "Slowdown by flow size",
        "Completion time by flow size",
        "<p class=\"lead\"><b>first</b> has the lower p99 slowdown, ",
        "Breakdown of the completion time of short flows",
        "Breakdown of the completion time of long flows",
        "Throughput of flows over time: first",
        "Traffic to the hosts over time",
        "Queues over time",
        "Distribution of the slowdown",
        "Ports by tier",
        "<h2>Configuration</h2>",
        "web_search",
        "million packet-hops per second",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("Plotly.newPlot(").count(), figures(&runs).len());
}

#[test]
fn labels_cannot_break_the_page() {
    let mut runs = runs();
    runs[0].label = HOSTILE.into();
    runs[0].manifest.outline.title = HOSTILE.into();
    runs[0].ports[0].name = HOSTILE.into();
    runs[0].record.interrupted = true;
    let page = own(&report_text(HOSTILE, &runs));
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("<script>").count(), figures(&runs).len());
    let svg = summary(HOSTILE, &runs).svg();
    assert!(!svg.contains("<script>"));
}

#[test]
fn warnings_report_what_is_missing() {
    let mut runs = vec![support::made_up("first", 1, 60_000, 0.6)];
    assert!(!report_text("x", &runs).contains("class=\"warning\""), "{:?}", runs[0].warnings());
    let flow = &mut runs[0].record.flows[1999];
    (flow.completed, flow.parts) = (None, None);
    runs[0].record.interrupted = true;
    runs[0].notes = vec![Warning::WithoutPfc { transports: vec!["<b>".into()] }];
    let page = report_text("x", &runs);
    assert!(page.contains("first: interrupted: the results cover a part"));
    assert!(page.contains("1 of 58800 measured flows did not complete"));
    assert!(page.contains("drops packets: &lt;b&gt;"));
}

/// Losses on links are no drops, and have a line of their own.
#[test]
fn losses_on_links_are_shown_beside_drops() {
    let mut runs = runs();
    assert!(!own(&report_text("x", &runs)).contains("losses on links"));
    runs[0].record.link_losses = 4_321;
    let page = own(&report_text("x", &runs));
    let line = &page[page.find("losses on links").expect("a line")..];
    assert!(line[..line.find("</tr>").unwrap()].contains("4321"));
}

#[test]
fn figures_are_kept_beside_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs();
    report_html(&folder.path().join("report.html"), "x", &runs).unwrap();
    assert!(folder.path().join("report.html").is_file());
    for figure in figures(&runs) {
        let path = folder.path().join("figures").join(format!("{}.json", figure.name));
        let text = std::fs::read_to_string(path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, figure.plotly());
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["data", "layout"]);
        // A title and named axes with units or categories, for who opens it elsewhere.
        assert!(value["layout"]["title"]["text"].is_string(), "{}", figure.name);
        assert!(value["layout"]["xaxis"]["title"]["text"].is_string(), "{}", figure.name);
    }
}

#[test]
fn stacked_parts_add_up_to_the_mean_in_the_figure() {
    let runs = runs();
    let figures = figures(&runs);
    let figure = figures.iter().find(|figure| figure.name == "time_of_short_flows").unwrap();
    let drawn = figure.plotly();
    let bars = drawn["data"].as_array().unwrap();
    let total: f64 = bars.iter().map(|bar| bar["x"][0].as_f64().unwrap()).sum();
    let mean_us = summarise(&runs[0]).short().fct_ns.unwrap().mean / 1e3;
    assert!((total - mean_us).abs() < 1e-6 * mean_us, "{total} {mean_us}");
    assert_eq!(bars[0]["y"], serde_json::json!(["first", "second"]));
}

#[test]
fn lines_of_one_label_are_joined_and_transports_parted() {
    let mut runs = runs();
    runs[1].label = "first".into();
    runs[0].transports = vec!["a".into(), "b".into()];
    runs[1].transports = vec!["b".into()];
    for at in 0..1000 {
        runs[0].flows[at].transport = 1;
    }
    let figures = figures(&runs);
    let figure = figures.iter().find(|figure| figure.name == "slowdown_distribution").unwrap();
    let names: Vec<&str> = figure.lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_run_without_anything_has_a_page_and_a_picture() {
    let run = Run { label: "empty".into(), ..Run::default() };
    let page = report_text("x", std::slice::from_ref(&run));
    assert!(page.contains("empty") && !page.contains("Plotly.newPlot(\""));
    assert!(summary("x", &[run]).svg().contains("<svg"));
}

#[test]
fn the_picture_has_a_line_a_label() {
    let svg = summary("Tail slowdown", &runs()).svg();
    for text in ["Tail slowdown", "first", "second", "100 KB", "slowdown, 99th percentile"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.matches("<polyline").count() >= 4);
    assert!(!svg.contains("href") && !svg.contains("@font-face"));
}

#[test]
fn a_name_has_its_colour_whatever_is_beside_it() {
    let demo = ["ren", "amrt", "ndp", "phost", "trd", "dctcp"];
    // Python and the explorer compute the same.
    assert_eq!(looks(demo), [4, 3, 2, 0, 6, 5]);
    assert_eq!(looks(["dctcp", "ndp"]), [5, 2]);
    // Two of one colour: the second has the next. From the eighth on there is another marker.
    assert_eq!(looks(["ren", "dcqcn", "dctcp"]), [4, 5, 6]);
    let many: Vec<String> = (0..9).map(|at| format!("run {at}")).collect();
    let found = looks(many.iter().map(String::as_str));
    let distinct: std::collections::BTreeSet<&usize> = found.iter().collect();
    assert_eq!(distinct.len(), 9);
    assert!(found[..7].iter().all(|look| *look < 7) && found[7..].iter().all(|look| *look >= 7));
}
