//! The pictures of a figure in the paper's form, from what its runs gave.

use super::band::{Printed, Unit};
use super::claim::Claim;
use super::expected::Experiment;
use super::judged::Results;
use super::panel::{Panel, Place};
use super::sets::Set;
use incast_measure::chart::{Axis, Chart, Line, Point, Scale};
use incast_measure::measured::{BySeed, Estimate, Form, MeasuredValue, PARTS, STEPS, estimate};
use incast_transport::Time;
use std::collections::BTreeMap;

/// Numbers of the colours and markers of transports.
pub type Styles<'a> = BTreeMap<&'a str, usize>;

/// One picture in one set: our points, and where claims print a ratio of two transports, the
/// paper's from ours. A line of a transport has its style.
pub fn picture(
    experiment: &Experiment,
    panel: &Panel,
    (set, results): &(Set, Results),
    styles: &Styles<'_>,
) -> Chart {
    let places = experiment.places(panel);
    let needs_balance = panel.measure.kind.needs_balance();
    let mut lines: BTreeMap<String, Line> = BTreeMap::new();
    let mut ticks = vec![];
    for place in &places {
        let mut drawn = results.transports(&place.run);
        drawn.retain(|transport| panel.draws(transport));
        for transport in &drawn {
            let seen = results.of(&place.run, transport, &place.wanted.id());
            let unsteady = needs_balance && results.never_balances(&place.run, transport);
            let points = points(panel, place.x, &seen);
            // What never comes has no place in the picture.
            let points = points.into_iter().filter(|point| !point.y.is_infinite());
            let points = points.map(|point| Point { hollow: unsteady, ..point });
            let line = lines.entry(panel.line(place, transport, drawn.len() > 1)).or_default();
            line.points.extend(points);
            if panel.form == Some(Form::Deciles) && ticks.is_empty() {
                ticks = seen.values().next().map_or(vec![], |first| sizes(first));
            }
        }
    }
    print_claims(experiment, panel, &places, results, &mut lines);
    lines.retain(|_, line| !line.points.is_empty());
    let named = lines.into_iter().enumerate().map(|(at, (name, mut line))| {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let look = styles.get(name.as_str()).copied().unwrap_or(at);
        Line { look, name, ..line }
    });
    let x = Axis::titled(&panel.x).scaled(Scale::log(panel.log_x));
    Chart {
        title: format!("{} ({})", panel.title, set.name),
        x: if ticks.is_empty() { x } else { x.ticks(ticks) },
        y: Axis::titled(&panel.y).scaled(Scale::log(panel.log_y)),
        lines: named.collect(),
        hollow: "never reaches balance",
        ..Chart::default()
    }
}

/// Microseconds as milliseconds where they reach 10,000 on the vertical axis of one of the pictures:
/// those of one panel keep one unit.
pub fn short_numbers(pictures: &mut [Chart]) {
    let points = pictures.iter().flat_map(|one| &one.lines).flat_map(|line| &line.points);
    if points.map(|point| point.y).fold(0.0, f64::max) < 1e4 {
        return;
    }
    let in_us = pictures.iter_mut().filter(|one| one.y.title.ends_with("us"));
    in_us.for_each(in_milliseconds);
}

fn in_milliseconds(picture: &mut Chart) {
    picture.y.title = format!("{}ms", picture.y.title.trim_end_matches("us"));
    for line in &mut picture.lines {
        for point in &mut line.points {
            point.y /= 1e3;
            point.between = point.between.map(|(low, high)| (low / 1e3, high / 1e3));
        }
        line.printed.iter_mut().for_each(|(_, y)| *y /= 1e3);
    }
}

/// The points of one run's transport.
fn points(panel: &Panel, x: f64, seen: &BySeed<'_>) -> Vec<Point> {
    match (panel.form, panel.step) {
        (Some(Form::Cdf), _) => {
            let share = |at: usize| at as f64 / f64::from(STEPS);
            let count = STEPS as usize + 1;
            (0..count)
                .filter_map(|at| Some(Point::at(over_seeds(seen, at, count)?.value, share(at))))
                .collect()
        }
        (Some(Form::Deciles), _) => {
            let share = |at: usize| (at + 1) as f64 / PARTS as f64 * 100.0;
            let part = |at: usize| {
                let mean = over_seeds(seen, at, 2 * PARTS)?;
                Some(Point::at(share(at), mean.value).within(mean.half_width))
            };
            (0..PARTS).filter_map(part).collect()
        }
        (None, Some(step)) => {
            let from = panel.measure.from.map_or(Time::ZERO, |from| Time(from.0.0));
            let at = |i: usize| (from.0 + (i as u64 * 2 + 1) * step.0.0 / 2) as f64 / 1e9;
            let first = seen.values().next().into_iter().flat_map(|first| &first.list);
            first.enumerate().map(|(i, y)| Point::at(at(i), *y)).collect()
        }
        (None, None) => {
            let one =
                estimate(seen).map(|number| Point::at(x, number.value).within(number.half_width));
            one.into_iter().collect()
        }
    }
}

