//! What a study keeps of a run: numbers by name, a histogram that can be added, intervals.

use incast_measure::statistics::{FEWEST_REPETITIONS, HalfWidth, paired, percentile};
use incast_measure::{
    CLASSES, PaperTable, QUANTILE_ERROR, RowTimes, SIZE_BINS, Setting, SlowdownHistogram,
    StudyResults, StudyRow, Told, difference_within, mean_within, number, numbers, numbers_of,
    study_figures, study_frame, summarise, times_frame, write_study_page,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

use crate::support;
fn flows() -> impl Strategy<Value = Vec<(u64, f64)>> {
    let size = (0u32..36, 0u64..1000).prop_map(|(power, more)| (1u64 << power) + more);
    let slowdown = (-0.1f64..12.0).prop_map(f64::exp2);
    proptest::collection::vec((size, slowdown), 0..400)
}

fn histogram(flows: &[(u64, f64)]) -> SlowdownHistogram {
    let mut all = SlowdownHistogram::default();
    flows.iter().for_each(|(size, slowdown)| all.add(*size, Some(*slowdown)));
    all
}

/// The exact percentile by nearest rank.
fn exact(flows: &[(u64, f64)], keep: impl Fn(u64) -> bool, thousandths: u32) -> Option<f64> {
    let mut sorted: Vec<f64> = flows.iter().filter(|f| keep(f.0)).map(|f| f.1).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    percentile(&sorted, thousandths)
}

fn within(seen: Option<f64>, exact: Option<f64>) -> bool {
    match (seen, exact) {
        (Some(seen), Some(exact)) => (seen / exact - 1.0).abs() <= QUANTILE_ERROR,
        (seen, exact) => seen == exact,
    }
}

proptest! {
    #[test]
    fn quantiles_of_merged_histograms_are_within_the_stated_error(a in flows(), b in flows()) {
        let both: Vec<(u64, f64)> = a.iter().chain(&b).copied().collect();
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        prop_assert_eq!(&merged, &histogram(&both), "merging is exact");
        for thousandths in [0, 500, 990, 999, 1000] {
            prop_assert!(within(merged.percentile(thousandths), exact(&both, |_| true, thousandths)));
            for (from, bin) in merged.sizes() {
                let next = SIZE_BINS.iter().copied().find(|at| *at > from).unwrap_or(u64::MAX);
                let of_bin = exact(&both, |size| (from..next).contains(&size), thousandths);
                prop_assert!(within(bin.percentile(thousandths), of_bin), "bin from {}", from);
            }
        }
        let cells: u64 = merged.cells().map(|cell| cell.flows).sum();
        prop_assert_eq!(cells as usize, both.len());
    }

    #[test]
    fn merging_has_no_order_and_json_loses_nothing(a in flows(), b in flows(), c in flows()) {
        let sum = |parts: [&[(u64, f64)]; 3]| {
            let mut all = SlowdownHistogram::default();
            parts.iter().for_each(|part| all.merge(&histogram(part)));
            all
        };
        let all = sum([&a, &b, &c]);
        prop_assert_eq!(&all, &sum([&c, &a, &b]));
        let text = serde_json::to_string(&all).unwrap();
        prop_assert_eq!(serde_json::from_str::<SlowdownHistogram>(&text).unwrap(), all);
    }
}

#[test]
fn a_histogram_of_a_run_is_small_and_counts_measured_flows() {
    let mut run = support::made_up("a", 1, 300, 1.0);
    run.record.flows[299].completed = None;
    let summary = summarise(&run);
    let all = SlowdownHistogram::of(&run);
    let sum = |of: fn(&incast_measure::SizeBin) -> u64| all.sizes().map(|(_, bin)| of(bin)).sum();
    let (flows, completed): (u64, u64) = (sum(|bin| bin.flows), sum(|bin| bin.completed()));
    assert_eq!((flows, completed), (summary.all.flows as u64, summary.all.completed as u64));
    let p99 = summary.all.slowdown.unwrap().p99;
    assert!(within(all.percentile(990), Some(p99)));
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.len() < 2_500, "{} bytes", text.len());
}

