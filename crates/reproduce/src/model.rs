//! Claims about the papers' equations: curves instead of runs.

use super::band::Word;
use super::functions::{self, Arguments, Value};
use super::verdict::Judgement;
use incast_experiment::Fault;
use incast_measure::chart::{Axis, Chart, Line, Point, Scale};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `[model]` of `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Title of the horizontal axis.
    #[serde(default)]
    x: String,
    /// Title of the vertical axis.
    #[serde(default)]
    y: String,
    /// Evaluations by name.
    curve: BTreeMap<String, Curve>,
    /// What is claimed of them.
    #[serde(rename = "claim")]
    pub claims: Vec<ModelClaim>,
    /// Pictures in the paper's form.
    #[serde(default, rename = "panel")]
    panels: Vec<ModelPanel>,
}

/// One picture of curves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelPanel {
    /// As in the paper: `(a) Mean queue`.
    title: String,
    /// Title of the horizontal axis.
    x: String,
    /// Title of the vertical axis.
    y: String,
    /// Names of curves by the names of their lines.
    lines: BTreeMap<String, String>,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    log_x: bool,
    /// Whether the vertical axis is.
    #[serde(default)]
    log_y: bool,
}

/// A function, and at which arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    /// See [`functions`].
    function: String,
    /// Its arguments, but for the one that varies.
    #[serde(default)]
    with: BTreeMap<String, Value>,
    /// The argument that varies; without it the curve is one number.
    along: Option<String>,
    /// Its values, ascending.
    #[serde(default)]
    at: Vec<f64>,
}

/// A paper's statement about its equations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelClaim {
    /// In words.
    pub text: String,
    /// Of which curve.
    curve: String,
    /// Its values are divided by those of this curve, at the same places.
    over: Option<String>,
    /// At which place; everywhere if not given.
    at: Option<f64>,
    /// Direction of the values.
    goes: Option<Direction>,
    /// Least accepted value.
    min: Option<f64>,
    /// Largest accepted value.
    max: Option<f64>,
    /// Value in the paper, in the paper's unit.
    #[serde(default)]
    paper: String,
    /// What to know about the comparison.
    #[serde(default)]
    pub deviation: String,
}

/// How the values of a curve go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Direction {
    /// Each larger than the one before.
    Up,
    /// Each smaller than the one before.
    Down,
}

/// Places and values by name of the curve. One number has the place 0.
pub type Values = BTreeMap<String, Vec<(f64, f64)>>;

impl Model {
    /// Evaluates every curve; `seed` replaces the experiment's where a function takes one.
    ///
    /// # Errors
    /// What the file has wrong, with the name of the curve.
    pub fn evaluate(&self, seed: Option<u64>) -> Result<Values, Fault> {
        let of = |(name, curve): (&String, &Curve)| {
            let values = curve.evaluate(seed);
            let values = values.map_err(|why| Fault::new(format!("model.curve.{name}: {why}")))?;
            Ok((name.clone(), values))
        };
        self.curve.iter().map(of).collect()
    }

    /// Whether everything the claims name exists.
    pub fn check(&self) -> Result<(), Fault> {
        for claim in &self.claims {
            let fail = |why: String| Err(Fault::new(format!("claim `{}`: {why}", claim.text)));
            let Some(curve) = self.curve.get(&claim.curve) else {
                return fail(format!("there is no curve `{}`", claim.curve));
            };
            if let Some(over) = &claim.over {
                match self.curve.get(over) {
                    None => return fail(format!("there is no curve `{over}`")),
                    Some(other) if other.at != curve.at => {
                        return fail(format!("`{over}` has other places"));
                    }
                    Some(_) => {}
                }
            }
            if claim.at.is_some_and(|at| !curve.at.contains(&at)) {
                return fail(format!("`{}` has no such place", claim.curve));
            }
            if claim.goes.is_some() && (claim.at.is_some() || curve.at.len() < 2) {
                return fail("one value goes nowhere".into());
            }
            if claim.goes.is_none() && claim.min.is_none() && claim.max.is_none() {
                return fail("it has neither a direction nor an interval".into());
            }
        }
        self.panels.iter().try_for_each(|panel| self.check_panel(panel))
    }

    /// Whether the curves of a picture exist, and are more than a number.
    fn check_panel(&self, panel: &ModelPanel) -> Result<(), Fault> {
        let fail = |why: String| Err(Fault::new(format!("panel `{}`: {why}", panel.title)));
        let words = [&panel.title, &panel.x, &panel.y];
        if panel.lines.is_empty() || words.iter().any(|word| word.is_empty()) {
            return fail("it needs title, x, y and lines".into());
        }
        for name in panel.lines.values() {
            match self.curve.get(name) {
                None => return fail(format!("there is no curve `{name}`")),
                Some(curve) if curve.along.is_none() => {
                    return fail(format!("`{name}` is one number"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The curves in the paper's form.
    pub fn pictures(&self, values: &Values) -> Vec<Chart> {
        let one = |panel: &ModelPanel| Chart {
            title: panel.title.clone(),
            x: Axis::titled(&panel.x).scaled(Scale::log(panel.log_x)),
            y: Axis::titled(&panel.y).scaled(Scale::log(panel.log_y)),
            lines: lines(panel.lines.iter().map(|(name, curve)| (name, &values[curve]))),
            ..Chart::default()
        };
        self.panels.iter().map(one).collect()
    }

    /// All curves in one chart.
    pub fn drawn(&self, title: String, values: &Values) -> Chart {
        Chart {
            name: "model".into(),
            title,
            caption: "Values of the model's equations; model.csv has the same numbers.".into(),
            x: Axis::titled(&self.x),
            y: Axis::titled(&self.y),
            lines: lines(values.iter()),
            ..Chart::default()
        }
    }
}

/// A point of a curve.
type Place = (f64, f64);

/// Lines of these names and points, each with the look of its place.
fn lines<'a>(all: impl Iterator<Item = (&'a String, &'a Vec<Place>)>) -> Vec<Line> {
    let mut lines = vec![];
    for (look, (name, points)) in all.enumerate() {
        let points = points.iter().map(|(x, y)| Point::at(*x, *y)).collect();
        lines.push(Line { name: name.clone(), look, points, ..Line::default() });
    }
    lines
}

impl Curve {
    fn evaluate(&self, seed: Option<u64>) -> Result<Vec<(f64, f64)>, Fault> {
        let function = functions::find(&self.function)?;
        let mut with = self.with.clone();
        if let (Some(seed), Some(own)) = (seed, with.get_mut("seed")) {
            *own = Value::Number(seed as f64);
        }
        let Some(along) = &self.along else {
            if !self.at.is_empty() {
                return Err(Fault::new("`at` without `along`"));
            }
            return Ok(vec![(0.0, function.evaluate(&Arguments(with))?)]);
        };
        if self.at.is_empty() || self.at.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Fault::new("`at` needs ascending values"));
        }
        let value = |at: &f64| {
            let mut with = with.clone();
            with.insert(along.clone(), Value::Number(*at));
            Ok((*at, function.evaluate(&Arguments(with))?))
        };
        self.at.iter().map(value).collect()
    }
}

impl ModelClaim {
    /// Judges the claim by evaluated curves.
    pub fn judge(&self, values: &Values) -> Judgement {
        let points = &values[&self.curve];
        let divided = |at: usize| match &self.over {
            Some(over) => points[at].1 / values[over][at].1,
            None => points[at].1,
        };
        let seen: Vec<f64> = (0..points.len())
            .filter(|at| self.at.is_none_or(|place| points[*at].0 == place))
            .map(divided)
            .collect();
        let inside = |value: &f64| {
            self.min.is_none_or(|min| *value >= min) && self.max.is_none_or(|max| *value <= max)
        };
        let ordered = seen.windows(2).all(|pair| match self.goes {
            Some(Direction::Up) => pair[0] < pair[1],
            Some(Direction::Down) => pair[0] > pair[1],
            None => true,
        });
        let judged = seen.iter().all(|value| value.is_finite());
        let measured = match (&seen[..], self.goes) {
            ([one], _) => format!("{one:.4}"),
            (all, Some(_)) => format!("{:.4} to {:.4}", all[0], all[all.len() - 1]),
            (all, None) => {
                let least = all.iter().copied().fold(f64::INFINITY, f64::min);
                let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("{least:.4} to {most:.4} at {} places", all.len())
            }
        };
        Judgement {
            paper: self.paper.clone(),
            accepted: self.accepted(),
            measured,
            word: match (judged, ordered && seen.iter().all(inside)) {
                (false, _) => Word::CannotBeJudged,
                (true, true) => Word::Matches,
                (true, false) => Word::Differs,
            },
        }
    }

    fn accepted(&self) -> String {
        let direction = match self.goes {
            Some(Direction::Up) => "upwards",
            Some(Direction::Down) => "downwards",
            None => "",
        };
        let interval = match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => format!("{min}"),
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => String::new(),
        };
        let parts: Vec<&str> =
            [direction, &interval].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Model {
        toml::from_str(text).unwrap()
    }

    const TWO: &str = r#"
[curve.hpcc]
function = "fasttune.hpcc_utility"
along = "switches"
at = [1, 3, 5]
[curve.fasttune]
function = "fasttune.utility"
with = { switches = 5 }
along = "passed"
at = [1, 3, 5]
"#;

    fn verdict(claim: &str) -> Judgement {
        let model = model(&format!("{TWO}\n[[claim]]\ntext = \"it\"\n{claim}"));
        model.check().unwrap();
        model.claims[0].judge(&model.evaluate(None).unwrap())
    }

    #[test]
    fn values_directions_and_quotients_are_judged() {
        let known = [
            ("curve = \"hpcc\"\nmin = 1.25\nmax = 1.25", "matches"),
            ("curve = \"hpcc\"\nmin = 1.3", "differs"),
            ("curve = \"fasttune\"\ngoes = \"down\"", "matches"),
            ("curve = \"fasttune\"\ngoes = \"up\"", "differs"),
            ("curve = \"fasttune\"\nat = 5\nmin = 1.75\nmax = 1.75", "matches"),
            ("curve = \"fasttune\"\nover = \"hpcc\"\nat = 5\nmin = 1.4\nmax = 1.4", "matches"),
            ("curve = \"fasttune\"\nover = \"hpcc\"\nmax = 1.5", "differs"),
        ];
        for (claim, expected) in known {
            let judged = verdict(claim);
            assert_eq!(judged.word.text(), expected, "{claim}: {judged:?}");
        }
    }

    #[test]
    fn mistakes_name_what_is_wrong() {
        let claims = [
            ("curve = \"hpc\"\nmin = 1", "no curve `hpc`"),
            ("curve = \"hpcc\"\nover = \"x\"\nmin = 1", "no curve `x`"),
            ("curve = \"hpcc\"\nat = 2\nmin = 1", "no such place"),
            ("curve = \"hpcc\"", "neither a direction nor an interval"),
            ("curve = \"hpcc\"\nat = 3\ngoes = \"up\"", "goes nowhere"),
        ];
        for (claim, expected) in claims {
            let model = model(&format!("{TWO}\n[[claim]]\ntext = \"it\"\n{claim}"));
            let fault = model.check().unwrap_err();
            assert!(fault.to_string().contains(expected), "{fault}");
        }
        let curves = [
            ("function = \"ren.mean_queu\"", "did you mean `ren.mean_queue`?"),
            ("function = \"fasttune.hpcc_utility\"", "switches"),
            ("function = \"fasttune.hpcc_utility\"\nwith = { switches = 3, n = 1 }", "`n`"),
            ("function = \"fasttune.hpcc_utility\"\nalong = \"switches\"\nat = [2, 1]", "ascend"),
            ("function = \"fasttune.hpcc_utility\"\nwith = { switches = 0 }", "1"),
            ("function = \"fasttune.utility\"\nwith = { passed = 4, switches = 3 }", "passed"),
        ];
        for (curve, expected) in curves {
            let claim = "[[claim]]\ntext = \"it\"\ncurve = \"one\"\nmin = 1";
            let fault = model(&format!("[curve.one]\n{curve}\n{claim}")).evaluate(None);
            let fault = fault.unwrap_err();
            assert!(
                fault.to_string().contains(expected) && fault.to_string().contains("one"),
                "{fault}"
            );
        }
    }

    #[test]
    fn pictures_show_curves_that_exist() {
        let claim = "[[claim]]\ntext = \"it\"\ncurve = \"hpcc\"\nmin = 1\n";
        let one = "[curve.one]\nfunction = \"fasttune.hpcc_utility\"\nwith = { switches = 3 }\n";
        let with = |lines: &str| {
            let panel = format!("title = \"t\"\nx = \"x\"\ny = \"y\"\nlines = {lines}");
            model(&format!("{TWO}\n{one}\n{claim}[[panel]]\n{panel}"))
        };
        for (lines, expected) in [
            ("{ H = \"hpc\" }", "no curve `hpc`"),
            ("{ H = \"one\" }", "`one` is one number"),
            ("{}", "title, x, y and lines"),
        ] {
            let fault = with(lines).check().unwrap_err();
            assert!(fault.to_string().contains(expected), "{fault}");
        }
        let model = with("{ H = \"hpcc\", F = \"fasttune\" }");
        model.check().unwrap();
        let drawn = model.pictures(&model.evaluate(None).unwrap());
        let names: Vec<&str> = drawn[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["F", "H"]);
        let points = drawn[0].lines[1].points.iter().map(|point| (point.x, point.y));
        assert_eq!(points.collect::<Vec<_>>(), [(1.0, 1.25), (3.0, 1.25), (5.0, 1.25)]);
    }

    #[test]
    fn a_seed_replaces_the_experiments() {
        let curve = r#"
[curve.one]
function = "ren.mean_queue"
with = { scheme = "ren", rate = "10Gbps", rtt = "10us", arriving = 0.5, leaving = 0, rounds = 50, repeats = 5, seed = 1 }
[[claim]]
text = "it"
curve = "one"
min = 0
"#;
        let model = model(curve);
        let value = |seed| model.evaluate(seed).unwrap()["one"][0].1;
        assert_eq!(value(None), value(Some(1)));
        assert_ne!(value(None), value(Some(2)));
    }
}