/// The mean over seeds of one value of a list of so many, with its interval.
fn over_seeds(seen: &BySeed<'_>, at: usize, count: usize) -> Option<Estimate> {
    let whole = seen.iter().filter(|(_, seen)| seen.list.len() == count);
    let one = |(seed, seen): (&u64, &&MeasuredValue)| {
        (*seed, MeasuredValue { value: Some(seen.list[at]), ..MeasuredValue::default() })
    };
    let own: BTreeMap<u64, MeasuredValue> = whole.map(one).collect();
    estimate(&own.iter().map(|(seed, seen)| (*seed, seen)).collect())
}

/// A size as it fits below a tenth: `604 B`, `6.5 KB`, `187 KB`, `2.1 MB`; KB = 1000 bytes.
fn size(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b >= 1e9 => (b / 1e9, "GB"),
        b if b >= 1e6 => (b / 1e6, "MB"),
        b if b >= 1e3 => (b / 1e3, "KB"),
        b => return format!("{b:.0} B"),
    };
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Places and sizes of the tenths.
fn sizes(seen: &MeasuredValue) -> Vec<(f64, String)> {
    let largest = seen.list.iter().skip(PARTS).enumerate();
    largest.map(|(at, bytes)| ((at + 1) as f64 / PARTS as f64 * 100.0, size(*bytes))).collect()
}

impl Claim {
    /// Of a printed ratio of two transports in one run, both drawn with the measure `id`: the run,
    /// the transport it is over, and the ratio.
    fn printed_ratio(&self, id: &str, default: &str) -> Option<(String, String, f64)> {
        let (Some(Printed::One(number)), Some(over), None, true) =
            (self.paper, &self.over, &self.over_run, self.among.is_empty())
        else {
            return None;
        };
        let ratio = Unit::named(&self.unit).measured(number);
        let run = self.run.as_deref().unwrap_or(default);
        (self.measure.id() == id && ratio > 0.0).then(|| (run.into(), over.clone(), ratio))
    }

    /// Of a printed number of one transport in one run, drawn with the measure `id`: the run, the
    /// transport, and the number as it is measured.
    fn printed_number(&self, id: &str, default: &str) -> Option<(String, String, f64)> {
        let alone = self.over.is_none() && self.over_run.is_none() && self.among.is_empty();
        let (Some(Printed::One(number)), Some(transport), true) =
            (self.paper, &self.transport, alone && self.measure.id() == id)
        else {
            return None;
        };
        let run = self.run.as_deref().unwrap_or(default);
        Some((run.into(), transport.clone(), Unit::named(&self.unit).measured(number)))
    }
}