#[test]
fn a_broken_histogram_is_refused() {
    for counts in ["[1]", "[1,0]", "[1,-2]", "[1,2,0,3]", "[9000000000000000000,1]"] {
        let text =
            format!("{{\"sizes\":{{\"3\":{{\"flows\":1,\"bytes\":9,\"counts\":{counts}}}}}}}");
        assert!(serde_json::from_str::<SlowdownHistogram>(&text).is_err(), "{counts}");
    }
    let text = "{\"sizes\":{\"16\":{\"flows\":1,\"bytes\":9,\"counts\":[]}}}";
    assert!(serde_json::from_str::<SlowdownHistogram>(text).is_err(), "there are 16 bins of sizes");
}

#[test]
fn numbers_are_those_of_the_summary_under_distinct_names() {
    let run = support::made_up("a", 1, 2_000, 1.0);
    let summary = summarise(&run);
    let values = numbers_of(&summary);
    assert_eq!(values["slowdown_p99"], summary.all.slowdown.unwrap().p99);
    assert_eq!(values["short_slowdown_p99"], summary.short().slowdown.unwrap().p99);
    assert_eq!(values["long_fct_mean_ns"], summary.long().fct_ns.unwrap().mean);
    assert_eq!(values["drops"], summary.counters.drops as f64);
    let names: BTreeSet<&str> = numbers().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), numbers().len(), "each name once");
    for one in numbers() {
        let ending = match one.unit {
            "ns" => "_ns",
            "bytes" => "_bytes",
            "Gb/s" => "_gbps",
            _ => "",
        };
        assert!(one.name.ends_with(ending) && one.doc.ends_with('.'), "{}", one.name);
    }
    let message = number("short_slowdwn_p99").unwrap_err();
    assert_eq!(message.suggestion(), Some("short_slowdown_p99"), "{message}");
    assert_eq!(number("goodput_gbps").unwrap().unit, "Gb/s");
}

/// What a page lists has a title, and a place of its own.
#[test]
fn each_place_of_a_page_is_taken_once() {
    let (mut lines, mut others) = (BTreeSet::new(), BTreeSet::new());
    for one in numbers() {
        let place = &one.listing;
        assert!(
            place.line.or(place.laboratory.map(u16::from)).is_none() || !place.title.is_empty(),
            "{}",
            one.name
        );
        assert!(
            place.line.is_none_or(|at| lines.insert(at)),
            "{}: line {:?}",
            one.name,
            place.line
        );
        for (page, at) in
            [place.decides, place.drawn.map(u16::from), place.laboratory.map(u16::from)]
                .into_iter()
                .enumerate()
        {
            assert!(at.is_none_or(|at| others.insert((page, at))), "{}: {place:?}", one.name);
        }
        assert!(
            place.decides.is_none() || place.line.is_some(),
            "{} decides and is no line",
            one.name
        );
    }
    assert!(lines.len() > 40 && others.len() > 30);
}

#[test]
fn paired_differences_by_hand() {
    // Differences -42, -78, -40: mean -53.33, deviation 21.39; t of 2 degrees 4.303.
    let pairs = [(58.0, 100.0), (122.0, 200.0), (60.0, 100.0)];
    let found = paired(&pairs).unwrap();
    assert!((found.mean + 160.0 / 3.0).abs() < 1e-9 && found.samples == 3);
    assert!((found.half_width - 4.303 * 21.385353 / 3f64.sqrt()).abs() < 1e-4, "{found:?}");
    // Ratios 0.58, 0.61, 0.60.
    let (mean, between) = difference_within(pairs.to_vec()).unwrap();
    let (low, high) = between.unwrap();
    assert!((mean - 100.0 * (1.79 / 3.0 - 1.0)).abs() < 1e-9);
    assert!((high - mean - 3.795).abs() < 1e-2 && (mean - low - 3.795).abs() < 1e-2);
    assert_eq!(paired(&pairs[..1]), None);
    assert_eq!(difference_within(vec![(1.0, 0.0), (3.0, 2.0)]), Some((50.0, None)));
    assert_eq!(mean_within(&[0.0, 4.0]), Some((2.0, Some((0.0, 2.0 + 12.706 * 2.0)))));
}

