use super::*;

fn chart(lines: Vec<Line>) -> Chart {
    Chart { hollow: "never reaches balance", lines, ..Chart::default() }
}

fn line(points: Vec<Point>) -> Line {
    Line { name: "one".into(), points, ..Line::default() }
}

#[test]
fn lines_intervals_and_printed_points_are_drawn() {
    let points = vec![Point::at(0.1, 5.0).within(Some(1.0)), Point::at(0.7, 9.0)];
    let (x, y) = (Axis::titled("load"), Axis { unit: "us".into(), ..Axis::titled("AFCT") });
    let lines = vec![Line { printed: vec![(0.7, 12.0)], ..line(points) }];
    let picture = Chart { title: "(d) AFCT".into(), x, y, ..chart(lines) };
    let drawn = picture.svg();
    for part in ["(d) AFCT", "load", "AFCT (us)", "one"] {
        assert!(drawn.contains(part), "{part}");
    }
    assert!(!drawn.contains("hollow"));
    let mut never = picture.clone();
    never.lines[0].points[1].hollow = true;
    let never = never.svg();
    assert!(never.contains("load (hollow: never reaches balance)"));
    assert_eq!(never.matches("<circle").count(), drawn.matches("<circle").count() + 1);
    let mut without = picture.clone();
    without.lines[0].printed.clear();
    assert_ne!(drawn, without.svg(), "the printed point shows");
    let empty = Chart { lines: vec![], ..picture }.svg();
    assert!(empty.contains("(d) AFCT") && !empty.contains("load"));
}

/// A distribution has no markers and powers of ten below; one with hollow points is dashed.
#[test]
fn distributions_have_a_logarithmic_axis_and_tenths_their_sizes() {
    let own = |hollow| {
        let point = |at: i32| {
            let point = Point::at(10f64.powf(f64::from(at) / 20.0), f64::from(at) / 100.0);
            Point { hollow, ..point }
        };
        line((0..=100).map(point).collect())
    };
    let x = Axis::titled("us").scaled(Scale::Log);
    let picture = |hollow| Chart { x: x.clone(), ..chart(vec![own(hollow)]) };
    let drawn = picture(false).svg();
    for tick in ["1", "10", "100", "1000", "10000", "100000"] {
        assert!(drawn.contains(&format!("\n{tick}\n")), "{tick}: {drawn}");
    }
    assert!(!drawn.contains("dashed") && drawn.matches("<polygon").count() == 1);
    let dashed = picture(true).svg();
    assert!(dashed.contains("us (dashed: never reaches balance)"));
    assert!(dashed.matches("<polyline").count() > drawn.matches("<polyline").count() + 10);

    let y = Axis::titled("slowdown").scaled(Scale::Log);
    let tall = Chart { y, ..chart(vec![own(false)]) }.svg();
    for tick in ["0.01", "0.1", "0.5", "1"] {
        assert!(tall.contains(&format!("\n{tick}\n")), "{tick}: {tall}");
    }

    let x = Axis::default().ticks(vec![(10.0, "1.5 KB".into()), (20.0, "2 MB".into())]);
    let tenths = line(vec![Point::at(10.0, 1.0), Point::at(20.0, 2.0)]);
    let drawn = Chart { x, ..chart(vec![tenths]) }.svg();
    assert!(drawn.contains("1.5 KB") && drawn.contains("2 MB") && !drawn.contains("\n15\n"));
}

/// Both renderers draw the points of the frame, no others.
#[test]
fn the_frame_has_what_is_drawn() {
    let points =
        vec![Point::at(0.2, 3.0).within(Some(0.5)), Point { hollow: true, ..Point::at(0.4, 4.0) }];
    let second = Line { name: "<two>".into(), panel: 1, ..line(vec![Point::at(0.3, 7.0)]) };
    let panels = vec!["median".to_string(), "99th percentile".into()];
    let picture = Chart { panels, ..chart(vec![line(points), second]) }.coloured();
    let frame = picture.frame();
    let column = |name: &str| &frame.columns.iter().find(|one| one.name == name).unwrap().values;
    let floats = |all: [Option<f64>; 3]| Values::Float(all.to_vec());
    let texts = |all: [&str; 3]| Values::Text(all.map(|text| Some(text.to_string())).to_vec());
    assert_eq!(column("panel"), &texts(["median", "median", "99th percentile"]));
    assert_eq!(column("line"), &texts(["one", "one", "<two>"]));
    assert_eq!(column("x"), &floats([Some(0.2), Some(0.4), Some(0.3)]));
    assert_eq!(column("y"), &floats([Some(3.0), Some(4.0), Some(7.0)]));
    assert_eq!(column("low"), &floats([Some(2.5), None, None]));
    assert_eq!(column("high"), &floats([Some(3.5), None, None]));
    assert_eq!(column("hollow"), &Values::Flag(vec![Some(false), Some(true), Some(false)]));

    let drawn = picture.plotly();
    let (first, second) = (&drawn["data"][0], &drawn["data"][1]);
    assert_eq!((&first["x"], &first["y"]), (&[0.2, 0.4].into(), &[3.0, 4.0].into()));
    assert_eq!(first["error_y"]["array"], serde_json::json!([0.5, null]));
    assert_ne!(first["marker"]["symbol"][0], first["marker"]["symbol"][1]);
    assert_eq!((&second["name"], &second["xaxis"]), (&"&lt;two&gt;".into(), &"x2".into()));
    assert_eq!(drawn["layout"]["meta"]["facets"], 2);
}

/// A line keeps its colour and marker where others are missing.
#[test]
fn a_look_is_the_lines_own() {
    let drawn = |look| {
        let line = Line { look, ..line(vec![Point::at(1.0, 2.0)]) };
        chart(vec![line]).svg().to_uppercase()
    };
    let colours = |text: &str| [0, 3].map(|at| text.contains(style::colour(at)));
    assert_eq!((colours(&drawn(0)), colours(&drawn(3))), ([true, false], [false, true]));
}