/// What claims print: numbers of a transport, and where it is a ratio of two, the paper's of the one
/// that it is over, given ours of the other, unless its number is printed.
fn print_claims(
    experiment: &Experiment,
    panel: &Panel,
    places: &[Place],
    results: &Results,
    lines: &mut BTreeMap<String, Line>,
) {
    if panel.step.is_some() || panel.form.is_some() || !panel.sizes.is_empty() {
        return;
    }
    let id = panel.measure.id();
    let (claims, default) = (&experiment.expected.claims, results.default_run());
    let place = |run: &str| places.iter().find(|place| place.run == run).map(|place| place.x);
    for (run, transport, value) in
        claims.iter().filter_map(|claim| claim.printed_number(&id, default))
    {
        if let (Some(x), Some(line)) = (place(&run), lines.get_mut(&transport)) {
            line.printed.push((x, value));
        }
    }
    for claim in claims {
        let Some((run, over, ratio)) = claim.printed_ratio(&id, default) else { continue };
        let own = claim.transport.as_deref().unwrap_or_default();
        let ours = estimate(&results.of(&run, own, &id)).map(|number| number.value);
        let (Some(ours), Some(x), Some(line)) = (ours, place(&run), lines.get_mut(&over)) else {
            continue;
        };
        if line.printed.iter().all(|(known, _)| *known != x) {
            line.printed.push((x, ours / ratio));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(more: &str) -> Panel {
        let text =
            format!("title = \"t\"\nx = \"x\"\ny = \"y\"\nmeasure.kind = \"fct_mean_us\"\n{more}");
        toml::from_str(&text).unwrap()
    }

    /// A picture has the paper's number where it prints one, and its ratio where it prints that.
    #[test]
    fn printed_numbers_and_ratios_are_those_of_the_measure() {
        let of = |more: &str| -> Claim {
            let text =
                format!("text = 't'\nmeasure.kind = 'utilisation'\nmeasure.port = 'a->b'\n{more}");
            toml::from_str(&text).unwrap()
        };
        let number = of("transport = 'a'\npaper = 61\nunit = '%'\nmin = 0.5\nmax = 0.7\n");
        let id = number.measure.id();
        assert_eq!(number.printed_number(&id, "x"), Some(("x".into(), "a".into(), 0.61)));
        assert_eq!(number.printed_number("another", "x"), None);
        assert_eq!(number.printed_ratio(&id, "x"), None);
        let ratio = of("transport = 'a'\nover = 'b'\npaper = 20\nunit = '% lower'\nrun = 'y'\n");
        assert_eq!(ratio.printed_ratio(&id, "x"), Some(("y".into(), "b".into(), 0.8)));
        assert_eq!(ratio.printed_number(&id, "x"), None);
    }

    fn seen(list: Vec<f64>) -> MeasuredValue {
        MeasuredValue { list, ..MeasuredValue::default() }
    }

    #[test]
    fn long_times_are_in_milliseconds_in_all_sets() {
        let of = |y: &str, largest: [f64; 2]| {
            let mut all = largest.map(|y_value| {
                let point = Point::at(0.0, y_value).within(Some(500.0));
                let printed = vec![(0.7, 2e4)];
                let line = Line { points: vec![point], printed, ..Line::default() };
                Chart { y: Axis::titled(y), lines: vec![line], ..Chart::default() }
            });
            short_numbers(&mut all);
            all
        };
        let long = of("AFCT, us", [1e4, 2e3]);
        assert_eq!(long.each_ref().map(|one| one.lines[0].points[0].y), [10.0, 2.0]);
        assert!(long.iter().all(|one| one.y.title == "AFCT, ms"));
        let line = &long[0].lines[0];
        assert_eq!((line.points[0].between, line.printed[0].1), (Some((9.5, 10.5)), 20.0));
        assert_eq!(of("AFCT, us", [9999.0, 1.0])[0].y.title, "AFCT, us");
        assert_eq!(of("packets", [1e5, 1.0])[0].lines[0].points[0].y, 1e5);
    }

    /// Three seeds whose values are 1, 2 and 3 times the percent: their mean is 2 times. A table made
    /// before the picture was asked for adds nothing.
    #[test]
    fn a_distribution_is_the_mean_of_quantiles_over_seeds() {
        let of = |factor: f64| seen((0..=STEPS).map(|at| f64::from(at) * factor).collect());
        let all = [of(1.0), of(2.0), of(3.0), seen(vec![])];
        let by_seed: BySeed<'_> = (1..).zip(&all).collect();
        let known = points(&panel("form = \"cdf\""), 0.0, &by_seed);
        assert_eq!(known.len(), 101);
        assert_eq!((known[50].x, known[50].y), (100.0, 0.5));
        assert_eq!(points(&panel("form = \"cdf\""), 0.0, &(4..).zip(&all[3..]).collect()), vec![]);
    }

    #[test]
    fn tenths_lie_at_their_share_with_intervals_and_sizes() {
        let of = |factor: f64| {
            let numbers = (1..=10).map(|at| f64::from(at) * factor);
            seen(numbers.chain((1..=10).map(|at| f64::from(at) * 1e3)).collect())
        };
        let all = [of(1.0), of(2.0), of(3.0)];
        let by_seed: BySeed<'_> = (1..).zip(&all).collect();
        let known = points(&panel("form = \"deciles\""), 0.0, &by_seed);
        assert_eq!(known.len(), 10);
        assert_eq!((known[9].x, known[9].y), (100.0, 20.0));
        // Three values 10, 20, 30: t = 4.303 at two degrees of freedom, times 10 over the root of 3.
        assert!((known[9].between.unwrap().1 - 44.84).abs() < 0.01, "{:?}", known[9]);
        assert_eq!(sizes(&all[0])[9], (100.0, "10 KB".to_string()));
        let known = [604.0, 6512.0, 186_700.0, 2_096_000.0, 9_960.0, 1e9].map(size);
        assert_eq!(known, ["604 B", "6.5 KB", "187 KB", "2.1 MB", "10 KB", "1.0 GB"]);
    }
}
