//! Searches of functions whose answer is known.

use super::*;

fn search(
    from: &str,
    to: &str,
    tolerance: Option<&str>,
    until: &str,
    seeds: usize,
    most: usize,
) -> Search {
    Search {
        key: "traffic.0.load".into(),
        condition: Condition::parse(until).unwrap_or_else(|fault| panic!("{fault}")),
        grid: Grid::of(from, to, tolerance).unwrap_or_else(|fault| panic!("{fault}")),
        seeds: (1..=most as u64).collect(),
        least: seeds,
    }
}

/// Answers a search from a function of value and seed; returns how many points it took.
fn solve(search: &Search, metric: impl Fn(f64, u64) -> Option<f64>) -> (Answer, usize) {
    let mut known = BTreeMap::new();
    loop {
        match search.step("x", &known) {
            Ok(answer) => return (answer, known.len()),
            Err(Need { at, seeds }) => {
                assert!(!seeds.is_empty());
                for seed in seeds {
                    let values = Some(vec![metric(search.grid.value(at), seed)]);
                    assert!(known.insert((at, seed), values).is_none(), "asked twice");
                }
            }
        }
    }
}

#[test]
fn the_highest_value_is_found_to_the_tolerance_in_a_logarithmic_number_of_points() {
    let search = search("0.3", "0.95", Some("0.01"), "slowdown_p99 < 5", 1, 1);
    for limit in [0.3151, 0.5049, 0.6251, 0.777, 0.9412] {
        let (answer, points) = solve(&search, |load, _| Some(5.0 * load / limit));
        let Found::UpTo { value, low, high } = answer.found else { panic!("{answer:?}") };
        assert!(value < limit && value + 0.01 >= limit - 1e-9, "{limit}: {value}");
        // One seed has no interval: the bounds are neighbours.
        assert_eq!(low, Some(value));
        assert!((high.unwrap() - value - 0.01).abs() < 1e-9, "{high:?}");
        // Both ends and log2(65) values.
        assert!(points <= 9, "{points} points");
        assert_eq!(answer.not_monotone, None);
    }
}

#[test]
fn the_interval_holds_what_is_not_sure() {
    // The mean crosses 5 at 0.6; seeds deviate by 0.5: half width 4.303 * 0.5 / sqrt(3) = 1.242.
    let noisy = |load: f64, seed: u64| Some(5.0 + 20.0 * (load - 0.6) + 0.5 * (seed as f64 - 2.0));
    let three = search("0.2", "0.9", Some("0.01"), "slowdown_p99 < 5", 3, 3);
    let (answer, points) = solve(&three, noisy);
    let Found::UpTo { value, low, high } = answer.found else { panic!("{answer:?}") };
    assert!((value - 0.6).abs() < 0.011, "{value}");
    // Sure where 20 |load - 0.6| > 1.242: below 0.5379 and above 0.6621.
    assert_eq!((low, high), (Some(0.53), Some(0.67)));
    assert!(points <= 3 * 22, "{points}");
    // More seeds narrow it.
    let many = search("0.2", "0.9", Some("0.01"), "slowdown_p99 < 5", 3, 30);
    let steady =
        |load: f64, seed: u64| Some(5.0 + 20.0 * (load - 0.6) + 0.5 * ((seed % 3) as f64 - 1.0));
    let Found::UpTo { low, high, .. } = solve(&many, steady).0.found else { panic!() };
    assert!(low > Some(0.57) && high < Some(0.63), "{low:?} {high:?}");
}

#[test]
fn ends_that_hold_or_fail_and_what_is_not_monotone_are_said() {
    let one = search("0.2", "0.9", None, "slowdown_p99 < 5", 1, 1);
    assert_eq!(solve(&one, |_, _| Some(1.0)).0.found, Found::Everywhere);
    assert_eq!(solve(&one, |_, _| Some(9.0)).0.found, Found::Nowhere);
    assert_eq!(solve(&one, |_, _| None).0.found, Found::Nowhere, "nothing completed");
    // It fails below and holds above.
    let (answer, _) = solve(&one, |load, _| Some(if load < 0.5 { 9.0 } else { 1.0 }));
    assert_eq!((answer.found, answer.not_monotone), (Found::Everywhere, Some((0.2, 0.9))));
    // A search for throughput goes the other way.
    let more = search("1", "100", Some("1"), "goodput_gbps >= 40", 1, 1);
    let Found::UpTo { value, .. } = solve(&more, |value, _| Some(100.0 - value)).0.found else {
        panic!()
    };
    assert_eq!(value, 60.0);
}

#[test]
fn values_are_round_and_keep_their_unit() {
    let grid = |from, to, tolerance| {
        Grid::of(from, to, tolerance).unwrap_or_else(|fault| panic!("{fault}"))
    };
    let loads = grid("0.3", "0.95", None);
    assert_eq!((loads.step, loads.value(5), loads.value(loads.steps)), (0.01, 0.35, 0.95));
    assert_eq!(grid("10us", "1000us", None).node(1).to_string(), "20us");
    assert_eq!(grid("8", "64", None).node(3).value, Value::Whole(11));
    assert_eq!(grid("8.0", "64", Some("0.5")).node(1).value, Value::Number(8.5));
    for (from, to, tolerance) in [
        ("0.5", "0.5", None),
        ("1us", "2ms", None),
        ("x", "1", None),
        ("0", "1", Some("0")),
        ("0", "1", Some("1e-9")),
    ] {
        assert!(Grid::of(from, to, tolerance).is_err(), "{from} {to} {tolerance:?}");
    }
}

#[test]
fn conditions_are_read_and_what_is_none_is_refused() {
    let two = Condition::parse("slowdown_p99 < 5 and completed_share >= 0.99").unwrap();
    assert_eq!(two.terms.len(), 2);
    assert!(two.terms[1].holds(0.99) && !two.terms[0].holds(5.0));
    for wrong in [
        "",
        "slowdown_p99",
        "slowdown_p99 = 5",
        "slowdown_p99 < x",
        "slowdown_p99 < 5 and",
        "slowdwn_p99 < 5",
    ] {
        assert!(Condition::parse(wrong).is_err(), "{wrong}");
    }
    let said = Condition::parse("slowdwn_p99 < 5").unwrap_err().to_string();
    assert!(said.contains("slowdown_p99"), "{said}");
}