#[test]
fn repeating_stops_when_the_interval_is_narrow() {
    let five: HalfWidth = "5%".parse().unwrap();
    assert_eq!(five, HalfWidth::Share(0.05));
    assert_eq!("0.2".parse(), Ok(HalfWidth::Absolute(0.2)));
    for wrong in ["", "%", "-1", "0%", "nan", "inf", "5 %%", "5 percent"] {
        assert!(wrong.parse::<HalfWidth>().is_err(), "{wrong}");
    }
    assert_eq!(five.to_string().parse(), Ok(five));
    // Mean 10, deviation 0.1581, five samples: half width 2.776 * 0.1581 / sqrt(5) = 0.1963.
    let samples = [9.8, 9.9, 10.0, 10.1, 10.2];
    assert!(five.met(&samples) && HalfWidth::Absolute(0.1964).met(&samples));
    assert!(!HalfWidth::Absolute(0.1962).met(&samples) && !HalfWidth::Share(0.0196).met(&samples));
    // Two samples never suffice, however near they are.
    assert!(!five.met(&samples[..2]) && !five.met(&[10.0; FEWEST_REPETITIONS - 1]));
    assert!(five.met(&[10.0; FEWEST_REPETITIONS]) && five.met(&[0.0; FEWEST_REPETITIONS]));
}

/// A study of two transports and a variant over load and buffer with three seeds, one point failed.
fn results() -> StudyResults {
    let series = ["dctcp", "ren", "ren: spend=any"].map(String::from);
    let keys = ["traffic.0.load", "fabric.buffer"].map(String::from);
    let mut rows = Vec::new();
    for (buffer, factor) in [("100KB", 1.0), ("1MB", 0.7)] {
        for load in [0.2, 0.4, 0.6, 0.8] {
            for (at, name) in series.iter().enumerate() {
                for seed in 1..=3 {
                    let pressure = factor * load * [3.0, 1.5, 1.2][at];
                    let run = support::made_up(name, seed, 400, pressure);
                    let failed = (at, seed, load) == (2, 3, 0.8);
                    rows.push(StudyRow {
                        hash: format!("{:064x}", rows.len()),
                        series: at,
                        transport: ["dctcp", "ren", "ren"][at].into(),
                        seed,
                        values: vec![Setting::Number(load), Setting::Text(buffer.into())],
                        error: failed.then(|| "the run panicked: a <test>".into()),
                        warnings: vec![],
                        numbers: if failed {
                            Default::default()
                        } else {
                            numbers_of(&summarise(&run))
                        },
                        slowdown: if failed {
                            Default::default()
                        } else {
                            SlowdownHistogram::of(&run)
                        },
                        times: RowTimes {
                            wall_seconds: Some(0.1 * seed as f64),
                            cpu_seconds: None,
                        },
                    });
                }
            }
        }
    }
    let (title, resolved) = ("A made-up <study>".into(), "[study]\nseeds = 3\n".into());
    let points = rows.len();
    StudyResults {
        title,
        resolved,
        keys: keys.into(),
        titles: ["Load", "Buffer of a switch port"].map(String::from).into(),
        series: series.into(),
        baseline: None,
        metric: None,
        points,
        rows,
    }
}

#[test]
fn the_table_has_typed_columns_with_units_and_equal_bytes() {
    let results = results();
    let batch = study_frame(&results).batch();
    let schema = batch.schema();
    let field = |name: &str| schema.field_with_name(name).unwrap_or_else(|_| panic!("{name}"));
    assert_eq!(field("traffic.0.load").data_type().to_string(), "Float64");
    assert_eq!(field("fabric.buffer").metadata()["unit"], "bytes");
    assert_eq!(field("short_fct_p99_ns").metadata()["unit"], "ns");
    assert_eq!(field("drops").data_type().to_string(), "UInt64");
    let column = |name: &str| batch.column_by_name(name).unwrap();
    assert_eq!((batch.num_rows(), column("slowdown_p99").null_count()), (72, 2));
    assert_eq!(column("error").null_count(), 70);
    let folder = tempfile::tempdir().unwrap();
    let mut slower = results.clone();
    slower.rows.iter_mut().for_each(|row| row.times.wall_seconds = Some(9.0));
    let bytes = |name: &str, results: &StudyResults| {
        let path = folder.path().join(name);
        study_frame(results).write_parquet(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    let first = bytes("a", &results);
    assert_eq!(first, bytes("b", &slower), "what a run took is in a file of its own");
    assert!(first.len() < 1_000_000, "{} bytes", first.len());
    assert_ne!(times_frame(&results), times_frame(&slower));
}

#[test]
fn the_page_is_whole_and_says_what_failed() {
    let results = results();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.html");
    write_study_page(&path, &results).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    for part in [
        "A made-up &lt;study&gt;",
        "2 of 72 points failed",
        "the run panicked: a &lt;test&gt;",
        "\\begin{tabular}{llrrr}",
        "traffic.0.load",
        "99th percentile of the slowdown: difference from dctcp",
        "<p class=\"lead\">At load 0.8, buffer of a switch port: 1MB, <b>ren: spend=any</b> has ",
    ] {
        assert!(
            page.contains(part),
            "{part}: {:?}",
            page.lines().find(|line| line.contains("lead\">"))
        );
    }
    let body = &page[page.find("</head>").unwrap()..];
    assert!(page.contains("default-src 'none'") && !body.contains("http"));
    let names: Vec<String> = study_figures(&results).into_iter().map(|one| one.name).collect();
    assert_eq!(names[..3], ["slowdown_p99", "slowdown_p99_difference", "slowdown_by_size"]);
    for name in names {
        let text = std::fs::read_to_string(folder.path().join(format!("figures/{name}.json")));
        let figure: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert!(figure["data"].as_array().is_some_and(|all| !all.is_empty()), "{name}");
    }
}

#[test]
fn curves_are_means_with_intervals_over_the_seeds_values() {
    let mut results = results();
    results
        .rows
        .retain(|row| row.values[1] == Setting::Text("100KB".into()) && row.error.is_none());
    // Known values: 1, 2, 3 at every point of the first series; 2, 2, 2 at those of the second.
    for row in &mut results.rows {
        let value = [row.seed as f64, 2.0, 4.0][row.series];
        row.numbers.insert("slowdown_p99".into(), value);
    }
    let figures = study_figures(&results);
    let trace = |figure: usize, at: usize| figures[figure].plotly()["data"][at].clone();
    assert_eq!(trace(0, 0)["x"], serde_json::json!([0.2, 0.4, 0.6, 0.8]));
    assert_eq!(trace(0, 0)["y"][0], 2.0);
    // t of 2 degrees 4.303, deviation 1, three seeds.
    let width = trace(0, 0)["error_y"]["array"][0].as_f64().unwrap();
    assert!((width - 4.303 / 3f64.sqrt()).abs() < 1e-9, "{width}");
    assert_eq!(trace(0, 1)["error_y"]["array"][0], 0.0);
    // A slowdown is never below 0, so neither is its interval.
    assert_eq!(trace(0, 0)["error_y"]["arrayminus"][0], 2.0);
    // Differences of ren from dctcp by seed: 2/1, 2/2, 2/3.
    let mean = trace(1, 0)["y"][0].as_f64().unwrap();
    assert!((mean - 100.0 * (1.0 + 0.0 - 1.0 / 3.0) / 3.0).abs() < 1e-9, "{mean}");
    let table = PaperTable::of(&results, number("slowdown_p99").unwrap()).unwrap();
    assert!(
        table.markdown().contains("| 0.2 | 100KB | 2.0 (0 to 4.5) | 2 ± 0 | 4 ± 0 |"),
        "{}",
        table.markdown()
    );
    assert!(
        table.latex().contains("0.2 & 100KB & 2.0 (0 to 4.5) & 2 $\\pm$ 0 &"),
        "{}",
        table.latex()
    );
    // One of the variant's seeds failed at 0.8.
    assert!(table.csv().contains("\n0.8,100KB,2,2.484"), "{}", table.csv());
    assert_eq!(table.seeds, (2, 3));
}

#[test]
fn the_console_gets_what_it_is_about_over_what_varies_then_the_numbers_that_decide() {
    let mut results = results();
    for row in results.rows.iter_mut().filter(|row| row.error.is_none()) {
        let value = [row.seed as f64, 2.0, 4.0][row.series];
        row.numbers.insert("slowdown_p99".into(), value);
        row.warnings = vec![format!("{} flows are left", row.seed)];
    }
    let mut read = Vec::new();
    let told = Told::of(&results, 100, |row| {
        read.push((row.series, row.seed, row.values[0].to_string(), row.values[1].to_string()));
        Ok::<_, ()>(Some(summarise(&support::made_up("", row.seed, 400, 1.0))))
    });
    let told = told.unwrap();
    assert_eq!(told.warnings, ["70 of 72 points: 1 flows are left"]);
    let [over, deciding] = told.tables.as_slice() else { panic!("{:?}", told.tables) };
    assert!(
        over.starts_with(
            "99th percentile of the slowdown. Mean of 2 to 3 seeds ± half of the 95 % confidence interval:\n\n\
             traffic.0.load  fabric.buffer           dctcp    ren  ren: spend=any\n\
             0.2             100KB          2.0 (0 to 4.5)  2 ± 0           4 ± 0\n"
        ),
        "{over}"
    );
    assert_eq!(over.lines().count(), 3 + 8);
    let title = "At load 0.8, buffer of a switch port: 1MB:\n\n";
    assert!(deciding.starts_with(title), "{deciding}");
    // All that is in the second table is of that place: the three series, without the seed that failed.
    let place = |(_, _, load, buffer): &&(usize, u64, String, String)| {
        (load.as_str(), buffer.as_str()) == ("0.8", "1MB")
    };
    assert_eq!((read.len(), read.iter().filter(place).count()), (8, 8));
    let names: Vec<&str> = deciding.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(names, ["dctcp", "ren", "ren:", "spend=any"]);
    assert!(deciding.contains("\nslowdown, p99 ") && deciding.contains(" ± "), "{deciding}");
    let said = "At load 0.8, buffer of a switch port: 1MB, dctcp has the lowest 99th percentile of the slowdown, 2; \
                ren: spend=any the highest, 4. 3 seeds do not tell dctcp and ren apart. dctcp is lowest at 8 of 8 points.";
    assert!(told.headline.starts_with(said), "{}", told.headline);
}

#[test]
fn of_one_transport_what_varies_is_side_by_side() {
    let mut results = results();
    results.rows.retain(|row| row.series == 0 && row.values[1] == Setting::Text("100KB".into()));
    results.series.truncate(1);
    let summary =
        |row: &StudyRow| Ok::<_, ()>(Some(summarise(&support::made_up("", row.seed, 400, 1.0))));
    let told = Told::of(&results, 300, summary).unwrap();
    let [only] = told.tables.as_slice() else { panic!("{:?}", told.tables) };
    let names: Vec<&str> = only.lines().nth(2).unwrap().split_whitespace().collect();
    assert!(only.starts_with("Load:\n\n"), "{only}");
    assert_eq!((names, told.headline.as_str()), (vec!["0.2", "0.4", "0.6", "0.8"], ""));
    // Nothing that is done says nothing.
    results.rows.clear();
    assert_eq!(Told::of(&results, 300, summary), Ok(Told::default()));
}

/// Background that is best under the first series, and incasts that are best under the second.
fn with_classes() -> StudyResults {
    let mut results = results();
    results.rows.retain(|row| row.values[1] == Setting::Text("100KB".into()));
    for row in results.rows.iter_mut().filter(|row| row.error.is_none()) {
        let of = |values: [f64; 3]| values[row.series] + 0.01 * row.seed as f64;
        let (background, incast) = (of([2.0, 3.0, 4.0]), of([90.0, 20.0, 30.0]));
        row.numbers.insert("class_background_slowdown_p99".into(), background);
        row.numbers.insert("class_incast_slowdown_p99".into(), incast);
        row.numbers.insert("class_incast_recovery_mean_ns".into(), incast);
    }
    results
}

#[test]
fn several_classes_are_ranked_each_by_itself() {
    let results = with_classes();
    let none = |_: &StudyRow| Ok::<_, ()>(None);
    let told = Told::of(&results, 100, none).unwrap();
    let titles: Vec<&str> = told.tables.iter().filter_map(|table| table.lines().next()).collect();
    assert_eq!(titles.len(), 3, "{titles:?}");
    for (title, class) in titles.iter().zip(["background", "incast"]) {
        let wanted = format!("99th percentile of the slowdown of flows of class {class}. Mean of");
        assert!(title.starts_with(&wanted), "{title}");
    }
    for said in [
        "At load 0.8, dctcp has the lowest 99th percentile of the slowdown of flows of class background, 2.02; \
         ren: spend=any the highest, 4.0",
        "At load 0.8, ren has the lowest 99th percentile of the slowdown of flows of class incast, 20.0; dctcp the \
         highest, 90.0",
        "Of the mean completion time of dctcp for class incast, 100 % is recovery from loss.",
    ] {
        assert!(told.headline.contains(said), "{said}: {}", told.headline);
    }
    let names: Vec<String> = study_figures(&results).into_iter().map(|one| one.name).collect();
    assert!(names.contains(&"class_incast_slowdown_p99".to_string()), "{names:?}");
    // A column for each number that some row has.
    let schema = study_frame(&results).batch().schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let of_classes: Vec<&&str> = columns.iter().filter(|name| name.starts_with("class_")).collect();
    let known = [
        "class_background_slowdown_p99",
        "class_incast_slowdown_p99",
        "class_incast_recovery_mean_ns",
    ];
    assert_eq!(of_classes, known.iter().collect::<Vec<_>>());
}

#[test]
fn numbers_of_a_class_are_those_of_its_flows() {
    let mut run = support::made_up("a", 1, 2_000, 1.0);
    let alone = numbers_of(&summarise(&run));
    assert!(alone.keys().all(|name| !name.starts_with("class_")), "one class is all flows");
    run.flows.iter_mut().skip(1_500).for_each(|flow| flow.class = "incast");
    let summary = summarise(&run);
    let values = numbers_of(&summary);
    let group = summary.by_class.iter().find(|group| group.name == "incast").unwrap();
    assert_eq!(values["class_incast_flows"], 500.0);
    assert_eq!(values["class_incast_slowdown_p99"], group.slowdown.unwrap().p99);
    assert_eq!(values["class_incast_recovery_mean_ns"], group.parts_mean_ns.unwrap().recovery);
    assert!(CLASSES.contains(&run.flows[0].class));
    // As for any other number, a metric of `repeat_until` and `search`.
    assert_eq!(
        number("class_incast_slowdown_p99").unwrap().of(&summary),
        Some(group.slowdown.unwrap().p99)
    );
    assert_eq!(number("class_burst_slowdown_p99").unwrap().of(&summary), None);
    let near = number("class_incst_slowdown_p99").unwrap_err();
    assert_eq!(near.suggestion(), Some("class_incast_slowdown_p99"), "{near}");
}
